//! Reductions along an axis: one body over all backends, against a serial oracle and against the CPU's bits.

use core::cmp::Ordering;

use crate::support::oracles::{BitsOracle, EuclideanOracle, Oracle, largest};
use crate::support::reduce::{Sample, bits_of};
use gpu_core::{Device, View};
use gpu_reduce::kernels::*;
use gpu_reduce::{
    AlongColumns, Columns, Element, Error, FloatElement, Operand, Scratch, Segmented, argmax_axis, max_axis,
    mean_axis, minmax_axis, reduce_axis, reduce_axis_into, reference, sum_axis,
};
use gpu_std::half::{bf16, f16};
use gpu_tests::backends::{cases, cuda, for_each};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// What one line gives, computed one element after the other.
type ByOracle<E, O> = fn(&[E]) -> Vec<O>;

/// Along every axis: the bits of the reference, and of the oracle where it says what those are; from an aligned start
/// and from another.
fn check<R, E>(device: &Device, shape: &[usize], seed: u64, by_oracle: Option<ByOracle<E, R::Output>>)
where
    E: Sample + for<'a> Operand<Views<'a> = View<'a, E>>,
    R: Segmented<Item = E> + AlongColumns,
    for<'a> &'a [E]: Columns<Item = E>,
{
    let len: usize = shape.iter().product();
    let values = if by_oracle.is_some() { E::whole_numbers(len + 1) } else { E::any_bits(seed, len + 1) };
    let buffer = device.upload(&values).unwrap();
    for (axis, from) in (0..shape.len()).flat_map(|axis| [(axis, 0), (axis, 1)]) {
        let context = format!("{} of {shape:?} along {axis} from {from} on {device}", R::NAME);
        let values = &values[from..from + len];
        let outer: usize = shape[..axis].iter().product();
        let (rows, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        let actual = reduce_axis::<R>(buffer.slice(from..from + len), shape, axis)
            .and_then(|actual| actual.to_vec())
            .unwrap_or_else(|error| panic!("{context}: {error}"));
        let mut expected = vec![R::Output::default(); outer * inner * R::OUTPUTS as usize];
        reference::reduce_axis::<R, _>(values, [outer, rows, inner], &mut expected).unwrap();
        assert_eq!(bits_of(&actual), bits_of(&expected), "{context}");
        let Some(oracle) = by_oracle else { continue };
        for line in 0..outer * inner {
            let first = line / inner * rows * inner + line % inner;
            let elements: Vec<E> = (0..rows).map(|row| values[first + row * inner]).collect();
            let outputs = R::OUTPUTS as usize;
            let which = || format!("{context}: line {line} by the oracle");
            assert_eq!(
                bits_of(&actual[line * outputs..][..outputs]),
                bits_of(&oracle(&elements)),
                "{}",
                which()
            );
        }
    }
    assert_eq!(bits_of(&buffer.to_vec().unwrap()), bits_of(&values), "the input changed");
}

/// All reductions of one type of elements.
macro_rules! all_of {
    ($test:ident, $kind:ident $t:ty) => {
        #[test]
        fn $test() {
            type E = $t;
            for_each(stringify!($test), |device| {
                for shape in [&[3usize, 5, 32][..], &[300, 7], &[130, 16]] {
                    macro_rules! one {
                        ($reduction:ty, $oracle:expr) => {
                            check::<$reduction, E>(device, shape, 0, Some($oracle));
                        };
                    }
                    every_reduction!($kind E, one);
                }
            });
        }
    };
}
every_type!(all_of);

/// Extents around those of slabs, groups of slabs, blocks and loads.
#[test]
fn extents_at_borders() {
    for_each("extents_at_borders", |device| {
        for shape in [[127, 4], [128, 8], [129, 5], [20_000, 3], [16_385, 2], [3, 1025], [257, 1028], [1, 9]]
        {
            check::<Sum<f32>, f32>(device, &shape, 3, None);
        }
        check::<ArgMin<f64>, f64>(device, &[40_000, 2], 4, None);
    });
}

#[test]
fn any_shape_has_the_bits_of_the_reference() {
    let test = "any_shape_has_the_bits_of_the_reference";
    println!("{test}: ChaCha seed 0xa5 × 32, {} cases a backend", cases() / 4);
    for_each(test, |device| {
        let config = Config { cases: cases() / 4, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[0xa5; 32]);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let extent = prop_oneof![4 => 1..8usize, 2 => 1..40usize, 1 => 120..140usize];
        runner
            .run(&(proptest::collection::vec(extent, 1..4), any::<u64>()), |(shape, seed)| {
                if shape.iter().product::<usize>() < 100_000 {
                    check::<Sum<f32>, f32>(device, &shape, seed, None);
                    check::<WideSum<u8>, u8>(device, &shape, seed, None);
                    check::<ArgMax<f64>, f64>(device, &shape, seed, None);
                }
                Ok(())
            })
            .unwrap();
    });
}

/// The schedules that the simulator chooses never show: many slabs of few columns.
#[test]
fn every_schedule_gives_the_same_bits() {
    let (rows, columns) = (50_000, 3);
    let values = floats(21, rows * columns);
    let mut expected = vec![0.0; columns];
    reference::reduce_axis::<Sum<f32>, _>(&values[..], [1, rows, columns], &mut expected).unwrap();
    for seed in 0..20 {
        let device = Device::simulator_with(gpu_sim::Config { seed, ..Default::default() });
        let input = device.upload(&values).unwrap();
        let actual = sum_axis(&input, &[rows, columns], 0).unwrap().to_vec().unwrap();
        assert_same_bits(&actual, &expected, &format!("seed {seed}"));
    }
    println!("every_schedule_gives_the_same_bits: 20 seeds");
}

#[test]
fn axes_by_name_and_empty_ones() {
    for_each("axes_by_name_and_empty_ones", |device| {
        let matrix = device.upload(&[1i32, -2, 3, 4, 5, 3]).unwrap();
        assert_eq!(sum_axis(&matrix, &[2, 3], 0).unwrap().to_vec().unwrap(), [5, 3, 6]);
        assert_eq!(max_axis(&matrix, &[2, 3], 1).unwrap().to_vec().unwrap(), [3, 5]);
        assert_eq!(argmax_axis(&matrix, &[2, 3], 0).unwrap().to_vec().unwrap(), [1, 1, 0]);
        assert_eq!(minmax_axis(&matrix, &[3, 2], 0).unwrap().to_vec().unwrap(), [1, 5, -2, 4]);
        assert_eq!(mean_axis(&matrix, &[2, 3], 0).unwrap().to_vec().unwrap(), [2.5, 1.5, 3.0]);
        assert_eq!(gpu_reduce::product_axis(&matrix, &[2, 3], 0).unwrap().to_vec().unwrap(), [4, -10, 9]);
        assert_eq!(gpu_reduce::norm_max_axis(&matrix, &[2, 3], 1).unwrap().to_vec().unwrap(), [3u32, 5]);
        assert_eq!(gpu_reduce::any_axis(&matrix, &[3, 2], 1).unwrap().to_vec().unwrap(), [1; 3]);
        assert_eq!(
            gpu_reduce::bit_or_axis(&matrix, &[2, 3], 0).unwrap().to_vec().unwrap(),
            [1 | 4, -2 | 5, 3]
        );
        let none = device.upload::<i32>(&[]).unwrap();
        assert_eq!(sum_axis(&none, &[0, 3], 0).unwrap().to_vec().unwrap(), [0, 0, 0]);
        assert_eq!(sum_axis(&none, &[2, 0], 1).unwrap().to_vec().unwrap(), [0, 0]);
        assert_eq!(sum_axis(&none, &[0, 3], 1).unwrap().to_vec().unwrap(), []);
        // Of floats +0, where sums begin with -0 and the largest magnitude with an infinity.
        let floats = device.upload::<f32>(&[]).unwrap();
        for of_none in [sum_axis(&floats, &[0, 3], 0), gpu_reduce::norm_max_axis(&floats, &[0, 3], 0)] {
            assert_same_bits(&of_none.unwrap().to_vec().unwrap(), &[0.0; 3], &device.name());
        }
        assert!(matches!(max_axis(&none, &[0, 3], 0), Err(Error::Empty { .. })));
        assert_eq!(max_axis(&none, &[0, 3], 1).unwrap().to_vec().unwrap(), []);
        assert!(matches!(mean_axis(&none, &[0, 3], 0), Err(Error::Empty { .. })));

        let stream = device.stream().unwrap();
        let mut scratch =
            Scratch::with_size(&stream, gpu_reduce::reduce_axis_scratch::<MinMax<i32>>(&[3, 2], 0).unwrap())
                .unwrap()
                .fixed();
        let mut extremes = device.zeroed(4).unwrap();
        gpu_reduce::minmax_axis_into(&stream, &matrix, &[3, 2], 0, &mut extremes, &mut scratch).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(extremes.to_vec().unwrap(), [1, 5, -2, 4]);

        let (mut means, mut scratch) = (device.zeroed(3).unwrap(), Scratch::new(&stream));
        gpu_reduce::mean_axis_into(&stream, &matrix, &[2, 3], 0, &mut means, &mut scratch).unwrap();
        assert_eq!(means.to_vec().unwrap(), [2.5, 1.5, 3.0]);
        let short = means.slice_mut(1..);
        let error =
            gpu_reduce::mean_axis_into(&stream, &matrix, &[2, 3], 0, short, &mut scratch).unwrap_err();
        assert!(matches!(error, Error::OutputLength { what: "mean", expected: 3, actual: 2 }), "{error}");
        let error = mean_axis(&matrix, &[2, 2], 0).unwrap_err();
        assert!(matches!(error, Error::ShapeLength { what: "mean", expected: 4, actual: 6 }), "{error}");
    });
}

/// Launches along different axes share scratch memory, and leave it as they found it.
#[test]
fn launches_share_their_scratch() {
    for_each("launches_share_their_scratch", |device| {
        let stream = device.stream().unwrap();
        let (rows, columns) = (300, 40);
        let values = floats(5, rows * columns);
        let input = device.upload(&values).unwrap();
        let mut scratch = Scratch::with_size(
            &stream,
            gpu_reduce::reduce_axis_scratch::<Sum<f32>>(&[rows, columns], 0).unwrap(),
        )
        .unwrap()
        .fixed();
        let mut outputs = device.zeroed::<f32>(2 * columns).unwrap();
        for time in 0..2 {
            let output = outputs.slice_mut(time * columns..(time + 1) * columns);
            let shape = [rows, columns];
            reduce_axis_into::<Sum<f32>>(&stream, input.view(), &shape, 0, output, &mut scratch).unwrap();
        }
        stream.synchronize().unwrap();
        let mut expected = vec![0.0; columns];
        reference::reduce_axis::<Sum<f32>, _>(&values[..], [1, rows, columns], &mut expected).unwrap();
        assert_same_bits(&outputs.to_vec().unwrap(), &expected.repeat(2), &device.name());
    });
}

#[test]
fn bad_axes_are_refused() {
    for_each("bad_axes_are_refused", |device| {
        let input = device.upload(&[1.0f32; 6]).unwrap();
        assert!(matches!(sum_axis(&input, &[2, 3], 2), Err(Error::Axis { axis: 2, axes: 2 })));
        assert!(matches!(sum_axis(&input, &[], 0), Err(Error::Axis { axis: 0, axes: 0 })));
        assert!(matches!(
            sum_axis(&input, &[2, 4], 0),
            Err(Error::ShapeLength { expected: 8, actual: 6, .. })
        ));
        assert!(matches!(sum_axis(&input, &[usize::MAX, 2], 0), Err(Error::TooLong { .. })));
        // Of an array without elements the other extents may be any, as long as the results can be counted.
        let none = device.upload::<f32>(&[]).unwrap();
        for (shape, axis) in [([0, usize::MAX, usize::MAX], 1), ([usize::MAX, usize::MAX, 0], 1)] {
            assert_eq!(sum_axis(&none, &shape, axis).unwrap().to_vec().unwrap(), []);
        }
        let many = sum_axis(&none, &[0, usize::MAX, usize::MAX], 0);
        assert!(matches!(many, Err(Error::TooLong { .. })), "{many:?}");
        let stream = device.stream().unwrap();
        let mut output = device.upload(&[7.0f32; 3]).unwrap();
        let mut scratch =
            Scratch::with_size(&stream, gpu_reduce::reduce_axis_scratch::<Sum<f32>>(&[2, 3], 0).unwrap())
                .unwrap()
                .fixed();
        let short = reduce_axis_into::<Sum<f32>>(
            &stream,
            input.view(),
            &[2, 3],
            0,
            output.slice_mut(..2),
            &mut scratch,
        );
        assert!(matches!(short, Err(Error::OutputLength { expected: 3, actual: 2, .. })));
        let mut of_other = Scratch::with_size(
            &device.stream().unwrap(),
            gpu_reduce::reduce_axis_scratch::<Sum<f32>>(&[2, 3], 0).unwrap(),
        )
        .unwrap()
        .fixed();
        let other =
            reduce_axis_into::<Sum<f32>>(&stream, input.view(), &[2, 3], 0, &mut output, &mut of_other);
        assert!(matches!(other, Err(Error::ScratchOfOtherStream { .. })));
        let long = device.zeroed::<f32>(6000).unwrap();
        let small =
            reduce_axis_into::<Sum<f32>>(&stream, long.view(), &[2000, 3], 0, &mut output, &mut scratch);
        assert!(matches!(small, Err(Error::ScratchTooSmall { expected: 512, actual: 256, .. })), "{small:?}");
        assert_eq!(output.to_vec().unwrap(), [7.0; 3], "something was written");
    });
}

#[test]
fn large_arrays_on_the_gpu() {
    let Some(device) = cuda("large_arrays_on_the_gpu") else { return };
    for [outer, rows, inner] in [[1, 16_384, 16_384], [1, 1 << 24, 3], [4096, 128, 100], [7, 100_003, 33]] {
        let values = floats(rows as u64, outer * rows * inner);
        let input = device.upload(&values).unwrap();
        let actual = sum_axis(&input, &[outer, rows, inner], 1).unwrap().to_vec().unwrap();
        let mut expected = vec![0.0; outer * inner];
        reference::reduce_axis::<Sum<f32>, _>(&values[..], [outer, rows, inner], &mut expected).unwrap();
        assert_same_bits(&actual, &expected, &format!("{outer} × {rows} × {inner}"));
    }
}
