//! Baghsorkhi et al.: a kernel's work flow graph, reduced to the cycles of the average warp.
//!
//! S. S. Baghsorkhi, M. Delahaye, S. J. Patel, W. D. Gropp, W. W. Hwu, *An adaptive performance modeling tool for GPU
//! architectures*, PPoPP 2010, as far as González García's thesis (section 3.2.2) defines it. Its analysis of
//! programs, which finds the weights of branches, the parallelism of regions and the bytes that accesses move, and
//! the formula of CYC_mem are not in there: these are parameters here.
//!
//! Parallelism of warps and of instructions, of a region ("local") beside the other blocks of the multiprocessor:
//!
//! ```text
//! effective = (local + (NUM_blocks − 1) · avg) / NUM_blocks                 of WLP and of ILP
//! WLP_avg   = Σ statements · share · WLP_max / Σ statements                 over regions
//! ILP_avg   = Σ statements · share · ILP / Σ statements · share
//! ```
//!
//! where share is the part of the warps that get to the region. Edges of the graph:
//!
//! ```text
//! Latency_comp    = max(1, Latency_pipeline / (Warp_size / SM_num_SP · ILP_effect · WLP_effect))
//! C(n)            = n · Latency_comp · Warp_size / SM_num_SP                behind n instructions
//! Latency_BW      = max(0, (CYC_mem − CYC_compute) / NUM_mem) + Warp_size / SM_num_SP        behind an access
//! NBC_avg         = CYC_compute / (NUM_mem + NUM_sync + 1)
//! Latency_exposed = Latency_mem − (WLP_effect − 1) · NBC_avg                from a read to the use of its value
//! ```
//!
//! CYC_compute is the graph reduced with the first two only. The graph with all of them is reduced by its longest way;
//! branches count by the part of warps that takes them.
//!
//! ```
//! use gpu_model::literature::baghsorkhi::{Machine, Node, Parallelism, reduce};
//! use gpu_model::units::Cycles;
//! let machine = Machine { warp: 32.0, lanes: 8.0, pipeline: Cycles(24.0), latency: Cycles(400.0) };
//! let parallelism = Parallelism { warps: 8.0, instructions: 1.0 };
//! // Reads two values, does 10 instructions on what it has, then 2 on the values, then writes.
//! let kernel = [
//!     Node::Read(0), Node::Read(1), Node::Compute(10.0), Node::Use(1), Node::Compute(2.0), Node::Write,
//! ];
//! let cycles = reduce(&machine, &parallelism, &kernel, Cycles(100.0))?;
//! assert_eq!((cycles.computation, cycles.accesses), (Cycles(48.0), 3.0));
//! # Ok::<(), gpu_model::Error>(())
//! ```

use std::collections::BTreeMap;

use crate::error::{Error, Result, fraction, not_negative, positive};
use crate::units::Cycles;

/// What the model knows of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Warp_size.
    pub warp: f64,
    /// SM_num_SP: lanes of a multiprocessor.
    pub lanes: f64,
    /// Latency_pipeline: of an instruction.
    pub pipeline: Cycles,
    /// Latency_mem: of an access to global memory.
    pub latency: Cycles,
}

/// What runs beside each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parallelism {
    /// WLP_effect: warps.
    pub warps: f64,
    /// ILP_effect: instructions of a warp.
    pub instructions: f64,
}

/// WLP_effect or ILP_effect: of a region in one block, while the others are anywhere.
///
/// # Errors
/// One of them is not positive.
pub fn effective(local: f64, average: f64, blocks: f64) -> Result<f64> {
    let (local, average) = (positive("local", local)?, positive("average", average)?);
    let blocks = positive("blocks", blocks)?;
    Ok((local + (blocks - 1.0) * average) / blocks)
}

/// Statements that are gone through together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// How many they are.
    pub statements: f64,
    /// The part of the warps that gets here: the product of what all branches around it let through.
    pub share: f64,
    /// ILP of the region: its instructions over the longest chain of definitions and uses in it.
    pub instructions: f64,
}

/// WLP_avg and ILP_avg over regions, with WLP_max warps where all take part.
///
/// # Errors
/// No region that a warp gets to; parameters that are not positive, a share that is no part.
pub fn average(regions: &[Region], most_warps: f64) -> Result<Parallelism> {
    let most = positive("most_warps", most_warps)?;
    let (mut statements, mut weighted, mut instructions) = (0.0, 0.0, 0.0);
    for region in regions {
        let here = positive("statements", region.statements)? * fraction("share", region.share)?;
        statements += region.statements;
        weighted += here;
        instructions += here * positive("instructions", region.instructions)?;
    }
    let weighted = positive("regions", weighted)?;
    Ok(Parallelism { warps: weighted * most / statements, instructions: instructions / weighted })
}

/// A node of the graph, or a branch in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// So many instructions.
    Compute(f64),
    /// Reads global memory, under this number.
    Read(usize),
    /// Uses what the read with this number gave; there is no further cost.
    Use(usize),
    /// Writes global memory.
    Write,
    /// A barrier.
    Barrier,
    /// Ways of which each is taken by a part of the warps. What is read in one of them is used in it.
    Branch(Vec<(f64, Vec<Node>)>),
}

/// What the graph reduces to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reduced {
    /// CYC_compute.
    pub computation: Cycles,
    /// NUM_mem.
    pub accesses: f64,
    /// NUM_sync.
    pub barriers: f64,
    /// Latency_BW.
    pub bandwidth_latency: Cycles,
    /// NBC_avg.
    pub non_blocking: Cycles,
    /// Latency_exposed, 0 where other warps hide all of it.
    pub exposed: Cycles,
    /// From the entry to the exit, of the average warp.
    pub total: Cycles,
}

/// Reduces the graph, given CYC_mem, the cycles in which memory moves what the kernel asks for.
///
/// # Errors
/// Parameters that are not positive; branches whose parts are not 1 together; a use before its read.
pub fn reduce(
    machine: &Machine,
    parallelism: &Parallelism,
    kernel: &[Node],
    memory: Cycles,
) -> Result<Reduced> {
    let per_instruction = instruction(machine, parallelism)?;
    let memory = not_negative("memory", memory.0)?;
    let latency = positive("latency", machine.latency.0)?;

    let mut reduced = Reduced::default();
    count(kernel, 1.0, per_instruction, &mut reduced)?;
    let turn = machine.warp / machine.lanes;
    if reduced.accesses > 0.0 {
        let short = (memory - reduced.computation.0) / reduced.accesses;
        reduced.bandwidth_latency = Cycles(short.max(0.0) + turn);
    }
    reduced.non_blocking = reduced.computation / (reduced.accesses + reduced.barriers + 1.0);
    let hidden = (parallelism.warps - 1.0) * reduced.non_blocking.0;
    reduced.exposed = Cycles((latency - hidden).max(0.0));
    reduced.total = longest(kernel, per_instruction, &reduced)?;
    Ok(reduced)
}

/// C(1): cycles of an instruction of a warp.
///
/// # Errors
/// Parameters that are not positive.
pub fn instruction(machine: &Machine, parallelism: &Parallelism) -> Result<Cycles> {
    let turn = positive("warp", machine.warp)? / positive("lanes", machine.lanes)?;
    let (warps, instructions) = (parallelism.warps, parallelism.instructions);
    let busy = turn * positive("instructions", instructions)? * positive("warps", warps)?;
    Ok(Cycles((positive("pipeline", machine.pipeline.0)? / busy).max(1.0) * turn))
}

/// CYC_compute, NUM_mem and NUM_sync.
fn count(nodes: &[Node], share: f64, per_instruction: Cycles, into: &mut Reduced) -> Result<()> {
    for node in nodes {
        match node {
            Node::Compute(instructions) => {
                let instructions = not_negative("instructions", *instructions)?;
                into.computation = into.computation + per_instruction * (instructions * share);
            }
            Node::Read(_) | Node::Write => into.accesses += share,
            Node::Barrier => into.barriers += share,
            Node::Use(_) => {}
            Node::Branch(ways) => {
                let mut sum = 0.0;
                for (part, nodes) in ways {
                    sum += fraction("part", *part)?;
                    count(nodes, share * part, per_instruction, into)?;
                }
                // Parts of whole warps: sums of at most some hundred of them are off by less than 1e-12 of 1.
                if (sum - 1.0).abs() > 1e-12 {
                    return Err(Error::Contradiction {
                        field: "parts",
                        value: sum,
                        other: "whole",
                        other_value: 1.0,
                    });
                }
            }
        }
    }
    Ok(())
}

/// The longest way from entry to exit.
fn longest(nodes: &[Node], per_instruction: Cycles, edges: &Reduced) -> Result<Cycles> {
    let mut now = Cycles(0.0);
    let mut reads: BTreeMap<usize, Cycles> = BTreeMap::new();
    for node in nodes {
        match node {
            Node::Compute(instructions) => now = now + per_instruction * *instructions,
            Node::Read(number) => {
                reads.insert(*number, now + edges.exposed);
                now = now + edges.bandwidth_latency;
            }
            Node::Write => now = now + edges.bandwidth_latency,
            Node::Use(read) => {
                let issued = reads.len();
                let there =
                    reads.get(read).ok_or(Error::UseBeforeRead { processor: 0, read: *read, issued })?;
                now = now.max(*there);
            }
            Node::Barrier => {}
            Node::Branch(ways) => {
                for (part, nodes) in ways {
                    now = now + longest(nodes, per_instruction, edges)? * *part;
                }
            }
        }
    }
    Ok(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literature::testing::same;

    const MACHINE: Machine =
        Machine { warp: 32.0, lanes: 8.0, pipeline: Cycles(24.0), latency: Cycles(400.0) };
    const PARALLELISM: Parallelism = Parallelism { warps: 4.0, instructions: 2.0 };

    /// (6 + 3·8)/4 = 7.5; where all are alike, that.
    #[test]
    fn effective_parallelism() {
        assert_eq!(effective(6.0, 8.0, 4.0), Ok(7.5));
        assert_eq!(effective(8.0, 8.0, 4.0), Ok(8.0));
        assert!(effective(6.0, 8.0, 0.0).is_err());
    }

    /// A loop body of n = 2 statements that half of the warps get to, in it branches of p = 4 and q = 6, each with
    /// half of those: shares 1/4, 1/4, 1/2. WLP = (4·8/4 + 6·8/4 + 2·8/2)/12 = (8 + 12 + 8)/12 = 7/3; ILP with 1, 2,
    /// 3: (4/4·1 + 6/4·2 + 2/2·3)/(1 + 1.5 + 1) = 7/3.5 = 2.
    #[test]
    fn averages_over_regions() {
        let of = |statements, share, instructions| Region { statements, share, instructions };
        let found = average(&[of(4.0, 0.25, 1.0), of(6.0, 0.25, 2.0), of(2.0, 0.5, 3.0)], 8.0);
        let found = found.expect("positive");
        same(found.warps, 7.0 / 3.0);
        same(found.instructions, 2.0);
        assert!(average(&[], 8.0).is_err() && average(&[of(1.0, 1.5, 1.0)], 8.0).is_err());
    }

    /// 24/(32/8·2·4) = 0.75 < 1: 32/8 = 4 cycles. With 1 warp and ILP 1: 24/4 = 6 times 4 = 24.
    #[test]
    fn an_instruction() {
        assert_eq!(instruction(&MACHINE, &PARALLELISM), Ok(Cycles(4.0)));
        let alone = Parallelism { warps: 1.0, instructions: 1.0 };
        assert_eq!(instruction(&MACHINE, &alone), Ok(Cycles(24.0)));
        assert!(instruction(&Machine { lanes: 0.0, ..MACHINE }, &alone).is_err());
    }

    /// Read, 20 instructions (80 cycles), use, 10 instructions (40), barrier, write. CYC_compute = 120, NUM_mem = 2,
    /// NUM_sync = 1. CYC_mem = 200: Latency_BW = 80/2 + 4 = 44. NBC = 120/4 = 30, exposed = 400 − 3·30 = 310. The
    /// read is issued at 0: its edge ends at 44, 80 more: 124, but the value is there at 310; then 40 and 44: 394.
    #[test]
    fn a_use_waits_for_its_read() {
        let kernel = [
            Node::Read(7),
            Node::Compute(20.0),
            Node::Use(7),
            Node::Compute(10.0),
            Node::Barrier,
            Node::Write,
        ];
        let found = reduce(&MACHINE, &PARALLELISM, &kernel, Cycles(200.0)).expect("positive");
        assert_eq!((found.computation, found.accesses, found.barriers), (Cycles(120.0), 2.0, 1.0));
        assert_eq!((found.bandwidth_latency, found.non_blocking), (Cycles(44.0), Cycles(30.0)));
        assert_eq!((found.exposed, found.total), (Cycles(310.0), Cycles(394.0)));
        // 15 warps hide it: 400 − 14·30 < 0, and the way is 44 + 80 + 40 + 44 = 208.
        let many = Parallelism { warps: 15.0, ..PARALLELISM };
        let found = reduce(&MACHINE, &many, &kernel, Cycles(200.0)).expect("positive");
        assert_eq!((found.exposed, found.total), (Cycles(0.0), Cycles(208.0)));
    }

    /// A quarter of the warps does 40 instructions (160), the others 8 (32): 40 + 24 = 64 cycles, after 10 (40): 104.
    /// No access: nothing is exposed to anything.
    #[test]
    fn branches_count_by_their_warps() {
        let ways = vec![(0.25, vec![Node::Compute(40.0)]), (0.75, vec![Node::Compute(8.0)])];
        let kernel = [Node::Compute(10.0), Node::Branch(ways)];
        let found = reduce(&MACHINE, &PARALLELISM, &kernel, Cycles(0.0)).expect("positive");
        assert_eq!((found.computation, found.total), (Cycles(104.0), Cycles(104.0)));
        assert_eq!(found.bandwidth_latency, Cycles(0.0));
    }

    #[test]
    fn bad_graphs() {
        let reduce = |kernel: &[Node]| reduce(&MACHINE, &PARALLELISM, kernel, Cycles(0.0));
        assert!(matches!(reduce(&[Node::Use(0)]), Err(Error::UseBeforeRead { .. })));
        let half = vec![(0.5, vec![Node::Compute(1.0)])];
        assert!(matches!(reduce(&[Node::Branch(half)]), Err(Error::Contradiction { .. })));
        assert!(reduce(&[Node::Compute(-1.0)]).is_err());
        assert!(reduce(&[Node::Branch(vec![(1.5, Vec::new()), (-0.5, Vec::new())])]).is_err());
    }
}
