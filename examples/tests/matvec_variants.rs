//! Runs `matvec_variants` as a user does.

mod support;

use support::{json, run, start};

const EXAMPLE: &str = "matvec_variants";

#[test]
fn every_variant_has_a_line_for_every_launch_and_type() {
    let arguments =
        ["--json", "--device", "simulator", "--rows", "5,40", "--columns", "33", "--threads", "16,192"];
    let lines = json(EXAMPLE, &arguments);
    // Of 5 rows and of 40 with the usual number of threads, and of 40 with 16: three variants of each type, and of
    // floats the fast version, which has its own number of threads.
    assert_eq!(lines.len(), 3 * (3 + 3 + 3) + 2 * (1 + 1));
    for line in &lines {
        let of = |key: &str| line[key].as_f64().expect(key);
        assert_eq!(line["threads"].is_null(), line["variant"] == "fast");
        assert!(of("cpu_ms") > 0.0 && of("kernel_ms") > 0.0 && of("pinned_copies_ms") > 0.0, "{line}");
        assert!((of("total_ms") - of("copies_ms") - of("kernel_ms")).abs() < 1e-9, "{line}");
        assert!((of("copies_ms") - of("htod_ms") - of("dtoh_ms")).abs() < 1e-9, "{line}");
    }
    let integers =
        lines.iter().filter(|line| line["type"] == "i32").map(|line| line["variant"].as_str().unwrap());
    assert_eq!(integers.collect::<Vec<_>>(), ["row", "rows", "column"].repeat(3));
}

#[test]
fn one_type_a_table_and_a_chart() {
    let file = std::env::temp_dir().join(format!("matvec-variants-{}.png", std::process::id()));
    let path = file.to_str().expect("a path of letters");
    let text = run(EXAMPLE, &["--device", "simulator", "--quick", "--type", "f64", "--plot", path]);
    assert!(text.contains("pinned copies") && text.contains("\ncolumn "), "{text}");
    assert!(!text.contains("f32"), "{text}");
    let drawn = std::fs::read(&file).expect("it was drawn");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(drawn.starts_with(b"\x89PNG"), "{} bytes", drawn.len());
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    for option in ["--json", "--plot", "--device", "--rows", "--columns", "--threads", "--type", "--quick"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    assert!(!start(EXAMPLE, &["--threads", "2000"]).status.success());
    assert!(!start(EXAMPLE, &["--type", "f16"]).status.success());
}
