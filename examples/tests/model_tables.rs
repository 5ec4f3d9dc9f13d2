//! Runs `model_tables` as a user does.

mod support;

use support::{json, run, start};

const EXAMPLE: &str = "model_tables";

#[test]
fn a_line_for_each_cell() {
    let lines = json(EXAMPLE, &["--json"]);
    assert_eq!(lines.len(), 592);
    for line in &lines {
        for text in ["table", "row", "model", "unit"] {
            assert!(line[text].is_string(), "{line}");
        }
        assert!(line["printed"].is_number() && line["computed"].is_number(), "{line}");
    }
    let one = lines
        .iter()
        .find(|line| line["table"] == "B.1" && line["row"] == "4194304" && line["model"] == "mukherjee_sum");
    let one = one.expect("table B.1 has it");
    assert_eq!((&one["printed"], &one["unit"]), (&44.108577.into(), &"ms".into()));
    // 32768 blocks of 1548 cycles at 1.15 GHz.
    assert_eq!(one["computed"], 32768.0 * 1548.0 / 1.15e9 * 1e3);
}

#[test]
fn some_tables_and_those_that_do_not_agree() {
    let text = run(EXAMPLE, &["--table", "B.7,9.2", "--model", "gonzalez"]);
    assert!(text.contains("\nrows: C_sum ") && !text.contains("hong_kim"), "{text}");
    let off = json(EXAMPLE, &["--json", "--exceptions"]);
    assert!(off.iter().any(|line| line["table"] == "B.11" && line["row"] == "100"), "{off:?}");
    assert!(off.iter().all(|line| line["table"] != "B.1"), "{off:?}");
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    for option in ["--json", "--table", "--model", "--exceptions"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    for (option, value, told) in [("--table", "B.99", "B.18"), ("--model", "bsp", "hong_kim")] {
        let output = start(EXAMPLE, &[option, value]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(told), "{errors}");
    }
}
