//! Selections of the first keys and sorts of segments: the shapes of the figures, and shapes drawn by a seed.

use std::fmt;

use gpu_core::Device;
use gpu_sort::{
    Offsets, Scratch, Segments, SortKey, SortOptions, TopK, segmented_sort_indices_into, segmented_sort_into,
    top_k_segments_into,
};

use crate::data::{Element, values};
use crate::error::Error;
use crate::suite::segments::Lengths;
use crate::sweep::batch_median;

/// The seed of the drawn shapes.
pub const SEED: u64 = 20_261_123;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// The `k` largest of each row, and where they are.
    TopK(usize),
    /// Keys of segments in order.
    Sort,
    /// With where they were in their segments.
    SortIndices,
}

/// How long segments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Rows.
    Rows(usize),
    /// 0 to twice as many, uniformly.
    Varied(usize),
    /// [`Lengths::PowerLaw`].
    PowerLaw,
}

/// A shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What is measured.
    pub op: Op,
    /// Of which type.
    pub element: &'static str,
    /// Elements.
    pub len: usize,
    /// The segments.
    pub cut: Cut,
    /// Whether it was drawn.
    pub drawn: bool,
}

/// 64 bits from a seed and a number: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub(crate) fn split_mix(seed: u64, number: u64) -> u64 {
    let mut bits = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A whole number between two, uniform in its logarithm.
pub(crate) fn logarithmic(bits: u64, low: usize, high: usize) -> usize {
    let unit = (bits >> 11) as f64 / (1u64 << 53) as f64;
    ((low as f64 * (high as f64 / low as f64).powf(unit)) as usize).clamp(low, high)
}

/// A selection of all keys, from which a result in any order spares the sort.
pub fn all_keys() -> Shape {
    Shape { op: Op::TopK(1 << 26), element: "f32", len: 1 << 26, cut: Cut::Rows(1 << 26), drawn: false }
}

/// Those of the figures, then 100 that the seed draws.
pub fn shapes() -> Vec<Shape> {
    let figure = |op, element, len, cut| Shape { op, element, len, cut, drawn: false };
    let mut all = vec![
        figure(Op::TopK(100), "f32", 1 << 28, Cut::Rows(1 << 28)),
        figure(Op::TopK(32), "f32", 65_536 * 4096, Cut::Rows(4096)),
        figure(Op::Sort, "i32", 1 << 26, Cut::Rows(64)),
        figure(Op::Sort, "i32", 67_108_000, Cut::Rows(1000)),
        figure(Op::Sort, "i32", 1 << 26, Cut::PowerLaw),
    ];
    for number in 0..100 {
        let bits = |what: u64| split_mix(SEED, 16 * number + what);
        let len = logarithmic(bits(0), 1 << 16, 1 << 26);
        let element = ["f32", "i32", "f64", "u8"][(bits(1) >> 60) as usize % 4];
        let shape = if number < 60 {
            let row = logarithmic(bits(2), 64, len);
            let k = logarithmic(bits(3), 1, row.min(1000));
            Shape { op: Op::TopK(k), element, len: len / row * row, cut: Cut::Rows(row), drawn: true }
        } else {
            let row = logarithmic(bits(2), 8, 1 << 16);
            let op = if bits(3) >> 63 == 0 { Op::Sort } else { Op::SortIndices };
            let (len, cut) =
                if bits(4) >> 63 == 0 { (len / row * row, Cut::Rows(row)) } else { (len, Cut::Varied(row)) };
            Shape { op, element, len, cut, drawn: true }
        };
        all.push(shape);
    }
    all
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (op, k) = match self.op {
            Op::TopK(k) => ("top_k", k),
            Op::Sort => ("segmented_sort", 0),
            Op::SortIndices => ("segmented_sort_indices", 0),
        };
        let (cut, row) = match self.cut {
            Cut::Rows(row) => ("rows", row),
            Cut::Varied(row) => ("varied", row),
            Cut::PowerLaw => ("power_law", 0),
        };
        write!(f, "{op} {} {} {cut} {row} {k} {}", self.element, self.len, u8::from(self.drawn))
    }
}

/// Where the segments start, and where the last one ends.
pub fn offsets(len: usize, cut: Cut) -> Vec<u32> {
    let row = match cut {
        Cut::PowerLaw => return Lengths::PowerLaw.offsets(len),
        Cut::Rows(row) => return (0..=len / row).map(|number| (number * row) as u32).collect(),
        Cut::Varied(row) => row as u64,
    };
    let mut offsets = vec![0];
    let (mut number, mut end) = (0, 0);
    while end < len {
        end = len.min(end + (split_mix(SEED, number) % (2 * row + 1)) as usize);
        offsets.push(end as u32);
        number += 1;
    }
    offsets
}

/// The median milliseconds of a launch, of batches of launches between two events; where it is a selection, of what
/// `selected` says.
///
/// # Errors
/// Those of the device; a result that is not the CPU's.
pub fn measure(device: &Device, shape: &Shape, selected: TopK, is_checked: bool) -> Result<f64, Error> {
    match shape.element {
        "f32" => of_type::<f32>(device, shape, selected, is_checked),
        "f64" => of_type::<f64>(device, shape, selected, is_checked),
        "i32" => of_type::<i32>(device, shape, selected, is_checked),
        _ => of_type::<u8>(device, shape, selected, is_checked),
    }
}

fn of_type<K: Element + SortKey>(
    device: &Device,
    shape: &Shape,
    selected: TopK,
    is_checked: bool,
) -> Result<f64, Error> {
    let stream = device.stream()?;
    let on_host = values::<K>(shape.len);
    let keys = device.upload(&on_host)?;
    let held;
    let segments = match shape.cut {
        Cut::Rows(row) => Segments::of_length(row)?,
        _ => {
            held = Offsets::new(device, &offsets(shape.len, shape.cut))?;
            Segments::by_offsets(&held)
        }
    };
    match shape.op {
        Op::TopK(k) => {
            let Cut::Rows(row) = shape.cut else { unreachable!("selections are from rows") };
            let results = shape.len / row * k;
            let (mut first, mut indices) = (device.zeroed::<K>(results)?, device.zeroed::<u32>(results)?);
            let mut scratch =
                Scratch::with_size(&stream, gpu_sort::top_k_segments_scratch::<K>(shape.len, segments, k)?)?;
            let ms = batch_median(&stream, || {
                top_k_segments_into(
                    &stream,
                    &keys,
                    segments,
                    k,
                    selected,
                    &mut first,
                    &mut indices,
                    &mut scratch,
                )
            })?;
            if is_checked {
                let expected = gpu_sort::top_k_rows(&on_host, row, k, selected)?;
                same(shape, &first.to_vec()?, &expected.0.to_vec()?)?;
                same(shape, &indices.to_vec()?, &expected.1.to_vec()?)?;
            }
            Ok(ms)
        }
        Op::Sort => {
            let mut sorted = device.zeroed::<K>(shape.len)?;
            let mut scratch =
                Scratch::with_size(&stream, gpu_sort::segmented_sort_scratch::<K>(shape.len, segments)?)?;
            let options = SortOptions::ascending;
            let ms = batch_median(&stream, || {
                segmented_sort_into(&stream, &keys, segments, options(), &mut sorted, &mut scratch)
            })?;
            if is_checked {
                let mut expected = on_host;
                let offsets = offsets(shape.len, shape.cut);
                offsets.windows(2).for_each(|pair| {
                    expected[pair[0] as usize..pair[1] as usize]
                        .sort_unstable_by(|a, b| a.partial_cmp(b).expect("no NaNs"));
                });
                same(shape, &sorted.to_vec()?, &expected)?;
            }
            Ok(ms)
        }
        Op::SortIndices => {
            let (mut sorted, mut indices) =
                (device.zeroed::<K>(shape.len)?, device.zeroed::<u32>(shape.len)?);
            let mut scratch = Scratch::with_size(
                &stream,
                gpu_sort::segmented_sort_pairs_scratch::<K>(shape.len, segments)?,
            )?;
            let options = SortOptions::ascending;
            batch_median(&stream, || {
                segmented_sort_indices_into(
                    &stream,
                    &keys,
                    segments,
                    options(),
                    &mut sorted,
                    &mut indices,
                    &mut scratch,
                )
            })
        }
    }
}

fn same<T: gpu_core::Element>(shape: &Shape, actual: &[T], expected: &[T]) -> Result<(), Error> {
    let differs = actual.iter().zip(expected).position(|(a, b)| !crate::data::same(a, b));
    match differs {
        Some(at) => Err(Error::WrongShape(format!("{shape}: element {at}"))),
        None => Ok(()),
    }
}
