//! The launches: the only unsafe code of resizing.

use gpu_core::Stream;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::resize::{self as kernels, Pixel, Shape};

use super::Interpolation;
use super::plan::{Kernel, Plan};
use crate::error::Error;

/// An element of an image that can be resized: `f32`, `f64`, `u8`, `u16`, `i16`.
pub trait Element: gpu_core::Element + Pixel + sealed::Kernels {}

mod sealed {
    use super::*;

    /// The kernels.
    pub trait Kernels: Sized {
        /// Enqueues a resize.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold the images of `shape`, and the output's be shared with
        /// nothing; `kernel` and `config` must be those of the plan.
        unsafe fn resize(
            kernel: Kernel,
            stream: &Stream,
            config: LaunchConfig,
            input: Global<Self>,
            output: GlobalMut<Self>,
            shape: Shape,
            border: Self,
        ) -> Result<(), gpu_core::Error>
        where
            Self: gpu_std::memory::Element;
    }
}

macro_rules! elements {
    ($($T:ty, $Bits:ty: $bilinear:ident, $half:ident, $nearest:ident;)*) => { $(
        impl Element for $T {}

        impl sealed::Kernels for $T {
            #[inline]
            unsafe fn resize(
                kernel: Kernel,
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self>,
                output: GlobalMut<Self>,
                shape: Shape,
                border: Self,
            ) -> Result<(), gpu_core::Error> {
                match kernel {
                    // SAFETY: the caller's promise.
                    Kernel::Bilinear => unsafe {
                        kernels::$bilinear::launch(stream, config, input, output, shape, border)
                    },
                    // SAFETY: the caller's promise.
                    Kernel::Half => unsafe { kernels::$half::launch(stream, config, input, output, shape) },
                    Kernel::Nearest => {
                        let (input, output) = (input.cast::<$Bits>(), output.cast::<$Bits>());
                        // SAFETY: the caller's promise; the bits lie where the elements do.
                        unsafe { kernels::$nearest::launch(stream, config, input, output, shape) }
                    }
                }
            }
        }
    )* };
}
elements! {
    u8, u8: stencil_resize_bilinear_u8, stencil_resize_half_u8, stencil_resize_nearest_b8;
    u16, u16: stencil_resize_bilinear_u16, stencil_resize_half_u16, stencil_resize_nearest_b16;
    i16, u16: stencil_resize_bilinear_i16, stencil_resize_half_i16, stencil_resize_nearest_b16;
    f32, u32: stencil_resize_bilinear_f32, stencil_resize_half_f32, stencil_resize_nearest_b32;
    f64, u64: stencil_resize_bilinear_f64, stencil_resize_half_f64, stencil_resize_nearest_b64;
}

/// Enqueues the resize of `plan`, whose images start at `input` and `output`.
pub(super) fn resize<T: Element>(
    stream: &Stream,
    plan: &Plan,
    input: Global<T>,
    output: GlobalMut<T>,
    interpolation: Interpolation<T>,
) -> Result<(), Error> {
    let border = match interpolation {
        Interpolation::Nearest => T::default(),
        Interpolation::Bilinear(addressing) => addressing.code().1,
    };
    // SAFETY: the caller took the accessors from views that hold the images of the plan's layouts, of which the
    // output's is exclusive and shares no memory with the input's; everything is freed only after the work enqueued
    // before.
    unsafe { T::resize(plan.kernel, stream, plan.launch, input, output, plan.shape, border)? };
    Ok(())
}
