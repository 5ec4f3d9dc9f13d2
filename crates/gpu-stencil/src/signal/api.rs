//! Validate, plan, launch.

use gpu_core::{Buffer, Stream, View, ViewMut, checks};

use super::launch::{self, SignalElement};
use super::plan::{Mode, Operation, Plan};
use super::reference;
use crate::error::Error;

fn run<T: SignalElement>(
    stream: &Stream,
    operation: Operation,
    mode: Mode,
    signal: View<'_, T>,
    filter: View<'_, T>,
    mut output: ViewMut<'_, T>,
) -> Result<(), Error> {
    let address = output.as_global_mut().address();
    let multiprocessors = stream.device().planned_multiprocessors();
    let plan = Plan::new::<T>(operation, mode, signal.len(), filter.len(), address, multiprocessors)?;
    checks::output(operation.name(), plan.chains.outputs as usize, output.len())?;
    stream.expect("signal", signal.device())?;
    stream.expect("filter", filter.device())?;
    stream.expect("output", output.device())?;
    output.expect_apart("the signal", &signal)?;
    output.expect_apart("the filter", &filter)?;
    let (signal, filter) = if plan.exchanged { (filter, signal) } else { (signal, filter) };
    if let (Some(signal), Some(filter), Some(output)) =
        (signal.as_slice(), filter.as_slice(), output.as_mut_slice())
    {
        reference::chains(&plan.chains, signal, filter, output);
        return Ok(());
    }
    Ok(launch::chains(stream, &plan, signal, filter, output)?)
}

macro_rules! operations {
    ($($(#[$doc:meta])* $into:ident: $operation:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// On `stream`, into memory of the caller's, which has [`Mode::output_len`] elements. Neither allocates
        /// device memory nor waits. On the CPU the work is done on return.
        ///
        /// # Errors
        /// [`Error::EmptyOperand`], [`gpu_core::Error::OutputLength`], [`gpu_core::Error::Aliasing`]; [`Error::Device`]
        /// where memory is on another device than the stream or where the launch failed. The output is as it was then.
        pub fn $into<'x, 'f, 'o, T: SignalElement>(
            stream: &Stream,
            signal: impl Into<View<'x, T>>,
            filter: impl Into<View<'f, T>>,
            mode: Mode,
            output: impl Into<ViewMut<'o, T>>,
        ) -> Result<(), Error> {
            run(stream, Operation::$operation, mode, signal.into(), filter.into(), output.into())
        }
    )* };
}

operations! {
    /// The convolution of a signal with a filter (see [the module](super)).
    convolve_into: Convolution;
    /// The correlation of a signal with a filter (see [the module](super)).
    correlate_into: Correlation;
}

fn allocate<T: SignalElement>(
    operation: Operation,
    mode: Mode,
    signal: View<'_, T>,
    filter: View<'_, T>,
) -> Result<Buffer<T>, Error> {
    let device = signal.device();
    let mut output = device.alloc(mode.output_len(signal.len(), filter.len()))?;
    run(&device.default_stream(), operation, mode, signal, filter, output.view_mut())?;
    Ok(output)
}

/// The convolution of a signal with a filter, where the signal lives, in new memory.
///
/// # Errors
/// As [`convolve_into`].
///
/// ```
/// use gpu_stencil::signal::{Mode, convolve};
/// let device = gpu_core::Device::simulator();
/// let (signal, filter) = (device.upload(&[1.0, 2.0, 3.0])?, device.upload(&[0.0, 1.0, 0.5])?);
/// assert_eq!(convolve(&signal, &filter, Mode::Full)?.to_vec()?, [0.0, 1.0, 2.5, 4.0, 1.5]);
/// assert_eq!(convolve(&signal, &filter, Mode::Same)?.to_vec()?, [1.0, 2.5, 4.0]);
/// assert_eq!(convolve(&signal, &filter, Mode::Valid)?.to_vec()?, [2.5]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn convolve<'x, 'f, T: SignalElement>(
    signal: impl Into<View<'x, T>>,
    filter: impl Into<View<'f, T>>,
    mode: Mode,
) -> Result<Buffer<T>, Error> {
    allocate(Operation::Convolution, mode, signal.into(), filter.into())
}

/// The correlation of a signal with a filter, where the signal lives, in new memory.
///
/// # Errors
/// As [`correlate_into`].
///
/// ```
/// use gpu_stencil::signal::{Mode, correlate};
/// let device = gpu_core::Device::simulator();
/// let (signal, filter) = (device.upload(&[1.0, 2.0, 3.0])?, device.upload(&[0.0, 1.0, 0.5])?);
/// assert_eq!(correlate(&signal, &filter, Mode::Same)?.to_vec()?, [2.0, 3.5, 3.0]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn correlate<'x, 'f, T: SignalElement>(
    signal: impl Into<View<'x, T>>,
    filter: impl Into<View<'f, T>>,
    mode: Mode,
) -> Result<Buffer<T>, Error> {
    allocate(Operation::Correlation, mode, signal.into(), filter.into())
}
