//! The launches, and the CPU's instructions: the crate's only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::constant::Constant;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::filter::general::{self, SEPARABLE_WEIGHTS};
use gpu_stencil_kernels::filter::sobel::Targets;
use gpu_stencil_kernels::filter::{self, FAST_FULL_WEIGHTS, FAST_SEPARABLE_WEIGHTS, Geometry};

use crate::error::Error;
use crate::plan::{Kernel, Plan};
use crate::weights::Weight;

/// What the sums of pixels can be: themselves pixels, weights, and sides of angles.
pub trait Sum: Weight + filter::Pixel<Sum = Self> + filter::arctangent::Coefficients {}

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

mod sealed {
    use super::*;

    /// The kernels of a type.
    pub trait Kernels: filter::Pixel {
        /// Taps and channels of the fast separable kernels.
        const SEPARABLE: &'static [(u32, u32)];
        /// Taps and channels of the fast full kernels.
        const FULL: &'static [(u32, u32)];
        /// Taps, always 3, and channels of the fast kernels of gradients.
        const SOBEL: &'static [(u32, u32)];
        /// The most weights of a full filter that travel with the launch.
        const TABLE: usize;

        /// Enqueues a separable filter.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold the images that `geometry` describes, the output shared
        /// with nothing; kernel, configuration and geometry must be a plan's.
        #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
        unsafe fn separable(
            kernel: Kernel,
            stream: &Stream,
            config: LaunchConfig,
            input: Global<Self>,
            output: GlobalMut<Self>,
            geometry: Geometry,
            outside: Self,
            weights: [&[Self::Sum]; 2],
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues a full filter, of `weights` in the order of the kernel or, where they are too many, of those in
        /// `memory`.
        ///
        /// # Safety
        /// As [`Kernels::separable`]; `memory` must hold the weights where `place` says that they are there.
        #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
        unsafe fn full(
            kernel: Kernel,
            stream: &Stream,
            config: LaunchConfig,
            input: Global<Self>,
            output: GlobalMut<Self>,
            geometry: Geometry,
            outside: Self,
            weights: &[Self::Sum],
            memory: Global<Self::Sum>,
            place: u32,
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues gradients.
        ///
        /// # Safety
        /// As [`Kernels::separable`], for each output that `targets` names.
        #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
        unsafe fn sobel(
            kernel: Kernel,
            stream: &Stream,
            config: LaunchConfig,
            input: Global<Self>,
            outputs: Gradients<Self>,
            geometry: Geometry,
            targets: Targets,
            outside: Self,
        ) -> Result<(), gpu_core::Error>
        where
            Self: Pixel;
    }
}

/// The first `N` entries, with zeros where there are less: nobody reads those.
fn table<S: Weight, const N: usize>(weights: impl IntoIterator<Item = S>) -> Constant<S, N> {
    let mut entries = [S::ZERO; N];
    for (entry, weight) in entries.iter_mut().zip(weights) {
        *entry = weight;
    }
    Constant::new(entries)
}

/// The geometry for the fast kernels, which take `i16` for `u16`.
fn flipped<T: filter::Pixel>(geometry: Geometry) -> Geometry {
    Geometry { flip: T::FLIP, ..geometry }
}

// Elements `T` are `K` to the fast kernels.
macro_rules! pixels {
    ($($T:ident as $K:ident, $G:ty, $table:ident: $separable:ident, $full:ident, $sobel:ident;
        separable $(($taps:literal, $channels:literal) $fast:ident),*;
        full $(($full_taps:literal, $full_channels:literal) $fast_full:ident),*;
        sobel $(($sobel_channels:literal) $fast_sobel:ident),*;)*) => { $(
        impl Pixel for $T {
            type Gradient = $G;
        }

        impl sealed::Kernels for $T {
            const SEPARABLE: &'static [(u32, u32)] = &[$(($taps, $channels)),*];
            const FULL: &'static [(u32, u32)] = &[$(($full_taps, $full_channels)),*];
            const SOBEL: &'static [(u32, u32)] = &[$((3, $sobel_channels)),*];
            const TABLE: usize = filter::$table;

            #[inline]
            unsafe fn separable(
                kernel: Kernel,
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self>,
                output: GlobalMut<Self>,
                geometry: Geometry,
                outside: Self,
                [row, column]: [&[Self::Sum]; 2],
            ) -> Result<(), gpu_core::Error> {
                let weights = table::<_, FAST_SEPARABLE_WEIGHTS>(row.iter().chain(column).copied());
                match kernel {
                    $(
                        // SAFETY: the caller's promise.
                        Kernel::Fast { taps: $taps, channels: $channels } => unsafe {
                            let (input, output, geometry) = (input.cast(), output.cast(), flipped::<$T>(geometry));
                            filter::$fast::launch(stream, config, input, output, geometry, outside as $K, weights)
                        },
                    )*
                    _ => {
                        let gap = SEPARABLE_WEIGHTS / 2 - row.len();
                        let zeros = core::iter::repeat_n(0.0, gap);
                        let weights = table(row.iter().copied().chain(zeros).chain(column.iter().copied()));
                        // SAFETY: the caller's promise.
                        unsafe {
                            filter::$separable::launch(stream, config, input, output, geometry, outside, weights)
                        }
                    }
                }
            }

            #[inline]
            unsafe fn full(
                kernel: Kernel,
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self>,
                output: GlobalMut<Self>,
                geometry: Geometry,
                outside: Self,
                weights: &[Self::Sum],
                memory: Global<Self::Sum>,
                place: u32,
            ) -> Result<(), gpu_core::Error> {
                match kernel {
                    $(
                        // SAFETY: the caller's promise.
                        Kernel::Fast { taps: $full_taps, channels: $full_channels } => unsafe {
                            let weights = table::<_, FAST_FULL_WEIGHTS>(weights.iter().copied());
                            let (input, output, geometry) = (input.cast(), output.cast(), flipped::<$T>(geometry));
                            filter::$fast_full::launch(stream, config, input, output, geometry, outside as $K, weights)
                        },
                    )*
                    // SAFETY: the caller's promise.
                    _ => unsafe {
                        let weights = table(weights.iter().copied());
                        filter::$full::launch(
                            stream, config, input, output, geometry, outside, weights, memory, place,
                        )
                    },
                }
            }

            #[inline]
            unsafe fn sobel(
                kernel: Kernel,
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self>,
                (gx, gy, magnitude, direction): Gradients<Self>,
                geometry: Geometry,
                targets: Targets,
                outside: Self,
            ) -> Result<(), gpu_core::Error> {
                match kernel {
                    $(
                        // SAFETY: the caller's promise.
                        Kernel::Fast { taps: 3, channels: $sobel_channels } => unsafe {
                            let (input, geometry) = (input.cast(), flipped::<$T>(geometry));
                            filter::$fast_sobel::launch(
                                stream, config, input, gx, gy, magnitude, direction, geometry, targets, outside as $K,
                            )
                        },
                    )*
                    // SAFETY: the caller's promise.
                    _ => unsafe {
                        filter::$sobel::launch(
                            stream, config, input, gx, gy, magnitude, direction, geometry, targets, outside,
                        )
                    },
                }
            }
        }
    )* };
}

pixels! {
    f32 as f32, f32, TABLE_F32: general_separable_f32, general_full_f32, sobel_general_f32;
        separable (3, 1) separable_f32_3, (5, 1) separable_f32_5, (7, 1) separable_f32_7, (9, 1) separable_f32_9,
            (11, 1) separable_f32_11, (3, 3) separable_f32x3_3, (5, 3) separable_f32x3_5, (7, 3) separable_f32x3_7,
            (9, 3) separable_f32x3_9, (11, 3) separable_f32x3_11, (3, 4) separable_f32x4_3, (5, 4) separable_f32x4_5,
            (7, 4) separable_f32x4_7, (9, 4) separable_f32x4_9, (11, 4) separable_f32x4_11;
        full (3, 1) full_f32_3, (5, 1) full_f32_5, (7, 1) full_f32_7, (9, 1) full_f32_9, (11, 1) full_f32_11,
            (3, 3) full_f32x3_3, (5, 3) full_f32x3_5, (7, 3) full_f32x3_7, (11, 3) full_f32x3_11, (3, 4) full_f32x4_3,
            (5, 4) full_f32x4_5, (7, 4) full_f32x4_7, (11, 4) full_f32x4_11;
        sobel (1) sobel_f32, (3) sobel_f32x3, (4) sobel_f32x4;
    f64 as f64, f64, TABLE_F64: general_separable_f64, general_full_f64, sobel_general_f64;
        separable (3, 1) separable_f64_3, (5, 1) separable_f64_5, (7, 1) separable_f64_7, (9, 1) separable_f64_9,
            (11, 1) separable_f64_11, (3, 3) separable_f64x3_3, (5, 3) separable_f64x3_5, (7, 3) separable_f64x3_7,
            (9, 3) separable_f64x3_9, (11, 3) separable_f64x3_11, (3, 4) separable_f64x4_3, (5, 4) separable_f64x4_5,
            (7, 4) separable_f64x4_7, (9, 4) separable_f64x4_9, (11, 4) separable_f64x4_11;
        full (3, 1) full_f64_3, (5, 1) full_f64_5, (7, 1) full_f64_7, (11, 1) full_f64_11, (3, 3) full_f64x3_3,
            (5, 3) full_f64x3_5, (7, 3) full_f64x3_7, (11, 3) full_f64x3_11, (3, 4) full_f64x4_3, (5, 4) full_f64x4_5,
            (7, 4) full_f64x4_7, (11, 4) full_f64x4_11;
        sobel (1) sobel_f64, (3) sobel_f64x3, (4) sobel_f64x4;
    u8 as u8, i16, TABLE_U8: general_separable_u8, general_full_u8, sobel_general_u8;
        separable (3, 1) separable_u8_3, (5, 1) separable_u8_5, (7, 1) separable_u8_7, (9, 1) separable_u8_9,
            (11, 1) separable_u8_11, (3, 3) separable_u8x3_3, (5, 3) separable_u8x3_5, (7, 3) separable_u8x3_7,
            (9, 3) separable_u8x3_9, (11, 3) separable_u8x3_11, (3, 4) separable_u8x4_3, (5, 4) separable_u8x4_5,
            (7, 4) separable_u8x4_7, (9, 4) separable_u8x4_9, (11, 4) separable_u8x4_11;
        full (3, 1) full_u8_3, (5, 1) full_u8_5, (7, 1) full_u8_7, (9, 1) full_u8_9, (11, 1) full_u8_11,
            (3, 3) full_u8x3_3, (5, 3) full_u8x3_5, (7, 3) full_u8x3_7, (11, 3) full_u8x3_11, (3, 4) full_u8x4_3,
            (5, 4) full_u8x4_5, (7, 4) full_u8x4_7, (11, 4) full_u8x4_11;
        sobel (1) sobel_u8, (3) sobel_u8x3, (4) sobel_u8x4;
    u16 as u16, f32, TABLE_U16: general_separable_u16, general_full_u16, sobel_general_u16;
        separable (3, 1) separable_u16_3, (5, 1) separable_u16_5, (7, 1) separable_u16_7, (9, 1) separable_u16_9,
            (11, 1) separable_u16_11, (3, 3) separable_u16x3_3, (5, 3) separable_u16x3_5, (7, 3) separable_u16x3_7,
            (9, 3) separable_u16x3_9, (11, 3) separable_u16x3_11, (3, 4) separable_u16x4_3, (5, 4) separable_u16x4_5,
            (7, 4) separable_u16x4_7, (9, 4) separable_u16x4_9, (11, 4) separable_u16x4_11;
        full (3, 1) full_u16_3, (5, 1) full_u16_5, (7, 1) full_u16_7, (11, 1) full_u16_11, (3, 3) full_u16x3_3,
            (5, 3) full_u16x3_5, (7, 3) full_u16x3_7, (11, 3) full_u16x3_11, (3, 4) full_u16x4_3, (5, 4) full_u16x4_5,
            (7, 4) full_u16x4_7, (11, 4) full_u16x4_11;
        sobel (1) sobel_u16, (3) sobel_u16x3, (4) sobel_u16x4;
    i16 as u16, f32, TABLE_I16: general_separable_i16, general_full_i16, sobel_general_i16;
        separable (3, 1) separable_u16_3, (5, 1) separable_u16_5, (7, 1) separable_u16_7, (9, 1) separable_u16_9,
            (11, 1) separable_u16_11, (3, 3) separable_u16x3_3, (5, 3) separable_u16x3_5, (7, 3) separable_u16x3_7,
            (9, 3) separable_u16x3_9, (11, 3) separable_u16x3_11, (3, 4) separable_u16x4_3, (5, 4) separable_u16x4_5,
            (7, 4) separable_u16x4_7, (9, 4) separable_u16x4_9, (11, 4) separable_u16x4_11;
        full (3, 1) full_u16_3, (5, 1) full_u16_5, (7, 1) full_u16_7, (11, 1) full_u16_11, (3, 3) full_u16x3_3,
            (5, 3) full_u16x3_5, (7, 3) full_u16x3_7, (11, 3) full_u16x3_11, (3, 4) full_u16x4_3, (5, 4) full_u16x4_5,
            (7, 4) full_u16x4_7, (11, 4) full_u16x4_11;
        sobel (1) sobel_u16, (3) sobel_u16x3, (4) sobel_u16x4;
}

/// Enqueues the separable filter of `plan`, its weights in the kernel's order.
pub(crate) fn separable<T: Pixel>(
    stream: &Stream,
    plan: &Plan,
    input: View<'_, T>,
    mut output: ViewMut<'_, T>,
    outside: T,
    weights: [&[T::Sum]; 2],
) -> Result<(), Error> {
    let (input, output) = (input.as_global(), output.as_global_mut());
    // SAFETY: the views hold the images of the plan's layouts (checked where they were made), and the output, whose
    // images do not overlap, is exclusive; everything is freed only after the work enqueued before.
    unsafe {
        T::separable(plan.kernel, stream, plan.launch, input, output, plan.geometry, outside, weights)?
    };
    Ok(())
}

/// Enqueues the full filter of `plan`. `weights` are in the kernel's order; those `uploaded`, where there are too
/// many for the launch, in that of the filter, which is to be `reversed` or not.
pub(crate) fn full<T: Pixel>(
    stream: &Stream,
    plan: &Plan,
    input: View<'_, T>,
    mut output: ViewMut<'_, T>,
    outside: T,
    weights: &[T::Sum],
    uploaded: Option<(View<'_, T::Sum>, bool)>,
) -> Result<(), Error> {
    let (input, output) = (input.as_global(), output.as_global_mut());
    let (memory, place) = match uploaded {
        Some((weights, true)) => (weights.as_global(), general::IN_MEMORY_REVERSED),
        Some((weights, false)) => (weights.as_global(), general::IN_MEMORY),
        // SAFETY: nobody reads it.
        None => (unsafe { Global::from_raw(0) }, general::IN_TABLE),
    };
    // SAFETY: as for separable filters; those uploaded are as many as the filter has places.
    unsafe {
        T::full(
            plan.kernel,
            stream,
            plan.launch,
            input,
            output,
            plan.geometry,
            outside,
            weights,
            memory,
            place,
        )?;
    }
    Ok(())
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
    outputs: Gradients<T>,
    targets: Targets,
    outside: T,
) -> Result<(), Error> {
    // SAFETY: as for separable filters, for each output that is wanted.
    unsafe {
        T::sobel(
            plan.kernel,
            stream,
            plan.launch,
            input.as_global(),
            outputs,
            plan.geometry,
            targets,
            outside,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::ImageLayout;
    use crate::plan::Window;

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
            for (instances, separable) in [(T::SEPARABLE, true), (T::FULL, false)] {
                let plan =
                    Plan::filter::<T, T::Sum>(instances, separable, window, 0, [layout; 2], [0; 2]).unwrap();
                let is_fast = match taps {
                    3 | 5 | 7 | 11 => of_some,
                    9 => of_some && separable || fast_of_nine.contains(&channels),
                    _ => false,
                };
                expect(&plan, is_fast);
            }
            if taps == 3 {
                expect(&Plan::sobel::<T>(T::SOBEL, window, 0, [layout; 2], 0).unwrap(), of_some);
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
