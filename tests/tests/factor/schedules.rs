//! Blocks of threads that wait for each other's panels, under the simulator's schedules: several in flight, started,
//! interleaved and finished in any order, relaxed loads that may be stale, every access watched.

use std::ops::Range;

use gpu_core::Device;
use gpu_linalg::{BatchLayout, BatchMut, Order, Triangle, potrf, potrf_scratch};
use gpu_sim::{Config, Record};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::scratch::exactly;

use crate::common::{Real, layout, place, positive};

/// Four rows of tiles, the last of which has a panel and a part of one.
const ROWS: usize = 3 * 128 + 21;

fn factor<T: Real>(device: &Device, a: &[T], batch: BatchLayout) -> (Vec<T>, Vec<u32>) {
    let (n, count) = (batch.matrix.rows(), batch.count);
    let mut a = device.upload(a).unwrap();
    let mut info = device.alloc(count).unwrap();
    let mut scratch = exactly(&device.default_stream(), potrf_scratch::<T>(n, count).unwrap());
    let into = BatchMut::new(&mut a, batch).unwrap();
    potrf(&device.default_stream(), Triangle::Lower, into, &mut info, &mut scratch).unwrap();
    (a.to_vec().unwrap(), info.to_vec().unwrap())
}

fn check<T: Real>(seeds: Range<u64>, (n, count): (usize, usize), order: Order) {
    println!("schedules of potrf of {count} of {n} rows: seeds {seeds:?}");
    let matrix = layout(n, order, 3);
    let batch = matrix.batch(count).unwrap();
    let mut dense = positive::<T>(7, n);
    for bad in [false, true] {
        if bad {
            // Of several that fail the first is said.
            [n - 100, n / 3, n - 15].into_iter().for_each(|at| dense[at * n + at] = T::from(-1.0));
        }
        let mut a = vec![T::ZERO; batch.span().unwrap()];
        for number in 0..count {
            place(&dense, matrix, Triangle::Lower, &mut a[number * batch.stride..]);
        }
        let (expected, minor) = factor(&Device::cpu(), &a, batch);
        let first = (n - 100).min(n / 3) as u32 + 1;
        assert_eq!(minor, vec![if bad { first } else { 0 }; count]);
        for seed in seeds.clone().filter(|seed| !bad || seed % 10 == 0) {
            let resident_blocks = 1 + (seed % 6) as usize;
            let config = Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) };
            let (l, info) = factor(&Device::simulator_with(config), &a, batch);
            assert_same_bits(&l, &expected, &format!("seed {seed}"));
            assert_eq!(info, minor, "seed {seed}");
        }
    }
}

#[test]
fn schedules_of_doubles() {
    check::<f64>(0..20, (ROWS, 1), Order::ColumnMajor);
}

#[test]
fn schedules_of_floats() {
    check::<f32>(20..40, (ROWS, 1), Order::RowMajor);
}

#[test]
fn schedules_of_batches() {
    check::<f64>(40..60, (150, 3), Order::RowMajor);
}
