//! Division of a block's number by what a launch is told.

use gpu_std::parameter::Parameter;

/// A divisor and its inverse: a quotient takes three instructions, where the GPU's own division of integers takes
/// some thirty and waits for a reciprocal, which short blocks notice.
///
/// With `l` = ⌈log₂ d⌉ and `m` = ⌈2³¹⁺ˡ / d⌉, `m · d` exceeds 2³¹⁺ˡ by less than `d` ≤ 2ˡ, so that ⌊n · m / 2³¹⁺ˡ⌋ is
/// the quotient for all `n` below 2³¹. (T. Granlund and P. L. Montgomery, *Division by invariant integers using
/// multiplication*, PLDI 1994, theorem 4.2.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Divisor {
    divisor: u32,
    multiplier: u32,
    shift: u32,
}

impl Divisor {
    /// The divisor `divisor`, at least 1.
    pub const fn new(divisor: u32) -> Self {
        let shift = divisor.next_power_of_two().trailing_zeros();
        Self { divisor, multiplier: (1u64 << (31 + shift)).div_ceil(divisor as u64) as u32, shift }
    }

    /// The divisor.
    pub const fn get(self) -> u32 {
        self.divisor
    }

    /// ⌊`number` / divisor⌋, for numbers below 2³¹.
    #[inline(always)]
    pub const fn quotient(self, number: u32) -> u32 {
        // Twice the number, so that the product's upper word is what is shifted.
        (((2 * number) as u64 * self.multiplier as u64) >> 32) as u32 >> self.shift
    }
}

/// The same for numbers below 2⁴⁰, as the elements of an array have: quotients are three instructions of 64 bits,
/// where the GPU's division of 64 bits is a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct WideDivisor {
    divisor: u64,
    multiplier: u64,
    shift: u64,
}

impl WideDivisor {
    /// The divisor `divisor`, at least 1; at 2⁴⁰ and beyond all quotients are 0.
    pub const fn new(divisor: u64) -> Self {
        // Mutants: of two equal numbers either is the smaller.
        let below = if divisor < 1 << 40 { divisor } else { 1 << 40 };
        let shift = below.next_power_of_two().trailing_zeros();
        let multiplier = (1u128 << (40 + shift)).div_ceil(below as u128) as u64;
        Self { divisor, multiplier, shift: shift as u64 }
    }

    /// The divisor.
    pub const fn get(self) -> u64 {
        self.divisor
    }

    /// ⌊`number` / divisor⌋, for numbers below 2⁴⁰.
    #[inline(always)]
    pub const fn quotient(self, number: u64) -> u64 {
        // Times 2²⁴, so that the product's upper word is what is shifted.
        (((number << 24) as u128 * self.multiplier as u128) >> 64) as u64 >> self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_exact() {
        const LAST: u32 = i32::MAX as u32;
        let divisors = (1..300).chain((1..31).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]));
        for divisor in divisors.chain([641, 65_537, 1_000_003, LAST - 1, LAST]) {
            let by = Divisor::new(divisor);
            // Around the multiples, where a quotient that is a little off is wrong: the first ones, some, and the
            // last ones.
            let multiples = LAST / divisor;
            let step = (multiples / 97).max(1) as usize;
            let some = (0..=multiples.min(9)).chain((0..=multiples).step_by(step)).chain([multiples]);
            for number in some.flat_map(|n| [(n * divisor).saturating_sub(1), n * divisor, n * divisor + 1]) {
                if number <= LAST {
                    assert_eq!(by.quotient(number), number / divisor, "{number} / {divisor}");
                }
            }
            assert_eq!((by.quotient(LAST), by.get()), (LAST / divisor, divisor));
        }
    }

    #[test]
    fn wide_quotients_are_exact() {
        const LAST: u64 = (1 << 40) - 1;
        let powers = (1..40).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for divisor in (1..300).chain(powers).chain([641, 65_537, 6_700_417, LAST - 1, LAST, LAST + 1]) {
            let by = WideDivisor::new(divisor);
            let multiples = LAST / divisor;
            let step = (multiples / 97).max(1) as usize;
            let some = (0..=multiples.min(9)).chain((0..=multiples).step_by(step)).chain([multiples]);
            for number in some.flat_map(|n| [(n * divisor).saturating_sub(1), n * divisor, n * divisor + 1]) {
                if number <= LAST {
                    assert_eq!(by.quotient(number), number / divisor, "{number} / {divisor}");
                }
            }
            assert_eq!((by.quotient(LAST), by.get()), (LAST / divisor, divisor));
        }
    }
}
