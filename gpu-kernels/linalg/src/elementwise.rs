//! Element-wise operations on vectors and matrices: sums, differences, products, multiples, copies.
//!
//! To the kernels a matrix is a set of *lines*, contiguous in memory; a vector, and a matrix without gaps, is one.
//! All but the copy are one fused multiply-add: `x + y = fma(1, x, y)`, `x - y = fma(-1, y, x)`, `alpha · x =
//! fma(alpha, x, -0)` and `x · y = fma(y, x, -0)`, each exactly what the operation by itself would round to, signs of
//! zeros included. So one kernel serves all, and as memory sets its pace, the selections cost nothing.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::{device, unroll};

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Vectors of 16 bytes that a thread works on.
pub const UNROLL: u32 = 4;

/// The result is a copy of `x`, bit by bit.
pub const COPY: u32 = 0;
/// The result is `fma(alpha, x, -0)`.
pub const SCALE: u32 = 1;
/// The result is `fma(alpha, x, y)`.
pub const AXPY: u32 = 2;
/// The result is `fma(y, x, -0)`.
pub const PRODUCT: u32 = 3;

/// The lines of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Lines {
    /// Elements of a line.
    pub length: u64,
    /// Elements from one line of `x` to the next.
    pub x_leading: u64,
    /// The same of `y`.
    pub y_leading: u64,
    /// The same of the output.
    pub output_leading: u64,
    /// Lines.
    pub count: u64,
    /// Threads that share a line: a power of two, [`THREADS`] at most.
    pub width: u32,
    /// Blocks that share a line.
    pub across: u32,
    /// Whether all lines start at multiples of 16 bytes: 1 or 0.
    pub vectors: u32,
    /// What is computed: [`COPY`], [`SCALE`], [`AXPY`] or [`PRODUCT`].
    pub operation: u32,
}

/// Computes a block's elements. Launch as many as [`Lines`] needs: `across` for every `THREADS / width` lines.
#[device]
#[inline(always)]
pub(super) fn elementwise<T: Float, const V: usize>(
    x: Global<T>,
    y: Global<T>,
    output: GlobalMut<T>,
    lines: Lines,
    alpha: T,
) {
    let down = block_idx_x() / lines.across;
    let line = down as u64 * (THREADS / lines.width) as u64 + (thread_idx_x() / lines.width) as u64;
    if line >= lines.count {
        return;
    }
    let part = (lines.width * UNROLL) as u64 * V as u64;
    let first = (block_idx_x() - down * lines.across) as u64 * part;
    let left = (lines.length - first).min(part) as u32;
    let x = x.offset(line * lines.x_leading + first);
    let y = y.offset(line * lines.y_leading + first);
    let output = output.offset(line * lines.output_leading + first);

    let (copy, multiply) = (lines.operation == COPY, lines.operation == PRODUCT);
    let with_y = lines.operation >= AXPY;
    let result = |x: T, y: T| {
        let (factor, summand) = if multiply { (y, -T::ZERO) } else { (alpha, y) };
        if copy { x } else { factor.mul_add(x, summand) }
    };
    let lane = thread_idx_x() % lines.width;
    if lines.vectors != 0 && left as u64 == part {
        let at = |step: usize| (step as u32 * lines.width + lane) * V as u32;
        let mut xs = [[T::ZERO; V]; UNROLL as usize];
        let mut ys = [[-T::ZERO; V]; UNROLL as usize];
        unroll::<{ UNROLL as usize }>(|step| xs[step] = x.read_vec(at(step)));
        if with_y {
            unroll::<{ UNROLL as usize }>(|step| ys[step] = y.read_vec(at(step)));
        }
        unroll::<{ UNROLL as usize }>(|step| {
            let mut results = [T::ZERO; V];
            unroll::<V>(|j| results[j] = result(xs[step][j], ys[step][j]));
            output.write_vec::<V>(at(step), results);
        });
    } else {
        // Element by element, neighbours by neighbouring threads.
        let mut at = lane;
        while at < left {
            let y = if with_y { y.read(at) } else { -T::ZERO };
            output.write(at, result(x.read(at), y));
            at += lines.width;
        }
    }
}

/// Exchanges a block's elements of `x` and `y`, bit by bit; lines and blocks as for the other operations.
#[device]
#[inline(always)]
pub(super) fn swap<T: Float, const V: usize>(x: GlobalMut<T>, y: GlobalMut<T>, lines: Lines) {
    let down = block_idx_x() / lines.across;
    let line = down as u64 * (THREADS / lines.width) as u64 + (thread_idx_x() / lines.width) as u64;
    if line >= lines.count {
        return;
    }
    let part = (lines.width * UNROLL) as u64 * V as u64;
    let first = (block_idx_x() - down * lines.across) as u64 * part;
    let left = (lines.length - first).min(part) as u32;
    let (x, y) = (x.offset(line * lines.x_leading + first), y.offset(line * lines.y_leading + first));
    let lane = thread_idx_x() % lines.width;
    let mut at = lane;
    if lines.vectors != 0 && left as u64 == part {
        while at < left / V as u32 {
            let place = at * V as u32;
            let (old_x, old_y): ([T; V], [T; V]) = (x.read_vec(place), y.read_vec(place));
            x.write_vec::<V>(place, old_y);
            y.write_vec::<V>(place, old_x);
            at += lines.width;
        }
    } else {
        while at < left {
            let (old_x, old_y) = (x.read(at), y.read(at));
            x.write(at, old_y);
            y.write(at, old_x);
            at += lines.width;
        }
    }
}
