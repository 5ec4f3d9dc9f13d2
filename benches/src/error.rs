//! What can go wrong.

use std::path::PathBuf;

/// An error of a measurement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no GPU to measure on.
    #[error(
        "no GPU to measure: {0}\n(--device simulator or --device cpu runs small sizes without one, by the wall clock)"
    )]
    NoGpu(gpu_core::Error),

    /// The device, its memory or a launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),

    /// The reduction.
    #[error(transparent)]
    Reduce(#[from] gpu_reduce::Error),

    /// The transposition.
    #[error(transparent)]
    Transpose(#[from] gpu_transpose::Error),

    /// A launch computed something else than the reference, or left its output as it was.
    #[error("wrong result: input {input}, element {index}: expected {expected:e} ({expected_bits:#010x}), got {actual:e} ({actual_bits:#010x}{})", unwritten(*actual_bits))]
    Wrong {
        /// Which of the rotated inputs.
        input: usize,
        /// Where in its output.
        index: usize,
        /// What the reference computes.
        expected: f32,
        /// Its bits.
        expected_bits: u32,
        /// What the launch wrote.
        actual: f32,
        /// Its bits.
        actual_bits: u32,
    },

    /// The same for elements that are not `f32`.
    #[error("wrong result: input {input}, element {index}: expected {expected}, got {actual}")]
    WrongElement {
        /// Which of the rotated inputs.
        input: usize,
        /// Where in its output.
        index: usize,
        /// What belongs there.
        expected: String,
        /// What the launch wrote.
        actual: String,
    },

    /// Memory that no launch was to write was written.
    #[error(
        "element {index} of the outputs belongs to no launch, yet it was written: {actual:e} ({actual_bits:#010x})"
    )]
    Strayed {
        /// Where in the memory of all outputs.
        index: usize,
        /// What was written there.
        actual: f32,
        /// Its bits.
        actual_bits: u32,
    },

    /// The timings make no sense.
    #[error("a clock gave no finite times")]
    Clock,

    /// No case has a name that the filters ask for.
    #[error("no case contains {}; --list shows all", .0.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(" or "))]
    NoCase(Vec<String>),

    /// A process started to time its first result failed.
    #[error("the process started to time its first result failed ({status}): {message}")]
    Child {
        /// How it ended.
        status: String,
        /// What it wrote.
        message: String,
    },

    /// A process started to time its first result computed something else than the reference.
    #[error("the first result of a process was {actual:e}, the reference is {expected:e}")]
    WrongFirst {
        /// What the reference computes.
        expected: f32,
        /// What the process computed.
        actual: f32,
    },

    /// A file could not be written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },

    /// Input or output of this process or one it started failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),

    /// A result could not be written or read as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl Error {
    /// Whether it says no more than that the device is too small for the case.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(
            self,
            Self::Device(gpu_core::Error::OutOfMemory { .. })
                | Self::Reduce(gpu_reduce::Error::Device(gpu_core::Error::OutOfMemory { .. }))
                | Self::Transpose(gpu_transpose::Error::Device(gpu_core::Error::OutOfMemory { .. }))
        )
    }
}

fn unwritten(bits: u32) -> &'static str {
    if bits == crate::data::POISON { ", never written" } else { "" }
}
