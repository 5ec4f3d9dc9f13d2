//! Validate, plan, launch.

mod axis;
#[doc(hidden)]
pub mod launched;
pub(crate) mod mean;
mod named;
mod parts;
mod segments;
mod unordered;

pub use axis::*;
pub use mean::*;
pub use named::*;
pub use parts::*;
pub use segments::*;
pub use unordered::*;

use gpu_core::{Device, Scratch, Stream, ViewMut, checks};
use gpu_reduce_kernels::Reduction;

use crate::instance::Instance;
use crate::launch;
use crate::operand::Operand;
use crate::plan::Plan;
use crate::reference;
use crate::scratch::with_partials;
use gpu_core::Error;

/// The reduction `R` of an array (`view`), or of two for a [`Dot`](crate::kernels::Dot) (`(view, view)`), computed
/// where they live: what the functions named after the reductions call.
///
/// The result comes back to the host, so this waits for it; scratch memory is what the device [keeps](Scratch::kept).
/// [`reduce_into`] does not wait.
///
/// # Errors
/// [`Error::Empty`], [`Error::InputLengths`], [`Error::TooLong`]; [`Error::OutputLength`] where `R` does not write `N`
/// elements; those of the device where the device's memory does not suffice, or where it failed.
///
/// ```
/// use gpu_reduce::kernels::MinMax;
/// let buffer = gpu_core::Device::cpu().upload(&[3, -5, 8])?;
/// assert_eq!(gpu_reduce::reduce::<MinMax<i32>, 2>(&buffer)?, [-5, 8]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce<'a, R: Instance, const N: usize>(
    input: impl Into<<R::Item as Operand>::Views<'a>>,
) -> Result<[R::Output; N], Error> {
    let input = input.into();
    let len = R::Item::len(&input, R::NAME)?;
    let mut outputs = [R::Output::default(); N];
    expect_outputs::<R>(N)?;
    if let Some(slices) = R::Item::slices(&input) {
        reference::reduce::<R, _>(slices, &mut outputs)?;
        return Ok(outputs);
    }
    if len == 0 {
        outputs.fill(R::EMPTY.ok_or(Error::Empty { what: R::NAME })?);
        return Ok(outputs);
    }
    let plan = Plan::checked::<R>(len)?;
    let [device, other] = R::Item::devices(&input);
    let stream = device.default_stream();
    stream.expect("second input of a reduction", other)?;
    launch::reduce_to_host::<R>(&stream, &input, len, plan, &mut outputs)?;
    Ok(outputs)
}

/// Writes the reduction `R` of an array or two to `output`, on `stream`: what the functions named `…_into` call.
///
/// Neither allocates, where `scratch` is large enough ([`reduce_scratch`](crate::reduce_scratch)), nor waits.
/// Memory may be used and dropped at once: what comes after, on whatever stream, waits for it
/// ([`gpu_core::Stream::unordered`] aside).
///
/// # Errors
/// [`Error::Empty`], [`Error::InputLengths`], [`Error::TooLong`], [`Error::OutputLength`], [`Error::ScratchTooSmall`],
/// [`Error::ScratchOfOtherStream`]; those of the device where the memory is on another device than the stream or where a
/// launch failed. Nothing is written then.
pub fn reduce_into<'a, 'b, R: Instance>(
    stream: &Stream,
    input: impl Into<<R::Item as Operand>::Views<'a>>,
    output: impl Into<ViewMut<'b, R::Output>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let input = input.into();
    let mut output = output.into();
    let (len, plan) = checked::<R>(stream, &input, &output, scratch)?;
    if let (Some(slices), Some(output)) = (R::Item::slices(&input), output.as_mut_slice()) {
        return reference::reduce::<R, _>(slices, output);
    }
    launch::reduce::<R>(stream, &input, len, plan, output, scratch)
}

/// Whether the inputs are on the stream's device.
fn expect_inputs<R: Reduction<Item: Operand>>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
) -> Result<(), Error> {
    let devices: [&Device; 2] = R::Item::devices(input);
    devices.into_iter().try_for_each(|device| stream.expect("input of a reduction", device))
}

/// Elements of the input and the plan for them, if all that a launch needs is there and on the stream's device.
fn checked<R: Instance>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    output: &ViewMut<'_, R::Output>,
    scratch: &Scratch,
) -> Result<(usize, Plan), Error> {
    let len = R::Item::len(input, R::NAME)?;
    expect_outputs::<R>(output.len())?;
    if len == 0 && R::EMPTY.is_none() {
        return Err(Error::Empty { what: R::NAME });
    }
    let plan = Plan::checked::<R>(len)?;
    scratch.expect(stream, R::NAME, with_partials(plan.scratch_words()))?;
    expect_inputs::<R>(stream, input)?;
    stream.expect("output of a reduction", output.device())?;
    Ok((len, plan))
}

fn expect_outputs<R: Reduction>(actual: usize) -> Result<(), Error> {
    checks::output(R::NAME, R::OUTPUTS as usize, actual)
}
