//! The one-pass scan under the simulator's schedules: several blocks in flight, started, interleaved and finished in
//! any order, relaxed loads that may be stale. A block of two warps and small tiles makes many tiles, groups and
//! sections affordable.

use gpu_core::{Buffer, Device, Stream};
use gpu_scan::{Options, reference};
use gpu_scan_kernels::{EXCLUSIVE, HEADER_WORDS, REVERSE, SECTION, Scan, Shape, Sum, WideSum, whole};
use gpu_sim::{Config, Record};
use gpu_std::kernel;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

/// `f32` in tiles of 256: one row of 32 vectors in each of two warps.
#[kernel(launch_bounds(64))]
pub fn small_f32(
    input: Global<f32>,
    output: GlobalMut<f32>,
    len: u64,
    initial: f32,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    whole::<Sum<f32>, 4, 4, 4, 1, 2>(input, output, len, initial, mode, words, capacity);
}

/// `f32` summed up as `f64`, in two words each: tiles of 128.
#[kernel(launch_bounds(64))]
pub fn small_wide(
    input: Global<f32>,
    output: GlobalMut<f64>,
    len: u64,
    initial: f64,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    whole::<WideSum<f32>, 2, 2, 4, 1, 2>(input, output, len, initial, mode, words, capacity);
}

const F32: Shape = Shape { warps: 2, vector: 4, rows: 1, words: 1, input_words: 4 };
const WIDE: Shape = Shape { warps: 2, vector: 2, rows: 1, words: 2, input_words: 2 };

fn options<T>(mode: u32) -> Options<T> {
    let options = if mode & EXCLUSIVE != 0 { Options::exclusive() } else { Options::inclusive() };
    if mode & REVERSE != 0 { options.reversed() } else { options }
}

fn expected<S: Scan>(input: &[S::Item], mode: u32, initial: S::Output, shape: Shape) -> Vec<S::Output> {
    let mut output = vec![S::EMPTY; input.len()];
    reference::scan_cut::<S>(input, &options(mode).starting_with(initial), &mut output, shape);
    output
}

/// Scratch memory for `tiles` tiles, as it is before the first launch.
fn scratch(device: &Device, shape: Shape, tiles: u64) -> Buffer<u64> {
    device.zeroed(HEADER_WORDS as usize + shape.scratch_words(tiles) as usize).unwrap()
}

fn config(shape: Shape, blocks: u32) -> LaunchConfig {
    LaunchConfig::linear(blocks, shape.threads()).shared(shape.shared_bytes())
}

/// Launches `small_f32` with `blocks` blocks.
fn launch(stream: &Stream, input: &[f32], mode: u32, blocks: u32, words: &mut Buffer<u64>) -> Vec<f32> {
    let device = stream.device();
    let on_device = device.upload(input).unwrap();
    let mut output = device.zeroed(input.len()).unwrap();
    let capacity = words.len() as u64;
    // SAFETY: the simulator checks every access.
    unsafe {
        small_f32::launch(
            stream,
            config(F32, blocks),
            on_device.view().as_global(),
            output.view_mut().as_global_mut(),
            input.len() as u64,
            0.5,
            mode,
            words.view_mut().as_global_mut(),
            capacity,
        )
    }
    .unwrap();
    output.to_vec().unwrap()
}

/// A simulator of seed `seed` with more blocks in flight the larger it is, all accesses watched.
fn simulator(seed: u64) -> Device {
    let resident_blocks = 2 + (seed % 7) as usize;
    Device::simulator_with(Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) })
}

#[test]
fn a_thousand_schedules_of_a_few_tiles() {
    let values = gpu_tests::data::floats(17, 9 * 256 + 77);
    let results: Vec<Vec<f32>> = (0..4).map(|mode| expected::<Sum<f32>>(&values, mode, 0.5, F32)).collect();
    println!("a_thousand_schedules_of_a_few_tiles: seeds 0 to 999");
    for seed in 0..1000 {
        let stream = simulator(seed).stream().unwrap();
        let mode = (seed % 4) as u32;
        let mut words = scratch(stream.device(), F32, 10);
        let actual = launch(&stream, &values, mode, 1 + (seed % 10) as u32, &mut words);
        gpu_tests::compare::assert_same_bits(&actual, &results[mode as usize], &format!("seed {seed}"));
    }
}

/// More than two sections, so that starts of sections travel too; and shorter launches between, with the same scratch
/// memory.
#[test]
fn schedules_of_several_sections() {
    let values = gpu_tests::data::floats(19, 2 * SECTION as usize * 256 + 1000);
    let whole = expected::<Sum<f32>>(&values, 0, 0.5, F32);
    println!("schedules_of_several_sections: seeds 1000 to 1003");
    for seed in 1000..1004 {
        let stream = simulator(seed).stream().unwrap();
        let mut words = scratch(stream.device(), F32, 2 * SECTION as u64 + 4);
        for (len, blocks) in [(values.len(), 20), (40 * 256, 7), (300, 2)] {
            let actual = launch(&stream, &values[..len], 0, blocks, &mut words);
            gpu_tests::compare::assert_same_bits(&actual, &whole[..len], &format!("seed {seed}, {len}"));
        }
    }
}

/// Several groups, and launches of other lengths with the same scratch memory.
#[test]
fn many_schedules_of_several_groups() {
    let values = gpu_tests::data::floats(19, 150 * 256 + 3);
    let whole = expected::<Sum<f32>>(&values, 0, 0.5, F32);
    println!("many_schedules_of_several_groups: seeds 1000 to 1059");
    for seed in 1000..1060 {
        let stream = simulator(seed).stream().unwrap();
        let mut words = scratch(stream.device(), F32, 151);
        for (len, blocks) in [(values.len(), 20), (40 * 256, 7), (300, 2), (values.len(), 60)] {
            let actual = launch(&stream, &values[..len], 0, blocks, &mut words);
            gpu_tests::compare::assert_same_bits(&actual, &whole[..len], &format!("seed {seed}, {len}"));
        }
    }
}

/// Accumulators of two words, which may be seen one before the other.
#[test]
fn many_schedules_of_two_words() {
    let values = gpu_tests::data::floats(23, 70 * 128 + 5);
    let results = expected::<WideSum<f32>>(&values, REVERSE, -1.0, WIDE);
    println!("many_schedules_of_two_words: seeds 2000 to 2099");
    for seed in 2000..2100 {
        let device = simulator(seed);
        let stream = device.stream().unwrap();
        let mut words = scratch(&device, WIDE, 71);
        let input = device.upload(&values).unwrap();
        let mut output = device.zeroed::<f64>(values.len()).unwrap();
        let capacity = words.len() as u64;
        // SAFETY: the simulator checks every access.
        unsafe {
            small_wide::launch(
                &stream,
                config(WIDE, 9),
                input.view().as_global(),
                output.view_mut().as_global_mut(),
                values.len() as u64,
                -1.0,
                REVERSE,
                words.view_mut().as_global_mut(),
                capacity,
            )
        }
        .unwrap();
        gpu_tests::compare::assert_same_bits(&output.to_vec().unwrap(), &results, &format!("seed {seed}"));
    }
}

/// After 2^32 - 1 launches no mark is left: that launch clears all words, and what comes after starts anew.
#[test]
fn marks_begin_again_after_all_of_them() {
    let values = gpu_tests::data::floats(29, 20 * 256);
    let whole = expected::<Sum<f32>>(&values, 0, 0.5, F32);
    for seed in 0..30 {
        let device = simulator(seed);
        let stream = device.stream().unwrap();
        let mut words = scratch(&device, F32, 20);
        let last = u64::from(u32::MAX - 1);
        words.slice_mut(..1).copy_from(&[(last - 1) << 32]).unwrap();
        for (number, tiles) in [20, 12, 20, 3].into_iter().enumerate() {
            let actual = launch(&stream, &values[..tiles * 256], 0, 3, &mut words);
            let context = format!("seed {seed}, launch {number}");
            gpu_tests::compare::assert_same_bits(&actual, &whole[..tiles * 256], &context);
            let left = words.to_vec().unwrap();
            match number {
                0 => assert_eq!(left[..2], [last << 32, 0], "{context}"),
                1 => assert_eq!(left, vec![0; words.len()], "{context}"),
                _ => assert_eq!(left[..2], [(number as u64 - 1) << 32, 0], "{context}"),
            }
        }
    }
}
