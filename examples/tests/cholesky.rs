//! Runs `cholesky` as a user does.

mod support;

use support::{json, run, start};

const EXAMPLE: &str = "cholesky";
/// The textbook's versions, and the fast ones.
const VERSIONS: [&str; 8] =
    ["sequential", "blocked", "tiles", "blocks", "structured", "own kernels", "skyline", "potrf"];

#[test]
fn every_version_has_a_line_for_every_matrix() {
    let sizes = ["--rows", "16,32", "--side", "4", "--band-rows", "24", "--shares", "0.5,1"];
    let lines = json(EXAMPLE, &[&["--json", "--device", "simulator", "--type", "f32"], &sizes[..]].concat());
    let versions: Vec<_> = lines.iter().map(|line| line["variant"].as_str().unwrap()).collect();
    assert_eq!(versions, VERSIONS.repeat(4));
    for line in &lines {
        let of = |key: &str| line[key].as_f64().expect(key);
        assert!(of("total_ms") > 0.0 && (0.0..=1.0).contains(&of("error")), "{line}");
        assert_eq!(line["kernel_ms"].is_null(), !line["syrk"].is_null(), "{line}");
        assert!(of("work") > 0.0 && of("work") <= 1.0, "{line}");
    }
    // 8 blocks: the first column of table 9.1.
    let table = |line: &&serde_json::Value| line["rows"] == 32 && line["variant"] == "own kernels";
    let own = lines.iter().find(table).expect("it was run");
    assert_eq!(
        [&own["syrk"], &own["gemm"], &own["trsm"], &own["potrf"]].map(|n| n.as_u64().unwrap()),
        [16, 17, 16, 8]
    );
    let shares: Vec<f64> =
        lines.iter().rev().step_by(8).map(|line| line["share"].as_f64().unwrap()).collect();
    assert_eq!(shares[0], 1.0);
    assert!(shares[1] >= 0.5 && shares[1] < 0.8, "{shares:?}");
}

#[test]
fn the_upper_triangle_on_the_cpu_a_table_and_a_chart() {
    let file = std::env::temp_dir().join(format!("cholesky-{}.png", std::process::id()));
    let path = file.to_str().expect("a path of letters");
    let text = run(EXAMPLE, &["--device", "cpu", "--quick", "--upper", "--plot", path]);
    assert!(text.contains("\nstructured ") && text.contains("GFLOP/s"), "{text}");
    let drawn = std::fs::read(&file).expect("it was drawn");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(drawn.starts_with(b"\x89PNG"), "{} bytes", drawn.len());
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    let options = [
        "--json",
        "--plot",
        "--device",
        "--rows",
        "--shares",
        "--band-rows",
        "--side",
        "--type",
        "--upper",
        "--quick",
    ];
    for option in options {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    let only = json(EXAMPLE, &["--json", "--device", "cpu", "--quick", "--only", "tiles,own kernels"]);
    let versions: Vec<_> = only.iter().map(|line| line["variant"].as_str().unwrap()).collect();
    assert_eq!(versions, ["tiles", "own kernels"].repeat(4));
    assert!(!start(EXAMPLE, &["--only", "fast"]).status.success());
    let wrong = start(EXAMPLE, &["--device", "cpu", "--quick", "--shares", "1.5"]);
    assert!(!wrong.status.success());
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("1.5"), "{wrong:?}");
}
