//! Runs `gemm_ladder` as a user does.

mod support;

use support::{json, run, start};

const EXAMPLE: &str = "gemm_ladder";
const STEPS: [&str; 14] = [
    "naive",
    "shared",
    "registers",
    "gemm",
    "mma",
    "cp.async",
    "wgmma",
    "TMA",
    "producer warp",
    "persistent",
    "clusters",
    "thin tiles",
    "copied first",
    "gemm_tensor",
];

#[test]
fn every_step_has_a_line_for_every_size() {
    let lines = json(EXAMPLE, &["--json", "--device", "simulator", "--size", "16,40"]);
    let steps: Vec<_> = lines.iter().map(|line| line["step"].as_str().unwrap()).collect();
    assert_eq!(steps, STEPS.repeat(2));
    for line in &lines {
        let n = line["n"].as_f64().unwrap();
        let (ms, rate) = (line["ms"].as_f64().unwrap(), line["teraflops"].as_f64().unwrap());
        assert!(ms > 0.0 && (rate * ms * 1e9 / (2.0 * n * n * n) - 1.0).abs() < 1e-9, "{line}");
        let is_tensor = STEPS[4..].contains(&line["step"].as_str().unwrap());
        assert_eq!(line["type"], if is_tensor { "bf16" } else { "f32" }, "{line}");
    }
}

/// Lines that are not aligned are nothing that the copy engine takes: it is said, and the others run.
#[test]
fn a_step_that_does_not_take_the_matrices_is_left_out() {
    let output = start(EXAMPLE, &["--json", "--device", "simulator", "--size", "13"]);
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("producer warp, n = 13, is left out") && told.contains("16 bytes"), "{told}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(text.lines().count(), STEPS.len() - 6, "{text}");
}

#[test]
fn on_the_cpu_a_table_and_a_chart() {
    let file = std::env::temp_dir().join(format!("gemm-ladder-{}.png", std::process::id()));
    let path = file.to_str().expect("a path of letters");
    let text = run(EXAMPLE, &["--device", "cpu", "--size", "16,33", "--plot", path]);
    assert!(text.contains("\ngemm_tensor ") && text.contains("TFLOP/s") && !text.contains("naive"), "{text}");
    let drawn = std::fs::read(&file).expect("it was drawn");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(drawn.starts_with(b"\x89PNG"), "{} bytes", drawn.len());
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    for option in ["--json", "--plot", "--device", "--model", "--size", "--only"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    let only =
        json(EXAMPLE, &["--json", "--device", "simulator", "--size", "16", "--only", "shared,gemm_tensor"]);
    let steps: Vec<_> = only.iter().map(|line| line["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["shared", "gemm_tensor"]);
    let wrong = start(EXAMPLE, &["--only", "fast"]);
    assert!(
        !wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("persistent"),
        "{wrong:?}"
    );
}
