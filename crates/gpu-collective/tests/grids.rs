//! Collectives of grids: every tile once, in the order of its number, in any schedule, launch after launch.
#![cfg(not(target_arch = "nvptx64"))]
#![allow(missing_docs, reason = "kernels of tests")]

mod support;

use gpu_collective::grid::tickets::{self, mark, tile};
use gpu_collective::grid::{
    HEADER_WORDS, Operator, Pass, Prefix, SECTION, Tickets, TileCounts, TileStates, TileWork, is_last_block,
    partials, scratch_words, single_pass,
};
use gpu_collective::{block, warp as collective};
use gpu_core::Device;
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;
use gpu_std::shared::SharedLayout;
use support::{Affine, IDENTITY, compose, functions, schedules};

const WARPS: usize = 2;
const THREADS: u32 = 32 * WARPS as u32;

/// Composition of functions: the order matters.
struct Composition;

impl Operator for Composition {
    type Value = Affine;
    fn identity() -> Affine {
        IDENTITY
    }
    fn combine(before: Affine, after: Affine) -> Affine {
        compose(before, after)
    }
}

/// The inclusive scan of functions, with what the pass remembers in registers or in shared memory.
struct Scan<const COMPACT: bool> {
    input: Global<u32>,
    output: GlobalMut<u32>,
    len: u32,
    warps: Shared<u32>,
    rooms: Shared<u32>,
}

impl<const COMPACT: bool> TileWork<Composition> for Scan<COMPACT> {
    type Held = Affine;
    const COMPACT: bool = COMPACT;

    fn read(&self, tile: u32, room: u32, publish: impl FnOnce(Affine)) -> Affine {
        let thread = thread::thread_idx_x();
        let at = tile * THREADS + thread;
        let value =
            if at < self.len { (self.input.read(2 * at), self.input.read(2 * at + 1)) } else { IDENTITY };
        let scanned = block::exclusive_scan::<Affine, WARPS>(value, IDENTITY, self.warps, compose);
        publish(scanned.total);
        // One half waits in a register, the other one in its room.
        let own = compose(scanned.before, value);
        self.rooms.write(room * THREADS + thread, own.1);
        (own.0, 0)
    }

    fn write(&self, tile: u32, room: u32, around: Prefix<Affine>, held: Affine) {
        let thread = thread::thread_idx_x();
        let at = tile * THREADS + thread;
        if at < self.len {
            let own = (held.0, self.rooms.read(room * THREADS + thread));
            let result = compose(around.before, own);
            self.output.write(2 * at, result.0);
            self.output.write(2 * at + 1, result.1);
        }
    }
}

const SHARED: u32 =
    Pass::layout(SharedLayout::new(), 2).array::<u32>(2 * WARPS as u32).array::<u32>(2 * THREADS).bytes();

fn scan<const COMPACT: bool>(
    input: Global<u32>,
    output: GlobalMut<u32>,
    len: u32,
    first: Affine,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    let mut memory = shared::dynamic();
    let pass = Pass::new::<Composition>(len.div_ceil(THREADS), words, capacity, &mut memory);
    let work = Scan::<COMPACT> {
        input,
        output,
        len,
        warps: memory.array(2 * WARPS as u32),
        rooms: memory.array(2 * THREADS),
    };
    single_pass(pass, first, IDENTITY, &work);
}

#[kernel]
pub fn scan_in_registers(
    input: Global<u32>,
    output: GlobalMut<u32>,
    len: u32,
    a: u32,
    b: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    scan::<false>(input, output, len, (a, b), words, capacity);
}

#[kernel]
pub fn scan_compact(
    input: Global<u32>,
    output: GlobalMut<u32>,
    len: u32,
    a: u32,
    b: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    scan::<true>(input, output, len, (a, b), words, capacity);
}

/// Scans in scratch memory that first holds `header`, `launches` times in turn by both kernels.
fn check_scan(device: &Device, len: u32, blocks: u32, header: u64, launches: usize, what: &str) {
    let values = functions(len);
    let flat: Vec<u32> = values.iter().flat_map(|&(a, b)| [a, b]).collect();
    let first = (3, 7);
    let mut total = first;
    let expected: Vec<u32> =
        values.iter().flat_map(|&value| (total = compose(total, value), [total.0, total.1]).1).collect();
    let tiles = len.div_ceil(THREADS);
    let capacity = scratch_words(u64::from(tiles), 2);
    let mut scratch = vec![0; capacity as usize];
    scratch[0] = header;
    let (input, mut scratch) = (device.upload(&flat).unwrap(), device.upload(&scratch).unwrap());
    for launch in 0..launches {
        let mut output = device.zeroed::<u32>(flat.len()).unwrap();
        let (from, to) = (input.view().as_global(), output.view_mut().as_global_mut());
        let words = scratch.view_mut().as_global_mut();
        let (stream, config) =
            (device.default_stream(), LaunchConfig::linear(blocks.min(tiles), THREADS).shared(SHARED));
        // SAFETY: input and output have `len` pairs of words, the scratch memory what the pass asks for.
        unsafe {
            if launch % 2 == 0 {
                scan_in_registers::launch(&stream, config, from, to, len, first.0, first.1, words, capacity)
            } else {
                scan_compact::launch(&stream, config, from, to, len, first.0, first.1, words, capacity)
            }
            .unwrap_or_else(|error| panic!("{what}, launch {launch}: {error}"));
        }
        assert!(output.to_vec().unwrap() == expected, "{what}, launch {launch}");
    }
    // One tile draws no ticket, so it has no mark to leave: an older one would come back.
    if tiles == 1 {
        assert_eq!(scratch.to_vec().unwrap()[0], header, "{what}");
    }
}

#[test]
fn a_single_pass_keeps_the_order_in_every_schedule() {
    for (seed, device) in schedules(60) {
        for (len, blocks) in [(1, 1), (64, 1), (65, 2), (64 * 40, 3), (64 * 33 - 1, 40)] {
            check_scan(&device, len, blocks, 0, 2, &format!("seed {seed}, {len} elements, {blocks} blocks"));
        }
    }
}

#[test]
fn sections_follow_each_other() {
    for (seed, device) in schedules(2) {
        // Sections that are all full need all of the scratch memory that is asked for.
        for tiles in [2 * SECTION + 5, 2 * SECTION] {
            check_scan(&device, THREADS * tiles, 4, 0, 1, &format!("seed {seed}, {tiles} tiles"));
        }
    }
}

#[test]
fn marks_come_round_without_a_trace() {
    for (seed, device) in schedules(40) {
        // The last two launches before a mark would come back, and two behind.
        let header = u64::from(u32::MAX - 2) << 32;
        check_scan(&device, 64, 1, header, 4, &format!("seed {seed}, one block"));
        for blocks in [2, 7] {
            check_scan(&device, 64 * 70, blocks, header, 4, &format!("seed {seed}, {blocks} blocks"));
        }
    }
}

/// The sum of all elements by the block that starts last, then once more by the one that is done last.
#[kernel]
pub fn sums(
    input: Global<f32>,
    ticket: GlobalMut<u32>,
    words: GlobalMut<u64>,
    totals: GlobalMut<f32>,
    of_blocks: GlobalMut<f32>,
) {
    let (mut memory, blocks) = (shared::dynamic(), thread::grid_dim_x());
    let (room, drawn, flag) = (memory.array(WARPS as u32), memory.array(1), memory.array(1));
    let (thread, block) = (thread::thread_idx_x(), thread::block_idx_x());
    let add = |first: f32, second: f32| first + second;
    if thread == 0 {
        drawn.write(0, partials::draw(ticket, blocks));
    }
    let of_block = block::reduce(input.read(block * THREADS + thread), 0.0, WARPS as u32, room, add);
    if thread == 0 {
        partials::publish(words, block, of_block);
        of_blocks.write(block, of_block);
    }
    if drawn.read(0) == blocks - 1 && thread < 32 {
        // More blocks than lanes: two at once.
        let value = partials::take::<f32, 2>(0.0, words, thread, 32, blocks, add);
        let total = collective::reduce(value, 32, add);
        if thread == 0 {
            totals.write(0, total);
        }
    }
    if is_last_block(ticket.offset(1), blocks, flag) && thread < 32 {
        let mut value = of_blocks.read(thread);
        if thread + 32 < blocks {
            value += of_blocks.read(thread + 32);
        }
        let total = collective::reduce(value, 32, add);
        if thread == 0 {
            totals.write(1, total);
        }
    }
}

#[test]
fn all_blocks_results_become_one_in_every_schedule() {
    let blocks = 37;
    let values: Vec<f32> = (0..blocks * THREADS).map(|i| 1.0 / (1 + i % 97) as f32).collect();
    let mut first = None;
    for (seed, device) in schedules(60) {
        let input = device.upload(&values).unwrap();
        let (mut ticket, mut words) =
            (device.zeroed::<u32>(2).unwrap(), device.zeroed::<u64>(blocks as usize).unwrap());
        let mut of_blocks = device.zeroed::<f32>(blocks as usize).unwrap();
        for launch in 0..2 {
            let mut result = device.zeroed::<f32>(2).unwrap();
            let (a, b) = (input.view().as_global(), ticket.view_mut().as_global_mut());
            let (c, d) = (words.view_mut().as_global_mut(), result.view_mut().as_global_mut());
            let e = of_blocks.view_mut().as_global_mut();
            let config = LaunchConfig::linear(blocks, THREADS).shared(48);
            // SAFETY: an element a thread, a word and a sum a block; tickets and words are zero, and left so.
            unsafe { sums::launch(&device.default_stream(), config, a, b, c, d, e).unwrap() };
            let result = result.to_vec().unwrap();
            assert_eq!(result[0].to_bits(), result[1].to_bits(), "seed {seed}, launch {launch}");
            assert_eq!(
                *first.get_or_insert(result[0].to_bits()),
                result[0].to_bits(),
                "seed {seed}, launch {launch}"
            );
        }
        assert_eq!(
            (ticket.to_vec().unwrap(), words.to_vec().unwrap()),
            (vec![0; 2], vec![0; blocks as usize])
        );
    }
    let exact: f64 = values.iter().map(|&value| f64::from(value)).sum();
    // Every element passes 6 + 1 + 5 additions, each off by half an ulp of the sum at most.
    let bound = 12.0 * f64::from(f32::EPSILON) / 2.0 * exact;
    let sum = f64::from(f32::from_bits(first.unwrap()));
    assert!((sum - exact).abs() <= bound, "{sum} for {exact} within {bound}");
}

/// Every thread stores a word; the last block adds up what all threads of all blocks stored.
#[kernel]
pub fn sum_of_words(counter: GlobalMut<u32>, words: GlobalMut<u32>, result: GlobalMut<u32>) {
    let flag = shared::dynamic().array(1);
    let (thread, blocks) = (thread::thread_idx_x(), thread::grid_dim_x());
    words.write(thread::index_1d(), thread::index_1d());
    if is_last_block(counter, blocks, flag) && thread == 0 {
        let mut sum = 0;
        for i in 0..blocks * THREADS {
            sum += words.read(i);
        }
        result.write(0, sum);
    }
}

#[test]
fn the_last_block_sees_what_every_thread_of_the_others_stored() {
    for (seed, device) in schedules(20) {
        let mut counter = device.zeroed::<u32>(1).unwrap();
        let (mut words, mut result) =
            (device.zeroed::<u32>(5 * THREADS as usize).unwrap(), device.zeroed::<u32>(1).unwrap());
        let (a, b) = (counter.view_mut().as_global_mut(), words.view_mut().as_global_mut());
        let c = result.view_mut().as_global_mut();
        // SAFETY: a word a thread; the counter is zero, and left so.
        unsafe {
            let config = LaunchConfig::linear(5, THREADS).shared(16);
            sum_of_words::launch(&device.default_stream(), config, a, b, c).unwrap();
        }
        assert_eq!(result.to_vec().unwrap(), [(0..5 * THREADS).sum::<u32>()], "seed {seed}");
    }
}

/// Blocks take tiles by a plain counter, and for each wait for the tile before.
#[kernel]
pub fn in_turn(counter: GlobalMut<u32>, tiles: u32, states: GlobalMut<u32>, results: GlobalMut<u32>) {
    let room = shared::dynamic().array(1);
    let thread = thread::thread_idx_x();
    loop {
        let tile = tickets::draw_for_block(counter, room);
        // All have read it before the next is drawn.
        thread::sync_threads();
        if tile >= tiles {
            break;
        }
        if tile > 0 {
            while states.atomic(tile - 1).load(Ordering::Acquire, Scope::Device) == 0 {}
        }
        let before = if tile > 0 { results.read((tile - 1) * THREADS + thread) } else { thread };
        results.write(tile * THREADS + thread, before + 1);
        thread::sync_threads();
        if thread == 0 {
            states.atomic(tile).store(1, Ordering::Release, Scope::Device);
        }
    }
}

#[test]
fn every_thread_of_a_block_gets_its_number_and_numbers_are_drawn_in_turn() {
    let (tiles, blocks) = (9, 6);
    for (seed, device) in schedules(40) {
        let (mut counter, mut states) = (device.zeroed(1).unwrap(), device.zeroed(tiles as usize).unwrap());
        let mut results = device.zeroed::<u32>((tiles * THREADS) as usize).unwrap();
        let (a, b) = (counter.view_mut().as_global_mut(), states.view_mut().as_global_mut());
        let (c, config) =
            (results.view_mut().as_global_mut(), LaunchConfig::linear(blocks, THREADS).shared(4));
        // SAFETY: a word for each tile, and for each thread of one a result; all are zero.
        unsafe { in_turn::launch(&device.default_stream(), config, a, tiles, b, c).unwrap() };
        let expected: Vec<u32> = (0..tiles * THREADS).map(|i| i % THREADS + 1 + i / THREADS).collect();
        assert_eq!(results.to_vec().unwrap(), expected, "seed {seed}");
        assert_eq!(counter.to_vec().unwrap(), [tiles + blocks], "seed {seed}");
    }
}

/// Each block waits for the one that drew its ticket before.
#[kernel]
pub fn chain(result: GlobalMut<u32>, words: GlobalMut<u64>, capacity: u64) {
    let (room, blocks) = (shared::dynamic().array::<u64>(1), thread::grid_dim_x());
    let tickets = Tickets { words, tiles: blocks, capacity };
    let thread = thread::thread_idx_x();
    if thread == 0 {
        room.write(0, tickets.draw());
    }
    thread::sync_threads();
    let (own, mark) = (tile(room.read(0)), mark(room.read(0)));
    let words = words.offset(u64::from(HEADER_WORDS));
    let states = TileStates { words, tiles: blocks, mark, several: false };
    let before: u32 = if own > 0 { states.wait(own - 1) } else { 1 };
    if thread == 0 {
        states.publish(own, 3 * before);
        result.write(own, 3 * before);
    }
    tickets.finish(own + blocks, mark, room, blocks);
}

#[test]
fn what_an_earlier_launch_published_is_not_taken_for_this_one() {
    for (seed, device) in schedules(50) {
        let capacity = 4 + u64::from(HEADER_WORDS);
        let mut words = device.zeroed::<u64>(capacity as usize).unwrap();
        for launch in 0..3 {
            let mut result = device.zeroed::<u32>(4).unwrap();
            let (a, b) = (result.view_mut().as_global_mut(), words.view_mut().as_global_mut());
            let config = LaunchConfig::linear(4, 32).shared(8);
            // SAFETY: a word and a result for each block, and the header.
            unsafe { chain::launch(&device.default_stream(), config, a, b, capacity).unwrap() };
            assert_eq!(result.to_vec().unwrap(), [3, 9, 27, 81], "seed {seed}, launch {launch}");
        }
    }
}

/// How many of each of 3 things come before each tile: a warp a tile, a lane a thing.
#[kernel]
pub fn counts_before(
    own: Global<u32>,
    before: GlobalMut<u32>,
    words: GlobalMut<u32>,
    ticket: GlobalMut<u32>,
    first: u32,
    phase: u32,
) {
    let lane = warp::lane_id();
    let drawn = if lane == 0 { ticket.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device) } else { 0 };
    let tile = first + warp::shuffle_idx(warp::FULL, drawn, 0);
    if lane < 3 {
        let counts = TileCounts::new(words, lane, 3, first, phase);
        let count = own.read(3 * tile + lane);
        counts.publish_own(tile, count);
        before.write(3 * tile + lane, counts.before(tile, count));
    }
}

#[test]
fn counts_of_tiles_add_up_in_every_schedule_and_phase() {
    for (seed, device) in schedules(60) {
        let own: Vec<u32> = (0..3 * 37).map(|i| i * 40_503 % 65_536).collect();
        let input = device.upload(&own).unwrap();
        let mut words = device.zeroed::<u32>(own.len()).unwrap();
        // Phases follow each other, in words that nobody clears.
        for number in 0..3 {
            let tiles = 0..37u32;
            let (mut before, mut ticket) =
                (device.zeroed::<u32>(own.len()).unwrap(), device.zeroed::<u32>(1).unwrap());
            let (a, b) = (input.view().as_global(), before.view_mut().as_global_mut());
            let (c, d) = (words.view_mut().as_global_mut(), ticket.view_mut().as_global_mut());
            let config = LaunchConfig::linear(tiles.len() as u32, 32);
            // SAFETY: there are three words for each tile.
            unsafe {
                counts_before::launch(
                    &device.default_stream(),
                    config,
                    a,
                    b,
                    c,
                    d,
                    tiles.start,
                    number as u32 % 2,
                )
            }
            .unwrap();
            let expected: Vec<u32> =
                (0..own.len()).map(|i| own.iter().skip(i % 3).step_by(3).take(i / 3).sum()).collect();
            assert_eq!(before.to_vec().unwrap(), expected, "seed {seed}, launch {number}");
        }
    }
}
