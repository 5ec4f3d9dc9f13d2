//! Runs `convolution_memories` as a user does.

mod support;

use gpu_examples::convolutions::{configurations, recorded};
use support::{json, run, start};

#[test]
fn every_test_has_a_line_with_the_courses_beside() {
    let lines = json("convolution_memories", &["--json", "--device", "simulator", "--test", "1,13,14,26"]);
    assert_eq!(lines.len(), 4);
    for (line, (test, element, filter)) in
        lines.iter().zip([(1, "f32", 32), (13, "f32", 128), (14, "f64", 32), (26, "f64", 128)])
    {
        assert_eq!((&line["test"], &line["element"]), (&test.into(), &element.into()), "{line}");
        assert_eq!((&line["filter"], &line["recorded"]["test"]), (&filter.into(), &test.into()), "{line}");
        let of = |name: &str| line[name].as_f64().expect(name);
        for name in ["cpu_ms", "global_ms", "constant_ms", "shared_ms", "fast_ms", "htod_ms", "dtoh_ms"] {
            assert!(of(name) > 0.0, "{name} in {line}");
        }
        assert!((of("htod_ms") + of("dtoh_ms") - of("copies_ms")).abs() < 1e-9, "{line}");
        assert!((of("copies_ms") + of("global_ms") - of("total_ms")).abs() < 1e-9, "{line}");
    }
}

/// As the tables print them: 26 tests, the same sizes in single and in double precision, and totals that are sums.
#[test]
fn the_tests_and_the_record_are_the_courses() {
    let (tests, record) = (configurations(), recorded().expect("a record"));
    assert_eq!((tests.len(), record.len()), (26, 26));
    for ((test, recorded), number) in tests.iter().zip(&record).zip(1..) {
        assert_eq!((test.test, recorded.test), (number, number));
        assert!((recorded.htod_ms + recorded.dtoh_ms - recorded.copies_ms).abs() < 1e-4, "{recorded:?}");
        assert!((recorded.copies_ms + recorded.kernel_ms - recorded.total_ms).abs() < 1e-4, "{recorded:?}");
    }
    assert_eq!((tests[25].element, tests[25].elements, tests[25].filter), ("f64", 3_200_000, 128));
    assert_eq!((record[12].kernel_ms, record[25].total_ms), (11.207872, 44.338692));
}

#[test]
fn the_simulator_counts_the_loads_of_each_memory() {
    let lines = json("convolution_memories", &["--metrics", "--json", "--test", "8", "--registers"]);
    let memories: Vec<&str> = lines.iter().map(|line| line["memory"].as_str().expect("a name")).collect();
    assert_eq!(memories, ["global", "constant", "shared", "fast"]);
    let loads: Vec<u64> =
        lines.iter().map(|line| line["gld_transactions"].as_u64().expect("a number")).collect();
    assert!(loads[0] > loads[2] && loads[2] > loads[1] && loads[1] > 10 * loads[3], "{loads:?}");
    for line in &lines {
        for name in ["l2_read_transactions", "l2_write_transactions"] {
            assert!(line[name].as_u64().expect(name) > 0, "{line}");
        }
        assert!(line["l2_read_hit_rate"].is_number() && line["l2_write_hit_rate"].is_number(), "{line}");
    }
}

#[test]
fn a_table_a_chart_and_help() {
    let file = std::env::temp_dir().join(format!("convolution-memories-{}.png", std::process::id()));
    let path = file.to_str().expect("a path of letters");
    let text = run("convolution_memories", &["--device", "simulator", "--test", "8,9,21,22", "--plot", path]);
    assert!(text.contains("constant") && text.contains("2019"), "{text}");
    let drawn = std::fs::read(&file).expect("it was drawn");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(drawn.starts_with(b"\x89PNG"), "{} bytes", drawn.len());
    let help = run("convolution_memories", &["--help"]);
    for option in ["--json", "--plot", "--device", "--test", "--quick", "--metrics", "--registers"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    let output = start("convolution_memories", &["--test", "27"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("there is no test 27"), "{errors}");
}
