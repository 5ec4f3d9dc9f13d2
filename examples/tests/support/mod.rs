//! Runs examples as a user does.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use serde_json::Value;

/// The executable of an example, built if need be: `cargo test --test` alone does not build examples, and an old one
/// would be tested; nor does `cargo test` where an example has tests of its own. What is newer than its sources is taken
/// as it is. With `--workspace`, as `cargo test` has: asked for by its package, an example is built with fewer features,
/// and all that it depends on once more.
fn executable(example: &'static str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let build = || {
        let test = std::env::current_exe().expect("a test has a path");
        let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
        let path = profile.join("examples").join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
        if is_newer_than_its_sources(&path).unwrap_or(false) {
            return path;
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--workspace", "--example", example]);
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo starts").success(), "the example does not build");
        path
    };
    built.entry(example).or_insert_with(build).clone()
}

/// Whether an executable is newer than the files that it was made from, of which cargo leaves a list beside it
/// (`executable: file file …`, spaces of a name behind `\`), and than the manifests.
fn is_newer_than_its_sources(executable: &Path) -> io::Result<bool> {
    let made = executable.metadata()?.modified()?;
    let list = std::fs::read_to_string(executable.with_extension("d"))?;
    let sources =
        list.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, sources)| sources);
    let sources = sources.replace("\\ ", "\0");
    let sources = sources.split(' ').map(|source| source.replace('\0', " "));
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = package.ancestors().find(|path| path.join("Cargo.lock").exists()).unwrap_or(package);
    let manifests = [package.join("Cargo.toml"), workspace.join("Cargo.toml"), workspace.join("Cargo.lock")];
    for source in sources.map(PathBuf::from).chain(manifests) {
        if std::fs::metadata(source)?.modified()? > made {
            return Ok(false);
        }
    }
    Ok(true)
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
