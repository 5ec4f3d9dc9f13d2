//! Kernels whose time is predicted from what the simulator counts of them.

use std::error::Error;
use std::fmt;

use gpu_core::Device;
use gpu_model::literature::roofline::Demand;
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, Sequence, scale, sequence, simulated};
use gpu_sim::metrics::Architecture;
use gpu_std::launch::LaunchConfig;
use gpu_stencil::variants::{BlurVariant, Mask, blur};
use gpu_transpose::Layout;

use crate::reductions::{Summation, Work};
use crate::transpositions::Transposition;

/// An operation of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A transposition of `f32`.
    Transpose(Transposition),
    /// A sum of `f64`.
    Sum(Summation),
    /// The fast sum of another type.
    SumOf(Element),
    /// A Gaussian filter of this radius on `f32`.
    Blur(BlurVariant, u32),
}

/// What the fast sum adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Element {
    F32,
    I32,
    U8,
}

impl Element {
    const ALL: [Self; 3] = [Self::F32, Self::I32, Self::U8];

    fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::I32 => "i32",
            Self::U8 => "u8",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::U8 => 1,
        }
    }
}

/// Radii of the Gaussian filters.
const RADII: [u32; 2] = [2, 5];
/// Their standard deviation: it changes values, not counts.
const SIGMA: f64 = 1.5;

/// The size of a launch, and its blocks where they are known from that alone.
type Launch = (usize, Option<u64>);

impl Subject {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let blurs = RADII
            .into_iter()
            .flat_map(|radius| BlurVariant::ALL.into_iter().map(move |variant| Self::Blur(variant, radius)));
        let transpositions = Transposition::all().into_iter().map(Self::Transpose);
        let sums = Summation::all().into_iter().map(Self::Sum).chain(Element::ALL.map(Self::SumOf));
        transpositions.chain(sums).chain(blurs).collect()
    }

    /// Those that go by this name: one, as `transpose/naive_32`, or all of a kind, as `transpose`.
    ///
    /// # Errors
    /// The names there are.
    pub fn by_name(name: &str) -> Result<Vec<Self>, String> {
        let all = Self::all();
        let found: Vec<Self> =
            all.iter().copied().filter(|one| one.kind() == name || one.to_string() == name).collect();
        if found.is_empty() {
            let names: Vec<String> = all.iter().map(Self::to_string).collect();
            return Err(format!(
                "there is no `{name}`; there are transpose, sum, sum_of, blur, {}",
                names.join(", ")
            ));
        }
        Ok(found)
    }

    /// `transpose`, `sum`, `sum_of` or `blur`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Transpose(_) => "transpose",
            Self::Sum(_) => "sum",
            Self::SumOf(_) => "sum_of",
            Self::Blur(..) => "blur",
        }
    }

    /// How large it is if nobody says: rows and columns, or elements of a sum.
    pub fn usual_size(self) -> usize {
        if self.is_sum() { 1 << 24 } else { 4096 }
    }

    fn is_sum(self) -> bool {
        matches!(self, Self::Sum(_) | Self::SumOf(_))
    }

    /// The largest size that is simulated itself.
    fn largest(self) -> usize {
        match self {
            Self::Transpose(_) => 512,
            Self::Sum(_) | Self::SumOf(_) => 1 << 18,
            Self::Blur(..) => 256,
        }
    }

    /// Elements.
    fn work(self, size: usize) -> f64 {
        if self.is_sum() { size as f64 } else { (size as f64).powi(2) }
    }

    /// What any implementation has to compute, in 32-bit operations, and to read and write.
    pub fn demand(self, size: usize) -> Demand {
        let elements = self.work(size);
        let (operations, bytes) = match self {
            Self::Transpose(_) => (0.0, 8.0 * elements),
            // Additions of f64 are not 32-bit operations; that they are no limit is known from their number.
            Self::Sum(_) => (0.0, 8.0 * (elements + 1.0)),
            Self::SumOf(element) => (0.0, element.bytes() as f64 * (elements + 1.0)),
            Self::Blur(_, radius) => {
                // A Gaussian filter is separable: a row and a column of weights would do.
                (2.0 * 2.0 * f64::from(2 * radius + 1) * elements, 8.0 * elements)
            }
        };
        Demand { operations, bytes: vec![Bytes(bytes)] }
    }

    /// Its launches.
    fn launches(self, size: usize) -> Result<Vec<Launch>, Box<dyn Error>> {
        let blocks =
            |config: LaunchConfig| Some(config.grid.iter().map(|&one| u64::from(one)).product::<u64>());
        Ok(match self {
            Self::Transpose(Transposition::Textbook(variant)) => {
                vec![(size, blocks(variant.launch_config(Layout::row_major(size, size)?)))]
            }
            Self::Sum(Summation::Textbook(variant)) => {
                variant.launches(size).map(|(len, blocks)| (len, Some(blocks as u64))).collect()
            }
            Self::Blur(variant, radius) => {
                let side = u32::try_from(size)?;
                vec![(size, blocks(variant.launch_config(side, side, radius)))]
            }
            Self::Transpose(Transposition::Fast) | Self::Sum(Summation::Fast) | Self::SumOf(_) => {
                vec![(size, None)]
            }
        })
    }

    /// What the simulator counts, launch by launch.
    fn simulate(self, size: usize, caches: Architecture) -> Result<Vec<Counts>, Box<dyn Error>> {
        let device = Device::simulator_with(simulated::config(caches));
        let mut operations = 0.0;
        match self {
            Self::Transpose(transposition) => {
                let matrix = Layout::row_major(size, size)?;
                let input = device.zeroed::<f32>(matrix.span())?;
                let mut output = device.alloc(matrix.span())?;
                transposition.enqueue(&device.default_stream(), &input, matrix, &mut output)?;
            }
            Self::Sum(summation) => Work::new(&device, size)?.check(summation)?,
            Self::SumOf(Element::F32) => drop(gpu_reduce::sum(&device.zeroed::<f32>(size)?)?),
            Self::SumOf(Element::I32) => drop(gpu_reduce::sum(&device.zeroed::<i32>(size)?)?),
            Self::SumOf(Element::U8) => drop(gpu_reduce::sum(&device.zeroed::<u8>(size)?)?),
            Self::Blur(variant, radius) => {
                let mask = Mask::gaussian(&device, radius, SIGMA)?;
                let input = device.zeroed::<f32>(size * size)?;
                let mut output = device.alloc(size * size)?;
                blur(variant, &device.default_stream(), &input, &mask, &mut output, [size; 2])?;
                operations = 2.0 * f64::from(2 * radius + 1).powi(2) * self.work(size);
            }
        }
        let reports = device.as_simulator().ok_or("the simulator is a simulator")?.take_reports();
        // The crates' own kernels wait for the one before by themselves; the textbook's are launched plainly.
        let sum = matches!(self, Self::Sum(Summation::Fast) | Self::SumOf(_));
        let dependent = sum || self == Self::Transpose(Transposition::Fast);
        let counts =
            reports.iter().map(|report| Ok(Counts { operations, dependent, ..simulated::counts(report)? }));
        counts.collect()
    }

    /// What it counts for any size: as simulated up to some size, scaled from two of those beyond.
    ///
    /// # Errors
    /// Those of the simulator.
    #[inline]
    pub fn count(self, size: usize, caches: Architecture) -> Result<Counted, Box<dyn Error>> {
        let large = self.largest();
        if size <= large {
            let launches = self.simulate(size, caches)?;
            return Ok(Counted { smaller: launches.clone(), launches, simulated: size });
        }
        let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: large };
        let small = if self.is_sum() { large / 2 } else { large / 4 * 3 };
        let (of_small, of_large) = (self.simulate(small, caches)?, self.simulate(large, caches)?);
        let launches = self.launches(size)?;
        // Only sums of partial results are launches of different sizes; the first launch of a sum is its longest.
        let several = launches.len() > 1;
        for (len, blocks) in launches {
            if len <= large {
                let launch = self.simulate(len, caches)?.swap_remove(0);
                counted.smaller.push(launch.clone());
                counted.launches.push(launch);
                continue;
            }
            let of_len = |all: &[Counts]| if several { all[..1].to_vec() } else { all.to_vec() };
            let (of_small, of_large) = (of_len(&of_small), of_len(&of_large));
            if of_small.len() != of_large.len() {
                return Err(format!("{self}: {small} and {large} differ in their launches").into());
            }
            for (of_small, of_large) in of_small.iter().zip(&of_large) {
                let (of_small, of_large) = ((of_small, self.work(small)), (of_large, self.work(large)));
                let scaled = scale(of_small, of_large, self.work(len), blocks)?;
                counted.smaller.push(scaled.smaller);
                counted.launches.push(scaled.counts);
            }
        }
        Ok(counted)
    }
}

/// Its name, with its kind.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Self::Transpose(transposition) => write!(f, "{kind}/{transposition}"),
            Self::Sum(summation) => write!(f, "{kind}/{summation}"),
            Self::SumOf(element) => write!(f, "{kind}/{}", element.name()),
            Self::Blur(variant, radius) => write!(f, "{kind}/{}_{radius}", variant.name()),
        }
    }
}

/// What is counted of an operation.
pub struct Counted {
    /// Launch by launch.
    pub launches: Vec<Counts>,
    /// The same from a smaller simulation: what the times of both differ by is what scaling may have cost.
    pub smaller: Vec<Counts>,
    /// The size that was simulated; beyond it counts are scaled.
    pub simulated: usize,
}

/// A predicted time.
pub struct Predicted {
    /// The launches, and all of them.
    pub sequence: Sequence,
    /// By what part of it the time differs where the counts are scaled from a smaller size; 0 where none are scaled.
    pub error: f64,
}

impl Counted {
    /// How long it takes on `device`; `cached`: with all data in the second-level cache already.
    ///
    /// # Errors
    /// Those of the model.
    pub fn predict(&self, device: &gpu_model::Device, cached: bool) -> Result<Predicted, gpu_model::Error> {
        let of = |launches: &[Counts]| {
            let launches = launches.iter().cloned();
            let launches: Vec<Counts> =
                if cached { launches.map(Counts::cached).collect() } else { launches.collect() };
            sequence(device, &launches)
        };
        let (sequence, smaller) = (of(&self.launches)?, of(&self.smaller)?);
        let error = (smaller.time.0 - sequence.time.0).abs() / sequence.time.0;
        Ok(Predicted { sequence, error })
    }
}
