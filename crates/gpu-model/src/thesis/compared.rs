//! Tables B.1 to B.10: the literature's models on the sum of vectors and the product of a matrix and a vector.

use super::{Printed, Reading, no_such};
use crate::device::{Device, Launch};
use crate::error::Result;
use crate::literature::hong_kim::{self, Case};
use crate::literature::mukherjee::{self, LATENCY, Overlap, Thread, UNCOALESCED};
use crate::literature::nugteren::{self, Captions};
use crate::units::{Bytes, Cycles, Seconds};

/// Columns of the matrix.
const COLUMNS: f64 = 2000.0;
/// Rows of the matrix where the threads vary.
const ROWS: u64 = 4000;
/// Threads of a block where the rows vary.
const THREADS: u32 = 192;
/// Rows of a thread that has a block of them.
const ROWS_OF_A_THREAD: u64 = 4;
/// Elements of a line of 128 bytes, of doubles; the tables take it for floats too.
const LINE: f64 = 16.0;
/// mem_rate of Nugteren's model, of all accesses, coalesced or not: with the latency of 500 cycles what the tables
/// follow.
const RATE: Cycles = Cycles(300.0);

/// What a thread does.
#[derive(Clone, Copy, Debug)]
struct Work {
    /// Additions, or multiplications with addition.
    instructions: f64,
    /// Cycles of one of them.
    issue: Cycles,
    /// Bytes of an element.
    data: Bytes,
    /// Accesses where neighbouring threads access neighbours, or all the same element.
    coalesced: f64,
    /// Accesses where each thread is in a line of its own.
    scattered: f64,
    /// Of all these, those that a line of the cache serves.
    cached: f64,
}

impl Work {
    fn accesses(&self) -> f64 {
        self.coalesced + self.scattered
    }
}

/// B.1. 128 threads a block, an addition and three accesses a thread.
pub(super) fn vector_sum(
    table: &str,
    _: &Printed,
    elements: f64,
    model: &str,
    reading: Reading,
) -> Result<f64> {
    let c2070 = Device::by_name("c2070")?;
    let work = Work {
        instructions: 1.0,
        issue: c2070.issue()?.double,
        data: Bytes(8.0),
        coalesced: 3.0,
        scattered: 0.0,
        cached: 3.0,
    };
    let launch = Launch::new(&c2070, (elements as u64).div_ceil(128), 128)?;
    let time = match (model, reading) {
        ("hong_kim", Reading::Text) => hong_kim_by_text(&c2070, &launch, &work)?,
        ("hong_kim", Reading::Table) => {
            let estimate = hong_kim_as_tabled(&c2070, &launch, &work, LATENCY)?;
            // Mem_cycles is not 3 · 500: it is one access that is not coalesced, 32 transactions behind each other.
            let estimate = hong_kim::Estimate { memory: LATENCY * f64::from(c2070.warp), ..estimate };
            estimate.cycles() / c2070.clock
        }
        ("mukherjee_sum" | "mukherjee_sum_cached", _) => {
            mukherjee(&c2070, &launch, &work, model == "mukherjee_sum_cached", reading)?
        }
        ("nugteren", Reading::Text) => nugteren_by_text(&c2070, &launch, &work)?,
        ("nugteren", Reading::Table) => {
            // Blocks are spread in fractions: 7 blocks are half a block on each of 14 multiprocessors.
            let share = launch.blocks() as f64 / f64::from(c2070.multiprocessors);
            let residency = nugteren::Residency {
                blocks: launch.blocks() as f64,
                blocks_per_sm: share.min(f64::from(c2070.limits.blocks)),
                warps_per_block: f64::from(launch.warps()),
            };
            nugteren_in(&c2070, &work, &residency, Captions::Tabled)?
        }
        _ => return Err(no_such(table, model)),
    };
    Ok(time.milliseconds())
}

/// A row of B.3, B.5, B.7 or B.9.
struct Product {
    /// Rows of the matrix.
    rows: u64,
    launch: Launch,
    work: Work,
}

impl Product {
    fn of(table: &str, device: &Device, first: f64) -> Result<Self> {
        // Whether a thread has a block of rows, and whether the first number is the threads of a block.
        let (blocked, threads_vary) = match table {
            "B.3" => (false, true),
            "B.5" => (true, true),
            "B.7" => (false, false),
            "B.9" => (true, false),
            _ => return Err(no_such(table, "products")),
        };
        let (rows, threads) = if threads_vary { (ROWS, first as u32) } else { (first as u64, THREADS) };
        let each = if blocked { ROWS_OF_A_THREAD } else { 1 };
        let launch = Launch::new(device, rows.div_ceil(each).div_ceil(u64::from(threads)), threads)?;
        // Floats where a thread has several rows (section 9.2), else doubles.
        let issue = device.issue()?;
        let (data, issue) = if blocked { (4.0, issue.single) } else { (8.0, issue.double) };
        let pairs = COLUMNS * each as f64;
        let work = Work {
            instructions: pairs,
            issue,
            data: Bytes(data),
            coalesced: pairs + each as f64,
            scattered: pairs,
            cached: 2.0 * pairs,
        };
        Ok(Self { rows, launch, work })
    }
}

/// B.3, B.5, B.7, B.9. Each thread has one row or four.
pub(super) fn product(table: &str, _: &Printed, first: f64, model: &str, reading: Reading) -> Result<f64> {
    let c2070 = Device::by_name("c2070")?;
    let Product { rows, launch, work } = Product::of(table, &c2070, first)?;
    let time = match (model, reading) {
        ("hong_kim", Reading::Text) => hong_kim_by_text(&c2070, &launch, &work)?,
        ("hong_kim", Reading::Table) => hong_kim_of_product(table, &c2070, &launch, &work)?,
        ("mukherjee_sum" | "mukherjee_sum_cached", Reading::Text) => {
            mukherjee(&c2070, &launch, &work, model == "mukherjee_sum_cached", reading)?
        }
        ("mukherjee_sum" | "mukherjee_sum_cached", Reading::Table) => {
            let cached = model == "mukherjee_sum_cached";
            // B.5 has the cycles of doubles, unlike B.9.
            let issue = if table == "B.5" { c2070.issue()?.double } else { work.issue };
            let threads = launch.threads();
            // B.3 has as many blocks as are nearest to rows over threads, and without a cache the clock of a GT 520M.
            let nearest = (rows as f64 / f64::from(threads)).round() as u64;
            let blocks = if table == "B.3" { nearest } else { launch.blocks() };
            let clock =
                if table == "B.3" && !cached { Device::by_name("gt520m")?.clock } else { c2070.clock };
            let (work, launch) = (Work { issue, ..work }, Launch::new(&c2070, blocks, threads)?);
            mukherjee(&Device { clock, ..c2070 }, &launch, &work, cached, reading)?
        }
        ("nugteren", Reading::Text) => nugteren_by_text(&c2070, &launch, &work)?,
        ("nugteren", Reading::Table) => {
            let residency = nugteren::occupancy(&c2070, &launch, &nugteren::Resources::default())?;
            nugteren_in(&c2070, &work, &residency, Captions::Tabled)?
        }
        _ => return Err(no_such(table, model)),
    };
    Ok(time.milliseconds())
}

/// B.2, B.4, B.6, B.8, B.10: a model's time over the measured one, both of the table before.
pub(super) fn ratio(
    table: &str,
    printed: &Printed,
    first: f64,
    model: &str,
    reading: Reading,
) -> Result<f64> {
    let (of, formula): (_, super::Formula) = match table {
        "B.2" => ("B.1", vector_sum),
        "B.4" => ("B.3", product),
        "B.6" => ("B.5", product),
        "B.8" => ("B.7", product),
        "B.10" => ("B.9", product),
        _ => return Err(no_such(table, model)),
    };
    let before = printed.get(of).ok_or_else(|| no_such(of, model))?;
    Ok(formula(of, printed, first, model, reading)? / before.number(of, first, "measured")?)
}

fn mukherjee(
    device: &Device,
    launch: &Launch,
    work: &Work,
    cached: bool,
    reading: Reading,
) -> Result<Seconds> {
    let memory = match (reading, cached) {
        (Reading::Table, false) => UNCOALESCED * work.accesses(),
        (Reading::Text, false) => {
            let together = mukherjee::global_access(LATENCY, f64::from(device.warp))?;
            together * work.coalesced + mukherjee::global_access(LATENCY, 1.0)? * work.scattered
        }
        (reading, true) => {
            let line = if reading == Reading::Text { device.memory.line / work.data } else { LINE };
            let rest = UNCOALESCED * (work.accesses() - work.cached);
            mukherjee::cached(UNCOALESCED * work.cached, line)? + rest
        }
    };
    let thread = Thread { computation: work.issue * work.instructions, memory };
    mukherjee::Machine::new(device)?.time(launch, thread.cycles(Overlap::Sum))
}

fn nugteren_in(
    device: &Device,
    work: &Work,
    residency: &nugteren::Residency,
    captions: Captions,
) -> Result<Seconds> {
    let machine = nugteren::Machine::new(device, LATENCY);
    let kernel = nugteren::Kernel {
        computation: work.instructions,
        loads: work.accesses(),
        stores: 0.0,
        data: work.data,
        rate: RATE,
    };
    Ok(nugteren::estimate(&machine, &kernel, residency, captions)?.time(&machine))
}

fn nugteren_by_text(device: &Device, launch: &Launch, work: &Work) -> Result<Seconds> {
    let residency = nugteren::occupancy(device, launch, &nugteren::Resources::default())?;
    nugteren_in(device, work, &residency, Captions::Printed)
}

fn hong_kim_by_text(device: &Device, launch: &Launch, work: &Work) -> Result<Seconds> {
    let kernel = hong_kim::Kernel {
        computation: work.issue * work.instructions,
        coalesced: work.coalesced,
        uncoalesced: work.scattered,
        transactions: f64::from(device.warp),
        load_bytes: work.data * f64::from(device.warp),
        barriers: 0.0,
    };
    let machine = hong_kim::Machine::new(device, LATENCY)?;
    let residency = hong_kim::Residency::spread(device, launch);
    Ok(hong_kim::estimate(&machine, &kernel, &residency)?.cycles() / device.clock)
}

/// All accesses are coalesced, blocks fill one multiprocessor after the other, and the clock that turns bytes into a
/// bandwidth is that of the memory.
fn hong_kim_as_tabled(
    device: &Device,
    launch: &Launch,
    work: &Work,
    latency: Cycles,
) -> Result<hong_kim::Estimate> {
    let kernel = hong_kim::Kernel {
        computation: work.issue * work.instructions,
        coalesced: work.accesses(),
        load_bytes: work.data * f64::from(device.warp),
        ..hong_kim::Kernel::default()
    };
    let machine =
        hong_kim::Machine { clock: device.memory.clock, ..hong_kim::Machine::new(device, latency)? };
    hong_kim::estimate(&machine, &kernel, &hong_kim::Residency::filled(device, launch))
}

/// B.7 has another latency than the others, and takes the second case where the third applies; the others have the
/// third throughout.
fn hong_kim_of_product(table: &str, device: &Device, launch: &Launch, work: &Work) -> Result<Seconds> {
    let estimate = hong_kim_as_tabled(device, launch, work, latency_of(table, device)?)?;
    let case = match (table, estimate.case) {
        ("B.7", Case::FewWarps) => Case::FewWarps,
        ("B.7", _) => Case::Memory,
        _ => Case::Computation,
    };
    Ok(estimate.cycles_in(case) / device.clock)
}

/// Mem_LD of Hong and Kim's model.
fn latency_of(table: &str, device: &Device) -> Result<Cycles> {
    if table == "B.7" { Ok(device.latency()?.global) } else { Ok(LATENCY) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the documentation says of Hong and Kim's cases. With M of memory and C of computation CWP = (M + C)/C
    /// before N limits it: B.3 (2000500 + 96000)/96000 = 21.8, less than any N; B.5 and B.9 (8002000 + 192000)/192000
    /// = 42.7, which is less than N = 48 only; B.7 (2400600 + 96000)/96000 = 26.0.
    #[test]
    fn which_cases_apply() {
        let c2070 = Device::by_name("c2070").expect("it is described");
        let case = |table: &str, first| {
            let Product { launch, work, .. } = Product::of(table, &c2070, first).expect("positive");
            let latency = latency_of(table, &c2070).expect("given");
            hong_kim_as_tabled(&c2070, &launch, &work, latency).expect("positive").case
        };
        for threads in [96.0, 128.0, 192.0, 256.0, 384.0, 448.0, 512.0] {
            assert_eq!(case("B.3", threads), Case::Computation, "{threads}");
            assert_eq!(case("B.5", threads), Case::FewWarps, "{threads}");
        }
        for (rows, one, four) in [
            (100.0, Case::FewWarps, Case::FewWarps),
            (500.0, Case::FewWarps, Case::FewWarps),
            (1000.0, Case::Computation, Case::FewWarps),
            (5000.0, Case::Computation, Case::FewWarps),
            (8000.0, Case::Computation, Case::Computation),
            (11_000.0, Case::Computation, Case::Computation),
            (14_000.0, Case::Memory, Case::Computation),
            (20_000.0, Case::Memory, Case::Computation),
        ] {
            assert_eq!((case("B.7", rows), case("B.9", rows)), (one, four), "{rows}");
        }
    }
}
