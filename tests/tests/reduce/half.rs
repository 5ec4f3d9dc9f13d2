//! Reductions of 16-bit floats: they compute in 32 bits, round once, and give the same bits on all backends.

use core::fmt::Debug;

use gpu_core::{Buffer, Device, View};
use gpu_reduce::{
    Columns, FloatElement, Instance, Operand, all, argmax, argmin, count_nonzero, dot, max, mean, min,
    minmax, norm_l1, norm_l2, norm_max, product, reduce, reference, sum, sum_of_squares,
};
use gpu_std::half::{bf16, f16};
use gpu_tests::backends::{cases, for_each};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A 16-bit float.
trait Half: FloatElement<Mean = f32, Magnitude = Self, Register = f32> {
    fn of(value: f32) -> Self;
    fn of_bits(bits: u16) -> Self;
    fn value(self) -> f32;
    /// The bits, with one pattern for every NaN.
    fn bits(self) -> u16;
}

macro_rules! halves {
    ($($t:ident)*) => { $(
        impl Half for $t {
            fn of(value: f32) -> Self {
                $t::from_f32(value)
            }
            fn of_bits(bits: u16) -> Self {
                $t::from_bits(bits)
            }
            fn value(self) -> f32 {
                self.to_f32()
            }
            fn bits(self) -> u16 {
                if self.to_f32().is_nan() { u16::MAX } else { self.to_bits() }
            }
        }
    )* };
}
halves!(f16 bf16);

/// 32 random bits.
fn random(seed: u64, index: usize) -> u32 {
    (gpu_tests::data::random(seed, index) >> 32) as u32
}

#[track_caller]
fn same<T: Half>(actual: T, expected: f32, what: &str) {
    assert_eq!(actual.bits(), T::of(expected).bits(), "{what}: {actual:?}, expected {expected:?}");
}

/// Everything by name, of whole numbers: sums, squares and products of them are exact in `f32`.
fn by_name<T: Half>(device: &Device) {
    for len in [1, 2, 7, 8, 33, 2047, 8191, 8192, 8193, 20_001] {
        let numbers: Vec<i32> = (0..len).map(|index| random(5, index) as i32 % 9).collect();
        let values: Vec<T> = numbers.iter().map(|&number| T::of(number as f32)).collect();
        let buffer = device.upload(&values).unwrap();
        let backwards: Vec<T> = values.iter().rev().copied().collect();
        let other = device.upload(&backwards).unwrap();
        let what = |name| format!("{name} of {len} {} on {device}", core::any::type_name::<T>());
        let total: i32 = numbers.iter().sum();
        same(sum(&buffer).unwrap(), total as f32, &what("sum"));
        assert_eq!(mean(&buffer).unwrap(), total as f32 / len as f32, "{}", what("mean"));
        let squares: i32 = numbers.iter().map(|number| number * number).sum();
        same(sum_of_squares(&buffer).unwrap(), squares as f32, &what("sum of squares"));
        let norm = f64::from(squares).sqrt() as f32;
        same(norm_l2(&buffer).unwrap(), norm, &what("norm"));
        let magnitudes: i32 = numbers.iter().map(|number| number.abs()).sum();
        same(norm_l1(&buffer).unwrap(), magnitudes as f32, &what("L1 norm"));
        let products: i32 = numbers.iter().zip(numbers.iter().rev()).map(|(a, b)| a * b).sum();
        same(dot(&buffer, &other).unwrap(), products as f32, &what("dot"));
        let (least, greatest) = (*numbers.iter().min().unwrap(), *numbers.iter().max().unwrap());
        same(min(&buffer).unwrap(), least as f32, &what("min"));
        same(max(&buffer).unwrap(), greatest as f32, &what("max"));
        let (low, high) = minmax(&buffer).unwrap();
        same(low, least as f32, &what("minmax"));
        same(high, greatest as f32, &what("minmax"));
        same(norm_max(&buffer).unwrap(), least.abs().max(greatest.abs()) as f32, &what("max norm"));
        let first = |wanted| numbers.iter().position(|&number| number == wanted).unwrap();
        assert_eq!(argmin(&buffer).unwrap(), first(least), "{}", what("argmin"));
        assert_eq!(argmax(&buffer).unwrap(), first(greatest), "{}", what("argmax"));
        assert_eq!(count_nonzero(&buffer).unwrap(), numbers.iter().filter(|&&n| n != 0).count());
        assert_eq!(gpu_reduce::any(&buffer).unwrap(), numbers.iter().any(|&number| number != 0));
        assert_eq!(all(&buffer).unwrap(), numbers.iter().all(|&number| number != 0));
    }
    same(product(&device.upload(&[1.5, -2.0, 0.25, 8.0].map(T::of)).unwrap()).unwrap(), -6.0, "product");
    let empty = device.upload::<T>(&[]).unwrap();
    same(sum(&empty).unwrap(), 0.0, "sum of nothing");
    same(norm_l2(&empty).unwrap(), 0.0, "norm of nothing");
    same(dot(&empty, &empty).unwrap(), 0.0, "dot of nothing");
    assert!(matches!(min(&empty), Err(gpu_reduce::Error::Empty { .. })));
}

#[test]
fn all_reductions_by_name() {
    for_each("all_reductions_by_name", |device| {
        by_name::<f16>(device);
        by_name::<bf16>(device);
    });
}

#[test]
fn what_16_bits_cannot_hold_on_the_way_is_held() {
    fn check<T: Half>(device: &Device, spacing: f32, large: f32) {
        let upload = |values: &[f32]| {
            let values: Vec<T> = values.iter().map(|&value| T::of(value)).collect();
            device.upload(&values).unwrap()
        };
        // Numbers from `spacing` on are 2 apart: one at a time the ones would be lost.
        same(sum(&upload(&[spacing, 1.0, 1.0])).unwrap(), spacing + 2.0, "sum");
        // Squares that overflow: of f16 in 16 bits, of bf16 in 32.
        let hundred = upload(&[large; 100]);
        same(norm_l2(&hundred).unwrap(), 10.0 * T::of(large).value(), "norm");
        // Products that overflow 16 bits.
        let (a, b) = (upload(&[300.0, 300.0, 1.0]), upload(&[300.0, -300.0, 1.0]));
        same(dot(&a, &b).unwrap(), 1.0, "dot");
        // A sum beyond what f16 holds is infinite, a mean is not.
        let many = upload(&vec![1.0; 70_000]);
        same(sum(&many).unwrap(), 70_000.0, "sum of many");
        assert_eq!(mean(&many).unwrap(), 1.0);
    }
    for_each("what_16_bits_cannot_hold_on_the_way_is_held", |device| {
        check::<f16>(device, 2048.0, 300.0);
        check::<bf16>(device, 256.0, 1e30);
        assert_eq!(sum(&device.upload(&vec![f16::ONE; 70_000]).unwrap()).unwrap().to_f32(), f32::INFINITY);
    });
}

/// The reduction of part of `values` on a device has the bits of the CPU's.
fn as_reference<R, T>(device: &Device, values: &[T], from: usize)
where
    T: Half + for<'a> Operand<Views<'a> = View<'a, T>>,
    R: Instance<Item = T, Output: Debug>,
    for<'a> &'a [T]: Columns<Item = T>,
{
    let buffer = device.upload(values).unwrap();
    let [actual] = reduce::<R, 1>(buffer.slice(from..)).unwrap();
    let mut expected = [R::Output::default()];
    reference::reduce::<R, _>(&values[from..], &mut expected).unwrap();
    // What prints alike has the same bits: 16 bits are printed as the f32 they are, and there is one NaN.
    let text = |value: R::Output| format!("{value:?}").replace("-NaN", "NaN");
    let context = || format!("{} of {} from {from} on {device}", R::NAME, values.len());
    assert_eq!(text(actual), text(expected[0]), "{}", context());
}

fn any_bits<T>(test: &str, seed: u8)
where
    T: Half + for<'a> Operand<Views<'a> = View<'a, T>>,
    for<'a> &'a [T]: Columns<Item = T>,
{
    println!("{test}: ChaCha seed {seed:#x} × 32");
    for_each(test, |device| {
        let config = Config { cases: cases() / 8, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
        let lengths = prop_oneof![1..200usize, 8172..8212usize, 1..20_000usize];
        let property = runner.run(&(lengths, 0..9usize, any::<u64>()), |(len, from, seed)| {
            // Half of them without NaN and infinities: those hide everything else.
            let bits = (0..).map(|index| T::of_bits(random(seed, index) as u16));
            let values: Vec<T> =
                bits.filter(|half| seed % 2 == 0 || half.value().is_finite()).take(from + len).collect();
            as_reference::<T::Sum, T>(device, &values, from);
            as_reference::<T::Product, T>(device, &values, from);
            as_reference::<T::SumOfSquares, T>(device, &values, from);
            as_reference::<T::NormL1, T>(device, &values, from);
            as_reference::<T::NormL2, T>(device, &values, from);
            as_reference::<T::NormMax, T>(device, &values, from);
            as_reference::<T::Total, T>(device, &values, from);
            as_reference::<T::Count, T>(device, &values, from);
            // Extremes by a serial oracle: any NaN first, then the order of the values with -0 below +0.
            let rest = &values[from..];
            let nan = rest.iter().position(|half| half.value().is_nan());
            let order = |&a: &usize, &b: &usize| rest[a].value().total_cmp(&rest[b].value());
            let least = nan.unwrap_or_else(|| (0..len).min_by(order).unwrap());
            let greatest = nan.unwrap_or_else(|| (0..len).rev().max_by(order).unwrap());
            let buffer = device.upload(&values).unwrap();
            let view = || buffer.slice(from..);
            prop_assert_eq!((argmin(view()).unwrap(), argmax(view()).unwrap()), (least, greatest));
            prop_assert_eq!(min(view()).unwrap().bits(), rest[least].bits());
            prop_assert_eq!(max(view()).unwrap().bits(), rest[greatest].bits());
            Ok(())
        });
        property.unwrap();
    });
}

#[test]
fn any_bits_of_f16() {
    any_bits::<f16>("any_bits_of_f16", 0x16);
}

#[test]
fn any_bits_of_bf16() {
    any_bits::<bf16>("any_bits_of_bf16", 0xbf);
}

#[test]
fn the_error_of_a_sum_is_that_of_f32_and_one_rounding() {
    // A block's 8192 elements go to 1024 accumulators: 8 additions, 2 of a thread's accumulators, 5 + 3 over lanes and
    // warps, and 9 for the two blocks. That is less than 64, each with a relative error of 2^-24 (of positive numbers);
    // and then one rounding to 11 bits.
    let values: Vec<f16> = (0..10_000).map(|index| f16::from_f32(random(3, index) as f32 / 4e9)).collect();
    let exact: f64 = values.iter().map(|half| f64::from(half.to_f32())).sum();
    for_each("the_error_of_a_sum_is_that_of_f32_and_one_rounding", |device| {
        let sum = f64::from(sum(&device.upload(&values).unwrap()).unwrap().to_f32());
        let bound = exact * (2f64.powi(-11) + 64.0 * 2f64.powi(-24));
        assert!((sum - exact).abs() <= bound, "{sum} for {exact} on {device}");
    });
}

/// Elements are the crate `half`'s types, of every primitive: arrays of them, results and closures.
#[test]
fn arrays_of_the_half_crate() {
    let numbers: Vec<half::f16> = [3.0, -0.5, 7.0, 1.25].map(half::f16::from_f32).to_vec();
    for_each("arrays_of_the_half_crate", |device| {
        let buffer: Buffer<half::f16> = device.upload(&numbers).unwrap();
        let (total, view): (half::f16, View<'_, half::f16>) = (sum(&buffer).unwrap(), buffer.view());
        assert_eq!((total.to_f32(), max(view.slice(..2)).unwrap()), (10.75, half::f16::from_f32(3.0)));
        let largest = device.upload(&[half::bf16::ONE, half::bf16::MAX]).unwrap();
        assert_eq!(argmax(&largest).unwrap(), 1);
        let (stream, mut scratch) =
            (device.default_stream(), gpu_core::Scratch::new(&device.default_stream()));
        let mut sums = device.upload(&[half::f16::ZERO; 4]).unwrap();
        gpu_scan::inclusive_sum_into(&stream, &buffer, &mut sums, &mut scratch).unwrap();
        assert_eq!(sums.to_vec().unwrap(), [3.0, 2.5, 9.5, 10.75].map(half::f16::from_f32));
        let sorted = gpu_sort::sort(&buffer, gpu_sort::SortOptions::default()).unwrap().to_vec().unwrap();
        assert_eq!(sorted, [-0.5, 1.25, 3.0, 7.0].map(half::f16::from_f32));
    });
    // Of the host's memory, in place of a device's.
    let mut sums = vec![half::f16::ZERO; 4];
    let stream = Device::cpu().default_stream();
    let mut scratch = gpu_core::Scratch::new(&stream);
    gpu_scan::inclusive_sum_into(&stream, &numbers, &mut sums, &mut scratch).unwrap();
    assert_eq!(sums, [3.0, 2.5, 9.5, 10.75].map(half::f16::from_f32));
}
