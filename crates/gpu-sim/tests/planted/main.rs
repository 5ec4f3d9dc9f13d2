//! Kernels with a planted bug, each beside its mended twin: the one is found on nearly every seed, the other never flagged.

mod bounds;
mod boxes;
mod chances;
mod clusters;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod counters;
mod divergence;
mod launches;
mod messages;
mod phases;
mod tiles;
mod words;

use gpu_sim::device::*;
use gpu_sim::{Config, Fault, Geometry, Kernel, Simulator};

/// Seeds of each in the tests; `PLANTED_SEEDS` asks for others.
const SEEDS: u64 = 12;
/// Words of each array.
const N: u32 = 512;
const FULL: u32 = u32::MAX;

/// What a kernel has: words that count, words never written, words of zero.
#[derive(Clone, Copy)]
struct Memory {
    a: u64,
    b: u64,
    zero: u64,
}

fn t() -> u32 {
    thread_idx()[0]
}

fn block() -> u32 {
    block_idx()[0]
}

fn i() -> u32 {
    block() * block_dim()[0] + t()
}

fn at(array: u64, index: u32) -> u64 {
    array + 4 * u64::from(index)
}

fn get(array: u64, index: u32) -> u32 {
    global_load(at(array, index), Load::Weak)
}

fn set(array: u64, index: u32, value: u32) {
    global_store(at(array, index), value, Store::Weak);
}

/// Words of shared memory.
fn sget(index: u32) -> u32 {
    shared_load(4 * index)
}

fn sset(index: u32, value: u32) {
    shared_store(4 * index, value);
}

fn add(address: u64, ordering: Ordering) -> u32 {
    atomic_update(Space::Global, address, ordering, Scope::Device, |old: u32| Some(old + 1))
}

/// Which of the blocks this is, in the order in which they start.
fn ticket(m: Memory) -> u32 {
    if t() == 0 {
        sset(0, add(at(m.zero, 63), Ordering::Relaxed));
    }
    barrier();
    sget(0)
}

fn wait_for(address: u64, value: u32, ordering: Ordering, scope: Scope) {
    while atomic_load::<u32>(Space::Global, address, ordering, scope) < value {}
}

fn update(space: Space, address: u64, scope: Scope, by: u32) -> u32 {
    atomic_update(space, address, Ordering::Relaxed, scope, |old: u32| Some(old + by))
}

/// Loads a word of shared memory until it is at least that.
fn wait_shared(word: u32, least: u32, ordering: Ordering) {
    while atomic_load::<u32>(Space::Shared, u64::from(4 * word), ordering, Scope::Block) < least {}
}

fn say_shared(word: u32, value: u32, ordering: Ordering) {
    atomic_store(Space::Shared, u64::from(4 * word), value, ordering, Scope::Block);
}

/// All of them, by what is wrong.
fn cases() -> impl Iterator<Item = &'static Case> {
    [
        bounds::CASES,
        boxes::CASES,
        chances::CASES,
        clusters::CASES,
        copies::CASES,
        counters::CASES,
        divergence::CASES,
        messages::CASES,
        phases::CASES,
        tiles::CASES,
        words::CASES,
    ]
    .into_iter()
    .flatten()
}

struct Case {
    name: &'static str,
    /// Blocks, threads, bytes of shared memory.
    shape: (u32, u32, u32),
    /// Words of `b` that are its result.
    results: usize,
    /// The kernel, mended or not.
    body: fn(Memory, bool),
}

fn simulator(name: &str, seed: u64) -> Simulator {
    let vary_residency = !TOGETHER.contains(&name);
    Simulator::new(Config { spin_budget: 1 << 13, vary_residency, ..Config::with_seed(seed) })
}

fn run(case: &Case, mended: bool, seed: u64) -> Result<Vec<u8>, Fault> {
    let simulator = simulator(case.name, seed);
    let a = common::words(&simulator, &(0..N).collect::<Vec<_>>());
    let memory = Memory { a, b: simulator.alloc(4 * N as usize)?, zero: common::words(&simulator, &[0; 64]) };
    let (blocks, threads, shared) = case.shape;
    let kernel = Kernel { name: case.name, file: file!(), line: line!() };
    // Those of clusters have two blocks in each, where there are as many.
    let of_clusters = clusters::CASES.iter().chain(phases::CASES).any(|one| one.name == case.name);
    let cluster = if of_clusters && blocks % 2 == 0 { 2 } else { 1 };
    let geometry = Geometry::linear(blocks, threads, shared);
    simulator.launch_clustered(kernel, (threads, cluster), geometry, &|| (case.body)(memory, mended))?;
    let mut results = vec![0; 4 * case.results];
    simulator.read(memory.b, &mut results)?;
    Ok(results)
}

/// Those that are right for many schedules: two threads must each miss what the other has just stored, once.
const AT_TIMES: [&str; 1] = ["waiter_that_goes_to_sleep_when_it_has_been_woken"];

/// Those whose blocks all wait for each other, and are launched so that all are there.
const TOGETHER: [&str; 3] = [
    "tickets_of_the_round_before",
    "phases_of_a_grid_barrier_by_one_counter",
    "both_flags_up_and_both_inside",
];

/// What is wrong with a kernel, or several, that `run` runs as planted or mended.
fn judge(name: &str, seeds: u64, run: impl Fn(bool, u64) -> Result<Vec<u8>, Fault>) -> Vec<String> {
    let (mut wrong, mut expected) = (Vec::new(), None);
    for seed in 0..seeds {
        match run(true, seed) {
            Ok(results) if *expected.get_or_insert_with(|| results.clone()) == results => {}
            Ok(_) => wrong.push(format!("{name}: mended, another result")),
            Err(fault) => wrong.push(format!("{name}: mended, {fault}")),
        }
    }
    wrong.dedup();
    let found = (0..seeds).filter(|&seed| run(false, seed).ok() != expected).count() as u64;
    // Some schedules hide some: one in twenty may.
    let hidden = if AT_TIMES.contains(&name) { seeds / 4 * 3 } else { (seeds / 20).max(1) };
    if seeds - found > hidden {
        wrong.push(format!("{name}: found on {found} of {seeds}"));
    }
    wrong
}

#[test]
fn planted_bugs_are_found_and_their_mended_twins_are_not_flagged() {
    let asked = std::env::var("PLANTED_SEEDS").ok().map(|seeds| seeds.parse().expect("a number"));
    let seeds: u64 = asked.unwrap_or(SEEDS);
    let kernels = cases().flat_map(|case| judge(case.name, seeds, |mended, seed| run(case, mended, seed)));
    let programs = launches::PROGRAMS.iter().flat_map(|program| {
        judge(program.name, seeds, |mended, seed| {
            (program.host)(&launches::Host::new(simulator(program.name, seed))?, mended)
        })
    });
    let wrong: Vec<String> = kernels.chain(programs).collect();
    println!("{} kernels, {seeds} seeds each", cases().count() + launches::PROGRAMS.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
