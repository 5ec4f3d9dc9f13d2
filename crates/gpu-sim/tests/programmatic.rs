//! Kernels that may begin before the one before has ended: what they touch before they have waited for it.

mod common;

use common::*;
use gpu_sim::device::*;
use gpu_sim::{Direction, Fault, FaultKind, Geometry, Kernel, Simulator, Space};

const FIRST: Kernel<'static> = Kernel { name: "first", file: file!(), line: 1 };
const BLOCKS: u32 = 3;
const THREADS: u32 = 40;
const N: u32 = BLOCKS * THREADS;

fn i() -> u64 {
    u64::from(block_idx()[0] * THREADS + thread_idx()[0])
}

fn geometry() -> Geometry {
    Geometry::linear(BLOCKS, THREADS, 4)
}

/// The first kernel writes `b` from `a` and counts in `c`; the second does as it is told.
fn two(seed: u64, second: impl Fn(u64, u64, u64) + Sync, programmatic: bool) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(varied(seed));
    let (a, c) = (words(&simulator, &(0..N).collect::<Vec<_>>()), words(&simulator, &[0]));
    let b = simulator.alloc(4 * N as usize)?;
    simulator.launch(FIRST, geometry(), &|| {
        let value: u32 = global_load(a + 4 * i(), Load::Weak);
        global_store(b + 4 * i(), value + 1, Store::Weak);
        atomic_update(Space::Global, c, Ordering::Relaxed, Scope::Device, |old: u32| Some(old + 1));
    })?;
    let body = || second(a, b, c);
    if programmatic {
        simulator.launch_programmatic(KERNEL, (THREADS, 1), geometry(), &body)?;
    } else {
        simulator.launch(KERNEL, geometry(), &body)?;
    }
    Ok(read_words(&simulator, a, N as usize))
}

fn double(a: u64, b: u64) {
    let value: u32 = global_load(b + 4 * i(), Load::Weak);
    global_store(a + 4 * i(), 2 * value, Store::Weak);
}

fn is_race_with_first(fault: &Fault, direction: Direction, theirs: Direction) {
    assert!(
        matches!(fault.kind, FaultKind::Race { space: Space::Global, direction: d, .. } if d == direction),
        "{fault}"
    );
    let other = fault.other.as_ref().expect("two sides");
    assert_eq!(other.direction, theirs, "{fault}");
    assert!(other.kernel.as_ref().is_some_and(|kernel| kernel.contains("`first`")), "{fault}");
    assert_eq!(other.site.as_ref().expect("a place").file, file!());
    assert!(fault.to_string().contains("of kernel `first`"), "{fault}");
}

/// [`caught_always`], of runs that give no report.
fn always(run: impl Fn(u64) -> Result<Vec<u32>, Fault>, check: impl Fn(&Fault)) {
    for seed in 0..200 {
        let fault = run(seed).expect_err("caught whatever the seed");
        assert_eq!((fault.kernel.as_str(), fault.seed), (NAME, seed), "{fault}");
        check(&fault);
    }
}

#[test]
fn reads_and_writes_before_the_wait_race_with_the_kernel_before() {
    always(
        |seed| two(seed, |a, b, _| double(a, b), true),
        |fault| {
            is_race_with_first(fault, Direction::Read, Direction::Write);
            let other = fault.other.as_ref().unwrap();
            assert_eq!((fault.block, fault.thread), (other.block, other.thread), "the writer of that word");
        },
    );
    // Too late by one access.
    let late = |a: u64, b: u64, _: u64| {
        let value: u32 = global_load(b + 4 * i(), Load::ReadOnly);
        grid_dependency_synchronize();
        global_store(a + 4 * i(), 2 * value, Store::Weak);
    };
    always(|seed| two(seed, late, true), |f| is_race_with_first(f, Direction::Read, Direction::Write));
    // What the kernel before may still be reading.
    let overwrites = |a: u64, b: u64, _: u64| {
        global_store(a + 4 * i(), 1u32, Store::Weak);
        grid_dependency_synchronize();
        double(a, b);
    };
    always(|seed| two(seed, overwrites, true), |f| is_race_with_first(f, Direction::Write, Direction::Read));
    // A counter that it still counts in, reset, and read plainly.
    let resets = |a: u64, b: u64, c: u64| {
        if i() == 7 {
            global_store(c, 0u32, Store::Weak);
        }
        grid_dependency_synchronize();
        double(a, b);
    };
    always(|seed| two(seed, resets, true), |f| is_race_with_first(f, Direction::Write, Direction::Write));
    // By bytes, and by a copy.
    let bytes = |a: u64, b: u64, _: u64| {
        let _: u8 = global_load(b + i(), Load::Weak);
        grid_dependency_synchronize();
        double(a, b);
    };
    always(|seed| two(seed, bytes, true), |f| is_race_with_first(f, Direction::Read, Direction::Write));
    let copies = |a: u64, b: u64, _: u64| {
        if thread_idx()[0] == 0 {
            cp_async(0, b, 4, 4);
            cp_async_commit();
            cp_async_wait(0);
        }
        grid_dependency_synchronize();
        double(a, b);
    };
    always(|seed| two(seed, copies, true), |f| is_race_with_first(f, Direction::Read, Direction::Write));
}

#[test]
fn those_that_wait_or_come_behind_one_that_has_are_fine() {
    let doubled: Vec<u32> = (0..N).map(|i| 2 * (i + 1)).collect();
    let behind_a_barrier = |a: u64, b: u64, _: u64| {
        if thread_idx()[0] == 3 {
            grid_dependency_synchronize();
        }
        barrier();
        double(a, b);
    };
    let all_wait = |a: u64, b: u64, c: u64| {
        // Atomics of both kernels do not race, and their own data may be touched.
        atomic_update(Space::Global, c, Ordering::Relaxed, Scope::Device, |old: u32| Some(old + 1));
        grid_dependency_synchronize();
        double(a, b);
    };
    for seed in 0..1000 {
        for (second, programmatic) in
            [(&all_wait as &(dyn Fn(u64, u64, u64) + Sync), true), (&behind_a_barrier, true)]
        {
            let result = two(seed, second, programmatic).unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(result, doubled);
        }
        // One that is not programmatic begins when the one before has ended.
        let result = two(seed, |a, b, _| double(a, b), false).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(result, doubled);
    }
    // In one warp of a block, behind nothing.
    always(
        |seed| {
            two(
                seed,
                |a, b, _| {
                    if thread_idx()[0] < 32 {
                        grid_dependency_synchronize();
                    }
                    double(a, b);
                },
                true,
            )
        },
        |fault| {
            is_race_with_first(fault, Direction::Read, Direction::Write);
            assert!(fault.thread[0] >= 32, "{fault}");
        },
    );
}

#[test]
fn one_that_never_waits_breaks_the_chain() {
    always(
        |seed| two(seed, |_, _, _| (), true),
        |fault| {
            assert!(
                matches!(&fault.kind, FaultKind::NeverWaits { before } if before.contains("`first`")),
                "{fault}"
            );
        },
    );
    // There is nothing to wait for where the host came in between, or nothing came before.
    let simulator = Simulator::default();
    let a = words(&simulator, &[0; N as usize]);
    let store = || global_store(a + 4 * i(), 1u32, Store::Weak);
    simulator.launch_programmatic(KERNEL, (THREADS, 1), geometry(), &store).unwrap();
    assert_eq!(read_words(&simulator, a, 1), [1]);
    simulator.launch_programmatic(KERNEL, (THREADS, 1), geometry(), &store).unwrap();
    let fault = simulator.launch_programmatic(KERNEL, (THREADS, 1), geometry(), &store).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
}
