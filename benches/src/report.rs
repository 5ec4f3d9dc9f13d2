//! One result, as a line of JSON and as a row of the table.

use serde::{Deserialize, Serialize};

use crate::stats::Summary;
use crate::suite::HEAT_STEPS;
use crate::table::{Align, Table};

/// The name of this harness's own results in [`Record::peer`].
pub const OURS: &str = "ours";

/// How launches were grouped and timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// One launch on an idle stream, between two events.
    Single,
    /// One launch on an idle stream and a synchronisation, by the wall clock.
    SingleWall,
    /// Many launches in a row; the time of one.
    Batch,
    /// A process of its own, whose driver finds nothing in its cache of compiled kernels.
    FreshProcess,
    /// A process of its own, after another one has filled that cache.
    FreshProcessCached,
}

impl Mode {
    /// The name in JSON and in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::SingleWall => "single_wall",
            Self::Batch => "batch",
            Self::FreshProcess => "fresh_process",
            Self::FreshProcessCached => "fresh_process_cached",
        }
    }
}

/// What told the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Events on the GPU's stream.
    Events,
    /// The host's monotonic clock, the stream synchronised before it is read.
    Wall,
}

/// Where, when and of what a result is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The device's name.
    pub device: String,
    /// The driver's CUDA version, `none` without one.
    pub driver: String,
    /// The commit measured.
    pub commit: String,
    /// When the run began: ISO 8601, UTC.
    pub date: String,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The operation: `sum`, `argmax`, `transpose`, `copy`, `first_result`, `context` and so on.
    pub op: String,
    /// The element type.
    #[serde(rename = "type")]
    pub element: String,
    /// Elements of the input.
    pub n: u64,
    /// Rows of a matrix.
    pub rows: Option<u64>,
    /// Columns of a matrix.
    pub cols: Option<u64>,
}

impl Subject {
    /// The shape, as people write it: `2^20`, `16381×16363`, `1000`.
    pub fn size(&self) -> String {
        match (self.rows, self.cols) {
            (Some(rows), Some(cols)) if rows == cols => format!("{rows}²"),
            (Some(rows), Some(cols)) => format!("{rows}×{cols}"),
            _ if self.n.is_power_of_two() => format!("2^{}", self.n.trailing_zeros()),
            _ => self.n.to_string(),
        }
    }

    /// Floating-point operations of one launch, where they are what counts: products of square matrices, and of a
    /// matrix and a vector, correlations, steps of stencils.
    pub fn operations(&self) -> Option<u64> {
        match self.op.as_str() {
            "gemm" => self.rows.map(|rows| 2 * rows.pow(3)),
            "gemv" | "gemv_transposed" | "symv" => Some(2 * self.n),
            "trmv" => self.rows.map(|rows| rows * (rows + 1)),
            "heat" => Some(HEAT_STEPS as u64 * 2 * 5 * self.n),
            op => op.strip_prefix("correlate_").and_then(|taps| Some(2 * self.n * taps.parse::<u64>().ok()?)),
        }
    }
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The set of cases it belongs to: `gpu`.
    pub suite: String,
    /// Whose implementation: `ours`, `cub`, `cublas`, `thrust`, `cuda`.
    pub peer: String,
    /// What was measured.
    #[serde(flatten)]
    pub subject: Subject,
    /// How launches were grouped.
    pub mode: Mode,
    /// What told the time.
    pub clock: Clock,
    /// The median time of one launch, in milliseconds.
    pub ms_median: f64,
    /// The shortest.
    pub ms_min: f64,
    /// The median absolute deviation.
    pub ms_mad: f64,
    /// How many timings there were.
    pub samples: usize,
    /// Launches a timing.
    pub launches: usize,
    /// Distinct inputs that the launches took in turn.
    pub inputs: usize,
    /// Bytes that one launch reads and writes at least; 0 where that says nothing.
    pub bytes: u64,
    /// `bytes` over the median, in 10^9 a second.
    pub gbs: f64,
    /// How fast that is beside a device-to-device copy that moves as many bytes, in the same mode and run.
    pub copy_fraction: Option<f64>,
    /// Where, when and of what.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// The numbers of a record beside what was measured.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How launches were grouped.
    pub mode: Mode,
    /// What told the time.
    pub clock: Clock,
    /// The timings, per launch.
    pub summary: Summary,
    /// Launches a timing.
    pub launches: usize,
}

impl Record {
    /// A result of ours; `copy` is the copy of as many bytes, in the same mode.
    pub fn ours(
        subject: Subject,
        timing: Timing,
        inputs: usize,
        bytes: u64,
        copy: Option<Summary>,
        provenance: &Provenance,
    ) -> Self {
        let Timing { mode, clock, summary, launches } = timing;
        let fraction = copy.map(|copy| copy.median / summary.median).filter(|fraction| fraction.is_finite());
        let gbs = bytes as f64 / 1e6 / summary.median;
        Self {
            suite: "gpu".into(),
            peer: OURS.into(),
            subject,
            mode,
            clock,
            // A nanosecond is finer than any clock here.
            ms_median: rounded(summary.median, 6),
            ms_min: rounded(summary.min, 6),
            ms_mad: rounded(summary.mad, 6),
            samples: summary.samples,
            launches,
            inputs,
            bytes,
            gbs: if gbs.is_finite() { rounded(gbs, 3) } else { 0.0 },
            copy_fraction: fraction.map(|fraction| rounded(fraction, 4)),
            provenance: provenance.clone(),
        }
    }

    /// The record as one line, without its end.
    ///
    /// # Errors
    /// Those of the serialiser: none for a record whose numbers are finite.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// The table of `records`, ready to print.
pub fn table(records: &[Record]) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("op", Left),
        ("type", Left),
        ("size", Right),
        ("mode", Left),
        ("median µs", Right),
        ("min µs", Right),
        ("± µs", Right),
        ("MB", Right),
        ("GB/s", Right),
        ("of copy", Right),
        ("TFLOP/s", Right),
    ]);
    for record in records {
        let microseconds = |ms: f64| format!("{:.2}", ms * 1e3);
        let known = |text: String| if record.bytes == 0 { "–".to_owned() } else { text };
        table.row([
            record.subject.op.clone(),
            record.subject.element.clone(),
            record.subject.size(),
            record.mode.name().to_owned(),
            microseconds(record.ms_median),
            microseconds(record.ms_min),
            microseconds(record.ms_mad),
            known(format!("{:.3}", record.bytes as f64 / 1e6)),
            known(format!("{:.1}", record.gbs)),
            record.copy_fraction.map_or("–".to_owned(), |fraction| format!("{:.1} %", fraction * 100.0)),
            record.subject.operations().map_or("–".to_owned(), |operations| {
                format!("{:.2}", operations as f64 / record.ms_median / 1e9)
            }),
        ]);
    }
    table.to_string()
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance() -> Provenance {
        Provenance {
            device: "a device".into(),
            driver: "13.0".into(),
            commit: "0123abc".into(),
            date: "2026-01-02T03:04:05Z".into(),
        }
    }

    fn record(op: &str, rows: Option<(u64, u64)>, n: u64, median: f64) -> Record {
        let subject = Subject {
            op: op.into(),
            element: "f32".into(),
            n,
            rows: rows.map(|(rows, _)| rows),
            cols: rows.map(|(_, cols)| cols),
        };
        let summary = Summary { median, min: median / 2.0, mad: 0.000_123_456_7, samples: 101 };
        let copy = Summary { median: 0.2, min: 0.1, mad: 0.0, samples: 101 };
        let timing = Timing { mode: Mode::Single, clock: Clock::Events, summary, launches: 1 };
        Record::ours(subject, timing, 3, 4 * n, Some(copy), &provenance())
    }

    #[test]
    fn figures_follow_from_the_times() {
        let record = record("sum", None, 1 << 20, 0.25);
        assert_eq!(record.gbs, 16.777);
        assert_eq!(record.copy_fraction, Some(0.8));
        assert_eq!((record.ms_median, record.ms_min, record.ms_mad), (0.25, 0.125, 0.000_123));
    }

    #[test]
    fn a_line_has_the_agreed_keys_and_reads_back() {
        let record = record("transpose", Some((16381, 16363)), 16381 * 16363, 0.5);
        let line = record.to_line().expect("finite numbers");
        assert!(!line.contains('\n'));
        let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
        keys.sort_unstable();
        let expected = [
            "bytes",
            "clock",
            "cols",
            "commit",
            "copy_fraction",
            "date",
            "device",
            "driver",
            "gbs",
            "inputs",
            "launches",
            "mode",
            "ms_mad",
            "ms_median",
            "ms_min",
            "n",
            "op",
            "peer",
            "rows",
            "samples",
            "suite",
            "type",
        ];
        assert_eq!(keys, expected);
        assert_eq!(value["mode"], "single");
        assert_eq!(value["clock"], "events");
        assert_eq!(value["type"], "f32");
        assert_eq!(value["rows"], 16381);
        assert_eq!(serde_json::from_str::<Record>(&line).expect("a record"), record);
    }

    #[test]
    fn mode_names_are_those_of_json() {
        for mode in
            [Mode::Single, Mode::SingleWall, Mode::Batch, Mode::FreshProcess, Mode::FreshProcessCached]
        {
            assert_eq!(serde_json::to_value(mode).expect("a string"), mode.name());
        }
    }

    #[test]
    fn times_of_zero_leave_no_infinity_in_a_record() {
        let record = record("copy", None, 1024, 0.0);
        assert_eq!((record.gbs, record.copy_fraction), (0.0, None));
        assert!(record.to_line().expect("finite numbers").contains("\"copy_fraction\":null"));
    }

    #[test]
    fn sizes_read_like_sizes() {
        assert_eq!(record("sum", None, 1 << 20, 1.0).subject.size(), "2^20");
        assert_eq!(record("sum", None, 1000, 1.0).subject.size(), "1000");
        assert_eq!(record("transpose", Some((64, 64)), 4096, 1.0).subject.size(), "64²");
        assert_eq!(record("transpose", Some((61, 67)), 4087, 1.0).subject.size(), "61×67");
    }

    #[test]
    fn the_table_shows_every_record_in_columns() {
        let text = table(&[
            record("sum", None, 1 << 28, 0.24),
            record("transpose", Some((16381, 16363)), 16381 * 16363, 12.5),
            // 2 · 1000³ operations in 0.1 ms.
            record("gemm", Some((1000, 1000)), 1_000_000, 0.1),
        ]);
        let expected = "\
op         type         size  mode    median µs   min µs  ± µs        MB    GB/s  of copy  TFLOP/s
---------  ----  -----------  ------  ---------  -------  ----  --------  ------  -------  -------
sum        f32          2^28  single     240.00   120.00  0.12  1073.742  4473.9   83.3 %        –
transpose  f32   16381×16363  single   12500.00  6250.00  0.12  1072.169    85.8    1.6 %        –
gemm       f32         1000²  single     100.00    50.00  0.12     4.000    40.0  200.0 %    20.00
";
        assert_eq!(text, expected, "\n{text}");
    }
}
