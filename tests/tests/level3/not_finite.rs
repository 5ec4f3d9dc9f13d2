//! One element that is NaN or infinite: what is computed with it is not finite, what is not computed with it is, on
//! every backend alike. What is not read at all, of the other triangle, is NaN in all other tests.

use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Diagonal, Order, Side, Triangle, symm, symm_scratch, syrk, syrk_scratch,
    trmm, trmm_scratch, trsm, trsm_scratch,
};
use gpu_tests::backends::for_each;
use gpu_tests::data::random;
use gpu_tests::scratch::exactly;

use crate::common::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Function {
    Trsm,
    Trmm,
    Symm,
    Syrk,
}

pub(crate) const FUNCTIONS: [Function; 4] = [Function::Trsm, Function::Trmm, Function::Symm, Function::Syrk];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) function: Function,
    pub(crate) side: Side,
    pub(crate) triangle: Triangle,
    pub(crate) diagonal: Diagonal,
    pub(crate) orders: [Order; 2],
    /// Rows of A, of the other matrix those or columns that are not A's; one or more.
    pub(crate) sizes: [usize; 2],
    pub(crate) gap: usize,
    /// Whether it is A's element, of its triangle, or else B's.
    pub(crate) in_a: bool,
    pub(crate) bad: f32,
}

/// Where the bad element is, and what it reaches, A standing on the left.
struct Reach {
    case: Case,
    /// Whether A's triangle is the lower one, A standing on the left.
    lower: bool,
    place: (usize, usize),
}

impl Reach {
    fn new(case: Case, seed: u64) -> Self {
        let lower = (case.triangle == Triangle::Lower) == (case.side == Side::Left);
        let [n, m] = case.sizes;
        let draw = |number: usize, below: usize| random(seed, number) as usize % below;
        let place = match (case.in_a, case.function) {
            (true, Function::Syrk) => (draw(0, n), draw(1, m)),
            // Below the diagonal, or above it: the diagonal is not read where it is one, and an infinite pivot makes
            // zeros.
            (true, _) => {
                let i = 1 + draw(0, n - 1);
                let pair = (i, draw(1, i));
                if lower { pair } else { (pair.1, pair.0) }
            }
            (false, _) => (draw(0, n), draw(1, m)),
        };
        Self { case, lower, place }
    }

    /// Whether row `q` is computed with row `p`.
    fn depends(&self, q: usize, p: usize) -> bool {
        if self.lower { q >= p } else { q <= p }
    }

    /// Whether an element of the result is not finite, and whether it may be: what a product takes together is not said
    /// by element.
    fn of(&self, row: usize, column: usize) -> (bool, bool) {
        let (i, k) = self.place;
        match (self.case.function, self.case.in_a) {
            (Function::Trsm, true) => (self.depends(row, i), self.depends(row, i)),
            (Function::Trsm, false) => {
                let reached = column == k && self.depends(row, i);
                (reached, reached)
            }
            (Function::Trmm, false) => (column == k && self.depends(row, i), column == k),
            (Function::Trmm, true) => (row == i, row == i),
            (Function::Symm, true) => (row == i || row == k, row == i || row == k),
            (Function::Symm, false) => (column == k, column == k),
            (Function::Syrk, _) => (row == i || column == i, row == i || column == i),
        }
    }
}

pub(crate) fn check<T: Real>(case: Case, seed: u64) {
    let Case { function, side, triangle, diagonal, orders, sizes: [n, m], gap, .. } = case;
    // Of one row there is nothing beside the diagonal.
    let case = Case { in_a: function == Function::Syrk || (case.in_a && n > 1), ..case };
    let reach = Reach::new(case, seed);
    let (rows, columns) = if side == Side::Left { (n, m) } else { (m, n) };
    let is_update = function == Function::Syrk;
    let of_a = if is_update { (n, m) } else { (n, n) };
    let a_layout: BatchLayout = layout(of_a.0, of_a.1, orders[0], gap).into();
    let of_b = if is_update { (n, n) } else { (rows, columns) };
    let b_layout: BatchLayout = layout(of_b.0, of_b.1, orders[1], gap).into();
    let mut a = if is_update {
        matrices::<T>(seed, a_layout)
    } else {
        triangles::<T>(
            seed,
            a_layout,
            triangle,
            if function == Function::Symm { Diagonal::Stored } else { diagonal },
        )
    };
    let mut b = matrices::<T>(seed + 1000, b_layout);
    let turned =
        |(row, column): (usize, usize)| if side == Side::Left { (row, column) } else { (column, row) };
    let (row, column) = if is_update { reach.place } else { turned(reach.place) };
    let at = if case.in_a { a_layout } else { b_layout }.matrix.index(row, column);
    let bad = if case.in_a { &mut a[at] } else { &mut b[at] };
    *bad = T::from(case.bad);

    let context = format!("{case:?} at {:?}, seed {seed}", reach.place);
    let mut results = Results::new();
    for_each("what is not finite", |device| {
        let (a, stream) = (device.upload(&a).unwrap(), device.default_stream());
        let (of_b, mut result) = (device.upload(&b).unwrap(), device.upload(&b).unwrap());
        let mut info = device.alloc(1).unwrap();
        let of_a = Batch::new(&a, a_layout).unwrap();
        let of_b = Batch::new(&of_b, b_layout).unwrap();
        let into = BatchMut::new(&mut result, b_layout).unwrap();
        let (one, zero) = (T::from(1.0), T::from(0.0));
        match function {
            Function::Trsm => {
                let mut scratch =
                    exactly(&device.default_stream(), trsm_scratch::<T>(side, b_layout).unwrap());
                trsm(&stream, side, triangle, diagonal, one, of_a, into, &mut info, &mut scratch).unwrap();
            }
            Function::Trmm => {
                let mut scratch =
                    exactly(&device.default_stream(), trmm_scratch::<T>(side, b_layout).unwrap());
                trmm(&stream, side, triangle, diagonal, one, of_a, into, &mut scratch).unwrap();
            }
            Function::Symm => {
                let mut scratch =
                    exactly(&device.default_stream(), symm_scratch::<T>(side, b_layout).unwrap());
                symm(&stream, side, triangle, one, of_a, of_b, zero, into, &mut scratch).unwrap();
            }
            Function::Syrk => {
                let mut scratch = exactly(&device.default_stream(), syrk_scratch::<T>(m, b_layout));
                syrk(&stream, triangle, one, of_a, zero, into, &mut scratch).unwrap();
            }
        }
        results.add(device, result.to_vec().unwrap(), &context);
    });
    let result = Dense::of(&results.take(), b_layout, 0);
    for row in 0..of_b.0 {
        for column in 0..of_b.1 {
            if is_update && !triangle.holds(row, column) {
                continue;
            }
            let (q, c) = if is_update { (row, column) } else { turned((row, column)) };
            let (must, may) = reach.of(q, c);
            let value = result.at(row, column);
            assert!(!must || !value.is_finite(), "{context}: ({row}, {column}) is {value}");
            assert!(may || value.is_finite(), "{context}: ({row}, {column}) is {value}");
        }
    }
}
