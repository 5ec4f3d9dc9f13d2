//! The launches of SciPy's filters.

use gpu_core::{Stream, View, ViewMut};
use gpu_std::constant::Constant;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::filter::scipy::{self, LINE_WEIGHTS, Lines, Rectangle};

use crate::launch::table;
use crate::plan::blocks;

/// A type of elements of images that SciPy's filters are there for: that of every [`Pixel`](crate::Pixel).
pub trait Exact: gpu_core::Element + scipy::Exact + sealed::Kernels {}

mod sealed {
    use gpu_std::launch::Kernel;

    use super::*;

    /// The kernels of a type.
    ///
    /// # Safety
    /// Each is that of its name, of this type.
    pub unsafe trait Kernels: gpu_core::Element {
        /// Input, output, lines, what is outside, weights: a thread for each element.
        type Correlate1d: Kernel<
            Arguments = (Global<Self>, GlobalMut<Self>, Lines, f64, Constant<f64, LINE_WEIGHTS>),
        >;
        /// Input, output, the images, what is outside, weights: a thread for each element.
        type Correlate: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, Rectangle, f64, Global<f64>)>;
        /// Input, output, lines, what is outside: a thread for each line.
        type Uniform: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, Lines, f64)>;
        /// The type whose sums have the same bits.
        type Same: Sums;
    }

    /// The kernel that adds.
    ///
    /// # Safety
    /// It is that of this type.
    pub unsafe trait Sums: gpu_core::Element {
        /// Output, what is added, elements: a thread for each.
        type Add: Kernel<Arguments = (GlobalMut<Self>, Global<Self>, u64)>;
    }
}

use sealed::{Kernels, Sums};

macro_rules! kernels {
    ($($T:ty as $Same:ty: $correlate1d:ident, $correlate:ident, $uniform:ident $(, $add:ident)?;)*) => { $(
        impl Exact for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl Kernels for $T {
            type Correlate1d = scipy::$correlate1d;
            type Correlate = scipy::$correlate;
            type Uniform = scipy::$uniform;
            type Same = $Same;
        }

        $(
            // SAFETY: as above.
            unsafe impl Sums for $T {
                type Add = scipy::$add;
            }
        )?
    )* };
}
gpu_stencil_kernels::scipy_instances!(kernels);

/// The launch with a thread for each of `count`; a batch of no images needs none.
fn config(count: u64) -> gpu_core::Result<Option<LaunchConfig>> {
    let blocks = blocks(count.div_ceil(u64::from(scipy::THREADS)))?;
    Ok((blocks > 0).then(|| LaunchConfig::linear(blocks, scipy::THREADS)))
}

/// Enqueues a pass of `correlate1d`.
pub(super) fn correlate1d<T: Exact>(
    stream: &Stream,
    input: View<'_, T>,
    output: ViewMut<'_, T>,
    lines: Lines,
    outside: f64,
    weights: &[f64],
) -> gpu_core::Result<()> {
    let Some(launch) = config(lines.elements)? else { return Ok(()) };
    // SAFETY: both views hold the images (checked by the caller), and the output is exclusive; everything is freed only
    // after the work enqueued before.
    unsafe { stream.launch::<T::Correlate1d>(launch, (input, output, lines, outside, table(weights))) }
}

/// Enqueues `correlate`.
pub(super) fn correlate<T: Exact>(
    stream: &Stream,
    input: View<'_, T>,
    output: ViewMut<'_, T>,
    rectangle: Rectangle,
    outside: f64,
    weights: View<'_, f64>,
) -> gpu_core::Result<()> {
    let Some(launch) = config(rectangle.elements)? else { return Ok(()) };
    // SAFETY: as above; there is a weight for every place of the filter.
    unsafe { stream.launch::<T::Correlate>(launch, (input, output, rectangle, outside, weights)) }
}

/// Enqueues a pass of `uniform_filter1d`.
pub(super) fn uniform<T: Exact>(
    stream: &Stream,
    input: View<'_, T>,
    output: ViewMut<'_, T>,
    lines: Lines,
    outside: f64,
) -> gpu_core::Result<()> {
    let Some(launch) = config(lines.count)? else { return Ok(()) };
    // SAFETY: as above.
    unsafe { stream.launch::<T::Uniform>(launch, (input, output, lines, outside)) }
}

/// Enqueues `output += other`.
pub(super) fn add<T: Exact>(
    stream: &Stream,
    output: ViewMut<'_, T>,
    other: View<'_, T>,
) -> gpu_core::Result<()> {
    let elements = output.len() as u64;
    let Some(launch) = config(elements)? else { return Ok(()) };
    // SAFETY: both are of one length (the caller allocated them so), and the output is exclusive.
    unsafe { stream.launch::<<T::Same as Sums>::Add>(launch, (output.untyped(), other.untyped(), elements)) }
}
