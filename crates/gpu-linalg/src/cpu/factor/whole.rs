//! Batches of matrices that are factored whole.

use gpu_factor_kernels::Root;
use rayon::prelude::*;

use super::{Buffers, load, store};
use crate::api::Triangle;
use crate::cpu::launch::{Tiles, by_tiles};
use crate::matrix::{BatchLayout, Layout};
use crate::plan::factor::strides;

/// Multiply-adds of a batch that are not worth a second thread: to wake it takes some 15 µs.
const SERIAL: usize = 60_000;

/// Matrices that are read, and how they lie.
type From<'a, T> = Option<(&'a [T], BatchLayout)>;

/// [`crate::potrf_to`] of slices, of matrices of which each is factored whole, as
/// [`reference::potrf`](crate::reference::potrf); `None`: in place. Gives the orders of minors.
///
/// # Panics
/// Where a slice is shorter than its batch.
pub(crate) fn potrf<T: Root>(
    triangle: Triangle,
    from: From<'_, T>,
    (to, layout): (&mut [T], BatchLayout),
    info: &mut [u32],
) {
    if layout.is_empty() {
        return info.fill(0);
    }
    let each = layout.stride.max(layout.matrix.span());
    let n = layout.matrix.rows();
    let one = |buffers: &mut Buffers<T>, number: usize, to: &mut [T]| {
        let from = from.map(|(from, layout)| (&from[number * layout.stride..], layout.matrix));
        by_tiles::<T, _>(Whole { triangle, from, to: (to, layout.matrix), buffers })
    };
    if layout.count * n * n * n / 6 < SERIAL {
        let mut buffers = Buffers::default();
        for (number, (to, info)) in to.chunks_mut(each).zip(info).enumerate() {
            *info = one(&mut buffers, number, to);
        }
    } else {
        to.par_chunks_mut(each).zip(info).enumerate().for_each_init(Buffers::default, |buffers, matrix| {
            let (number, (to, info)) = matrix;
            *info = one(buffers, number, to);
        });
    }
}

/// A matrix that is factored whole.
struct Whole<'a, T> {
    triangle: Triangle,
    from: Option<(&'a [T], Layout)>,
    to: (&'a mut [T], Layout),
    buffers: &'a mut Buffers<T>,
}

impl<T: Root> Tiles for Whole<'_, T> {
    type Output = u32;

    #[inline(always)]
    fn run<const M: usize, const N: usize>(self) -> u32 {
        let Self { triangle, from, to: (to, layout), buffers } = self;
        let n = layout.rows();
        buffers.clear::<M, N>(n);
        let (from, of) = from.unwrap_or((&*to, layout));
        load::<T, M, N>(&mut buffers.strips, n, strides(triangle, of), |at| from[at]);
        let order = buffers.factor::<M, N>(n);
        store::<T, M, N>(&buffers.strips, n, strides(triangle, layout), to);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::super::values::{SHAPES, bits, matrix};
    use super::*;
    use crate::reference;

    /// With the tiles of every set of instructions.
    fn check_whole<T: Root + Into<f64>>(of: fn(f64) -> T) {
        for n in [1, 2, 5, 6, 7, 11, 12, 13, 16, 17, 24, 31, 33, 64, 65, 128, 200] {
            for (order, triangle) in SHAPES {
                let (mut a, layout) = matrix(of, n, order, n % 3);
                for bad in [None, Some((n / 2, -1.0)), Some((n - 1, f64::NAN))] {
                    if let Some((at, value)) = bad {
                        a[layout.index(at, at)] = of(value);
                    }
                    let (mut expected, mut info) = (a.clone(), [7]);
                    reference::potrf(triangle, None, (&mut expected, layout.into()), &mut info);
                    let run = |way: fn(Whole<'_, T>) -> u32| {
                        let mut l = a.clone();
                        let buffers = &mut Buffers::default();
                        let order = way(Whole { triangle, from: None, to: (&mut l, layout), buffers });
                        (bits(&l), order)
                    };
                    let expected = (bits(&expected), info[0]);
                    let ways: [fn(Whole<'_, T>) -> u32; 6] = [
                        |work| work.run::<4, 4>(),
                        |work| work.run::<4, 8>(),
                        |work| work.run::<4, 16>(),
                        |work| work.run::<4, 32>(),
                        |work| work.run::<6, 8>(),
                        |work| by_tiles::<T, _>(work),
                    ];
                    for (number, way) in ways.into_iter().enumerate() {
                        assert!(run(way) == expected, "{number}: {n}, {order:?}, {triangle:?}, {bad:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn whole_matrices_have_the_bits_of_the_reference() {
        check_whole::<f32>(|value| value as f32);
        check_whole::<f64>(|value| value);
    }

    fn check_batch<T: Root + Into<f64>>(of: fn(f64) -> T) {
        for (n, count) in [(3, 1), (3, 50), (40, 9), (70, 3)] {
            for (order, triangle) in SHAPES {
                let (one, layout) = matrix(of, n, order, 1);
                let stride = layout.span() + 2;
                let batch = BatchLayout::new(layout, count, stride).expect("it is small");
                let mut a = vec![of(9.0); stride * count];
                a.chunks_mut(stride).for_each(|a| a[..one.len()].copy_from_slice(&one));
                a[(count - 1) * stride + layout.index(1, 1)] = of(-5.0);
                let (mut expected, mut actual) = (vec![of(3.0); a.len()], vec![of(3.0); a.len()]);
                let (mut orders, mut info) = (vec![0; count], vec![9; count]);
                reference::potrf(triangle, Some((&a, batch)), (&mut expected, batch), &mut orders);
                potrf(triangle, Some((&a, batch)), (&mut actual, batch), &mut info);
                assert_eq!((bits(&actual), &info), (bits(&expected), &orders), "{n} x {count}");
                let mut actual = a.clone();
                potrf(triangle, None, (&mut actual, batch), &mut info);
                reference::potrf(triangle, None, (&mut a, batch), &mut orders);
                assert_eq!((bits(&actual), &info), (bits(&a), &orders), "{n} x {count}, in place");
            }
        }
    }

    #[test]
    fn batches_have_the_bits_of_the_reference() {
        check_batch::<f32>(|value| value as f32);
        check_batch::<f64>(|value| value);
    }
}
