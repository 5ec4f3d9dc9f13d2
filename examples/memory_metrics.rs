//! Where a kernel's accesses fall, and what that costs: nvprof's metrics without a GPU.
//!
//! `cargo run --release --example memory_metrics` prints the table of memory efficiencies that textbooks show of the
//! matrix transposition, counted by the simulator from the accesses of the real kernels. `--patterns` shows single
//! warps, `--banks` how padding spreads a tile over shared memory, `--registers` a kernel that spills and its split
//! in two.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use gpu_examples::exit_code;
use gpu_examples::table::Table;
use gpu_examples::transpositions::{Counted, Transposition, count};
use gpu_sim::device::{Load, global_load, thread_idx};
use gpu_sim::metrics::{Architecture, Metrics, Occupancy};
use gpu_sim::{Config, Geometry, Kernel, Record, Simulator};
use gpu_transpose::variants::Variant;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Memory metrics of matrix transpositions, counted by the simulator from the accesses of their kernels
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of tables
    #[arg(long)]
    json: bool,
    /// All variants and the fast transposition, not only the classic five
    #[arg(long)]
    all: bool,
    /// Rows and columns of the matrix
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=8192))]
    size: u32,
    /// The device whose caches and multiprocessors are modelled: p100, v100, t4, a100, h100 or h200
    #[arg(long, default_value = "h200", value_parser = architecture)]
    device: Architecture,
    /// Print which bank of shared memory each word of a 32 × 32 and of a 32 × 33 tile lies in
    #[arg(long, group = "what")]
    banks: bool,
    /// Print what a warp asks for and what is moved, for several patterns of access
    #[arg(long, group = "what")]
    patterns: bool,
    /// Print registers, spills and traffic of a kernel that spills, and of its split in two
    #[arg(long, group = "what")]
    registers: bool,
    /// Print sectors and wavefronts of each transposition as CSV, for benches/peers/ncu_counts.sh
    #[arg(long, group = "what", hide = true)]
    counts: bool,
}

fn architecture(name: &str) -> Result<Architecture, String> {
    let names = Architecture::ALL.map(|architecture| architecture.name).join(", ");
    Architecture::by_name(name).ok_or(format!("there are {names}"))
}

/// What the table of the textbooks has.
const CLASSIC: [Variant; 5] =
    [Variant::NaiveScatter, Variant::Shared16, Variant::Shared32, Variant::Padded16, Variant::Padded32];

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if options.banks {
        banks(options.json);
        Ok(())
    } else if options.patterns {
        patterns(options.json)
    } else if options.registers {
        registers(options)
    } else if options.counts {
        counts(options)
    } else {
        table(options)
    }
}

/// The table of the textbooks.
fn table(options: &Options) -> Result<(), Box<dyn Error>> {
    let size = options.size as usize;
    let chosen: Vec<Transposition> = if options.all {
        Transposition::all()
    } else {
        CLASSIC.into_iter().map(Transposition::Textbook).collect()
    };
    let counted: Vec<Counted> =
        chosen.into_iter().map(|one| count(one, size, options.device)).collect::<Result<_, _>>()?;
    if options.json {
        for one in &counted {
            println!("{}", serde_json::to_string(&one.line(size, &options.device))?);
        }
        return Ok(());
    }

    println!(
        "Transposition of {size} × {size} 4-byte elements; percentages as nvprof defines them, counted:\n"
    );
    let mut table = Table::new([
        "variant",
        "block",
        "gld_efficiency",
        "gst_efficiency",
        "shared_efficiency",
        "branch_efficiency",
        "gld trans./request",
        "gst trans./request",
        "shared ld/request",
        "shared st/request",
    ]);
    for Counted { transposition, metrics, .. } in &counted {
        table.row([
            transposition.name().to_owned(),
            transposition.block().to_string(),
            format!("{:.2}", metrics.gld_efficiency),
            format!("{:.2}", metrics.gst_efficiency),
            format!("{:.2}", metrics.shared_efficiency),
            format!("{:.2}", metrics.branch_efficiency),
            format!("{:.2}", metrics.gld_transactions_per_request),
            format!("{:.2}", metrics.gst_transactions_per_request),
            format!("{:.2}", metrics.shared_load_transactions_per_request),
            format!("{:.2}", metrics.shared_store_transactions_per_request),
        ]);
    }
    println!("{table}");

    println!("On the models of a {} (see gpu_sim::metrics), sizes in KiB:\n", options.device.name);
    let mut table = Table::new([
        "variant",
        "block",
        "requested",
        "moved",
        "L1 hits %",
        "L2 reads",
        "hits %",
        "L2 writes",
        "hits %",
        "DRAM read",
        "DRAM written",
        "occupancy %",
    ]);
    let kib = |sectors: u64| format!("{}", sectors * 32 / 1024);
    for Counted { transposition, metrics, occupancy, .. } in &counted {
        let caches = metrics.caches.expect("`count` asks for them");
        table.row([
            transposition.name().to_owned(),
            transposition.block().to_string(),
            format!("{}", metrics.global_bytes().requested / 1024),
            format!("{}", metrics.global_bytes().moved / 1024),
            format!("{:.1}", caches.global_hit_rate),
            kib(caches.l2_read_transactions),
            format!("{:.1}", caches.l2_read_hit_rate),
            kib(caches.l2_write_transactions),
            format!("{:.1}", caches.l2_write_hit_rate),
            kib(caches.dram_read_transactions),
            kib(caches.dram_write_transactions),
            format!("{:.1}", occupancy.achieved),
        ]);
    }
    println!("{table}");
    Ok(())
}

/// The bank of each word of a tile.
fn banks(json: bool) {
    for pitch in [32, 33] {
        let rows =
            (0..32).map(|row| (0..pitch).map(|column| (row * pitch + column) % 32).collect::<Vec<u32>>());
        if !json {
            println!(
                "The bank of each word of a 32 × {pitch} tile; a column read by a warp is a column here:\n"
            );
        }
        for (row, banks) in rows.enumerate() {
            if json {
                println!("{}", json!({ "tile": format!("32x{pitch}"), "row": row, "banks": banks }));
            } else {
                println!("{}", banks.iter().map(|bank| format!("{bank:>2}")).collect::<Vec<_>>().join(" "));
            }
        }
        if !json {
            println!();
        }
    }
}

/// Where lane `n` of a warp reads its 4 bytes.
type Pattern = (&'static str, fn(u64) -> u64);

const PATTERNS: [Pattern; 9] = [
    ("aligned", |lane| lane * 4),
    ("reversed", |lane| (31 - lane) * 4),
    ("offset by 4 bytes", |lane| lane * 4 + 4),
    ("offset by 32 bytes", |lane| lane * 4 + 32),
    ("stride 2", |lane| lane * 8),
    ("stride 8", |lane| lane * 32),
    ("stride 32", |lane| lane * 128),
    // 37 and 1024 have no common factor: no two lanes share a line.
    ("scattered", |lane| lane * 37 % 1024 * 4096 + lane * 4),
    ("one word for all", |_| 64),
];

/// What single warps ask for and get.
fn patterns(json: bool) -> Result<(), Box<dyn Error>> {
    let simulator = Simulator::new(Config { record: Record::Full, ..Config::default() });
    let bytes = 4 << 20;
    let data = simulator.alloc(bytes)?;
    simulator.fill(data, bytes, 0)?;
    let mut table =
        Table::new(["a warp reads", "bytes requested", "sectors", "bytes moved", "gld_efficiency"]);
    for (name, place) in PATTERNS {
        let kernel = Kernel { name, file: file!(), line: line!() };
        let report = simulator.launch(kernel, Geometry::linear(1, 32, 0), &|| {
            global_load::<u32>(data + place(thread_idx()[0].into()), Load::Weak);
        })?;
        let metrics = Metrics::new(&report);
        let loads = metrics.global_loads;
        if json {
            let line = PatternLine {
                pattern: name,
                bytes_requested: loads.requested,
                sectors: metrics.gld_transactions,
                bytes_moved: loads.moved,
                gld_efficiency: metrics.gld_efficiency,
            };
            println!("{}", serde_json::to_string(&line)?);
        }
        table.row([
            name.to_owned(),
            loads.requested.to_string(),
            metrics.gld_transactions.to_string(),
            loads.moved.to_string(),
            format!("{:.2}", metrics.gld_efficiency),
        ]);
    }
    if !json {
        println!(
            "32 lanes, 4 bytes each. Memory moves in sectors of 32 bytes; up to Kepler with its L1 switched on, in lines"
        );
        println!("of 128, which is where textbooks have 32 × 128 bytes for a scattered warp.\n\n{table}");
    }
    Ok(())
}

#[derive(Serialize)]
struct PatternLine {
    pattern: &'static str,
    bytes_requested: u64,
    sectors: u64,
    bytes_moved: u64,
    gld_efficiency: f64,
}

/// What the assembler made of a kernel: ptxas 13.0, for sm_90. Written by `cargo run --release -p gpu-builder --
/// inspect --crate gpu-transpose-kernels --kernel transpose_patch --kernel transpose_patch_half --arch 90 --json`.
const REGISTERS: &str = include_str!("records/registers.json");

#[derive(Deserialize)]
struct Resources {
    kernel: String,
    registers: u32,
    stack: u32,
    /// Bytes, as the instructions stand in the code.
    spill_stores: u32,
    spill_loads: u32,
}

#[derive(Serialize)]
struct RegistersLine {
    variant: &'static str,
    kernel: String,
    launches: usize,
    registers: u32,
    stack: u32,
    spill_stores: u32,
    spill_loads: u32,
    occupancy: f64,
    local_bytes: u64,
    global_bytes_requested: u64,
    global_bytes_moved: u64,
}

/// A kernel that holds more values than it has registers, and its split in two.
fn registers(options: &Options) -> Result<(), Box<dyn Error>> {
    let size = u64::from(options.size);
    let resources: Vec<Resources> = serde_json::from_str(REGISTERS)?;
    let mut table = Table::new([
        "kernel",
        "launches",
        "registers",
        "stack",
        "spill st",
        "spill ld",
        "occupancy %",
        "local KiB",
        "global KiB",
        "moved KiB",
    ]);
    for (variant, kernel) in
        [(Variant::Patch, "transpose_patch"), (Variant::PatchSplit, "transpose_patch_half")]
    {
        let found = resources.iter().find(|one| one.kernel == kernel).ok_or("the record lacks a kernel")?;
        let counted = count(Transposition::Textbook(variant), size as usize, options.device)?;
        let matrix = gpu_transpose::Layout::row_major(size as usize, size as usize)?;
        let config = variant.launch_config(matrix);
        let geometry = Geometry { grid: config.grid, block: config.block, shared_bytes: config.shared_bytes };
        let occupancy = Occupancy::of(&options.device, &geometry, Some(found.registers));
        // Each thread with a whole patch runs straight through, so what stands in the code is what it executes.
        let patches = (size / u64::from(gpu_transpose_kernels::variants::PATCH_LONG))
            * (size / u64::from(gpu_transpose_kernels::variants::PATCH_SHORT));
        let spilled = u64::from(found.spill_stores + found.spill_loads);
        let line = RegistersLine {
            variant: variant.name(),
            kernel: kernel.to_owned(),
            launches: counted.launches,
            registers: found.registers,
            stack: found.stack,
            spill_stores: found.spill_stores,
            spill_loads: found.spill_loads,
            occupancy: occupancy.theoretical,
            local_bytes: spilled * patches * counted.launches as u64,
            global_bytes_requested: counted.metrics.global_bytes().requested,
            global_bytes_moved: counted.metrics.global_bytes().moved,
        };
        if options.json {
            println!("{}", serde_json::to_string(&line)?);
        }
        table.row([
            line.kernel.clone(),
            line.launches.to_string(),
            line.registers.to_string(),
            line.stack.to_string(),
            line.spill_stores.to_string(),
            line.spill_loads.to_string(),
            format!("{:.0}", line.occupancy),
            (line.local_bytes / 1024).to_string(),
            (line.global_bytes_requested / 1024).to_string(),
            (line.global_bytes_moved / 1024).to_string(),
        ]);
    }
    if !options.json {
        println!(
            "A thread that holds 32 values where two blocks of 1024 threads leave it 32 registers, and two launches"
        );
        println!(
            "of a kernel that holds 16. Registers, stack and spills (bytes a thread) are the assembler's: ptxas 13.0 for"
        );
        println!(
            "sm_90. Local traffic is those bytes times the threads with a whole patch; global traffic is the simulator's,"
        );
        println!(
            "for {size} × {size} elements. Nothing here is timed: --example transpose_variants does that.\n\n{table}"
        );
    }
    Ok(())
}

/// What ncu counts too.
fn counts(options: &Options) -> Result<(), Box<dyn Error>> {
    println!(
        "variant,global_load_sectors,global_store_sectors,shared_load_wavefronts,shared_store_wavefronts"
    );
    for transposition in Transposition::all() {
        let metrics = count(transposition, options.size as usize, options.device)?.metrics;
        println!(
            "{transposition},{},{},{},{}",
            metrics.gld_transactions,
            metrics.gst_transactions,
            metrics.shared_load_transactions,
            metrics.shared_store_transactions
        );
    }
    Ok(())
}
