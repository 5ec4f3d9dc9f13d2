//! Sorts, histograms and selections.

mod histogram;
mod schedules;
mod select;
mod select_schedules;
mod sort;
