//! Small numbers, several to a register: a thread with values keeps two for each of its pairs.

use gpu_std::{opaque, unroll};

use super::ROWS;

/// `L` numbers of `BITS` bits; at most [`ROWS`].
#[derive(Clone, Copy)]
pub struct Packed<const BITS: usize, const L: usize>([u32; ROWS]);

impl<const BITS: usize, const L: usize> Packed<BITS, L> {
    const EACH: usize = 32 / BITS;

    /// Zeros, for which nothing is kept.
    pub(super) const ZEROS: Self = Self([0; ROWS]);

    /// Those numbers.
    #[inline(always)]
    pub(super) fn new(numbers: [u32; L]) -> Self {
        // Mutants: what it is asked for is well inside, or does not compile.
        const { assert!(L <= ROWS && 0 < BITS && BITS < 32) };
        let mut words = [0; ROWS];
        unroll::<L>(|row| words[row / Self::EACH] |= numbers[row] << (row % Self::EACH * BITS));
        // Opaque, or the compiler would keep the numbers instead.
        unroll::<ROWS>(|word| {
            // Mutants: a word more is zero, and nobody asks for it.
            if word * Self::EACH < L {
                words[word] = opaque(words[word]);
            }
        });
        Self(words)
    }

    /// One of them.
    #[inline(always)]
    pub(super) fn get(&self, row: usize) -> u32 {
        self.0[row / Self::EACH] >> (row % Self::EACH * BITS) & ((1 << BITS) - 1)
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::Packed;

    #[test]
    fn numbers_come_back() {
        let (places, digits) = ([0, 65_535, 3, 7000, 1], [255, 0, 17, 128, 254]);
        let (packed, of_digits) = (Packed::<16, 5>::new(places), Packed::<8, 5>::new(digits));
        for row in 0..5 {
            assert_eq!((packed.get(row), of_digits.get(row)), (places[row], digits[row]));
        }
    }
}
