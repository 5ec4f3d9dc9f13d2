//! How often a warp waits for what it loads from global memory.
//!
//! A warp issues in order, so it stops at the first instruction that reads what is not there yet. Loads of one run of
//! instructions come to stand together before that, as the compiler moves them up, but for three: one whose address is
//! itself loaded, one behind a store or an atomic that might change what it reads, where that store waits for a load,
//! and one behind a barrier. So loads of a loop's turns are in flight together only where the turns are in one run;
//! else each turn waits. By steps, of which each is one wait, with s(i) the last step of what instruction i reads:
//!
//! ```text
//! load i        is issued in step  g(i) = max(s(i), s of stores and atomics before it, s of barriers before it)
//! its result    is there after step g(i) + 1
//! other i       its result is there after step s(i)
//! waits         = max over all instructions i of a run: s(i)
//! ```
//!
//! Read-only loads (`ld.global.nc`) go before stores, as nothing changes what they read. What a run loads and does not
//! read is on its way when the next one begins, whichever that is, and the first to read any of it waits once for all.
//!
//! Short loops are one run of several turns once ptxas has unrolled them ([`Turns`]).

mod order;
mod turns;

use std::collections::{HashMap, HashSet};

pub(super) use self::order::Warp;
pub(super) use self::turns::Turns;

/// Rounds after which what is on its way where a run begins is known; it comes round in loops.
const ROUNDS: usize = 8;

/// An instruction, as far as registers matter.
#[derive(Clone, Copy)]
struct Instruction<'a> {
    operation: &'a str,
    guard: &'a str,
    operands: &'a str,
}

impl<'a> Instruction<'a> {
    /// The registers that it writes, and those that it reads.
    fn registers(self) -> (Vec<&'a str>, Vec<&'a str>) {
        let Self { guard, operands, .. } = self;
        let is_name = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_alphabetic());
        let names =
            |text: &'a str| text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(is_name);
        // What is written comes first, but where that is memory.
        let end = match operands.chars().next() {
            Some('{') => operands.find('}'),
            Some('[') => None,
            _ => operands.find(','),
        };
        let (to, from) = operands.split_at(end.unwrap_or(0));
        (names(to).collect(), names(from).chain(names(guard)).collect())
    }

    /// Whether nothing passes it.
    fn is_barrier(&self) -> bool {
        matches!(self.operation.split('.').next(), Some("bar" | "barrier" | "fence" | "membar"))
    }

    /// Whether it says in what order it is seen.
    fn is_ordered(&self) -> bool {
        let mut parts = self.operation.split(['.', ':']);
        parts.any(|part| matches!(part, "relaxed" | "acquire" | "release" | "volatile"))
    }
}

/// A run of instructions, and where it goes.
#[derive(Default)]
struct Run<'a> {
    label: Option<&'a str>,
    instructions: Vec<Instruction<'a>>,
    target: Option<&'a str>,
    /// It goes nowhere but there, or ends.
    leaves: bool,
    /// The compiler was told not to unroll it.
    rolled: bool,
}

/// A kernel's runs.
pub(super) struct Flow<'a>(Vec<Run<'a>>);

impl<'a> Flow<'a> {
    /// With one run, which is empty.
    pub(super) fn new() -> Self {
        Self(vec![Run::default()])
    }

    fn last(&mut self) -> &mut Run<'a> {
        self.0.last_mut().expect("there is one")
    }

    /// Begins a run, at a label or behind a branch.
    pub(super) fn next(&mut self, label: Option<&'a str>) {
        self.0.push(Run { label, ..Run::default() });
    }

    /// An instruction, with the register of its guard.
    pub(super) fn issue(&mut self, operation: &'a str, guard: &'a str, operands: &'a str) {
        let run = self.last();
        run.instructions.push(Instruction { operation, guard, operands });
        let ends = |names: &[&str]| names.iter().any(|name| operation.split('.').next() == Some(name));
        if ends(&["bra"]) {
            run.target = Some(operands.trim_end_matches(';').trim());
        }
        run.leaves = guard.is_empty() && ends(&["bra", "ret", "exit"]);
    }

    /// The run is not to be unrolled.
    pub(super) fn roll(&mut self) {
        self.last().rolled = true;
    }

    /// The runs that each may go to.
    fn ways(&self) -> Vec<Vec<usize>> {
        let labels: HashMap<&str, usize> =
            self.0.iter().enumerate().filter_map(|(place, run)| Some((run.label?, place))).collect();
        let ways = self.0.iter().enumerate().map(|(place, run)| {
            let target = run.target.and_then(|target| labels.get(target)).copied();
            let next = (!run.leaves && place + 1 < self.0.len()).then_some(place + 1);
            target.into_iter().chain(next).collect()
        });
        ways.collect()
    }

    /// Whether each run is one of a loop: one that it comes back to.
    pub(super) fn loops(&self) -> Vec<bool> {
        let ways = self.ways();
        let comes_back = |from: usize| {
            let (mut seen, mut open) = (vec![false; ways.len()], ways[from].clone());
            while let Some(place) = open.pop() {
                if !std::mem::replace(&mut seen[place], true) {
                    open.extend(&ways[place]);
                }
            }
            seen[from]
        };
        (0..ways.len()).map(comes_back).collect()
    }

    /// For each run that is not `counted` the counted ones that are executed at most as often as it: those that it
    /// always comes before or after, and that none comes back to without it.
    pub(super) fn as_often(&self, counted: &[bool]) -> Vec<Vec<usize>> {
        let ways = self.ways();
        let mut back = vec![Vec::new(); ways.len()];
        for (from, to) in ways.iter().enumerate() {
            to.iter().for_each(|&to| back[to].push(from));
        }
        let ends: Vec<usize> = (0..ways.len()).filter(|&place| ways[place].is_empty()).collect();
        let [entered, left] = [reached(&ways, &[0], None), reached(&back, &ends, None)];
        let of = |(run, &is_counted): (usize, &bool)| {
            if is_counted || !entered[run] {
                return Vec::new();
            }
            let around = [reached(&ways, &[0], Some(run)), reached(&back, &ends, Some(run))];
            let turns = in_turns(&ways, run);
            let is_bound = |other: &usize| {
                let is_passed = entered[*other] && !around[0][*other] || left[*other] && !around[1][*other];
                counted[*other] && is_passed && !turns[*other]
            };
            (0..ways.len()).filter(|&other| other != run).filter(is_bound).collect()
        };
        counted.iter().enumerate().map(of).collect()
    }

    /// The turns of each run that come together, once it is compiled.
    pub(super) fn turns(&self) -> impl Iterator<Item = Turns<'_, 'a>> {
        self.0.iter().map(Turns::of)
    }

    /// How often each run waits.
    pub(super) fn waits(&self) -> Vec<f64> {
        let ways = self.ways();
        let mut waits = vec![0.0; self.0.len()];
        let turns: Vec<usize> = self.turns().map(|turns| turns.count).collect();
        // What is on its way where a run begins.
        let mut before = vec![HashSet::new(); self.0.len()];
        for _ in 0..ROUNDS {
            let mut found = vec![HashSet::new(); self.0.len()];
            for (place, run) in self.0.iter().enumerate() {
                let (waited, left) = run.waits(turns[place], &before[place]);
                waits[place] = f64::from(waited) / turns[place] as f64;
                for &to in &ways[place] {
                    found[to].extend(left.iter().copied());
                }
            }
            if found == before {
                break;
            }
            before = found;
        }
        waits
    }
}

/// The runs that are reached from these, without passing one of them.
fn reached(ways: &[Vec<usize>], from: &[usize], without: Option<usize>) -> Vec<bool> {
    let (mut seen, mut open) = (vec![false; ways.len()], from.to_vec());
    while let Some(place) = open.pop() {
        if Some(place) != without && !std::mem::replace(&mut seen[place], true) {
            open.extend(&ways[place]);
        }
    }
    seen
}

/// The runs that may come back to themselves, or are between such, without passing one of them.
fn in_turns(ways: &[Vec<usize>], without: usize) -> Vec<bool> {
    let mut there = vec![true; ways.len()];
    there[without] = false;
    loop {
        let mut comes = vec![false; ways.len()];
        for (_, to) in ways.iter().enumerate().filter(|(from, _)| there[*from]) {
            to.iter().for_each(|&to| comes[to] = true);
        }
        let goes = |from: usize| ways[from].iter().any(|&to| there[to]);
        let left: Vec<bool> = (0..ways.len()).map(|run| there[run] && comes[run] && goes(run)).collect();
        if left == there {
            return there;
        }
        there = left;
    }
}

impl<'a> Run<'a> {
    /// How often so many turns of it wait, and what is on its way at their end, where these registers are at the
    /// beginning.
    fn waits(&self, turns: usize, before: &HashSet<&'a str>) -> (u32, HashSet<&'a str>) {
        // The step after which a register is there, where that is not the run's beginning.
        let mut steps: HashMap<&str, u32> = before.iter().map(|&name| (name, 1)).collect();
        // Steps that have to be over before the next load: those of stores and atomics, and of barriers; before a
        // barrier those of stores to shared memory; and the last one that something waited for.
        let (mut stored, mut met, mut shared, mut waited) = (0, 0, 0, 0);
        let all = std::iter::repeat_n(&self.instructions, turns).flatten();
        for &instruction in all {
            let operation = instruction.operation;
            let has = |part: &str| operation.split(['.', ':']).any(|other| other == part);
            let name = operation.split('.').next().unwrap_or("");
            let (to, from) = instruction.registers();
            let step = |name: &str| steps.get(name).copied().unwrap_or(0);
            let read = from.into_iter().map(step).max().unwrap_or(0);
            let is_ordered = has("relaxed") || has("acquire") || has("release");
            let mut there = read;
            match name {
                // Another name, for which nothing waits.
                "mov" | "cvta" => {}
                "ld" | "ldu" if has("global") && !is_ordered => {
                    there = 1 + read.max(met).max(if has("nc") { 0 } else { stored });
                    waited = waited.max(read);
                }
                "bar" | "barrier" | "fence" | "membar" => met = met.max(stored).max(shared),
                _ => {
                    waited = waited.max(read);
                    match name {
                        "st" | "atom" | "red" | "ld" if has("global") => stored = stored.max(read),
                        "st" | "atom" | "red" if has("shared") => shared = shared.max(read),
                        _ => {}
                    }
                }
            }
            steps.extend(to.into_iter().map(|name| (name, there)));
        }
        (waited, steps.into_iter().filter(|(_, step)| *step > waited).map(|(name, _)| name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each run waits; lines that end in a colon begin one.
    fn waits(text: &'static str) -> Vec<f64> {
        flow(text).waits()
    }

    fn flow(text: &'static str) -> Flow<'static> {
        let mut flow = Flow::new();
        for line in text.lines().map(str::trim) {
            if let Some(label) = line.strip_suffix(':') {
                flow.next(Some(label));
                continue;
            }
            let (guard, line) = match line.strip_prefix('@') {
                Some(rest) => rest.split_once(' ').expect("a guard and an instruction"),
                None => ("", line),
            };
            let (operation, operands) = line.split_once(' ').unwrap_or((line, ""));
            flow.issue(operation.trim_end_matches(';'), guard, operands);
        }
        flow
    }

    /// Two loads of a run, and what reads both; a copy to shared memory does not come between them.
    #[test]
    fn loads_of_a_run_are_waited_for_together() {
        assert_eq!(waits("ld.global.b32 r1,[d1]; \n ld.global.b32 r2,[d1+4];\n add.s32 r3,r1,r2;"), [1.0]);
        let tile = "ld.global.b32 r1,[d1];\nst.shared.b32 [r9],r1;\nld.global.b32 r2,[d2];\nst.shared.b32 [r9+4],r2;";
        assert_eq!(waits(tile), [1.0]);
    }

    /// The product by columns, two rows of it: the second row's load stands behind an atomic that adds what the first
    /// one's gave, and may be of the same memory. Where the matrix is known not to change, it does not.
    #[test]
    fn loads_behind_stores_of_what_was_loaded_wait() {
        let rows = "ld.global.b32 r1,[d1];\nfma.rn.f32 r2,r1,r0,r9;\nred.relaxed.gpu.global.add.f32 [d2],r2;\n\
            ld.global.b32 r3,[d3];\nfma.rn.f32 r4,r3,r0,r9;\nred.relaxed.gpu.global.add.f32 [d2+4],r4;";
        assert_eq!(waits(rows), [2.0]);
        assert_eq!(
            waits("ld.global.b32 r1,[d1];\nst.global.b32 [d2],r1;\nld.global.b32 r3,[d3];\nadd.s32 r4,r3,1;"),
            [2.0]
        );
        assert_eq!(
            waits(
                "ld.global.b32 r1,[d1];\nst.global.b32 [d2],r1;\nld.global.nc.b32 r3,[d3];\nadd.s32 r4,r3,1;"
            ),
            [1.0]
        );
        // A store of what is there holds nothing up.
        assert_eq!(
            waits(
                "ld.global.b32 r1,[d1];\nst.global.b32 [d2],r9;\nld.global.b32 r3,[d3];\nadd.s32 r4,r3,r1;"
            ),
            [1.0]
        );
    }

    /// A list: each address is what the load before gave.
    #[test]
    fn addresses_that_are_loaded_are_waited_for() {
        assert_eq!(
            waits("ld.global.b64 d1,[d0];\nld.global.b64 d2,[d1];\nld.global.b64 d3,[d2];\nadd.s64 d4,d3,1;"),
            [3.0]
        );
    }

    /// Loads behind guards are in runs of their own: the second run reads neither, the third both. A barrier that waits
    /// for what was stored lets no load pass.
    #[test]
    fn loads_stay_in_flight_from_run_to_run() {
        assert_eq!(
            waits(
                "ld.global.b32 r1,[d1];\n$1:\nld.global.b32 r2,[d2];\n$2:\nmov.b32 r3,r1;\nadd.s32 r4,r3,r2;\n\
                 $3:\nadd.s32 r5,r1,r2;"
            ),
            [0.0, 0.0, 1.0, 0.0]
        );
        assert_eq!(
            waits(
                "ld.global.b32 r1,[d1];\nst.shared.b32 [r9],r1;\nbar.sync 0;\nld.global.b32 r2,[d2];\n\
                 add.s32 r3,r2,1;"
            ),
            [2.0]
        );
    }

    /// What stands behind the kernel's end and comes back is read where it comes back to, not where the text goes on.
    #[test]
    fn runs_follow_branches_not_lines() {
        let text = "$1:\n@p0 bra $3;\n$2:\nadd.s32 s,s,r1;\n@p1 bra $1;\n$4:\nret;\n\
            $3:\nld.global.b32 r1,[d1];\nbra.uni $2;\n$5:\nadd.s32 s,s,r1;";
        assert_eq!(waits(text), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(flow(text).loops(), [false, true, true, false, true, false]);
    }
}
