//! The sum along a single line: x is in no other product, and is put in the order of lanes as it is read.

use gpu_core::vectors::prefetch_l2;

use super::along::{AHEAD, Arranged, arranged, folded_lines, halved, some, turned, whole};
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
            if self.is_far {
                for part in parts {
                    prefetch_l2(part, AHEAD, round * size_of::<T>());
                }
            }
            for (group, sum) in sums.iter_mut().enumerate() {
                let [line, x] = parts.map(|part| &part[group * V * R::LEN..][..V * R::LEN]);
                let (line, x) = (turned(whole::<T, R, V>(has, line)), turned(whole::<T, R, V>(has, x)));
                for j in 0..V {
                    *sum = line[j].mul_add(x[j], *sum);
                }
            }
            at += round;
        }
        let [line, x] = both.some(at, len - at);
        for (group, sum) in sums.iter_mut().enumerate() {
            let from = group * V * R::LEN;
            if from < line.len() {
                let (line, x) =
                    (turned(some::<T, R, V>(has, line, from)), turned(some::<T, R, V>(has, x, from)));
                for j in 0..V {
                    *sum = line[j].mul_add(x[j], *sum);
                }
            }
        }
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
