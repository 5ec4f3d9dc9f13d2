//! Counts of batches of products whose matrices start anywhere.
//!
//! All products do the same, wherever their matrices are, and share nothing. So of a batch with a part of them, for
//! which the plan has the same kernel, a few blocks are simulated, and what they count grows with the products. Blocks
//! of one product are side by side: what it reads comes from memory once.

use std::error::Error;

use gpu_benches::batched::Shape;
use gpu_core::Device;
use gpu_examples::predicted::{Counted, side_by_side};
use gpu_linalg::plan::{gemm, tensor};
use gpu_linalg::{BatchLayout, Layout};
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, scale, simulated};
use gpu_sim::Config;

use super::cases::Counting;
use super::product::multiply_adds;
use super::tensor::MMA;

/// What parts of a batch are tried in place of all of it, the smallest first.
const PARTS: [usize; 3] = [64, 16, 4];
/// The least blocks of such a part: some for each multiprocessor.
const LEAST: u64 = 528;
/// Multiply-adds of the blocks that are simulated, about, and the most blocks.
const WORK: usize = 1 << 21;
const BLOCKS: usize = 16;

/// Bytes of an element.
fn bytes(shape: Shape) -> usize {
    match shape.element {
        "f64" => 8,
        "bf16" => 2,
        _ => 4,
    }
}

fn is_tensor(shape: Shape) -> bool {
    matches!(shape.element, "tf32" | "bf16")
}

/// Operations, of 32 bits where no tensor cores are, and bytes that any implementation reads and writes.
pub fn demand(shape: Shape) -> [f64; 2] {
    let [m, n, k] = shape.extents;
    let operations = if is_tensor(shape) { 0.0 } else { (2 * m * n * k * shape.count) as f64 };
    [operations, (shape.count * (m * k + k * n + m * n) * bytes(shape)) as f64]
}

/// Its kernel, by a name that tells it from others, and its blocks.
fn planned(shape: Shape) -> Result<(String, u64), gpu_linalg::Error> {
    let ([m, n, k], [a, b]) = (shape.extents, shape.transposed);
    let layout = |rows, columns, across| {
        let matrix =
            if across { Layout::column_major(rows, columns)? } else { Layout::row_major(rows, columns)? };
        BatchLayout::new(matrix, shape.count, rows * columns)
    };
    let layouts = [layout(m, k, a)?, layout(k, n, b)?, layout(m, n, false)?];
    // Memory of any place that is aligned.
    let addresses = [1, 2, 3].map(|place| place << 40);
    let blocks = |grid: [u32; 3]| grid.iter().map(|&one| u64::from(one)).product();
    if is_tensor(shape) {
        let plan = tensor::Plan::listed((bytes(shape), bytes(shape)), None, layouts, addresses, true)?;
        let grid = plan.thin.as_ref().map_or(plan.lanes.0.grid, |thin| thin.launch.grid);
        return Ok((format!("{} {}", plan.thin.is_some(), plan.sums), blocks(grid)));
    }
    let multiprocessors = Device::simulator().planned_multiprocessors();
    let plan = gemm::Plan::listed(bytes(shape), None, multiprocessors, layouts, addresses, true)?;
    Ok((format!("{:?}", plan.kernel), blocks(plan.launch.grid)))
}

/// What a batch counts.
///
/// # Errors
/// Those of the plan and of the simulator.
pub fn count(shape: Shape, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let (kernel, blocks) = planned(shape)?;
    let mut part = shape;
    for count in PARTS.map(|part| shape.count / part).into_iter().filter(|&count| count > 0) {
        let less = Shape { count, ..shape };
        let (of_less, blocks) = planned(less)?;
        if of_less == kernel && blocks >= LEAST {
            part = less;
            break;
        }
    }
    let [m, n, k] = shape.extents;
    let each = m * n * k * shape.count / usize::try_from(blocks)?;
    let sample = (WORK / each.max(1)).clamp(2, BLOCKS) as u32;
    let [smaller, launches] = side_by_side([sample / 2, sample], |blocks| simulate(part, blocks, counting))?;
    let of_part = part.count as f64;
    let all = |launches: Vec<Counts>| -> Result<Vec<Counts>, gpu_model::Error> {
        let of_all = |launch: Counts| -> Result<Counts, gpu_model::Error> {
            let mut all =
                scale((&launch, of_part / 2.0), (&launch, of_part), shape.count as f64, None)?.counts;
            let [operations, moved] = demand(shape);
            all.operations = operations;
            if shape.element == "f32" {
                multiply_adds(&mut all);
            }
            let least = (moved - (shape.count * m * n * bytes(shape)) as f64).max(0.0);
            all.memory_read = Bytes(all.memory_read.0.min(least));
            Ok(all)
        };
        launches.into_iter().map(of_all).collect()
    };
    Ok(Counted { launches: all(launches)?, smaller: all(smaller)?, simulated: part.count })
}

fn simulate(shape: Shape, blocks: u32, counting: &Counting) -> Result<Vec<Counts>, String> {
    let config = Config { sample: Some(blocks), ..simulated::config(counting.caches) };
    let device = Device::simulator_with(config);
    shape.measure(&device, false).map_err(|error| format!("{shape}: {error}"))?;
    counting.launched_by_units(&device, if is_tensor(shape) { MMA } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of products of 64 rows those of a quarter have a quarter of the blocks of all, by the same kernel.
    #[test]
    fn parts_have_the_same_kernel_and_fewer_blocks() {
        for element in ["f32", "f64", "tf32", "bf16"] {
            let shape =
                Shape { element, extents: [64; 3], transposed: [false; 2], count: 4096, drawn: false };
            let [all, part] = [shape.count, shape.count / 4]
                .map(|count| planned(Shape { count, ..shape }).expect("it is planned"));
            assert_eq!((&all.0, all.1), (&part.0, 4 * part.1), "{element}");
        }
        let shape =
            Shape { element: "f64", extents: [2, 3, 4], transposed: [false; 2], count: 5, drawn: false };
        assert_eq!(demand(shape), [2.0 * 24.0 * 5.0, 5.0 * (8.0 + 12.0 + 6.0) * 8.0]);
    }
}
