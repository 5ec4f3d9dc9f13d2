//! Kernels that hang, panic or cannot start: each ends with a fault.

mod common;

use common::*;
use gpu_sim::device::*;
use gpu_sim::{Config, Fault, FaultKind, Geometry, Report, Simulator};

fn tid() -> u32 {
    thread_idx()[0]
}

fn bid() -> u32 {
    block_idx()[0]
}

fn launch(simulator: &Simulator, geometry: Geometry, body: impl Fn() + Sync) -> Result<Report, Fault> {
    simulator.launch(KERNEL, geometry, &body)
}

// ---- deadlocks and spins -----------------------------------------------------------------------------------------

/// Blocks pass a token on, from the first to the last or the other way round.
fn token(seed: u64, towards_earlier: bool, ticket: bool) -> Result<Report, Fault> {
    let config = Config { resident_blocks: 3, ..varied(seed) };
    let simulator = Simulator::new(config);
    let (flags, tickets) = (words(&simulator, &[0; 12]), words(&simulator, &[0]));
    launch(&simulator, Geometry::linear(12, 1, 0), || {
        let me = if ticket {
            atomic_update::<u32>(Space::Global, tickets, Ordering::Relaxed, Scope::Device, |old| {
                Some(old + 1)
            })
        } else {
            bid()
        };
        let before = if towards_earlier { me + 1 } else { me.wrapping_sub(1) };
        if before < 12 {
            let flag = flags + 4 * u64::from(before);
            while at!(atomic_load::<u32>(Space::Global, flag, Ordering::Acquire, Scope::Device)) == 0 {}
        }
        atomic_store(Space::Global, flags + 4 * u64::from(me), 1u32, Ordering::Release, Scope::Device);
    })
}

#[test]
fn block_waiting_for_a_later_block_that_may_never_start() {
    // Depends on the order in which blocks start, which is nearly ascending for most seeds.
    let check = |fault: &Fault| {
        assert!(matches!(fault.kind, FaultKind::Livelock { not_started: 1.., .. }), "{fault}");
        names_line(fault, file!());
    };
    let later = caught(100, |seed| token(seed, true, false), check);
    let earlier = caught(100, |seed| token(seed, false, false), check);
    println!("waiting for a later block: caught by {later} of 100 seeds; for an earlier one: {earlier}");
    assert!(later >= 95, "{later}");
    assert!(earlier >= 80, "an order that hardware does not promise: {earlier}");
    // Numbers drawn at the start are those of blocks that have started.
    passes(|seed| token(seed, false, true));
}

#[test]
fn spin_that_nobody_ends() {
    let spins: [fn(u64); 5] = [
        |flag| while atomic_load::<u32>(Space::Global, flag, Ordering::Relaxed, Scope::Device) == 0 {},
        |flag| while global_load::<u32>(flag, Load::Volatile) == 0 {},
        |flag| while global_load::<u32>(flag, Load::Weak) == 0 {},
        |flag| {
            while atomic_update::<u32>(Space::Global, flag, Ordering::Relaxed, Scope::Device, |v| {
                (v == 1).then_some(2)
            }) != 1
            {}
        },
        |_| {
            loop {
                loop_tick();
            }
        },
    ];
    for spin in spins {
        let run = |seed| {
            let simulator = Simulator::new(varied(seed));
            let flag = words(&simulator, &[0]);
            launch(&simulator, Geometry::linear(2, 32, 0), || {
                if (bid(), tid()) == (1, 5) {
                    spin(flag);
                }
            })
        };
        let found = caught(10, run, |fault| {
            assert!(matches!(fault.kind, FaultKind::Livelock { .. }), "{fault}");
            assert_eq!((fault.block, fault.thread), ([1, 0, 0], [5, 0, 0]), "{fault}");
            assert_eq!(fault.site.as_ref().unwrap().file, file!());
        });
        assert_eq!(found, 10);
    }
}

#[test]
fn values_that_change_for_ever_exhaust_the_step_budget() {
    let simulator = Simulator::new(Config { steps_per_thread: 1 << 10, step_base: 1 << 16, ..varied(1) });
    let flag = words(&simulator, &[0]);
    let fault = launch(&simulator, Geometry::linear(1, 1, 0), || {
        loop {
            let old: u32 = global_load(flag, Load::Weak);
            global_store(flag, old.wrapping_add(1), Store::Weak);
        }
    })
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::StepBudget { .. }), "{fault}");
}

#[test]
fn long_loops_that_end_are_no_livelock() {
    let simulator = Simulator::new(varied(3));
    let x = words(&simulator, &vec![1; 1 << 20]);
    let y = words(&simulator, &[0]);
    launch(&simulator, Geometry::linear(1, 1, 0), || {
        let sum: u32 = (0..1 << 20).map(|i| global_load::<u32>(x + 4 * i, Load::Weak)).sum();
        global_store(y, sum, Store::Weak);
    })
    .unwrap();
    assert_eq!(read_words(&simulator, y, 1), [1 << 20]);
}

// ---- panics, and life after a fault ------------------------------------------------------------------------------

#[test]
fn a_panic_in_the_kernel_becomes_a_fault() {
    let simulator = Simulator::default();
    let zero = words(&simulator, &[0]);
    let fault = launch(&simulator, Geometry::linear(2, 40, 0), || {
        let divisor: u32 = global_load(zero, Load::Weak);
        barrier();
        if (bid(), tid()) == (1, 33) {
            at!(assert!(divisor != 0, "division by {divisor}"));
        }
        barrier();
    })
    .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Panic { message: "division by 0".into() });
    assert_eq!((fault.block, fault.thread), ([1, 0, 0], [33, 0, 0]));
    names_line(&fault, file!());
    // Memory is readable, and the next launch runs.
    assert_eq!(read_words(&simulator, zero, 1), [0]);
    launch(&simulator, Geometry::linear(2, 40, 0), barrier).unwrap();
}

/// Needs a frame of several hundred bytes for each of `depth` levels, and says so to the simulator at each.
fn recurse(x: u64, depth: u32) -> u32 {
    let step: u32 = at!(global_load(x, Load::Weak));
    let frame = std::hint::black_box([depth; 64]);
    if depth == 0 { step } else { recurse(x, depth - 1) + frame[depth as usize % 64] - depth + step }
}

#[test]
fn a_stack_that_does_not_last_becomes_a_fault() {
    let run = |seed, depth| {
        let simulator = Simulator::new(varied(seed));
        let x = words(&simulator, &[1]);
        let y = words(&simulator, &[0]);
        let report = launch(&simulator, Geometry::linear(2, 40, 0), || {
            if (bid(), tid()) == (1, 33) {
                global_store(y, recurse(x, depth), Store::Weak);
            }
        })?;
        assert_eq!(read_words(&simulator, y, 1), [depth + 1]);
        Ok(report)
    };
    let bytes = Config::default().stack_bytes as u64;
    caught_always(
        |seed| run(seed, 1 << 20),
        |fault| {
            assert_eq!(fault.kind, FaultKind::StackOverflow { bytes }, "{fault}");
            assert_eq!((fault.block, fault.thread), ([1, 0, 0], [33, 0, 0]));
            names_line(fault, file!());
        },
    );
    passes(|seed| run(seed, 100));
}

#[test]
fn zero_and_oversized_launches_are_refused() {
    let simulator = Simulator::default();
    let refused = |grid: [u32; 3], block: [u32; 3], shared_bytes: u32| {
        let fault = simulator.launch(KERNEL, Geometry { grid, block, shared_bytes }, &|| ()).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::InvalidLaunch { .. }), "{fault}");
    };
    refused([0, 1, 1], [32, 1, 1], 0);
    refused([1, 1, 1], [32, 0, 1], 0);
    refused([1, 1, 1], [1025, 1, 1], 0);
    refused([1, 1, 1], [64, 32, 1], 0);
    refused([1, 70_000, 1], [1, 1, 1], 0);
    refused([u32::MAX, 1, 1], [1024, 1, 1], 0);
    refused([1, 1, 1], [1, 1, 1], 300 << 10);
}

#[test]
fn whichever_lane_holds_a_lock_that_the_others_spin_on_it_goes_on() {
    for seed in 0..300 {
        let simulator = Simulator::new(Config { spin_budget: 1 << 13, ..Config::with_seed(seed) });
        let locked = || {
            if tid() < 2 {
                shared_store(4 * tid(), 0u32);
            }
            barrier();
            let take = |old: u32| (old == 0).then_some(1);
            while atomic_update(Space::Shared, 0, Ordering::Acquire, Scope::Block, take) != 0 {}
            shared_store(4, shared_load::<u32>(4) + 1);
            atomic_store(Space::Shared, 0, 0u32, Ordering::Release, Scope::Block);
        };
        simulator
            .launch(KERNEL, Geometry::linear(1, 32, 8), &locked)
            .unwrap_or_else(|fault| panic!("{fault}"));
    }
}
