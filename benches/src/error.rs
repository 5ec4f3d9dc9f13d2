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

    /// A shape's result is not the CPU's.
    #[error("wrong result: {0}")]
    WrongShape(String),

    /// A line that is no shape.
    #[error("{0:?} is no shape like those of --list")]
    NoShape(String),

    /// The transposition.
    #[error(transparent)]
    Transpose(#[from] gpu_transpose::Error),

    /// The linear algebra.
    #[error(transparent)]
    Linalg(#[from] gpu_linalg::Error),

    /// Sparse matrices.
    #[error(transparent)]
    Sparse(#[from] gpu_sparse::Error),

    /// The stencil.
    #[error(transparent)]
    Stencil(#[from] gpu_stencil::Error),

    /// A launch computed something else than the reference, or left its output as it was.
    #[error("wrong result: input {input}, element {index}: expected {expected}, got {actual}{}", if *.unwritten { ", never written" } else { "" })]
    Wrong {
        /// Which of the rotated inputs.
        input: usize,
        /// Where in its output.
        index: usize,
        /// What the reference computes, and its bytes.
        expected: String,
        /// What is there, and its bytes.
        actual: String,
        /// Whether that is what it was filled with before.
        unwritten: bool,
    },

    /// Memory that no launch was to write was written.
    #[error("element {index} of the outputs belongs to no launch, yet it was written: {actual}")]
    Strayed {
        /// Where in the memory of all outputs.
        index: usize,
        /// What was written there, and its bytes.
        actual: String,
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
                | Self::Linalg(gpu_linalg::Error::Device(gpu_core::Error::OutOfMemory { .. }))
                | Self::Stencil(gpu_stencil::Error::Device(gpu_core::Error::OutOfMemory { .. }))
                | Self::Transpose(gpu_transpose::Error::Device(gpu_core::Error::OutOfMemory { .. }))
        )
    }
}
