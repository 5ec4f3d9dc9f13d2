//! Attacks on the simulator: kernels with a parameter that says in which way they are broken. As they should be they
//! pass for every seed with the right result; broken in one way they are found, by a fault or a wrong result, on at
//! least 190 of 200 seeds. A few, marked so, are right for many schedules: what they do is ordered there, because one
//! block happened to come after the other.

mod algorithms;
mod bounds;
mod copies;
mod order;
mod progress;
mod tiles;
mod warps;

use std::collections::BTreeMap;

use gpu_sim::{Config, Fault, Record, Simulator};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

const SEEDS: u64 = 200;
/// On how many of them a broken kernel must be found, and one that is right for many schedules.
const FOUND: u64 = 190;
const FOUND_AT_TIMES: u64 = 110;
const AT_TIMES: &str = " (at times)";

type Launch = unsafe fn(&Simulator, LaunchConfig, Global<u32>, GlobalMut<u32>, u32) -> Result<(), Fault>;

/// A kernel that reads `x`, writes `y`, and is right where its last argument is zero.
struct Attack {
    name: &'static str,
    launch: Launch,
    config: LaunchConfig,
    x: Vec<u32>,
    /// What `y` begins with; the rest of it is unwritten.
    y: Vec<u32>,
    /// What it ends with.
    expected: Vec<u32>,
    /// All blocks are in flight: some wait for others.
    together: bool,
    /// What is wrong where the argument is one, two, …
    broken: &'static [&'static str],
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

impl Attack {
    fn run(&self, seed: u64, how: u32) -> Result<Vec<u32>, Fault> {
        let record = if seed.is_multiple_of(2) { Record::Races } else { Record::Full };
        let vary_residency = !self.together;
        let config = Config { record, spin_budget: 1 << 14, vary_residency, ..Config::with_seed(seed) };
        let simulator = Simulator::new(config);
        let (x, y) = (simulator.alloc(4 * self.x.len())?, simulator.alloc(4 * self.expected.len())?);
        simulator.write(x, &bytes(&self.x))?;
        simulator.write(y, &bytes(&self.y))?;
        // SAFETY: only the simulator gets them, which checks every access.
        unsafe {
            (self.launch)(&simulator, self.config, Global::from_raw(x), GlobalMut::from_raw(y), how)?;
        }
        let mut out = vec![0; 4 * self.expected.len()];
        simulator.read(y, &mut out)?;
        Ok(out.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().expect("4 bytes"))).collect())
    }

    fn check(&self) {
        for seed in 0..SEEDS {
            match self.run(seed, 0) {
                Ok(y) => assert_eq!(y, self.expected, "{}, seed {seed}", self.name),
                Err(fault) => panic!("{}, seed {seed}, flagged although it is right: {fault}", self.name),
            }
        }
        let mut missed = Vec::new();
        for (how, what) in (1..).zip(self.broken) {
            let mut kinds = BTreeMap::<String, u32>::new();
            for seed in 0..SEEDS {
                let kind = match self.run(seed, how) {
                    Ok(y) if y == self.expected => continue,
                    Ok(_) => "wrong result".to_string(),
                    Err(fault) => {
                        let kind = format!("{:?}", fault.kind);
                        kind[..kind.find([' ', '{']).unwrap_or(kind.len())].to_string()
                    }
                };
                *kinds.entry(kind).or_default() += 1;
            }
            let found = kinds.values().sum::<u32>();
            println!("{found:>4} of {SEEDS}: {}, {what}: {kinds:?}", self.name);
            let least = if what.ends_with(AT_TIMES) { FOUND_AT_TIMES } else { FOUND };
            if u64::from(found) < least {
                missed.push(format!("{what}: found on {found} of {SEEDS} seeds"));
            }
        }
        assert!(missed.is_empty(), "{}: {missed:?}", self.name);
    }
}
