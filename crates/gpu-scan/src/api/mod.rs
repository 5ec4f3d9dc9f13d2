//! Validate, plan, launch.

#[doc(hidden)]
pub mod launched;
mod named;

pub use named::*;

use gpu_core::{Buffer, Element, Scratch, Stream, View, ViewMut, checks};
use gpu_scan_kernels::Scan;

use crate::instance::Instance;
use crate::launch::{self, Memory};
use crate::options::Options;
use crate::plan::Plan;
use crate::reference;
use crate::scratch::with_tiles;
use gpu_core::Error;

/// The scan of an array with the operator `S`, computed where `input` lives, in a buffer of its own: what the
/// functions named after the operators call.
///
/// The work is enqueued on the device's default stream; reading the buffer waits for it. Scratch memory is what the
/// device [keeps](Scratch::kept). [`scan_into`] allocates nothing.
///
/// # Errors
/// [`Error::TooLong`]; those of the device where the device's memory does not suffice, or where it failed.
///
/// ```
/// use gpu_scan::{Options, kernels::Max, scan};
/// let device = gpu_core::Device::best();
/// let input = device.upload(&[3, -5, 8, 2])?;
/// let highest = scan::<Max<i32>>(&input, Options::inclusive())?;
/// assert_eq!(highest.to_vec()?, [3, 3, 8, 8]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan<'a, S: Instance>(
    input: impl Into<View<'a, S::Item>>,
    options: Options<S::Output>,
) -> Result<Buffer<S::Output>, Error> {
    let input = input.into();
    Scratch::computed(input.device(), input.len(), |stream, output, scratch| {
        scan_into::<S>(stream, input, options, output, scratch)
    })
}

/// Writes the scan of an array with the operator `S` to `output`, on `stream`.
///
/// Neither allocates, where `scratch` is large enough ([`scan_scratch`](crate::scan_scratch)), nor waits.
/// Memory may be used and dropped at once: what comes after, on whatever stream, waits for it
/// ([`gpu_core::Stream::unordered`] aside).
///
/// # Errors
/// [`Error::OutputLength`], [`Error::TooLong`], [`Error::ScratchTooSmall`], [`Error::ScratchOfOtherStream`];
/// those of the device where the memory is on another device than the stream or where a launch failed. Nothing is
/// written then.
///
/// ```
/// use gpu_scan::{Options, Scratch, kernels::WideSum, scan_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let input = device.upload(&[200u8, 100, 50])?;
/// let mut output = device.zeroed::<u32>(3)?;
/// let mut scratch = Scratch::new(&stream);
/// scan_into::<WideSum<u8>>(&stream, &input, Options::inclusive(), &mut output, &mut scratch)?;
/// stream.synchronize()?;
/// assert_eq!(output.to_vec()?, [200, 300, 350]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan_into<'a, 'b, S: Instance>(
    stream: &Stream,
    input: impl Into<View<'a, S::Item>>,
    options: Options<S::Output>,
    output: impl Into<ViewMut<'b, S::Output>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (input, mut output) = (input.into(), output.into());
    expect::<S>(stream, input, &output)?;
    let plan = prepare::<S>(stream, input.len(), scratch)?;
    if input.is_empty() {
        return Ok(());
    }
    if let (Some(input), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        return reference::scan::<S>(input, &options, output);
    }
    launch::scan::<S>(stream, Memory::apart(input, output), &options, plan, scratch)
}

/// Replaces an array by its scan with the operator `S`, on `stream`. As [`scan_into`] otherwise.
///
/// # Errors
/// As [`scan_into`].
///
/// ```
/// use gpu_scan::{Options, Scratch, kernels::Sum, scan_in_place};
/// let device = gpu_core::Device::best();
/// let stream = device.stream()?;
/// let mut data = device.upload(&[1u64; 5])?;
/// let mut scratch = Scratch::new(&stream);
/// scan_in_place::<Sum<u64>>(&stream, &mut data, Options::exclusive(), &mut scratch)?;
/// stream.synchronize()?;
/// assert_eq!(data.to_vec()?, [0, 1, 2, 3, 4]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan_in_place<'a, S: Instance<Output = <S as Scan>::Item>>(
    stream: &Stream,
    data: impl Into<ViewMut<'a, S::Output>>,
    options: Options<S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let mut data = data.into();
    let plan = prepare::<S>(stream, data.len(), scratch)?;
    stream.expect("data of a scan", data.device())?;
    if data.is_empty() {
        return Ok(());
    }
    if let Some(data) = data.as_mut_slice() {
        reference::scan_in_place::<S>(data, &options);
        return Ok(());
    }
    launch::scan::<S>(stream, Memory::in_place(data), &options, plan, scratch)
}

/// The plan, if the scratch memory is enough for it and belongs to the stream.
fn prepare<S: Scan>(stream: &Stream, len: usize, scratch: &Scratch) -> Result<Plan, Error> {
    let plan = Plan::checked::<S>(len)?;
    scratch.expect(stream, S::NAME, with_tiles(plan.scratch_words()))?;
    Ok(plan)
}

/// Whether the output is as long as the input, and both are on the stream's device.
pub(crate) fn expect<S: Scan<Item: Element, Output: Element>>(
    stream: &Stream,
    input: View<'_, S::Item>,
    output: &ViewMut<'_, S::Output>,
) -> Result<(), Error> {
    checks::output(S::NAME, input.len(), output.len())?;
    stream.expect("input of a scan", input.device())?;
    stream.expect("output of a scan", output.device())
}
