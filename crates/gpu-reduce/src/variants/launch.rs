//! The variants' launches: their only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_reduce_kernels::variants as kernels;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use super::{Value, Variant};
use gpu_core::Error;

/// The kernels of a type of elements.
pub trait Kernels: gpu_core::Element {
    /// Enqueues the kernel of a variant.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// Until the kernel has ended, `input` must have `len` elements that nothing writes and `output` an element for
    /// each block, which nothing else reads or writes; the same goes for `sums` and [`kernels::BLOCK`] elements where
    /// the variant is [`Variant::FinalGlobal`]. `config` must be the variant's.
    unsafe fn launch(
        variant: Variant,
        stream: &Stream,
        config: LaunchConfig,
        input: Global<Self>,
        len: u64,
        sums: GlobalMut<Self>,
        output: GlobalMut<Self>,
    ) -> Result<(), gpu_core::Error>;
}

macro_rules! kernels {
    ($($t:ty: $($variant:ident $kernel:ident,)* => $final_global:ident;)*) => { $(
        impl Kernels for $t {
            #[inline]
            unsafe fn launch(
                variant: Variant,
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self>,
                len: u64,
                sums: GlobalMut<Self>,
                output: GlobalMut<Self>,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller promises what the kernels need.
                unsafe {
                    match variant {
                        $(Variant::$variant => kernels::$kernel::launch(stream, config, input, len, output),)*
                        Variant::FinalGlobal => {
                            kernels::$final_global::launch(stream, config, input, len, sums, output)
                        }
                    }
                }
            }
        }
    )* };
}
kernels! {
    f64: Divergent sum_divergent_f64, Strided sum_strided_f64, Sequential sum_sequential_f64,
        FirstAdd sum_first_add_f64, LastWarp sum_last_warp_f64, FirstAddLastWarp sum_first_add_last_warp_f64,
        Unrolled sum_unrolled_f64, Several sum_several_f64, FinalShared sum_final_shared_f64, => sum_final_global_f64;
    f32: Divergent sum_divergent_f32, Strided sum_strided_f32, Sequential sum_sequential_f32,
        FirstAdd sum_first_add_f32, LastWarp sum_last_warp_f32, FirstAddLastWarp sum_first_add_last_warp_f32,
        Unrolled sum_unrolled_f32, Several sum_several_f32, FinalShared sum_final_shared_f32, => sum_final_global_f32;
}

/// Enqueues the sum. Everything has been checked: same device, one output, enough scratch memory.
pub(super) fn sum<T: Value>(
    variant: Variant,
    stream: &Stream,
    input: View<'_, T>,
    mut output: ViewMut<'_, T>,
    mut scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (mut source, total) = (input.as_global(), output.as_global_mut());
    let mut room = scratch.as_global_mut();
    for (len, blocks) in variant.launches(input.len()) {
        let target = if blocks == 1 { total } else { room };
        let config = variant.launch_config::<T>(len);
        // SAFETY: the first launch reads the input, each other one what the one before it on the stream wrote: `len`
        // elements. It writes one for each block, to the output or to room in the scratch memory that no other launch
        // of these uses; the final variants have one launch, for which the scratch memory has a sum for each thread.
        // The views do not overlap, as output and scratch memory are exclusive, and are freed only after the work
        // enqueued before.
        unsafe { T::launch(variant, stream, config, source, len as u64, room, target) }?;
        (source, room) = (target.as_global(), room.offset(blocks as u64));
    }
    Ok(())
}
