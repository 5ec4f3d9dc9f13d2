//! Loops that ptxas unrolls.
//!
//! A loop that is one run, counts in a 32-bit register by a constant, and in which no load has to stay behind a store
//! or a barrier, becomes a run of four turns, or of two where four are too long: then their loads stand together in
//! front. That is so in the machine code for 9.0 of every such loop of the workspace's kernels that was looked at
//! (products of a matrix and a vector by rows of 29 instructions, systems of factors of 43, by four; the sums of parts
//! of 59, by two; a step of a factor of 105, not at all; nor what `.pragma "nounroll"` says).

use super::{Instruction, Run, Warp};

/// Turns that come together, as many as there is room for.
const TURNS: [usize; 2] = [4, 2];
/// Instructions of all of them, at most.
const ROOM: usize = 200;

/// The turns of a run that come together, one where it is no such loop.
pub(in super::super) struct Turns<'r, 'a> {
    run: &'r Run<'a>,
    pub(in super::super) count: usize,
}

impl<'r, 'a> Turns<'r, 'a> {
    pub(super) fn of(run: &'r Run<'a>) -> Self {
        let is_fit = |turns: &usize| turns * run.instructions.len() <= ROOM;
        let turns = TURNS.into_iter().find(is_fit).filter(|_| is_unrolled(run));
        Self { run, count: turns.unwrap_or(1) }
    }

    /// Cycles that a warp takes for a turn, which has its multiprocessor for itself.
    pub(in super::super) fn cycles(&self, warp: &mut Warp<'a>) -> f64 {
        warp.issue(&self.run.instructions, self.count) / self.count as f64
    }
}

fn has(instruction: &Instruction<'_>, part: &str) -> bool {
    instruction.operation.split(['.', ':']).any(|other| other == part)
}

fn name<'a>(instruction: &Instruction<'a>) -> &'a str {
    instruction.operation.split('.').next().unwrap_or("")
}

fn is_load(instruction: &Instruction<'_>) -> bool {
    matches!(name(instruction), "ld" | "ldu")
}

/// Whether it comes back to its own beginning.
fn is_loop(run: &Run<'_>) -> bool {
    run.label.is_some() && run.label == run.target
}

/// Whether ptxas makes one run of several turns.
fn is_unrolled(run: &Run<'_>) -> bool {
    let is_loop = is_loop(run) && !run.rolled;
    let all = &run.instructions;
    let counts = all.iter().any(|one| {
        let words: Vec<&str> = one.operands.trim_end_matches(';').split(',').map(str::trim).collect();
        let is_step = name(one) == "add"
            && (has(one, "s32") || has(one, "u32"))
            && matches!(words[..], [to, from, by] if to == from && by.parse::<i64>().is_ok());
        let is_asked = |other: &Instruction<'_>| {
            let is_short = ["s32", "u32", "b32"].iter().any(|part| has(other, part));
            name(other) == "setp" && is_short && other.registers().1.contains(&words[0])
        };
        is_step && all.iter().any(is_asked)
    });
    let stays = all.iter().any(|one| {
        let stored = |space| has(one, space) && all.iter().any(|other| is_load(other) && has(other, space));
        match name(one) {
            "st" => stored("global") || stored("shared"),
            "atom" | "red" | "shfl" | "vote" | "match" | "redux" | "mma" | "wgmma" | "cp" => true,
            _ => one.is_barrier() || one.is_ordered(),
        }
    });
    is_loop && counts && !stays && all.iter().any(is_load)
}

#[cfg(test)]
mod tests {
    use super::super::Flow;
    use super::super::order::Warp;
    use crate::units::Cycles;
    use crate::waves::ptx::Latency;

    const LATENCY: Latency =
        Latency { single: Cycles(4.0), double: Cycles(8.0), exchange: Cycles(24.0), shared: Cycles(30.0) };
    const COUNTED: [(&str, &str); 3] = [("add.s32", "i,i,1;"), ("setp.lt.s32", "p,i,n;"), ("bra", "$1;")];

    /// A loop of these instructions, how many turns come together, how often one waits, and its cycles.
    fn found(body: &[(&'static str, &'static str)], rolled: bool) -> (usize, f64, f64) {
        let mut flow = Flow::new();
        flow.next(Some("$1"));
        if rolled {
            flow.roll();
        }
        for &(operation, operands) in body {
            flow.issue(operation, if operation == "bra" { "p" } else { "" }, operands);
        }
        let waits = flow.waits()[1];
        let turns = flow.turns().nth(1).expect("there is a loop");
        (turns.count, waits, turns.cycles(&mut Warp::new(LATENCY)))
    }

    /// Four loads at once, and four sums behind each other: the last load is issued in cycle 4, what depends on the
    /// first is there in cycle 31, and four sums take 3 · 4 more.
    #[test]
    fn turns_of_a_short_loop_come_together() {
        let body = [("ld.shared.b32", "a,[d];"), ("add.f32", "s,s,a;"), ("add.s32", "d,d,4;")];
        let all: Vec<_> = body.into_iter().chain(COUNTED).collect();
        let (count, _, cycles) = found(&all, false);
        assert_eq!(count, 4);
        let (one, _, alone) = found(&all, true);
        assert_eq!(one, 1);
        assert!(cycles < alone / 2.0 && alone >= 31.0, "{cycles} and {alone}");
        let global = [("ld.global.b32", "a,[d];"), ("add.f32", "s,s,a;"), ("add.s32", "d,d,4;")];
        let all: Vec<_> = global.into_iter().chain(COUNTED).collect();
        assert_eq!((found(&all, false).1, found(&all, true).1), (0.25, 1.0));
    }

    /// Not where a load stays behind a store, lanes exchange, nothing is counted, nor where all of it is too long.
    #[test]
    fn other_loops_are_not_unrolled() {
        let with = |body: &[(&'static str, &'static str)]| {
            found(&body.iter().copied().chain(COUNTED).collect::<Vec<_>>(), false).0
        };
        const LOAD: (&str, &str) = ("ld.shared.b32", "a,[d];");
        assert_eq!(with(&[LOAD, ("st.global.b32", "[q],a;")]), 4);
        assert_eq!(with(&[LOAD, ("st.shared.b32", "[q],a;")]), 1);
        assert_eq!(with(&[LOAD, ("shfl.sync.idx.b32", "b,a,1,31,-1;")]), 1);
        assert_eq!(with(&[LOAD, ("bar.sync", "0;")]), 1);
        assert_eq!(with(&[("ld.relaxed.gpu.global.b32", "a,[d];")]), 1);
        assert_eq!(with(&[LOAD; 60]), 2);
        assert_eq!(with(&[LOAD; 110]), 1);
        assert_eq!(found(&[LOAD, ("setp.lt.u64", "p,d,n;"), ("bra", "$1;")], false).0, 1);
    }
}
