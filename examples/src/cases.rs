//! Counts of the benchmarks' cases: any of them, without code of its own.
//!
//! A case is launched in the simulator as the benchmark launches it. Where it is too large for that, two smaller ones of
//! the same shape are, and their counts are scaled.

use std::error::Error;
use std::thread;

use gpu_benches::counting;
use gpu_benches::suite::{Case, Op, Shape, Type};
use gpu_core::Device;
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, scale, simulated};
use gpu_sim::metrics::Architecture;

use crate::predicted::Counted;

/// Elements that are simulated at most; counts of more are scaled from those of as many and of half of them.
const SIMULATED: usize = 1 << 17;
/// The same of products of matrices, where the work is more than the elements.
const SIMULATED_PRODUCT: usize = 192 * 192;

/// What a case computes, in 32-bit operations, where that is known. A unit for two 32-bit operations does one of `f64`;
/// products of matrices of `f64` are done by tensor cores, which do as many as there are of 32 bits.
pub fn operations(case: Case) -> f64 {
    let operations = case.subject().operations().unwrap_or(0) as f64;
    if case.element == Type::F64 && case.op != Op::Gemm { 2.0 * operations } else { operations }
}

/// What the time of a case grows with.
fn work(case: Case) -> f64 {
    match (case.op, case.shape) {
        (Op::Gemm, Shape::Matrix { rows, cols }) => rows as f64 * rows as f64 * cols as f64,
        _ => case.elements() as f64,
    }
}

/// The launches of a case and the bytes that it moves at least.
fn simulate(case: Case, caches: Architecture) -> Result<(Vec<Counts>, u64), String> {
    let device = Device::simulator_with(simulated::config(caches));
    let bytes = counting::count(&device, case).map_err(|error| format!("{}: {error}", case.name()))?;
    let reports = device.as_simulator().ok_or("the simulator is a simulator")?.take_reports();
    let counts = reports.iter().map(simulated::counts).collect::<Result<Vec<Counts>, _>>();
    let mut launches = counts.map_err(|error| error.to_string())?;
    // All operations are the longest launch's.
    let longest =
        launches.iter_mut().max_by(|one, other| one.instructions.all().total_cmp(&other.instructions.all()));
    if let Some(longest) = longest {
        longest.operations = operations(case);
    }
    Ok((launches, bytes))
}

/// What a case counts, of any size, on a device with a second-level cache of `l2`: what a launch leaves there the next
/// one finds if all fits. And the bytes that it moves at least.
///
/// # Errors
/// Those of the simulator; a case whose launches are others when it is smaller, so that nothing can be scaled.
pub fn count(case: Case, caches: Architecture, l2: Bytes) -> Result<(Counted, f64), Box<dyn Error>> {
    let most = if case.op == Op::Gemm { SIMULATED_PRODUCT } else { SIMULATED };
    let (mut counted, bytes) = match case.shrunk(most) {
        None => {
            let (launches, bytes) = simulate(case, caches)?;
            (Counted { smaller: launches.clone(), launches, simulated: case.elements() }, bytes as f64)
        }
        Some(large) => {
            let small = case.shrunk(most / 2).ok_or("half of it is smaller")?;
            let (of_small, of_large) = thread::scope(|scope| {
                let other = scope.spawn(|| simulate(small, caches));
                let of_large = simulate(large, caches);
                (other.join(), of_large)
            });
            let (of_small, _) =
                of_small.map_err(|_| format!("{}: the simulator panicked", small.name()))??;
            let (of_large, bytes) = of_large?;
            if of_small.len() != of_large.len() {
                let [small, large] = [small, large].map(Case::name);
                return Err(format!("{small} and {large} differ in their launches").into());
            }
            let mut counted =
                Counted { launches: Vec::new(), smaller: Vec::new(), simulated: large.elements() };
            for (of_small, of_large) in of_small.iter().zip(&of_large) {
                // A grid that is the same for both does not grow.
                let fixed = (of_small.blocks == of_large.blocks).then_some(of_large.blocks);
                let (of_small, of_large) = ((of_small, work(small)), (of_large, work(large)));
                let scaled = scale(of_small, of_large, work(case), fixed)?;
                counted.launches.push(scaled.counts);
                counted.smaller.push(scaled.smaller);
            }
            (counted, bytes as f64 * case.elements() as f64 / large.elements() as f64)
        }
    };
    if bytes <= l2.0 {
        for launches in [&mut counted.launches, &mut counted.smaller] {
            for launch in launches.iter_mut().skip(1) {
                *launch = launch.clone().cached();
            }
        }
    }
    Ok((counted, bytes))
}
