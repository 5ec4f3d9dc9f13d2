//! Scans, in one program: what compiling them takes goes to kernels that most of these tests share.

mod support {
    pub mod scan;
    pub mod segments;
}

mod axis;
mod chained;
mod named;
mod reference;
mod schedules;
mod segments;
mod segments_schedules;
mod variants;
mod whole;
