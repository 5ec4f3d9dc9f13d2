//! Runs `blur_variants` as a user does.

mod support;

use support::{json, run, start};

const EXAMPLE: &str = "blur_variants";

#[test]
fn a_line_for_each_variant_and_mask_and_for_each_launch_of_sobel() {
    let lines = json(EXAMPLE, &["--json", "--device", "simulator", "--size", "40"]);
    let (blurs, launches) = lines.split_at(8);
    for line in blurs {
        assert!(line["microseconds"].as_f64().expect("a time") > 0.0, "{line}");
        assert!(line["report_microseconds"].as_f64().expect("a time") > 100.0, "{line}");
        let shared = line["shared_load_transactions"].as_u64().expect("a count");
        assert_eq!(shared == 0, line["variant"] == "global", "{line}");
    }
    // Weights in the constant bank are no loads: those of the tile are left.
    let loads = |at: usize| blurs[at]["gld_transactions"].as_u64().expect("a count");
    assert!(loads(3) < loads(1) && loads(1) == loads(2) && loads(1) < loads(0));
    assert_eq!(launches.len(), 3);
    for launch in launches {
        assert_eq!(launch["divergent_branch"], 543, "{launch}");
        assert!(!launch["report_divergent_branch"].is_null(), "{launch}");
    }
}

#[test]
fn one_variant_a_table_and_a_chart() {
    let file = std::env::temp_dir().join(format!("blur-variants-{}.png", std::process::id()));
    let path = file.to_str().expect("a path of letters");
    let text =
        run(EXAMPLE, &["--device", "simulator", "--size", "33", "--variant", "constant", "--plot", path]);
    assert!(text.contains("\nconstant ") && text.contains("5941") && !text.contains("\nshared "), "{text}");
    let drawn = std::fs::read(&file).expect("it was drawn");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(drawn.starts_with(b"\x89PNG"), "{} bytes", drawn.len());
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    for option in ["--json", "--plot", "--device", "--size", "--variant"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    assert!(!start(EXAMPLE, &["--variant", "fast"]).status.success());
}
