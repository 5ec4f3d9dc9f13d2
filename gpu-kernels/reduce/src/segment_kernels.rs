//! The kernels that reduce segments: those of [`reduce_instances`], under the same names.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::computed::Computed;
use super::several::*;
use super::*;

macro_rules! kernels {
    ($whole:ident none $($other_kernels:tt)*) => {};
    ($whole:ident $images:ident $columns:ident, $t:ty, $v:literal, $a:literal, $blocks:literal;
        $($name:ident: $reduction:ty $(, $same:ty)*;)*
        $((several) $several:ident: $computed:ty => $($served:ty),*;)*
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
            /// Reduces each segment of `input`, which has `len` elements, as `keep`, `turn` and `which` say
            /// ([`Choice`]). How to launch it is said at [`segments`].
            #[kernel(images = $images, prefix = segments, launch_bounds(256, segments_blocks::<$computed>()), programmatic)]
            pub fn $several(
                input: Global<$t>,
                keep: u64,
                turn: u64,
                which: u64,
                len: u64,
                offsets: Global<u32>,
                form: u32,
                length: u64,
                count: u32,
                share: u64,
                scratch: GlobalMut<u64>,
                output: GlobalMut<<$computed as Computed>::Output>,
            ) {
                let source = ToldSource { array: input, choice: Choice { keep, turn, which } };
                let starts = Starts { offsets, form, length, count };
                segments::<$computed, $v, $a>(source, len, starts, share, scratch, output);
            }
        )*
    };
}
crate::reduce_instances!(kernels);
