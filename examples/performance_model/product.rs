//! Counts of products of matrices: their tiles depend on how large they are, and a block alone takes long.
//!
//! So a product is launched as large as it is, but with short sums, and few of its blocks are simulated. What a block
//! does is something once, and something for each stage of its sums: two lengths of them tell both. Sums that are cut
//! into parts are short as they are.

use std::error::Error;
use std::thread;

use gpu_benches::suite::{Case, Shape, Type};
use gpu_core::Device;
use gpu_linalg::plan::gemm::Split;
use gpu_linalg::{BatchLayout, Layout, Matrix, MatrixMut, RealElement, gemm, gemm_scratch_len};
use gpu_model::waves::{Counts, scale, simulated};
use gpu_sim::Config;

use super::cases::{Counting, element_bytes, operations};

/// The lengths of the sums that are simulated: multiples of all kernels' stages, more than are in flight at a time.
const LENGTHS: [usize; 2] = [128, 256];

/// The launches of a product, and the same by another simulation.
///
/// # Errors
/// Those of the simulator.
pub fn launches(case: Case, counting: &Counting) -> Result<[Vec<Counts>; 2], Box<dyn Error>> {
    let Shape::Matrix { rows: n, .. } = case.shape else { return Err("a product is of matrices".into()) };
    let bytes = element_bytes(case);
    let cut = Split::new(bytes, [n, n, n], 1).parts > 1;
    let runs = if cut || n <= LENGTHS[1] { [(n, 1), (n, 2)] } else { LENGTHS.map(|k| (k, 1)) };
    let [short, long] = thread::scope(|scope| {
        let run = |(k, blocks)| match case.element {
            Type::F64 => simulate::<f64>(n, k, blocks, counting),
            _ => simulate::<f32>(n, k, blocks, counting),
        };
        let other = scope.spawn(move || run(runs[0]));
        let long = run(runs[1]);
        [other.join().unwrap_or_else(|_| Err("the simulator panicked".to_owned())), long]
    });
    let (short, mut long) = (short?, long?);
    if short.len() != long.len() {
        return Err(format!("{}: sums of other lengths have other launches", case.name()).into());
    }
    let mut smaller = short.clone();
    if runs[0].0 != runs[1].0 {
        for ((long, smaller), short) in long.iter_mut().zip(&mut smaller).zip(&short) {
            let [of_short, of_long] = runs.map(|(k, _)| k as f64);
            let scaled = scale((short, of_short), (long, of_long), n as f64, Some(long.blocks))?;
            (*long, *smaller) = (scaled.counts, scaled.smaller);
        }
    }
    for launches in [&mut long, &mut smaller] {
        launches[0].operations = operations(case);
    }
    Ok([long, smaller])
}

/// Of a product of n × k and k × n elements, `blocks` blocks.
fn simulate<T: RealElement>(
    n: usize,
    k: usize,
    blocks: u32,
    counting: &Counting,
) -> Result<Vec<Counts>, String> {
    let run = || -> Result<Device, Box<dyn Error>> {
        let device =
            Device::simulator_with(Config { sample: Some(blocks), ..simulated::config(counting.caches) });
        let [left, right, output] =
            [[n, k], [k, n], [n, n]].map(|[rows, cols]| Layout::row_major(rows, cols));
        let (left, right, output) = (left?, right?, output?);
        let (a, b) = (device.zeroed::<T>(n * k)?, device.zeroed::<T>(n * k)?);
        let mut c = device.alloc::<T>(n * n)?;
        // Zeros, as not all blocks write their part of it.
        let mut scratch = device.zeroed::<T>(gemm_scratch_len::<T>(k, BatchLayout::from(output)).max(1))?;
        let (a, b) = (Matrix::new(&a, left)?, Matrix::new(&b, right)?);
        let c = MatrixMut::new(&mut c, output)?;
        gemm(&device.default_stream(), T::ONE, a, b, T::ZERO, c, &mut scratch)?;
        Ok(device)
    };
    counting.counts(&run().map_err(|error| error.to_string())?)
}
