//! What kernels count, each counted once, for however many devices it is predicted.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use gpu_examples::predicted::{Counted, Simulated};
use gpu_model::literature::roofline::Demand;
use gpu_model::units::Bytes;

use super::calls;
use super::cases::{Counting, operations};
use super::recorded::Kernel;

/// What a kernel counts.
pub struct Found {
    /// Launch by launch.
    pub counted: Counted,
    /// What any implementation has to do.
    pub demand: Demand,
    /// How long counting took.
    pub seconds: f64,
    /// What it took of all processors together, where the system says: what else runs beside it adds little to that.
    pub cpu_seconds: Option<f64>,
}

impl Found {
    /// Whether what one run leaves in a second-level cache of so many bytes is all that the next one needs. Each half
    /// of the cache has what its multiprocessors read (NVIDIA, A100 architecture whitepaper, 2020; so have 9.0's): what
    /// is read takes its place twice, as from run to run others read it.
    pub fn is_kept(&self, l2: Bytes) -> bool {
        let all = self.demand.bytes[0];
        let written: f64 = self.counted.launches.iter().map(|launch| launch.memory_written.0).sum();
        2.0 * all.0 - written.min(all.0) <= l2.0
    }
}

/// Counts, and those that were counted already.
pub struct Counter {
    counting: Counting,
    known: HashMap<(String, usize), Arc<Found>>,
}

impl Counter {
    /// One that has counted nothing yet.
    pub fn new(counting: Counting) -> Self {
        Self { counting, known: HashMap::new() }
    }

    /// What is counted, and for what device.
    pub fn counting(&self) -> &Counting {
        &self.counting
    }

    /// The size of the second-level cache.
    pub fn l2(&self) -> Bytes {
        self.counting.l2
    }

    /// What a kernel of that size counts.
    ///
    /// # Errors
    /// Those of the simulator.
    pub fn found(&mut self, kernel: Kernel, size: usize) -> Result<Arc<Found>, Box<dyn Error>> {
        let key = (kernel.name(), size);
        if let Some(found) = self.known.get(&key) {
            return Ok(Arc::clone(found));
        }
        // What a kernel left that could not be counted is not this one's.
        self.counting.known_seconds();
        let (start, before) = (Instant::now(), cpu_seconds());
        let (counted, demand) = match kernel {
            Kernel::Subject(subject) => {
                let (counting, caches) = (&self.counting, self.counting.caches);
                let known: Simulated<'_> =
                    &|sizes, simulate| counting.subjects.get(format!("{sizes:?}"), simulate);
                let counted = subject.count_by(size, caches, &|report| counting.read(report), known)?;
                (counted, subject.demand(size))
            }
            Kernel::Case(case) => {
                let (counted, bytes) = self.counting.count(case)?;
                (counted, Demand { operations: operations(case), bytes: vec![Bytes(bytes)] })
            }
            Kernel::Shape(shape) => (shape.count(&self.counting)?, shape.demand()),
            Kernel::Call(call) => (calls::count(call, size, &self.counting)?, calls::demand(call, size)),
        };
        // With what was known already, as if all had been simulated for this kernel alone.
        let [known, known_cpu] = self.counting.known_seconds();
        let cpu_seconds = cpu_seconds().zip(before).map(|(now, before)| now - before + known_cpu);
        let seconds = start.elapsed().as_secs_f64() + known;
        let found = Arc::new(Found { counted, demand, seconds, cpu_seconds });
        self.known.insert(key, Arc::clone(&found));
        Ok(found)
    }
}

/// Simulations that several sizes of a kernel are scaled from: made once, and kept with what they took.
pub struct Known<T> {
    all: Mutex<BTreeMap<String, (T, [f64; 2])>>,
    /// What those took that were not made again since this was asked for, each once, and nothing of those that were
    /// made since: on the clock, and of all processors.
    saved: Mutex<BTreeMap<String, [f64; 2]>>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { all: Mutex::default(), saved: Mutex::default() }
    }
}

impl<T: Clone> Known<T> {
    /// What is known by this name, or is made now: nothing else may run meanwhile.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get(&self, name: String, make: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, took)) = all.get(&name) {
            let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            saved.entry(name).or_insert(*took);
            return Ok(known.clone());
        }
        let (start, before) = (Instant::now(), cpu_seconds());
        let made = make()?;
        let of_processors = cpu_seconds().zip(before).map_or(0.0, |(now, before)| now - before);
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        saved.insert(name.clone(), [0.0; 2]);
        all.insert(name, (made.clone(), [start.elapsed().as_secs_f64(), of_processors]));
        Ok(made)
    }

    /// What is saved since this was asked last.
    pub fn saved(&self) -> [f64; 2] {
        let all = std::mem::take(&mut *self.saved.lock().unwrap_or_else(PoisonError::into_inner));
        [0, 1].map(|which| all.values().map(|took| took[which]).sum())
    }
}

/// What this process has taken of all processors so far, threads that have ended included; Linux says so.
fn cpu_seconds() -> Option<f64> {
    // Of the fields behind the name, which may have anything in it, the 12th and 13th are those of its own code and of
    // the kernel's for it, in hundredths of a second whatever the machine.
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let ticks = times.collect::<Result<Vec<_>, _>>().ok()?;
    (ticks.len() == 2).then(|| ticks.iter().sum::<u64>() as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was made since it was asked last is none that was saved, and what was not is so once.
    #[test]
    fn what_is_known_is_saved_once() {
        let known = Known::default();
        let get = || {
            known.get("one".to_owned(), || {
                std::thread::sleep(std::time::Duration::from_millis(20));
                Ok(1)
            })
        };
        assert_eq!((get(), get()), (Ok(1), Ok(1)));
        assert_eq!(known.saved(), [0.0; 2]);
        assert_eq!((get(), get()), (Ok(1), Ok(1)));
        let [seconds, _] = known.saved();
        let of_all = known.all.lock().expect("nobody panicked");
        assert!(
            seconds >= 0.02 && of_all.get("one").is_some_and(|(_, took)| took[0] == seconds),
            "{seconds}"
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_busy_processor_is_noticed() {
        let (start, before) = (Instant::now(), cpu_seconds().expect("Linux says so"));
        while start.elapsed().as_secs_f64() < 0.3 {
            std::hint::spin_loop();
        }
        let found = cpu_seconds().expect("it does") - before;
        // Other tests run beside this one, and others' programs may have had the processor.
        assert!(found > 0.0, "{found}");
    }
}
