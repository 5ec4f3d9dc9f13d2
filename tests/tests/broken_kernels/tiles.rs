//! Barriers that count bytes, copies of boxes and tensor cores: what goes wrong with them.
//!
//! The kernels are rings as products of matrices have them: a warp copies boxes to shared memory, and a warpgroup multiplies.

use gpu_sim::{Fault, FaultKind, Simulator};
use gpu_std::barrier::{Barrier, fence_init, fence_proxy};
use gpu_std::half::bf16;
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;
use gpu_std::tensor_map::{Format, Swizzle, Tensor, TensorMap};
use gpu_std::wgmma;

use crate::harness::*;

/// Bytes of a box: 8 rows of 128 bytes.
const BOX: u32 = 1024;
/// Rounds through the rings.
const ROUNDS: u32 = 5;

/// The map of words as a matrix with rows of 32, in boxes of 8 rows.
fn map_of(address: u64, rows: u32) -> TensorMap {
    TensorMap::simulated(Tensor {
        address,
        format: Format::U32,
        extents: [32, rows.into(), 1],
        strides: [128, 128 * u64::from(rows)],
        tile: [32, 8, 1],
        swizzle: Swizzle::None,
    })
    .expect("a tensor that fits")
}

type Ring = unsafe fn(&Simulator, LaunchConfig, TensorMap, GlobalMut<u32>) -> Result<(), Fault>;

/// A ring of two stages between a warp that copies and one that reads; the words in order.
fn ring(seed: u64, launch: Ring) -> Result<Vec<u32>, Fault> {
    run(seed, launch).map(|words| words.get())
}

/// The same, of which not all words need be there.
fn run(seed: u64, launch: Ring) -> Result<Words, Fault> {
    let simulator = Simulator::new(config(seed));
    let words = Words::counting(&simulator, 256 * ROUNDS);
    let map = map_of(words.global().address(), 8 * ROUNDS);
    let y = Words::unwritten(&simulator, (256 * ROUNDS) as usize);
    let config = LaunchConfig::linear(1, 64).shared(2 * BOX + 4 * 8);
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, config, map, y.global_mut()) }?;
    Ok(y)
}

/// What the ring's places are.
#[device]
fn places() -> (Shared<u32>, Shared<u64>) {
    let mut shared = shared::dynamic();
    (shared.array(2 * BOX / 4), shared.array(4))
}

#[device]
fn begin(barriers: Shared<u64>, fills: u32, empties: u32) {
    if thread::thread_idx_x() == 0 {
        for stage in 0..2 {
            Barrier::at(barriers, stage).init(fills);
            Barrier::at(barriers, 2 + stage).init(empties);
        }
        fence_init();
    }
    thread::sync_threads();
}

#[device]
fn write_out(y: GlobalMut<u32>, tile: Shared<u32>, round: u32) {
    let lane = thread::thread_idx_x() % 32;
    for row in 0..8 {
        let word = tile.read(32 * row + lane); // FAULT: says_empty_before_it_has_read
        y.write(256 * round + 32 * row + lane, word);
    }
}

macro_rules! rings {
    ($($name:ident: $fills:literal $empties:literal, |$map:ident, $y:ident, $full:ident, $empty:ident, $tile:ident, $round:ident| $fill:block $drain:block)*) => { $(
        #[kernel]
        fn $name($map: TensorMap, $y: GlobalMut<u32>) {
            let (tiles, barriers) = places();
            begin(barriers, $fills, $empties);
            for $round in 0..ROUNDS {
                let stage = $round % 2;
                let ($full, $empty) = (Barrier::at(barriers, stage), Barrier::at(barriers, 2 + stage));
                let $tile = tiles.offset(stage * BOX / 4);
                if thread::thread_idx_x() == 0 $fill
                if thread::thread_idx_x() >= 32 $drain
            }
        }
    )* };
}

rings! {
    is_a_ring: 1 32, |map, y, full, empty, tile, round| {
        empty.wait((round / 2 % 2) ^ 1);
        full.arrive_expect(BOX);
        map.load(tile, full, [0, 8 * round, 0]);
    } {
        full.wait(round / 2 % 2);
        write_out(y, tile, round);
        empty.arrive();
    }

    says_empty_before_it_has_read: 1 32, |map, y, full, empty, tile, round| {
        empty.wait((round / 2 % 2) ^ 1);
        full.arrive_expect(BOX);
        map.load(tile, full, [0, 8 * round, 0]); // FAULT: says_empty_before_it_has_read
    } {
        full.wait(round / 2 % 2);
        empty.arrive();
        write_out(y, tile, round);
    }

    waits_for_the_wrong_parity: 1 32, |map, y, full, empty, tile, round| {
        empty.wait(round / 2 % 2); // FAULT: waits_for_the_wrong_parity
        full.arrive_expect(BOX);
        map.load(tile, full, [0, 8 * round, 0]);
    } {
        full.wait(round / 2 % 2); // FAULT: waits_for_the_wrong_parity
        write_out(y, tile, round);
        empty.arrive();
    }

    announces_too_few_bytes: 1 32, |map, y, full, empty, tile, round| {
        empty.wait((round / 2 % 2) ^ 1); // FAULT: announces_too_few_bytes
        full.arrive_expect(BOX - 16);
        map.load(tile, full, [0, 8 * round, 0]);
    } {
        full.wait(round / 2 % 2); // FAULT: announces_too_few_bytes
        write_out(y, tile, round);
        empty.arrive();
    }

    announces_too_many_bytes: 1 32, |map, y, full, empty, tile, round| {
        empty.wait((round / 2 % 2) ^ 1); // FAULT: announces_too_many_bytes
        full.arrive_expect(BOX + 16);
        map.load(tile, full, [0, 8 * round, 0]);
    } {
        full.wait(round / 2 % 2); // FAULT: announces_too_many_bytes
        write_out(y, tile, round);
        empty.arrive();
    }

    announces_one_copy_of_two: 1 32, |map, y, full, empty, tile, round| {
        if round == 0 {
            empty.wait(1);
            full.arrive_expect(BOX);
            map.load(tile, full, [0, 0, 0]); // FAULT: announces_one_copy_of_two
            map.load(tile.offset(BOX / 4), full, [0, 8, 0]); // FAULT: announces_one_copy_of_two
        }
    } {
        if round == 0 {
            full.wait(0);
            write_out(y, tile, round);
        }
    }

    expects_too_many_arrivals: 1 33, |map, y, full, empty, tile, round| {
        empty.wait((round / 2 % 2) ^ 1); // FAULT: expects_too_many_arrivals
        full.arrive_expect(BOX);
        map.load(tile, full, [0, 8 * round, 0]);
    } {
        full.wait(round / 2 % 2); // FAULT: expects_too_many_arrivals
        write_out(y, tile, round);
        empty.arrive();
    }

    expects_too_few_arrivals: 1 31, |map, y, full, empty, tile, round| {
        if round == 0 || round == 2 {
            empty.wait((round / 2) ^ 1);
            full.arrive_expect(BOX);
            map.load(tile, full, [0, 8 * round, 0]); // FAULT: expects_too_few_arrivals
        }
    } {
        if round == 0 || round == 2 {
            full.wait(round / 2);
            let lane = thread::thread_idx_x() % 32;
            empty.arrive();
            y.write(32 * round + lane, tile.read(lane)); // FAULT: expects_too_few_arrivals
        }
    }

    copies_to_a_crooked_place: 1 32, |map, y, full, empty, tile, round| {
        empty.wait((round / 2 % 2) ^ 1);
        full.arrive_expect(BOX);
        map.load(tile.offset(4), full, [0, 8 * round, 0]); // FAULT: copies_to_a_crooked_place
    } {
        full.wait(round / 2 % 2);
        write_out(y, tile, round);
        empty.arrive();
    }

    copies_from_a_crooked_place: 1 32, |map, y, full, empty, tile, round| {
        empty.wait((round / 2 % 2) ^ 1);
        full.arrive_expect(BOX);
        map.load(tile, full, [2, 8 * round, 0]); // FAULT: copies_from_a_crooked_place
    } {
        full.wait(round / 2 % 2);
        write_out(y, tile, round);
        empty.arrive();
    }

    has_a_map_that_does_not_fit: 1 32, |map, y, full, empty, tile, round| {
        empty.wait((round / 2 % 2) ^ 1);
        full.arrive_expect(BOX);
        map.load(tile, full, [0, 8 * round, 0]); // FAULT: has_a_map_that_does_not_fit
    } {
        full.wait(round / 2 % 2);
        write_out(y, tile, round);
        empty.arrive();
    }

    ends_before_its_copies: 1 32, |map, y, full, empty, tile, round| {
        if round == 0 {
            full.arrive_expect(BOX);
            map.load(tile, full, [0, 0, 0]); // FAULT: ends_before_its_copies
        }
    } {
        if round == 0 {
            y.write(thread::thread_idx_x(), 0);
        }
        let _ = (full, empty, tile);
    }
}

/// A barrier that copies were not told of.
#[kernel]
fn lacks_the_fence_of_its_barriers(map: TensorMap, y: GlobalMut<u32>) {
    let (tiles, barriers) = places();
    let full = Barrier::at(barriers, 0);
    if thread::thread_idx_x() == 0 {
        full.init(1);
    }
    thread::sync_threads();
    if thread::thread_idx_x() == 0 {
        full.arrive_expect(BOX);
        map.load(tiles, full, [0, 0, 0]); // FAULT: lacks_the_fence_of_its_barriers
    }
    full.wait(0);
    y.write(thread::thread_idx_x(), tiles.read(thread::thread_idx_x()));
}

#[kernel]
fn reads_before_the_copy_has_come(map: TensorMap, y: GlobalMut<u32>) {
    let (tiles, barriers) = places();
    begin(barriers, 1, 1);
    let full = Barrier::at(barriers, 0);
    if thread::thread_idx_x() == 0 {
        full.arrive_expect(BOX);
        map.load(tiles, full, [0, 0, 0]); // FAULT: reads_before_the_copy_has_come
    }
    thread::sync_threads();
    y.write(thread::thread_idx_x(), tiles.read(thread::thread_idx_x())); // FAULT: reads_before_the_copy_has_come
    full.wait(0);
}

#[test]
fn rings() {
    bounded("rings", |tally| {
        let words: Vec<u32> = (0..256 * ROUNDS).collect();
        tally.passes(is_a_ring::META, &words, |seed| ring(seed, is_a_ring::launch));
        let stuck = |fault: &Fault| matches!(fault.kind, FaultKind::NoSuchPhase { .. });
        let race =
            |fault: &Fault| matches!(fault.kind, FaultKind::Race { .. } | FaultKind::AsyncNotWaited { .. });
        tally.caught(waits_for_the_wrong_parity::META, stuck, |seed| {
            run(seed, waits_for_the_wrong_parity::launch)
        });
        tally.caught(announces_too_few_bytes::META, stuck, |seed| run(seed, announces_too_few_bytes::launch));
        tally.caught(announces_too_many_bytes::META, stuck, |seed| {
            run(seed, announces_too_many_bytes::launch)
        });
        // Where the one has come before the other is started, it is the next phase that counts too many bytes.
        let found = tally.caught_at_times(
            announces_one_copy_of_two::META,
            |fault| {
                matches!(fault.kind, FaultKind::TransactionBytes { .. } | FaultKind::AsyncNotWaited { .. })
            },
            |seed| run(seed, announces_one_copy_of_two::launch),
        );
        assert!(found > BROKEN_SEEDS / 4, "{found}");
        tally.caught(expects_too_many_arrivals::META, stuck, |seed| {
            run(seed, expects_too_many_arrivals::launch)
        });
        let found = tally.caught_at_times(expects_too_few_arrivals::META, race, |seed| {
            run(seed, expects_too_few_arrivals::launch)
        });
        assert!(found > BROKEN_SEEDS / 4, "{found}");
        tally.caught(says_empty_before_it_has_read::META, race, |seed| {
            run(seed, says_empty_before_it_has_read::launch)
        });
        tally.caught(
            copies_to_a_crooked_place::META,
            |fault| matches!(fault.kind, FaultKind::Misaligned { .. }),
            |seed| run(seed, copies_to_a_crooked_place::launch),
        );
        tally.caught(
            copies_from_a_crooked_place::META,
            |fault| matches!(fault.kind, FaultKind::InvalidOperand { value: 8, .. }),
            |seed| run(seed, copies_from_a_crooked_place::launch),
        );
        // The copy may have come by then.
        let found = tally.caught_at_times(
            ends_before_its_copies::META,
            |fault| matches!(fault.kind, FaultKind::AsyncNotWaited { .. }),
            |seed| run(seed, ends_before_its_copies::launch),
        );
        assert!(found > BROKEN_SEEDS / 4, "{found}");
        tally.caught(
            lacks_the_fence_of_its_barriers::META,
            |fault| matches!(fault.kind, FaultKind::NoProxyFence { .. }),
            |seed| run(seed, lacks_the_fence_of_its_barriers::launch),
        );
        // Once it has come, the block barrier orders it as what its thread did.
        let found = tally.caught_at_times(reads_before_the_copy_has_come::META, race, |seed| {
            run(seed, reads_before_the_copy_has_come::launch)
        });
        assert!(found > BROKEN_SEEDS / 4, "{found}");
        tally.caught(
            has_a_map_that_does_not_fit::META,
            |fault| matches!(fault.kind, FaultKind::OutOfBounds { .. } | FaultKind::WildAddress { .. }),
            |seed| {
                let simulator = Simulator::new(config(seed));
                let words = Words::counting(&simulator, 32 * 8);
                let map = map_of(words.global().address(), 8 * ROUNDS);
                let y = Words::unwritten(&simulator, (256 * ROUNDS) as usize);
                let config = LaunchConfig::linear(1, 64).shared(2 * BOX + 4 * 8);
                // SAFETY: the simulator checks every access.
                unsafe { has_a_map_that_does_not_fit::launch(&simulator, config, map, y.global_mut()) }
            },
        );
    });
}

// ---- tensor cores ------------------------------------------------------------------------------------------------

/// Sums of a thread.
const SUMS: usize = 128;
/// Bytes of the tiles of A and B.
const TILES: u32 = (wgmma::ROWS + wgmma::columns(SUMS)) * wgmma::DEPTH_BYTES;

#[device]
fn halves() -> Shared<bf16> {
    shared::dynamic().array(TILES / 2)
}

/// All elements are ones.
#[device]
fn write_ones(tiles: Shared<bf16>) {
    let mut at = 8 * thread::thread_idx_x();
    while thread::thread_idx_x() < 128 && at < TILES / 2 {
        tiles.write_vec(at, [bf16::ONE; 8]);
        at += 8 * 128;
    }
}

#[device]
fn b_of(tiles: Shared<bf16>) -> Shared<bf16> {
    tiles.offset(wgmma::ROWS * wgmma::DEPTH_BYTES / 2)
}

fn multiplication(
    seed: u64,
    threads: u32,
    launch: unsafe fn(&Simulator, LaunchConfig, GlobalMut<u32>) -> Result<(), Fault>,
) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let y = Words::unwritten(&simulator, 128);
    let config = LaunchConfig::linear(1, threads).shared(TILES);
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, config, y.global_mut()) }?;
    Ok(y.get())
}

#[kernel]
fn multiplies(y: GlobalMut<u32>) {
    let tiles = halves();
    write_ones(tiles);
    fence_proxy();
    thread::sync_threads();
    let mut sums = [0; SUMS];
    wgmma::multiply_add::<bf16, false, false, SUMS>(&mut sums, tiles, b_of(tiles));
    y.write(thread::thread_idx_x(), f32::from_bits(sums[77]) as u32);
}

/// Two of a row's words are ones in the first row, the others zeros, and all of the other factor.
#[kernel]
fn multiplies_rows(y: GlobalMut<u32>) {
    let tiles = halves();
    write_ones(tiles);
    fence_proxy();
    thread::sync_threads();
    let ones = if thread::thread_idx_x() < 4 { 0x3f80_3f80 } else { 0 };
    let (mut sums, mut words) = ([0; SUMS], [0; 16]);
    (words[0], words[14]) = (ones, ones);
    wgmma::multiply_add_rows::<bf16, false, 16, SUMS>(&mut sums, words, 0, b_of(tiles));
    wgmma::multiply_add_rows::<bf16, false, 4, SUMS>(&mut sums, [ones, 0, 0, 0], 12, b_of(tiles));
    y.write(thread::thread_idx_x(), f32::from_bits(sums[77]) as u32);
}

#[kernel]
fn lacks_the_proxy_fence(y: GlobalMut<u32>) {
    let tiles = halves();
    write_ones(tiles);
    thread::sync_threads();
    let mut sums = [0; SUMS];
    wgmma::multiply_add::<bf16, false, false, SUMS>(&mut sums, tiles, b_of(tiles)); // FAULT: lacks_the_proxy_fence
    y.write(thread::thread_idx_x(), f32::from_bits(sums[77]) as u32);
}

#[kernel]
fn writes_factors_of_an_operation(y: GlobalMut<u32>) {
    let tiles = halves();
    write_ones(tiles);
    fence_proxy();
    thread::sync_threads();
    if thread::thread_idx_x() < 128 {
        let mut sums = [0; SUMS];
        wgmma::multiply_add::<bf16, false, false, SUMS>(&mut sums, tiles, b_of(tiles)); // FAULT: writes_factors_of_an_operation
        y.write(thread::thread_idx_x(), f32::from_bits(sums[77]) as u32);
    } else {
        tiles.write_vec(8 * (thread::thread_idx_x() - 128), [bf16::ZERO; 8]); // FAULT: writes_factors_of_an_operation
    }
}

#[kernel]
fn multiplies_without_a_warp(y: GlobalMut<u32>) {
    let tiles = halves();
    write_ones(tiles);
    fence_proxy();
    thread::sync_threads();
    let mut sums = [0; SUMS];
    if thread::thread_idx_x() < 96 {
        wgmma::multiply_add::<bf16, false, false, SUMS>(&mut sums, tiles, b_of(tiles)); // FAULT: multiplies_without_a_warp
    }
    y.write(thread::thread_idx_x(), f32::from_bits(sums[77]) as u32);
}

#[kernel]
fn sets_registers_in_a_branch(y: GlobalMut<u32>) {
    if thread::thread_idx_x() % 32 < 16 {
        thread::set_more_registers::<240>(); // FAULT: sets_registers_in_a_branch
    } else {
        thread::set_more_registers::<232>(); // FAULT: sets_registers_in_a_branch
    }
    y.write(thread::thread_idx_x(), 0);
}

#[test]
fn tensor_cores() {
    bounded("tensor_cores", |tally| {
        let alone = |launch| move |seed| multiplication(seed, 128, launch);
        for seed in 0..20 {
            assert_eq!(multiplication(seed, 128, multiplies::launch).expect("it is right"), [64; 128]);
            let rows = multiplication(seed, 128, multiplies_rows::launch).expect("it is right");
            assert!(
                rows.iter().enumerate().all(|(thread, &sum)| sum == if thread < 4 { 24 } else { 0 }),
                "{rows:?}"
            );
        }
        tally.caught(
            lacks_the_proxy_fence::META,
            |fault| matches!(fault.kind, FaultKind::NoProxyFence { .. }),
            alone(lacks_the_proxy_fence::launch),
        );
        tally.caught(
            writes_factors_of_an_operation::META,
            |fault| matches!(fault.kind, FaultKind::Race { .. }),
            |seed| multiplication(seed, 256, writes_factors_of_an_operation::launch),
        );
        let diverges = |fault: &Fault| matches!(fault.kind, FaultKind::WarpgroupDivergence { .. });
        tally.caught(multiplies_without_a_warp::META, diverges, alone(multiplies_without_a_warp::launch));
        tally.caught(sets_registers_in_a_branch::META, diverges, alone(sets_registers_in_a_branch::launch));
    });
}
