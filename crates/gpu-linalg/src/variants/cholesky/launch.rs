//! The launches of the textbook's kernels, and what they do on the CPU: the only unsafe code here.

use gpu_core::{Stream, View, ViewMut};
use gpu_factor_kernels::variants as kernels;
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::error::Error;
use crate::launch::RealElement;

/// A type of elements that the versions come for: `f32`, `f64`.
pub trait CholeskyElement: RealElement + sealed::Kernels {}

mod sealed {
    use super::*;

    /// # Safety
    /// Each is the kernel of its name, of this type.
    pub unsafe trait Kernels: gpu_std::memory::Element {
        /// A matrix, its transposed, rows, columns.
        type Transpose: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, u32, u32)>;
        /// A, B, C, m, n, k.
        type Product: Kernel<Arguments = (Global<Self>, Global<Self>, GlobalMut<Self>, u32, u32, u32)>;
        /// b, x, their length.
        type Subtract: Kernel<Arguments = (GlobalMut<Self>, Global<Self>, u32)>;
        /// L, X, rows, columns, the step.
        type SolveStep: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, u32, u32, u32)>;
    }
}

macro_rules! elements {
    ($($T:ty: $transpose:ident, $product:ident, $subtract:ident, $solve:ident;)*) => { $(
        impl CholeskyElement for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Transpose = kernels::$transpose;
            type Product = kernels::$product;
            type Subtract = kernels::$subtract;
            type SolveStep = kernels::$solve;
        }
    )* };
}
gpu_factor_kernels::textbook_instances!(elements);

/// `output` is `input` transposed, a matrix of `rows` rows.
pub(super) fn transpose<T: CholeskyElement>(
    stream: &Stream,
    input: View<'_, T>,
    mut output: ViewMut<'_, T>,
    rows: usize,
) -> Result<(), Error> {
    let columns = input.len() / rows.max(1);
    assert_eq!((input.len(), output.len()), (rows * columns, rows * columns), "whole rows");
    if let (Some(input), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        for (at, value) in output.iter_mut().enumerate() {
            *value = input[at % rows * columns + at / rows];
        }
        return Ok(());
    }
    let grid =
        [columns.div_ceil(kernels::TILE as usize) as u32, rows.div_ceil(kernels::TILE as usize) as u32, 1];
    let config = LaunchConfig {
        grid,
        block: [kernels::TILE, kernels::TRANSPOSE_ROWS, 1],
        shared_bytes: kernels::transpose_shared_bytes::<T>(),
    };
    // SAFETY: the views hold a matrix each (checked above), and the output is exclusive; memory is freed only after the
    // work enqueued before.
    unsafe { stream.launch::<T::Transpose>(config, (input, output, rows as u32, columns as u32)) }?;
    Ok(())
}

/// `C = A · B`, of `[m, n, k]`.
pub(super) fn product<T: CholeskyElement>(
    stream: &Stream,
    a: View<'_, T>,
    b: View<'_, T>,
    mut c: ViewMut<'_, T>,
    [m, n, k]: [usize; 3],
) -> Result<(), Error> {
    assert_eq!((a.len(), b.len(), c.len()), (m * k, k * n, m * n), "the matrices' lengths");
    if let (Some(a), Some(b), Some(c)) = (a.as_slice(), b.as_slice(), c.as_mut_slice()) {
        for (at, value) in c.iter_mut().enumerate() {
            let (row, column) = (at / n, at % n);
            *value = (0..k).fold(T::ZERO, |sum, k_at| a[row * k + k_at].mul_add(b[k_at * n + column], sum));
        }
        return Ok(());
    }
    let tiles = |extent: usize| extent.div_ceil(kernels::TILE as usize) as u32;
    let config = LaunchConfig {
        grid: [tiles(n), tiles(m), 1],
        block: [kernels::TILE, kernels::TILE, 1],
        shared_bytes: kernels::product_shared_bytes::<T>(),
    };
    // SAFETY: the views hold the matrices (checked above), and C is exclusive; memory is freed only after the work
    // enqueued before.
    unsafe { stream.launch::<T::Product>(config, (a, b, c, m as u32, n as u32, k as u32)) }?;
    Ok(())
}

/// `b = b - x`, by blocks of 192 threads.
pub(super) fn subtract<T: CholeskyElement>(
    stream: &Stream,
    mut b: ViewMut<'_, T>,
    x: View<'_, T>,
) -> Result<(), Error> {
    assert_eq!(b.len(), x.len(), "as many elements");
    if let (Some(b), Some(x)) = (b.as_mut_slice(), x.as_slice()) {
        b.iter_mut().zip(x).for_each(|(b, &x)| *b = *b - x);
        return Ok(());
    }
    let len = b.len() as u32;
    // SAFETY: both views have that many elements, and b is exclusive; memory is freed only after the work enqueued
    // before.
    unsafe { stream.launch::<T::Subtract>(LaunchConfig::linear(len.div_ceil(192), 192), (b, x, len)) }?;
    Ok(())
}

/// Step `step` of `X · Lᵀ = B`, of `columns` columns.
pub(super) fn solve_step<T: CholeskyElement>(
    stream: &Stream,
    l: View<'_, T>,
    mut x: ViewMut<'_, T>,
    columns: usize,
    step: usize,
) -> Result<(), Error> {
    let rows = x.len() / columns;
    assert!(l.len() == columns * columns && x.len() == rows * columns && step < columns, "whole rows");
    if let (Some(l), Some(x)) = (l.as_slice(), x.as_mut_slice()) {
        for row in x.chunks_exact_mut(columns) {
            let solved = row[step] * (T::ONE / l[step * columns + step]);
            row[step] = solved;
            for column in step + 1..columns {
                row[column] = (-l[column * columns + step]).mul_add(solved, row[column]);
            }
        }
        return Ok(());
    }
    let config = LaunchConfig {
        grid: [(rows as u32).div_ceil(kernels::SOLVE_ROWS), 1, 1],
        block: [kernels::SOLVE_COLUMNS, kernels::SOLVE_ROWS, 1],
        shared_bytes: 0,
    };
    // SAFETY: the views hold L and X (checked above), and X is exclusive; a row belongs to one row of threads, and the
    // next step begins after this one. Memory is freed only after the work enqueued before.
    unsafe { stream.launch::<T::SolveStep>(config, (l, x, rows as u32, columns as u32, step as u32)) }?;
    Ok(())
}
