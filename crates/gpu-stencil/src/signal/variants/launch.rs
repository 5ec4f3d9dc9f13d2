//! The textbook's launches: the only unsafe code here.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::constant::Constant;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::signal::variants as kernels;

use super::{Memory, Staged, Sum};
use crate::launch::table;
use crate::signal::SignalElement;

/// A type of elements that the textbook's correlations come for: `f32`, `f64`.
pub trait VariantElement: SignalElement + sealed::Kernels {
    /// Taps of a constant table.
    const TABLE: usize;
}

mod sealed {
    use gpu_std::launch::Kernel;

    use super::*;

    /// The parameters with taps `F`: signal, taps, outputs, their number, the taps', whether the sum is in the output.
    pub type Of<T, F> = (Global<T>, F, GlobalMut<T>, u32, u32, u32);

    /// The kernels of a type, by the filter's memory.
    ///
    /// # Safety
    /// Each is that of its name, of this type.
    pub unsafe trait Kernels: gpu_std::memory::Element {
        /// A table in constant memory.
        type Table;
        type Global: Kernel<Arguments = Of<Self, Global<Self>>>;
        type Constant: Kernel<Arguments = Of<Self, Self::Table>>;
        type Shared: Kernel<Arguments = Of<Self, Global<Self>>>;

        /// The table of these taps.
        fn table(taps: &[Self]) -> Self::Table;
    }
}

macro_rules! elements {
    ($($T:ty, $table:ident: $global:ident, $constant:ident, $shared:ident;)*) => { $(
        impl VariantElement for $T {
            const TABLE: usize = kernels::$table;
        }

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Table = Constant<$T, { kernels::$table }>;
            type Global = kernels::$global;
            type Constant = kernels::$constant;
            type Shared = kernels::$shared;

            fn table(taps: &[$T]) -> Self::Table {
                table(taps)
            }
        }
    )* };
}
gpu_stencil_kernels::signal_variants!(elements);

/// Enqueues a correlation, the views being long enough for it and on the stream's device.
pub(super) fn correlate<T: VariantElement>(
    stream: &Stream,
    config: LaunchConfig,
    filter: &Staged<'_, T>,
    sum: Sum,
    signal: View<'_, T>,
    output: ViewMut<'_, T>,
) -> gpu_core::Result<()> {
    let (outputs, taps, sum) = (output.len() as u32, filter.table.len() as u32, (sum == Sum::Output) as u32);
    let device = filter.device;
    // SAFETY: the views hold what the kernel accesses (checked by the caller), and the output is exclusive;
    // everything is freed only after the work enqueued before.
    unsafe {
        match filter.memory {
            Memory::Global => {
                stream.launch::<T::Global>(config, (signal, device, output, outputs, taps, sum))
            }
            Memory::Shared => {
                stream.launch::<T::Shared>(config, (signal, device, output, outputs, taps, sum))
            }
            Memory::Constant => {
                let table = T::table(&filter.table);
                stream.launch::<T::Constant>(config, (signal, table, output, outputs, taps, sum))
            }
        }
    }
}
