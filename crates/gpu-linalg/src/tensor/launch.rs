//! Launches of products on the tensor cores.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::Kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::tensor_map::{Tensor, TensorMap};
use gpu_tensor_kernels as kernels;

use crate::error::Error;
use crate::plan::tensor::Plan;

/// A type of factors that the tensor cores multiply: `bf16`, `f16`.
pub trait TensorElement: gpu_core::Element + sealed::Kernels {
    /// Its value, exactly.
    fn widen(self) -> f32;
}

/// What products of `T` can be written as: `f32`, or `T` itself, rounded to even.
pub trait TensorOutput<T: TensorElement>: gpu_core::Element {
    /// Rounded.
    fn narrow(value: f32) -> Self;
    /// Its value, exactly.
    fn widen(self) -> f32;
}

mod sealed {
    use super::*;

    /// The parameters: A, B, C, what is to be done, alpha, beta.
    pub type OfProduct<T> = (TensorMap, TensorMap, GlobalMut<T>, kernels::Product, f32, f32);

    /// The same of matrices as they lie in memory.
    pub type OfMatrices<T> =
        (Global<T>, Global<T>, GlobalMut<T>, kernels::Product, kernels::Factors, f32, f32);

    /// Of the addition of parts: those, C, what is to be done, alpha, beta.
    pub type OfParts<T> = (Global<f32>, GlobalMut<T>, kernels::Product, f32, f32);

    /// # Safety
    /// Each is the kernel of this type: with 128 sums a thread, with 64, for capability 8.0, and for parts.
    pub unsafe trait Kernels: gpu_std::memory::Element {
        type Wide: Kernel<Arguments = OfProduct<Self>>;
        type Narrow: Kernel<Arguments = OfProduct<Self>>;
        type Lanes: Kernel<Arguments = OfMatrices<Self>>;
        type Finish: Kernel<Arguments = OfParts<Self>>;
    }
}

macro_rules! elements {
    ($($T:ident: $wide:ident $narrow:ident $lanes:ident $finish:ident;)*) => { $(
        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Wide = kernels::$wide;
            type Narrow = kernels::$narrow;
            type Lanes = kernels::$lanes;
            type Finish = kernels::$finish;
        }

        impl TensorElement for $T {
            fn widen(self) -> f32 {
                self.to_f32()
            }
        }

        impl TensorOutput<$T> for $T {
            fn narrow(value: f32) -> Self {
                <$T>::from_f32(value)
            }

            fn widen(self) -> f32 {
                self.to_f32()
            }
        }

        impl TensorOutput<$T> for f32 {
            fn narrow(value: f32) -> Self {
                value
            }

            fn widen(self) -> f32 {
                self
            }
        }
    )* };
}
elements! {
    bf16: tensor_bf16_256 tensor_bf16_128 tensor_bf16 tensor_finish_bf16;
    f16: tensor_f16_256 tensor_f16_128 tensor_f16 tensor_finish_f16;
}

/// Where a product's results go: C, and the sums of its parts.
pub(crate) struct Target<'a, C: gpu_core::Element> {
    pub c: ViewMut<'a, C>,
    pub scratch: ViewMut<'a, f32>,
}

impl<C: gpu_core::Element> Target<'_, C> {
    /// What the kernel writes, and the scales it uses.
    fn of_kernel<T: TensorElement>(&mut self, plan: &Plan, scales: (f32, f32)) -> (GlobalMut<T>, (f32, f32)) {
        // The kernels know from the plan which of its two types C has.
        match plan.finish {
            None => (self.c.as_global_mut().cast::<T>(), scales),
            Some(_) => (self.scratch.as_global_mut().cast::<T>(), (1.0, 0.0)),
        }
    }

    /// Enqueues the addition of the parts, if there are any.
    fn finish<T: TensorElement>(
        &mut self,
        stream: &Stream,
        plan: &Plan,
        (alpha, beta): (f32, f32),
    ) -> Result<(), Error> {
        let Some((launch, product)) = plan.finish else { return Ok(()) };
        let c = self.c.as_global_mut().cast::<T>();
        let parts = self.scratch.as_global_mut().as_global();
        // SAFETY: the parts' sums, for which there is room (checked by the caller), were written by the launch before; C's
        // matrices are apart and exclusive, and the kernel keeps to their shape.
        unsafe { stream.launch::<T::Finish>(launch, (parts, c, product, alpha, beta)) }?;
        Ok(())
    }
}

/// Enqueues the product of `plan`, which is that of the views' layouts; its factors are `factors`, those that the copy
/// engine takes.
pub(crate) fn by_warps<T: TensorElement, C: TensorOutput<T>>(
    stream: &Stream,
    plan: &Plan,
    [a, b]: [Tensor; 2],
    scales: (f32, f32),
    target: &mut Target<'_, C>,
) -> Result<(), Error> {
    let (a, b) = (stream.tensor_map(&a)?, stream.tensor_map(&b)?);
    let (c, (alpha, beta)) = target.of_kernel::<T>(plan, scales);
    let arguments = (a, b, c, plan.product, alpha, beta);
    // SAFETY: the maps are those of batches that views hold, outside of which nothing is copied; they were checked where
    // they were made, C's matrices to be apart, and the caller has checked that C and the scratch memory, which has room for
    // the parts, share none with the factors. The kernel keeps to C's shape. Memory is freed only after the work
    // enqueued before.
    unsafe {
        if plan.sums == 128 {
            stream.launch::<T::Wide>(plan.launch, arguments)
        } else {
            stream.launch::<T::Narrow>(plan.launch, arguments)
        }?;
    }
    target.finish::<T>(stream, plan, scales)
}

/// The same for any factors.
pub(crate) fn by_lanes<T: TensorElement, C: TensorOutput<T>>(
    stream: &Stream,
    plan: &Plan,
    scales: (f32, f32),
    a: View<'_, T>,
    b: View<'_, T>,
    target: &mut Target<'_, C>,
) -> Result<(), Error> {
    let (a, b) = if plan.swapped { (b, a) } else { (a, b) };
    let (launch, factors) = plan.lanes;
    let (c, (alpha, beta)) = target.of_kernel::<T>(plan, scales);
    let arguments = (a.as_global(), b.as_global(), c, plan.product, factors, alpha, beta);
    // SAFETY: as above; the kernel reads what is inside the factors' shapes.
    unsafe { stream.launch::<T::Lanes>(launch, arguments) }?;
    target.finish::<T>(stream, plan, scales)
}
