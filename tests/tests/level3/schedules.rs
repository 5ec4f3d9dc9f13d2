//! Blocks of threads that wait for each other's rows, under the simulator's schedules: several in flight, started, interleaved and
//! finished in any order, relaxed loads that may be stale, every access watched.

use gpu_core::Device;
use gpu_level3_kernels::{
    NARROW, Solve, THREADS, WIDE, level3_solve_narrow_f32, level3_solve_wide_f32, solve_shared_bytes,
};
use gpu_linalg::{Diagonal, Layout, Triangle};
use gpu_sim::{Config, Record};
use gpu_std::launch::LaunchConfig;
use gpu_tests::compare::assert_same_bits;

use crate::common::*;

/// Three blocks of rows, the last of which is not full, of two groups of the narrow form and one of the wide one.
const ROWS: usize = 135;
const SIDES: usize = 5;

/// One launch: the solution, and what is said of the diagonal.
fn solved(device: &Device, sides: u32, a: &[f32], b: &[f32]) -> (Vec<f32>, u32) {
    let shape = Solve {
        l_row: ROWS as u64,
        l_column: 1,
        b_row: SIDES as u64,
        b_column: 1,
        size: ROWS as u32,
        columns: SIDES as u32,
        count: 1,
        ..Solve::default()
    };
    let (a, mut b) = (device.upload(a).unwrap(), device.upload(b).unwrap());
    let mut words = device.zeroed::<u32>(shape.words(sides) as usize).unwrap();
    let mut info = device.alloc::<u32>(1).unwrap();
    let launch =
        LaunchConfig::linear(shape.grid(sides) as u32, THREADS).shared(solve_shared_bytes::<f32>(sides));
    let stream = device.default_stream();
    let (l, x) = (a.view().as_global(), b.view_mut().as_global_mut());
    let (zeros, said) = (words.view_mut().as_global_mut(), info.view_mut().as_global_mut());
    // SAFETY: the buffers hold the matrices of the shape, its words and a word of `info`, and live until the results are read.
    unsafe {
        if sides == WIDE {
            level3_solve_wide_f32::launch(&stream, launch, l, x, x, zeros, said, 1.0, shape).unwrap();
        } else {
            level3_solve_narrow_f32::launch(&stream, launch, l, x, x, zeros, said, 1.0, shape).unwrap();
        }
    }
    (b.to_vec().unwrap(), info.to_vec().unwrap()[0])
}

#[test]
fn a_hundred_schedules_of_both_forms() {
    println!("a_hundred_schedules_of_both_forms: seeds 0 to 99");
    let square = Layout::row_major(ROWS, ROWS).unwrap();
    let mut a = triangles::<f32>(7, square.into(), Triangle::Lower, Diagonal::Stored);
    let b = matrices::<f32>(8, Layout::row_major(ROWS, SIDES).unwrap().into());
    let serial = |sides| solved(&Device::simulator(), sides, &a, &b);
    let expected = [NARROW, WIDE].map(serial);
    assert_eq!(expected.each_ref().map(|(_, said)| *said), [u32::MAX; 2]);
    for seed in 0..100 {
        let resident_blocks = 2 + (seed % 5) as usize;
        let config = Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) };
        let device = Device::simulator_with(config);
        let (sides, expected) = if seed % 2 == 0 { (NARROW, &expected[0]) } else { (WIDE, &expected[1]) };
        let (x, said) = solved(&device, sides, &a, &b);
        assert_same_bits(&x, &expected.0, &format!("seed {seed}"));
        assert_eq!(said, u32::MAX, "seed {seed}");
    }
    // The first zero of a later block, found by an earlier one's word or not.
    for zeros in [[70, 130], [3, 64], [134, 100]] {
        zeros.iter().for_each(|&zero| a[square.index(zero, zero)] = 0.0);
        let least = *zeros.iter().min().unwrap() as u32;
        assert_eq!([NARROW, WIDE].map(|sides| solved(&Device::simulator(), sides, &a, &b).1), [least; 2]);
        zeros.iter().for_each(|&zero| a[square.index(zero, zero)] = 1.0);
    }
}

#[test]
fn one_block_of_rows_needs_no_words() {
    let words = |size, sides| Solve { size, columns: 5, count: 3, ..Solve::default() }.words(sides);
    assert_eq!([words(64, NARROW), words(64, WIDE), words(1, NARROW)], [0; 3]);
    // The ticket, and one for each block of each group of right-hand sides.
    assert_eq!([words(65, NARROW), words(65, WIDE)], [1 + 2 * 2 * 3, 1 + 2 * 3]);
}
