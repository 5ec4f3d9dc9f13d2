//! The sum along a single line: x is in no other product, and is put in the order of lanes as it is read.

use gpu_core::vectors::prefetch_l2;

use super::along::{AHEAD, Arranged, arranged, asks, folded_lines, halved, some, turned, whole};
use crate::cpu::lanes::{Beside, Has, Lanes, Registers};
use crate::cpu::launch::ByRegisters;

/// A line, or a piece of it, and as much of x; `V` elements are 16 bytes.
pub(super) struct Dot<'a, T, const V: usize> {
    pub(super) line: &'a [T],
    pub(super) x: &'a [T],
    /// Lanes of the line.
    pub(super) width: usize,
    /// Whether it comes from memory.
    pub(super) is_far: bool,
}

impl<T: Registers, const V: usize> ByRegisters<T> for Dot<'_, T, V> {
    type Output = Option<T>;

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(self, has: (Has<W>, Has<H>, Has<L>)) -> Option<T> {
        let width = self.width;
        arranged::<T, W, H, L, _, V>(self, width, has)
    }
}

impl<T: Registers, const V: usize> Arranged<T, V> for Dot<'_, T, V> {
    type Output = Option<T>;

    #[inline(always)]
    fn lanes<R: Lanes<T>, const G: usize>(self, has: Has<R>) -> Option<T> {
        let (len, round) = (self.line.len(), G * V * R::LEN);
        let both = Beside::new([self.line, self.x], len);
        let (mut sums, mut at) = ([R::splat(has, T::ZERO); G], 0);
        while at + round <= len {
            let parts = both.some(at, round);
            if const { asks::<R>() } && self.is_far {
                for part in parts {
                    prefetch_l2(part, AHEAD, round * size_of::<T>());
                }
            }
            add::<T, R, V, G, true>(has, parts, &mut sums);
            at += round;
        }
        add::<T, R, V, G, false>(has, both.some(at, len - at), &mut sums);
        let mut ends = [R::splat(has, T::ZERO); V];
        ends[0] = halved(sums);
        Some(folded_lines::<T, R, V, V>(ends)[0])
    }

    /// None: these are short.
    #[inline(always)]
    fn beside<R: Lanes<T>, const G: usize>(self, _: Has<R>) -> Option<T> {
        None
    }
}

/// Adds the products of a round of both, which may be less than `WHOLE`, to the chains of its lanes.
#[inline(always)]
fn add<T: Registers, R: Lanes<T>, const V: usize, const G: usize, const WHOLE: bool>(
    has: Has<R>,
    [line, x]: [&[T]; 2],
    sums: &mut [R; G],
) {
    for (group, sum) in sums.iter_mut().enumerate() {
        let from = group * V * R::LEN;
        let (line, x) = if const { WHOLE } {
            (whole::<T, R, V>(has, &line[from..]), whole::<T, R, V>(has, &x[from..]))
        } else if from < line.len() {
            (some::<T, R, V>(has, line, from), some::<T, R, V>(has, x, from))
        } else {
            return;
        };
        let (line, x) = (turned(line), turned(x));
        for j in 0..V {
            *sum = line[j].mul_add(x[j], *sum);
        }
    }
}
