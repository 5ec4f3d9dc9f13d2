//! Resizing: one body over all backends, against a serial oracle, SciPy, and an error bound.

use gpu_core::image::Invalid;
use gpu_core::{Buffer, Device};
use gpu_stencil::resize::{Addressing, Element, Interpolation, resize, resize_into};
use gpu_stencil::{Error, Image, ImageLayout, ImageMut};
use gpu_tests::backends::{cases, for_each};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A type of elements, and what the oracle knows of it.
trait Subject: Element {
    /// A value of this type, of any magnitude and sign it has.
    fn of(value: f32) -> Self;
    /// The same value: every type's fit.
    fn exact(self) -> f64;
    /// `lerp(lerp(a, b, x), lerp(c, d, x), y)`, the weights being remainders over `2n`.
    fn bilinear(pixels: [Self; 4], x: (i128, i128), y: (i128, i128)) -> Self;
}

fn lerp32(a: f32, b: f32, t: f32) -> f32 {
    t.mul_add(b - a, a)
}

fn weight32((remainder, by): (i128, i128)) -> f32 {
    (remainder as f64 * (1.0 / by as f64)) as f32
}

macro_rules! subjects {
    ($($T:ty: $of:expr, $narrow:expr;)*) => { $(
        impl Subject for $T {
            fn of(value: f32) -> Self {
                $of(value)
            }
            fn exact(self) -> f64 {
                self.into()
            }
            fn bilinear([a, b, c, d]: [Self; 4], x: (i128, i128), y: (i128, i128)) -> Self {
                let (x, y) = (weight32(x), weight32(y));
                $narrow(lerp32(lerp32(a.into(), b.into(), x), lerp32(c.into(), d.into(), x), y))
            }
        }
    )* };
}
subjects! {
    f32: |value| value, |value| value;
    // The low bits: all values are as likely.
    u8: |value: f32| value.to_bits() as u8, |value: f32| value.round_ties_even() as u8;
    u16: |value: f32| value.to_bits() as u16, |value: f32| value.round_ties_even() as u16;
    i16: |value: f32| value.to_bits() as i16, |value: f32| value.round_ties_even() as i16;
}

impl Subject for f64 {
    fn of(value: f32) -> Self {
        // More digits than 24 bits have.
        f64::from(value) * 1.000_000_059_604_7
    }
    fn exact(self) -> f64 {
        self
    }
    fn bilinear([a, b, c, d]: [Self; 4], x: (i128, i128), y: (i128, i128)) -> Self {
        let lerp = |a: f64, b: f64, t: f64| t.mul_add(b - a, a);
        let [x, y] = [x, y].map(|(remainder, by)| remainder as f64 / by as f64);
        lerp(lerp(a, b, x), lerp(c, d, x), y)
    }
}

/// Where output `o` of `n` samples `w` pixels, `(o + 1/2) · w / n - 1/2`: whole part, and remainder over `2n`.
fn place(o: usize, w: usize, n: usize) -> (i64, (i128, i128)) {
    let (numerator, by) = ((2 * o as i128 + 1) * w as i128 - n as i128, 2 * n as i128);
    (numerator.div_euclid(by) as i64, (numerator.rem_euclid(by), by))
}

/// The oracle: one element of the output. `read(y, x)` gives the input's.
fn naive<T: Subject>(
    read: impl Fn(usize, usize) -> T,
    (from, to): (ImageLayout, ImageLayout),
    (row, column): (usize, usize),
    interpolation: Interpolation<T>,
) -> T {
    let ((y, of_y), (x, of_x)) =
        (place(row, from.height(), to.height()), place(column, from.width(), to.width()));
    let addressing = match interpolation {
        Interpolation::Nearest => {
            let nearest = |index: i64, (remainder, by): (i128, i128)| index + i64::from(2 * remainder >= by);
            return read(nearest(y, of_y) as usize, nearest(x, of_x) as usize);
        }
        Interpolation::Bilinear(addressing) => addressing,
    };
    let outside = |index: i64, length: usize| -> Option<usize> {
        let length = length as i64;
        match addressing {
            Addressing::Clamp => Some(index.clamp(0, length - 1)),
            Addressing::Wrap => Some(index.rem_euclid(length)),
            Addressing::Mirror => Some(index.rem_euclid(2 * length).min((-1 - index).rem_euclid(2 * length))),
            Addressing::Border(_) => (0..length).contains(&index).then_some(index),
        }
        .map(|index| index as usize)
    };
    let pixels = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(down, right)| {
        match (outside(y + down, from.height()), outside(x + right, from.width()), addressing) {
            (Some(row), Some(column), _) => read(row, column),
            (.., Addressing::Border(value)) => value,
            _ => unreachable!("only a border has nothing outside"),
        }
    });
    T::bilinear(pixels, of_x, of_y)
}

/// Input and output in buffers, with something else around them.
struct Fixture<T: Subject> {
    input: Vec<T>,
    layouts: [ImageLayout; 2],
    offsets: [usize; 2],
    source: Buffer<T>,
    target: Buffer<T>,
    before: Vec<T>,
}

impl<T: Subject> Fixture<T> {
    fn new(device: &Device, layouts: [ImageLayout; 2], offsets: [usize; 2], seed: u64) -> Self {
        let [input, before] = [0, 1].map(|k| -> Vec<T> {
            floats(seed + k as u64, offsets[k] + layouts[k].span() + 3).into_iter().map(T::of).collect()
        });
        let (source, target) = (device.upload(&input).unwrap(), device.upload(&before).unwrap());
        Self { input, layouts, offsets, source, target, before }
    }

    fn resize(&mut self, device: &Device, interpolation: Interpolation<T>) {
        let [from, to] = self.layouts;
        let input = Image::new(self.source.slice(self.offsets[0]..), from).unwrap();
        let output = ImageMut::new(self.target.slice_mut(self.offsets[1]..), to).unwrap();
        resize_into(&device.default_stream(), input, interpolation, output).unwrap();
    }

    /// Everything that should be in the output's buffer.
    fn expected(&self, interpolation: Interpolation<T>) -> Vec<T> {
        let ([from, to], [skip, offset]) = (self.layouts, self.offsets);
        let mut expected = self.before.clone();
        for image in 0..to.count() {
            for row in 0..to.height() {
                for column in 0..to.width() {
                    for channel in 0..to.channels() {
                        let read = |y: usize, x: usize| self.input[skip + from.index(image, y, x, channel)];
                        expected[offset + to.index(image, row, column, channel)] =
                            naive(read, (from, to), (row, column), interpolation);
                    }
                }
            }
        }
        expected
    }

    fn check(&mut self, device: &Device, interpolation: Interpolation<T>) {
        self.resize(device, interpolation);
        let bits = |values: Vec<T>| -> Vec<f64> { values.into_iter().map(T::exact).collect() };
        let context = format!(
            "{} {:?} +{:?}, {interpolation:?} on {}",
            core::any::type_name::<T>(),
            self.layouts,
            self.offsets,
            device.name()
        );
        assert_same_bits(&bits(self.target.to_vec().unwrap()), &bits(self.expected(interpolation)), &context);
    }
}

fn interpolations<T: Subject>() -> [Interpolation<T>; 5] {
    let addressings =
        [Addressing::Clamp, Addressing::Wrap, Addressing::Mirror, Addressing::Border(T::of(-2.71))];
    let [a, b, c, d] = addressings.map(Interpolation::Bilinear);
    [Interpolation::Nearest, a, b, c, d]
}

fn check_all<T: Subject>(device: &Device, layouts: [ImageLayout; 2], offsets: [usize; 2], seed: u64) {
    for interpolation in interpolations() {
        Fixture::<T>::new(device, layouts, offsets, seed).check(device, interpolation);
    }
}

#[test]
fn any_image_to_any_size() {
    println!("{} cases from a fixed seed", cases());
    for_each("any_image_to_any_size", |device| {
        let config = Config { cases: cases() / 4, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x52; 32]));
        let side = || prop_oneof![1..4usize, 1..40usize];
        let gap = || prop_oneof![Just(0usize), 0..9usize];
        let sizes = ((side(), side()), (side(), side()));
        let input = (sizes, 1..6usize, 1..4usize, [gap(), gap(), gap(), gap()], 0..5u32, any::<u32>());
        runner
            .run(&input, |((from, to), channels, count, gaps, kind, seed)| {
                let layout = |(width, height): (usize, usize), gap: usize, apart: usize| {
                    let one = ImageLayout::new(width, height, channels).unwrap();
                    let one = one.with_pitch(one.pitch() + gap).unwrap();
                    one.with_batch(count, one.span() + apart).unwrap()
                };
                let layouts = [layout(from, gaps[0], gaps[1]), layout(to, gaps[2], gaps[3])];
                let offsets = [gaps[1], gaps[0]];
                match kind {
                    0 => check_all::<u8>(device, layouts, offsets, seed.into()),
                    1 => check_all::<u16>(device, layouts, offsets, seed.into()),
                    2 => check_all::<i16>(device, layouts, offsets, seed.into()),
                    3 => check_all::<f32>(device, layouts, offsets, seed.into()),
                    _ => check_all::<f64>(device, layouts, offsets, seed.into()),
                }
                Ok(())
            })
            .unwrap();
    });
}

/// A thread of the general kernels has 4 columns and 8 rows, 256 of them share a row at most; one of the kernel for
/// halves stores 8 bytes of 4 rows.
#[test]
fn sizes_around_every_boundary() {
    for_each("sizes_around_every_boundary", |device| {
        let image = |width, height| ImageLayout::new(width, height, 1).unwrap();
        for (width, height) in [(1023, 2), (1024, 1), (1025, 9), (3, 2049)] {
            check_all::<u8>(device, [image(7, 5), image(width, height)], [0, 0], 3);
        }
    });
}

/// With the kernel for halves, and without it as addresses are not aligned: the same bits, those of the oracle.
#[test]
fn halves_aligned_or_not() {
    fn check<T: Subject>(device: &Device) {
        let per_16 = 16 / size_of::<T>();
        // Whole vectors, parts of one, several blocks of the widest; rows that are no multiple of a thread's.
        for (width, height) in [(per_16, 4), (per_16 + 1, 5), (256 * per_16 / 2 + 3, 9), (1, 1)] {
            let from = ImageLayout::new(2 * width, 2 * height, 1).unwrap();
            let from = from.with_pitch(from.pitch().next_multiple_of(per_16)).unwrap();
            let to = ImageLayout::new(width, height, 1).unwrap();
            let to = to.with_pitch(to.pitch().next_multiple_of(per_16) + per_16 / 2).unwrap();
            let batch = |one: ImageLayout| {
                one.with_batch(2, (one.height() * one.pitch()).next_multiple_of(per_16)).unwrap()
            };
            let layouts = [batch(from), batch(to)];
            for offsets in [[0, 0], [1, 0], [0, 1], [per_16, per_16 / 2]] {
                let interpolation = Interpolation::Bilinear(Addressing::Border(T::of(1.5)));
                Fixture::<T>::new(device, layouts, offsets, 11).check(device, interpolation);
            }
        }
    }
    for_each("halves_aligned_or_not", |device| {
        check::<u8>(device);
        check::<u16>(device);
        check::<i16>(device);
        check::<f32>(device);
        check::<f64>(device);
    });
}

/// `f32` counts pixels to 2^24 only.
#[test]
fn images_wider_than_24_bits() {
    for_each("images_wider_than_24_bits", |device| {
        let image = |width| ImageLayout::new(width, 1, 1).unwrap();
        let wide = (1 << 24) + 5;
        check_all::<u8>(device, [image(wide), image(1001)], [0, 0], 5);
    });
}

#[test]
fn what_is_not_finite_stays_where_it_is_and_the_same_everywhere() {
    for_each("what_is_not_finite_stays_where_it_is_and_the_same_everywhere", |device| {
        let image = |width, height| ImageLayout::new(width, height, 1).unwrap();
        for layouts in [[image(8, 4), image(4, 2)], [image(8, 4), image(11, 7)]] {
            let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, -0.0];
            for (at, value) in special.into_iter().enumerate() {
                let mut fixture = Fixture::<f32>::new(device, layouts, [0, 0], 9);
                fixture.input[4 * at] = value;
                fixture.source.copy_from(&fixture.input).unwrap();
                fixture.check(device, Interpolation::Bilinear(Addressing::Wrap));
            }
        }
    });
}

/// The bound of the documentation, with the terms of higher order: 11 u m, against the exact value in double the
/// precision.
#[test]
fn floats_err_by_no_more_than_the_bound() {
    for_each("floats_err_by_no_more_than_the_bound", |device| {
        let (from, to) = (ImageLayout::new(37, 29, 1).unwrap(), ImageLayout::new(71, 17, 1).unwrap());
        let interpolation = Interpolation::Bilinear(Addressing::Clamp);
        let mut fixture = Fixture::<f32>::new(device, [from, to], [0, 0], 21);
        fixture.resize(device, interpolation);
        let actual = fixture.target.to_vec().unwrap();
        let mut worst = 0.0f64;
        for row in 0..to.height() {
            for column in 0..to.width() {
                // f64 errs by 10 · 2^-53 m itself.
                let read = |y: usize, x: usize| f64::from(fixture.input[from.index(0, y, x, 0)]);
                let exact =
                    naive(read, (from, to), (row, column), Interpolation::Bilinear(Addressing::Clamp));
                let magnitude = |y: usize, x: usize| read(y, x).abs();
                let (y, x) = (place(row, 29, 17).0, place(column, 37, 71).0);
                let around = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(down, right)| {
                    magnitude((y + down).clamp(0, 28) as usize, (x + right).clamp(0, 36) as usize)
                });
                let m = around.into_iter().fold(0.0, f64::max);
                let error = (f64::from(actual[to.index(0, row, column, 0)]) - exact).abs();
                assert!(error <= 11.0 * 2f64.powi(-24) * m, "({column}, {row}): {error:e} of {m}");
                worst = worst.max(error / (2f64.powi(-24) * m));
            }
        }
        println!("the worst error is {worst:.2} u m");
        assert!(worst > 0.1, "nothing was rounded: this tests nothing");
    });
}

/// SciPy computes places with three roundings, each by 2^-53 of at most 16 pixels; along an axis the result changes by
/// at most 2m a pixel, so two axes make 2 · 3 · 16 · 2 = 192 units of 2^-53 m of it. Its four products of three
/// factors, and their sum, err by 8 at most, ours by 11.
#[test]
fn scipy_gives_the_same() {
    let text = include_str!("../data/scipy_resize.txt");
    let images: Vec<(&str, [usize; 2], Vec<f64>)> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut words = line.split(' ');
            let what = words.next().unwrap();
            let [rows, columns] = [0; 2].map(|_| words.next().unwrap().parse().unwrap());
            (what, [rows, columns], words.map(|word| word.parse().unwrap()).collect())
        })
        .collect();
    assert_eq!(images.iter().filter(|(what, ..)| *what == "input").count(), 6);
    for_each("scipy_gives_the_same", |device| {
        let mut input: Option<(ImageLayout, Buffer<f64>)> = None;
        for (what, [rows, columns], expected) in &images {
            let interpolation = match *what {
                "input" => {
                    let layout = ImageLayout::new(*columns, *rows, 1).unwrap();
                    input = Some((layout, device.upload(expected).unwrap()));
                    continue;
                }
                "nearest" => Interpolation::Nearest,
                "clamp" => Interpolation::Bilinear(Addressing::Clamp),
                "mirror" => Interpolation::Bilinear(Addressing::Mirror),
                "wrap" => Interpolation::Bilinear(Addressing::Wrap),
                "border" => Interpolation::Bilinear(Addressing::Border(-2.5)),
                other => panic!("what is `{other}`?"),
            };
            let (layout, pixels) = input.as_ref().expect("an input comes first");
            let image = Image::new(pixels, *layout).unwrap();
            let actual = resize(image, *columns, *rows, interpolation).unwrap().to_vec().unwrap();
            // All are of magnitude 10 at most.
            let bound = if *what == "nearest" { 0.0 } else { (192.0 + 8.0 + 11.0) * 2f64.powi(-53) * 10.0 };
            for (at, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                let error = (actual - expected).abs();
                assert!(
                    error <= bound,
                    "{what}, {layout:?} to {columns} × {rows} [{at}]: {actual} {expected}"
                );
            }
        }
    });
}

#[test]
fn what_does_not_go_together_is_refused_and_nothing_is_written() {
    for_each("what_does_not_go_together_is_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let memory = device.upload(&[1.0f32; 24]).unwrap();
        let mut output = device.upload(&[-7.0f32; 24]).unwrap();
        let layout = |width, channels| ImageLayout::new(width, 2, channels).unwrap();
        let mut run = |from: ImageLayout, to: ImageLayout| {
            let output = ImageMut::new(&mut output, to).unwrap();
            resize_into(&stream, Image::new(&memory, from).unwrap(), Interpolation::Nearest, output)
        };
        let error = run(layout(2, 3), layout(2, 1)).unwrap_err();
        assert!(matches!(error, Error::Channels { expected: 3, actual: 1 }), "{error}");
        let two = layout(2, 1).with_batch(2, 4).unwrap();
        let error = run(two, layout(2, 1)).unwrap_err();
        assert!(matches!(error, Error::Images { expected: 2, actual: 1 }), "{error}");
        let none = layout(2, 1).with_batch(0, 0).unwrap();
        run(none, none).unwrap();
        let elsewhere = Device::simulator();
        let foreign = elsewhere.upload(&[1.0f32; 4]).unwrap();
        let input = Image::new(&foreign, layout(2, 1)).unwrap();
        let target = ImageMut::new(&mut output, layout(3, 1)).unwrap();
        let error = resize_into(&stream, input, Interpolation::Nearest, target).unwrap_err();
        assert!(matches!(error, Error::Device(gpu_core::Error::WrongDevice { .. })), "{error}");
        let error =
            resize(Image::new(&memory, layout(2, 1)).unwrap(), 0, 3, Interpolation::Nearest).unwrap_err();
        let Error::Device(gpu_core::Error::Image(error)) = error else { panic!("{error}") };
        assert_eq!(error, Invalid::Empty { width: 0, height: 3, channels: 1 });
        assert_eq!(output.to_vec().unwrap(), [-7.0; 24]);
    });
}
