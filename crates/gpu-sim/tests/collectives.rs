//! What lanes and threads do together: values as PTX defines them, and counts of what was done.

mod common;

use std::sync::atomic::{AtomicU32, Ordering as Host};

use common::*;
use gpu_sim::device::*;
use gpu_sim::{Config, Geometry, Operation, Record, Report, Simulator};

const ALL: u32 = u32::MAX;

/// Runs one warp and collects a word per lane.
fn warp(seed: u64, body: impl Fn(u32) -> u32 + Sync) -> [u32; 32] {
    let simulator = Simulator::new(varied(seed));
    let out: [AtomicU32; 32] = std::array::from_fn(|_| AtomicU32::new(0));
    simulator
        .launch(KERNEL, Geometry::linear(1, 32, 256), &|| {
            let lane = thread_idx()[0];
            out[lane as usize].store(body(lane), Host::Relaxed);
        })
        .unwrap_or_else(|fault| panic!("{fault}"));
    std::array::from_fn(|lane| out[lane].load(Host::Relaxed))
}

#[test]
fn shuffles_stay_in_their_segments() {
    for seed in 0..4 {
        for width in [1u32, 2, 4, 8, 16, 32] {
            for operand in [0u32, 1, 3, 7, 16, 31] {
                let run = |mode| {
                    warp(seed, move |lane| {
                        let (value, inside) = shuffle(ALL, mode, 100 + lane, operand, width);
                        value | u32::from(inside) << 16
                    })
                };
                let expected = |source: &dyn Fn(u32, u32, u32) -> Option<u32>| -> [u32; 32] {
                    std::array::from_fn(|lane| {
                        let (lane, base) = (lane as u32, lane as u32 / width * width);
                        match source(lane, base, base + width) {
                            Some(source) => (100 + source) | (1 << 16),
                            None => 100 + lane,
                        }
                    })
                };
                let what = format!("width {width}, operand {operand}");
                let up = expected(&|lane, base, _| lane.checked_sub(operand).filter(|&s| s >= base));
                assert_eq!(run(Shuffle::Up), up, "up, {what}");
                let down = expected(&|lane, _, end| Some(lane + operand).filter(|&s| s < end));
                assert_eq!(run(Shuffle::Down), down, "down, {what}");
                // PTX compares with the end of the segment only: a lower segment can be read.
                let xor = expected(&|lane, _, end| Some(lane ^ operand).filter(|&s| s < end));
                assert_eq!(run(Shuffle::Xor), xor, "xor, {what}");
                let index = expected(&|_, base, _| Some(base + operand % width));
                assert_eq!(run(Shuffle::Index), index, "index, {what}");
            }
        }
    }
}

#[test]
fn votes_reductions_and_matches_see_the_lanes_of_their_mask() {
    for seed in 0..100 {
        // Two groups of lanes meet apart from each other.
        let group = |lane: u32| if lane.is_multiple_of(3) { 0x4924_9249u32 } else { !0x4924_9249u32 };
        let members = |lane: u32| (0..32u32).filter(move |other| group(lane) >> other & 1 == 1);
        let ballot = warp(seed, |lane| vote(group(lane), Vote::Ballot, lane % 2 == 0));
        let all = warp(seed, |lane| vote(group(lane), Vote::All, lane % 3 == 0));
        let any = warp(seed, |lane| vote(group(lane), Vote::Any, lane == 31));
        let sum = warp(seed, |lane| redux(group(lane), Redux::Add, lane));
        let low = warp(seed, |lane| redux(group(lane), Redux::MinS, (lane as i32 - 16) as u32));
        let high = warp(seed, |lane| redux(group(lane), Redux::MaxU, lane * 7 % 32));
        let same = warp(seed, |lane| match_any(group(lane), u64::from(lane / 8) << 40));
        for lane in 0..32u32 {
            let at = lane as usize;
            let bits = |wanted: &dyn Fn(u32) -> bool| {
                members(lane).filter(|&l| wanted(l)).fold(0, |m, l| m | 1 << l)
            };
            assert_eq!(ballot[at], bits(&|l| l % 2 == 0));
            assert_eq!(all[at], u32::from(lane % 3 == 0));
            assert_eq!(any[at], u32::from(members(lane).any(|l| l == 31)));
            assert_eq!(sum[at], members(lane).sum::<u32>());
            assert_eq!(low[at] as i32, members(lane).map(|l| l as i32 - 16).min().unwrap());
            assert_eq!(high[at], members(lane).map(|l| l * 7 % 32).max().unwrap());
            assert_eq!(same[at], bits(&|l| l / 8 == lane / 8));
        }
    }
}

#[test]
fn a_full_mask_means_the_lanes_that_exist() {
    let simulator = Simulator::default();
    let out = words(&simulator, &[0; 40]);
    simulator
        .launch(KERNEL, Geometry::linear(1, 40, 0), &|| {
            let sum = redux(ALL, Redux::Add, 1);
            global_store(out + 4 * u64::from(thread_idx()[0]), sum, Store::Weak);
        })
        .unwrap();
    let expected: Vec<u32> = (0..40).map(|tid| if tid < 32 { 32 } else { 8 }).collect();
    assert_eq!(read_words(&simulator, out, 40), expected);
}

#[test]
fn active_masks_are_plausible_and_usually_split() {
    let mut full = 0;
    for seed in 0..200 {
        let masks = warp(seed, |lane| if lane < 20 { active_mask() } else { !active_mask() });
        for (lane, mask) in masks.iter().enumerate() {
            let mask = if lane < 20 { *mask } else { !*mask };
            let side = if lane < 20 { (1 << 20) - 1 } else { !((1u32 << 20) - 1) };
            assert!(mask >> lane & 1 == 1 && mask & !side == 0, "lane {lane}: {mask:#x}");
            // Whoever is in the mask got the same one.
            for other in (0..32).filter(|other| mask >> other & 1 == 1) {
                assert_eq!(masks[other], masks[lane]);
            }
        }
        full += u32::from(masks[0] == (1 << 20) - 1);
    }
    assert!((1..=10).contains(&full), "mostly split, sometimes together: {full}");
}

#[test]
fn an_active_mask_taken_for_the_lanes_of_a_branch() {
    // The lanes below 20 add up a value of each: whoever is active together, or whoever took the branch.
    let sums = |seed, member: bool| {
        let masks = warp(seed, |lane| {
            if lane < 20 {
                let mask = if member { (1 << 20) - 1 } else { active_mask() };
                redux(mask, Redux::Add, lane)
            } else {
                190
            }
        });
        masks.iter().all(|&sum| sum == 190)
    };
    let wrong = (0..200).filter(|&seed| !sums(seed, false)).count();
    assert!(wrong >= 190, "{wrong} of 200 seeds");
    assert!((0..200).all(|seed| sums(seed, true)));
}

#[test]
fn barriers_combine_predicates() {
    passes(|seed| {
        Simulator::new(varied(seed)).launch(KERNEL, Geometry::linear(2, 70, 0), &|| {
            let tid = thread_idx()[0];
            assert_eq!(barrier_reduce(BarrierOp::Count, tid.is_multiple_of(7)), 10);
            assert_eq!(barrier_reduce(BarrierOp::And, tid < 69), 0);
            assert_eq!(barrier_reduce(BarrierOp::And, tid < 70), 1);
            assert_eq!(barrier_reduce(BarrierOp::Or, tid == 69), 1);
            assert_eq!(barrier_reduce(BarrierOp::Or, tid == 70), 0);
        })
    });
}

#[test]
fn indices_follow_the_geometry() {
    let simulator = Simulator::default();
    let geometry = Geometry { grid: [3, 2, 2], block: [4, 3, 2], shared_bytes: 16 };
    let count = AtomicU32::new(0);
    let report = simulator
        .launch(KERNEL, geometry, &|| {
            assert_eq!((block_dim(), grid_dim(), shared_bytes()), ([4, 3, 2], [3, 2, 2], 16));
            let ([x, y, z], [bx, by, bz]) = (thread_idx(), block_idx());
            assert!(bx < 3 && by < 2 && bz < 2);
            // The lane is the linear thread number: x fastest.
            assert_eq!(shuffle(ALL, Shuffle::Index, x + 4 * y + 12 * z, 5, 32).0, 5);
            assert!(clock64() < clock64() && globaltimer() > 0);
            count.fetch_add(1, Host::Relaxed);
        })
        .unwrap();
    assert_eq!((report.threads, report.blocks, count.into_inner()), (288, 12, 288));
}

#[test]
fn asynchronous_copies_land_by_groups_and_fill_with_zeros() {
    passes(|seed| {
        let simulator = Simulator::new(varied(seed));
        let x = words(&simulator, &[1, 2, 3, 4, 5, 6, 7, 8]);
        simulator.launch(KERNEL, Geometry::linear(1, 1, 64), &|| {
            cp_async(0, x, 16, 16);
            cp_async_commit();
            cp_async(16, x + 16, 16, 8);
            cp_async_commit();
            cp_async(32, x + 1024, 16, 0);
            cp_async_commit();
            cp_async_wait(2);
            assert_eq!(shared_load::<[u32; 4]>(0), [1, 2, 3, 4]);
            cp_async_wait(0);
            assert_eq!(shared_load::<[u32; 4]>(16), [5, 6, 0, 0]);
            assert_eq!(shared_load::<[u32; 4]>(32), [0; 4]);
        })
    });
}

#[test]
fn neighbouring_bytes_do_not_race() {
    passes(|seed| {
        let simulator = Simulator::new(varied(seed));
        let x = words(&simulator, &[0]);
        let report = simulator.launch(KERNEL, Geometry::linear(4, 1, 0), &|| {
            global_store(x + u64::from(block_idx()[0]), block_idx()[0] as u8, Store::Weak);
        })?;
        assert_eq!(read_words(&simulator, x, 1), [u32::from_ne_bytes([0, 1, 2, 3])]);
        Ok(report)
    });
    // A word and a byte of it do, whichever comes first.
    caught_always(
        |seed| {
            let simulator = Simulator::new(varied(seed));
            let x = words(&simulator, &[0]);
            simulator.launch(KERNEL, Geometry::linear(2, 1, 0), &|| {
                if block_idx()[0] == 0 {
                    global_store(x, 1u32, Store::Weak);
                } else {
                    global_store(x + 3, 1u8, Store::Weak);
                }
            })
        },
        |fault| assert!(matches!(fault.kind, gpu_sim::FaultKind::Race { .. }), "{fault}"),
    );
}

// ---- counts ------------------------------------------------------------------------------------------------------

fn counted(geometry: Geometry, words_of_input: usize, body: impl Fn(u64) + Sync) -> Report {
    let simulator = Simulator::new(Config { record: Record::Full, ..Config::default() });
    let x = words(&simulator, &vec![0; words_of_input]);
    let report = simulator.launch(KERNEL, geometry, &|| body(x)).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(simulator.last_report().as_ref(), Some(&report));
    report
}

#[test]
fn coalesced_and_strided_accesses_are_told_apart() {
    let report = counted(Geometry::linear(2, 64, 0), 4096, |x| {
        let i = u64::from(block_idx()[0] * 64 + thread_idx()[0]);
        global_load::<u32>(x + 4 * i, Load::Weak);
        global_load::<u32>(x + 128 * i, Load::ReadOnly);
        global_load::<[u32; 4]>(x + 16 * i, Load::Weak);
    });
    let loads = report.counts.global_loads;
    assert_eq!((loads.requests, loads.lanes, loads.bytes, loads.sectors), (8, 256, 128 * 20, 4 * 4 + 4 * 16));
    let strided = report.counts.read_only_loads;
    assert_eq!((strided.requests, strided.bytes, strided.sectors), (4, 512, 128));
    assert_eq!(report.sites.len(), 3, "{:?}", report.sites);
    assert!(report.sites.iter().all(|site| site.count.requests == 4 && site.site.file == file!()));
}

#[test]
fn bank_conflicts_barriers_and_collectives_are_counted() {
    let report = counted(Geometry::linear(1, 64, 64 * 128), 1, |_| {
        let tid = thread_idx()[0];
        shared_store(4 * tid, tid);
        barrier();
        shared_load::<u32>(4 * (tid % 32 * 2 % 64));
        sync_warp(ALL);
        shuffle(ALL, Shuffle::Xor, tid, 1, 32);
        vote(ALL, Vote::Any, true);
        redux(ALL, Redux::Or, 1);
        match_any(ALL, 1);
        matrix([1.0], |of| of(0, 0));
        atomic_update::<u32>(Space::Shared, 0, Ordering::Relaxed, Scope::Block, |_| None);
        fence(Ordering::AcqRel, Scope::Block);
    });
    let counts = &report.counts;
    assert_eq!((counts.shared_stores.requests, counts.shared_stores.wavefronts), (2, 2));
    assert_eq!((counts.shared_loads.requests, counts.shared_loads.wavefronts), (2, 4));
    for operation in [
        Operation::Barrier,
        Operation::WarpSync,
        Operation::Shuffle,
        Operation::Vote,
        Operation::Redux,
        Operation::Match,
        Operation::Matrix,
        Operation::Fence,
        Operation::SharedAtomic,
    ] {
        let count = counts.get(operation);
        assert_eq!((count.requests, count.lanes), (2, 64), "{operation:?}");
    }
}

#[test]
fn divergence_is_counted_per_occurrence() {
    let report = counted(Geometry::linear(1, 32, 0), 1, |_| {
        let tid = thread_idx()[0];
        for turn in 0..4 {
            loop_tick();
            // Lanes part on turns 1 and 3.
            branch(u32::from(turn % 2 == 1 && tid < 8));
        }
        // Lanes leave a loop at different times: the warp goes round as often as its slowest lane.
        for _ in 0..tid {
            loop_tick();
        }
    });
    let branches = report.counts.branches;
    assert_eq!((branches.requests, branches.lanes, branches.divergent), (4, 128, 2));
    assert_eq!(report.counts.loops.requests, 4 + 31);
    assert_eq!(report.counts.loops.lanes, 4 * 32 + 31 * 32 / 2);
}

#[test]
fn counts_do_not_depend_on_the_seed() {
    let run = |seed| {
        let simulator = Simulator::new(Config { record: Record::Full, ..Config::with_seed(seed) });
        let x = words(&simulator, &vec![0; 1 << 12]);
        let report = simulator
            .launch(KERNEL, Geometry::linear(4, 96, 512), &|| {
                let tid = thread_idx()[0];
                let base = x + 4 * u64::from(block_idx()[0] * 1024);
                for turn in 0..10u32 {
                    if (tid + turn).is_multiple_of(5) {
                        global_load::<u32>(base + 4 * u64::from((tid * turn) % 1024), Load::Weak);
                    }
                    shared_store(4 * tid, turn);
                    barrier();
                }
            })
            .unwrap();
        (report.counts, report.sites)
    };
    let first = run(0);
    for seed in 1..20 {
        assert_eq!(run(seed), first, "seed {seed}");
    }
}

/// Each lane sees what every lane brought to this operation, not to the next one.
#[test]
fn a_matrix_operation_shows_what_all_lanes_brought() {
    for seed in 0..100 {
        let seen = warp(seed, |lane| {
            let mut wrong = 0;
            for turn in 0..3u32 {
                let brought = [f64::from(lane), f64::from(turn)];
                wrong += matrix(brought, |of| {
                    (0..32).filter(|&l| (of(l, 0), of(l, 1)) != (l as f64, f64::from(turn))).count() as u32
                });
            }
            wrong
        });
        assert_eq!(seen, [0; 32], "seed {seed}");
    }
}

#[test]
fn a_matrix_operation_needs_32_lanes() {
    let simulator = Simulator::new(varied(1));
    let fault = simulator
        .launch(KERNEL, Geometry::linear(1, 16, 0), &|| {
            matrix([1.0], |of| of(0, 0));
        })
        .unwrap_err();
    assert!(fault.to_string().contains("mma"), "{fault}");
}
