//! A program of several primitives.

use gpu_reduce::{reduce_scratch, sum_into};
use gpu_scan::{Options, kernels::Sum, scan_into, scan_scratch};
use gpu_sort::{SortOptions, sort_into, sort_scratch};

use super::*;

/// Sorted, scanned and summed, of other numbers each time, beside work of another stream on the same memory.
#[test]
fn primitives_one_after_the_other() {
    on_each("primitives_one_after_the_other", |device| {
        const LEN: usize = 10_000;
        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let size = sort_scratch::<u32>(LEN).unwrap().max(scan_scratch(LEN)).max(reduce_scratch(LEN));
        let buffers = [(); 3].map(|()| device.zeroed::<u32>(LEN).unwrap());
        let held = (buffers, device.zeroed::<u32>(1).unwrap(), scratch(&stream, size));
        let mut graph = stream
            .capture(held, |s, ([keys, sorted, sums], total, scratch)| {
                sort_into(s, &*keys, SortOptions::ascending(), &mut *sorted, scratch)?;
                scan_into::<Sum<u32>>(s, &*sorted, Options::inclusive(), &mut *sums, scratch)?;
                sum_into(s, &*sums, total, scratch)
            })
            .unwrap();
        for round in 0..4_u32 {
            let mut keys: Vec<u32> = numbers(LEN, 1 << 20).into_iter().map(|n| n as u32 ^ round).collect();
            let keys_there = device.upload(&keys).unwrap();
            // On another stream: the launch waits for it, and the next round's for the launch.
            other.copy(&mut graph.resources_mut().0[0], &keys_there).unwrap();
            graph.launch(&stream).unwrap();
            keys.sort_unstable();
            let sums: Vec<u32> = keys
                .iter()
                .scan(0_u32, |sum, key| {
                    *sum = sum.wrapping_add(*key);
                    Some(*sum)
                })
                .collect();
            let total = sums.iter().fold(0_u32, |sum, next| sum.wrapping_add(*next));
            let ([_, sorted, prefix], sum, _) = graph.resources();
            assert!(sorted.to_vec().unwrap() == keys, "keys of round {round} on {device}");
            assert!(prefix.to_vec().unwrap() == sums, "sums of round {round} on {device}");
            assert_eq!(sum.to_vec().unwrap(), [total], "round {round} on {device}");
        }
    });
}
