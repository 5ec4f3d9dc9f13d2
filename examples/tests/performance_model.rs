//! Runs `performance_model` as a user does.

mod support;

use support::{json, run, start};

const EXAMPLE: &str = "performance_model";

#[test]
fn a_line_for_each_row_and_one_of_the_errors() {
    let lines = json(EXAMPLE, &["--json", "--kernel", "transpose/naive_32,transpose/shared_padded_32"]);
    let (errors, rows) = lines.split_last().expect("there are lines");
    // Three sizes of each; one of them calibrated the model, and is met by the rounding of its constants.
    assert_eq!((rows.len(), &errors["rows"]), (6, &5.into()));
    let calibration: Vec<_> = rows.iter().filter(|row| row["calibration"] == true).collect();
    assert_eq!(calibration.len(), 1);
    assert_eq!(
        (&calibration[0]["kernel"], &calibration[0]["size"]),
        (&"transpose/naive_32".into(), &4096.into())
    );
    assert!(calibration[0]["error"].as_f64().expect("a number").abs() < 0.1, "{}", calibration[0]);
    for row in rows {
        // 1024 × 1024 floats, read and written, are 8 MiB: less than the second-level cache.
        assert_eq!(row["cached"], row["size"] == 1024, "{row}");
        let off = row["predicted_microseconds"].as_f64().expect("a time")
            / row["measured_microseconds"].as_f64().expect("a time");
        assert!((100.0 * (off - 1.0) - row["error"].as_f64().expect("a number")).abs() < 1e-9, "{row}");
    }
    // The naive one is slower at 1024 and at 16384; at 4096 it calibrated the model.
    assert_eq!((&errors["pairs"], &errors["right"]), (&2.into(), &2.into()));
}

#[test]
fn a_table_and_a_plot() {
    let file = std::env::temp_dir().join(format!("gpu-performance-model-{}.png", std::process::id()));
    let text = run(EXAMPLE, &["--kernel", "sum/fast", "--plot", file.to_str().expect("a path")]);
    let drawn = std::fs::read(&file).expect("a plot");
    std::fs::remove_file(&file).expect("it was there");
    assert!(drawn.starts_with(b"\x89PNG"));
    assert!(text.contains("sum/fast") && text.contains("90th percentile"), "{text}");
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    for option in ["--json", "--plot", "--kernel"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    for (kernel, told) in [("blur", "no measured row"), ("nothing", "there are transpose")] {
        let output = start(EXAMPLE, &["--kernel", kernel]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(told), "{errors}");
    }
}
