//! The calls that take a buffer and give a result, by the wall clock: what they allocate, wait for and free counts.

use std::fmt;
use std::time::{Duration, Instant};

use gpu_core::{Device, Kind, Stream};
use gpu_reduce::{Scratch, sum, sum_into};
use gpu_scan::{inclusive_sum, inclusive_sum_into};
use gpu_sort::{Segments, SortKey, SortOptions, segmented_sort_into, sort, sort_into};

use crate::data::{self, same};
use crate::error::Error;
use crate::report::Mode;
use crate::shapes::{logarithmic, split_mix};
use crate::stats::Summary;

/// The seed of the drawn lengths.
pub const SEED: u64 = 20_261_124;
/// Lengths that it draws for each call, up to 2^24.
const DRAWN: u64 = 4;
/// Calls in a row on a GPU: they hide the synchronisation at the end, and fit into the queue of a driver.
pub const CALLS: u32 = 50;
/// The most timings of calls in a row.
pub const MOST_ROWS: usize = 41;

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `sum(&x)`, whose result is on the host.
    Sum,
    /// `inclusive_sum(&x)` and the drop of its result.
    InclusiveSum,
    /// `sort(&x)` and the drop of its result.
    Sort,
    /// `sum_into`, output and scratch memory at hand.
    SumInto,
    /// `inclusive_sum_into`, likewise.
    InclusiveSumInto,
    /// `sort_into`, likewise.
    SortInto,
    /// `segmented_sort_into` of one segment: another way to sort few keys.
    SegmentedSortInto,
    /// An allocation and its drop.
    Alloc,
    /// An allocation and its drop while the device is at work, without a synchronisation: neither waits.
    AllocBusy,
    /// A synchronisation of an idle stream, which the others contain.
    Synchronize,
}

impl Call {
    const ALL: [Self; 7] = [
        Self::Sum,
        Self::InclusiveSum,
        Self::Sort,
        Self::SumInto,
        Self::InclusiveSumInto,
        Self::SortInto,
        Self::SegmentedSortInto,
    ];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::InclusiveSum => "inclusive_sum",
            Self::Sort => "sort",
            Self::SumInto => "sum_into",
            Self::InclusiveSumInto => "inclusive_sum_into",
            Self::SortInto => "sort_into",
            Self::SegmentedSortInto => "segmented_sort_into",
            Self::Alloc => "alloc",
            Self::AllocBusy => "alloc_busy",
            Self::Synchronize => "synchronize",
        }
    }

    fn sorts(self) -> bool {
        matches!(self, Self::Sort | Self::SortInto | Self::SegmentedSortInto)
    }
}

/// A call with an array of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What is called.
    pub call: Call,
    /// The elements' type.
    pub element: &'static str,
    /// How many there are.
    pub len: usize,
    /// Whether the length was drawn.
    pub drawn: bool,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, element, len, drawn } = self;
        write!(f, "{} {element} {len} {}", call.name(), u8::from(*drawn))
    }
}

/// The lengths of the figures, then those that the seed draws.
pub fn shapes() -> Vec<Shape> {
    let of = |call, element, len, drawn| Shape { call, element, len, drawn };
    let mut all = vec![
        of(Call::Synchronize, "f32", 0, false),
        of(Call::Alloc, "f32", 1 << 8, false),
        of(Call::Alloc, "f32", 1 << 20, false),
        of(Call::AllocBusy, "f32", 1 << 20, false),
    ];
    let drawn = (0..DRAWN).map(|number| (logarithmic(split_mix(SEED, number), 1, 1 << 24), true));
    let lengths: Vec<_> =
        [1 << 10, 1 << 16, 1 << 20, 1 << 24].map(|len| (len, false)).into_iter().chain(drawn).collect();
    for call in Call::ALL {
        for element in if call.sorts() { &["f32", "u32"][..] } else { &["f32"] } {
            all.extend(lengths.iter().map(|&(len, drawn)| of(call, element, len, drawn)));
        }
    }
    // Around the length where one way to sort overtakes the other.
    for call in [Call::SortInto, Call::SegmentedSortInto] {
        all.extend([12, 13, 14, 15, 17, 18, 19, 21, 22].map(|log| of(call, "f32", 1 << log, false)));
    }
    all
}

/// How long a shape is timed.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Before the first timing that counts, and for all that do.
    pub time: Duration,
    /// The most timings.
    pub most: usize,
}

impl Effort {
    /// For figures.
    pub const FULL: Self = Self { time: Duration::from_millis(50), most: 2001 };
    /// To see that everything works.
    pub const QUICK: Self = Self { time: Duration::from_millis(1), most: 3 };
}

/// One call and a synchronisation, and calls in a row, each by the wall clock.
///
/// # Errors
/// Those of the device; where `is_checked`, a result that is not the CPU's.
pub fn measure(device: &Device, shape: &Shape, effort: Effort, is_checked: bool) -> Result<Timings, Error> {
    let of_f32 = |index| data::hash(index) as f32 / (1u64 << 32) as f32 - 0.5;
    match (shape.call.sorts(), shape.element) {
        (true, "u32") => sorts(device, shape, effort, is_checked, data::hash),
        (true, _) => sorts(device, shape, effort, is_checked, of_f32),
        (false, _) => sums(device, shape, effort, is_checked, of_f32),
    }
}

/// A call and a synchronisation, and a call of many in a row.
pub type Timings = [(Mode, Summary); 2];

fn sorts<K: SortKey>(
    device: &Device,
    shape: &Shape,
    effort: Effort,
    is_checked: bool,
    value: impl Fn(usize) -> K,
) -> Result<Timings, Error> {
    let stream = &device.default_stream();
    let ascending = SortOptions::ascending;
    let host: Vec<K> = (0..shape.len).map(value).collect();
    let input = device.upload(&host)?;
    if is_checked {
        let expected = sort(&host, ascending())?.to_vec()?;
        expect(shape, &sort(&input, ascending())?.to_vec()?, &expected)?;
    }
    let mut output = device.zeroed::<K>(shape.len)?;
    let scratch = &mut Scratch::new(stream);
    match shape.call {
        Call::SortInto => {
            timed(stream, effort, || Ok(sort_into(stream, &input, ascending(), &mut output, scratch)?))
        }
        Call::SegmentedSortInto => {
            let segment = Segments::of_length(shape.len)?;
            timed(stream, effort, || {
                Ok(segmented_sort_into(stream, &input, segment, ascending(), &mut output, scratch)?)
            })
        }
        _ => timed(stream, effort, || Ok(sort(&input, ascending())?)),
    }
}

fn sums(
    device: &Device,
    shape: &Shape,
    effort: Effort,
    is_checked: bool,
    value: impl Fn(usize) -> f32,
) -> Result<Timings, Error> {
    let stream = &device.default_stream();
    let host: Vec<f32> = (0..shape.len).map(value).collect();
    let input = device.upload(&host)?;
    if is_checked {
        expect(shape, &[sum(&input)?], &[sum(&host)?])?;
        expect(shape, &inclusive_sum(&input)?.to_vec()?, &inclusive_sum(&host)?.to_vec()?)?;
    }
    let (mut output, mut one) = (device.zeroed(shape.len)?, device.zeroed(1)?);
    let scratch = &mut Scratch::new(stream);
    match shape.call {
        Call::Sum => timed(stream, effort, || Ok(sum(&input)?)),
        Call::SumInto => timed(stream, effort, || Ok(sum_into(stream, &input, &mut one, scratch)?)),
        Call::InclusiveSum => timed(stream, effort, || Ok(inclusive_sum(&input)?)),
        Call::InclusiveSumInto => {
            timed(stream, effort, || Ok(inclusive_sum_into(stream, &input, &mut output, scratch)?))
        }
        Call::Alloc => timed(stream, effort, || Ok(device.alloc::<f32>(shape.len)?)),
        Call::AllocBusy => busy(device, stream, shape.len, effort),
        _ => timed(stream, effort, || Ok(())),
    }
}

/// Whether both have the same bits, as they do on every device.
fn expect<T: gpu_core::Element>(shape: &Shape, actual: &[T], expected: &[T]) -> Result<(), Error> {
    let differs = actual.iter().zip(expected).position(|(a, b)| !same(a, b));
    match differs {
        Some(index) => Err(Error::WrongShape(format!("{shape}, element {index}"))),
        None => Ok(()),
    }
}

/// What a call gives is dropped within its time: of one call behind the synchronisation.
fn timed<R>(
    stream: &Stream,
    effort: Effort,
    mut call: impl FnMut() -> Result<R, Error>,
) -> Result<Timings, Error> {
    let mut single = || -> Result<f64, Error> {
        let start = Instant::now();
        let result = call()?;
        stream.synchronize()?;
        drop(result);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let singles = samples(effort, &mut single)?;
    let calls = if stream.device().kind() == Kind::Cuda { CALLS } else { 2 };
    let mut row = || -> Result<f64, Error> {
        let start = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        stream.synchronize()?;
        Ok(start.elapsed().as_secs_f64() * 1e3 / f64::from(calls))
    };
    let rows = samples(Effort { most: effort.most.min(MOST_ROWS), ..effort }, &mut row)?;
    Ok([(Mode::SingleWall, singles), (Mode::Batch, rows)])
}

/// An allocation and its drop, behind work of some 400 µs on another stream and its synchronisation, which are not
/// timed.
fn busy(device: &Device, stream: &Stream, len: usize, effort: Effort) -> Result<Timings, Error> {
    let work = device.stream()?;
    let (input, mut output) = (device.zeroed::<u32>(16 * len)?, device.zeroed::<u32>(16 * len)?);
    let scratch = &mut Scratch::new(&work);
    let mut single = |calls: u32| -> Result<f64, Error> {
        sort_into(&work, &input, SortOptions::ascending(), &mut output, scratch)?;
        let start = Instant::now();
        for _ in 0..calls {
            drop(device.alloc::<f32>(len)?);
        }
        let time = start.elapsed();
        work.synchronize()?;
        stream.synchronize()?;
        Ok(time.as_secs_f64() * 1e3 / f64::from(calls))
    };
    let singles = samples(effort, &mut || single(1))?;
    Ok([(Mode::SingleWall, singles), (Mode::Batch, samples(effort, &mut || single(10))?)])
}

fn samples(effort: Effort, timed: &mut impl FnMut() -> Result<f64, Error>) -> Result<Summary, Error> {
    let start = Instant::now();
    // The first one loads kernels; the clock of the device comes up within the others.
    timed()?;
    while start.elapsed() < effort.time {
        timed()?;
    }
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.len() < 3 || (times.len() < effort.most && start.elapsed() < effort.time) {
        times.push(timed()?);
    }
    Summary::of(&times).ok_or(Error::Clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_those_of_the_figures_and_drawn_ones() {
        let all = shapes();
        for call in ["sum", "inclusive_sum", "sort"] {
            for log in [10, 16, 20, 24] {
                assert!(all.iter().any(|shape| shape.to_string() == format!("{call} f32 {} 0", 1u32 << log)));
            }
            assert_eq!(
                all.iter()
                    .filter(|shape| shape.call.name() == call && shape.drawn && shape.element == "f32")
                    .count(),
                4
            );
        }
        assert!(all.iter().any(|shape| shape.to_string() == "sort u32 1048576 0"));
        assert!(all.iter().any(|shape| shape.to_string() == "alloc f32 1048576 0"));
        let mut names: Vec<String> = all.iter().map(Shape::to_string).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all.len(), "no shape is there twice");
    }

    #[test]
    fn every_call_is_timed_and_right() {
        for device in devices() {
            for shape in shapes().into_iter().filter(|shape| shape.len <= 1 << 10 && !shape.drawn) {
                let [(single, of_single), (row, of_row)] = measure(&device, &shape, Effort::QUICK, true)
                    .unwrap_or_else(|error| panic!("{shape}: {error}"));
                assert_eq!((single.name(), row.name()), ("single_wall", "batch"));
                assert!(
                    of_single.samples == 3 && of_single.min <= of_single.median && of_row.median >= 0.0,
                    "{shape}"
                );
            }
        }
    }

    fn devices() -> Vec<Device> {
        #[cfg(feature = "simulator")]
        return vec![Device::cpu(), Device::simulator()];
        #[cfg(not(feature = "simulator"))]
        vec![Device::cpu()]
    }
}
