//! The kernels that find runs, of keys of every width: on the simulator, which checks every access.

use gpu_core::Device;
use gpu_sim::Config;
use gpu_sort_kernels::run_instances;
use gpu_sort_kernels::runs::{BLOCKS, RUNS_HEADER, RunsShape};
use gpu_std::launch::LaunchConfig;
use gpu_tests::data::random;

macro_rules! by_width {
    ($($key:ty, $v:literal, $l:literal: $find:ident, $($keys:ty)*;)*) => { $(
        /// Tiles and a key more or less, in runs that are one key long or as long as a tile; aligned or not.
        #[test]
        fn $find() {
            println!("{}: seeds 0 to 3", stringify!($find));
            let shape = RunsShape::of::<$key>();
            let tile = shape.tile() as usize;
            let cases = [(1, 0, 2), (tile, 1, tile), (tile + 1, 0, 3), (2 * tile - 1, 0, 100)];
            for (seed, (len, from, each)) in cases.into_iter().enumerate() {
                let device = Device::simulator_with(Config::with_seed(seed as u64));
                let stream = device.default_stream();
                let mut key = 7 as $key;
                let mut keys = Vec::new();
                for at in 0..from + len {
                    if (random(seed as u64, at) as usize).is_multiple_of(each) {
                        key ^= 1 << (at as u32 % <$key>::BITS);
                    }
                    keys.push(key);
                }
                let on_device = device.upload(&keys).unwrap();
                let keys = &keys[from..];
                let words = shape.scratch_words(len as u64);
                let mut scratch = device.zeroed::<u64>(words as usize).unwrap();
                let (mut runs, mut unique) =
                    (device.alloc::<u32>(1).unwrap(), device.alloc::<$key>(len).unwrap());
                let mut offsets = device.alloc::<u32>(RUNS_HEADER as usize + len + 1).unwrap();
                let blocks = device.blocks_for(BLOCKS, shape.tiles(len as u64));
                let config = LaunchConfig::linear(blocks, shape.threads()).shared(shape.shared_bytes());
                // SAFETY: the simulator checks every access.
                unsafe {
                    gpu_sort_kernels::runs::$find::launch(
                        &stream,
                        config,
                        on_device.slice(from..).as_global(),
                        len as u64,
                        runs.view_mut().as_global_mut(),
                        offsets.view_mut().as_global_mut(),
                        unique.view_mut().as_global_mut(),
                        scratch.view_mut().as_global_mut(),
                        words,
                    )
                }
                .unwrap();
                let mut starts: Vec<u32> = (0..len as u32)
                    .filter(|&at| at == 0 || keys[at as usize] != keys[at as usize - 1])
                    .collect();
                let first: Vec<$key> = starts.iter().map(|&start| keys[start as usize]).collect();
                let context = format!("{len} keys from {from}");
                assert_eq!(runs.to_vec().unwrap(), [first.len() as u32], "{context}");
                assert_eq!(unique.slice(..first.len()).to_vec().unwrap(), first, "{context}");
                starts.push(len as u32);
                let behind = RUNS_HEADER as usize;
                let found = offsets.slice(behind..behind + starts.len()).to_vec().unwrap();
                assert_eq!(found, starts, "{context}");
            }
        }
    )* };
}
run_instances!(by_width);
