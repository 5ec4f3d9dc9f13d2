//! The launches of triangular systems.

use gpu_core::{Buffer, Stream, View, ViewMut};
use gpu_sparse_kernels::levels::Rows;
use gpu_sparse_kernels::waiting::{ASKED, Strides};
use gpu_sparse_kernels::{THREADS, chains, free, order, order_narrow, ordered, packed, solve};
use gpu_std::launch::LaunchConfig;

use crate::api::RowOrder;
use crate::launch::{Element, linear, striding, walking};
use crate::matrix::CsrView;
use crate::plan::order as plan;
use crate::plan::solve::ORDERED_SHARED_BYTES;

/// Enqueues the numbers of warps that solve groups of rows, at least one group, which start at `starts`.
pub(crate) fn task_counts(
    stream: &Stream,
    starts: View<'_, u32>,
    counts: ViewMut<'_, u32>,
    widest: u32,
) -> gpu_core::Result<()> {
    assert_eq!(starts.len(), counts.len() + 1);
    let groups = counts.len();
    let arguments = (starts, counts, groups as u32, widest);
    // SAFETY: there is a start more than groups, and a count for each.
    unsafe { stream.launch::<ordered::sparse_task_counts>(linear(groups), arguments) }
}

/// Enqueues what each warp does, at least one, from the warps before each group.
pub(crate) fn tasks(
    stream: &Stream,
    starts: View<'_, u32>,
    before: &Buffer<u32>,
    tasks: &mut Buffer<u32>,
    widest: u32,
) -> gpu_core::Result<()> {
    assert_eq!(starts.len(), before.len());
    let (groups, count) = (starts.len() as u32 - 1, tasks.len() / 2);
    let arguments = (starts, before, tasks, groups, count as u32, widest);
    // SAFETY: there are two words for each warp, of which all groups together have as many.
    unsafe { stream.launch::<ordered::sparse_tasks>(linear(count), arguments) }
}

/// Enqueues the unit of each row of an order with these tasks, and the row of each unit, at least one, whose first it
/// is; other units' positions.
pub(crate) fn units(
    stream: &Stream,
    (order, tasks): (View<'_, u32>, View<'_, u32>),
    units: &mut Buffer<u32>,
    (rows, positions): (&mut Buffer<u32>, &mut Buffer<u32>),
) -> gpu_core::Result<()> {
    let (count, row_count) = (rows.len(), units.len());
    assert_eq!(positions.len(), count * ASKED);
    assert_eq!((order.len(), tasks.len() / 2 * packed::UNITS as usize), (row_count, count));
    let arguments = (order, tasks, units, rows, positions, count as u32, row_count as u32);
    // SAFETY: there are as many units as the tasks have, the order is of as many rows, and the kernel holds rows to
    // that.
    unsafe { stream.launch::<packed::sparse_units>(linear(count), arguments) }
}

/// Enqueues the positions of a triangle's entries, of rows with these units, after [`units`].
pub(crate) fn pack<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    shape: Rows,
    units: &Buffer<u32>,
    positions: &mut Buffer<u32>,
    widest: u32,
) -> gpu_core::Result<()> {
    assert_eq!(a.rows, units.len());
    let count = (positions.len() / ASKED) as u32;
    let arguments = (a.offsets, a.indices, units, positions, shape, count, widest);
    // SAFETY: the matrix was found to be that triangle; each row has a unit of its own, and the kernel holds what it
    // writes to the units.
    unsafe { stream.launch::<packed::sparse_pack>(linear(a.rows), arguments) }
}

/// Enqueues the solution of one system with rows, by these tasks, their units' rows and positions; `known` is a word of a
/// solution for each unit, of ones, and `ticket` a zero.
pub(crate) fn solve_packed<T: Element>(
    stream: &Stream,
    (a, shape, tasks): (&CsrView<'_, T>, Rows, &Buffer<u32>),
    (rows, positions, known): (&Buffer<u32>, &Buffer<u32>, &mut Buffer<T::Word>),
    alpha: T,
    (b, x): (View<'_, T>, ViewMut<'_, T>),
    strides: Strides,
    ticket: &mut Buffer<u32>,
) -> gpu_core::Result<()> {
    assert_eq!((positions.len(), known.len()), (rows.len() * ASKED, rows.len()));
    let count = (tasks.len() / 2) as u32;
    let blocks = count.div_ceil(packed::THREADS / 32);
    let launch = LaunchConfig::linear(blocks, packed::THREADS).shared(packed::SHARED_BYTES);
    let x = x.cast::<T::Word>();
    let arguments = (
        a.offsets, a.indices, a.values, b, x, tasks, rows, positions, known, ticket, shape, strides, count,
        alpha,
    );
    // SAFETY: the matrix was found to be that triangle; units are those of the tasks, positions are units of earlier
    // tasks; right-hand side and solution have an element for each row where the strides say (checked by the
    // caller), and `x` is exclusive.
    unsafe { stream.launch::<T::Packed>(launch, arguments) }
}

/// Enqueues how many rows each group of a triangle's rows has, and a key of its group for each row, of so many classes
/// a level.
pub(crate) fn groups<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    (shape, classes): (Rows, u32),
    levels: View<'_, u32>,
    keys: &mut Buffer<u32>,
    mut counts: ViewMut<'_, u32>,
) -> gpu_core::Result<()> {
    assert!(levels.len() == a.rows && keys.len() == a.rows);
    stream.memset(counts.reborrow(), 0)?;
    let count = counts.len() as u32;
    let launch = striding(a.rows).shared(order::groups_shared_bytes(count));
    let arguments = (a.offsets, a.indices, levels, keys, counts, shape, count, classes);
    // SAFETY: the matrix was checked, and there is a level and a key for each of its rows; the kernel holds groups to
    // the counts.
    unsafe { stream.launch::<order::sparse_groups>(launch, arguments) }
}

/// The same with keys of 8 bits, which suffice; and enqueues how many rows each tile of so many has of each key: a word
/// for each.
pub(crate) fn groups_by_tile<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    (shape, classes, diagonals): (Rows, u32, u32),
    levels: View<'_, u32>,
    (keys, by_tile, tile): (&mut Buffer<u8>, &mut Buffer<u32>, u32),
    mut counts: ViewMut<'_, u32>,
) -> gpu_core::Result<()> {
    assert!(levels.len() == a.rows && keys.len() == a.rows);
    stream.memset(counts.reborrow(), 0)?;
    let (count, blocks) = (counts.len() as u32, plan::blocks(shape.rows, tile));
    let many = count / order::CLASSES * classes;
    assert!(
        many <= order_narrow::MOST_KEYS && by_tile.len() == (many * blocks * order_narrow::WARPS) as usize
    );
    let launch = LaunchConfig::linear(blocks, THREADS).shared(order_narrow::count_bytes(many));
    let arguments =
        (a.offsets, a.indices, levels, keys, counts, by_tile, shape, count, classes, tile, diagonals);
    // SAFETY: the matrix was checked, and there is a level and a key for each of its rows, and a word for each key and
    // tile; the kernel holds keys to those that there are.
    unsafe { stream.launch::<order_narrow::sparse_groups_narrow>(launch, arguments) }
}

/// Enqueues the rows in the order of their keys, at least one; `starts` are the exclusive sums of what
/// [`groups_by_tile`] counts by tile.
pub(crate) fn order_by_tile(
    stream: &Stream,
    keys: &Buffer<u8>,
    (starts, tile): (&Buffer<u32>, u32),
    rows: &mut Buffer<u32>,
) -> gpu_core::Result<()> {
    assert_eq!(keys.len(), rows.len());
    let (len, blocks) = (keys.len() as u32, plan::blocks(keys.len() as u32, tile));
    let many = starts.len() as u32 / (blocks * order_narrow::WARPS);
    let launch = LaunchConfig::linear(blocks, THREADS).shared(order_narrow::order_bytes(many));
    // SAFETY: the keys are less than so many, and the starts are the sums of their counts, so that each row has a place
    // of its own.
    unsafe {
        stream.launch::<order_narrow::sparse_order_narrow>(launch, (keys, starts, rows, len, many, tile))
    }
}

/// Enqueues the numbers of warps of groups of rows, at least one group.
pub(crate) fn warps(stream: &Stream, counts: View<'_, u32>, warps: ViewMut<'_, u32>) -> gpu_core::Result<()> {
    assert_eq!(counts.len(), warps.len());
    let groups = counts.len() as u32;
    // SAFETY: there is a count and a number for each group.
    unsafe { stream.launch::<order::sparse_warps>(linear(counts.len()), (counts, warps, groups)) }
}

/// Systems with one triangle that has rows: what solvers take.
pub(crate) struct Systems<'s, T: Element> {
    pub(crate) a: CsrView<'s, T>,
    pub(crate) shape: Rows,
    pub(crate) alpha: T,
    pub(crate) b: View<'s, T>,
    pub(crate) x: ViewMut<'s, T>,
    /// Of how many, at least one.
    pub(crate) strides: Strides,
    /// A word for each.
    pub(crate) ticket: &'s mut Buffer<u32>,
}

/// Who solves them.
pub(crate) enum Solver<'o> {
    /// Rows in their own order.
    Free,
    /// A warp 32 of them, blocks of so many threads.
    Chains(u32),
    /// Rows in this order; what each warp does.
    Ordered(&'o RowOrder, &'o Buffer<u32>),
    /// The levels of this order.
    Levels(&'o RowOrder),
}

impl<T: Element> Systems<'_, T> {
    /// Enqueues their solution.
    pub(crate) fn solve(self, stream: &Stream, solver: Solver<'_>) -> gpu_core::Result<()> {
        let Systems { a, shape, alpha, b, mut x, strides, ticket } = self;
        let count = strides.systems as u32;
        if !matches!(solver, Solver::Levels(_)) {
            stream.memset(ticket.slice_mut(..count as usize), 0)?;
            let is_dense = |line: u64, distance: u64, lines: u32| {
                line == 1 && (lines == 1 || distance == shape.rows.into())
            };
            let all = u64::from(shape.rows) * u64::from(count);
            let rows_are_dense = strides.x_column == 1 && strides.x_row == count.into();
            if is_dense(strides.x_row, strides.x_column, count) || rows_are_dense {
                stream.memset(x.reborrow().into_slice(..all as usize), 0xff)?;
            } else {
                let words = (size_of::<T>() / 4) as u32;
                let (row, column) = (strides.x_row, strides.x_column);
                let arguments = (x.reborrow().cast::<u32>(), row, column, shape.rows, words);
                // SAFETY: the elements of all rows lie where the strides say, within `x`.
                unsafe { stream.launch::<solve::sparse_unknown>(high(linear(a.rows), count), arguments)? };
            }
        }
        let mut x = x.cast::<T::Word>();
        // SAFETY (of the launches below): the matrix was found to be that triangle, so that rows wait for earlier ones
        // alone; right-hand sides and solutions have an element for each row where the strides say (checked by the
        // caller), and `x` is exclusive. Orders are of this triangle's rows.
        match solver {
            Solver::Free => {
                let launch = times(linear(a.rows).shared(free::shared_bytes::<T>()), count);
                let arguments = (a.offsets, a.indices, a.values, b, x, ticket, shape, strides, alpha);
                // SAFETY: as above.
                unsafe { stream.launch::<T::Free>(launch, arguments)? };
            }
            Solver::Chains(threads) => {
                let launch = walking(shape, threads).shared(chains::shared_bytes::<T>(threads));
                let launch = times(launch, count);
                let arguments = (a.offsets, a.indices, a.values, b, x, ticket, shape, strides, alpha);
                // SAFETY: as above.
                unsafe { stream.launch::<T::Chains>(launch, arguments)? };
            }
            Solver::Ordered(order, tasks) => {
                let warps = (tasks.len() / 2) as u32;
                let blocks = warps.div_ceil(ordered::THREADS / 32);
                let launch = LaunchConfig::linear(blocks, ordered::THREADS);
                let launch = times(launch.shared(ORDERED_SHARED_BYTES), count);
                let rows = order.rows();
                let arguments =
                    (a.offsets, a.indices, a.values, b, x, rows, tasks, ticket, shape, strides, warps, alpha);
                // SAFETY: as above; a task for each warp, and a row waits for rows of earlier ones.
                unsafe { stream.launch::<T::Ordered>(launch, arguments)? };
            }
            Solver::Levels(order) => {
                for &(run, blocks) in order.runs() {
                    let (rows, starts) = (order.rows(), order.starts());
                    let x = x.reborrow();
                    let arguments =
                        (a.offsets, a.indices, a.values, b, x, rows, starts, shape, strides, run, alpha);
                    let launch = high(LaunchConfig::linear(blocks, THREADS), count);
                    // SAFETY: as above; a level reads what earlier ones have written, and several levels are one
                    // block's.
                    unsafe { stream.launch::<T::Levels>(launch, arguments)? };
                }
            }
        }
        Ok(())
    }
}

/// So many times the launch's blocks.
fn times(mut launch: LaunchConfig, count: u32) -> LaunchConfig {
    launch.grid[0] *= count;
    launch
}

/// So many rows of the launch's blocks.
fn high(mut launch: LaunchConfig, rows: u32) -> LaunchConfig {
    launch.grid[1] = rows;
    launch
}
