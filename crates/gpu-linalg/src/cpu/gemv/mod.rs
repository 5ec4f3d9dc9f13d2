//! Products of a matrix and a vector, with the chains of the order of operations side by side in registers.
//!
//! Along the lines of a row-major matrix ([`along`]) a lane's chain takes 16 bytes in turn: several short lines are in
//! a register ([`beside`]), as many as it has elements of a lane each ([`single`]). Across those of a column-major one
//! ([`across`]) the results are side by side, those of a few rows ([`few`]) in a register, with several groups in it
//! ([`sweep`]), or in several ([`warps`]). The bits are those of [`reference::gemv`](crate::reference::gemv).

mod across;
mod along;
mod beside;
mod cells;
mod columns;
mod dot;
mod few;
mod narrow;
mod single;
mod sweep;
#[cfg(test)]
mod tests;
mod warps;

use core::ops::Range;

use gpu_core::cores::Threads;
use gpu_core::vectors::Work;
use gpu_linalg_kernels::Scalar;
use gpu_linalg_kernels::gemv::ACROSS_THREADS;
use gpu_std::float::Float;
use gpu_std::half::{bf16, f16};

use super::aligned::Aligned;
use super::launch::{by_registers, by_vectors, has_registers};
use crate::error::Error;
use crate::launch::Element;
use crate::matrix::Layout;
use crate::plan::gemv::Plan;
use crate::reference::{self, finish};

/// Bytes of a matrix and its vectors that are worth a thread, and whose products are worth more than one, where others
/// are awake and where they have to be woken.
const WORTH: [usize; 3] = [150_000, 1_500_000, 3_000_000];

/// Rows of a thread that are many: it takes all pieces of some of them before the next ones.
const MANY: usize = 16;

/// Sums of groups that wait for those they are added to, at most, and the last one: a warp has 32 groups.
const WAITING: usize = 6;

/// The group of a warp of `count` ones that is at a place of the order in which both of two that are added follow each
/// other: places' bits from the last to the first.
#[inline(always)]
fn group_at(place: usize, count: usize) -> usize {
    if count == 1 { 0 } else { place.reverse_bits() >> (usize::BITS - count.ilog2()) }
}

/// A type of elements, and how lines of them are added.
pub trait Lines: Scalar {
    /// `x` in the order in which [`Self::along`] takes it.
    fn ordered(x: &[Self], width: usize) -> Aligned<Self::Sum>;

    /// The memory of results as that of sums, if they are of one type.
    fn as_sums(y: &mut [Self]) -> Option<&mut [Self::Sum]>;

    /// The sum along a single line, or along a piece of it; none where its lanes are less than a register's.
    fn dot(line: &[Self], x: &[Self], width: usize, is_far: bool) -> Option<Self::Sum>;

    /// Some of the sums along lines.
    fn along(part: Along<'_, Self>);

    /// Some of the sums across lines.
    fn across(part: Across<'_, Self>);
}

/// The sums along the lines of a piece, of some of the rows.
#[derive(Debug)]
pub struct Along<'a, T: Scalar> {
    a: &'a [T],
    layout: Layout,
    /// The piece's, as [`Lines::ordered`].
    x: &'a [T::Sum],
    /// Those of the piece: all of them, where lanes are fewer than the most.
    columns: Range<usize>,
    /// Lanes of a line.
    width: usize,
    /// The first row.
    first: usize,
    sums: &'a mut [T::Sum],
}

/// The sums across the lines of a piece, of some of the rows.
#[derive(Debug)]
pub struct Across<'a, T: Scalar> {
    a: &'a [T],
    layout: Layout,
    x: &'a [T],
    /// Those of the piece.
    columns: Range<usize>,
    /// Groups of lanes in all, each with a chain for each row.
    groups: usize,
    /// Those of a warp, which are added at halved distances; then warps are added in their order.
    of_warp: usize,
    /// The first row.
    first: usize,
    sums: &'a mut [T::Sum],
}

macro_rules! registers {
    ($($T:ty, $V:literal;)*) => { $(
        impl Lines for $T {
            fn ordered(x: &[Self], width: usize) -> Aligned<Self> {
                by_registers(along::Ordered::<$T, $V> { x, width })
            }

            fn as_sums(y: &mut [Self]) -> Option<&mut [Self]> {
                Some(y)
            }

            fn dot(line: &[Self], x: &[Self], width: usize, is_far: bool) -> Option<Self> {
                by_registers(dot::Dot::<$T, $V> { line, x, width, is_far })
            }

            fn along(part: Along<'_, Self>) {
                by_registers(along::Rows::<$T, $V>(part));
            }

            fn across(part: Across<'_, Self>) {
                // All rows, as the last ones of many may be few.
                if part.layout.rows() <= few::MOST {
                    by_registers(few::Few::<$T, $V>(part));
                } else {
                    by_registers(across::Strips::<$T, $V>(part));
                }
            }
        }
    )* };
}
registers! { f32, 4; f64, 2; }

macro_rules! narrow {
    ($($T:ty)*) => { $(
        impl Lines for $T {
            fn ordered(x: &[Self], width: usize) -> Aligned<f32> {
                narrow::rounds(x, width)
            }

            fn as_sums(_: &mut [Self]) -> Option<&mut [f32]> {
                None
            }

            fn dot(_: &[Self], _: &[Self], _: usize, _: bool) -> Option<f32> {
                None
            }

            fn along(part: Along<'_, Self>) {
                by_vectors(narrow::Rows(part));
            }

            fn across(part: Across<'_, Self>) {
                by_vectors(across::Strips::<$T, 8>(part));
            }
        }
    )* };
}
narrow! { f16 bf16 }

/// [`crate::gemv`] of slices, as [`reference::gemv`](crate::reference::gemv).
///
/// # Errors
/// Those of [`Plan::new`].
pub fn gemv<T: Element>(
    alpha: T::Sum,
    a: &[T],
    layout: Layout,
    x: &[T],
    beta: T::Sum,
    y: &mut [T],
) -> Result<(), Error> {
    if !has_registers() {
        return reference::gemv(alpha, a, layout, x, beta, y);
    }
    let rows = layout.rows();
    if rows == 0 {
        return Ok(());
    }
    let plan = Plan::new::<T>(layout, 0, 0, alpha != T::Sum::ZERO)?;
    let elements = rows * layout.columns() + rows + layout.columns();
    let threads = Threads::worth(elements * size_of::<T>(), WORTH);
    let product = Product { a, layout, x, plan, threads };
    let len = product.len();
    // Results of which nothing is asked for are memory for sums.
    if beta == T::Sum::ZERO
        && len == rows
        && let Some(sums) = T::as_sums(y)
    {
        product.sums(sums);
        by_vectors(Scale::<T> { sums, alpha });
    } else {
        let mut sums = vec![T::Sum::ZERO; len];
        product.sums(&mut sums);
        by_vectors(Finish { sums: &mut sums, alpha, beta, y });
    }
    Ok(())
}

/// The sums of a product, and how many threads they are worth.
struct Product<'a, T: Scalar> {
    a: &'a [T],
    layout: Layout,
    x: &'a [T],
    plan: Plan,
    threads: Threads,
}

impl<T: Element> Product<'_, T> {
    /// Whether a thread adds all pieces of some rows before the next ones: as they lie in memory, so that what is asked
    /// for ahead is the next piece's. Of few rows threads take pieces.
    fn adds_pieces(&self) -> bool {
        self.plan.along && self.plan.shape.pieces > 1 && self.layout.rows() >= MANY * self.threads.count()
    }

    /// How many sums there are: those of all rows, of each piece if they are not added.
    fn len(&self) -> usize {
        self.layout.rows() * if self.adds_pieces() { 1 } else { self.plan.shape.pieces as usize }
    }

    /// The columns of a piece.
    fn columns(&self, piece: usize) -> Range<usize> {
        let (length, size) = (self.plan.shape.length as usize, self.plan.shape.piece as usize);
        piece * size..((piece + 1) * size).min(length)
    }

    /// Writes all of them.
    fn sums(&self, sums: &mut [T::Sum]) {
        if self.plan.shape.length == 0 {
            // Without a column, or where the product counts as zero.
            sums.fill(T::Sum::ZERO);
        } else if !self.plan.along {
            self.across(sums);
        } else if self.layout.rows() == 1 || self.plan.shape.pieces > 1 && !self.adds_pieces() {
            self.along_pieces(sums);
        } else {
            self.along(sums);
        }
    }

    /// Those of some rows of a piece, whose x is ordered.
    fn along_some(&self, x: &[T::Sum], columns: Range<usize>, first: usize, sums: &mut [T::Sum]) {
        let (a, layout, width) = (self.a, self.layout, self.plan.shape.width as usize);
        T::along(Along { a, layout, x, columns, width, first, sums });
    }

    /// Those of few rows, piece after piece: what is ordered of x stays near, and is each thread's own.
    fn along_pieces(&self, sums: &mut [T::Sum]) {
        self.pieces(along::BLOCK, sums, |columns, first, sums| {
            let width = self.plan.shape.width as usize;
            let x = &self.x[columns.clone()];
            if let [sum] = sums {
                let line = &self.a[self.layout.index(first, columns.start)..][..x.len()];
                if let Some(dot) = T::dot(line, x, width, along::is_far(self.a)) {
                    *sum = dot;
                    return;
                }
            }
            let x = T::ordered(x, width);
            self.along_some(&x, columns, first, sums);
        });
    }

    /// Calls `work` with the columns of each piece and some rows: the first one of these, and their sums. They are as
    /// many, multiples of `least` but for the last ones, as it takes for every thread to have some.
    fn pieces(
        &self,
        least: usize,
        sums: &mut [T::Sum],
        work: impl Fn(Range<usize>, usize, &mut [T::Sum]) + Sync,
    ) {
        let (rows, of_piece) =
            (self.layout.rows(), self.threads.count().div_ceil(self.plan.shape.pieces as usize));
        let task = rows.div_ceil(of_piece).next_multiple_of(least);
        // A list of tasks took a tenth of the time of 1 × 20 000.
        if task >= rows {
            return self.threads.chunks(sums, rows, |piece, sums| work(self.columns(piece), 0, sums));
        }
        // All at once: of a call inside a call threads would not wait for the next one.
        let mut tasks: Vec<(usize, usize, &mut [T::Sum])> = Vec::new();
        for (piece, sums) in sums.chunks_mut(rows).enumerate() {
            tasks.extend(sums.chunks_mut(task).enumerate().map(|(at, sums)| (piece, at * task, sums)));
        }
        self.threads.elements(&mut tasks, |_, (piece, first, sums)| work(self.columns(*piece), *first, sums));
    }

    /// Those of many rows, or of a single piece.
    fn along(&self, sums: &mut [T::Sum]) {
        let shape = &self.plan.shape;
        let x = T::ordered(&self.x[..shape.length as usize], shape.width as usize);
        // Whole blocks of rows, but for the last ones.
        let tasks = if self.threads.count() == 1 { 1 } else { 4 * self.threads.count() };
        let task = sums.len().div_ceil(tasks).next_multiple_of(along::BLOCK);
        let step = if shape.pieces > 1 { along::BLOCK } else { task };
        self.threads.chunks(sums, task, |number, sums| {
            for (block, sums) in sums.chunks_mut(step).enumerate() {
                let row = number * task + block * step;
                self.along_some(&x, self.columns(0), row, sums);
                for piece in 1..shape.pieces as usize {
                    let (columns, mut more) = (self.columns(piece), [T::Sum::ZERO; along::BLOCK]);
                    let more = &mut more[..sums.len()];
                    // Lines of several pieces have the most lanes, of which x is ordered in whole rounds.
                    self.along_some(&x[columns.start..], columns, row, more);
                    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = *sum + *more);
                }
            }
        });
    }

    fn across(&self, sums: &mut [T::Sum]) {
        let &Self { a, layout, x, .. } = self;
        let (rows, width) = (layout.rows(), self.plan.shape.width as usize);
        let (groups, of_warp) = (ACROSS_THREADS as usize / width, 32 / width);
        let least = if rows <= few::MOST { rows } else { 128 / size_of::<T>() };
        self.pieces(least, sums, |columns, first, sums| {
            T::across(Across { a, layout, x, columns, groups, of_warp, first, sums });
        });
    }
}

/// The end of a product whose sums are where its results are.
struct Scale<'a, T: Scalar> {
    sums: &'a mut [T::Sum],
    alpha: T::Sum,
}

impl<T: Scalar> Work for Scale<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { sums, alpha } = self;
        for sum in sums {
            *sum = finish(alpha, *sum, T::Sum::ZERO, || T::Sum::ZERO);
        }
    }
}

/// The end of a product, from the sums of each piece.
struct Finish<'a, T: Scalar> {
    sums: &'a mut [T::Sum],
    alpha: T::Sum,
    beta: T::Sum,
    y: &'a mut [T],
}

impl<T: Scalar> Work for Finish<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { sums, alpha, beta, y } = self;
        let (sums, pieces) = sums.split_at_mut(y.len());
        for piece in pieces.chunks_exact(sums.len()) {
            sums.iter_mut().zip(piece).for_each(|(sum, &piece)| *sum = *sum + piece);
        }
        for (y, &sum) in y.iter_mut().zip(&*sums) {
            *y = T::narrow(finish(alpha, sum, beta, || y.widen()));
        }
    }
}
