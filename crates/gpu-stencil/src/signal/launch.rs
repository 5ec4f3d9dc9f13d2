//! The launches: the only unsafe code here.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::float::Float;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::signal::{Chains, stencil_signal_f32, stencil_signal_f64};

use super::plan::Plan;
use crate::error::Error;

/// A type of elements of signals: `f32`, `f64`.
pub trait SignalElement: gpu_core::Element + Float + sealed::Kernels {}

mod sealed {
    use super::*;

    /// The kernel.
    pub trait Kernels: Float {
        /// Enqueues chains.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold a signal, taps and outputs of the lengths in `shape`,
        /// of which the outputs are shared with nothing; `config` must be that of the plan.
        unsafe fn chains(
            stream: &Stream,
            config: LaunchConfig,
            signal: Global<Self>,
            filter: Global<Self>,
            output: GlobalMut<Self>,
            shape: Chains,
        ) -> Result<(), gpu_core::Error>;
    }
}

macro_rules! elements {
    ($($T:ty: $kernel:ident;)*) => { $(
        impl SignalElement for $T {}

        impl sealed::Kernels for $T {
            #[inline]
            unsafe fn chains(
                stream: &Stream,
                config: LaunchConfig,
                signal: Global<Self>,
                filter: Global<Self>,
                output: GlobalMut<Self>,
                shape: Chains,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller's promise.
                unsafe { $kernel::launch(stream, config, signal, filter, output, shape) }
            }
        }
    )* };
}

elements! {
    f32: stencil_signal_f32;
    f64: stencil_signal_f64;
}

/// Enqueues the chains of `plan`.
pub(super) fn chains<T: SignalElement>(
    stream: &Stream,
    plan: &Plan,
    signal: View<'_, T>,
    filter: View<'_, T>,
    mut output: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (signal, filter, output) = (signal.as_global(), filter.as_global(), output.as_global_mut());
    // SAFETY: the views have the plan's lengths (the caller made it from them), and the output is exclusive;
    // everything is freed only after the work enqueued before.
    unsafe { T::chains(stream, plan.launch, signal, filter, output, plan.chains)? };
    Ok(())
}
