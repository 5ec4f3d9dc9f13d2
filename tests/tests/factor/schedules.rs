//! Blocks of threads that wait for each other's panels, under the simulator's schedules: several in flight, started,
//! interleaved and finished in any order, relaxed loads that may be stale, every access watched.

use std::ops::Range;

use gpu_core::Device;
use gpu_linalg::{Layout, MatrixMut, Order, Triangle, potrf, potrf_scratch_len};
use gpu_sim::{Config, Record};
use gpu_tests::compare::assert_same_bits;

use crate::common::{Real, layout, place, positive};

/// Four rows of tiles, the last of which has a panel and a part of one.
const ROWS: usize = 3 * 128 + 21;

fn factor<T: Real>(device: &Device, a: &[T], matrix: Layout) -> (Vec<T>, u32) {
    let mut a = device.upload(a).unwrap();
    let mut info = device.alloc(1).unwrap();
    let mut scratch = device.alloc(potrf_scratch_len::<T>(ROWS, 1).unwrap()).unwrap();
    let into = MatrixMut::new(&mut a, matrix).unwrap();
    potrf(&device.default_stream(), Triangle::Lower, into, &mut info, &mut scratch).unwrap();
    (a.to_vec().unwrap(), info.to_vec().unwrap()[0])
}

fn check<T: Real>(seeds: Range<u64>, order: Order) {
    println!("schedules of potrf: seeds {seeds:?}");
    let matrix = layout(ROWS, order, 3);
    let mut dense = positive::<T>(7, ROWS);
    for bad in [false, true] {
        if bad {
            // Of several that fail the first is said.
            [300, 150, 390].into_iter().for_each(|at| dense[at * ROWS + at] = T::from(-1.0));
        }
        let mut a = vec![T::ZERO; matrix.span()];
        place(&dense, matrix, Triangle::Lower, &mut a);
        let (expected, minor) = factor(&Device::cpu(), &a, matrix);
        assert_eq!(minor, if bad { 151 } else { 0 });
        for seed in seeds.clone().filter(|seed| !bad || seed % 10 == 0) {
            let resident_blocks = 1 + (seed % 6) as usize;
            let config = Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) };
            let (l, info) = factor(&Device::simulator_with(config), &a, matrix);
            assert_same_bits(&l, &expected, &format!("seed {seed}"));
            assert_eq!(info, minor, "seed {seed}");
        }
    }
}

#[test]
fn forty_schedules_of_doubles() {
    check::<f64>(0..40, Order::ColumnMajor);
}

#[test]
fn forty_schedules_of_floats() {
    check::<f32>(40..80, Order::RowMajor);
}
