//! A step on the CPU, in rayon: bit for bit what the kernels compute.

use gpu_core::vectors::{self, Work};
use gpu_core::{Grid, cores};
use gpu_std::float::Float;
use gpu_stencil_kernels::border;
use gpu_stencil_kernels::iterate::border_mode;

use super::boundary::Boundary;
use super::stencil::Stencil;

/// Cells whose sums are in registers: four of 64 bytes of `f32`.
const SUMS: usize = 64;
/// Multiplications that a task does at least: entering the thread pool for fewer would cost more.
const TASK: usize = 1 << 19;

/// Writes what `input` becomes in one step.
///
/// # Panics
/// Where a slice has not as many elements as the grid has cells.
///
/// ```
/// use gpu_stencil::iterate::{Boundary, Grid, Stencil, reference};
/// let mut output = [0.0; 3];
/// let grid = Grid::plane(1, 3)?;
/// reference::step(&Stencil::heat(2, 0.5)?, grid, Boundary::Periodic, None, &[0.0, 1.0, 0.0], &mut output);
/// assert_eq!(output, [0.5, 0.0, 0.5]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn step<T: Float>(
    stencil: &Stencil<T>,
    grid: Grid,
    boundary: Boundary,
    source: Option<&[T]>,
    input: &[T],
    output: &mut [T],
) {
    rows(stencil, grid, boundary, source, input, output, false);
}

/// Writes by how much a step would change each cell of `input`.
///
/// # Panics
/// Where a slice has not as many elements as the grid has cells.
pub fn difference<T: Float>(
    stencil: &Stencil<T>,
    grid: Grid,
    boundary: Boundary,
    source: Option<&[T]>,
    input: &[T],
    output: &mut [T],
) {
    rows(stencil, grid, boundary, source, input, output, true);
}

fn rows<T: Float>(
    stencil: &Stencil<T>,
    grid: Grid,
    boundary: Boundary,
    source: Option<&[T]>,
    input: &[T],
    output: &mut [T],
    difference: bool,
) {
    let cells = grid.len();
    assert_eq!((input.len(), output.len()), (cells, cells), "the states' lengths");
    assert!(source.is_none_or(|source| source.len() == cells), "the source's length");
    let (planes, height, width) = (grid.planes(), grid.rows(), grid.columns());
    let [depth, radius, _] = stencil.reach();
    let mode = border_mode(boundary.code());
    let taps: Vec<([i32; 3], T)> = stencil.taps().collect();
    let tasks = (TASK / width / taps.len()).max(1);
    // `radius` cells from either end: where the grid is narrower than two of them, all.
    let near = |at: usize, radius: usize, length: usize| at < radius || at + radius >= length;
    let fixed = boundary == Boundary::Dirichlet;
    cores::chunks(output, width, tasks, |number, output| {
        let (z, y) = (number / height, number % height);
        let old = &input[number * width..][..width];
        if fixed && (near(z, depth, planes) || near(y, radius, height)) {
            output.copy_from_slice(old);
        } else {
            let row = |plane: i32, row: i32| {
                let plane = border::source(z as i32 + plane, planes as i32, mode) as usize;
                let row = border::source(y as i32 + row, height as i32, mode) as usize;
                &input[grid.index(plane, row, 0)..][..width]
            };
            let taps: Vec<_> = taps.iter().map(|&([dz, dy, dx], weight)| (row(dz, dy), dx, weight)).collect();
            let source = source.map(|source| &source[number * width..][..width]);
            vectors::run(Row { taps: &taps, source, factor: stencil.source_factor(), radius, mode, output });
            if fixed {
                for x in (0..width).filter(|&x| near(x, radius, width)) {
                    output[x] = old[x];
                }
            }
        }
        if difference {
            output.iter_mut().zip(old).for_each(|(new, &old)| *new = *new - old);
        }
    });
}

/// A row of results.
struct Row<'a, T> {
    /// The row that each tap reads, how many columns away, and its weight.
    taps: &'a [(&'a [T], i32, T)],
    source: Option<&'a [T]>,
    factor: T,
    radius: usize,
    mode: u32,
    output: &'a mut [T],
}

impl<T: Float> Work for Row<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { taps, source, factor, radius, mode, output } = self;
        let width = output.len();
        let start = |x: usize| source.map_or(T::ZERO, |source| factor.mul_add(source[x], T::ZERO));
        let inside = radius..width.saturating_sub(radius).max(radius);
        // The last block overlaps the one before it: what is computed twice comes out the same.
        let blocks = if inside.len() < SUMS { 0 } else { inside.len().div_ceil(SUMS) };
        for block in 0..blocks {
            let first = (inside.start + block * SUMS).min(inside.end - SUMS);
            let mut sums = [T::ZERO; SUMS];
            if source.is_some() {
                for (at, sum) in sums.iter_mut().enumerate() {
                    *sum = start(first + at);
                }
            }
            for &(row, distance, weight) in taps {
                let values = &row[first.wrapping_add_signed(distance as isize)..][..SUMS];
                for (sum, &value) in sums.iter_mut().zip(values) {
                    *sum = weight.mul_add(value, *sum);
                }
            }
            output[first..first + SUMS].copy_from_slice(&sums);
        }
        let rest = if blocks == 0 { inside.start } else { inside.end };
        for x in (0..inside.start.min(width)).chain(rest..width) {
            let chain = |sum, &(row, distance, weight): &(&[T], i32, T)| {
                let column = border::source(x as i32 + distance, width as i32, mode);
                Float::mul_add(weight, row[column as usize], sum)
            };
            output[x] = taps.iter().fold(start(x), chain);
        }
    }
}
