//! What the model of waves has to do whatever the counts: more work never takes less time, a faster device never more.

use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, Instructions, Waits, predict};
use gpu_model::{Device, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The seed is fixed, so that a failure comes back; proptest prints the input that it found.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 512,
        rng_seed: RngSeed::Fixed(0x20),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Fewer than 100 operations, each off by 2^-53, none subtracting: less than 1e-12.
fn not_more(one: f64, other: f64) -> bool {
    one <= other * (1.0 + 1e-12)
}

fn h200() -> Device {
    Device::by_name("h200").expect("it is described")
}

prop_compose! {
    fn any_counts()(
        blocks in 1_u64..1_000_000,
        threads in 1_u32..=1024,
        shared in 0.0..200e3_f64,
        registers in proptest::option::of(1_u32..=64),
        amounts in prop::array::uniform9(0.0..1e9_f64),
        waits in prop::array::uniform6(0.0..100.0_f64),
        last in prop::array::uniform3(0.0..100.0_f64),
    ) -> Counts {
        let [memory, arithmetic, lines, lines_written, l2, read, written, passes, operations] = amounts;
        Counts {
            shared: Bytes(shared),
            registers,
            instructions: Instructions { memory, arithmetic, ..Instructions::default() },
            lines: lines + lines_written,
            lines_written,
            l2_read: Bytes(l2),
            memory_read: Bytes(read),
            memory_written: Bytes(written),
            wavefronts: passes,
            wavefronts_without_conflicts: passes / 2.0,
            waits: Waits {
                memory: waits[0],
                l2: waits[1],
                shared: waits[2],
                computing: 1e3 * waits[4],
                turns: waits[0].min(waits[5]),
            },
            last: Waits { memory: last[0], l2: last[1], shared: last[2], ..Waits::default() },
            chain: waits[3],
            operations,
            necessary: Bytes(read + written),
            ..Counts::empty("any", blocks, threads)
        }
    }
}

/// Those that were measured.
fn measured() -> impl Strategy<Value = Device> {
    prop::sample::select(vec!["h200", "h100"])
        .prop_map(|name| Device::by_name(name).expect("it is described"))
}

fn time(device: &Device, counts: &Counts) -> f64 {
    predict(device, counts).expect("it fits").time.0
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn more_work_never_takes_less(
        device in measured(),
        counts in any_counts(),
        more in 0.0..1e9_f64,
        which in 0_usize..13,
    ) {
        let before = time(&device, &counts);
        let mut larger = counts;
        match which {
            0 => larger.memory_read.0 += more,
            1 => larger.memory_written.0 += more,
            2 => larger.l2_read.0 += more,
            3 => larger.lines += more,
            4 => (larger.lines, larger.lines_written) = (larger.lines + more, larger.lines_written + more),
            5 => larger.wavefronts += more,
            // A block's warps take for what it executes more as much longer as that takes of a multiprocessor, at least.
            6 => {
                larger.instructions.control += more;
                larger.waits.computing += more / 4.0 / larger.blocks as f64;
            }
            7 => larger.operations += more,
            8 => larger.waits.memory += more,
            9 => larger.chain += more,
            10 => larger.waits.computing += more,
            11 => larger.last.l2 += more,
            _ => larger.waits.shared += more,
        }
        prop_assert!(not_more(before, time(&device, &larger)));
    }

    #[test]
    fn a_faster_clock_never_takes_longer(
        device in measured(),
        counts in any_counts(),
        factor in 1.0..10.0_f64,
    ) {
        let mut faster = device.clone();
        faster.clock = faster.clock * factor;
        prop_assert!(not_more(time(&faster, &counts), time(&device, &counts)));
    }

    #[test]
    fn twice_the_bandwidth_never_takes_longer(device in measured(), counts in any_counts()) {
        let mut faster = device.clone();
        faster.memory.bandwidth = faster.memory.bandwidth * 2.0;
        prop_assert!(not_more(time(&faster, &counts), time(&device, &counts)));
    }

    /// Nothing is faster than the bound, if it moves and computes no less than it has to.
    #[test]
    fn no_prediction_is_below_the_bound(device in measured(), counts in any_counts()) {
        let found = predict(&device, &counts).expect("it fits");
        prop_assert!(not_more(found.bound.time.0, found.time.0));
        let levels: Vec<f64> = found.levels.iter().map(|level| level.1.0).collect();
        prop_assert!(levels.is_sorted_by(|one, other| one >= other));
        prop_assert!(found.last_wave > 0.0 && found.last_wave <= 1.0 && found.occupancy <= 1.0);
    }

    /// A clock twice as fast halves what is counted in cycles, and nothing else.
    #[test]
    fn time_has_the_clock_s_dimension(device in measured(), counts in any_counts()) {
        let mut only_cycles = counts;
        (only_cycles.memory_read, only_cycles.memory_written) = (Bytes(0.0), Bytes(0.0));
        only_cycles.lines_written = 0.0;
        // Launches and the start of blocks are not counted in cycles.
        let mut slow = device;
        let waves = slow.waves.as_mut().expect("it was measured");
        (waves.launch.0, waves.blocks.0) = (1e-30, 1e30);
        let mut fast = slow.clone();
        fast.clock = fast.clock * 2.0;
        let gap = slow.waves().expect("it was measured").gap.0;
        let [before, after] = [&slow, &fast].map(|device| time(device, &only_cycles) - gap);
        // The gap is subtracted: what is left of it by rounding is 1e-21 s.
        prop_assert!((before - 2.0 * after).abs() <= 1e-12 * before + 1e-20);
    }
}

#[test]
fn bad_input_names_the_field() {
    let error = predict(&h200(), &Counts { chain: -1.0, ..Counts::empty("bad", 1, 32) });
    assert_eq!(error, Err(Error::Negative { field: "chain", value: -1.0 }));
    assert!(matches!(predict(&h200(), &Counts::empty("bad", 1, 2048)), Err(Error::OverLimit { .. })));
    let mut stopped = h200();
    stopped.clock.0 = 0.0;
    let error = predict(&stopped, &Counts::empty("bad", 1, 32));
    assert_eq!(error, Err(Error::NotPositive { field: "clock", value: 0.0 }));
    let text = Device::description("h200").expect("it is described").replace("\"94.2 %\"", "\"195 %\"");
    assert!(matches!(Device::from_toml(&text), Err(Error::WrongUnit { field, .. }) if field == "waves.read"));
}
