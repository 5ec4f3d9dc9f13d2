#![doc = include_str!("../README.md")]

mod api;
mod axis;
mod element;
mod error;
mod histogram;
mod launch;
mod options;
mod plan;
pub mod reference;
mod scratch;
mod segmented;
mod select;
mod sort;
pub mod variants;

pub use api::*;
pub use axis::{AlongColumns, OfColumns, scan_axis, scan_axis_in_place, scan_axis_into};
pub use element::{Element, IntegerElement, WideElement};
pub use error::Error;
pub use gpu_std::half::{bf16, f16};
pub use histogram::*;
pub use launch::{Arguments, Instance, Whole};
pub use options::Options;
pub use plan::Plan;
pub use scratch::Scratch;
pub use segmented::{
    OfSegments, Offsets, Segmented, Segments, scan_segments, scan_segments_in_place, scan_segments_into,
};
pub use select::*;
pub use sort::*;

/// The operators as types: what [`scan()`], [`scan_into`] and [`reference::scan`] are told to combine with.
pub mod kernels {
    pub use gpu_scan_kernels::*;
}
