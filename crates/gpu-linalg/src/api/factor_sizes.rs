//! Cholesky factorisations of batches of sizes of their own, and the solutions of systems by them.

use gpu_core::{Stream, View, ViewMut, checks};
use gpu_factor_kernels::{Batch, SOLVE_RHS, Solve};
use gpu_std::launch::LaunchConfig;
use rayon::prelude::*;

use super::Triangle;
use super::factor::expect_info;
use crate::cpu;
use crate::error::Error;
use crate::factor::Sizes;
use crate::factor::launch::{self, FactorElement};
use crate::factor::sizes::WORDS;
use crate::matrix::{BatchLayout, Layout, Order};
use crate::plan;
use crate::plan::factor::{Whole, strides};
use crate::reference;

/// The matrices of a batch of which matrix `number` has as many elements as `len` says.
fn split<T>(mut all: &mut [T], count: usize, len: impl Fn(usize) -> usize) -> Vec<&mut [T]> {
    let one = |number| {
        let (first, rest) = std::mem::take(&mut all).split_at_mut(len(number));
        all = rest;
        first
    };
    (0..count).map(one).collect()
}

/// [`potrf`](crate::potrf) of matrices of sizes of their own, one after the other without gaps, all in one order.
///
/// `a` has [`Sizes::elements`], `info` [`Sizes::count`]; no scratch memory is needed. Each matrix is factored as
/// `potrf` does it in a batch of several: the bits are the same.
///
/// # Errors
/// [`gpu_core::Error::LengthMismatch`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on
/// another device than the stream or where the launch failed. `a` is as it was then, but where a later one of several
/// launches failed.
///
/// ```
/// use gpu_linalg::{Order, Sizes, Triangle, potrf_sizes};
/// let device = gpu_core::Device::simulator();
/// let sizes = Sizes::new(&device, &[1, 2])?;
/// let mut a = device.upload(&[9.0f32, 4.0, 2.0, 0.0, 10.0])?;
/// let mut info = device.alloc(2)?;
/// potrf_sizes(&device.default_stream(), Triangle::Lower, Order::ColumnMajor, &sizes, &mut a, &mut info)?;
/// assert_eq!(a.to_vec()?, [3.0, 2.0, 1.0, 0.0, 3.0]);
/// assert_eq!(info.to_vec()?, [0, 0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn potrf_sizes<'a, 'i, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    order: Order,
    sizes: &Sizes,
    a: impl Into<ViewMut<'a, T>>,
    info: impl Into<ViewMut<'i, u32>>,
) -> Result<(), Error> {
    let (mut a, mut info) = (a.into(), info.into());
    checks::length("the matrices' elements", sizes.elements(), a.len())?;
    expect_info(sizes.count(), info.len())?;
    stream.expect("matrices to be factored", a.device())?;
    stream.expect("orders of minors", info.device())?;
    stream.expect("sizes of matrices", sizes.table().device())?;
    if let (Some(a), Some(info)) = (a.as_mut_slice(), info.as_mut_slice()) {
        let matrices = split(a, sizes.count(), |number| sizes.sizes()[number].pow(2));
        return matrices.into_par_iter().zip(info).zip(sizes.sizes()).try_for_each(|((a, info), &n)| {
            let layout = BatchLayout::from(Layout::new(order, n, n)?);
            cpu::factor::potrf(triangle, None, (a, layout), std::slice::from_mut(info));
            Ok(())
        });
    }
    // Empty matrices are in no launch.
    stream.memset(info.reborrow(), 0)?;
    for group in sizes.groups() {
        let count = group.entries.len();
        let batch = rows_contiguous(triangle, order, count)?;
        let plan =
            Whole { kernel: group.kernel, launch: group.kernel.launch::<T>(count, group.most)?, batch };
        let table = sizes.table().slice(WORDS * group.entries.start..WORDS * group.entries.end);
        let to = a.as_global_mut();
        // Of whole matrices no reciprocals are written.
        launch::whole(stream, &plan, to.as_global(), to, to, info.reborrow(), Some(table))?;
    }
    Ok(())
}

/// A batch whose table says where its matrices lie.
fn rows_contiguous(triangle: Triangle, order: Order, count: usize) -> Result<Batch, Error> {
    let (row, _) = strides(triangle, Layout::new(order, 2, 2)?);
    let row = u64::from(row == 1);
    let count = plan::extent("the number of matrices", count)?;
    Ok(Batch { row, to_row: row, count, ..Batch::default() })
}

/// [`potrs`](crate::potrs) of systems of sizes of their own, each with `count` right-hand sides.
///
/// `l` is what [`potrf_sizes`] made, with the same `triangle` and `order`. `b` has [`Sizes::rows`] times `count`
/// elements: matrix after matrix, of n rows and `count` columns each, in `b_order`, without gaps; matrix `number`
/// starts at [`Sizes::rows_before`] times `count`.
///
/// # Errors
/// As [`potrf_sizes`]; [`gpu_core::Error::Aliasing`], [`gpu_core::Error::ExtentTooLarge`].
///
/// ```
/// use gpu_linalg::{Order, Sizes, Triangle, potrs_sizes};
/// let device = gpu_core::Device::simulator();
/// let sizes = Sizes::new(&device, &[1, 2])?;
/// let l = device.upload(&[2.0f32, 1.0, 1.0, 0.0, 2.0])?;
/// let mut b = device.upload(&[8.0, 1.0, 5.0])?;
/// let order = Order::ColumnMajor;
/// potrs_sizes(&device.default_stream(), Triangle::Lower, order, &sizes, &l, order, 1, &mut b)?;
/// assert_eq!(b.to_vec()?, [2.0, 0.0, 1.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of potrs, and how matrices lie")]
pub fn potrs_sizes<'l, 'b, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    order: Order,
    sizes: &Sizes,
    l: impl Into<View<'l, T>>,
    b_order: Order,
    count: usize,
    b: impl Into<ViewMut<'b, T>>,
) -> Result<(), Error> {
    let (l, mut b) = (l.into(), b.into());
    checks::length("the factors' elements", sizes.elements(), l.len())?;
    // What saturates is more than memory has.
    checks::length("the right-hand sides' elements", sizes.rows().saturating_mul(count), b.len())?;
    stream.expect("factors of systems", l.device())?;
    stream.expect("right-hand sides", b.device())?;
    stream.expect("sizes of matrices", sizes.table().device())?;
    b.expect_apart("L", &l)?;
    if b.is_empty() {
        return Ok(());
    }
    if let (Some(l), Some(b)) = (l.as_slice(), b.as_mut_slice()) {
        let solutions = split(b, sizes.count(), |number| sizes.sizes()[number] * count);
        return solutions.into_par_iter().enumerate().try_for_each(|(number, b)| {
            let n = sizes.sizes()[number];
            let l = &l[sizes.first(number)..sizes.first(number + 1)];
            let layout = Layout::new(b_order, n, count)?;
            reference::potrs(triangle, (l, Layout::new(order, n, n)?.into()), (b, layout.into()));
            Ok(())
        });
    }
    let columns = plan::extent("the number of right-hand sides", count)?;
    let is_row_major = u64::from(b_order == Order::RowMajor);
    let blocks = columns.div_ceil(SOLVE_RHS);
    let shape = Solve { column: is_row_major, count: columns, blocks, ..Solve::default() };
    for group in sizes.groups() {
        let batch = rows_contiguous(triangle, order, group.entries.len())?;
        let launch = plan::blocks(u128::from(batch.count) * u128::from(blocks))?;
        let launch =
            LaunchConfig::linear(launch, 32).shared(gpu_factor_kernels::solve_shared_bytes::<T>(group.most));
        let table = sizes.table().slice(WORDS * group.entries.start..WORDS * group.entries.end);
        launch::solve(stream, (launch, batch, shape), l, b.reborrow(), Some(table))?;
    }
    Ok(())
}
