//! What is less, and how two sorted sequences are cut: of equal items too, which a merged sequence does not show.
#![cfg(not(target_arch = "nvptx64"))]
#![allow(missing_docs, reason = "kernels of tests")]

use gpu_collective::block::merge::{merge_path, merge_path_of_warp};
use gpu_collective::warp::sort::Sortable;
use gpu_core::Device;
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

#[test]
fn an_item_is_less_than_greater_ones_only() {
    fn check<C: Sortable + core::fmt::Debug>(ascending: &[C]) {
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.is_less(*b), i < j, "{a:?} and {b:?}");
            }
        }
    }
    check(&[0, 1, u32::MAX]);
    check(&[0, 1, 1 << 32, u64::MAX]);
    check(&[0, 1, 2, 1 << 64, (1 << 64) + 1, 2 << 64, (2 << 64) + 1, u128::MAX]);
}

/// For each number of merged items how many come from `a`, as a thread finds it and as a warp does.
#[kernel]
pub fn paths(a: Global<u32>, a_len: u32, b: Global<u32>, b_len: u32, found: GlobalMut<u32>) {
    let mut diagonal = 0;
    while diagonal <= a_len + b_len {
        let by_thread = merge_path(|at| a.read(at), a_len, |at| b.read(at), b_len, diagonal);
        let by_warp = merge_path_of_warp(|at| a.read(at), a_len, |at| b.read(at), b_len, diagonal);
        if warp::lane_id() == 0 {
            found.write(2 * diagonal, by_thread);
            found.write(2 * diagonal + 1, by_warp);
        }
        diagonal += 1;
    }
}

#[test]
fn equal_items_of_the_first_sequence_come_first() {
    // All are equal, few differ, all differ; lengths about that of a warp and its multiples.
    for (same, a_len, b_len) in [(100, 40, 5), (7, 33, 64), (3, 97, 70), (1, 50, 50), (2, 31, 0), (2, 0, 32)]
    {
        let (a, b): (Vec<u32>, Vec<u32>) =
            ((0..a_len).map(|i| i / same).collect(), (0..b_len).map(|i| i / same).collect());
        // Pairs of an item and whether it is from `b` are in the order that is meant.
        let of_b = b.iter().map(|item| (*item, true));
        let mut merged: Vec<(u32, bool)> = a.iter().map(|item| (*item, false)).chain(of_b).collect();
        merged.sort_unstable();
        let from_a = |diagonal: usize| merged[..diagonal].iter().filter(|item| !item.1).count() as u32;
        let expected: Vec<u32> = (0..=merged.len()).flat_map(|diagonal| [from_a(diagonal); 2]).collect();
        for seed in [0, 1] {
            let device = Device::simulator_with(gpu_sim::Config::with_seed(seed));
            let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
            let mut found = device.zeroed(expected.len()).unwrap();
            let (first, second) = (a.view().as_global(), b.view().as_global());
            let (config, to) = (LaunchConfig::linear(1, 32), found.view_mut().as_global_mut());
            // SAFETY: there are so many items, and two numbers for each diagonal.
            unsafe {
                paths::launch(&device.default_stream(), config, first, a_len, second, b_len, to).unwrap();
            }
            assert_eq!(found.to_vec().unwrap(), expected, "seed {seed}, {a_len} and {b_len} by {same}");
        }
    }
}
