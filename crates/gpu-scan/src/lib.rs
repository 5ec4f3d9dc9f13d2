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
pub mod variants;

pub use api::*;
pub use axis::{AlongColumns, scan_axis, scan_axis_in_place, scan_axis_into};
pub use element::{Element, IntegerElement, WideElement};
pub use error::Error;
pub use gpu_sort::{
    SortKey, SortOptions, SortPlan, SortScratch, sort, sort_indices, sort_indices_into, sort_into,
    sort_pairs, sort_pairs_into,
};
pub use gpu_std::half::{bf16, f16};
pub use histogram::*;
pub use launch::Instance;
pub use options::Options;
pub use plan::Plan;
pub use scratch::Scratch;
pub use segmented::{
    Offsets, Segmented, Segments, scan_segments, scan_segments_in_place, scan_segments_into,
};
pub use select::*;

/// The operators as types: what [`scan()`], [`scan_into`] and [`reference::scan`] are told to combine with.
pub mod kernels {
    pub use gpu_scan_kernels::*;
}

/// What [`instance!`], [`segmented_instance!`] and [`columns_instance!`] expand to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use gpu_core::{Error, Stream};
    pub use gpu_std::launch::LaunchConfig;
    pub use gpu_std::memory::{Global, GlobalMut};
}
