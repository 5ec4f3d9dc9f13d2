//! Counts of many steps on a plane: pass after pass, of which a few are different.
//!
//! A pass makes eight steps at most, and all passes of as many are the same launch. So the steps of one pass and those
//! that are left over are simulated, some blocks of each, on two planes, and the first are counted as often as they
//! come. Each launch does its part of the operations. Strips are 64 rows high on these planes and 96 on the largest
//! ones, where they overlap less: some 7 % too much is counted.

use std::error::Error;

use gpu_benches::suite::{Case, HEAT_STEPS, Shape, Type};
use gpu_core::{Device, Scratch};
use gpu_examples::predicted::{Counted, side_by_side};
use gpu_model::waves::{Counts, scale, simulated};
use gpu_sim::Config;
use gpu_std::float::Float;
use gpu_stencil::iterate::{Boundary, Grid, GridElement, Problem, Stencil, iterate_into, iterate_scratch};

use super::cases::{Counting, operations};

/// Cells of the planes that are simulated.
const CELLS: [usize; 2] = [1 << 20, 1 << 22];
/// Blocks of each launch there.
const BLOCKS: u32 = 8;

/// What the steps of the heat equation count.
///
/// # Errors
/// Those of the simulator; a plane that is no larger than those that it is scaled from.
pub fn heat(case: Case, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let sides = CELLS.map(|cells| case.shrunk(cells).map(|smaller| smaller.shape));
    let [Some(Shape::Matrix { rows, cols }), Some(Shape::Matrix { rows: more_rows, cols: more_cols })] =
        sides
    else {
        return Err(format!("{} is too small to be scaled from smaller planes", case.name()).into());
    };
    let planes = [[rows, cols], [more_rows, more_cols]];
    // Those of a pass, and how often it comes; those that are left.
    let each = if case.element == Type::F64 { 4 } else { 8 };
    let parts = [(each, HEAT_STEPS / each), (HEAT_STEPS % each, 1)];
    let run = |plane, steps| match case.element {
        Type::F64 => simulate::<f64>(plane, steps, counting),
        _ => simulate::<f32>(plane, steps, counting),
    };
    let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: CELLS[1] };
    for (steps, times) in parts.into_iter().filter(|(steps, _)| *steps > 0) {
        let [small, large] = side_by_side(planes, |plane| run(plane, steps))?;
        if small.len() != large.len() {
            return Err(format!("{}: planes of other sizes have other launches", case.name()).into());
        }
        let cells = planes.map(|[rows, cols]| (rows * cols) as f64);
        let pairs = small.iter().zip(&large);
        let scaled = pairs
            .map(|(small, large)| scale((small, cells[0]), (large, cells[1]), case.elements() as f64, None));
        for scaled in scaled.collect::<Result<Vec<_>, _>>()?.iter().cycle().take(times * small.len()) {
            // Each does its part of all operations.
            let part = operations(case) * steps as f64 / (HEAT_STEPS * small.len()) as f64;
            for (launches, counts) in
                [(&mut counted.launches, &scaled.counts), (&mut counted.smaller, &scaled.smaller)]
            {
                launches.push(Counts { operations: part, ..counts.clone() });
            }
        }
    }
    Ok(counted)
}

/// So many steps on a plane, by some blocks of each launch.
fn simulate<T: GridElement>(
    [rows, columns]: [usize; 2],
    steps: usize,
    counting: &Counting,
) -> Result<Vec<Counts>, String> {
    let run = || -> Result<Device, Box<dyn Error>> {
        let device =
            Device::simulator_with(Config { sample: Some(BLOCKS), ..simulated::config(counting.caches) });
        let grid = Grid::plane(rows, columns)?;
        let stencil = Stencil::heat(2, <T as Float>::ONE)?;
        let problem = Problem::new(&stencil, grid, Boundary::Dirichlet)?;
        // Zeros, as not all blocks write what the next pass reads.
        let (input, mut output) = (device.zeroed::<T>(grid.len())?, device.zeroed::<T>(grid.len())?);
        let stream = device.default_stream();
        let zeros = device.zeroed(iterate_scratch::<T>(grid, steps).words())?;
        let mut scratch = Scratch::from_buffer(&stream, zeros)?;
        iterate_into(&stream, &problem, &input, steps, &mut output, &mut scratch)?;
        Ok(device)
    };
    counting.counts(&run().map_err(|error| error.to_string())?)
}
