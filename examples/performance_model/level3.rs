//! Counts of symmetric updates, as of products: as large as they are, but with short sums, by a few blocks. Triangular
//! systems have counts of their own ([`systems`]).

use std::error::Error;

use gpu_benches::level3::{Op, Shape};
use gpu_core::{Device, Scratch};
use gpu_examples::predicted::{Counted, side_by_side};
use gpu_linalg::plan::gemm::{Kernel, Plan, Split, Sums};
use gpu_linalg::variants::gemm_tiles;
use gpu_linalg::{BatchLayout, Layout, Matrix, MatrixMut, Triangle, TriangleElement, syrk_scratch};
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, scale, simulated};
use gpu_sim::Config;

use super::cases::Counting;
use super::product::multiply_adds;
use super::systems;
use super::tensor::side_by_side_read;

/// The lengths of the sums that are simulated.
const LENGTHS: [usize; 2] = [128, 256];

/// 32-bit operations, of which tensor cores do as many of `f64`, and bytes that any implementation reads and writes.
pub fn demand(shape: Shape) -> [f64; 2] {
    let [n, m] = shape.extents.map(|extent| extent as f64);
    let bytes = if shape.element == "f32" { 4.0 } else { 8.0 };
    let triangle = n * (n + 1.0) / 2.0;
    match shape.op {
        Op::Syrk => [2.0 * triangle * m, bytes * (n * m + triangle)],
        Op::Trsm => [n * n * m, bytes * (triangle + 2.0 * n * m)],
    }
}

fn layouts(shape: Shape, k: usize) -> Result<[Layout; 2], gpu_linalg::Error> {
    let [n, _] = shape.extents;
    let a = if shape.transposed { Layout::column_major(n, k)? } else { Layout::row_major(n, k)? };
    let wider = |layout: Layout| layout.with_leading_dimension(layout.leading_dimension() + shape.gap);
    Ok([wider(a)?, wider(Layout::row_major(n, n)?)?])
}

/// A launch whose sampled blocks are in the triangle, where all that are not end at once: of a square of tiles half
/// are, and those on the diagonal.
fn working(launch: Counts, is_folded: bool) -> Counts {
    if is_folded {
        return launch;
    }
    let blocks = launch.blocks as f64;
    let part = 0.5 + 0.5 / blocks.sqrt();
    Counts { blocks: (blocks * part).round() as u64, ..launch.times(part) }
}

/// What a shape counts.
///
/// # Errors
/// Those of the simulator.
pub fn count(shape: Shape, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    if shape.op == Op::Trsm {
        return systems::count(shape, counting);
    }
    let [_, k] = shape.extents;
    let bytes = if shape.element == "f32" { 4 } else { 8 };
    let triangle = if shape.upper { Triangle::Upper } else { Triangle::Lower };
    let multiprocessors = Device::simulator().planned_multiprocessors();
    let [a, c] = layouts(shape, k)?;
    let all = [a, a.transposed(), c].map(BatchLayout::from);
    let plan = Plan::new(bytes, None, multiprocessors, all, [0; 4], Sums::Parts, Some(triangle))?;
    // A grid that is as large as that of the whole product has blocks that end at once.
    let whole = Plan::with_kernel(plan.kernel, bytes, all, [0; 4], Sums::Parts, None)?;
    let is_folded = plan.launch.grid != whole.launch.grid;
    let is_cut = Split::of_part(bytes, k, BatchLayout::from(c), true).parts > 1;
    let runs = if is_cut || k <= LENGTHS[1] { [(k, 1), (k, 2)] } else { LENGTHS.map(|k| (k, 1)) };
    let [short, long] = side_by_side(runs, |(k, blocks)| match bytes {
        4 => simulate::<f32>(shape, plan.kernel, triangle, (k, blocks), counting),
        _ => simulate::<f64>(shape, plan.kernel, triangle, (k, blocks), counting),
    })?;
    if short.len() != long.len() {
        return Err(format!("{shape}: sums of other lengths have other launches").into());
    }
    let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: runs[1].0 };
    for (short, long) in short.into_iter().zip(long) {
        let [mut launch, mut smaller] = if runs[0].0 == runs[1].0 {
            [long, short]
        } else {
            let [of_short, of_long] = runs.map(|(k, _)| k as f64);
            let scaled = scale((&short, of_short), (&long, of_long), k as f64, Some(long.blocks))?;
            [scaled.counts, scaled.smaller]
        };
        if counted.launches.is_empty() {
            let [n, k] = shape.extents;
            let once = (n * k * bytes) as f64;
            for one in [&mut launch, &mut smaller] {
                *one = working(one.clone(), is_folded);
                one.operations = demand(shape)[0];
                if bytes == 4 {
                    multiply_adds(one);
                }
                let elements = (n * n / 2) as f64;
                let read = side_by_side_read(one, elements, k, bytes, multiprocessors);
                one.memory_read =
                    if once <= counting.l2.0 { Bytes(read.0.min(once)) } else { Bytes(read.0.max(once)) };
            }
        }
        counted.launches.push(launch);
        counted.smaller.push(smaller);
    }
    Ok(counted)
}

fn simulate<T: TriangleElement>(
    shape: Shape,
    kernel: Kernel,
    triangle: Triangle,
    (k, blocks): (usize, u32),
    counting: &Counting,
) -> Result<Vec<Counts>, String> {
    let run = || -> Result<Device, Box<dyn Error>> {
        let config = Config { sample: Some(blocks), ..simulated::config(counting.caches) };
        let device = Device::simulator_with(config);
        let [of_a, of_c] = layouts(shape, k)?;
        let (a, mut c) = (device.zeroed::<T>(of_a.span())?, device.zeroed::<T>(of_c.span())?);
        let stream = device.default_stream();
        // Zeros, as not all blocks write their part of it.
        let size = syrk_scratch::<T>(k, of_c);
        let mut scratch = Scratch::from_buffer(&stream, device.zeroed(size.words())?)?;
        let (a, c) = (Matrix::new(&a, of_a)?, MatrixMut::new(&mut c, of_c)?);
        gemm_tiles(&stream, kernel, Some(triangle), T::ONE, a, a.transposed(), T::ZERO, c, &mut scratch)?;
        Ok(device)
    };
    counting.counts(&run().map_err(|error| error.to_string())?)
}
