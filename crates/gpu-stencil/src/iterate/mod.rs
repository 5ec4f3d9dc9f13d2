//! Linear stencils applied again and again: Jacobi's method, the heat equation, and any weights of your own.
//!
//! A [`Stencil`] is a star or a box of weights, of radius 1 to 4, on a plane or in a volume. A [`Problem`] has a
//! [`Grid`] for it, a [`Boundary`], and, if it likes, a source. [`iterate`] makes any number of steps; [`residual`]
//! says how far a state is from one that a step leaves as it is.
//!
//! # Order
//! A step gives each cell `c` the chain of fused multiply-adds, from +0 on,
//!
//! ```text
//! factor · source[c]                         where there is a source
//! + weight[k] · u[neighbour k of c]          for all k, in the order in which the neighbours lie in memory
//! ```
//!
//! On the CPU, in the simulator and on every GPU, however many steps are made in one pass over memory, the bits are
//! these.
//!
//! # What is fast
//! On planes, stars and boxes of radius 1 make four steps in one pass, stars of `f32` without a source eight, in
//! registers (`gpu_stencil_kernels::iterate::strip`); what is left over, and everything else, one. In volumes stars
//! of radius 1 go through memory once a step where rows fill whole vectors of 16 bytes. No grid is too small for
//! anything.

mod api;
mod boundary;
mod launch;
pub mod plan;
pub mod reference;
mod stencil;

pub use api::{Problem, Residual, difference_into, iterate, iterate_into, iterate_scratch, residual};
pub use boundary::Boundary;
pub use gpu_core::Grid;
pub use launch::GridElement;
pub use stencil::{MAX_RADIUS, Shape, Stencil};
