//! Run-length encoding: validate, plan, launch.

use gpu_core::{Buffer, Count, Element, Scratch, Stream, View, ViewMut, checks, cores};

use super::plan::SelectPlan;
use super::rule::{Rule, Unlike};
use super::{first, launch, reference};
use gpu_core::Error;

/// The runs of equal items of an array, in their order.
#[derive(Debug)]
pub struct Runs<T: Element> {
    /// The item of each run.
    pub values: Buffer<T>,
    /// The number of its first item.
    pub starts: Buffer<u64>,
    /// How many items it has.
    pub lengths: Buffer<u64>,
}

/// Where runs go: room for as many as there are items, as each may be one, and for one number.
#[derive(Debug)]
pub struct RunsMut<'a, T: Element> {
    /// The item of each run.
    pub values: ViewMut<'a, T>,
    /// The number of its first item.
    pub starts: ViewMut<'a, u64>,
    /// How many items it has.
    pub lengths: ViewMut<'a, u64>,
    /// How many runs there are.
    pub count: ViewMut<'a, Count>,
}

/// The run-length encoding of an array, computed where it lives. Items are equal that have the same bits.
///
/// Waits for how many runs there are, and allocates memory for as many as there are items and scratch memory on the
/// way. [`run_length_encode_into`] does neither.
///
/// # Errors
/// [`Error::TooLong`]; those of the device where the device's memory does not suffice, or where it failed.
///
/// ```
/// let device = gpu_core::Device::best();
/// let items = device.upload(&[7u8, 7, 7, 2, 9, 9])?;
/// let runs = gpu_sort::run_length_encode(&items)?;
/// assert_eq!(runs.values.to_vec()?, [7, 2, 9]);
/// assert_eq!(runs.starts.to_vec()?, [0, 3, 4]);
/// assert_eq!(runs.lengths.to_vec()?, [3, 1, 2]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn run_length_encode<'a, T: Element>(items: impl Into<View<'a, T>>) -> Result<Runs<T>, Error> {
    let items = items.into();
    let (device, len) = (items.device(), items.len());
    let stream = device.default_stream();
    let (mut values, mut count) = (device.alloc(len)?, device.alloc(1)?);
    let (mut starts, mut lengths) = (device.alloc(len)?, device.alloc(len)?);
    let runs = RunsMut {
        values: values.view_mut(),
        starts: starts.view_mut(),
        lengths: lengths.view_mut(),
        count: count.view_mut(),
    };
    Scratch::kept(&stream, |scratch| run_length_encode_into(&stream, items, runs, scratch))?;
    let count = count.to_vec()?[0] as usize;
    Ok(Runs {
        values: first(&stream, values, count)?,
        starts: first(&stream, starts, count)?,
        lengths: first(&stream, lengths, count)?,
    })
}

/// Writes the run-length encoding of an array to `runs`, on `stream`; what lies behind the runs stays as it was. As
/// [`select_flagged_into`](crate::select_flagged_into) otherwise.
///
/// # Errors
/// [`Error::OutputLength`], [`Error::TooLong`], [`Error::ScratchTooSmall`], [`Error::ScratchOfOtherStream`];
/// those of the device where the memory is on another device than the stream or where a launch failed. Nothing is
/// written then, but where a launch failed.
pub fn run_length_encode_into<'a, T: Element>(
    stream: &Stream,
    items: impl Into<View<'a, T>>,
    mut runs: RunsMut<'_, T>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let items = items.into();
    let (len, what) = (items.len(), <Unlike as Rule<T>>::NAME);
    let outputs = [(len, runs.values.len()), (len, runs.starts.len()), (len, runs.lengths.len())];
    for (expected, actual) in outputs.into_iter().chain([(1, runs.count.len())]) {
        checks::output(what, expected, actual)?;
    }
    let plan = SelectPlan::new(len, size_of::<T>())?;
    scratch.expect(stream, what, plan.scratch())?;
    stream.expect("items to encode", items.device())?;
    stream.expect("values of runs", runs.values.device())?;
    for output in [&runs.starts, &runs.lengths, &runs.count] {
        stream.expect("what is said of runs", output.device())?;
    }
    if let (Some(items), Some(values), Some(starts), Some(lengths), Some(count)) = (
        items.as_slice(),
        runs.values.as_mut_slice(),
        runs.starts.as_mut_slice(),
        runs.lengths.as_mut_slice(),
        runs.count.as_mut_slice(),
    ) {
        count[0] = on_cpu(items, values, starts, lengths) as u64;
        return Ok(());
    }
    if len == 0 {
        return stream.memset(runs.count, 0);
    }
    scratch.lend(what, plan.scratch(), |parts| launch::encode(stream, items, runs, plan, parts.tickets))
}

/// The same on the CPU; returns how many runs there are.
fn on_cpu<T: Element>(items: &[T], values: &mut [T], starts: &mut [u64], lengths: &mut [u64]) -> usize {
    let numbers: Vec<u64> = (0..items.len() as u64).collect();
    let count = reference::select(&numbers, |index| Unlike.keeps(items, index), starts, None);
    let starts = &starts[..count];
    cores::elements(&mut values[..count], |run, value| *value = items[starts[run] as usize]);
    cores::elements(&mut lengths[..count], |run, length| {
        *length = starts.get(run + 1).map_or(items.len() as u64, |next| *next) - starts[run];
    });
    count
}
