//! Calls: public functions on inputs of one size that no program times.
//!
//! They launch the kernels that no variant, case or shape does: other operators and types, filters of other widths,
//! shapes for which a plan takes another kernel. There is nothing to set the predictions beside, so they are predicted
//! only. A call is counted like a case of the benchmarks: launched in the simulator in two small sizes, all blocks or,
//! where they do not wait for each other, a few of them, and scaled.

#[path = "calls/arrays.rs"]
mod arrays;
#[path = "calls/factors.rs"]
mod factors;
#[path = "calls/filters.rs"]
mod filters;
#[path = "calls/linalg.rs"]
mod linalg;
#[path = "calls/reduce.rs"]
mod reduce;
#[path = "calls/scan.rs"]
mod scan;
#[path = "calls/sorts.rs"]
mod sorts;
#[path = "calls/stencils.rs"]
mod stencils;

use std::error::Error;
use std::fmt;
use std::sync::OnceLock;

use gpu_benches::data::hash;
use gpu_core::Device;
use gpu_examples::predicted::{Counted, side_by_side};
use gpu_model::literature::roofline::Demand;
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, simulated};
use gpu_sim::Config;
use gpu_std::half::{bf16, f16};

use super::cases::Counting;
use super::scaling::{in_cache, read_once, scaled_launches};

/// Elements of a usual call: more than the whole of a GPU takes at once.
const USUAL: usize = 1 << 24;

/// What a call does once its inputs are there, and where its results go.
type Run = Box<dyn FnMut() -> Result<(), Box<dyn Error>>>;

/// Its inputs of so many elements on a device.
type Ready = dyn Fn(&Device, usize) -> Result<Run, Box<dyn Error>> + Send + Sync;

/// What is simulated of a call.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Elements; the smaller one has a quarter. Of images both have the sides' ratio of the whole.
    elements: usize,
    /// How many blocks are simulated of it, where they do not wait for each other; else all.
    sample: Option<u32>,
    /// Whether what a block takes depends on how many blocks there is room for: it is cut as the whole is on a device
    /// of as small a part of the multiprocessors.
    is_cut: bool,
    /// With what goes through single units, where a matrix operation of a warp is so many operations of 16 bits.
    units: Option<f64>,
}

impl Part {
    /// All blocks of so many elements.
    const fn all(elements: usize) -> Self {
        Self { elements, sample: None, is_cut: false, units: None }
    }

    /// So many blocks of a launch of so many elements.
    const fn sample(elements: usize, blocks: u32) -> Self {
        Self { sample: Some(blocks), ..Self::all(elements) }
    }

    /// As the whole is cut on a device of as small a part of the multiprocessors.
    const fn cut(self) -> Self {
        Self { is_cut: true, ..self }
    }
}

/// A public function of a crate on inputs of one size.
pub struct Call {
    /// As `--kernel` takes it: the function, what is special, the type.
    pub name: String,
    /// Elements of a usual one.
    pub size: usize,
    /// Bytes that any implementation moves, of an element.
    bytes: f64,
    /// Operations of 32 bits that it takes at least, of an element.
    operations: f64,
    part: Part,
    ready: Box<Ready>,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

/// There is one of each name.
impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Call {
    fn new(
        name: String,
        bytes: f64,
        part: Part,
        ready: impl Fn(&Device, usize) -> Result<Run, Box<dyn Error>> + Send + Sync + 'static,
    ) -> Self {
        Self { name, size: USUAL, bytes, operations: 0.0, part, ready: Box::new(ready) }
    }

    /// What any implementation of so many elements has to do.
    pub fn demand(&self, size: usize) -> Demand {
        let of = |each: f64| each * size as f64;
        Demand { operations: of(self.operations), bytes: vec![Bytes(of(self.bytes))] }
    }

    /// The launches of so many elements, of some or all of their blocks.
    fn simulate(
        &self,
        size: usize,
        sample: Option<u32>,
        multiprocessors: u32,
        counting: &Counting,
    ) -> Result<Vec<Counts>, String> {
        let run = || -> Result<Vec<Counts>, Box<dyn Error>> {
            let config = Config { sample, multiprocessors, ..simulated::config(counting.caches) };
            let device = Device::simulator_with(config);
            let mut run = (self.ready)(&device, size)?;
            let simulator = device.as_simulator().ok_or("the simulator is a simulator")?;
            // What is done once, before the first of many, is none of it.
            drop((simulator.take_reports(), simulator.take_fills()));
            run()?;
            device.synchronize()?;
            Ok(match self.part.units {
                Some(mma) => counting.launched_by_units(&device, mma)?,
                None => counting.launched(&device)?,
            })
        };
        run().map_err(|error| format!("{} of {size}: {error}", self.name))
    }

    /// What so many elements count: simulated up to some size, scaled beyond.
    ///
    /// # Errors
    /// Those of the simulator; launches that are others when there are fewer elements, so that nothing can be scaled.
    pub fn count(&self, size: usize, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
        let Part { elements, sample, .. } = self.part;
        let mut counted = if size <= elements {
            let all = Config::default().multiprocessors;
            let launches = self.simulate(size, sample, all, counting)?;
            Counted { smaller: launches.clone(), launches, simulated: size }
        } else {
            // From larger launches where smaller ones tell nothing of the whole.
            let attempts = [(1, true), (4, true), (1, false)];
            let all = attempts.into_iter().filter(|(larger, _)| size > larger * elements);
            let mut found = Err("nothing was simulated".into());
            for (larger, growing) in all {
                found = self.scaled(size, larger * elements, growing, counting);
                if found.is_ok() {
                    break;
                }
            }
            found?
        };
        let bytes = self.demand(size).bytes[0];
        if sample.is_some() {
            read_once(&mut counted, bytes);
        }
        in_cache(&mut counted, bytes, counting.l2);
        // All operations are the longest launch's.
        let longest = counted.launches.iter_mut();
        let longest =
            longest.max_by(|one, other| one.instructions.all().total_cmp(&other.instructions.all()));
        if let Some(longest) = longest {
            longest.operations = self.operations * size as f64;
        }
        Ok(counted)
    }

    /// As scaled from so many elements and a quarter of them.
    fn scaled(
        &self,
        size: usize,
        large: usize,
        growing: bool,
        counting: &Counting,
    ) -> Result<Counted, Box<dyn Error>> {
        let elements = [large / 4, large];
        let [of_small, of_large] = side_by_side(elements, |part| {
            self.simulate(part, self.part.sample, self.multiprocessors(part, size), counting)
        })?;
        scaled_launches([&of_small, &of_large], elements, size, growing)
    }

    /// The multiprocessors of the device on which a part of a call is simulated.
    fn multiprocessors(&self, part: usize, of: usize) -> u32 {
        let all = Config::default().multiprocessors;
        if !self.part.is_cut {
            return all;
        }
        // A cast saturates; there is one at least.
        (f64::from(all) * part as f64 / of as f64).round().max(1.0) as u32
    }
}

/// All calls.
pub fn all() -> &'static [Call] {
    static ALL: OnceLock<Vec<Call>> = OnceLock::new();
    ALL.get_or_init(|| {
        let of_arrays = [reduce::all(), scan::all(), sorts::all(), arrays::all()];
        let others = [filters::all(), stencils::all(), linalg::all(), factors::all()];
        of_arrays.into_iter().chain(others).flatten().collect()
    })
}

/// A matrix of so many elements that is square, or has twice as many columns as rows.
fn sides(elements: usize) -> [usize; 2] {
    let columns = 1_usize << elements.ilog2().div_ceil(2);
    [elements / columns, columns]
}

/// Elements of inputs: no two neighbours are alike.
trait Sample: gpu_core::Element {
    /// One of these bits.
    fn of(bits: u32) -> Self;
}

macro_rules! samples {
    ($($t:ty: $of:expr;)*) => { $(
        impl Sample for $t {
            fn of(bits: u32) -> Self {
                $of(bits)
            }
        }
    )* };
}
// Of floats between -1/2 and 1/2.
samples! {
    f32: |bits: u32| (bits >> 8) as f32 / (1 << 24) as f32 - 0.5;
    f64: |bits: u32| f64::from(bits) / (1_u64 << 32) as f64 - 0.5;
    f16: |bits: u32| f16::from_f32(f32::of(bits));
    bf16: |bits: u32| bf16::from_f32(f32::of(bits));
    u8: |bits: u32| (bits >> 24) as u8;
    i8: |bits: u32| (bits >> 24) as i8;
    u16: |bits: u32| (bits >> 16) as u16;
    i16: |bits: u32| (bits >> 16) as i16;
    u32: |bits: u32| bits;
    i32: |bits: u32| bits as i32;
    u64: |bits: u32| u64::from(bits) << 32 | u64::from(bits);
    i64: |bits: u32| i64::from(bits) << 32 | i64::from(bits);
    u128: |bits: u32| u128::from(bits) << 96 | u128::from(bits);
}

/// So many of them.
fn samples<T: Sample>(len: usize) -> Vec<T> {
    (0..len).map(|index| T::of(hash(index))).collect()
}

/// `SumOfSquares` as `sum_of_squares`, and a type without spaces: of a type's text in a table.
fn snake(operator: &str, of: &str) -> [String; 2] {
    let mut name = String::new();
    for letter in operator.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    // Sums of 16 bits are the same function's.
    let name = name.strip_prefix("half_").unwrap_or(&name).to_owned();
    [name, of.replace(' ', "")]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::with_counters;
    use super::super::{coverage, recorded};
    use super::*;

    #[test]
    fn each_row_has_a_name_of_its_own() {
        let rows = recorded::kernels(&[]).expect("all are there");
        let names: BTreeSet<String> = rows.iter().map(|row| row.name()).collect();
        assert_eq!(names.len(), rows.len());
        assert!(all().iter().all(|call| names.contains(&call.name)) && all().len() > 400, "{}", all().len());
        for Call { name, size, bytes, operations, part, .. } in all() {
            assert!(*bytes > 0.0 && *operations >= 0.0 && *size >= part.elements, "{name}");
        }
    }

    /// Each call is there for a kernel that no other row launches.
    #[test]
    fn none_is_superfluous() {
        let rows: BTreeSet<&str> = coverage::predicted().into_values().collect();
        let without: Vec<&str> =
            all().iter().map(|call| call.name.as_str()).filter(|name| !rows.contains(name)).collect();
        assert!(without.is_empty(), "{without:?}");
    }

    /// Of as many elements as are simulated nothing is scaled, and what is scaled to as many is the same.
    #[test]
    fn what_is_simulated_itself_is_its_scaled_counts() {
        let h200 = gpu_model::Device::by_name("h200").expect("it is described");
        let call = all().iter().find(|call| call.name == "select_flagged/u8").expect("there is one");
        let elements = call.part.elements;
        let [counted, scaled] = with_counters(|counters| {
            let counter = crate::counter(counters, &recorded::SOURCES[0], &h200).expect("it was measured");
            let counted = call.count(elements, counter.counting()).expect("it is simulated");
            let scaled = call.scaled(elements, elements, true, counter.counting());
            [counted, scaled.expect("its launches are the same")]
        });
        assert_eq!((counted.simulated, scaled.simulated), (elements, elements));
        assert_eq!(counted.launches.len(), scaled.launches.len());
        for (one, other) in counted.launches.iter().zip(&scaled.launches) {
            assert_eq!((&one.kernel, one.blocks, one.threads), (&other.kernel, other.blocks, other.threads));
            let of = |counts: &Counts| {
                let instructions = counts.instructions.all();
                [counts.memory_read.0, counts.memory_written.0, counts.lines, counts.lines_written, instructions]
            };
            for (one, other) in of(one).into_iter().zip(of(other)) {
                assert!((one - other).abs() <= 1e-9 * one.abs(), "{one} is scaled to {other}");
            }
        }
    }

    #[test]
    fn names_are_those_of_functions() {
        assert_eq!(snake("SumOfSquares", "u8"), ["sum_of_squares", "u8"]);
        assert_eq!(snake("HalfNormL2", " f16"), ["norm_l2", "f16"]);
        assert_eq!(sides(1 << 20), [1024, 1024]);
        assert_eq!(sides(1 << 15), [128, 256]);
    }
}
