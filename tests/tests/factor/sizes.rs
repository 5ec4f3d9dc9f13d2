//! Batches of sizes of their own: bit for bit the textbook's factors and solutions.

use gpu_core::Device;
use gpu_linalg::{Order, Sizes, Triangle, potrf_sizes, potrs_sizes};
use gpu_tests::backends::{cases, for_each};
use gpu_tests::compare::assert_same_bits;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::batches::solve_oracle;
use crate::common::{
    CANARY, ORDERS, Real, TRIANGLES, layout, oracle, place, placed_factor, positive, rectangle, unit,
};

#[derive(Clone, Debug)]
struct Case {
    sizes: Vec<usize>,
    columns: usize,
    order: Order,
    triangle: Triangle,
    b_order: Order,
    /// A matrix whose last pivot is not positive.
    bad: Option<usize>,
}

/// What a batch is made of and what it should come to: matrices and their factors, right-hand sides and solutions, the
/// orders of minors.
struct Arrays<T> {
    a: Vec<T>,
    l: Vec<T>,
    b: Vec<T>,
    x: Vec<T>,
    orders: Vec<u32>,
}

impl<T: Real> Arrays<T> {
    fn new(case: &Case, sizes: &Sizes) -> Self {
        let &Case { columns, order, triangle, b_order, bad, .. } = case;
        let of_matrices = vec![T::from(CANARY); sizes.elements()];
        let of_sides = vec![T::from(CANARY); sizes.rows() * columns];
        let orders = vec![0; sizes.count()];
        let mut all =
            Self { a: of_matrices.clone(), l: of_matrices, b: of_sides.clone(), x: of_sides, orders };
        for (number, &n) in case.sizes.iter().enumerate().filter(|(_, n)| **n > 0) {
            let mut dense = positive::<T>(number as u64, n);
            let (matrix, right) = (layout(n, order, 0), rectangle(n, columns, b_order, 0));
            if bad == Some(number) {
                dense[n * n - 1] = -T::ONE;
            }
            place(&dense, matrix, triangle, &mut all.a[sizes.first(number)..]);
            let (factor, minor) = oracle(&dense, n);
            placed_factor(&factor, matrix, triangle, &mut all.l[sizes.first(number)..]);
            all.orders[number] = minor;
            for c in 0..columns {
                let of: Vec<T> = (0..n).map(|i| T::of(unit(c as u64, i + number))).collect();
                let solution = solve_oracle(&factor, &of, n);
                for i in 0..n {
                    let at = sizes.rows_before(number) * columns + right.index(i, c);
                    (all.b[at], all.x[at]) = (of[i], solution[i]);
                }
            }
        }
        all
    }
}

fn check<T: Real>(test: &str, case: &Case) {
    let expected = Arrays::<T>::new(case, &Sizes::new(&Device::cpu(), &case.sizes).unwrap());
    if let Some(bad) = case.bad.filter(|&bad| case.sizes[bad] > 0) {
        assert_eq!(expected.orders[bad] as usize, case.sizes[bad]);
    }
    for_each(test, |device| {
        let &Case { columns, order, triangle, b_order, .. } = case;
        let (sizes, stream) = (Sizes::new(device, &case.sizes).unwrap(), device.default_stream());
        let (mut a, mut b) = (device.upload(&expected.a).unwrap(), device.upload(&expected.b).unwrap());
        let mut info = device.upload(&vec![9u32; sizes.count()]).unwrap();
        potrf_sizes(&stream, triangle, order, &sizes, &mut a, &mut info).unwrap();
        let context = format!("{case:?} on {}", device.name());
        assert_same_bits(&a.to_vec().unwrap(), &expected.l, &context);
        assert_eq!(info.to_vec().unwrap(), expected.orders, "{context}");
        potrs_sizes(&stream, triangle, order, &sizes, &a, b_order, columns, &mut b).unwrap();
        assert_same_bits(&b.to_vec().unwrap(), &expected.x, &context);
    });
}

#[test]
fn batches_of_sizes_of_their_own() {
    let sizes = vec![5, 0, 32, 33, 1, 8, 9, 17, 100, 3, 64, 16, 130, 4, 4, 4, 2, 7, 0, 12];
    for order in ORDERS {
        for triangle in TRIANGLES {
            let case =
                |b_order| Case { sizes: sizes.clone(), columns: 5, order, triangle, b_order, bad: Some(6) };
            check::<f32>("batches_of_sizes_of_their_own", &case(Order::RowMajor));
            check::<f64>("batches_of_sizes_of_their_own", &case(Order::ColumnMajor));
        }
    }
}

/// The largest that are computed together, of both halves of their class.
#[test]
fn the_largest_sizes_of_a_batch() {
    let (order, b_order) = (Order::ColumnMajor, Order::ColumnMajor);
    let case = |sizes: &[usize], triangle| Case {
        sizes: sizes.to_vec(),
        columns: 1,
        order,
        triangle,
        b_order,
        bad: Some(2),
    };
    check::<f32>("the_largest_sizes_of_a_batch", &case(&[512, 3, 257], Triangle::Lower));
    check::<f64>("the_largest_sizes_of_a_batch", &case(&[129, 0, 257], Triangle::Upper));
}

/// More matrices than a launch of few blocks takes.
#[test]
fn many_tiny_matrices() {
    let sizes: Vec<usize> = (0..5000).map(|number| number % 7).collect();
    let (order, triangle, b_order) = (Order::RowMajor, Triangle::Lower, Order::RowMajor);
    let case = Case { sizes, columns: 2, order, triangle, b_order, bad: Some(4999) };
    check::<f32>("many_tiny_matrices", &case);
}

/// Sizes around what kernels and classes take, any of them empty, and one that is not positive definite or none.
#[test]
fn any_sizes() {
    println!("any_sizes: ChaCha seed 73 × 32, {} cases", cases() / 4);
    let edges = vec![0usize, 1, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65];
    let size = prop_oneof![3 => prop::sample::select(edges), 3 => 0usize..40, 1 => 0usize..100];
    let sizes = prop::collection::vec(size, 0..14);
    let input = (sizes, 0usize..6, any::<[bool; 4]>(), any::<Option<u8>>());
    let drawn = input.prop_map(|(sizes, columns, [order, triangle, b_order, is_f32], bad)| {
        let bad = bad.filter(|_| !sizes.is_empty()).map(|bad| usize::from(bad) % sizes.len());
        let [order, b_order] = [order, b_order].map(|of| ORDERS[usize::from(of)]);
        (Case { sizes, columns, order, triangle: TRIANGLES[usize::from(triangle)], b_order, bad }, is_f32)
    });
    let config = Config { cases: cases() / 4, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x73; 32]));
    runner
        .run(&drawn, |(case, is_f32)| {
            if is_f32 {
                check::<f32>("any_sizes", &case)
            } else {
                check::<f64>("any_sizes", &case)
            }
            Ok(())
        })
        .unwrap();
}
