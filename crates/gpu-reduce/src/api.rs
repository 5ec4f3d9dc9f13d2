//! Validate, plan, launch.

use gpu_core::{Stream, View, ViewMut};

use crate::error::Error;
use crate::plan::Plan;
use crate::scratch::Scratch;
use crate::{launch, reference};

/// The sum of a slice or of a buffer, computed where it lives; `0.0` for none.
///
/// The order of combination is a function of the length alone (see the [crate documentation](crate)), so every device
/// gives the same bits. NaN and infinities propagate. The result comes back to the host, so this waits for it; it also
/// allocates scratch memory. [`sum_into`] does neither.
///
/// # Errors
/// [`Error::Device`] where the device's memory does not suffice, or where it failed.
///
/// ```
/// // On the host …
/// assert_eq!(gpu_reduce::sum(&[1.0, 2.0, 3.5])?, 6.5);
/// // … and from a buffer that is on a device already.
/// let device = gpu_core::Device::best();
/// let values = device.upload(&[1.0; 1000])?;
/// assert_eq!(gpu_reduce::sum(&values)?, 1000.0);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn sum<'a>(input: impl Into<View<'a, f32>>) -> Result<f32, Error> {
    let input = input.into();
    if let Some(values) = input.as_slice() {
        return Ok(reference::sum(values));
    }
    if input.is_empty() {
        return Ok(0.0);
    }
    let mut scratch = Scratch::for_len(&input.device().default_stream(), input.len())?;
    launch::sum_to_scratch(input, Plan::new(input.len()), &mut scratch)
}

/// Writes the sum of `input` to the only element of `output`, on `stream`.
///
/// Neither allocates nor waits, so it can be captured in a CUDA graph. The memory must not be freed or changed before
/// the stream is done, which the borrows ensure only up to the return: dropping a buffer waits, and other streams have
/// to be ordered by events.
///
/// # Errors
/// [`Error::OutputLength`], [`Error::ScratchTooSmall`], [`Error::ScratchOfOtherStream`]; [`Error::Device`] where the
/// memory is on another device than the stream or where a launch failed. Nothing is written then.
///
/// ```
/// use gpu_reduce::{Scratch, sum_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let input = device.upload(&[0.5; 10_000])?;
/// let mut output = device.zeroed(1)?;
/// let mut scratch = Scratch::for_len(&stream, input.len())?;
/// sum_into(&stream, &input, &mut output, &mut scratch)?;
/// stream.synchronize()?;
/// assert_eq!(output.to_vec()?, [5000.0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn sum_into<'a, 'b>(
    stream: &Stream,
    input: impl Into<View<'a, f32>>,
    output: impl Into<ViewMut<'b, f32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (input, mut output) = (input.into(), output.into());
    let plan = Plan::new(input.len());
    if output.len() != 1 {
        return Err(Error::OutputLength { expected: 1, actual: output.len() });
    }
    if scratch.blocks() < plan.blocks {
        let (expected, actual) = (plan.blocks, scratch.blocks());
        return Err(Error::ScratchTooSmall { len: input.len(), expected, actual });
    }
    if scratch.stream != *stream {
        return Err(Error::ScratchOfOtherStream);
    }
    stream.expect("input of a sum", input.device())?;
    stream.expect("output of a sum", output.device())?;

    if let (Some(values), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        output[0] = reference::sum(values);
        return Ok(());
    }
    if input.is_empty() {
        return Ok(stream.memset(output, 0)?);
    }
    launch::sum(stream, input, plan, output, scratch)
}
