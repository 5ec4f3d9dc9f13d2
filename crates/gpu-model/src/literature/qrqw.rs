//! QRQW PRAM: accesses to one cell wait in a queue and are served one at a time.
//!
//! P. B. Gibbons, Y. Matias, V. Ramachandran: *The QRQW PRAM: accounting for contention in parallel algorithms*, SODA
//! 1994, and *The queue-read queue-write asynchronous PRAM model*, Euro-Par 1996.
//!
//! **Synchronous.** A step is reads, computation, writes and a barrier, which waits until all queues are empty. With m
//! the most reads, operations or writes that one processor does, and κ the most processors that access one cell,
//!
//! ```text
//! time = Σ over steps max(m, κ)
//! ```
//!
//! **Asynchronous.** Processors go on without a barrier. Each issues one operation in a unit of time; a read or write
//! joins its cell's queue, which serves one access in a unit, first come, first served; the processor does not wait for
//! it, but for a value that it uses. The time is when the last processor has ended and the last queue is empty.
//! [`asynchronous`] plays that through.
//!
//! ```
//! use gpu_model::literature::qrqw::{Operation, Step, asynchronous, synchronous};
//! // 32 processors add to one cell, after 10 operations each.
//! let step = Step { computation: 10, writes: 1, contention: 32, ..Step::default() };
//! assert_eq!(synchronous(&[step])?, 32);
//! // Without a barrier too the queue takes 32 units, from when the first of them is issued.
//! let program = vec![Operation::Compute(10), Operation::Write(0)];
//! assert_eq!(asynchronous(&vec![program; 32])?, 10 + 32);
//! # Ok::<(), gpu_model::Error>(())
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::error::{Error, Result};

/// One step of all processors, with a barrier at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The most reads that one processor does.
    pub reads: u64,
    /// The most operations that one processor does.
    pub computation: u64,
    /// The most writes that one processor does.
    pub writes: u64,
    /// The most processors that access one cell.
    pub contention: u64,
}

/// Units of time of a program with a barrier after each step.
///
/// # Errors
/// [`Error::Contradiction`] where a cell is contended for that nobody accesses.
pub fn synchronous(steps: &[Step]) -> Result<u64> {
    let one = |step: &Step| {
        let Step { reads, computation, writes, contention } = *step;
        if reads + writes == 0 && contention > 0 {
            let (field, other) = ("contention", "accesses");
            return Err(Error::Contradiction { field, value: contention as f64, other, other_value: 0.0 });
        }
        Ok(reads.max(computation).max(writes).max(contention))
    };
    steps.iter().map(one).sum()
}

/// What a processor does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// So many operations on what it has.
    Compute(u64),
    /// Asks for the value of a cell and goes on.
    Read(usize),
    /// Waits until its read with this number, counted from 0, is served.
    Use(usize),
    /// Asks for a cell to be written and goes on.
    Write(usize),
}

/// Units of time of programs without barriers, one for each processor. Of accesses that are issued at one time, that of
/// the lower processor comes first.
///
/// # Errors
/// [`Error::UseBeforeRead`].
pub fn asynchronous(programs: &[Vec<Operation>]) -> Result<u64> {
    // When each processor issues its next operation: always the earliest goes on, so that queues fill in order of time.
    let mut ready: BinaryHeap<_> = (0..programs.len()).map(|processor| Reverse((0, processor))).collect();
    let mut next = vec![0; programs.len()];
    let mut served: Vec<Vec<u64>> = vec![Vec::new(); programs.len()];
    let mut cells: BTreeMap<usize, u64> = BTreeMap::new();
    let mut end = 0;
    while let Some(Reverse((now, processor))) = ready.pop() {
        end = end.max(now);
        let Some(operation) = programs[processor].get(next[processor]) else { continue };
        next[processor] += 1;
        let mut enter = |cell: usize| {
            let free = cells.entry(cell).or_default();
            *free = now.max(*free) + 1;
            *free
        };
        let then = match *operation {
            Operation::Compute(operations) => now + operations,
            Operation::Read(cell) => {
                let done = enter(cell);
                served[processor].push(done);
                now + 1
            }
            Operation::Write(cell) => {
                enter(cell);
                now + 1
            }
            Operation::Use(read) => {
                let issued = served[processor].len();
                let done = served[processor].get(read);
                (*done.ok_or(Error::UseBeforeRead { processor, read, issued })?).max(now)
            }
        };
        ready.push(Reverse((then, processor)));
    }
    Ok(cells.values().copied().fold(end, u64::max))
}

#[cfg(test)]
mod tests {
    use super::Operation::{Compute, Read, Use, Write};
    use super::*;

    /// Steps of max(2, 5, 1, 3) = 5 and max(1, 0, 1, 16) = 16: 21.
    #[test]
    fn a_step_is_its_longest_part_or_its_longest_queue() {
        let steps = [
            Step { reads: 2, computation: 5, writes: 1, contention: 3 },
            Step { reads: 1, computation: 0, writes: 1, contention: 16 },
        ];
        assert_eq!(synchronous(&steps), Ok(21));
        let nobody = [Step { contention: 2, ..Step::default() }];
        assert!(matches!(synchronous(&nobody), Err(Error::Contradiction { .. })));
    }

    /// One processor reads three cells at 0, 1, 2; the first is there at 1, the last at 3, when it is used; 2
    /// operations later, at 5, it writes, which is served at 6.
    #[test]
    fn reads_are_pipelined() {
        let program = vec![Read(0), Read(1), Read(2), Use(2), Compute(2), Write(3)];
        assert_eq!(asynchronous(&[program]), Ok(6));
    }

    /// Four read one cell at 0, and are served at 1, 2, 3, 4. Each then uses it: they end at 1, 2, 3, 4, and the one
    /// that computes 10 more before the use does not feel the queue: 1 + 10 = 11.
    #[test]
    fn a_queue_delays_who_uses_its_values() {
        let short = vec![Read(0), Use(0)];
        assert_eq!(asynchronous(&vec![short.clone(); 4]), Ok(4));
        let long = vec![Read(0), Compute(10), Use(0)];
        assert_eq!(asynchronous(&[short.clone(), short.clone(), short, long]), Ok(11));
    }

    /// A barrier costs what the longest queue of each step costs; without it queues of different cells overlap: two
    /// steps in which 8 processors write cell 0 and then 8 write cell 1 take 16 with a barrier. Without one, the
    /// writes to cell 0 are issued at 0 and those to cell 1 at 1: its queue is empty at 1 + 8 = 9.
    #[test]
    fn without_barriers_queues_overlap() {
        let step = Step { writes: 1, contention: 8, ..Step::default() };
        assert_eq!(synchronous(&[step, step]), Ok(16));
        assert_eq!(asynchronous(&vec![vec![Write(0), Write(1)]; 8]), Ok(9));
    }

    #[test]
    fn a_use_needs_its_read() {
        let result = asynchronous(&[vec![Read(0), Use(1)]]);
        assert_eq!(result, Err(Error::UseBeforeRead { processor: 0, read: 1, issued: 1 }));
        assert_eq!(asynchronous(&[]), Ok(0));
    }
}
