//! Products beside the reference.

use super::*;
use crate::cpu::launch::tests::in_registers;
use gpu_std::half::{bf16, f16};

const SHAPES: [(usize, usize); 15] = [
    (1, 1),
    (1, 130),
    (1, 33_333),
    (1, 4096),
    (4096, 1),
    (7, 9),
    (3, 5000),
    (5000, 3),
    (33, 130),
    (130, 33),
    (257, 1031),
    (600, 700),
    (1, 200_000),
    (17, 70_000),
    (70_000, 5),
];

fn check<T: Element + PartialEq + core::fmt::Debug>(
    shapes: &[(usize, usize)],
    of: fn(f32) -> T,
    factors: [T::Sum; 2],
) {
    for &(rows, columns) in shapes {
        for gap in [0, 3] {
            for order in [Layout::row_major(rows, columns), Layout::column_major(rows, columns)] {
                let layout = order.expect("it is small");
                let layout =
                    layout.with_leading_dimension(layout.leading_dimension() + gap).expect("it is small");
                let value = |at: usize| {
                    let hash = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    of(((hash >> 40) as f32 - 8e6) * 2f32.powi((hash >> 20 & 7) as i32 - 22))
                };
                let a: Vec<T> = (0..layout.span()).map(value).collect();
                let x: Vec<T> = (0..columns).map(|at| value(at + 77)).collect();
                let old: Vec<T> = (0..rows).map(|at| value(at + 777)).collect();
                for alpha in [factors[0], T::Sum::ZERO] {
                    let (mut expected, mut actual) = (old.clone(), old.clone());
                    reference::gemv(alpha, &a, layout, &x, factors[1], &mut expected).expect("it fits");
                    gemv(alpha, &a, layout, &x, factors[1], &mut actual).expect("it fits");
                    assert!(actual == expected, "{layout:?}");
                }
            }
        }
    }
}

/// Shapes of few elements in each kind of registers.
fn check_registers<T: Element + PartialEq + core::fmt::Debug>(of: fn(f32) -> T, factors: [T::Sum; 2]) {
    for widest in [16, 32, usize::MAX] {
        in_registers(widest, || {
            for columns in [1, 2, 3, 4, 5, 8, 9, 17, 31, 33, 64, 65, 100, 130, 257, 515] {
                let shapes = [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 77, 150].map(|rows| (rows, columns));
                check(&shapes, of, factors);
            }
            check(&[(1, 9000), (2, 5003), (3, 4096), (6, 4100), (16, 3001), (1100, 70)], of, factors);
        });
    }
}

#[test]
fn all_registers_give_the_references_bits() {
    check_registers::<f32>(|value| value, [0.5, -1.5]);
    check_registers::<f64>(|value| f64::from(value) / 3.0, [0.5, -1.5]);
}

/// However rows are dealt out to threads, and however few the last one has.
#[test]
fn parts_of_rows_have_the_bits_of_all() {
    fn check<T: Lines<Sum = T> + PartialEq + core::fmt::Debug>(of: fn(f32) -> T) {
        let (rows, columns) = (7700, 140);
        let layout = Layout::column_major(rows, columns).expect("it is small");
        let value = |at: usize| of((at as u32).wrapping_mul(0x9e37_79b9) as f32 / 3e9);
        let a: Vec<T> = (0..layout.span()).map(value).collect();
        let x: Vec<T> = (0..columns).map(|at| value(at + 77)).collect();
        for width in [1, 2, 4, 8, 16, 32] {
            let (groups, of_warp) = (ACROSS_THREADS as usize / width, 32 / width);
            let by = |task: usize| {
                let mut sums = vec![of(0.0); rows];
                for (number, sums) in sums.chunks_mut(task).enumerate() {
                    let (first, columns) = (number * task, 0..columns);
                    T::across(Across { a: &a, layout, x: &x, columns, groups, of_warp, first, sums });
                }
                sums
            };
            let all = by(rows);
            for task in [64, 256, 1024, 7699, 7650] {
                assert!(by(task) == all, "{task} rows, {width} lanes");
            }
        }
    }
    check::<f32>(|value| value);
    check::<f64>(|value| f64::from(value) / 3.0);
}

/// Of which lines are asked for ahead.
#[test]
fn matrices_from_memory_have_the_references_bits() {
    for (widest, rows) in [(usize::MAX, 1750), (32, 3600), (16, 1801)] {
        in_registers(widest, || {
            let columns = along::FAR_BYTES / 4 / rows + 1;
            check::<f32>(&[(rows, columns)], |value| value, [0.5, -1.5]);
            check::<f64>(&[(rows, columns / 2 + 1)], |value| f64::from(value) / 3.0, [0.5, -1.5]);
        });
    }
}

/// Of so large matrices a warp has a single group for as many rows as registers hold.
#[test]
fn warps_of_one_group_have_the_references_bits() {
    for rows in [33, few::MOST] {
        let layout = Layout::column_major(rows, (128 << 20) / size_of::<f64>() / rows + 1).expect("it fits");
        let value = |at: usize| f64::from((at as u32).wrapping_mul(0x9e37_79b9)) / 3e9;
        let a: Vec<f64> = (0..layout.span()).map(value).collect();
        let x: Vec<f64> = (0..layout.columns()).map(|at| value(at + 77)).collect();
        let (mut expected, mut actual) = (vec![0.0; rows], vec![0.0; rows]);
        reference::gemv(1.0, &a, layout, &x, 0.0, &mut expected).expect("it fits");
        gemv(1.0, &a, layout, &x, 0.0, &mut actual).expect("it fits");
        assert!(actual == expected, "{layout:?}");
    }
}

/// Of more threads than pieces several take rows of one.
#[test]
fn threads_that_share_pieces_have_the_references_bits() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(16).build().expect("threads");
    pool.install(|| {
        let shapes = [(124, 7747), (33, 30_000), (9, 100_001)];
        check::<f32>(&shapes, |value| value, [0.5, -1.5]);
        check::<f64>(&shapes, |value| f64::from(value) / 3.0, [0.5, -1.5]);
    });
}

#[test]
fn the_bits_are_the_references() {
    check::<f32>(&SHAPES, |value| value, [0.5, -1.5]);
    check::<f64>(&SHAPES, |value| f64::from(value) / 3.0, [0.5, -1.5]);
    check::<f16>(&SHAPES, f16::from_f32, [0.5, -1.5]);
    check::<bf16>(&SHAPES, bf16::from_f32, [0.5, -1.5]);
}
