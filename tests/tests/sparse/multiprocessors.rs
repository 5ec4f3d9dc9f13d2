//! Launches that are cut for devices of more and of fewer multiprocessors have the same results.

use gpu_sparse::{Analysis, Diagonal, Side};
use gpu_tests::backends::same_on_all_multiprocessors;

use crate::support::matrix;

/// Tiles of as many rows as their counts need on many multiprocessors, and of more on few.
#[test]
fn rows_are_ordered_the_same() {
    let lower = matrix::<f32>(20_000, 20_000, 74, |row, random| {
        let count = if row > 0 { random.below(4) } else { 0 };
        (0..count).map(|_| random.below(row.min(30))).collect()
    });
    same_on_all_multiprocessors("sparse_groups_narrow", |device| {
        let a = lower.on(device);
        let order = Analysis::new(&a, Side::Lower, Diagonal::Unit).unwrap().order_rows().unwrap();
        [order.rows().to_vec().unwrap(), order.starts().to_vec().unwrap()]
    });
}
