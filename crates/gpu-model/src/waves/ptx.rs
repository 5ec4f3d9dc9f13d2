//! What a kernel computes beside what the simulator counts, estimated from its PTX.
//!
//! The simulator runs kernels on the host, so it sees their accesses, barriers and shuffles, but not what they compute
//! in registers. Their PTX has both. A straight run of instructions b, between labels and branches, has a_b that
//! compute and c_bk of each kind k that the simulator counts: kinds are told apart by what they do and by how many
//! bytes a lane moves. Of each kind it is known how often it was executed, T_k; how often each run was, x_b, is what
//! fits to that best:
//!
//! ```text
//! x_b ← x_b · Σ_k c_bk · (T_k / Σ_r c_rk x_r) / Σ_k c_bk          from x_b = 1 on
//! arithmetic = Σ_b a_b · x_b
//! ```
//!
//! That is the expectation maximisation of emission tomography (Shepp and Vardi, *Maximum likelihood reconstruction for
//! emission tomography*, 1982; before that Richardson's and Lucy's): x_b stays positive, what was executed is met in
//! sum, and a run with a kind that was not executed, as the element by element end of an array beside its vectors,
//! vanishes. A run with nothing that is counted is taken to be executed as often as the rarer of its neighbours, and as
//! often as any run that it always comes before or after and that does not come again without it: what computes a
//! block's addresses is executed though the run beside it, of a case that was not met, is not. (Not where waits are
//! counted: of several runs that may be the first to read what is on its way, only one waits for it.)
//!
//! How long a warp takes for a run that has its multiprocessor for itself follows from the registers: it issues one
//! instruction a cycle, each when what it reads is there, and others before that, as ptxas puts them.
//! What loads from global memory wait for is not part of it: that is a matter of the caches. How often a warp waits for
//! them follows from the registers too:
//!
//! ```text
//! waits = Σ_b w_b · x_b          w_b: steps of run b, each of loads that are in flight together
//! ```
//!
//! Loads that nothing between them keeps in order are one step ([`Executed::waits`]); those of a loop's turns are one
//! each, as the next turn's are issued only when this one's are there. For this x_b is at most what is known of it: no
//! loop comes back to run b, so that each warp executes it once; or a loop stands there twice, several turns at a time
//! and, not to be unrolled further, one, which has only what the first leaves over and is taken to have nothing. (For
//! arithmetic it is not: where the compiler has merged accesses that the simulator counts apart, runs that are executed
//! oftener make up for that.)

mod flight;

use self::flight::{Flow, Warp};
use crate::device::Device;
use crate::error::Result;
use crate::units::Cycles;

/// Steps after which the runs' numbers change by less than the estimate is worth.
const STEPS: u32 = 32;

/// What an instruction does that the simulator counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum What {
    GlobalLoad,
    GlobalStore,
    GlobalAtomic,
    SharedLoad,
    SharedStore,
    SharedAtomic,
    AsyncCopy,
    Barrier,
    Fence,
    Shuffle,
    Vote,
    Match,
    Matrix,
}

/// A kind of instruction: what it does, and the bytes that a lane moves by it, 0 where it moves none.
pub type Kind = (What, u32);

/// Instructions between labels and branches.
#[derive(Clone, Debug, Default, PartialEq)]
struct Run {
    arithmetic: f64,
    integers: f64,
    counted: Vec<(Kind, f64)>,
    control: f64,
    /// What a warp takes for it.
    cycles: f64,
    /// How often it waits for what it loads from global memory.
    waits: f64,
    /// Whether the compiler was told not to unroll it.
    rolled: bool,
    /// Whether it is one of a loop.
    repeats: bool,
    /// Runs that the simulator counts accesses of, without which this one is not executed less often.
    at_least: Vec<usize>,
}

/// Cycles after which another instruction can read what one has computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// Of 32 bits.
    pub single: Cycles,
    /// Floating point of 64 bits.
    pub double: Cycles,
    /// Shuffles, votes and the like.
    pub exchange: Cycles,
    /// A load or an atomic of shared memory.
    pub shared: Cycles,
}

impl Latency {
    /// That of a device.
    ///
    /// # Errors
    /// A device without calibration.
    pub fn of(device: &Device) -> Result<Self> {
        let (issue, waves) = (device.issue()?, device.waves()?);
        let (single, double) = (issue.single, issue.double);
        Ok(Self { single, double, exchange: waves.shuffle, shared: waves.shared_latency })
    }
}

/// Cycles until another instruction can read what this one, by the parts of its name, has computed; none of a move,
/// which is but another name.
fn latency(parts: &[&str], of: Latency) -> f64 {
    let has = |part: &str| parts.contains(&part);
    let one = match parts[0] {
        "mov" | "cvta" => 0.0,
        "shfl" | "vote" | "redux" | "match" => of.exchange.0,
        "ld" | "ldmatrix" | "atom" if has("shared") => of.shared.0,
        _ if has("f64") => of.double.0,
        _ => of.single.0,
    };
    one * several(parts)
}

/// The statements of a line, which is one of them but where it is a block: `{.reg .pred p; setp…; @p ld…;}`.
fn statements(line: &str) -> impl Iterator<Item = &str> {
    let block = line.strip_prefix('{').and_then(|line| line.strip_suffix('}'));
    block.unwrap_or(line).split_inclusive(if block.is_some() { ';' } else { '\n' }).map(str::trim)
}

impl Run {
    /// Whether it does what the other does, several times.
    fn is_several(&self, of: &Self) -> bool {
        let times = |(kind, count): &(Kind, f64)| {
            let own = self.counted.iter().find(|(known, _)| known == kind);
            own.map_or(0.0, |(_, own)| own / count)
        };
        let mut all = of.counted.iter().map(times);
        let first = all.next().unwrap_or(0.0);
        first > 1.0 && self.counted.len() == of.counted.len() && all.all(|times| times == first)
    }

    fn add(&mut self, kind: Kind) {
        match self.counted.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1.0,
            None => self.counted.push((kind, 1.0)),
        }
    }
}

/// A kernel's text, in runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text(Vec<Run>);

impl Text {
    /// That of PTX, line by line; a line may be a block of statements.
    ///
    /// ```
    /// use gpu_model::units::Cycles;
    /// use gpu_model::waves::ptx::{Latency, Text, What};
    /// let latency = Latency {
    ///     single: Cycles(4.0),
    ///     double: Cycles(8.0),
    ///     exchange: Cycles(24.0),
    ///     shared: Cycles(30.0),
    /// };
    /// let text = "ld.param.b64 r0,[p];\nld.global.b32 r1,[r0];\nadd.s32 r1,r1,1;\n@p0 bra $1;\n\
    ///     ld.global.v4.b32 {r1,r2,r3,r4},[r0];\nfma.rn.f32 r2,r1,r1,r2;\nfma.rn.f32 r2,r3,r4,r2;\n\
    ///     $1:\nst.global.b32 [r0],r2;\nret;";
    /// let text = Text::of(text, latency);
    /// // All warps load a word and store one, a quarter of them loads four: 100 · 1 + 25 · 2.
    /// let executed =
    ///     [((What::GlobalLoad, 4), 100.0), ((What::GlobalLoad, 16), 25.0), ((What::GlobalStore, 4), 100.0)];
    /// assert_eq!(text.executed(&executed, 100.0).arithmetic, 150.0);
    /// ```
    #[must_use]
    pub fn of(ptx: &str, latency: Latency) -> Self {
        let mut runs = vec![Run::default()];
        let mut flow = Flow::new();
        for line in ptx.lines().map(str::trim).flat_map(statements) {
            if let Some(label) = line.strip_suffix(':') {
                runs.push(Run::default());
                flow.next(Some(label));
            }
            if !line.ends_with(';') {
                continue;
            }
            // A guard stands before the instruction.
            let (guard, line) = match line.strip_prefix('@') {
                Some(rest) => rest.split_once(' ').unwrap_or((rest, "")),
                None => ("", line),
            };
            let line = line.trim_start();
            let operation = line.split([' ', ';', '\t']).next().unwrap_or("");
            let parts: Vec<&str> = operation.split(['.', ':']).collect();
            if !parts[0].is_empty() {
                let operands = line.split_once([' ', '\t']).map_or("", |(_, operands)| operands.trim());
                flow.issue(operation, guard, operands);
            }
            let run = runs.last_mut().expect("there is one");
            if line.starts_with(".pragma") && line.contains("nounroll") {
                run.rolled = true;
                flow.roll();
            }
            match parts[0] {
                // Declarations and directives; moves between registers and loads of parameters are no instructions of
                // the device.
                "" | "mov" | "cvta" | "griddepcontrol" => {}
                "ld" | "st" if parts.contains(&"param") => {}
                "bra" | "brx" | "ret" | "exit" | "call" => {
                    run.control += 1.0;
                    runs.push(Run::default());
                    flow.next(None);
                }
                _ => match counted(&parts, line) {
                    Some(kind) => run.add(kind),
                    None => {
                        run.arithmetic += several(&parts);
                        run.integers += integers(&parts);
                    }
                },
            }
        }
        for ((run, waits), repeats) in runs.iter_mut().zip(flow.waits()).zip(flow.loops()) {
            (run.waits, run.repeats) = (waits, repeats);
        }
        let mut warp = Warp::new(latency);
        for (run, turns) in runs.iter_mut().zip(flow.turns()) {
            run.cycles = turns.cycles(&mut warp);
        }
        let is_there: Vec<bool> =
            runs.iter().map(|run| *run != Run { repeats: run.repeats, ..Run::default() }).collect();
        let is_counted: Vec<bool> = runs.iter().map(|run| !run.counted.is_empty()).collect();
        // What is counted is there, at its place among those that are.
        let among = |place: usize| is_there[..place].iter().filter(|there| **there).count();
        for (run, others) in runs.iter_mut().zip(flow.as_often(&is_counted)) {
            run.at_least = others.into_iter().map(among).collect();
        }
        let mut there = is_there.iter();
        runs.retain(|_| there.next() == Some(&true));
        Self(runs)
    }

    /// What comes with what so many warps executed; nothing where the text has nothing of that.
    #[must_use]
    pub fn executed(&self, executed: &[(Kind, f64)], warps: f64) -> Executed {
        let mut all = Executed::default();
        for (run, times) in self.0.iter().zip(self.often(executed, true, |_, times| times)) {
            all.arithmetic += run.arithmetic * times;
            all.integers += run.integers * times;
            all.control += run.control * times;
            all.cycles += run.cycles * times;
            if run.repeats {
                all.cycles_of_loops += run.cycles * times;
            }
        }
        let is_rest = |run: &Run| run.rolled && self.0.iter().any(|other| other.is_several(run));
        let at_most = |run: &Run, times: f64| match run {
            run if is_rest(run) => 0.0,
            run if run.repeats => times,
            _ => times.min(warps),
        };
        let often = self.often(executed, false, at_most);
        all.waits = self.0.iter().zip(often).map(|(run, times)| run.waits * times).sum();
        all
    }

    /// How often each run was executed, which is `at_most` what it makes of that; what leads to others as often as
    /// they, if that is asked for.
    fn often(&self, executed: &[(Kind, f64)], leads: bool, at_most: impl Fn(&Run, f64) -> f64) -> Vec<f64> {
        let total = |kind| executed.iter().find(|(known, _)| *known == kind).map_or(0.0, |(_, count)| *count);
        let mut kinds: Vec<(Kind, f64)> = Vec::new();
        for (kind, _) in self.0.iter().flat_map(|run| &run.counted) {
            if !kinds.iter().any(|(known, _)| known == kind) {
                kinds.push((*kind, total(*kind)));
            }
        }
        let place = |kind: Kind| kinds.iter().position(|(known, _)| *known == kind).expect("all are there");
        // Where each run's kinds are among them.
        let runs: Vec<Vec<(usize, f64)>> = (self.0.iter())
            .map(|run| run.counted.iter().map(|(kind, count)| (place(*kind), *count)).collect())
            .collect();
        let mut often: Vec<f64> = self.0.iter().map(|run| at_most(run, 1.0)).collect();
        for _ in 0..STEPS {
            let mut sums = vec![0.0; kinds.len()];
            for (run, often) in runs.iter().zip(&often) {
                run.iter().for_each(|(kind, count)| sums[*kind] += count * often);
            }
            for ((run, often), text) in runs.iter().zip(&mut often).zip(&self.0) {
                let all: f64 = run.iter().map(|(_, count)| count).sum();
                let off = |(kind, count): &(usize, f64)| {
                    if sums[*kind] > 0.0 { count * kinds[*kind].1 / sums[*kind] } else { 0.0 }
                };
                if all > 0.0 {
                    *often = at_most(text, *often * run.iter().map(off).sum::<f64>() / all);
                }
            }
        }
        let known = |&place: &usize| !runs[place].is_empty();
        let near = |place: usize| {
            let [before, after] = [(0..place).rev().find(known), (place + 1..runs.len()).find(known)];
            before.into_iter().chain(after).map(|near| often[near]).reduce(f64::min).unwrap_or(0.0)
        };
        let all = runs.iter().enumerate().zip(&self.0);
        let uncounted = |place: usize| {
            let others = self.0[place].at_least.iter().filter(|_| leads);
            others.map(|&run| often[run]).fold(near(place), f64::max)
        };
        all.map(|((place, run), text)| {
            at_most(text, if run.is_empty() { uncounted(place) } else { often[place] })
        })
        .collect()
    }
}

/// What warps executed, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Executed {
    /// Instructions that compute.
    pub arithmetic: f64,
    /// What of them takes the units that half of the lanes have, those of 64 bits twice.
    pub integers: f64,
    /// Branches and returns. Those of the source are more: the compiler makes predicates of some.
    pub control: f64,
    /// Cycles that the warps would take if each were alone on a multiprocessor.
    pub cycles: f64,
    /// Those of loops: what is in none a warp executes no oftener than others do.
    pub cycles_of_loops: f64,
    /// How often the warps wait for what they load from global memory, loads that are in flight together once.
    pub waits: f64,
}

/// What an instruction that computes takes of the units that half of the lanes have, by the parts of its name. From
/// compute capability 8.0 on integers, logic, comparisons, minima and selections go through 64 lanes of 128, additions
/// and products of floats do not (NVIDIA, CUDA C++ programming guide, throughput of native arithmetic instructions).
/// Registers have 32 bits: of 64 there are two instructions.
fn integers(parts: &[&str]) -> f64 {
    let is_float =
        parts.iter().any(|part| matches!(*part, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f64"));
    match parts[0] {
        "add" | "sub" | "mul" | "fma" | "mad" | "neg" | "abs" | "rcp" | "sqrt" | "rsqrt" | "div"
            if is_float =>
        {
            0.0
        }
        // By the copy engine and by barriers.
        "cp" | "mbarrier" | "prefetch" | "fence" | "elect" | "setmaxnreg" | "pragma" => 0.0,
        // Whatever their size, in registers of 32 bits.
        "div" | "rem" => several(parts),
        "cvt" if is_float => 1.0,
        _ if parts.iter().any(|part| matches!(*part, "b64" | "s64" | "u64")) => 2.0,
        _ => 1.0,
    }
}

/// Instructions of the device for one of the text, which follow one another: ptxas makes a division, an inverse or a
/// root of an approximation and steps of Newton's method, a quotient or remainder of integers of one too and of what is
/// left then. Counted in its code for 9.0, of the way that ordinary numbers take.
fn several(parts: &[&str]) -> f64 {
    let is_double = parts.contains(&"f64");
    match parts[0] {
        _ if parts.contains(&"approx") => 1.0,
        "div" if is_double => 14.0,
        "rcp" if is_double => 9.0,
        "sqrt" if is_double => 15.0,
        "div" | "rcp" | "sqrt" if parts.contains(&"f32") => 8.0,
        "div" | "rem" => match parts.last() {
            Some(&"u32") => 18.0,
            Some(&"s32") => 24.0,
            Some(&"u64") => 70.0,
            Some(&"s64") => 87.0,
            _ => 1.0,
        },
        _ => 1.0,
    }
}

/// What the simulator counts an instruction as, by the parts of its name.
fn counted(parts: &[&str], line: &str) -> Option<Kind> {
    let has = |part: &str| parts.contains(&part);
    let lanes = if has("v4") {
        4
    } else if has("v2") {
        2
    } else {
        1
    };
    // `b32`, `s8`, `f64`: the number is bits.
    let bits = parts.last().and_then(|last| last.get(1..)).and_then(|bits| bits.parse::<u32>().ok());
    let bytes = lanes * bits.unwrap_or(0) / 8;
    let ordered = has("relaxed") || has("acquire") || has("release");
    let pick = |global, shared| if has("shared") { shared } else { global };
    let what = match parts[0] {
        // Four matrices, of which a lane has a word each.
        "ldmatrix" if has("x4") => return Some((What::SharedLoad, 16)),
        "stmatrix" if has("x4") => return Some((What::SharedStore, 16)),
        "ld" | "ldu" if ordered => pick(What::GlobalAtomic, What::SharedAtomic),
        "st" if ordered => pick(What::GlobalAtomic, What::SharedAtomic),
        "ld" | "ldu" => pick(What::GlobalLoad, What::SharedLoad),
        "st" => pick(What::GlobalStore, What::SharedStore),
        "atom" | "red" => pick(What::GlobalAtomic, What::SharedAtomic),
        // The size is the last operand but one or the last: cp.async.cg.shared.global [to],[from],16;
        "cp" if has("cg") || has("ca") => {
            let numbers = line.split([',', ' ', ';']).filter_map(|word| word.parse::<u32>().ok());
            return Some((What::AsyncCopy, numbers.take(1).sum()));
        }
        "bar" if has("warp") => return Some((What::Barrier, 1)),
        "bar" | "barrier" => return Some((What::Barrier, 0)),
        "fence" | "membar" => return Some((What::Fence, 0)),
        "shfl" => return Some((What::Shuffle, 0)),
        "vote" | "redux" => return Some((What::Vote, 0)),
        "match" => return Some((What::Match, 0)),
        "mma" | "wgmma" => return Some((What::Matrix, 0)),
        _ => return None,
    };
    Some((what, bytes))
}

#[cfg(test)]
mod tests;
