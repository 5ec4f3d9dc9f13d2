//! How a product's matrices lie in memory, and how a block's threads bring a tile of one into shared memory.

use gpu_std::async_copy::copy_or_zero;
use gpu_std::float::Float;
use gpu_std::memory::{Global, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::thread::thread_idx_x;
use gpu_std::{device, opaque, rolled, unroll};

use super::place::Place;
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
    /// Blocks of each product, where a table says where its matrices start; zero: the matrices have strides. The table
    /// has three words for each product: the first elements of its factors and of its C, counted from the arguments'.
    pub listed: u32,
    /// Which word of the table's entries is A's, 0 or 1; the other one is B's.
    pub listed_a: u32,
}

impl Product {
    /// Whether all of a tile of so many rows and columns is written, and nothing of C is read: as it is with most
    /// tiles of what is large. Its results may be written one after the other then, without a question or a loop:
    /// products of 4096² and 8192² are 1 to 2 % faster so, doubles and floats.
    #[device]
    #[inline(always)]
    pub(super) fn is_whole<T: Float>(&self, place: &Place, [rows, columns]: [u32; 2], beta: T) -> bool {
        self.triangle == ALL
            // Mutants: what just fits may be written by the loops as well, to the same bits.
            && place.row + rows <= self.m
            // Mutants: as above.
            && place.column + columns <= self.n
            && beta == T::ZERO
    }

    /// Whether nothing is computed of `rows` × `columns` elements of C from there on.
    #[device]
    #[inline(always)]
    pub(super) fn leaves_out(&self, (row, column): (u32, u32), [rows, columns]: [u32; 2]) -> bool {
        // Mutants: of a tile right behind the diagonal nothing is written, but it is computed.
        self.triangle == LOWER && column >= row + rows || self.triangle == UPPER && row >= column + columns
    }
}

/// A thread's part in copying a `ROWS` × `BK` tile after the other, along `k`, to shared memory: there `k` is the
/// slow axis, with [`Tile::pitch`] elements from one to the next.
///
/// Contiguous rows are copied by 16 bytes where alignment allows, else by elements; matrices contiguous along `k` are
/// transposed on the way, element by element. What lies beyond the last `k` or the last row becomes zero, and is not
/// read: products that were mostly edge, and copied the last row again instead, took up to twice the time, as if one
/// element to many places were many copies.
pub(super) struct Copier<T: Float, const ROWS: u32, const BK: u32, const THREADS: u32, const V: usize> {
    /// The thread's first element of the next tile.
    source: Global<T>,
    /// Where it goes.
    target: u32,
    /// Its `k`.
    k: u32,
    /// Rows of the matrix from the thread's first one on.
    rows: u32,
}

impl<T: Float, const ROWS: u32, const BK: u32, const THREADS: u32, const V: usize>
    Copier<T, ROWS, BK, THREADS, V>
{
    const PITCH: u32 = Tile::pitch(ROWS);

    /// For the tiles of the rows from `first` on, of a matrix of `rows` rows that starts at `matrix`.
    #[device]
    #[inline(always)]
    pub(super) fn new(matrix: Global<T>, operand: &Operand, first: u32, rows: u32) -> Self {
        const {
            assert!(V as u32 == Tile::vector::<T>());
            assert!(THREADS.is_multiple_of(BK) && THREADS.is_multiple_of(ROWS));
            assert!(BK.is_multiple_of(2 * V as u32) && THREADS.is_multiple_of(4 * BK));
            assert!((ROWS * BK / THREADS).is_multiple_of(V as u32), "a thread copies whole vectors");
        }
        let (row, k) = Self::place(operand);
        let (along, across) = if operand.along_k != 0 { (k, first + row) } else { (first + row, k) };
        Self {
            source: matrix.offset(across as u64 * operand.leading + along as u64),
            target: k * Self::PITCH + row,
            k,
            rows: rows.saturating_sub(first + row),
        }
    }

    /// The row and the `k` of the thread's first element of a tile.
    #[device]
    #[inline(always)]
    fn place(operand: &Operand) -> (u32, u32) {
        // Opaque: it is cheap, and takes no register.
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

    /// Starts to copy the next tile to `tile`; `left` is how much of `k` there is from it on.
    #[device]
    #[inline(always)]
    pub(super) fn next(&mut self, operand: &Operand, tile: Shared<T>, left: u32) {
        if operand.vectors != 0 {
            self.copy::<V>(operand, tile, left);
        } else {
            self.copy::<1>(operand, tile, left);
        }
        self.source = self.source.offset(operand.advance);
    }

    /// [`Self::next`] by `N` elements at once: the same instructions inside the matrix and at its edge.
    #[device]
    #[inline(always)]
    fn copy<const N: usize>(&self, operand: &Operand, tile: Shared<T>, left: u32) {
        // The thread has one `k` or one row (or vector of them), and of the other axis every so many-th.
        let there = if operand.along_k != 0 {
            if self.k < left { self.rows.div_ceil(const { THREADS / BK }) } else { 0 }
        } else if self.rows != 0 {
            left.saturating_sub(self.k).div_ceil(const { THREADS / (ROWS / N as u32) })
        } else {
            0
        };
        let step = operand.k_step * Self::PITCH + operand.row_step;
        let (mut source, mut target) = (self.source, tile.offset(self.target));
        let mut one = |item: u32| {
            copy_or_zero::<T, N>(target, 0, source, 0, if item < there { N as u32 } else { 0 });
            (source, target) = (source.offset(operand.step), target.offset(step));
        };
        let items = const { ROWS * BK / THREADS / N as u32 };
        // More are a loop: as fast, and shorter.
        // Mutants: either way copies the same.
        if items <= 16 {
            unroll::<16>(|item| {
                if (item as u32) < items {
                    one(item as u32);
                }
            });
        } else {
            let mut first = 0;
            while first < items {
                first = rolled(first);
                unroll::<4>(|item| one(first + item as u32));
                first += 4;
            }
        }
    }
}
