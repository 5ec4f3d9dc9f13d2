//! Scans along rows and columns: one body over all backends, against a serial loop, against the CPU's bits, and under
//! schedules.

use core::fmt::Debug;

use crate::support::scan::{MODES, Sample, assert_same, every_wide_type};
use gpu_core::Device;
use gpu_scan::kernels::columns::Shape;
use gpu_scan::kernels::{And, Max, Min, Or, Product, Scan, Sum, WideSum, Widen, Xor};
use gpu_scan::{
    AlongColumns, Error, Options, Scratch, Segmented, WideElement, bf16, f16, scan_axis, scan_axis_in_place,
    scan_axis_into,
};
use gpu_sim::{Config, Record};
use gpu_tests::backends::for_each;

fn options<O>((exclusive, reverse): (bool, bool), initial: O) -> Options<O> {
    let options = if exclusive { Options::exclusive() } else { Options::inclusive() };
    (if reverse { options.reversed() } else { options }).starting_with(initial)
}

/// The oracle: one line after the other, one element after the other.
fn serial<T: Copy, A: Copy, O: Copy>(
    values: &[T],
    [outer, len, inner]: [usize; 3],
    (exclusive, reverse): (bool, bool),
    initial: A,
    step: impl Fn(A, T) -> A,
    output: impl Fn(A) -> O,
) -> Vec<O> {
    let mut results = vec![output(initial); values.len()];
    for (matrix, column) in (0..outer).flat_map(|matrix| (0..inner).map(move |column| (matrix, column))) {
        let mut running = initial;
        for place in 0..len {
            let row = if reverse { len - 1 - place } else { place };
            let at = (matrix * len + row) * inner + column;
            let before = running;
            running = step(before, values[at]);
            results[at] = output(if exclusive { before } else { running });
        }
    }
    results
}

/// Arrays of three axes: no elements, one, slabs and groups of columns and one more or less, few and many columns.
fn shapes(slab: usize) -> Vec<[usize; 3]> {
    vec![
        [0, 3, 2],
        [2, 0, 5],
        [1, 1, 1],
        [1, 1, 33],
        [1, slab - 1, 31],
        [2, slab, 32],
        [3, slab + 1, 11],
        [1, 5 * slab + 3, 2],
        [2, 7, 300],
        [40, 3, 1],
        [1, 2 * slab, 67],
    ]
}

/// All shapes in turn 0, else every third, with their numbers: for operators whose kernels differ from others' in one
/// instruction.
fn in_turn(shapes: Vec<[usize; 3]>, turn: usize) -> impl Iterator<Item = (usize, [usize; 3])> {
    shapes.into_iter().enumerate().filter(move |(number, _)| turn == 0 || (number + turn).is_multiple_of(3))
}

/// The shapes of a turn, a buffer of its own for the results. `serially` is the oracle: of values of a shape, in a
/// mode.
fn all_apart<S>(
    device: &Device,
    turn: usize,
    initial: S::Output,
    serially: impl Fn(&[S::Item], [usize; 3], (bool, bool)) -> Vec<S::Output>,
) where
    S: Segmented<Item: Sample, Output: Debug> + AlongColumns,
{
    let slab = (Shape::of::<S>().rows * Shape::of::<S>().warps) as usize;
    for (number, shape) in in_turn(shapes(slab), turn) {
        let values = S::Item::small(number as u64, shape.iter().product());
        let input = device.upload(&values).unwrap();
        let mode = MODES[number % 4];
        let (options, expected) = (options(mode, initial), serially(&values, shape, mode));
        let context = || format!("{} along axis 1 of {shape:?}, {mode:?}, on {device}", S::NAME);
        let actual = scan_axis::<S>(&input, &shape, 1, options).unwrap();
        assert_same(&actual.to_vec().unwrap(), &expected, context);
        // The same array with its first or last axis, where the others are one.
        if shape[0] == 1 {
            let actual = scan_axis::<S>(&input, &shape[1..], 0, options).unwrap();
            assert_same(&actual.to_vec().unwrap(), &expected, context);
        }
    }
}

fn all<S, T: Sample>(device: &Device, turn: usize, combine: impl Fn(T::Oracle, T::Oracle) -> T::Oracle)
where
    S: Segmented + AlongColumns + Scan<Item = T, Output = T>,
{
    let initial = T::small(99, 1)[0];
    let serially = |values: &[T], shape, mode| {
        serial(
            values,
            shape,
            mode,
            initial.oracle(),
            |before, value: T| combine(before, value.oracle()),
            T::round,
        )
    };
    all_apart::<S>(device, turn, initial, serially);
    let slab = (Shape::of::<S>().rows * Shape::of::<S>().warps) as usize;
    for (number, shape) in in_turn(shapes(slab), turn) {
        let values = T::small(number as u64, shape.iter().product());
        let (mode, stream) = (MODES[number % 4], device.default_stream());
        let (mut data, mut scratch) = (
            device.upload(&values).unwrap(),
            Scratch::with_size(&stream, gpu_scan::scan_axis_scratch::<S>(&shape, 1).unwrap())
                .unwrap()
                .fixed(),
        );
        let options = options(mode, initial);
        scan_axis_in_place::<S>(&stream, &mut data, &shape, 1, options, &mut scratch).unwrap();
        assert_same(&data.to_vec().unwrap(), &serially(&values, shape, mode), || {
            format!("{} in place along axis 1 of {shape:?}, {mode:?}, on {device}", S::NAME)
        });
    }
}

#[test]
fn all_operators_and_types() {
    for_each("all_operators_and_types", |device| {
        macro_rules! of {
            ($($t:ty)*) => { $(
                all::<Sum<$t>, $t>(device, 0, <$t>::sum_of);
                all::<Min<$t>, $t>(device, 1, <$t>::smaller_of);
                all::<Max<$t>, $t>(device, 2, <$t>::larger_of);
                all::<Product<$t>, $t>(device, 3, <$t>::product_of);
            )* };
        }
        of!(f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64);
        macro_rules! bits {
            ($($t:ty)*) => { $(
                all::<And<$t>, $t>(device, 1, |a, b| a & b);
                all::<Or<$t>, $t>(device, 2, |a, b| a | b);
                all::<Xor<$t>, $t>(device, 3, |a, b| a ^ b);
            )* };
        }
        bits!(i8 i16 i32 i64 u8 u16 u32 u64);
    });
}

#[test]
fn sums_in_a_wider_type() {
    fn wide<T: Sample + WideElement>(
        device: &Device,
        add: impl Fn(T::Wide, T::Wide) -> T::Wide,
        initial: T::Wide,
    ) where
        T::Wide: Debug,
    {
        all_apart::<T::WideSum>(device, 0, initial, |values, shape, mode| {
            serial(
                values,
                shape,
                mode,
                initial,
                |before, value: T| add(before, Widen::widen(value)),
                |sum| sum,
            )
        });
    }
    for_each("sums_in_a_wider_type", |device| {
        every_wide_type!(wide, device);
    });
}

/// Rounding and all; and an exclusive scan is the inclusive one, shifted.
#[test]
fn same_bits_as_the_reference() {
    for_each("same_bits_as_the_reference", |device| {
        for (seed, shape) in [(1, [1, 1000, 40]), (2, [3, 300, 33]), (3, [2, 129, 7]), (4, [9, 700, 1])] {
            println!("same_bits_as_the_reference: seed {seed}, {shape:?}");
            let values = gpu_tests::data::floats(seed, shape.iter().product());
            let input = device.upload(&values).unwrap();
            for reverse in [false, true] {
                let on = |exclusive| {
                    let options = options((exclusive, reverse), 0.1f32);
                    let expected =
                        scan_axis::<Sum<f32>>(&values, &shape, 1, options).unwrap().to_vec().unwrap();
                    let actual = scan_axis::<Sum<f32>>(&input, &shape, 1, options).unwrap().to_vec().unwrap();
                    assert_same(&actual, &expected, || format!("{shape:?} {options:?} on {device}"));
                    actual
                };
                let (inclusive, exclusive) = (on(false), on(true));
                let [_, len, inner] = shape;
                for (at, actual) in exclusive.iter().enumerate() {
                    let row = at / inner % len;
                    let before = if reverse {
                        (row + 1 < len).then(|| at + inner)
                    } else {
                        (row > 0).then(|| at - inner)
                    };
                    let expected = before.map_or(0.1, |before| inclusive[before]);
                    assert_eq!(actual.to_bits(), expected.to_bits(), "{shape:?} at {at}, {device}");
                }
            }
        }
    });
}

#[test]
fn what_a_scan_along_an_axis_refuses() {
    for_each("what_a_scan_along_an_axis_refuses", |device| {
        let stream = device.default_stream();
        let (input, options) = (device.upload(&[1.0f32; 6]).unwrap(), Options::inclusive());
        let error = scan_axis::<Sum<f32>>(&input, &[2, 3], 2, options).unwrap_err();
        assert!(matches!(error, Error::Axis { axis: 2, axes: 2 }), "{error}");
        let error = scan_axis::<Sum<f32>>(&input, &[2, 2], 0, options).unwrap_err();
        assert!(matches!(error, Error::ShapeLength { expected: 4, actual: 6, .. }), "{error}");
        let mut output = device.upload(&[9.0f32; 6]).unwrap();
        let mut scratch =
            Scratch::with_size(&stream, gpu_scan::scan_axis_scratch::<Sum<f32>>(&[2, 3], 0).unwrap())
                .unwrap()
                .fixed();
        let part = output.slice_mut(..5);
        let error =
            scan_axis_into::<Sum<f32>>(&stream, &input, &[2, 3], 0, options, part, &mut scratch).unwrap_err();
        assert!(matches!(error, Error::OutputLength { expected: 6, actual: 5, .. }), "{error}");
        let mut small = Scratch::new(&stream).fixed();
        let error = scan_axis_into::<Sum<f32>>(&stream, &input, &[2, 3], 0, options, &mut output, &mut small)
            .unwrap_err();
        assert!(matches!(error, Error::ScratchTooSmall { expected: 256, actual: 0, .. }), "{error}");
        assert_eq!(output.to_vec().unwrap(), [9.0; 6]);
        scan_axis_into::<Sum<f32>>(&stream, &input, &[2, 3], 0, options, &mut output, &mut scratch).unwrap();
        assert_eq!(output.to_vec().unwrap(), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        // What is wider counts its own elements, and its columns take words of their own.
        let bytes = device.upload(&[200u8; 6]).unwrap();
        let mut sums = device.upload(&[9u32; 6]).unwrap();
        for axis in [0, 1] {
            let mut scratch = Scratch::with_size(
                &stream,
                gpu_scan::scan_axis_scratch::<WideSum<u8>>(&[2, 3], axis).unwrap(),
            )
            .unwrap()
            .fixed();
            let (options, part) = (Options::inclusive(), sums.slice_mut(..5));
            let error =
                scan_axis_into::<WideSum<u8>>(&stream, &bytes, &[2, 3], axis, options, part, &mut scratch)
                    .unwrap_err();
            assert!(
                matches!(error, Error::OutputLength { what: "sum in a wider type", expected: 6, actual: 5 }),
                "{error}"
            );
        }
        let mut to = device.zeroed::<f64>(6).unwrap();
        let error = scan_axis_into::<WideSum<f32>>(
            &stream,
            &input,
            &[2, 3],
            0,
            Options::inclusive(),
            &mut to,
            &mut small,
        )
        .unwrap_err();
        assert!(matches!(error, Error::ScratchTooSmall { expected: 256, actual: 0, .. }), "{error}");
        assert_eq!(to.to_vec().unwrap(), [0.0; 6]);
        assert_eq!(sums.to_vec().unwrap(), [9; 6]);
    });
}

/// The chain of slabs under the simulator's schedules: a block waits for another, whichever started first.
#[test]
fn a_thousand_schedules_of_a_few_slabs() {
    println!("a_thousand_schedules_of_a_few_slabs: seeds 0 to 999");
    let shape = [3 * 64 + 5, 31];
    let values = u64::any_bits(7, shape[0] * shape[1]);
    let expected = serial(&values, [1, shape[0], shape[1]], (false, false), 3, u64::sum_of, |sum| sum);
    for seed in 0..1000 {
        let resident_blocks = 2 + (seed % 7) as usize;
        let config = Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) };
        let input = Device::simulator_with(config).upload(&values).unwrap();
        let actual = scan_axis::<Sum<u64>>(&input, &shape, 0, options((false, false), 3)).unwrap();
        assert_same(&actual.to_vec().unwrap(), &expected, || format!("seed {seed}"));
    }
}
