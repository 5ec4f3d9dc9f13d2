//! Which types are iterated, and how.

use gpu_std::constant::Constant;
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::march::{self, March};
use super::step::{self, Step};
use super::strip::{self, Strips};

/// The kernels: calls the macro `$with` with, for each type, the elements of a vector; the blocks of a multiprocessor and
/// the kernel of a star in a volume; the kernel of anything; and those of several steps of a star or box of radius 1 on
/// a plane: what it is, the steps, whether it is a box, whether with a source, the kernel.
#[macro_export]
macro_rules! iterate_instances {
    ($with:ident) => {
        $with! {
            f32, 4: 4, stencil_march_f32; stencil_step_f32; {
                Star8: 8, false, false, stencil_star_8_f32;
                Star4: 4, false, true, stencil_star_4_f32;
                Box4: 4, true, true, stencil_box_4_f32;
            }
            f64, 2: 3, stencil_march_f64; stencil_step_f64; {
                Star4: 4, false, true, stencil_star_4_f64;
                Box4: 4, true, true, stencil_box_4_f64;
            }
        }
    };
}

macro_rules! kernels {
    ($($T:ty, $v:literal: $blocks:literal, $march:ident; $step:ident; {
        $($kernel:ident: $steps:literal, $box:literal, $source:literal, $strip:ident;)*
    })*) => { $(
        #[doc = concat!("A step of a star in a volume, on `", stringify!($T), "`: blocks of [`march::THREADS`] threads, one for every")]
        /// [`march::ROWS`] rows of [`march::WIDTH_BYTES`] bytes and so many planes as it marches through.
        #[kernel(images = sm_75, launch_bounds(256, $blocks))]
        pub fn $march(
            input: Global<$T>,
            source: Global<$T>,
            output: GlobalMut<$T>,
            shape: March,
            weights: Constant<$T, { march::TABLE }>,
        ) {
            march::march::<$T, $v>(input, source, output, shape, weights);
        }

        #[doc = concat!("A step on `", stringify!($T), "`: blocks of [`step::THREADS`] threads, one for every [`step::ROWS`] ×")]
        /// [`step::COLUMNS`] cells of each plane.
        #[kernel(images = sm_75, launch_bounds(256, 3))]
        pub fn $step(
            input: Global<$T>,
            source: Global<$T>,
            output: GlobalMut<$T>,
            shape: Step,
            factor: $T,
            weights: Constant<$T, { step::TABLE }>,
            distances: Constant<i64, { step::TABLE }>,
            places: Constant<u32, { step::TABLE }>,
        ) {
            step::step(input, source, output, shape, factor, weights, distances, places);
        }

        $(
            #[doc = concat!(stringify!($steps), " steps on `", stringify!($T), "`: blocks of [`strip::THREADS`] threads, a warp for each strip.")]
            #[kernel(images = sm_75, launch_bounds(128, 4))]
            pub fn $strip(
                input: Global<$T>,
                source: Global<$T>,
                output: GlobalMut<$T>,
                strips: Strips,
                weights: Constant<$T, { strip::TABLE }>,
            ) {
                strip::strip::<$T, $v, $steps, $box, $source>(input, source, output, strips, weights);
            }
        )*
    )* };
}
iterate_instances!(kernels);
