//! Reductions of segments: a segment's result has the bits of its reduction alone, on every backend.

use core::cmp::Ordering;
use gpu_core::segments::Invalid;

use crate::support::oracles::{BitsOracle, EuclideanOracle, Oracle, largest};
use crate::support::reduce::{Sample, bits_of};
use gpu_core::{Device, View};
use gpu_reduce::kernels::*;
use gpu_reduce::{
    Columns, Element, Error, FloatElement, Offsets, Operand, Scratch, Segmented, Segments, argmax_segments,
    mean_segments, minmax_segments, reduce, reduce_segments, reduce_segments_into, reference, sum_segments,
};
use gpu_std::half::{bf16, f16};
use gpu_tests::backends::{cases, cuda, for_each};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// What one segment gives, computed one element after the other.
type ByOracle<E, O> = fn(&[E]) -> Vec<O>;

const T: usize = tile::<f32>() as usize;

/// Offsets of segments of these lengths, from `from` on.
fn offsets_of(from: usize, lengths: &[usize]) -> Vec<u32> {
    let mut offsets = vec![from as u32];
    offsets.extend(lengths.iter().scan(from, |end, length| {
        *end += length;
        Some(*end as u32)
    }));
    offsets
}

/// Every segment has the bits of the CPU's reduction of it alone; where `by_oracle` says what those are, they are that.
fn check<R, E>(
    device: &Device,
    values: &[E],
    offsets: &[u32],
    by_oracle: Option<ByOracle<E, R::Output>>,
    context: &str,
) where
    E: Sample + for<'a> Operand<Views<'a> = View<'a, E>>,
    R: Segmented<Item = E>,
    for<'a> &'a [E]: Columns<Item = E>,
{
    let context = format!("{} of {context} of {} on {device}", R::NAME, core::any::type_name::<E>());
    let segments = Offsets::new(device, offsets).unwrap();
    let buffer = device.upload(values).unwrap();
    let actual = reduce_segments::<R>(buffer.view(), &segments);
    let empty = offsets.windows(2).position(|pair| pair[0] == pair[1]);
    if let (Some(expected), None) = (empty, R::EMPTY) {
        assert!(
            matches!(actual, Err(Error::Segments(Invalid::EmptySegment { segment, .. })) if segment == expected),
            "{context}: segment {expected} is empty"
        );
        return;
    }
    let actual = actual.unwrap_or_else(|error| panic!("{context}: {error}")).to_vec().unwrap();
    let outputs = R::OUTPUTS as usize;
    assert_eq!(actual.len(), (offsets.len() - 1) * outputs, "{context}");
    for (segment, pair) in offsets.windows(2).enumerate() {
        let values = &values[pair[0] as usize..pair[1] as usize];
        let actual = bits_of(&actual[segment * outputs..][..outputs]);
        let mut expected = vec![R::Output::default(); outputs];
        reference::reduce::<R, _>(values, &mut expected).unwrap();
        let which = || format!("{context}: segment {segment}, {pair:?}");
        assert_eq!(actual, bits_of(&expected), "{}", which());
        if let Some(oracle) = by_oracle {
            assert_eq!(actual, bits_of(&oracle(values)), "{} by the oracle", which());
        }
    }
    assert_eq!(bits_of(&buffer.to_vec().unwrap()), bits_of(values), "{context}: the input changed");
}

/// Lengths around every border between ways to do it: lanes, warp, block, parts.
fn lengths_at_borders(per_load: usize, tile: usize) -> Vec<usize> {
    let mut lengths = vec![0, 0, 1, 2, 3];
    for loads in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        lengths.extend([loads * per_load - 1, loads * per_load, loads * per_load + 1]);
    }
    lengths.extend([0, tile - 1, tile, 7, tile + 1, 0, 1, 2 * tile + 31, 5, 3 * tile, 0, 0]);
    lengths
}

#[test]
fn lengths_at_all_borders_from_aligned_and_other_starts() {
    for_each("lengths_at_all_borders_from_aligned_and_other_starts", |device| {
        for from in [0, 1, 3] {
            let lengths = lengths_at_borders(4, T);
            let offsets = offsets_of(from, &lengths);
            // Elements before the first and after the last segment belong to none.
            let values = floats(from as u64 + 5, *offsets.last().unwrap() as usize + from);
            check::<Sum<f32>, f32>(device, &values, &offsets, None, "borders");
            let some: Vec<usize> = lengths.into_iter().filter(|&length| length > 0).collect();
            let offsets = offsets_of(from, &some);
            check::<Max<f32>, f32>(device, &values, &offsets, None, "borders");
            check::<ArgMax<f32>, f32>(device, &values, &offsets, None, "borders");
        }
    });
}

/// All reductions of one type of elements, of lengths at borders, from a start that no load is aligned at.
macro_rules! all_of {
    ($test:ident, $kind:ident $t:ty) => {
        #[test]
        fn $test() {
            type E = $t;
            for_each(stringify!($test), |device| {
                let per_load = per_load::<E>() as usize;
                let mut lengths = vec![1, 2, per_load + 1, 3 * per_load, 33 * per_load + 1, 300 * per_load];
                lengths.extend([tile::<E>() as usize + 3, 5]);
                let offsets = offsets_of(1, &lengths);
                let values = E::whole_numbers(*offsets.last().unwrap() as usize);
                macro_rules! one {
                    ($reduction:ty, $oracle:expr) => {
                        check::<$reduction, E>(device, &values, &offsets, Some($oracle), "all");
                    };
                }
                every_reduction!($kind E, one);
            });
        }
    };
}
every_type!(all_of);

/// Empty segments have the result of nothing, where there is one.
#[test]
fn empty_segments_of_every_reduction() {
    for_each("empty_segments_of_every_reduction", |device| {
        fn both<R: Segmented<Item = E>, E>(device: &Device)
        where
            E: Sample + for<'a> Operand<Views<'a> = View<'a, E>>,
            for<'a> &'a [E]: Columns<Item = E>,
        {
            check::<R, E>(device, &E::whole_numbers(9), &[0, 0, 4, 4, 9, 9], None, "empty ones");
        }
        macro_rules! one {
            ($reduction:ty, $oracle:expr) => {{
                let _: ByOracle<E, <$reduction as Reduction>::Output> = $oracle;
                both::<$reduction, E>(device);
            }};
        }
        {
            type E = i16;
            every_reduction!(integer E, one);
        }
        {
            type E = f64;
            every_reduction!(float E, one);
        }
    });
}

#[test]
fn any_segments_have_the_bits_of_the_reference() {
    let test = "any_segments_have_the_bits_of_the_reference";
    println!("{test}: ChaCha seed 0x5e × 32, {} cases a backend", cases() / 2);
    for_each(test, |device| {
        let config = Config { cases: cases() / 2, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[0x5e; 32]);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let length = prop_oneof![
            8 => 0..6usize, 4 => 0..40usize, 2 => 0..600usize, 1 => 900..1200usize, 1 => T - 3..T + 3
        ];
        let lengths = proptest::collection::vec(length, 0..60);
        runner
            .run(&(lengths, 0..9usize, any::<u64>()), |(lengths, from, seed)| {
                let offsets = offsets_of(from, &lengths);
                let len = *offsets.last().unwrap() as usize + seed as usize % 3;
                check::<Sum<f32>, f32>(device, &f32::any_bits(seed, len), &offsets, None, "any");
                check::<Sum<u8>, u8>(device, &u8::any_bits(seed, len), &offsets, None, "any");
                check::<ArgMin<f64>, f64>(device, &f64::any_bits(seed, len), &offsets, None, "any");
                Ok(())
            })
            .unwrap();
    });
}

/// Where all segments of a stretch have one to four loads, lanes take them in their order; where one is empty or
/// longer, by length.
#[test]
fn short_segments_of_different_lengths() {
    fn of<R, E>(device: &Device, values: impl Fn(u64, usize) -> Vec<E>)
    where
        E: Sample + for<'a> Operand<Views<'a> = View<'a, E>>,
        R: Segmented<Item = E>,
        for<'a> &'a [E]: Columns<Item = E>,
    {
        let few = 4 * per_load::<E>() as usize;
        for (from, others) in [(0, &[][..]), (1, &[]), (3, &[0]), (2, &[few + 1])] {
            let random = floats(from as u64 + 7, 700);
            let mut lengths: Vec<usize> =
                random.iter().map(|random| 1 + (random.to_bits() >> 3) as usize % few).collect();
            lengths.extend(others);
            let offsets = offsets_of(from, &lengths);
            let len = *offsets.last().unwrap() as usize + from;
            check::<R, E>(device, &values(from as u64, len), &offsets, None, "short ones");
        }
    }
    for_each("short_segments_of_different_lengths", |device| {
        of::<Sum<f32>, f32>(device, f32::any_bits);
        of::<Sum<f64>, f64>(device, f64::any_bits);
        of::<Sum<u8>, u8>(device, u8::any_bits);
        of::<Sum<f16>, f16>(device, f16::any_bits);
        of::<ArgMin<f32>, f32>(device, f32::any_bits);
    });
}

/// The schedules that the simulator chooses never show: many parts of long segments, and short ones among them.
#[test]
fn every_schedule_gives_the_same_bits() {
    let lengths = [3, 5 * T + 1, 0, 1, 17, 2 * T, 100, 3 * T + 5, 2];
    let offsets = offsets_of(2, &lengths);
    let values = floats(11, *offsets.last().unwrap() as usize);
    let segments: Vec<usize> = offsets.iter().map(|&offset| offset as usize).collect();
    let mut expected = vec![0.0; lengths.len()];
    reference::reduce_segments::<Sum<f32>, _>(&values[..], &segments, &mut expected).unwrap();
    for seed in 0..50 {
        let device = Device::simulator_with(gpu_sim::Config { seed, ..Default::default() });
        let segments = Offsets::new(&device, &offsets).unwrap();
        let input = device.upload(&values).unwrap();
        assert_same_bits(
            &sum_segments(&input, &segments).unwrap().to_vec().unwrap(),
            &expected,
            &format!("seed {seed}"),
        );
    }
    println!("every_schedule_gives_the_same_bits: 50 seeds");
}

/// Segments of one length are those between their offsets, and rows of a matrix need none.
#[test]
fn segments_of_one_length() {
    for_each("segments_of_one_length", |device| {
        for (count, length) in
            [(0, 5), (1, 1), (1000, 1), (3, T + 1), (257, 8), (100, 32), (33, 129), (7, 1000)]
        {
            let values = floats(3, count * length + 1);
            let input = device.upload(&values).unwrap();
            for from in [0, 1] {
                let part = input.slice(from..from + count * length);
                let actual =
                    sum_segments(part, Segments::of_length(length).unwrap()).unwrap().to_vec().unwrap();
                let rows = (0..count).map(|row| reference::sum(&values[from + row * length..][..length]));
                let context = format!("{count} of {length} from {from} on {device}");
                assert_same_bits(&actual, &rows.collect::<Vec<f32>>(), &context);
            }
        }
    });
}

/// More segments than blocks can hold at a time, most of them empty; and nothing at all.
#[test]
fn many_empty_segments() {
    for_each("many_empty_segments", |device| {
        let mut offsets = vec![0; 5000];
        offsets.extend([1; 3000]);
        offsets.extend([T as u32 + 1; 2100]);
        let values = floats(9, T + 1);
        check::<Sum<f32>, f32>(device, &values, &offsets, None, "empty ones");
        check::<Sum<f32>, f32>(device, &values, &[0; 7], None, "only empty ones");
        check::<Sum<f32>, f32>(device, &[], &[0; 3], None, "nothing");
        check::<Sum<f32>, f32>(device, &values, &[5], None, "no segments");
    });
}

#[test]
fn segments_by_name() {
    for_each("segments_by_name", |device| {
        let values = device.upload(&[4i32, -1, 7, 7, 0]).unwrap();
        let segments = Offsets::from_buffer(device.upload(&[0u32, 2, 5]).unwrap()).unwrap();
        assert_eq!(mean_segments(&values, &segments).unwrap().to_vec().unwrap(), [1.5, 14.0 / 3.0]);
        assert_eq!(argmax_segments(&values, &segments).unwrap().to_vec().unwrap(), [0, 0]);
        assert_eq!(minmax_segments(&values, &segments).unwrap().to_vec().unwrap(), [-1, 4, 0, 7]);
        assert_eq!(gpu_reduce::norm_l1_segments(&values, &segments).unwrap().to_vec().unwrap(), [5u32, 14]);
        assert_eq!(gpu_reduce::all_segments(&values, &segments).unwrap().to_vec().unwrap(), [1, 0]);
        assert_eq!(gpu_reduce::count_nonzero_segments(&values, &segments).unwrap().to_vec().unwrap(), [2, 2]);
        assert_eq!(gpu_reduce::bit_xor_segments(&values, &segments).unwrap().to_vec().unwrap(), [4 ^ -1, 0]);
        let stream = device.stream().unwrap();
        let mut scratch = Scratch::with_size(&stream, gpu_reduce::reduce_segments_scratch::<ArgMax<i32>>(5))
            .unwrap()
            .fixed();
        let (mut places, mut truths) = (device.zeroed(2).unwrap(), device.zeroed(2).unwrap());
        gpu_reduce::argmin_segments_into(&stream, &values, &segments, &mut places, &mut scratch).unwrap();
        gpu_reduce::all_segments_into(&stream, &values, &segments, &mut truths, &mut scratch).unwrap();
        stream.synchronize().unwrap();
        assert_eq!((places.to_vec().unwrap(), truths.to_vec().unwrap()), (vec![1, 2], vec![1, 0]));
        let mut means = device.zeroed(2).unwrap();
        gpu_reduce::mean_segments_into(&stream, &values, &segments, &mut means, &mut scratch).unwrap();
        assert_eq!(means.to_vec().unwrap(), [1.5, 14.0 / 3.0]);
        let pairs = Segments::of_length(2).unwrap();
        let [first] = reduce::<Sum<i32>, 1>(values.slice(..2)).unwrap();
        assert_eq!(sum_segments(values.slice(..4), pairs).unwrap().to_vec().unwrap(), [first, 14]);
    });
}

/// Launches on a stream share scratch memory one after the other, whole arrays among them, and leave it as they found
/// it.
#[test]
fn launches_share_their_scratch() {
    for_each("launches_share_their_scratch", |device| {
        let stream = device.stream().unwrap();
        let values = floats(8, 6 * T);
        let input = device.upload(&values).unwrap();
        let mut scratch =
            Scratch::with_size(&stream, gpu_reduce::reduce_segments_scratch::<ArgMax<f32>>(6 * T))
                .unwrap()
                .fixed();
        let halves = Segments::of_length(3 * T).unwrap();
        let parts = Offsets::new(device, &[1, 4 * T as u32, 6 * T as u32]).unwrap();
        let (mut sums, mut places) = (device.zeroed::<f32>(4).unwrap(), device.zeroed::<u64>(2).unwrap());
        let view = input.view();
        reduce_segments_into::<Sum<f32>>(&stream, view, halves, sums.slice_mut(..2), &mut scratch).unwrap();
        reduce_segments_into::<ArgMax<f32>>(&stream, input.view(), &parts, &mut places, &mut scratch)
            .unwrap();
        reduce_segments_into::<Sum<f32>>(&stream, input.view(), &parts, sums.slice_mut(2..), &mut scratch)
            .unwrap();
        stream.synchronize().unwrap();
        let expected =
            [0..3 * T, 3 * T..6 * T, 1..4 * T, 4 * T..6 * T].map(|range| reference::sum(&values[range]));
        assert_same_bits(&sums.to_vec().unwrap(), &expected, &device.name());
        let expected =
            [&values[1..4 * T], &values[4 * T..]].map(|part| gpu_reduce::argmax(part).unwrap() as u64);
        assert_eq!(places.to_vec().unwrap(), expected);
    });
}

#[test]
fn bad_segments_are_refused() {
    for_each("bad_segments_are_refused", |device| {
        let from = |offsets: &[u32]| Offsets::new(device, offsets);
        assert!(matches!(from(&[]), Err(Error::Segments(Invalid::NoOffsets))));
        assert!(matches!(
            from(&[0, 5, 4]),
            Err(Error::Segments(Invalid::Decreasing { index: 2, before: 5, actual: 4 }))
        ));
        let on_device = device.upload(&[3u32, 1]).unwrap();
        assert!(matches!(
            Offsets::from_buffer(on_device),
            Err(Error::Segments(Invalid::Decreasing { index: 1, before: 3, actual: 1 }))
        ));
        assert!(matches!(Segments::of_length(0), Err(Error::Segments(Invalid::SegmentLength))));

        let stream = device.stream().unwrap();
        let input = device.upload(&[1.0f32; 10]).unwrap();
        let mut scratch =
            Scratch::with_size(&stream, gpu_reduce::reduce_segments_scratch::<Sum<f32>>(10)).unwrap().fixed();
        let mut output = device.upload(&[7.0f32; 2]).unwrap();
        let mut into = |segments: &Offsets, len: usize, scratch: &mut Scratch| {
            reduce_segments_into::<Sum<f32>>(
                &stream,
                input.view(),
                segments,
                output.slice_mut(..len),
                scratch,
            )
        };
        let two = from(&[0, 4, 10]).unwrap();
        let beyond = from(&[0, 4, 11]).unwrap();
        assert!(matches!(
            into(&beyond, 2, &mut scratch),
            Err(Error::Segments(Invalid::BeyondEnd { end: 11, len: 10, .. }))
        ));
        assert!(matches!(
            into(&two, 1, &mut scratch),
            Err(Error::OutputLength { expected: 2, actual: 1, .. })
        ));
        let mut of_other = Scratch::with_size(
            &device.stream().unwrap(),
            gpu_reduce::reduce_segments_scratch::<Sum<f32>>(10),
        )
        .unwrap()
        .fixed();
        assert!(matches!(into(&two, 2, &mut of_other), Err(Error::ScratchOfOtherStream { .. })));
        assert_eq!(output.to_vec().unwrap(), [7.0; 2], "something was written");
        let long = device.zeroed::<f32>(9 * T).unwrap();
        let whole = Segments::of_length(9 * T).unwrap();
        let short = reduce_segments_into::<Sum<f32>>(
            &stream,
            long.view(),
            whole,
            output.slice_mut(..1),
            &mut scratch,
        );
        assert!(matches!(short, Err(Error::ScratchTooSmall { expected: 512, actual: 256, .. })), "{short:?}");
        let empty = reduce_segments::<Max<f32>>(input.view(), &from(&[0, 4, 4, 10]).unwrap());
        assert!(matches!(empty, Err(Error::Segments(Invalid::EmptySegment { segment: 1, .. }))));
        let elsewhere = Offsets::new(&Device::simulator(), &[0, 1]).unwrap();
        assert!(matches!(sum_segments(&input, &elsewhere), Err(Error::WrongDevice { .. })));
        let rows = sum_segments(&input, Segments::of_length(3).unwrap());
        assert!(matches!(rows, Err(Error::Segments(Invalid::Rows { len: 10, row: 3, .. }))));
        let starts = device.upload(&[1u8; 10]).unwrap();
        for (segments, expected) in
            [(Segments::by_flags(&starts), "flags"), (Segments::by_key(&starts), "keys")]
        {
            let error = sum_segments(&input, segments).unwrap_err();
            assert!(
                matches!(error, Error::Segments(Invalid::SegmentsBy { by, .. }) if by == expected),
                "{error}"
            );
        }
    });
}

/// Millions of segments, and long ones of several tiles a part.
#[test]
fn many_and_long_segments_on_the_gpu() {
    let Some(device) = cuda("many_and_long_segments_on_the_gpu") else { return };
    let len = 100_000_007;
    let values = floats(17, len);
    let input = device.upload(&values).unwrap();
    // Of more than 2048 tiles parts have two or more: the last one of these a tile and one element.
    for length in [1, 3, 8, 100, 5000, 1 << 20, 2049 * T + 1, len] {
        let count = len / length;
        let (segments, rows) = (Segments::of_length(length).unwrap(), input.slice(..count * length));
        let offsets: Vec<u32> = (0..=count).map(|segment| (segment * length) as u32).collect();
        let by_offsets = Offsets::new(&device, &offsets).unwrap();
        let mut expected = vec![0.0; count];
        let places: Vec<usize> = offsets.iter().map(|&offset| offset as usize).collect();
        reference::reduce_segments::<Sum<f32>, _>(&values[..], &places, &mut expected).unwrap();
        assert_same_bits(
            &sum_segments(rows, segments).unwrap().to_vec().unwrap(),
            &expected,
            &format!("length {length}"),
        );
        assert_same_bits(
            &sum_segments(&input, &by_offsets).unwrap().to_vec().unwrap(),
            &expected,
            &format!("offsets {length}"),
        );
    }
}
