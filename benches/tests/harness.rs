//! The harness as a user starts it, on machines without a GPU.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use gpu_benches::report::Record;

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench-gpu")).args(arguments).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Runs everything on `device`; the table and the records.
fn run(device: &str) -> (String, Vec<Record>) {
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{device}.jsonl"));
    let path = json.to_str().expect("UTF-8");
    let output = bench(&["--device", device, "--json", path, "--commit", "c0ffee"]);
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains("No GPU") && errors.contains("0 cases skipped, 0 failed"), "{errors}");
    let lines = fs::read_to_string(json).expect("it wrote the records");
    let records = lines.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    (text(&output.stdout), records)
}

fn check(device: &str) {
    let (table, records) = run(device);
    for (op, n, mode) in [
        ("sum", 1 << 10, "single_wall"),
        ("sum", 1 << 16, "batch"),
        ("transpose", 61 * 67, "batch"),
        ("copy", 61 * 67, "single_wall"),
        ("copy", 1 << 15, "batch"),
        ("context", 0, "fresh_process"),
        ("first_result", 1 << 10, "fresh_process_cached"),
    ] {
        let found = records
            .iter()
            .filter(|r| r.subject.op == op && r.subject.element == "f32" && r.subject.n == n)
            .filter(|r| r.mode.name() == mode)
            .collect::<Vec<_>>();
        assert_eq!(found.len(), 1, "{op} {n} {mode}");
        let Record { ms_median, ms_min, copy_fraction, provenance, .. } = found[0];
        assert!(ms_min <= ms_median && *ms_median >= 0.0, "{op} {n} {mode}");
        assert_eq!(provenance.commit, "c0ffee");
        assert_eq!(copy_fraction.is_none(), op == "context" || op == "first_result", "{op} {n} {mode}");
    }
    assert_eq!(table.lines().count(), records.len() + 2, "a header, a rule and a row a record\n{table}");
}

#[test]
fn it_runs_on_the_cpu() {
    check("cpu");
}

#[test]
fn it_runs_in_the_simulator() {
    check("simulator");
}

#[test]
fn without_a_gpu_it_says_so_and_ends_with_3() {
    // No device is visible, whether or not there is a driver.
    let output = Command::new(env!("CARGO_BIN_EXE_bench-gpu"))
        .env("CUDA_VISIBLE_DEVICES", "-1")
        .output()
        .expect("it starts");
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("no GPU") && errors.contains("--device simulator"), "{errors}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_list_a_filter_and_wrong_arguments() {
    let list = bench(&["--list", "--filter", "16381"]);
    let names = ["transpose/f32", "permute/u8", "permute/u16", "permute/f64"]
        .map(|name| name.to_owned() + "/16381x16363\n");
    assert_eq!(text(&list.stdout), names.concat());
    let long = text(&bench(&["--list", "--filter", "256x256x256x256"]).stdout);
    assert_eq!(long.lines().filter(|line| line.ends_with("(only with --filter)")).count(), 24, "{long}");
    let none = bench(&["--filter", "nonesuch", "--device", "cpu"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("no case contains `nonesuch`"));
    assert_eq!(bench(&["--device", "abacus"]).status.code(), Some(2));
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let output = bench(&["--device", "cpu", "--filter", "sum", "--json", "/nonexistent/folder/out.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("/nonexistent/folder/out.jsonl"));
}
