//! Kernels and hosts that try to leave the simulator in a state of their own: destructors and `catch_unwind` around
//! device functions, calls of the host's side inside a kernel, settings and sizes out of range.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use common::*;
use gpu_sim::device::*;
use gpu_sim::{Config, Fault, FaultKind, Geometry, Report, Simulator};

fn tid() -> u32 {
    thread_idx()[0]
}

fn launch(simulator: &Simulator, threads: u32, body: impl Fn() + Sync) -> Result<Report, Fault> {
    simulator.launch(KERNEL, Geometry::linear(3, threads, 64), &body)
}

fn count(counter: u64) -> u32 {
    atomic_update(Space::Global, counter, Ordering::AcqRel, Scope::Device, |old: u32| Some(old + 1))
}

/// Touches memory, waits and asks for lanes when it is dropped.
struct Guard(u64);

impl Drop for Guard {
    fn drop(&mut self) {
        count(self.0);
        global_store(self.0 + 4, 7u32, Store::Weak);
        global_store(self.0 + 8, 7u32, Store::Volatile);
        shared_store(0, global_load::<u32>(self.0, Load::Weak));
        cp_async(16, self.0, 4, 4);
        cp_async_commit();
        cp_async_wait(0);
        fence(Ordering::AcqRel, Scope::Device);
        barrier();
        sync_warp(!0);
        active_mask();
        matrix([1.0], |of| of(31, 0));
        loop_tick();
        branch(1);
    }
}

/// What a launch after a fault must still do.
fn still_works(simulator: &Simulator) {
    let counter = words(simulator, &[0]);
    for _ in 0..3 {
        launch(simulator, 64, || {
            barrier();
            count(counter);
            barrier();
        })
        .unwrap();
    }
    assert_eq!(read_words(simulator, counter, 1), [3 * 3 * 64]);
}

#[test]
fn destructors_of_a_thread_that_has_ended_have_no_effect() {
    type End = (fn(u64), fn(&FaultKind) -> bool);
    let ends: [End; 3] = [
        (|_| shared_store(4096, 0u32), |kind| matches!(kind, FaultKind::OutOfBounds { .. })),
        (|_| panic!("own"), |kind| *kind == FaultKind::Panic { message: "own".into() }),
        (
            |fresh| _ = global_load::<u32>(fresh, Load::Weak),
            |kind| matches!(kind, FaultKind::Unwritten { .. }),
        ),
    ];
    for (end, is_expected) in ends {
        for seed in 0..50 {
            let simulator = Simulator::new(varied(seed));
            let memory = words(&simulator, &[0, 1, 2]);
            let fresh = simulator.alloc(4).unwrap();
            let fault = launch(&simulator, 64, || {
                // One ends, and the others are suspended at the barrier or have not started.
                let _guard = Guard(memory);
                if tid() == 40 {
                    end(fresh);
                }
                barrier();
                loop {
                    barrier();
                }
            })
            .unwrap_err();
            assert!(is_expected(&fault.kind), "{fault}");
            assert_eq!(read_words(&simulator, memory, 3), [0, 1, 2], "seed {seed}");
            still_works(&simulator);
        }
    }
}

#[test]
fn a_thread_that_catches_its_end_ends_at_the_next_call() {
    for seed in 0..50 {
        let simulator = Simulator::new(varied(seed));
        let counter = words(&simulator, &[0]);
        let fault = launch(&simulator, 64, || {
            if tid() == 40 {
                let _ = catch_unwind(|| shared_store(4096, 0u32));
                // It would be a panic of its own.
                catch_unwind(|| {
                    barrier();
                })
                .unwrap();
            }
            let _ = catch_unwind(|| {
                barrier();
            });
            count(counter);
        })
        .unwrap_err();
        assert!(matches!(fault.kind, FaultKind::OutOfBounds { .. }), "{fault}");
        assert_eq!(read_words(&simulator, counter, 1), [0], "seed {seed}");
        still_works(&simulator);
    }
}

#[test]
fn a_thread_that_catches_a_read_of_unwritten_bytes_goes_no_further() {
    for seed in 0..50 {
        let simulator = Simulator::new(varied(seed));
        let (fresh, counter) = (simulator.alloc(4).unwrap(), words(&simulator, &[0]));
        let fault = launch(&simulator, 1, || {
            let _ = catch_unwind(|| global_load::<u32>(fresh, Load::Weak));
            let _ = catch_unwind(|| count(counter));
        })
        .unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Unwritten { .. }), "{fault}");
        assert_eq!(read_words(&simulator, counter, 1), [0]);
    }
}

/// The payload of a panic that runs device functions, and panics, when it is dropped.
struct Payload(u64);

impl Drop for Payload {
    fn drop(&mut self) {
        let _guard = Guard(self.0);
        barrier();
        panic!("again");
    }
}

#[test]
fn payloads_of_panics_run_no_device_functions() {
    let simulator = Simulator::default();
    let memory = words(&simulator, &[0, 1, 2]);
    let fault = launch(&simulator, 64, || {
        if tid() == 3 {
            panic_any(Payload(memory));
        }
        barrier();
    })
    .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Panic { message: "a value that is no string".into() });
    assert_eq!(read_words(&simulator, memory, 3), [0, 1, 2]);
    still_works(&simulator);
}

#[test]
fn a_launch_while_its_host_unwinds_is_like_any_other() {
    struct Launches(Simulator);
    impl Drop for Launches {
        fn drop(&mut self) {
            still_works(&self.0);
            let fault = launch(&self.0, 64, || {
                if tid() == 40 {
                    shared_store(4096, 0u32);
                }
                barrier();
            });
            assert!(matches!(fault.unwrap_err().kind, FaultKind::OutOfBounds { .. }));
            still_works(&self.0);
        }
    }
    let simulator = Simulator::default();
    let launches = Launches(simulator.clone());
    let panicked = catch_unwind(AssertUnwindSafe(move || {
        let _launches = launches;
        panic!("the host");
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"the host"));
    still_works(&simulator);
}

#[test]
fn a_loop_over_catch_unwind_ends() {
    // Each iteration that the simulator sees ends the thread again, outside of `catch_unwind`.
    let simulator = Simulator::new(Config { steps_per_thread: 1 << 10, step_base: 1 << 16, ..varied(1) });
    let fault = launch(&simulator, 64, || {
        loop {
            loop_tick();
            let _ = catch_unwind(|| {
                barrier();
            });
        }
    })
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::StepBudget { .. }), "{fault}");
    still_works(&simulator);
}

/// The frames of a thread may be borrowed by others: one that never leaves them cannot be left behind.
#[test]
fn a_loop_over_catch_unwind_that_nothing_sees_ends_the_process_with_the_fault() {
    const CHILD: &str = "GPU_SIM_NEVER_ENDS";
    if std::env::var_os(CHILD).is_some() {
        let simulator = Simulator::new(Config { steps_per_thread: 1 << 10, step_base: 1 << 16, ..varied(1) });
        let _ = launch(&simulator, 64, || {
            loop {
                let _ = catch_unwind(|| {
                    barrier();
                });
            }
        });
        unreachable!("no launch leaves its threads' frames");
    }
    let name = "a_loop_over_catch_unwind_that_nothing_sees_ends_the_process_with_the_fault";
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(!child.status.success() && child.status.code().is_none(), "{}: {said}", child.status);
    assert!(said.contains("catches that") && said.contains("step budget"), "{said}");
    assert!(said.contains(file!()), "{said}");
}

#[test]
fn what_lanes_brought_is_looked_at_without_the_simulator() {
    let simulator = Simulator::default();
    let sums = words(&simulator, &[0; 32]);
    launch(&simulator, 32, || {
        if block_idx()[0] > 0 {
            return;
        }
        let lane = tid();
        let inner = matrix([f64::from(lane)], |of| {
            barrier();
            // The lanes bring others meanwhile, and what is looked at stays.
            let inner = matrix([100.0], |inner| inner(7, 0));
            global_store(sums + 4 * u64::from(lane), of(5, 0) as u32, Store::Weak);
            inner + of(6, 0)
        });
        assert_eq!(inner, 106.0);
    })
    .unwrap();
    assert_eq!(read_words(&simulator, sums, 32), [5; 32]);
}

#[test]
fn stacks_too_small_or_too_large_are_refused() {
    for stack_bytes in [0, 1, 4096, Config::MIN_STACK - 1, Config::MAX_STACK + 1, usize::MAX] {
        let simulator = Simulator::new(Config { stack_bytes, ..Config::default() });
        let fault = launch(&simulator, 64, barrier).unwrap_err();
        let (asked, least) = (stack_bytes as u64, Config::MIN_STACK as u64);
        let most = Config::MAX_STACK as u64;
        assert_eq!(fault.kind, FaultKind::InvalidConfig { what: "stack_bytes", asked, least, most });
        assert_eq!(fault.kernel, NAME);
    }
    let simulator = Simulator::new(Config { stack_bytes: Config::MIN_STACK, ..Config::default() });
    let fault = launch(&simulator, 64, || assert!(tid() != 40, "in the smallest stack")).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Panic { message: "in the smallest stack".into() });
    still_works(&simulator);
}

#[test]
fn settings_out_of_range_are_harmless() {
    let most = Config {
        resident_blocks: usize::MAX,
        quantum: u32::MAX,
        spin_budget: u64::MAX,
        steps_per_thread: u64::MAX,
        step_base: u64::MAX,
        stale_percent: u32::MAX,
        history: usize::MAX,
        memory_limit: usize::MAX,
        shared_limit: u32::MAX,
        ..Config::default()
    };
    let least = Config {
        resident_blocks: 0,
        quantum: 0,
        steps_per_thread: 1 << 20,
        spin_budget: 0,
        history: 0,
        stale_percent: 0,
        ..Config::default()
    };
    for config in [most, least] {
        still_works(&Simulator::new(config));
        let simulator = Simulator::new(config);
        let fresh = simulator.alloc(4).unwrap();
        let fault = launch(&simulator, 1, || _ = global_load::<u32>(fresh, Load::Weak)).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Unwritten { .. }), "{fault}");
    }
}

#[test]
fn a_kernel_that_uses_a_simulator_panics_instead_of_waiting_for_itself() {
    let simulator = Simulator::default();
    let other = Simulator::default();
    let x = words(&simulator, &[0]);
    let calls: [&(dyn Fn() + Sync); 9] = [
        &|| _ = simulator.alloc(4),
        &|| _ = other.alloc(4),
        &|| _ = simulator.free(x),
        &|| _ = simulator.read(x, &mut [0; 4]),
        &|| _ = simulator.write(x, &[0; 4]),
        &|| _ = simulator.copy(x, x, 4),
        &|| _ = simulator.launch(KERNEL, Geometry::linear(1, 1, 0), &|| ()),
        &|| _ = simulator.last_report(),
        &|| simulator.set_seed(4),
    ];
    for call in calls {
        let fault = simulator.launch(KERNEL, Geometry::linear(1, 1, 0), call).unwrap_err();
        let FaultKind::Panic { message } = &fault.kind else { panic!("{fault}") };
        assert!(message.contains("inside"), "{message}");
        assert_eq!(fault.site.as_ref().unwrap().file, file!(), "{fault}");
    }
    still_works(&simulator);
}

#[test]
fn a_limit_below_what_is_in_use_leaves_nothing() {
    let simulator = Simulator::default();
    let a = simulator.alloc(1000).unwrap();
    simulator.set_config(Config { memory_limit: 100, ..Config::default() });
    let fault = simulator.alloc(1).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfMemory { asked: 1, free: 0, total: 100 });
    simulator.free(a).unwrap();
    simulator.alloc(100).unwrap();
}

#[test]
fn host_accesses_of_any_size_are_checked() {
    let simulator = Simulator::default();
    let x = words(&simulator, &[1, 2]);
    for bytes in [9, usize::MAX / 2, usize::MAX - 3, usize::MAX] {
        for kind in [
            simulator.fill(x, bytes, 0).unwrap_err().kind.clone(),
            simulator.fill(x + 4, bytes, 0).unwrap_err().kind.clone(),
            simulator.copy(x, x + 4, bytes).unwrap_err().kind.clone(),
            simulator.copy(x + 4, x, bytes).unwrap_err().kind.clone(),
        ] {
            let asked = bytes as u64;
            assert!(
                matches!(kind, FaultKind::OutOfBounds { bytes, size: 8, .. } if bytes == asked),
                "{kind}"
            );
        }
    }
    assert_eq!(read_words(&simulator, x, 2), [1, 2]);
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_nobody_touches_is_not_resident() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() << 10
    };
    let simulator = Simulator::default();
    let before = resident();
    let zeros = simulator.alloc_zeroed(4 << 30).unwrap();
    simulator.read(zeros + (3 << 30), &mut [1; 3]).unwrap();
    let large = simulator.alloc(4 << 30).unwrap();
    simulator.write(large + (3 << 30), &[1, 2, 3]).unwrap();
    let mut read = [0; 3];
    simulator.read(large + (3 << 30), &mut read).unwrap();
    assert_eq!(read, [1, 2, 3]);
    let more = resident().saturating_sub(before);
    // Other tests of this process allocate too.
    assert!(more < 256 << 20, "{more} bytes");
}
