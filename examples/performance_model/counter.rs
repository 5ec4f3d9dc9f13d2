//! What kernels count, each counted once, for however many devices it is predicted.

use std::collections::HashMap;
use std::error::Error;
use std::rc::Rc;
use std::time::Instant;

use gpu_examples::predicted::{Counted, Subject};
use gpu_model::literature::roofline::Demand;
use gpu_model::units::Bytes;

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
}

/// Counts, and those that were counted already.
pub struct Counter {
    counting: Counting,
    known: HashMap<(String, usize), Rc<Found>>,
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
    pub fn found(&mut self, kernel: Kernel, size: usize) -> Result<Rc<Found>, Box<dyn Error>> {
        let key = (kernel.name(), size);
        if let Some(found) = self.known.get(&key) {
            return Ok(Rc::clone(found));
        }
        let start = Instant::now();
        let (counted, demand) = match kernel {
            Kernel::Subject(subject) => {
                let (counting, caches) = (&self.counting, self.counting.caches);
                let counted = match subject {
                    // As these were counted when the formulas were found.
                    Subject::Transpose(_) | Subject::Sum(_) | Subject::SumOf(_) | Subject::Blur(..) => {
                        subject.count(size, caches)?
                    }
                    _ => subject.count_with(size, caches, &|report| counting.read(report))?,
                };
                (counted, subject.demand(size))
            }
            Kernel::Case(case) => {
                let (counted, bytes) = self.counting.count(case)?;
                (counted, Demand { operations: operations(case), bytes: vec![Bytes(bytes)] })
            }
        };
        let found = Rc::new(Found { counted, demand, seconds: start.elapsed().as_secs_f64() });
        self.known.insert(key, Rc::clone(&found));
        Ok(found)
    }
}
