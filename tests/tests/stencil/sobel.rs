//! Sobel's gradients: one body over all backends, against a serial oracle.

use gpu_core::Device;
use gpu_stencil::{Border, Error, Gradients, Image, ImageLayout, ImageMut, sobel_into};
use gpu_tests::backends::{cases, for_each};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::support::image::{BORDERS, Element, Subject, border};

/// What the oracle computes with.
trait Side: Element<Sum = Self> {
    /// `self * factor + summand`, rounded once.
    fn fused(self, factor: Self, summand: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn root(self) -> Self;
    fn wide(self) -> f64;
    const TWO: Self;
    /// The bound of an angle's error, given by the kernels' documentation.
    const ANGLE: f64;
}

macro_rules! sides {
    ($($T:ty: $angle:literal;)*) => { $(
        impl Side for $T {
            fn fused(self, factor: $T, summand: $T) -> $T {
                self.mul_add(factor, summand)
            }
            fn plus(self, other: $T) -> $T {
                self + other
            }
            fn minus(self, other: $T) -> $T {
                self - other
            }
            fn root(self) -> $T {
                self.sqrt()
            }
            fn wide(self) -> f64 {
                self.into()
            }
            const TWO: $T = 2.0;
            const ANGLE: f64 = $angle;
        }
    )* };
}
sides! {
    f32: 9.6e-7;
    // And what the standard library's own angle errs by.
    f64: 2.3e-15;
}

/// The gradients at a place, by SciPy's weights.
fn oracle<T: Element<Sum: Side>>(
    input: &Subject<T>,
    border: Border<T>,
    (image, y, x, channel): (usize, i64, i64, usize),
) -> [T::Sum; 3] {
    // The window of an output that sees the inside alone starts with it.
    let middle = i64::from(matches!(border, Border::Valid));
    let at = |j: i64, i: i64| input.get(image, y + middle + j, x + middle + i, channel, border).to_sum();
    let smooth = |values: [T::Sum; 3]| T::Sum::TWO.fused(values[1], values[0]).plus(values[2]);
    let gx = smooth([-1, 0, 1].map(|j| at(j, 1).minus(at(j, -1))));
    let line = |j: i64| smooth([-1, 0, 1].map(|i| at(j, i)));
    let gy = line(1).minus(line(-1));
    [gx, gy, gx.fused(gx, fused_square(gy)).root()]
}

fn fused_square<S: Side>(value: S) -> S {
    value.fused(value, S::from_sum(value.minus(value)))
}

fn check<T: Element<Sum: Side, Gradient: Element<Sum = T::Sum>>>(
    device: &Device,
    layout: ImageLayout,
    gaps: [usize; 2],
    mode: usize,
    wanted: u32,
    seed: u64,
) {
    let border = border::<T>(mode);
    let result = if matches!(border, Border::Valid) {
        let (Some(width), Some(height)) = (layout.width().checked_sub(2), layout.height().checked_sub(2))
        else {
            return;
        };
        let Ok(result) = ImageLayout::new(width, height, layout.channels()) else { return };
        result
    } else {
        ImageLayout::new(layout.width(), layout.height(), layout.channels()).unwrap()
    };
    let result = result.with_pitch(result.pitch() + gaps[0]).unwrap();
    let result = result.with_batch(layout.count(), result.span() + gaps[0]).unwrap();
    let input = Subject::<T>::new(device, layout, gaps[1], seed);
    let mut outputs = [1, 2, 3].map(|seed| Subject::<T::Gradient>::new(device, result, gaps[1], seed));
    let mut angles = Subject::<T::Sum>::new(device, result, gaps[1], 4);
    {
        let [gx, gy, magnitude] = &mut outputs;
        let pick = |bit: u32| wanted & bit != 0;
        let gradients = Gradients {
            gx: pick(1).then(|| gx.image_mut()),
            gy: pick(2).then(|| gy.image_mut()),
            magnitude: pick(4).then(|| magnitude.image_mut()),
            direction: pick(8).then(|| angles.image_mut()),
        };
        sobel_into(&device.default_stream(), input.image(), border, gradients).unwrap();
    }
    let context =
        |what: usize| format!("output {what} of {wanted}, {border:?} {layout:?} on {}", device.name());
    for (number, output) in outputs.iter_mut().enumerate() {
        if wanted & (1 << number) != 0 {
            output.expect(|image, y, x, channel| {
                T::Gradient::from_sum(oracle(&input, border, (image, y, x, channel))[number])
            });
        }
        output.check(&context(number));
    }
    if wanted & 8 == 0 {
        return angles.check(&context(3));
    }
    let found = angles.found();
    angles.expect(|image, y, x, channel| {
        let [gx, gy, _] = oracle(&input, border, (image, y, x, channel));
        let angle = found.get(image, y, x, channel);
        let exact = gy.wide().atan2(gx.wide());
        assert!((angle.wide() - exact).abs() <= T::Sum::ANGLE, "{angle:?} {exact}: {}", context(3));
        angle
    });
    // Everything around them stays.
    angles.check(&context(3));
}

fn check_every_type(
    device: &Device,
    layout: ImageLayout,
    gaps: [usize; 2],
    mode: usize,
    wanted: u32,
    seed: u64,
) {
    check::<f32>(device, layout, gaps, mode, wanted, seed);
    check::<u8>(device, layout, gaps, mode, wanted, seed);
    check::<u16>(device, layout, gaps, mode, wanted, seed);
    check::<i16>(device, layout, gaps, mode, wanted, seed);
    check::<f64>(device, layout, gaps, mode, wanted, seed);
}

#[test]
fn any_subset_of_the_outputs() {
    for_each("any_subset_of_the_outputs", |device| {
        for wanted in 0..16 {
            let layout = ImageLayout::new(48, 5, 1).unwrap();
            let mode = wanted as usize % BORDERS.len();
            check::<f32>(device, layout, [0, 0], mode, wanted, 1);
            check::<u8>(device, layout, [0, 0], mode, wanted, 2);
        }
    });
}

#[test]
fn wide_images_and_small_ones() {
    for_each("wide_images_and_small_ones", |device| {
        // Three strips and blocks of the fast kernels, in whole vectors and in words; two channels, which only the
        // general ones take.
        let wide = [(540, 19, 1), (176, 19, 3), (180, 9, 3), (136, 19, 4), (150, 4, 2)];
        // As small as the fast kernels take images, and smaller.
        let small = [(1, 1, 1), (2, 5, 1), (3, 3, 1), (3, 3, 3), (5, 4, 3), (3, 3, 4), (2, 4, 4)];
        for (width, height, channels) in wide.into_iter().chain(small) {
            let layout = ImageLayout::new(width, height, channels).unwrap();
            for mode in if width < 9 { 0..BORDERS.len() } else { 0..1 } {
                check_every_type(device, layout, [0, 0], mode, 15, 3);
            }
        }
    });
}

#[test]
fn any_image() {
    let cases = (cases() / 8).max(1);
    println!("{cases} cases from a fixed seed");
    for_each("any_image", |device| {
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x67; 32]));
        let side = || prop_oneof![1..6usize, 1..60usize];
        let gap = || prop_oneof![Just(0usize), Just(16), 0..9usize];
        let input = (
            (side(), side(), 1..5usize, 1..3usize),
            [gap(), gap(), gap()],
            0..BORDERS.len(),
            0..16u32,
            any::<u32>(),
        );
        runner
            .run(&input, |((width, height, channels, count), [pitch, gap, offset], mode, wanted, seed)| {
                let layout = ImageLayout::new(width, height, channels).unwrap();
                let layout = layout.with_pitch(layout.pitch() + pitch).unwrap();
                let layout = layout.with_batch(count, layout.span() + pitch).unwrap();
                check_every_type(device, layout, [gap, offset], mode, wanted, seed.into());
                Ok(())
            })
            .unwrap();
    });
}

/// The signs of zeros and the four quadrants, as C's `atan2` has them.
#[test]
fn directions_of_every_quadrant() {
    use gpu_stencil_kernels::filter::arctangent::atan2;
    let sides = [0.0f32, -0.0, 1.0, -1.0, 0.41, -0.42, 1e-30, -3e30, f32::MIN_POSITIVE, 1e-42];
    for y in sides {
        for x in sides {
            let (found, exact) = (atan2(y, x), f64::from(y).atan2(f64::from(x)));
            assert!((f64::from(found) - exact).abs() <= 9.6e-7, "atan2({y}, {x}) = {found}, not {exact}");
            assert_eq!(found.is_sign_negative(), exact.is_sign_negative(), "atan2({y}, {x})");
            let (found, exact) = (atan2(f64::from(y), f64::from(x)), f64::from(y).atan2(f64::from(x)));
            assert!((found - exact).abs() <= 2.3e-15, "atan2({y}, {x}) = {found}, not {exact}");
        }
    }
    for (y, x) in [(f32::NAN, 1.0), (1.0, f32::NAN), (0.0, f32::NAN), (f32::NAN, 0.0)] {
        assert!(atan2(y, x).is_nan());
    }
    // All around, finely.
    for step in -100_000..100_000 {
        let angle = f64::from(step) * 3.1e-5;
        let (y, x) = (angle.sin(), angle.cos());
        assert!((atan2(y, x) - y.atan2(x)).abs() <= 2.3e-15, "{angle}");
        let (y, x) = (y as f32, x as f32);
        assert!((f64::from(atan2(y, x)) - f64::from(y).atan2(x.into())).abs() <= 9.6e-7, "{angle}");
    }
}

#[test]
fn outputs_that_do_not_fit_are_refused() {
    for_each("outputs_that_do_not_fit_are_refused", |device| {
        let stream = device.default_stream();
        let layout = ImageLayout::new(4, 3, 1).unwrap();
        let pixels = device.upload(&[1u8; 12]).unwrap();
        let mut output = device.upload(&[-7i16; 12]).unwrap();
        let gradients =
            Gradients { gy: Some(ImageMut::new(&mut output, layout).unwrap()), ..Gradients::default() };
        let image = Image::new(&pixels, layout).unwrap();
        let error = sobel_into(&stream, image, Border::Valid, gradients).unwrap_err();
        assert!(matches!(error, Error::Extents { expected: [2, 1, 1, 1], actual: [4, 3, 1, 1] }), "{error}");
        let flat = Image::new(pixels.slice(..8), ImageLayout::new(4, 2, 1).unwrap()).unwrap();
        let error = sobel_into(&stream, flat, Border::Valid, Gradients::default()).unwrap_err();
        assert!(matches!(error, Error::FilterOutsideImage { filter: (3, 3), image: (4, 2) }), "{error}");
        assert_eq!(output.to_vec().unwrap(), [-7; 12]);
    });
}
