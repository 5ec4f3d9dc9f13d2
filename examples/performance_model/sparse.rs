//! Counts of sparse matrices' operations.
//!
//! Products and their rows have nothing to do with each other: of a matrix with fewer rows, more than what a
//! multiprocessor's cache has room for, a few blocks are simulated. Systems and what is done with structures are
//! simulated as a whole, of two small matrices. Of systems rows wait for others: the chain is as long as the whole
//! structure has levels.

use std::collections::HashMap;
use std::error::Error;

use gpu_benches::suite::sparse::{COLUMNS, Kind, Structure};
use gpu_core::{Device, Layout, Matrix, MatrixMut, Stream};
use gpu_examples::predicted::{Counted, side_by_side};
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, scale, simulated};
use gpu_sim::metrics::Architecture;
use gpu_sim::{Config, Record};
use gpu_sparse::{Algorithm, Analysis, Csr, Diagonal, Side, Spmv, Strategy, Transposition, transpose_by};

use super::cases::Counting;
use super::gathers::{GRANULE, anywhere, misses, misses_before};
use super::levels;
use super::operations::{Operation, alike, bytes, entries, shrunk};
use super::solvers::Solver;
use super::transpositions;
use super::{analyses, conversions, renewals};

/// Rows of which a sample of blocks is simulated, and how many blocks.
const SAMPLED: [u32; 2] = [1 << 17, 1 << 18];
const BLOCKS: u32 = 8;
/// Rows that are simulated as a whole, and those of systems in which rows wait for the row before.
const WHOLE: [u32; 2] = [1 << 11, 1 << 12];
/// The same of transpositions by tiles, of some blocks that list them.
const TILED: [u32; 2] = [1 << 12, 1 << 13];
const BAND: [u32; 2] = [1 << 9, 1 << 10];
/// The same of bands that are factored, whose rows have many pairs of entries.
const FACTORED_BAND: [u32; 2] = [1 << 7, 1 << 8];
/// The same where rows are sorted, by several blocks, and doublings of them at most.
const ORDERED: [u32; 2] = [1 << 12, 1 << 13];
const DOUBLINGS: u32 = 2;
/// Rows of which an order is scaled from the largest of those.
const MILLIONS: u32 = 1 << 21;
/// The same where there are several right-hand sides.
const MANY: [u32; 2] = [1 << 10, 1 << 11];

/// Bytes of a sector.
pub const SECTOR: f64 = 32.0;
/// Levels of whose classes a block adds up the numbers.
const SCANNED: f64 = 1e3;
/// Bits of a digit of a sort.
pub const DIGIT: f64 = 8.0;

/// What is chosen for a structure's systems: a cube of few rows, as is simulated, would be solved by another kernel.
fn chosen(structure: Structure) -> Algorithm {
    if structure.kind == Kind::Laplacian { Algorithm::Ordered } else { Algorithm::Auto }
}

/// Whether the vectors that are multiplied with are more than the second-level cache holds.
fn is_beyond(structure: Structure, operation: Operation, l2: f64) -> bool {
    matches!(operation, Operation::Spmm(_)) && 8.0 * f64::from(structure.rows) * COLUMNS as f64 > l2
}

/// Caches of which a warp has the share that it has of those of a GPU, where each of its warps goes over its rows'
/// entries again for the next vector: what others bring meanwhile takes the place. In the simulator one warp follows
/// the other.
fn shared_caches(caches: Architecture) -> Architecture {
    Architecture {
        l1_bytes: caches.l1_bytes / caches.warps,
        shared_bytes: caches.shared_bytes / caches.warps,
        l2_bytes: caches.l2_bytes / caches.warps / caches.multiprocessors,
        ..caches
    }
}

/// Rows that need those near them find them in the cache, where sampled blocks, far apart, do not: vectors are read
/// once where what is between two uses fits there.
fn read_once(launch: &mut Counts, structure: Structure, operation: Operation, l2: f64) {
    let apart = match structure.kind {
        Kind::Laplacian => f64::from(structure.a).powi(2),
        Kind::Plane | Kind::Band => f64::from(structure.a),
        _ => return,
    };
    if apart / f64::from(structure.rows) * bytes(structure, operation) <= l2 {
        let once = bytes(structure, operation) - 8.0 * f64::from(structure.rows) * COLUMNS as f64;
        launch.memory_read.0 = launch.memory_read.0.min(once);
    }
}

/// Where a block's part begins is found by halves among all rows: each doubling of them takes as many steps more as
/// that from the small launch to the large one did, which all blocks take in the same places first, so that they are in
/// the second-level cache.
fn searched(launch: &mut Counts, [small, large]: [&Counts; 2], doublings: f64) {
    let more = (large.waits.turns - small.waits.turns).max(0.0) * doublings;
    launch.waits.l2 += more;
    launch.waits.turns += more;
}

/// Of a random structure, what the longest launch reads: the vectors by [`misses_before`], the rest once. Rows that
/// come in their levels' order are anywhere, and what they read as well.
fn read_at_random(launches: &mut [Counts], structure: Structure, operation: Operation, l2: f64) {
    let gathers = match operation {
        Operation::Spmv(_) | Operation::Solve(_) | Operation::Backwards(_) => [1.0, 8.0],
        // The columns of a row are side by side, or each is read by itself.
        Operation::SolveMany(true) => [1.0, 8.0 * COLUMNS as f64],
        Operation::SolveMany(false) | Operation::Apart => [COLUMNS as f64, 8.0],
        Operation::Ic0 | Operation::Ilu0 => [1.0, 8.0],
        Operation::Levels => [1.0, 4.0],
        // Sampled blocks read at random in their share of the caches.
        _ => return,
    };
    let longest = launches.iter_mut().max_by(|one, other| one.sectors_read.total_cmp(&other.sectors_read));
    let (Kind::Random | Kind::Power, Some(launch)) = (structure.kind, longest) else { return };
    let [each, read] = gathers;
    // Beside those of the diagonal, which are there.
    let (rows, all) = (f64::from(structure.rows), entries(structure));
    let (reads, vector) = ((all - rows) * each, rows * each * read);
    let (streamed, missed) = if operation.algorithm() == Some(Algorithm::Ordered) {
        // Where a row begins and ends, its columns, its values, its right-hand side.
        let of_row = all / rows;
        let row = anywhere(8.0, 4.0) + anywhere(4.0 * of_row, 4.0) + anywhere(8.0 * of_row, 8.0) + GRANULE;
        (rows * row, misses(vector, rows * row / reads, l2))
    } else {
        let once = bytes(structure, operation);
        ((once - launch.memory_written.0).max(0.0), misses_before(vector, once / reads, l2))
    };
    launch.memory_read = Bytes(reads * missed * read.max(GRANULE) + streamed);
    // A slice of the second-level cache gives two sectors a cycle (NVIDIA, A100 architecture whitepaper), and a lone
    // one takes all of it.
    let lone = reads * (GRANULE - read.max(SECTOR)).max(0.0);
    launch.l2_read = Bytes(launch.l2_read.0.max(reads * read.max(SECTOR)) + lone);
}

/// The passes of an order's sort by keys of levels and classes of rows, of which more take more.
fn sorted(launches: &mut Vec<Counts>, [_, simulated, all]: [u32; 3]) {
    let Some(last) = launches.iter().rposition(|launch| launch.kernel.starts_with("sort_pairs")) else {
        return;
    };
    let here = launches.iter().filter(|launch| launch.kernel.starts_with("sort_pairs")).count();
    let passes = |keys: u32| (f64::from(keys).log2().ceil() / DIGIT).ceil() as usize;
    let more = passes(all).saturating_sub(passes(simulated).max(here));
    let pass = launches[last].clone();
    launches.splice(last..last, std::iter::repeat_n(pass, more));
}

/// Whether a launch of an analysis has a thread for each group of a level's rows.
fn is_of_levels(kernel: &str) -> bool {
    matches!(kernel, "sparse_warps" | "sparse_task_counts")
}

/// Whether it has a thread for each warp of a solution, or for each of its lanes.
fn is_of_tasks(kernel: &str) -> bool {
    matches!(kernel, "sparse_tasks" | "sparse_units")
}

/// Rows of the smaller structures that are ordered in the same way as one: as few as there can be.
fn ordered_sizes(
    structure: Structure,
    operation: Operation,
    counting: &Counting,
) -> Result<[u32; 2], String> {
    if operation == Operation::Order && structure.rows > MILLIONS {
        return Ok(ORDERED.map(|rows| rows << DOUBLINGS));
    }
    let has_way = operation == Operation::Prepare;
    let way = |rows| counting.facts(alike(structure, rows), false).map(|facts| facts.order());
    let (mut sizes, of_all) = (ORDERED, counting.facts(structure, has_way)?.order());
    for _ in 0..DOUBLINGS {
        if structure.rows <= sizes[1] || (way(sizes[0])?, way(sizes[1])?) == (of_all, of_all) {
            break;
        }
        sizes = sizes.map(|rows| 2 * rows);
    }
    Ok(sizes)
}

/// What an operation counts.
///
/// # Errors
/// Those of the simulator.
pub fn count(
    structure: Structure,
    operation: Operation,
    counting: &Counting,
) -> Result<Counted, Box<dyn Error>> {
    let is_sampled = operation.is_sampled();
    let algorithm = operation.algorithm();
    if operation == Operation::Transpose(Transposition::Auto) {
        return transpositions::count(structure, counting);
    }
    if let Operation::Analysis(algorithm) = operation {
        return analyses::count(structure, algorithm, counting);
    }
    if algorithm == Some(Algorithm::Levels) && structure.kind != Kind::Band {
        return levels::count(structure, operation, counting);
    }
    // Levels of a band are found row by row, and nearly so where a row has most of those before it.
    let is_long = matches!(structure.kind, Kind::Band | Kind::Sparse);
    let is_order = matches!(operation, Operation::Order | Operation::Prepare);
    let is_band = is_long && algorithm.is_some();
    let is_factor = matches!(operation, Operation::Ic0 | Operation::Ilu0);
    let sizes = match operation {
        _ if is_sampled => SAMPLED,
        _ if is_band => BAND,
        _ if is_factor && is_long => FACTORED_BAND,
        _ if is_factor => BAND,
        Operation::SolveMany(_) | Operation::Apart => MANY,
        _ if is_order => ordered_sizes(structure, operation, counting)?,
        Operation::Levels | Operation::NewMatrix | Operation::NewValues if is_long => BAND,
        Operation::Compress | Operation::SortRows if is_long => MANY,
        Operation::Transpose(Transposition::Sampled) => TILED,
        _ => WHOLE,
    };
    // What is as small is simulated as it is, beside half of it.
    let sizes = if structure.rows <= sizes[1] { [structure.rows / 2, structure.rows] } else { sizes };
    let smaller = sizes.map(|rows| if is_order { alike(structure, rows) } else { shrunk(structure, rows) });
    let caches = match is_beyond(structure, operation, counting.l2.0) {
        true => shared_caches(counting.caches),
        false => counting.caches,
    };
    let [of_small, of_large] = side_by_side(smaller, |one| simulate(one, operation, caches, counting))?;
    if of_small.len() != of_large.len() {
        let names = smaller.map(|one| one.to_string());
        return Err(format!("{} and {} differ in their launches", names[0], names[1]).into());
    }
    let [few, many] = smaller.map(|one| f64::from(one.rows));
    // Sums of an order's rows are of its levels.
    let all = [smaller[0], smaller[1], structure];
    let (mut keys, mut tasks) = ([0; 3], [0.0; 3]);
    let numbers = match operation {
        Operation::Order | Operation::Prepare => {
            let [few, many, all] =
                all.map(|one| counting.facts(one, operation == Operation::Prepare && one == structure));
            let facts = [few?, many?, all?];
            if facts.iter().any(|one| one.order() != facts[2].order()) {
                return Err(format!("{structure} is not ordered as smaller ones are").into());
            }
            keys = facts.each_ref().map(|one| one.keys());
            tasks = facts.each_ref().map(|one| one.tasks().into());
            facts.map(|one| one.profile.levels.into())
        }
        _ => [0.0; 3],
    };
    let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: many as usize };
    let mut ways = HashMap::new();
    let sample = of_large.iter().position(|launch| launch.kernel == transpositions::LIST);
    for (at, (small, large)) in of_small.iter().zip(&of_large).enumerate() {
        if operation == Operation::Transpose(Transposition::Sampled) && Some(at) == sample {
            // A wave of blocks, however many there are.
            counted.launches.push(large.clone());
            counted.smaller.push(small.clone());
            continue;
        }
        let fixed = (small.blocks == large.blocks).then_some(large.blocks);
        let is_growing = |[few, many, all]: [f64; 3]| few < many && many < all;
        let scaled = match numbers {
            _ if is_order && is_of_tasks(&large.kernel) && is_growing(tasks) => {
                scale((small, tasks[0]), (large, tasks[1]), tasks[2], None)?
            }
            levels if is_order && is_of_levels(&large.kernel) && is_growing(levels) => {
                scale((small, levels[0]), (large, levels[1]), levels[2], None)?
            }
            [few, many, all] if large.kernel.starts_with("scan") && few < many && many < all => {
                let fixed = fixed.filter(|_| all < SCANNED);
                scale((small, few), (large, many), all, fixed)?
            }
            _ => scale((small, few), (large, many), f64::from(structure.rows), fixed)?,
        };
        for (launches, mut launch) in
            [(&mut counted.launches, scaled.counts), (&mut counted.smaller, scaled.smaller)]
        {
            if operation == Operation::Spmv(Strategy::Balanced) {
                searched(&mut launch, [small, large], (f64::from(structure.rows) / many).log2());
            }
            if launch.kernel == "sparse_levels" {
                analyses::wait(&mut launch, structure, counting)?;
            }
            if let Some(solver) = Solver::of(&launch.kernel) {
                let is_many = matches!(operation, Operation::SolveMany(_) | Operation::Apart);
                let systems = if is_many { COLUMNS } else { 1 };
                solver.launched(&mut launch, structure);
                let known = ways.entry(launch.kernel.clone());
                let way = *known.or_insert_with(|| solver.way(&launch, structure, systems, counting));
                solver.wait(&mut launch, structure, systems as f64, way, counting);
            }
            if matches!(operation, Operation::Spmm(_)) {
                read_once(&mut launch, structure, operation, counting.l2.0);
            }
            launches.push(launch);
        }
    }
    for launches in [&mut counted.launches, &mut counted.smaller] {
        read_at_random(launches, structure, operation, counting.l2.0);
        if let Operation::Transpose(_) = operation {
            transpositions::scaled(launches, structure, many, counting.l2.0);
        }
        if is_order {
            sorted(launches, keys);
        }
    }
    Ok(counted)
}

/// What a structure's operation launches.
///
/// # Errors
/// Those of the simulator.
pub fn simulate(
    structure: Structure,
    operation: Operation,
    caches: Architecture,
    counting: &Counting,
) -> Result<Vec<Counts>, String> {
    let sample = operation.is_sampled().then_some(BLOCKS);
    // What is known of the structure is found by all blocks, of which nothing is counted: one after the other, so that
    // none waits for what another is to store.
    let whole = simulated::config(caches);
    let unseen = Config { record: Record::Off, caches: None, resident_blocks: 1, ..whole };
    let device = Device::simulator_with(unseen);
    let run = || -> Result<(), Box<dyn Error>> {
        let (offsets, indices, values) = structure.arrays();
        let rows = offsets.len() - 1;
        let a = Csr::upload(&device, rows, rows, &offsets, &indices, &values)?;
        let (stream, right) = (device.stream()?, device.upload(&vec![1.0; rows])?);
        let mut out = device.zeroed::<f64>(rows)?;
        let simulator = device.as_simulator().ok_or("the simulator is a simulator")?;
        let begin = |stream: &Stream| -> Result<(), gpu_core::Error> {
            stream.synchronize()?;
            drop((simulator.take_reports(), simulator.take_fills()));
            simulator.set_config(Config { sample, ..whole });
            Ok(())
        };
        let several = |is_rows: bool| match is_rows {
            true => Layout::row_major(rows, COLUMNS),
            false => Layout::column_major(rows, COLUMNS),
        };
        match operation {
            Operation::Spmv(strategy) => {
                let mut product = Spmv::new(&a)?.with_strategy(strategy)?;
                begin(&stream)?;
                product.run(&stream, 1.0, &right, 0.0, &mut out)?;
            }
            Operation::Spmm(is_rows) => {
                let layout = several(is_rows)?;
                let rights = device.zeroed::<f64>(rows * COLUMNS)?;
                let mut outs = device.zeroed::<f64>(rows * COLUMNS)?;
                let mut product = Spmv::new(&a)?;
                begin(&stream)?;
                let (b, c) = (Matrix::new(&rights, layout)?, MatrixMut::new(&mut outs, layout)?);
                product.run_many(&stream, 1.0, b, 0.0, c)?;
            }
            Operation::Solve(algorithm) => {
                let mut analysis = Analysis::with(&a, Side::Lower, Diagonal::Stored, algorithm)?;
                begin(&stream)?;
                analysis.solve(&stream, 1.0, &right, &mut out)?;
            }
            Operation::Backwards(algorithm) => {
                let analysis = Analysis::transposed(&a, Side::Lower, Diagonal::Stored)?;
                let mut analysis = analysis.with_algorithm(algorithm)?;
                begin(&stream)?;
                analysis.solve(&stream, 1.0, &right, &mut out)?;
            }
            Operation::SolveMany(is_rows) => {
                let layout = several(is_rows)?;
                let rights = device.zeroed::<f64>(rows * COLUMNS)?;
                let mut outs = device.zeroed::<f64>(rows * COLUMNS)?;
                let mut analysis = Analysis::with(&a, Side::Lower, Diagonal::Stored, chosen(structure))?;
                begin(&stream)?;
                let (b, x) = (Matrix::new(&rights, layout)?, MatrixMut::new(&mut outs, layout)?);
                analysis.solve_many(&stream, 1.0, b, x)?;
            }
            Operation::Transpose(way) => {
                begin(&stream)?;
                drop(transpose_by(&a, way)?);
            }
            Operation::Order => {
                let analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored)?;
                begin(&stream)?;
                drop(analysis.order_rows()?);
            }
            Operation::Levels => {
                begin(&stream)?;
                drop(Analysis::with(&a, Side::Lower, Diagonal::Stored, Algorithm::Free)?);
            }
            Operation::Prepare => {
                let analysis = Analysis::with(&a, Side::Lower, Diagonal::Stored, Algorithm::Free)?;
                begin(&stream)?;
                drop(analysis.with_algorithm(Algorithm::Ordered)?);
            }
            _ => {
                let arrays = (offsets, indices, values);
                let is_done = renewals::ready(operation, &device, &arrays, chosen(structure), &mut |run| {
                    begin(&stream)?;
                    Ok(run()?)
                })?;
                if is_done {
                    return Ok(stream.synchronize()?);
                }
                let run = conversions::ready(operation, &device, &arrays)?;
                let mut run = run.ok_or_else(|| format!("{operation:?} is not known"))?;
                begin(&stream)?;
                run()?;
            }
        }
        Ok(stream.synchronize()?)
    };
    run().map_err(|error| format!("{structure}: {error}"))?;
    counting.launched_by_units(&device, 0.0)
}
