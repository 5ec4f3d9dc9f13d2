//! Which filters the PTX modules hold.

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

macro_rules! separable {
    ($($T:ty, $Sum:ty, $images:ident, $v:literal, $channels:literal: $($taps:literal, $blocks:literal: $name:ident),*;)*) => { $( $(
        #[doc = concat!("Separable filters of ", stringify!($taps), " × ", stringify!($taps), " taps of `", stringify!($T), "`, ", stringify!($channels), " channels.")]
        ///
        /// Launch it as [`super::march`] says, with [`super::march::lane`] outputs a lane.
        #[kernel(images = $images, launch_bounds(128, $blocks), opt_level = 1)]
        pub fn $name(
            input: Global<$T>,
            output: GlobalMut<$T>,
            geometry: Geometry,
            outside: $T,
            weights: Constant<$Sum, FAST_SEPARABLE_WEIGHTS>,
        ) {
            separable::separable::<$T, $v, $taps, $channels, FAST_SEPARABLE_WEIGHTS>(input, output, geometry, outside, weights);
        }
    )* )* };
}

// Blocks a multiprocessor: as many as the registers of the sums leave without spills. `f64` and `u16` of several
// channels have not been timed yet: theirs are simply the most, up to 8, with which no assembler from 7.5 to 12.0
// spills. The kernels of `u16` take `i16` too, with its sign bits in `Geometry::flip`.
separable! {
    f32, f32, sm_75_80, 4, 1:
        3, 8: separable_f32_3, 5, 8: separable_f32_5, 7, 6: separable_f32_7, 9, 5: separable_f32_9, 11, 6: separable_f32_11;
    f32, f32, sm_75_80, 4, 3:
        3, 8: separable_f32x3_3, 5, 6: separable_f32x3_5, 7, 5: separable_f32x3_7, 9, 4: separable_f32x3_9, 11, 4: separable_f32x3_11;
    f32, f32, sm_75_80, 4, 4:
        3, 8: separable_f32x4_3, 5, 6: separable_f32x4_5, 7, 5: separable_f32x4_7, 9, 4: separable_f32x4_9, 11, 4: separable_f32x4_11;
    f64, f64, sm_75_80, 2, 1:
        3, 8: separable_f64_3, 5, 6: separable_f64_5, 7, 5: separable_f64_7, 9, 5: separable_f64_9, 11, 4: separable_f64_11;
    f64, f64, sm_75_80, 2, 3:
        3, 8: separable_f64x3_3, 5, 8: separable_f64x3_5, 7, 8: separable_f64x3_7, 9, 7: separable_f64x3_9, 11, 6: separable_f64x3_11;
    f64, f64, sm_75_80, 2, 4:
        3, 8: separable_f64x4_3, 5, 8: separable_f64x4_5, 7, 8: separable_f64x4_7, 9, 7: separable_f64x4_9, 11, 6: separable_f64x4_11;
    u8, f32, sm_75_80, 16, 1:
        3, 5: separable_u8_3, 5, 4: separable_u8_5, 7, 3: separable_u8_7;
    u8, f32, sm_75_80, 8, 1:
        9, 4: separable_u8_9, 11, 3: separable_u8_11;
    u8, f32, sm_75_80, 16, 3:
        3, 5: separable_u8x3_3, 5, 4: separable_u8x3_5, 7, 3: separable_u8x3_7;
    u8, f32, sm_75_80, 8, 3:
        9, 3: separable_u8x3_9, 11, 3: separable_u8x3_11;
    u8, f32, sm_75_80, 16, 4:
        3, 5: separable_u8x4_3, 5, 4: separable_u8x4_5, 7, 3: separable_u8x4_7;
    u8, f32, sm_75_80, 8, 4:
        9, 3: separable_u8x4_9, 11, 3: separable_u8x4_11;
    u16, f32, sm_75_80, 8, 1:
        3, 6: separable_u16_3, 5, 5: separable_u16_5, 7, 4: separable_u16_7, 9, 4: separable_u16_9, 11, 3: separable_u16_11;
    u16, f32, sm_75_80, 8, 3:
        3, 8: separable_u16x3_3, 5, 7: separable_u16x3_5, 7, 5: separable_u16x3_7, 9, 4: separable_u16x3_9, 11, 4: separable_u16x3_11;
    u16, f32, sm_75_80, 8, 4:
        3, 8: separable_u16x4_3, 5, 7: separable_u16x4_5, 7, 5: separable_u16x4_7, 9, 4: separable_u16x4_9, 11, 3: separable_u16x4_11;
}

macro_rules! full {
    ($($T:ty, $Sum:ty, $images:ident, $v:literal, $channels:literal: $($taps:literal, $blocks:literal: $name:ident),*;)*) => { $( $(
        #[doc = concat!("Filters of ", stringify!($taps), " × ", stringify!($taps), " weights of `", stringify!($T), "`, ", stringify!($channels), " channels.")]
        ///
        /// Launch it as [`super::march`] says, with [`super::march::lane`] outputs a lane.
        #[kernel(images = $images, launch_bounds(128, $blocks), opt_level = 1)]
        pub fn $name(
            input: Global<$T>,
            output: GlobalMut<$T>,
            geometry: Geometry,
            outside: $T,
            weights: Constant<$Sum, FAST_FULL_WEIGHTS>,
        ) {
            full::full::<$T, $v, $taps, $channels, FAST_FULL_WEIGHTS>(input, output, geometry, outside, weights);
        }
    )* )* };
}

// As above. Not timed yet: all of several channels but 3 × 3 of `u8`; of one channel those of 16 bits, 9 × 9, and of
// `f64` from 5 × 5 on.
full! {
    f32, f32, sm_75_80, 4, 1:
        3, 8: full_f32_3, 5, 6: full_f32_5, 7, 5: full_f32_7, 9, 6: full_f32_9, 11, 4: full_f32_11;
    f32, f32, sm_75_80, 4, 3:
        3, 8: full_f32x3_3, 5, 8: full_f32x3_5, 7, 7: full_f32x3_7, 11, 4: full_f32x3_11;
    f32, f32, sm_75_80, 4, 4:
        3, 8: full_f32x4_3, 5, 8: full_f32x4_5, 7, 6: full_f32x4_7, 11, 4: full_f32x4_11;
    f64, f64, sm_75_80, 2, 1:
        3, 6: full_f64_3, 5, 8: full_f64_5, 7, 7: full_f64_7, 11, 4: full_f64_11;
    f64, f64, sm_75_80, 2, 3:
        3, 8: full_f64x3_3, 5, 7: full_f64x3_5, 7, 5: full_f64x3_7, 11, 4: full_f64x3_11;
    f64, f64, sm_75_80, 2, 4:
        3, 8: full_f64x4_3, 5, 7: full_f64x4_5, 7, 5: full_f64x4_7, 11, 4: full_f64x4_11;
    u8, f32, sm_75_80, 16, 1:
        3, 4: full_u8_3, 5, 3: full_u8_5, 7, 2: full_u8_7;
    u8, f32, sm_75_80, 8, 1:
        9, 3: full_u8_9, 11, 2: full_u8_11;
    u8, f32, sm_75_80, 16, 3:
        3, 4: full_u8x3_3, 5, 3: full_u8x3_5, 7, 2: full_u8x3_7;
    u8, f32, sm_75_80, 8, 3:
        11, 2: full_u8x3_11;
    u8, f32, sm_75_80, 16, 4:
        3, 4: full_u8x4_3, 5, 3: full_u8x4_5, 7, 2: full_u8x4_7;
    u8, f32, sm_75_80, 8, 4:
        11, 2: full_u8x4_11;
    u16, f32, sm_75_80, 8, 1:
        3, 8: full_u16_3, 5, 6: full_u16_5, 7, 4: full_u16_7, 11, 2: full_u16_11;
    u16, f32, sm_75_80, 8, 3:
        3, 8: full_u16x3_3, 5, 5: full_u16x3_5, 7, 4: full_u16x3_7, 11, 2: full_u16x3_11;
    u16, f32, sm_75_80, 8, 4:
        3, 8: full_u16x4_3, 5, 5: full_u16x4_5, 7, 3: full_u16x4_7, 11, 2: full_u16x4_11;
}

macro_rules! sobel {
    ($($T:ty, $G:ty, $Sum:ty, $v:literal: $($images:ident, $channels:literal, $blocks:literal: $name:ident),*;)*) => { $( $(
        #[doc = concat!("Gradients of `", stringify!($T), "`, channels: ", stringify!($channels), ". Launch it as [`super::march`] says, with [`super::march::lane`] outputs a lane.")]
        #[kernel(images = $images, launch_bounds(128, $blocks))]
        pub fn $name(
            input: Global<$T>,
            gx: GlobalMut<$G>,
            gy: GlobalMut<$G>,
            magnitude: GlobalMut<$G>,
            direction: GlobalMut<$Sum>,
            geometry: Geometry,
            targets: Targets,
            outside: $T,
        ) {
            sobel::sobel::<$T, $G, $v, $channels>(input, Outputs { gx, gy, magnitude, direction }, geometry, targets, outside);
        }
    )* )* };
}

// With one block more, each spills for some architecture.
sobel! {
    f32, f32, f32, 4: sm_75_80, 1, 8: sobel_f32, sm_75_80, 3, 8: sobel_f32x3, sm_75_80, 4, 8: sobel_f32x4;
    f64, f64, f64, 2: sm_75_80, 1, 7: sobel_f64, sm_75_80, 3, 7: sobel_f64x3, sm_75_80, 4, 7: sobel_f64x4;
    u8, i16, f32, 16: sm_75_80, 1, 2: sobel_u8, sm_75_80, 3, 2: sobel_u8x3, sm_75_80, 4, 2: sobel_u8x4;
    u16, f32, f32, 8: sm_75_80, 1, 4: sobel_u16, sm_75_80, 3, 4: sobel_u16x3, sm_75_80, 4, 4: sobel_u16x4;
}

macro_rules! general_sobel {
    ($($T:ty, $G:ty, $Sum:ty: $name:ident;)*) => { $(
        #[doc = concat!("Gradients of `", stringify!($T), "`, any channels: a thread a column, [`sobel::THREADS`] a block.")]
        #[kernel(images = sm_75, launch_bounds(128))]
        pub fn $name(
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
    )* };
}

general_sobel! {
    f32, f32, f32: sobel_general_f32;
    f64, f64, f64: sobel_general_f64;
    u8, i16, f32: sobel_general_u8;
    u16, f32, f32: sobel_general_u16;
    i16, f32, f32: sobel_general_i16;
}

macro_rules! general {
    ($($T:ty, $Sum:ty, $weights:literal: $table:ident, $separable:ident, $full:ident;)*) => { $(
        #[doc = concat!("The most weights of a filter of `", stringify!($T), "` that travel with the launch.")]
        pub const $table: usize = $weights;

        #[doc = concat!("Separable filters of `", stringify!($T), "`: a thread a column, [`general::SEPARABLE_THREADS`] a block.")]
        #[kernel(images = sm_75, launch_bounds(64))]
        pub fn $separable(
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
        pub fn $full(
            input: Global<$T>,
            output: GlobalMut<$T>,
            geometry: Geometry,
            outside: $T,
            weights: Constant<$Sum, $table>,
            memory: Global<$Sum>,
            place_of_weights: u32,
        ) {
            general::full::<$T, $table>(input, output, geometry, outside, weights, memory, place_of_weights);
        }
    )* };
}

// 31 × 31 weights of f32, 21 × 21 of f64: with the other parameters less than 4 KB.
general! {
    f32, f32, 961: TABLE_F32, general_separable_f32, general_full_f32;
    f64, f64, 441: TABLE_F64, general_separable_f64, general_full_f64;
    u8, f32, 961: TABLE_U8, general_separable_u8, general_full_u8;
    u16, f32, 961: TABLE_U16, general_separable_u16, general_full_u16;
    i16, f32, 961: TABLE_I16, general_separable_i16, general_full_i16;
}
