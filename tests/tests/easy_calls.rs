//! What the calls that take a buffer and give a result ask of the driver, counted by one that was made for this: nobody
//! makes them dearer unseen.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

// As cuda-shim makes its own.
#[path = "../../crates/cuda-shim/tests/fake/mod.rs"]
mod fake;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use gpu_core::{Device, Kind};
use gpu_reduce::{argmax, dot, minmax, sum};
use gpu_scan::{exclusive_sum, inclusive_sum};
use gpu_sort::{Segments, SortOptions, segmented_sort, sort, sort_indices};

#[test]
fn a_call_asks_the_driver_for_no_more_than_it_needs() {
    for scenario in ["pools", "no_pools", "unmapped"] {
        fake::run_with("calls", "counts_calls", scenario);
    }
}

/// Where the driver writes the names of calls, if the file is there.
fn log() -> PathBuf {
    std::env::temp_dir().join(format!("driver-calls-{}", std::process::id()))
}

/// The calls of the driver within `work`, each with how often it came.
fn calls<R>(work: impl FnOnce() -> gpu_core::Result<R>) -> BTreeMap<String, usize> {
    let names = || fs::read_to_string(log()).unwrap();
    let before = names().len();
    drop(work().unwrap());
    let mut count = BTreeMap::new();
    for line in names()[before..].lines() {
        *count.entry(line.to_owned()).or_default() += 1;
    }
    count
}

/// The calls of the third time: what is loaded and kept is there then.
#[track_caller]
fn expect<R>(what: &str, work: impl Fn() -> gpu_core::Result<R>, expected: &[(&str, usize)]) {
    calls(&work);
    calls(&work);
    let expected: BTreeMap<String, usize> =
        expected.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
    assert_eq!(calls(&work), expected, "{what}");
}

#[test]
#[ignore = "needs the driver that the test above makes"]
fn counts_calls() {
    fs::write(log(), "").unwrap();
    count_all(&std::env::var("FAKE_DRIVER").unwrap());
    fs::remove_file(log()).unwrap();
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
            with(1, &[(ex, 1), ("cuMemcpyDtoH_v2", 1)])
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
    // As many as a block sorts: one launch; more: cleared counts, a launch that counts, and one for each digit.
    for (len, by_digits) in
        [(1 << 10, false), (1 << 12, false), (1 << 16, true), (1 << 20, true), (1 << 24, true)]
    {
        let x = input(len);
        let one = with(1, &[(launch, 1)]);
        // Scratch memory is kept up to a MiB.
        let own = 1 + usize::from(len >= 1 << 20);
        let all = |own| with(own, &[("cuMemsetD8Async", 1), (ex, 5)]);
        expect("sort", || sort(&x, ascending()), &if by_digits { all(own) } else { one });
        let one = with(2, &[(launch, 1)]);
        expect("sort_indices", || sort_indices(&x, ascending()), &if by_digits { all(own + 1) } else { one });
        let rows = Segments::of_length(64).unwrap();
        expect("segmented_sort", || segmented_sort(&x, rows, ascending()), &with(1, &[(launch, 1)]));
    }
}
