//! Which types are resized.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::Shape;
use super::bilinear::bilinear;
use super::half::half;

/// The kernels that know the type of elements: calls the macro `$with` with, for each type, the elements of a vector of the
/// input and of the output and the kernel that halves; the blocks of a multiprocessor and the kernel for any size.
#[macro_export]
macro_rules! resize_instances {
    ($with:ident) => {
        $with! {
            u8: 16, 8, stencil_resize_half_u8; 4, stencil_resize_bilinear_u8;
            u16: 8, 4, stencil_resize_half_u16; 4, stencil_resize_bilinear_u16;
            i16: 8, 4, stencil_resize_half_i16; 4, stencil_resize_bilinear_i16;
            f32: 4, 2, stencil_resize_half_f32; 4, stencil_resize_bilinear_f32;
            f64: 2, 1, stencil_resize_half_f64; 3, stencil_resize_bilinear_f64;
        }
    };
}

macro_rules! kernels {
    ($($T:ty: $v:literal, $h:literal, $half:ident; $blocks:literal, $bilinear:ident;)*) => { $(
        #[doc = concat!("Halves images of `", stringify!($T), "`: blocks of [`super::THREADS`] threads, as many as [`Shape`] says.")]
        #[kernel(images = sm_75, launch_bounds(256, 4))]
        pub fn $half(input: Global<$T>, output: GlobalMut<$T>, shape: Shape) {
            half::<$T, $v, $h>(input, output, shape);
        }

        #[doc = concat!("Resizes images of `", stringify!($T), "`: blocks of [`super::THREADS`] threads, as many as [`Shape`] says.")]
        #[kernel(images = sm_75, launch_bounds(256, $blocks))]
        pub fn $bilinear(input: Global<$T>, output: GlobalMut<$T>, shape: Shape, border: $T) {
            bilinear::<$T>(input, output, shape, border);
        }
    )* };
}
resize_instances!(kernels);
