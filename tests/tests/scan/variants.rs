//! The textbook scans: one body over all variants and backends, against a serial oracle; and what their documentation
//! says that the simulator counts of them.

use gpu_core::Device;
use gpu_scan::Error;
use gpu_scan::variants::{TILE, Variant, sum_with};
use gpu_scan_kernels::variants::{SHARED_BYTES, THREADS, scan_add_before_f32};
use gpu_sim::metrics::Metrics;
use gpu_sim::{BlockOrder, Config, Record};
use gpu_std::launch::LaunchConfig;
use gpu_tests::backends::for_each;
use gpu_tests::data::floats;

/// Runs a variant on a device. What scratch memory and output hold before is of no importance.
fn run(device: &Device, variant: Variant, values: &[f32]) -> Vec<f32> {
    let input = device.upload(values).unwrap();
    let mut output = device.upload(&vec![7.0; values.len()]).unwrap();
    let mut scratch = device.upload(&vec![u64::MAX; variant.scratch_len(values.len())]).unwrap();
    sum_with(variant, &device.default_stream(), &input, &mut output, &mut scratch).unwrap();
    output.to_vec().unwrap()
}

/// Whole numbers of magnitude up to 256: sums of up to 2^16 of them are exact in any order.
fn whole_numbers(seed: u64, len: usize) -> Vec<f32> {
    floats(seed, len).into_iter().map(|value| (value * 2.0).trunc()).collect()
}

/// The oracle.
fn serial(values: &[f32]) -> Vec<f32> {
    let mut sum = 0.0;
    values.iter().map(|value| (sum += value, sum).1).collect()
}

#[test]
fn all_variants_sum_any_length() {
    const T: usize = TILE as usize;
    for_each("all_variants_sum_any_length", |device| {
        for len in [0, 1, 2, 31, 511, 513, T - 1, T, T + 1, 2 * T, 10_007, 40 * T + 3] {
            let values = whole_numbers(len as u64, len);
            for variant in Variant::ALL {
                assert_eq!(run(device, variant, &values), serial(&values), "{variant} of {len} on {device}");
            }
        }
    });
}

/// More totals than a tile has: the recursion goes three levels down, and look-back over many windows.
#[test]
fn totals_of_totals() {
    let len = TILE as usize * (TILE as usize + 1) + 5;
    // Mostly zeros, so that sums stay exact.
    let values: Vec<f32> = (0..len).map(|index| f32::from(u8::from(index % 31 == 0))).collect();
    let expected = serial(&values);
    for_each("totals_of_totals", |device| {
        for variant in [Variant::Recursive, Variant::ReduceThenScan, Variant::LookBack] {
            // The simulator takes its time for a million elements.
            if device.as_simulator().is_none() || variant == Variant::Recursive {
                assert_eq!(run(device, variant, &values), expected, "{variant} on {device}");
            }
        }
    });
}

/// A prefix of 0 is one, and the block that has it says so.
#[test]
fn tiles_of_zeros_before_others() {
    let zeros = 2 * TILE as usize;
    let values: Vec<f32> = (0..zeros + 40).map(|index| f32::from(u8::from(index >= zeros))).collect();
    for_each("tiles_of_zeros_before_others", |device| {
        for variant in Variant::ALL {
            assert_eq!(run(device, variant, &values), serial(&values), "{variant} on {device}");
        }
    });
}

/// What they draw their tiles from, the first half word, is as it was.
#[test]
fn tickets_are_zero_again() {
    for_each("tickets_are_zero_again", |device| {
        for variant in [Variant::SumAll, Variant::LookBack] {
            let input = device.upload(&[1.0; 3 * TILE as usize]).unwrap();
            let mut output = device.zeroed(input.len()).unwrap();
            let mut scratch = device.zeroed(variant.scratch_len(input.len())).unwrap();
            sum_with(variant, &device.default_stream(), &input, &mut output, &mut scratch).unwrap();
            assert_eq!(scratch.to_vec().unwrap()[0] as u32, 0, "{variant} on {device}");
        }
    });
}

/// Sums are added to all tiles but the first, of which even zeros keep their signs.
#[test]
fn the_first_tile_stays() {
    let device = Device::simulator();
    let stream = device.default_stream();
    let mut data = device.upload(&[-0.0f32; TILE as usize + 3]).unwrap();
    let sums = device.upload(&[2.0f32]).unwrap();
    let (config, len) = (LaunchConfig::linear(2, THREADS).shared(SHARED_BYTES), data.len() as u64);
    // SAFETY: the simulator checks every access.
    unsafe {
        scan_add_before_f32::launch(
            &stream,
            config,
            data.view_mut().as_global_mut(),
            len,
            sums.view().as_global(),
        )
    }
    .unwrap();
    let data = data.to_vec().unwrap();
    assert!(data[..TILE as usize].iter().all(|value| value.to_bits() == (-0.0f32).to_bits()));
    assert_eq!(data[TILE as usize..], [2.0; 3]);
}

/// Blocks that wait for one another do so under any schedule.
#[test]
fn many_schedules() {
    println!("many_schedules: seeds 0 to 99");
    let values = whole_numbers(3, 7 * TILE as usize + 11);
    let expected = serial(&values);
    for seed in 0..100 {
        let device = Device::simulator_with(Config::with_seed(seed));
        for variant in [Variant::SumAll, Variant::LookBack] {
            assert_eq!(run(&device, variant, &values), expected, "{variant}, seed {seed}");
        }
    }
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    for_each("bad_input_is_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let input = device.upload(&[1.0; 2000]).unwrap();
        for variant in Variant::ALL {
            let need = variant.scratch_len(2000);
            let mut scratch = device.upload(&vec![7; need]).unwrap();
            let mut output = device.upload(&[7.0; 2001]).unwrap();
            let error = sum_with(variant, &stream, &input, &mut output, &mut scratch).unwrap_err();
            assert!(matches!(error, Error::OutputLength { expected: 2000, actual: 2001, .. }), "{error}");
            if need > 0 {
                let short = scratch.slice_mut(0..need - 1);
                let error = sum_with(variant, &stream, &input, output.slice_mut(1..), short).unwrap_err();
                let Error::ScratchTooSmall { expected, actual, .. } = error else { panic!("{error}") };
                assert_eq!((expected, actual), (8 * need, 8 * (need - 1)));
            }
            let other = Device::simulator();
            let foreign = other.upload(&[1.0; 2000]).unwrap();
            let error =
                sum_with(variant, &stream, &foreign, output.slice_mut(1..), &mut scratch).unwrap_err();
            assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
            assert_eq!(output.to_vec().unwrap(), [7.0; 2001]);
        }
    });
}

/// A row of the documentation's table, as computed.
fn row(variant: Variant) -> String {
    const LEN: usize = 1 << 17;
    let device = Device::simulator_with(Config {
        record: Record::Full,
        block_order: BlockOrder::Ascending,
        vary_residency: false,
        ..Config::default()
    });
    let values: Vec<f32> = (0..LEN).map(|index| (index % 3) as f32).collect();
    assert_eq!(run(&device, variant, &values), serial(&values), "{variant}");
    let reports = device.as_simulator().unwrap().take_reports();
    let metrics = Metrics::of_all(&reports);
    let each = |bytes: u64| bytes as f64 / (4 * LEN) as f64;
    let (reads, writes) = (each(metrics.global_loads.requested), each(metrics.global_stores.requested));
    format!(
        "//! | [`Variant::{variant:?}`] | {} | {reads:.3} | {writes:.3} | {:.3} | {:.2} |",
        reports.len(),
        reads + writes,
        metrics.shared_load_transactions_per_request,
    )
}

#[test]
fn the_documented_counts_are_those_of_the_simulator() {
    let documented = include_str!("../../../crates/gpu-scan/src/variants/mod.rs");
    let computed: Vec<String> = Variant::ALL.into_iter().map(row).collect();
    let table: Vec<&str> = documented.lines().filter(|line| line.starts_with("//! | [`Variant::")).collect();
    assert_eq!(table, computed, "the table is\n{}", computed.join("\n"));
}
