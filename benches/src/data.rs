//! Inputs, how they lie in memory, and the check of outputs.

use std::ops::Range;

use rayon::prelude::*;

use crate::error::Error;

/// What outputs are filled with before a measurement: a NaN that no computation gives, one byte repeated.
pub const POISON: u32 = u32::MAX;
/// The byte of [`POISON`].
pub const POISON_BYTE: u8 = POISON as u8;

/// Inputs start on a multiple of this many elements: 256 bytes, as allocations do.
const ALIGNMENT: usize = 64;

/// The input's element at `index`: uniform in [-1/2, 1/2), a fixed function of the index (MurmurHash3's finaliser), so
/// that the peer program, which generates it on the GPU, works on the same numbers.
pub fn value(index: usize) -> f32 {
    let mut hash = (index as u32).wrapping_mul(0x9e37_79b9);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    (hash >> 8) as f32 / (1 << 24) as f32 - 0.5
}

/// The first `len` elements of the input.
pub fn values(len: usize) -> Vec<f32> {
    (0..len).into_par_iter().map(value).collect()
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
    /// As many inputs of `elements` elements as fill at least `bytes`, and at least two: launches that take them in turn
    /// find none of their input in a cache of a quarter of `bytes`.
    pub fn filling(elements: usize, bytes: u64) -> Self {
        let each = elements.max(1) as u64 * size_of::<f32>() as u64;
        let count = usize::try_from(bytes.div_ceil(each)).unwrap_or(usize::MAX).max(2);
        Self::new(count, elements)
    }

    /// `count` of them.
    pub fn new(count: usize, elements: usize) -> Self {
        Self { count, elements, stride: elements.next_multiple_of(ALIGNMENT) }
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
/// into a slice of the output's length, bit for bit, and everything else is [`POISON`] still.
///
/// # Errors
/// [`Error::Wrong`] and [`Error::Strayed`].
pub fn check(
    layout: Layout,
    launched: &[bool],
    actual: &[f32],
    mut expected: impl FnMut(usize, &mut [f32]),
) -> Result<(), Error> {
    let mut buffer = vec![0.0; layout.elements];
    for (input, output) in actual.chunks(layout.stride.max(1)).enumerate() {
        let written = if launched.get(input).copied().unwrap_or(false) { layout.elements } else { 0 };
        if written > 0 {
            expected(input, &mut buffer);
            let differs = |index: &usize| output[*index].to_bits() != buffer[*index].to_bits();
            if let Some(index) = first(0..written, differs) {
                let (expected, actual) = (buffer[index], output[index]);
                let (expected_bits, actual_bits) = (expected.to_bits(), actual.to_bits());
                return Err(Error::Wrong { input, index, expected, expected_bits, actual, actual_bits });
            }
        }
        if let Some(index) = first(written..output.len(), |index| output[*index].to_bits() != POISON) {
            let actual = output[index];
            let index = input * layout.stride + index;
            return Err(Error::Strayed { index, actual, actual_bits: actual.to_bits() });
        }
    }
    Ok(())
}

/// The first of `indices` that `is` it; on all cores where there are many. (Entering the thread pool for each of a hundred
/// thousand small outputs would take seconds.)
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
        let values = values(1 << 16);
        assert!(values.iter().all(|value| (-0.5..0.5).contains(value)));
        let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64;
        assert!(mean.abs() < 0.01, "{mean}");
        let below = values.iter().filter(|&&value| value < -0.25).count();
        assert!((15_000..18_000).contains(&below), "{below} of 65536 in the lowest quarter");
        assert_ne!(values[..1024], values[1024..2048]);
    }

    #[test]
    fn layouts_fill_what_they_are_to_fill() {
        let small = Layout::filling(1024, 256 << 20);
        assert_eq!(small, Layout { count: 65536, elements: 1024, stride: 1024 });
        let odd = Layout::filling(1000, 4096);
        assert_eq!(odd, Layout { count: 2, elements: 1000, stride: 1024 });
        assert_eq!(odd.range(1), 1024..2024);
        let large = Layout::filling(1 << 28, 256 << 20);
        assert_eq!((large.count, large.len()), (2, 1 << 29));
    }

    /// Outputs of a layout with gaps: input 1 was launched and doubled.
    fn outputs() -> (Layout, Vec<bool>, Vec<f32>) {
        let layout = Layout::new(3, 100);
        let mut outputs = vec![f32::from_bits(POISON); layout.len()];
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
        for (index, wrong) in [(99, 1.0), (0, -0.0), (50, f32::from_bits(POISON)), (3, f32::NAN)] {
            let (layout, launched, mut outputs) = outputs();
            outputs[layout.range(1).start + index] = wrong;
            let error = check(layout, &launched, &outputs, doubled).expect_err("it is wrong");
            assert!(
                matches!(error, Error::Wrong { input: 1, index: found, .. } if found == index),
                "{error}"
            );
            let unwritten = error.to_string().contains("never written");
            assert_eq!(unwritten, wrong.to_bits() == POISON, "{error}");
        }
    }

    #[test]
    fn the_first_of_many_is_found_on_all_cores() {
        let layout = Layout::new(1, 300_000);
        let mut outputs = vec![1.0; 300_000];
        outputs.resize(layout.len(), f32::from_bits(POISON));
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
