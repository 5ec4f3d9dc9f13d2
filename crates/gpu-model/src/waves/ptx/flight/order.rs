//! In what order a run's instructions are issued.
//!
//! A warp issues in order, one instruction a cycle, each when what it reads is there. That is not the order of the
//! text: ptxas puts an instruction where what it reads is there, and others before it. So a warp issues of those whose
//! operands are there the first of the text, and none where there is none. No instruction passes a barrier or a fence,
//! and no load a store to the same memory; read-only loads do. What branches take is not counted. (In the text's order,
//! but for loops of one run, single factors of 34 to 4701 rows were predicted 1.3 to 2.5 times too long.)

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::super::{Latency, latency};
use super::Instruction;

/// A warp, from run to run.
pub(in super::super) struct Warp<'a> {
    now: f64,
    /// When registers are there.
    ready: HashMap<&'a str, f64>,
    latency: Latency,
}

/// An instruction that is to be issued.
struct Open {
    /// When what it reads is there, as far as that is known.
    there: f64,
    /// How many of those that it waits for are not issued.
    missing: u32,
    /// Those that wait for it, and whether only until it is issued.
    behind: Vec<(usize, bool)>,
    latency: f64,
}

impl<'a> Warp<'a> {
    pub(in super::super) fn new(latency: Latency) -> Self {
        Self { now: 0.0, ready: HashMap::new(), latency }
    }

    /// Issues all of these so many times, as turns of a loop, and says how many cycles that takes.
    pub(super) fn issue(&mut self, instructions: &[Instruction<'a>], turns: usize) -> f64 {
        let begun = self.now;
        let all: Vec<Instruction<'a>> = std::iter::repeat_n(instructions, turns).flatten().copied().collect();
        let mut rest = &all[..];
        while !rest.is_empty() {
            // A barrier by itself, or what is before the next one.
            let next = rest.iter().position(Instruction::is_barrier);
            let next = next.unwrap_or(rest.len()).max(1);
            let (first, others) = rest.split_at(next);
            self.issue_in_any_order(first);
            rest = others;
        }
        self.now - begun
    }

    fn issue_in_any_order(&mut self, instructions: &[Instruction<'a>]) {
        let mut all: Vec<Open> = Vec::with_capacity(instructions.len());
        let (mut written, mut stored) = (HashMap::<&str, usize>::new(), HashMap::<&str, usize>::new());
        for (place, instruction) in instructions.iter().enumerate() {
            let (to, from) = instruction.registers();
            let parts: Vec<&str> = instruction.operation.split(['.', ':']).collect();
            let mut open =
                Open { there: 0.0, missing: 0, behind: Vec::new(), latency: latency(&parts, self.latency) };
            let mut wait = |open: &mut Open, other: usize, is_order| {
                all[other].behind.push((place, is_order));
                open.missing += 1;
            };
            for name in from {
                match written.get(name) {
                    Some(&other) => wait(&mut open, other, false),
                    None => open.there = open.there.max(self.ready.get(name).copied().unwrap_or(0.0)),
                }
            }
            for space in ["global", "shared", "local"].into_iter().filter(|space| parts.contains(space)) {
                if let Some(&other) = stored.get(space).filter(|_| !parts.contains(&"nc")) {
                    wait(&mut open, other, true);
                }
                if !matches!(parts[0], "ld" | "ldu" | "ldmatrix") || instruction.is_ordered() {
                    stored.insert(space, place);
                }
            }
            written.extend(to.into_iter().map(|name| (name, place)));
            all.push(open);
        }
        // Times are positive, and the bits of such numbers are ordered as they are.
        let mut waiting = BinaryHeap::new();
        let mut there = BinaryHeap::new();
        let free = all.iter().enumerate().filter(|(_, open)| open.missing == 0);
        waiting.extend(free.map(|(place, open)| Reverse((open.there.to_bits(), place))));
        let mut done = vec![0.0; all.len()];
        loop {
            while let Some(&Reverse((time, place))) = waiting.peek() {
                if f64::from_bits(time) > self.now + 1.0 {
                    break;
                }
                waiting.pop();
                there.push(Reverse(place));
            }
            let Some(Reverse(place)) = there.pop() else {
                let Some(&Reverse((time, _))) = waiting.peek() else { break };
                self.now = f64::from_bits(time) - 1.0;
                continue;
            };
            // A move is but another name.
            let is_name = all[place].latency == 0.0;
            let issued = if is_name { all[place].there } else { self.now + 1.0 };
            self.now = if is_name { self.now } else { issued };
            done[place] = issued + all[place].latency;
            for (other, is_order) in std::mem::take(&mut all[place].behind) {
                let open = &mut all[other];
                open.there = open.there.max(if is_order { issued } else { done[place] });
                open.missing -= 1;
                if open.missing == 0 {
                    waiting.push(Reverse((open.there.to_bits(), other)));
                }
            }
        }
        self.ready.extend(written.into_iter().map(|(name, place)| (name, done[place])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Cycles;

    const LATENCY: Latency =
        Latency { single: Cycles(4.0), double: Cycles(8.0), exchange: Cycles(24.0), shared: Cycles(30.0) };

    fn cycles(text: &'static [(&'static str, &'static str)]) -> f64 {
        let all = text.iter().map(|&(operation, operands)| Instruction { operation, guard: "", operands });
        Warp::new(LATENCY).issue(&all.collect::<Vec<_>>(), 1)
    }

    /// Both loads are issued before the first sum, which waits for the first of them; the second sum comes next. In
    /// the text's order it would be 62 cycles.
    #[test]
    fn loads_come_first() {
        let text = &[
            ("ld.shared.b32", "a,[p];"),
            ("add.s32", "s,a,t;"),
            ("ld.shared.b32", "b,[q];"),
            ("add.s32", "u,b,t;"),
        ];
        assert_eq!(cycles(text), 32.0);
    }

    /// The second load is behind a store, which waits for the first load, or behind a barrier.
    #[test]
    fn loads_stay_behind_stores_and_barriers() {
        const LOAD: (&str, &str) = ("ld.shared.b32", "a,[p];");
        let stored = &[LOAD, ("st.shared.b32", "[q],a;"), ("ld.shared.b32", "b,[q];"), ("add.s32", "u,b,t;")];
        assert_eq!(cycles(stored), 31.0 + 1.0 + 30.0);
        let met = &[LOAD, ("bar.sync", "0;"), ("ld.shared.b32", "b,[q];"), ("add.s32", "u,b,t;")];
        assert_eq!(cycles(met), 3.0 + 30.0);
        let apart = &[LOAD, ("st.global.b32", "[q],a;"), ("ld.shared.b32", "b,[q];"), ("add.s32", "u,b,t;")];
        assert_eq!(cycles(apart), 32.0);
    }
}
