//! The launches: the only unsafe code of resizing.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::resize::{self as kernels, Pixel, Shape};

use super::Interpolation;
use super::plan::{Kernel, Plan};

/// An element of an image that can be resized: `f32`, `f64`, `u8`, `u16`, `i16`.
pub trait Element: gpu_core::Element + Pixel + sealed::Kernels {}

mod sealed {
    use gpu_std::launch::Kernel;

    use super::*;

    /// The kernels of a type.
    ///
    /// # Safety
    /// Each is that of its name, of this type.
    pub unsafe trait Kernels: gpu_std::memory::Element {
        /// Input, output, shape, what is outside.
        type Bilinear: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, Shape, Self)>;
        /// Input, output, shape.
        type Half: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, Shape)>;
    }
}

macro_rules! elements {
    ($($T:ty: $v:literal, $h:literal, $half:ident; $blocks:literal, $bilinear:ident;)*) => { $(
        impl Element for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Bilinear = kernels::$bilinear;
            type Half = kernels::$half;
        }
    )* };
}
gpu_stencil_kernels::resize_instances!(elements);

/// Enqueues the resize of `plan`.
pub(super) fn resize<T: Element>(
    stream: &Stream,
    plan: &Plan,
    input: View<'_, T>,
    output: ViewMut<'_, T>,
    interpolation: Interpolation<T>,
) -> gpu_core::Result<()> {
    let border = match interpolation {
        Interpolation::Nearest => T::default(),
        Interpolation::Bilinear(addressing) => addressing.code().1,
    };
    let Plan { launch, shape, .. } = *plan;
    // Of the nearest pixels it moves the bits, whatever they mean.
    macro_rules! nearest {
        ($kernel:ident) => {
            stream.launch::<kernels::$kernel>(launch, (input.untyped(), output.untyped(), shape))
        };
    }
    // SAFETY: the views hold the images of the plan's layouts (checked where they were made), and the output is
    // exclusive and shares no memory with the input; everything is freed only after the work enqueued before.
    unsafe {
        match (plan.kernel, size_of::<T>()) {
            (Kernel::Bilinear, _) => stream.launch::<T::Bilinear>(launch, (input, output, shape, border)),
            (Kernel::Half, _) => stream.launch::<T::Half>(launch, (input, output, shape)),
            (Kernel::Nearest, 1) => nearest!(stencil_resize_nearest_b8),
            (Kernel::Nearest, 2) => nearest!(stencil_resize_nearest_b16),
            (Kernel::Nearest, 4) => nearest!(stencil_resize_nearest_b32),
            (Kernel::Nearest, _) => nearest!(stencil_resize_nearest_b64),
        }
    }
}
