//! Sorts, of segments too, histograms and selections.

mod any_order;
mod histogram;
mod schedules;
mod scratch;
mod segmented;
mod select;
mod select_schedules;
mod sort;
mod top_k;
