//! Litmus programs as text, and as kernels.
//!
//! Threads are separated by `|`, and begin with the number of their block: `0: Wx1 F Wy1 | 1: Ry F Rx`. `Wx1` stores
//! 1 to x, `Wxr` what the thread loaded last; `Rx` loads, `Ax1` adds 1, each into the next register; `F` is a fence,
//! `B` the block's barrier. Behind a point: `acq`, `rel` or `ar` (accesses are relaxed without, fences `ar`), and `cta`
//! for block scope (without: the device's).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gpu_sim::device::{self, Ordering, Scope, Space};
use gpu_sim::{Fault, Geometry, Simulator};

use crate::axioms::{Op, Outcome, Program, Thread, Value};
use crate::common::{KERNEL, read_words, together, words};

pub fn parse(text: &str) -> Program {
    let (mut threads, mut locations, mut registers) = (Vec::new(), 0, 0);
    for thread in text.split('|') {
        let (block, ops) = thread.split_once(':').expect("a block");
        let block = block.trim().parse().expect("the number of a block");
        let mut last = None;
        let mut parsed = Vec::new();
        for token in ops.split_whitespace() {
            let mut parts = token.split('.');
            let name = parts.next().expect("a first part");
            let mut ordering = if name == "F" { Ordering::AcqRel } else { Ordering::Relaxed };
            let mut scope = Scope::Device;
            for part in parts {
                match part {
                    "acq" => ordering = Ordering::Acquire,
                    "rel" => ordering = Ordering::Release,
                    "ar" => ordering = Ordering::AcqRel,
                    "cta" => scope = Scope::Block,
                    other => panic!("`{other}` in `{token}`"),
                }
            }
            if name == "F" || name == "B" {
                parsed.push(if name == "B" { Op::Barrier } else { Op::Fence { ordering, scope } });
                continue;
            }
            let at = "xyzw".find(&name[1..2]).expect("a location");
            locations = locations.max(at + 1);
            let to = registers;
            parsed.push(match (&name[..1], &name[2..]) {
                ("R", "") => Op::Load { at, to, ordering, scope },
                ("W", "r") => {
                    let value = Value::Register(last.expect("a load before"));
                    Op::Store { at, value, ordering, scope }
                }
                ("W", value) => {
                    let value = Value::Constant(value.parse().expect("a value"));
                    Op::Store { at, value, ordering, scope }
                }
                ("A", value) => Op::Add { at, to, value: value.parse().expect("a value"), ordering, scope },
                _ => panic!("`{token}`"),
            });
            if matches!(parsed.last(), Some(Op::Load { .. } | Op::Add { .. })) {
                last = Some(to);
                registers += 1;
            }
        }
        threads.push(Thread { block, ops: parsed });
    }
    Program { threads, locations, registers }
}

/// Runs a program once.
pub fn run(program: &Program, seed: u64) -> Result<Outcome, Fault> {
    let simulator = Simulator::new(together(seed));
    let memory = words(&simulator, &vec![0; program.locations]);
    let registers: Vec<AtomicU32> = (0..program.registers).map(|_| AtomicU32::new(u32::MAX)).collect();
    let blocks = program.threads.iter().map(|thread| thread.block + 1).max().expect("a thread");
    let in_block = |block| program.threads.iter().filter(move |thread| thread.block == block);
    let most = (0..blocks).map(|block| in_block(block).count()).max().expect("a block");
    // Lanes of one warp for half of the seeds, else each in its own warp.
    let stride = if seed.is_multiple_of(4) { 32 } else { 1 };
    let spread = if most > 1 { stride } else { 1 };
    let barriers = |block| in_block(block).flat_map(|t| &t.ops).any(|op| *op == Op::Barrier);
    let geometry = Geometry::linear(blocks, (most as u32 - 1) * spread + 1, 0);
    simulator.launch(KERNEL, geometry, &|| {
        let (block, tid) = (device::block_idx()[0], device::thread_idx()[0]);
        let mine = in_block(block).nth((tid / spread) as usize).filter(|_| tid.is_multiple_of(spread));
        let Some(thread) = mine else {
            // Those without a part take part in the barrier.
            if barriers(block) {
                barrier();
            }
            return;
        };
        let mut read = u32::MAX;
        for &op in &thread.ops {
            let address = |at: usize| memory + 4 * at as u64;
            match op {
                Op::Load { at, to, ordering, scope } => {
                    read = device::atomic_load(Space::Global, address(at), ordering, scope);
                    registers[to].store(read, Relaxed);
                }
                Op::Store { at, value, ordering, scope } => {
                    let value = match value {
                        Value::Constant(value) => value,
                        Value::Register(_) => read,
                    };
                    device::atomic_store(Space::Global, address(at), value, ordering, scope);
                }
                Op::Add { at, to, value, ordering, scope } => {
                    read = device::atomic_update(Space::Global, address(at), ordering, scope, |old: u32| {
                        Some(old + value)
                    });
                    registers[to].store(read, Relaxed);
                }
                Op::Fence { ordering, scope } => device::fence(ordering, scope),
                Op::Barrier => barrier(),
            }
        }
    })?;
    let mut outcome: Outcome = registers.iter().map(|register| register.load(Relaxed)).collect();
    outcome.extend(read_words(&simulator, memory, program.locations));
    Ok(outcome)
}

/// One place in the source for all barriers: that is what the simulator asks of those who meet.
fn barrier() {
    device::barrier();
}
