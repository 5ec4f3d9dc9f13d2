//! Runs `scan_variants` as a user does.

mod support;

use gpu_scan::variants::Variant;
use support::{json, run, start};

const EXAMPLE: &str = "scan_variants";

/// The variants and the fast version.
const SCANS: usize = Variant::ALL.len() + 1;

#[test]
fn every_scan_has_a_line_for_every_length() {
    for device in ["cpu", "simulator"] {
        let lines = json(EXAMPLE, &["--json", "--device", device, "--n", "2,0", "--runs", "3"]);
        assert_eq!(lines.len(), 2 * SCANS);
        for (index, line) in lines.iter().enumerate() {
            let name = Variant::ALL.get(index % SCANS).map_or("fast", |variant| variant.name());
            assert_eq!(line["variant"], name);
            assert_eq!(line["len"], if index < SCANS { 4096 } else { 1024 });
            assert_eq!(line["runs"], 3);
            for key in ["mean_microseconds", "gigabytes_per_second"] {
                assert!(line[key].as_f64().is_some_and(|value| value > 0.0), "{name}: {key} of {line}");
            }
            assert!(line["deviation_microseconds"].as_f64().is_some_and(|value| value >= 0.0), "{line}");
        }
    }
}

#[test]
fn one_variant_a_table_and_a_chart() {
    let file = std::env::temp_dir().join(format!("scan-variants-{}.png", std::process::id()));
    let path = file.to_str().expect("a path of letters");
    let text = run(
        EXAMPLE,
        &["--device", "simulator", "--variant", "look_back", "--n", "1", "--runs", "2", "--plot", path],
    );
    assert!(text.contains("1024 · 2^1 elements") && text.contains("\nlook_back"), "{text}");
    assert!(!text.contains("blelloch"), "{text}");
    let drawn = std::fs::read(&file).expect("it was drawn");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(drawn.starts_with(b"\x89PNG"), "{} bytes", drawn.len());
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    for option in ["--json", "--plot", "--device", "--n", "--variant", "--runs", "--once"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    let output = start(EXAMPLE, &["--variant", "thrust"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("reduce_then_scan"), "{errors}");
    assert!(!start(EXAMPLE, &["--runs", "1"]).status.success());
}
