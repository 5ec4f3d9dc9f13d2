//! Which types there are operations on.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::elementwise::{self, Lines};
use super::{ger, triangle};

/// The kernels for real numbers, but products: calls the macro `$with` with, for each type, the elements of a vector, and the
/// kernels of element-wise operations, of exchanges, of outer products, and of the products of a triangle.
#[macro_export]
macro_rules! real_instances {
    ($with:ident) => {
        $with! {
            f32, 4: linalg_elementwise_f32, linalg_swap_f32, linalg_ger_f32, linalg_triangle_f32;
            f64, 2: linalg_elementwise_f64, linalg_swap_f64, linalg_ger_f64, linalg_triangle_f64;
        }
    };
}

macro_rules! kernels {
    ($($T:ty, $v:literal: $elementwise:ident, $swap:ident, $ger:ident, $triangle:ident;)*) => { $(
        #[doc = concat!("Element-wise operations on `", stringify!($T), "`: blocks of [`elementwise::THREADS`] threads, as many as [`Lines`] needs.")]
        #[kernel(images = sm_75, launch_bounds(256, 5))]
        pub fn $elementwise(x: Global<$T>, y: Global<$T>, output: GlobalMut<$T>, lines: Lines, alpha: $T) {
            elementwise::elementwise::<$T, $v>(x, y, output, lines, alpha);
        }

        #[doc = concat!("Exchanges two arrays of `", stringify!($T), "`: blocks of [`elementwise::THREADS`] threads, as many as [`Lines`] needs.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $swap(x: GlobalMut<$T>, y: GlobalMut<$T>, lines: Lines) {
            elementwise::swap::<$T, $v>(x, y, lines);
        }

        #[doc = concat!("Outer products of `", stringify!($T), "`: blocks of [`elementwise::THREADS`] threads, as many as [`Lines`] needs.")]
        #[kernel(images = sm_75, launch_bounds(256, 5))]
        pub fn $ger(of_lines: Global<$T>, of_places: Global<$T>, a: GlobalMut<$T>, lines: Lines, alpha: $T) {
            ger::ger::<$T, $v>(of_lines, of_places, a, lines, alpha);
        }

        #[doc = concat!("Pieces of the products of a triangle of `", stringify!($T), "`: [`triangle::Shape::blocks`] blocks of [`triangle::THREADS`] threads with [`triangle::shared_bytes`].")]
        #[kernel(images = sm_75, launch_bounds(256, 4))]
        pub fn $triangle(a: Global<$T>, x: Global<$T>, partials: GlobalMut<$T>, shape: triangle::Shape) {
            triangle::triangle::<$T>(a, x, partials, &shape);
        }
    )* };
}
real_instances!(kernels);
