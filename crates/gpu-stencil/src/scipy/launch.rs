//! The launches of SciPy's filters.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::constant::Constant;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::filter::scipy::{self, LINE_WEIGHTS, Lines, Rectangle};

use crate::error::Error;
use crate::plan::blocks;

/// A type of elements of images that SciPy's filters are there for: that of every [`Pixel`](crate::Pixel).
pub trait Exact: gpu_core::Element + scipy::Exact + sealed::Kernels {}

mod sealed {
    use super::*;

    /// The kernels of a type.
    pub trait Kernels: gpu_core::Element {
        /// Enqueues a pass of `correlate1d`.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold the images, the output shared with nothing, and the
        /// launch must have a thread for each element.
        unsafe fn correlate1d(
            stream: &Stream,
            config: LaunchConfig,
            input: Global<Self>,
            output: GlobalMut<Self>,
            lines: Lines,
            outside: f64,
            weights: Constant<f64, LINE_WEIGHTS>,
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues `correlate`.
        ///
        /// # Safety
        /// As [`Kernels::correlate1d`]; `weights` must hold all of the filter's.
        unsafe fn correlate(
            stream: &Stream,
            config: LaunchConfig,
            input: Global<Self>,
            output: GlobalMut<Self>,
            rectangle: Rectangle,
            outside: f64,
            weights: Global<f64>,
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues a pass of `uniform_filter1d`.
        ///
        /// # Safety
        /// As [`Kernels::correlate1d`], with a thread for each line.
        unsafe fn uniform(
            stream: &Stream,
            config: LaunchConfig,
            input: Global<Self>,
            output: GlobalMut<Self>,
            lines: Lines,
            outside: f64,
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues a sum of `elements` elements.
        ///
        /// # Safety
        /// As [`Kernels::correlate1d`].
        unsafe fn add(
            stream: &Stream,
            config: LaunchConfig,
            output: GlobalMut<Self>,
            other: Global<Self>,
            elements: u64,
        ) -> Result<(), gpu_core::Error>;
    }
}

macro_rules! kernels {
    ($($T:ty: $correlate1d:ident, $correlate:ident, $uniform:ident, $add:ident of $Same:ty;)*) => { $(
        impl Exact for $T {}

        impl sealed::Kernels for $T {
            #[inline]
            unsafe fn correlate1d(
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self>,
                output: GlobalMut<Self>,
                lines: Lines,
                outside: f64,
                weights: Constant<f64, LINE_WEIGHTS>,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller's promise.
                unsafe { scipy::$correlate1d::launch(stream, config, input, output, lines, outside, weights) }
            }

            #[inline]
            unsafe fn correlate(
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self>,
                output: GlobalMut<Self>,
                rectangle: Rectangle,
                outside: f64,
                weights: Global<f64>,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller's promise.
                unsafe { scipy::$correlate::launch(stream, config, input, output, rectangle, outside, weights) }
            }

            #[inline]
            unsafe fn uniform(
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self>,
                output: GlobalMut<Self>,
                lines: Lines,
                outside: f64,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller's promise.
                unsafe { scipy::$uniform::launch(stream, config, input, output, lines, outside) }
            }

            #[inline]
            unsafe fn add(
                stream: &Stream,
                config: LaunchConfig,
                output: GlobalMut<Self>,
                other: Global<Self>,
                elements: u64,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller's promise.
                unsafe { scipy::$add::launch(stream, config, output.cast::<$Same>(), other.cast::<$Same>(), elements) }
            }
        }
    )* };
}

kernels! {
    u8: scipy_correlate1d_u8, scipy_correlate_u8, scipy_uniform_u8, scipy_add_u8 of u8;
    u16: scipy_correlate1d_u16, scipy_correlate_u16, scipy_uniform_u16, scipy_add_u16 of u16;
    i16: scipy_correlate1d_i16, scipy_correlate_i16, scipy_uniform_i16, scipy_add_u16 of u16;
    f32: scipy_correlate1d_f32, scipy_correlate_f32, scipy_uniform_f32, scipy_add_f32 of f32;
    f64: scipy_correlate1d_f64, scipy_correlate_f64, scipy_uniform_f64, scipy_add_f64 of f64;
}

/// The launch with a thread for each of `count`; a batch of no images needs none.
fn config(count: u64) -> Result<Option<LaunchConfig>, Error> {
    let blocks = blocks(count.div_ceil(u64::from(scipy::THREADS)))?;
    Ok((blocks > 0).then(|| LaunchConfig::linear(blocks, scipy::THREADS)))
}

/// Enqueues a pass of `correlate1d`.
pub(super) fn correlate1d<T: Exact>(
    stream: &Stream,
    input: View<'_, T>,
    mut output: ViewMut<'_, T>,
    lines: Lines,
    outside: f64,
    weights: &[f64],
) -> Result<(), Error> {
    let mut table = [0.0; LINE_WEIGHTS];
    table[..weights.len()].copy_from_slice(weights);
    let (input, output) = (input.as_global(), output.as_global_mut());
    let weights = Constant::new(table);
    let Some(launch) = config(lines.elements)? else { return Ok(()) };
    // SAFETY: both views hold the images (checked by the caller), and the output is exclusive; everything is freed only
    // after the work enqueued before.
    unsafe { T::correlate1d(stream, launch, input, output, lines, outside, weights)? };
    Ok(())
}

/// Enqueues `correlate`.
pub(super) fn correlate<T: Exact>(
    stream: &Stream,
    input: View<'_, T>,
    mut output: ViewMut<'_, T>,
    rectangle: Rectangle,
    outside: f64,
    weights: View<'_, f64>,
) -> Result<(), Error> {
    let (input, output) = (input.as_global(), output.as_global_mut());
    let Some(launch) = config(rectangle.elements)? else { return Ok(()) };
    // SAFETY: as above; there is a weight for every place of the filter.
    unsafe { T::correlate(stream, launch, input, output, rectangle, outside, weights.as_global())? };
    Ok(())
}

/// Enqueues a pass of `uniform_filter1d`.
pub(super) fn uniform<T: Exact>(
    stream: &Stream,
    input: View<'_, T>,
    mut output: ViewMut<'_, T>,
    lines: Lines,
    outside: f64,
) -> Result<(), Error> {
    let Some(launch) = config(lines.count)? else { return Ok(()) };
    // SAFETY: as above.
    unsafe { T::uniform(stream, launch, input.as_global(), output.as_global_mut(), lines, outside)? };
    Ok(())
}

/// Enqueues `output += other`.
pub(super) fn add<T: Exact>(
    stream: &Stream,
    mut output: ViewMut<'_, T>,
    other: View<'_, T>,
) -> Result<(), Error> {
    let elements = output.len() as u64;
    let Some(launch) = config(elements)? else { return Ok(()) };
    // SAFETY: both are of one length (the caller allocated them so), and the output is exclusive.
    unsafe { T::add(stream, launch, output.as_global_mut(), other.as_global(), elements)? };
    Ok(())
}
