//! Sorts of segments by so few blocks that each takes several tiles, one after the other: on a GPU of long arrays.

use gpu_core::Device;
use gpu_sim::{Config, Record};
use gpu_sort_kernels::segmented::{ALL, INDICES, Job, WARPS, passes, shared_bytes, tile};
use gpu_sort_kernels::{Order, segmented_merge_b128, segmented_sort_b128};
use gpu_std::launch::LaunchConfig;
use gpu_tests::data::random;

/// Rows of `row` keys of 64 bits, whose order is sorted for too, by so many blocks.
fn check(seed: u64, rows: usize, row: usize, blocks: u32) {
    let of_tile = tile(16) as usize;
    let job = Job {
        order: Order::UNSIGNED,
        len: (rows * row) as u64,
        row: row as u64,
        segments: rows as u32,
        key_bytes: 8,
        index_bits: 0,
        payload: INDICES,
        limit: ALL,
        passes: if row > of_tile { passes(row.div_ceil(of_tile) as u64) } else { 0 },
    };
    let keys: Vec<u64> = (0..rows * row).map(|at| random(seed, at) % 300).collect();
    let device = Device::simulator_with(Config { record: Record::Races, ..Config::with_seed(seed) });
    let stream = device.default_stream();
    let input = device.upload(&keys).unwrap();
    let mut sorted = device.alloc::<u64>(keys.len()).unwrap();
    let mut indices = device.alloc::<u32>(keys.len()).unwrap();
    let [mut first, mut second] = [0; 2].map(|_| device.alloc::<u128>(keys.len()).unwrap());
    let (first, second) = (first.view_mut().as_global_mut(), second.view_mut().as_global_mut());
    // Rows have no offsets and are in no lists.
    let none = input.view().as_global().cast::<u32>();
    let config = LaunchConfig::linear(blocks, 32 * WARPS).shared(shared_bytes(16));
    let (keys_output, indices_output) =
        (sorted.view_mut().as_global_mut().cast(), indices.view_mut().as_global_mut());
    let input = input.view().as_global().cast();
    // SAFETY: the simulator checks every access.
    unsafe {
        segmented_sort_b128::launch(
            &stream,
            config,
            job,
            input,
            none,
            none,
            none,
            keys_output,
            indices_output,
            first,
            second,
        )
        .unwrap();
        for pass in 0..job.passes {
            let (from, to) = if pass % 2 == 0 { (first, second) } else { (second, first) };
            let from = from.as_global();
            segmented_merge_b128::launch(
                &stream,
                config,
                job,
                pass,
                none,
                none,
                none,
                from,
                to,
                keys_output,
                indices_output,
            )
            .unwrap();
        }
    }
    let orders = keys.chunks(row).map(|keys| {
        let mut order: Vec<u32> = (0..row as u32).collect();
        order.sort_by_key(|&index| keys[index as usize]);
        order
    });
    let orders: Vec<Vec<u32>> = orders.collect();
    let context = format!("seed {seed}: {rows} rows of {row} by {blocks} blocks");
    assert_eq!(indices.to_vec().unwrap(), orders.concat(), "{context}");
    let of_rows = keys.chunks(row).zip(&orders);
    let expected: Vec<u64> =
        of_rows.flat_map(|(keys, order)| order.iter().map(|&index| keys[index as usize])).collect();
    assert_eq!(sorted.to_vec().unwrap(), expected, "{context}");
}

/// Rows of a lane and more, of several warps, and of several tiles, which are merged.
#[test]
fn blocks_take_several_tiles() {
    println!("blocks_take_several_tiles: seeds 0 to 11");
    let tile = tile(16) as usize;
    for seed in 0..12u64 {
        let (rows, row) =
            [(900, 3), (40, 70), (13, 200), (3, tile - 1), (2, 3 * tile + 5)][seed as usize % 5];
        check(seed, rows, row, 1 + seed as u32 % 2);
    }
}
