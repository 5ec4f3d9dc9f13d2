//! Results side by side whose sums across lines are computed together.

use gpu_linalg_kernels::Scalar;
use gpu_std::float::Float;

use crate::cpu::lanes::{Has, Lanes};
use crate::launch::RealElement;

/// Results of those in the compiler's vectors that are left.
const SMALL: usize = 8;

/// Some results side by side. Mark what it has `#[inline(always)]`.
pub(super) trait Cells<T: Scalar>: Copy {
    /// Their values.
    type Values: Copy;
    /// How many, at most.
    const LEN: usize;
    /// Those of what is less than that.
    type Rest: Cells<T>;

    fn rest(self) -> Self::Rest;

    fn zero(self) -> Self::Values;

    /// The first ones of `sums`.
    fn read(self, sums: &[T::Sum]) -> Self::Values;

    fn write(self, values: Self::Values, sums: &mut [T::Sum]);

    /// Adds the right one of two sums to the left one, into the right one's place.
    fn plus(self, left: &Self::Values, right: &mut Self::Values);

    /// Adds the products of a line, which may have fewer elements.
    fn add(self, line: &[T], factor: T::Sum, chains: &mut Self::Values);
}

/// `B` in the compiler's vectors.
#[derive(Clone, Copy)]
pub(super) struct InVectors<const B: usize>;

/// In `S` registers by name.
#[derive(Clone, Copy)]
pub(super) struct InRegisters<R, const S: usize>(pub(super) Has<R>);

impl<T: Scalar, const B: usize> Cells<T> for InVectors<B> {
    type Values = [T::Sum; B];
    const LEN: usize = B;
    type Rest = InVectors<SMALL>;

    #[inline(always)]
    fn rest(self) -> Self::Rest {
        InVectors
    }

    #[inline(always)]
    fn zero(self) -> Self::Values {
        [T::Sum::ZERO; B]
    }

    #[inline(always)]
    fn read(self, sums: &[T::Sum]) -> Self::Values {
        *sums.first_chunk().expect("there are as many")
    }

    #[inline(always)]
    fn write(self, values: Self::Values, sums: &mut [T::Sum]) {
        *sums.first_chunk_mut().expect("there are as many") = values;
    }

    #[inline(always)]
    fn plus(self, left: &Self::Values, right: &mut Self::Values) {
        for at in 0..B {
            right[at] = left[at] + right[at];
        }
    }

    #[inline(always)]
    fn add(self, line: &[T], factor: T::Sum, chains: &mut Self::Values) {
        // No closure, which would be compiled for the oldest machines.
        if let Some(line) = line.first_chunk::<B>() {
            for at in 0..B {
                chains[at] = line[at].widen().mul_add(factor, chains[at]);
            }
        } else {
            for at in 0..line.len() {
                chains[at] = line[at].widen().mul_add(factor, chains[at]);
            }
        }
    }
}

impl<T: RealElement, R: Lanes<T>, const S: usize> Cells<T> for InRegisters<R, S> {
    type Values = [R; S];
    const LEN: usize = S * R::LEN;
    type Rest = InRegisters<R, 1>;

    #[inline(always)]
    fn rest(self) -> Self::Rest {
        InRegisters(self.0)
    }

    #[inline(always)]
    fn zero(self) -> Self::Values {
        [R::splat(self.0, T::ZERO); S]
    }

    #[inline(always)]
    fn read(self, sums: &[T]) -> Self::Values {
        let mut values = self.zero();
        let sums = &sums[..S * R::LEN];
        for at in 0..S {
            values[at] = R::load(self.0, &sums[at * R::LEN..]);
        }
        values
    }

    #[inline(always)]
    fn write(self, values: Self::Values, sums: &mut [T]) {
        let sums = &mut sums[..S * R::LEN];
        for at in 0..S {
            values[at].store(&mut sums[at * R::LEN..]);
        }
    }

    #[inline(always)]
    fn plus(self, left: &Self::Values, right: &mut Self::Values) {
        for at in 0..S {
            right[at] = left[at].plus(right[at]);
        }
    }

    #[inline(always)]
    fn add(self, line: &[T], factor: T, chains: &mut Self::Values) {
        let factor = R::splat(self.0, factor);
        if line.len() < S * R::LEN {
            // Of one register.
            chains[0] = R::load_some(self.0, line).mul_add(factor, chains[0]);
            return;
        }
        for at in 0..S {
            chains[at] = R::load(self.0, &line[at * R::LEN..]).mul_add(factor, chains[at]);
        }
    }
}
