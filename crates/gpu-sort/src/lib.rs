#![doc = include_str!("../README.md")]

mod api;
mod histogram;
mod in_place;
mod key;
mod launch;
mod plan;
mod reference;
mod scratch;
mod segmented;
mod select;
mod top_k;
mod values;
mod width;

pub use api::*;
pub use gpu_core::{Count, Error, Offsets, Scratch, ScratchSize, Segments};
pub use gpu_std::half::{bf16, f16};
pub use histogram::*;
pub use in_place::*;
pub use key::{SortKey, SortOptions};
pub use plan::SortPlan;
pub use scratch::*;
pub use segmented::{
    SegmentedPlan, offsets_of_flags, offsets_of_keys, segmented_sort, segmented_sort_in_place,
    segmented_sort_indices, segmented_sort_indices_into, segmented_sort_into, segmented_sort_pairs,
    segmented_sort_pairs_in_place, segmented_sort_pairs_in_place_scratch, segmented_sort_pairs_into,
};
pub use select::*;
pub use top_k::{
    TopK, TopKPlan, top_k, top_k_into, top_k_pairs, top_k_pairs_into, top_k_rows, top_k_rows_into,
    top_k_segments, top_k_segments_into,
};

/// What the kernels are made of: [`predicate!`] asks for it.
pub mod kernels {
    pub use gpu_sort_kernels::*;
}
