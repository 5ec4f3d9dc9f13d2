//! Products of matrices in blocks that fit the caches and tiles that fit the registers (Goto and van de Geijn,
//! *Anatomy of High-Performance Matrix Multiplication*, ACM TOMS 34(3), 2008).
//!
//! Vectors run along the columns of C, so an element's sum is still one chain of fused multiply-adds over ascending
//! k: the bits are those of [`reference::gemm`](crate::reference::gemm). Between blocks of k the sums are kept as
//! they are, in memory.

use core::ops::Range;

use gpu_core::cores::Threads;

use super::lanes::TURNED;
use super::panel::{Buffers, COLUMNS, DEPTH, Kept, Panel};
use super::{launch, shallow, slender};
use crate::api::Triangle;
use crate::matrix::{BatchLayout, Order};
use crate::plan::gemm::{Split, Sums};
use crate::reference::{self, finish};

/// The most rows of C of a task: with [`DEPTH`] a block of A that fits the second-level cache.
const ROWS: usize = 384;
/// Columns, in thirds of the rows, from which on panels are of columns, which pack B once, where one panel of rows
/// holds all of A.
const WIDE: usize = 6;
/// The same of more than two threads where A is read as it lies and B has to be turned: 368 × 500 × 431 `f32` took
/// sixteen 0.26 ms so, and 0.32 in panels of rows, but 300 × 305 × 300 0.12 and 0.11.
const WIDE_TURNED: usize = 4;
/// Rows of a panel of a triangle: of those on the diagonal half is computed for nothing.
const TRIANGLE_ROWS: usize = 192;
/// Bytes times multiply-adds that are worth a thread, and of a product that is worth more than one, where others are
/// awake and where they have to be woken. Those of 12 million took a core 100 µs, and two that slept 140, but sixteen
/// less: 1000² `f32` times a vector, of 160 µs, took those 60.
pub(super) const WORTH: [usize; 3] = [1_000_000, 2_000_000, 12_000_000];
/// The same in tiles, of which a core computes twice as much: 150³ `f64` took one 113 µs, and two that slept 137;
/// 64³ `f64` took one 9.1 µs, two that were awake 6.3, and sixteen 22.
const WORTH_TILES: [usize; 3] = [WORTH[0], WORTH[1], 2 * WORTH[2]];

/// What is computed of a product: all of it or a triangle of C, with which sums.
pub type Of = (Option<Triangle>, Sums);

/// The elements of matrices, and where those are.
pub type Matrices<'a, T> = (&'a [T], BatchLayout);

/// The same of those that are written.
pub type MatricesMut<'a, T> = (&'a mut [T], BatchLayout);

/// A type whose products are compiled here, and not once more wherever they are called.
pub trait Products: Kept {
    /// [`crate::gemm`] of slices with their layouts, as [`reference::gemm`](crate::reference::gemm), or of one triangle
    /// of C, which is square; with sums as they are asked for.
    ///
    /// # Panics
    /// Where shapes do not fit together, or a slice is shorter than its batch.
    fn product(of: Of, factors: [Self; 2], a: Matrices<Self>, b: Matrices<Self>, c: MatricesMut<Self>);
}

macro_rules! products {
    ($($T:ty)*) => { $(
        impl Products for $T {
            fn product(of: Of, factors: [Self; 2], a: Matrices<Self>, b: Matrices<Self>, c: MatricesMut<Self>) {
                let [alpha, beta] = factors;
                if !launch::has_registers() {
                    return reference::by_tiles(of, alpha, a, b, beta, c);
                }
                gemm_with(launch::compute, of, alpha, a, b, beta, c);
            }
        }
    )* };
}
products! { f32 f64 }

/// How a panel is computed.
pub(super) type Compute<T> = fn(&Panel<'_, T>, &mut Buffers<T>, &mut [&mut [T]]);

/// [`Products::product`], its panels computed by `compute`.
pub(super) fn gemm_with<T: Kept>(
    compute: Compute<T>,
    (triangle, sums): Of,
    alpha: T,
    (a, a_layout): Matrices<T>,
    (b, b_layout): Matrices<T>,
    beta: T,
    (c, c_layout): MatricesMut<T>,
) {
    if c_layout.matrix.order() == Order::ColumnMajor {
        let (a, b) = ((a, a_layout.transposed()), (b, b_layout.transposed()));
        let triangle = triangle.map(Triangle::other);
        return gemm_with(compute, (triangle, sums), alpha, b, a, beta, (c, c_layout.transposed()));
    }
    let (m, n) = c_layout.matrix.shape();
    if m == 0 || n == 0 {
        return;
    }
    let depth = if alpha == T::ZERO { 0 } else { a_layout.matrix.columns() };
    let split = sums.split(depth, || Split::of_part(size_of::<T>(), depth, c_layout, triangle.is_some()));
    let leading = c_layout.matrix.leading_dimension();
    for number in 0..c_layout.count {
        // Factors without elements may have any stride.
        let a = a.get(number * a_layout.stride..).unwrap_or(&[]);
        let b = b.get(number * b_layout.stride..).unwrap_or(&[]);
        let c = &mut c[number * c_layout.stride..][..c_layout.matrix.span()];
        let (a, b) = ((a, a_layout.matrix), (b, b_layout.matrix));
        let (shape, factors) = ([m, n, depth], (alpha, beta));
        if triangle.is_none()
            && (slender::product(a, b, shape, split, factors, (c, leading))
                || split.parts == 1 && shallow::product(a, b, shape, factors, (c, leading)))
        {
            continue;
        }
        let whole = Panel { a, b, rows: 0..m, columns: n, depth, split, leading, factors };
        let size = m * n * depth * size_of::<T>();
        let threads = Threads::worth(if triangle.is_some() { size / 2 } else { size }, WORTH_TILES);
        let is_turned = (a.1.order(), b.1.order()) == (Order::RowMajor, Order::ColumnMajor);
        let wide = if is_turned && threads.count() > 2 { WIDE_TURNED } else { WIDE };
        if let Some(triangle) = triangle {
            of_triangle(compute, &whole, triangle, &threads, c);
        } else if threads.count() > 1 && m <= ROWS && 3 * n >= wide * m {
            by_columns(compute, &whole, &threads, c);
        } else {
            by_rows(compute, &whole, &threads, c);
        }
    }
}

/// Computes `whole` by panels of rows.
fn by_rows<T: Kept>(compute: Compute<T>, whole: &Panel<'_, T>, threads: &Threads, c: &mut [T]) {
    // As many tasks for every thread, and those as large as may be: each packs all of B for itself.
    let m = whole.rows.len();
    // One thread's may be as large as what is kept of A lets them be, others are dealt out.
    let most = if threads.count() == 1 { ROWS * DEPTH / whole.depth.clamp(1, DEPTH) } else { ROWS };
    let tasks = threads.count() * m.div_ceil(most * threads.count());
    let rows = m.div_ceil(tasks).next_multiple_of(TURNED);
    threads.chunks(c, rows * whole.leading, |task, c| {
        let first = task * rows;
        let panel = Panel { rows: first..(first + rows).min(m), ..whole.clone() };
        T::with_kept(|buffers| compute(&panel, buffers, &mut lines(c, whole.leading)));
    });
}

/// Computes a triangle of `whole` by panels of rows: what is beside the diagonal, and the square on it in memory of its
/// own.
fn of_triangle<T: Kept>(
    compute: Compute<T>,
    whole: &Panel<'_, T>,
    triangle: Triangle,
    threads: &Threads,
    c: &mut [T],
) {
    let n = whole.columns;
    let (alpha, beta) = whole.factors;
    let panel = |rows: Range<usize>, columns: Range<usize>| {
        let b = (whole.b.0.get(whole.b.1.index(0, columns.start)..).unwrap_or(&[]), whole.b.1);
        Panel { b, rows, columns: columns.len(), ..whole.clone() }
    };
    let task = |task: usize, c: &mut [T], buffers: &mut Buffers<T>| {
        let rows = task * TRIANGLE_ROWS..((task + 1) * TRIANGLE_ROWS).min(n);
        let beside = match triangle {
            Triangle::Lower => 0..rows.start,
            Triangle::Upper => rows.end..n,
        };
        if !beside.is_empty() {
            let mut c: Vec<&mut [T]> = c.chunks_mut(whole.leading).map(|c| &mut c[beside.clone()]).collect();
            compute(&panel(rows.clone(), beside), buffers, &mut c);
        }
        let mut square = vec![T::ZERO; rows.len() * rows.len()];
        let on_diagonal = Panel { factors: (T::ONE, T::ZERO), ..panel(rows.clone(), rows.clone()) };
        compute(&on_diagonal, buffers, &mut lines(&mut square, rows.len()));
        for (row, (c, sums)) in c.chunks_mut(whole.leading).zip(square.chunks(rows.len())).enumerate() {
            let columns = triangle.columns(row, rows.len());
            for (c, &sum) in c[rows.clone()][columns.clone()].iter_mut().zip(&sums[columns]) {
                *c = finish(alpha, sum, beta, || *c);
            }
        }
    };
    let height = TRIANGLE_ROWS * whole.leading;
    threads.chunks(c, height, |number, c| T::with_kept(|buffers| task(number, c, buffers)));
}

/// Computes `whole`, of few rows, by panels of columns.
fn by_columns<T: Kept>(compute: Compute<T>, whole: &Panel<'_, T>, threads: &Threads, c: &mut [T]) {
    // Whole registers.
    let width = whole.columns.div_ceil(threads.count()).next_multiple_of(64 / size_of::<T>()).min(COLUMNS);
    let mut tasks: Vec<Vec<&mut [T]>> = (0..whole.columns).step_by(width).map(|_| Vec::new()).collect();
    for line in c.chunks_mut(whole.leading) {
        for (task, part) in tasks.iter_mut().zip(line[..whole.columns].chunks_mut(width)) {
            task.push(part);
        }
    }
    threads.elements(&mut tasks, |number, c| {
        let first = number * width;
        let b = (&whole.b.0[whole.b.1.index(0, first)..], whole.b.1);
        let columns = width.min(whole.columns - first);
        T::with_kept(|buffers| compute(&Panel { b, columns, ..whole.clone() }, buffers, c));
    });
}

/// The rows of a row-major matrix.
fn lines<T>(c: &mut [T], leading: usize) -> Vec<&mut [T]> {
    c.chunks_mut(leading).collect()
}
