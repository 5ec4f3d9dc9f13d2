//! Sums in any order: exact where every order is, else within the bound of any order; of integers the ordered ones.

use core::fmt::Debug;

use crate::support::reduce::Sample;
use gpu_core::Device;
use gpu_reduce::kernels::{Item, Sum};
use gpu_reduce::{Element, Error, Plan, Scratch, sum, sum_unordered, sum_unordered_into};
use gpu_reduce_kernels::{MAX_BLOCKS, Number, tile};
use gpu_std::half::{bf16, f16};
use gpu_tests::backends::{cuda, for_each};
use gpu_tests::data::floats;

const T: usize = tile::<f32>() as usize;

/// Additions on the longest path of any order of the blocks: within a block, then one for each block.
fn depth<T: Number + Item>(len: usize) -> f64 {
    let plan = Plan::new::<Sum<T>>(len);
    let accumulators = if T::BYTES == 8 { 2 } else { 4 };
    let taken = plan.elements_per_block() / (256 * accumulators);
    (taken + 2 + 5 + 3 + u64::from(plan.blocks)) as f64
}

/// The bound that the documentation gives, in units of which rounding is `unit`, and below `smallest` values are lost.
fn bound<T: Number + Item>(len: usize, magnitude: f64, unit: f64, smallest: f64) -> f64 {
    let depth = depth::<T>(len);
    depth * unit / (1.0 - depth * unit) * magnitude
        + 2.0 * smallest * f64::from(Plan::new::<Sum<T>>(len).blocks)
}

/// Whole numbers that every order adds up exactly.
fn exact<T: Element + Sample + PartialEq + Debug>(device: &Device, lengths: &[usize]) {
    for &len in lengths {
        let values = T::whole_numbers(len);
        let expected = values.iter().fold(T::ZERO, |sum, &value| sum.add(value));
        let buffer = device.upload(&values).unwrap();
        assert_eq!(sum_unordered(&buffer).unwrap(), expected, "{len} on {device}");
        if len > 0 {
            // From an element on at which no load is aligned.
            let rest = values[1..].iter().fold(T::ZERO, |sum, &value| sum.add(value));
            assert_eq!(sum_unordered(buffer.slice(1..)).unwrap(), rest, "{len} from 1 on, on {device}");
        }
    }
}

#[test]
fn whole_numbers_are_summed_exactly() {
    for_each("whole_numbers_are_summed_exactly", |device| {
        let lengths = [0, 1, 2, 5, 33, T - 1, T, T + 1, 5 * T + 7];
        exact::<f32>(device, &lengths);
        exact::<f64>(device, &lengths);
        let lengths = [0, 1, 3 * T + 7];
        exact::<i8>(device, &lengths);
        exact::<i16>(device, &lengths);
        exact::<i32>(device, &lengths);
        exact::<i64>(device, &lengths);
        exact::<u8>(device, &lengths);
        exact::<u16>(device, &lengths);
        exact::<u32>(device, &lengths);
        exact::<u64>(device, &lengths);
    });
}

/// Of 16-bit floats it is the ordered sum.
#[test]
fn sums_of_16_bits_are_the_ordered_ones() {
    for_each("sums_of_16_bits_are_the_ordered_ones", |device| {
        let values = floats(3, 3 * T);
        let halves: Vec<f16> = values.iter().map(|&value| f16::from_f32(value)).collect();
        let buffer = device.upload(&halves).unwrap();
        assert_eq!(sum_unordered(&buffer).unwrap().to_bits(), sum(&buffer).unwrap().to_bits());
        let halves: Vec<bf16> = values.iter().map(|&value| bf16::from_f32(value)).collect();
        let buffer = device.upload(&halves).unwrap();
        assert_eq!(sum_unordered(&buffer).unwrap().to_bits(), sum(&buffer).unwrap().to_bits());
    });
}

fn within_the_bound(device: &Device, seed: u64, len: usize) {
    let values = floats(seed, len);
    let (mut exact, mut magnitude) = (0.0f64, 0.0);
    values.iter().for_each(|&value| {
        exact += f64::from(value);
        magnitude += f64::from(value.abs());
    });
    // All are multiples of 2^-31, so all their sums are exact in 53 bits, in any order.
    assert!(magnitude < f64::from(1 << 22));
    let actual = f64::from(sum_unordered(&device.upload(&values).unwrap()).unwrap());
    let bound_f32 = bound::<f32>(len, magnitude, f64::from(f32::EPSILON) / 2.0, f64::from(f32::MIN_POSITIVE));
    assert!((actual - exact).abs() <= bound_f32, "{actual}, not {exact} ± {bound_f32}: {len} on {device}");
    let wide: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
    let actual = sum_unordered(&device.upload(&wide).unwrap()).unwrap();
    assert_eq!(actual, exact, "{len} f64 on {device}");
}

#[test]
fn rounding_stays_within_the_bound_of_any_order() {
    for_each("rounding_stays_within_the_bound_of_any_order", |device| {
        for len in [3, T + 1, 9 * T + 5] {
            within_the_bound(device, 7, len);
        }
    });
    for seed in 0..50 {
        let device = Device::simulator_with(gpu_sim::Config { seed, ..Default::default() });
        within_the_bound(&device, seed, 6 * T + 3);
    }
}

#[test]
fn special_values_pass_through() {
    for_each("special_values_pass_through", |device| {
        let of = |values: &[f32]| sum_unordered(&device.upload(values).unwrap()).unwrap();
        assert!(of(&[1.0, f32::NAN, 2.0]).is_nan());
        assert_eq!(of(&[1.0, f32::INFINITY]), f32::INFINITY);
        assert!(of(&[f32::NEG_INFINITY, f32::INFINITY]).is_nan());
        for zeros in 1..6 {
            assert_eq!(of(&[-0.0; 5][..zeros]).to_bits(), 0, "the same zero of {zeros} on {device}");
        }
        assert_eq!(of(&[]).to_bits(), 0.0f32.to_bits());
    });
}

/// What is in the output before does not count, and a stream's sums follow one another.
#[test]
fn into_memory_of_ones_own() {
    for_each("into_memory_of_ones_own", |device| {
        let stream = device.stream().unwrap();
        let mut scratch = Scratch::with_size(&stream, gpu_reduce::reduce_scratch(3 * T)).unwrap().fixed();
        let input = device.upload(&vec![1.0f32; 3 * T]).unwrap();
        let mut output = device.upload(&[f32::NAN; 4]).unwrap();
        for (slot, len) in [3 * T, 0, 2 * T + 1].into_iter().enumerate() {
            let target = output.slice_mut(slot..slot + 1);
            sum_unordered_into(&stream, input.slice(..len), target, &mut scratch).unwrap();
        }
        stream.synchronize().unwrap();
        let sums = output.to_vec().unwrap();
        assert_eq!(sums[..3], [(3 * T) as f32, 0.0, (2 * T + 1) as f32]);
        assert!(sums[3].is_nan());

        let error = sum_unordered_into(&stream, &input, &mut output, &mut scratch).unwrap_err();
        assert!(matches!(error, Error::OutputLength { expected: 1, actual: 4, .. }), "{error}");
        let other = device.stream().unwrap();
        let mut of_other = Scratch::with_size(&other, gpu_reduce::reduce_scratch(3 * T)).unwrap().fixed();
        let target = output.slice_mut(3..);
        match sum_unordered_into(&stream, &input, target, &mut of_other) {
            Err(Error::ScratchOfOtherStream { .. }) => {}
            // On the CPU and in the simulator all streams are one.
            Ok(()) => assert!(stream == other),
            Err(error) => panic!("{error}"),
        }
    });
}

/// More blocks than there may be: each takes several tiles.
#[test]
fn large_arrays_on_the_gpu() {
    let Some(device) = cuda("large_arrays_on_the_gpu") else { return };
    let most = MAX_BLOCKS as usize * T;
    for len in [most, most + 1, 3 * most + 12_345] {
        let input = device.upload(&vec![1.0f64; len]).unwrap();
        assert_eq!(sum_unordered(&input).unwrap(), len as f64);
    }
}
