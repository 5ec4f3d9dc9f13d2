//! What the simulator's tests share: kernels run over many seeds, and what is expected of all of them.
#![allow(dead_code, reason = "every test binary uses its own part")]

use std::sync::atomic::{AtomicU32, Ordering};

use gpu_sim::{Config, Fault, Kernel, Record, Report, Simulator};

/// Seeds over which a correct kernel must pass.
pub const SEEDS: u64 = 1000;

/// The kernel's name in every report.
pub const NAME: &str = "kernel_under_test";

pub const KERNEL: Kernel<'static> = Kernel { name: NAME, file: file!(), line: line!() };

/// A line that a kernel marks with `at!`.
pub static LINE: LineMark = LineMark;

pub struct LineMark;

thread_local! {
    static MARKED: AtomicU32 = const { AtomicU32::new(0) };
}

impl LineMark {
    pub fn set(&self, line: u32) {
        MARKED.with(|mark| mark.store(line, Ordering::Relaxed));
    }

    pub fn get(&self) -> u32 {
        MARKED.with(|mark| mark.load(Ordering::Relaxed))
    }
}

/// Evaluates an expression and remembers its line: the one that the fault must name.
#[macro_export]
macro_rules! at {
    ($expression:expr) => {{
        $crate::common::LINE.set(line!());
        $expression
    }};
}

/// Blocks in flight do not vary: for kernels whose blocks may wait for each other.
pub fn together(seed: u64) -> Config {
    Config { vary_residency: false, ..varied(seed) }
}

/// Settings of a seed; every other one counts too.
pub fn varied(seed: u64) -> Config {
    let record = if seed.is_multiple_of(2) { Record::Races } else { Record::Full };
    Config { record, spin_budget: 1 << 14, ..Config::with_seed(seed) }
}

/// A buffer of words.
pub fn words(simulator: &Simulator, values: &[u32]) -> u64 {
    let address = simulator.alloc(values.len() * 4).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    simulator.write(address, &bytes).unwrap();
    address
}

/// The words of a buffer.
pub fn read_words(simulator: &Simulator, address: u64, len: usize) -> Vec<u32> {
    let mut bytes = vec![0; len * 4];
    simulator.read(address, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
}

/// The kernel passes for all seeds.
pub fn passes(run: impl Fn(u64) -> Result<Report, Fault>) {
    for seed in 0..SEEDS {
        if let Err(fault) = run(seed) {
            panic!("seed {seed}: {fault}");
        }
    }
}

/// The kernel is caught for all of the first hundred seeds, each time alike when run again.
pub fn caught_always(run: impl Fn(u64) -> Result<Report, Fault>, check: impl Fn(&Fault)) {
    assert_eq!(caught(100, &run, check), 100, "caught whatever the seed");
}

/// How many of the first seeds catch the kernel.
pub fn caught(seeds: u64, run: impl Fn(u64) -> Result<Report, Fault>, check: impl Fn(&Fault)) -> u64 {
    let mut faults = 0;
    for seed in 0..seeds {
        let Err(fault) = run(seed) else { continue };
        faults += 1;
        assert_eq!(fault.kernel, NAME, "{fault}");
        assert_eq!(fault.seed, seed, "{fault}");
        let again = run(seed).expect_err("the same seed fails again");
        assert_eq!(fault.kind, again.kind);
        assert_eq!(*fault, *again, "the same seed gives the same fault");
        check(&fault);
    }
    faults
}

/// The fault names the marked line of the given file.
pub fn names_line(fault: &Fault, file: &str) {
    let site = fault.site.as_ref().expect("the fault names a line");
    assert_eq!((site.file.as_str(), site.line), (file, LINE.get()), "{fault}");
}
