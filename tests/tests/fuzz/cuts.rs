//! Segments of an array, drawn, and what they mean.

use gpu_core::{Buffer, Device, Offsets, Segments};
use gpu_tests::data::random;
use proptest::prelude::*;

/// How an array is cut.
#[derive(Clone, Debug)]
pub enum Cuts {
    /// All of one length.
    Length(usize),
    /// Between offsets: how many more there are than one, and their seed; and how far the first is from the array's
    /// begin and the last from its end.
    Offsets { inner: usize, seed: u64, ends: [isize; 2] },
    /// A flag each some elements.
    Flags { each: usize, seed: u64 },
}

/// Cuts of arrays, of which some leave the array or do not cover it.
pub fn cuts() -> impl Strategy<Value = Cuts> {
    let end = || prop_oneof![6 => Just(0isize), 1 => -3isize..4];
    prop_oneof![
        2 => prop::sample::select(vec![1usize, 2, 3, 7, 32, 100, 1000, 5000]).prop_map(Cuts::Length),
        3 => (0usize..40, any::<u64>(), [end(), end()])
            .prop_map(|(inner, seed, ends)| Cuts::Offsets { inner, seed, ends }),
        1 => (1usize..300, any::<u64>()).prop_map(|(each, seed)| Cuts::Flags { each, seed }),
    ]
}

/// The memory of a description of segments.
pub enum Told {
    Length(usize),
    Offsets(Offsets),
    Flags(Buffer<u8>),
}

impl Told {
    pub fn segments(&self) -> Segments<'_> {
        match self {
            Self::Length(length) => Segments::of_length(*length).expect("not 0"),
            Self::Offsets(offsets) => Segments::by_offsets(offsets),
            Self::Flags(flags) => Segments::by_flags(flags),
        }
    }
}

impl Cuts {
    /// The offsets, in ascending order: some are equal, so that segments are empty.
    fn offsets(inner: usize, seed: u64, [first, last]: [isize; 2], len: usize) -> Vec<u32> {
        let end = len.saturating_add_signed(last);
        let begin = first.max(0) as usize;
        let mut offsets = vec![begin.min(end), end];
        offsets.extend((0..inner).map(|at| {
            let width = (end - begin.min(end)).max(1) as u64;
            begin.min(end) + (random(seed, at) % width) as usize
        }));
        offsets.sort_unstable();
        offsets.into_iter().map(|offset| offset as u32).collect()
    }

    /// On a device, for an array of this length.
    pub fn told(&self, device: &Device, len: usize) -> Told {
        match *self {
            Self::Length(length) => Told::Length(length),
            Self::Offsets { inner, seed, ends } => {
                let offsets = Self::offsets(inner, seed, ends, len);
                Told::Offsets(Offsets::new(device, &offsets).expect("in ascending order"))
            }
            Self::Flags { each, seed } => {
                let flags: Vec<u8> =
                    (0..len).map(|at| u8::from(random(seed, at).is_multiple_of(each as u64))).collect();
                Told::Flags(device.upload(&flags).expect("memory"))
            }
        }
    }

    /// Where segments begin and end, without what lies outside of all; `None` where one leaves the array.
    pub fn ranges(&self, len: usize) -> Option<Vec<std::ops::Range<usize>>> {
        match *self {
            Self::Length(length) => {
                Some((0..len).step_by(length).map(|at| at..len.min(at + length)).collect())
            }
            Self::Offsets { inner, seed, ends } => {
                let offsets = Self::offsets(inner, seed, ends, len);
                let fits = offsets.last().is_some_and(|&end| end as usize <= len);
                fits.then(|| offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize).collect())
            }
            Self::Flags { each, seed } => {
                let is_start = |at: &usize| *at == 0 || random(seed, *at).is_multiple_of(each as u64);
                let starts: Vec<usize> = (0..len).filter(is_start).collect();
                let ends = starts.iter().skip(1).copied().chain([len]);
                Some(starts.iter().zip(ends).map(|(&start, end)| start..end).collect())
            }
        }
    }

    /// Whether every element is in a segment, and all rows of one length are whole.
    pub fn covers(&self, len: usize) -> bool {
        let Some(ranges) = self.ranges(len) else { return false };
        match *self {
            Self::Length(length) => len.is_multiple_of(length),
            _ => ranges.iter().map(ExactSizeIterator::len).sum::<usize>() == len,
        }
    }
}
