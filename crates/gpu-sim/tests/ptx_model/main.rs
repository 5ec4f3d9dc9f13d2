//! The simulator against PTX's memory model: of every litmus program, exactly those outcomes come up over seeds which
//! the axioms allow, less those in which a load returns a store of the future (load buffering).

#[path = "../common/mod.rs"]
mod common;

mod axioms;
mod families;
mod program;

use std::collections::BTreeSet;

use axioms::{Outcome, allowed};

/// Seeds that every program runs on, and on how many more an outcome is waited for.
const SEEDS: u64 = 400;
const MOST: u64 = 40_000;

/// What came up, and what was allowed.
struct Seen {
    reached: BTreeSet<Outcome>,
    /// Allowed by load buffering alone.
    future: BTreeSet<Outcome>,
    /// Seeds that it took.
    seeds: u64,
}

/// Runs a program until all outcomes have come up that can, and panics at one that is forbidden or missing.
fn explore(text: &str) -> Seen {
    let program = program::parse(text);
    let outcomes = allowed(&program);
    let (wanted, future): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(|&(_, in_order)| in_order);
    let wanted: BTreeSet<Outcome> = wanted.into_iter().map(|(outcome, _)| outcome).collect();
    let future: BTreeSet<Outcome> = future.into_iter().map(|(outcome, _)| outcome).collect();
    let mut reached = BTreeSet::new();
    for seed in 0..MOST {
        let outcome = program::run(&program, seed).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        assert!(wanted.contains(&outcome), "{text}, seed {seed}: {outcome:?} is none of {wanted:?}");
        reached.insert(outcome);
        if seed + 1 >= SEEDS && reached.len() == wanted.len() {
            return Seen { reached, future, seeds: seed + 1 };
        }
    }
    let missing: Vec<_> = wanted.difference(&reached).collect();
    panic!("{text}: {missing:?} of {} outcomes never came up in {MOST} seeds", wanted.len());
}
