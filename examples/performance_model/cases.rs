//! Counts of the benchmarks' cases: any of them, without code of its own.
//!
//! A case is launched in the simulator as the benchmark launches it. Where it is too large for that, two smaller ones of
//! the same shape are, and their counts are scaled.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::OnceLock;
use std::thread;

use gpu_benches::suite::{Case, Op, Shape, Type};
use gpu_benches::{counting, first_use};
use gpu_core::Device;
use gpu_model::units::Bytes;
use gpu_model::waves::ptx::Text;
use gpu_model::waves::{Counts, scale, simulated};
use gpu_sim::Config;
use gpu_sim::metrics::Architecture;

use gpu_examples::predicted::Counted;

/// Elements that are simulated at most; counts of more are scaled from those of as many and of half of them.
const SIMULATED: usize = 1 << 17;
/// The same of what takes many passes: a prediction is to take no more than some two seconds.
const SIMULATED_PASSES: usize = 1 << 16;
/// The same of products of matrices that are simulated whole, where the work is more than the elements.
const SIMULATED_PRODUCT: usize = 192 * 192;
/// Elements of a matrix whose product is simulated in part. Large ones have the tiles of larger ones.
const SAMPLED: usize = 2048 * 2048;

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

/// What the text of each kernel of the workspace has, by its name: of the image that a device of compute capability 9.0
/// takes, or, where that is kept as edits, of the one that is edited.
///
/// # Errors
/// Where there is no PTX.
fn texts() -> Result<&'static HashMap<&'static str, Text>, String> {
    static TEXTS: OnceLock<Result<HashMap<&'static str, Text>, String>> = OnceLock::new();
    let read = || {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../gpu-kernels"));
        let found = first_use::find(folder).map_err(|error| error.to_string())?;
        let text = |one: first_use::Found| {
            let images = one.kernel.images.iter().filter(|image| !image.ptx.contains("// Edits of"));
            let best =
                images.filter(|image| image.arch <= 90).max_by_key(|image| (image.arch, image.exact))?;
            Some((one.kernel.name, Text::of(best.ptx)))
        };
        Ok(found.into_iter().filter_map(text).collect())
    };
    TEXTS.get_or_init(read).as_ref().map_err(String::clone)
}

/// The launches of a case and the bytes that it moves at least.
fn simulate(case: Case, caches: Architecture, sample: Option<u32>) -> Result<(Vec<Counts>, u64), String> {
    let device = Device::simulator_with(Config { sample, ..simulated::config(caches) });
    let bytes = counting::count(&device, case).map_err(|error| format!("{}: {error}", case.name()))?;
    let reports = device.as_simulator().ok_or("the simulator is a simulator")?.take_reports();
    let counts = reports.iter().map(simulated::counts).collect::<Result<Vec<Counts>, _>>();
    let mut launches = counts.map_err(|error| error.to_string())?;
    // Scratch is cleared before it is used.
    let fills = device.as_simulator().map(gpu_sim::Simulator::take_fills).unwrap_or_default();
    launches.splice(0..0, fills.into_iter().map(simulated::fill));
    let texts = texts()?;
    for launch in &mut launches {
        if let Some(text) = texts.get(launch.kernel.as_str()) {
            launch.instructions.arithmetic = text.arithmetic(&launch.instructions);
        }
    }
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
    let most = match case.op {
        Op::Gemm => SIMULATED_PRODUCT,
        Op::Heat | Op::Sort | Op::SortPairs => SIMULATED_PASSES,
        _ => SIMULATED,
    };
    let mut scaled = match case.op {
        // One that is split has a second kernel, which reads what all blocks wrote: that is scaled as others are.
        Op::Gemm => sampled(case, caches).or_else(|_| scaled(case, most, caches)),
        _ => scaled(case, most, caches),
    };
    for larger in [4, 16] {
        if scaled.is_err() && case.op != Op::Gemm {
            scaled = self::scaled(case, larger * most, caches);
        }
    }
    let (mut counted, bytes) = scaled?;
    if bytes <= l2.0 {
        for launches in [&mut counted.launches, &mut counted.smaller] {
            for launch in launches.iter_mut().skip(1) {
                *launch = launch.clone().cached();
            }
        }
    }
    Ok((counted, bytes))
}

/// What a product of matrices counts: its tiles depend on its size, so it is launched as it is, or nearly, and two of its
/// blocks are simulated; the error is that of one of them.
fn sampled(case: Case, caches: Architecture) -> Result<(Counted, f64), Box<dyn Error>> {
    let launched = case.shrunk(SAMPLED).unwrap_or(case);
    let (one, two) = thread::scope(|scope| {
        let one = scope.spawn(|| simulate(launched, caches, Some(1)));
        let two = simulate(launched, caches, Some(2));
        (one.join(), two)
    });
    let (one, _) = one.map_err(|_| format!("{}: the simulator panicked", launched.name()))??;
    let (two, bytes) = two?;
    if one.len() != two.len() {
        return Err(format!("{} differs in its launches", launched.name()).into());
    }
    let mut counted = Counted { launches: two, smaller: one, simulated: launched.elements() };
    if launched != case {
        let factor = work(case) / work(launched);
        for launch in counted.launches.iter_mut().chain(&mut counted.smaller) {
            // The grid grows with the sides' product, what a block does with the side.
            let blocks = launch.blocks as f64 * case.elements() as f64 / launched.elements() as f64;
            let zero = Counts { operations: 0.0, ..Counts::empty(&launch.kernel, 1, launch.threads) };
            *launch = scale((&zero, 0.5), (launch, 1.0), factor, Some(blocks as u64))?.counts;
        }
    }
    Ok((counted, bytes as f64 * case.elements() as f64 / launched.elements() as f64))
}

/// What a case of at most so many elements counts, scaled to the case.
fn scaled(case: Case, most: usize, caches: Architecture) -> Result<(Counted, f64), Box<dyn Error>> {
    let Some(large) = case.shrunk(most) else {
        let (launches, bytes) = simulate(case, caches, None)?;
        let counted = Counted { smaller: launches.clone(), launches, simulated: case.elements() };
        return Ok((counted, bytes as f64));
    };
    // Sides are rounded: half as many elements may be as many.
    let halves = [2, 4, 8, 16].into_iter().filter_map(|part| large.shrunk(most / part));
    let small = halves.into_iter().find(|small| work(*small) < work(large));
    let small = small.ok_or_else(|| format!("{} has nothing smaller", large.name()))?;
    let (of_small, of_large) = thread::scope(|scope| {
        let other = scope.spawn(|| simulate(small, caches, None));
        let of_large = simulate(large, caches, None);
        (other.join(), of_large)
    });
    let (of_small, _) = of_small.map_err(|_| format!("{}: the simulator panicked", small.name()))??;
    let (of_large, bytes) = of_large?;
    if of_small.len() != of_large.len() {
        let [small, large] = [small, large].map(Case::name);
        return Err(format!("{small} and {large} differ in their launches").into());
    }
    let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: large.elements() };
    for (of_small, of_large) in of_small.iter().zip(&of_large) {
        // A grid that is the same for both does not grow.
        let fixed = (of_small.blocks == of_large.blocks).then_some(of_large.blocks);
        let (of_small, of_large) = ((of_small, work(small)), (of_large, work(large)));
        let scaled = scale(of_small, of_large, work(case), fixed)?;
        counted.launches.push(scaled.counts);
        counted.smaller.push(scaled.smaller);
    }
    Ok((counted, bytes as f64 * case.elements() as f64 / large.elements() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The multiple of a vector in place: each element of 4 bytes is read and written, in lines of 128 bytes.
    #[test]
    fn a_large_case_is_scaled_from_small_ones() {
        let case = Case { op: Op::Scale, element: Type::F32, shape: Shape::Vector(1 << 26) };
        let (counted, bytes) = count(case, Architecture::H200, Bytes(1e6)).expect("it is simulated");
        let all = f64::from(1_u32 << 26);
        assert_eq!((counted.launches.len(), counted.simulated, bytes), (1, SIMULATED, 8.0 * all));
        let launch = &counted.launches[0];
        assert_eq!((launch.memory_read.0, launch.memory_written.0), (4.0 * all, 4.0 * all));
        assert_eq!((launch.lines, launch.lines_written), (all / 16.0, all / 32.0));
        assert!(!launch.dependent && launch.instructions.arithmetic > 0.0, "{launch:?}");
    }

    /// A scan's kernel waits for the one before by itself; a selection clears nothing before it begins.
    #[test]
    fn launches_are_what_a_stream_gets() {
        let counted = |op, element| {
            let case = Case { op, element, shape: Shape::Vector(1 << 12) };
            count(case, Architecture::H200, Bytes(1e6)).expect("it is simulated").0.launches
        };
        let scan = counted(Op::Scan, Type::F32);
        assert!(scan.len() == 1 && scan[0].dependent, "{scan:?}");
        let select = counted(Op::Select, Type::I32);
        assert!(select.len() == 1 && select[0].kernel.as_str() != "fill", "{select:?}");
    }

    #[test]
    fn operations_of_doubles_take_two() {
        let case = |element, op| Case { op, element, shape: Shape::Matrix { rows: 8, cols: 8 } };
        assert_eq!(operations(case(Type::F32, Op::Gemv)), 128.0);
        assert_eq!(operations(case(Type::F64, Op::Gemv)), 256.0);
        assert_eq!(operations(case(Type::F64, Op::Gemm)), 1024.0);
        assert_eq!(operations(case(Type::F32, Op::Transpose)), 0.0);
    }
}
