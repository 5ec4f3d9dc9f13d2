//! The files of results, device by device.

use std::sync::OnceLock;

use super::recorded::Source;

macro_rules! results {
    ($device:literal: $($file:literal),* $(,)?) => {
        &[$(include_str!(concat!("../../benches/results/nvidia-", $device, "-2026-11-", $file, ".jsonl"))),*]
    };
}

/// All devices that there are results of.
pub static SOURCES: [Source; 2] = [
    Source {
        device: "h200",
        variants: results!("h200": "21-variants"),
        fast: results!("h200": "22-small-kernels"),
        cases: results![
            "h200":
            "21",
            "21-reduce",
            "21-scan-linalg",
            "21-segments-scan",
            "21-transpose",
            "22",
            "22-rows",
            "22-second",
            "22-small-kernels",
            "22-third",
            "23",
            "29-runs",
        ],
        measured: results!("h200": "27-subjects"),
        calibration: results!("h200": "23-calibration"),
        shapes: results![
            "h200":
            "23-shapes",
            "25",
            "26",
            "26-tensor",
            "27",
            "27-aligned",
            "27-large",
            "27-batches",
            "28", "28-sparse", "28-small", "28-top-k", "29-transpositions", "29-tiles", "29-order",
        ],
        tiles: None,
        known: OnceLock::new(),
    },
    Source {
        device: "h100",
        variants: results!("h100": "25-variants"),
        fast: results!("h100": "25-model"),
        cases: results!("h100": "25-model"),
        measured: results!("h100": "25-subjects"),
        calibration: results!("h100": "25-calibration"),
        shapes: results![
            "h100":
            "25",
            "25-tiles",
            "25-skyline",
            "26-tensor",
            "27-tf32",
            "27-dependent",
            "27-aligned",
            "27-large",
            "27-batches",
            "28", "28-sparse", "28-top-k", "28-level3",
        ],
        tiles: Some(include_str!("../../benches/results/nvidia-h100-2026-11-27-large-kernels.jsonl")),
        known: OnceLock::new(),
    },
];
