//! Every scan of every type of elements: one body over all backends, against a serial oracle and against the CPU's
//! bits.

use crate::support::scan::{MODES, Sample, assert_same, every_wide_type, serial};
use gpu_core::Device;
use gpu_scan::kernels::*;
use gpu_scan::{Instance, Options, Scratch, bf16, f16, reference, scan, scan_in_place, scan_into};
use gpu_tests::backends::{cases, for_each, for_each_small};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn options<O>((exclusive, reverse): (bool, bool), initial: Option<O>) -> Options<O> {
    let options = if exclusive { Options::exclusive() } else { Options::inclusive() };
    let options = if reverse { options.reversed() } else { options };
    match initial {
        Some(initial) => options.starting_with(initial),
        None => options,
    }
}

/// The scan of `values` from `from` on, on a device and on the CPU, has the bits of `expected`; so it has in place and,
/// where it starts at `to` of the output, into an output that is aligned otherwise.
fn one<S>(
    device: &Device,
    values: &[S::Item],
    from: usize,
    options: Options<S::Output>,
    expected: &[S::Output],
) where
    S: Instance,
{
    let rest = &values[from..];
    let context = |what: &str| {
        format!(
            "{} of {} {} from {from}, {options:?}, on {device}: {what}",
            S::NAME,
            rest.len(),
            core::any::type_name::<S>()
        )
    };
    let buffer = device.upload(values).unwrap();
    let actual = scan::<S>(buffer.slice(from..), options).unwrap().to_vec().unwrap();
    assert_same(&actual, expected, || context("the scan"));
    let mut by_reference = vec![S::EMPTY; rest.len()];
    reference::scan::<S>(rest, &options, &mut by_reference).unwrap();
    assert_same(&actual, &by_reference, || context("the reference"));
    assert_same(&buffer.to_vec().unwrap(), values, || context("the input"));

    let stream = device.default_stream();
    let mut scratch = Scratch::with_size(&stream, gpu_scan::scan_scratch(rest.len())).unwrap().fixed();
    let mut output = device.upload(&vec![S::EMPTY; rest.len() + 5]).unwrap();
    let target = output.slice_mut(3..3 + rest.len());
    scan_into::<S>(&stream, buffer.slice(from..), options, target, &mut scratch).unwrap();
    let output = output.to_vec().unwrap();
    assert_same(&output[3..3 + rest.len()], expected, || context("into a part"));
    assert_same(&[&output[..3], &output[3 + rest.len()..]].concat(), &[S::EMPTY; 5], || context("around it"));
}

/// As [`one`], and in place.
fn also_in_place<S>(
    device: &Device,
    values: &[S::Item],
    from: usize,
    options: Options<S::Output>,
    expected: &[S::Output],
) where
    S: Instance<Output = <S as Scan>::Item>,
{
    one::<S>(device, values, from, options, expected);
    let stream = device.default_stream();
    let mut scratch = Scratch::with_size(&stream, gpu_scan::scan_scratch(values.len())).unwrap().fixed();
    let mut data = device.upload(values).unwrap();
    scan_in_place::<S>(&stream, data.slice_mut(from..), options, &mut scratch).unwrap();
    let data = data.to_vec().unwrap();
    assert_same(&data[from..], expected, || format!("{} in place, {options:?}, on {device}", S::NAME));
    assert_same(&data[..from], &values[..from], || "before it".into());
}

/// Lengths and the first element, so that every boundary and every path is passed.
fn sizes<S: Scan>() -> Vec<(usize, usize)> {
    let tile = Shape::of::<S>().tile() as usize;
    vec![
        (0, 0),
        (1, 0),
        (2, 1),
        (33, 0),
        (1021, 3),
        (tile - 1, 0),
        (tile, 0),
        (tile + 1, 0),
        (2 * tile + 19, 1),
    ]
}

/// All scans of one type of elements.
macro_rules! all_of {
    ($($test:ident: $t:ty $(, $integer:ident)?;)*) => { $(
        #[test]
        fn $test() {
            type T = $t;
            type W = <T as Sample>::Oracle;
            fn operator<S: Instance<Item = T, Output = T>>(
                device: &Device,
                // All sizes in turn 0, else every third: for operators whose kernels differ from others' in one
                // instruction.
                turn: usize,
                step: impl Fn(W, W) -> W,
                // What an exclusive scan starts with, and what an inclusive one does.
                (empty, nothing): (W, W),
            ) {
                let sizes = sizes::<S>().into_iter().enumerate();
                for (number, (len, from)) in sizes.filter(|(number, _)| turn == 0 || (number + turn).is_multiple_of(3)) {
                    // All modes of the first sizes; of the longer ones, that take the simulator a while, one each.
                    let modes = if len < 1000 { 0..4 } else { number % 4..number % 4 + 1 };
                    for (exclusive, reverse) in MODES[modes].iter().copied() {
                        let values = T::small(number as u64, len + from);
                        let initial = (number % 2 == 1).then(|| T::small(99, 1)[0]);
                        let start = match initial {
                            Some(initial) => initial.oracle(),
                            None => if exclusive { empty } else { nothing },
                        };
                        let step = |a, b: T| step(a, b.oracle());
                        let expected = serial(&values[from..], (exclusive, reverse), start, step, T::round);
                        let options = options((exclusive, reverse), initial);
                        also_in_place::<S>(device, &values, from, options, &expected);
                    }
                }
            }
            for_each(stringify!($test), |device| {
                let (zero, one) = (<T as gpu_collective::Number>::ZERO.oracle(), <T as gpu_collective::Number>::ONE.oracle());
                let (lowest, highest) = (<T as Bounds>::LOWEST.oracle(), <T as Bounds>::HIGHEST.oracle());
                operator::<Sum<T>>(device, 0, T::sum_of, (zero, <T as Bounds>::NOTHING.oracle()));
                operator::<Product<T>>(device, 1, T::product_of, (one, one));
                operator::<Min<T>>(device, 2, T::smaller_of, (highest, highest));
                operator::<Max<T>>(device, 3, T::larger_of, (lowest, lowest));
                $( $integer!(T, operator, device); )?
            });
        }
    )* };
}
macro_rules! bits {
    ($t:ty, $operator:ident, $device:expr) => {
        $operator::<And<$t>>($device, 1, |a, b| a & b, (!0, !0));
        $operator::<Or<$t>>($device, 2, |a, b| a | b, (0, 0));
        $operator::<Xor<$t>>($device, 3, |a, b| a ^ b, (0, 0));
    };
}
all_of! {
    all_of_f32: f32;
    all_of_f64: f64;
    all_of_f16: f16;
    all_of_bf16: bf16;
    all_of_i8: i8, bits;
    all_of_i16: i16, bits;
    all_of_i32: i32, bits;
    all_of_i64: i64, bits;
    all_of_u8: u8, bits;
    all_of_u16: u16, bits;
    all_of_u32: u32, bits;
    all_of_u64: u64, bits;
}

#[test]
fn sums_in_a_wider_type() {
    fn wide<T: Sample + Widen>(device: &Device, add: impl Fn(T::Wide, T::Wide) -> T::Wide, initial: T::Wide)
    where
        WideSum<T>: Instance<Item = T, Output = <T as Widen>::Wide>,
    {
        for (number, (len, from)) in sizes::<WideSum<T>>().into_iter().enumerate() {
            let values = T::small(number as u64, len + from);
            let mode = MODES[number % 4];
            let step = |a, b: T| add(a, Widen::widen(b));
            let expected = serial(&values[from..], mode, initial, step, |a| a);
            one::<WideSum<T>>(device, &values, from, options(mode, Some(initial)), &expected);
        }
    }
    for_each("sums_in_a_wider_type", |device| {
        every_wide_type!(wide, device);
    });
}

/// Any bits, lengths, starts and options: the bits of the CPU. And an exclusive scan is the inclusive one, shifted.
#[test]
fn same_bits_as_the_reference() {
    println!("same_bits_as_the_reference: ChaCha seed 5c × 32, {} cases a backend", cases() / 4);
    fn same<S: Instance<Item: Sample>>(
        device: &Device,
        seed: u64,
        len: usize,
        from: usize,
        options: Options<S::Output>,
    ) {
        let values = S::Item::any_bits(seed, from + len);
        let mut expected = vec![S::EMPTY; len];
        reference::scan::<S>(&values[from..], &options, &mut expected).unwrap();
        one::<S>(device, &values, from, options, &expected);
    }
    for_each("same_bits_as_the_reference", |device| {
        let config = Config { cases: cases() / 4, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x5c; 32]));
        let lengths = prop_oneof![0..300usize, 6000..6300usize, 0..26_000usize];
        let input = (any::<u64>(), lengths, 0..9usize, 0..4usize, 0..8u32);
        runner
            .run(&input, |(seed, len, from, mode, which)| {
                let mode = MODES[mode];
                match which {
                    0 | 1 => same::<Sum<f32>>(device, seed, len, from, options(mode, None)),
                    2 => same::<Sum<f64>>(device, seed, len, from, options(mode, Some(-3.25))),
                    3 => same::<Product<f32>>(device, seed, len, from, options(mode, None)),
                    4 => same::<Min<f32>>(device, seed, len, from, options(mode, None)),
                    5 => same::<Max<f64>>(device, seed, len, from, options(mode, Some(0.0))),
                    6 => same::<Sum<bf16>>(device, seed, len, from, options(mode, None)),
                    _ => same::<WideSum<f16>>(device, seed, len, from, options(mode, Some(1.5))),
                }
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn an_exclusive_scan_is_the_inclusive_one_shifted() {
    for_each("an_exclusive_scan_is_the_inclusive_one_shifted", |device| {
        let values = gpu_tests::data::floats(3, 40_000);
        let input = device.upload(&values).unwrap();
        for reverse in [false, true] {
            let options = |exclusive| options((exclusive, reverse), Some(0.1f32));
            let mut inclusive = scan::<Sum<f32>>(&input, options(false)).unwrap().to_vec().unwrap();
            let mut exclusive = scan::<Sum<f32>>(&input, options(true)).unwrap().to_vec().unwrap();
            if reverse {
                inclusive.reverse();
                exclusive.reverse();
            }
            assert_eq!(exclusive[0], 0.1);
            assert_same(&exclusive[1..], &inclusive[..values.len() - 1], || format!("on {device}"));
        }
    });
}

#[test]
fn special_values_stay() {
    for_each("special_values_stay", |device| {
        let sums = |values: &[f32]| gpu_scan::inclusive_sum(values).unwrap().to_vec().unwrap();
        let on = |values: &[f32]| {
            let sums = gpu_scan::inclusive_sum(&device.upload(values).unwrap()).unwrap();
            sums.to_vec().unwrap()
        };
        let inf = f32::INFINITY;
        assert_eq!(on(&[-0.0; 5]).map_bits(), [(-0.0f32).to_bits(); 5]);
        assert_same(&on(&[1.0, inf, 2.0, -inf, 3.0]), &[1.0, inf, inf, f32::NAN, f32::NAN], || "inf".into());
        assert_same(&on(&[1.0, f32::NAN, 2.0]), &sums(&[1.0, f32::NAN, 2.0]), || "NaN".into());
        let exclusive = gpu_scan::exclusive_sum(&device.upload(&[-0.0f32, inf, -1.0]).unwrap()).unwrap();
        // No subtraction: infinities come only after themselves.
        assert_eq!(exclusive.to_vec().unwrap().map_bits(), [0.0f32, 0.0, inf].map(f32::to_bits));
        let min = gpu_scan::inclusive_min(&device.upload(&[0.0f32, -0.0, f32::NAN, 1.0]).unwrap()).unwrap();
        assert_same(&min.to_vec().unwrap(), &[0.0, -0.0, f32::NAN, f32::NAN], || "min".into());
    });
}

trait MapBits {
    fn map_bits(&self) -> Vec<u32>;
}
impl MapBits for Vec<f32> {
    fn map_bits(&self) -> Vec<u32> {
        self.iter().map(|value| value.to_bits()).collect()
    }
}

/// A host cuts arrays by [`Shape::of`], a kernel by the numbers of the list that it was made from: vectors' elements,
/// their rows, and the rows of columns.
#[test]
fn hosts_cut_arrays_as_the_kernels_in_the_list_do() {
    macro_rules! compared {
        ($($scan:ty $(, $same:ty)* $(| $flip:ident: $($flipped:ty),+)?; $vector:literal, $_n:literal, $rows:literal;
            $_images:ident, $_blocks:literal, $_whole:ident;
            $_of_segments:literal, $_segments:ident;
            $_of_columns:literal, $of_columns:literal, $_columns:ident;)*) => { $(
            for (shape, columns) in [
                (Shape::of::<$scan>(), columns::Shape::of::<$scan>()),
                $((Shape::of::<$same>(), columns::Shape::of::<$same>()),)*
                $($((Shape::of::<$flipped>(), columns::Shape::of::<$flipped>()),)+)?
            ] {
                let numbers = (shape.vector, shape.rows, columns.rows);
                assert_eq!(numbers, ($vector, $rows, $of_columns), stringify!($scan));
            }
        )* };
    }
    scan_instances!(compared);
}

/// More tiles than a section has, and more than the blocks of a launch.
#[test]
fn many_tiles() {
    for_each_small("many_tiles", |device| {
        let tile = Shape::of::<Sum<f32>>().tile() as usize;
        let values = gpu_tests::data::floats(5, 600 * tile + 11);
        let mut expected = vec![0.0; values.len()];
        reference::scan::<Sum<f32>>(&values, &Options::inclusive(), &mut expected).unwrap();
        let actual = gpu_scan::inclusive_sum(&device.upload(&values).unwrap()).unwrap().to_vec().unwrap();
        gpu_tests::compare::assert_same_bits(&actual, &expected, &device.name());
    });
}

/// Launches on a stream share scratch memory one after the other, of whatever type and length.
#[test]
fn scans_on_a_stream_reuse_their_scratch() {
    for_each("scans_on_a_stream_reuse_their_scratch", |device| {
        let stream = device.stream().unwrap();
        let mut scratch = Scratch::with_size(&stream, gpu_scan::scan_scratch(50_000)).unwrap().fixed();
        let floats = gpu_tests::data::floats(7, 50_000);
        let bytes = u8::any_bits(7, 50_000);
        let (on_f, on_b) = (device.upload(&floats).unwrap(), device.upload(&bytes).unwrap());
        let mut out_f = device.zeroed::<f32>(50_000).unwrap();
        let mut out_b = device.zeroed::<u32>(50_000).unwrap();
        for len in [50_000, 5121, 3, 40_000, 0, 10_241] {
            let options = Options::exclusive();
            scan_into::<Sum<f32>>(&stream, on_f.slice(..len), options, out_f.slice_mut(..len), &mut scratch)
                .unwrap();
            let options = Options::inclusive().reversed();
            scan_into::<WideSum<u8>>(
                &stream,
                on_b.slice(..len),
                options,
                out_b.slice_mut(..len),
                &mut scratch,
            )
            .unwrap();
            stream.synchronize().unwrap();
            let mut expected = vec![0.0; len];
            reference::scan::<Sum<f32>>(&floats[..len], &Options::exclusive(), &mut expected).unwrap();
            assert_same(&out_f.slice(..len).to_vec_(), &expected, || format!("{len} on {device}"));
            let mut expected = vec![0; len];
            reference::scan::<WideSum<u8>>(&bytes[..len], &options, &mut expected).unwrap();
            assert_same(&out_b.slice(..len).to_vec_(), &expected, || format!("{len} on {device}"));
        }
    });
}

trait ToVec<T> {
    fn to_vec_(&self) -> Vec<T>;
}
impl<T: gpu_core::Element> ToVec<T> for gpu_core::View<'_, T> {
    fn to_vec_(&self) -> Vec<T> {
        let mut values = vec![T::default(); self.len()];
        self.copy_to(&mut values).unwrap();
        values
    }
}
