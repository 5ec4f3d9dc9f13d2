//! Runs `calibrate` as a user does, without a GPU.

mod support;

use gpu_model::Device;
use support::{json, run, start};

const EXAMPLE: &str = "calibrate";
const RECORD: &str = "../benches/results/nvidia-h200-2026-11-23-calibration.jsonl";

fn record() -> String {
    format!("{}/{RECORD}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_kernel_passes_in_the_simulator() {
    let rows = json(EXAMPLE, &["--json", "--device", "simulator"]);
    for measure in [
        "copy", "launch", "branches", "sum", "latency", "shared", "barrier", "issue", "read", "wave",
        "stream", "block",
    ] {
        assert!(rows.iter().any(|row| row["measure"] == measure), "{measure} is missing");
    }
    assert!(rows.iter().all(|row| row["device"].is_string() && row["date"].is_string()));
}

#[test]
fn a_record_becomes_a_description_and_a_report() {
    let folder = std::env::temp_dir().join(format!("gpu-calibrate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("h200.toml");
    let [file_name, folder_name] = [&file, &folder].map(|path| path.to_str().expect("a path"));
    let text = run(EXAMPLE, &["--from", &record(), "--description", file_name, "--report", folder_name]);
    assert!(text.contains("tables 5.1 to 5.4") && text.contains("table 5.6"), "{text}");
    // 55.4 of the 64 GB/s that PCIe 5.0 has with 16 lanes, for instance.
    let copies =
        text.split("tables 5.1 to 5.4").nth(1).and_then(|rest| rest.split("\n\n").nth(1)).expect("a table");
    assert!(copies.contains("% of the bus"), "{copies}");
    for line in copies.lines().filter(|line| line.contains("pinned_to_host")) {
        let fields: Vec<f64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        let [_, share, rate] = fields[..] else { panic!("{line}") };
        assert!((share - rate / 0.64).abs() < 0.06, "{line}");
    }
    let device =
        Device::from_toml(&std::fs::read_to_string(&file).expect("a description")).expect("it reads");
    assert_eq!((device.multiprocessors, device.capability), (132, (9, 0)));
    let report = std::fs::read_to_string(folder.join("report.md")).expect("a report");
    assert!(report.contains("```mermaid\nflowchart TD\n"), "{report}");
    for plot in ["copies", "branches", "sums", "waves"] {
        assert!(report.contains(&format!("({plot}.png)")), "{plot}");
        let drawn = std::fs::read(folder.join(format!("{plot}.png"))).expect("a plot");
        assert!(drawn.starts_with(b"\x89PNG"));
    }
    std::fs::remove_dir_all(&folder).expect("it was there");
}

#[test]
fn a_user_is_told_what_is_wrong() {
    let help = run(EXAMPLE, &["--help"]);
    for option in ["--json", "--description", "--report", "--from", "--device"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    let text = String::from_utf8_lossy(&start(EXAMPLE, &["--from", "no/such/file"]).stderr).into_owned();
    assert!(text.contains("no/such/file"), "{text}");
    // The simulator has no properties: there is no description of it.
    let output = start(EXAMPLE, &["--device", "simulator", "--description", "/tmp/never-written.toml"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("no row `property`"), "{text}");
}
