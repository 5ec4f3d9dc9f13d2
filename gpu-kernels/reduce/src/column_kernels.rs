//! The kernels that reduce columns: those of [`reduce_instances`], under the same names.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::computed::Computed;
use super::several::*;
use super::*;

macro_rules! kernels {
    ($whole:ident $segments:ident none $($other_kernels:tt)*) => {};
    ($whole:ident $segments:ident $images:ident, $t:ty, $v:literal, $a:literal, $blocks:literal;
        $($name:ident: $reduction:ty $(, $same:ty)*;)*
        $((several) $several:ident: $computed:ty => $($served:ty),*;)*
        $((two) $($of_two:tt)*)?) => {
        $(
            /// Reduces columns of `input`. How to launch it is said at [`columns`].
            #[kernel(images = $images, prefix = columns, launch_bounds(256, columns_blocks::<$reduction>()), opt_level = 1, programmatic)]
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
            /// Reduces columns of `input`, as `keep`, `turn` and `which` say ([`Choice`]). How to launch it is said
            /// at [`columns`].
            #[kernel(images = $images, prefix = columns, launch_bounds(256, columns_blocks::<$computed>()), opt_level = 1, programmatic)]
            pub fn $several(
                input: Global<$t>,
                keep: u64,
                turn: u64,
                which: u64,
                rows: u64,
                inner: u32,
                lines: u32,
                is_vector: u32,
                scratch: GlobalMut<u32>,
                output: GlobalMut<<$computed as Computed>::Output>,
            ) {
                let source = ToldSource { array: input, choice: Choice { keep, turn, which } };
                let lines = Lines { rows, inner, lines, is_vector };
                columns::<$computed, $v>(source, lines, scratch, output);
            }
        )*
    };
}
crate::reduce_instances!(kernels);
