//! The launches: the only unsafe code here.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::signal::{Chains, stencil_signal_f32, stencil_signal_f64};

use super::plan::Plan;

/// A type of elements of signals: `f32`, `f64`.
pub trait SignalElement: gpu_core::Element + Float + sealed::Kernels {}

impl SignalElement for f32 {}
impl SignalElement for f64 {}

mod sealed {
    use gpu_std::launch::Kernel;

    use super::*;

    /// The kernel of a type.
    ///
    /// # Safety
    /// It is that of this type.
    pub unsafe trait Kernels: gpu_std::memory::Element {
        /// Signal, taps, outputs, their lengths.
        type Chains: Kernel<Arguments = (Global<Self>, Global<Self>, GlobalMut<Self>, Chains)>;
    }

    // SAFETY: it is.
    unsafe impl Kernels for f32 {
        type Chains = stencil_signal_f32;
    }

    // SAFETY: it is.
    unsafe impl Kernels for f64 {
        type Chains = stencil_signal_f64;
    }
}

/// Enqueues the chains of `plan`.
pub(super) fn chains<T: SignalElement>(
    stream: &Stream,
    plan: &Plan,
    signal: View<'_, T>,
    filter: View<'_, T>,
    output: ViewMut<'_, T>,
) -> gpu_core::Result<()> {
    // SAFETY: the views have the plan's lengths (the caller made it from them), and the output is exclusive;
    // everything is freed only after the work enqueued before.
    unsafe { stream.launch::<T::Chains>(plan.launch, (signal, filter, output, plan.chains)) }
}
