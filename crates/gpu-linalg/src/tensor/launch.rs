//! Launches of products on the tensor cores.

use gpu_core::{IntoArguments, Stream, View, ViewMut};
use gpu_std::half::{Float16, bf16, f16};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::tensor_map::{Tensor, TensorMap};
use gpu_tensor_kernels as kernels;

use crate::plan::tensor::{Plan, Thin};

/// A type of factors that the tensor cores multiply: `bf16`, `f16`.
pub trait TensorElement: gpu_core::Element + sealed::Kernels<Sum = f32> {
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

    /// The bias, of which nothing is read where there is none, and the epilogue that it is of.
    pub type Fused = (Global<f32>, kernels::Usual);

    /// The parameters but for the epilogue: A, with its first map in all places or its lines in classes, B, C, what is to
    /// be done, alpha, beta.
    pub type OfProduct<T, S> =
        ([TensorMap; 4], kernels::Classes, TensorMap, GlobalMut<T>, kernels::Product, S, S);

    /// The same of matrices as they lie in memory.
    /// Behind C the table of where they start, of which nothing is read where there is none.
    pub type OfMatrices<T, S> =
        (Global<T>, Global<T>, GlobalMut<T>, Global<u64>, kernels::Product, kernels::Factors, S, S);

    /// Of the addition of parts: those, C, what is to be done, alpha, beta.
    pub type OfParts<T, S> = (Global<S>, GlobalMut<T>, kernels::Product, S, S);

    /// Of copies: A, B, where they go, what is to be done.
    pub type OfPacking<B> = (Global<B>, Global<B>, GlobalMut<u32>, kernels::Packing);

    /// Of products by pairs of blocks: A, B and C in boxes, C, what is to be done, alpha, beta.
    pub type OfPairs<T, S> = ([TensorMap; 3], GlobalMut<T>, kernels::Product, S, S);

    /// # Safety
    /// Each is the kernel of this type: with 128 sums a thread, where A lies
    /// along the inner axis and across, with 64, for capability 8.0, for thin factors, for parts,
    /// and for copies of elements that have the size of `Bits`.
    pub unsafe trait Kernels: gpu_core::Element {
        /// The sums' type, and that of `alpha` and `beta`.
        type Sum: gpu_core::Element;
        const ONE: Self::Sum;
        const ZERO: Self::Sum;
        /// Of factors with this type, whose sums and results of sums are the same.
        type Parts: gpu_std::memory::Element;
        type Bits: gpu_std::memory::Element;
        type Pack: Kernel<Arguments = OfPacking<Self::Bits>>;
        /// The arguments of kernels: of products, of matrices as they lie, of parts.
        type Product: IntoArguments<Self::Product>;
        type Matrices: IntoArguments<Self::Matrices>;
        type Added: IntoArguments<Self::Added>;
        type Wide: Kernel<Arguments = Self::Product>;
        type WideAcross: Kernel<Arguments = Self::Product>;
        type Narrow: Kernel<Arguments = Self::Product>;
        type Lanes: Kernel<Arguments = Self::Matrices>;
        type Thin: Kernel<Arguments = Self::Matrices>;
        type Finish: Kernel<Arguments = Self::Added>;
        /// Enqueues a product by pairs of blocks; `None` of a type without such a kernel, of which no plan has it.
        ///
        /// # Safety
        /// That of the launch.
        unsafe fn launch_pairs(
            _: &Stream,
            _: LaunchConfig,
            _: OfPairs<Self, Self::Sum>,
            _: Fused,
        ) -> Option<gpu_core::Result<()>> {
            None
        }
        /// With an epilogue, where the kernels have one.
        fn of_product(arguments: OfProduct<Self, Self::Sum>, epilogue: Fused) -> Self::Product;
        fn of_matrices(arguments: OfMatrices<Self, Self::Sum>, epilogue: Fused) -> Self::Matrices;
        fn of_parts(arguments: OfParts<Self::Parts, Self::Sum>, epilogue: Fused) -> Self::Added;
    }
}

/// The arguments of kernels with sums of this type.
macro_rules! arguments {
    (f32) => {
        arguments! { @product f32, (bias, usual) => bias: Global<f32>, usual: kernels::Usual }
        arguments! { @each f32, (bias, usual) => bias: Global<f32>, usual: kernels::Usual }
    };
    (i32) => {
        arguments! { @product i32, (_bias, _usual) => }
        arguments! { @each i32, (_bias, _usual) => }
    };
    // Of tf32, whose A may be in classes.
    (tf32) => {
        type Product = (
            TensorMap, TensorMap, TensorMap, TensorMap, kernels::Classes, TensorMap, GlobalMut<f32>,
            kernels::Product, f32, f32, Global<f32>, kernels::Usual,
        );

        fn of_product(
            ([a, second, third, fourth], classes, b, c, product, alpha, beta): sealed::OfProduct<f32, f32>,
            (bias, usual): Fused,
        ) -> Self::Product {
            (a, second, third, fourth, classes, b, c, product, alpha, beta, bias, usual)
        }

        arguments! { @each f32, (bias, usual) => bias: Global<f32>, usual: kernels::Usual }
    };
    (@product $Sum:ty, ($bias:ident, $usual:ident) => $($more:ident: $More:ty),*) => {
        type Product = (TensorMap, TensorMap, GlobalMut<Self>, kernels::Product, $Sum, $Sum, $($More),*);

        fn of_product(
            ([a, ..], _, b, c, product, alpha, beta): sealed::OfProduct<Self, $Sum>,
            ($bias, $usual): Fused,
        ) -> Self::Product {
            (a, b, c, product, alpha, beta, $($more),*)
        }
    };
    (@each $Sum:ty, ($bias:ident, $usual:ident) => $($more:ident: $More:ty),*) => {
        type Matrices = (
            Global<Self>, Global<Self>, GlobalMut<Self>, Global<u64>, kernels::Product, kernels::Factors, $Sum, $Sum,
            $($More),*
        );
        type Added = (Global<$Sum>, GlobalMut<Self::Parts>, kernels::Product, $Sum, $Sum, $($More),*);

        fn of_matrices(
            (a, b, c, starts, product, factors, alpha, beta): sealed::OfMatrices<Self, $Sum>,
            ($bias, $usual): Fused,
        ) -> Self::Matrices {
            (a, b, c, starts, product, factors, alpha, beta, $($more),*)
        }

        fn of_parts(
            (parts, c, product, alpha, beta): sealed::OfParts<Self::Parts, $Sum>,
            ($bias, $usual): Fused,
        ) -> Self::Added {
            (parts, c, product, alpha, beta, $($more),*)
        }
    };
}

macro_rules! elements {
    ($(
        $T:ident: $wide:ident $across:ident $pairs:ident $narrow:ident $lanes:ident $thin:ident
        $finish:ident;
    )*) => { $(
        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Sum = f32;
            const ONE: f32 = 1.0;
            const ZERO: f32 = 0.0;
            type Parts = $T;
            type Bits = u16;
            type Pack = kernels::tensor_pack_16;
            type Wide = kernels::$wide;
            type WideAcross = kernels::$across;
            type Narrow = kernels::$narrow;
            type Lanes = kernels::$lanes;
            type Thin = kernels::$thin;
            type Finish = kernels::$finish;
            arguments!(f32);

            unsafe fn launch_pairs(
                stream: &Stream,
                launch: LaunchConfig,
                ([a, b, lines], c, product, alpha, beta): sealed::OfPairs<Self, f32>,
                (bias, usual): Fused,
            ) -> Option<gpu_core::Result<()>> {
                let arguments = (a, b, lines, c, product, alpha, beta, bias, usual);
                // SAFETY: the caller's promise.
                Some(unsafe { stream.launch::<kernels::$pairs>(launch, arguments) })
            }
        }

        impl TensorElement for $T {
            fn widen(self) -> f32 {
                Float16::widen(self)
            }
        }

        impl TensorOutput<$T> for $T {
            fn narrow(value: f32) -> Self {
                Float16::narrow(value)
            }

            fn widen(self) -> f32 {
                Float16::widen(self)
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
    bf16: tensor_bf16_256 tensor_bf16_256_across tensor_bf16_pairs tensor_bf16_128
        tensor_bf16 tensor_thin_bf16 tensor_finish_bf16;
    f16: tensor_f16_256 tensor_f16_256_across tensor_f16_pairs tensor_f16_128
        tensor_f16 tensor_thin_f16 tensor_finish_f16;
}

// SAFETY: the kernels of tf32, whose factors lie along the inner axis; the sums of parts are `f32`, and so is C:
// the kernel for parts of `bf16` adds them.
unsafe impl sealed::Kernels for f32 {
    type Sum = f32;
    const ONE: f32 = 1.0;
    const ZERO: f32 = 0.0;
    type Parts = bf16;
    type Bits = u32;
    type Pack = kernels::tensor_pack_tf32;
    type Wide = kernels::tensor_tf32_256;
    type WideAcross = kernels::tensor_tf32_256;
    type Narrow = kernels::tensor_tf32_128;
    type Lanes = kernels::tensor_tf32;
    type Thin = kernels::tensor_thin_tf32;
    type Finish = kernels::tensor_finish_bf16;
    arguments!(tf32);
}

// SAFETY: the kernels of `i8`, whose sums are `i32`, as is C: their kernel for parts writes nothing else.
unsafe impl sealed::Kernels for i8 {
    type Sum = i32;
    const ONE: i32 = 1;
    const ZERO: i32 = 0;
    type Parts = i8;
    type Bits = u8;
    type Pack = kernels::tensor_pack_i8;
    type Wide = kernels::tensor_i8_256;
    type WideAcross = kernels::tensor_i8_256;
    type Narrow = kernels::tensor_i8_128;
    type Lanes = kernels::tensor_i8;
    type Thin = kernels::tensor_thin_i8;
    type Finish = kernels::tensor_finish_i8;
    arguments!(i32);
}

/// Types that kernels multiply: those of [`TensorElement`], and `f32` as tf32 and `i8`, which are asked for by other
/// functions' names.
pub(crate) use sealed::{Fused, Kernels};

/// Where a product's results go: C, by an epilogue, and the sums of its parts, of four bytes.
pub(crate) struct Target<'a, C: gpu_core::Element, S: gpu_core::Element> {
    pub c: ViewMut<'a, C>,
    pub epilogue: Fused,
    pub scratch: ViewMut<'a, S>,
    /// The table of a [listed](Plan::listed) plan.
    pub starts: Option<View<'a, u64>>,
}

/// What a kernel writes: where, scaled by alpha and beta, and by which epilogue.
type Written<T, S> = (GlobalMut<T>, (S, S), Fused);

impl<C: gpu_core::Element, S: gpu_core::Element> Target<'_, C, S> {
    /// The table of where matrices start; without one nothing is read, from `anywhere`.
    fn starts<T: gpu_core::Element>(&self, anywhere: Global<T>) -> Global<u64> {
        self.starts.map_or(anywhere.cast(), |starts| starts.as_global())
    }

    /// What the kernel writes: C, or sums of parts as they are.
    fn of_kernel<T: Kernels<Sum = S>>(&mut self, plan: &Plan, scales: (S, S)) -> Written<T, S> {
        // The kernels know from the plan which of its two types C has.
        match plan.finish {
            None => (self.c.as_global_mut().cast::<T>(), scales, self.epilogue),
            Some(_) => {
                let (bias, _) = self.epilogue;
                (
                    self.scratch.as_global_mut().cast::<T>(),
                    (T::ONE, T::ZERO),
                    (bias, kernels::Usual::default()),
                )
            }
        }
    }

    /// Enqueues the addition of the parts, if there are any.
    fn finish<T: Kernels<Sum = S>>(
        &mut self,
        stream: &Stream,
        plan: &Plan,
        (alpha, beta): (S, S),
    ) -> gpu_core::Result<()> {
        let Some((launch, product)) = plan.finish else { return Ok(()) };
        let c = self.c.as_global_mut().cast::<T::Parts>();
        let parts = self.scratch.as_global_mut().as_global();
        let arguments = T::of_parts((parts, c, product, alpha, beta), self.epilogue);
        // SAFETY: the parts' sums, for which there is room (checked by the caller), were written by the launch
        // before; C's matrices are apart and exclusive, and the kernel keeps to their shape, for which the bias is
        // long enough (checked by the caller, too).
        unsafe { stream.launch::<T::Finish>(launch, arguments) }
    }
}

/// Enqueues the copies of factors that `plan` has. What a kernel then reads, A first.
pub(crate) fn pack<T: Kernels, C: gpu_core::Element>(
    stream: &Stream,
    plan: &Plan,
    a: View<'_, T>,
    b: View<'_, T>,
    target: &mut Target<'_, C, T::Sum>,
) -> gpu_core::Result<[Global<T>; 2]> {
    let (a, b) = if plan.swapped != plan.turned { (b, a) } else { (a, b) };
    let given = [a.as_global(), b.as_global()];
    let Some(pack) = &plan.pack else { return Ok(given) };
    let memory = target.scratch.as_global_mut();
    let [a, b] = given.map(Global::cast::<T::Bits>);
    // SAFETY: the kernel reads what is inside the factors' shapes, and writes the scratch memory, which is aligned, has
    // room for the parts and the copies behind them (checked by the caller), and shares nothing with the factors.
    // Memory is freed only after the work enqueued before.
    unsafe { stream.launch::<T::Pack>(pack.launch, (a, b, memory.cast(), pack.packing)) }?;
    Ok([0, 1].map(|at| {
        let copy = memory.as_global().offset(pack.packing.packed_first[at]).cast();
        if pack.copied[at] { copy } else { given[at] }
    }))
}

/// Enqueues the product of `plan`, which is that of the views' layouts; its factors are `factors`, those that the copy
/// engine takes.
pub(crate) fn by_warps<T: Kernels, C: gpu_core::Element>(
    stream: &Stream,
    plan: &Plan,
    [a, b]: [Tensor; 2],
    scales: (T::Sum, T::Sum),
    target: &mut Target<'_, C, T::Sum>,
) -> gpu_core::Result<()> {
    let (a, b) = (stream.tensor_map(&a)?, stream.tensor_map(&b)?);
    let (c, (alpha, beta), epilogue) = target.of_kernel::<T>(plan, scales);
    if plan.paired {
        // A map that nothing is written with is any.
        let lines = match plan.output(c.address()) {
            Some(output) => stream.tensor_map(&output)?,
            None => a,
        };
        let arguments = ([a, b, lines], c, plan.product, alpha, beta);
        // SAFETY: as below; `lines` is C, or the memory of the parts, as the plan has it.
        if let Some(launched) = unsafe { T::launch_pairs(stream, plan.launch, arguments, epilogue) } {
            launched?;
        }
        return target.finish::<T>(stream, plan, scales);
    }
    let (maps, classes) = match &plan.classes {
        None => ([a; 4], kernels::Classes { count: 1, ..kernels::Classes::default() }),
        Some((tensors, classes)) => {
            let mut maps = [a; 4];
            for (map, tensor) in maps.iter_mut().zip(tensors) {
                *map = stream.tensor_map(tensor)?;
            }
            (maps, *classes)
        }
    };
    let arguments = T::of_product((maps, classes, b, c, plan.product, alpha, beta), epilogue);
    // SAFETY: the maps are of batches that views hold, or of copies in the scratch memory behind the parts, and nothing
    // outside is copied. The caller has checked that C's matrices are apart, that there is room for the parts, that the
    // bias is long enough for C's shape, to which the kernel keeps, and that C and the scratch memory share nothing
    // with what is read. Memory is freed only after the work enqueued before.
    unsafe {
        if plan.sums == 128 && plan.product.across[0] != 0 {
            stream.launch::<T::WideAcross>(plan.launch, arguments)
        } else if plan.sums == 128 {
            stream.launch::<T::Wide>(plan.launch, arguments)
        } else {
            stream.launch::<T::Narrow>(plan.launch, arguments)
        }?;
    }
    target.finish::<T>(stream, plan, scales)
}

/// The same for any factors.
pub(crate) fn by_lanes<T: Kernels, C: gpu_core::Element>(
    stream: &Stream,
    plan: &Plan,
    scales: (T::Sum, T::Sum),
    [a, b]: [Global<T>; 2],
    target: &mut Target<'_, C, T::Sum>,
) -> gpu_core::Result<()> {
    let (launch, factors) = plan.lanes;
    let starts = target.starts(a);
    let (c, (alpha, beta), epilogue) = target.of_kernel::<T>(plan, scales);
    let arguments = T::of_matrices((a, b, c, starts, plan.product, factors, alpha, beta), epilogue);
    // SAFETY: as above; the kernel reads what is inside the factors' shapes, and the table of a plan that is listed.
    unsafe { stream.launch::<T::Lanes>(launch, arguments) }?;
    target.finish::<T>(stream, plan, scales)
}

/// The same of any factors, one of them thin.
pub(crate) fn by_thin<T: Kernels, C: gpu_core::Element>(
    stream: &Stream,
    plan: &Plan,
    thin: Thin,
    scales: (T::Sum, T::Sum),
    [a, b]: [Global<T>; 2],
    target: &mut Target<'_, C, T::Sum>,
) -> gpu_core::Result<()> {
    let (a, b) = if thin.swapped { (b, a) } else { (a, b) };
    let starts = target.starts(a);
    let (c, (alpha, beta), epilogue) = target.of_kernel::<T>(plan, scales);
    let arguments = T::of_matrices((a, b, c, starts, thin.product, thin.factors, alpha, beta), epilogue);
    // SAFETY: as above.
    unsafe { stream.launch::<T::Thin>(thin.launch, arguments) }?;
    target.finish::<T>(stream, plan, scales)
}
