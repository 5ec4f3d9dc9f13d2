//! Blocks that take several tiles, one after the other, and last blocks that combine more results than a block has
//! threads: on a GPU of long arrays, here because the launch has fewer blocks, or more, than the library's.

use gpu_core::{Device, Element};
use gpu_reduce_kernels::{
    ArgMax, ArgMin, Reduction, Sum, THREADS, TILE_BYTES, publishes, shared_bytes, whole,
};
use gpu_sim::{Config, Record};
use gpu_std::kernel;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_tests::data::random;

macro_rules! kernels {
    ($($name:ident: $reduction:ty, $t:ty, $output:ty, $v:literal, $a:literal;)*) => { $(
        /// The kernel of the library, whose blocks take as many tiles as a test says.
        #[kernel(launch_bounds(256))]
        pub fn $name(
            input: Global<$t>,
            len: u64,
            tiles_per_block: u64,
            words: GlobalMut<u64>,
            ticket: GlobalMut<u32>,
            output: GlobalMut<$output>,
        ) {
            whole::<$reduction, $v, $a, 4>(input, len, tiles_per_block, words, ticket, output);
        }
    )* };
}
kernels! {
    sum_of_tiles: Sum<u32>, u32, u32, 4, 4;
    sum_of_wide: Sum<u64>, u64, u64, 2, 2;
    first_largest: ArgMax<f32>, f32, u64, 4, 4;
    first_least: ArgMin<f64>, f64, u64, 2, 2;
}

/// `$kernel` of `values[from..]` by blocks of so many tiles.
macro_rules! reduced {
    ($kernel:ident, $reduction:ty, $device:expr, $values:expr, $from:expr, $tiles:expr) => {{
        let (device, values, from, tiles): (&Device, &[_], usize, u64) = ($device, $values, $from, $tiles);
        let len = (values.len() - from) as u64;
        let blocks = len.div_ceil(tiles * tile_of(values)) as u32;
        let words = publishes::<$reduction>();
        let stream = device.stream().unwrap();
        let input = device.upload(values).unwrap();
        let mut ticket = device.zeroed::<u32>(1).unwrap();
        let mut partials = device.zeroed::<u64>((blocks * words) as usize).unwrap();
        let mut output = device.alloc::<<$reduction as Reduction>::Output>(1).unwrap();
        // SAFETY: the simulator checks every access.
        unsafe {
            $kernel::launch(
                &stream,
                LaunchConfig::linear(blocks, THREADS).shared(shared_bytes(words)),
                input.slice(from..).as_global(),
                len,
                tiles,
                partials.view_mut().as_global_mut(),
                ticket.view_mut().as_global_mut(),
                output.view_mut().as_global_mut(),
            )
        }
        .unwrap();
        assert!(partials.to_vec().unwrap().iter().all(|&word| word == 0), "words of {blocks} blocks");
        assert_eq!(ticket.to_vec().unwrap(), [0], "ticket of {blocks} blocks");
        output.to_vec().unwrap()[0]
    }};
}

fn tile_of<T: Element>(_: &[T]) -> u64 {
    u64::from(TILE_BYTES) / size_of::<T>() as u64
}

/// Whole tiles and parts of them, aligned or not, by one block to three of two tiles to four.
#[test]
fn blocks_take_several_tiles() {
    println!("blocks_take_several_tiles: seeds 0 to 11");
    for seed in 0..12u64 {
        let device = Device::simulator_with(Config { record: Record::Races, ..Config::with_seed(seed) });
        let (tiles, from) = (2 + seed % 3, (seed % 4) as usize);
        let tile = tile_of::<u32>(&[]);
        let len = (tile * tiles * (seed % 3) + tile * (tiles - 1) + random(seed, 0) % tile) as usize + 1;
        let values: Vec<u32> = (0..from + len).map(|i| random(seed, i) as u32).collect();
        let total = values[from..].iter().fold(0u32, |sum, &value| sum.wrapping_add(value));
        let context = format!("seed {seed}: {len} elements from {from}, {tiles} tiles a block");
        let sum = reduced!(sum_of_tiles, Sum<u32>, &device, &values, from, tiles);
        assert_eq!(sum, total, "{context}");
        // The largest is there twice: within a block and beyond, the first counts.
        let mut values: Vec<f32> = values.into_iter().map(|value| (value % 1000) as f32).collect();
        let mut places = [random(seed, 1), random(seed, 2)].map(|place| place as usize % len);
        places.sort_unstable();
        places.iter().for_each(|place| values[from + place] = 1000.0);
        let place = reduced!(first_largest, ArgMax<f32>, &device, &values, from, tiles);
        assert_eq!(place, places[0] as u64, "{context}");
    }
}

/// More blocks than threads of the last one, each of whose threads takes one result at a time: the least is among
/// those of its second round.
#[test]
fn more_blocks_than_threads_of_the_last() {
    println!("more_blocks_than_threads_of_the_last: seed 5");
    let device = Device::simulator_with(Config::with_seed(5));
    const { assert!(publishes::<ArgMin<f64>>() > 2) };
    let tile = tile_of::<f64>(&[]) as usize;
    let len = THREADS as usize * tile + 5;
    let mut values: Vec<f64> = (0..len).map(|i| (i % 7) as f64).collect();
    for place in [len - 1, 100 * tile + 3] {
        values[place] = -1.0;
        let least = reduced!(first_least, ArgMin<f64>, &device, &values, 0, 1);
        assert_eq!(least, place as u64);
        values[place] = 1.0;
    }
}

/// The same where a thread takes four results at a time.
#[test]
fn more_blocks_than_four_times_the_threads_of_the_last() {
    println!("more_blocks_than_four_times_the_threads_of_the_last: seed 6");
    let device = Device::simulator_with(Config::with_seed(6));
    const { assert!(publishes::<Sum<u64>>() <= 2) };
    let values: Vec<u64> = (0..4 * u64::from(THREADS) * tile_of::<u64>(&[]) + 7).map(|i| i * i).collect();
    let total = values.iter().fold(0u64, |sum, &value| sum.wrapping_add(value));
    assert_eq!(reduced!(sum_of_wide, Sum<u64>, &device, &values, 0, 1), total);
}
