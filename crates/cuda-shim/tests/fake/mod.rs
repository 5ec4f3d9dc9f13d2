//! Runs a test of this binary again, in a process that finds a driver made for the occasion.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Compiles `tests/fake/<driver>.rs` to a `libcuda.so.1` and runs the ignored test `test` with it, `scenario` in its
/// environment.
pub fn run_with(driver: &str, test: &str, scenario: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake").join(format!("{driver}.rs"));
    // Search paths are divided by colons.
    let folder = format!("{driver}-{test}-{scenario}").replace(':', "-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).unwrap();
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiled = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=cdylib", "--crate-name=cuda", "-Cpanic=abort", "-o"])
        .arg(folder.join("libcuda.so.1"))
        .arg(source)
        .status();
    match compiled {
        Ok(status) => assert!(status.success(), "the driver compiles"),
        Err(why) => return println!("SKIPPED {test}: no rustc to make a driver with: {why}"),
    }
    let mut path = vec![folder];
    path.extend(env::var_os("LD_LIBRARY_PATH").iter().flat_map(env::split_paths));
    let output = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", test, "--nocapture"])
        .env("LD_LIBRARY_PATH", env::join_paths(path).unwrap())
        .env("FAKE_DRIVER", scenario)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{scenario}: {text}");
}
