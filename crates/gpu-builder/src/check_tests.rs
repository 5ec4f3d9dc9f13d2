use super::*;
use crate::assemble::{excess_stack, targets};
use crate::ptxas::{Resources, Usage};
use crate::report::Outcome;

const CLEAN: &str = "// By gpu-builder\n\n.version 7.4\n.target sm_75\n.address_size 64\n\n\
    .visible .entry k(\n\t.param .u64 p\n)\n.maxntid 256, 1, 1\n{\n\tst.global.b32 \t[%rd1], %r1;\n\tret;\n}\n";

const SPEC: ImageSpec = ImageSpec { arch: 75, exact: false, isa: 74 };

pub(crate) fn config(stack: &[(&str, u32)], generic: &[&str]) -> GpuConfig {
    GpuConfig {
        toolchain: "nightly".into(),
        images: vec![SPEC],
        stack: stack.iter().map(|(name, bytes)| (name.to_string(), *bytes)).collect(),
        generic: generic.iter().map(|name| name.to_string()).collect(),
    }
}

pub(crate) fn image<'a>(config: &'a GpuConfig, kernel: &str, text: &str) -> Image<'a> {
    let file = SPEC.file(kernel);
    Image { config, spec: SPEC, kernel: kernel.into(), file, kept: text.into(), text: text.into() }
}

/// The failures of some checks, as one text.
fn failures_of(check: impl FnOnce(&mut Report)) -> String {
    let mut report = Report::default();
    check(&mut report);
    let failure = |outcome: &Outcome| match &outcome.verdict {
        Verdict::Fail(why) => Some(format!("{}: {why}", outcome.check)),
        _ => None,
    };
    report.outcomes.iter().filter_map(failure).collect::<Vec<_>>().join("\n")
}

/// Those of the checks of the text.
fn failures(config: &GpuConfig, text: &str) -> String {
    failures_of(|report| text_checks(&image(config, "k", text), report))
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
    assert_eq!(failures(&config(&[], &[]), CLEAN), "");
}

#[test]
fn what_was_left_of_the_compiler_fails() {
    let marker =
        CLEAN.replace(".visible .entry", ".global .align 4 .u32 __launch_bounds_k[4];\n.visible .entry");
    assert!(failures(&config(&[], &[]), &marker).contains("__launch_bounds_k is still there"));
}

#[test]
fn another_kernel_or_a_second_one_fails() {
    let other = failures(&config(&[], &[]), &CLEAN.replace(".entry k(", ".entry l("));
    assert!(other.contains("expected the kernel k, found l"), "{other}");
    let second = format!("{CLEAN}.visible .entry l()\n{{\n}}\n");
    assert!(failures(&config(&[], &[]), &second).contains("found k, l"));
}

#[test]
fn another_header_fails() {
    assert!(failures(&config(&[], &[]), &CLEAN.replace("7.4", "8.0")).contains(".version 74"));
    assert!(failures(&config(&[], &[]), &CLEAN.replace("sm_75", "sm_80")).contains(".target sm_75"));
}

#[test]
fn generic_accesses_fail_unless_they_are_allowed() {
    let generic = CLEAN.replace("st.global.b32", "st.b32");
    let why = failures(&config(&[], &[]), &generic);
    assert!(why.contains("memory: k: generic access `st.b32 \t[%rd1], %r1` in k"), "{why}");
    assert_eq!(failures(&config(&[], &["k"]), &generic), "");
}

#[test]
fn an_allowance_for_no_kernel_fails() {
    let config = config(&[("gone", 8), ("k", 8)], &[]);
    let images = [image(&config, "k", CLEAN)];
    assert!(failures_of(|report| allowances(&config, &images, report)).contains("for no kernel: gone"));
}

#[test]
fn the_same_code_under_two_names_fails() {
    let config = config(&[], &[]);
    let of = |name: &str, text: &str| {
        let text =
            text.replace("c, k.", &format!("c, {name}.")).replace("entry k(", &format!("entry {name}("));
        image(&config, name, &text)
    };
    let other = CLEAN.replace("%r1;", "%r2;");
    let images = [of("sum_i8", CLEAN), of("max_i8", &other), of("sum_u8", CLEAN)];
    let why = failures_of(|report| equal_kernels(&images, report));
    assert_eq!(why, "different: sum_u8.sm_75.ptx is sum_i8.sm_75.ptx again");
}

#[test]
fn stack_and_spills_fail_beyond_the_allowance() {
    let excess = |allowed: u32, used: Resources| {
        let config = config(&[("k", allowed)], &[]);
        let usage = Usage { kernels: [("k".to_string(), used)].into(), functions: BTreeMap::new() };
        excess_stack(&image(&config, "k", CLEAN), "sm_90", &usage).len()
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
