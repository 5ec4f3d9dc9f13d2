//! Tables B.11 to B.17: the thesis' own model on products of a matrix and a vector and on reductions.

use super::{Printed, Reading, no_such};
use crate::device::{Device, Launch};
use crate::error::Result;
use crate::literature::gonzalez::{self, CacheRule, Copy, Giga, Machine, Path};
use crate::literature::mukherjee::Overlap;
use crate::units::{Bytes, Seconds};

/// Columns of the matrix.
const COLUMNS: f64 = 2000.0;
/// Threads of a block of the products.
const THREADS: u32 = 192;
/// Threads of a block of the reductions, which is the only one.
const REDUCING: u32 = 512;
/// The tables have a line of 16 elements, of doubles and of floats.
const LINE: CacheRule = CacheRule::Line { elements: 16.0 };

fn rule(reading: Reading) -> CacheRule {
    match reading {
        Reading::Table => LINE,
        Reading::Text => CacheRule::Mean,
    }
}

/// Copies there and back from pageable memory.
pub(super) fn copies(device: &Device, there: f64, back: f64, data: f64) -> Result<Seconds> {
    let there = gonzalez::transfer(device, Copy::PageableToDevice, Bytes(there * data), Giga::Binary)?;
    Ok(there + gonzalez::transfer(device, Copy::PageableToHost, Bytes(back * data), Giga::Binary)?)
}

/// B.11, a row of doubles a thread, and B.12, four of floats; without and with copies.
pub(super) fn rows(table: &str, _: &Printed, rows: f64, model: &str, reading: Reading) -> Result<f64> {
    let c2070 = Device::by_name("c2070")?;
    let issue = c2070.issue()?;
    let (each, data, issue) = match table {
        "B.11" => (1.0, 8.0, issue.double),
        "B.12" => (4.0, 4.0, issue.single),
        _ => return Err(no_such(table, model)),
    };
    let pairs = COLUMNS * each;
    let mut path = Path {
        instructions: pairs,
        issue,
        cached: 2.0 * pairs,
        uncached: each,
        data: Bytes(data),
        ..Path::default()
    };
    if table == "B.12" && reading == Reading::Table {
        // The results are taken for cached too.
        (path.cached, path.uncached) = (path.cached + path.uncached, 0.0);
    }
    let machine = Machine::new(&c2070, rule(reading))?;
    let launch =
        Launch::new(&c2070, (rows as u64).div_ceil(each as u64).div_ceil(u64::from(THREADS)), THREADS)?;
    let kernel = machine.lanes.time(&launch, machine.path(&path, Overlap::Sum)?)?;
    let time = match model {
        "gonzalez" => kernel,
        "gonzalez_with_copies" => kernel + copies(&c2070, rows * COLUMNS + COLUMNS, rows, data)?,
        _ => return Err(no_such(table, model)),
    };
    Ok(time.milliseconds())
}

/// B.13 to B.15: a column of integers a thread, which it adds to the result atomically.
pub(super) fn columns(table: &str, _: &Printed, first: f64, model: &str, _: Reading) -> Result<f64> {
    let (rows, threads) = if table == "B.13" { (4000.0, first as u32) } else { (first, THREADS) };
    let device = match model {
        "gonzalez_2.0" | "gonzalez_2.0_with_copies" => "c2070",
        "gonzalez_1.3" | "gonzalez_1.3_with_copies" => "c1060",
        _ => return Err(no_such(table, model)),
    };
    let device = Device::by_name(device)?;
    let kernel = gonzalez::atomic(&device, threads)? * rows / device.clock;
    let copies = match table {
        "B.15" => copies(&device, rows * COLUMNS + COLUMNS, rows, 4.0)?,
        _ => Seconds(0.0),
    };
    Ok((kernel + copies).milliseconds())
}

/// The two parts of a reduction of doubles in one block, without branches: each thread adds up what is its, then a
/// tree.
pub(super) fn reduction_paths(
    device: &Device,
    elements: f64,
    shared: bool,
    reading: Reading,
) -> Result<[Path; 2]> {
    let (issue, data) = (device.issue()?.double, Bytes(8.0));
    let of_a_thread = elements / f64::from(REDUCING);
    let steps = f64::from(REDUCING.ilog2());
    // The tables do not round the accesses up.
    let turns = if reading == Reading::Text { (3.0 * of_a_thread).ceil() / 3.0 } else { of_a_thread };
    let both = Path { issue, data, ..Path::default() };
    // One addition for each element and one more; reads of the element and of the sum, and a write of the sum.
    let accumulation = Path { instructions: of_a_thread.ceil() + 1.0, ..both };
    let tree = Path { instructions: steps, ..both };
    Ok(match (shared, reading) {
        // The sums are in shared memory. The thesis says no more: the first value of a thread comes from global
        // memory, and the result goes there.
        (true, _) => [
            Path { cached: turns, shared: 2.0 * turns, ..accumulation },
            Path { uncached: 2.0, shared: 3.0 * steps, ..tree },
        ],
        (false, Reading::Text) => {
            [Path { cached: 3.0 * turns, ..accumulation }, Path { cached: 3.0 * steps, ..tree }]
        }
        // In the tables no cache serves the tree.
        (false, Reading::Table) => {
            [Path { cached: 3.0 * turns, ..accumulation }, Path { uncached: 3.0 * steps, ..tree }]
        }
    })
}

/// B.16 and, with copies, B.17.
pub(super) fn reduction(
    table: &str,
    _: &Printed,
    elements: f64,
    model: &str,
    reading: Reading,
) -> Result<f64> {
    let shared = match model {
        "gonzalez_global" | "gonzalez_global_with_copies" => false,
        "gonzalez_shared" | "gonzalez_shared_with_copies" => true,
        _ => return Err(no_such(table, model)),
    };
    let c2070 = Device::by_name("c2070")?;
    let machine = Machine::new(&c2070, rule(reading))?;
    let launch = Launch::new(&c2070, 1, REDUCING)?;
    let mut time = Seconds(0.0);
    for path in reduction_paths(&c2070, elements, shared, reading)? {
        time = time + machine.lanes.time(&launch, machine.path(&path, Overlap::Sum)?)?;
    }
    if table == "B.17" {
        time = time + copies(&c2070, elements, 1.0, 8.0)?;
    }
    Ok(time.milliseconds())
}
