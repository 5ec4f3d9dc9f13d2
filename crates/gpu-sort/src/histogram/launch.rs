//! The launches of histograms.

use gpu_core::{Device, Element, Stream, View, ViewMut};
use gpu_sort_kernels::histogram::{
    self as kernels, AT_ONCE, BLOCKS, EvenF32, EvenF64, EvenInteger, THREADS, VECTOR_BYTES, shared_bytes,
};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use super::sample::{HistogramCount, HistogramSample};
use gpu_core::Error;

/// A type whose bits there are kernels for.
///
/// # Safety
/// The kernels are [`kernels::histogram`] of `Bits`, elements as wide, in the order of which the type's numbers are once
/// the bits of `FLIP` are flipped.
#[doc(hidden)]
pub unsafe trait Launch: Element {
    /// What the kernels take the samples for.
    type Bits: Element;
    /// Bins of the same width.
    type Even: Copy + Send + Sync;
    /// The bits that make the order of the type's bits that of the numbers.
    const FLIP: u32;
    /// The kernel of bins of the same width: samples, length, bins, their number, counts, whether these have 64 bits.
    type EvenKernel: Kernel<Arguments = (Global<Self::Bits>, u64, Self::Even, u32, GlobalMut<u32>, u32)>;
    /// The kernel of bins between edges: samples, length, edges, bits to flip, bins, counts, whether these have 64 bits.
    type EdgesKernel: Kernel<
        Arguments = (Global<Self::Bits>, u64, Global<Self::Bits>, u32, u32, GlobalMut<u32>, u32),
    >;
}

macro_rules! launches {
    ($($bits:ty, $v:literal, $blocks:literal: $even:ident by $binning:ty, $edges:ident; $($sample:ident ^ $flip:literal),*;)*) => {
        $( launches!(@ $bits, $even, $binning, $edges: $($sample ^ $flip),*); )*
    };
    (@ $bits:ty, $even:ident, $binning:ty, $edges:ident: $($sample:ident ^ $flip:literal),*) => { $(
        // SAFETY: the kernels are those of numbers as wide, whose order is that of the bits, flipped.
        unsafe impl Launch for $sample {
            type Bits = $bits;
            type Even = $binning;
            const FLIP: u32 = $flip;
            type EvenKernel = kernels::$even;
            type EdgesKernel = kernels::$edges;
        }
    )* };
}
gpu_sort_kernels::histogram_instances!(launches);

/// The launch for so many samples.
fn config<T>(device: &Device, len: usize, bins: u32) -> LaunchConfig {
    let tile = THREADS as u64 * (AT_ONCE as u64 * VECTOR_BYTES as u64 / size_of::<T>() as u64);
    let blocks = device.blocks_for(BLOCKS, (len as u64).div_ceil(tile).max(1));
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
    let counts = counts.as_global_mut().cast::<u32>();
    let arguments = (samples.cast(), len as u64, even, bins, counts, wide);
    // SAFETY: the kernel reads `len` samples and writes the counts, which the views borrow, of the width that it is
    // told.
    unsafe { stream.launch::<T::EvenKernel>(config::<T>(stream.device(), len, bins), arguments) }?;
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
    let counts = counts.as_global_mut().cast::<u32>();
    let arguments = (samples.cast(), len as u64, edges.cast(), T::FLIP, bins, counts, wide);
    // SAFETY: as in `even`, and there is an edge more than counts.
    unsafe { stream.launch::<T::EdgesKernel>(config::<T>(stream.device(), len, bins), arguments) }?;
    Ok(())
}
