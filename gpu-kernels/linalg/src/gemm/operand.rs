//! How a product's matrices lie in memory, and how a block's threads bring a tile of one into shared memory.

use gpu_std::async_copy::{copy, copy_or_zero};
use gpu_std::float::Float;
use gpu_std::memory::{Global, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::thread::thread_idx_x;
use gpu_std::{device, opaque, rolled, unroll};

use super::tiled::Tile;

/// How A or B lies in memory, and which of its elements a thread copies. Its *rows* are the axis that is not summed
/// over: rows of A, columns of B.
///
/// All of it is the same for every thread and every step, so it is computed once, by the host: as a parameter it
/// takes no registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Operand {
    /// Elements from one index to the next of the axis that is not contiguous.
    pub leading: u64,
    /// Elements from one matrix of the batch to the next.
    pub batch: u64,
    /// Elements from one tile to the next along `k`.
    pub advance: u64,
    /// Elements from one part of the sums to the next.
    pub part: u64,
    /// Elements from one that a thread copies to the next that it copies of the same tile.
    pub step: u64,
    /// The same along the rows.
    pub row_step: u32,
    /// The same along `k`.
    pub k_step: u32,
    /// Whether `k` is the contiguous axis: 1 or 0.
    pub along_k: u32,
    /// Whether 16 bytes are copied at once, 1 or 0.
    pub vectors: u32,
}

/// How many elements a thread copies at once, and how many threads copy the contiguous axis of a tile.
const fn lanes(rows: u32, depth: u32, vector: u32, along_k: bool, vectors: bool) -> (u32, u32) {
    match (along_k, vectors) {
        (true, _) => (1, depth),
        (false, true) => (vector, rows / vector),
        (false, false) => (1, rows),
    }
}

impl Operand {
    /// The operand of a kernel with `tile`, of which a tile has `rows` rows: [`Tile::rows`] for A, [`Tile::columns`]
    /// for B.
    ///
    /// `aligned` says that the address, the leading dimension and the batch's stride are multiples of 16 bytes, and
    /// that, where rows are contiguous, there are whole vectors of them.
    pub const fn new(tile: Tile, rows: u32, leading: u64, batch: u64, along_k: bool, aligned: bool) -> Self {
        let vectors = aligned && !along_k;
        let (_, across) = lanes(rows, tile.depth, 16 / tile.bytes, along_k, vectors);
        let apart = tile.threads / across;
        let (row_step, k_step, advance) =
            if along_k { (apart, 0, tile.depth as u64) } else { (0, apart, tile.depth as u64 * leading) };
        Self {
            leading,
            batch,
            advance,
            part: 0,
            step: apart as u64 * leading,
            row_step,
            k_step,
            along_k: along_k as u32,
            vectors: vectors as u32,
        }
    }

    /// The operand of sums that are cut into parts of `piece` products.
    #[must_use]
    pub const fn cut(self, piece: u32) -> Self {
        Self { part: piece as u64 * if self.along_k != 0 { 1 } else { self.leading }, ..self }
    }
}

/// All elements of C are computed.
pub const ALL: u32 = 0;
/// Those up to the diagonal, of a square C.
pub const LOWER: u32 = 1;
/// Those from the diagonal on.
pub const UPPER: u32 = 2;

/// The columns of a row of C with `n` columns that are computed: the first, and the one behind the last.
#[device]
#[inline(always)]
pub(super) fn columns(triangle: u32, row: u32, n: u32) -> (u32, u32) {
    (if triangle == UPPER { row } else { 0 }, if triangle == LOWER { row + 1 } else { n })
}

/// A product, but for the addresses and the two factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Product {
    /// How A lies.
    pub a: Operand,
    /// How B lies.
    pub b: Operand,
    /// Elements from one row of C to the next.
    pub c_leading: u64,
    /// Elements from one C of the batch to the next.
    pub c_batch: u64,
    /// Whether 16 bytes of C may be accessed at once.
    pub c_vectors: u32,
    /// Rows of C.
    pub m: u32,
    /// Columns of C.
    pub n: u32,
    /// The length of the sums.
    pub k: u32,
    /// The length of a part of them, a multiple of [`Tile::depth`] where there are several; the last one may be shorter.
    pub piece: u32,
    /// Into how many parts they are cut.
    pub parts: u32,
    /// Elements from the matrix of one part's sums to the next part's.
    pub c_part: u64,
    /// Which elements of C are computed: [`ALL`], [`LOWER`] or [`UPPER`]. The others are neither read nor written.
    pub triangle: u32,
}

impl Product {
    /// Whether nothing is computed of `rows` × `columns` elements of C from there on.
    #[device]
    #[inline(always)]
    pub(super) fn leaves_out(&self, (row, column): (u32, u32), [rows, columns]: [u32; 2]) -> bool {
        self.triangle == LOWER && column >= row + rows || self.triangle == UPPER && row >= column + columns
    }
}

/// A thread's part in copying a `ROWS` × `BK` tile after the other, along `k`, to shared memory: there `k` is the
/// slow axis, with [`Tile::pitch`] elements from one to the next.
///
/// Contiguous rows are copied by 16 bytes where alignment allows, else by elements; matrices contiguous along `k` are
/// transposed on the way, element by element. What lies beyond the last `k` becomes zero. So do rows beyond the last, that
/// make sums that nobody writes, and only the first time: products that were mostly edge, and copied the last row again
/// instead, took up to twice the time, as if one element to many places were many copies.
pub(super) struct Copier<T: Float, const ROWS: u32, const BK: u32, const THREADS: u32, const V: usize> {
    /// The thread's first element of the next tile.
    source: Global<T>,
    /// Where it goes.
    target: u32,
    /// Rows of the matrix from the tile's first on.
    rows: u32,
    /// Whether all that the thread copies of a tile are rows of the matrix.
    inside: bool,
}

impl<T: Float, const ROWS: u32, const BK: u32, const THREADS: u32, const V: usize>
    Copier<T, ROWS, BK, THREADS, V>
{
    /// Elements that a thread copies of a tile.
    const ITEMS: u32 = ROWS * BK / THREADS;
    const PITCH: u32 = Tile::pitch(ROWS);

    /// For the tiles of the rows from `first` on, of a matrix of `rows` rows that starts at `matrix`.
    #[device]
    #[inline(always)]
    pub(super) fn new(matrix: Global<T>, operand: &Operand, first: u32, rows: u32) -> Self {
        const {
            assert!(V as u32 == Tile::vector::<T>());
            assert!(THREADS.is_multiple_of(BK) && THREADS.is_multiple_of(ROWS));
            assert!(BK.is_multiple_of(2 * V as u32) && THREADS.is_multiple_of(4 * BK));
            assert!(Self::ITEMS.is_multiple_of(V as u32), "a thread copies whole vectors");
        }
        let (row, k) = Self::place(operand);
        let width = if operand.vectors != 0 { V as u32 } else { 1 };
        let source = first + row.min(rows - first - width);
        let (along, across) = if operand.along_k != 0 { (k, source) } else { (source, k) };
        Self {
            source: matrix.offset(across as u64 * operand.leading + along as u64),
            target: k * Self::PITCH + row,
            rows: rows - first,
            inside: rows - first >= ROWS || operand.along_k == 0 && row < rows - first,
        }
    }

    /// The row and the `k` of the thread's first element of a tile.
    #[device]
    #[inline(always)]
    fn place(operand: &Operand) -> (u32, u32) {
        // Opaque: it is cheap, and needed again only at the matrix's edge.
        let thread = opaque(thread_idx_x());
        let along_k = operand.along_k != 0;
        let (width, across) = lanes(ROWS, BK, V as u32, along_k, operand.vectors != 0);
        if along_k {
            // As many lanes as fill a sector along k, in four rows: what 128 bytes' worth of lanes store together then
            // falls into different banks.
            let sector = 2 * V as u32;
            let (low, high) = (thread % (4 * sector), thread / (4 * sector));
            let deep = const { BK / (2 * V as u32) };
            (high / deep * 4 + low / sector, high % deep * sector + low % sector)
        } else {
            let k = thread / across;
            // Two lines of 64 bytes that are written at once fall into different banks if they are four apart.
            let k = if const { ROWS == 4 * V as u32 } { (k & !7) | (k & 1) << 2 | (k >> 1 & 3) } else { k };
            (thread % across * width, k)
        }
    }

    /// Starts to copy the next tile to `tile`; `left` is how much of `k` there is from it on. Rows beyond the matrix's last are
    /// written where the tile's memory is `fresh`: later nobody changes them.
    #[device]
    #[inline(always)]
    pub(super) fn next(&mut self, operand: &Operand, tile: Shared<T>, left: u32, fresh: bool) {
        if left >= BK && self.inside {
            if operand.vectors != 0 {
                self.whole::<V, { usize::MAX }>(operand, tile);
            } else {
                self.whole::<1, 8>(operand, tile);
            }
        } else {
            self.some(operand, tile, left, fresh || left < BK);
        }
        self.source = self.source.offset(operand.advance);
    }

    /// [`Self::next`] of a tile in fresh memory, in a loop: it is as fast for large tiles, and shorter.
    #[device]
    #[inline(always)]
    pub(super) fn first(&mut self, operand: &Operand, tile: Shared<T>, left: u32) {
        self.some(operand, tile, left, true);
        self.source = self.source.offset(operand.advance);
    }

    /// Copies what there is of a tile, and writes zeros to the rest of it if `zeros` says so.
    #[device]
    #[inline(always)]
    fn some(&self, operand: &Operand, tile: Shared<T>, left: u32, zeros: bool) {
        let ((row, k), rows, depth) = (Self::place(operand), self.rows.min(ROWS), left.min(BK));
        // The thread has one `k` or one row (or vector of them), and of the other axis every so many-th.
        let (mut at, end, all, step) = if operand.along_k != 0 {
            (row, if k < depth { rows } else { 0 }, ROWS, operand.row_step)
        } else {
            (k, if row < rows { depth } else { 0 }, BK, operand.k_step)
        };
        let target_step = operand.k_step * Self::PITCH + operand.row_step;
        let (mut source, mut target) = (self.source, tile.offset(self.target));
        while at < end {
            at = rolled(at);
            if operand.vectors != 0 {
                copy::<T, V>(target, 0, source, 0);
            } else {
                copy::<T, 1>(target, 0, source, 0);
            }
            (source, target) = (source.offset(operand.step), target.offset(target_step));
            at += step;
        }
        while zeros && at < all {
            at = rolled(at);
            if operand.vectors != 0 {
                target.write_vec::<V>(0, [T::ZERO; V]);
            } else {
                target.write(0, T::ZERO);
            }
            target = target.offset(target_step);
            at += step;
        }
    }

    /// [`Self::next`] of a tile with nothing beyond the last `k`, by `N` elements at once. More than `MOST` copies are a loop: it is as
    /// fast, and a kernel holds a path for each way in which a matrix may lie.
    #[device]
    #[inline(always)]
    fn whole<const N: usize, const MOST: usize>(&self, operand: &Operand, tile: Shared<T>) {
        let step = operand.k_step * Self::PITCH + operand.row_step;
        let (mut source, mut target) = (self.source, tile.offset(self.target));
        let mut one = || {
            copy::<T, N>(target, 0, source, 0);
            (source, target) = (source.offset(operand.step), target.offset(step));
        };
        let items = const { Self::ITEMS as usize / N };
        if items <= MOST {
            unroll::<16>(|item| {
                if item < items {
                    one();
                }
            });
        } else {
            let mut item = 0;
            while item < items as u32 {
                item = rolled(item);
                unroll::<4>(|_| one());
                item += 4;
            }
        }
    }

    /// [`Self::next`] for the widest tiles: what the assembler makes of the loop around the other takes 5 % longer (8192 `f32`, H200),
    /// though it has fewer instructions. Rows beyond the last are written each time.
    #[device]
    #[inline(always)]
    pub(super) fn next_of_wide(&mut self, operand: &Operand, tile: Shared<T>, left: u32) {
        if left >= BK {
            if self.rows < ROWS && (operand.along_k != 0 || Self::place(operand).0 >= self.rows) {
                self.edge(operand, tile);
            } else if operand.vectors != 0 {
                self.whole::<V, { usize::MAX }>(operand, tile);
            } else {
                self.whole::<1, 8>(operand, tile);
            }
            self.source = self.source.offset(operand.advance);
        } else {
            self.first_of_wide(operand, tile, left);
        }
    }

    /// [`Self::next_of_wide`] of a tile with rows beyond the last one, of a matrix contiguous along `k`, or by a thread that has
    /// only such rows.
    #[device]
    #[inline(always)]
    fn edge(&self, operand: &Operand, tile: Shared<T>) {
        let (mut row, _) = Self::place(operand);
        let (mut source, mut target) = (self.source, tile.offset(self.target));
        let width = if operand.vectors != 0 { V as u32 } else { 1 };
        let step = operand.k_step * Self::PITCH + operand.row_step;
        let items = Self::ITEMS / width;
        let mut item = 0;
        while item < items {
            item = rolled(item);
            if row < self.rows {
                copy::<T, 1>(target, 0, source, 0);
                source = source.offset(operand.step);
            } else if operand.vectors != 0 {
                target.write_vec::<V>(0, [T::ZERO; V]);
            } else {
                target.write(0, T::ZERO);
            }
            row += operand.row_step;
            target = target.offset(step);
            item += 1;
        }
    }

    /// [`Self::next_of_wide`] of any tile, in a loop: of the last one, and of those before the first multiplication.
    #[device]
    #[inline(always)]
    pub(super) fn first_of_wide(&mut self, operand: &Operand, tile: Shared<T>, left: u32) {
        let vectors = operand.vectors != 0;
        let width = if vectors { V as u32 } else { 1 };
        let items = Self::ITEMS / width;
        let (mut row, mut k) = Self::place(operand);
        let (mut source, mut target) = (self.source, tile.offset(self.target));
        let mut item = 0;
        while item < items {
            item = rolled(item);
            let inside = k < left && row < self.rows;
            if vectors && inside {
                copy::<T, V>(target, 0, source, 0);
            } else {
                // Zeros by elements: of a vector memcheck would report them, see `copy_or_zero`.
                let mut at = 0;
                while at < width {
                    at = rolled(at);
                    copy_or_zero::<T, 1>(target, at, source, at, inside as u32);
                    at += 1;
                }
            }
            (row, k) = (row + operand.row_step, k + operand.k_step);
            if operand.row_step == 0 || row < self.rows {
                source = source.offset(operand.step);
            }
            target = target.offset(operand.k_step * Self::PITCH + operand.row_step);
            item += 1;
        }
        self.source = self.source.offset(operand.advance);
    }
}
