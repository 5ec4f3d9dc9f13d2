//! Sorts, of segments too, histograms and selections.

mod any_order;
mod chained;
mod histogram;
mod histogram_rounds;
mod multiprocessors;
mod runs;
mod schedules;
mod scratch;
mod segmented;
mod segmented_rounds;
mod segmented_schedules;
mod select;
mod select_schedules;
mod sort;
mod streams;
mod top_k;
mod top_k_schedules;
