//! Products beside the reference, for the tests of each way to compute them.

use super::lanes::Registers;
use crate::matrix::{BatchLayout, Layout};
use crate::plan::gemm::Sums;
use crate::reference;

/// Layouts that each shape is tried in: each order of both factors, with and without gaps.
pub(super) const LAYOUTS: usize = 8;

/// Computes a product in all [`LAYOUTS`] beside the reference, and says how often it was computed. `product` takes A,
/// B, alpha and beta, C and the distance of its rows, and says whether it is one of its own.
pub(super) fn check<T: Registers + PartialEq>(
    [m, n, depth]: [usize; 3],
    beta: f64,
    of: fn(f64) -> T,
    product: impl Fn((&[T], Layout), (&[T], Layout), (T, T), (&mut [T], usize)) -> bool,
) -> usize {
    let mut taken = 0;
    for lines in [[false, false], [false, true], [true, false], [true, true]] {
        for gap in [0, 3] {
            let [of_a, of_b] = [(m, depth, lines[0]), (depth, n, lines[1])]
                .map(|(rows, columns, is_turned)| layout(rows, columns, (is_turned, gap)));
            let of_c = layout(m, n, (false, gap));
            let (a, b) = (values(of_a.span(), 1, of), values(of_b.span(), 1 << 32, of));
            let old = values(of_c.span(), 1 << 33, of);
            let one = |matrix| BatchLayout { matrix, count: 1, stride: 0 };
            let (factors, mut actual) = ((of(0.5), of(beta)), old.clone());
            if product((&a, of_a), (&b, of_b), factors, (&mut actual, of_c.leading_dimension())) {
                let mut expected = old;
                let (a, b, c) = ((&a[..], one(of_a)), (&b[..], one(of_b)), (&mut expected[..], one(of_c)));
                reference::by_tiles((None, Sums::Parts), factors.0, a, b, factors.1, c);
                assert!(actual == expected, "{m} × {n} × {depth}, turned {lines:?}, gap {gap}, beta {beta}");
                taken += 1;
            }
        }
    }
    taken
}

/// Values of many magnitudes, so that another order of operations shows.
fn values<T: Registers>(len: usize, seed: u64, of: fn(f64) -> T) -> Vec<T> {
    (0..len as u64)
        .map(|at| {
            let hash = (at + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            of(((hash >> 40) as f64 - 8e6) * 2f64.powi((hash >> 20 & 15) as i32))
        })
        .collect()
}

/// A matrix's layout, in either order and with or without a gap behind each line.
fn layout(rows: usize, columns: usize, (is_turned, gap): (bool, usize)) -> Layout {
    let layout =
        if is_turned { Layout::column_major(rows, columns) } else { Layout::row_major(rows, columns) };
    let layout = layout.expect("it is small");
    layout.with_leading_dimension(layout.leading_dimension() + gap).expect("it is small")
}
