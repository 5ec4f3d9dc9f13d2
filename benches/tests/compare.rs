//! `compare.py` with programs that only print records: what it runs, computes, keeps and judges.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gpu_benches::report::Record;

/// `python3`, unless this machine has none: then the test says so and passes.
fn python() -> Option<Command> {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("SKIPPED: there is no python3");
    }
    found.then(|| Command::new("python3"))
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("compare.py")
}

/// A new folder of this test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn record(peer: &str, op: &str, n: u64, rows: Option<u64>, mode: &str, ms: f64) -> String {
    let rows = rows.map_or("null".to_owned(), |rows| rows.to_string());
    format!(
        r#"{{"suite":"gpu","peer":"{peer}","op":"{op}","type":"f32","n":{n},"rows":{rows},"cols":{rows},"mode":"{mode}","clock":"events","ms_median":{ms},"ms_min":{ms},"ms_mad":0.0,"samples":3,"launches":1,"inputs":2,"bytes":8,"gbs":1.0,"copy_fraction":null,"device":"Some GPU 9","driver":"13.0","commit":"{}","date":"2026-01-02T03:04:05Z"}}"#,
        if peer == "ours" { "abc" } else { "unknown" },
    )
}

/// A program that logs that it ran and writes these records to the file after `--json`.
fn program(folder: &Path, name: &str, records: &[String]) -> PathBuf {
    let lines = folder.join(format!("{name}.records"));
    fs::write(&lines, records.join("\n") + "\n").expect("a file");
    let path = folder.join(name);
    let text = format!(
        "#!/usr/bin/env bash\nset -eu\necho \"{name} $*\" >> '{log}'\n\
         while [ $# -gt 0 ]; do if [ \"$1\" = --json ]; then cp '{lines}' \"$2\"; fi; shift; done\n",
        log = folder.join("log").display(),
        lines = lines.display(),
    );
    fs::write(&path, text).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    path
}

fn compare(mut python: Command, folder: &Path, ours: &[String], peers: &[String], more: &[&str]) -> Output {
    python
        .arg(script())
        .arg("--ours")
        .arg(program(folder, "ours", ours))
        .arg("--peers")
        .arg(program(folder, "peers", peers))
        .arg("--out")
        .arg(folder.join("out.jsonl"))
        .args(more)
        .output()
        .expect("python3 starts")
}

/// The line of the output that starts with these words, a space or more between them.
fn line<'a>(text: &'a str, words: &str) -> Vec<&'a str> {
    let words: Vec<&str> = words.split(' ').collect();
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines
        .into_iter()
        .find(|line| line.starts_with(&words))
        .unwrap_or_else(|| panic!("no {words:?} in\n{text}"))
}

#[test]
fn it_runs_both_in_turn_and_judges_the_figures() {
    let Some(python) = python() else { return };
    let folder = folder("in_turn");
    let ours = [
        record("ours", "sum", 1 << 28, None, "batch", 0.250),
        record("ours", "sum", 1 << 20, None, "single", 0.005),
        record("ours", "transpose", 1 << 28, Some(16384), "single", 0.500),
        record("ours", "first_result", 1 << 20, None, "fresh_process", 59.0),
        record("ours", "copy", 1 << 20, None, "batch", 0.002),
    ];
    let peers = [
        record("cub", "sum", 1 << 28, None, "batch", 0.240),
        record("cub", "sum", 1 << 20, None, "single", 0.010),
        record("cublas", "transpose", 1 << 28, Some(16384), "single", 0.600),
        record("cuda", "empty", 0, None, "single", 0.003),
    ];
    let output = compare(python, &folder, &ours, &peers, &["--rounds", "2", "--filter", "x", "--all"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(4), "one figure is missed\n{text}");

    let log = fs::read_to_string(folder.join("log")).expect("the programs ran");
    let ran: Vec<&str> = log.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(ran, ["ours", "peers", "ours", "peers"]);
    assert!(log.lines().all(|line| line.contains("--filter x")), "{log}");

    // 0.240 / 0.250; 0.005 / 0.010; 0.600 / 0.500.
    assert_eq!(line(&text, "sum f32 2^28 batch ≥").last(), Some(&"MISS"), "{text}");
    assert!(line(&text, "sum f32 2^28 batch ≥").contains(&"0.960"), "{text}");
    assert_eq!(
        line(&text, "sum f32 2^20 single ≤")[4..],
        ["≤", "0.65", "×", "cub's", "time", "0.500", "PASS"]
    );
    assert_eq!(line(&text, "transpose f32 16384×16384 single ≥").last(), Some(&"PASS"), "{text}");
    assert_eq!(line(&text, "first_result f32 2^20").last(), Some(&"PASS"), "{text}");
    assert!(text.contains("Not measured: sum f32 2^28 single, sum f32 2^20 batch, "), "{text}");
    // 3 operations × 4 types × 4 lengths × 2 modes, an unordered sum, 7 scans, 7 of segments and columns, 22
    // transpositions, a first result, 2 sorts, 2 histograms, a compaction, 4 products of matrices, 5 of a matrix and
    // a vector, a sum of vectors, 6 filters of images, a resize.
    assert!(text.contains("4 of 156 figures measured, 1 missed"), "{text}");
    // The table of everything that both have.
    assert_eq!(
        line(&text, "sum f32 2^20 single cub"),
        ["sum", "f32", "2^20", "single", "cub", "5.00", "10.00", "2.000", "2.000–2.000", "–"]
    );
    assert!(!text.contains("empty") && !text.contains("copy"), "{text}");

    let kept = fs::read_to_string(folder.join("out.jsonl")).expect("it kept the records");
    let records: Vec<Record> =
        kept.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert_eq!(records.len(), 2 * (ours.len() + peers.len()));
    assert!(records.iter().all(|record| record.provenance.commit == "abc"), "the peers take our commit");
    assert!(kept.contains("\"round\": 2"), "{kept}");
}

#[test]
fn the_median_over_the_rounds_counts() {
    let Some(mut python) = python() else { return };
    let folder = folder("median");
    let with_round = |text: String, round: u32| text.replacen('{', &format!("{{\"round\":{round},"), 1);
    let mut records = Vec::new();
    for (round, ours, theirs) in [(1, 0.10, 0.10), (2, 0.10, 0.10), (3, 0.90, 0.05)] {
        records.push(with_round(record("ours", "sum", 1 << 28, None, "single", ours), round));
        records.push(with_round(record("cub", "sum", 1 << 28, None, "single", theirs), round));
    }
    let file = folder.join("kept.jsonl");
    fs::write(&file, records.join("\n")).expect("a file");
    let output = python.arg(script()).arg("--from").arg(&file).output().expect("python3 starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(
        line(&text, "sum f32 2^28 single cub")[5..],
        ["100.00", "100.00", "1.000", "0.056–1.000", "–"]
    );
}

#[test]
fn figures_of_bytes_and_of_the_copy_and_the_slowest_of_several() {
    let Some(mut python) = python() else { return };
    let folder = folder("bytes");
    let of = |op: &str, element: &str, n: u64, rows: Option<u64>, ms: f64, bytes: u64, copy: f64| {
        record("ours", op, n, rows, "batch", ms)
            .replace("\"type\":\"f32\"", &format!("\"type\":\"{element}\""))
            .replace("\"bytes\":8", &format!("\"bytes\":{bytes}"))
            .replace("\"copy_fraction\":null", &format!("\"copy_fraction\":{copy}"))
    };
    let records = [
        of("segments_2^3", "f32", 1 << 26, None, 0.1, 300_000_000, 0.9),
        of("columns", "f32", 1 << 28, Some(16384), 0.5, 1_500_000_000, 0.7),
        of("permute", "u8", 1 << 28, Some(16384), 0.1, 1, 0.86),
        of("permute_0123", "u16", 1 << 32, None, 0.1, 1, 0.99),
        of("permute_3210", "u16", 1 << 32, None, 0.1, 1, 0.79),
        of("permute_0213", "u16", 1 << 32, None, 0.1, 1, 0.90),
    ];
    let file = folder.join("kept.jsonl");
    fs::write(&file, records.join("\n")).expect("a file");
    let output = python.arg(script()).arg("--from").arg(&file).output().expect("python3 starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(4), "{text}");
    // 3 · 10^8 bytes in 0.1 ms; 1.5 · 10^9 in 0.5 ms.
    assert_eq!(line(&text, "segments_2^3 batch")[2..], ["≥", "2500", "GB/s", "3000", "PASS"]);
    assert_eq!(line(&text, "columns f32 16384×16384 batch")[4..], ["≥", "3500", "GB/s", "3000", "MISS"]);
    assert_eq!(
        line(&text, "permute u8 16384×16384 batch")[4..],
        ["≥", "0.85", "of", "the", "copy", "0.860", "PASS"]
    );
    assert_eq!(
        line(&text, "permute u16 2^32 batch")[4..],
        ["≥", "0.80", "of", "the", "copy", "0.790", "MISS"]
    );
    assert!(text.contains("4 of 156 figures measured, 2 missed"), "{text}");
}

#[test]
fn products_have_operations() {
    let Some(mut python) = python() else { return };
    let folder = folder("products");
    // 2 · 4096³ operations in 2.5 ms are 54.98 · 10^12 a second; 2 · 4096² in 0.02 ms 1.68 · 10^12.
    let records = [
        record("ours", "gemm", 1 << 24, Some(4096), "batch", 2.5),
        record("cublas", "gemm", 1 << 24, Some(4096), "batch", 2.0),
        record("ours", "gemv", 1 << 24, Some(4096), "batch", 0.02),
        record("cublas", "gemv", 1 << 24, Some(4096), "batch", 0.03),
    ]
    .map(|record| record.replacen('{', "{\"round\":1,", 1));
    let file = folder.join("kept.jsonl");
    fs::write(&file, records.join("\n")).expect("a file");
    let output = python.arg(script()).arg("--from").arg(&file).output().expect("python3 starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert_eq!(line(&text, "gemm f32 4096×4096 batch cublas").last(), Some(&"54.98"), "{text}");
    assert_eq!(line(&text, "gemv f32 4096×4096 batch cublas").last(), Some(&"1.68"), "{text}");
    assert_eq!(line(&text, "gemm f32 4096×4096 batch ≥")[9..], ["0.800", "MISS"], "{text}");
    assert_eq!(line(&text, "gemv f32 4096×4096 batch ≥")[9..], ["1.500", "PASS"], "{text}");
}

#[test]
fn a_program_that_fails_and_nothing_to_compare_are_errors() {
    let Some(python) = python() else { return };
    let folder = folder("failures");
    let ours = [record("ours", "sum", 8, None, "single", 1.0)];
    let alone = compare(python, &folder, &ours, &[record("cuda", "empty", 0, None, "single", 1.0)], &[]);
    assert_eq!(alone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&alone.stderr).contains("no result of ours has a peer's beside it"));

    let failed = Command::new("python3")
        .arg(script())
        .args(["--ours", "false", "--peers", "false", "--out"])
        .arg(folder.join("none.jsonl"))
        .output()
        .expect("python3 starts");
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("ended with 1"));
    assert!(!folder.join("none.jsonl").exists());
}

/// A vendor's result that is wrong, say: what else was measured is not lost.
#[test]
fn what_a_program_measured_before_it_failed_is_kept() {
    let Some(mut python) = python() else { return };
    let folder = folder("kept");
    let ours = program(&folder, "ours", &[record("ours", "sum", 8, None, "single", 1.0)]);
    let peers = program(&folder, "peers", &[record("cub", "sum", 8, None, "single", 2.0)]);
    let text = fs::read_to_string(&peers).expect("the program");
    fs::write(&peers, text + "exit 3\n").expect("a file");
    let out = folder.join("kept.jsonl");
    let python =
        python.arg(script()).arg("--ours").arg(ours).arg("--peers").arg(peers).arg("--out").arg(&out);
    let output = python.args(["--rounds", "2"]).output().expect("python3 starts");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("ended with 3") && !errors.contains("round 2"), "{errors}");
    assert_eq!(fs::read_to_string(out).expect("the records").lines().count(), 2);
    assert!(line(&text, "sum f32 2^3 single cub").contains(&"2.000"), "{text}");
}
