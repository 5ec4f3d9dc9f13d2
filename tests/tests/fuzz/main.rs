//! Whole calls, drawn at random: shapes, views, options, devices, and every second one with something wrong. Each is a
//! typed error or the result of a serial oracle; never a panic, never a hang, and nothing else has changed.
//!
//! A few seconds a target here; `GPU_TESTS_FUZZ_SECONDS=600` for long. Cases come from numbered seeds, which are printed,
//! and `GPU_TESTS_FUZZ_SEED` is the first of them. Failing cases shrink to the smallest that fails.

mod cuts;
mod linalg;
mod memory;
mod reduce;
mod scan;
mod segments;
mod selections;
mod sort;
mod sparse;
mod stencil;
mod systems;
mod tensor;
mod transpose;

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gpu_core::{Buffer, Device, Element};
use gpu_sim::Config as SimConfig;
use gpu_tests::data::random;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The longest that a case may take: each takes milliseconds.
const HANG: u64 = 120;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

/// What is drawn of every call.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The CPU or a simulator with this seed.
    device: Option<u64>,
    /// How far into their buffers input and output begin.
    offsets: (usize, usize),
    /// Of the values.
    seed: u64,
}

fn place() -> impl Strategy<Value = Place> {
    let device = prop_oneof![Just(None), (0u64..1 << 20).prop_map(Some)];
    (device, (0usize..9, 0usize..9), any::<u64>()).prop_map(|(device, offsets, seed)| Place {
        device,
        offsets,
        seed,
    })
}

impl Place {
    fn device(&self) -> Device {
        match self.device {
            None => Device::cpu(),
            Some(seed) => Device::simulator_with(SimConfig::with_seed(seed)),
        }
    }

    /// Values for an input.
    fn values<T>(&self, len: usize, of: impl Fn(u64) -> T) -> Vec<T> {
        (0..len).map(|index| of(random(self.seed, index))).collect()
    }
}

/// A length: short, around what warps, blocks and tiles have, or longer.
fn length() -> impl Strategy<Value = usize> {
    let around = prop::sample::select(vec![32usize, 64, 128, 256, 512, 1024, 2048, 4096, 8192]);
    prop_oneof![
        3 => 0usize..70,
        3 => (around, 0usize..5).prop_map(|(n, d)| n + d - 2),
        2 => 0usize..6000,
        1 => 6000usize..40_000,
    ]
}

/// A number of elements that is not what it should be, at times.
fn wrong() -> impl Strategy<Value = isize> {
    prop_oneof![4 => Just(0), 1 => -2isize..3]
}

/// Memory around an output: what may not be written keeps its value.
struct Guarded<T: Element> {
    buffer: Buffer<T>,
    old: Vec<T>,
    from: usize,
    len: usize,
}

impl<T: Element + PartialEq + Debug> Guarded<T> {
    fn new(device: &Device, from: usize, len: usize, of: impl Fn(usize) -> T) -> Self {
        let old: Vec<T> = (0..from + len + 5).map(of).collect();
        Self { buffer: device.upload(&old).expect("memory"), old, from, len }
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.from..self.from + self.len
    }

    /// What an array has at first.
    fn old(&self) -> &[T] {
        &self.old[self.range()]
    }

    /// The output is as expected, or as before, and all around it too.
    fn check(&self, expected: Option<&[T]>) {
        let mut whole = self.old.clone();
        if let Some(expected) = expected {
            whole[self.range()].copy_from_slice(expected);
        }
        assert_eq!(self.buffer.to_vec().expect("its values"), whole);
    }
}

/// Draws cases for some seconds and checks each.
fn fuzz<C: Debug + 'static>(name: &str, cases: impl Strategy<Value = C>, check: impl Fn(&C)) {
    let seconds = number("GPU_TESTS_FUZZ_SECONDS", 2);
    let first = number("GPU_TESTS_FUZZ_SEED", 0);
    let begun = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let (watched, of) = (begun.clone(), name.to_string());
    // A case that hangs cannot be unwound.
    thread::spawn(move || {
        while Arc::strong_count(&watched) > 1 {
            thread::sleep(Duration::from_millis(500));
            let at = watched.load(Ordering::Relaxed);
            if at != 0 && start.elapsed().as_secs() > at + HANG {
                eprintln!("{of}: a case takes longer than {HANG} s: it hangs");
                std::process::abort();
            }
        }
    });
    let (mut seed, mut done) = (first, 0u64);
    while start.elapsed() < Duration::from_secs(seconds) || done == 0 {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let config = Config { cases: 8, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let outcome = TestRunner::new_with_rng(config, rng).run(&cases, |case| {
            begun.store(start.elapsed().as_secs().max(1), Ordering::Relaxed);
            check(&case);
            Ok(())
        });
        if let Err(error) = outcome {
            panic!("{name}, GPU_TESTS_FUZZ_SEED={seed}: {error}");
        }
        begun.store(0, Ordering::Relaxed);
        (seed, done) = (seed + 1, done + 8);
    }
    println!(
        "{name}: {done} cases from seeds {first} to {} in {:.1} s",
        seed - 1,
        start.elapsed().as_secs_f64()
    );
}
