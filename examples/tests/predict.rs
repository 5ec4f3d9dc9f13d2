//! Runs `predict` as a user does.

mod support;

use std::collections::BTreeMap;

use gpu_examples::predicted::Subject;
use gpu_model::Device;
use gpu_sim::metrics::Architecture;
use support::{json, run, start};

const EXAMPLE: &str = "predict";

/// The naive transposition of 4096 × 4096 stores 2^24 lines; the rest is the gap between launches, the start of two
/// blocks of 32 warps on each of 132 multiprocessors, what one of them waits, and the way of the last stores. What it
/// has to move is 2^27 bytes.
#[test]
fn a_line_for_each_kernel() {
    let lines = json(EXAMPLE, &["--json", "--kernel", "transpose/naive_32,transpose/shared_padded_32"]);
    assert_eq!(lines.len(), 2);
    let number = |line: usize, field: &str| lines[line][field].as_f64().expect(field);
    assert_eq!(
        (&lines[0]["kernel"], &lines[0]["bottleneck"]),
        (&"transpose/naive_32".into(), &"stores".into())
    );
    let latency = (284.0 + 2.0 * 32.0 + 1491.0) / 1980.0;
    let by_hand = 1.40 + 264.0 / 1660.0 + latency + f64::from(1 << 24) / 61.9e3 + 282.0 / 1980.0;
    assert!((number(0, "microseconds") / by_hand - 1.0).abs() < 1e-9, "{}", lines[0]);
    assert_eq!((&lines[1]["bottleneck"], &lines[1]["size"]), (&"latency".into(), &4096.into()));
    for line in [0, 1] {
        let bound = number(line, "bound_microseconds");
        assert!((bound / (f64::from(1 << 27) / 4.8e6) - 1.0).abs() < 1e-9);
        assert!(
            number(line, "microseconds") > bound && number(line, "scaling_error") < 1.0,
            "{}",
            lines[line]
        );
        assert_eq!((&lines[line]["launches"], &lines[line]["simulated_size"]), (&1.into(), &512.into()));
    }
}

/// A sum of 2^20 elements in more than one launch, each of which costs one.
#[test]
fn partial_results_are_launches_too() {
    let lines = json(EXAMPLE, &["--json", "--kernel", "sum/sequential,sum/fast", "--size", "1048576"]);
    let number = |line: usize, field: &str| lines[line][field].as_f64().expect(field);
    assert!(number(0, "launches") > number(1, "launches"), "{lines:?}");
    assert!(number(0, "microseconds") > 1.40 * number(0, "launches"), "{lines:?}");
}

/// A scan of tiles and of their sums is a launch of each level and one back for each but the last, which is a tile: of
/// 2^20 elements three, of 2^24 five. Each element is read and written twice, but for the first tile's.
#[test]
fn levels_of_a_scan_are_launches_too() {
    let count = |name: &str, size| {
        let [subject] = Subject::by_name(name).expect("it is there")[..] else { panic!("{name} is not one") };
        subject.count(size, Architecture::H200).expect("it runs").launches
    };
    for (size, launches) in [(1000, 1), (1 << 20, 3), (1 << 24, 5)] {
        let found = count("scan/recursive_padded", size);
        assert_eq!(found.len(), launches, "{size}");
        if size > 1000 {
            let lines: f64 = found.iter().map(|one| one.lines).sum();
            assert!((lines / (4.0 * size as f64 / 32.0) - 1.0).abs() < 0.02, "{size}: {lines} lines");
        }
    }
    let found = count("scan/reduce_then_scan", 1 << 24);
    assert_eq!(found.iter().map(|one| one.blocks).collect::<Vec<_>>(), [1 << 14, 1, 1 << 14]);
    // Flags are cleared before.
    let found = count("scan/look_back", 1 << 20);
    assert_eq!(found.iter().map(|one| one.kernel.as_str()).collect::<Vec<_>>()[0], "fill");
}

/// A thread an element, each of which reads a row and a column: 2 n³ operations, and a load of each factor for each.
#[test]
fn a_product_has_its_operations() {
    let [naive] = Subject::by_name("product/naive").expect("it is there")[..] else { panic!("it is one") };
    let counted = naive.count(1024, Architecture::H200).expect("it runs");
    let [launch] = &counted.launches[..] else { panic!("it is one launch") };
    assert_eq!((launch.operations, launch.blocks), (2.0 * 1024f64.powi(3), 32 * 128));
    let loads = launch.instructions.memory / (2.0 * 1024f64.powi(3) / 32.0);
    assert!((loads - 1.0).abs() < 0.01, "{loads}");
    // Sampled blocks are far apart, but no more is read from memory than there is.
    assert!(launch.memory_read.0 <= 12.0 * 1024.0 * 1024.0, "{launch:?}");
}

/// What is counted and what is timed is one: every subject is enqueued again and again.
#[test]
fn every_subject_is_ready_on_any_device() {
    let device = gpu_core::Device::simulator();
    let mut kinds = std::collections::BTreeSet::new();
    for subject in Subject::all() {
        let mut ready = subject.ready(&device, 64).expect("there is memory");
        for _ in 0..2 {
            ready.enqueue().unwrap_or_else(|error| panic!("{subject}: {error}"));
        }
        ready.stream.synchronize().unwrap_or_else(|error| panic!("{subject}: {error}"));
        assert!(subject.sizes().contains(&subject.usual_size()), "{subject}");
        kinds.insert(subject.kind());
    }
    assert_eq!(kinds.len(), 7, "{kinds:?}");
}

#[test]
fn a_table_with_advice() {
    let text = run(EXAMPLE, &["--kernel", "transpose/shared_32", "--size", "2048"]);
    for part in ["bank conflicts", "\n- bank conflicts: spread over the banks", "bound µs"] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
    // 64 × 64 fit into the second-level cache, and are simulated as they are.
    let cached = json(EXAMPLE, &["--json", "--kernel", "transpose/fast", "--size", "64", "--cached"]);
    assert_eq!((&cached[0]["bottleneck"], &cached[0]["scaling_error"]), (&"launch".into(), &0.0.into()));
}

#[test]
fn a_device_of_one_s_own() {
    let text = Device::description("h200").expect("it is described").replace("4.8 TB/s", "2.4 TB/s");
    let file = std::env::temp_dir().join(format!("gpu-predict-{}.toml", std::process::id()));
    std::fs::write(&file, text).expect("a file");
    let path = file.to_str().expect("a path");
    let arguments =
        ["--json", "--kernel", "transpose/fast", "--size", "4096", "--description", path, "--caches", "h200"];
    let slow = json(EXAMPLE, &arguments);
    std::fs::remove_file(&file).expect("it was there");
    let fast = json(EXAMPLE, &arguments[..5]);
    let bound = |lines: &[serde_json::Value]| lines[0]["bound_microseconds"].as_f64().expect("a time");
    assert!((bound(&slow) / bound(&fast) - 2.0).abs() < 1e-9);
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    for option in ["--json", "--kernel", "--size", "--device", "--description", "--caches", "--cached"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    assert!(
        help.contains("A kernel of your own")
            && help.contains("examples/operator")
            && help.contains("simulated::counts(&report)"),
        "{help}"
    );
    for (arguments, told) in [
        (["--kernel", "transpose/nothing"], "transpose/naive_32"),
        (["--device", "b200"], "there are c1060"),
        (["--device", "p100"], "has no `waves`"),
        (["--caches", "c1060"], "--caches chooses one"),
        (["--description", "nowhere.toml"], "--caches"),
    ] {
        let output = start(EXAMPLE, &arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(told), "{arguments:?}: {errors}");
    }
}

/// What Nsight Compute counted on an H200, of 1024 × 1024: the model gets the same, scaled from 512 × 512.
#[test]
fn counts_are_the_hardware_s() {
    let mut expected = BTreeMap::<&str, [f64; 3]>::new();
    let text = include_str!("../../benches/results/nvidia-h200-2026-11-21-ncu.txt");
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [variant, space, operation, _, _, counted, _] = words[..] else { continue };
        let which = match (space, operation) {
            ("global", "load") => 0,
            ("global", "store") => 1,
            ("shared", "load" | "store") => 2,
            _ => continue,
        };
        expected.entry(variant).or_default()[which] += counted.parse::<f64>().expect("a number");
    }
    assert_eq!(expected.len(), 11);
    for (variant, expected) in expected {
        let [subject] = Subject::by_name(&format!("transpose/{variant}")).expect("it is there")[..] else {
            panic!("{variant} is not one")
        };
        let counted = subject.count(1024, Architecture::H200).expect("it runs");
        assert_eq!(counted.simulated, 512);
        let sum = |of: fn(&gpu_model::waves::Counts) -> f64| counted.launches.iter().map(of).sum::<f64>();
        let found = [sum(|one| one.sectors_read), sum(|one| one.sectors_written), sum(|one| one.wavefronts)];
        assert_eq!(found, expected, "{variant}");
    }
}
