//! The kernels that reduce columns: those of [`reduce_instances`], under the same names.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::*;

macro_rules! kernels {
    ($whole:ident $segments:ident $images:ident, $t:ty, $v:literal, $a:literal, $blocks:literal;
        $($name:ident: $reduction:ty $(, $same:ty)*;)*
        $((masked) $masked:ident: $of_masked:ty => $($by_mask:ty),*;)*
        $((two) $($of_two:tt)*)?) => {
        $(
            /// Reduces columns of `input`. How to launch it is said at [`columns`].
            #[kernel(images = $images, prefix = columns, launch_bounds(256, columns_blocks::<$reduction>()), programmatic)]
            pub fn $name(
                input: Global<$t>,
                rows: u64,
                inner: u32,
                lines: u32,
                is_vector: u32,
                scratch: GlobalMut<u32>,
                output: GlobalMut<<$reduction as Reduction>::Output>,
            ) {
                columns::<$reduction, $v>(input, Lines { rows, inner, lines, is_vector }, scratch, output);
            }
        )*
        $(
            /// Reduces columns of `input`, masked with `keep` and `turn` ([`Mask`]). How to launch it is said at [`columns`].
            #[kernel(images = $images, prefix = columns, launch_bounds(256, columns_blocks::<OfMasked<$of_masked>>()), programmatic)]
            pub fn $masked(
                input: Global<$t>,
                keep: u64,
                turn: u64,
                rows: u64,
                inner: u32,
                lines: u32,
                is_vector: u32,
                scratch: GlobalMut<u32>,
                output: GlobalMut<<$of_masked as Reduction>::Output>,
            ) {
                let source = MaskedSource { array: input, mask: Mask { keep, turn } };
                let lines = Lines { rows, inner, lines, is_vector };
                columns::<OfMasked<$of_masked>, $v>(source, lines, scratch, output);
            }
        )*
    };
}
crate::reduce_instances!(kernels);
crate::reduce_half_instances!(kernels);
