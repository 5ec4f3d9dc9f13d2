//! What no race detector finds: values that are ordered, and wrong.
//!
//! A counter that a launch leaves behind and the next one begins with, two words that are each read atomically and do
//! not belong together, a result that depends on which block came first: nothing is unordered there. The results
//! tell, compared with those of a run in which one thread runs at a time.

use std::fmt::Debug;

use crate::config::Config;
use crate::fault::Fault;
use crate::simulator::Simulator;

/// A run that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure<T: Debug> {
    /// A fault, in the round with this number.
    #[error("round {round}: {fault}")]
    Fault {
        /// Which time it was that the same was done, from zero.
        round: u32,
        /// What happened.
        fault: Fault,
    },
    /// A result other than that of one thread at a time.
    #[error("{}, round {round}: {actual:?}, where one thread at a time gives {expected:?}", by(seed))]
    Different {
        /// The seed that reproduces it; `None` for a later round of one thread at a time.
        seed: Option<u64>,
        /// Which time it was that the same was done, from zero.
        round: u32,
        /// The first result of one thread at a time.
        expected: T,
        /// This one.
        actual: T,
    },
}

fn by(seed: &Option<u64>) -> String {
    seed.map_or_else(|| "one thread at a time".into(), |seed| format!("seed {seed}"))
}

/// Does the same `rounds` times on one simulator, with threads one at a time, and then on one for each seed: every
/// result must be the first one. `prepare` makes what lasts from round to round, counters above all; `round` launches
/// and returns what came out.
///
/// # Errors
/// The first fault or difference.
///
/// ```
/// use gpu_sim::check::{Failure, against_one_at_a_time};
/// use gpu_sim::device::{Ordering, Scope, Space, atomic_update, block_idx, global_store, Store};
/// use gpu_sim::{Config, Fault, Geometry, Kernel, Simulator};
///
/// // Every block draws a ticket; whoever has the last one says so. Nobody resets the counter.
/// let kernel = Kernel { name: "last_block", file: file!(), line: line!() };
/// let prepare = |simulator: &Simulator| Ok([simulator.alloc_zeroed(4)?, simulator.alloc_zeroed(4)?]);
/// let round = |simulator: &Simulator, &[count, done]: &[u64; 2]| {
///     simulator.fill(done, 4, 0)?;
///     simulator.launch(kernel, Geometry::linear(8, 1, 0), &|| {
///         let ticket = atomic_update(Space::Global, count, Ordering::AcqRel, Scope::Device, |n: u32| Some(n + 1));
///         if ticket == 7 {
///             global_store(done, 1u32, Store::Weak);
///         }
///     })?;
///     let mut word = [0; 4];
///     simulator.read(done, &mut word)?;
///     Ok(u32::from_ne_bytes(word))
/// };
/// let failure = against_one_at_a_time(Config::default(), 0..10, 2, prepare, round).unwrap_err();
/// assert!(matches!(failure, Failure::Different { round: 1, expected: 1, actual: 0, .. }), "{failure}");
/// ```
pub fn against_one_at_a_time<S, T: Clone + PartialEq + Debug>(
    config: Config,
    seeds: impl IntoIterator<Item = u64>,
    rounds: u32,
    prepare: impl Fn(&Simulator) -> Result<S, Fault>,
    round: impl Fn(&Simulator, &S) -> Result<T, Fault>,
) -> Result<(), Failure<T>> {
    let serial = Config { resident_blocks: config.resident_blocks, ..Config::one_at_a_time() };
    let runs = std::iter::once((None, serial))
        .chain(seeds.into_iter().map(|seed| (Some(seed), Config { seed, ..config })));
    let mut first: Option<T> = None;
    for (seed, config) in runs {
        let simulator = Simulator::new(config);
        let state = prepare(&simulator).map_err(|fault| Failure::Fault { round: 0, fault })?;
        for number in 0..rounds {
            let actual =
                round(&simulator, &state).map_err(|fault| Failure::Fault { round: number, fault })?;
            match &first {
                Some(expected) if *expected != actual => {
                    let expected = expected.clone();
                    return Err(Failure::Different { seed, round: number, expected, actual });
                }
                Some(_) => {}
                None => first = Some(actual),
            }
        }
    }
    Ok(())
}
