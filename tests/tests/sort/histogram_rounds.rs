//! Histograms by so few blocks that each takes several stretches of the samples, one after the other: on a GPU of long
//! arrays.

use gpu_core::{Device, Element};
use gpu_sim::{Config, Record};
use gpu_sort_kernels::histogram::{
    AT_ONCE, EvenInteger, MAX_SHARED_BINS, THREADS, VECTOR_BYTES, histogram, shared_bytes,
};
use gpu_std::kernel;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_tests::data::random;

macro_rules! kernels {
    ($($name:ident: $t:ty, $v:literal;)*) => { $(
        /// The kernel of the library, in a grid that a test may choose.
        #[kernel(launch_bounds(512))]
        pub fn $name(
            samples: Global<$t>,
            len: u64,
            even: EvenInteger,
            bins: u32,
            counts: GlobalMut<u32>,
            wide: u32,
        ) {
            histogram::<$t, EvenInteger, $v>(samples, len, even, bins, counts, wide);
        }
    )* };
}
kernels! { of_bytes: u8, 16; of_words: u32, 4; }

/// Counts `values[from..]`, whose numbers are less than `range`, with so many blocks.
macro_rules! check {
    ($kernel:ident, $t:ty, $seed:expr, $len:expr, $from:expr, $range:expr, $bins:expr, $blocks:expr) => {{
        let (seed, from, range, bins, blocks): (u64, usize, u64, u32, u32) =
            ($seed, $from, $range, $bins, $blocks);
        let values: Vec<$t> = (0..$len + from).map(|i| (random(seed, i) % range) as $t).collect();
        let mut expected = vec![0u32; bins as usize];
        for &value in &values[from..] {
            expected[(u64::from(value) * u64::from(bins) / range) as usize] += 1;
        }
        let device = Device::simulator_with(Config { record: Record::Races, ..Config::with_seed(seed) });
        let samples = device.upload(&values).unwrap();
        let mut counts = device.zeroed::<u32>(bins as usize).unwrap();
        let shared = shared_bytes(bins, size_of::<$t>() as u32);
        // SAFETY: the simulator checks every access.
        unsafe {
            $kernel::launch(
                &device.default_stream(),
                LaunchConfig::linear(blocks, THREADS).shared(shared),
                samples.slice(from..).as_global(),
                $len as u64,
                EvenInteger::new(0, range, bins, 0),
                bins,
                counts.view_mut().as_global_mut(),
                0,
            )
        }
        .unwrap();
        let context = format!("seed {seed}: {} from {from} in {bins} bins by {blocks} blocks", $len);
        assert_eq!(counts.to_vec().unwrap(), expected, "{context}");
    }};
}

/// Samples of a block's stretch.
fn stretch<T: Element>() -> usize {
    THREADS as usize * AT_ONCE * VECTOR_BYTES as usize / size_of::<T>()
}

/// Counted in shared memory: two stretches and three for one block or two, whole ones and parts, aligned or not.
#[test]
fn blocks_take_several_stretches() {
    println!("blocks_take_several_stretches: seeds 0 to 5");
    for seed in 0..6 {
        let (from, blocks) = (seed as usize % 4, 1 + seed as u32 % 2);
        let rest = [0, 1, 777][seed as usize / 2];
        let len = (blocks as usize + 1) * stretch::<u32>() + rest;
        check!(of_words, u32, seed, len, from, 1 << 32, 100, blocks);
        let len = (blocks as usize + 1) * stretch::<u8>() + rest;
        check!(of_bytes, u8, seed, len, from, 256, 10, blocks);
    }
}

/// Counted in global memory: a sample a thread and round.
#[test]
fn blocks_take_several_rounds_in_global_memory() {
    println!("blocks_take_several_rounds_in_global_memory: seeds 10 to 12");
    for (seed, len) in [(10, 3 * 1024), (11, 2 * 1024 + 1), (12, 4 * 1024 - 1)] {
        check!(of_words, u32, seed, len, 1, 1 << 32, MAX_SHARED_BINS + 1, 2);
    }
}
