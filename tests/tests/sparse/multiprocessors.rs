//! Launches that are cut for devices of more and of fewer multiprocessors have the same results.

use gpu_sparse::{Analysis, Diagonal, Side, Transposition, transpose_by};
use gpu_tests::backends::same_on_all_multiprocessors;

use crate::support::matrix;

/// Tiles of one round on many multiprocessors, and of several on few.
#[test]
fn matrices_are_transposed_the_same() {
    let host = matrix::<f64>(6000, 3000, 73, |_, random| {
        (0..random.below(30)).map(|_| random.below(3000)).collect()
    });
    same_on_all_multiprocessors("sparse_to_buckets", |device| {
        let (transposed, _) = transpose_by(&host.on(device), Transposition::Buckets).unwrap();
        let (offsets, indices, values) = transposed.into_buffers();
        let bits: Vec<u64> = values.to_vec().unwrap().into_iter().map(f64::to_bits).collect();
        (offsets.to_vec().unwrap(), indices.to_vec().unwrap(), bits)
    });
}

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
