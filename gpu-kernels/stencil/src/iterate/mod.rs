//! Iterated linear stencils on grids of two and three dimensions.
//!
//! A step replaces each cell by a weighted sum of its neighbourhood: from +0 on, first `factor · source` where there
//! is a source, then one fused multiply-add for each weight, in the order in which the neighbours lie in memory.
//! Nothing else enters, so the bits depend on neither the device nor the kernel, nor on how many steps a kernel makes
//! at a time.
//!
//! * [`strip`]: several steps of a star or box of radius 1 on a plane in one pass over memory.
//! * [`march`]: a step of a star of radius 1 in a volume.
//! * [`step`]: a step of anything.

mod kernels;
pub mod march;
pub mod step;
pub mod strip;

pub use kernels::*;

/// The outermost cells, as many layers as the radius, stay as they are.
pub const DIRICHLET: u32 = 0;
/// The grid goes on mirrored, its outermost cells twice, so that nothing flows through its edge.
pub const NEUMANN: u32 = 1;
/// The grid goes on with its other side.
pub const PERIODIC: u32 = 2;

/// The mode of [`super::border`] that says what lies outside. What Dirichlet's cells would read does not matter.
#[inline(always)]
pub fn border_mode(boundary: u32) -> u32 {
    if boundary == PERIODIC { super::border::WRAP } else { super::border::REFLECT }
}
