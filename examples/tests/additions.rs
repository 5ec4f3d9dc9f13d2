//! Runs `vector_add` and `matrix_add` as a user does.

mod support;

use support::{json, run, start};

#[test]
fn every_test_has_a_line() {
    for (example, tests) in [("vector_add", 21), ("matrix_add", 12)] {
        let lines = json(example, &["--json", "--device", "simulator"]);
        assert_eq!(lines.len(), tests);
        for (line, number) in lines.iter().zip(1..) {
            assert_eq!(line["test"], number);
            let of = |value: &serde_json::Value| value.as_f64().expect("a number");
            assert!(of(&line["cpu_ms"]) > 0.0 && of(&line["kernel_ms"]) > 0.0, "{line}");
            for memory in ["pageable", "pinned"] {
                let times = &line[memory];
                let copies = of(&times["htod_ms"]) + of(&times["dtoh_ms"]);
                assert!(copies > 0.0 && (of(&times["copies_ms"]) - copies).abs() < 1e-9, "{line}");
                assert!((of(&times["total_ms"]) - copies - of(&line["kernel_ms"])).abs() < 1e-9, "{line}");
            }
        }
    }
}

/// The course's grids, as its tables have them: 803,840,000 and 25,240,576 threads of tests 7 and 8 (it prints
/// 804,625,000 for the first in its text, but the former among nvprof's counts of control-flow instructions, one a
/// thread).
#[test]
fn the_grids_are_the_courses() {
    use gpu_examples::additions::{MATRICES, VECTORS};
    assert_eq!(MATRICES[6].threads(), 803_840_000);
    assert_eq!(MATRICES[7].threads(), 25_240_576);
    assert!(VECTORS.iter().zip(1..).all(|(test, number)| test.test == number));
    for test in VECTORS.iter().chain(&MATRICES) {
        for test in [*test, test.smaller(50), test.smaller(1000)] {
            let [x, y] = [0, 1].map(|axis| test.grid[axis] as usize * test.block[axis] as usize);
            assert!(x >= test.columns && y >= test.rows, "{test:?}");
        }
    }
}

/// What nvprof counted of tests 7 and 8: three accesses and one addition for each element in both, but one branch for
/// each thread, of which the first has 32 times as many.
#[test]
fn the_excess_of_threads_shows_in_the_metrics() {
    let lines = json("matrix_add", &["--metrics", "--json"]);
    let [seventh, eighth] = lines.as_slice() else { panic!("{lines:?}") };
    for line in [seventh, eighth] {
        assert_eq!(line["accesses_per_element"], 3.0);
        assert_eq!(line["control_approximate"], line["warps"]);
        assert_eq!((&line["gld_efficiency"], &line["gst_efficiency"]), (&100.0.into(), &100.0.into()));
    }
    assert_eq!(
        (&seventh["threads_per_element"], &eighth["threads_per_element"]),
        (&32.0.into(), &1.0.into())
    );
    assert_eq!(seventh["ldst_executed"], eighth["ldst_executed"]);
}

#[test]
fn some_tests_a_table_and_a_chart() {
    let file = std::env::temp_dir().join(format!("vector-add-{}.png", std::process::id()));
    let path = file.to_str().expect("a path of letters");
    let text = run("vector_add", &["--device", "simulator", "--test", "4,5,6,7", "--plot", path]);
    assert!(text.contains("pinned HtoD") && text.contains("\n7 "), "{text}");
    assert!(!text.contains("\n8 "), "{text}");
    let drawn = std::fs::read(&file).expect("it was drawn");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(drawn.starts_with(b"\x89PNG"), "{} bytes", drawn.len());
}

#[test]
fn a_user_is_told_what_there_is() {
    for example in ["vector_add", "matrix_add"] {
        let help = run(example, &["--help"]);
        for option in ["--json", "--plot", "--device", "--test", "--quick"] {
            assert!(help.contains(option), "{option} is missing from\n{help}");
        }
        let output = start(example, &["--device", "simulator", "--test", "22"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains("there is no test 22"), "{errors}");
    }
}
