//! The numbers that sections 5.2, 5.3, 9.1, 9.2 and 9.3 work out, by the formulas of the text.

use super::cholesky::Kernels;
use super::extended::{copies, reduction_paths};
use super::{Cell, Reading, printed};
use crate::device::{Device, Launch};
use crate::error::{Error, Result};
use crate::literature::gonzalez::{self, CacheRule, Copy, Flow, Giga, Machine, Path};
use crate::literature::mukherjee::Overlap;
use crate::units::{Bytes, Cycles};

/// Names and numbers.
type Quantities = Vec<(&'static str, f64)>;

pub(super) fn cells() -> Result<Vec<Cell>> {
    let mut printed = printed::worked()?;
    let mut cells = Vec::new();
    for (section, computed) in [
        ("section 5.2.1", bus()?),
        ("section 5.2.2", launches()?),
        ("section 5.2.3", divergence()?),
        ("section 5.3", definition()?),
        ("section 9.1", reduction()?),
        ("9.2", products()?),
        ("section 9.3", cholesky()?),
    ] {
        let bad = |row: &str, why: &str| Error::BadTable {
            table: section.to_owned(),
            row: row.to_owned(),
            why: why.to_owned(),
        };
        let numbers = printed.remove(section).ok_or_else(|| bad("", "it is not among the printed ones"))?;
        if numbers.quantities.len() != computed.len() {
            return Err(bad("", "there are not as many printed numbers as computed ones"));
        }
        for ((name, number, unit), (own, computed)) in numbers.quantities.into_iter().zip(computed) {
            if name != own {
                return Err(bad(&name, "another number is computed here"));
            }
            let (table, model) = (section.to_owned(), "gonzalez".to_owned());
            cells.push(Cell { table, row: name, model, printed: number, computed, unit, by_text: None });
        }
    }
    Ok(cells)
}

/// Table 5.4.
fn bus() -> Result<Quantities> {
    let [fermi, tesla] = [Device::by_name("c2070")?, Device::by_name("c1060")?];
    let rate = |device, copy| Ok(gonzalez::bandwidth(device, copy, Giga::Decimal)?.0 / 1e9);
    Ok(vec![
        ("fermi, pageable, to device", rate(&fermi, Copy::PageableToDevice)?),
        ("fermi, pageable, to host", rate(&fermi, Copy::PageableToHost)?),
        ("fermi, pinned, to device", rate(&fermi, Copy::PinnedToDevice)?),
        ("fermi, pinned, to host", rate(&fermi, Copy::PinnedToHost)?),
        ("tesla, pageable, to device", rate(&tesla, Copy::PageableToDevice)?),
        ("tesla, pageable, to host", rate(&tesla, Copy::PageableToHost)?),
        ("tesla, pinned, to device", rate(&tesla, Copy::PinnedToDevice)?),
        ("tesla, pinned, to host", rate(&tesla, Copy::PinnedToHost)?),
    ])
}

fn launches() -> Result<Quantities> {
    let of = |name| Ok(gonzalez::launch(&Device::by_name(name)?)?.0);
    Ok(vec![("C2070", of("c2070")?), ("C1060", of("c1060")?)])
}

/// Each branch is 16 times two additions of 24 cycles.
fn divergence() -> Result<Quantities> {
    let c2070 = Device::by_name("c2070")?;
    let machine = Machine::new(&c2070, CacheRule::Mean)?;
    let branch =
        Path { instructions: 32.0, issue: c2070.issue()?.single, data: Bytes(4.0), ..Path::default() };
    let of = |branches| {
        let flow = Flow::Divergent(vec![Flow::Path(branch); branches]);
        Ok(machine.flow(&flow, Overlap::Sum)?.0)
    };
    Ok(vec![
        ("2 branches", of(2)?),
        ("4 branches", of(4)?),
        ("8 branches", of(8)?),
        ("16 branches", of(16)?),
        ("32 branches", of(32)?),
    ])
}

fn definition() -> Result<Quantities> {
    let c2070 = Device::by_name("c2070")?;
    let machine = Machine::new(&c2070, CacheRule::Mean)?;
    let data = Bytes(8.0);
    let path =
        Path { instructions: 10.0, issue: c2070.issue()?.double, cached: 20.0, data, ..Path::default() };
    let launch = Launch::new(&c2070, 4, 128)?;
    let factor = machine.cache_factor(data)?;
    let global = Cycles(path.cached * machine.global.0 / factor);
    let memory = machine.memory(&path)?;
    let kernel = |overlap| machine.lanes.kernel(&launch, machine.path(&path, overlap)?);
    let [most, sum] = [kernel(Overlap::Max)?, kernel(Overlap::Sum)?];
    let [most_time, sum_time] = [most / c2070.clock, sum / c2070.clock];
    // 20 elements of each of 4 · 128 threads.
    let bytes = Bytes(20.0 * 512.0 * data.0);
    let there = gonzalez::transfer(&c2070, Copy::PageableToDevice, bytes, Giga::Decimal)?;
    let back = gonzalez::transfer(&c2070, Copy::PageableToHost, bytes, Giga::Decimal)?;
    Ok(vec![
        ("C_comp", machine.computation(&path)?.0),
        ("N_max", machine.line / data),
        ("N_min", machine.sector / data),
        ("cache_factor", factor),
        ("C_gmem", global.0),
        ("C_cache", (memory - global).0),
        ("C_mem", memory.0),
        ("C_max", machine.path(&path, Overlap::Max)?.0),
        ("C_sum", machine.path(&path, Overlap::Sum)?.0),
        ("C_max(K)", most.0),
        ("T_max(K)", most_time.0),
        ("C_sum(K)", sum.0),
        ("T_sum(K)", sum_time.0),
        ("T(HD)", there.0),
        ("T(DH)", back.0),
        ("T_max", (there + most_time + back).0),
        ("T_sum", (there + sum_time + back).0),
    ])
}

fn reduction() -> Result<Quantities> {
    let c2070 = Device::by_name("c2070")?;
    let machine = Machine::new(&c2070, CacheRule::Mean)?;
    let launch = Launch::new(&c2070, 1, 512)?;
    let [accumulation, tree] = reduction_paths(&c2070, 1e8, false, Reading::Text)?;
    let sum = |path| machine.path(path, Overlap::Sum);
    let kernel = |path| machine.lanes.kernel(&launch, sum(path)?);
    let times = [kernel(&accumulation)? / c2070.clock, kernel(&tree)? / c2070.clock];
    let there = copies(&c2070, 1e8, 0.0, 8.0)?;
    let back = copies(&c2070, 0.0, 1.0, 8.0)?;
    Ok(vec![
        ("accumulation: comp_insts", accumulation.instructions),
        ("accumulation: C_comp", machine.computation(&accumulation)?.0),
        ("accumulation: mem_insts", accumulation.cached),
        ("accumulation: C_mem", machine.memory(&accumulation)?.0),
        ("accumulation: C_max", machine.path(&accumulation, Overlap::Max)?.0),
        ("accumulation: C_sum", sum(&accumulation)?.0),
        ("accumulation: C_sum(K)", kernel(&accumulation)?.0),
        ("accumulation: T(K)", times[0].0),
        ("tree: C_comp", machine.computation(&tree)?.0),
        ("tree: C_mem", machine.memory(&tree)?.0),
        ("tree: C_sum", sum(&tree)?.0),
        ("tree: C_sum(K)", kernel(&tree)?.0),
        ("tree: T(K)", times[1].0),
        ("T(HD)", there.0),
        ("T(DH)", back.0),
        ("T", (times[0] + times[1] + there + back).0),
    ])
}

fn products() -> Result<Quantities> {
    let c2070 = Device::by_name("c2070")?;
    let issue = c2070.issue()?;
    let machine = Machine::new(&c2070, CacheRule::Mean)?;
    let row = Path {
        instructions: 2000.0,
        issue: issue.double,
        cached: 4000.0,
        uncached: 1.0,
        data: Bytes(8.0),
        ..Path::default()
    };
    let four = Path {
        instructions: 8000.0,
        issue: issue.single,
        cached: 16_000.0,
        uncached: 4.0,
        data: Bytes(4.0),
        ..Path::default()
    };
    let mut quantities = Vec::new();
    for (names, path, rows, each) in [
        (
            [
                "rows: C_comp",
                "rows: C_mem",
                "rows: C_max",
                "rows: C_sum",
                "rows: C_sum(K)",
                "rows: T(K)",
                "rows: T(HD)",
                "rows: T(DH)",
                "rows: T",
            ],
            row,
            1000.0,
            1_u64,
        ),
        (
            [
                "blocks of rows: C_comp",
                "blocks of rows: C_mem",
                "blocks of rows: C_max",
                "blocks of rows: C_sum",
                "blocks of rows: C_sum(K)",
                "blocks of rows: T(K)",
                "blocks of rows: T(HD)",
                "blocks of rows: T(DH)",
                "blocks of rows: T",
            ],
            four,
            5000.0,
            4,
        ),
    ] {
        let launch = Launch::new(&c2070, (rows as u64).div_ceil(each).div_ceil(192), 192)?;
        let sum = machine.path(&path, Overlap::Sum)?;
        let kernel = machine.lanes.kernel(&launch, sum)?;
        let time = kernel / c2070.clock;
        let there = copies(&c2070, rows * 2000.0 + 2000.0, 0.0, path.data.0)?;
        let back = copies(&c2070, 0.0, rows, path.data.0)?;
        let numbers = [
            machine.computation(&path)?.0,
            machine.memory(&path)?.0,
            machine.path(&path, Overlap::Max)?.0,
            sum.0,
            kernel.0,
            time.0,
            there.0,
            back.0,
            (time + there + back).0,
        ];
        quantities.extend(names.into_iter().zip(numbers));
    }
    let kernel = gonzalez::atomic(&c2070, 192)? * 2000.0;
    let time = kernel / c2070.clock;
    let there = copies(&c2070, 2000.0 * 2000.0 + 2000.0, 0.0, 4.0)?;
    let back = copies(&c2070, 0.0, 2000.0, 4.0)?;
    quantities.extend([
        ("columns: C(K)", kernel.0),
        ("columns: T(K)", time.0),
        ("columns: T(HD)", there.0),
        ("columns: T(DH)", back.0),
        ("columns: T", (time + there + back).0),
    ]);
    Ok(quantities)
}

fn cholesky() -> Result<Quantities> {
    let kernels = Kernels::new()?;
    let clock = kernels.device.clock;
    let cycles = |path: &Path| kernels.cycles(&kernels.tiled, path);
    let time = |path: &Path| Ok::<f64, Error>((cycles(path)? / clock).0);
    let machine = &kernels.machine;
    let difference = kernels.cycles(&kernels.linear, &kernels.difference)?;
    let [product, solve] = [&kernels.product_shared, &kernels.solve];
    Ok(vec![
        ("transposition, global: C_sum(K)", cycles(&kernels.transposition_global)?.0),
        ("transposition, global: T(K)", time(&kernels.transposition_global)?),
        ("transposition, shared: C_sum(K)", cycles(&kernels.transposition_shared)?.0),
        ("transposition, shared: T(K)", time(&kernels.transposition_shared)?),
        ("product, global: C_sum(K)", cycles(&kernels.product_global)?.0),
        ("product, global: T(K)", time(&kernels.product_global)?),
        ("product, shared: C_comp", machine.computation(product)?.0),
        ("product, shared: C_mem", machine.memory(product)?.0),
        ("product, shared: C_sum", machine.path(product, Overlap::Sum)?.0),
        ("product, shared: C_sum(K)", cycles(product)?.0),
        ("product, shared: T(K)", time(product)?),
        ("difference: C_sum(K)", difference.0),
        ("difference: T(K)", (difference / clock).0),
        ("DSYRK: kernels", kernels.update()?.0),
        ("DSYRK: copies there", kernels.copy(2.0)?.0),
        ("DSYRK: copies back", kernels.copy(0.5)?.0),
        ("DSYRK", kernels.syrk()?.0),
        ("DGEMM: copies there", kernels.copy(3.0)?.0),
        ("DGEMM: copies back", kernels.copy(1.0)?.0),
        ("DGEMM", kernels.gemm()?.0),
        ("DTRSM, one step: C_comp", machine.computation(solve)?.0),
        ("DTRSM, one step: C_mem", machine.memory(solve)?.0),
        ("DTRSM, one step: C_max", machine.path(solve, Overlap::Max)?.0),
        ("DTRSM, one step: C_sum", machine.path(solve, Overlap::Sum)?.0),
        ("DTRSM, one step: C_sum(K)", cycles(solve)?.0),
        ("DTRSM, one step: T(K)", time(solve)?),
        ("DTRSM: kernels", kernels.solve()?.0),
        ("DTRSM: copies there", kernels.copy(2.0)?.0),
        ("DTRSM: copies back", kernels.copy(1.0)?.0),
        ("DTRSM", kernels.trsm()?.0),
    ])
}
