//! Operators of one's own, over segments and along axes: made here, without PTX, hence on the CPU and in the
//! simulator only.

use gpu_core::Device;
use gpu_reduce::kernels::{Lines, Reduction, Starts, columns_blocks, segments_blocks};
use gpu_reduce::{reduce_axis, reduce_by_key, reduce_segments};
use gpu_scan::kernels::{Scan, WARPS, columns, segmented};
use gpu_scan::{Options, scan_axis, scan_segments};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_tests::data::random;

/// The sum of the distances of two arrays' elements: a reduction of pairs.
struct Distance;

impl Reduction for Distance {
    type Item = (f32, f32);
    type Local = f64;
    type Accumulator = f64;
    type Output = f64;
    const NAME: &'static str = "distance";
    const IDENTITY: f64 = 0.0;
    const EMPTY: Option<f64> = Some(0.0);
    fn start(_: u32) -> f64 {
        0.0
    }
    fn take(local: f64, (a, b): (f32, f32), _: u32) -> f64 {
        local + f64::from((a - b).abs())
    }
    fn widen(local: f64, _: u64) -> f64 {
        local
    }
    fn combine(a: f64, b: f64) -> f64 {
        a + b
    }
    fn output(total: f64, _: u32) -> f64 {
        total
    }
}

/// [`Distance`] of segments.
#[kernel(launch_bounds(256, segments_blocks::<Distance>()), programmatic)]
pub fn distances_of_segments(
    first: Global<f32>,
    second: Global<f32>,
    len: u64,
    offsets: Global<u32>,
    form: u32,
    length: u64,
    count: u32,
    share: u64,
    scratch: GlobalMut<u64>,
    output: GlobalMut<f64>,
) {
    let starts = Starts { offsets, form, length, count };
    gpu_reduce::kernels::segments::<Distance, 4, 4>((first, second), len, starts, share, scratch, output);
}

/// [`Distance`] of columns.
#[kernel(launch_bounds(256, columns_blocks::<Distance>()), programmatic)]
pub fn distances_of_columns(
    first: Global<f32>,
    second: Global<f32>,
    rows: u64,
    inner: u32,
    lines: u32,
    is_vector: u32,
    scratch: GlobalMut<u32>,
    output: GlobalMut<f64>,
) {
    let lines = Lines { rows, inner, lines, is_vector };
    gpu_reduce::kernels::columns::<Distance, 4>((first, second), lines, scratch, output);
}

// SAFETY: the kernel is `segments` of `Distance`.
unsafe impl gpu_reduce::Segmented for Distance {
    type Of = Self;
    type Kernel = distances_of_segments;
}
// SAFETY: the kernel is `columns` of `Distance`.
unsafe impl gpu_reduce::AlongColumns for Distance {
    type Of = Self;
    type Kernel = distances_of_columns;
}

/// An affine map `x ↦ a·x + b` in whole numbers that wrap, `a` in the upper half and `b` in the lower: composed from
/// left to right, which is not commutative. Two words, the most there may be.
struct Affine;

fn affine(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

impl Scan for Affine {
    /// The additive term; the factor is 3, but for the identity.
    type Item = i32;
    type Register = u64;
    /// What 1 is mapped to.
    type Output = i32;
    const NAME: &'static str = "affine maps";
    const IDENTITY: i32 = i32::MIN;
    const EMPTY: i32 = 1;
    fn extend(item: i32) -> u64 {
        if item == Self::IDENTITY { affine(1, 0) } else { affine(3, item as u32) }
    }
    fn combine(before: u64, after: u64) -> u64 {
        let [[a, b], [c, d]] = [before, after].map(|map| [(map >> 32) as u32, map as u32]);
        affine(a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d))
    }
    fn output(result: u64) -> i32 {
        ((result >> 32) as u32).wrapping_add(result as u32) as i32
    }
    /// The constant map.
    fn resume(output: i32) -> u64 {
        affine(0, output as u32)
    }
}

/// [`Affine`] in segments.
#[kernel(launch_bounds(256, 3))]
pub fn affine_of_segments(
    input: Global<i32>,
    output: GlobalMut<i32>,
    len: u64,
    kind: u32,
    starts: Global<u8>,
    count: u64,
    initial: u64,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    let starts = segmented::Starts { kind, array: starts, count };
    segmented::segments::<Affine, 4, 4, 4, 4, WARPS>(
        input, output, len, starts, initial, mode, words, capacity,
    );
}

/// [`Affine`] along columns.
#[kernel(launch_bounds(256, 3))]
pub fn affine_of_columns(
    input: Global<i32>,
    output: GlobalMut<i32>,
    rows: u32,
    inner: u32,
    count: u32,
    initial: u64,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    let lines = columns::Lines { rows, inner, columns: count };
    columns::columns::<Affine, 16, { columns::WARPS }>(input, output, lines, initial, mode, words, capacity);
}

// SAFETY: the kernel is `segments` of `Affine`, with the rows of its shape.
unsafe impl gpu_scan::Segmented for Affine {
    type Of = Self;
    type Kernel = affine_of_segments;
}
// SAFETY: the kernel is `columns` of `Affine`, with the rows of its shape.
unsafe impl gpu_scan::AlongColumns for Affine {
    type Of = Self;
    type Kernel = affine_of_columns;
}

/// Pairs of a tile.
const TILE: usize = 2048;

fn devices() -> [Device; 2] {
    [Device::cpu(), Device::simulator()]
}

/// Whole numbers: every order gives the exact sum.
fn whole_numbers(seed: u64, len: usize) -> Vec<f32> {
    (0..len).map(|index| (random(seed, index) % 512) as f32 - 256.0).collect()
}

fn distance<'a>(pairs: impl Iterator<Item = (&'a f32, &'a f32)>) -> f64 {
    pairs.map(|(a, b)| f64::from((a - b).abs())).sum()
}

#[test]
fn segments_and_runs_of_pairs() {
    let lengths = [0, 1, 3, 4, 5, 31, 128, 1000, 0, TILE, TILE + 1, 5 * TILE + 7, 2, 0, 130];
    let mut offsets = vec![2u32];
    offsets.extend(lengths.iter().scan(2, |end, length| {
        *end += *length as u32;
        Some(*end)
    }));
    let len = offsets[lengths.len()] as usize + 3;
    let (first, second) = (whole_numbers(1, len + 1), whole_numbers(2, len + 1));
    let expected = |part: core::ops::Range<usize>, from: usize| {
        distance(first[from..][part.clone()].iter().zip(&second[part]))
    };
    for (device, from) in devices().into_iter().flat_map(|device| [(device.clone(), 0), (device, 1)]) {
        // One of them starts at a multiple of 16 bytes, the other one does or does not.
        let (a, b) = (device.upload(&first).unwrap(), device.upload(&second).unwrap());
        let views = || (a.slice(from..from + len), b.slice(..len));
        let segments = gpu_reduce::Offsets::new(&device, &offsets).unwrap();
        let actual = reduce_segments::<Distance>(views(), &segments).unwrap().to_vec().unwrap();
        let of_segments = offsets.windows(2).map(|pair| expected(pair[0] as usize..pair[1] as usize, from));
        assert_eq!(actual, of_segments.collect::<Vec<_>>(), "{device} from {from}");

        let keys: Vec<u16> =
            (0..len as u32).map(|at| offsets.partition_point(|&begin| begin <= at) as u16).collect();
        let (unique, actual) =
            reduce_by_key::<Distance, u16>(&device.upload(&keys).unwrap(), views()).unwrap();
        let runs: Vec<&[u16]> = keys.chunk_by(|a, b| a == b).collect();
        assert_eq!(unique.to_vec().unwrap(), runs.iter().map(|run| run[0]).collect::<Vec<_>>(), "{device}");
        let mut end = 0;
        let of_runs = runs.iter().map(|run| {
            end += run.len();
            expected(end - run.len()..end, from)
        });
        assert_eq!(actual.to_vec().unwrap(), of_runs.collect::<Vec<_>>(), "{device} from {from}");
    }
}

#[test]
fn axes_of_pairs() {
    for shape in [&[3usize, 5, 32][..], &[300, 7], &[130, 16], &[9_000, 4], &[2, 1029]] {
        let len = shape.iter().product::<usize>();
        let (first, second) = (whole_numbers(3, len + 1), whole_numbers(4, len + 1));
        for (device, from) in devices().into_iter().flat_map(|device| [(device.clone(), 0), (device, 1)]) {
            let (a, b) = (device.upload(&first).unwrap(), device.upload(&second).unwrap());
            for axis in 0..shape.len() {
                let views = (a.slice(from..from + len), b.slice(from..from + len));
                let actual = reduce_axis::<Distance>(views, shape, axis).unwrap().to_vec().unwrap();
                let (rows, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
                let expected = (0..len / rows).map(|line| {
                    let begin = from + line / inner * rows * inner + line % inner;
                    let of_line = |values| <[f32]>::iter(values).skip(begin).step_by(inner).take(rows);
                    distance(of_line(&first).zip(of_line(&second)))
                });
                assert_eq!(
                    actual,
                    expected.collect::<Vec<_>>(),
                    "{shape:?} along {axis} from {from} on {device}"
                );
            }
        }
    }
}

/// The scan of one segment or line, by applying one map after the other.
fn applied(items: impl Iterator<Item = i32>, initial: Option<i32>, is_exclusive: bool) -> Vec<i32> {
    let mut value = initial.unwrap_or(1);
    let apply = |item: i32| {
        let before = value;
        value = value.wrapping_mul(3).wrapping_add(item);
        if is_exclusive { before } else { value }
    };
    items.map(apply).collect()
}

/// Every mode, and with it what [`applied`] is told.
fn modes() -> impl Iterator<Item = (Options<i32>, Option<i32>, bool, bool)> {
    (0..8).map(|bits| {
        let (initial, is_exclusive, is_reverse) =
            ((bits & 1 != 0).then_some(-7), bits & 2 != 0, bits & 4 != 0);
        let options = if is_exclusive { Options::exclusive() } else { Options::inclusive() };
        let options = if is_reverse { options.reversed() } else { options };
        let options = match initial {
            Some(initial) => options.starting_with(initial),
            None => options,
        };
        (options, initial, is_exclusive, is_reverse)
    })
}

fn terms(len: usize) -> Vec<i32> {
    (0..len).map(|index| (random(5, index) % 1000) as i32 - 500).collect()
}

#[test]
fn segments_of_maps() {
    let len = 3 * 4096 + 5;
    let (items, keys) = (terms(len), (0..len).map(|at| (at / 7 % 3 + at / 5000) as u8).collect::<Vec<_>>());
    for device in devices() {
        let (input, keys_there) = (device.upload(&items).unwrap(), device.upload(&keys).unwrap());
        let segments = gpu_scan::Segments::by_key(&keys_there);
        for (options, initial, is_exclusive, is_reverse) in modes() {
            let actual = scan_segments::<Affine>(&input, &segments, options).unwrap().to_vec().unwrap();
            let mut expected = Vec::new();
            for run in keys.chunk_by(|a, b| a == b) {
                let own = items[expected.len()..][..run.len()].iter().copied();
                let results = if is_reverse {
                    applied(own.rev(), initial, is_exclusive).into_iter().rev().collect()
                } else {
                    applied(own, initial, is_exclusive)
                };
                expected.extend(results);
            }
            assert!(
                actual == expected,
                "{initial:?}, exclusive {is_exclusive}, reverse {is_reverse} on {device}"
            );
        }
    }
}

#[test]
fn axes_of_maps() {
    for shape in [[3usize, 150, 33], [300, 7, 1], [1, 129, 40], [2, 1, 5]] {
        let items = terms(shape.iter().product());
        for device in devices() {
            let input = device.upload(&items).unwrap();
            for (axis, (options, initial, is_exclusive, is_reverse)) in
                (0..3).flat_map(|axis| modes().map(move |mode| (axis, mode)))
            {
                let actual = scan_axis::<Affine>(&input, &shape, axis, options).unwrap().to_vec().unwrap();
                let (rows, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
                let mut expected = vec![0; items.len()];
                for line in 0..items.len() / rows {
                    let begin = line / inner * rows * inner + line % inner;
                    let mut places: Vec<usize> = (0..rows).map(|row| begin + row * inner).collect();
                    if is_reverse {
                        places.reverse();
                    }
                    let results = applied(places.iter().map(|&place| items[place]), initial, is_exclusive);
                    places.iter().zip(results).for_each(|(&place, result)| expected[place] = result);
                }
                let mode = format!("{initial:?}, exclusive {is_exclusive}, reverse {is_reverse}");
                assert!(actual == expected, "{shape:?} along {axis}: {mode} on {device}");
            }
        }
    }
}
