//! Transposition of tiles whose rows start anywhere: odd leading dimensions, odd sizes, views from any element on.
//! Elements of 2 to 8 bytes; for single bytes, see `skew_bytes.rs`.
//!
//! Accesses that are not aligned to the memory's sectors of 32 bytes touch one more than they move, and a write of a
//! part of a sector is worse than that. So both sides go by 16 aligned bytes, and the tile is skewed to fit:
//!
//! * In: of each row the aligned vectors that cover the tile's columns are loaded whole. The row's misalignment, 0 to
//!   16 / `E` − 1 elements, says where in them column 0 of the tile is; the tile has that much fewer columns than the
//!   vectors. They lie in shared memory as they came, so this costs one 16-byte store.
//! * Out: for each row of the output (a column of the tile) the window of rows that is written begins up to
//!   [`Skew::slack`] rows early, where the output's address is a multiple of so many elements. As the tile's height
//!   is such a multiple too, the windows of neighbouring tiles meet without a gap. So many more rows are loaded.
//!
//! A thread gathers the elements of one output vector from consecutive rows of a column. Vectors that cross the
//! matrix's border are moved by elements: there is no access outside the matrix, not even to gaps between its rows.
//!
//! # Caches
//! Neighbouring tiles touch the same lines at their borders, so loads and stores are plain: the caches keep lines
//! until both have. (H200, 16381 × 16363, times of the copy for elements of 2, 4 and 8 bytes: 0.891, 0.916, 0.916;
//! streaming loads and stores 0.869, 0.911, 0.915; streaming loads and plain stores 0.755, 0.788, 0.793, which read a
//! fifth more from memory.)
//!
//! # Bank conflicts
//! Vector `g` of row `r` lies in group `g ^ (r / V)`, `V` elements a vector. Eight lanes gather from rows `V` apart,
//! which have the same misalignment, hence from different groups; the other lanes of the warp from columns whose words
//! are next to each other, as far as the rows' misalignments allow (two-way conflicts where they do not).

use super::grid::Grid;
use super::tile::THREADS;
use gpu_std::memory::{Element, Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, kernel};

/// The size of a skewed tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    /// Rows of the input between one tile and the next.
    pub rows: u32,
    /// Columns of the input between one tile and the next.
    pub columns: u32,
    /// How many rows early a tile's window may begin, plus one.
    pub slack: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
}

impl Skew {
    /// Tiles of elements of `bytes` bytes: windows of `rows` rows that begin at multiples of `slack`, `vectors`
    /// vectors of each row.
    pub const fn new(bytes: u32, rows: u32, slack: u32, vectors: u32) -> Self {
        let vector = 16 / bytes;
        assert!(
            rows.is_multiple_of(8 * vector) && rows.is_multiple_of(slack) && slack.is_multiple_of(vector)
        );
        // Mutants: there are more.
        assert!(vectors.is_power_of_two() && vectors >= 8);
        let shared_bytes = SharedLayout::new().array::<u8>((rows + slack) * vectors * 16).bytes();
        Self { rows, columns: vectors * vector - (vector - 1), slack, shared_bytes }
    }
}

/// Elements of less than 16 bytes.
pub trait Narrow: Element {
    /// The vector of elements `element(0)`, `element(1)`, …
    fn pack(element: impl FnMut(u32) -> Self) -> [u32; 4];
}

macro_rules! narrow {
    ($($t:ty: $in_a_word:literal;)*) => { $(
        impl Narrow for $t {
            #[inline(always)]
            fn pack(mut element: impl FnMut(u32) -> Self) -> [u32; 4] {
                let mut words = [0; 4];
                gpu_std::unroll::<{ 4 * $in_a_word }>(|i| {
                    words[i / $in_a_word] |= (element(i as u32) as u32) << (i % $in_a_word * (32 / $in_a_word));
                });
                words
            }
        }
    )* };
}
narrow! { u8: 4; u16: 2; }

impl Narrow for u32 {
    #[inline(always)]
    fn pack(mut element: impl FnMut(u32) -> Self) -> [u32; 4] {
        core::array::from_fn(|i| element(i as u32))
    }
}

impl Narrow for u64 {
    #[inline(always)]
    fn pack(mut element: impl FnMut(u32) -> Self) -> [u32; 4] {
        let (a, b) = (element(0), element(1));
        [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32]
    }
}

/// Where the tile lies, in bytes and elements.
pub(super) struct Part {
    source: Global<u8>,
    pub(super) target: GlobalMut<u8>,
    pub(super) input_ld: u64,
    pub(super) output_ld: u64,
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) row: u64,
    pub(super) column: u64,
}

impl Part {
    /// This block's part of matrices of `rows` × `columns` elements of `bytes` bytes, leading dimensions in elements.
    #[device]
    #[inline(always)]
    pub(super) fn new(
        input: Global<u8>,
        output: GlobalMut<u8>,
        grid: &Grid,
        (rows, columns): (u64, u64),
        (input_ld, output_ld): (u64, u64),
        size: &Skew,
        bytes: u64,
    ) -> Self {
        let place = grid.place(block_idx_x());
        Self {
            source: input.offset(place.source * bytes),
            target: output.offset(place.target * bytes),
            input_ld: input_ld * bytes,
            output_ld: output_ld * bytes,
            rows,
            columns,
            row: place.down as u64 * size.rows as u64,
            column: place.across as u64 * size.columns as u64,
        }
    }

    /// Where the tile's column 0 of row `row` lies, counted from the tile's first.
    #[inline(always)]
    pub(super) fn row(&self, row: u64) -> Global<u8> {
        self.source.offset(row.wrapping_mul(self.input_ld))
    }

    /// The misalignment of row `row`, counted from `slack` rows before the tile's own: how many elements lie between
    /// its aligned vectors' start and the tile's column 0.
    #[inline(always)]
    pub(super) fn shift<U>(&self, row: u32, slack: u32) -> u32 {
        let address = (self.source.address() as u32)
            .wrapping_add(row.wrapping_sub(slack).wrapping_mul(self.input_ld as u32));
        address % 16 / size_of::<U>() as u32
    }
}

/// Moves a tile; both leading dimensions in bytes.
#[device]
#[inline(always)]
fn move_tile<U: Narrow, const R: u32, const S: u32, const LV: u32, const STEPS: usize>(
    part: &Part,
    tile: Shared<u32>,
) {
    let bytes = size_of::<U>() as u32;
    let vector = 16 / bytes;
    let thread = thread_idx_x();
    let shift_of = |row: u32| part.shift::<U>(row, S);
    let group_at = |row: u32, group: u32| row * LV + (group ^ (row / vector % LV));

    // ---- in: rows from `S` before the tile's own
    // Mutants: tiles at an edge go the other way, to the same result.
    let inside = part.row >= S as u64
        && part.row + R as u64 <= part.rows
        && part.column >= vector as u64
        && part.column + (LV * vector) as u64 <= part.columns;
    let start = |row: u32, group: u32| {
        let rows = (row as u64).wrapping_sub(S as u64);
        let before = (group * 16) as u64;
        let address = part.source.offset(rows.wrapping_mul(part.input_ld).wrapping_add(before));
        address.offset(0u64.wrapping_sub((shift_of(row) * bytes) as u64))
    };
    let values: [[u32; 4]; STEPS] = if inside {
        core::array::from_fn(|step| {
            let item = (thread + step as u32 * THREADS).min((R + S) * LV - 1);
            start(item / LV, item % LV).cast::<u32>().read_vec(0)
        })
    } else {
        core::array::from_fn(|step| {
            let item = (thread + step as u32 * THREADS).min((R + S) * LV - 1);
            let (row, group) = (item / LV, item % LV);
            let here = start(row, group);
            let there = part.row.wrapping_add(row as u64).wrapping_sub(S as u64) < part.rows;
            let column = (part.column + (group * vector) as u64).wrapping_sub(shift_of(row) as u64);
            // Mutants: what just fits may come an element at a time; a vector behind the last column never fits.
            if there && column < part.columns && column + vector as u64 <= part.columns {
                here.cast::<u32>().read_vec(0)
            } else {
                U::pack(|i| {
                    if there && column.wrapping_add(i as u64) < part.columns {
                        here.cast::<U>().read_streaming(i)
                    } else {
                        U::default()
                    }
                })
            }
        })
    };
    gpu_std::unroll::<STEPS>(|step| {
        let item = thread + step as u32 * THREADS;
        if item < (R + S) * LV {
            tile.write_vec(4 * group_at(item / LV, item % LV), values[step]);
        }
    });
    sync_threads();

    // ---- out: a warp takes eight vectors of each of four columns
    let elements = tile.cast::<U>();
    // Mutants: 4 / 4 is 1.
    let spread = if bytes < 4 { 4 / bytes } else { 1 };
    let columns = LV * vector - (vector - 1);
    let blocks = columns.div_ceil(4 * spread) * spread;
    let high = R / vector / 8;
    let mut job = thread / 32;
    // Mutants: one block of columns more is behind the last column.
    while job < blocks * high {
        let block = job / high;
        let along = job % high * 8 + thread % 8;
        let column = block / spread * (4 * spread) + thread % 32 / 8 * spread + block % spread;
        if column < columns && part.column + (column as u64) < part.columns {
            let line = part.target.offset(column as u64 * part.output_ld);
            let early = line.address() as u32 % (S * bytes) / bytes;
            let first = S - early + vector * along;
            let read = |i: u32| {
                let row = first + i;
                let at = column + shift_of(row);
                elements.read(group_at(row, at / vector) * vector + at % vector)
            };
            let row = (part.row + (vector * along) as u64).wrapping_sub(early as u64);
            let here =
                line.offset(((vector * along) as u64).wrapping_sub(early as u64).wrapping_mul(bytes as u64));
            // Mutants: as above, of rows.
            if row < part.rows && row + vector as u64 <= part.rows {
                here.cast::<u32>().write_vec(0, U::pack(read));
            } else {
                for i in 0..vector {
                    if row.wrapping_add(i as u64) < part.rows {
                        here.cast::<U>().write(i, read(i));
                    }
                }
            }
        }
        job += THREADS / 32;
    }
}

macro_rules! skewed {
    ($($name:ident, $images:ident, $size:ident: $U:ty, $R:literal rows, $S:literal slack, $LV:literal vectors;)*) => { $(
        #[doc = concat!("The tile of `", stringify!($name), "`.")]
        pub const $size: Skew = Skew::new(size_of::<$U>() as u32, $R, $S, $LV);

        #[doc = concat!("Transposes matrices of `", stringify!($U), "` that lie anywhere.")]
        ///
        /// `input` has `rows` rows of `columns` elements, `input_ld` apart; `output` has `columns` rows, `output_ld`
        /// apart. Launch a block of [`THREADS`] threads for each tile of `grid`, ⌈(rows + slack − 1) / tile⌉ of them
        /// along axis 0.
        #[kernel(images = $images, launch_bounds(256), programmatic)]
        pub fn $name(
            input: Global<u8>,
            output: GlobalMut<u8>,
            grid: Grid,
            rows: u64,
            columns: u64,
            input_ld: u64,
            output_ld: u64,
        ) {
            const STEPS: usize = (($R + $S) * $LV as u32).div_ceil(THREADS) as usize;
            let tile = shared::dynamic().array::<u32>($size.shared_bytes / 4);
            let bytes = size_of::<$U>() as u64;
            let part = Part::new(input, output, &grid, (rows, columns), (input_ld, output_ld), &$size, bytes);
            grid_dependency_synchronize();
            trigger_launch_completion();
            move_tile::<$U, $R, $S, $LV, STEPS>(&part, tile);
        }
    )* };
}

skewed! {
    transpose_skew_b16, sm_75_90, SKEW_B16: u16, 128 rows, 16 slack, 16 vectors;
    transpose_skew_b32, sm_75_90, SKEW_B32: u32, 128 rows, 8 slack, 16 vectors;
    transpose_skew_b64, sm_75_90, SKEW_B64: u64, 64 rows, 4 slack, 16 vectors;
}
