#![doc = include_str!("../README.md")]

mod api;
mod axis;
mod element;

mod instance;
mod launch;
mod options;
mod plan;
pub mod reference;
mod scratch;
mod segmented;
pub mod variants;

pub use api::*;
pub use axis::{scan_axis, scan_axis_in_place, scan_axis_into};
pub use element::{Element, IntegerElement, WideElement};
pub use gpu_core::{Error, Offsets, Scratch, ScratchSize, Segments};
#[doc(no_inline)]
pub use gpu_sort::*;
pub use gpu_std::half::{bf16, f16};
pub use instance::{AlongColumns, Arguments, Call, Instance, Segmented};
pub use options::Options;
pub use plan::Plan;
pub use scratch::{scan_axis_scratch, scan_scratch, scan_segments_scratch};
pub use segmented::{scan_segments, scan_segments_in_place, scan_segments_into};

/// The operators as types: what [`scan()`], [`scan_into`] and [`reference::scan`] are told to combine with.
pub mod kernels {
    pub use gpu_scan_kernels::*;
}
