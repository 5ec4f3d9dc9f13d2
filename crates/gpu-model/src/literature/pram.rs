//! PRAM: processors in lockstep on one shared memory, every operation one unit of time.
//!
//! S. Fortune, J. Wyllie, *Parallelism in random access machines*, STOC 1978. The variants differ in what processors
//! may do to one cell at a time:
//!
//! | | reads of one cell | writes of one cell |
//! |---|---|---|
//! | EREW | one at a time | one at a time |
//! | CREW | any number | one at a time |
//! | ERCW | one at a time | any number |
//! | CRCW | any number | any number |
//!
//! A step is reads, then computation, then writes; a program is steps:
//!
//! ```text
//! time = Σ over steps (reads + computation + writes)      each the most that one processor does
//! ```
//!
//! What a concurrent write leaves in the cell is [`WriteRule`]'s to say.
//!
//! ```
//! use gpu_model::literature::pram::{Access, Step, Variant, time};
//! // A tree sums 8 numbers in 3 steps: two reads, one addition, one write each, no cell shared.
//! let tree = [Step { reads: 2, computation: 1, writes: 1, ..Step::default() }; 3];
//! assert_eq!(time(&tree, Variant::EREW)?, 12);
//! // One cell read by all 8 is for concurrent readers only.
//! let shared = [Step { reads: 1, read_contention: 8, ..Step::default() }];
//! assert_eq!(time(&shared, Variant::CREW)?, 1);
//! assert!(time(&shared, Variant::EREW).is_err());
//! assert_eq!(Variant::CREW.writes, Access::Exclusive);
//! # Ok::<(), gpu_model::Error>(())
//! ```

use crate::error::{Error, Result};

/// How many processors may access one cell at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// One.
    Exclusive,
    /// Any number.
    Concurrent,
}

/// Which accesses a model allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// What it is called.
    pub name: &'static str,
    /// Reads of one cell.
    pub reads: Access,
    /// Writes of one cell.
    pub writes: Access,
}

impl Variant {
    /// Exclusive read, exclusive write.
    pub const EREW: Self = Self { name: "EREW", reads: Access::Exclusive, writes: Access::Exclusive };
    /// Concurrent read, exclusive write.
    pub const CREW: Self = Self { name: "CREW", reads: Access::Concurrent, writes: Access::Exclusive };
    /// Exclusive read, concurrent write.
    pub const ERCW: Self = Self { name: "ERCW", reads: Access::Exclusive, writes: Access::Concurrent };
    /// Concurrent read, concurrent write.
    pub const CRCW: Self = Self { name: "CRCW", reads: Access::Concurrent, writes: Access::Concurrent };
}

/// One step of all processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The most reads of shared memory that one processor does.
    pub reads: u64,
    /// The most operations that one processor does.
    pub computation: u64,
    /// The most writes of shared memory that one processor does.
    pub writes: u64,
    /// The most processors that read one cell at a time.
    pub read_contention: u64,
    /// The most processors that write one cell at a time.
    pub write_contention: u64,
}

/// Units of time of a program.
///
/// # Errors
/// [`Error::Forbidden`] where a step's contention is not the variant's; [`Error::Contradiction`] where a cell is
/// contended for that nobody accesses.
pub fn time(steps: &[Step], variant: Variant) -> Result<u64> {
    let one = |(at, step): (usize, &Step)| {
        let Step { reads, computation, writes, read_contention, write_contention } = *step;
        for (access, operations, contention, allowed) in [
            ("read", reads, read_contention, variant.reads),
            ("write", writes, write_contention, variant.writes),
        ] {
            if operations == 0 && contention > 0 {
                let (field, other) = ("contention", "accesses");
                return Err(Error::Contradiction {
                    field,
                    value: contention as f64,
                    other,
                    other_value: 0.0,
                });
            }
            if contention > 1 && allowed == Access::Exclusive {
                return Err(Error::Forbidden { model: variant.name, step: at, access, contention });
            }
        }
        Ok(reads + computation + writes)
    };
    steps.iter().enumerate().map(one).sum()
}

/// What a concurrent write leaves in the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRule {
    /// The value that all processors write; it is an error if they differ.
    Common,
    /// The value of any of them; here of the one that comes first in the list.
    Arbitrary,
    /// The value of the processor with the lowest number.
    Priority,
    /// The sum of all values.
    Sum,
}

impl WriteRule {
    /// The value of a cell after these writes, each a processor's number and what it writes; none without writes.
    ///
    /// # Errors
    /// [`Error::Disagree`] where [`Common`](Self::Common) values differ.
    pub fn resolve(self, writes: &[(usize, i64)]) -> Result<Option<i64>> {
        let Some(&(_, first)) = writes.first() else { return Ok(None) };
        let value = match self {
            Self::Common => match writes.iter().find(|(_, value)| *value != first) {
                Some(&(_, second)) => return Err(Error::Disagree { first, second }),
                None => first,
            },
            Self::Arbitrary => first,
            Self::Priority => {
                writes.iter().min_by_key(|(processor, _)| *processor).map_or(first, |&(_, value)| value)
            }
            Self::Sum => writes.iter().map(|(_, value)| value).sum(),
        };
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two steps, 2 + 3 + 1 and 1 + 0 + 1: 8.
    #[test]
    fn time_is_the_sum_of_all_that_is_done() {
        let steps = [
            Step { reads: 2, computation: 3, writes: 1, read_contention: 1, write_contention: 1 },
            Step { reads: 1, computation: 0, writes: 1, read_contention: 1, write_contention: 1 },
        ];
        for variant in [Variant::EREW, Variant::CREW, Variant::ERCW, Variant::CRCW] {
            assert_eq!(time(&steps, variant), Ok(8));
        }
        assert_eq!(time(&[], Variant::EREW), Ok(0));
    }

    /// The table in the module's documentation.
    #[test]
    fn variants_forbid_what_they_are_called_after() {
        let reads = [Step { reads: 1, read_contention: 2, ..Step::default() }];
        let writes = [Step { writes: 1, write_contention: 2, ..Step::default() }];
        for (variant, may_read, may_write) in [
            (Variant::EREW, false, false),
            (Variant::CREW, true, false),
            (Variant::ERCW, false, true),
            (Variant::CRCW, true, true),
        ] {
            assert_eq!(time(&reads, variant).is_ok(), may_read, "{}", variant.name);
            assert_eq!(time(&writes, variant).is_ok(), may_write, "{}", variant.name);
        }
        assert_eq!(
            time(&writes, Variant::CREW),
            Err(Error::Forbidden { model: "CREW", step: 0, access: "write", contention: 2 })
        );
        let nobody = [Step { read_contention: 2, ..Step::default() }];
        assert!(matches!(time(&nobody, Variant::CRCW), Err(Error::Contradiction { .. })));
    }

    #[test]
    fn rules_of_concurrent_writes() {
        let writes = [(3, 10), (1, 20), (2, 30)];
        assert_eq!(WriteRule::Arbitrary.resolve(&writes), Ok(Some(10)));
        assert_eq!(WriteRule::Priority.resolve(&writes), Ok(Some(20)));
        assert_eq!(WriteRule::Sum.resolve(&writes), Ok(Some(60)));
        assert_eq!(WriteRule::Common.resolve(&writes), Err(Error::Disagree { first: 10, second: 20 }));
        assert_eq!(WriteRule::Common.resolve(&[(0, 7), (5, 7)]), Ok(Some(7)));
        assert_eq!(WriteRule::Sum.resolve(&[]), Ok(None));
    }
}
