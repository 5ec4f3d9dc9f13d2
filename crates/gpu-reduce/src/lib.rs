#![doc = include_str!("../README.md")]

mod api;
mod axis;
mod by_key;
mod element;

mod instance;
mod launch;
mod operand;
mod plan;
pub mod reference;
mod scratch;
mod segments;
pub mod variants;

pub use api::*;
pub use by_key::{RunKey, reduce_by_key, reduce_by_key_into, reduce_by_key_scratch};
pub use element::{Element, FloatElement, IntegerElement};
pub use gpu_core::{Error, Offsets, Scratch, ScratchSize, Segments};
pub use gpu_std::half::{bf16, f16};
pub use instance::{
    AlongColumns, Arguments, Instance, MappedAlongColumns, MappedInstance, MappedSegmented, OfColumns,
    OfSegments, Segmented, Serves, Whole,
};
pub use operand::{Columns, Operand};
pub use plan::{Plan, SegmentsPlan};
pub use scratch::{reduce_axis_scratch, reduce_scratch, reduce_segments_scratch};

/// The reductions as types: what [`reduce()`], [`reduce_into`] and [`reference::reduce`] are told to compute.
pub mod kernels {
    pub use gpu_reduce_kernels::*;
}
