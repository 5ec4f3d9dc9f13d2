//! Selections under the simulator's schedules: several blocks in flight, started, interleaved and finished in any
//! order, relaxed loads that may be stale. The filter's kernels are those of long arrays, launched here on short ones.

use gpu_core::{Buffer, Device};
use gpu_sim::{Config, Record};
use gpu_sort_kernels::segmented::{INDICES, Job};
use gpu_sort_kernels::top_k::{
    ByBound, ByDigits, FILTER_THREADS, HEADER_WORDS, LAST_ROOM, LAST_THREADS, MINIMA, Selection, Tile,
    digits_bytes, digits_room, select_candidates, select_rows, shared_bytes,
};
use gpu_sort_kernels::{Order, top_k_filter_b32, top_k_last_b64, top_k_rows_b32, top_k_sample_b32};
use gpu_std::kernel;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use crate::sort::{keys, order};

/// Candidates of a small block, less than the tile that it reads at once: 256.
const SMALL_ROOM: u32 = 128;
/// Of one that selects more than it has threads.
const LARGE_ROOM: u32 = 512;

macro_rules! small_selections {
    ($($rows:ident $last:ident: $algorithm:ty, $room:expr;)*) => { $(
        /// Selects from rows, or from parts of them.
        #[kernel(launch_bounds(256))]
        pub fn $rows(
            selection: Selection,
            keys: Global<u8>,
            offsets: Global<u32>,
            header: Global<u32>,
            keys_output: GlobalMut<u8>,
            indices: GlobalMut<u32>,
            candidates: GlobalMut<u64>,
        ) {
            select_rows::<u32, u64, $algorithm>(
                selection, $room, keys, offsets, header, keys_output, indices, candidates,
            );
        }

        /// Selects from the parts' candidates.
        #[kernel(launch_bounds(256))]
        pub fn $last(
            selection: Selection,
            candidates: Global<u64>,
            offsets: Global<u32>,
            header: Global<u32>,
            keys_output: GlobalMut<u8>,
            indices: GlobalMut<u32>,
        ) {
            select_candidates::<u64, $algorithm>(
                selection, $room, candidates, offsets, header, keys_output, indices,
            );
        }
    )* };
}
small_selections! {
    by_bound by_bound_last: ByBound<64, 4, 64>, SMALL_ROOM;
    by_bound_of_many by_bound_of_many_last: ByBound<64, 4, 96>, LARGE_ROOM;
    by_digits by_digits_last: ByDigits<256, 2>, digits_room(8);
}

/// A simulator of seed `seed` with more blocks in flight the larger it is, all accesses watched.
fn simulator(seed: u64) -> Device {
    let resident_blocks = 2 + (seed % 7) as usize;
    Device::simulator_with(Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) })
}

/// The first `k` of each of `rows` rows, with their indices.
fn selection(len: usize, rows: usize, k: usize) -> Selection {
    let job = Job {
        order: Order::UNSIGNED,
        len: len as u64,
        row: (len / rows) as u64,
        segments: rows as u32,
        key_bytes: 4,
        index_bits: 0,
        payload: INDICES,
        limit: k as u32,
        passes: 0,
    };
    Selection { job, last: Order::UNSIGNED.last(32), part: u32::MAX.into(), parts: 1, guard: 0 }
}

/// Where the first `k` of each row go, and that they are there.
struct Outputs {
    keys: Buffer<u32>,
    indices: Buffer<u32>,
}

impl Outputs {
    fn new(device: &Device, len: usize) -> Self {
        // An index that no key has.
        Self { keys: device.zeroed(len).unwrap(), indices: device.upload(&vec![u32::MAX; len]).unwrap() }
    }

    fn check(&self, keys: &[u32], rows: usize, k: usize, context: &str) {
        let rows = keys.chunks(keys.len() / rows);
        let orders: Vec<Vec<u32>> = rows.clone().map(|row| order(row, false)[..k].to_vec()).collect();
        let expected: Vec<u32> = rows
            .zip(&orders)
            .flat_map(|(row, order)| order.iter().map(|&index| row[index as usize]))
            .collect();
        assert_eq!(self.indices.to_vec().unwrap(), orders.concat(), "indices, {context}");
        assert_eq!(self.keys.to_vec().unwrap(), expected, "keys, {context}");
    }
}

/// Samples, filters by the sample of rank `rank`, and selects from as many candidates as there is `room` for; from all
/// keys where there are more, or less than `k`. How many candidates there were.
fn filtered(seed: u64, keys: &[u32], k: usize, rank: u32, room: u32) -> u32 {
    let len = keys.len();
    let device = simulator(seed);
    let stream = device.stream().unwrap();
    let blocks = 2 + (seed % 2) as u32;
    let drawn = blocks * FILTER_THREADS;
    let of_all = Selection { guard: room, ..selection(len, 1, k) };
    let of_candidates = Selection { parts: 0, ..of_all };
    let on_device = device.upload(keys).unwrap();
    let keys_at = on_device.view().as_global().cast::<u8>();
    let mut header = device.zeroed::<u32>(HEADER_WORDS).unwrap();
    let mut minima = device.alloc::<u64>((MINIMA * blocks) as usize).unwrap();
    let mut bound = device.alloc::<u64>(1).unwrap();
    let mut candidates = device.alloc::<u64>(room as usize).unwrap();
    let mut outputs = Outputs::new(&device, k);
    let header_at = header.view_mut().as_global_mut();
    let (minima, bound) = (minima.view_mut().as_global_mut(), bound.view_mut().as_global_mut());
    let candidates = candidates.view_mut().as_global_mut();
    let (first, indices) =
        (outputs.keys.view_mut().as_global_mut().cast(), outputs.indices.view_mut().as_global_mut());
    let offsets = header_at.as_global();
    let config = |blocks, threads, bytes| LaunchConfig::linear(blocks, threads).shared(bytes);
    let of_sample = config(blocks, FILTER_THREADS, 8 * (8 + 256) + 32);
    let of_filter = config(2 + (seed % 4) as u32, FILTER_THREADS, 0);
    let of_last = config(1, LAST_THREADS as u32, shared_bytes(LAST_THREADS as u32, LAST_ROOM, 8));
    let (threads, room_of_rows) = (Tile::FourWarps.threads() as u32, Tile::FourWarps.room());
    let of_rows = config(1, threads, shared_bytes(threads, room_of_rows, 8));
    let (len, stretch, order) = (len as u32, len as u32 / drawn, Order::UNSIGNED);
    // SAFETY: the simulator checks every access.
    unsafe {
        top_k_sample_b32::launch(
            &stream, of_sample, keys_at, 4, stretch, 1, rank, order, minima, bound, header_at,
        )
        .unwrap();
        let bound = bound.as_global();
        top_k_filter_b32::launch(
            &stream, of_filter, keys_at, 4, len, order, bound, candidates, room, header_at,
        )
        .unwrap();
        let (header, from) = (header_at.as_global(), candidates.as_global());
        top_k_last_b64::launch(&stream, of_last, of_candidates, from, offsets, header, first, indices)
            .unwrap();
        top_k_rows_b32::launch(
            &stream, of_rows, of_all, keys_at, offsets, header, first, indices, candidates,
        )
        .unwrap();
    }
    outputs.check(keys, 1, k, &format!("seed {seed}, rank {rank}, room {room}"));
    header.to_vec().unwrap()[0]
}

/// A sample of every third key or so: of its ranks one suffices, the lowest gives too few candidates, and a high one
/// too many.
#[test]
fn schedules_of_the_filter() {
    println!("schedules_of_the_filter: seeds 0 to 99");
    let mut sufficed = [0; 3];
    for seed in 0..100 {
        let len = 1700 + seed as usize;
        let (rank, room) = [(2, 1200), (0, 1200), (3, 20)][seed as usize % 3];
        // More than the keys up to the lowest that is drawn, mostly.
        let k = if rank == 0 { 40 } else { 1 + seed as usize % 3 };
        let keys = keys::<u32>(seed, len);
        let count = filtered(seed, &keys, k, rank, room);
        sufficed[seed as usize % 3] += u32::from(k as u32 <= count && count <= room);
    }
    println!("sufficient samples: {sufficed:?}");
    assert!(sufficed[0] > 25 && sufficed.iter().sum::<u32>() < 75, "{sufficed:?}");
}

/// Of keys that equal the bound the first ones count, also those of a thread that loads nothing less.
#[test]
fn keys_that_equal_the_bound_of_the_filter() {
    println!("keys_that_equal_the_bound_of_the_filter: seeds 500 to 502");
    // The first thread loads four equal keys, the second the only one that is less. A tile has 4096. The second least
    // of the sample is one of those that the first block's upper half draws from, be there two blocks or three.
    let mut keys = vec![9; 5000];
    keys[..8].fill(5);
    keys[4] = 3;
    keys[1152..1216].fill(5);
    for seed in 500..503 {
        let count = filtered(seed, &keys, 3, 1, 1200);
        assert!((8..72).contains(&count), "seed {seed}: {count} candidates suffice");
        // And with room for no more.
        assert_eq!(filtered(seed, &keys, 3, 1, count), count);
        // And where all of them are wanted.
        assert_eq!(filtered(seed, &keys, count as usize, 1, 1200), count);
    }
}

/// By which of the small kernels.
#[derive(Clone, Copy)]
enum By {
    Bound,
    BoundOfMany,
    Digits,
}

/// Rows in `parts` parts each, by bounds or by digits.
fn of_parts(seed: u64, rows: usize, row: usize, parts: usize, k: usize, by: By) {
    let keys = keys::<u32>(seed, rows * row);
    let device = simulator(seed);
    let stream = device.stream().unwrap();
    let part = row.div_ceil(parts) as u64;
    let selection = Selection { part, parts: parts as u32, ..selection(rows * row, rows, k) };
    let on_device = device.upload(&keys).unwrap();
    let keys_at = on_device.view().as_global().cast::<u8>();
    let header = device.zeroed::<u32>(HEADER_WORDS).unwrap();
    let mut candidates = device.alloc::<u64>(rows * parts * k).unwrap();
    let mut outputs = Outputs::new(&device, rows * k);
    let candidates = candidates.view_mut().as_global_mut();
    let (first, indices) =
        (outputs.keys.view_mut().as_global_mut().cast(), outputs.indices.view_mut().as_global_mut());
    let header = header.view().as_global();
    let (threads, bytes) = match by {
        By::Bound => (64, shared_bytes(64, SMALL_ROOM, 8)),
        By::BoundOfMany => (64, shared_bytes(64, LARGE_ROOM, 8)),
        By::Digits => (256, digits_bytes(digits_room(8), 8)),
    };
    let config = |blocks: usize| LaunchConfig::linear(blocks as u32, threads).shared(bytes);
    let (of_rows, of_last) = (config(rows * parts), config(rows));
    macro_rules! launch {
        ($rows:ident $last:ident) => {{
            // SAFETY: the simulator checks every access.
            unsafe {
                $rows::launch(
                    &stream, of_rows, selection, keys_at, header, header, first, indices, candidates,
                )
                .unwrap();
                let from = candidates.as_global();
                if parts > 1 {
                    $last::launch(&stream, of_last, selection, from, header, header, first, indices).unwrap();
                }
            }
        }};
    }
    match by {
        By::Bound => launch!(by_bound by_bound_last),
        By::BoundOfMany => launch!(by_bound_of_many by_bound_of_many_last),
        By::Digits => launch!(by_digits by_digits_last),
    }
    outputs.check(&keys, rows, k, &format!("seed {seed}, {parts} parts of {rows} rows of {row}, k = {k}"));
}

/// The last part is shorter than the others, and in some shorter than `k`; rows are of all kinds of keys.
#[test]
fn schedules_of_parts_by_bounds() {
    println!("schedules_of_parts_by_bounds: seeds 1000 to 1199");
    for seed in 1000..1200 {
        let row = [500, 701, 257][seed as usize % 3];
        let k = [1, 64, 31, 7][seed as usize % 4];
        of_parts(seed, 2, row, 1 + (seed % 5) as usize, k, By::Bound);
    }
}

/// More than a block has threads: it knows no bound before it has read a tile.
#[test]
fn schedules_of_parts_by_bounds_of_many() {
    println!("schedules_of_parts_by_bounds_of_many: seeds 1500 to 1519");
    for seed in 1500..1520 {
        let row = [500, 701, 257][seed as usize % 3];
        let k = [65, 200, 256, 100][seed as usize % 4];
        of_parts(seed, 2, row, 1 + (seed % 2) as usize, k, By::BoundOfMany);
    }
}

#[test]
fn schedules_of_parts_by_digits() {
    println!("schedules_of_parts_by_digits: seeds 2000 to 2059");
    for seed in 2000..2060 {
        // More in a part than are sorted without counting.
        let row = [2300, 1030, 3100][seed as usize % 3];
        let k = [150, 1000, 300, 129][seed as usize % 4];
        of_parts(seed, 1, row, 1 + (seed % 2) as usize, k, By::Digits);
    }
}
