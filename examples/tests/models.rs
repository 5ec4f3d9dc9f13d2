//! `--model` of the variants' examples: predicted times where there is no GPU, of an H200 if nothing is asked for.

mod support;

use support::{json, run, start};

#[track_caller]
fn predicted(example: &'static str, arguments: &[&str], count: usize) {
    let all: Vec<&str> = ["--json", "--device", "simulator", "--model", "h200"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    let lines = json(example, &all);
    assert_eq!(lines.len(), count, "{lines:?}");
    for line in &lines {
        assert!(line["predicted_microseconds"].as_f64().is_some_and(|time| time > 1.0), "{line}");
        assert!(line["measured_microseconds"].is_null() && line["model"] == "H200 SXM", "{line}");
    }
}

#[test]
fn all_examples_of_variants_predict() {
    predicted("transpose_variants", &["--size", "1024,4096", "--variant", "naive_32"], 2);
    predicted("reduction_variants", &["--len", "1000000", "--variant", "fast"], 1);
    predicted("scan_variants", &["-n", "5", "--variant", "recursive"], 1);
    predicted("blur_variants", &["--size", "1024", "--variant", "global"], 2);
    predicted(
        "matvec_variants",
        &["--rows", "500", "--columns", "100", "--threads", "64", "--type", "f32"],
        7,
    );
    predicted("convolution_memories", &["--test", "1"], 4);
    predicted("gemm_ladder", &["--size", "256,1024"], 6);
    let small = ["--rows", "32", "--side", "16", "--band-rows", "32", "--shares", "1"];
    // Of eight versions two run on the host; where no block beside the diagonal is there, four.
    predicted("cholesky", &small, 10);
}

/// Without a GPU and without `--model` times are those of an H200 too, and none is the simulator's.
#[test]
fn without_a_gpu_times_are_predicted() {
    if gpu_core::Device::cuda(0).is_ok() || std::env::var_os("GPU_DEVICE").is_some() {
        return;
    }
    let small = ["--rows", "32", "--side", "16", "--band-rows", "32", "--shares", "1", "--only", "potrf"];
    let examples: [(&str, &[&str], usize); 8] = [
        ("transpose_variants", &["--size", "1024", "--variant", "naive_32"], 1),
        ("reduction_variants", &["--len", "1000000", "--variant", "fast"], 1),
        ("scan_variants", &["--n", "5", "--variant", "recursive"], 1),
        ("blur_variants", &["--size", "1024", "--variant", "global"], 2),
        ("matvec_variants", &["--rows", "500", "--columns", "100", "--threads", "192", "--type", "f32"], 4),
        ("convolution_memories", &["--test", "1"], 4),
        ("gemm_ladder", &["--size", "256", "--only", "naive"], 1),
        ("cholesky", &small, 2),
    ];
    for (example, arguments, count) in examples {
        let output = start(example, &[&["--json"], arguments].concat());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && told.contains("times are predicted, for an H200"),
            "{example}: {told}"
        );
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let all = text.lines().filter(|line| line.contains("\"model\":\"H200 SXM\""));
        assert_eq!((all.count(), text.lines().count()), (count, count), "{example}: {text}");
    }
}

#[test]
fn a_table_says_what_it_is_bound_by() {
    let text =
        run("transpose_variants", &["--device", "simulator", "--model", "h200", "--variant", "naive_32"]);
    assert!(text.contains("H200 SXM") && text.contains("stores to L2"), "{text}");
}

/// Stores of lines bound it on both, and an H100's second-level cache takes fewer of them in a second.
#[test]
fn each_device_has_times_of_its_own() {
    let [h200, h100] = ["h200", "h100"].map(|name| {
        let asked = ["--json", "--device", "simulator", "--model", name, "--variant", "naive_32"];
        let lines = json("transpose_variants", &asked);
        lines[0]["predicted_microseconds"].as_f64().expect("a time")
    });
    assert!(h100 > 1.05 * h200, "{h100} {h200}");
}

#[test]
fn a_device_that_was_not_measured_is_refused() {
    for (name, told) in [("c2075", "no `waves`"), ("nothing", "there is no device `nothing`")] {
        let output = start("transpose_variants", &["--model", name]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(told), "{text}");
    }
}
