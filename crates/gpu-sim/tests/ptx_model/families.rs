//! The shapes of the literature, each with every way of ordering its threads, and chains of updates and scopes.

use std::collections::BTreeSet;
use std::thread;

use gpu_sim::FaultKind;

use crate::{explore, program};

/// A shape: the accesses of its threads, and the outcome that it is asked about: registers, then last values.
struct Family {
    name: &'static str,
    threads: &'static [&'static str],
    /// Where it matters, and `None` where any value will do.
    asked: &'static [Option<u32>],
}

macro_rules! asked {
    (@ _) => { None };
    (@ $value:literal) => { Some($value) };
    ($($value:tt)*) => { &[$(asked!(@ $value)),*] };
}

// Names and shapes: Alglave, Maranget, Tautschnig, "Herding Cats" (TOPLAS 2014), tables I and III.
const FAMILIES: [Family; 18] = [
    Family { name: "MP", threads: &["Wx1 Wy1", "Ry Rx"], asked: asked!(1 0 _ _) },
    Family { name: "SB", threads: &["Wx1 Ry", "Wy1 Rx"], asked: asked!(0 0 _ _) },
    Family { name: "LB", threads: &["Rx Wy1", "Ry Wx1"], asked: asked!(1 1 _ _) },
    Family { name: "S", threads: &["Wx2 Wy1", "Ry Wx1"], asked: asked!(1 2 _) },
    Family { name: "R", threads: &["Wx1 Wy1", "Wy2 Rx"], asked: asked!(0 _ 2) },
    Family { name: "2+2W", threads: &["Wx1 Wy2", "Wy1 Wx2"], asked: asked!(1 1) },
    Family { name: "WRC", threads: &["Wx1", "Rx Wy1", "Ry Rx"], asked: asked!(1 1 0 _ _) },
    Family { name: "RWC", threads: &["Wx1", "Rx Ry", "Wy1 Rx"], asked: asked!(1 0 0 _ _) },
    Family { name: "WWC", threads: &["Wx2", "Rx Wy1", "Ry Wx1"], asked: asked!(2 1 2 _) },
    Family { name: "IRIW", threads: &["Wx1", "Wy1", "Rx Ry", "Ry Rx"], asked: asked!(1 0 1 0 _ _) },
    Family { name: "ISA2", threads: &["Wx1 Wy1", "Ry Wz1", "Rz Rx"], asked: asked!(1 1 0 _ _ _) },
    Family { name: "W+RWC", threads: &["Wx1 Wy1", "Ry Rz", "Wz1 Rx"], asked: asked!(1 0 0 _ _ _) },
    Family { name: "Z6.0", threads: &["Wx1 Wy1", "Ry Wz1", "Wz2 Rx"], asked: asked!(1 0 _ _ 2) },
    Family { name: "CoRR", threads: &["Wx1", "Rx Rx"], asked: asked!(1 0 _) },
    Family { name: "CoRR2", threads: &["Wx1", "Wx2", "Rx Rx", "Rx Rx"], asked: asked!(1 2 2 1 _) },
    Family { name: "CoWR", threads: &["Wx1 Rx", "Wx2"], asked: asked!(0 _) },
    Family { name: "CoRW", threads: &["Rx Wx2", "Wx1"], asked: asked!(1 1) },
    Family { name: "CoWW", threads: &["Wx1 Wx2"], asked: asked!(1) },
];

/// What orders the two accesses of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Nothing,
    /// The first acquires if it reads, the second releases if it writes.
    Orders,
    Fence,
    BlockFence,
}
const BY: [By; 4] = [By::Nothing, By::Orders, By::Fence, By::BlockFence];

fn written(thread: &str, by: By) -> String {
    let Some((first, second)) = thread.split_once(' ') else { return thread.to_string() };
    let acquires = if first.starts_with('R') { ".acq" } else { "" };
    let releases = if second.starts_with('W') { ".rel" } else { "" };
    match by {
        By::Nothing => thread.to_string(),
        By::Orders => format!("{first}{acquires} {second}{releases}"),
        By::Fence => format!("{first} F {second}"),
        By::BlockFence => format!("{first} F.cta {second}"),
    }
}

/// The program in which `by` orders each thread, and the block that each is in.
fn text(family: &Family, by: &[By], blocks: &[u32]) -> String {
    let threads = family.threads.iter().zip(by).zip(blocks);
    let threads: Vec<String> =
        threads.map(|((thread, &by), block)| format!("{block}: {}", written(thread, by))).collect();
    threads.join(" | ")
}

/// Every choice of one of `BY` for each thread of two accesses.
fn choices(family: &Family) -> Vec<Vec<By>> {
    family.threads.iter().fold(vec![Vec::new()], |all, thread| {
        let of: &[By] = if thread.contains(' ') { &BY } else { &BY[..1] };
        all.iter().flat_map(|before| of.iter().map(|&by| [&before[..], &[by]].concat())).collect()
    })
}

/// Explores programs on all processors; returns how many, and the most seeds that one took.
fn explore_all(programs: &[String]) -> (usize, u64) {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let share = |worker| programs.iter().skip(worker).step_by(workers).map(|text| explore(text).seeds).max();
    let most = thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(move || share(worker))).collect();
        running.into_iter().filter_map(|worker| worker.join().expect("no panic")).max()
    });
    (programs.len(), most.unwrap_or(0))
}

#[test]
fn every_shape_with_every_way_of_ordering_its_threads() {
    let mut programs = Vec::new();
    for family in &FAMILIES {
        // Apart, all in one block, and the first two threads, or the last two, in one.
        let placements: &[&[u32]] = match family.threads.len() {
            1 | 2 => &[&[0, 1], &[0, 0]],
            3 => &[&[0, 1, 2], &[0, 0, 1], &[0, 1, 1]],
            _ => &[&[0, 1, 2, 3], &[0, 1, 0, 1]],
        };
        for blocks in placements {
            programs.extend(choices(family).iter().map(|by| text(family, by, blocks)));
        }
    }
    let (programs, seeds) = explore_all(&programs);
    println!("{programs} programs, of which one took {seeds} seeds until all its outcomes had come up");
}

#[test]
fn updates_release_sequences_patterns_and_scopes() {
    let programs = [
        // Updates are atomic, whatever their order.
        "0: Ax1 | 1: Ax1",
        "0: Ax1 | 1: Ax1 | 2: Ax1",
        "0: Ax1 Rx | 1: Wx4",
        "0: Ax1 Ax1 | 1: Wx8 | 2: Rx",
        "0: Ax1 Ay1 | 1: Ay2 Ax2",
        "0: Ax1.ar Ay1.ar | 1: Ay2.ar Ax2.ar",
        "0: Ax1 Ry | 1: Ay1 Rx",
        "0: Ax1.ar Ry.acq | 1: Ay1.ar Rx.acq",
        "0: Wx1 Ay1 | 1: Ay2 Rx",
        "0: Wx1 Wy4 | 1: Ay2 Wx2",
        // A release sequence: a chain of updates passes on what the first store released.
        "0: Wx1 Wy1.rel | 1: Ay1 | 2: Ry.acq Rx",
        "0: Wx1 Ay1.rel | 1: Ay2 | 2: Ay4.acq Rx",
        "0: Wx1 Ay1.rel | 1: Ay2.rel | 2: Ry.acq Rx",
        "0: Wx1 F Ay1 | 1: Ay2 | 2: Ry F Rx",
        "0: Wx1 Wy1.rel | 1: Wy2 | 2: Ry.acq Rx",
        "0: Wx1 Wy1.rel | 0: Ay1 | 1: Ry.acq Rx",
        // Release patterns: a later store of the thread to that location stands for the release.
        "0: Wx1 Wy1.rel Wy2 | 1: Ry.acq Rx",
        "0: Wx1 Wy1.rel Ay1 | 1: Ry.acq Rx",
        "0: Wx1 Wy1.rel Wz1 | 1: Rz.acq Rx",
        "0: Wx1 F Wy1 Wz1 | 1: Rz.acq Rx",
        "0: Wx1 F.rel Wy1 | 1: Ry F.acq Rx",
        "0: Wx1 F.acq Wy1 | 1: Ry F.rel Rx",
        // Acquire patterns: a later acquire at that location, or a fence, takes in what an earlier load read.
        "0: Wx1 Wy1.rel | 1: Ry Ry.acq Rx",
        "0: Wx1 Wy1.rel | 2: Wy2 | 1: Ry Ry.acq Rx",
        "0: Wx1 Wy1.rel | 1: Ry Rz.acq Rx",
        "0: Wx1 Wy1.rel | 1: Ry Rz F Rx",
        "0: Wx1 Wy1.rel Wy2 | 1: Ry Ry.acq Rx",
        // Scopes: who released to its block is passed on by those who release to the device, not by itself.
        "0: Wx1 F.cta Wy1 | 0: Ry F.cta Wz1 | 1: Rz.acq Rx",
        "0: Wx1 F.cta Wy1 | 0: Ry F Wz1 | 1: Rz.acq Rx",
        "0: Wx1 F.cta Wy1 | 0: Ry F.cta F Wz1 | 1: Rz F Rx",
        "0: Wx1 F Wy1 | 1: Ry F.cta Wz1 | 1: Rz F.cta Rx",
        "0: Wx1 F Wy1 | 1: Ry F Wz1 | 1: Rz F.cta Rx",
        "0: Wx1 Wy1.rel.cta | 0: Ry.acq.cta Rx",
        "0: Wx1 Wy1.rel.cta | 0: Ry.acq Rx",
        "0: Wx1 Wy1.rel | 0: Ay1.cta | 0: Ry.acq Rx",
        // Barriers.
        "0: Wx1 B Rx Ry | 0: Ry B Wy1 Rx",
        "0: Wx1 B Wy1 | 0: B Wx2 | 1: Ry F Rx",
        "0: Wx1 B | 0: B Wy1.rel | 1: Ry.acq Rx",
        "0: Ry B Rx | 0: B Rx | 1: Wx1 Wy1.rel",
        "0: Ry.acq B | 0: B Rx | 1: Wx1 Wy1.rel",
        // A store of what was loaded: nothing out of thin air.
        "0: Rx Wyr | 1: Ry Wxr",
        "0: Rx Wyr | 1: Ry Wxr | 2: Wx3",
    ];
    let programs: Vec<String> = programs.iter().map(ToString::to_string).collect();
    let (programs, seeds) = explore_all(&programs);
    println!("{programs} programs, of which one took {seeds} seeds until all its outcomes had come up");
}

/// Atomics whose scopes do not include each other are no more atomic than plain accesses: whatever the schedule.
#[test]
fn scopes_that_do_not_include_each_other_race() {
    let mixed = [
        ("Wx1.cta", "Rx"),
        ("Wx1", "Rx.cta"),
        ("Wx1.rel.cta", "Rx.acq"),
        ("Wx1.rel", "Rx.acq.cta"),
        ("Wx1.cta", "Wx2"),
        ("Ax1.cta", "Ax1"),
        ("Ax1.ar.cta", "Rx.acq.cta"),
        ("F Wx1.cta", "Rx F"),
        ("Wx1 Wy1.rel.cta", "Ry.acq Rx"),
    ];
    for (first, second) in mixed {
        for seed in 0..400 {
            let fault = program::run(&program::parse(&format!("0: {first} | 1: {second}")), seed)
                .expect_err("accesses of two blocks that do not include each other");
            assert!(matches!(fault.kind, FaultKind::Race { .. }), "{first} | {second}: {fault}");
        }
        explore(&format!("0: {first} | 0: {second}"));
    }
}

/// The table of the README: is the outcome that a shape is asked about seen?
#[test]
fn the_table_in_the_readme() {
    let mut table = String::new();
    for family in &FAMILIES {
        let cell = |by: By| {
            let blocks: Vec<u32> = (0..family.threads.len() as u32).collect();
            let seen = explore(&text(family, &vec![by; blocks.len()], &blocks));
            let is_asked = |outcome: &&Vec<u32>| {
                assert_eq!(outcome.len(), family.asked.len(), "{}", family.name);
                outcome
                    .iter()
                    .zip(family.asked)
                    .all(|(&value, asked)| asked.is_none_or(|asked| value == asked))
            };
            if seen.reached.iter().any(|outcome| is_asked(&outcome)) {
                "seen"
            } else if seen.future.iter().any(|outcome| is_asked(&outcome)) {
                "not simulated"
            } else {
                "never"
            }
        };
        let registers = family.threads.concat().matches('R').count();
        let names: Vec<String> = (0..registers).map(|n| format!("r{n}")).collect();
        let locations: BTreeSet<char> =
            family.threads.concat().chars().filter(char::is_ascii_lowercase).collect();
        let names = names.into_iter().chain(locations.into_iter().map(String::from));
        let asked: Vec<String> = names
            .zip(family.asked)
            .filter_map(|(name, asked)| asked.map(|asked| format!("{name} = {asked}")))
            .collect();
        let cells: Vec<&str> = BY.iter().map(|&by| cell(by)).collect();
        let threads = family.threads.join(" \\| ");
        table +=
            &format!("| {} | `{threads}` | {} | {} |\n", family.name, asked.join(", "), cells.join(" | "));
    }
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(readme).expect("the crate's README");
    assert!(readme.contains(&table), "the README's table of litmus tests should be\n{table}");
}
