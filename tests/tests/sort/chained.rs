//! Kernels one behind the other, with nothing in between: they wait by themselves for the one before, and the simulator
//! watches that they do.

use gpu_core::Device;
use gpu_sim::Config;
use gpu_sort::{Scratch, SortOptions, sort_into, sort_scratch};
use gpu_sort_kernels::runs::{BLOCKS, RUNS_HEADER, RunsShape, find_runs_b16};
use gpu_std::launch::LaunchConfig;
use gpu_tests::data::random;

/// A sort of what a sort before has written, over its scratch memory, and the runs of that. The library clears memory
/// before it looks for runs, which no kernel overtakes; here nothing is.
#[test]
fn kernels_wait_for_the_one_before() {
    println!("kernels_wait_for_the_one_before: seeds 0 to 4");
    // More than a block sorts by itself.
    const LEN: usize = 5000;
    for seed in 0..5 {
        let device = Device::simulator_with(Config::with_seed(seed));
        let stream = device.stream().unwrap();
        let mut keys: Vec<u16> = (0..LEN).map(|at| random(seed, at) as u16 % 1000).collect();
        let input = device.upload(&keys).unwrap();
        let (mut up, mut down) = (device.alloc::<u16>(LEN).unwrap(), device.alloc::<u16>(LEN).unwrap());
        let mut scratch = Scratch::with_size(&stream, sort_scratch::<u16>(LEN).unwrap()).unwrap().fixed();
        let shape = RunsShape::of::<u16>();
        let config =
            LaunchConfig::linear(device.blocks_for(BLOCKS, shape.tiles(LEN as u64)), shape.threads());
        let mut words = device.zeroed::<u64>(shape.scratch_words(LEN as u64) as usize).unwrap();
        let (mut runs, mut unique) = (device.alloc::<u32>(1).unwrap(), device.alloc::<u16>(LEN).unwrap());
        let mut offsets = device.alloc::<u32>(RUNS_HEADER as usize + LEN + 1).unwrap();
        let capacity = words.len() as u64;
        sort_into(&stream, &input, SortOptions::ascending(), &mut up, &mut scratch).unwrap();
        sort_into(&stream, &up, SortOptions::descending(), &mut down, &mut scratch).unwrap();
        // SAFETY: the simulator checks every access.
        unsafe {
            find_runs_b16::launch(
                &stream,
                config.shared(shape.shared_bytes()),
                down.view().as_global(),
                LEN as u64,
                runs.view_mut().as_global_mut(),
                offsets.view_mut().as_global_mut(),
                unique.view_mut().as_global_mut(),
                words.view_mut().as_global_mut(),
                capacity,
            )
        }
        .unwrap();
        keys.sort_by(|a, b| b.cmp(a));
        assert_eq!(down.to_vec().unwrap(), keys, "seed {seed}");
        keys.dedup();
        assert_eq!(runs.to_vec().unwrap(), [keys.len() as u32], "seed {seed}");
        assert_eq!(unique.slice(..keys.len()).to_vec().unwrap(), keys, "seed {seed}");
    }
}
