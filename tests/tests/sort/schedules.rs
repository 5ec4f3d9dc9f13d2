//! The one-sweep sort under the simulator's schedules: several blocks in flight, started, interleaved and finished in
//! any order, relaxed loads that may be stale. Blocks of two warps and digits of five bits make many tiles affordable.

use gpu_core::Device;
use gpu_sim::{Config, Record};
use gpu_sort_kernels::{
    HEADER_WORDS, Order, Pairs, Pass, Shape, count, count_shared_bytes, start_words, sweep, zero_words,
};
use gpu_std::kernel;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

/// Counts digits of five bits.
#[kernel(launch_bounds(64))]
pub fn small_count(
    keys: Global<u16>,
    len: u64,
    order: Order,
    first_bit: u32,
    bits: u32,
    zeros: GlobalMut<u64>,
    starts: GlobalMut<u64>,
    counts: GlobalMut<u32>,
    words: u64,
    header: GlobalMut<u32>,
) {
    count::<u16, 5, 2>(keys, len, order, first_bit, bits, zeros, starts, counts, words, header);
}

macro_rules! small_sweeps {
    ($($name:ident: $at_once:literal;)*) => { $(
        /// Sorts by a digit of five bits, in tiles of 128 that look back so many tiles at a time.
        #[kernel(launch_bounds(64))]
        pub fn $name(
            input: Global<u16>,
            output: GlobalMut<u16>,
            values: Global<u32>,
            values_output: GlobalMut<u32>,
            pass: Pass,
            starts: Global<u64>,
            next_starts: GlobalMut<u64>,
            counts: GlobalMut<u32>,
            header: GlobalMut<u32>,
        ) {
            let payload = Pairs { input: values, output: values_output, indices: pass.indices == 1 };
            sweep::<u16, Pairs<u32>, 5, 2, 2, $at_once>(
                input, output, payload, pass, starts, next_starts, counts, header,
            );
        }
    )* };
}
small_sweeps! { small_sweep: 1; small_sweep_by_three: 3; }

const SHAPE: Shape = Shape { warps: 2, rows: 2, digit_bits: 5, key_bytes: 2, value_bytes: 4 };
const DIGITS: u64 = 32;

/// A simulator of seed `seed` with more blocks in flight the larger it is, all accesses watched.
fn simulator(seed: u64) -> Device {
    let resident_blocks = 2 + (seed % 7) as usize;
    Device::simulator_with(Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) })
}

/// Sorts keys of `bits` bits and their indices, with at most `sweep` tiles a launch, by the digits of `counted`: those keys, or others
/// that were there when digits were counted.
fn sorted(device: &Device, counted: &[u16], keys: &[u16], bits: u32, sweep: u32) -> (Vec<u16>, Vec<u32>) {
    let stream = device.stream().unwrap();
    let (len, passes) = (keys.len() as u64, bits.div_ceil(5));
    let tiles = SHAPE.tiles(len) as u32;
    let words = HEADER_WORDS / 2 + start_words(passes, 5) as usize + tiles as usize * DIGITS as usize / 2;
    // What the count does not clear it would be a fault to read.
    let mut words = device.alloc::<u64>(words).unwrap();
    let mut zeros = device.zeroed::<u64>(zero_words(passes, 5) as usize).unwrap();
    let (zeros_at, count_words) = (zeros.view_mut().as_global_mut(), u64::from(tiles) * DIGITS);
    let header = words.view_mut().as_global_mut();
    let starts = header.offset(HEADER_WORDS as u64 / 2);
    let counts = starts.offset(start_words(passes, 5).into()).cast::<u32>();
    let header = header.cast::<u32>();
    let (input, counted) = (device.upload(keys).unwrap(), device.upload(counted).unwrap());
    let mut buffers = [device.zeroed::<u16>(keys.len()).unwrap(), device.zeroed(keys.len()).unwrap()];
    let mut values = [device.zeroed::<u32>(keys.len()).unwrap(), device.zeroed(keys.len()).unwrap()];
    let mut from = input.view().as_global();
    let counted = counted.view().as_global();
    let config = LaunchConfig::linear(3, SHAPE.threads()).shared(count_shared_bytes(passes, 5));
    // SAFETY: the simulator checks every access.
    unsafe {
        small_count::launch(
            &stream,
            config,
            counted,
            len,
            Order::UNSIGNED,
            0,
            bits,
            zeros_at,
            starts,
            counts,
            count_words,
            header,
        )
    }
    .unwrap();
    assert!(zeros.to_vec().unwrap().iter().all(|&word| word == 0), "zero again");
    let mut from_values = values[1].view().as_global();
    for pass in 0..passes {
        let at = pass as usize % 2;
        let (to, to_values) = (buffers[at].view_mut().as_global_mut(), values[at].view_mut().as_global_mut());
        for (number, first_tile) in (0..tiles).step_by(sweep as usize).enumerate() {
            let of_launch = sweep.min(tiles - first_tile);
            let config = LaunchConfig::linear(of_launch, SHAPE.threads()).shared(SHAPE.shared_bytes());
            let digit = Order::UNSIGNED.digit(5 * pass, 5.min(bits - 5 * pass));
            let part = Pass {
                len,
                last: Order::UNSIGNED.last(16),
                digit,
                first_tile,
                tiles: of_launch,
                tickets: pass * tiles + first_tile,
                phase: pass % 2,
                indices: u32::from(pass == 0),
            };
            let row = |number: usize| starts.offset((2 * u64::from(pass) + number as u64 % 2) * DIGITS);
            let (now, next) = (row(number).as_global(), row(number + 1));
            macro_rules! launch {
                ($kernel:ident) => {{
                    // SAFETY: as above.
                    unsafe {
                        $kernel::launch(
                            &stream,
                            config,
                            from,
                            to,
                            from_values,
                            to_values,
                            part,
                            now,
                            next,
                            counts,
                            header,
                        )
                    }
                }};
            }
            // The phases of the one are those of the other.
            if (u64::from(pass) + len).is_multiple_of(2) {
                launch!(small_sweep)
            } else {
                launch!(small_sweep_by_three)
            }
            .unwrap();
        }
        from = to.as_global();
        from_values = to_values.as_global();
    }
    let last = (passes as usize - 1) % 2;
    (buffers[last].to_vec().unwrap(), values[last].to_vec().unwrap())
}

fn check(seed: u64, keys: &[u16], bits: u32, sweep: u32) {
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_by_key(|&index| keys[index as usize] & ((1u32 << bits) - 1) as u16);
    let (sorted, indices) = sorted(&simulator(seed), keys, keys, bits, sweep);
    assert_eq!(indices, order, "indices, seed {seed}");
    let expected: Vec<u16> = order.iter().map(|&index| keys[index as usize]).collect();
    assert_eq!(sorted, expected, "keys, seed {seed}");
}

fn keys(seed: u64, len: usize) -> Vec<u16> {
    let few = seed.is_multiple_of(3);
    let bits = gpu_tests::data::floats(seed, len).into_iter().map(f32::to_bits);
    bits.map(|bits| (bits >> 3) as u16 & if few { 0x0842 } else { 0xffff }).collect()
}

/// One digit, all tiles in one launch.
#[test]
fn a_thousand_schedules_of_a_pass() {
    println!("a_thousand_schedules_of_a_pass: seeds 0 to 999");
    for seed in 0..1000 {
        check(seed, &keys(seed, 6 * 128 + 77), 5, 7);
    }
}

/// Several digits, so that counts are left by a pass for the next one; and several launches a pass, as for more than
/// 2^30 keys.
#[test]
fn many_schedules_of_several_passes_and_launches() {
    println!("many_schedules_of_several_passes_and_launches: seeds 1000 to 1099");
    for seed in 1000..1100 {
        check(seed, &keys(seed, 10 * 128 + 3), 13, 3 + (seed % 9) as u32);
    }
}

/// Many more tiles than blocks in flight.
#[test]
fn schedules_of_many_tiles() {
    println!("schedules_of_many_tiles: seeds 2000 to 2004");
    for seed in 2000..2005 {
        check(seed, &keys(seed, 200 * 128 + 1), 10, 201);
    }
}

/// Keys that are others than those that were counted, as where another stream writes them meanwhile, go to places in the
/// output: nothing is written elsewhere.
#[test]
fn keys_that_change_after_they_were_counted_stay_in_the_output() {
    println!("keys_that_change_after_they_were_counted_stay_in_the_output: seeds 3000 to 3039");
    for seed in 3000..3040 {
        // Places may be taken twice: what two blocks write to one is not looked at.
        let device = Device::simulator_with(Config {
            resident_blocks: 4,
            record: Record::Off,
            ..Config::with_seed(seed)
        });
        let counted = keys(seed, 9 * 128 + 77);
        for other in [0, 0xffff, 0x0842] {
            sorted(&device, &counted, &vec![other; counted.len()], 10, 4);
        }
        let others: Vec<u16> = counted.iter().map(|key| !key).collect();
        sorted(&device, &counted, &others, 10, 4);
    }
}
