//! The textbook sums: one body over all variants and backends, against a serial oracle; and what their documentation
//! says that the simulator counts of them.

use gpu_core::Device;
use gpu_reduce::Error;
use gpu_reduce::variants::{SEVERAL_BLOCKS, Value, Variant, sum_with};
use gpu_sim::metrics::Metrics;
use gpu_sim::{BlockOrder, Config, Record};
use gpu_tests::backends::for_each;
use gpu_tests::compare::{Bits, assert_same_bits};
use gpu_tests::data::floats;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// Runs a variant on a device. What scratch memory holds before is of no importance: `T::HIGHEST` here.
fn run<T: Value>(device: &Device, variant: Variant, values: &[T]) -> T {
    let input = device.upload(values).unwrap();
    let mut output = device.upload(&[T::HIGHEST]).unwrap();
    let mut scratch = device.upload(&vec![T::HIGHEST; variant.scratch_len(values.len())]).unwrap();
    sum_with(variant, &device.default_stream(), &input, &mut output, &mut scratch).unwrap();
    output.to_vec().unwrap()[0]
}

/// Whole numbers of magnitude up to 256, from a fixed seed: sums of up to 2^16 of them are exact in `f32`, in any
/// order.
fn whole_numbers(seed: u64, len: usize) -> Vec<f32> {
    floats(seed, len).into_iter().map(|value| (value * 2.0).trunc()).collect()
}

fn exact<T: Value + Bits + From<f32>>(device: &Device, lengths: &[usize]) {
    for &len in lengths {
        let whole = whole_numbers(len as u64, len);
        let expected = whole.iter().map(|&value| value as i64).sum::<i64>() as f32;
        let values: Vec<T> = whole.into_iter().map(T::from).collect();
        for variant in Variant::ALL {
            let sum = run(device, variant, &values);
            let context = format!("{variant} of {len} elements of {} on {}", size_of::<T>(), device.name());
            assert_same_bits(&[sum], &[T::from(expected)], &context);
        }
    }
}

#[test]
fn all_variants_sum_any_length() {
    for_each("all_variants_sum_any_length", |device| {
        exact::<f64>(device, &[0, 1, 2, 31, 33, 511, 512, 513, 1023, 1024, 1025, 1536, 2049, 10_007]);
        exact::<f32>(device, &[0, 1, 63, 511, 513, 1025, 4099]);
    });
}

/// Two launches are not enough where a block takes 512 elements, and blocks take several turns where there are few.
#[test]
fn long_arrays_take_three_launches_and_several_turns() {
    let len = 2 * 512 * SEVERAL_BLOCKS as usize + 12_345;
    assert_eq!(Variant::Sequential.launches(len).count(), 3);
    assert!(len.div_ceil(2 * 512) > Variant::Several.blocks(len));
    // One value in 31, each 1: a float counts them exactly.
    let values: Vec<f64> = (0..len).map(|index| f64::from(u8::from(index % 31 == 0))).collect();
    let expected = len.div_ceil(31) as f64;
    for_each("long_arrays_take_three_launches_and_several_turns", |device| {
        for variant in [Variant::Sequential, Variant::Several] {
            // The simulator takes its time for a thread an element.
            if device.as_simulator().is_none() || variant == Variant::Several {
                assert_same_bits(&[run(device, variant, &values)], &[expected], variant.name());
            }
        }
    });
}

#[test]
fn rounding_stays_within_its_bound_and_is_the_same_every_time() {
    // Any order of n - 1 additions errs by at most (n - 1) u / (1 - (n - 1) u) times the sum of magnitudes, u being
    // 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, 4.2). The oracle adds in f64: it errs 2^-29 times
    // as much, for which twice the u below has room.
    const LEN: usize = 5000;
    let values = floats(7, LEN);
    let exact: f64 = values.iter().map(|&value| f64::from(value)).sum();
    let magnitude: f64 = values.iter().map(|&value| f64::from(value.abs())).sum();
    let bound = LEN as f64 * 2f64.powi(-23) * magnitude;
    for_each("rounding_stays_within_its_bound_and_is_the_same_every_time", |device| {
        for variant in Variant::ALL {
            let sum = run(device, variant, &values);
            let error = (f64::from(sum) - exact).abs();
            assert!(error <= bound, "{variant} on {}: off by {error:e}, bound {bound:e}", device.name());
            assert_same_bits(&[run(device, variant, &values)], &[sum], variant.name());
        }
    });
}

#[test]
fn nan_and_infinity_come_through() {
    for_each("nan_and_infinity_come_through", |device| {
        for variant in Variant::ALL {
            for (special, expected) in [(f64::NAN, f64::NAN), (f64::INFINITY, f64::INFINITY)] {
                for place in [0, 700, 1299] {
                    let mut values = vec![1.0; 1300];
                    values[place] = special;
                    assert_same_bits(&[run(device, variant, &values)], &[expected], variant.name());
                }
            }
        }
    });
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    for_each("bad_input_is_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let input = device.upload(&[1.0; 2000]).unwrap();
        for variant in Variant::ALL {
            let need = variant.scratch_len(2000);
            let mut scratch = device.upload(&vec![7.0; need]).unwrap();
            let mut two = device.upload(&[7.0; 2]).unwrap();
            let error = sum_with(variant, &stream, &input, &mut two, &mut scratch).unwrap_err();
            assert!(matches!(error, Error::OutputLength { expected: 1, actual: 2, .. }), "{error}");
            if need > 0 {
                let mut output = two.slice_mut(0..1);
                let short = scratch.slice_mut(0..need - 1);
                let error = sum_with(variant, &stream, &input, output.reborrow(), short).unwrap_err();
                let Error::ScratchTooSmall { expected, actual, .. } = error else { panic!("{error}") };
                assert_eq!((expected, actual), (8 * need, 8 * (need - 1)));
            }
            let other = Device::simulator();
            let foreign = other.upload(&[1.0; 2000]).unwrap();
            let error = sum_with(variant, &stream, &foreign, two.slice_mut(0..1), &mut scratch).unwrap_err();
            assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
            assert_eq!(two.to_vec().unwrap(), [7.0; 2]);
            assert_eq!(scratch.to_vec().unwrap(), vec![7.0; need]);
        }
    });
}

/// A row of the documentation's table, as computed: `| variant | launches | …`.
fn row(variant: Variant) -> String {
    let device = Device::simulator_with(Config {
        record: Record::Full,
        block_order: BlockOrder::Ascending,
        vary_residency: false,
        ..Config::default()
    });
    let values: Vec<f64> = whole_numbers(1, 1 << 16).into_iter().map(f64::from).collect();
    let expected: f64 = values.iter().sum();
    assert_eq!(run(&device, variant, &values), expected, "{variant}");
    let reports = device.as_simulator().unwrap().take_reports();
    let metrics = Metrics::of_all(&reports);
    format!(
        "//! | [`Variant::{variant:?}`] | {} | {:.1} | {:.1} | {:.2} | {:.2} | {:.1} |",
        reports.len(),
        metrics.branch_efficiency,
        metrics.shared_efficiency,
        metrics.shared_load_transactions_per_request,
        metrics.shared_store_transactions_per_request,
        metrics.gld_efficiency,
    )
}

#[test]
fn the_documented_metrics_are_those_that_the_simulator_counts() {
    let documented = include_str!("../../../crates/gpu-reduce/src/variants/mod.rs");
    let computed: Vec<String> = Variant::ALL.into_iter().map(row).collect();
    let table: Vec<&str> = documented.lines().filter(|line| line.starts_with("//! | [`Variant::")).collect();
    assert_eq!(table, computed, "the table is\n{}", computed.join("\n"));
}

#[test]
fn any_length_in_the_simulator() {
    println!("any_length_in_the_simulator: ChaCha seed 0x7b × 32");
    let config =
        proptest::test_runner::Config { cases: gpu_tests::backends::cases() / 8, ..Default::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x7b; 32]));
    let input = (0usize..3000, 0..Variant::ALL.len(), any::<u64>());
    let property = runner.run(&input, |(len, which, seed)| {
        let device = Device::simulator_with(Config::with_seed(seed));
        let values: Vec<f64> = whole_numbers(seed, len).into_iter().map(f64::from).collect();
        prop_assert_eq!(run(&device, Variant::ALL[which], &values), values.iter().sum::<f64>());
        Ok(())
    });
    property.unwrap();
}
