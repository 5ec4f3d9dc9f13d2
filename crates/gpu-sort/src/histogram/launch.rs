//! The launches of histograms.

use gpu_core::{Element, Stream, View, ViewMut};
use gpu_sort_kernels::histogram::{
    self as kernels, AT_ONCE, EvenF32, EvenF64, EvenInteger, MAX_BLOCKS, THREADS, VECTOR_BYTES, shared_bytes,
};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use super::sample::{HistogramCount, HistogramSample};
use gpu_core::Error;

/// A type whose bits there are kernels for.
#[doc(hidden)]
pub trait Launch: Element {
    /// Bins of the same width.
    type Even: Copy + Send + Sync;
    /// The bits that make the order of the type's bits that of the numbers.
    const FLIP: u32;

    /// # Safety
    /// Until the kernel has ended, `samples` must have `len` elements, which nothing writes, and `counts` `bins`
    /// counts, of 64 bits if `wide` is 1, which nothing else reads or writes. `config` must be that of this module.
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch_even(
        stream: &Stream,
        config: LaunchConfig,
        samples: Global<Self>,
        len: u64,
        even: Self::Even,
        bins: u32,
        counts: GlobalMut<u32>,
        wide: u32,
    ) -> Result<(), gpu_core::Error>;

    /// # Safety
    /// As for [`Launch::launch_even`]; `edges` must have an element more than there are bins, which nothing writes.
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch_edges(
        stream: &Stream,
        config: LaunchConfig,
        samples: Global<Self>,
        len: u64,
        edges: Global<Self>,
        bins: u32,
        counts: GlobalMut<u32>,
        wide: u32,
    ) -> Result<(), gpu_core::Error>;
}

macro_rules! launches {
    ($($t:ty as $bits:ty: $flip:literal, $even:ident by $binning:ty, $edges:ident;)*) => { $(
        impl Launch for $t {
            type Even = $binning;
            const FLIP: u32 = $flip;

            #[inline]
            unsafe fn launch_even(
                stream: &Stream,
                config: LaunchConfig,
                samples: Global<$t>,
                len: u64,
                even: $binning,
                bins: u32,
                counts: GlobalMut<u32>,
                wide: u32,
            ) -> Result<(), gpu_core::Error> {
                let samples = samples.cast::<$bits>();
                // SAFETY: the caller promises what the kernel needs.
                unsafe { kernels::$even::launch(stream, config, samples, len, even, bins, counts, wide) }
            }

            #[inline]
            unsafe fn launch_edges(
                stream: &Stream,
                config: LaunchConfig,
                samples: Global<$t>,
                len: u64,
                edges: Global<$t>,
                bins: u32,
                counts: GlobalMut<u32>,
                wide: u32,
            ) -> Result<(), gpu_core::Error> {
                let (samples, edges) = (samples.cast::<$bits>(), edges.cast::<$bits>());
                // SAFETY: the caller promises what the kernel needs.
                unsafe {
                    kernels::$edges::launch(stream, config, samples, len, edges, $flip, bins, counts, wide)
                }
            }
        }
    )* };
}
launches! {
    u8 as u8: 0, histogram_even_u8 by EvenInteger, histogram_edges_u8;
    i8 as u8: 0x80, histogram_even_u8 by EvenInteger, histogram_edges_u8;
    u16 as u16: 0, histogram_even_u16 by EvenInteger, histogram_edges_u16;
    i16 as u16: 0x8000, histogram_even_u16 by EvenInteger, histogram_edges_u16;
    u32 as u32: 0, histogram_even_u32 by EvenInteger, histogram_edges_u32;
    i32 as u32: 0x8000_0000, histogram_even_u32 by EvenInteger, histogram_edges_u32;
    f32 as f32: 0, histogram_even_f32 by EvenF32, histogram_edges_f32;
    f64 as f64: 0, histogram_even_f64 by EvenF64, histogram_edges_f64;
}

/// The launch for so many samples.
fn config<T>(len: usize, bins: u32) -> LaunchConfig {
    let tile = THREADS as u64 * (AT_ONCE as u64 * VECTOR_BYTES as u64 / size_of::<T>() as u64);
    let blocks = (len as u64).div_ceil(tile).clamp(1, MAX_BLOCKS as u64) as u32;
    LaunchConfig::linear(blocks, THREADS).shared(shared_bytes(bins, size_of::<T>() as u32))
}

/// Enqueues a histogram with bins of the same width. Everything has been checked.
pub(super) fn even<T: HistogramSample, C: HistogramCount>(
    stream: &Stream,
    samples: View<'_, T>,
    even: T::Even,
    mut counts: ViewMut<'_, C>,
) -> Result<(), Error> {
    stream.memset(counts.reborrow(), 0)?;
    let (len, bins, wide) = (samples.len(), counts.len() as u32, u32::from(C::WIDE));
    let (samples, counts) = (samples.as_global(), counts.as_global_mut().cast());
    // SAFETY: the kernel reads `len` samples and writes the counts, which the views borrow, of the width that it is
    // told.
    unsafe { T::launch_even(stream, config::<T>(len, bins), samples, len as u64, even, bins, counts, wide) }?;
    Ok(())
}

/// Enqueues a histogram with bins between edges. Everything has been checked.
pub(super) fn between<T: HistogramSample, C: HistogramCount>(
    stream: &Stream,
    samples: View<'_, T>,
    edges: View<'_, T>,
    mut counts: ViewMut<'_, C>,
) -> Result<(), Error> {
    stream.memset(counts.reborrow(), 0)?;
    let (len, bins, wide) = (samples.len(), counts.len() as u32, u32::from(C::WIDE));
    let (samples, edges, counts) = (samples.as_global(), edges.as_global(), counts.as_global_mut().cast());
    // SAFETY: as in `even`, and there is an edge more than counts.
    unsafe {
        T::launch_edges(stream, config::<T>(len, bins), samples, len as u64, edges, bins, counts, wide)
    }?;
    Ok(())
}
