//! Filters of images: one body over all backends, against serial oracles.

use gpu_core::{Buffer, Device};
use gpu_stencil::{
    Border, Error, Filter, Image, ImageLayout, ImageMut, SeparableFilter, Weight, convolve_into,
    convolve_separable, convolve_separable_into, correlate, correlate_into, correlate_separable,
    correlate_separable_into, gaussian, laplace, sharpen,
};
use gpu_tests::backends::{cases, cuda, for_each, for_each_small};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::support::image::{BORDERS, Element, Subject, border, oracle};

/// Weights of mixed sign and magnitude, so that another order of operations shows.
fn weights<S: Weight>(seed: u64, len: usize) -> Vec<S> {
    floats(seed, len).into_iter().map(|weight| S::from_f64(f64::from(weight) / 256.0)).collect()
}

/// What a case filters with.
#[derive(Clone, Copy, Debug)]
struct Shape {
    separable: bool,
    convolve: bool,
    taps: (usize, usize),
    origin: (isize, isize),
}

fn check<T: Element>(
    device: &Device,
    layouts: (ImageLayout, ImageLayout),
    offset: usize,
    shape: Shape,
    mode: usize,
    seed: u64,
) {
    let Shape { separable, convolve, taps, origin } = shape;
    let border = border::<T>(mode);
    let stream = device.default_stream();
    let input = Subject::<T>::new(device, layouts.0, offset, seed);
    let mut output = Subject::<T>::new(device, layouts.1, offset, seed + 1);
    let context =
        format!("{shape:?} {border:?} {:?} → {:?} +{offset} on {}", layouts.0, layouts.1, device.name());
    let (row, column) = (weights::<T::Sum>(seed, taps.0), weights::<T::Sum>(seed + 7, taps.1));
    let all = weights::<T::Sum>(seed, taps.0 * taps.1);
    if separable {
        let filter = SeparableFilter::new(&row, &column).unwrap().with_origin(origin.0, origin.1).unwrap();
        let run = if convolve { convolve_separable_into } else { correlate_separable_into };
        run(&stream, input.image(), &filter, border, output.image_mut())
            .unwrap_or_else(|e| panic!("{context}: {e}"));
        output.expect(oracle::separable(&input, [&row, &column], origin, border, convolve));
    } else {
        let filter = Filter::new(taps.0, taps.1, &all).unwrap().with_origin(origin.0, origin.1).unwrap();
        let filter = filter.upload(device).unwrap();
        let run = if convolve { convolve_into } else { correlate_into };
        run(&stream, input.image(), &filter, border, output.image_mut())
            .unwrap_or_else(|e| panic!("{context}: {e}"));
        output.expect(oracle::full(&input, taps, &all, origin, border, convolve));
    }
    output.check(&context);
}

/// The layout of the result of a filter of images of layout `input`, with gaps of its own.
fn result(input: ImageLayout, taps: (usize, usize), mode: usize, gap: usize) -> Option<ImageLayout> {
    let (width, height) = if BORDERS[mode] == "valid" {
        ((input.width() + 1).checked_sub(taps.0)?, (input.height() + 1).checked_sub(taps.1)?)
    } else {
        (input.width(), input.height())
    };
    if width == 0 || height == 0 {
        return None;
    }
    let layout = ImageLayout::new(width, height, input.channels()).unwrap();
    let layout = layout.with_pitch(layout.pitch() + gap).unwrap();
    Some(layout.with_batch(input.count(), layout.span() + gap).unwrap())
}

fn check_every_type(
    device: &Device,
    input: ImageLayout,
    gaps: (usize, usize),
    shape: Shape,
    mode: usize,
    seed: u64,
) {
    let Some(output) = result(input, shape.taps, mode, gaps.0) else { return };
    let layouts = (input, output);
    check::<f32>(device, layouts, gaps.1, shape, mode, seed);
    check::<u8>(device, layouts, gaps.1, shape, mode, seed);
    check::<u16>(device, layouts, gaps.1, shape, mode, seed);
    check::<i16>(device, layouts, gaps.1, shape, mode, seed);
    check::<f64>(device, layouts, gaps.1, shape, mode, seed);
}

/// Every fast kernel of a type, with aligned rows and with others, strips and blocks that end within the image, every
/// border.
fn every_fast_kernel_of<T: Element>(device: &Device, strip: usize) {
    for (number, taps) in [3, 5, 7, 9, 11].into_iter().enumerate() {
        for (channels, separable) in [(1, true), (3, true), (4, true), (1, false), (3, false), (4, false)] {
            // Full filters of 9 × 9 weights are fast for one channel only.
            if !separable && channels > 1 && taps == 9 {
                continue;
            }
            let mode = (number + channels + usize::from(separable)) % BORDERS.len();
            let shape = Shape { separable, convolve: number % 2 == 1, taps: (taps, taps), origin: (0, 0) };
            // More than a strip, in rows of whole vectors; 18 rows of results, and more, are two blocks.
            let width = (strip + 48).div_ceil(channels).next_multiple_of(16);
            let wide = ImageLayout::new(width, 18, channels).unwrap();
            check::<T>(device, (wide, result(wide, shape.taps, mode, 0).unwrap()), 0, shape, mode, 3);
            // Copied by elements, or by words.
            let odd = ImageLayout::new(37, 12, channels).unwrap();
            // Other borders with other channels: `every_border` has all of them.
            for mode in (0..BORDERS.len()).filter(|mode| (mode + number + channels) % 3 != 0) {
                let (pitch, offset) = if (mode + number) % 2 == 0 {
                    (odd.pitch() + 5, 1)
                } else {
                    (odd.pitch().next_multiple_of(4) + 4, 4)
                };
                let odd = odd.with_pitch(pitch).unwrap();
                check::<T>(device, (odd, result(odd, shape.taps, mode, 3).unwrap()), offset, shape, mode, 4);
            }
        }
    }
}

#[test]
fn every_fast_kernel() {
    for_each("every_fast_kernel", |device| {
        // As many elements as a warp's strip has.
        every_fast_kernel_of::<f32>(device, 128);
        every_fast_kernel_of::<f64>(device, 64);
        every_fast_kernel_of::<u8>(device, 512);
        every_fast_kernel_of::<u16>(device, 256);
        every_fast_kernel_of::<i16>(device, 256);
    });
}

/// Every border, on both kinds of kernels, with images as small as one pixel and filters larger than the image.
#[test]
fn every_border() {
    for_each("every_border", |device| {
        for mode in 0..BORDERS.len() {
            for (width, height) in [(1, 1), (2, 1), (1, 3), (5, 5), (130, 7)] {
                for (taps, origin) in
                    [((3, 3), (1, -1)), ((5, 5), (0, 0)), ((4, 2), (-2, 0)), ((13, 9), (6, 3))]
                {
                    let layout = ImageLayout::new(width, height, 1).unwrap();
                    for separable in [true, false] {
                        let shape = Shape { separable, convolve: mode % 2 == 0, taps, origin };
                        let Some(output) = result(layout, taps, mode, 0) else { continue };
                        check::<f32>(device, (layout, output), 0, shape, mode, 5);
                        check::<u8>(device, (layout, output), 0, shape, mode, 6);
                    }
                }
            }
        }
    });
}

/// Filters up to the limit: in tables, and uploaded.
#[test]
fn filters_up_to_the_limit() {
    for_each("filters_up_to_the_limit", |device| {
        let layout = ImageLayout::new(70, 3, 1).unwrap();
        for taps in [(63, 1), (1, 63), (31, 31), (32, 31), (63, 63)] {
            for separable in [true, false] {
                let shape = Shape { separable, convolve: taps.0 == 32, taps, origin: (0, 0) };
                check::<f32>(device, (layout, layout), 0, shape, 0, 7);
                if taps.0 < 63 || separable {
                    check::<f64>(device, (layout, layout), 0, shape, 3, 8);
                }
            }
        }
    });
}

#[test]
fn any_image_and_filter() {
    let cases = (cases() / 6).max(1);
    println!("{cases} cases from a fixed seed");
    for_each("any_image_and_filter", |device| {
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x66; 32]));
        let extent = prop_oneof![Just((3, 3)), Just((5, 5)), (1..12usize, 1..12usize)];
        let side = || prop_oneof![1..6usize, 1..70usize];
        let channels = prop_oneof![Just(1usize), 1..6usize];
        let gap = || prop_oneof![Just(0usize), Just(16), 0..9usize];
        let input = (
            (side(), side(), channels, 1..3usize),
            (gap(), gap(), gap()),
            extent,
            (any::<u16>(), any::<u16>()),
            (any::<bool>(), any::<bool>(), 0..BORDERS.len()),
            any::<u32>(),
        );
        runner
            .run(
                &input,
                |(
                    (width, height, channels, count),
                    gaps,
                    taps,
                    origin,
                    (separable, convolve, mode),
                    seed,
                )| {
                    let layout = ImageLayout::new(width, height, channels).unwrap();
                    let layout = layout.with_pitch(layout.pitch() + gaps.0).unwrap();
                    let layout = layout.with_batch(count, layout.span() + gaps.0).unwrap();
                    let within = |extent: usize, any: u16| {
                        usize::from(any) as isize % extent as isize - (extent / 2) as isize
                    };
                    let origin = (within(taps.0, origin.0), within(taps.1, origin.1));
                    let shape = Shape { separable, convolve, taps, origin };
                    check_every_type(device, layout, (gaps.1, gaps.2), shape, mode, seed.into());
                    Ok(())
                },
            )
            .unwrap();
    });
}

/// The convolution of an impulse is the filter, its correlation the filter turned round.
#[test]
fn an_impulse_gives_the_separable_filter() {
    for_each("an_impulse_gives_the_separable_filter", |device| {
        let layout = ImageLayout::new(3, 3, 1).unwrap();
        let pixels = device.upload(&[0.0f32, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        let image = Image::new(&pixels, layout).unwrap();
        let filter = SeparableFilter::new(&[1.0f32, 2.0, 4.0], &[1.0, 8.0, 64.0]).unwrap();
        let outer = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
        let convolved = convolve_separable(image, &filter, Border::Constant(0.0)).unwrap();
        assert_eq!(convolved.to_vec().unwrap(), outer, "{}", device.name());
        let mut turned = outer;
        turned.reverse();
        let correlated = correlate_separable(image, &filter, Border::Constant(0.0)).unwrap();
        assert_eq!(correlated.to_vec().unwrap(), turned, "{}", device.name());
    });
}

/// NaN and infinities, among pixels and weights, go where arithmetic takes them.
#[test]
fn what_is_not_finite_passes_through() {
    for_each("what_is_not_finite_passes_through", |device| {
        let layout = ImageLayout::new(40, 5, 1).unwrap();
        let mut values = vec![1.0f32; layout.span()];
        (values[41], values[90]) = (f32::NAN, f32::INFINITY);
        let pixels = device.upload(&values).unwrap();
        let image = Image::new(&pixels, layout).unwrap();
        let filter = SeparableFilter::box_mean(3, 3).unwrap();
        let mean = correlate_separable(image, &filter, Border::Reflect).unwrap().to_vec().unwrap();
        let nan = mean.iter().filter(|mean| mean.is_nan()).count();
        // NaN at (1, 1) reaches 9 outputs, infinity at (10, 2) as many others.
        assert_eq!((nan, mean.iter().filter(|mean| mean.is_infinite()).count()), (9, 9), "{}", device.name());
        let filter = Filter::new(3, 1, &[0.0, f32::NAN, 0.0]).unwrap();
        let all = correlate(image, &filter, Border::Reflect).unwrap().to_vec().unwrap();
        assert!(all.iter().all(|value| value.is_nan()), "{}", device.name());
        let bytes = device.upload(&[9u8; 200]).unwrap();
        let image = Image::new(&bytes, layout).unwrap();
        assert_eq!(correlate(image, &filter, Border::Reflect).unwrap().to_vec().unwrap(), [0; 200]);
    });
}

/// Sums of integers are rounded to the nearest even once, and saturated.
#[test]
fn integers_are_rounded_once_and_saturated() {
    for_each("integers_are_rounded_once_and_saturated", |device| {
        let layout = ImageLayout::new(4, 1, 1).unwrap();
        let pixels = device.upload(&[1u8, 2, 5, 200]).unwrap();
        let image = Image::new(&pixels, layout).unwrap();
        let times = |factor: f32| {
            let filter = Filter::new(1, 1, &[factor]).unwrap();
            correlate(image, &filter, Border::Reflect).unwrap().to_vec().unwrap()
        };
        assert_eq!(times(0.5), [0, 1, 2, 100], "{}", device.name());
        assert_eq!(times(1.5), [2, 3, 8, 255]);
        assert_eq!(times(-1.0), [0, 0, 0, 0]);
        let pixels = device.upload(&[1i16, -3, 20_000, -30_000]).unwrap();
        let filter = Filter::new(1, 1, &[-1.5]).unwrap();
        let image = Image::new(&pixels, layout).unwrap();
        let result = correlate(image, &filter, Border::Reflect).unwrap().to_vec().unwrap();
        assert_eq!(result, [-2, 4, -30_000, 32_767]);
    });
}

fn refused(
    device: &Device,
    run: impl FnOnce(Image<'_, f32>, ImageMut<'_, f32>) -> Result<(), Error>,
) -> Error {
    let layout = ImageLayout::new(4, 3, 1).unwrap();
    let pixels = device.upload(&[1.0f32; 12]).unwrap();
    let mut output: Buffer<f32> = device.upload(&[-7.0f32; 12]).unwrap();
    let error =
        run(Image::new(&pixels, layout).unwrap(), ImageMut::new(&mut output, layout).unwrap()).unwrap_err();
    assert_eq!(output.to_vec().unwrap(), [-7.0; 12], "{error}");
    error
}

/// Each is the filter of its name.
#[test]
fn names_of_filters() {
    for_each("names_of_filters", |device| {
        let layout = ImageLayout::new(37, 11, 2).unwrap();
        let pixels: Vec<i16> = floats(3, layout.span()).into_iter().map(|value| value as i16).collect();
        let pixels = device.upload(&pixels).unwrap();
        let image = Image::new(&pixels, layout).unwrap();
        let same = |name: &str, ours: Buffer<i16>, expected: Buffer<i16>| {
            assert_eq!(ours.to_vec().unwrap(), expected.to_vec().unwrap(), "{name} on {}", device.name());
        };
        let border = Border::Reflect;
        let full = |filter: Filter<f32>| correlate(image, &filter, border).unwrap();
        let separable = |filter: SeparableFilter<f32>| correlate_separable(image, &filter, border).unwrap();
        same("sharpen", sharpen(image, border).unwrap(), full(Filter::sharpen()));
        same("laplace", laplace(image, border).unwrap(), full(Filter::laplace()));
        let filter = SeparableFilter::gaussian(1.5, 4.0).unwrap();
        same("gaussian", gaussian(image, 1.5, 4.0, border).unwrap(), separable(filter));
        let filter = SeparableFilter::box_mean(5, 3).unwrap();
        same("box_mean", gpu_stencil::box_mean(image, 5, 3, border).unwrap(), separable(filter));
    });
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    for_each("what_does_not_fit_is_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let filter = SeparableFilter::<f32>::box_mean(3, 3).unwrap();
        let error = refused(device, |input, output| {
            correlate_separable_into(&stream, input, &filter, Border::Valid, output)
        });
        assert!(matches!(error, Error::Extents { expected: [2, 1, 1, 1], actual: [4, 3, 1, 1] }), "{error}");
        let wide = SeparableFilter::<f32>::box_mean(5, 1).unwrap();
        let error = refused(device, |input, output| {
            correlate_separable_into(&stream, input, &wide, Border::Valid, output)
        });
        assert!(matches!(error, Error::FilterOutsideImage { filter: (5, 1), image: (4, 3) }), "{error}");
        let elsewhere = Device::simulator();
        let stream = elsewhere.default_stream();
        let error = refused(device, |input, output| {
            correlate_separable_into(&stream, input, &filter, Border::Wrap, output)
        });
        assert!(matches!(error, Error::Device(gpu_core::Error::WrongDevice { .. })), "{error}");
        if device.kind() != gpu_core::Kind::Cpu {
            let stream = device.default_stream();
            let large = Filter::new(32, 32, &[0.0f32; 1024]).unwrap();
            let error =
                refused(device, |input, output| correlate_into(&stream, input, &large, Border::Wrap, output));
            assert!(matches!(error, Error::WeightsNotOnDevice { actual: 1024, limit: 961 }), "{error}");
        }
    });
    for (width, height) in [(0, 3), (3, 0), (64, 1), (1, 64)] {
        let error = SeparableFilter::<f32>::box_mean(width, height).unwrap_err();
        assert!(matches!(error, Error::FilterExtent { limit: 63, .. }), "{error}");
    }
    let error = Filter::new(2, 2, &[0.0f64; 5]).unwrap_err();
    assert!(matches!(error, Error::Weights { expected: 4, actual: 5 }), "{error}");
    let error = Filter::new(2, 2, &[0.0f64; 4]).unwrap().with_origin(0, 1).unwrap_err();
    assert!(matches!(error, Error::Origin { actual: 1, low: -1, high: 0, .. }), "{error}");
    let image = Image::new(&[0u8; 4], ImageLayout::new(2, 2, 1).unwrap()).unwrap();
    let error = gaussian(image, -1.0, 4.0, Border::Reflect).unwrap_err();
    assert!(matches!(error, Error::Sigma { actual: -1.0 }), "{error}");
}

/// More bands of rows than threads, and rows of several chunks, on the CPU; several blocks one below the other
/// elsewhere.
#[test]
fn bands_and_blocks_meet() {
    for_each("bands_and_blocks_meet", |device| {
        // Strips with nothing but strips around them.
        let wide = |width, height| ImageLayout::new(width, height, 1).unwrap();
        let shape = Shape { separable: true, convolve: false, taps: (9, 9), origin: (0, 0) };
        check::<f32>(device, (wide(432, 70), wide(432, 70)), 0, shape, 1, 9);
        check::<u8>(device, (wide(1552, 17), wide(1552, 17)), 0, Shape { taps: (5, 5), ..shape }, 1, 9);
        check::<u8>(
            device,
            (wide(1552, 5), wide(1552, 5)),
            0,
            Shape { separable: false, taps: (3, 3), ..shape },
            2,
            9,
        );
        let layout = wide(67, 150);
        check::<f32>(device, (layout, layout), 0, Shape { separable: false, taps: (4, 5), ..shape }, 1, 10);
    });
}

/// Blocks with as many rows as the filter asks for, as those of large images have.
#[test]
fn blocks_of_many_rows() {
    for_each_small("blocks_of_many_rows", |device| {
        let layout = |width, height| ImageLayout::new(width, height, 1).unwrap();
        let separable = Shape { separable: true, convolve: false, taps: (9, 9), origin: (0, 0) };
        let full = Shape { separable: false, taps: (5, 5), ..separable };
        // 31 blocks are enough of a small device: of 40 rows and of 25.
        check::<f32>(device, (layout(132, 1250), layout(132, 1250)), 0, separable, 1, 9);
        check::<f32>(device, (layout(132, 780), layout(132, 780)), 0, full, 1, 9);
    });
}

/// Lanes of a warp, and warps, in any order: who copies a row, who reads it, who overwrites it.
#[test]
fn every_schedule_gives_the_same_bits() {
    let layout = ImageLayout::new(160, 21, 1).unwrap();
    let values = floats(12, layout.span());
    let filter = SeparableFilter::gaussian(1.0, 2.0).unwrap();
    let image = Image::new(&values[..], layout).unwrap();
    let expected = correlate_separable(image, &filter, Border::Mirror).unwrap().to_vec().unwrap();
    for seed in 0..20 {
        let device = Device::simulator_with(gpu_sim::Config { seed, ..Default::default() });
        let pixels = device.upload(&values).unwrap();
        let image = Image::new(&pixels, layout).unwrap();
        let found = correlate_separable(image, &filter, Border::Mirror).unwrap().to_vec().unwrap();
        assert_same_bits(&found, &expected, &format!("seed {seed}"));
    }
    println!("every_schedule_gives_the_same_bits: 20 seeds");
}

/// Many blocks of every height, aligned and not; and more than 2^32 pixels.
#[test]
fn large_images_on_the_gpu() {
    let Some(device) = cuda("large_images_on_the_gpu") else { return };
    let filter = SeparableFilter::gaussian(1.0, 2.0).unwrap();
    for (width, height) in [(16384, 16384), (8192, 4096), (8191, 4093), (2048, 2048)] {
        let layout = ImageLayout::new(width, height, 1).unwrap();
        let values = floats(width as u64, layout.span());
        let bytes: Vec<u8> = values.iter().map(|value| value.to_bits() as u8).collect();
        let (pixels, byte_pixels) = (device.upload(&values).unwrap(), device.upload(&bytes).unwrap());
        let blur = |image| correlate_separable(image, &filter, Border::Mirror).unwrap().to_vec().unwrap();
        let found = blur(Image::new(&pixels, layout).unwrap());
        let expected = blur(Image::new(&values[..], layout).unwrap());
        assert_same_bits(&found, &expected, &format!("{width} × {height}, f32"));
        let blur = |image| correlate_separable(image, &filter, Border::Mirror).unwrap().to_vec().unwrap();
        let found = blur(Image::new(&byte_pixels, layout).unwrap());
        let expected = blur(Image::new(&bytes[..], layout).unwrap());
        assert_same_bits(&found, &expected, &format!("{width} × {height}, u8"));
    }
    // Black but for some pixels, each of which is to show in itself and its eight neighbours.
    let layout = ImageLayout::new(65_552, 65_600, 1).unwrap();
    assert!(layout.span() > 1 << 32);
    let mut pixels = device.zeroed::<u8>(layout.span()).unwrap();
    let places = [(1, 1), (30_000, 17), (65_550, 65_598), (40_000, 65_530), (511, 32_768)];
    for (x, y) in places {
        let at = layout.index(0, y, x, 0);
        pixels.slice_mut(at..at + 1).copy_from(&[7]).unwrap();
    }
    let ones = SeparableFilter::new(&[1.0; 3], &[1.0; 3]).unwrap();
    let image = Image::new(&pixels, layout).unwrap();
    let output = correlate_separable(image, &ones, Border::Constant(0)).unwrap();
    for (x, y) in places {
        for row in y - 1..=y + 1 {
            let at = layout.index(0, row, x - 1, 0);
            let mut found = [0; 3];
            output.slice(at..at + 3).copy_to(&mut found).unwrap();
            assert_eq!(found, [7; 3], "row {row} at ({x}, {y})");
        }
    }
    drop(pixels);
    let sum = gpu_reduce::wide_sum(&output).unwrap();
    assert_eq!(sum, 7 * 9 * places.len() as u64, "nothing else is bright");
}
