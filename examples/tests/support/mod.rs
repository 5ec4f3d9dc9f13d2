//! Runs examples as a user does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;

use serde_json::Value;

/// The executable of an example, built once: `cargo test --test` alone does not build examples, and an old one would be
/// tested.
fn executable(example: &'static str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let build = || {
        let test = std::env::current_exe().expect("a test has a path");
        let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--example", example]);
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo starts").success(), "the example does not build");
        profile.join("examples").join(format!("{example}{}", std::env::consts::EXE_SUFFIX))
    };
    built.entry(example).or_insert_with(build).clone()
}

/// Starts it and waits for its end.
pub fn start(example: &'static str, arguments: &[&str]) -> Output {
    Command::new(executable(example)).args(arguments).output().expect("the example starts")
}

/// What it prints; it has to end well.
#[track_caller]
pub fn run(example: &'static str, arguments: &[&str]) -> String {
    let output = start(example, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The lines of JSON that it prints.
#[track_caller]
pub fn json(example: &'static str, arguments: &[&str]) -> Vec<Value> {
    run(example, arguments).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}
