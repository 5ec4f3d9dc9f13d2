//! The one-pass selection under the simulator's schedules: several blocks in flight, started, interleaved and finished
//! in any order, relaxed loads that may be stale. Blocks of two warps make many tiles affordable.

use gpu_core::Device;
use gpu_sim::{Config, Record};
use gpu_sort_kernels::select::{Flags, Kept, Shape, select};
use gpu_std::kernel;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

/// Tiles of 128.
#[kernel(launch_bounds(64))]
pub fn small_select(
    items: Global<u16>,
    len: u64,
    flags: Global<u8>,
    selected: GlobalMut<u16>,
    rejected: GlobalMut<u16>,
    count: GlobalMut<u64>,
    words: GlobalMut<u64>,
) {
    let kept = Kept { selected, rejected, partition: true, count };
    select::<u16, Flags, 2, 2>(items, len, Flags(flags), kept, words);
}

const SHAPE: Shape = Shape { warps: 2, rows: 2, item_bytes: 2 };

fn check(seed: u64, len: usize) {
    let resident_blocks = 2 + (seed % 7) as usize;
    let config = Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) };
    let device = Device::simulator_with(config);
    let stream = device.stream().unwrap();
    let items: Vec<u16> = (0..len).map(|i| i as u16).collect();
    let flags: Vec<u8> =
        gpu_tests::data::floats(seed, len).into_iter().map(|value| u8::from(value > 0.0)).collect();
    let chosen = |flag: u8| -> Vec<u16> {
        items.iter().zip(&flags).filter(|(_, own)| **own == flag).map(|(item, _)| *item).collect()
    };
    let (on_device, of_items) = (device.upload(&items).unwrap(), device.upload(&flags).unwrap());
    let (mut selected, mut rejected) = (device.zeroed(len).unwrap(), device.zeroed(len).unwrap());
    let mut count = device.zeroed::<u64>(1).unwrap();
    let tiles = SHAPE.tiles(len as u64);
    let mut words = device.zeroed::<u64>(SHAPE.scratch_words(tiles) as usize).unwrap();
    // A block for each tile, or blocks that take several.
    let blocks = if seed.is_multiple_of(2) { tiles as u32 } else { 3 };
    // SAFETY: the simulator checks every access.
    unsafe {
        small_select::launch(
            &stream,
            LaunchConfig::linear(blocks, SHAPE.threads()).shared(SHAPE.shared_bytes(false)),
            on_device.view().as_global(),
            len as u64,
            of_items.view().as_global(),
            selected.view_mut().as_global_mut(),
            rejected.view_mut().as_global_mut(),
            count.view_mut().as_global_mut(),
            words.view_mut().as_global_mut(),
        )
    }
    .unwrap();
    let kept = count.to_vec().unwrap()[0] as usize;
    assert_eq!(selected.to_vec().unwrap()[..kept], chosen(1), "seed {seed}");
    assert_eq!(rejected.to_vec().unwrap()[..len - kept], chosen(0), "the others, seed {seed}");
}

#[test]
fn a_thousand_schedules_of_a_few_tiles() {
    println!("a_thousand_schedules_of_a_few_tiles: seeds 0 to 999");
    (0..1000).for_each(|seed| check(seed, 9 * 128 + 77));
}

/// More tiles than a group has, and more than a section.
#[test]
fn schedules_of_many_tiles() {
    println!("schedules_of_many_tiles: seeds 1000 to 1019 and 2000 to 2001");
    (1000..1020).for_each(|seed| check(seed, 70 * 128 + 1));
    (2000..2002).for_each(|seed| check(seed, 1030 * 128 + 1));
}
