//! The launches, and the CPU's instructions: the crate's only unsafe code.

use gpu_core::{AnyKernel, Stream, View, ViewMut};
use gpu_std::constant::Constant;
use gpu_std::float::Float;
use gpu_std::launch::Kernel as Typed;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::filter::general::{self, SEPARABLE_WEIGHTS};
use gpu_stencil_kernels::filter::sobel::Targets;
use gpu_stencil_kernels::filter::{self, FAST_FULL_WEIGHTS, FAST_SEPARABLE_WEIGHTS, Geometry};

use crate::plan::{Kernel, Plan};
use crate::weights::Weight;

/// What the sums of pixels can be: themselves pixels, weights, and sides of angles.
pub trait Sum: Weight + filter::Pixel<Sum = Self> + filter::arctangent::Coefficients + sealed::Table {}

impl Sum for f32 {}
impl Sum for f64 {}

/// A type of elements of images: `u8`, `u16`, `i16`, `f32` and `f64`.
///
/// Sums are of type `Sum`, `f64` for `f64` and else `f32`. Integers take part exactly, and what comes out is rounded
/// once, to the nearest integer, ties to even, and saturated; NaN, which weights can bring about, becomes the
/// smallest integer.
pub trait Pixel: gpu_core::Element + filter::Pixel<Sum: Sum> + sealed::Kernels {
    /// What gradients are stored in: `i16` for `u8`, which holds all of them exactly; `f32` for 16 bits; else the
    /// type itself.
    type Gradient: gpu_core::Element + filter::Pixel<Sum = Self::Sum>;
}

/// The accessors of Sobel's outputs: gx, gy, magnitude, direction.
pub(crate) type Gradients<T> = (
    GlobalMut<<T as Pixel>::Gradient>,
    GlobalMut<<T as Pixel>::Gradient>,
    GlobalMut<<T as Pixel>::Gradient>,
    GlobalMut<<T as filter::Pixel>::Sum>,
);

pub(crate) mod sealed {
    use super::*;

    /// Tables of weights that travel with a launch of a full filter.
    pub trait Table: Sized {
        /// The table.
        type Table;
        /// The most weights.
        const TABLE: usize;

        /// That of these weights.
        fn table(weights: &[Self]) -> Self::Table;
    }

    impl Table for f32 {
        type Table = Constant<f32, { Self::TABLE }>;
        const TABLE: usize = filter::TABLE_F32;

        fn table(weights: &[f32]) -> Self::Table {
            table(weights)
        }
    }

    impl Table for f64 {
        type Table = Constant<f64, { Self::TABLE }>;
        const TABLE: usize = filter::TABLE_F64;

        fn table(weights: &[f64]) -> Self::Table {
            table(weights)
        }
    }

    /// The parameters of a filter with a table `W` of weights: input, output, geometry, what is outside, the table.
    pub type Of<T, W> = (Global<T>, GlobalMut<T>, Geometry, T, W);
    /// Those of the full filter for everything: also weights in memory, and where they are.
    pub type OfFull<T, S> = (Global<T>, GlobalMut<T>, Geometry, T, <S as Table>::Table, Global<S>, u32);
    /// Those of gradients: input, outputs, geometry, which outputs, what is outside.
    pub type OfSobel<T, G, S> =
        (Global<T>, GlobalMut<G>, GlobalMut<G>, GlobalMut<G>, GlobalMut<S>, Geometry, Targets, T);
    /// The fast kernels of some parameters, by taps along both axes and channels.
    pub type Fast<A> = &'static [((u32, u32), AnyKernel<A>)];

    /// The kernels of a type.
    ///
    /// # Safety
    /// Each is that of its name, of this type.
    pub unsafe trait Kernels: gpu_core::Element + filter::Pixel<Sum: Sum> {
        /// The type, as wide, whose fast kernels take it, its bits flipped as the geometry says.
        type Fast: Kernels<Sum = Self::Sum>;
        /// Elements of gradients.
        type Stored: gpu_core::Element;
        const SEPARABLE: Fast<Of<Self, Constant<Self::Sum, FAST_SEPARABLE_WEIGHTS>>>;
        const FULL: Fast<Of<Self, Constant<Self::Sum, FAST_FULL_WEIGHTS>>>;
        const SOBEL: Fast<OfSobel<Self, Self::Stored, Self::Sum>>;
        /// The kernels for everything.
        type Separable: Typed<Arguments = Of<Self, Constant<Self::Sum, SEPARABLE_WEIGHTS>>>;
        type Full: Typed<Arguments = OfFull<Self, Self::Sum>>;
        type Sobel: Typed<Arguments = OfSobel<Self, Self::Stored, Self::Sum>>;
    }
}

use sealed::{Fast, Kernels as _, Table};

macro_rules! pixels {
    ($T:ty as $Fast:ty, $Sum:ty, $G:ty, $general_separable:ident, $general_full:ident, $general_sobel:ident;
        separable { $($v:literal, $channels:literal: $($taps:literal, $blocks:literal: $separable:ident),*;)* }
        full { $($full_v:literal, $full_channels:literal: $($full_taps:literal, $full_blocks:literal: $full:ident),*;)* }
        sobel { $($sobel_v:literal: $($sobel_channels:literal, $sobel_blocks:literal: $sobel:ident),*;)? }) => {
        impl Pixel for $T {
            type Gradient = $G;
        }

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Fast = $Fast;
            type Stored = $G;
            const SEPARABLE: Fast<sealed::Of<Self, Constant<$Sum, FAST_SEPARABLE_WEIGHTS>>> =
                &[$($((($taps, $channels), AnyKernel::of::<filter::$separable>())),*),*];
            const FULL: Fast<sealed::Of<Self, Constant<$Sum, FAST_FULL_WEIGHTS>>> =
                &[$($((($full_taps, $full_channels), AnyKernel::of::<filter::$full>())),*),*];
            const SOBEL: Fast<sealed::OfSobel<Self, $G, $Sum>> =
                &[$($(((3, $sobel_channels), AnyKernel::of::<filter::$sobel>())),*)?];
            type Separable = filter::$general_separable;
            type Full = filter::$general_full;
            type Sobel = filter::$general_sobel;
        }
    };
}
gpu_stencil_kernels::filter_instances!(pixels);

/// The first `N` entries, with zeros where there are less: nobody reads those.
pub(crate) fn table<'a, S: gpu_core::Element, const N: usize>(
    weights: impl IntoIterator<Item = &'a S>,
) -> Constant<S, N> {
    let mut entries = [S::zeroed(); N];
    for (entry, weight) in entries.iter_mut().zip(weights) {
        *entry = *weight;
    }
    Constant::new(entries)
}

/// Geometry and what is outside for the fast kernels, which take `i16` for `u16`.
fn flipped<T: Pixel>(geometry: Geometry, outside: T) -> (Geometry, T::Fast) {
    (Geometry { flip: T::FLIP, ..geometry }, bytemuck::cast(outside))
}

/// The fast kernel that the plan, made from the same table, is for.
fn fast<A>(kernel: Kernel, kernels: Fast<A>) -> Option<AnyKernel<A>> {
    let Kernel::Fast { taps, channels } = kernel else { return None };
    let of_plan = kernels.iter().find(|(instance, _)| *instance == (taps, channels));
    Some(of_plan.expect("the plan was made from the table").1)
}

/// Enqueues the separable filter of `plan`, its weights in the kernel's order.
pub(crate) fn separable<T: Pixel>(
    stream: &Stream,
    plan: &Plan,
    input: View<'_, T>,
    output: ViewMut<'_, T>,
    outside: T,
    [row, column]: [&[T::Sum]; 2],
) -> gpu_core::Result<()> {
    // SAFETY: the views hold the images of the plan's layouts (checked where they were made), and the output, whose
    // images do not overlap, is exclusive; everything is freed only after the work enqueued before.
    unsafe {
        if let Some(kernel) = fast(plan.kernel, T::Fast::SEPARABLE) {
            let (geometry, outside) = flipped(plan.geometry, outside);
            let weights = table(row.iter().chain(column));
            let arguments = (input.untyped(), output.untyped(), geometry, outside, weights);
            stream.launch_any(kernel, plan.launch, arguments)
        } else {
            let zeros = [<T::Sum as Float>::ZERO; SEPARABLE_WEIGHTS / 2];
            let weights = table(row.iter().chain(&zeros[row.len()..]).chain(column));
            stream.launch::<T::Separable>(plan.launch, (input, output, plan.geometry, outside, weights))
        }
    }
}

/// Enqueues the full filter of `plan`. `weights` are in the kernel's order; those `uploaded`, where there are too
/// many for the launch, in that of the filter, which is to be `reversed` or not.
pub(crate) fn full<T: Pixel>(
    stream: &Stream,
    plan: &Plan,
    input: View<'_, T>,
    output: ViewMut<'_, T>,
    outside: T,
    weights: &[T::Sum],
    uploaded: Option<(View<'_, T::Sum>, bool)>,
) -> gpu_core::Result<()> {
    let (memory, place) = match uploaded {
        Some((weights, true)) => (weights.as_global(), general::IN_MEMORY_REVERSED),
        Some((weights, false)) => (weights.as_global(), general::IN_MEMORY),
        // SAFETY: nobody reads it.
        None => (unsafe { Global::from_raw(0) }, general::IN_TABLE),
    };
    // SAFETY: as for separable filters; those uploaded are as many as the filter has places.
    unsafe {
        if let Some(kernel) = fast(plan.kernel, T::Fast::FULL) {
            let (geometry, outside) = flipped(plan.geometry, outside);
            let arguments = (input.untyped(), output.untyped(), geometry, outside, table(weights));
            stream.launch_any(kernel, plan.launch, arguments)
        } else {
            let arguments = (input, output, plan.geometry, outside, Table::table(weights), memory, place);
            stream.launch::<T::Full>(plan.launch, arguments)
        }
    }
}

/// Where an output starts, if it is wanted.
pub(crate) fn target<T: gpu_core::Element>(output: Option<&mut ViewMut<'_, T>>) -> GlobalMut<T> {
    match output {
        Some(output) => output.as_global_mut(),
        // SAFETY: the kernels touch no output that is not wanted.
        None => unsafe { GlobalMut::from_raw(0) },
    }
}

/// Enqueues the gradients of `plan` and `targets`; the caller took the accessors from exclusive views that hold them.
pub(crate) fn sobel<T: Pixel>(
    stream: &Stream,
    plan: &Plan,
    input: View<'_, T>,
    (gx, gy, magnitude, direction): Gradients<T>,
    targets: Targets,
    outside: T,
) -> gpu_core::Result<()> {
    // SAFETY: as for separable filters, for each output that is wanted; both types' gradients are the same.
    unsafe {
        if let Some(kernel) = fast(plan.kernel, T::Fast::SOBEL) {
            let (geometry, outside) = flipped(plan.geometry, outside);
            let (gx, gy, magnitude) = (gx.cast(), gy.cast(), magnitude.cast());
            let arguments = (input.untyped(), gx, gy, magnitude, direction, geometry, targets, outside);
            stream.launch_any(kernel, plan.launch, arguments)
        } else {
            let (gx, gy, magnitude) = (gx.cast(), gy.cast(), magnitude.cast());
            let arguments = (input, gx, gy, magnitude, direction, plan.geometry, targets, outside);
            stream.launch::<T::Sobel>(plan.launch, arguments)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Window;
    use gpu_core::ImageLayout;

    /// What an image of ordinary extents runs as, of every number of taps and channels.
    fn check<T: Pixel>(fast_of_nine: &[u32]) {
        for (channels, taps) in (1..6).flat_map(|channels| (1..14).map(move |taps| (channels, taps))) {
            let layout = ImageLayout::new(750, 499, channels as usize).unwrap();
            let window = Window { taps: (taps, taps), left: taps as i32 / 2, top: taps as i32 / 2 };
            let context = format!("{taps} taps, {channels} channels of {} bytes", size_of::<T>());
            let expect = |plan: &Plan, is_fast: bool| {
                let kernel = if is_fast { Kernel::Fast { taps, channels } } else { Kernel::General };
                assert_eq!(plan.kernel, kernel, "{context}");
                assert!(
                    plan.launch.shared_bytes <= 48 << 10,
                    "more than blocks have without asking: {context}"
                );
            };
            let of_some = [1, 3, 4].contains(&channels);
            let layouts = [layout; 2];
            let separable =
                Plan::filter::<T, T::Sum>(T::Fast::SEPARABLE, true, window, 0, layouts, [0; 2], 132).unwrap();
            let full =
                Plan::filter::<T, T::Sum>(T::Fast::FULL, false, window, 0, layouts, [0; 2], 132).unwrap();
            for (plan, separable) in [(separable, true), (full, false)] {
                let is_fast = match taps {
                    3 | 5 | 7 | 11 => of_some,
                    9 => of_some && separable || fast_of_nine.contains(&channels),
                    _ => false,
                };
                expect(&plan, is_fast);
            }
            if taps == 3 {
                expect(&Plan::sobel::<T>(T::Fast::SOBEL, window, 0, layouts, 0, 132).unwrap(), of_some);
            }
        }
    }

    #[test]
    fn the_fast_kernels_take_what_the_documentation_says() {
        check::<f32>(&[1]);
        check::<f64>(&[]);
        check::<u8>(&[1]);
        check::<u16>(&[]);
        check::<i16>(&[]);
    }
}
