//! Counts of triangular systems, and of systems of one factor, which are two of them.
//!
//! Squares of rows on the diagonal are solved in a launch each, with products between. In a launch each block of
//! threads has some rows of some right-hand sides: it takes off the products with the rows before, one tile of them
//! after the other as they become known, and then solves for its own. So a block counts something for itself and
//! something for each tile before it: systems of one and of two blocks of rows tell both. No block waits in the first.
//!
//! From the first block of rows to the last, each waits until it sees what the one before has stored, reads that,
//! multiplies a tile, and solves for its rows, square after square:
//!
//! ```text
//! chain     = t − 1                                   t: blocks of rows
//! path      = (t − 1) · (fence + a read of X, barriers of a tile and of squares, the squares) + beyond · a tile
//! a tile    = its rows one behind the other, by chains of multiply-adds, + its passes of shared memory
//! squares   = 4 · (two chains of 16 multiply-adds, and two loads of shared memory before) + their passes
//! beyond    = max(t − 1 − tiles of a multiprocessor, 0)     what it multiplies meanwhile its levels count
//! ```
//!
//! What is stored has to have arrived before it is said that it is there, which takes another way to the second-level
//! cache. The chains are those of the kernel's source (gpu-level3-kernels): of a tile a thread multiplies all 64 rows,
//! in the narrow form a fourth of them. A block meets at barriers all along, so that what it reads of shared memory is
//! part of the way. What its squares do is twice what a block does more than one of half of the rows.
//!
//! A triangle on the right is the transposed system: `X · A = B` is `Aᵀ · Xᵀ = Bᵀ`. Systems of so few rows that a
//! thread has all of a right-hand side are simulated as they are, of fewer right-hand sides.

use std::collections::BTreeMap;
use std::error::Error;

use gpu_benches::{factor, level3};
use gpu_core::{Device, Scratch};
use gpu_examples::predicted::{Counted, side_by_side};
use gpu_linalg::plan::level3::{Form, Step, solve, solve_square};
use gpu_linalg::variants::trsm_square;
use gpu_linalg::{Diagonal, Layout, Matrix, MatrixMut, Side, Triangle, TriangleElement, trsm};
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, combined, scale, simulated};

use super::cases::Counting;
use super::product::{Added, Product};

/// Rows of a block of threads.
const BLOCK: usize = 64;
/// Rows that are simulated: half a block of them, one, and two.
const ROWS: [usize; 3] = [BLOCK / 2, BLOCK, 2 * BLOCK];
/// Squares of a block, and rows of a square.
const SQUARES: f64 = 4.0;
const SQUARE: f64 = 16.0;
/// Registers of a thread: so many that two blocks of 256 threads fit, as these kernels ask for.
const REGISTERS: u32 = 128;
/// Blocks of right-hand sides that are simulated where a thread has one.
const FEW_BLOCKS: usize = 4;
/// Elements after which lines are aligned as before.
const ALIGNED: usize = 16;

/// Systems with a triangle of `n` rows, on the left of so many right-hand sides.
#[derive(Clone, Copy, Debug)]
struct System {
    n: usize,
    columns: usize,
    is_double: bool,
    /// Whether the triangle, as it stands on the left, and the right-hand sides are column-major.
    by_columns: [bool; 2],
    /// Whether it is an upper triangle, solved from the last row to the first.
    backward: bool,
    /// Elements that all lines have more than they need.
    gap: usize,
}

impl System {
    /// A triangular system as one with its triangle on the left.
    fn of(shape: level3::Shape) -> Self {
        let level3::Shape { extents: [n, columns], upper, right, transposed, gap, .. } = shape;
        let (is_double, by_columns) = (shape.element == "f64", [transposed != right, right]);
        Self { n, columns, is_double, by_columns, backward: upper != right, gap }
    }

    fn bytes(&self) -> usize {
        if self.is_double { 8 } else { 4 }
    }

    /// Rows of a square.
    fn square(&self) -> usize {
        solve_square(self.n, self.columns, self.is_double)
    }

    /// What solves for a square.
    fn form(&self) -> Form {
        Form::new(self.square(), self.columns, 1, self.n <= self.square())
    }

    /// Right-hand sides of a block of threads.
    fn sides(&self) -> usize {
        self.form().sides() as usize
    }

    /// The layouts of a triangle of so many rows, and of so many right-hand sides.
    fn layouts(&self, rows: usize, columns: usize) -> Result<[Layout; 2], gpu_core::Error> {
        let layout = |rows, columns, by_columns| {
            let layout = match by_columns {
                true => Layout::column_major(rows, columns)?,
                false => Layout::row_major(rows, columns)?,
            };
            layout.with_leading_dimension(layout.leading_dimension() + self.gap)
        };
        Ok([layout(rows, rows, self.by_columns[0])?, layout(rows, columns, self.by_columns[1])?])
    }

    /// The triangle that is solved with.
    fn triangle(&self) -> Triangle {
        if self.backward { Triangle::Upper } else { Triangle::Lower }
    }

    /// The product that takes `from` known rows off `rows` others: of column-major right-hand sides the transposed one.
    /// What is multiplied are parts, whose lines are as far apart as those of the whole, to the bytes that tell how
    /// they are aligned.
    fn update(&self, rows: usize, from: usize) -> Product {
        let [of_a, of_b] = self.by_columns;
        let (extents, transposed) = match of_b {
            true => ([self.columns, rows, from], [false, !of_a]),
            false => ([rows, self.columns, from], [of_a, false]),
        };
        let gap = |line: usize, whole: usize| (whole + self.gap).saturating_sub(line) % ALIGNED;
        let of_triangle = gap(if of_a { rows } else { from }, self.n);
        let gaps = match of_b {
            true => [gap(from, self.n), of_triangle, gap(rows, self.n)],
            false => [of_triangle, gap(self.columns, self.columns), gap(self.columns, self.columns)],
        };
        Product { extents, transposed, gaps, kernel: None }
    }
}

/// What a triangular system of a shape counts.
///
/// # Errors
/// Those of the simulator.
pub fn count(shape: level3::Shape, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let system = System::of(shape);
    match (system.form(), system.is_double) {
        (Form::Few, true) => few::<f64>(system, counting),
        (Form::Few, false) => few::<f32>(system, counting),
        _ => all_of(&[system], counting),
    }
}

/// Systems of which a thread has a right-hand side, by some blocks of them.
fn few<T: TriangleElement>(system: System, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let run = |columns: usize| -> Result<Device, Box<dyn Error>> {
        let device = Device::simulator_with(simulated::config(counting.caches));
        let [of_a, of_b] = system.layouts(system.n, columns)?;
        let (a, mut b) = (device.upload(&ones::<T>(of_a))?, device.zeroed::<T>(of_b.span())?);
        let (mut info, stream) = (device.alloc(1)?, device.default_stream());
        let mut scratch = Scratch::new(&stream);
        let (a, b) = (Matrix::new(&a, of_a)?, MatrixMut::new(&mut b, of_b)?);
        let triangle = system.triangle();
        trsm(&stream, Side::Left, triangle, Diagonal::Stored, T::ONE, a, b, &mut info, &mut scratch)?;
        Ok(device)
    };
    let columns = system.columns.min(FEW_BLOCKS * system.sides());
    let runs = [columns.div_ceil(2), columns];
    let [small, large] =
        side_by_side(runs, |columns| counting.launched(&run(columns).map_err(|error| error.to_string())?))?;
    let mut counted = Counted { launches: Vec::new(), smaller: small.clone(), simulated: columns };
    if columns == system.columns {
        counted.launches = large;
        return Ok(counted);
    }
    if small.len() != large.len() {
        return Err(format!("{system:?}: fewer right-hand sides have other launches").into());
    }
    let [of_small, of_large] = runs.map(|columns| columns as f64);
    for (small, large) in small.iter().zip(&large) {
        let fixed = (small.blocks == large.blocks).then_some(large.blocks);
        let scaled = scale((small, of_small), (large, of_large), system.columns as f64, fixed)?;
        counted.launches.push(scaled.counts);
    }
    counted.smaller.clone_from(&counted.launches);
    Ok(counted)
}

/// A triangle with ones on the diagonal.
fn ones<T: TriangleElement>(layout: Layout) -> Vec<T> {
    let mut host = vec![T::ZERO; layout.span()];
    (0..layout.rows()).for_each(|at| host[layout.index(at, at)] = T::ONE);
    host
}

/// What systems with one factor count.
///
/// # Errors
/// Those of the simulator.
pub fn of_factor(
    shape: factor::Shape,
    columns: usize,
    counting: &Counting,
) -> Result<Counted, Box<dyn Error>> {
    let is_double = shape.element == "f64";
    let forward =
        System { n: shape.n, columns, is_double, by_columns: [true; 2], backward: false, gap: shape.gap };
    // The transposed triangle, as it lies.
    all_of(&[forward, System { by_columns: [false, true], backward: true, ..forward }], counting)
}

fn all_of(systems: &[System], counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let Some(&first) = systems.first() else { return Err("there is no system".into()) };
    let mut added = Added::new(counting);
    // Squares of as many rows are the same; the last one may have fewer.
    let steps = |system: &System| solve(system.n, system.square(), system.backward);
    let mut sizes: Vec<(usize, usize)> = Vec::new();
    for (number, system) in systems.iter().enumerate() {
        let diagonals = steps(system).into_iter().filter_map(|step| match step {
            Step::Diagonal { rows, .. } => Some((number, rows.len())),
            Step::Update { .. } => None,
        });
        sizes.extend(diagonals);
    }
    sizes.sort_unstable();
    sizes.dedup();
    let mut squares = BTreeMap::new();
    for pair in sizes.chunks(2) {
        let [one, two] = [pair[0], pair[pair.len() - 1]];
        let count = |(number, rows): (usize, usize)| square(systems[number], rows, counting);
        if one == two {
            squares.insert(one, count(one)?);
        } else {
            squares.extend([one, two].into_iter().zip(side_by_side([one, two], count)?));
        }
    }
    let mut launches = Vec::new();
    // Words by which blocks wait are cleared at once.
    let blocks = first.n.div_ceil(BLOCK) * first.columns.div_ceil(first.sides());
    launches.push(simulated::fill((systems.len() * blocks * size_of::<u32>()) as u64));
    for (number, system) in systems.iter().enumerate() {
        let mut products = BTreeMap::new();
        // The largest first: others of its kernel are as many of its blocks.
        let steps = steps(system);
        let mut updates: Vec<[usize; 2]> = steps.iter().filter_map(update).collect();
        updates.sort_unstable_by(|one, other| other.cmp(one));
        updates.dedup();
        for [rows, from] in updates {
            let product = system.update(rows, from);
            let counted = match system.is_double {
                true => added.count::<f64>(product)?,
                false => added.count::<f32>(product)?,
            };
            products.insert([rows, from], counted);
        }
        for step in &steps {
            match step {
                Step::Update { rows, from, .. } => {
                    launches.extend(products[&[rows.len(), from.len()]].clone())
                }
                Step::Diagonal { rows, .. } => launches.push(squares[&(number, rows.len())].clone()),
            }
        }
    }
    Ok(Counted { smaller: launches.clone(), launches, simulated: ROWS[2] })
}

/// Rows that change in a product, and rows that are multiplied.
fn update(step: &Step) -> Option<[usize; 2]> {
    match step {
        Step::Update { rows, from, .. } => Some([rows.len(), from.len()]),
        Step::Diagonal { .. } => None,
    }
}

/// What the launch of a square of so many rows counts.
fn square(system: System, rows: usize, counting: &Counting) -> Result<Counts, String> {
    let run = |rows: usize| match system.is_double {
        true => simulate::<f64>(system, rows, counting),
        false => simulate::<f32>(system, rows, counting),
    };
    let [half, one] = [run(ROWS[0].min(rows))?, run(ROWS[1].min(rows))?];
    let two = if rows > BLOCK { run(ROWS[2])? } else { one.clone() };
    let (t, groups) = (rows.div_ceil(BLOCK) as f64, system.columns.div_ceil(system.sides()) as f64);
    // Two blocks of rows have a tile between them, t have t (t - 1) / 2.
    let tiles = t * (t - 1.0) / 2.0;
    let parts = [(one.clone(), groups * (t - 2.0 * tiles)), (two.clone(), groups * tiles)];
    let mut launch = combined(&parts);
    launch.blocks = (groups * t) as u64;
    launch.registers = Some(REGISTERS);
    launch.waits = one.waits;
    launch.last = Default::default();
    // Of two blocks half have the tile.
    let of_tile = |of: fn(&Counts) -> f64| 2.0 * (of(&two) - of(&one)).max(0.0);
    let of_squares = |of: fn(&Counts) -> f64| 2.0 * (of(&one) - of(&half)).max(0.0);
    let barriers: fn(&Counts) -> f64 = |one| one.waits.shared;
    let passes: fn(&Counts) -> f64 = |one| one.wavefronts / one.blocks as f64;
    let latency = counting.latency;
    let add = if system.is_double { latency.double.0 } else { latency.single.0 };
    let rows_of_tile = if system.form() == Form::Narrow { BLOCK as f64 / 4.0 } else { BLOCK as f64 };
    let tile = rows_of_tile * add + latency.shared.0 + of_tile(passes);
    let squares = SQUARES * 2.0 * (SQUARE * add + latency.shared.0) + of_squares(passes);
    let multiprocessors = f64::from(counting.caches.multiprocessors);
    let beyond = (t - 1.0 - groups * tiles / multiprocessors).max(0.0);
    launch.chain = t - 1.0;
    // The fence, and the read of X.
    launch.path.l2 = 2.0 * (t - 1.0);
    launch.path.shared = (t - 1.0) * (of_tile(barriers) + of_squares(barriers));
    launch.path.computing = (t - 1.0) * squares + beyond * tile;
    // The triangle and the right-hand sides are read once, as they fit into the second-level cache.
    let bytes = system.bytes() as f64;
    let (triangle, right) = ((rows * (rows + 1) / 2) as f64 * bytes, (rows * system.columns) as f64 * bytes);
    let copies = if system.n > system.square() { 2.0 } else { 1.0 };
    (launch.memory_read, launch.memory_written) = (Bytes(triangle + right), Bytes(copies * right));
    launch.operations = (rows * rows * system.columns) as f64;
    if system.is_double {
        // A unit for two operations of 32 bits does one of 64.
        launch.operations *= 2.0;
    }
    Ok(launch)
}

/// So many rows, of the right-hand sides of a block.
fn simulate<T: TriangleElement>(system: System, rows: usize, counting: &Counting) -> Result<Counts, String> {
    let run = || -> Result<Device, Box<dyn Error>> {
        let device = Device::simulator_with(simulated::config(counting.caches));
        let columns = system.columns.min(system.sides());
        let [of_a, of_b] = system.layouts(rows, columns)?;
        let wide = system.form() == Form::Wide;
        let (a, mut b) = (device.upload(&ones::<T>(of_a))?, device.zeroed::<T>(of_b.span())?);
        let (mut info, stream) = (device.alloc(1)?, device.default_stream());
        let mut scratch = Scratch::new(&stream);
        let (a, b) = (Matrix::new(&a, of_a)?, MatrixMut::new(&mut b, of_b)?);
        let triangle = system.triangle();
        trsm_square(&stream, wide, triangle, T::ONE, a, b, &mut info, &mut scratch)?;
        Ok(device)
    };
    let launches = counting.counts(&run().map_err(|error| error.to_string())?)?;
    let [launch] = &launches[..] else { return Err(format!("{system:?}: {rows} rows are several launches")) };
    Ok(launch.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEM: System =
        System { n: 512, columns: 512, is_double: true, by_columns: [false; 2], backward: false, gap: 0 };

    /// Products of column-major matrices are the transposed ones, and few right-hand sides have all rows in a launch.
    #[test]
    fn systems_are_cut_as_they_are_solved() {
        assert_eq!((SYSTEM.square(), SYSTEM.form()), (512, Form::Wide));
        assert_eq!((SYSTEM.update(64, 128).extents, SYSTEM.sides()), ([64, 512, 128], 32));
        let one = System { n: 4096, columns: 1, by_columns: [false, true], backward: true, ..SYSTEM };
        assert_eq!((one.square(), one.form(), one.sides()), (4096, Form::Narrow, 4));
        let product = one.update(64, 128);
        assert_eq!((product.extents, product.transposed), ([1, 64, 128], [false, true]));
    }

    /// On the right stands the transposed triangle of the transposed system; lines are as aligned as the whole's.
    #[test]
    fn a_triangle_on_the_right_is_one_on_the_left() {
        let all = level3::shapes();
        let left = all.iter().find(|shape| shape.op == level3::Op::Trsm).copied().expect("there is one");
        let right = System::of(level3::Shape { right: true, gap: 3, ..left });
        assert_eq!((right.by_columns, right.backward), ([true; 2], true));
        let upper = System::of(level3::Shape { right: true, upper: true, transposed: true, ..left });
        assert_eq!((upper.by_columns, upper.backward), ([false, true], false));
        let product = System { n: 301, columns: 20, gap: 3, ..SYSTEM }.update(45, 256);
        assert_eq!((product.extents, product.gaps), ([45, 20, 256], [0, 3, 3]));
        assert_eq!(System { n: 16, ..SYSTEM }.form(), Form::Few);
    }
}
