//! Counts of factorisations and of systems with them.
//!
//! Of a batch some matrices are simulated, which have nothing to do with each other. Of more rows than are simulated
//! what each launch does follows the polynomial of smaller ones. A large matrix is factored by blocks that wait for
//! each other's panels: between two pivots on the diagonal is what a block does alone in a matrix of one tile, and a
//! matrix has as many of these one after the other as it has rows.

use std::error::Error;

use gpu_benches::factor::{Op, Shape, measure};
use gpu_core::Device;
use gpu_examples::predicted::{Counted, side_by_side};
use gpu_linalg::plan::factor::{Kernel, STEP, is_whole, tiles};
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, combined, extrapolate, scale, simulated};
use gpu_sim::Config;

use super::cases::Counting;
use super::systems;

/// The most rows of a matrix that is simulated.
const ROWS: usize = 256;
/// The most rows of a matrix of which there is time for three.
const FEW: usize = 128;
/// Matrices of a batch of which a few blocks are simulated: so many that they are factored whole, of which one is as
/// all others.
const COUNT: usize = 320;

/// Bytes of an element.
fn bytes(shape: Shape) -> usize {
    if shape.element == "f32" { 4 } else { 8 }
}

/// 32-bit operations, of `f64` on the tensor cores as many as there are, and bytes that any implementation moves: a
/// triangle is read, and another one written, or right-hand sides.
pub fn demand(shape: Shape) -> [f64; 2] {
    let Shape { n, count, .. } = shape;
    let triangle = n * (n + 1) / 2;
    let elements = match shape.op {
        Op::Potrf => 2 * triangle,
        Op::Potrs(columns) => triangle + 2 * n * columns,
    };
    // A unit for two operations of 32 bits does one of 64; large matrices are factored by the tensor cores, which do
    // as many.
    let is_tiled = shape.op == Op::Potrf && !is_whole(n, count);
    let units = if shape.element == "f64" && !is_tiled { 2.0 } else { 1.0 };
    [units * shape.operations(), (count * elements * bytes(shape)) as f64]
}

/// What is copied before each factorisation, so that the matrices are fresh.
pub fn copied(shape: Shape) -> Bytes {
    Bytes((shape.count * shape.n * (shape.n + shape.gap) * bytes(shape)) as f64)
}

/// What a shape counts.
///
/// # Errors
/// Those of the simulator.
pub fn count(shape: Shape, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let is_whole = is_whole(shape.n, shape.count);
    let mut counted = match shape.op {
        Op::Potrf if !is_whole => {
            tiled(Tiles::of(shape), |n| simulate(Shape { n, count: 1, ..shape }, None, counting))?
        }
        Op::Potrs(columns) if shape.count == 1 => return systems::of_factor(shape, columns, counting),
        _ if shape.n <= ROWS => batch(shape, counting)?,
        Op::Potrf => grown(shape, counting)?,
        Op::Potrs(_) => grown(shape, counting)?,
    };
    necessary(&mut counted, demand(shape));
    Ok(counted)
}

/// The longest launch has all operations, and reads what any implementation has to.
pub fn necessary(counted: &mut Counted, [operations, least]: [f64; 2]) {
    for launches in [&mut counted.launches, &mut counted.smaller] {
        let longest = launches
            .iter_mut()
            .max_by(|one, other| one.instructions.all().total_cmp(&other.instructions.all()));
        if let Some(longest) = longest {
            longest.operations = operations;
            // What was small fitted into the cache, whatever is read again.
            let read = (least - longest.memory_written.0).max(0.0);
            longest.memory_read = Bytes(longest.memory_read.0.max(read.min(least)));
        }
    }
}

/// Tiles of large matrices, of which a launch takes one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Rows of tiles: pivots of tiles follow one another.
    pub rows: f64,
    /// Tiles of a matrix that are factored or solved, and products of two of them.
    pub solved: f64,
    pub products: f64,
    /// Tiles of all matrices, in whole.
    pub all: usize,
    /// How often all matrices are as much memory as three rows of tiles.
    pub area: f64,
    /// Matrices.
    pub count: f64,
}

impl Tiles {
    fn of(shape: Shape) -> Self {
        let (rows, count) = (shape.n as f64 / STEP as f64, shape.count as f64);
        Self {
            rows,
            solved: rows * (rows + 1.0) / 2.0,
            products: rows * (rows * rows - 1.0) / 6.0,
            all: shape.count * tiles(shape.n),
            area: count * (rows / 3.0).powi(2),
            count,
        }
    }
}

/// Matrices that are simulated, or of which some are: one, or so many that both routines take them whole.
fn simulated_count(shape: Shape) -> usize {
    if shape.count > 1 { COUNT } else { 1 }
}

/// As many matrices of each launch as there are.
fn all_of(launch: &Counts, shape: Shape, count: usize) -> Result<Counts, gpu_model::Error> {
    let (count, all) = (count as f64, shape.count as f64);
    if all < count {
        // Fewer than were simulated: the scaling goes upwards only.
        let mut fewer = launch.clone().times(all / count);
        fewer.blocks = (launch.blocks as f64 * all / count).round() as u64;
        return Ok(fewer);
    }
    Ok(scale((launch, count / 2.0), (launch, count), all, None)?.counts)
}

/// Matrices with as many rows as they have.
fn batch(shape: Shape, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let count = simulated_count(shape);
    let some = Shape { count, ..shape };
    // Every matrix is done alike, so that one says all; where it is quick, two show that.
    let [smaller, launches] = if shape.n > FEW {
        let one = simulate(some, (shape.count > 1).then_some(1), counting)?;
        [one.clone(), one]
    } else {
        let blocks = [1, 2].map(|blocks| (shape.count > 1).then_some(blocks));
        side_by_side(blocks, |sample| simulate(some, sample, counting))?
    };
    let all =
        |launches: &[Counts]| launches.iter().map(|one| all_of(one, shape, count)).collect::<Result<_, _>>();
    Ok(Counted { launches: all(&launches)?, smaller: all(&smaller)?, simulated: shape.n })
}

/// Some blocks of a batch of matrices with fewer rows, of which the polynomial of the third degree is taken.
fn grown(shape: Shape, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let sizes = [1, 2, 3, 4].map(|part| part * ROWS / 4);
    let count = simulated_count(shape);
    let of = |n: usize| Shape { n, count, ..shape };
    let sample = (shape.count > 1).then_some(1);
    let [one, two] = side_by_side([[sizes[0], sizes[2]], [sizes[1], sizes[3]]], |pair| {
        pair.iter().map(|&n| simulate(of(n), sample, counting)).collect::<Result<Vec<_>, _>>()
    })?;
    let all = [&one[0], &two[0], &one[1], &two[1]];
    let launches = all[3].len();
    if all.iter().any(|one| one.len() != launches) {
        return Err(format!("{shape}: other numbers of rows have other launches").into());
    }
    let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: sizes[3] };
    for number in 0..launches {
        let points: Vec<(Counts, f64)> =
            all.iter().zip(sizes).map(|(one, n)| (one[number].clone(), n as f64)).collect();
        // A block for each matrix, or for some rows.
        let [less, most] = [&points[2], &points[3]].map(|(counts, n)| (counts.blocks as f64, *n));
        let more = (most.0 - less.0) / (most.1 - less.1) * (shape.n as f64 - most.1);
        let found = extrapolate(&points, shape.n as f64, (most.0 + more).round() as u64)?;
        counted.launches.push(all_of(&found.counts, shape, count)?);
        counted.smaller.push(all_of(&found.smaller, shape, count)?);
    }
    if shape.op == Op::Potrf {
        // More rows have larger blocks, of which fewer are resident.
        let most = u32::try_from(shape.n)?;
        let config = match shape.element {
            "f32" => Kernel::of(shape.n).launch::<f32>(shape.count, most)?,
            _ => Kernel::of(shape.n).launch::<f64>(shape.count, most)?,
        };
        for launch in counted.launches.iter_mut().chain(&mut counted.smaller) {
            launch.threads = config.block.iter().product();
            launch.shared = Bytes(config.shared_bytes.into());
        }
    }
    Ok(counted)
}

/// Large matrices, by a launch whose blocks take tile after tile. Of t rows of tiles t (t + 1) / 2 are solved or
/// factored, and t (t² - 1) / 6 products of two are taken off before. What either does follows from two and from three
/// rows of tiles. A batch does all of it as often as it has matrices.
///
/// # Errors
/// Those of the simulator.
pub fn tiled(
    of: Tiles,
    simulate: impl Fn(usize) -> Result<Vec<Counts>, String> + Sync,
) -> Result<Counted, Box<dyn Error>> {
    let sizes = [2, 3].map(|rows| rows * STEP);
    let [small, large] = side_by_side(sizes, simulate)?;
    if small.len() != large.len() {
        return Err(format!("{of:?}: other numbers of rows have other launches").into());
    }
    let multiprocessors = Device::simulator().planned_multiprocessors() as usize;
    let Tiles { rows, solved, products, all: all_tiles, area, count } = of;
    // Two rows of tiles have a product and three tiles, three have four and six.
    let of_large = (3.0 * products - solved) / 6.0;
    // From the first pivot to the last; or the tiles of a block, where others' have as many.
    let turns = rows.max(all_tiles as f64 / multiprocessors as f64);
    let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: sizes[1] };
    for (small, large) in small.iter().zip(&large) {
        if large.kernel == "fill" {
            counted.launches.push(large.clone());
            counted.smaller.push(small.clone());
            continue;
        }
        let parts = [(small.clone(), count * (products - 4.0 * of_large)), (large.clone(), count * of_large)];
        let path = |mut launch: Counts| {
            // The matrices themselves are read and written once.
            launch.memory_read = large.memory_read * area;
            launch.memory_written = large.memory_written * area;
            // What the block that does most of it does for two tiles on the diagonal.
            launch.waits = large.waits;
            launch.waits.shared = (small.waits.shared + small.last.shared) * turns;
            launch.waits.computing = small.waits.computing * turns;
            (launch.waits.turns, launch.last) = (0.0, small.last);
            launch.last.shared = 0.0;
            launch.chain = (rows - 1.0).max(0.0);
            launch.blocks = all_tiles.min(multiprocessors) as u64;
            launch
        };
        counted.launches.push(path(combined(&parts)));
        counted.smaller.push(path(large.clone().times(count * products / 4.0)));
    }
    Ok(counted)
}

fn simulate(shape: Shape, sample: Option<u32>, counting: &Counting) -> Result<Vec<Counts>, String> {
    let device = Device::simulator_with(Config { sample, ..simulated::config(counting.caches) });
    measure(&device, &shape, false).map_err(|error| format!("{shape}: {error}"))?;
    counting.launched_by_units(&device, 0.0)
}
