//! Kernels that lack synchronisation, or diverge where they must not, each beside its correct form.

mod common;

use common::*;
use gpu_sim::device::*;
use gpu_sim::{Direction, Fault, FaultKind, Geometry, Report, Simulator};

fn tid() -> u32 {
    thread_idx()[0]
}

fn bid() -> u32 {
    block_idx()[0]
}

fn launch(simulator: &Simulator, geometry: Geometry, body: impl Fn() + Sync) -> Result<Report, Fault> {
    simulator.launch(KERNEL, geometry, &body)
}

// ---- missing synchronisation -------------------------------------------------------------------------------------

/// Each thread writes its word and reads its mirror image; `sync` stands between.
fn reverse(seed: u64, threads: u32, sync: impl Fn() + Sync) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    let y = words(&simulator, &vec![0; threads as usize]);
    let report = launch(&simulator, Geometry::linear(1, threads, threads * 4), || {
        shared_store(4 * tid(), 0u32);
        barrier();
        shared_store(4 * tid(), tid());
        sync();
        LINE.set(line!() + 1);
        let value: u32 = shared_load(4 * (threads - 1 - tid()));
        global_store(y + 4 * u64::from(tid()), value, Store::Weak);
    })?;
    assert_eq!(read_words(&simulator, y, threads as usize), (0..threads).rev().collect::<Vec<_>>());
    Ok(report)
}

fn is_race_of_mirror_images(fault: &Fault, threads: u32) {
    assert!(matches!(fault.kind, FaultKind::Race { space: Space::Shared, .. }), "{fault}");
    let other = fault.other.as_ref().unwrap();
    assert_eq!(fault.block, other.block);
    assert_eq!(fault.thread[0] + other.thread[0], threads - 1, "{fault}");
    assert!(fault.site.as_ref().unwrap().line != other.site.as_ref().unwrap().line, "{fault}");
    assert!(
        [fault.site.as_ref(), other.site.as_ref()].iter().flatten().any(|site| site.line == LINE.get()),
        "{fault}"
    );
}

#[test]
fn missing_barrier() {
    caught_always(|seed| reverse(seed, 64, || ()), |fault| is_race_of_mirror_images(fault, 64));
    // A warp barrier is not enough for two warps.
    caught_always(|seed| reverse(seed, 64, || sync_warp(!0)), |fault| is_race_of_mirror_images(fault, 64));
    passes(|seed| reverse(seed, 64, barrier));
}

#[test]
fn missing_sync_warp() {
    caught_always(|seed| reverse(seed, 32, || ()), |fault| is_race_of_mirror_images(fault, 32));
    // Shuffles and votes bring lanes together, but order no memory.
    caught_always(
        |seed| {
            reverse(seed, 32, || {
                vote(!0, Vote::Any, true);
            })
        },
        |fault| is_race_of_mirror_images(fault, 32),
    );
    // Half-warps that synchronise apart do not see each other.
    caught_always(
        |seed| reverse(seed, 32, || sync_warp(if tid() < 16 { 0xffff } else { 0xffff_0000 })),
        |fault| is_race_of_mirror_images(fault, 32),
    );
    passes(|seed| reverse(seed, 32, || sync_warp(!0)));
    passes(|seed| reverse(seed, 32, || sync_warp(0x0001_8000 | 0x8000_0001 | !0)));
}

fn blocks_add(seed: u64, atomic: bool) -> Result<Report, Fault> {
    let simulator = Simulator::new(varied(seed));
    let sum = words(&simulator, &[0]);
    let report = launch(&simulator, Geometry::linear(6, 1, 0), || {
        if atomic {
            atomic_update::<u32>(Space::Global, sum, Ordering::Relaxed, Scope::Device, |old| Some(old + 1));
        } else {
            LINE.set(line!() + 1);
            let old: u32 = global_load(sum, Load::Weak);
            global_store(sum, old + 1, Store::Weak);
        }
    })?;
    assert_eq!(read_words(&simulator, sum, 1), [6]);
    Ok(report)
}

#[test]
fn race_between_blocks() {
    caught_always(
        |seed| blocks_add(seed, false),
        |fault| {
            assert!(matches!(fault.kind, FaultKind::Race { space: Space::Global, .. }), "{fault}");
            let other = fault.other.as_ref().unwrap();
            assert_ne!(fault.block, other.block);
            assert_eq!(other.site.as_ref().unwrap().line, LINE.get() + 1, "the other block's store");
            names_line(fault, file!());
        },
    );
    passes(|seed| blocks_add(seed, true));
}

/// Block 0 publishes a payload behind a flag, block 1 waits for the flag and reads it.
fn publish(
    seed: u64,
    before_flag: impl Fn() + Sync,
    flag: Ordering,
    wait: Ordering,
    after: impl Fn() + Sync,
) -> Result<Report, Fault> {
    let simulator = Simulator::new(together(seed));
    let buffer = words(&simulator, &[0, 0, 0]);
    let (data, ready, out) = (buffer, buffer + 4, buffer + 8);
    let report = launch(&simulator, Geometry::linear(2, 1, 0), || {
        if bid() == 0 {
            global_store(data, 42u32, Store::Weak);
            before_flag();
            atomic_store(Space::Global, ready, 1u32, flag, Scope::Device);
        } else {
            while atomic_load::<u32>(Space::Global, ready, wait, Scope::Device) == 0 {
                loop_tick();
            }
            after();
            LINE.set(line!() + 1);
            let value: u32 = global_load(data, Load::Weak);
            global_store(out, value, Store::Weak);
        }
    })?;
    assert_eq!(read_words(&simulator, out, 1), [42]);
    Ok(report)
}

fn is_race_on_the_payload(fault: &Fault) {
    assert!(
        matches!(fault.kind, FaultKind::Race { space: Space::Global, direction: Direction::Read, .. }),
        "{fault}"
    );
    assert_eq!((fault.block, fault.other.as_ref().unwrap().block), ([1, 0, 0], [0, 0, 0]));
    names_line(fault, file!());
}

#[test]
fn payload_behind_a_relaxed_flag() {
    use Ordering::{Acquire, Relaxed, Release};
    caught_always(|seed| publish(seed, || (), Relaxed, Relaxed, || ()), is_race_on_the_payload);
    caught_always(|seed| publish(seed, || (), Release, Relaxed, || ()), is_race_on_the_payload);
    caught_always(|seed| publish(seed, || (), Relaxed, Acquire, || ()), is_race_on_the_payload);
    passes(|seed| publish(seed, || (), Release, Acquire, || ()));
}

#[test]
fn fence_of_block_scope_between_blocks() {
    use Ordering::{AcqRel, Acquire, Relaxed, Release};
    let (device, block) = (|| fence(AcqRel, Scope::Device), || fence(AcqRel, Scope::Block));
    caught_always(|seed| publish(seed, block, Relaxed, Relaxed, device), is_race_on_the_payload);
    caught_always(|seed| publish(seed, device, Relaxed, Relaxed, block), is_race_on_the_payload);
    caught_always(|seed| publish(seed, block, Relaxed, Acquire, || ()), is_race_on_the_payload);
    passes(|seed| publish(seed, device, Relaxed, Relaxed, device));
    passes(|seed| publish(seed, || (), Release, Relaxed, device));
    passes(|seed| publish(seed, device, Relaxed, Acquire, || ()));
}

// ---- divergence --------------------------------------------------------------------------------------------------

#[test]
fn barrier_under_divergence() {
    let run = |seed, everyone: bool| {
        launch(&Simulator::new(varied(seed)), Geometry::linear(2, 64, 0), move || {
            if bid() == 0 || tid() < 48 || everyone {
                at!(barrier());
            }
        })
    };
    caught_always(
        |seed| run(seed, false),
        |fault| {
            assert!(matches!(fault.kind, FaultKind::BarrierDivergence { .. }), "{fault}");
            assert_eq!(fault.block, [1, 0, 0]);
            assert!(fault.thread[0] < 48, "a thread that waits: {fault}");
            names_line(fault, file!());
        },
    );
    passes(|seed| run(seed, true));
}

#[test]
fn two_barriers_on_two_ways() {
    let run = |seed| {
        launch(&Simulator::new(varied(seed)), Geometry::linear(1, 64, 4), || {
            if tid() < 32 {
                barrier();
                shared_store(0, 1u32);
            } else {
                barrier();
            }
        })
    };
    caught_always(run, |fault| assert!(matches!(fault.kind, FaultKind::BarrierDivergence { .. }), "{fault}"));
}

#[test]
fn shuffle_that_a_lane_never_reaches() {
    let run = |seed, everyone: bool| {
        launch(&Simulator::new(varied(seed)), Geometry::linear(1, 64, 0), move || {
            if tid() != 37 || everyone {
                at!(shuffle(!0, Shuffle::Down, tid(), 1, 32));
            }
        })
    };
    caught_always(
        |seed| run(seed, false),
        |fault| {
            assert!(
                matches!(
                    fault.kind,
                    FaultKind::WarpDivergence { operation: "shuffle", missing: 0x20, mask: u32::MAX, .. }
                ),
                "{fault}"
            );
            assert!(
                (32..64).contains(&fault.thread[0]) && fault.thread[0] != 37,
                "a lane that waits: {fault}"
            );
            names_line(fault, file!());
        },
    );
    passes(|seed| run(seed, true));
}

#[test]
fn lanes_that_wait_for_each_other_in_different_collectives() {
    let run = |seed| {
        launch(&Simulator::new(varied(seed)), Geometry::linear(1, 32, 0), || {
            if tid() == 3 {
                vote(!0, Vote::Any, true);
            } else {
                redux(!0, Redux::Add, 1);
            }
        })
    };
    caught_always(run, |fault| assert!(matches!(fault.kind, FaultKind::WarpDivergence { .. }), "{fault}"));
    let run = |seed| {
        launch(&Simulator::new(varied(seed)), Geometry::linear(1, 32, 0), || {
            if tid() == 3 {
                barrier();
            }
            sync_warp(!0);
            if tid() != 3 {
                barrier();
            }
        })
    };
    caught_always(run, |fault| {
        assert!(matches!(fault.kind, FaultKind::WarpDivergence { missing: 8, .. }), "{fault}")
    });
}

#[test]
fn masks_that_do_not_name_the_caller_and_shuffles_from_strangers() {
    let simulator = Simulator::default();
    let geometry = Geometry::linear(1, 32, 0);
    let fault = launch(&simulator, geometry, || {
        vote(0xffff, Vote::All, true);
    })
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::NotInMask { mask: 0xffff, lane: 16.., .. }), "{fault}");
    let fault = launch(&simulator, geometry, || {
        if tid() < 16 {
            shuffle(0xffff, Shuffle::Index, tid(), 20, 32);
        }
    })
    .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::ShuffleSource { mask: 0xffff, source_lane: 20 }), "{fault}");
}
