//! Reductions, in one program: what compiling them takes goes to kernels that most of these tests share.

#[macro_use]
mod support {
    #[macro_use]
    pub mod oracles;
    pub mod reduce;
}

mod axis;
mod by_key;
mod by_key_schedules;
mod chained;
mod half;
mod named;
mod operators;
mod rounds;
mod segments;
mod segments_stretches;
mod several;
mod unordered;
mod variants;
mod whole;
