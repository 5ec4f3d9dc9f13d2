//! Which filters there are.

use gpu_std::constant::Constant;
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::general::{self, SEPARABLE_WEIGHTS};
use super::geometry::Geometry;
use super::sobel::{self, Outputs, Targets};
use super::{full, separable};

/// Entries of the table of weights of a fast separable filter.
pub const FAST_SEPARABLE_WEIGHTS: usize = 22;
/// Entries of the table of weights of a fast full filter.
pub const FAST_FULL_WEIGHTS: usize = 121;
/// The most weights of a filter summed as `f32` that travel with the launch: 31 × 31, with the other parameters less
/// than 4 KB.
pub const TABLE_F32: usize = 961;
/// The same for `f64`: 21 × 21.
pub const TABLE_F64: usize = 441;

/// The kernels of filters: calls the macro `$with` once for each type of elements, with that whose fast kernels take
/// it, the types of its sums and gradients, the kernels for everything, and the fast ones: the elements of a vector and
/// the channels, then for each number of taps the blocks of a multiprocessor and the name; of gradients, the elements
/// of a vector, then the channels, the blocks and the name.
///
/// Blocks a multiprocessor: as many as the registers of the sums leave without spills. `f64` and `u16` of several
/// channels have not been timed yet, nor have full filters of several channels but 3 × 3 of `u8`, and of one channel those
/// of 16 bits, 9 × 9, and of `f64` from 5 × 5 on: theirs are simply the most, up to 8, with which no assembler from 7.5 to
/// 12.0 spills. With one block more, each of the gradients' spills for some architecture. The kernels of `u16` take `i16`
/// too, with its sign bits in `Geometry::flip`.
#[macro_export]
macro_rules! filter_instances {
    ($with:ident) => {
        $with! { f32 as f32, f32, f32, general_separable_f32, general_full_f32, sobel_general_f32;
            separable {
                4, 1: 3, 8: separable_f32_3, 5, 8: separable_f32_5, 7, 6: separable_f32_7, 9, 5: separable_f32_9, 11, 6: separable_f32_11;
                4, 3: 3, 8: separable_f32x3_3, 5, 6: separable_f32x3_5, 7, 5: separable_f32x3_7, 9, 4: separable_f32x3_9, 11, 4: separable_f32x3_11;
                4, 4: 3, 8: separable_f32x4_3, 5, 6: separable_f32x4_5, 7, 5: separable_f32x4_7, 9, 4: separable_f32x4_9, 11, 4: separable_f32x4_11;
            }
            full {
                4, 1: 3, 8: full_f32_3, 5, 6: full_f32_5, 7, 5: full_f32_7, 9, 6: full_f32_9, 11, 4: full_f32_11;
                4, 3: 3, 8: full_f32x3_3, 5, 8: full_f32x3_5, 7, 7: full_f32x3_7, 11, 4: full_f32x3_11;
                4, 4: 3, 8: full_f32x4_3, 5, 8: full_f32x4_5, 7, 6: full_f32x4_7, 11, 4: full_f32x4_11;
            }
            sobel { 4: 1, 8: sobel_f32, 3, 8: sobel_f32x3, 4, 8: sobel_f32x4; }
        }
        $with! { f64 as f64, f64, f64, general_separable_f64, general_full_f64, sobel_general_f64;
            separable {
                2, 1: 3, 8: separable_f64_3, 5, 6: separable_f64_5, 7, 5: separable_f64_7, 9, 5: separable_f64_9, 11, 4: separable_f64_11;
                2, 3: 3, 8: separable_f64x3_3, 5, 8: separable_f64x3_5, 7, 8: separable_f64x3_7, 9, 7: separable_f64x3_9, 11, 6: separable_f64x3_11;
                2, 4: 3, 8: separable_f64x4_3, 5, 8: separable_f64x4_5, 7, 8: separable_f64x4_7, 9, 7: separable_f64x4_9, 11, 6: separable_f64x4_11;
            }
            full {
                2, 1: 3, 6: full_f64_3, 5, 8: full_f64_5, 7, 7: full_f64_7, 11, 4: full_f64_11;
                2, 3: 3, 8: full_f64x3_3, 5, 7: full_f64x3_5, 7, 5: full_f64x3_7, 11, 4: full_f64x3_11;
                2, 4: 3, 8: full_f64x4_3, 5, 7: full_f64x4_5, 7, 5: full_f64x4_7, 11, 4: full_f64x4_11;
            }
            sobel { 2: 1, 7: sobel_f64, 3, 7: sobel_f64x3, 4, 7: sobel_f64x4; }
        }
        $with! { u8 as u8, f32, i16, general_separable_u8, general_full_u8, sobel_general_u8;
            separable {
                16, 1: 3, 5: separable_u8_3, 5, 4: separable_u8_5, 7, 3: separable_u8_7;
                8, 1: 9, 4: separable_u8_9, 11, 3: separable_u8_11;
                16, 3: 3, 5: separable_u8x3_3, 5, 4: separable_u8x3_5, 7, 3: separable_u8x3_7;
                8, 3: 9, 3: separable_u8x3_9, 11, 3: separable_u8x3_11;
                16, 4: 3, 5: separable_u8x4_3, 5, 4: separable_u8x4_5, 7, 3: separable_u8x4_7;
                8, 4: 9, 3: separable_u8x4_9, 11, 3: separable_u8x4_11;
            }
            full {
                16, 1: 3, 4: full_u8_3, 5, 3: full_u8_5, 7, 2: full_u8_7;
                8, 1: 9, 3: full_u8_9, 11, 2: full_u8_11;
                16, 3: 3, 4: full_u8x3_3, 5, 3: full_u8x3_5, 7, 2: full_u8x3_7;
                8, 3: 11, 2: full_u8x3_11;
                16, 4: 3, 4: full_u8x4_3, 5, 3: full_u8x4_5, 7, 2: full_u8x4_7;
                8, 4: 11, 2: full_u8x4_11;
            }
            sobel { 16: 1, 2: sobel_u8, 3, 2: sobel_u8x3, 4, 2: sobel_u8x4; }
        }
        $with! { u16 as u16, f32, f32, general_separable_u16, general_full_u16, sobel_general_u16;
            separable {
                8, 1: 3, 6: separable_u16_3, 5, 5: separable_u16_5, 7, 4: separable_u16_7, 9, 4: separable_u16_9, 11, 3: separable_u16_11;
                8, 3: 3, 8: separable_u16x3_3, 5, 7: separable_u16x3_5, 7, 5: separable_u16x3_7, 9, 4: separable_u16x3_9, 11, 4: separable_u16x3_11;
                8, 4: 3, 8: separable_u16x4_3, 5, 7: separable_u16x4_5, 7, 5: separable_u16x4_7, 9, 4: separable_u16x4_9, 11, 3: separable_u16x4_11;
            }
            full {
                8, 1: 3, 8: full_u16_3, 5, 6: full_u16_5, 7, 4: full_u16_7, 11, 2: full_u16_11;
                8, 3: 3, 8: full_u16x3_3, 5, 5: full_u16x3_5, 7, 4: full_u16x3_7, 11, 2: full_u16x3_11;
                8, 4: 3, 8: full_u16x4_3, 5, 5: full_u16x4_5, 7, 3: full_u16x4_7, 11, 2: full_u16x4_11;
            }
            sobel { 8: 1, 4: sobel_u16, 3, 4: sobel_u16x3, 4, 4: sobel_u16x4; }
        }
        $with! { i16 as u16, f32, f32, general_separable_i16, general_full_i16, sobel_general_i16;
            separable {}
            full {}
            sobel {}
        }
    };
}

macro_rules! kernels {
    ($T:ty as $Fast:ty, $Sum:ty, $G:ty, $general_separable:ident, $general_full:ident, $general_sobel:ident;
        separable { $($v:literal, $channels:literal: $($taps:literal, $blocks:literal: $separable:ident),*;)* }
        full { $($full_v:literal, $full_channels:literal: $($full_taps:literal, $full_blocks:literal: $full:ident),*;)* }
        sobel { $($sobel_v:literal: $($sobel_channels:literal, $sobel_blocks:literal: $sobel:ident),*;)? }) => {
        $( $(
            #[doc = concat!("Separable filters of ", stringify!($taps), " × ", stringify!($taps), " taps of `", stringify!($T), "`, ", stringify!($channels), " channels.")]
            ///
            /// Launch it as [`super::march`] says, with [`super::march::lane`] outputs a lane.
            #[kernel(images = sm_75_80, launch_bounds(128, $blocks), opt_level = 1)]
            pub fn $separable(
                input: Global<$T>,
                output: GlobalMut<$T>,
                geometry: Geometry,
                outside: $T,
                weights: Constant<$Sum, FAST_SEPARABLE_WEIGHTS>,
            ) {
                separable::separable::<$T, $v, $taps, $channels, FAST_SEPARABLE_WEIGHTS>(input, output, geometry, outside, weights);
            }
        )* )*

        $( $(
            #[doc = concat!("Filters of ", stringify!($full_taps), " × ", stringify!($full_taps), " weights of `", stringify!($T), "`, ", stringify!($full_channels), " channels.")]
            ///
            /// Launch it as [`super::march`] says, with [`super::march::lane`] outputs a lane.
            #[kernel(images = sm_75_80, launch_bounds(128, $full_blocks), opt_level = 1)]
            pub fn $full(
                input: Global<$T>,
                output: GlobalMut<$T>,
                geometry: Geometry,
                outside: $T,
                weights: Constant<$Sum, FAST_FULL_WEIGHTS>,
            ) {
                full::full::<$T, $full_v, $full_taps, $full_channels, FAST_FULL_WEIGHTS>(input, output, geometry, outside, weights);
            }
        )* )*

        $( $(
            #[doc = concat!("Gradients of `", stringify!($T), "`, channels: ", stringify!($sobel_channels), ". Launch it as [`super::march`] says, with [`super::march::lane`] outputs a lane.")]
            #[kernel(images = sm_75_80, launch_bounds(128, $sobel_blocks))]
            pub fn $sobel(
                input: Global<$T>,
                gx: GlobalMut<$G>,
                gy: GlobalMut<$G>,
                magnitude: GlobalMut<$G>,
                direction: GlobalMut<$Sum>,
                geometry: Geometry,
                targets: Targets,
                outside: $T,
            ) {
                sobel::sobel::<$T, $G, $sobel_v, $sobel_channels>(input, Outputs { gx, gy, magnitude, direction }, geometry, targets, outside);
            }
        )* )?

        #[doc = concat!("Gradients of `", stringify!($T), "`, any channels: a thread a column, [`sobel::THREADS`] a block.")]
        #[kernel(images = sm_75, launch_bounds(128))]
        pub fn $general_sobel(
            input: Global<$T>,
            gx: GlobalMut<$G>,
            gy: GlobalMut<$G>,
            magnitude: GlobalMut<$G>,
            direction: GlobalMut<$Sum>,
            geometry: Geometry,
            targets: Targets,
            outside: $T,
        ) {
            sobel::general::<$T, $G>(input, Outputs { gx, gy, magnitude, direction }, geometry, targets, outside);
        }

        #[doc = concat!("Separable filters of `", stringify!($T), "`: a thread a column, [`general::SEPARABLE_THREADS`] a block.")]
        #[kernel(images = sm_75, launch_bounds(64))]
        pub fn $general_separable(
            input: Global<$T>,
            output: GlobalMut<$T>,
            geometry: Geometry,
            outside: $T,
            weights: Constant<$Sum, SEPARABLE_WEIGHTS>,
        ) {
            general::separable::<$T>(input, output, geometry, outside, weights);
        }

        #[doc = concat!("Filters of `", stringify!($T), "`: a thread a column, [`general::FULL_THREADS`] a block.")]
        #[kernel(images = sm_75, launch_bounds(128, 6))]
        pub fn $general_full(
            input: Global<$T>,
            output: GlobalMut<$T>,
            geometry: Geometry,
            outside: $T,
            weights: Constant<$Sum, { table::<$Sum>() }>,
            memory: Global<$Sum>,
            place_of_weights: u32,
        ) {
            general::full::<$T, { table::<$Sum>() }>(input, output, geometry, outside, weights, memory, place_of_weights);
        }
    };
}
filter_instances!(kernels);

/// The most weights of a filter summed as `S` that travel with the launch.
const fn table<S>() -> usize {
    if size_of::<S>() == 4 { TABLE_F32 } else { TABLE_F64 }
}
