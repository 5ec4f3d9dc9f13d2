//! Runs kernels over many seeds and compares their faults with the marks in their source.
//!
//! A line that must be named carries the comment `// FAULT: kernel`, where `kernel` is the kernel's name; a race has
//! two such lines, or one that both sides executed.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use gpu_sim::{Config, Fault, OtherAccess, Record, Simulator, Site};
use gpu_std::launch::{KernelMeta, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

/// Seeds over which a correct kernel passes.
pub const SEEDS: u64 = 1000;
/// Seeds over which a broken kernel is caught.
pub const BROKEN_SEEDS: u64 = 100;
/// The longest that a launch of a broken kernel may take, and a test. Both take a small part of it.
const LAUNCH_BOUND: Duration = Duration::from_secs(5);
const TEST_BOUND: Duration = Duration::from_secs(60);

/// The launcher of a kernel that reads one array and writes another.
pub type Launch = unsafe fn(&Simulator, LaunchConfig, Global<u32>, GlobalMut<u32>) -> Result<(), Fault>;
/// The launcher of a kernel that writes both.
pub type LaunchMut = unsafe fn(&Simulator, LaunchConfig, GlobalMut<u32>, GlobalMut<u32>) -> Result<(), Fault>;

/// The settings of a seed: half of them count requests as well. The budget is small because kernels are.
pub fn config(seed: u64) -> Config {
    let record = if seed.is_multiple_of(2) { Record::Races } else { Record::Full };
    Config { record, spin_budget: 1 << 14, ..Config::with_seed(seed) }
}

/// A simulator for kernels whose blocks wait for one another: all of them are in flight.
pub fn cooperative(seed: u64) -> Simulator {
    Simulator::new(Config { vary_residency: false, ..config(seed) })
}

/// Words in simulated memory.
pub struct Words {
    simulator: Simulator,
    address: u64,
    len: usize,
}

impl Words {
    /// An array with these values.
    pub fn new(simulator: &Simulator, values: &[u32]) -> Self {
        let words = Self::unwritten(simulator, values.len());
        words.set(values);
        words
    }

    /// `0, 1, 2, …`
    pub fn counting(simulator: &Simulator, len: u32) -> Self {
        Self::new(simulator, &(0..len).collect::<Vec<_>>())
    }

    /// An array that nobody has written.
    pub fn unwritten(simulator: &Simulator, len: usize) -> Self {
        Self { simulator: simulator.clone(), address: simulator.alloc(4 * len).expect("memory"), len }
    }

    /// Writes the first elements.
    pub fn set(&self, values: &[u32]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        self.simulator.write(self.address, &bytes).expect("a write inside the array");
    }

    /// All elements.
    pub fn get(&self) -> Vec<u32> {
        let mut bytes = vec![0; 4 * self.len];
        self.simulator.read(self.address, &mut bytes).expect("the kernel wrote the whole array");
        bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().expect("4 bytes"))).collect()
    }

    pub fn global(&self) -> Global<u32> {
        // SAFETY: only simulators get it, which check every access.
        unsafe { Global::from_raw(self.address) }
    }

    pub fn global_mut(&self) -> GlobalMut<u32> {
        // SAFETY: only simulators get it, which check every access.
        unsafe { GlobalMut::from_raw(self.address) }
    }
}

/// What a test has seen, to be printed at its end.
#[derive(Default)]
pub struct Tally(Vec<String>);

/// Runs a test's body under a bound on its time, and prints its tally.
pub fn bounded(test: &str, body: fn(&mut Tally)) {
    let start = Instant::now();
    let (done, wait) = mpsc::channel();
    // Not scoped: a body that hangs must not keep the test from failing.
    let worker = thread::spawn(move || {
        let mut tally = Tally::default();
        body(&mut tally);
        // The receiver is gone only when the bound has been exceeded, which is reported there.
        let _ = done.send(tally);
    });
    match wait.recv_timeout(TEST_BOUND) {
        Ok(tally) => {
            println!("{test}, {:.1} s:", start.elapsed().as_secs_f64());
            for line in tally.0 {
                println!("  {line}");
            }
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{test} takes longer than {TEST_BOUND:?}: it hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => resume_unwind(worker.join().expect_err("it panicked")),
    }
}

impl Tally {
    /// The kernel is caught whatever the seed, at its marked lines, twice alike; `expected` looks at the rest.
    pub fn caught<T>(
        &mut self,
        kernel: KernelMeta,
        expected: fn(&Fault) -> bool,
        run: impl Fn(u64) -> Result<T, Fault>,
    ) {
        let found = self.caught_at_times(kernel, expected, run);
        assert_eq!(found, BROKEN_SEEDS, "{}: caught whatever the seed", kernel.name);
    }

    /// The same of a kernel that some schedules hide; returns how many seeds found it.
    pub fn caught_at_times<T>(
        &mut self,
        kernel: KernelMeta,
        expected: fn(&Fault) -> bool,
        run: impl Fn(u64) -> Result<T, Fault>,
    ) -> u64 {
        let (marks, mut found, mut longest) = (marks(&kernel), 0, Duration::ZERO);
        for seed in 0..BROKEN_SEEDS {
            let start = Instant::now();
            let outcome = run(seed);
            longest = longest.max(start.elapsed());
            let Err(fault) = outcome else { continue };
            found += 1;
            assert_eq!((fault.kernel.as_str(), fault.seed), (kernel.name, seed), "{fault}");
            assert_eq!(fault.kernel_site, format!("{}:{}", kernel.file, kernel.line), "{fault}");
            names_marked_lines(&fault, &kernel, &marks);
            assert!(
                expected(&fault),
                "seed {seed}: not the fault, or not the place, that was expected: {fault}"
            );
            let again = run(seed).err().expect("a failing seed fails again");
            assert_eq!(fault, again, "the same seed gives the same fault");
        }
        assert!(longest < LAUNCH_BOUND, "{}: a launch took {longest:?}", kernel.name);
        let milliseconds = longest.as_secs_f64() * 1e3;
        self.0.push(format!(
            "{:<32} caught by {found} of {BROKEN_SEEDS} seeds, each twice alike, in at most {milliseconds:.1} ms",
            kernel.name
        ));
        found
    }

    /// The kernel passes for all seeds, with the right result.
    pub fn passes(
        &mut self,
        kernel: KernelMeta,
        result: &[u32],
        run: impl Fn(u64) -> Result<Vec<u32>, Fault>,
    ) {
        for seed in 0..SEEDS {
            match run(seed) {
                Ok(values) => assert_eq!(values, result, "{}, seed {seed}", kernel.name),
                Err(fault) => panic!("{}, seed {seed}: {fault}", kernel.name),
            }
        }
        self.0.push(format!("{:<32} passes {SEEDS} of {SEEDS} seeds", kernel.name));
    }
}

/// The lines that carry the kernel's mark.
fn marks(kernel: &KernelMeta) -> BTreeSet<u32> {
    // Sources are named from the workspace's root, which is where this package lies.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's root");
    let source = std::fs::read_to_string(root.join(kernel.file)).expect("the kernel's source");
    let mark = format!("// FAULT: {}", kernel.name);
    let lines: BTreeSet<u32> = (1..)
        .zip(source.lines())
        .filter_map(|(number, line)| line.trim_end().ends_with(&mark).then_some(number))
        .collect();
    assert!((1..=2).contains(&lines.len()), "{} has {} lines with `{mark}`", kernel.file, lines.len());
    lines
}

/// The fault's line is a marked one; with two accesses, they are all the marked ones.
fn names_marked_lines(fault: &Fault, kernel: &KernelMeta, marks: &BTreeSet<u32>) {
    let line = |site: Option<&Site>| {
        let site = site.expect("the fault names a line");
        assert_eq!(site.file, kernel.file, "{fault}");
        site.line
    };
    let first = line(fault.site.as_ref());
    assert!(marks.contains(&first), "line {first} is none of {marks:?}: {fault}");
    if let Some(other) = &fault.other {
        let both = BTreeSet::from([first, line(other.site.as_ref())]);
        assert_eq!(both, *marks, "the lines of both accesses: {fault}");
    }
}

/// The other access of a race.
pub fn other(fault: &Fault) -> &OtherAccess {
    fault.other.as_ref().expect("a race has two sides")
}

/// The block and thread of a fault, in kernels that use x only.
pub fn place(fault: &Fault) -> (u32, u32) {
    assert_eq!((&fault.block[1..], &fault.thread[1..]), (&[0, 0][..], &[0, 0][..]), "{fault}");
    (fault.block[0], fault.thread[0])
}

/// The block and thread of a race's other side.
pub fn other_place(fault: &Fault) -> (u32, u32) {
    let other = other(fault);
    (other.block[0], other.thread[0])
}
