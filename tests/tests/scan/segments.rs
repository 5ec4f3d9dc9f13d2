//! Scans of segments by flags, offsets, keys and of one length: one body over all backends, against a serial loop and
//! against the CPU's bits.

use core::fmt::Debug;
use gpu_core::segments::Invalid;

use crate::support::scan::{MODES, Sample, assert_same, every_wide_type};
use crate::support::segments::{serial, serial_wide, starts_of};
use gpu_core::{Buffer, Device};
use gpu_scan::kernels::{And, Max, Min, Or, Product, Scan, Sum, WideSum, Widen, Xor, segmented::shape};
use gpu_scan::{
    Error, Offsets, Options, Scratch, Segmented, Segments, WideElement, bf16, f16, reference, scan_segments,
    scan_segments_in_place, scan_segments_into,
};
use gpu_tests::backends::{cases, for_each};
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

/// The same segments, told in all ways, on a device.
struct Told {
    flags: Buffer<u8>,
    offsets: Offsets,
    narrow: Buffer<u8>,
    short: Buffer<u16>,
    keys: Buffer<u32>,
    wide: Buffer<u64>,
}

impl Told {
    fn new(device: &Device, starts: &[bool]) -> Self {
        let mut offsets = Vec::new();
        let mut run = 0u64;
        let mut keys = Vec::new();
        for (at, start) in starts.iter().enumerate() {
            run += u64::from(*start);
            keys.push(run);
            if *start {
                // Now and then empty segments before it.
                offsets.extend(vec![at as u32; 1 + usize::from(at % 5 == 0)]);
            }
        }
        offsets.push(starts.len() as u32);
        let flags: Vec<u8> = starts.iter().map(|start| u8::from(*start) * 7).collect();
        let narrow: Vec<u8> = keys.iter().map(|key| *key as u8).collect();
        let short: Vec<u16> = keys.iter().map(|key| *key as u16).collect();
        let middle: Vec<u32> = keys.iter().map(|key| (*key as u32).wrapping_mul(0x9e37_79b9)).collect();
        // Equal in their lower halves.
        let wide: Vec<u64> = keys.iter().map(|key| key << 32).collect();
        Self {
            flags: device.upload(&flags).unwrap(),
            offsets: Offsets::new(device, &offsets).unwrap(),
            narrow: device.upload(&narrow).unwrap(),
            short: device.upload(&short).unwrap(),
            keys: device.upload(&middle).unwrap(),
            wide: device.upload(&wide).unwrap(),
        }
    }

    fn all(&self) -> [Segments<'_>; 6] {
        [
            Segments::by_flags(&self.flags),
            Segments::by_offsets(&self.offsets),
            Segments::by_key(&self.keys),
            Segments::by_key(&self.narrow),
            Segments::by_key(&self.short),
            Segments::by_key(&self.wide),
        ]
    }
}

/// One scan, told in the ways `ways`, into a buffer of its own, into a part of another and in place.
fn one<S>(
    device: &Device,
    values: &[S::Item],
    (starts, ways): (&[bool], &[usize]),
    options: Options<S::Output>,
    expected: &[S::Output],
) where
    S: Segmented<Output = <S as Scan>::Item>,
{
    apart::<S>(device, values, 0, (starts, ways), options, expected);
    let (told, stream) = (Told::new(device, starts), device.default_stream());
    let mut scratch =
        Scratch::with_size(&stream, gpu_scan::scan_segments_scratch(values.len())).unwrap().fixed();
    for way in ways {
        let mut data = device.upload(values).unwrap();
        let segments = told.all()[*way];
        scan_segments_in_place::<S>(&stream, &mut data, &segments, options, &mut scratch).unwrap();
        assert_same(&data.to_vec().unwrap(), expected, || {
            format!("{} of {} {options:?} by way {way} in place on {device}", S::NAME, values.len())
        });
    }
}

/// One scan of `values` from `from` on, told in the ways `ways`, into a buffer of its own and into a part of another.
fn apart<S>(
    device: &Device,
    values: &[S::Item],
    from: usize,
    (starts, ways): (&[bool], &[usize]),
    options: Options<S::Output>,
    expected: &[S::Output],
) where
    S: Segmented<Output: Debug>,
{
    let input = device.upload(values).unwrap();
    let input = input.slice(from..);
    let told = Told::new(device, starts);
    for way in ways {
        let len = values.len() - from;
        let context = || format!("{} of {len} from {from}, {options:?} by way {way} on {device}", S::NAME);
        let segments = told.all()[*way];
        let actual = scan_segments::<S>(input, &segments, options).unwrap().to_vec().unwrap();
        assert_same(&actual, expected, context);
        // Aligned otherwise.
        let mut output = device.upload(&vec![S::EMPTY; len + 5]).unwrap();
        let stream = device.default_stream();
        let mut scratch = Scratch::with_size(&stream, gpu_scan::scan_segments_scratch(len)).unwrap().fixed();
        let part = output.slice_mut(3..3 + len);
        scan_segments_into::<S>(&stream, input, &segments, options, part, &mut scratch).unwrap();
        let output = output.to_vec().unwrap();
        assert_same(&output[3..3 + len], expected, context);
        assert_same(&[&output[..3], &output[3 + len..]].concat(), &[S::EMPTY; 5], context);
    }
}

fn sizes<S: Scan>() -> Vec<usize> {
    let tile = shape::<S>().tile() as usize;
    vec![0, 1, 2, 33, 1021, tile - 1, tile, tile + 1, 2 * tile + 19]
}

/// For operators whose kernels differ from others' in one instruction.
fn few_sizes<S: Scan>() -> Vec<usize> {
    vec![33, shape::<S>().tile() as usize + 1]
}

macro_rules! all_of {
    ($($test:ident: $t:ty $(, $integer:ident)?;)*) => { $(
        #[test]
        fn $test() {
            type T = $t;
            type W = <T as Sample>::Oracle;
            fn operator<S: Segmented<Item = T, Output = T>>(device: &Device, sizes: Vec<usize>, combine: impl Fn(W, W) -> W, empty: T, nothing: T) {
                for (number, len) in sizes.into_iter().enumerate() {
                    let modes = if len < 1000 { 0..4 } else { number % 4..number % 4 + 1 };
                    for (turn, mode) in MODES[modes].iter().copied().enumerate() {
                        let values = T::small(number as u64, len);
                        let starts = starts_of(number as u64, len, [1, 3, 40, 700, 1 << 40][number % 5]);
                        let initial = (number % 3 == 1).then(|| T::small(99, 1)[0]);
                        let start = initial.unwrap_or(if mode.0 { empty } else { nothing });
                        let expected = serial(&values, &starts, mode, start, &combine);
                        // In turns: every mode and size meets some ways, and every way all modes.
                        let ways = if len < 100 { vec![(number + turn) % 6, (number + turn + 3) % 6] } else { vec![number % 6] };
                        // Keys of one byte come back after 256 segments, but never in the next one.
                        one::<S>(device, &values, (&starts, &ways), options(mode, initial), &expected);
                    }
                }
            }
            for_each(stringify!($test), |device| {
                use gpu_collective::Number;
                use gpu_scan::kernels::Bounds;
                operator::<Sum<T>>(device, sizes::<Sum<T>>(), T::sum_of, <T as Number>::ZERO, <T as Bounds>::NOTHING);
                operator::<Min<T>>(device, few_sizes::<Min<T>>(), T::smaller_of, <T as Bounds>::HIGHEST, <T as Bounds>::HIGHEST);
                operator::<Max<T>>(device, few_sizes::<Max<T>>(), T::larger_of, <T as Bounds>::LOWEST, <T as Bounds>::LOWEST);
                operator::<Product<T>>(device, few_sizes::<Product<T>>(), T::product_of, <T as Number>::ONE, <T as Number>::ONE);
                $( $integer!(T, operator, device); )?
            });
        }
    )* };
}
macro_rules! bits {
    ($t:ty, $operator:ident, $device:expr) => {
        $operator::<And<$t>>($device, few_sizes::<And<$t>>(), |a, b| a & b, !0, !0);
        $operator::<Or<$t>>($device, few_sizes::<Or<$t>>(), |a, b| a | b, 0, 0);
        $operator::<Xor<$t>>($device, few_sizes::<Xor<$t>>(), |a, b| a ^ b, 0, 0);
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
    fn wide<T: Sample + WideElement>(
        device: &Device,
        add: impl Fn(T::Wide, T::Wide) -> T::Wide,
        initial: T::Wide,
    ) where
        T::Wide: Debug,
    {
        for (number, len) in sizes::<T::WideSum>().into_iter().enumerate() {
            let modes = if len < 1000 { 0..4 } else { number % 4..number % 4 + 1 };
            for (turn, mode) in MODES[modes].iter().copied().enumerate() {
                // Neither side aligned, or one of them, or both: `apart` has both of the output.
                let from = number % 3;
                let values = T::small(number as u64, from + len);
                let starts = starts_of(number as u64, len, [1, 3, 40, 700, 1 << 40][number % 5]);
                let step = |before, value: T| add(before, Widen::widen(value));
                let expected = serial_wide(&values[from..], &starts, mode, initial, step);
                let ways = if len < 100 {
                    vec![(number + turn) % 6, (number + turn + 3) % 6]
                } else {
                    vec![number % 6]
                };
                let options = options(mode, Some(initial));
                apart::<T::WideSum>(device, &values, from, (&starts, &ways), options, &expected);
            }
        }
    }
    for_each("sums_in_a_wider_type", |device| {
        every_wide_type!(wide, device);
    });
}

/// Rows of a matrix: of one element, within a vector, across rows, across tiles, and longer than the array.
#[test]
fn segments_of_one_length() {
    for_each("segments_of_one_length", |device| {
        let tile = shape::<Sum<i32>>().tile() as usize;
        for (number, length) in
            [1, 2, 3, 7, 32, 129, 1000, tile - 1, tile, tile + 1, 1 << 33].into_iter().enumerate()
        {
            let len = 2 * tile + 77 + number;
            let values = i32::small(number as u64, len);
            let starts: Vec<bool> = (0..len).map(|at| at % length == 0).collect();
            let mode = MODES[number % 4];
            let expected = serial(&values, &starts, mode, 5, i32::sum_of);
            let input = device.upload(&values).unwrap();
            let segments = Segments::of_length(length).unwrap();
            let actual = scan_segments::<Sum<i32>>(&input, &segments, options(mode, Some(5))).unwrap();
            assert_same(&actual.to_vec().unwrap(), &expected, || {
                format!("length {length}, {mode:?}, {device}")
            });
        }
    });
}

/// Any bits, lengths and options: the bits of the CPU, rounding and all.
#[test]
fn same_bits_as_the_reference() {
    println!("same_bits_as_the_reference: ChaCha seed 5d × 32, {} cases a backend", cases() / 8);
    fn expected<S: Segmented<Item: Sample>>(
        values: &[S::Item],
        starts: &[bool],
        way: usize,
        options: &Options<S::Output>,
    ) -> Vec<S::Output> {
        let told = Told::new(&Device::cpu(), starts);
        let mut expected = vec![S::EMPTY; values.len()];
        reference::scan_segments::<S>(values, &told.all()[way], options, &mut expected).unwrap();
        expected
    }
    fn same<S: Segmented<Item: Sample, Output = <S as Scan>::Item>>(
        device: &Device,
        (seed, len, mean): (u64, usize, u64),
        way: usize,
        options: Options<S::Output>,
    ) {
        let values = S::Item::any_bits(seed, len);
        let starts = starts_of(seed, len, mean);
        let expected = expected::<S>(&values, &starts, way, &options);
        one::<S>(device, &values, (&starts, &[way]), options, &expected);
    }
    fn same_apart<S: Segmented<Item: Sample, Output: Debug>>(
        device: &Device,
        (seed, len, mean): (u64, usize, u64),
        way: usize,
        options: Options<S::Output>,
    ) {
        let (values, starts) = (S::Item::any_bits(seed, len), starts_of(seed, len, mean));
        let expected = expected::<S>(&values, &starts, way, &options);
        apart::<S>(device, &values, 0, (&starts, &[way]), options, &expected);
    }
    for_each("same_bits_as_the_reference", |device| {
        let config = Config { cases: cases() / 8, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x5d; 32]));
        let lengths = prop_oneof![0..300usize, 4000..4200usize, 0..26_000usize];
        let means = prop_oneof![1..10u64, 1..1000u64, Just(1 << 30)];
        let input = (any::<u64>(), lengths, means, 0..4usize, 0..6usize, 0..5u32);
        runner
            .run(&input, |(seed, len, mean, mode, way, which)| {
                let (of, mode) = ((seed, len, mean), MODES[mode]);
                match which {
                    0 | 1 => same::<Sum<f32>>(device, of, way, options(mode, None)),
                    2 => same::<Sum<f64>>(device, of, way, options(mode, Some(-3.25))),
                    3 => same_apart::<WideSum<f16>>(device, of, way, options(mode, Some(1.5))),
                    _ => same::<Min<f32>>(device, of, way, options(mode, Some(2.0))),
                }
                Ok(())
            })
            .unwrap();
    });
}

/// One segment is the whole array, whose scan has the same bits.
#[test]
fn one_segment_is_the_whole_array() {
    for_each("one_segment_is_the_whole_array", |device| {
        let values = gpu_tests::data::floats(11, 30_000);
        let input = device.upload(&values).unwrap();
        for reverse in [false, true] {
            let options = options((false, reverse), None);
            let whole = gpu_scan::scan::<Sum<f32>>(&input, options).unwrap().to_vec().unwrap();
            let one = Segments::of_length(usize::MAX).unwrap();
            let segment = scan_segments::<Sum<f32>>(&input, &one, options).unwrap().to_vec().unwrap();
            assert_same(&segment, &whole, || format!("reverse {reverse} on {device}"));
        }
    });
}

/// Offsets far from where they would be if all segments were alike: short segments, and many empty ones, on one side of
/// the array.
#[test]
fn segments_that_are_nowhere_near_alike() {
    const SHORT: u32 = 70_000;
    let long = 3 * SHORT;
    let short: Vec<u32> = (0..SHORT).collect();
    let sides = [
        short.iter().copied().chain([SHORT, SHORT + long]).collect::<Vec<u32>>(),
        short.iter().map(|start| long + start).collect(),
        vec![17; SHORT as usize].into_iter().chain([18, long]).collect(),
    ];
    for_each("segments_that_are_nowhere_near_alike", |device| {
        for (side, offsets) in sides.iter().enumerate() {
            let values: Vec<u32> = (0..SHORT + long).map(|i| i % 7).collect();
            let mut starts = vec![false; values.len()];
            for &offset in offsets.iter().filter(|&&offset| (offset as usize) < values.len()) {
                starts[offset as usize] = true;
            }
            let input = device.upload(&values).unwrap();
            let told = Offsets::new(device, offsets).unwrap();
            for mode in [(false, false), (true, true)] {
                let expected = serial(&values, &starts, mode, 0, u32::wrapping_add);
                let segments = Segments::by_offsets(&told);
                let scanned = scan_segments::<Sum<u32>>(&input, &segments, options(mode, None)).unwrap();
                assert_same(&scanned.to_vec().unwrap(), &expected, || format!("side {side} on {device}"));
            }
        }
    });
}

/// The first offset of a tile at every end of what is looked at for it: a window of offsets where it would be if all
/// segments were alike, four to each of 256 threads, and every 256th one before and behind that.
#[test]
fn first_offsets_at_ends_of_windows() {
    // Of every 256th one the first that is not there is one behind the last.
    const COUNT: usize = 12 * 256 - 1;
    let tile = shape::<Sum<u32>>().tile() as usize;
    let len = 2 * tile;
    let values: Vec<u32> = (0..len as u32).map(|i| i % 7).collect();
    // Eight before that in the middle.
    let window = COUNT / 2 - 8;
    let ends = [255, window, window + 255, window + 511, window + 1023];
    for_each("first_offsets_at_ends_of_windows", |device| {
        let input = device.upload(&values).unwrap();
        for number in ends.iter().flat_map(|end| end - 2..=end + 2) {
            for mode in [(false, false), (true, true)] {
                // Backwards an element starts a segment if one starts at the next.
                let first = tile + usize::from(mode.1);
                let before = 0..number;
                let behind = first + 1..first + COUNT - number - 1;
                let offsets: Vec<usize> = before.chain([first]).chain(behind).chain([len]).collect();
                assert_eq!(offsets.len(), COUNT);
                let mut starts = vec![false; len];
                offsets[..COUNT - 1].iter().for_each(|at| starts[*at] = true);
                let expected = serial(&values, &starts, mode, 0, u32::wrapping_add);
                let offsets: Vec<u32> = offsets.iter().map(|at| *at as u32).collect();
                let told = Offsets::new(device, &offsets).unwrap();
                let segments = Segments::by_offsets(&told);
                let scanned = scan_segments::<Sum<u32>>(&input, &segments, options(mode, None)).unwrap();
                assert_same(&scanned.to_vec().unwrap(), &expected, || {
                    format!("number {number} of {COUNT}, {mode:?}, {device}")
                });
            }
        }
    });
}

#[test]
fn what_segments_refuse() {
    for_each("what_segments_refuse", |device| {
        let input = device.upload(&[1.0f32, 2.0, 3.0]).unwrap();
        let scan =
            |segments: &Segments<'_>| scan_segments::<Sum<f32>>(&input, segments, Options::inclusive());
        assert!(matches!(Segments::of_length(0), Err(Error::Segments(Invalid::SegmentLength))));
        let error = Offsets::new(device, &[0, 2, 1]).unwrap_err();
        assert!(
            matches!(error, Error::Segments(Invalid::Decreasing { index: 2, before: 2, actual: 1 })),
            "{error}"
        );
        let beyond = Offsets::new(device, &[0, 4]).unwrap();
        let error = scan(&Segments::by_offsets(&beyond)).unwrap_err();
        assert!(matches!(error, Error::Segments(Invalid::BeyondEnd { end: 4, len: 3, .. })), "{error}");
        let short = device.upload(&[1u8, 0]).unwrap();
        for segments in [Segments::by_flags(&short), Segments::by_key(&short)] {
            let error = scan(&segments).unwrap_err();
            assert!(matches!(error, Error::InputLengths { first: 3, second: 2, .. }), "{error}");
        }
        assert!(
            matches!(Offsets::new(device, &[]), Err(Error::Segments(Invalid::NoOffsets))),
            "as reductions have it"
        );
        let stream = device.default_stream();
        let mut output = device.upload(&[9.0f32; 3]).unwrap();
        let mut scratch = Scratch::with_size(&stream, gpu_scan::scan_segments_scratch(3)).unwrap().fixed();
        let (options, rows) = (Options::inclusive(), Segments::of_length(2).unwrap());
        let part = output.slice_mut(..2);
        let error =
            scan_segments_into::<Sum<f32>>(&stream, &input, &rows, options, part, &mut scratch).unwrap_err();
        assert!(matches!(error, Error::OutputLength { expected: 3, actual: 2, .. }), "{error}");
        let long = device.zeroed::<f64>(100_000).unwrap();
        let mut to = device.zeroed(100_000).unwrap();
        let error = scan_segments_into::<Sum<f64>>(
            &stream,
            &long,
            &rows,
            Options::inclusive(),
            &mut to,
            &mut scratch,
        )
        .unwrap_err();
        assert!(matches!(error, Error::ScratchTooSmall { what: "sum", actual: 256, .. }), "{error}");
        let (bytes, mut sums) = (device.upload(&[200u8; 3]).unwrap(), device.upload(&[9u32; 4]).unwrap());
        let options = Options::inclusive();
        let error =
            scan_segments_into::<WideSum<u8>>(&stream, &bytes, &rows, options, &mut sums, &mut scratch)
                .unwrap_err();
        assert!(matches!(error, Error::OutputLength { expected: 3, actual: 4, .. }), "{error}");
        assert_eq!(sums.to_vec().unwrap(), [9; 4]);
        assert_eq!(output.to_vec().unwrap(), [9.0; 3]);
    });
}
