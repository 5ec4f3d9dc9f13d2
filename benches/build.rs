//! Notes the commit the program is built from, so that results name it on a machine without the repository.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=GPU_BENCHES_COMMIT");
    // The log of HEAD grows with every commit and checkout. A missing path would mean: run every time.
    for path in ["../.git/HEAD", "../.git/logs/HEAD"] {
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    let commit = std::env::var("GPU_BENCHES_COMMIT").ok().or_else(from_git);
    if let Some(commit) = commit {
        println!("cargo::rustc-env=GPU_BENCHES_COMMIT={commit}");
    }
}

fn from_git() -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
