//! How long a kernel takes for a product, about: what tiles and parts are chosen by.
//!
//! A roofline of four ceilings: arithmetic, the L2, memory, and the latency of stages. Blocks are spread evenly; the
//! multiprocessor with the most of them is the last.
//!
//! Parts are chosen with constants of their own, which stay: parts are the order of the sums, which is not to change
//! with what is found out about kernels.

use gpu_linalg_kernels::gemm::{SHORT_COLUMNS_F32, SHORT_COLUMNS_F64, Tile, short, small};

use super::kernel::{Kernel, MOST_SHORT, MOST_SHORT_ACROSS, OfCut, Rate};

/// Multiply-adds of a multiprocessor in a clock, of `f32` and, on tensor cores, of `f64`: that of an H200.
const MULTIPLY_ADDS: f64 = 128.0;
/// Bytes from the L2 to a multiprocessor in a clock: 5.5 TB/s of 132.
const L2_BYTES: f64 = 24.0;
/// Bytes from memory in a clock: 3.5 TB/s, between an H100's and an H200's.
const MEMORY_BYTES: f64 = 2000.0;
/// The same where parts are chosen: an H200's.
const MEMORY_BYTES_OF_CUT: f64 = 2400.0;
/// Clocks of a launch of short sums besides, and of each block of a multiprocessor.
const SHORT_ENDS: [f64; 2] = [3310.0, 738.0];
/// Clocks that short sums wait for what is read at once.
const SHORT_ROUND: f64 = 20.0;
/// Clocks that the blocks of small tiles of a multiprocessor wait for what they read at once.
const SMALL_ROUND: f64 = 2140.0;
/// Clocks of a multiprocessor to read and to write what is a small tile's.
const SMALL_BLOCK: f64 = 870.0;
/// Clocks of a multiprocessor for a small tile's products of one k, of `f32` and of `f64`: what it reads of shared
/// memory, and doubles without tensor cores. Where no thread has more than one element they are a fourth.
const SMALL_STEP: [f64; 2] = [18.3, 51.0];
/// The most small tiles of a product: those of more are better wide, which read less.
const MOST_SMALL: u64 = 1024;
/// How much longer the doubles of an update take of which both factors are contiguous along k, by kernels that copy
/// them element by element. (Of a product the constants have it in the mean.)
const BY_ELEMENTS: f64 = 1.2;
/// Clocks of a second launch, about 1.5 µs.
const LAUNCH: f64 = 2600.0;
/// Clocks of a round of parts that are added.
const ROUND: f64 = 400.0;
/// Bytes of parts' sums that are written and read in a clock, most of them in the L2.
const PARTS_BYTES: f64 = 3000.0;

/// A product as kernels see it.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// Whether all matrices may be accessed by 16 bytes: see [`Kernel::needs_alignment`].
    pub(super) aligned: bool,
}

impl Shape {
    /// The blocks that compute something, where one has so many rows and columns.
    pub(super) fn blocks(&self, [rows, columns]: [u32; 2]) -> u64 {
        let (down, across) = (self.m.div_ceil(rows.into()), self.n.div_ceil(columns.into()));
        let each = if self.half { (down * across + down.max(across)).div_ceil(2) } else { down * across };
        each.saturating_mul(self.count)
    }

    /// Those of the multiprocessor with the most of them.
    fn blocks_each(&self, block: [u32; 2], parts: u64, multiprocessors: u32) -> f64 {
        (self.blocks(block) as f64 * parts as f64 / f64::from(multiprocessors)).ceil()
    }

    /// The elements of C that are computed, of the whole batch.
    fn results(&self) -> f64 {
        self.m as f64 * self.n as f64 * self.count as f64 * if self.half { 0.5 } else { 1.0 }
    }

    /// Clocks to read A and B and to write C, of a memory of so many bytes a clock.
    fn memory_clocks(&self, bytes: f64) -> f64 {
        let factors = (self.m as f64 + self.n as f64) * self.k as f64 * self.count as f64;
        (factors + self.results()) * self.bytes as f64 / bytes
    }
}

/// What tiles are chosen by, or parts.
struct Constants {
    rate: Rate,
    /// Bytes from memory in a clock.
    memory: f64,
    /// Whether blocks that no room is left for at first are taken to run by themselves, or evenly with the others.
    in_waves: bool,
    /// How much longer arithmetic takes for how factors lie.
    slower: f64,
}

/// Clocks of a product in so many parts of `piece`, by a kernel with stages.
fn staged_clocks(
    tile: Tile,
    Constants { rate, memory, in_waves, slower }: Constants,
    shape: Shape,
    (parts, piece): (u64, u64),
    multiprocessors: u32,
) -> f64 {
    let Shape { bytes, .. } = shape;
    let (rows, columns) = (f64::from(tile.rows), f64::from(tile.columns));
    let each = shape.blocks_each([tile.rows, tile.columns], parts, multiprocessors);
    let resident = each.min(rate.blocks);
    // What so many blocks cost that run together, in blocks of a busy multiprocessor.
    let together = |blocks: f64| blocks / (blocks * f64::from(tile.threads / 32) / rate.warps).min(1.0);
    let waves = (each / resident).floor();
    let blocks = match each - waves * resident {
        rest if in_waves && rest > 0.0 => waves * together(resident) + together(rest),
        _ => each / resident * together(resident),
    };
    let stages = piece.div_ceil(tile.depth.into()) as f64;
    let depth = stages * f64::from(tile.depth);

    let arithmetic = blocks * rows * columns * depth / (MULTIPLY_ADDS * rate.fraction) * slower;
    let l2 = each * (rows + columns) * depth * bytes as f64 / L2_BYTES;
    let memory = shape.memory_clocks(memory);
    let latency = (each / resident).ceil() * stages * rate.stage;
    let [one, more] = rate.ends;
    arithmetic.max(l2).max(memory).max(latency) + one + more * each
}

/// Clocks of a product of short sums: those of rounds that are waited for, of what warps read of the nearest cache,
/// or of memory.
fn short_clocks(shape: Shape, multiprocessors: u32) -> f64 {
    let Shape { m, n, k, bytes, .. } = shape;
    // Of doubles there are registers for three products at once: longer sums were a quarter slower than by tiles.
    let most = if bytes == 8 { 4 * short::flight(8) } else { MOST_SHORT };
    if k > most.min(if shape.across { MOST_SHORT_ACROSS } else { MOST_SHORT }) as u64 {
        return f64::INFINITY;
    }
    let columns = if bytes == 4 { SHORT_COLUMNS_F32 } else { SHORT_COLUMNS_F64 };
    let lanes = u64::from(short::lanes(n as u32, columns));
    let each = shape.blocks_each(Kernel::Short.block(n as u32, bytes as usize), 1, multiprocessors);
    let rounds =
        (each / Kernel::Short.rate().blocks).ceil() * k.div_ceil(short::flight(bytes as usize) as u64) as f64;
    // A warp has a clock's worth of a row of A or C, and of B an element of as many lines as there are lanes, two of
    // them in a clock, where it is contiguous along k.
    let of_b = if shape.across { lanes as f64 / 2.0 } else { bytes as f64 / 4.0 };
    let warps = m.div_ceil(32 / lanes).min(u64::from(short::THREADS / 32)) as f64;
    let (rows, columns) = (f64::from(short::ROWS), f64::from(columns));
    let near = each * warps * (k as f64 * (columns * of_b + rows) + columns * rows);
    let memory = shape.memory_clocks(MEMORY_BYTES);
    let [one, more] = SHORT_ENDS;
    (rounds * SHORT_ROUND).max(near).max(memory) + one + more * each
}

/// Clocks of a product of small tiles: blocks that wait together, and then add one after the other.
fn small_clocks(shape: Shape, parts: u64, piece: u64, multiprocessors: u32) -> f64 {
    let [down, across] =
        Kernel::Small.tiles(shape.m as u32, shape.n as u32, shape.bytes as usize).map(u64::from);
    if down * across > MOST_SMALL {
        return f64::INFINITY;
    }
    let each = shape.blocks_each([small::TILE; 2], parts, multiprocessors);
    let rounds = (each / Kernel::Small.rate().blocks).ceil()
        * piece.div_ceil(small::depth(shape.bytes as u32).into()) as f64;
    let step = SMALL_STEP[if shape.bytes == 4 { 0 } else { 1 }];
    let step = if shape.m.max(shape.n) <= small::TILE as u64 / 2 { step / 4.0 } else { step };
    let memory = shape.memory_clocks(MEMORY_BYTES);
    (rounds * SMALL_ROUND + each * (SMALL_BLOCK + piece as f64 * step)).max(memory)
}

/// Clocks of a product in so many parts of `piece`, by which tiles are chosen.
pub(super) fn clocks(kernel: Kernel, shape: Shape, parts: u64, piece: u64, multiprocessors: u32) -> f64 {
    if matches!(kernel, Kernel::Short) {
        return short_clocks(shape, multiprocessors);
    }
    if matches!(kernel, Kernel::Small) {
        return small_clocks(shape, parts, piece, multiprocessors);
    }
    let by_elements = shape.half && shape.across && shape.bytes == 8 && !kernel.needs_alignment();
    let slower = if by_elements { BY_ELEMENTS } else { 1.0 };
    let constants = Constants { rate: kernel.rate(), memory: MEMORY_BYTES, in_waves: true, slower };
    staged_clocks(kernel.tile(), constants, shape, (parts, piece), multiprocessors)
}

/// The same, by which parts are chosen, and what adds them.
pub(super) fn clocks_of_parts(
    OfCut { tile, rate }: OfCut,
    shape: Shape,
    (parts, piece): (u64, u64),
    multiprocessors: u32,
    turned: bool,
) -> f64 {
    let constants = Constants { rate, memory: MEMORY_BYTES_OF_CUT, in_waves: false, slower: 1.0 };
    staged_clocks(tile, constants, shape, (parts, piece), multiprocessors)
        + finish_clocks(shape, parts, turned)
}

/// Clocks to add the parts' sums, if there are any to add.
fn finish_clocks(shape: Shape, parts: u64, turned: bool) -> f64 {
    if parts == 1 && !turned {
        return 0.0;
    }
    let sums = shape.results() * parts as f64;
    LAUNCH + (parts as f64 / 16.0).ceil() * ROUND + 2.0 * sums * shape.bytes as f64 / PARTS_BYTES
}
