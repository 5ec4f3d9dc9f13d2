//! The kernels that reduce segments: those of [`reduce_instances`], under the same names.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::*;

macro_rules! kernels {
    ($whole:ident $images:ident $columns:ident, $t:ty, $v:literal, $a:literal, $blocks:literal;
        $($name:ident: $reduction:ty $(, $same:ty)*;)*
        $((masked) $masked:ident: $of_masked:ty => $($by_mask:ty),*;)*
        $((two) $($of_two:tt)*)?) => {
        $(
            /// Reduces each segment of `input`, which has `len` elements. How to launch it is said at [`segments`].
            #[kernel(images = $images, prefix = segments, launch_bounds(256, segments_blocks::<$reduction>()), programmatic)]
            pub fn $name(
                input: Global<$t>,
                len: u64,
                offsets: Global<u32>,
                form: u32,
                length: u64,
                count: u32,
                share: u64,
                scratch: GlobalMut<u64>,
                output: GlobalMut<<$reduction as Reduction>::Output>,
            ) {
                let starts = Starts { offsets, form, length, count };
                segments::<$reduction, $v, $a>(input, len, starts, share, scratch, output);
            }
        )*
        $(
            /// Reduces each segment of `input`, which has `len` elements, masked with `keep` and `turn` ([`Mask`]). How to launch it is said at
            /// [`segments`].
            #[kernel(images = $images, prefix = segments, launch_bounds(256, segments_blocks::<OfMasked<$of_masked>>()), programmatic)]
            pub fn $masked(
                input: Global<$t>,
                keep: u64,
                turn: u64,
                len: u64,
                offsets: Global<u32>,
                form: u32,
                length: u64,
                count: u32,
                share: u64,
                scratch: GlobalMut<u64>,
                output: GlobalMut<<$of_masked as Reduction>::Output>,
            ) {
                let source = MaskedSource { array: input, mask: Mask { keep, turn } };
                let starts = Starts { offsets, form, length, count };
                segments::<OfMasked<$of_masked>, $v, $a>(source, len, starts, share, scratch, output);
            }
        )*
    };
}
crate::reduce_instances!(kernels);
crate::reduce_half_instances!(kernels);
