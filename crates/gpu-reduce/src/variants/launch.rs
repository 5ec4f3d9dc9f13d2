//! The variants' launches: their only unsafe code.

use gpu_core::{AnyKernel, Stream, View, ViewMut};
use gpu_reduce_kernels::variants as kernels;
use gpu_std::launch::Kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::{Value, Variant};
use gpu_core::Error;

/// Variants, and their kernels of an input, its length, and an output with an element for each block.
#[doc(hidden)]
pub type Stages<T> = &'static [(Variant, AnyKernel<(Global<T>, u64, GlobalMut<T>)>)];

/// The kernels of a type of elements.
///
/// # Safety
/// Each is that of its name, of this type.
pub unsafe trait Kernels: gpu_core::Element {
    /// All but one.
    #[doc(hidden)]
    const STAGES: Stages<Self>;
    /// That which also takes an element for each of [`kernels::BLOCK`] threads.
    #[doc(hidden)]
    type FinalGlobal: Kernel<Arguments = (Global<Self>, u64, GlobalMut<Self>, GlobalMut<Self>)>;
}

macro_rules! kernels {
    ($t:ty; $divergent:ident $strided:ident $sequential:ident $first_add:ident $last_warp:ident
        $first_add_last_warp:ident $unrolled:ident $several:ident $final_global:ident $final_shared:ident) => {
        // SAFETY: the table names the kernels of the type.
        unsafe impl Kernels for $t {
            const STAGES: Stages<Self> = &[
                (Variant::Divergent, AnyKernel::of::<kernels::$divergent>()),
                (Variant::Strided, AnyKernel::of::<kernels::$strided>()),
                (Variant::Sequential, AnyKernel::of::<kernels::$sequential>()),
                (Variant::FirstAdd, AnyKernel::of::<kernels::$first_add>()),
                (Variant::LastWarp, AnyKernel::of::<kernels::$last_warp>()),
                (Variant::FirstAddLastWarp, AnyKernel::of::<kernels::$first_add_last_warp>()),
                (Variant::Unrolled, AnyKernel::of::<kernels::$unrolled>()),
                (Variant::Several, AnyKernel::of::<kernels::$several>()),
                (Variant::FinalShared, AnyKernel::of::<kernels::$final_shared>()),
            ];
            type FinalGlobal = kernels::$final_global;
        }
    };
}
gpu_reduce_kernels::variant_instances!(kernels);

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
        unsafe {
            match T::STAGES.iter().find(|(stage, _)| *stage == variant) {
                Some(&(_, kernel)) => stream.launch_any(kernel, config, (source, len as u64, target)),
                None => stream.launch::<T::FinalGlobal>(config, (source, len as u64, room, target)),
            }
        }?;
        (source, room) = (target.as_global(), room.offset(blocks as u64));
    }
    Ok(())
}
