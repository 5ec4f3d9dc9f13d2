//! Products of a matrix and a vector: `y = alpha · A · x + beta · y`.
//!
//! To the kernels A is a set of *lines*, contiguous in memory. Where the results' sums run along the lines, as with
//! the rows of a row-major A, it is the kernel `along`; where they run across, as with the columns of a row-major A
//! in `Aᵀ · x`, it is `across`. Both read every element of A once, 16 bytes a thread.
//!
//! # Order of operations
//! The sums are cut into pieces, as many as [`Shape`] says. Of a piece:
//!
//! * *along:* its elements, in vectors of 16 bytes, go to `width` lanes in turn. A lane has one chain of fused
//!   multiply-adds over its elements in ascending order, from zero; then lanes are added at the distances `width /
//!   2`, …, 2, 1.
//! * *across:* its lines, as many at a time as 16 bytes have elements, go in turn to groups of `width` lanes, of
//!   which a block has `ACROSS_THREADS / width`. A group has, for each result, one chain over its lines in ascending
//!   order, from zero; then the groups of a warp are added at halved distances, and [`ACROSS_WARPS`] warps in
//!   ascending order.
//!
//! Pieces are added in ascending order, and the result is `alpha · sum + beta · y` as for
//! [products of matrices](super::gemm), rounded once to the type of `y`.

mod across;
mod along;
mod finish;
mod instances;

pub use instances::*;

use gpu_std::float::Float;
use gpu_std::memory::GlobalMut;
use gpu_std::parameter::Parameter;
use gpu_std::shared::SharedLayout;

use super::scalar::{Scalar, combine};

/// Warps of a block.
pub const WARPS: u32 = 8;
/// Threads of a block.
pub const THREADS: u32 = 32 * WARPS;
/// Lines that lanes work on side by side: what they read of `x` serves all of them.
pub const LINES: u32 = 2;
/// Vectors of a line that a thread has in flight.
pub const UNROLL: u32 = 4;
/// Warps of a block across. With [`ACROSS_UNROLL`], in batches of 4096 × 4096 `f32` on an H200, of which 128 blocks
/// take a strip each: 256 threads with 4, 8, 16 lines 23.4, 17.8, 17.0 µs; 512 with 4, 8, 16 lines 20.7, 16.8, 17.3;
/// 1024 with 4 lines 16.9.
pub const ACROSS_WARPS: u32 = 16;
/// Threads of a block across.
pub const ACROSS_THREADS: u32 = 32 * ACROSS_WARPS;
/// Lines that a thread has in flight across: a multiple of each type's [`vector`].
pub const ACROSS_UNROLL: u32 = 8;

/// A product, but for addresses and factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Shape {
    /// Elements from one line to the next.
    pub leading: u64,
    /// Results.
    pub results: u32,
    /// Elements of a sum; zero where `alpha` is, so that nothing is read.
    pub length: u32,
    /// Elements of a sum in one piece.
    pub piece: u32,
    /// Pieces of a sum.
    pub pieces: u32,
    /// Lanes that share a line: a power of two up to 32.
    pub width: u32,
    /// Whether lines start at multiples of 16 bytes: 1 or 0.
    pub vectors: u32,
    /// Whether `x` does.
    pub x_vectors: u32,
}

/// Elements in 16 bytes.
pub const fn vector<T>() -> u32 {
    16 / size_of::<T>() as u32
}

/// Bytes of dynamic shared memory of a block of the kernel across: of each warp its sums.
pub const fn shared_bytes<T: Scalar>() -> u32 {
    SharedLayout::new().array::<T::Sum>(ACROSS_THREADS * vector::<T>()).bytes()
}

/// Writes a piece's sum of result `index`: to `y` if it is the only one, else to `partials`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn deliver<T: Scalar>(
    shape: &Shape,
    piece: u32,
    index: u32,
    sum: T::Sum,
    (alpha, beta): (T::Sum, T::Sum),
    y: GlobalMut<T>,
    partials: GlobalMut<T::Sum>,
) {
    if shape.pieces == 1 {
        y.write(index, result::<T>(alpha, sum, beta, || y.read(index)));
    } else {
        partials.offset(piece as u64 * shape.results as u64).write(index, sum);
    }
}

/// The result of a whole sum.
#[inline(always)]
fn result<T: Scalar>(alpha: T::Sum, sum: T::Sum, beta: T::Sum, old: impl FnOnce() -> T) -> T {
    T::narrow(combine(alpha, sum, beta, || old().widen()))
}

/// `sum` with the products of two vectors, in ascending order.
#[inline(always)]
fn chain<T: Scalar, const V: usize>(a: [T; V], x: [T; V], mut sum: T::Sum) -> T::Sum {
    gpu_std::unroll::<V>(|j| sum = a[j].widen().mul_add(x[j].widen(), sum));
    sum
}
