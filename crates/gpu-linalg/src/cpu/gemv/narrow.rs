//! Sums along lines of elements of 16 bits, which are widened one by one.

use gpu_core::vectors::{Work, prefetch};
use gpu_linalg_kernels::Scalar;
use gpu_std::float::Float;

use super::Along;
use crate::cpu::aligned::Aligned;

/// Elements of 16 bytes.
const V: usize = 8;
/// Bytes that are asked for ahead.
const PREFETCH: isize = 6144;

/// `x` in rounds of `V` elements for each of `width` lanes: of each round the lanes' first elements, then their second
/// ones. The last round is filled up with zeros.
pub(super) fn rounds<T: Scalar>(x: &[T], width: usize) -> Aligned<T::Sum> {
    let mut all = Aligned::new(T::Sum::ZERO, x.len().next_multiple_of(width * V));
    for (round, all) in x.chunks(width * V).zip(all.chunks_mut(width * V)) {
        for (at, x) in round.iter().enumerate() {
            all[at % V * width + at / V] = x.widen();
        }
    }
    all
}

/// [`Along`].
pub(super) struct Rows<'a, T: Scalar>(pub(super) Along<'a, T>);

impl<T: Scalar> Work for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.0.width {
            1 => self.lanes::<1, 4>(),
            2 => self.lanes::<2, 4>(),
            4 => self.lanes::<4, 4>(),
            8 => self.lanes::<8, 2>(),
            16 => self.lanes::<16, 2>(),
            _ => self.lanes::<32, 2>(),
        }
    }
}

impl<T: Scalar> Rows<'_, T> {
    /// With `W` lanes, of `L` lines at a time.
    #[inline(always)]
    fn lanes<const W: usize, const L: usize>(self) {
        let Along { a, layout, x, columns, width: _, first, sums } = self.0;
        let line = |at| &a[layout.index(first + at, columns.start)..][..columns.len()];
        let mut at = 0;
        while at < sums.len() {
            if at + L <= sums.len() {
                let of = core::array::from_fn(|number| line(at + number));
                sums[at..at + L].copy_from_slice(&lines::<T, W, L>(of, x));
                at += L;
            } else {
                [sums[at]] = lines::<T, W, 1>([line(at)], x);
                at += 1;
            }
        }
    }
}

/// The sums of `L` lines: their lanes' chains, added at halved distances.
#[inline(always)]
fn lines<T: Scalar, const W: usize, const L: usize>(lines: [&[T]; L], x: &[T::Sum]) -> [T::Sum; L] {
    let mut sums = [[T::Sum::ZERO; W]; L];
    let rounds = lines.map(|line| line.as_chunks::<V>().0.as_chunks::<W>().0);
    let whole = rounds[0].len();
    // What is left, filled up with zeros: they change no sum but in the sign of a zero, which does not last.
    let mut last = [[[T::default(); V]; W]; L];
    for line in 0..L {
        let rest = &lines[line][whole * W * V..];
        last[line].as_flattened_mut()[..rest.len()].copy_from_slice(rest);
    }
    let (x, _) = x.as_chunks::<W>();
    let (x, _) = x.as_chunks::<V>();
    for (number, x) in x.iter().enumerate().take(lines[0].len().div_ceil(W * V)) {
        for line in 0..L {
            let round = rounds[line].get(number).unwrap_or(&last[line]);
            prefetch(round, PREFETCH, size_of::<T>() * W * V);
            for j in 0..V {
                for lane in 0..W {
                    sums[line][lane] = round[lane][j].widen().mul_add(x[j][lane], sums[line][lane]);
                }
            }
        }
    }
    sums.map(|mut lanes| {
        let mut distance = W / 2;
        while distance > 0 {
            (0..distance).for_each(|lane| lanes[lane] = lanes[lane] + lanes[lane + distance]);
            distance /= 2;
        }
        lanes[0]
    })
}
