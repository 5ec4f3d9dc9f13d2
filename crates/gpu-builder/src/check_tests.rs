use super::*;
use crate::ptx::Bounds;
use crate::ptxas::Resources;
use crate::report::Outcome;

const CLEAN: &str = "// c, module m. Written by gpu-builder; do not edit.\n\n.version 7.4\n.target sm_75\n.address_size 64\n\n\
    .visible .entry k(\n\t.param .u64 p\n)\n.maxntid 256, 1, 1\n{\n\tst.global.b32 \t[%rd1], %r1;\n\tret;\n}\n";

fn module(stack: &[(&str, u32)], generic: &[&str]) -> ModuleSpec {
    ModuleSpec {
        name: "m".into(),
        images: vec![ImageSpec { arch: 75, exact: false, isa: 74 }],
        stack: stack.iter().map(|(name, bytes)| (name.to_string(), *bytes)).collect(),
        generic: generic.iter().map(|name| name.to_string()).collect(),
    }
}

/// The failures of the text checks, as one text.
fn failures(module: &ModuleSpec, text: &str, max_threads: u32) -> String {
    let spec = module.images[0];
    let image = Image { module, spec, file: spec.file("m"), path: "m.ptx".into(), text: Some(text.into()) };
    let record = ImageRecord {
        file: spec.file("m"),
        module: "m".into(),
        arch: 75,
        exact: false,
        isa: 74,
        sha256: String::new(),
        entries: [("k".to_string(), Bounds { max_threads, min_blocks: 0 })].into(),
    };
    let mut report = Report::default();
    text_checks(&image, Some(&record), &mut report);
    let failure = |outcome: &Outcome| match &outcome.verdict {
        Verdict::Fail(why) => Some(format!("{}: {why}", outcome.check)),
        _ => None,
    };
    report.outcomes.iter().filter_map(failure).collect::<Vec<_>>().join("\n")
}

#[test]
fn targets_are_those_the_image_may_run_on() {
    let of = |arch, exact| targets(&ImageSpec { arch, exact, isa: 80 }).join(" ");
    assert_eq!(of(75, false), "sm_75 sm_80 sm_90 sm_100 sm_120");
    assert_eq!(of(80, false), "sm_80 sm_90 sm_100 sm_120");
    assert_eq!(of(86, false), "sm_86 sm_90 sm_100 sm_120");
    assert_eq!(of(90, true), "sm_90a");
    assert_eq!(of(120, false), "sm_120");
}

#[test]
fn a_clean_text_passes() {
    assert_eq!(failures(&module(&[], &[]), CLEAN, 256), "");
}

#[test]
fn lost_bounds_fail() {
    let lost = CLEAN.replace(".maxntid 256, 1, 1\n", "");
    assert!(failures(&module(&[], &[]), &lost, 256).contains("bounds: kernels and launch bounds"));
    let marker =
        CLEAN.replace(".visible .entry", ".global .align 4 .u32 __launch_bounds_k[2];\n.visible .entry");
    assert!(failures(&module(&[], &[]), &marker, 256).contains("__launch_bounds_k is still there"));
}

#[test]
fn another_header_fails() {
    assert!(failures(&module(&[], &[]), &CLEAN.replace("7.4", "8.0"), 256).contains(".version 74"));
    assert!(failures(&module(&[], &[]), &CLEAN.replace("sm_75", "sm_80"), 256).contains(".target sm_75"));
}

#[test]
fn generic_accesses_fail_unless_they_are_allowed() {
    let generic = CLEAN.replace("st.global.b32", "st.b32");
    let why = failures(&module(&[], &[]), &generic, 256);
    assert!(why.contains("memory: k: generic access `st.b32 \t[%rd1], %r1` in k"), "{why}");
    assert_eq!(failures(&module(&[], &["k"]), &generic, 256), "");
}

#[test]
fn an_allowance_for_no_kernel_fails() {
    assert!(failures(&module(&[("gone", 8)], &[]), CLEAN, 256).contains("`gone`, which is no kernel"));
}

#[test]
fn stack_and_spills_fail_beyond_the_allowance() {
    let excess = |allowed: u32, used: Resources| {
        let module = module(&[("k", allowed)], &[]);
        let spec = module.images[0];
        let image = Image { module: &module, spec, file: "m".into(), path: "m".into(), text: None };
        let usage = Usage { kernels: [("k".to_string(), used)].into(), functions: BTreeMap::new() };
        excess_stack(&image, "sm_90", &usage).len()
    };
    let frame = Resources { stack: 64, ..Resources::default() };
    assert_eq!((excess(0, frame), excess(63, frame), excess(64, frame)), (1, 1, 0));
    let spill = Resources { spill_loads: 8, ..Resources::default() };
    assert_eq!((excess(0, spill), excess(8, spill)), (1, 0));
    assert_eq!(excess(0, Resources::default()), 0);
}

#[test]
fn the_first_difference_is_shown() {
    assert_eq!(first_difference("a\nb\n", "a\nc\n"), "stale: line 2 is `b`, the compiler gives `c`");
    assert_eq!(first_difference("a\n", "a\nc\n"), "stale: line 2 is nothing, the compiler gives `c`");
}
