//! How long a kernel takes for a product, about: what tiles and parts are chosen by.
//!
//! Multiprocessors multiply and copy to shared memory by the same instructions' slots, so the two add up; beside that there are ceilings
//! of the L2, of memory, and of the latency of stages. Blocks are spread evenly, and the multiprocessor with the most of them is the last.
//! What a block does before its first and after its last stage nothing hides but the other blocks of its wave.
//!
//! The constants are those that fit 400 products of drawn shapes best, measured on an H200: half of these take within 8 % of what is
//! computed here.

use super::kernel::Kernel;

/// Multiply-adds of a multiprocessor in a clock, of `f32` and, on tensor cores, of `f64`: that of an H200.
const MULTIPLY_ADDS: f64 = 128.0;
/// Bytes from the L2 to a multiprocessor in a clock.
const L2_BYTES: f64 = 40.0;
/// Bytes from memory in a clock: 3.5 TB/s.
const MEMORY_BYTES: f64 = 2000.0;
/// Clocks that a stage takes at least.
const STAGE: f64 = 190.0;
/// Clocks of a second launch.
const LAUNCH: f64 = 2500.0;
/// Clocks of a round of parts that are added.
const ROUND: f64 = 440.0;
/// Bytes of parts' sums that are written and read in a clock, most of them in the L2.
const PARTS_BYTES: f64 = 3500.0;
/// Bytes of results that a block writes in a clock.
const WRITTEN_BYTES: f64 = 20.0;

/// How a factor is copied to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    /// By 16 bytes.
    Vectors,
    /// By elements, contiguous along the rows.
    Elements,
    /// By elements, contiguous along `k`.
    AlongK,
}

impl Copies {
    /// Clocks of a multiprocessor for each element: an instruction copies 32 or, by 16 bytes, more than can be seen.
    const fn clocks(self) -> f64 {
        match self {
            Self::Vectors => 0.0,
            Self::Elements => 3.5 / 32.0,
            Self::AlongK => 4.9 / 32.0,
        }
    }
}

/// A product as kernels see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) m: u64,
    pub(super) n: u64,
    pub(super) k: u64,
    pub(super) count: u64,
    pub(super) bytes: u64,
    /// How A and B are copied.
    pub(super) copies: [Copies; 2],
}

/// Clocks of a product in so many parts of `piece`, but for those that every launch takes.
pub(super) fn clocks(kernel: Kernel, shape: Shape, parts: u64, piece: u64, multiprocessors: u32) -> f64 {
    let Shape { m, n, k, count, bytes, copies } = shape;
    let (tile, rate) = (kernel.tile(), kernel.rate());
    let (rows, columns) = (f64::from(tile.rows), f64::from(tile.columns));
    let tiles = m.div_ceil(tile.rows.into()) as f64 * n.div_ceil(tile.columns.into()) as f64;
    let blocks = tiles * count as f64 * parts as f64;
    let each = (blocks / f64::from(multiprocessors)).ceil();
    let resident = each.min(rate.blocks);
    let waves = (each / resident).ceil();
    let busy = (resident * f64::from(tile.threads / 32) / rate.warps).min(1.0);
    let stages = piece.div_ceil(tile.depth.into()) as f64;
    let depth = stages * f64::from(tile.depth);

    let copied = rows * copies[0].clocks() + columns * copies[1].clocks();
    let issued = each * depth * (rows * columns / (MULTIPLY_ADDS * rate.fraction) + copied) / busy;
    let l2 = each * (rows + columns) * depth * bytes as f64 / L2_BYTES;
    let elements = (m as f64 + n as f64) * k as f64 + m as f64 * n as f64;
    let memory = elements * count as f64 * bytes as f64 / MEMORY_BYTES;
    let latency = waves * stages * STAGE;
    let written = each * rows.min(m as f64) * columns.min(n as f64) * bytes as f64 / WRITTEN_BYTES;
    issued.max(l2).max(memory).max(latency) + waves * rate.ends + written
}

/// Clocks to add the parts' sums, if there are any to add.
pub(super) fn finish_clocks(shape: Shape, parts: u64, turned: bool) -> f64 {
    if parts == 1 && !turned {
        return 0.0;
    }
    let sums = shape.m as f64 * shape.n as f64 * shape.count as f64 * parts as f64;
    LAUNCH + (parts as f64 / 16.0).ceil() * ROUND + 2.0 * sums * shape.bytes as f64 / PARTS_BYTES
}
