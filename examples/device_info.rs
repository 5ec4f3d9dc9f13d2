//! Every device there is and what it can do; what was not found, and why.
//!
//! `cargo run --release --example device_info`; with `--json` one JSON object a line, one line a device.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use gpu_core::properties::{Property, Value};
use gpu_core::{Capability, Device, Kind, Properties};
use gpu_examples::table::Table;
use serde_json::json;

/// List the devices: CUDA devices with all their properties, the CPU, and the simulator.
#[derive(Parser)]
struct Options {
    /// Print JSON lines, one a device, instead of tables; a line with "found": false says what is missing and why
    #[arg(long)]
    json: bool,
    /// Only the CUDA device with this number
    #[arg(long, value_name = "N")]
    cuda: Option<usize>,
}

/// A device by the name that GPU_DEVICE takes.
struct Found {
    id: String,
    device: Device,
    /// Of a CUDA device.
    properties: Option<Properties>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let (cuda, first, missing) = match options.cuda {
        // Asked for by number, its absence is an error.
        Some(ordinal) => (vec![Device::cuda(ordinal)?], ordinal, None),
        None => match Device::all_cuda() {
            Ok(devices) if devices.is_empty() => (devices, 0, Some("the driver found no device".to_owned())),
            Ok(devices) => (devices, 0, None),
            Err(error) => (Vec::new(), 0, Some(error.to_string())),
        },
    };
    let mut found = Vec::new();
    for (ordinal, device) in (first..).zip(cuda) {
        let properties = Some(device.properties()?);
        found.push(Found { id: format!("cuda:{ordinal}"), device, properties });
    }
    if options.cuda.is_none() {
        found.push(Found { id: "cpu".into(), device: Device::cpu(), properties: None });
        found.push(Found { id: "simulator".into(), device: Device::simulator(), properties: None });
    }
    if options.json {
        print_json(&found, missing.as_deref())
    } else {
        print_tables(&found, missing.as_deref())
    }
}

fn print_json(found: &[Found], missing: Option<&str>) -> Result<(), Box<dyn Error>> {
    let best = Device::best();
    if let Some(why) = missing {
        println!("{}", json!({ "device": "cuda", "found": false, "why": why }));
    }
    for Found { id, device, properties } in found {
        let (free, total) = device.memory_info()?;
        let mut line = json!({
            "device": id, "found": true, "name": device.name(), "best": *device == best,
            "memory_free": free, "memory_total": total,
        });
        if *device == best {
            line["why"] = best.why().into();
        }
        if device.kind() != Kind::Cuda {
            line["threads"] = host_threads().into();
        }
        if let Some(simulator) = device.as_simulator() {
            let config = simulator.config();
            line["seed"] = config.seed.into();
            line["record"] = format!("{:?}", config.record).into();
            line["resident_blocks"] = config.resident_blocks.into();
        }
        if let Some(properties) = properties {
            line["properties"] = serde_json::from_str(&properties.to_json())?;
            line["peak_bandwidth"] = properties.peak_bandwidth().into();
        }
        println!("{line}");
    }
    Ok(())
}

fn print_tables(found: &[Found], missing: Option<&str>) -> Result<(), Box<dyn Error>> {
    let best = Device::best();
    let mut table = Table::new(["device", "name", "memory free", "in total", "host threads"]);
    for Found { id, device, .. } in found {
        let (free, total) = device.memory_info()?;
        let threads = if device.kind() == Kind::Cuda { "-".into() } else { host_threads().to_string() };
        table.row([id.clone(), device.name(), size(free), size(total), threads]);
    }
    println!("{table}");
    println!("The best device is {best}: {}.", best.why());
    if let Some(why) = missing {
        println!("CUDA devices: none found ({why}).");
    }

    let cuda: Vec<_> = found.iter().filter_map(|one| Some((one, one.properties.as_ref()?.list()))).collect();
    let Some((_, names)) = cuda.first() else { return Ok(()) };
    let heading = cuda.iter().map(|(one, _)| one.id.clone());
    let mut table = Table::new(std::iter::once("property".to_owned()).chain(heading));
    for (index, Property { name, .. }) in names.iter().enumerate() {
        let values = cuda.iter().map(|(_, properties)| readable(&properties[index]));
        table.row(std::iter::once(name.replace('_', " ")).chain(values));
    }
    let bandwidth = cuda.iter().map(|(one, _)| {
        let bandwidth = one.properties.as_ref().map_or(0.0, Properties::peak_bandwidth);
        format!("{:.0} GB/s", bandwidth / 1e9)
    });
    table.row(std::iter::once("peak bandwidth".to_owned()).chain(bandwidth));
    println!("\n{table}");
    println!(
        "Kernel images for: {}.",
        cuda.iter().map(|(one, _)| images(one)).collect::<Vec<_>>().join("; ")
    );
    Ok(())
}

/// The architectures whose images a device runs.
fn images(found: &Found) -> String {
    let capability =
        found.properties.as_ref().map_or(Capability::default(), |properties| properties.capability);
    format!("{} up to sm_{}, and sm_{1}a", found.id, capability.arch())
}

/// A property with its unit, sizes in the unit that suits them.
fn readable(property: &Property) -> String {
    match (&property.value, property.unit) {
        (Value::Number(bytes), "bytes") => size(*bytes),
        (Value::Number(clock), "kHz") => format!("{} MHz", clock / 1000),
        (value, "") => value.to_string(),
        (value, unit) => format!("{value} {unit}"),
    }
}

/// Bytes as a person reads them.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

fn host_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
