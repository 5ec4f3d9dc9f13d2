//! Histograms: validate, plan, launch.

mod launch;
mod reference;
mod sample;

pub use sample::{HistogramCount, HistogramSample};

use gpu_core::{Buffer, Stream, View, ViewMut, checks};

use gpu_core::Error;

/// Its name in messages.
const NAME: &str = "histogram";
/// The most bins: they are counted in 32 bits.
const MOST_BINS: usize = u32::MAX as usize - 1;

/// How many samples fall into each of `bins` bins of the same width from `lower` to `upper`, computed where the
/// samples live.
///
/// Samples below `lower`, from `upper` on, and NaNs are left out. Bin `i` of whole numbers holds those with `⌊(x -
/// lower)·bins / (upper - lower)⌋ = i`, exactly; that of floats those with `min(⌊(x - lower)·s⌋, bins - 1) = i`,
/// where `s` is `bins / (upper - lower)` and every operation is rounded in the samples' type.
///
/// Counts are `u32`, which wrap, or `u64`. The work is enqueued on the device's default stream; reading the buffer
/// waits for it.
///
/// # Errors
/// [`Error::Bounds`] where `upper` is not larger than `lower`, where it is so by something infinite or by so little
/// that `s` is infinite, or where bounds of whole numbers are beyond those of their type; [`Error::Bins`] for none or
/// 2^32 - 1 and more; those of the device where the device's memory does not suffice, or where it failed.
///
/// ```
/// let device = gpu_core::Device::best();
/// let samples = device.upload(&[0.5f32, 0.1, 0.99, 1.0, -3.0, f32::NAN, 0.55])?;
/// let counts = gpu_sort::histogram_even::<_, u32>(&samples, 10, 0.0, 1.0)?;
/// assert_eq!(counts.to_vec()?, [0, 1, 0, 0, 0, 2, 0, 0, 0, 1]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn histogram_even<'a, T: HistogramSample, C: HistogramCount>(
    samples: impl Into<View<'a, T>>,
    bins: usize,
    lower: T::Bound,
    upper: T::Bound,
) -> Result<Buffer<C>, Error> {
    let samples = samples.into();
    check_bins(bins)?;
    let mut counts = samples.device().alloc(bins)?;
    histogram_even_into(&samples.device().default_stream(), samples, lower, upper, &mut counts)?;
    Ok(counts)
}

/// Writes to `counts` how many samples fall into each of as many bins of the same width from `lower` to `upper`, on
/// `stream`; see [`histogram_even`].
///
/// Neither allocates nor waits.
/// Memory may be used and dropped at once: what comes after, on whatever stream, waits for it
/// ([`gpu_core::Stream::unordered`] aside).
///
/// # Errors
/// As [`histogram_even`]. Nothing is written then, but where a launch failed.
///
/// ```
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let pixels = device.upload(&[0u8, 255, 128, 127, 64])?;
/// let mut counts = device.zeroed::<u64>(4)?;
/// gpu_sort::histogram_even_into(&stream, &pixels, 0, 256, &mut counts)?;
/// stream.synchronize()?;
/// assert_eq!(counts.to_vec()?, [1, 2, 1, 1]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn histogram_even_into<'a, 'b, T: HistogramSample, C: HistogramCount>(
    stream: &Stream,
    samples: impl Into<View<'a, T>>,
    lower: T::Bound,
    upper: T::Bound,
    counts: impl Into<ViewMut<'b, C>>,
) -> Result<(), Error> {
    let (samples, mut counts) = (samples.into(), counts.into());
    let bins = check_bins(counts.len())?;
    let Some(even) = T::even(lower, upper, bins) else {
        return Err(Error::Bounds { lower: T::to_f64(lower), upper: T::to_f64(upper) });
    };
    stream.expect("samples of a histogram", samples.device())?;
    stream.expect("counts of a histogram", counts.device())?;
    if let (Some(samples), Some(counts)) = (samples.as_slice(), counts.as_mut_slice()) {
        reference::count(samples, |sample| T::even_bin(&even, sample), counts);
        return Ok(());
    }
    launch::even(stream, samples, even, counts)
}

/// How many samples fall between each two neighbours of `edges`, computed where the samples live: bin `i` holds those
/// from `edges[i]` on and below `edges[i + 1]`. Samples outside of all, and NaNs, are left out.
///
/// The edges are copied to the device, and memory for them is freed before this returns, so it waits.
/// [`histogram_between_into`] does not. Otherwise as [`histogram_even`].
///
/// # Errors
/// [`Error::Bins`] for fewer than two edges; [`Error::Edges`] where one is less than the one before, or not a number;
/// those of the device where the device's memory does not suffice, or where it failed.
///
/// ```
/// let device = gpu_core::Device::best();
/// let ages = device.upload(&[3i32, 17, 18, 64, 65, 120, -1])?;
/// let counts = gpu_sort::histogram_between::<_, u32>(&ages, &[0, 18, 65, 120])?;
/// assert_eq!(counts.to_vec()?, [2, 2, 1]);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
pub fn histogram_between<'a, T: HistogramSample, C: HistogramCount>(
    samples: impl Into<View<'a, T>>,
    edges: &[T],
) -> Result<Buffer<C>, Error> {
    let samples = samples.into();
    let bins = edges.len().saturating_sub(1);
    check_bins(bins)?;
    for (index, pair) in edges.windows(2).enumerate() {
        if pair[0].partial_cmp(&pair[1]).is_none_or(|order| order.is_gt()) {
            let (before, after) = (T::to_f64(pair[0].to_bound()), T::to_f64(pair[1].to_bound()));
            return Err(Error::Edges { index: index + 1, before, after });
        }
    }
    let device = samples.device();
    let mut counts = device.alloc(bins)?;
    let edges = device.upload(edges)?;
    histogram_between_into(&device.default_stream(), samples, &edges, &mut counts)?;
    Ok(counts)
}

/// Writes to `counts` how many samples fall between each two neighbours of `edges`, which are on the device, on
/// `stream`; see [`histogram_between`]. As [`histogram_even_into`] otherwise.
///
/// Edges that decrease somewhere, or are no numbers, cannot be seen from here: which bins samples near them are
/// counted in is then left open.
///
/// # Errors
/// [`Error::Bins`]; [`Error::OutputLength`] where there is not one count less than edges; those of the device where the
/// memory is on another device than the stream or where a launch failed. Nothing is written then, but where a launch
/// failed.
pub fn histogram_between_into<'a, 'b, 'c, T: HistogramSample, C: HistogramCount>(
    stream: &Stream,
    samples: impl Into<View<'a, T>>,
    edges: impl Into<View<'b, T>>,
    counts: impl Into<ViewMut<'c, C>>,
) -> Result<(), Error> {
    let (samples, edges, mut counts) = (samples.into(), edges.into(), counts.into());
    let bins = edges.len().saturating_sub(1);
    check_bins(bins)?;
    checks::output(NAME, bins, counts.len())?;
    stream.expect("samples of a histogram", samples.device())?;
    stream.expect("edges of a histogram", edges.device())?;
    stream.expect("counts of a histogram", counts.device())?;
    if let (Some(samples), Some(edges), Some(counts)) =
        (samples.as_slice(), edges.as_slice(), counts.as_mut_slice())
    {
        reference::count(samples, |sample| reference::between(edges, sample), counts);
        return Ok(());
    }
    launch::between(stream, samples, edges, counts)
}

fn check_bins(bins: usize) -> Result<u32, Error> {
    if bins == 0 || bins > MOST_BINS {
        return Err(Error::Bins { bins, most: MOST_BINS });
    }
    Ok(bins as u32)
}
