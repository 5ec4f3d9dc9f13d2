//! Draws how fast the primitives are beside the vendor's libraries, from kept results: `results/ratios.svg`, which
//! README.md shows.
//!
//! It stands by itself, beside the harness: nothing of a GPU is needed to draw.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use serde::Deserialize;

/// Draw our speed over that of the vendor's libraries, from kept results.
#[derive(Parser)]
#[command(name = "chart", version)]
struct Args {
    /// The folder with the results: of each figure the newest file counts, `…-warm.jsonl` is left out
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/results"))]
    results: PathBuf,
    /// Where the chart goes
    #[arg(long, value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/results/ratios.svg"))]
    output: PathBuf,
    /// Print the ratios as JSON and draw nothing
    #[arg(long)]
    json: bool,
}

/// What is drawn: a label, then operation, type, elements, rows and columns of the results.
type Row = (&'static str, &'static str, &'static str, u64, Option<(u64, u64)>);

/// Rows with a title and the library that they are set beside.
struct Group {
    title: &'static str,
    peer: &'static str,
    library: &'static str,
    rows: &'static [Row],
}

const SQUARE: Option<(u64, u64)> = Some((16384, 16384));
const PIXELS: u64 = 16384 * 16384;

const LEFT: [Group; 3] = [
    Group {
        title: "Reductions",
        peer: "cub",
        library: "CUB",
        rows: &[
            ("sum, 2²⁸ f32", "sum", "f32", 1 << 28, None),
            ("sum, 2²⁰ f32", "sum", "f32", 1 << 20, None),
            ("argmax, 2²⁸ f32", "argmax", "f32", 1 << 28, None),
            ("maximum, 2²⁸ u8", "max", "u8", 1 << 28, None),
            ("sums of segments of 8", "segments_2^3", "f32", 1 << 26, None),
            ("sums of segments of 4096", "segments_2^12", "f32", 1 << 26, None),
            ("sums by key, runs of 8", "reduce_by_key_2^3", "f32", 1 << 26, None),
            ("sums by key, runs of 1 to 2²¹", "reduce_by_key_power_law", "f32", 1 << 26, None),
        ],
    },
    Group {
        title: "Scans",
        peer: "cub",
        library: "CUB",
        rows: &[
            ("running sums, 2²⁸ f32", "scan", "f32", 1 << 28, None),
            ("running sums, 2²⁸ u8", "scan", "u8", 1 << 28, None),
            ("running sums of rows", "scan_rows", "f32", PIXELS, SQUARE),
        ],
    },
    Group {
        title: "Sorting, selection",
        peer: "cub",
        library: "CUB",
        rows: &[
            ("radix sort, 2²⁷ i32", "sort", "i32", 1 << 27, None),
            ("radix sort of pairs, 2²⁷ i32", "sort_pairs", "i32", 1 << 27, None),
            ("histogram, 2²⁸ f32", "histogram", "f32", 1 << 28, None),
            ("compaction, 2²⁸ i32", "select", "i32", 1 << 28, None),
            ("partition, 2²⁸ i32", "partition", "i32", 1 << 28, None),
            ("distinct of runs of 8", "unique_2^3", "u32", 1 << 26, None),
            ("lengths and starts of runs of 8", "run_length_encode_2^3", "u32", 1 << 26, None),
        ],
    },
];

const RIGHT: [Group; 3] = [
    Group {
        title: "Transposition",
        peer: "cublas",
        library: "cuBLAS",
        rows: &[
            ("16384 × 16384", "transpose", "f32", PIXELS, SQUARE),
            ("4096 × 4096", "transpose", "f32", 4096 * 4096, Some((4096, 4096))),
            ("16381 × 16363", "transpose", "f32", 16381 * 16363, Some((16381, 16363))),
        ],
    },
    Group {
        title: "Linear algebra",
        peer: "cublas",
        library: "cuBLAS",
        rows: &[
            ("sum of two vectors", "add", "f32", 1 << 28, None),
            ("dot product", "dot", "f32", 1 << 28, None),
            ("2-norm", "nrm2", "f32", 1 << 28, None),
            ("sums of columns", "columns", "f32", PIXELS, SQUARE),
            ("matrix · vector", "gemv", "f32", PIXELS, SQUARE),
            ("symmetric matrix · vector", "symv", "f32", PIXELS, SQUARE),
            ("triangular matrix · vector", "trmv", "f32", PIXELS, SQUARE),
            ("matrix · matrix, 4096 f32", "gemm", "f32", 4096 * 4096, Some((4096, 4096))),
            ("matrix · matrix, 4096 f64", "gemm", "f64", 4096 * 4096, Some((4096, 4096))),
        ],
    },
    Group {
        title: "Image filters",
        peer: "npp",
        library: "NPP",
        rows: &[
            ("Gaussian 5 × 5, f32", "gaussian_5x5", "f32", PIXELS, SQUARE),
            ("Gaussian 5 × 5, u8", "gaussian_5x5", "u8", PIXELS, SQUARE),
            ("any filter of 3 × 3", "filter_3x3", "f32", PIXELS, SQUARE),
            ("any filter of 11 × 11", "filter_11x11", "f32", PIXELS, SQUARE),
            ("Sobel's magnitude", "sobel_magnitude", "f32", PIXELS, SQUARE),
            ("halving", "resize_half", "f32", PIXELS, SQUARE),
        ],
    },
];

/// What is read of a result.
#[derive(Deserialize)]
struct Record {
    peer: String,
    op: String,
    #[serde(rename = "type")]
    element: String,
    n: u64,
    rows: Option<u64>,
    cols: Option<u64>,
    ms_median: f64,
    device: String,
    date: String,
}

impl Record {
    fn is(&self, peer: &str, &(_, op, element, n, shape): &Row) -> bool {
        self.peer == peer
            && (self.op.as_str(), self.element.as_str(), self.n) == (op, element, n)
            && self.rows.zip(self.cols) == shape
    }
}

/// The results of a file, of launches among many.
fn read(file: &Path) -> Result<Vec<Record>, Box<dyn Error>> {
    let named = |error: &dyn Error| format!("{}: {error}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| named(&error))?;
    let mut records = Vec::new();
    for line in text.lines() {
        let value: serde_json::Value = serde_json::from_str(line).map_err(|error| named(&error))?;
        // Lines without `peer` are of another kind: what an example measured.
        if value.get("peer").is_some() && value["mode"] == "batch" {
            records.push(serde_json::from_value(value).map_err(|error| named(&error))?);
        }
    }
    Ok(records)
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    match times.len() {
        0 => None,
        len if len % 2 == 1 => Some(times[middle]),
        _ => Some((times[middle - 1] + times[middle]) / 2.0),
    }
}

/// The peer's time over ours, medians over the rounds, in the newest file that has both.
fn ratio(files: &[Vec<Record>], peer: &str, row: &Row) -> Option<f64> {
    let of = |records: &[Record], peer: &str| {
        median(records.iter().filter(|record| record.is(peer, row)).map(|record| record.ms_median).collect())
    };
    let newest = |records: &[Record]| {
        let ours = records.iter().filter(|record| record.is("ours", row));
        ours.map(|record| record.date.clone()).max()
    };
    let both = files
        .iter()
        .filter_map(|records| Some((newest(records)?, of(records, peer)? / of(records, "ours")?)));
    both.max_by(|a, b| a.0.cmp(&b.0)).map(|(_, ratio)| ratio)
}

const WIDTH: f64 = 960.0;
const LINE: f64 = 19.0;
/// Between two groups.
const GAP: f64 = 7.0;
const TOP: f64 = 62.0;
/// The ratio at the end of a bar that is cut.
const LONGEST: f64 = 4.0;
/// Where labels end, and how wide a ratio of one is.
const LABEL: f64 = 220.0;
const ONE: f64 = 50.0;

const FASTER: &str = "#2a7f9e";
const SLOWER: &str = "#d9822b";

/// The groups of a column, from `left` on.
fn column(
    svg: &mut String,
    left: f64,
    groups: &[Group],
    ratios: &BTreeMap<String, f64>,
) -> Result<f64, Box<dyn Error>> {
    let (zero, lines) = (left + LABEL, groups.iter().map(|group| group.rows.len() + 1).sum::<usize>());
    let bottom = TOP + LINE * lines as f64 + GAP * (groups.len() - 1) as f64;
    for tick in 0..=LONGEST as u32 {
        let (x, class) = (zero + ONE * f64::from(tick), if tick == 1 { "one" } else { "grid" });
        writeln!(svg, r#"<line class="{class}" x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}"/>"#)?;
        writeln!(svg, r#"<text class="tick" x="{x}" y="{}">{tick} ×</text>"#, bottom + 15.0)?;
    }
    let mut y = TOP;
    for group in groups {
        let (x, base) = (zero - 8.0, y + LINE - 5.0);
        writeln!(
            svg,
            r#"<text x="{x}" y="{base}" class="label"><tspan class="group">{}</tspan> beside {}</text>"#,
            group.title, group.library
        )?;
        y += LINE;
        for (label, ..) in group.rows {
            let (ratio, base) = (ratios[&name(group, label)], y + LINE - 5.0);
            let end = zero + ONE * ratio.min(LONGEST);
            // As it is written: 0.998 is 1.00.
            let colour = if ratio < 0.995 { SLOWER } else { FASTER };
            let (top, height) = (y + 3.0, LINE - 6.0);
            writeln!(svg, r#"<text x="{x}" y="{base}" class="label">{label}</text>"#)?;
            writeln!(
                svg,
                r#"<rect x="{zero}" y="{top}" width="{:.1}" height="{height}" fill="{colour}"/>"#,
                end - zero
            )?;
            if ratio > LONGEST {
                // The bar goes on: a white stroke cuts it.
                let cut = end - 14.0;
                writeln!(
                    svg,
                    r#"<path class="cut" d="M{cut} {}l6 -{}"/>"#,
                    top + height + 1.0,
                    height + 2.0
                )?;
            }
            let text = if ratio < 9.95 { format!("{ratio:.2}") } else { format!("{ratio:.0}") };
            // Beyond the line at 1 ×, so that it does not cross the number.
            let x = end.max(zero + ONE) + 6.0;
            writeln!(svg, r#"<text x="{x:.1}" y="{base}" fill="{colour}">{text} ×</text>"#)?;
            y += LINE;
        }
        y += GAP;
    }
    Ok(bottom)
}

fn name(group: &Group, label: &str) -> String {
    format!("{}: {label}", group.title)
}

/// The chart as text, and the ratios that are in it.
fn draw(files: &[Vec<Record>]) -> Result<(String, BTreeMap<String, f64>), Box<dyn Error>> {
    let mut ratios = BTreeMap::new();
    for group in LEFT.iter().chain(&RIGHT) {
        for row in group.rows {
            let name = name(group, row.0);
            let ratio = ratio(files, group.peer, row)
                .ok_or_else(|| format!("no results have both ours and {}'s: {name}", group.library))?;
            ratios.insert(name, ratio);
        }
    }
    let device = &files.iter().flatten().next().ok_or("no results")?.device;
    let mut body = String::new();
    let bottom =
        column(&mut body, 0.0, &LEFT, &ratios)?.max(column(&mut body, WIDTH / 2.0, &RIGHT, &ratios)?);
    let height = bottom + 28.0;
    let svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif" font-size="12">
<!-- Written by benches/src/bin/chart.rs -->
<style>
.title {{ font-size: 17px; font-weight: bold; fill: #1f2328 }}
.note, .tick {{ fill: #59636e }}
.tick {{ text-anchor: middle; font-size: 11px }}
.label {{ text-anchor: end; fill: #1f2328 }}
.group {{ font-weight: bold }}
.grid {{ stroke: #e3e6ea }}
.one {{ stroke: #1f2328 }}
.cut {{ stroke: #fff; stroke-width: 3 }}
</style>
<rect width="{WIDTH}" height="{height}" fill="#fff"/>
<text class="title" x="20" y="28">Speed beside the vendor's libraries</text>
<text class="note" x="20" y="47">{device}; the library's time over ours: beyond the line at 1 × we are faster. A cut bar goes on.</text>
{body}</svg>
"##
    );
    Ok((svg, ratios))
}

/// Whose results are drawn. Those of other GPUs lie in the same folder.
const DEVICE: &str = "NVIDIA H200";

/// The results that count, a list for each file.
fn results(folder: &Path) -> Result<Vec<Vec<Record>>, Box<dyn Error>> {
    let named = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in folder.read_dir().map_err(named)? {
        let file = entry.map_err(named)?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // What is measured with inputs in the cache is not compared with what is not.
        if name.ends_with(".jsonl") && !name.ends_with("-warm.jsonl") {
            files.push(file);
        }
    }
    files.sort();
    let of_device = |mut records: Vec<Record>| {
        records.retain(|record| record.device == DEVICE);
        records
    };
    files.iter().map(|file| read(file).map(of_device)).collect()
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let (svg, ratios) = draw(&results(&args.results)?)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&ratios)?);
        return Ok(());
    }
    std::fs::write(&args.output, svg).map_err(|error| format!("{}: {error}", args.output.display()))?;
    println!("{} ratios: {}", ratios.len(), args.output.display());
    Ok(())
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: Row = ("sum", "sum", "f32", 8, None);

    fn record(peer: &str, ms_median: f64, date: &str) -> Record {
        let line = serde_json::json!({ "peer": peer, "op": "sum", "type": "f32", "n": 8, "rows": null, "cols": null,
            "mode": "batch", "ms_median": ms_median, "device": "a GPU", "date": date });
        serde_json::from_value(line).expect("a result")
    }

    #[test]
    fn the_newest_file_with_both_counts() {
        let old = vec![record("ours", 1.0, "2026-01-01"), record("cub", 9.0, "2026-01-01")];
        let new = vec![
            record("ours", 1.0, "2026-01-02"),
            record("ours", 2.0, "2026-01-02"),
            record("ours", 4.0, "2026-01-02"),
            record("cub", 3.0, "2026-01-02"),
            record("cub", 5.0, "2026-01-02"),
        ];
        let alone = vec![record("ours", 1.0, "2026-01-03")];
        assert_eq!(ratio(&[new, old, alone], "cub", &SUM), Some(2.0));
        assert_eq!(ratio(&[vec![record("cub", 1.0, "2026-01-01")]], "cub", &SUM), None);
    }

    #[test]
    fn the_chart_is_that_of_the_results() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let (svg, ratios) = draw(&results(&folder).expect("results")).expect("every row has results");
        assert!(ratios.values().all(|ratio| ratio.is_finite()) && ratios.len() > 30);
        let kept = std::fs::read_to_string(folder.join("ratios.svg")).expect("it is kept");
        assert!(kept == svg, "draw it anew: cargo run --release -p gpu-benches --bin chart");
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = draw(&[vec![record("ours", 1.0, "2026-01-01")]]).expect_err("no peers").to_string();
        assert_eq!(error, "no results have both ours and CUB's: Reductions: sum, 2²⁸ f32");
    }
}
