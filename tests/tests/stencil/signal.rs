//! Convolution and correlation of one dimension: one body over all backends, against a serial oracle, SciPy's results
//! and a bound.

use gpu_core::{Device, Kind};
use gpu_stencil::Error;
use gpu_stencil::signal::variants::{Memory, Staged, Sum, VariantElement};
use gpu_stencil::signal::{Mode, SignalElement, convolve, convolve_into, correlate, correlate_into};
use gpu_tests::backends::{cases, cuda, for_each};
use gpu_tests::compare::{Bits, assert_same_bits};
use gpu_tests::data::floats;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const MODES: [Mode; 3] = [Mode::Full, Mode::Same, Mode::Valid];

/// Where the outputs wanted start among all, and how many they are.
fn window(mode: Mode, n: usize, m: usize) -> (usize, usize) {
    match mode {
        Mode::Full => (0, n + m - 1),
        Mode::Same => ((m - 1) / 2, n),
        Mode::Valid => (n.min(m) - 1, n.abs_diff(m) + 1),
    }
}

/// The oracle: an output at a time, along the longer operand.
fn naive<T: SignalElement>(convolution: bool, mode: Mode, signal: &[T], filter: &[T]) -> Vec<T> {
    let (n, m) = (signal.len() as i64, filter.len() as i64);
    let at = |values: &[T], at: i64| {
        usize::try_from(at).ok().and_then(|at| values.get(at).copied()).unwrap_or(T::ZERO)
    };
    let chain = |sum: T, (x, f): (T, T)| f.mul_add(x, sum);
    let (first, count) = window(mode, n as usize, m as usize);
    let output = |k: i64| {
        if n >= m {
            // The place in the filter that meets place i of the signal.
            let partner = |i: i64| if convolution { k - i } else { i - k + m - 1 };
            (k - m + 1..=k).map(|i| (at(signal, i), at(filter, partner(i)))).fold(T::ZERO, chain)
        } else {
            // And the other way round.
            let partner = |j: i64| if convolution { k - j } else { j + k - (m - 1) };
            let first = if convolution { k - n + 1 } else { m - 1 - k };
            (first..first + n).map(|j| (at(signal, partner(j)), at(filter, j))).fold(T::ZERO, chain)
        }
    };
    (first..first + count).map(|k| output(k as i64)).collect()
}

/// As the documentation says: the shorter operand meets the zeros around the longer one, so what is not finite in it
/// makes those outputs no numbers, which `np.convolve` leaves out; in the longer one it reaches where it meets the
/// shorter.
#[test]
fn infinities_meet_the_zeros_around_the_longer_operand() {
    for_each("infinities_meet_the_zeros_around_the_longer_operand", |device| {
        let infinity = f64::INFINITY;
        let of = |signal: &[f64], filter: &[f64]| {
            let (signal, filter) = (device.upload(signal).unwrap(), device.upload(filter).unwrap());
            convolve(&signal, &filter, Mode::Full).unwrap().to_vec().unwrap()
        };
        let ends = of(&[1.0, 2.0], &[infinity, 1.0]);
        assert_eq!(ends[..2], [infinity; 2]);
        assert!(ends[2].is_nan(), "NumPy has 2: {ends:?} on {device}");
        assert_eq!(of(&[infinity, 1.0], &[1.0, 2.0]), [infinity, infinity, 2.0]);
        let mut signal = vec![1.0; 700];
        signal[300] = -infinity;
        let found = of(&signal, &[1.0, 2.0, 3.0]);
        for (at, value) in found.iter().enumerate() {
            assert_eq!(*value == -infinity, (300..303).contains(&at), "{at}: {value} on {device}");
            assert!(!value.is_nan(), "{at} on {device}");
        }
    });
}

fn check<T: SignalElement + Bits>(device: &Device, signal: &[T], filter: &[T]) {
    let (x, f) = (device.upload(signal).unwrap(), device.upload(filter).unwrap());
    for mode in MODES {
        let context = |what: &str| {
            format!("{what}, {mode:?} of {} and {} on {}", signal.len(), filter.len(), device.name())
        };
        let actual = convolve(&x, &f, mode).unwrap().to_vec().unwrap();
        assert_same_bits(&actual, &naive(true, mode, signal, filter), &context("convolve"));
        let actual = correlate(&x, &f, mode).unwrap().to_vec().unwrap();
        assert_same_bits(&actual, &naive(false, mode, signal, filter), &context("correlate"));
    }
}

/// Lengths around those of vectors, rings, pieces of the filter (512) and tiles (768 or 640 outputs a block of 64
/// threads).
#[test]
fn lengths_around_every_boundary() {
    for_each("lengths_around_every_boundary", |device| {
        let short = [1, 2, 3, 4, 5, 11, 12, 13, 15, 16, 17, 33];
        for (n, m) in short.into_iter().map(|m| (50, m)).chain(short.into_iter().map(|n| (n, 20))).chain([
            (767, 1),
            (768, 2),
            (769, 4),
            (641, 511),
            (1000, 512),
            (513, 513),
            (700, 1030),
            (1540, 515),
        ]) {
            let (signal, filter) = (floats(n as u64, n), floats(m as u64 + 1000, m));
            check(device, &signal, &filter);
            let double = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<_>>();
            check(device, &double(signal), &double(filter));
        }
    });
}

/// Enough outputs for larger blocks than of 64 threads: 264 of them or more.
#[test]
fn long_signals_take_large_blocks() {
    for_each("long_signals_take_large_blocks", |device| {
        let (n, m) = (405_600, 2);
        let (signal, filter) = (floats(5, n), floats(6, m));
        let (x, f) = (device.upload(&signal).unwrap(), device.upload(&filter).unwrap());
        let actual = correlate(&x, &f, Mode::Valid).unwrap().to_vec().unwrap();
        let expected: Vec<f32> = signal
            .windows(m)
            .map(|x| x.iter().zip(&filter).fold(0.0, |sum, (x, f)| f.mul_add(*x, sum)))
            .collect();
        assert_same_bits(&actual, &expected, &format!("{n} and {m} on {}", device.name()));
    });
}

#[test]
fn any_lengths_and_values() {
    println!("{} cases from a fixed seed", cases() / 8);
    for_each("any_lengths_and_values", |device| {
        let config = Config { cases: cases() / 8, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x51; 32]));
        let length = || prop_oneof![1..20usize, 1..200usize];
        runner
            .run(&(length(), length(), any::<u32>()), |(n, m, seed)| {
                // What is not finite, and both zeros, too.
                let special = [f32::NAN, f32::INFINITY, -0.0, 0.0, f32::MIN_POSITIVE, -f32::MIN_POSITIVE];
                let mut signal = floats(seed.into(), n);
                signal[seed as usize % n] = special[seed as usize % special.len()];
                let mut filter = floats(u64::from(seed) + 1, m);
                filter[seed as usize % m] = special[seed as usize / 7 % special.len()];
                check(device, &signal, &filter);
                Ok(())
            })
            .unwrap();
    });
}

/// Integers small enough that every order is exact: SciPy's results to the bit (and NumPy's: see the generator).
#[test]
fn the_results_are_scipys() {
    let golden = include_str!("../data/stencil_signal.txt");
    let mut lines = golden.lines().filter(|line| !line.starts_with('#'));
    let mut all = Vec::new();
    while let Some(head) = lines.next() {
        let mut numbers = || -> Vec<f64> {
            let line = lines.next().expect("three lines follow");
            line.split_whitespace().map(|number| number.parse().expect("a number")).collect()
        };
        all.push((head, numbers(), numbers(), numbers()));
    }
    assert_eq!(all.len(), 96);
    for_each("the_results_are_scipys", |device| {
        for (head, signal, filter, expected) in &all {
            let (operation, mode) = head.split_once(' ').expect("operation and mode");
            let mode = match mode {
                "full" => Mode::Full,
                "same" => Mode::Same,
                "valid" => Mode::Valid,
                other => panic!("{other} is no mode"),
            };
            let (x, f) = (device.upload(signal).unwrap(), device.upload(filter).unwrap());
            let actual = match operation {
                "convolve" => convolve(&x, &f, mode),
                "correlate" => correlate(&x, &f, mode),
                other => panic!("{other} is no operation"),
            };
            let actual = actual.unwrap().to_vec().unwrap();
            // SciPy's zeros have signs of their own.
            let unsigned: Vec<f64> = actual.iter().map(|value| value + 0.0).collect();
            let context = format!("{head} of {} and {} on {}", signal.len(), filter.len(), device.name());
            assert_same_bits(&unsigned, expected, &context);
        }
    });
}

/// A chain of m fused multiply-adds is at most gamma_m · sum |f||x| from the exact value (Higham, equation 3.5), for
/// which the sum in double, of exact products, stands: its own error is 2^-29 of that bound.
#[test]
fn errors_are_within_the_bound() {
    for_each("errors_are_within_the_bound", |device| {
        let (n, m) = (900, 700);
        let (signal, filter) = (floats(1, n), floats(2, m));
        let (x, f) = (device.upload(&signal).unwrap(), device.upload(&filter).unwrap());
        let actual = correlate(&x, &f, Mode::Valid).unwrap().to_vec().unwrap();
        let unit = f64::from(f32::EPSILON) / 2.0;
        let gamma = m as f64 * unit / (1.0 - m as f64 * unit);
        for (j, &output) in actual.iter().enumerate() {
            let products = signal[j..].iter().zip(&filter).map(|(x, f)| f64::from(*x) * f64::from(*f));
            let (exact, size) =
                products.fold((0.0, 0.0), |(sum, size), product| (sum + product, size + product.abs()));
            let error = (f64::from(output) - exact).abs();
            assert!(error <= gamma * (1.0 + 1e-6) * size, "output {j}: {output} for {exact}");
        }
    });
}

/// Outputs and operands that start anywhere, and what lies beside them.
#[test]
fn parts_of_buffers_that_are_not_aligned() {
    for_each("parts_of_buffers_that_are_not_aligned", |device| {
        let (n, m) = (2000, 9);
        let (signal, filter) = (floats(3, n + 5), floats(4, m + 5));
        let (x, f) = (device.upload(&signal).unwrap(), device.upload(&filter).unwrap());
        for offset in 0..4 {
            let mut output = device.upload(&vec![7.0f32; n + 8]).unwrap();
            let (x, f) = (x.slice(offset..offset + n), f.slice(offset + 1..offset + 1 + m));
            let target = output.slice_mut(offset..offset + n);
            correlate_into(&device.default_stream(), x, f, Mode::Same, target).unwrap();
            let mut expected = vec![7.0; n + 8];
            let values = naive(false, Mode::Same, &signal[offset..offset + n], &filter[offset + 1..][..m]);
            expected[offset..offset + n].copy_from_slice(&values);
            let context = format!("offset {offset} on {}", device.name());
            assert_same_bits(&output.to_vec().unwrap(), &expected, &context);
        }
    });
}

fn check_variants<T: VariantElement + Bits>(device: &Device, of: fn(f32) -> T) {
    let stream = device.default_stream();
    // Around a warp, a block, and a piece in shared memory.
    for (n, m) in [(1, 1), (33, 2), (300, 45), (256, 256), (777, 500), (1400, 1025)] {
        let signal: Vec<T> = floats(7, n).into_iter().map(of).collect();
        let filter: Vec<T> = floats(8, m).into_iter().map(of).collect();
        let x = device.upload(&signal).unwrap();
        let mut staging = device.alloc(m + 1).unwrap();
        let expected = naive(false, Mode::Valid, &signal, &filter);
        for memory in Memory::ALL {
            let staged = Staged::new(memory, &filter, &mut staging);
            if memory == Memory::Constant && m > T::TABLE {
                let error = staged.unwrap_err();
                let limit = T::TABLE;
                assert!(
                    matches!(error, Error::FilterTooLong { memory: "constant", actual: 1025, limit: most } if most == limit),
                    "{error}"
                );
                continue;
            }
            let staged = staged.unwrap();
            for sum in [Sum::Output, Sum::Register] {
                let mut output = device.upload(&vec![of(f32::NAN); n - m + 1]).unwrap();
                let result = staged.correlate_into(&stream, sum, &x, &mut output);
                if device.kind() == Kind::Cpu {
                    assert!(matches!(result, Err(Error::Device(gpu_core::Error::Unsupported { .. }))));
                    continue;
                }
                result.unwrap();
                let context = format!("{memory:?}, {sum:?}, {n} and {m} on {}", device.name());
                assert_same_bits(&output.to_vec().unwrap(), &expected, &context);
            }
        }
    }
}

#[test]
fn the_textbooks_have_the_same_bits() {
    for_each("the_textbooks_have_the_same_bits", |device| {
        check_variants::<f32>(device, |value| value);
        check_variants::<f64>(device, f64::from);
    });
}

/// A signal of zeros but for some ones: the filter, reversed, around each of them, and its sum as often as there are
/// ones.
fn ones_in_zeros(device: &Device, len: usize, places: &[usize]) {
    let mut signal = device.zeroed::<f32>(len).unwrap();
    for &place in places {
        signal.slice_mut(place..place + 1).copy_from(&[1.0]).unwrap();
    }
    let filter = device.upload(&[1.0f32, 2.0, 4.0]).unwrap();
    let output = correlate(&signal, &filter, Mode::Same).unwrap();
    assert_eq!(gpu_reduce::sum(&output).unwrap(), 7.0 * places.len() as f32);
    for &place in places {
        let mut around = [0.0f32; 3];
        output.slice(place - 1..place + 2).copy_to(&mut around).unwrap();
        assert_eq!(around, [4.0, 2.0, 1.0], "around {place} of {len} on {}", device.name());
    }
}

/// More than 2^32 bytes and elements: on a GPU, and the same on a small scale everywhere.
#[test]
fn long_signals() {
    for_each("long_signals", |device| ones_in_zeros(device, 5000, &[1, 767, 2000, 4998]));
    let Some(device) = cuda("long_signals beyond 2^32 elements") else { return };
    let most = 1usize << 32;
    let len = most + 5000;
    ones_in_zeros(&device, len, &[1, 1 << 30, (1 << 31) + 1, most - 5, most, most + 3071, len - 2]);
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    for_each("bad_input_is_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let (x, empty) = (device.upload(&[1.0f32; 8]).unwrap(), device.alloc::<f32>(0).unwrap());
        let mut output = device.upload(&[-7.0f32; 8]).unwrap();
        let error = convolve_into(&stream, &x, &empty, Mode::Same, &mut output).unwrap_err();
        assert!(matches!(error, Error::EmptyOperand { what: "filter" }), "{error}");
        let error = correlate(&empty, &x, Mode::Full).unwrap_err();
        assert!(matches!(error, Error::EmptyOperand { what: "signal" }), "{error}");
        let error = correlate_into(&stream, &x, &x, Mode::Full, &mut output).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::OutputLength { expected: 15, actual: 8, .. })),
            "{error}"
        );
        let foreign = Device::simulator().upload(&[1.0f32; 8]).unwrap();
        let error = convolve_into(&stream, &x, &foreign, Mode::Same, &mut output).unwrap_err();
        assert!(matches!(error, Error::Device(gpu_core::Error::WrongDevice { .. })), "{error}");
        let mut staging = device.alloc(9).unwrap();
        let long = Staged::new(Memory::Shared, &[1.0; 9], &mut staging).unwrap();
        let error = long.correlate_into(&stream, Sum::Register, &x, &mut output).unwrap_err();
        assert!(matches!(error, Error::FilterTooLong { memory: "shared", actual: 9, limit: 8 }), "{error}");
        let error = Staged::new(Memory::Global, &[1.0f32], staging.slice_mut(..0)).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::Length { expected: 1, actual: 0, .. })),
            "{error}"
        );
        assert_eq!(output.to_vec().unwrap(), [-7.0; 8]);
    });
}
