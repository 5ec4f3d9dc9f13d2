//! Inputs, how they lie in memory, and the check of outputs.

use std::ops::Range;

use rayon::prelude::*;

use crate::error::Error;

/// Inputs start on a multiple of this many bytes, as allocations do.
const ALIGNMENT: usize = 256;

/// A type of inputs and outputs.
pub trait Element: gpu_core::Element {
    /// Its name in cases and records.
    const NAME: &'static str;
    /// The byte that outputs are filled with before a measurement. In floats it makes a NaN that no computation
    /// gives; in integers it is none of the likely results, as the largest value would be.
    const POISON: u8;
    /// The input's element at `index`: a fixed function of the index ([`hash`]), so that the peer program, which
    /// generates it on the GPU, works on the same numbers.
    fn value(index: usize) -> Self;
}

/// 32 bits from an index: MurmurHash3's finaliser.
pub fn hash(index: usize) -> u32 {
    let mut hash = (index as u32).wrapping_mul(0x9e37_79b9);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

macro_rules! elements {
    ($($t:ty: $name:literal, $poison:literal, $value:expr;)*) => { $(
        impl Element for $t {
            const NAME: &'static str = $name;
            const POISON: u8 = $poison;
            fn value(index: usize) -> Self {
                $value(hash(index))
            }
        }
    )* };
}
elements! {
    // Uniform in [-1/2, 1/2).
    f32: "f32", 0xff, |hash: u32| (hash >> 8) as f32 / (1 << 24) as f32 - 0.5;
    f64: "f64", 0xff, |hash: u32| f64::from(hash) / (1u64 << 32) as f64 - 0.5;
    // Uniform.
    i32: "i32", 0xa5, |hash: u32| hash as i32;
    u8: "u8", 0xa5, |hash: u32| (hash >> 24) as u8;
    u16: "u16", 0xa5, |hash: u32| (hash >> 16) as u16;
    u32: "u32", 0xa5, |hash: u32| hash;
    u64: "u64", 0xa5, u64::from;
}

/// The first `len` elements of the input.
pub fn values<T: Element>(len: usize) -> Vec<T> {
    (0..len).into_par_iter().map(T::value).collect()
}

/// Whether the two have the same bits.
pub fn same<T: gpu_core::Element>(a: &T, b: &T) -> bool {
    bytemuck::bytes_of(a) == bytemuck::bytes_of(b)
}

/// Whether each byte of it is `byte`.
pub fn filled<T: gpu_core::Element>(value: &T, byte: u8) -> bool {
    bytemuck::bytes_of(value).iter().all(|&other| other == byte)
}

/// An output of [`Element::POISON`] only.
pub fn poison<T: Element>() -> T {
    bytemuck::pod_read_unaligned(&[T::POISON; 16][..size_of::<T>()])
}

/// Writes `values` to the front of `output`, and poison behind them: what an output with room to spare holds.
pub fn front<T: Element>(output: &mut [T], values: impl IntoIterator<Item = T>) {
    let mut values = values.into_iter();
    output.iter_mut().for_each(|place| *place = values.next().unwrap_or_else(poison));
}

/// The error of an output that is not what it should be; `poison` is what it was filled with.
pub fn wrong<T: gpu_core::Element>(
    input: usize,
    index: usize,
    expected: &T,
    actual: &T,
    poison: u8,
) -> Error {
    Error::Wrong {
        input,
        index,
        expected: shown(expected),
        actual: shown(actual),
        unwritten: filled(actual, poison),
    }
}

/// The error of an element that no launch was to write.
pub fn strayed<T: gpu_core::Element>(index: usize, actual: &T) -> Error {
    Error::Strayed { index, actual: shown(actual) }
}

/// A value and its bytes, the lowest first.
fn shown<T: gpu_core::Element>(value: &T) -> String {
    let bytes: String = bytemuck::bytes_of(value).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{value:?} ({bytes})")
}

/// Several inputs (or outputs) of one length in one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How many there are.
    pub count: usize,
    /// Elements of each.
    pub elements: usize,
    /// Elements from the start of one to that of the next.
    pub stride: usize,
}

impl Layout {
    /// As many inputs of `elements` elements as fill at least `bytes`, and at least two: launches that take them in
    /// turn find none of their input in a cache of a quarter of `bytes`.
    pub fn filling<T>(elements: usize, bytes: u64) -> Self {
        let each = (elements.max(1) * size_of::<T>()) as u64;
        let count = usize::try_from(bytes.div_ceil(each)).unwrap_or(usize::MAX).max(2);
        Self::new::<T>(count, elements)
    }

    /// `count` of them.
    pub fn new<T>(count: usize, elements: usize) -> Self {
        Self { count, elements, stride: elements.next_multiple_of(ALIGNMENT / size_of::<T>()) }
    }

    /// Elements of all of them, gaps included.
    pub fn len(self) -> usize {
        self.count * self.stride
    }

    /// Whether there is nothing in it.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Where the one numbered `index` lies.
    pub fn range(self, index: usize) -> Range<usize> {
        let start = index * self.stride;
        start..start + self.elements
    }
}

/// Checks the `actual` content of outputs laid out as `layout`: those that were `launched` hold what `expected` writes
/// into a slice of the output's length, bit for bit, and everything else is [`Element::POISON`] still.
///
/// # Errors
/// [`Error::Wrong`] and [`Error::Strayed`].
pub fn check<T: Element>(
    layout: Layout,
    launched: &[bool],
    actual: &[T],
    mut expected: impl FnMut(usize, &mut [T]),
) -> Result<(), Error> {
    let mut buffer = vec![T::default(); layout.elements];
    for (input, output) in actual.chunks(layout.stride.max(1)).enumerate() {
        let written = if launched.get(input).copied().unwrap_or(false) { layout.elements } else { 0 };
        if written > 0 {
            expected(input, &mut buffer);
            if let Some(index) = first(0..written, |&index| !same(&output[index], &buffer[index])) {
                return Err(wrong(input, index, &buffer[index], &output[index], T::POISON));
            }
        }
        if let Some(index) = first(written..output.len(), |&index| !filled(&output[index], T::POISON)) {
            return Err(strayed(input * layout.stride + index, &output[index]));
        }
    }
    Ok(())
}

/// The first of `indices` that `is` it; on all cores where there are many. (Entering the thread pool for each of a
/// hundred thousand small outputs would take seconds.)
fn first(mut indices: Range<usize>, is: impl Fn(&usize) -> bool + Sync) -> Option<usize> {
    const MANY: usize = 1 << 16;
    if indices.len() < MANY {
        return indices.find(is);
    }
    indices.into_par_iter().with_min_len(MANY).find_first(|index| is(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spread_over_their_interval_and_do_not_repeat_soon() {
        let values = values::<f32>(1 << 16);
        assert!(values.iter().all(|value| (-0.5..0.5).contains(value)));
        let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64;
        assert!(mean.abs() < 0.01, "{mean}");
        let below = values.iter().filter(|&&value| value < -0.25).count();
        assert!((15_000..18_000).contains(&below), "{below} of 65536 in the lowest quarter");
        assert_ne!(values[..1024], values[1024..2048]);
        for (float, double) in values.iter().zip(super::values::<f64>(1 << 16)) {
            assert!((f64::from(*float) - double).abs() < 1e-7, "{float} {double}");
        }
        let bytes = super::values::<u8>(1 << 16);
        assert!((0..=u8::MAX).all(|byte| bytes.contains(&byte)));
    }

    #[test]
    fn poison_is_no_number_and_no_extreme() {
        assert!(poison::<f32>().is_nan() && poison::<f64>().is_nan());
        assert_eq!(
            (poison::<u8>(), poison::<i32>(), poison::<u64>()),
            (0xa5, -0x5a5a_5a5b, 0xa5a5_a5a5_a5a5_a5a5)
        );
    }

    #[test]
    fn layouts_fill_what_they_are_to_fill() {
        let small = Layout::filling::<f32>(1024, 256 << 20);
        assert_eq!(small, Layout { count: 65536, elements: 1024, stride: 1024 });
        let odd = Layout::filling::<f32>(1000, 4096);
        assert_eq!(odd, Layout { count: 2, elements: 1000, stride: 1024 });
        assert_eq!(odd.range(1), 1024..2024);
        let large = Layout::filling::<f32>(1 << 28, 256 << 20);
        assert_eq!((large.count, large.len()), (2, 1 << 29));
        assert_eq!(Layout::filling::<f64>(1024, 256 << 20).count, 32768);
        assert_eq!(Layout::new::<u8>(3, 1).stride, 256);
    }

    /// Outputs of a layout with gaps: input 1 was launched and doubled.
    fn outputs() -> (Layout, Vec<bool>, Vec<f32>) {
        let layout = Layout::new::<f32>(3, 100);
        let mut outputs = vec![poison::<f32>(); layout.len()];
        for (index, output) in outputs[layout.range(1)].iter_mut().enumerate() {
            *output = 2.0 * index as f32;
        }
        (layout, vec![false, true, false], outputs)
    }

    fn doubled(_: usize, expected: &mut [f32]) {
        expected.iter_mut().enumerate().for_each(|(index, value)| *value = 2.0 * index as f32);
    }

    #[test]
    fn right_outputs_pass() {
        let (layout, launched, outputs) = outputs();
        check(layout, &launched, &outputs, doubled).expect("all is right");
    }

    #[test]
    fn a_wrong_element_a_sign_of_zero_and_an_unwritten_one_are_found() {
        for (index, wrong) in [(99, 1.0), (0, -0.0), (50, poison::<f32>()), (3, f32::NAN)] {
            let (layout, launched, mut outputs) = outputs();
            outputs[layout.range(1).start + index] = wrong;
            let error = check(layout, &launched, &outputs, doubled).expect_err("it is wrong");
            assert!(
                matches!(error, Error::Wrong { input: 1, index: found, .. } if found == index),
                "{error}"
            );
            let unwritten = error.to_string().contains("never written");
            assert_eq!(unwritten, filled(&wrong, f32::POISON), "{error}");
        }
    }

    #[test]
    fn the_first_of_many_is_found_on_all_cores() {
        let layout = Layout::new::<f32>(1, 300_000);
        let mut outputs = vec![1.0; 300_000];
        outputs.resize(layout.len(), poison::<f32>());
        let ones = |_: usize, expected: &mut [f32]| expected.fill(1.0);
        check(layout, &[true], &outputs, ones).expect("all is right");
        for wrong in [299_999, 70_001] {
            outputs[wrong] = 2.0;
            let error = check(layout, &[true], &outputs, ones).expect_err("it is wrong");
            assert!(matches!(error, Error::Wrong { index, .. } if index == wrong), "{error}");
        }
    }

    #[test]
    fn a_write_where_none_belongs_is_found() {
        // Another input's output, the gap behind the right one, the very last element.
        for stray in [5, 128 + 100, 3 * 128 - 1] {
            let (layout, launched, mut outputs) = outputs();
            outputs[stray] = 0.0;
            let error = check(layout, &launched, &outputs, doubled).expect_err("it is wrong");
            assert!(matches!(error, Error::Strayed { index, .. } if index == stray), "{error}");
        }
    }
}
