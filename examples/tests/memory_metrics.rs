//! Runs `memory_metrics` as a user does, and holds its figures against the literature's.

mod support;

use std::collections::BTreeMap;

use serde_json::Value;

fn run(arguments: &[&str]) -> String {
    support::run("memory_metrics", arguments)
}

fn json(arguments: &[&str]) -> Vec<Value> {
    support::json("memory_metrics", arguments)
}

/// nvprof's figures on a Tesla P100, from a course on GPU memory (22.50 is printed there for the 16 × 16 tile; 2 of 9
/// passes are 22.22).
#[test]
fn efficiencies_are_those_of_the_literature() {
    let expected = [
        ("naive", 32, 100.0, 12.5, 0.0),
        ("shared", 16, 100.0, 100.0, 22.2),
        ("shared", 32, 100.0, 100.0, 6.06),
        ("shared_padded", 16, 100.0, 100.0, 50.0),
        ("shared_padded", 32, 100.0, 100.0, 100.0),
    ];
    for device in ["p100", "h200"] {
        let lines = json(&["--json", "--size", "256", "--device", device]);
        assert_eq!(lines.len(), expected.len());
        for (line, (variant, block, gld, gst, shared)) in lines.iter().zip(expected) {
            assert_eq!((line["variant"].as_str(), line["block"].as_u64()), (Some(variant), Some(block)));
            for (name, expected) in
                [("gld_efficiency", gld), ("gst_efficiency", gst), ("shared_efficiency", shared)]
            {
                let actual = line[name].as_f64().expect(name);
                assert!(
                    (actual - expected).abs() < 0.3,
                    "{variant} {block}: {name} {actual}, expected {expected}"
                );
            }
        }
    }
}

/// What a program that reads the lines relies on.
#[test]
fn a_line_begins_with_variant_block_and_efficiencies() {
    let text = run(&["--json", "--size", "64"]);
    let last = text.lines().last().expect("five lines");
    assert!(
        last.starts_with(
            r#"{"variant":"shared_padded","block":32,"gld_efficiency":100.0,"gst_efficiency":100.0,"shared_efficiency":100.0,"#
        ),
        "{last}"
    );
}

#[test]
fn all_variants_have_a_line_and_conflicts_are_alike_on_both_sides() {
    let lines = json(&["--json", "--all", "--size", "128"]);
    let efficiency: BTreeMap<String, [f64; 3]> = lines
        .iter()
        .map(|line| {
            let key = format!("{}_{}", line["variant"].as_str().unwrap(), line["block"]);
            let of = |name: &str| line[name].as_f64().unwrap();
            (key, [of("gld_efficiency"), of("gst_efficiency"), of("shared_efficiency")])
        })
        .collect();
    assert_eq!(efficiency.len(), 11);
    assert_eq!(efficiency["naive_gather_32"], [12.5, 100.0, 0.0]);
    assert_eq!(efficiency["shared_stores_16"], efficiency["shared_16"]);
    assert_eq!(efficiency["shared_stores_32"], efficiency["shared_32"]);
    assert_eq!(efficiency["patch_32"], [25.0, 12.5, 0.0]);
    assert_eq!(efficiency["fast_64"], [100.0, 100.0, 100.0]);
}

#[test]
fn padding_moves_each_row_by_a_bank() {
    let lines = json(&["--banks", "--json"]);
    assert_eq!(lines.len(), 64);
    for line in lines {
        let padded = u64::from(line["tile"] == "32x33");
        let row = line["row"].as_u64().unwrap();
        let banks: Vec<u64> =
            line["banks"].as_array().unwrap().iter().map(|bank| bank.as_u64().unwrap()).collect();
        assert_eq!(banks.len() as u64, 32 + padded);
        assert!(
            banks.iter().zip(0..).all(|(&bank, column)| bank == (column + padded * row) % 32),
            "row {row}"
        );
    }
}

#[test]
fn patterns_move_whole_sectors() {
    let moved: BTreeMap<String, (u64, u64)> = json(&["--patterns", "--json"])
        .iter()
        .map(|line| {
            let of = |name: &str| line[name].as_u64().unwrap();
            (line["pattern"].as_str().unwrap().to_owned(), (of("bytes_requested"), of("bytes_moved")))
        })
        .collect();
    assert_eq!(moved["aligned"], (128, 128));
    assert_eq!(moved["reversed"], (128, 128));
    assert_eq!(moved["offset by 4 bytes"], (128, 160));
    assert_eq!(moved["offset by 32 bytes"], (128, 128));
    assert_eq!(moved["stride 2"], (128, 256));
    assert_eq!(moved["stride 8"], (128, 1024));
    assert_eq!(moved["scattered"], (128, 1024));
    assert_eq!(moved["one word for all"], (128, 32));
}

#[test]
fn the_kernel_that_spills_and_its_split() {
    let lines = json(&["--registers", "--json", "--size", "256"]);
    let [whole, half] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(whole["spill_stores"].as_u64() > Some(0) && whole["local_bytes"].as_u64() > Some(0), "{whole}");
    assert_eq!((half["spill_stores"].as_u64(), half["local_bytes"].as_u64()), (Some(0), Some(0)));
    assert_eq!((whole["launches"].as_u64(), half["launches"].as_u64()), (Some(1), Some(2)));
    assert_eq!(whole["global_bytes_requested"], half["global_bytes_requested"]);
}

/// By hand, for 64 × 64 words: 512 sectors each way if both are rows.
#[test]
fn counts_are_what_a_profiler_would_see() {
    let text = run(&["--counts", "--size", "64"]);
    for line in [
        "naive_32,512,4096,0,0",
        "naive_gather_32,4096,512,0,0",
        "shared_16,512,512,1024,128",
        "shared_32,512,512,4096,128",
        "shared_stores_32,512,512,128,4096",
        "shared_padded_16,512,512,256,256",
        "shared_padded_32,512,512,128,128",
        "fast,512,512,128,128",
    ] {
        assert!(text.lines().any(|actual| actual == line), "no `{line}` in\n{text}");
    }
}
