//! What the calls that take a buffer and give a result ask of the driver, counted by one that was made for this: nobody
//! makes them dearer unseen.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

// As cuda-shim makes its own.
#[path = "../../crates/cuda-shim/tests/fake/mod.rs"]
mod fake;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use gpu_core::{Device, Error, Kind, Scratch, ScratchSize, Stream};
use gpu_linalg::{Layout, Matrix, gram_pair, matmul, minus, plus, times};
use gpu_reduce::{argmax, dot, minmax, sum};
use gpu_scan::{exclusive_sum, inclusive_sum};
use gpu_sort::{Segments, SortOptions, segmented_sort, sort, sort_indices, unique};

#[test]
fn a_call_asks_the_driver_for_no_more_than_it_needs() {
    for scenario in ["pools", "no_pools", "unmapped", "devices", "streams", "kept", "threads"] {
        fake::run_with("calls", "counts_calls", scenario);
    }
}

/// Where the driver writes the names of calls, if the file is there.
fn log() -> PathBuf {
    std::env::temp_dir().join(format!("driver-calls-{}", std::process::id()))
}

/// The calls of the driver within `work`, each with how often it came.
fn calls<R, E: std::fmt::Debug>(work: impl FnOnce() -> Result<R, E>) -> BTreeMap<String, usize> {
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
fn expect<R, E: std::fmt::Debug>(what: &str, work: impl Fn() -> Result<R, E>, expected: &[(&str, usize)]) {
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
    match std::env::var("FAKE_DRIVER").unwrap().as_str() {
        "devices" => devices(),
        "streams" => streams(),
        "kept" => kept(),
        "threads" => threads(),
        scenario => count_all(scenario),
    }
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
    let copied = with(2, &[(launch, 1), ("cuMemcpyDtoH_v2", 1)]);
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
        expect("plus", || plus(&x, &x), &with(1, &[(launch, 1)]));
        expect("minus", || minus(&x, &x), &with(1, &[(launch, 1)]));
        expect("times", || times(&x, &x), &with(1, &[(launch, 1)]));
        expect("exclusive_sum", || exclusive_sum(&x), &with(1, &[(ex, 1)]));
    }
    // Sums that are cut: a launch that adds the parts, in scratch memory that is kept.
    let (flat, long) = (input(64 << 11), Layout::row_major(64, 1 << 11).unwrap());
    let flat = Matrix::new(&flat, long).unwrap();
    let parts = gpu_linalg::gemm_scratch::<f32>(1 << 11, Layout::row_major(64, 64).unwrap()).bytes();
    assert!((1..=1 << 20).contains(&parts), "{parts}");
    expect("matmul", || matmul(flat, flat.transposed()), &with(1, &[(launch, 1), (ex, 1)]));
    // A half, and all of it, which one launch more writes.
    expect("gram_pair", || gram_pair(flat, flat), &with(2, &[(launch, 3), (ex, 2)]));
    // As many as a block sorts: one launch; more: a launch that counts, and one for each digit.
    for (len, by_digits) in
        [(1 << 10, false), (1 << 12, false), (1 << 16, true), (1 << 20, true), (1 << 24, true)]
    {
        let x = input(len);
        let one = with(1, &[(launch, 1)]);
        // Scratch memory is kept up to a MiB.
        let own = 1 + usize::from(len >= 1 << 20);
        let all = |own| with(own, &[(ex, 5)]);
        expect("sort", || sort(&x, ascending()), &if by_digits { all(own) } else { one });
        let one = with(2, &[(launch, 1)]);
        expect("sort_indices", || sort_indices(&x, ascending()), &if by_digits { all(own + 1) } else { one });
        let rows = Segments::of_length(64).unwrap();
        // The selected items, and as many of them as there are: here none.
        let none = with(1, &[(launch, 1), (wait, 1)]);
        expect("unique", || unique(&x), if scenario == "unmapped" { &copied } else { &none });
        expect("segmented_sort", || segmented_sort(&x, rows, ascending()), &with(1, &[(launch, 1)]));
    }
}

/// The thread's context is set where it is another, once a call.
fn devices() {
    let [a, b] = [0, 1].map(|ordinal| Device::cuda(ordinal).unwrap().upload(&[1.0f32; 100]).unwrap());
    let once = [("cuCtxSetCurrent", 1), ("cuLaunchKernelEx", 1), ("cuStreamSynchronize", 1)];
    expect(
        "sum where the other device was used before",
        || sum(&b).and_then(|_| sum(&a)),
        &once.map(|(name, _)| (name, 2)),
    );
    calls(|| sum(&a));
    expect("sum", || sum(&a), &once[1..]);
}

/// Work of another stream that writes what is read back is waited for: a wait there, for what came before, and one
/// back.
fn streams() {
    let device = Device::cuda(0).unwrap();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let mut of_stream = device.zeroed::<u32>(1).unwrap();
    stream.memset(&mut of_stream, 1).unwrap();
    let mut result = [7u32];
    let there = calls(|| stream.read_back(&mut result, |output| other.memset(output, 1)));
    let expected =
        [("cuMemHostAlloc", 1), ("cuMemsetD8Async", 1), ("cuEventCreate", 2), ("cuEventRecord", 2)];
    let expected = expected.into_iter().chain([("cuStreamWaitEvent", 2), ("cuStreamSynchronize", 1)]);
    assert_eq!(there, expected.map(|(name, count)| (name.to_owned(), count)).collect());
    // What fails leaves the results as they were, and the place is used again.
    let mut result = [7u32];
    let refused = || Error::Axis { axis: 1, axes: 1 };
    stream.read_back(&mut result, |_| Err(refused())).expect_err("it is refused");
    assert_eq!(result, [7]);
    let here = calls(|| stream.read_back(&mut result, |output| stream.memset(output, 1)));
    assert_eq!(here.keys().collect::<Vec<_>>(), ["cuMemsetD8Async", "cuStreamSynchronize"]);
}

/// What a call does with the scratch memory that it is handed is no other call's concern.
fn kept() {
    let device = Device::cuda(0).unwrap();
    let (default, other) = (device.default_stream(), device.stream().unwrap());
    let size = ScratchSize::new().zeros(100);
    let use_it = |stream: &Stream| Scratch::kept(stream, |scratch| scratch.lend("test", size, |_| Ok(())));
    let fresh = [("cuMemAllocAsync", 1), ("cuMemsetD8Async", 1)];
    let counted = |expected: &[(&str, usize)]| -> BTreeMap<String, usize> {
        expected.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    };
    assert_eq!(calls(|| use_it(&default)), counted(&fresh));
    assert_eq!(calls(|| use_it(&default)), counted(&[]));
    // Within a call, and on another stream, there is some of its own.
    let own = [fresh[0], fresh[1], ("cuMemFreeAsync", 1)];
    assert_eq!(calls(|| Scratch::kept(&default, |_| use_it(&default))), counted(&own));
    assert_eq!(calls(|| use_it(&other)), counted(&own));
    // So there is where more is needed than is kept.
    let large = ScratchSize::new().array::<u8>((1 << 20) + 1);
    let much = || Scratch::kept(&default, |scratch| scratch.lend("test", large, |_| Ok(())));
    assert_eq!(calls(much), counted(&[own[0], own[2]]));
    assert_eq!(calls(|| use_it(&default)), counted(&[]));
    // A failure, and a panic, leave it unknown what is zero.
    let fails = |scratch: &mut Scratch| {
        scratch.lend("test", size, |_| Err::<(), _>(Error::Axis { axis: 1, axes: 1 }))
    };
    Scratch::kept(&default, fails).expect_err("it fails");
    assert_eq!(calls(|| use_it(&default)), counted(&fresh[1..]));
    let panics = || {
        Scratch::kept(&default, |scratch| {
            scratch.lend("test", size, |_| -> Result<(), Error> { panic!("now") })
        })
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).expect_err("it panics");
    assert_eq!(calls(|| use_it(&default)), counted(&fresh[1..]));
    // What is put in its place is not used elsewhere than on its stream, nor where it does not grow.
    for replaced in [Scratch::with_size(&other, size).unwrap(), Scratch::new(&default).fixed()] {
        Scratch::kept(&default, |scratch| {
            *scratch = replaced;
            Ok(())
        })
        .unwrap();
        assert_eq!(calls(|| use_it(&default)).get("cuMemAllocAsync"), Some(&1));
        assert_eq!(calls(|| use_it(&default)), counted(&[]));
    }
}

/// Threads call at the same time.
fn threads() {
    let device = Device::cuda(0).unwrap();
    let x = device.upload(&[1.0f32; 10_000]).unwrap();
    let count = calls(|| {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        sum(&x).unwrap();
                        inclusive_sum(&x).unwrap();
                    }
                });
            }
        });
        gpu_core::Result::Ok(())
    });
    assert_eq!((count["cuLaunchKernelEx"], count["cuStreamSynchronize"]), (1600, 800));
    assert!(count["cuMemHostAlloc"] <= 8, "a place for each of the calls at the same time");
    assert!(count["cuMemAllocAsync"] - count["cuMemFreeAsync"] <= 2, "what is kept stays");
}
