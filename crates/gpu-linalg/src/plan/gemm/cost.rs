//! How long a kernel takes for a product, about: what tiles and parts are chosen by.
//!
//! A roofline of four ceilings: arithmetic, the L2, memory, and the latency of stages. Blocks are spread evenly; the multiprocessor with the
//! most of them is the last.

use super::kernel::{Kernel, MOST_SHORT, MOST_SHORT_ACROSS};

/// Multiply-adds of a multiprocessor in a clock, of `f32` and, on tensor cores, of `f64`: that of an H200.
const MULTIPLY_ADDS: f64 = 128.0;
/// Bytes from the L2 to a multiprocessor in a clock: 5.5 TB/s of 132.
const L2_BYTES: f64 = 24.0;
/// Bytes from memory in a clock: 4.2 TB/s.
const MEMORY_BYTES: f64 = 2400.0;
/// Clocks that a stage takes at least: what comes from memory takes some 700, and two stages are on their way.
const STAGE: f64 = 350.0;
/// Clocks of a block's first stages and of what it writes.
const ENDS: f64 = 2000.0;
/// Clocks of a second launch, about 1.5 µs.
const LAUNCH: f64 = 2600.0;
/// Clocks of a round of parts that are added.
const ROUND: f64 = 400.0;
/// Bytes of parts' sums that are written and read in a clock, most of them in the L2.
const PARTS_BYTES: f64 = 3000.0;

/// A product as kernels see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) m: u64,
    pub(super) n: u64,
    pub(super) k: u64,
    pub(super) count: u64,
    pub(super) bytes: u64,
    /// Whether only a triangle of a square C is computed.
    pub(super) half: bool,
    /// Whether B is contiguous along k.
    pub(super) across: bool,
}

impl Shape {
    /// The blocks that compute something.
    pub(super) fn blocks(&self, kernel: Kernel) -> u64 {
        let [down, across] = kernel.tiles(self.m as u32, self.n as u32, self.bytes as usize);
        let each = if self.half { (down * across + down.max(across)).div_ceil(2) } else { down * across };
        each.saturating_mul(self.count)
    }

    /// The elements of C that are computed, of the whole batch.
    fn results(&self) -> f64 {
        self.m as f64 * self.n as f64 * self.count as f64 * if self.half { 0.5 } else { 1.0 }
    }
}

/// Clocks of a product in so many parts of `piece`.
pub(super) fn clocks(kernel: Kernel, shape: Shape, parts: u64, piece: u64, multiprocessors: u32) -> f64 {
    let Shape { m, n, k, count, bytes, .. } = shape;
    if matches!(kernel, Kernel::Short) {
        let most = if shape.across { MOST_SHORT_ACROSS } else { MOST_SHORT };
        return if k <= most as u64 { 0.0 } else { f64::INFINITY };
    }
    let (tile, rate) = (kernel.tile(), kernel.rate());
    let (rows, columns) = (f64::from(tile.rows), f64::from(tile.columns));
    let blocks = shape.blocks(kernel) as f64 * parts as f64;
    let each = (blocks / f64::from(multiprocessors)).ceil();
    let resident = each.min(rate.blocks);
    let busy = (resident * f64::from(tile.threads / 32) / rate.warps).min(1.0);
    let stages = piece.div_ceil(tile.depth.into()) as f64;
    let depth = stages * f64::from(tile.depth);

    let arithmetic = each * rows * columns * depth / (MULTIPLY_ADDS * rate.fraction * busy);
    let l2 = each * (rows + columns) * depth * bytes as f64 / L2_BYTES;
    let elements = (m as f64 + n as f64) * k as f64 * count as f64 + shape.results();
    let memory = elements * bytes as f64 / MEMORY_BYTES;
    let latency = (each / resident).ceil() * stages * STAGE;
    arithmetic.max(l2).max(memory).max(latency) + ENDS
}

/// Clocks to add the parts' sums, if there are any to add.
pub(super) fn finish_clocks(shape: Shape, parts: u64, turned: bool) -> f64 {
    if parts == 1 && !turned {
        return 0.0;
    }
    let sums = shape.results() * parts as f64;
    LAUNCH + (parts as f64 / 16.0).ceil() * ROUND + 2.0 * sums * shape.bytes as f64 / PARTS_BYTES
}
