//! Measures a GPU: copies, launches, latencies, bandwidths, instructions, branches, atomics.
//!
//! `cargo run --release --example calibrate` prints the numbers as tables, those of the thesis first
//! (gpu_model::calibrate says which). `--description FILE.toml` writes a description of the device, as gpu-model's models
//! take it (`predict --description FILE.toml --caches …`), `--report FOLDER` a page with plots, `--json` prints a line for
//! each number, which `--from FILE.jsonl` reads again, of one run or several. It takes some seconds.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use gpu_core::{Device, Kind};
use gpu_examples::chart::{FONT, paper};
use gpu_examples::exit_code;
use gpu_examples::table::Table;
use gpu_model::calibrate::{Row, bus_peak, describe, line, listings, measure, steps};
use indicatif::{ProgressBar, ProgressStyle};
use plotters::prelude::*;
use serde::{Deserialize, Serialize};

/// Measure a GPU, for the models of gpu-model
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of tables
    #[arg(long)]
    json: bool,
    /// Write a description of the device, for gpu-model
    #[arg(long, value_name = "FILE.toml")]
    description: Option<PathBuf>,
    /// Write a report, report.md with plots beside it
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
    /// Read what was measured before instead of measuring
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["device", "commit"])]
    from: Option<PathBuf>,
    /// `cuda`, `cuda:N`, or `simulator`, which runs a thousandth of it to see that the kernels are right
    #[arg(long, default_value = "cuda")]
    device: String,
    /// The commit to note in the lines
    #[arg(long, default_value = "unknown")]
    commit: String,
}

/// A line of JSON.
#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    row: Row,
    device: String,
    driver: String,
    commit: String,
    date: String,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let records = match &options.from {
        Some(file) => read(file).map_err(|error| format!("{}: {error}", file.display()))?,
        None => measured(options)?,
    };
    let first = records.first().ok_or("there are no rows")?;
    if let Some(other) = records.iter().find(|record| record.device != first.device) {
        return Err(format!("rows of a {} and of a {}: of which one?", first.device, other.device).into());
    }
    let source = format!("calibrate, on an {}, driver {}, {}", first.device, first.driver, first.date);
    let rows: Vec<Row> = records.iter().map(|record| record.row.clone()).collect();
    if options.json {
        records.iter().try_for_each(|one| serde_json::to_string(one).map(|text| println!("{text}")))?;
    } else {
        println!("{source}\n\n{}", tables(&rows));
    }
    if let Some(file) = &options.description {
        std::fs::write(file, describe(&first.device, &source, &rows)?)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("written: {}", file.display());
    }
    if let Some(folder) = &options.report {
        report(folder, &source, &rows).map_err(|error| format!("{}: {error}", folder.display()))?;
        eprintln!("written: {}", folder.join("report.md").display());
    }
    Ok(())
}

fn read(file: &Path) -> Result<Vec<Record>, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    let parse = |(at, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1));
    Ok((0..).zip(text.lines()).map(parse).collect::<Result<_, String>>()?)
}

fn measured(options: &Options) -> Result<Vec<Record>, Box<dyn Error>> {
    let device = Device::by_name(&options.device)?;
    let driver = match device.kind() {
        Kind::Cuda => device.properties()?.driver_version.to_string(),
        _ => "none: these numbers say nothing of a GPU".to_owned(),
    };
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len}: {msg}")?;
    let bar = ProgressBar::new(steps() as u64).with_style(style);
    let rows = measure(&device, |name| {
        bar.inc(1);
        bar.set_message(name.to_owned());
    })?;
    bar.finish_and_clear();
    let (name, date) = (device.name(), now());
    let record = |row| Record {
        row,
        device: name.clone(),
        driver: driver.clone(),
        commit: options.commit.clone(),
        date: date.clone(),
    };
    Ok(rows.into_iter().map(record).collect())
}

/// The date and time in UTC as ISO 8601 has it.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    let (mut days, time) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut month) = (1970, 1);
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hours, minutes, seconds) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{:02}T{hours:02}:{minutes:02}:{seconds:02}Z", days + 1)
}

/// Places of a measure in the order in which they come first, and the medians of what was measured there.
fn medians(rows: &[Row], measure: &str) -> Vec<Row> {
    let mut found: Vec<(Row, Vec<f64>)> = Vec::new();
    for row in rows.iter().filter(|row| row.measure == measure) {
        let same =
            |one: &&mut (Row, Vec<f64>)| (&one.0.of, one.0.over, one.0.by) == (&row.of, row.over, row.by);
        match found.iter_mut().find(same) {
            Some((_, values)) => values.push(row.value),
            None => found.push((row.clone(), vec![row.value])),
        }
    }
    let median = |(row, mut values): (Row, Vec<f64>)| {
        values.sort_by(f64::total_cmp);
        Row { value: values[values.len() / 2], ..row }
    };
    found.into_iter().map(median).collect()
}

/// What is shown: a measure, a caption, what `over` and `by` are.
const TABLES: [(&str, &str, &str, &str); 18] = [
    ("copy", "Copies (thesis, tables 5.1 to 5.4), GB/s", "bytes", "% of the bus"),
    ("launch", "Launches among many (table 5.5), µs", "blocks", "arguments"),
    ("launch_alone", "Launches alone, from the call to the end, µs", "blocks", "arguments"),
    ("branches", "Branches that threads of a warp take apart (table 5.6), cycles", "warps", "branches"),
    ("divergent", "Listing 5.2, µs", "blocks", "threads"),
    ("merged", "Listing 5.3, µs", "blocks", "threads"),
    ("sum", "Sums of ones (table B.19), µs", "additions", ""),
    ("atomic", "Atomic additions to one word, ns a round", "threads", ""),
    ("latency", "An access that waits for the one before, cycles", "bytes", ""),
    ("shared", "Shared memory, one warp, cycles", "stride", ""),
    ("shared_many", "Shared memory, 32 warps, cycles a request", "stride", ""),
    ("barrier", "A barrier, cycles", "warps", ""),
    ("issue", "An instruction that waits for the one before, cycles", "threads", ""),
    ("issue_many", "Instructions, lanes a cycle of a multiprocessor", "threads", ""),
    ("read", "Caches, GB/s", "blocks", ""),
    ("stream", "Memory, GB/s", "threads a multiprocessor", "threads a block"),
    ("block", "A block more of an empty kernel, ns a multiprocessor", "threads", ""),
    ("wave", "Copies of a word a thread, µs", "threads", "words"),
];

fn tables(rows: &[Row]) -> String {
    let mut text = String::new();
    // The simulator has none.
    let capability = medians(rows, "property").into_iter().find(|row| row.of == "capability");
    let bus = capability.map(|row| bus_peak(row.value as u32));
    // What copies use of it: those within a device do not.
    let of_bus = |row: &Row| match bus {
        Some(bus) if row.of != "within_device" => format!("{:.1}", 100.0 * row.value / bus),
        _ => String::new(),
    };
    for (measure, caption, over, by) in TABLES {
        let found = medians(rows, measure);
        if found.is_empty() {
            continue;
        }
        let mut table = Table::new(["of", over, by, "value"]);
        for row in found {
            let by = match (measure, by) {
                ("copy", _) => of_bus(&row),
                (_, "") => String::new(),
                _ => row.by.to_string(),
            };
            table.row([row.of, row.over.to_string(), by, format!("{:.3}", row.value)]);
        }
        text += &format!("{caption}\n\n{table}\n");
    }
    text + &fits(rows)
}

/// What the thesis derives of its tables: the cost of a branch and of an atomic addition.
fn fits(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut put = |line: String| writeln!(text, "{line}").expect("text can be written");
    let points = |measure: &str, of: &str| -> Vec<(f64, f64)> {
        let rows = medians(rows, measure).into_iter().filter(|row| row.of == of);
        rows.map(|row| (row.over, row.value)).collect()
    };
    for of in ["register", "global", "atomic"] {
        if let Some(line) = line(&points("sum", of)) {
            put(format!("sum, {of}: T = {:.4} us + {:.5} us · N", line.base, line.slope));
        }
    }
    if let Some(line) = line(&points("atomic", "round")) {
        put(format!("a round of atomic additions: T = {:.2} ns + {:.5} ns · N", line.base, line.slope));
    }
    // Section 5.2.3: branches follow one another, so that N of them take N times what one takes.
    let branches = medians(rows, "branches");
    let one = branches.iter().find(|row| (row.over, row.by) == (1.0, 1.0)).map_or(f64::NAN, |row| row.value);
    let off: Vec<f64> = branches.iter().map(|row| (one * row.by / row.value - 1.0).abs()).collect();
    if !off.is_empty() {
        let mean = 100.0 * off.iter().sum::<f64>() / off.len() as f64;
        put(format!("N branches as N times one: off by {mean:.1} % on average"));
    }
    for listing in listings().iter().filter(|listing| !listing.text.is_empty()) {
        put(format!(
            "{}: {} instructions of PTX, {} branches, {} accesses, {} with floats",
            listing.kernel, listing.instructions, listing.branches, listing.accesses, listing.floats
        ));
    }
    text
}

/// A plot: its file, the measures, a caption, what the axes are.
const PLOTS: [(&str, &str, &str, &str, &str); 7] = [
    ("copies", "copy", "Copies", "bytes", "GB/s"),
    ("sums", "sum", "Sums of ones: in a register, in memory, atomically", "additions", "µs"),
    ("atomics", "atomic", "A round of atomic additions to one word", "threads", "ns"),
    ("branches", "branches", "Branches that threads of a warp take apart", "branches", "cycles"),
    ("shared", "shared_many", "A request to shared memory", "stride", "cycles"),
    ("barriers", "barrier", "A barrier", "warps", "cycles"),
    ("waves", "wave", "Copies of a word a thread", "threads of a block", "µs"),
];

fn report(folder: &Path, source: &str, rows: &[Row]) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let mut page = format!("# {source}\n\n");
    for (name, measure, caption, over, unit) in PLOTS {
        let found = medians(rows, measure);
        if found.is_empty() {
            continue;
        }
        // Of branches a curve for each number of warps, over the branches.
        let curve = |row: &Row| {
            if measure == "branches" {
                (format!("{} warps", row.over), (row.by, row.value))
            } else {
                (row.of.replace('_', " "), (row.over, row.value))
            }
        };
        let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for (of, point) in found.iter().map(curve).filter(|(_, point)| point.0 > 0.0) {
            match curves.iter_mut().find(|one| one.0 == of) {
                Some(one) => one.1.push(point),
                None => curves.push((of, vec![point])),
            }
        }
        plot(&folder.join(format!("{name}.png")), caption, [over, unit], &curves)?;
        writeln!(page, "![{caption}]({name}.png)\n")?;
    }
    writeln!(page, "```text\n{}```", tables(rows))?;
    for listing in listings().iter().filter(|listing| !listing.text.is_empty()) {
        writeln!(page, "\n## {}\n\n```ptx\n{}```", listing.kernel, listing.text)?;
        // Figure 5.19 of the thesis, of this kernel.
        writeln!(page, "\n```mermaid\n{}```", listing.graph())?;
    }
    std::fs::write(folder.join("report.md"), page)?;
    Ok(())
}

/// Curves with logarithmic axes, their names beside them.
fn plot(
    file: &Path,
    caption: &str,
    [over, unit]: [&str; 2],
    curves: &[(String, Vec<(f64, f64)>)],
) -> Result<(), Box<dyn Error>> {
    const WIDTH: u32 = 900;
    let root = paper(file, (WIDTH, 500))?;
    // To powers of two below and above: of sizes those have labels, and values need not span a power of ten.
    let range = |of: fn(&(f64, f64)) -> f64| {
        let logs = curves.iter().flat_map(|(_, points)| points).map(|point| of(point).log2());
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
            (log.floor().min(low), log.ceil().max(high))
        });
        2f64.powf(low)..2f64.powf(high.max(low + 1.0))
    };
    let short = |value: &f64| match *value {
        value if value >= 1_048_576.0 => format!("{}M", value / 1_048_576.0),
        value if value >= 1024.0 => format!("{}K", value / 1024.0),
        value => value.to_string(),
    };
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, (FONT, 20))
        .margin(12)
        .margin_right(190)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(
            range(|point| point.0).log_scale().base(2.0),
            range(|point| point.1).log_scale().base(2.0),
        )?;
    chart
        .configure_mesh()
        .x_desc(over)
        .y_desc(unit)
        .label_style((FONT, 15))
        .max_light_lines(1)
        .x_label_formatter(&short)
        .y_label_formatter(&short)
        .draw()?;
    for (index, (name, points)) in curves.iter().enumerate() {
        let colour = Palette99::pick(index).to_rgba();
        chart.draw_series([PathElement::new(points.clone(), colour.stroke_width(2))])?;
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
        let (left, top) = (WIDTH as i32 - 180, 50 + 22 * index as i32);
        root.draw(&Rectangle::new([(left, top + 5), (left + 18, top + 11)], colour.filled()))?;
        root.draw(&Text::new(name.as_str(), (left + 26, top), (FONT, 16)))?;
    }
    root.present()?;
    Ok(())
}
