//! Which products have a kernel of their own because a factor is thin, and into how many parts sums are cut.

use std::cell::Cell;

use gpu_tensor_kernels::{THIN_TILE, TILE};

use super::super::kept;

/// Whether a factor of a product, of m rows, n columns and sums of k, is thin: the other one is read once then, at the
/// rate of the memory, as it lies.
pub(super) fn is_thin([m, n, _]: [u32; 3]) -> bool {
    m.min(n) <= THIN_TILE[1]
}

/// Whether another product takes less time by the kernel for thin factors, because `copied` factors are not copied
/// then.
///
/// Predicted microseconds, fitted to 88 products on an H100, of which the choice is 0.2 % slower than the faster one in
/// the geometric mean. Either kernel has two blocks on a multiprocessor; one alone takes less time for a step.
pub(super) fn thin_saves(bytes: usize, copied: [bool; 2], [m, n, k]: [u32; 3], count: usize) -> bool {
    if copied == [false; 2] || bytes == 1 {
        return false;
    }
    let (parts, part) = split(bytes, [m, n, k], count);
    let steps = f64::from(part / (128 / bytes as u32));
    let matrices = count as f64 * f64::from(parts);
    let blocks = |[rows, columns]: [u32; 2], [m, n]: [u32; 2]| {
        f64::from(m.div_ceil(rows)) * f64::from(n.div_ceil(columns)) * matrices
    };
    let time = |blocks: f64, alone: f64, step: f64, end: f64| {
        let step = if blocks > PLANNED_FOR as f64 { step } else { alone };
        (blocks / (2 * PLANNED_FOR) as f64).ceil() * (steps * step + end)
    };
    let elements = [m, n].map(|extent| f64::from(extent) * f64::from(k) * count as f64);
    let copies: f64 = (0..2).filter(|&at| copied[at]).map(|at| elements[at]).sum();
    let thin = time(blocks(THIN_TILE, [m.max(n), m.min(n)]), 1.2, 1.7, 3.0);
    let other = time(blocks([TILE; 2], [m, n]), 0.36, 0.6, 2.5);
    thin < other + 3.5 + copies * 2.0 * bytes as f64 / 1.5e6
}

/// How many parts the sums of a product are cut into, and the length of each but the last: more than one where C
/// has too few tiles for a GPU's multiprocessors. A function of the shapes alone, of which C is row-major.
pub fn split(bytes: usize, shape: [u32; 3], count: usize) -> (u32, u32) {
    kept(&LAST, (bytes, shape, count), || search(bytes, shape, count))
}

/// The type's bytes, the shape, the number of products.
type Asked = (usize, [u32; 3], usize);

thread_local! {
    /// The cut that was asked for last. A search takes longer than a launch where sums are long, and one product asks
    /// for its cut several times; the next one often has the same shape.
    static LAST: Cell<Option<(Asked, (u32, u32))>> = const { Cell::new(None) };
}

fn search(bytes: usize, [m, n, k]: [u32; 3], count: usize) -> (u32, u32) {
    let depth = 128 / bytes as u32;
    let steps = k.div_ceil(depth);
    let elements = f64::from(m) * f64::from(n) * count as f64;
    let time = |parts: u32| {
        let of_part = steps.div_ceil(parts);
        let adds = if parts > 1 { 2.5 + f64::from(parts) * elements * 8.0 / 4e6 } else { 0.0 };
        adds + if is_thin([m, n, k]) {
            let tiles = u64::from(m.max(n).div_ceil(THIN_TILE[0])) * count as u64;
            thin_time(tiles * u64::from(parts), of_part) + f64::from(parts.div_ceil(32)) * 0.1
        } else {
            let tiles = u64::from(m.div_ceil(TILE)) * u64::from(n.div_ceil(TILE)) * count as u64;
            (tiles * u64::from(parts)).div_ceil(PLANNED_FOR) as f64 * f64::from(of_part) * 0.4
        }
    };
    let mut best = (time(1), steps.max(1));
    for parts in 2..=steps.min(MOST_PARTS) {
        let of_part = steps.div_ceil(parts);
        let time = time(steps.div_ceil(of_part));
        if time < best.0 {
            best = (time, of_part);
        }
    }
    // Whole steps, so that parts begin where the copy engine can.
    (steps.div_ceil(best.1).max(1), best.1 * depth)
}

/// Predicted microseconds, on an H100, of so many blocks with a thin factor and of their steps: the time from a step's
/// copies to the next one's, or that of the memory, of which a step of all blocks that there is room for reads 5 MB.
fn thin_time(blocks: u64, steps: u32) -> f64 {
    const ROOM: u64 = 2 * PLANNED_FOR;
    const OF_BLOCK: f64 = 0.0054;
    let step = |blocks: u64| if blocks == 0 { 0.0 } else { (blocks as f64 * OF_BLOCK).max(1.0) };
    f64::from(steps) * ((blocks / ROOM) as f64 * step(ROOM) + step(blocks % ROOM))
}

/// Multiprocessors that the parts are made for on every device: they are the order in which sums are added.
const PLANNED_FOR: u64 = 132;
const MOST_PARTS: u32 = 256;
