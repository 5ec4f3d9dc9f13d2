//! Counts of products of matrices: their tiles depend on how large they are, and a block alone takes long.
//!
//! So a product is launched as large as it is, but with short sums, and few of its blocks are simulated. What a block
//! does is something once, and something for each stage of its sums: two lengths of them tell both. Sums that are cut
//! into parts are short as they are.

use std::error::Error;

use gpu_benches::suite::{Case, Shape, Type};
use gpu_core::{Device, Scratch};
use gpu_examples::predicted::side_by_side;
use gpu_linalg::plan::gemm::{Kernel, Plan, Split, Sums};
use gpu_linalg::variants::gemm_tiles;
use gpu_linalg::{BatchLayout, Layout, Matrix, MatrixMut, RealElement, gemm, gemm_scratch};
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, scale, simulated};
use gpu_sim::Config;

use super::cases::{Counting, element_bytes, operations};
use super::tensor::side_by_side_read;

/// The lengths of the sums that are simulated: multiples of all kernels' stages, more than are in flight at a time.
const LENGTHS: [usize; 2] = [128, 256];
/// What lengths are tried in, where some with as many parts are looked for.
const STEP: usize = 32;

/// Lengths that no plan cuts, for sums of which it is known into how many parts they are.
const WHOLE: [usize; 2] = [64, 96];

/// A product of an m × k and a k × n matrix, the product row-major.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// m, n, k.
    pub extents: [usize; 3],
    /// Whether the factors are column-major.
    pub transposed: [bool; 2],
    /// Elements that the factors' lines and the product's have more than they need.
    pub gaps: [usize; 3],
    /// The kernel, or that of the plan's choice.
    pub kernel: Option<Kernel>,
}

impl Product {
    /// The layouts of its factors and of itself.
    fn layouts(&self) -> Result<[Layout; 3], gpu_linalg::Error> {
        let [m, n, k] = self.extents;
        let matrix = |rows, columns, transposed, gap| {
            let layout = match transposed {
                true => Layout::column_major(rows, columns)?,
                false => Layout::row_major(rows, columns)?,
            };
            layout.with_leading_dimension(layout.leading_dimension() + gap)
        };
        let ([a, b], gaps) = (self.transposed, self.gaps);
        Ok([matrix(m, k, a, gaps[0])?, matrix(k, n, b, gaps[1])?, matrix(m, n, false, gaps[2])?])
    }

    /// The kernel that the plan takes for elements of so many bytes, in memory that is aligned.
    ///
    /// # Errors
    /// Those of the plan.
    pub fn planned(&self, bytes: usize) -> Result<Kernel, gpu_linalg::Error> {
        let multiprocessors = Device::simulator().planned_multiprocessors();
        let layouts = self.layouts()?.map(BatchLayout::from);
        Ok(Plan::new(bytes, None, multiprocessors, layouts, [0; 4], Sums::Parts, None)?.kernel)
    }
}

/// The launches of a product of `f32`: the tiles', for each part of the sums, and where there are several parts the one
/// that adds them. What the tiles of one part count is from sums too short to be cut, and grows with their length and
/// with the parts.
///
/// # Errors
/// Those of the simulator.
pub fn tiles(product: Product, counting: &Counting) -> Result<Vec<Counts>, Box<dyn Error>> {
    let [m, n, k] = product.extents;
    let split = Split::new(size_of::<f32>(), [m, n, k], 1);
    let run =
        |k: usize, blocks| simulate::<f32>(Product { extents: [m, n, k], ..product }, 0.0, blocks, counting);
    let length = k as f64 / split.parts as f64;
    if length < WHOLE[1] as f64 && split.parts == 1 {
        let mut launches = run(k, 1)?;
        launches[0].operations = 2.0 * (m * n * k) as f64;
        return Ok(launches);
    }
    let [short, long] = side_by_side(WHOLE, |length| run(length, 1))?;
    let ([short], [long]) = (&short[..], &long[..]) else {
        return Err("sums that are not cut take more than a launch".into());
    };
    let [of_short, of_long] = WHOLE.map(|length| length as f64);
    let one = if length < of_long {
        short.clone()
    } else {
        scale((short, of_short), (long, of_long), length, Some(long.blocks))?.counts
    };
    let parts = split.parts as f64;
    let mut all = scale((&one, 0.5), (&one, 1.0), parts, None)?.counts;
    all.operations = 2.0 * (m * n * k) as f64;
    multiply_adds(&mut all);
    let mut launches = vec![all];
    if split.parts > 1 {
        // The launch that adds the parts is the same whatever their lengths: the shortest sums with as many.
        let as_many = |k: &usize| Split::new(size_of::<f32>(), [m, n, *k], 1).parts == split.parts;
        let shortest = (1..).map(|steps| STEP * steps).take_while(|&shorter| shorter < k).find(as_many);
        let launched = run(shortest.unwrap_or(k), 1)?;
        launches.extend(launched.into_iter().skip(1));
    }
    Ok(launches)
}

/// The launches of a benchmark's product, and the same by another simulation.
///
/// # Errors
/// Those of the simulator.
pub fn launches(case: Case, counting: &Counting) -> Result<[Vec<Counts>; 2], Box<dyn Error>> {
    let Shape::Matrix { rows: n, .. } = case.shape else { return Err("a product is of matrices".into()) };
    let bytes = element_bytes(case);
    let cut = Split::new(bytes, [n, n, n], 1).parts > 1;
    let runs = if cut || n <= LENGTHS[1] { [(n, 1), (n, 2)] } else { LENGTHS.map(|k| (k, 1)) };
    // Of shorter sums the plan would take others.
    let whole = Product { extents: [n; 3], transposed: [false; 2], gaps: [0; 3], kernel: None };
    let kernel = Some(whole.planned(bytes)?);
    let [short, mut long] = side_by_side(runs, |(k, blocks)| {
        let product = Product { extents: [n, n, k], kernel, ..whole };
        match case.element {
            Type::F64 => simulate::<f64>(product, 0.0, blocks, counting),
            _ => simulate::<f32>(product, 0.0, blocks, counting),
        }
    })?;
    if short.len() != long.len() {
        return Err(format!("{}: sums of other lengths have other launches", case.name()).into());
    }
    let multiprocessors = Device::simulator().planned_multiprocessors();
    let mut smaller = short.clone();
    if runs[0].0 != runs[1].0 {
        for ((long, smaller), short) in long.iter_mut().zip(&mut smaller).zip(&short) {
            let [of_short, of_long] = runs.map(|(k, _)| k as f64);
            let scaled = scale((short, of_short), (long, of_long), n as f64, Some(long.blocks))?;
            (*long, *smaller) = (scaled.counts, scaled.smaller);
        }
    }
    for launches in [&mut long, &mut smaller] {
        launches[0].operations = operations(case);
        if case.element == Type::F32 {
            multiply_adds(&mut launches[0]);
        }
        let once = (2 * n * n * bytes) as f64;
        let read = side_by_side_read(&launches[0], (n * n) as f64, n, bytes, multiprocessors);
        launches[0].memory_read =
            if once <= counting.l2.0 { Bytes(read.0.min(once)) } else { Bytes(read.0.max(once)) };
    }
    Ok([long, smaller])
}

/// Products that are added to what is there, each counted once: of one kernel, those of a smaller matrix are as many of
/// its blocks.
pub struct Added<'c> {
    counting: &'c Counting,
    /// Of each kernel whose sums are not cut, with what its elements' bytes are: what it counts by two lengths of sums.
    known: Vec<(Kernel, usize, [Counts; 2])>,
}

impl<'c> Added<'c> {
    /// None is counted yet.
    pub fn new(counting: &'c Counting) -> Self {
        Self { counting, known: Vec::new() }
    }

    /// What a product of the plan's choice counts; the largest one comes first.
    ///
    /// # Errors
    /// Those of the simulator.
    pub fn count<T: RealElement>(&mut self, product: Product) -> Result<Vec<Counts>, Box<dyn Error>> {
        let ([m, n, k], bytes) = (product.extents, size_of::<T>());
        let multiprocessors = Device::simulator().planned_multiprocessors();
        let layouts = product.layouts()?.map(BatchLayout::from);
        let plan = Plan::new(bytes, None, multiprocessors, layouts, [0; 4], Sums::Parts, None)?;
        let kernel = plan.kernel;
        let run = |k: usize| {
            let product = Product { extents: [m, n, k], kernel: Some(kernel), ..product };
            simulate::<T>(product, T::ONE, 1, self.counting)
        };
        let mut launches = if Split::new(bytes, [m, n, k], 1).parts > 1 {
            run(k)?
        } else {
            let known = self.known.iter().find(|(known, size, _)| (*known, *size) == (kernel, bytes));
            let both = match known {
                Some((.., both)) => both.clone(),
                None => {
                    let [short, long] = side_by_side(LENGTHS, run)?;
                    let both = [short, long].map(|mut launches| launches.swap_remove(0));
                    self.known.push((kernel, bytes, both.clone()));
                    both
                }
            };
            let [of_short, of_long] = LENGTHS.map(|length| length as f64);
            let blocks = plan.launch.grid.iter().map(|&one| u64::from(one)).product::<u64>();
            let length = k as f64;
            let all = match &both {
                [short, long] if length > of_long => {
                    scale((short, of_short), (long, of_long), length, Some(long.blocks))?.counts
                }
                [_, long] => long.clone().times(length / of_long),
            };
            let part = blocks as f64 / all.blocks as f64;
            vec![Counts { blocks, ..all.times(part) }]
        };
        let launch = &mut launches[0];
        launch.operations = 2.0 * (m * n * k) as f64;
        if bytes == 4 {
            multiply_adds(launch);
        }
        let (sums, once) = ((m * n * bytes) as f64, ((m * k + k * n) * bytes) as f64);
        let read = side_by_side_read(launch, (m * n) as f64, k, bytes, multiprocessors).0;
        let factors = if once <= self.counting.l2.0 { read.min(once) } else { read.max(once) };
        launch.memory_read = Bytes(factors + sums);
        Ok(launches)
    }
}

/// A product of `f32` issues as many multiply-adds as it has, of which one is 64 operations of a warp, whatever its
/// text says.
pub fn multiply_adds(launch: &mut Counts) {
    let arithmetic = &mut launch.instructions.arithmetic;
    *arithmetic = arithmetic.max(launch.operations / 64.0);
}

/// Of a product, added to `beta` times what is there, `blocks` blocks.
fn simulate<T: RealElement>(
    product: Product,
    beta: T,
    blocks: u32,
    counting: &Counting,
) -> Result<Vec<Counts>, String> {
    let Product { extents: [_, _, k], kernel, .. } = product;
    let run = || -> Result<Device, Box<dyn Error>> {
        let device =
            Device::simulator_with(Config { sample: Some(blocks), ..simulated::config(counting.caches) });
        let [left, right, output] = product.layouts()?;
        let (a, b) = (device.zeroed::<T>(left.span())?, device.zeroed::<T>(right.span())?);
        let mut c = device.zeroed::<T>(output.span())?;
        let stream = device.default_stream();
        // Zeros, as not all blocks write their part of it.
        let size = gemm_scratch::<T>(k, output);
        let mut scratch = Scratch::from_buffer(&stream, device.zeroed(size.words())?)?;
        let (a, b) = (Matrix::new(&a, left)?, Matrix::new(&b, right)?);
        let c = MatrixMut::new(&mut c, output)?;
        match kernel {
            None => gemm(&stream, T::ONE, a, b, beta, c, &mut scratch)?,
            Some(kernel) => gemm_tiles(&stream, kernel, None, T::ONE, a, b, beta, c, &mut scratch)?,
        }
        Ok(device)
    };
    counting.counts(&run().map_err(|error| error.to_string())?)
}
