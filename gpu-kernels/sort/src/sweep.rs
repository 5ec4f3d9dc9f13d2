//! One pass: keys to their places by one digit.
//!
//! A block takes a tile, by a ticket, so that all tiles before its own have been taken by blocks that run. Its warps
//! take consecutive parts of the tile, in rows of 32 keys:
//!
//! 1. Each warp counts its digits. So the tile's counts are published early, and others need not wait for what follows.
//! 2. A thread for each digit turns the warps' counts into the place of each warp's first key of that digit in the
//!    tile sorted by digit.
//! 3. Warps place their keys, row by row, in shared memory: the tile is sorted by this digit.
//! 4. The threads of the digits look back for how many keys of theirs come before the tile.
//! 5. Keys go to memory in the order of their places, neighbours to neighbours wherever they have the same digit.

use gpu_collective::block::{DigitPlaces, RadixRank};
use gpu_collective::grid::{TileCounts, tickets};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion};
use gpu_std::warp;
use gpu_std::{device, rolled, shared, unroll};

use super::order::{Digit, Key};
use super::packed::Packed;
use super::payload::Payload;

/// One launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Pass {
    /// How many keys there are in all.
    pub len: u64,
    /// A key that none comes after, for the end of the last tile.
    pub last: u64,
    /// The digit that is sorted by.
    pub digit: Digit,
    /// The tile that this launch begins with; one block each.
    pub first_tile: u32,
    /// The tiles of this launch.
    pub tiles: u32,
    /// Tickets that launches have drawn before, modulo 2^32.
    pub tickets: u32,
    /// 0 and 1 in turn, pass by pass.
    pub phase: u32,
    /// Whether values are the keys' indices: 0 or 1.
    pub indices: u32,
}

/// A tile and a thread's places in it.
pub struct Tile {
    /// Its first key.
    pub base: u64,
    /// How many there is room for.
    pub len: u32,
    /// How many there are.
    pub left: u32,
    threads: u32,
}

impl Tile {
    /// Where the thread's key of row `row` is.
    #[inline(always)]
    pub(super) fn place<const L: usize>(&self, row: usize) -> u32 {
        thread_idx_x() / 32 * 32 * L as u32 + 32 * row as u32 + warp::lane_id()
    }

    /// Which of the sorted keys is the `row`th that the thread writes.
    #[inline(always)]
    pub(super) fn sorted(&self, row: usize) -> u32 {
        row as u32 * self.threads + thread_idx_x()
    }
}

/// Moves keys, and what belongs to them, to their places by one digit, of at most `B` bits. `L` keys a thread, `W`
/// warps, which look back `A` tiles at a time.
///
/// `starts` says where the first key of each digit goes, and `next_starts` will say so for the tiles after those of
/// this launch: memory of its own. `counts` has `2^B` words for each tile, zero before the first pass or left by the
/// pass before. Launch [`Pass::tiles`] blocks.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn sweep<K: Key, P: Payload, const B: usize, const L: usize, const W: usize, const A: usize>(
    input: Global<K>,
    output: GlobalMut<K>,
    payload: P,
    pass: Pass,
    starts: Global<u64>,
    next_starts: GlobalMut<u64>,
    counts: GlobalMut<u32>,
    header: GlobalMut<u32>,
) {
    grid_dependency_synchronize();
    trigger_launch_completion();
    let digits = 1 << B;
    let thread = thread_idx_x();
    let threads = 32 * W as u32;
    let mut memory = shared::dynamic();
    let warps = memory.array::<u32>(W as u32 * digits);
    let targets = memory.array::<u64>(digits);
    let warp_sums = memory.array::<u32>(digits / 32);
    let block_ticket = memory.array::<u32>(1);
    let exchange = memory.array::<u8>(0);
    let rank = RadixRank::<B, W>::new(warps, warp_sums);

    if thread == 0 {
        let ticket = tickets::draw(header.offset(super::TICKET as u64));
        block_ticket.write(0, ticket.wrapping_sub(pass.tickets));
    }
    rank.clear();
    sync_threads();
    let number = pass.first_tile + block_ticket.read(0);
    let len = threads * L as u32;
    let base = number as u64 * len as u64;
    let left = (pass.len - base).min(len as u64) as u32;
    let tile = Tile { base, len, left, threads };

    // ---- The tile's counts
    let keys = input.offset(base);
    let mut loaded = [K::default(); L];
    unroll::<L>(|row| {
        let at = tile.place::<L>(row);
        loaded[row] = if at < tile.left { keys.read(at) } else { K::narrow(pass.last) };
    });
    unroll::<L>(|row| rank.count(pass.digit.of(loaded[row])));
    let counts = TileCounts::new(counts, thread, digits, pass.first_tile, pass.phase);
    let DigitPlaces { count, start } = rank.starts(|count| counts.publish_own(number, count));

    // ---- The tile sorted by this digit
    let sorted = exchange.cast::<K>();
    let mut places = [0; L];
    unroll::<L>(|row| {
        places[row] = rank.place(pass.digit.of(loaded[row]));
        sorted.write(places[row], loaded[row]);
    });
    let places = if P::MOVES { Packed::new(places) } else { Packed::ZEROS };

    // ---- To memory
    if thread < digits {
        let before = if A == 1 { counts.before(number, count) } else { counts.before_by::<A>(number, count) };
        // Keys that something else changes between the launches are not those that were counted: whatever the places are
        // then, they lie in the output. Of the end of the last tile the keys that only fill it are not written.
        let is_filled = thread == pass.digit.of(K::narrow(pass.last));
        let fill = if is_filled { tile.len - tile.left } else { 0 };
        let most = pass.len - (count - fill) as u64;
        let first = (starts.read(thread) + before as u64).min(most);
        // The place in the output of the key at place 0, if it had this digit.
        targets.write(thread, first.wrapping_sub(start as u64));
        if number == pass.first_tile + pass.tiles - 1 {
            next_starts.write(thread, first + count as u64);
        }
    }
    sync_threads();
    let target = |digit: u32, row: usize| targets.read(digit).wrapping_add(tile.sorted(row) as u64);
    // The last tile on a way of its own, in a loop: without conditions all keys of the others are asked for before
    // the first is needed. What the warps counted with is free, and keeps the loop's digits.
    let digits = warps.cast::<u8>();
    let mut of_sorted = [0; L];
    let of_sorted = if tile.left == tile.len {
        unroll::<L>(|row| {
            let key = sorted.read(tile.sorted(row));
            of_sorted[row] = pass.digit.of(key);
            output.offset(target(of_sorted[row], row)).write(0, key);
        });
        if P::MOVES { Packed::<B, L>::new(of_sorted) } else { Packed::ZEROS }
    } else {
        let mut row = 0;
        while row < L as u32 {
            row = rolled(row);
            let at = tile.sorted(row as usize);
            let key = sorted.read(at);
            let digit = pass.digit.of(key);
            if P::MOVES {
                digits.write(at, digit as u8);
            }
            if at < tile.left {
                output.offset(target(digit, row as usize)).write(0, key);
            }
            row += 1;
        }
        Packed::ZEROS
    };
    let of_complete = |row| target(of_sorted.get(row), row);
    let of_last = |row| target(digits.read(tile.sorted(row)) as u32, row);
    payload.carry::<L>(&tile, places, of_complete, of_last, exchange);
}
