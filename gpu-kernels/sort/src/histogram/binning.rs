//! Into which bin a sample falls.

use gpu_std::device;
use gpu_std::float::Float;
use gpu_std::memory::{Element, Global};
use gpu_std::parameter::Parameter;

use gpu_collective::Packed;

/// What a sample has instead of a bin where it falls into none.
pub const NO_BIN: u32 = u32::MAX;

/// A rule that says into which bin a sample falls.
pub trait Binning<T>: Copy {
    /// The bin, or [`NO_BIN`].
    fn bin(self, sample: T) -> u32;
}

/// A bin for each value of a byte.
#[derive(Clone, Copy)]
pub(super) struct Bytes;

impl<T: Packed> Binning<T> for Bytes {
    #[inline(always)]
    fn bin(self, sample: T) -> u32 {
        let mut word = [0];
        sample.pack(&mut word, 0);
        word[0]
    }
}

/// The bits of a sample: `u8`, `u16`, `u32`, which signed ones pass for, `f32` or `f64`.
pub trait Sample: Element {
    /// What is compared.
    type Key: PartialOrd + Copy;
    /// The number; of a whole one with the bits of `flip` flipped, which is the highest one for signed numbers.
    fn key(self, flip: u32) -> Self::Key;
}

macro_rules! samples {
    ($($t:ty as $key:ty: $to:expr;)*) => { $(
        impl Sample for $t {
            type Key = $key;
            #[inline(always)]
            fn key(self, flip: u32) -> $key {
                ($to)(self, flip)
            }
        }
    )* };
}
samples! {
    u8 as u32: |sample: u8, flip| sample as u32 ^ flip;
    u16 as u32: |sample: u16, flip| sample as u32 ^ flip;
    u32 as u32: |sample: u32, flip| sample ^ flip;
    f32 as f32: |sample: f32, _| sample;
    f64 as f64: |sample: f64, _| sample;
}

/// Bins of the same width for whole numbers: bin `⌊(x - lower)·bins / range⌋`, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct EvenInteger {
    /// `⌊(2^64 - 1) / range⌋`.
    reciprocal: u64,
    /// How many numbers fall into a bin; at most 2^32.
    range: u64,
    /// The first of them, flipped.
    lower: u32,
    /// How many bins.
    bins: u32,
    /// The bits that are flipped: the highest one of signed numbers.
    flip: u32,
    /// Nothing: the size is a multiple of the alignment.
    padding: u32,
}

impl EvenInteger {
    /// `bins` bins for the `range` numbers from `lower` on, itself flipped already; both at least one.
    pub const fn new(lower: u32, range: u64, bins: u32, flip: u32) -> Self {
        Self { reciprocal: u64::MAX / range, range, lower, bins, flip, padding: 0 }
    }
}

impl<T: Sample<Key = u32>> Binning<T> for EvenInteger {
    #[inline(always)]
    fn bin(self, sample: T) -> u32 {
        let offset = sample.key(self.flip).wrapping_sub(self.lower);
        // Less than 2^64. The reciprocal is at most 2/range too small, so the quotient is at most one too small.
        let dividend = offset as u64 * self.bins as u64;
        let quotient = ((dividend as u128 * self.reciprocal as u128) >> 64) as u64;
        let rest = dividend.wrapping_sub(quotient.wrapping_mul(self.range));
        let bin = quotient as u32 + (rest >= self.range) as u32;
        // Mutants: right behind the last number it is the bin behind the last one, which counts for none; that it is
        // called so the tests below see.
        if (offset as u64) < self.range { bin } else { NO_BIN }
    }
}

macro_rules! even_floats {
    ($($name:ident: $t:ty;)*) => { $(
        /// Bins of the same width for floats: bin `⌊(x - lower)·scale⌋`, difference and product rounded, but not the
        /// bin after the last.
        #[derive(Clone, Copy, Debug, PartialEq, Parameter)]
        #[repr(C)]
        pub struct $name {
            lower: $t,
            upper: $t,
            scale: $t,
            bins: u32,
        }

        impl $name {
            /// `bins` bins from `lower` to `upper`, which is larger by something finite. `scale` is their number over
            /// that, rounded.
            pub const fn new(lower: $t, upper: $t, bins: u32) -> Self {
                Self { lower, upper, scale: bins as $t / (upper - lower), bins }
            }
        }

        impl Binning<$t> for $name {
            #[inline(always)]
            fn bin(self, sample: $t) -> u32 {
                let bin = ((sample - self.lower) * self.scale).to_u32();
                let last = self.bins - 1;
                // Mutants: they may be equal.
                let bin = if bin < last { bin } else { last };
                if sample >= self.lower && sample < self.upper { bin } else { NO_BIN }
            }
        }
    )* };
}
even_floats! { EvenF32: f32; EvenF64: f64; }

/// Bins between edges that do not decrease: bin `i` from edge `i` to the next one, without it.
#[derive(Clone, Copy)]
pub struct Edges<T: Element> {
    /// One more than there are bins.
    pub edges: Global<T>,
    /// How many bins; at least one.
    pub bins: u32,
    /// What is flipped in samples and edges: see [`Sample::key`].
    pub flip: u32,
}

impl<T: Sample> Binning<T> for Edges<T> {
    #[device]
    #[inline(always)]
    fn bin(self, sample: T) -> u32 {
        let sample = sample.key(self.flip);
        // The last edge that is not behind the sample: edges before `low` are not, from `high` on they are.
        let (mut low, mut high) = (0, self.bins + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.edges.read(middle).key(self.flip) <= sample {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // Before the first edge, or not a number: none. At the last edge or behind it: as many as there are bins,
        // which is none.
        low.wrapping_sub(1)
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_fall_where_exact_division_puts_them() {
        for (lower, range, bins) in [
            (0, 1 << 32, 1),
            (0, 1 << 32, u32::MAX),
            (0, 1, 7),
            (5, 3, 3),
            (100, 0xffff_ff00, 1000),
            (7, 1000, 999_999),
            (1 << 31, 1 << 31, 3 << 29),
        ] {
            let even = EvenInteger::new(lower, range, bins, 0);
            let some = (0..=64).map(|i| (u64::from(lower) + range * i / 64).saturating_sub(i % 3));
            for sample in some.chain([0, u64::from(u32::MAX)]).filter(|sample| *sample < 1 << 32) {
                let offset = sample.wrapping_sub(lower.into());
                let exact = (u128::from(offset) * u128::from(bins) / u128::from(range)) as u32;
                let expected = if sample >= lower.into() && offset < range { exact } else { NO_BIN };
                assert_eq!(even.bin(sample as u32), expected, "{sample} of {even:?}");
            }
        }
    }

    #[test]
    fn signed_numbers_are_flipped() {
        let even = EvenInteger::new(128 - 100, 200, 4, 0x80);
        for (sample, bin) in [(-101, NO_BIN), (-100, 0), (-51, 0), (-50, 1), (0, 2), (99, 3), (100, NO_BIN)] {
            assert_eq!(even.bin(sample as i8 as u8), bin, "{sample}");
        }
    }

    #[test]
    fn floats_fall_into_bins_or_none() {
        let even = EvenF32::new(-1.0, 2.0, 6);
        for (sample, bin) in [
            (-1.0, 0),
            (-0.5, 1),
            (1.999, 5),
            (2.0f32.next_down(), 5),
            (2.0, NO_BIN),
            ((-1.0f32).next_down(), NO_BIN),
            (f32::NAN, NO_BIN),
            (f32::INFINITY, NO_BIN),
        ] {
            assert_eq!(even.bin(sample), bin, "{sample}");
        }
    }
}
