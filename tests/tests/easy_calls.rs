//! What the calls that take a buffer and give a result ask of the driver, counted by one that was made for this: nobody
//! makes them dearer unseen.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

// As cuda-shim makes its own.
#[path = "../../crates/cuda-shim/tests/fake/mod.rs"]
mod fake;

use std::collections::BTreeMap;
use std::fs;

use gpu_core::{Device, Kind};
use gpu_reduce::{argmax, dot, minmax, sum};
use gpu_scan::{exclusive_sum, inclusive_sum};
use gpu_sort::{Segments, SortOptions, segmented_sort, sort, sort_indices, sort_pairs};

#[test]
fn a_call_asks_the_driver_for_no_more_than_it_needs() {
    for scenario in ["pools", "no_pools", "unmapped"] {
        fake::run_with("calls", "counts_calls", scenario);
    }
}

/// The calls of the driver within `work`, each with how often it came.
fn calls<R>(work: impl FnOnce() -> gpu_core::Result<R>) -> BTreeMap<String, usize> {
    let log = || fs::read_to_string(std::env::var_os("FAKE_CALLS").unwrap()).unwrap_or_default();
    let before = log().len();
    drop(work().unwrap());
    let mut count = BTreeMap::new();
    for line in log()[before..].lines() {
        *count.entry(line.to_owned()).or_default() += 1;
    }
    count
}

/// The calls of the third time: what is loaded and kept is there then.
#[track_caller]
fn expect<R>(what: &str, work: impl Fn() -> gpu_core::Result<R>, expected: &[(&str, usize)]) {
    calls(&work);
    calls(&work);
    let expected: BTreeMap<String, usize> = expected.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
    assert_eq!(calls(&work), expected, "{what}");
}

#[test]
#[ignore = "needs the driver that the test above makes"]
fn counts_calls() {
    let log = std::env::current_exe().unwrap().with_extension(format!("{}.calls", std::process::id()));
    // SAFETY: no other thread reads the environment: this test is the only one of its process.
    unsafe { std::env::set_var("FAKE_CALLS", &log) };
    let scenario = std::env::var("FAKE_DRIVER").unwrap();
    count_all(&scenario);
    fs::remove_file(log).unwrap();
}

fn count_all(scenario: &str) {
    let device = Device::cuda(0).unwrap();
    assert_eq!(device.kind(), Kind::Cuda);
    let pools = scenario != "no_pools";
    let input = |len: usize| device.upload(&vec![1.0f32; len]).unwrap();
    let ascending = SortOptions::ascending;
    let (launch, ex, wait) = ("cuLaunchKernel", "cuLaunchKernelEx", "cuStreamSynchronize");
    // An allocation and its drop: without pools the drop waits.
    let memory: &[_] = if pools {
        &[("cuMemAllocAsync", 1), ("cuMemFreeAsync", 1)]
    } else {
        &[("cuMemAlloc_v2", 1), ("cuMemFree_v2", 1), ("cuCtxSynchronize", 1)]
    };
    let with = |times: usize, others: &[(&'static str, usize)]| -> Vec<(&'static str, usize)> {
        memory.iter().map(|&(name, count)| (name, times * count)).chain(others.iter().copied()).collect()
    };

    expect("an allocation", || device.alloc::<f32>(1 << 20), &with(1, &[]));
    for len in [1 << 10, 1 << 16, 1 << 20, 1 << 24] {
        let x = input(len);
        // One kernel, which writes its result to the host's memory.
        let one = if scenario == "unmapped" {
            with(1, &[(ex, 1), ("cuMemHostAlloc", 1), ("cuMemFreeHost", 1), ("cuMemcpyDtoH_v2", 1)])
        } else {
            vec![(ex, 1), (wait, 1)]
        };
        expect("sum", || sum(&x), &one);
        expect("argmax", || argmax(&x), &one);
        expect("minmax", || minmax(&x), &one);
        expect("dot", || dot(&x, &x), &one);
        expect("inclusive_sum", || inclusive_sum(&x), &with(1, &[(ex, 1)]));
        expect("exclusive_sum", || exclusive_sum(&x), &with(1, &[(ex, 1)]));
    }
    let _ = (launch, sort::<f32>, sort_indices::<f32>, sort_pairs::<f32, u32>, segmented_sort::<f32>, Segments::of_length, ascending);
}
