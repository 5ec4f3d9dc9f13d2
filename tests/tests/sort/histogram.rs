//! Histograms of every type of samples: one body over all backends, against a serial count.

use gpu_tests::data::random;
use std::fmt::Debug;

use gpu_core::Device;
use gpu_sort::{
    Error, HistogramSample, histogram_between, histogram_between_into, histogram_even, histogram_even_into,
};
use gpu_sort_kernels::histogram::{MAX_SHARED_BINS, copies};
use gpu_tests::backends::for_each;

/// A type of samples, with what the oracle needs: bins by another way than the kernels'.
trait Sample: HistogramSample + Debug {
    fn sample(bits: u64) -> Self;
    /// The bin of a sample, if it lies from `lower` on and below `upper`.
    fn bin(self, lower: Self::Bound, upper: Self::Bound, bins: usize) -> Option<usize>;
}

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl Sample for $t {
            fn sample(bits: u64) -> $t {
                bits as $t
            }
            fn bin(self, lower: i64, upper: i64, bins: usize) -> Option<usize> {
                let (offset, range) = (self as i128 - lower as i128, upper as i128 - lower as i128);
                (0..range).contains(&offset).then(|| (offset * bins as i128 / range) as usize)
            }
        }
    )* };
}
integers!(u8 i8 u16 i16 u32 i32);

macro_rules! floats {
    ($($t:ident)*) => { $(
        impl Sample for $t {
            fn sample(bits: u64) -> $t {
                match bits % 50 {
                    0 => $t::NAN,
                    1 => $t::INFINITY,
                    2 => -$t::INFINITY,
                    3 => -0.0,
                    _ => (bits >> 40) as $t / 8192.0 - 1000.0,
                }
            }
            // The rule that the documentation states: rounded in the type.
            fn bin(self, lower: $t, upper: $t, bins: usize) -> Option<usize> {
                let scale = bins as $t / (upper - lower);
                let is_in = self >= lower && self < upper;
                is_in.then(|| (((self - lower) * scale).floor() as usize).min(bins - 1))
            }
        }
    )* };
}
floats!(f32 f64);

fn even<T: Sample>(device: &Device, len: usize, from: usize, bins: usize, lower: T::Bound, upper: T::Bound) {
    let samples: Vec<T> = (0..len + from).map(|i| T::sample(random(bins as u64, i))).collect();
    let mut expected = vec![0u32; bins];
    for bin in samples[from..].iter().filter_map(|sample| sample.bin(lower, upper, bins)) {
        expected[bin] += 1;
    }
    assert!(len < 100 || expected.iter().any(|count| *count > 0), "no sample of {len} is in a bin");
    let buffer = device.upload(&samples).unwrap();
    let counts = histogram_even::<T, u32>(buffer.slice(from..), bins, lower, upper).unwrap();
    let context =
        || format!("{len} from {from} in {bins} bins of {} on {device}", core::any::type_name::<T>());
    assert_eq!(counts.to_vec().unwrap(), expected, "{}", context());
    // Of 64 bits, into a part of an array.
    let mut wide = device.upload(&vec![7u64; bins + 2]).unwrap();
    let target = wide.slice_mut(1..=bins);
    histogram_even_into(&device.default_stream(), buffer.slice(from..), lower, upper, target).unwrap();
    let mut all: Vec<u64> = expected.into_iter().map(u64::from).collect();
    all.insert(0, 7);
    all.push(7);
    assert_eq!(wide.to_vec().unwrap(), all, "64 bits, {}", context());
}

/// Lengths around vectors, starts that are not aligned, numbers of bins with 32 copies, fewer, one, and in global
/// memory.
fn evens<T: Sample>(device: &Device, lower: T::Bound, upper: T::Bound) {
    for (len, from) in [(0, 0), (1, 0), (15, 1), (16, 0), (33, 3), (1000, 1)] {
        even::<T>(device, len, from, 10, lower, upper);
    }
    even::<T>(device, 20_000, 1, 1, lower, upper);
    even::<T>(device, 3000, 0, 257, lower, upper);
    even::<T>(device, 3000, 2, MAX_SHARED_BINS as usize, lower, upper);
    even::<T>(device, 3000, 0, MAX_SHARED_BINS as usize + 1, lower, upper);
}

#[test]
fn bins_of_the_same_width() {
    assert_eq!([10, 257, MAX_SHARED_BINS, MAX_SHARED_BINS + 1].map(copies), [32, 16, 1, 0]);
    for_each("bins_of_the_same_width", |device| {
        evens::<u8>(device, 0, 256);
        evens::<i8>(device, -100, 27);
        evens::<u16>(device, 1000, 60_001);
        evens::<i16>(device, -32_768, 32_767);
        evens::<u32>(device, 3, 1 << 32);
        even::<u32>(device, 3000, 0, 1000, 0, 1 << 32);
        even::<i8>(device, 3000, 0, 3, -128, 128);
        evens::<i32>(device, -2_000_000_000, 1_999_999_993);
        evens::<f32>(device, -900.0, 700.5);
        evens::<f64>(device, -900.0, 700.5);
    });
}

/// All samples in one bin, and samples in order: neighbours in the same bin.
#[test]
fn samples_that_are_not_spread() {
    for_each("samples_that_are_not_spread", |device| {
        let samples = device.upload(&vec![1.5f32; 5000]).unwrap();
        let counts = histogram_even::<f32, u32>(&samples, 100, 0.0, 10.0).unwrap().to_vec().unwrap();
        assert_eq!((counts[15], counts.iter().sum::<u32>()), (5000, 5000));
        let samples = device.upload(&(0..6400u32).collect::<Vec<u32>>()).unwrap();
        let counts = histogram_even::<u32, u64>(&samples, 64, 0, 6400).unwrap().to_vec().unwrap();
        assert_eq!(counts, [100; 64]);
    });
}

fn between<T: Sample>(device: &Device, len: usize, edges: &[T]) {
    let samples: Vec<T> = (0..len).map(|i| T::sample(random(len as u64, i))).collect();
    let samples: Vec<T> = samples.into_iter().chain(edges.iter().copied()).collect();
    let within = |sample: T, pair: &[T]| pair[0] <= sample && sample < pair[1];
    let expected: Vec<u64> = edges
        .windows(2)
        .map(|pair| samples.iter().filter(|sample| within(**sample, pair)).count() as u64)
        .collect();
    let buffer = device.upload(&samples).unwrap();
    let counts = histogram_between::<T, u64>(&buffer, edges).unwrap();
    let context =
        || format!("{len} of {} between {} edges on {device}", core::any::type_name::<T>(), edges.len());
    assert_eq!(counts.to_vec().unwrap(), expected, "{}", context());
    let mut narrow = device.zeroed::<u32>(edges.len() - 1).unwrap();
    let on_device = device.upload(edges).unwrap();
    histogram_between_into(&device.default_stream(), &buffer, &on_device, &mut narrow).unwrap();
    let narrow: Vec<u64> = narrow.to_vec().unwrap().into_iter().map(u64::from).collect();
    assert_eq!(narrow, expected, "32 bits, {}", context());
}

#[test]
fn bins_between_edges() {
    for_each("bins_between_edges", |device| {
        between::<u8>(device, 3000, &[3, 4, 4, 100, 255]);
        between::<i8>(device, 3000, &[-128, -5, 0, 0, 7, 127]);
        between::<u16>(device, 3000, &[0, 65_535]);
        between::<i16>(device, 100, &[-32_000, -1, 0, 1, 10_000]);
        between::<u32>(device, 3000, &[5, 1 << 20, 1 << 31, u32::MAX]);
        between::<i32>(device, 3000, &[i32::MIN, -1_000_000, 0, i32::MAX]);
        between::<f32>(device, 3000, &[f32::NEG_INFINITY, -0.0, 0.0, 12.5, 12.5, f32::INFINITY]);
        between::<f64>(device, 3000, &[-900.0, -0.25, 700.0]);
        let many: Vec<f32> = (0..MAX_SHARED_BINS as usize + 3).map(|i| i as f32 / 8.0 - 900.0).collect();
        between::<f32>(device, 50, &many);
    });
}

/// A sample at the lower bound is in the first bin, one at the upper bound in none.
#[test]
fn samples_at_the_bounds() {
    for_each("samples_at_the_bounds", |device| {
        let samples = [1.0f32, 1.0f32.next_down(), 4.0, 4.0f32.next_down(), f32::NAN];
        let counts = histogram_even::<f32, u32>(&device.upload(&samples).unwrap(), 3, 1.0, 4.0).unwrap();
        assert_eq!(counts.to_vec().unwrap(), [1, 0, 1], "{}", device.name());
        let samples = [1.0f64, 1.0f64.next_down(), 4.0, 4.0f64.next_down(), f64::NAN];
        let counts = histogram_even::<f64, u32>(&device.upload(&samples).unwrap(), 3, 1.0, 4.0).unwrap();
        assert_eq!(counts.to_vec().unwrap(), [1, 0, 1], "{}", device.name());
    });
}

#[test]
fn a_histogram_checks_its_bins() {
    use gpu_sort::Error;
    for_each("a_histogram_checks_its_bins", |device| {
        let samples = device.upload(&[1.0f32, 2.0]).unwrap();
        let bounds = |lower, upper| histogram_even::<f32, u32>(&samples, 3, lower, upper).unwrap_err();
        for (lower, upper) in
            [(1.0, 1.0), (2.0, 1.0), (f32::NAN, 1.0), (f32::MIN, f32::MAX), (0.0, f32::INFINITY)]
        {
            assert!(matches!(bounds(lower, upper), Error::Bounds { .. }), "{lower} {upper}");
        }
        let bytes = device.upload(&[1u8, 2]).unwrap();
        for (lower, upper) in [(-1, 3), (0, 257), (5, 5), (6, 5)] {
            let error = histogram_even::<u8, u32>(&bytes, 3, lower, upper).unwrap_err();
            assert!(matches!(error, Error::Bounds { .. }), "{lower} {upper}");
        }
        assert_eq!(bounds(2.0, 1.5).to_string(), "a histogram from 2 to 1.5");
        let error = histogram_even::<f32, u32>(&samples, 0, 0.0, 1.0).unwrap_err();
        assert!(matches!(error, Error::Bins { bins: 0, .. }), "{error}");
        let error = histogram_between::<f32, u32>(&samples, &[1.0]).unwrap_err();
        assert!(matches!(error, Error::Bins { bins: 0, .. }), "{error}");
        let error = histogram_between::<f32, u32>(&samples, &[1.0, 3.0, 2.0]).unwrap_err();
        assert!(matches!(error, Error::Edges { index: 2, before: 3.0, after: 2.0 }), "{error}");
        let error = histogram_between::<f32, u32>(&samples, &[1.0, f32::NAN]).unwrap_err();
        assert!(matches!(error, Error::Edges { index: 1, .. }), "{error}");
        let edges = device.upload(&[0.0f32, 1.0, 2.0]).unwrap();
        let mut counts = device.upload(&[9u32; 3]).unwrap();
        let stream = device.default_stream();
        let error = histogram_between_into(&stream, &samples, &edges, &mut counts).unwrap_err();
        assert!(matches!(error, Error::OutputLength { expected: 2, actual: 3, .. }), "{error}");
        assert_eq!(counts.to_vec().unwrap(), [9; 3], "written in spite of the error");
    });
}

#[test]
fn bins_too_narrow_for_the_type_are_refused() {
    for device in [Device::cpu(), Device::simulator()] {
        let tiny = f32::from_bits(1);
        let samples = device.upload(&[0.0, tiny, 2.0 * tiny, 3.0 * tiny]).unwrap();
        let mut counts = device.upload(&[9u32; 4]).unwrap();
        let stream = device.default_stream();
        let error = histogram_even_into(&stream, &samples, 0.0, 4.0 * tiny, &mut counts).unwrap_err();
        assert!(matches!(error, Error::Bounds { lower: 0.0, upper } if upper > 0.0), "{error}");
        assert_eq!(counts.to_vec().unwrap(), [9; 4]);
        let wide = device.upload(&[0.5f64]).unwrap();
        let error = histogram_even::<_, u64>(&wide, 10, 0.0, 1e-308).unwrap_err();
        assert!(matches!(error, Error::Bounds { .. }), "{error}");
        // And as narrow as they can be.
        let lower = f32::MIN_POSITIVE;
        let samples = device.upload(&[lower, 1.5 * lower]).unwrap();
        let counts = histogram_even::<_, u32>(&samples, 2, lower, 2.0 * lower).unwrap();
        assert_eq!(counts.to_vec().unwrap(), [1, 1]);
    }
}
