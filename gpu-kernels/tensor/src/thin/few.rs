//! What a thread copies of the factor of few columns: single elements, into lines along `k`.

use gpu_std::async_copy::copy_or_zero;
use gpu_std::memory::{Global, Shared};
use gpu_std::mma::round_tf32;
use gpu_std::thread::thread_idx_x;
use gpu_std::{device, opaque, unroll, warp};

use super::{Factor, G};
use crate::output::Output;

/// What a thread copies of B: `E` elements of a stage.
#[derive(Clone, Copy)]
pub(super) struct Elements<const E: usize> {
    /// The first one's row, of the stage, and column, of the tile.
    k: u32,
    column: u32,
    /// Columns to the next one, where a line lies along `k`.
    right: u32,
}

impl<const E: usize> Elements<E> {
    /// Neighbours in memory are read by neighbouring lanes: 32 along `k`, or across 8, of four lines, which fall into
    /// different banks where they are written.
    #[device]
    #[inline(always)]
    pub(super) fn of(across: bool) -> Self {
        let (warp, lane) = (thread_idx_x() / 32, warp::lane_id());
        // A stage has so many times 32 rows.
        let chunks = const { (E / G) as u32 };
        if across {
            Self { k: warp * chunks * 4 + lane / 8, column: lane % 8, right: 8 }
        } else {
            Self { k: warp % chunks * 32 + lane, column: warp / chunks, right: 8 / chunks }
        }
    }

    /// The row and column of element `at`, from the stage's first row and the tile's first column.
    #[inline(always)]
    fn place(&self, across: bool, at: u32) -> [u32; 2] {
        if across {
            [self.k + at / const { G as u32 } * 4, self.column + at % const { G as u32 } * 8]
        } else {
            [self.k, self.column + at * self.right]
        }
    }

    /// Calls with each element's number, its place from the first one on, in lines and elements, and whether it is there,
    /// in the stage from `k` on.
    #[device]
    #[inline(always)]
    fn for_each<T: Output>(&self, b: &Factor<T>, k: u32, mut call: impl FnMut(usize, u64, u32, bool)) {
        let (row, column) = (k + self.k, b.first + self.column);
        if b.across {
            unroll::<E>(|at| {
                let (down, right) = ((at / G) as u32 * 4, (at % G) as u32 * 8);
                let is_there = row + down < b.k && column + right < b.extent;
                call(at, (at / G) as u64, right, is_there);
            });
        } else {
            unroll::<E>(|at| {
                let is_there = row < b.k && column + at as u32 * self.right < b.extent;
                call(at, at as u64, 0, is_there);
            });
        }
    }

    /// Where the first element is, of the stage from `k` on, and how many elements are between the lines of two.
    #[device]
    #[inline(always)]
    fn start<T: Output>(&self, b: &Factor<T>, k: u32) -> (Global<T>, u64) {
        let (row, column) = (k + self.k, b.first + self.column);
        let (line, place, lines) = if b.across { (row, column, 4) } else { (column, row, self.right) };
        let first = b.matrix.offset(u64::from(line) * b.leading + u64::from(place));
        (first, u64::from(lines) * b.leading)
    }

    /// Reads the elements of the stage from `k` on; zeros where none is.
    #[device]
    #[inline(always)]
    pub(super) fn read<T: Output>(&self, b: &Factor<T>, k: u32) -> [T; E] {
        let mut values = [T::default(); E];
        let (first, between) = self.start(b, k);
        self.for_each(b, k, |at, line, right, is_there| {
            if is_there {
                values[at] = first.offset(line * between).read(right);
            }
        });
        values
    }

    /// Starts the copies of the same, of 32 bits, into the tile; zeros where none is. Eight neighbouring columns have the
    /// elements of a number then.
    #[device]
    #[inline(always)]
    pub(super) fn copy<T: Output>(&self, b: &Factor<T>, tile: Shared<T>, k: u32, columns: u32) {
        let (first, between) = self.start(b, k);
        let (first, between) = (first.cast::<u32>(), if b.across { 8 } else { between });
        let tile = tile.cast::<u32>().offset(self.column * const { Factor::<T>::ALONG_PITCH } + self.k);
        let (is_row, left) = (k + self.k < b.k, b.extent - b.first);
        unroll::<E>(|at| {
            let column = 8 * at as u32;
            // Mutants: one more group is of zeros, where there is room.
            if column < columns {
                let is_there = is_row && column + self.column < left;
                let place = column * const { Factor::<T>::ALONG_PITCH };
                copy_or_zero::<u32, 1>(
                    tile,
                    place,
                    first.offset(at as u64 * between),
                    0,
                    u32::from(is_there),
                );
            }
        });
    }

    /// Rounds those that the thread has copied to tf32.
    #[device]
    #[inline(always)]
    pub(super) fn round<T: Output>(&self, tile: Shared<T>, columns: u32) {
        // What is known of them would be computed before all stages, for registers of its own.
        let (k, column) = (opaque(self.k), opaque(self.column));
        let tile = tile.cast::<u32>().offset(column * const { Factor::<T>::ALONG_PITCH } + k);
        unroll::<E>(|at| {
            let column = 8 * at as u32;
            if column < columns {
                let place = column * const { Factor::<T>::ALONG_PITCH };
                tile.write(place, round_tf32(tile.read(place)));
            }
        });
    }

    /// Puts elements of the columns that fragments have into shared memory.
    #[device]
    #[inline(always)]
    pub(super) fn write<T: Output>(&self, across: bool, tile: Shared<T>, values: [T; E], columns: u32) {
        // As above.
        let own = Self { k: opaque(self.k), column: opaque(self.column), ..*self };
        unroll::<E>(|at| {
            let [row, column] = own.place(across, at as u32);
            // Mutants: a column more has room, and nobody reads it.
            if column < columns {
                tile.write(column * const { Factor::<T>::ALONG_PITCH } + row, values[at]);
            }
        });
    }
}
