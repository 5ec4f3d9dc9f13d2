//! The kernels that measure a device: what they compute, in the simulator and on a device, and how often they do what
//! is measured, as the simulator counts it. (gpu-model launches them, and divides clocks by those numbers.)

use gpu_calibrate_kernels::{self as kernels, READS};
use gpu_core::{Device, Stream};
use gpu_sim::{Config, Counts, Record};
use gpu_std::launch::LaunchConfig;
use gpu_tests::backends::cuda;

/// What a launch does in the simulator.
fn counts(launch: impl FnOnce(&Device, &Stream)) -> Counts {
    let device = Device::simulator_with(Config { record: Record::Full, ..Config::default() });
    launch(&device, &device.default_stream());
    device.as_simulator().unwrap().last_report().expect("a kernel ran").counts
}

/// In the simulator and on a CUDA device: the CPU has no kernels.
fn for_both(test: &str, mut body: impl FnMut(&Device)) {
    body(&Device::simulator());
    if let Some(device) = cuda(test) {
        body(&device);
    }
}

#[test]
fn sums_of_ones() {
    for_both("sums_of_ones", |device| {
        let stream = device.default_stream();
        let one = LaunchConfig::linear(1, 1);
        for times in [0, 1, 7] {
            let mut sums = device.zeroed::<u32>(3).unwrap();
            let [register, global, atomic] = [0, 1, 2].map(|at| sums.slice_mut(at..at + 1).as_global_mut());
            // SAFETY: each accesses one word, which `sums` has until it is read.
            unsafe {
                kernels::calibrate_add_register::launch(&stream, one, register, times).unwrap();
                kernels::calibrate_add_global::launch(&stream, one, global, times).unwrap();
                kernels::calibrate_add_atomic::launch(&stream, LaunchConfig::linear(2, 40), atomic, times)
                    .unwrap();
            }
            assert_eq!(sums.to_vec().unwrap(), [times, times, 80 * times], "on {}", device.name());
        }
    });
}

/// More threads than elements.
#[test]
fn both_forms_of_a_branch() {
    for_both("both_forms_of_a_branch", |device| {
        let stream = device.default_stream();
        let (len, threads) = (100, 64);
        let config = LaunchConfig::linear(2, threads);
        let values: Vec<f32> = (0..len).map(|at| at as f32 / 4.0).collect();
        let [mut divergent, mut merged] = [(); 2].map(|()| device.upload(&values).unwrap());
        let (first, second) = (divergent.view_mut().as_global_mut(), merged.view_mut().as_global_mut());
        // SAFETY: both buffers have `len` elements, and live until they are read.
        unsafe {
            kernels::calibrate_divergent::launch(&stream, config, first, len).unwrap();
            kernels::calibrate_merged::launch(&stream, config, second, len).unwrap();
        }
        let (divergent, merged) = (divergent.to_vec().unwrap(), merged.to_vec().unwrap());
        for at in 0..len {
            let (value, root) = (values[at as usize], ((at % threads) as f32).sqrt());
            let added = if at % 32 < 16 { 1.0 } else { root };
            assert_eq!(divergent[at as usize], value + added, "{at} on {}", device.name());
            assert_eq!(merged[at as usize], value + 1.0 + root, "{at} on {}", device.name());
        }
    });
}

/// Where a chase ends, and how often it goes on.
#[test]
fn chases() {
    for_both("chases", |device| {
        let stream = device.default_stream();
        let mut links = device.upload(&[3_u32, 4, 0, 1, 2]).unwrap();
        for how in [kernels::CHASE_CACHED, kernels::CHASE_VOLATILE, kernels::CHASE_ATOMIC] {
            for (steps, end) in [(0, 2), (1, 0), (2, 3), (4, 4), (7, 3)] {
                let mut cycles = device.zeroed::<u64>(2).unwrap();
                let (from, to) = (links.view_mut().as_global_mut(), cycles.view_mut().as_global_mut());
                // SAFETY: links are indices of the five; two numbers are written; both live until the numbers are read.
                unsafe {
                    kernels::calibrate_chase::launch(
                        &stream,
                        LaunchConfig::linear(1, 1),
                        from,
                        to,
                        2,
                        steps,
                        how,
                    )
                    .unwrap();
                }
                let cycles = cycles.to_vec().unwrap();
                assert_eq!(cycles[1], end, "{how}, {steps} steps");
                assert!(steps == 0 || cycles[0] > 0, "{how}, {steps} steps: {cycles:?}");
            }
        }
    });
}

/// A word a thread, of fewer words than threads; and groups of four words, of which threads have none to several.
#[test]
fn copies_and_writes() {
    for_both("copies_and_writes", |device| {
        let stream = device.default_stream();
        let values: Vec<u32> = (0..4 * 58).map(|at| at * 7 + 1).collect();
        let input = device.upload(&values).unwrap();
        for threads in [4, 50, 29] {
            let [mut narrow, mut wide, mut written] =
                [(); 3].map(|()| device.upload(&vec![9_u32; values.len()]).unwrap());
            let from = input.view().as_global();
            let (first, second, third) = (
                narrow.view_mut().as_global_mut(),
                wide.view_mut().as_global_mut(),
                written.view_mut().as_global_mut(),
            );
            let config = LaunchConfig::linear(2, threads);
            let (words, groups) = (values.len() as u32, values.len() as u32 / 4);
            let each = LaunchConfig::linear(words.div_ceil(threads), threads);
            // SAFETY: all have `words` words, and live until they are read.
            unsafe {
                kernels::calibrate_copy::launch(&stream, each, from, first, words).unwrap();
                kernels::calibrate_copy_wide::launch(&stream, config, from, second, groups).unwrap();
                kernels::calibrate_write::launch(&stream, config, third, groups).unwrap();
            }
            assert_eq!(narrow.to_vec().unwrap(), values, "{threads} on {}", device.name());
            assert_eq!(wide.to_vec().unwrap(), values, "{threads} on {}", device.name());
            assert!(
                written.to_vec().unwrap().iter().all(|&word| word == 0),
                "{threads} on {}",
                device.name()
            );
        }
    });
}

/// Each group once, by threads that have up to seven, and by some that have none.
#[test]
fn arrays_that_are_read_once() {
    for groups in [1, 5, 24, 26, 32, 58] {
        let mut values = vec![0_u32; 4 * groups as usize];
        values[4 * groups as usize - 1] = 5;
        let counts = counts(|device, stream| {
            let (input, mut output) = (device.upload(&values).unwrap(), device.zeroed::<u32>(1).unwrap());
            let (from, to) = (input.view().as_global(), output.view_mut().as_global_mut());
            // SAFETY: `input` has so many groups, `output` a word, and both live until that is read.
            unsafe {
                kernels::calibrate_read_once::launch(stream, LaunchConfig::linear(2, 4), from, to, groups)
                    .unwrap();
            }
            assert_eq!(output.to_vec().unwrap(), [5], "{groups}");
        });
        assert_eq!(counts.global_loads.lanes, u64::from(groups));
        assert_eq!(counts.global_loads.bytes, 16 * u64::from(groups));
    }
}

/// Reads of a window that wraps, loads and stores of lines.
#[test]
fn windows_are_accessed_as_often_as_asked() {
    let (blocks, threads, steps) = (2_u32, 40_u32, 3_u32);
    let lanes = u64::from(blocks * threads * steps);
    let config = LaunchConfig::linear(blocks, threads);
    let read = counts(|device, stream| {
        let (input, mut output) = (device.zeroed::<u32>(256).unwrap(), device.zeroed::<u32>(1).unwrap());
        let (from, to) = (input.view().as_global(), output.view_mut().as_global_mut());
        // SAFETY: groups begin at multiples of four below 256, which `input` has; nothing is written for zeros.
        unsafe { kernels::calibrate_read::launch(stream, config, from, to, 64, 255, steps).unwrap() };
        stream.synchronize().unwrap();
    });
    assert_eq!(read.global_loads.lanes, u64::from(READS) * lanes);
    assert_eq!(read.global_stores.lanes, 0);
    let gather = counts(|device, stream| {
        let (input, mut cycles) =
            (device.zeroed::<u32>(512).unwrap(), device.zeroed::<u64>(blocks as usize).unwrap());
        let (from, to) = (input.view().as_global(), cycles.view_mut().as_global_mut());
        // SAFETY: indices are below 256 from where blocks begin, at 0 and 256; a number for each block.
        unsafe { kernels::calibrate_gather::launch(stream, config, from, to, 256, 32, 255, steps).unwrap() };
        assert!(cycles.to_vec().unwrap().iter().all(|&cycles| cycles > 0));
    });
    assert_eq!(gather.global_loads.lanes, 4 * lanes);
    let scatter = counts(|device, stream| {
        let window = 4096;
        let mut output = device.upload(&vec![9_u32; blocks as usize * window]).unwrap();
        let to = output.view_mut().as_global_mut();
        let mask = window as u32 - 1;
        // SAFETY: indices are below the window's end from where blocks begin, which is a window apart.
        unsafe {
            kernels::calibrate_scatter::launch(stream, config, to, mask + 1, 32, 1, 1024, mask, steps)
                .unwrap();
        }
        let zeros = output.to_vec().unwrap().iter().filter(|&&word| word == 0).count();
        assert_eq!(zeros as u64, lanes, "no two write the same word");
    });
    assert_eq!(scatter.global_stores.lanes, lanes);
}

/// Of shared memory: a word for each lane, or one for all, and a read for each thread and step.
#[test]
fn shared_memory_and_barriers() {
    let (blocks, threads, steps) = (2_u32, 64_u32, 5_u32);
    for (stride, words) in [(0, 1), (1, 32), (3, 32)] {
        let counts = counts(|device, stream| {
            let mut cycles = device.zeroed::<u64>(blocks as usize).unwrap();
            let config = LaunchConfig::linear(blocks, threads).shared(4 * (32 * stride).max(1));
            let to = cycles.view_mut().as_global_mut();
            // SAFETY: shared memory as asked for; a number for each block.
            unsafe { kernels::calibrate_shared::launch(stream, config, to, stride, steps).unwrap() };
            assert!(cycles.to_vec().unwrap().iter().all(|&cycles| cycles > 0), "{stride}");
        });
        assert_eq!(counts.shared_loads.lanes, u64::from(blocks * threads * steps), "{stride}");
        assert_eq!(counts.shared_stores.lanes, u64::from(blocks * words), "{stride}");
    }
    let counts = counts(|device, stream| {
        let mut cycles = device.zeroed::<u64>(1).unwrap();
        let to = cycles.view_mut().as_global_mut();
        // SAFETY: one number is written.
        unsafe {
            kernels::calibrate_barrier::launch(stream, LaunchConfig::linear(1, threads), to, steps).unwrap();
        }
        assert!(cycles.to_vec().unwrap()[0] > 0);
    });
    assert_eq!(counts.barriers.requests, u64::from(threads / 32 * steps));
}

/// Turns of the loops around chains of instructions, and of those around branches.
#[test]
fn chains_and_branches_have_as_many_turns_as_asked() {
    let (blocks, threads, turns) = (2_u32, 64_u32, 3_u32);
    for what in [
        kernels::ISSUE_F32,
        kernels::ISSUE_F64,
        kernels::ISSUE_I32,
        kernels::ISSUE_LOGIC,
        kernels::ISSUE_ROOT,
        kernels::ISSUE_SHUFFLE,
    ] {
        let counts = counts(|device, stream| {
            let mut cycles = device.zeroed::<u64>(blocks as usize).unwrap();
            let (config, to) = (LaunchConfig::linear(blocks, threads), cycles.view_mut().as_global_mut());
            // SAFETY: a number for each block.
            unsafe { kernels::calibrate_issue::launch(stream, config, to, what, turns, 1).unwrap() };
            assert!(cycles.to_vec().unwrap().iter().all(|&cycles| cycles > 0), "{what}");
        });
        assert_eq!(counts.loops.lanes, u64::from(blocks * threads * turns), "{what}");
        let shuffles = if what == kernels::ISSUE_SHUFFLE { kernels::ISSUES } else { 0 };
        assert_eq!(counts.shuffles.lanes, u64::from(blocks * threads * turns * shuffles), "{what}");
    }
    // Also of a chain of zeros.
    for (branches, seed) in [(1, 1e-30), (2, 1e-30), (32, 1e-30), (2, 0.0)] {
        let counts = counts(|device, stream| {
            let mut cycles = device.zeroed::<u64>(blocks as usize).unwrap();
            let (config, to) = (LaunchConfig::linear(blocks, threads), cycles.view_mut().as_global_mut());
            // SAFETY: a number for each block.
            unsafe {
                kernels::calibrate_branches::launch(stream, config, to, branches, turns, seed).unwrap();
            }
            assert!(cycles.to_vec().unwrap().iter().all(|&cycles| cycles > 0), "{branches}, {seed}");
        });
        assert_eq!(counts.loops.lanes, u64::from(blocks * threads * turns * (1 + branches)), "{branches}");
    }
}
