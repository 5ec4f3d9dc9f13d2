//! Runs `performance_model` as a user does, in this process: it is built once, and what one test has counted the others
//! need not count again. So tests wait for each other, and a prediction has the processors for itself.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use clap::Parser;
use serde_json::Value;

use super::counter::Counter;
use super::{Options, Output, coverage, recorded};

/// What was counted already.
static COUNTERS: Mutex<Vec<Counter>> = Mutex::new(Vec::new());

/// How a run ended.
#[derive(Debug)]
struct Run {
    /// Whether it ended well, or with what error.
    result: Result<(), String>,
    lines: String,
    notes: String,
}

/// Runs it with these arguments.
fn start(arguments: &[&str]) -> Run {
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let all = ["performance_model"].iter().chain(arguments);
    let result = match Options::try_parse_from(all) {
        Ok(options) => with_counters(|counters| {
            let mut to = Output { lines: &mut lines, notes: &mut notes };
            super::run(&options, counters, &mut to).map_err(|error| error.to_string())
        }),
        Err(error) => Err(error.to_string()),
    };
    let [lines, notes] = [lines, notes].map(|text| String::from_utf8(text).expect("text"));
    Run { result, lines, notes }
}

/// Does something with what was counted already, alone.
pub fn with_counters<T>(of: impl FnOnce(&mut Vec<Counter>) -> T) -> T {
    of(&mut COUNTERS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What it prints; it has to end well.
#[track_caller]
fn run(arguments: &[&str]) -> String {
    let Run { result, lines, .. } = start(arguments);
    assert_eq!(result, Ok(()), "{arguments:?}");
    lines
}

/// The lines of JSON that it prints.
#[track_caller]
fn json(arguments: &[&str]) -> Vec<Value> {
    run(arguments).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn a_line_for_each_row_and_one_of_the_errors() {
    let kernels = "transpose/naive_32,transpose/shared_padded_32,sum_of/f32";
    let lines = json(&["--json", "--kernel", kernels]);
    let (errors, rows) = lines.split_last().expect("there are lines");
    // Three sizes of each transposition, five of the sum; and one and two that were timed later.
    let found = ["rows", "held_out_rows", "later_rows"].map(|field| errors[field].as_u64());
    assert_eq!((rows.len(), found), (15, [Some(6), Some(5), Some(4)]));
    for row in rows {
        let is_sum = row["kernel"] == "sum_of/f32";
        assert_eq!(row["held_out"], is_sum || row["size"] == 2048, "{row}");
        // 1024 × 1024 floats, read and written, are 8 MiB, and 2048 × 2048 are 32: less than the second-level cache; so
        // are 2^20 that are added up. Five sums were of inputs in turn.
        let sizes: &[u64] = if is_sum { &[1 << 20] } else { &[1024, 2048] };
        let small = row["size"].as_u64().is_some_and(|size| sizes.contains(&size));
        assert_eq!(row["cached"], row["repeated"] == true && small, "{row}");
        let off = row["predicted_microseconds"].as_f64().expect("a time")
            / row["measured_microseconds"].as_f64().expect("a time");
        assert!((100.0 * (off - 1.0) - row["error"].as_f64().expect("a number")).abs() < 1e-9, "{row}");
        let literature = row["literature"].as_object().expect("models");
        assert_eq!(literature.len(), 7);
        assert!(literature.values().all(|time| time.as_f64().is_some_and(|time| time > 0.0)), "{row}");
    }
    // The naive one is slower at each size, and the padded one is found to be the fastest.
    assert_eq!((&errors["pairs"], &errors["right"]), (&4.into(), &4.into()));
    assert_eq!((&errors["sizes"], &errors["fastest"]), (&4.into(), &4.into()));
}

/// Processor time that a prediction may take, in seconds. Most of it are two simulations on two cores, of which the
/// larger one is at most four fifths: where all of it takes two and a half seconds, the larger one, and with it the
/// prediction, takes two. Processor time, as the clock's depends on what else runs. Without optimization kernels take
/// several times as long.
const PROCESSOR_SECONDS: f64 = if cfg!(debug_assertions) { 12.0 } else { 2.5 };

/// So many-th kernels are predicted, and shapes of the table of tiles: all of them in a release. Without optimization,
/// as in every run of the tests, a part is enough to see that nothing has come apart.
const EVERY: [&str; 2] = if cfg!(debug_assertions) { ["6", "4"] } else { ["1", "1"] };

/// What is asked of the model: 15 % in the median, 35 % in the 90th percentile, 9 of 10 winners, of all rows that there
/// were when it was finished, and a prediction within two seconds. On the H100 too; its counts are the H200's. Variants
/// timed later, on both, are harder: some of one block wait in each turn of a loop. In a release families with programs
/// of their own count too: of all rows that are held out, and none is left out. That takes minutes, by hand:
/// `cargo test --release -p gpu-benches --example performance_model as_good_as -- --nocapture`.
#[test]
fn the_model_is_as_good_as_it_has_to_be() {
    let [every, _] = EVERY;
    let mut arguments = vec!["--json", "--measured", "--every", every, "--device", "h200,h100"];
    // Without optimization they take minutes.
    let shapes = if cfg!(debug_assertions) { Some("--no-shapes") } else { None };
    arguments.extend(shapes);
    let Run { result, lines, notes } = start(&arguments);
    assert!(result.is_ok() && !notes.contains("not predicted"), "{result:?}: {notes}");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let part = 1.0 / every.parse::<f64>().expect("a number");
    let all: Vec<_> = lines.iter().filter(|line| line["median"].is_number()).collect();
    assert_eq!(all.len(), 2, "{all:?}");
    for (errors, (device, rows)) in all.into_iter().zip([("H200 SXM", 290.0), ("H100 SXM", 220.0)]) {
        let number = |field: &str| errors[field].as_f64().unwrap_or_else(|| panic!("{field} in {errors}"));
        assert_eq!((&errors["device"], &errors["not_measured"]), (&device.into(), &0.into()));
        // Kernels have as many rows as they have sizes.
        assert!(number("rows") + number("held_out_rows") > 0.7 * part * rows, "{errors}");
        assert!(number("median") <= 15.0 && number("held_out_median") <= 15.0, "{errors}");
        assert!(number("right") >= 0.9 * number("pairs") && number("pairs") > 0.0, "{errors}");
        assert!(number("later_rows") > 0.7 * part * 90.0 && number("later_median") <= 20.0, "{errors}");
        if part < 1.0 {
            continue;
        }
        // Of a part the 90th percentile is one of the three worst rows.
        assert!(number("ninetieth") <= 35.0 && number("held_out_ninetieth") <= 35.0, "{errors}");
        // Every family of variants, and in all of them together 9 of 10 winners.
        assert!(number("pairs") > 100.0, "{errors}");
        assert!(number("judged_median") <= 15.0 && number("judged_ninetieth") <= 35.0, "{errors}");
        assert!(number("judged_rows") > 350.0, "{errors}");
        // What came last is off by more: gpu-model's README says why.
        assert!(number("last_rows") > 120.0 && number("last_median") <= 20.0, "{errors}");
        assert!(number("last_ninetieth") <= 42.0, "{errors}");
        assert!(number("all_median") <= 15.0 && number("all_ninetieth") <= 35.0, "{errors}");
        println!("{errors}");
        let families = ["batches by starts", "factors of bands", "orders of sparse rows", "sparse systems"];
        let others = ["triangular systems", "sparse analyses", "drawn sparse analyses"];
        for family in families.into_iter().chain(others) {
            let found = &errors["shapes"][family][0];
            // Bands were timed on an H100 before their kernels changed.
            let is_left_out = device == "H100 SXM" && family == "factors of bands";
            assert!(found.as_u64().is_some_and(|rows| rows >= 3) || is_left_out, "{family}: {errors}");
        }
        let families = errors["families"].as_object().expect("families");
        for family in
            ["transpose", "sum", "scan", "gemv of f32", "gemv of f64", "product", "blur of radius 2"]
        {
            assert!(families[family][0].as_u64().is_some_and(|pairs| pairs >= 3), "{family}: {errors}");
        }
    }
    for line in lines.iter().filter(|line| line["kernel"].is_string()) {
        let seconds = line["prediction_cpu_seconds"].as_f64();
        assert!(seconds.is_some() || !cfg!(target_os = "linux"), "{line}");
        assert!(seconds.is_none_or(|seconds| seconds <= PROCESSOR_SECONDS), "{line}");
    }
}

/// Which kernel of `gemm` to take: of an H100's times the model's choice is within 15 % of the fastest in the geometric
/// mean, and at least twice as near to it as any kernel would be.
#[test]
fn tiles_are_chosen_without_a_device() {
    let [_, every] = EVERY;
    let lines = json(&["--json", "--tiles", "--every", every, "--device", "h100"]);
    let [table] = &lines[..] else { panic!("{lines:?}") };
    let number = |field: &str| table[field].as_f64().unwrap_or_else(|| panic!("{field} in {table}"));
    let rows = table["tiles"].as_array().expect("rows");
    let all = 16 / every.parse::<usize>().expect("a number");
    assert_eq!((rows.len(), number("shapes")), (all, all as f64));
    assert!(number("model_loss") >= 0.0 && number("model_loss") <= 15.0, "{table}");
    assert!(number("model_loss") <= number("random_loss") / 2.0, "{table}");
    for row in rows {
        assert!(
            row["model"].is_string() && row["fastest"].is_string() && row["plan_loss"].is_number(),
            "{row}"
        );
        assert!(row["predicted_microseconds"].as_f64().is_some_and(|time| time > 0.0), "{row}");
    }
}

/// Steps of `f64` on a plane have no row of an H200: they are predicted, and it is said that there is nothing to
/// compare with.
#[test]
fn what_was_not_measured_is_predicted() {
    let lines = json(&["--json", "--kernel", "heat/f64", "--device", "h200"]);
    let [row, errors] = &lines[..] else { panic!("{lines:?}") };
    assert!(row["measured_microseconds"].is_null() && row["error"].is_null(), "{row}");
    assert!(row["predicted_microseconds"].as_f64().is_some_and(|time| time > 0.0), "{row}");
    let counted = ["rows", "held_out_rows", "not_measured"].map(|field| errors[field].as_u64());
    assert_eq!(counted, [Some(0), Some(0), Some(1)]);
    let text = run(&["--kernel", "heat/f64"]);
    assert!(text.contains("1 of these was not measured on an H200 SXM: predicted only"), "{text}");
}

/// Loops that wait for what they load in each turn: one block adding up everything, and a column a thread, whose
/// atomics no load passes. By one wait for each place they would be 69 to 98 % too short.
#[test]
fn loops_wait_in_each_turn() {
    let kernels = "sum/final_shared,sum/final_global,gemv/column_f64";
    let lines = json(&["--json", "--measured", "--kernel", kernels, "--device", "h200,h100"]);
    let rows: Vec<_> = lines.iter().filter(|line| line["kernel"].is_string()).collect();
    assert_eq!(rows.len(), 12);
    for row in rows {
        assert!(row["error"].as_f64().is_some_and(|error| error.abs() < 35.0), "{row}");
        assert_eq!(row["bottleneck"], "latency", "{row}");
    }
}

/// Cases of other families, by counts of smaller ones: within half of what was measured, and of what was simulated
/// itself.
#[test]
fn any_case_of_the_benchmarks_is_predicted() {
    let kernels = "max/f32,scan/f32,scan/f64/2^28,in_place/u16,sobel_magnitude/f32,select/i32/2^10,nrm2";
    let lines = json(&["--json", "--kernel", kernels]);
    let (errors, rows) = lines.split_last().expect("there are lines");
    // Five lengths and two more of scans, two sides of images and of squares in place.
    assert_eq!(rows.len(), 5 + 6 + 1 + 2 + 2 + 1 + 1, "{errors}");
    for row in rows {
        let number = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field} in {row}"));
        // Of kernels that have changed since they were timed there is nothing to compare with.
        let is_near = row["outdated"] == true || number("error").abs() < 50.0;
        assert!(is_near && number("scaling_error") < 10.0, "{row}");
        assert!(number("launches") >= 1.0 && number("prediction_seconds") > 0.0, "{row}");
    }
    // A selection clears nothing before it begins.
    let select = rows.iter().find(|row| row["kernel"] == "select/i32/2^10").expect("it is asked for");
    assert_eq!(select["launches"], 1);
}

/// A shape of each family that has a program of its own, on the device that has timed it, within half of what was
/// measured and the time that a prediction may take. Products on the tensor cores are bound by them, sorts by comparing
/// keys, and random reads of a vector that the second-level cache has by lone sectors.
#[test]
fn families_of_programs_of_their_own_are_predicted() {
    let kernels = [
        ("top_k/f64/200020", "selections", "latency"),
        ("segmented_sort/f64/2486660", "sorts of segments", "integers"),
        ("gemm_tensor/bf16/bf16/8192/8192/8192/nn", "products of 16 bits", "tensor"),
        ("gemm_tensor/tf32/f32/2048", "products of tf32", "tensor"),
        ("gemm_tensor/i8/i32/8192/8192/8192/nt", "products of bytes", "tensor"),
        ("potrf/f64/16/100000", "factors of batches", "integers"),
        ("potrf/f64/2048", "factors of large matrices", "latency"),
        ("potrs/f64/8/100000/l/0/1", "systems of factors", "integers"),
        ("skyline/f64/16384/0.1062", "factors of bands", "latency"),
        ("syrk/f64/2048", "symmetric updates", "arithmetic"),
        ("trsm/f64/512", "triangular systems", "chain"),
        ("gemm_batched/f32/128", "batches by starts", "shared"),
        ("sparse/spmv/Thread/random/5000000", "sparse products", "l2"),
        ("sparse/solve/Free/band/200000", "sparse systems", "chain"),
        ("sparse/order/rows/band/200000", "orders of sparse rows", "integers"),
        ("sparse/transpose/laplacian/10077696", "sparse transpositions", "integers"),
        ("sparse/analysis/band/200000", "sparse analyses", "chain"),
    ];
    let names: Vec<&str> = kernels.iter().map(|(name, ..)| *name).collect();
    let lines = json(&["--json", "--measured", "--device", "h200", "--kernel", &names.join(",")]);
    let (errors, rows) = lines.split_last().expect("there are lines");
    assert_eq!(rows.len(), kernels.len(), "{errors}");
    for (name, family, bottleneck) in kernels {
        assert_eq!(errors["shapes"][family][0], 1, "{family}: {errors}");
        let row = rows.iter().find(|row| row["kernel"].as_str().is_some_and(|one| one.starts_with(name)));
        let row = row.unwrap_or_else(|| panic!("{name} in {errors}"));
        assert_eq!(row["bottleneck"], bottleneck, "{row}");
        assert!(row["error"].as_f64().is_some_and(|error| error.abs() < 50.0), "{row}");
        let seconds = row["prediction_cpu_seconds"].as_f64();
        assert!(seconds.is_none_or(|seconds| seconds <= PROCESSOR_SECONDS), "{row}");
    }
    // One of them came last.
    assert_eq!((&errors["judged_rows"], &errors["last_rows"]), (&(kernels.len() - 1).into(), &1.into()));
}

/// What no program times is predicted all the same: incomplete factors, conversions of sparse matrices, and analyses of
/// others of their structure.
#[test]
fn what_no_program_times_is_predicted() {
    let kernels = ["ic0/band", "ilu0/band", "expand/random", "compress/random", "sort/rows/random"];
    let of_bands = ["plan/of/spmv", "wide", "new/matrix", "new/values", "solve/many/apart"];
    let kernels: Vec<String> =
        kernels.map(str::to_owned).into_iter().chain(of_bands.map(|one| format!("{one}/band"))).collect();
    let names = kernels.iter().map(|kernel| format!("sparse/{kernel}")).collect::<Vec<_>>().join(",");
    let lines = json(&["--json", "--device", "h200", "--kernel", &names]);
    let (errors, rows) = lines.split_last().expect("there are lines");
    assert_eq!((rows.len(), &errors["not_measured"]), (kernels.len(), &kernels.len().into()));
    for row in rows {
        assert!(row["predicted_microseconds"].as_f64().is_some_and(|time| time > 0.0), "{row}");
        let seconds = row["prediction_cpu_seconds"].as_f64();
        assert!(seconds.is_none_or(|seconds| seconds <= PROCESSOR_SECONDS), "{row}");
    }
}

/// A call that no program times is predicted, which is said, and left out where only what was measured is asked for.
#[test]
fn calls_are_predicted_only() {
    let text = run(&["--kernel", "swap/f32"]);
    assert!(text.contains("1 of these was not measured on an H200 SXM: predicted only"), "{text}");
    let lines = json(&["--json", "--device", "h200", "--kernel", "swap/f32"]);
    let [row, errors] = &lines[..] else { panic!("{lines:?}") };
    assert!(row["measured_microseconds"].is_null() && row["error"].is_null(), "{row}");
    assert_eq!(row["kernels"], serde_json::json!(["linalg_swap_f32"]), "{row}");
    // Two arrays of 2^24 floats are read and written: 256 MiB, at no more than 4.8 TB/s.
    let time = row["predicted_microseconds"].as_f64().expect("a time");
    assert!((56.0..200.0).contains(&time), "{row}");
    assert_eq!((&errors["not_measured"], &errors["later_rows"]), (&1.into(), &0.into()));
    let lines = json(&["--json", "--measured", "--kernel", "swap/f32,sum_of/u8"]);
    assert!(lines.len() > 1 && lines.iter().all(|line| line["kernel"] != "swap/f32"), "{lines:?}");
    for arguments in [&["--kernel", "swap/f32", "--measured"], &["--kernel", "swap/f32", "--no-calls"]] {
        let error = start(arguments).result.expect_err("there is nothing left");
        assert!(error.contains("no measured row"), "{error}");
    }
}

/// Every kernel of the workspace is predicted, or there is a reason. In a release all rows that are said to predict one
/// are run.
#[test]
fn every_kernel_is_predicted_or_has_a_reason() {
    let kernels = coverage::kernels().expect("there are kernels");
    let fates = coverage::fates(&kernels).unwrap_or_else(|error| panic!("{error}"));
    let lines = json(&["--json", "--coverage"]);
    assert!(lines.len() == fates.len() && run(&["--coverage"]).contains("sum_f32"), "{}", lines.len());
    let known = recorded::kernels(&[]).expect("all are there");
    let names: BTreeSet<String> = known.iter().map(|kernel| kernel.name()).collect();
    let mut predicted = coverage::predicted();
    let unknown: Vec<_> = predicted.values().filter(|&&row| !names.contains(row)).collect();
    assert!(unknown.is_empty(), "there are no rows {unknown:?}");
    if cfg!(debug_assertions) {
        predicted.retain(|_, row| ["sum/fast", "scan/look_back"].contains(row));
    }
    let rows: BTreeSet<&str> = predicted.values().copied().collect();
    let rows = rows.into_iter().collect::<Vec<_>>().join(",");
    let lines = json(&["--json", "--device", "h200", "--kernel", &rows]);
    assert!(!predicted.is_empty());
    for (kernel, row) in predicted {
        let launches =
            |line: &&Value| line["kernels"].as_array().is_some_and(|all| all.iter().any(|one| one == kernel));
        let mut found = lines.iter().filter(|line| line["kernel"] == row);
        assert!(found.any(|line| launches(&line)), "{row} does not launch {kernel}");
    }
}

/// Sums by keys and of segments are of as many blocks as there is room for, each with several tiles, and rows of
/// kernels that have changed since do not count: on the H200 sums by keys, whose first kernel has.
#[test]
fn blocks_share_what_is_long() {
    let arguments =
        ["--json", "--measured", "--kernel", "segments,reduce_by_key/f32/2^8", "--device", "h200,h100"];
    let lines = json(&arguments);
    let rows: Vec<_> = lines.iter().filter(|line| line["kernel"].is_string()).collect();
    assert_eq!(rows.len(), 6 + 7);
    for row in rows {
        assert!(row["error"].as_f64().is_some_and(|error| error.abs() < 35.0), "{row}");
        assert_eq!(row["outdated"], false, "{row}");
    }
    let outdated: Vec<_> = lines.iter().filter_map(|line| line["outdated"].as_u64()).collect();
    assert_eq!(outdated, [1, 0]);
}

#[test]
fn a_table_and_a_plot() {
    let file = std::env::temp_dir().join(format!("gpu-performance-model-{}.png", std::process::id()));
    let text = run(&["--kernel", "sum/fast", "--plot", file.to_str().expect("a path")]);
    let drawn = std::fs::read(&file).expect("a plot");
    std::fs::remove_file(&file).expect("it was there");
    assert!(drawn.starts_with(b"\x89PNG"));
    assert!(text.contains("sum/fast") && text.contains("90th percentile"), "{text}");
}

#[test]
fn a_user_is_told_what_there_is() {
    // Help is asked for instead of options, so that there are none.
    let help = start(&["--help"]).result.expect_err("help is told");
    let options = ["--json", "--plot", "--device", "h200, h100", "--measured", "--kernel", "--variants"];
    for option in options.into_iter().chain([
        "--measure ",
        "--only-measure",
        "--commit",
        "--tiles",
        "--no-shapes",
        "--no-calls",
        "--every",
    ]) {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    for (arguments, told) in [
        (&["--kernel", "nothing"] as &[_], "there are transpose"),
        (&["--kernel", "heat/f64", "--measured"], "no measured row"),
        (&["--device", "v100"], "h200, h100"),
        (&["--tiles", "--device", "h200"], "no kernels were measured"),
        (&["--only-measure"], "--measure"),
    ] {
        let error = start(arguments).result.expect_err(told);
        assert!(error.contains(told), "{error}");
    }
}

/// No GPU, no times: nothing takes its place.
#[test]
fn what_is_to_be_measured_needs_a_gpu() {
    if gpu_core::Device::cuda(0).is_ok() {
        let lines = json(&["--json", "--measure", "--only-measure", "--kernel", "product/shared"]);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line["repeated"] == true), "{lines:?}");
        return;
    }
    let found = start(&["--measure", "--kernel", "product/shared"]);
    assert!(found.lines.is_empty(), "{found:?}");
    assert!(found.result.is_err_and(|error| error.contains("there is no GPU to measure on")));
}
