//! Runs `reduction_variants` as a user does.

mod support;

use gpu_reduce::variants::Variant;
use support::{json, run, start};

const EXAMPLE: &str = "reduction_variants";

/// The variants and the fast version.
const SUMS: usize = Variant::ALL.len() + 1;

#[test]
fn every_sum_has_a_line_for_every_length() {
    for device in ["cpu", "simulator"] {
        let lines = json(EXAMPLE, &["--json", "--device", device, "--len", "5000,1"]);
        assert_eq!(lines.len(), 2 * SUMS);
        for (index, line) in lines.iter().enumerate() {
            let name = Variant::ALL.get(index % SUMS).map_or("fast", |variant| variant.name());
            assert_eq!(line["variant"], name);
            assert_eq!(line["len"], if index < SUMS { 5000 } else { 1 });
            assert_eq!(
                (&line["type"], &line["block"]),
                (&"f64".into(), &(if name == "fast" { 256 } else { 512 }).into())
            );
            for key in ["milliseconds", "milliseconds_with_copy", "gigabytes_per_second"] {
                assert!(line[key].as_f64().is_some_and(|value| value > 0.0), "{name}: {key} of {line}");
            }
        }
    }
}

/// What the literature says of the stages, in the metrics beside the times.
#[test]
fn the_lessons_show() {
    let lines = json(EXAMPLE, &["--json", "--device", "cpu", "--len", "1000"]);
    let metric = |name: &str, key: &str| {
        let line = lines.iter().find(|line| line["variant"] == name).expect(name);
        line[key].as_f64().expect(key)
    };
    assert!(metric("divergent", "branch_efficiency") < 75.0);
    assert!(metric("strided", "branch_efficiency") > 95.0);
    assert!(metric("strided", "shared_load_transactions_per_request") > 4.0);
    // 8-byte elements take two passes a warp at best.
    assert!(metric("sequential", "shared_load_transactions_per_request") <= 2.0);
}

#[test]
fn one_variant_a_table_and_a_chart() {
    let file = std::env::temp_dir().join(format!("reduction-variants-{}.png", std::process::id()));
    let path = file.to_str().expect("a path of letters");
    let text =
        run(EXAMPLE, &["--device", "simulator", "--variant", "several", "--len", "3000", "--plot", path]);
    assert!(text.contains("3000 elements") && text.contains("\nseveral"), "{text}");
    assert!(!text.contains("divergent"), "{text}");
    let drawn = std::fs::read(&file).expect("it was drawn");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(drawn.starts_with(b"\x89PNG"), "{} bytes", drawn.len());
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    for option in ["--json", "--plot", "--device", "--len", "--variant", "--once"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    let output = start(EXAMPLE, &["--variant", "thrust"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("first_add_last_warp"), "{errors}");
    assert!(!start(EXAMPLE, &["--len", "0"]).status.success());
}
