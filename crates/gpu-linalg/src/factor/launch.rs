//! The factorisations' launches: their only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_factor_kernels::{self as kernels, Batch, Solve, Step, Strips, tiled};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::level3::TriangleElement;
use crate::plan::factor::{Kernel as Choice, Whole};

/// A type of elements of matrices that are factored: `f32`, `f64`.
pub trait FactorElement: TriangleElement + kernels::Root + sealed::Kernels {}

mod sealed {
    use super::*;

    /// From, to, orders of minors, table, matrices.
    pub type OfLanes<T> = (Global<T>, GlobalMut<T>, GlobalMut<u32>, Global<u64>, Batch);
    /// From, to, scratch memory, orders of minors, table, matrices.
    pub type OfBlock<T> = (Global<T>, GlobalMut<T>, GlobalMut<T>, GlobalMut<u32>, Global<u64>, Batch);

    /// # Safety
    /// Each is the kernel of its name, of this type.
    pub unsafe trait Kernels: gpu_std::memory::Element {
        type Lanes8: Kernel<Arguments = OfLanes<Self>>;
        type Lanes16: Kernel<Arguments = OfLanes<Self>>;
        type Lanes32: Kernel<Arguments = OfLanes<Self>>;
        type Block: Kernel<Arguments = OfBlock<Self>>;
        /// The block and the rows below, scratch memory, shape.
        type Strips: Kernel<Arguments = (GlobalMut<Self>, GlobalMut<Self>, Strips)>;
        /// Factors, right-hand sides, table, matrices, shape.
        type Solve: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, Global<u64>, Batch, Solve)>;
        /// A, scratch memory, order of a minor, shape.
        type Step: Kernel<Arguments = (GlobalMut<Self>, GlobalMut<Self>, GlobalMut<u32>, Step)>;
        /// A, the roots' reciprocals, the tiles' progress, order of a minor, shape.
        type Tiled: Kernel<
            Arguments = (GlobalMut<Self>, GlobalMut<Self>, GlobalMut<u32>, GlobalMut<u32>, tiled::Shape),
        >;
        /// A, the skyline's tables, and as for `Tiled`.
        type Skyline: Kernel<
            Arguments = (
                GlobalMut<Self>,
                Global<u32>,
                GlobalMut<Self>,
                GlobalMut<u32>,
                GlobalMut<u32>,
                tiled::Shape,
            ),
        >;
        /// From, to, shape, what is multiplied by.
        type CopyPart: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, kernels::Copy, f64)>;
    }
}

macro_rules! elements {
    ($($T:ident, $v:literal: $lanes_8:ident, $lanes_16:ident, $lanes_32:ident, $block:ident, $strips:ident, $solve:ident, $step:ident;)*) => { $(
        impl FactorElement for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Lanes8 = kernels::$lanes_8;
            type Lanes16 = kernels::$lanes_16;
            type Lanes32 = kernels::$lanes_32;
            type Block = kernels::$block;
            type Strips = kernels::$strips;
            type Solve = kernels::$solve;
            type Step = kernels::$step;
            type Tiled = elements!(tiled $T);
            type Skyline = elements!(skyline $T);
            type CopyPart = elements!(copy $T);
        }
    )* };
    (tiled f32) => { tiled::factor_tiled_f32 };
    (tiled f64) => { tiled::factor_tiled_f64 };
    (skyline f32) => { tiled::factor_skyline_f32 };
    (skyline f64) => { tiled::factor_skyline_f64 };
    (copy f32) => { kernels::factor_copy_f32 };
    (copy f64) => { kernels::factor_copy_f64 };
}
kernels::factor_instances!(elements);

/// Enqueues the factorisations of `plan`, of matrices that lie where `from` and `to` start, or where `table` says.
pub(crate) fn whole<T: FactorElement>(
    stream: &Stream,
    plan: &Whole,
    from: Global<T>,
    to: GlobalMut<T>,
    scratch: GlobalMut<T>,
    info: ViewMut<'_, u32>,
    table: Option<View<'_, u64>>,
) -> gpu_core::Result<()> {
    let batch = plan.vectors::<T>(from.address(), to.address());
    // Without a table the kernels read none.
    let table = table.map_or(from.cast(), |table| table.as_global());
    let lanes = (from, to, info, table, batch);
    // SAFETY: the caller took the accessors from views that hold the batches of the plan's layouts, `to` and `scratch`
    // from exclusive ones; the matrices of `to` are apart, and `from` is either `to` with the same layout, of which
    // each thread reads what it writes before it does, or memory of its own. Views of as many orders, and of a table
    // made for them, are as long as the batch. All is freed only after the work enqueued before.
    unsafe {
        match plan.kernel {
            Choice::Lanes8 => stream.launch::<T::Lanes8>(plan.launch, lanes),
            Choice::Lanes16 => stream.launch::<T::Lanes16>(plan.launch, lanes),
            Choice::Lanes32 => stream.launch::<T::Lanes32>(plan.launch, lanes),
            Choice::Block => {
                let (from, to, info, table, batch) = lanes;
                stream.launch::<T::Block>(plan.launch, (from, to, scratch, info, table, batch))
            }
        }
    }
}

/// Enqueues the solution for the rows below a factored block, which starts at `a`.
pub(crate) fn strips<T: FactorElement>(
    stream: &Stream,
    (launch, shape): (LaunchConfig, Strips),
    a: GlobalMut<T>,
    scratch: GlobalMut<T>,
) -> gpu_core::Result<()> {
    // SAFETY: the caller took the accessors from exclusive views that hold the block and the rows below it, and a
    // reciprocal for each column and what is added; each thread reads and writes a row of its own. All is freed only
    // after the work enqueued before.
    unsafe { stream.launch::<T::Strips>(launch, (a, scratch, shape)) }
}

/// Enqueues the factorisation of large matrices, of which the first starts at `a`; of a skyline with the tables of its
/// structure.
pub(crate) fn tiled<T: FactorElement>(
    stream: &Stream,
    (launch, shape): (LaunchConfig, tiled::Shape),
    a: GlobalMut<T>,
    skyline: Option<View<'_, u32>>,
    reciprocals: ViewMut<'_, T>,
    progress: ViewMut<'_, u32>,
    info: ViewMut<'_, u32>,
) -> gpu_core::Result<()> {
    let of_all = |each: u32| each as usize * shape.count as usize;
    assert!(reciprocals.len() >= of_all(shape.size) && info.len() >= shape.count as usize);
    assert!(progress.len() >= tiled::HEAD as usize + of_all(shape.tiles));
    // What a block of threads reads of other blocks' panels it reads when their words say that they are known. Tiles
    // are handed out so that what one waits for was handed out before: with any number of blocks the kernel ends.
    // SAFETY: the caller took the accessor from an exclusive view that holds the matrices, which are apart, and the
    // tables are of the structure that the shape was made for; there are a reciprocal for each row and a word for each
    // tile, all zero, and an order for each matrix. All is freed only after the work enqueued before.
    unsafe {
        match skyline {
            None => stream.launch::<T::Tiled>(launch, (a, reciprocals, progress, info, shape)),
            Some(tables) => {
                stream.launch::<T::Skyline>(launch, (a, tables, reciprocals, progress, info, shape))
            }
        }
    }
}

/// Enqueues a step of a large matrix, which starts at `a`.
pub(crate) fn step<T: FactorElement>(
    stream: &Stream,
    (launch, shape): (LaunchConfig, Step),
    a: GlobalMut<T>,
    scratch: GlobalMut<T>,
    info: ViewMut<'_, u32>,
) -> gpu_core::Result<()> {
    // SAFETY: the caller took the accessors from exclusive views that hold the matrix, the factors by turns and what
    // is added; of A the kernel writes what only the block of threads reads that writes it. All is freed only after
    // the work enqueued before.
    unsafe { stream.launch::<T::Step>(launch, (a, scratch, info, shape)) }
}

/// Enqueues the solutions of systems.
pub(crate) fn solve<T: FactorElement>(
    stream: &Stream,
    (launch, batch, shape): (LaunchConfig, Batch, Solve),
    l: View<'_, T>,
    b: ViewMut<'_, T>,
    table: Option<View<'_, u64>>,
) -> gpu_core::Result<()> {
    // Without a table the kernel reads none.
    let table = table.map_or(l.as_global().cast(), |table| table.as_global());
    // SAFETY: the views hold the batches of the plan's layouts, B is exclusive and its matrices are apart (checked by
    // the caller); a table was made for both. All is freed only after the work enqueued before.
    unsafe { stream.launch::<T::Solve>(launch, (l, b, table, batch, shape)) }
}

/// Enqueues a copy of one type.
pub(crate) fn copy<T: FactorElement>(
    stream: &Stream,
    (launch, shape): (LaunchConfig, kernels::Copy),
    from: View<'_, T>,
    to: ViewMut<'_, T>,
) -> gpu_core::Result<()> {
    // SAFETY: the views hold the matrices of the shape, of which the one that is written is exclusive (checked by the
    // caller). All is freed only after the work enqueued before.
    unsafe { stream.launch::<T::CopyPart>(launch, (from, to, shape, 1.0)) }
}

/// Enqueues a copy of `f64` times `scale`, rounded to `f32`.
pub(crate) fn narrow(
    stream: &Stream,
    (launch, shape): (LaunchConfig, kernels::Copy),
    from: View<'_, f64>,
    to: ViewMut<'_, f32>,
    scale: f64,
) -> gpu_core::Result<()> {
    // SAFETY: as for `copy`.
    unsafe { stream.launch::<kernels::factor_narrow>(launch, (from, to, shape, scale)) }
}

/// Enqueues the addition of `f32` times `scale` to `f64`.
pub(crate) fn widen(
    stream: &Stream,
    (launch, shape): (LaunchConfig, kernels::Copy),
    from: View<'_, f32>,
    to: ViewMut<'_, f64>,
    scale: f64,
) -> gpu_core::Result<()> {
    // SAFETY: as for `copy`.
    unsafe { stream.launch::<kernels::factor_widen>(launch, (from, to, shape, scale)) }
}

/// Enqueues what writes an identity.
pub(crate) fn identity<T: FactorElement>(
    stream: &Stream,
    (launch, shape): (LaunchConfig, kernels::Copy),
    mut to: ViewMut<'_, T>,
) -> gpu_core::Result<()> {
    let to = to.as_global_mut();
    // SAFETY: the view is exclusive and holds the matrix of the shape (checked by the caller); the kernel reads
    // nothing. All is freed only after the work enqueued before.
    unsafe { stream.launch::<T::CopyPart>(launch, (to.as_global(), to, shape, 1.0)) }
}
