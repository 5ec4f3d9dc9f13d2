//! Counts of products on the tensor cores.
//!
//! Their kernel, and whether factors are copied and sums cut into parts, depends on how large they are. So what is
//! simulated is a product of which the plan says the same: with sums of two lengths, and of fewer rows; of its blocks
//! one. What it counts grows with the length and with the tiles.

use std::error::Error;

use gpu_benches::tensor::{Shape, measure};
use gpu_core::Device;
use gpu_examples::predicted::{Counted, side_by_side};
use gpu_linalg::plan::tensor::{Choice, Plan};
use gpu_linalg::{BatchLayout, Layout};
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, scale, simulated};
use gpu_sim::Config;

use super::cases::Counting;

/// Rows of a tile of the kernels of warpgroups.
const ROWS: usize = 128;
/// Rows that are tried in place of more.
const FEWER_ROWS: [usize; 4] = [512, 1024, 2048, 4096];
/// Bytes of a stage of the sums.
const STAGE: usize = 128;
/// Stages that are simulated.
const STAGES: [usize; 2] = [2, 4];
/// Sums so long that one block is simulated, where all of them has to be.
const LONG: usize = 1 << 16;
/// Operations of 16 bits of a matrix operation of a warp: 16 × 8 sums of products along 32 bytes.
pub const MMA: f64 = 4096.0;

fn bytes(element: &str) -> usize {
    match element {
        "i8" => 1,
        "tf32" | "f32" | "i32" => 4,
        _ => 2,
    }
}

/// Operations of 16 bits, and bytes that any implementation reads and writes.
pub fn demand(shape: Shape) -> [f64; 2] {
    let [m, n, k] = shape.size;
    let (of_factors, of_sums) = (bytes(shape.element), bytes(shape.output));
    let moved = shape.count * ((m * k + k * n) * of_factors + m * n * of_sums);
    [shape.operations() * of_factors as f64 / 2.0, moved as f64]
}

fn plan(shape: Shape) -> Result<Plan, gpu_linalg::Error> {
    let ([m, n, k], [a, b]) = (shape.size, shape.transposed);
    let layout = |rows, columns, across| {
        let matrix =
            if across { Layout::column_major(rows, columns)? } else { Layout::row_major(rows, columns)? };
        BatchLayout::new(matrix, shape.count, rows * columns)
    };
    let layouts = [layout(m, k, a)?, layout(k, n, b)?, layout(m, n, false)?];
    let choice = match shape.element {
        "tf32" => Choice::tf32(None),
        "i8" => Choice::i8(None),
        _ => Choice::of(None),
    };
    let multiprocessors = Device::simulator().planned_multiprocessors();
    // Memory of any place that is aligned.
    let addresses = [1, 2, 3, 4].map(|place| place << 40);
    let sizes = (bytes(shape.element), bytes(shape.output));
    Plan::new(sizes, multiprocessors, layouts, addresses, true, choice)
}

/// Whether two plans have the same kernels, and the same grid of blocks that go on from tile to tile.
fn is_alike(one: &Plan, other: &Plan) -> bool {
    let of = |plan: &Plan| {
        let grid = (plan.thin.is_none() && plan.sums == 128).then_some(plan.launch.grid);
        (
            plan.thin.is_some(),
            plan.sums,
            plan.product.parts,
            grid,
            plan.pack.is_some(),
            plan.factors.is_some(),
        )
    };
    of(one) == of(other)
}

/// What the product's kernel of warpgroups computes, edges of tiles included, in operations of 16 bits; and its tiles.
fn computed(shape: Shape, plan: &Plan) -> [f64; 2] {
    let ([m, n, k], columns) = (shape.size, 2 * plan.sums);
    let tiles = (m.div_ceil(ROWS) * n.div_ceil(columns) * shape.count) as f64;
    let stages = k.div_ceil(STAGE / bytes(shape.element)) as f64;
    [tiles * stages * (2 * ROWS * columns * STAGE / 2) as f64, tiles * f64::from(plan.product.parts)]
}

/// What a product counts.
///
/// # Errors
/// Those of the plan and of the simulator.
pub fn count(shape: Shape, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let whole = plan(shape)?;
    let [m, n, k] = shape.size;
    let stage = STAGE / bytes(shape.element);
    // Copies are of all rows, and parts are cut by all extents.
    let mut rows = m;
    if whole.pack.is_none() && whole.thin.is_none() && whole.product.parts == 1 {
        for fewer in FEWER_ROWS.map(|fewer| fewer + m % ROWS).into_iter().filter(|&fewer| fewer < m) {
            let less = Shape { size: [fewer, n, k], ..shape };
            if is_alike(&plan(less)?, &whole) {
                rows = fewer;
                break;
            }
        }
    }
    let short = |stages: usize| Shape { size: [rows, n, stages * stage + k % stage], ..shape };
    let lengths = STAGES.map(short);
    let mut is_short = lengths[1].size[2] < k;
    for one in lengths {
        is_short &= is_alike(&plan(one)?, &whole);
    }
    let runs = if is_short { lengths.map(|one| (one, 1)) } else { [1, 2].map(|blocks| (shape, blocks)) };
    let [of_short, of_long] = if !is_short && k > LONG {
        // One block takes long enough, and all do the same.
        let one = simulate(shape, 1, counting)?;
        [one.clone(), one]
    } else {
        side_by_side(runs, |(shape, blocks)| simulate(shape, blocks, counting))?
    };
    if of_short.len() != of_long.len() {
        return Err(format!("{shape}: sums of other lengths have other launches").into());
    }
    let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: runs[1].0.size[2] };
    for (of_short, of_long) in of_short.into_iter().zip(of_long) {
        if !is_short {
            let [launch, smaller] = [of_long, of_short].map(|one| balanced(one, shape, &whole, counting.l2));
            counted.launches.push(launch);
            counted.smaller.push(smaller);
            continue;
        }
        let works = runs.map(|(one, _)| one.size[2] as f64);
        let fixed = (of_short.blocks == of_long.blocks).then_some(of_long.blocks);
        let is_product = of_long.pipes.warpgroups > 0.0;
        // A block may have been drawn that has more tiles than others.
        let mean = |launch: Counts, one: Shape| {
            let part = if is_product { computed(one, &whole)[0] / launch.pipes.warpgroups } else { 1.0 };
            launch.times(part)
        };
        let [of_short, of_long] =
            [(of_short, lengths[0]), (of_long, lengths[1])].map(|(launch, one)| mean(launch, one));
        let scaled = scale((&of_short, works[0]), (&of_long, works[1]), k as f64, fixed)?;
        let more_rows =
            if is_product { computed(shape, &whole)[1] / computed(lengths[1], &whole)[1] } else { 1.0 };
        let [launch, smaller] = [scaled.counts, scaled.smaller]
            .map(|one| balanced(one.times(more_rows), shape, &whole, counting.l2));
        counted.launches.push(launch);
        counted.smaller.push(smaller);
    }
    Ok(counted)
}

/// What blocks read from memory that work side by side, of C's elements so many each, where sums are `k` elements of
/// `bytes` long: as many tiles as there are multiprocessors are a square, more or less, whose rows and columns come
/// once from memory and else from the second-level cache. Sampled blocks are far apart, so that each reads all of its
/// own.
pub fn side_by_side_read(
    launch: &Counts,
    elements: f64,
    k: usize,
    bytes: usize,
    multiprocessors: u32,
) -> Bytes {
    let tiles = f64::from(multiprocessors);
    let area = elements / launch.blocks as f64 * tiles.min(launch.blocks as f64);
    let waves = (launch.blocks as f64 / tiles).max(1.0);
    Bytes(launch.memory_read.0.min(waves * 2.0 * area.sqrt() * (k * bytes) as f64))
}

/// A launch with the grid of the plan. Where blocks go on from tile to tile, some do one more than others: the tensor
/// cores of the busiest multiprocessor count.
fn balanced(mut launch: Counts, shape: Shape, plan: &Plan, l2: Bytes) -> Counts {
    if launch.pipes.warpgroups > 0.0 {
        launch.blocks = plan.launch.grid.iter().map(|&one| u64::from(one)).product();
        let (blocks, [_, tiles]) = (launch.blocks as f64, computed(shape, plan));
        launch.pipes.warpgroups *= (tiles / blocks).ceil() * blocks / tiles;
        // Tiles of parts are of one place.
        let multiprocessors = Device::simulator().planned_multiprocessors();
        let ([m, n, k], bytes) = (shape.size, bytes(shape.element));
        let all = Counts { blocks: tiles as u64, ..launch.clone() };
        let parts = plan.product.parts as usize;
        let elements = (m * n * shape.count * parts) as f64;
        let read = side_by_side_read(&all, elements, k / parts, bytes, multiprocessors);
        // Factors that fit into the second-level cache are read once.
        let once = ((m * k + k * n) * shape.count * bytes) as f64;
        launch.memory_read = if once <= l2.0 { Bytes(read.0.min(once)) } else { Bytes(read.0.max(once)) };
    }
    launch
}

fn simulate(shape: Shape, blocks: u32, counting: &Counting) -> Result<Vec<Counts>, String> {
    let config = Config { sample: Some(blocks), ..simulated::config(counting.caches) };
    let device = Device::simulator_with(config);
    measure(&device, &shape, None, false).map_err(|error| format!("{shape}: {error}"))?;
    counting.launched_by_units(&device, MMA)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(n: usize) -> Shape {
        Shape { element: "bf16", output: "bf16", size: [n; 3], transposed: [false; 2], count: 1 }
    }

    /// Tiles of 128 × 256: 512 of them, 64 stages of 64 elements; 132 blocks compute 3.9 of them each, some four.
    #[test]
    fn the_busiest_multiprocessor_counts() {
        let shape = square(4096);
        let plan = plan(shape).expect("it is planned");
        let [operations, tiles] = computed(shape, &plan);
        assert_eq!((plan.sums, tiles, operations), (128, 512.0, shape.operations()));
        let mut launch = Counts { memory_read: Bytes(1e12), ..Counts::empty("tensor", 1, 384) };
        launch.pipes.warpgroups = operations;
        let found = balanced(launch, shape, &plan, Bytes(1e6));
        assert_eq!((found.blocks, found.pipes.warpgroups), (132, operations * 4.0 * 132.0 / 512.0));
        // Each wave reads rows and columns of a square of tiles, and all of them are more than the factors.
        let wave = 2.0 * (132.0 * 128.0 * 256.0_f64).sqrt() * 4096.0 * 2.0;
        let off = found.memory_read.0 / (wave * 512.0 / 132.0) - 1.0;
        assert!(off.abs() < 1e-9, "{off}");
    }

    #[test]
    fn plans_differ_by_kernels() {
        let plans = [1024, 2048, 4096].map(|n| plan(square(n)).expect("it is planned"));
        assert!(is_alike(&plans[2], &plan(square(8192)).expect("it is planned")));
        assert!(!is_alike(&plans[0], &plans[2]));
    }
}
