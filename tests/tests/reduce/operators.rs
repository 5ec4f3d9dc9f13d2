//! Every reduction of every type of elements: one body over all backends, against a serial oracle and against the CPU's
//! bits.

use crate::support::reduce::{Sample, bits_of};
use gpu_core::Device;
use gpu_reduce::kernels::*;
use gpu_reduce::{Columns, Error, Instance, Operand, Scratch, reduce, reduce_into, reference};
use gpu_tests::backends::{cases, for_each};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The reduction of `values` from `from` on, on a device and on the CPU, has the bits that `oracle` computes.
fn one<R, T, const N: usize>(
    device: &Device,
    values: &[T],
    from: usize,
    oracle: impl Fn(&[T]) -> [R::Output; N],
) where
    T: Sample + for<'a> Operand<Views<'a> = gpu_core::View<'a, T>>,
    R: Instance<Item = T>,
    for<'a> &'a [T]: Columns<Item = T>,
{
    let rest = &values[from..];
    let context =
        || format!("{} of {} {} from {from} on {device}", R::NAME, rest.len(), core::any::type_name::<T>());
    let buffer = device.upload(values).unwrap();
    let actual = reduce::<R, N>(buffer.slice(from..));
    if rest.is_empty() && R::EMPTY.is_none() {
        assert!(matches!(actual, Err(Error::Empty { what }) if what == R::NAME), "{}", context());
        return;
    }
    let actual = bits_of(&actual.unwrap_or_else(|error| panic!("{}: {error}", context())));
    assert_eq!(actual, bits_of(&oracle(rest)), "{}", context());
    let mut by_reference = [R::Output::default(); N];
    reference::reduce::<R, _>(rest, &mut by_reference).unwrap();
    assert_eq!(actual, bits_of(&by_reference), "{} against the reference", context());
    assert_eq!(bits_of(&buffer.to_vec().unwrap()), bits_of(values), "{}: the input changed", context());
}

/// All reductions of one type of elements.
macro_rules! all_of {
    ($test:ident, $t:ty, $($integer:ident)?) => {
        #[test]
        fn $test() {
            for_each(stringify!($test), |device| {
                let tile = tile::<$t>() as usize;
                for (len, from) in [
                    (0, 0), (1, 0), (2, 1), (5, 0), (33, 3), (2047, 0), (tile - 1, 0), (tile, 0),
                    (tile + 1, 0), (2 * tile + 19, 0), (tile + 700, 1),
                ] {
                    check(device, &<$t>::whole_numbers(len), from);
                }
            });

            fn check(device: &Device, values: &[$t], from: usize) {
                type T = $t;
                let from = from.min(values.len());
                one::<Sum<T>, T, 1>(device, values, from, |v| [v.iter().fold(T::ZERO, |a, &b| a.add(b))]);
                one::<Product<T>, T, 1>(device, values, from, |v| [v.iter().fold(<T as Number>::ONE, |a, &b| a.mul(b))]);
                one::<SumOfSquares<T>, T, 1>(device, values, from, |v| {
                    [v.iter().fold(T::ZERO, |a, &b| a.add(b.mul(b)))]
                });
                one::<Min<T>, T, 1>(device, values, from, |v| [*v.iter().min_by(|a, b| a.order(b)).unwrap()]);
                one::<Max<T>, T, 1>(device, values, from, |v| [*v.iter().max_by(|a, b| a.order(b)).unwrap()]);
                one::<MinMax<T>, T, 2>(device, values, from, |v| {
                    [*v.iter().min_by(|a, b| a.order(b)).unwrap(), *v.iter().max_by(|a, b| a.order(b)).unwrap()]
                });
                one::<ArgMin<T>, T, 1>(device, values, from, |v| {
                    [(0..v.len()).min_by(|&a, &b| v[a].order(&v[b])).unwrap() as u64]
                });
                one::<ArgMax<T>, T, 1>(device, values, from, |v| {
                    [(0..v.len()).rev().max_by(|&a, &b| v[a].order(&v[b])).unwrap() as u64]
                });
                one::<NormL1<T>, T, 1>(device, values, from, |v| {
                    [v.iter().fold(Number::ZERO, |a: <T as Number>::Magnitude, b| Sample::add(a, b.magnitude()))]
                });
                one::<NormMax<T>, T, 1>(device, values, from, |v| {
                    [v.iter().map(|a| a.magnitude()).max_by(|a, b| a.order(b)).unwrap_or(Number::ZERO)]
                });
                one::<Any<T>, T, 1>(device, values, from, |v| [v.iter().any(|&a| a != T::ZERO) as u8]);
                one::<All<T>, T, 1>(device, values, from, |v| [v.iter().all(|&a| a != T::ZERO) as u8]);
                one::<Count<T>, T, 1>(device, values, from, |v| {
                    [v.iter().filter(|&&a| a != T::ZERO).count() as u64]
                });
                $( integers::$integer(device, values, from); )?
                two(device, values, from);
            }

            $( mod integers {
                use super::*;
                pub fn $integer(device: &Device, values: &[$t], from: usize) {
                    type T = $t;
                    one::<And<T>, T, 1>(device, values, from, |v| [v.iter().fold(!0, |a, b| a & b)]);
                    one::<Or<T>, T, 1>(device, values, from, |v| [v.iter().fold(0, |a, b| a | b)]);
                    one::<Xor<T>, T, 1>(device, values, from, |v| [v.iter().fold(0, |a, b| a ^ b)]);
                    one::<WideSum<T>, T, 1>(device, values, from, |v| {
                        [v.iter().fold(0, |a: <T as Integer>::Wide, &b| a.wrapping_add(b as <T as Integer>::Wide))]
                    });
                }
            } )?

            /// The dot product of the values with themselves backwards.
            fn two(device: &Device, values: &[$t], from: usize) {
                let backwards: Vec<$t> = values.iter().rev().copied().collect();
                let (a, b) = (device.upload(values).unwrap(), device.upload(&backwards).unwrap());
                let actual = gpu_reduce::dot(a.slice(from..), b.slice(from..)).unwrap();
                let pairs = values[from..].iter().zip(&backwards[from..]);
                let expected = pairs.fold(<$t>::ZERO, |sum, (&a, &b)| sum.add(a.mul(b)));
                let context = format!("dot of {} {} from {from} on {device}", values.len(), stringify!($t));
                assert_eq!(bits_of(&[actual]), bits_of(&[expected]), "{context}");
                let mut by_reference = [<$t>::ZERO];
                reference::reduce::<Dot<$t>, _>((&values[from..], &backwards[from..]), &mut by_reference).unwrap();
                assert_eq!(bits_of(&[actual]), bits_of(&by_reference), "{context} against the reference");
            }
        }
    };
}
all_of!(all_of_f32, f32,);
all_of!(all_of_f64, f64,);
all_of!(all_of_i8, i8, check);
all_of!(all_of_i16, i16, check);
all_of!(all_of_i32, i32, check);
all_of!(all_of_i64, i64, check);
all_of!(all_of_u8, u8, check);
all_of!(all_of_u16, u16, check);
all_of!(all_of_u32, u32, check);
all_of!(all_of_u64, u64, check);

/// Reductions that round, or that ties and special values can confuse: the bits of the CPU, whatever the length, the
/// start and the values.
#[test]
fn same_bits_as_the_reference() {
    println!("same_bits_as_the_reference: seed 5e, {} cases a backend", cases());
    fn same<R, T, const N: usize>(device: &Device, values: &[T], from: usize)
    where
        T: Sample + for<'a> Operand<Views<'a> = gpu_core::View<'a, T>>,
        R: Instance<Item = T>,
        for<'a> &'a [T]: Columns<Item = T>,
    {
        let mut expected = [R::Output::default(); N];
        reference::reduce::<R, _>(&values[from..], &mut expected).unwrap();
        let actual = reduce::<R, N>(device.upload(values).unwrap().slice(from..)).unwrap();
        let context = format!("{} of {} from {from} on {device}", R::NAME, values.len());
        assert_eq!(bits_of(&actual), bits_of(&expected), "{context}");
    }
    for_each("same_bits_as_the_reference", |device| {
        let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[0x5e; 32]);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let lengths = prop_oneof![1..200usize, 4000..4200usize, 1..20_000usize];
        runner
            .run(&(lengths, 0..5usize, any::<u64>(), 0..9u32), |(len, from, seed, which)| {
                let singles = f32::any_bits(seed, from + len);
                let doubles = f64::any_bits(seed, from + len);
                match which {
                    0 => same::<Sum<f64>, f64, 1>(device, &doubles, from),
                    1 => same::<Product<f32>, f32, 1>(device, &singles, from),
                    2 => same::<MinMax<f32>, f32, 2>(device, &singles, from),
                    3 => same::<MinMax<f64>, f64, 2>(device, &doubles, from),
                    4 => same::<NormL2<f32>, f32, 1>(device, &singles, from),
                    5 => same::<NormL2<f64>, f64, 1>(device, &doubles, from),
                    6 => same::<ArgMax<f32>, f32, 1>(device, &singles, from),
                    7 => same::<ArgMin<f64>, f64, 1>(device, &doubles, from),
                    _ => same::<NormL1<f32>, f32, 1>(device, &singles, from),
                }
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn special_values() {
    for_each("special_values", |device| {
        let up = |values: &[f32]| device.upload(values).unwrap();
        let nan = f32::NAN;
        assert!(gpu_reduce::min(&up(&[1.0, nan, -2.0])).unwrap().is_nan());
        assert!(gpu_reduce::max(&up(&[nan, 1.0])).unwrap().is_nan());
        let zeros = gpu_reduce::minmax(&up(&[0.0, -0.0, 0.0])).unwrap();
        assert_eq!((zeros.0.to_bits(), zeros.1.to_bits()), ((-0.0f32).to_bits(), 0));
        assert_eq!(gpu_reduce::argmin(&up(&[0.0, -0.0, 0.0, -0.0])).unwrap(), 1);
        assert_eq!(gpu_reduce::argmax(&up(&[-0.0, 0.0, 0.0])).unwrap(), 1);
        let mut values = vec![f32::NEG_INFINITY; 20_000];
        assert_eq!(gpu_reduce::argmax(&up(&values)).unwrap(), 0, "all are the lowest");
        assert_eq!(gpu_reduce::argmin(&device.upload(&[u8::MAX; 70_000]).unwrap()).unwrap(), 0);
        values[19_000] = nan;
        values[15_000] = -nan;
        assert_eq!(gpu_reduce::argmax(&up(&values)).unwrap(), 15_000, "the first NaN");
        assert_eq!(gpu_reduce::argmin(&up(&values)).unwrap(), 15_000, "the first NaN");
        assert_eq!(gpu_reduce::count_nonzero(&up(&[0.0, -0.0, nan, 3.0])).unwrap(), 2);
        assert!(!gpu_reduce::all(&up(&[nan, -0.0])).unwrap());
        assert!(gpu_reduce::any(&up(&[0.0, nan])).unwrap());
        assert_eq!(gpu_reduce::norm_max(&device.upload(&[i8::MIN, 3]).unwrap()).unwrap(), 128);
        assert_eq!(gpu_reduce::norm_l1(&up(&[-1.5, 2.0])).unwrap(), 3.5);
        assert_eq!(gpu_reduce::mean(&device.upload(&[-1i32, 2, 3]).unwrap()).unwrap(), 4.0 / 3.0);
        assert_eq!(gpu_reduce::mean(&up(&[1.0, 2.0])).unwrap(), 1.5);
        let large = [i64::MAX; 2].map(|most| most - 1);
        assert_eq!(gpu_reduce::mean(&device.upload(&large).unwrap()).unwrap(), large[0] as f64);
        assert_eq!(gpu_reduce::mean(&device.upload(&[u64::MAX; 3]).unwrap()).unwrap(), u64::MAX as f64);
        means_on_a_stream::<f32>(device, &[1.0, 2.5, -8.0, 0.1]);
        means_on_a_stream::<u8>(device, &[255; 70_001]);
        means_on_a_stream(device, &large);
        // Those whose sum the extremes do not tell are added up on the host.
        means_on_a_stream(device, &[i64::MAX, i64::MIN, 5, i64::MAX, i64::MAX]);
    });
}

fn means_on_a_stream<T: gpu_reduce::Element>(device: &Device, values: &[T]) {
    let stream = device.stream().unwrap();
    let input = device.upload(values).unwrap();
    let mut output = device.zeroed::<T::Mean>(3).unwrap();
    let mut scratch = Scratch::with_size(&stream, gpu_reduce::reduce_scratch(values.len())).unwrap().fixed();
    gpu_reduce::mean_into(&stream, &input, output.slice_mut(1..2), &mut scratch).unwrap();
    let expected =
        [bytemuck::Zeroable::zeroed(), gpu_reduce::mean(&input).unwrap(), bytemuck::Zeroable::zeroed()];
    assert!(
        bytemuck::cast_slice::<_, u8>(&output.to_vec().unwrap()) == bytemuck::cast_slice::<_, u8>(&expected)
    );
}

/// Where the magnitudes of the products add up to more than the type holds, every device gives the same, finite or not.
#[test]
fn products_beyond_the_type_have_the_same_bits() {
    for_each("products_beyond_the_type_have_the_same_bits", |device| {
        for len in [2, 7, 1_000, 5_001] {
            // Large ones of both signs, which cancel out.
            let x: Vec<f64> = (0..len).map(|i| if i % 2 == 0 { f64::MAX } else { -f64::MAX }).collect();
            let y = vec![1.0; len];
            let expected = gpu_reduce::dot(&x, &y).unwrap();
            let actual = gpu_reduce::dot(&device.upload(&x).unwrap(), &device.upload(&y).unwrap()).unwrap();
            let same = actual.to_bits() == expected.to_bits() || actual.is_nan() && expected.is_nan();
            assert!(same, "{actual} and {expected} of {len} on {device}");
            // And where they do not, it is finite.
            let small: Vec<f64> = x.iter().map(|value| value / (2 * len) as f64).collect();
            let finite =
                gpu_reduce::dot(&device.upload(&small).unwrap(), &device.upload(&y).unwrap()).unwrap();
            assert!(finite.is_finite(), "{finite} of {len} on {device}");
        }
    });
}

/// 3-4-5 triangles at both ends of the range; and what is out of range.
#[test]
fn euclidean_norms_are_finite_where_their_value_is() {
    for_each("euclidean_norms_are_finite_where_their_value_is", |device| {
        let double = |values: &[f64]| gpu_reduce::norm_l2(&device.upload(values).unwrap()).unwrap();
        let single = |values: &[f32]| gpu_reduce::norm_l2(&device.upload(values).unwrap()).unwrap();
        for exponent in [-1070, -1022, -700, -515, -510, -300, 0, 300, 480, 484, 490, 700, 1020] {
            let scale =
                if exponent < -1022 { f64::from_bits(1 << (exponent + 1074)) } else { 2f64.powi(exponent) };
            assert_eq!(double(&[3.0 * scale, -4.0 * scale]), 5.0 * scale, "2^{exponent}");
        }
        for exponent in [-140, -100, -75, 0, 75, 125] {
            let scale = 2f64.powi(exponent) as f32;
            assert_eq!(single(&[3.0 * scale, -4.0 * scale]), 5.0 * scale, "2^{exponent}");
        }
        assert_eq!(double(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(double(&[f64::MAX, 1.0, f64::MIN_POSITIVE]), f64::MAX);
        assert_eq!(double(&[f64::NEG_INFINITY, 1.0]), f64::INFINITY);
        assert!(double(&[f64::INFINITY, f64::NAN]).is_nan());
        assert!(double(&[1e300, f64::NAN]).is_nan());
        assert!(double(&[1e-320, f64::NAN]).is_nan());
        assert_eq!(double(&[]), 0.0);
        assert!(single(&[1.0, f32::NAN]).is_nan());
        assert_eq!(single(&[-f32::MAX]), f32::MAX);
    });
}

/// Squares of what is above 2^486 are scaled down and of what is below 2^-511 up; those of the bounds are as they are.
#[test]
fn scales_of_the_euclidean_norm() {
    let sums_of = |value: f64| NormL2::<f64>::take(NormL2::<f64>::IDENTITY, value, 0);
    let (large, small) = (2f64.powi(486), 2f64.powi(-511));
    assert_eq!(sums_of(-large), (0.0, (large * large, 0.0)));
    assert_eq!(sums_of(small), (0.0, (small * small, 0.0)));
    let (large, small) = (large.next_up(), small.next_down());
    let (down, up) = (large * 2f64.powi(-538), small * 2f64.powi(537));
    assert_eq!(sums_of(large), (down * down, (0.0, 0.0)));
    assert_eq!(sums_of(-small), (0.0, (0.0, up * up)));
}

/// Reductions of different types and widths share scratch memory, and what is empty leaves its result of nothing.
#[test]
fn reductions_on_a_stream_share_their_scratch() {
    for_each("reductions_on_a_stream_share_their_scratch", |device| {
        let stream = device.stream().unwrap();
        let doubles = f64::any_bits(3, 9000);
        let input = device.upload(&doubles).unwrap();
        let bytes = device.upload(&vec![7u8; 70_000]).unwrap();
        let mut scratch = Scratch::with_size(&stream, gpu_reduce::reduce_scratch(70_000)).unwrap().fixed();
        let (mut norm, mut extremes) = (device.zeroed(1).unwrap(), device.zeroed(2).unwrap());
        let (mut place, mut product, mut ones) =
            (device.zeroed(1).unwrap(), device.zeroed(1).unwrap(), device.zeroed(1).unwrap());
        gpu_reduce::norm_l2_into(&stream, &input, &mut norm, &mut scratch).unwrap();
        reduce_into::<MinMax<f64>>(&stream, input.view(), &mut extremes, &mut scratch).unwrap();
        gpu_reduce::argmax_into(&stream, &bytes, &mut place, &mut scratch).unwrap();
        gpu_reduce::product_into(&stream, bytes.slice(..0), &mut product, &mut scratch).unwrap();
        gpu_reduce::bit_and_into(&stream, bytes.slice(..0), &mut ones, &mut scratch).unwrap();
        stream.synchronize().unwrap();
        let (mut expected_norm, mut expected_extremes) = ([0.0], [0.0; 2]);
        reference::reduce::<NormL2<f64>, _>(&doubles[..], &mut expected_norm).unwrap();
        reference::reduce::<MinMax<f64>, _>(&doubles[..], &mut expected_extremes).unwrap();
        assert_eq!(bits_of(&norm.to_vec().unwrap()), bits_of(&expected_norm));
        assert_eq!(bits_of(&extremes.to_vec().unwrap()), bits_of(&expected_extremes));
        assert_eq!(place.to_vec().unwrap(), [0]);
        assert_eq!(product.to_vec().unwrap(), [1]);
        assert_eq!(ones.to_vec().unwrap(), [u8::MAX]);
    });
}

/// The schedules that the simulator chooses never show in a result of several words.
#[test]
fn every_schedule_gives_the_same_bits_in_six_words() {
    let values = f64::any_bits(11, 3 * tile::<f64>() as usize + 17);
    let mut expected = [0.0];
    reference::reduce::<NormL2<f64>, _>(&values[..], &mut expected).unwrap();
    for seed in 0..200 {
        let device = Device::simulator_with(gpu_sim::Config { seed, ..Default::default() });
        let input = device.upload(&values).unwrap();
        let actual = gpu_reduce::norm_l2(&input).unwrap();
        assert_eq!(bits_of(&[actual]), bits_of(&expected), "seed {seed}");
    }
    println!("every_schedule_gives_the_same_bits_in_six_words: 200 seeds");
}
