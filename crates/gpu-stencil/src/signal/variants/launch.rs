//! The textbook's launches: the only unsafe code here.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::constant::Constant;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::signal::variants as kernels;

use super::{Memory, Staged, Sum};
use crate::error::Error;
use crate::signal::SignalElement;

/// A type of elements that the textbook's correlations come for: `f32`, `f64`.
pub trait VariantElement: SignalElement + sealed::Kernels {
    /// Taps of a constant table.
    const TABLE: usize;
}

/// What the kernels take beside memory: outputs, taps, and whether the sum is in the output.
type Counts = [u32; 3];

mod sealed {
    use super::*;

    /// The kernels.
    pub trait Kernels: gpu_core::Element {
        /// Enqueues a correlation. The filter is where `memory` says: `table` in constant memory, else `filter`.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold `counts[1]` taps and `counts[0]` outputs, shared with
        /// nothing, and the signal so many elements and taps less one.
        #[expect(clippy::too_many_arguments, reason = "those of the kernels")]
        unsafe fn correlate(
            stream: &Stream,
            config: LaunchConfig,
            memory: Memory,
            signal: Global<Self>,
            table: &[Self],
            filter: Global<Self>,
            output: GlobalMut<Self>,
            counts: Counts,
        ) -> Result<(), gpu_core::Error>;
    }
}

macro_rules! elements {
    ($($T:ty, $table:ident: $global:ident, $constant:ident, $shared:ident;)*) => { $(
        impl VariantElement for $T {
            const TABLE: usize = kernels::$table;
        }

        impl sealed::Kernels for $T {
            #[inline]
            unsafe fn correlate(
                stream: &Stream,
                config: LaunchConfig,
                memory: Memory,
                signal: Global<Self>,
                table: &[Self],
                filter: Global<Self>,
                output: GlobalMut<Self>,
                [outputs, taps, sum]: Counts,
            ) -> Result<(), gpu_core::Error> {
                match memory {
                    // SAFETY: the caller's promise.
                    Memory::Global => unsafe {
                        kernels::$global::launch(stream, config, signal, filter, output, outputs, taps, sum)
                    },
                    Memory::Constant => {
                        let mut entries = [0.0; kernels::$table];
                        entries[..table.len()].copy_from_slice(table);
                        let table = Constant::new(entries);
                        // SAFETY: the caller's promise.
                        unsafe {
                            kernels::$constant::launch(stream, config, signal, table, output, outputs, taps, sum)
                        }
                    }
                    // SAFETY: the caller's promise.
                    Memory::Shared => unsafe {
                        kernels::$shared::launch(stream, config, signal, filter, output, outputs, taps, sum)
                    },
                }
            }
        }
    )* };
}

elements! {
    f32, TABLE_F32: stencil_signal_global_f32, stencil_signal_constant_f32, stencil_signal_shared_f32;
    f64, TABLE_F64: stencil_signal_global_f64, stencil_signal_constant_f64, stencil_signal_shared_f64;
}

/// Enqueues a correlation, the views being long enough for it and on the stream's device.
pub(super) fn correlate<T: VariantElement>(
    stream: &Stream,
    config: LaunchConfig,
    filter: &Staged<'_, T>,
    sum: Sum,
    signal: View<'_, T>,
    mut output: ViewMut<'_, T>,
) -> Result<(), Error> {
    let counts = [output.len() as u32, filter.table.len() as u32, (sum == Sum::Output) as u32];
    let (signal, taps, output) = (signal.as_global(), filter.device.as_global(), output.as_global_mut());
    // SAFETY: the views hold what the kernel accesses (checked by the caller), and the output is exclusive;
    // everything is freed only after the work enqueued before.
    unsafe { T::correlate(stream, config, filter.memory, signal, &filter.table, taps, output, counts)? };
    Ok(())
}
