//! Selections: validate, plan, launch.

mod launch;
mod plan;
mod reference;
mod rule;
mod runs;

pub use launch::{PredicateInstance, Selecting};
pub use plan::SelectPlan;
pub use runs::{Runs, RunsMut, run_length_encode, run_length_encode_into};

use gpu_core::{Buffer, Count, Element, Scratch, Stream, View, ViewMut, checks};

use gpu_core::Error;
use rule::{ByFlags, ByPredicate, Rule, Unlike};

/// The items that were selected, and the others.
pub type Partition<T> = (Buffer<T>, Buffer<T>);

/// The items whose flag is not zero, in their order, computed where they live.
///
/// Waits for how many there are, and allocates memory for all of them and scratch memory on the way.
/// [`select_flagged_into`] does neither.
///
/// # Errors
/// [`Error::InputLengths`] where there are not as many flags as items; [`Error::TooLong`]; those of the device where
/// they are on different devices, where the device's memory does not suffice, or where it failed.
///
/// ```
/// let device = gpu_core::Device::best();
/// let items = device.upload(&[10.5f64, 11.5, 12.5, 13.5])?;
/// let flags = device.upload(&[0u8, 1, 255, 0])?;
/// assert_eq!(gpu_sort::select_flagged(&items, &flags)?.to_vec()?, [11.5, 12.5]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn select_flagged<'a, 'b, T: Element>(
    items: impl Into<View<'a, T>>,
    flags: impl Into<View<'b, u8>>,
) -> Result<Buffer<T>, Error> {
    select(items.into(), ByFlags(flags.into()))
}

/// Writes the items whose flag is not zero, in their order, to the start of `selected`, and how many there are to
/// `count`, on `stream`.
///
/// `selected` has room for all items, `count` for one [`Count`]; what lies behind the selected items stays as it was.
/// Neither allocates, where `scratch` is large enough ([`select_scratch`](crate::select_scratch)), nor waits.
/// Memory may be used and dropped at once: what comes after, on whatever stream, waits for it
/// ([`gpu_core::Stream::unordered`] aside).
///
/// # Errors
/// [`Error::InputLengths`], [`Error::OutputLength`], [`Error::TooLong`], [`Error::ScratchTooSmall`],
/// [`Error::ScratchOfOtherStream`]; those of the device where the memory is on another device than the stream or where
/// a launch failed. Nothing is written then, but where a launch failed.
///
/// ```
/// use gpu_sort::{Scratch, select_flagged_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let (items, flags) = (device.upload(&[1u16, 2, 3])?, device.upload(&[1u8, 0, 1])?);
/// let (mut selected, mut count) = (device.zeroed(3)?, device.zeroed(1)?);
/// let mut scratch = Scratch::new(&stream);
/// select_flagged_into(&stream, &items, &flags, &mut selected, &mut count, &mut scratch)?;
/// stream.synchronize()?;
/// assert_eq!((selected.to_vec()?, count.to_vec()?), (vec![1, 3, 0], vec![2]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn select_flagged_into<'a, 'b, 'c, 'd, T: Element>(
    stream: &Stream,
    items: impl Into<View<'a, T>>,
    flags: impl Into<View<'b, u8>>,
    selected: impl Into<ViewMut<'c, T>>,
    count: impl Into<ViewMut<'d, Count>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let flags = ByFlags(flags.into());
    select_into(stream, items.into(), flags, selected.into(), None, count.into(), scratch)
}

/// The items whose flag is not zero and those whose flag is, each in their order; see [`select_flagged`].
///
/// # Errors
/// As [`select_flagged`].
///
/// ```
/// let (large, small) = gpu_sort::partition_flagged(&[9, 1, 8, 2, 3], &[1u8, 0, 1, 0, 0])?;
/// assert_eq!((large.to_vec()?, small.to_vec()?), (vec![9, 8], vec![1, 2, 3]));
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn partition_flagged<'a, 'b, T: Element>(
    items: impl Into<View<'a, T>>,
    flags: impl Into<View<'b, u8>>,
) -> Result<Partition<T>, Error> {
    partition(items.into(), ByFlags(flags.into()))
}

/// Writes the items whose flag is not zero to `selected` and the others to `rejected`, which have room for all items,
/// on `stream`. As [`select_flagged_into`] otherwise.
///
/// # Errors
/// As [`select_flagged_into`].
pub fn partition_flagged_into<'a, 'b, 'c, 'd, 'e, T: Element>(
    stream: &Stream,
    items: impl Into<View<'a, T>>,
    flags: impl Into<View<'b, u8>>,
    selected: impl Into<ViewMut<'c, T>>,
    rejected: impl Into<ViewMut<'d, T>>,
    count: impl Into<ViewMut<'e, Count>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (flags, rejected) = (ByFlags(flags.into()), Some(rejected.into()));
    select_into(stream, items.into(), flags, selected.into(), rejected, count.into(), scratch)
}

/// The items that a predicate of yours keeps, in their order: see [`predicate!`](crate::predicate). As
/// [`select_flagged`] otherwise.
///
/// # Errors
/// As [`select_flagged`].
pub fn select_if<'a, P: PredicateInstance>(
    items: impl Into<View<'a, P::Item>>,
) -> Result<Buffer<P::Item>, Error> {
    select(items.into(), ByPredicate::<P>::new())
}

/// Writes the items that a predicate of yours keeps to `selected`, on `stream`. As [`select_flagged_into`] otherwise.
///
/// # Errors
/// As [`select_flagged_into`].
pub fn select_if_into<'a, 'b, 'c, P: PredicateInstance>(
    stream: &Stream,
    items: impl Into<View<'a, P::Item>>,
    selected: impl Into<ViewMut<'b, P::Item>>,
    count: impl Into<ViewMut<'c, Count>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let rule = ByPredicate::<P>::new();
    select_into(stream, items.into(), rule, selected.into(), None, count.into(), scratch)
}

/// The items that a predicate of yours keeps and those that it does not, each in their order. As [`select_flagged`]
/// otherwise.
///
/// # Errors
/// As [`select_flagged`].
pub fn partition_if<'a, P: PredicateInstance>(
    items: impl Into<View<'a, P::Item>>,
) -> Result<Partition<P::Item>, Error> {
    partition(items.into(), ByPredicate::<P>::new())
}

/// Writes the items that a predicate of yours keeps to `selected` and the others to `rejected`, on `stream`. As
/// [`partition_flagged_into`] otherwise.
///
/// # Errors
/// As [`select_flagged_into`].
pub fn partition_if_into<'a, 'b, 'c, 'd, P: PredicateInstance>(
    stream: &Stream,
    items: impl Into<View<'a, P::Item>>,
    selected: impl Into<ViewMut<'b, P::Item>>,
    rejected: impl Into<ViewMut<'c, P::Item>>,
    count: impl Into<ViewMut<'d, Count>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (rule, rejected) = (ByPredicate::<P>::new(), Some(rejected.into()));
    select_into(stream, items.into(), rule, selected.into(), rejected, count.into(), scratch)
}

/// The first item of each run of items with the same bits; after a sort, each item once. As [`select_flagged`]
/// otherwise.
///
/// By their bits, so that -0.0 and 0.0 are two, and a NaN is the same as itself.
///
/// # Errors
/// As [`select_flagged`].
///
/// ```
/// assert_eq!(gpu_sort::unique(&[3, 3, 5, 5, 5, 3])?.to_vec()?, [3, 5, 3]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn unique<'a, T: Element>(items: impl Into<View<'a, T>>) -> Result<Buffer<T>, Error> {
    select(items.into(), Unlike)
}

/// Writes the first item of each run of items with the same bits to `selected`, on `stream`; see [`unique`]. As
/// [`select_flagged_into`] otherwise.
///
/// # Errors
/// As [`select_flagged_into`].
pub fn unique_into<'a, 'b, 'c, T: Element>(
    stream: &Stream,
    items: impl Into<View<'a, T>>,
    selected: impl Into<ViewMut<'b, T>>,
    count: impl Into<ViewMut<'c, Count>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    select_into(stream, items.into(), Unlike, selected.into(), None, count.into(), scratch)
}

// ---- All of them -------------------------------------------------------------------------------------------------

fn select<T: Element, R: Rule<T>>(items: View<'_, T>, rule: R) -> Result<Buffer<T>, Error> {
    let (device, len) = (items.device(), items.len());
    rule.check(len)?;
    let stream = device.default_stream();
    rule.expect(&stream)?;
    let mut selected = device.alloc(len)?;
    let count = counted(&stream, len, |count, scratch| {
        select_into(&stream, items, rule, selected.view_mut(), None, count, scratch)
    })?;
    first(&stream, selected, count)
}

fn partition<T: Element, R: Rule<T>>(items: View<'_, T>, rule: R) -> Result<Partition<T>, Error> {
    let (device, len) = (items.device(), items.len());
    rule.check(len)?;
    let stream = device.default_stream();
    rule.expect(&stream)?;
    let (mut selected, mut rejected) = (device.alloc(len)?, device.alloc(len)?);
    let count = counted(&stream, len, |count, scratch| {
        let rejected = Some(rejected.view_mut());
        select_into(&stream, items, rule, selected.view_mut(), rejected, count, scratch)
    })?;
    Ok((first(&stream, selected, count)?, first(&stream, rejected, len - count)?))
}

/// What a selection from `len` items counts, on the device's default stream; of none no work is enqueued.
fn counted(
    stream: &Stream,
    len: usize,
    select: impl FnOnce(ViewMut<'_, Count>, &mut Scratch) -> Result<(), Error>,
) -> Result<usize, Error> {
    let mut count = [0];
    if len > 0 {
        // One block writes it, once.
        stream.read_back(&mut count, |count| Scratch::kept(stream, |scratch| select(count, scratch)))?;
    }
    Ok(count[0] as usize)
}

/// The first items of a buffer, in one of that length.
fn first<T: Element>(stream: &Stream, buffer: Buffer<T>, count: usize) -> Result<Buffer<T>, Error> {
    if count == buffer.len() {
        return Ok(buffer);
    }
    let mut exact = stream.device().alloc(count)?;
    stream.copy(&mut exact, buffer.slice(..count))?;
    Ok(exact)
}

fn select_into<T: Element, R: Rule<T>>(
    stream: &Stream,
    items: View<'_, T>,
    rule: R,
    mut selected: ViewMut<'_, T>,
    mut rejected: Option<ViewMut<'_, T>>,
    mut count: ViewMut<'_, Count>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let len = items.len();
    rule.check(len)?;
    let others = rejected.as_ref().map_or(len, ViewMut::len);
    for (expected, actual) in [(len, selected.len()), (len, others), (1, count.len())] {
        checks::output(R::NAME, expected, actual)?;
    }
    let plan = SelectPlan::new(len, size_of::<T>())?;
    scratch.expect(stream, R::NAME, plan.scratch())?;
    stream.expect("items of a selection", items.device())?;
    rule.expect(stream)?;
    stream.expect("output of a selection", selected.device())?;
    if let Some(rejected) = &rejected {
        stream.expect("second output of a selection", rejected.device())?;
    }
    stream.expect("count of a selection", count.device())?;
    if let (Some(items), Some(selected), Some(count)) =
        (items.as_slice(), selected.as_mut_slice(), count.as_mut_slice())
    {
        let rejected = rejected.as_mut().and_then(ViewMut::as_mut_slice);
        count[0] = reference::select(items, |index| rule.keeps(items, index), selected, rejected) as u64;
        return Ok(());
    }
    if len == 0 {
        return stream.memset(count, 0);
    }
    scratch.lend(R::NAME, plan.scratch(), |parts| {
        launch::select(stream, items, rule, selected, rejected, count, plan, parts.tickets)
    })
}
