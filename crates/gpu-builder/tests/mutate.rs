//! `mutate` on a crate of a few lines: what is switched, what gets a build of its own, and what becomes of each.
#![cfg(feature = "cli")]

use std::path::PathBuf;
use std::time::Duration;

use gpu_builder::mutate::{Fate, Mutator};

const KERNELS: &str = r#"//! Mutants of every fate.

/// A constant cannot be switched.
pub const LENGTH: usize = 3 + 1;
/// Nor can a pattern.
pub fn is_small(x: u32) -> bool {
    matches!(x, 0..=9)
}
pub fn sync_threads() {
    COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}
/// Barriers.
pub static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
macro_rules! larger {
    ($a:expr, $b:expr) => { if $a < $b { $b } else { $a } };
}
pub fn largest(x: &[u32]) -> u32 {
    let mut largest = x[0];
    for i in 1..x.len() {
        largest = larger!(largest, x[i]);
    }
    sync_threads();
    largest
}
pub fn nobody(x: u32) -> u32 {
    x + 1
}
pub fn rounds(mut left: u32) -> u32 {
    // Mutants: what is not more than nothing is nothing.
    while left > 0 {
        left = left - 1;
    }
    left
}
"#;

const TESTS: &str = r#"
use kernels::*;
#[test]
fn the_largest() {
    assert_eq!(largest(&[1, 5, 3]), 5);
    assert_eq!(COUNT.load(std::sync::atomic::Ordering::Relaxed), 1);
}
#[test]
fn constants() {
    assert_eq!(LENGTH, 4);
    assert!(is_small(9));
}
#[test]
fn nothing_is_left() {
    assert_eq!(rounds(9), 0);
}
"#;

/// A folder that goes with it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn each_mutant_has_its_fate() {
    let folder = Folder(std::env::temp_dir().join(format!("gpu-builder-mutate-{}", std::process::id())));
    let krate = folder.0.join("kernels");
    for (file, text) in [
        ("Cargo.toml", "[workspace]\n[package]\nname = \"kernels\"\nedition = \"2024\"\n"),
        ("src/lib.rs", KERNELS),
        ("tests/kernels.rs", TESTS),
    ] {
        let path = krate.join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let mutator = Mutator::new(krate.to_str().expect("a name")).folder(folder.0.join("copy"));
    let mutator = mutator.timeout(Duration::from_secs(3));
    let mut heard = 0;
    let mutants = mutator.run(|_, mutant| heard += usize::from(mutant.is_some())).expect("they ran");
    assert_eq!(heard, mutants.len());
    let fates: Vec<(usize, &str, Fate)> =
        mutants.iter().map(|m| (m.mutation.line, m.mutation.original.trim(), m.fate)).collect();
    let expected = [
        (4, "+ 1", Fate::Killed),
        (7, "..=", Fate::Killed),
        (15, "<", Fate::Survived),
        (19, "..", Fate::Killed),
        (22, "sync_threads()", Fate::Killed),
        (26, "+ 1", Fate::Unreached),
        (31, "- 1", Fate::TimedOut),
    ];
    assert_eq!(fates, expected);
    // Without what is built for itself.
    let fast = mutator.fast(true).filter("Range").run(|_, _| ()).expect("they ran");
    assert_eq!(fast.iter().map(|m| m.mutation.line).collect::<Vec<_>>(), [19]);
}
