//! Counts of the benchmarks' cases: any of them, without code of its own.
//!
//! A case is launched in the simulator as the benchmark launches it. Where it is too large for that, two smaller ones
//! of the same shape are, and their counts are scaled. Where blocks do not wait for each other, those are larger, and a
//! few of their blocks are simulated: blocks at the edges of a small image are many, and a grid that does not grow with
//! the work is found to be that.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use gpu_benches::counting;
use gpu_benches::suite::sparse::Structure;
use gpu_benches::suite::{Case, Op, Shape, Type};
use gpu_core::Device;
use gpu_model::units::{Bytes, Cycles};
use gpu_model::waves::ptx::{Latency, Text};
use gpu_model::waves::{Counts, simulated};
use gpu_sim::metrics::Architecture;
use gpu_sim::{Config, Report};

use gpu_examples::predicted::{Counted, side_by_side};

use super::counter::Known;
use super::facts::Facts;
use super::registers::registers;
use super::scaling::{in_cache, multiprocessors, operate, read_once, scaled_launches};
use super::{product, steps};

/// Elements that are simulated at most; counts of more are scaled from those of as many and of half of them.
const SIMULATED: usize = 1 << 17;
/// The same of what takes many passes: a prediction is to take no more than some two seconds.
const SIMULATED_PASSES: usize = 3 << 14;
/// Elements of what is launched for a sample of its blocks.
const SAMPLED: usize = 1 << 22;
/// The same of what as many blocks share as there is room for: each is to have several tiles.
const SHARED: usize = 1 << 24;
/// The bytes that those have at most.
const SAMPLED_BYTES: usize = 1 << 24;
/// Blocks of such a sample.
const BLOCKS: u32 = 8;
/// The same of blocks that take long: a prediction is to take no more than some two seconds.
const SLOW_BLOCKS: u32 = 4;
/// The same of blocks that are few and have much of an array each.
const LONG_BLOCKS: u32 = 1;

/// What a case computes, in 32-bit operations, where that is known. A unit for two 32-bit operations does one of `f64`;
/// products of matrices of `f64` are done by tensor cores, which do as many as there are of 32 bits.
pub fn operations(case: Case) -> f64 {
    let operations = case.subject().operations().unwrap_or(0) as f64;
    if case.element == Type::F64 && case.op != Op::Gemm { 2.0 * operations } else { operations }
}

/// Bytes of an element of its input.
pub fn element_bytes(case: Case) -> usize {
    match (case.shape, case.element) {
        (Shape::Array(typed), _) => typed.bytes,
        (_, Type::U8) => 1,
        (_, Type::U16) => 2,
        (_, Type::F32 | Type::I32 | Type::U32) => 4,
        (_, Type::F64) => 8,
        (_, Type::U128) => 16,
    }
}

/// Whether the blocks of its launches do not wait for each other, nor a launch for what all blocks of another one
/// wrote.
fn is_independent(case: Case) -> bool {
    use Op::*;
    let moves = matches!(case.op, Transpose | Permute | InPlace | Add | Axpy | Scale | Ger);
    // The last block of a long segment adds what the others have left, and waits for none.
    let sums = matches!(case.op, Gemv | GemvTransposed | Columns | Histogram | Segments);
    let filters = matches!(case.op, Gaussian5 | Gaussian11 | Filter3 | Filter11 | Gaussian5Rgb | Filter3Rgb);
    let others = matches!(case.op, ResizeHalf | ResizeDouble | Correlate | Jacobi | SobelMagnitude);
    moves || sums || filters || others
}

/// Whether a part of a case is cut as the whole on a device of as small a part of the multiprocessors: how many rows of
/// an image, how much of an array, or how many threads a block has depends on how many blocks there are.
fn is_cut_by_blocks(case: Case) -> bool {
    use Op::*;
    let filters = matches!(case.op, Gaussian5 | Gaussian11 | Filter3 | Filter11 | Gaussian5Rgb | Filter3Rgb);
    filters || matches!(case.op, SobelMagnitude | Histogram | Correlate | Jacobi | InPlace)
}

/// The multiprocessors of the device on which a part of a case is simulated.
fn multiprocessors_for(part: Case, of: Case) -> u32 {
    if is_cut_by_blocks(of) {
        multiprocessors(part.elements(), of.elements())
    } else {
        Config::default().multiprocessors
    }
}

/// A kernel's PTX, and what it has once that was asked for: most kernels are not.
type Kernel = (&'static str, OnceLock<Text>);

/// The text of each kernel of the workspace, by its name: of the image that a device of compute capability 9.0
/// takes, or, where that is kept as edits, of the one that is edited. Files are called `sum_f32.sm_90a.ptx`.
///
/// # Errors
/// Where there is no PTX.
fn texts() -> Result<HashMap<&'static str, Kernel>, Box<dyn Error>> {
    let families = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../gpu-kernels"));
    let mut best = HashMap::<String, ((u32, bool), String)>::new();
    for family in families.read_dir()? {
        for file in family?.path().join("ptx").read_dir()? {
            let file = file?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let parts = name.strip_suffix(".ptx").and_then(|name| name.rsplit_once(".sm_"));
            let Some((kernel, target)) = parts else { continue };
            let digits = target.strip_suffix('a').unwrap_or(target);
            let rank = (digits.parse::<u32>()?, digits != target);
            if rank.0 > 90 || best.get(kernel).is_some_and(|(other, _)| *other >= rank) {
                continue;
            }
            let ptx = std::fs::read_to_string(&file)?;
            if !ptx.contains("// Edits of") {
                best.insert(kernel.to_owned(), (rank, ptx));
            }
        }
    }
    if best.is_empty() {
        return Err(format!("no PTX below {}", families.display()).into());
    }
    // For as long as the process lives, as those in a program are.
    let leaked = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    Ok(best.into_iter().map(|(name, (_, ptx))| (leaked(name), (leaked(ptx), OnceLock::new()))).collect())
}

/// What counts depend on of a device: its caches, which are simulated, its second-level cache's size, and what a warp
/// waits for what it computes.
pub struct Counting {
    /// What is simulated.
    pub caches: Architecture,
    /// What a launch leaves there the next one finds if all fits.
    pub l2: Bytes,
    pub latency: Latency,
    /// What a load waits for that the second-level cache has, and one from memory: these tell only which way through a
    /// sparse system is the longest.
    pub far: [Cycles; 2],
    texts: HashMap<&'static str, Kernel>,
    registers: HashMap<&'static str, u32>,
    /// What was simulated to scale from: of cases, with the bytes that they move, and of subjects.
    cases: Known<[(Vec<Counts>, u64); 2]>,
    pub subjects: Known<Vec<Vec<Counts>>>,
    /// What is known of sparse structures, which several operations need.
    structures: Known<Arc<Facts>>,
}

impl Counting {
    /// Counts for `device`, whose caches are `caches`.
    ///
    /// # Errors
    /// A device without calibration or second-level cache; where there is no PTX.
    pub fn new(device: &gpu_model::Device, caches: Architecture) -> Result<Self, Box<dyn Error>> {
        let l2 = device.memory.l2.ok_or("the device has no second-level cache")?;
        let latency = Latency::of(device)?;
        let (cases, subjects) = (Known::default(), Known::default());
        let waves = device.waves()?;
        let far = [waves.l2_latency, waves.memory_latency];
        let (texts, registers) = (texts()?, registers());
        let structures = Known::default();
        Ok(Self { caches, l2, latency, far, texts, registers, cases, subjects, structures })
    }

    /// What simulations took that were not made again since this was asked last: on the clock, and of all processors.
    pub fn known_seconds(&self) -> [f64; 2] {
        let all = [self.cases.saved(), self.subjects.saved(), self.structures.saved()];
        [0, 1].map(|which| all.iter().map(|saved| saved[which]).sum())
    }

    /// What is known of a sparse structure, and, if it is asked for, the way through its levels.
    ///
    /// # Errors
    /// None that there is.
    pub fn facts(&self, structure: Structure, has_way: bool) -> Result<Arc<Facts>, String> {
        let found = || Ok(Arc::new(Facts::of(structure, has_way.then_some(self))));
        self.structures.get(format!("{structure} {has_way}"), found)
    }

    /// Whether another device's counts are the same: neither name nor bandwidth enters them.
    pub fn serves(&self, device: &gpu_model::Device, caches: Architecture) -> bool {
        let caches = Architecture { name: self.caches.name, bandwidth: self.caches.bandwidth, ..caches };
        device.memory.l2 == Some(self.l2) && Latency::of(device) == Ok(self.latency) && caches == self.caches
    }

    /// The counts of a launch, with what its kernel's text says where there is one.
    ///
    /// # Errors
    /// Counts that contradict each other.
    pub fn read(&self, report: &Report) -> Result<Counts, gpu_model::Error> {
        let counts = match self.texts.get(report.kernel.as_str()) {
            Some((ptx, text)) => {
                simulated::counts_with(report, text.get_or_init(|| Text::of(ptx, self.latency)))
            }
            None => simulated::counts(report),
        };
        counts.map(|counts| self.with_registers(counts))
    }

    /// The kernels whose text is known.
    #[cfg(test)]
    pub fn kernels(&self) -> impl Iterator<Item = &'static str> {
        self.texts.keys().copied()
    }

    /// A launch with its kernel's registers, where they are known.
    fn with_registers(&self, counts: Counts) -> Counts {
        Counts { registers: self.registers.get(counts.kernel.as_str()).copied(), ..counts }
    }

    /// What a simulated device has launched since it was asked last.
    ///
    /// # Errors
    /// Counts that contradict each other.
    pub fn counts(&self, device: &Device) -> Result<Vec<Counts>, String> {
        let reports = device.as_simulator().ok_or("the simulator is a simulator")?.take_reports();
        let counts = reports.iter().map(|report| self.read(report));
        counts.collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    /// The same with fills and with what goes through single units, of a kernel whose matrix operations of warps are
    /// so many operations of 16 bits each.
    ///
    /// # Errors
    /// Counts that contradict each other; a kernel whose text is not known.
    pub fn launched_by_units(&self, device: &Device, mma: f64) -> Result<Vec<Counts>, String> {
        let simulator = device.as_simulator().ok_or("the simulator is a simulator")?;
        let read = |report: &Report| {
            let known = self.texts.get(report.kernel.as_str());
            let (ptx, text) = known.ok_or_else(|| format!("the text of {} is not known", report.kernel))?;
            let text = text.get_or_init(|| Text::of(ptx, self.latency));
            let counts =
                simulated::counts_with_pipes(report, text, mma).map_err(|error| error.to_string())?;
            Ok(self.with_registers(counts))
        };
        let launches = simulator.take_reports().iter().map(read).collect::<Result<Vec<_>, String>>()?;
        Ok(simulator.take_fills().into_iter().map(simulated::fill).chain(launches).collect())
    }

    /// The same with fills: scratch is cleared before it is used.
    ///
    /// # Errors
    /// Counts that contradict each other.
    pub fn launched(&self, device: &Device) -> Result<Vec<Counts>, String> {
        let mut launches = self.counts(device)?;
        let fills = device.as_simulator().map(gpu_sim::Simulator::take_fills).unwrap_or_default();
        launches.splice(0..0, fills.into_iter().map(simulated::fill));
        Ok(launches)
    }

    /// The launches of a case and the bytes that it moves at least, for a device of so many multiprocessors.
    fn simulate(
        &self,
        case: Case,
        sample: Option<u32>,
        multiprocessors: u32,
    ) -> Result<(Vec<Counts>, u64), String> {
        let config = Config { sample, multiprocessors, ..simulated::config(self.caches) };
        let device = Device::simulator_with(config);
        let bytes = counting::count(&device, case).map_err(|error| format!("{}: {error}", case.name()))?;
        let mut launches = self.launched(&device)?;
        operate(&mut launches, operations(case));
        Ok((launches, bytes))
    }

    /// What a case of any size counts, and the bytes that it moves at least.
    ///
    /// # Errors
    /// Those of the simulator; a case whose launches are others when it is smaller, so that nothing can be scaled.
    pub fn count(&self, case: Case) -> Result<(Counted, f64), Box<dyn Error>> {
        let most = match (case.op, case.element) {
            (Op::Sort | Op::SortPairs | Op::ReduceByKey, _) => SIMULATED_PASSES,
            _ => SIMULATED,
        };
        let (mut counted, bytes) = match case.op {
            Op::Gemm => {
                let [launches, smaller] = product::launches(case, self)?;
                let bytes = 3 * case.elements() * element_bytes(case);
                (Counted { launches, smaller, simulated: case.elements() }, bytes as f64)
            }
            Op::Heat => {
                // Those of one step.
                let bytes = 2 * case.elements() * element_bytes(case);
                (steps::heat(case, self)?, bytes as f64)
            }
            Op::ReduceByKey => self.sums_by_keys(case, most)?,
            _ if is_independent(case) => {
                self.sampled(case).or_else(|_| self.scaled_from(case, most, None))?
            }
            _ => self.scaled_from(case, most, None)?,
        };
        in_cache(&mut counted, Bytes(bytes), self.l2);
        Ok((counted, bytes))
    }

    /// What sums by keys count. Where runs begin is found by blocks that wait for each other, of a small array; the
    /// sums themselves are the kernel that adds segments of these lengths.
    fn sums_by_keys(&self, case: Case, most: usize) -> Result<(Counted, f64), Box<dyn Error>> {
        let (mut counted, bytes) = self.scaled(case, most, None, false)?;
        let (sums, _) = self.sampled(Case { op: Op::Segments, ..case })?;
        for (launches, sums) in
            [(&mut counted.launches, &sums.launches), (&mut counted.smaller, &sums.smaller)]
        {
            let Some(sum) = sums.last() else { continue };
            let found = launches.iter_mut().filter(|launch| launch.kernel == sum.kernel);
            found.for_each(|launch| *launch = Counts { dependent: launch.dependent, ..sum.clone() });
        }
        Ok((counted, bytes))
    }

    /// What a case counts by a sample of its blocks. They are far apart, so that what neighbours share each of them
    /// reads from memory: where that is more than there is, it is read once.
    fn sampled(&self, case: Case) -> Result<(Counted, f64), Box<dyn Error>> {
        let most = match case.op {
            Op::Segments => SHARED,
            _ => SAMPLED.min(SAMPLED_BYTES / element_bytes(case)),
        };
        let blocks = match case.op {
            Op::Histogram => LONG_BLOCKS,
            Op::Filter11 => SLOW_BLOCKS,
            _ => BLOCKS,
        };
        let (mut counted, bytes) = self.scaled_from(case, most, Some(blocks))?;
        read_once(&mut counted, Bytes(bytes));
        Ok((counted, bytes))
    }

    /// As `scaled`, from larger launches where smaller ones tell nothing of the case: where they fail, are not the same
    /// launches, or have a grid that stops growing between them, if there is a larger one that does not.
    fn scaled_from(
        &self,
        case: Case,
        most: usize,
        sample: Option<u32>,
    ) -> Result<(Counted, f64), Box<dyn Error>> {
        let attempts = [(1, true), (2, true), (1, false), (4, false), (16, false)];
        let all = attempts.into_iter().filter(|(larger, _)| sample.is_none() || *larger <= 2);
        let mut found = Err("nothing was simulated".into());
        for (larger, growing) in all {
            found = self.scaled(case, larger * most, sample, growing);
            if found.is_ok() {
                break;
            }
        }
        found
    }

    /// What a case of at most so many elements counts, by a sample of so many blocks or by all, scaled to the case.
    /// With `growing` it fails where a grid stops growing before that.
    fn scaled(
        &self,
        case: Case,
        most: usize,
        sample: Option<u32>,
        growing: bool,
    ) -> Result<(Counted, f64), Box<dyn Error>> {
        let Some(large) = case.shrunk(most) else {
            let all = Config::default().multiprocessors;
            let (launches, bytes) = self.simulate(case, sample, all)?;
            let smaller = match sample {
                Some(blocks) => self.simulate(case, Some(blocks / 2), all)?.0,
                None => launches.clone(),
            };
            let counted = Counted { smaller, launches, simulated: case.elements() };
            return Ok((counted, bytes as f64));
        };
        // Sides are rounded: half as many elements may be as many.
        // Of many passes a quarter is enough to say how far they are off, and leaves more of two seconds.
        let many = matches!(case.op, Op::Sort | Op::SortPairs);
        let parts = [2, 4, 8, 16].into_iter().skip(usize::from(many));
        let halves = parts.filter_map(|part| large.shrunk(most / part));
        let small = halves.into_iter().find(|small| small.elements() < large.elements());
        let small = small.ok_or_else(|| format!("{} has nothing smaller", large.name()))?;
        let units = [small, large].map(|part| multiprocessors_for(part, case));
        let [(of_small, _), (of_large, bytes)] =
            self.cases.get(format!("{small:?} {large:?} {sample:?} {units:?}"), || {
                side_by_side([(small, units[0]), (large, units[1])], |(part, units)| {
                    self.simulate(part, sample, units)
                })
            })?;
        let elements = [small.elements(), large.elements()];
        let counted = scaled_launches([&of_small, &of_large], elements, case.elements(), growing)?;
        Ok((counted, bytes as f64 * case.elements() as f64 / large.elements() as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorded::SOURCES;
    use super::super::tests::with_counters;
    use super::*;

    /// Does something with counts for an H200.
    fn counting<T>(of: impl FnOnce(&Counting) -> T) -> T {
        let h200 = gpu_model::Device::by_name("h200").expect("it is described");
        with_counters(|counters| {
            of(crate::counter(counters, &SOURCES[0], &h200).expect("it was measured").counting())
        })
    }

    fn count(case: Case) -> (Counted, f64) {
        counting(|counting| counting.count(case).expect("it is simulated"))
    }

    /// The H100's warps wait as long, and its caches are the same.
    #[test]
    fn counts_for_one_device_serve_another_like_it() {
        let mut h100 = gpu_model::Device::by_name("h100").expect("it is described");
        counting(|counting| {
            assert!(counting.serves(&h100, Architecture::H100));
            assert!(!counting.serves(&h100, Architecture::A100));
            h100.memory.l2 = Some(Bytes(1e6));
            assert!(!counting.serves(&h100, Architecture::H100));
        });
    }

    /// The multiple of a vector in place: each element of 4 bytes is read and written, in lines of 128 bytes.
    #[test]
    fn a_large_case_is_scaled_from_small_ones() {
        let case = Case { op: Op::Scale, element: Type::F32, shape: Shape::Vector(1 << 26) };
        let (counted, bytes) = count(case);
        let all = f64::from(1_u32 << 26);
        assert_eq!((counted.launches.len(), counted.simulated, bytes), (1, SAMPLED, 8.0 * all));
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
            count(case).0.launches
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
