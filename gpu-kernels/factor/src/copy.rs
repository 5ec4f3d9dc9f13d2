//! Copies of a matrix, or of its lower triangle, from one type to another, times a number, computed in `f64`.

use gpu_std::device;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, thread_idx_x};

/// Threads of a block.
pub const COPY_THREADS: u32 = 256;
/// Rows and columns of a block's tile.
pub const COPY_TILE: u32 = 64;

/// The nearest value of another type.
pub trait Convert<U> {
    /// Rounded to even.
    fn convert(self) -> U;
}

macro_rules! convert {
    ($($from:ty, $to:ty;)*) => { $(
        impl Convert<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                self as $to
            }
        }
    )* };
}
convert! { f64, f64; f64, f32; f32, f64; }

/// What is copied. Element (i, j) lies `i · row + j` behind a matrix's first, or `i + j · column`: rows are what is
/// written beside each other, if `to_row` is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Copy {
    /// Elements from one row to the next of what is read.
    pub row: u64,
    /// Elements from one column to the next of what is read.
    pub column: u64,
    /// Elements from one row to the next of what is written.
    pub to_row: u64,
    /// Elements from one column to the next of what is written.
    pub to_column: u64,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
    /// Whether only the lower triangle is copied: 1 or 0.
    pub lower: u32,
    /// Whether what is copied is added to what is there: 1 or 0.
    pub add: u32,
    /// Whether it is the identity that is written, and nothing is read: 1 or 0.
    pub identity: u32,
    /// Tiles from one row of tiles to the next.
    pub across: u32,
}

/// Copies a tile. Launch a block of [`COPY_THREADS`] threads for each tile of [`COPY_TILE`]².
#[device]
#[inline(always)]
pub(crate) fn copy<T: Float + Convert<f64>, U: Float>(
    from: Global<T>,
    to: GlobalMut<U>,
    shape: &Copy,
    scale: f64,
) where
    f64: Convert<U>,
{
    let (down, across) = (block_idx_x() / shape.across, block_idx_x() % shape.across);
    let (fast, slow) = (thread_idx_x() % COPY_TILE, thread_idx_x() / COPY_TILE);
    let mut step = slow;
    while step < COPY_TILE {
        let (i, j) = if shape.to_row == 1 { (fast, step) } else { (step, fast) };
        let (row, column) = (down * COPY_TILE + i, across * COPY_TILE + j);
        if row < shape.rows && column < shape.columns && (shape.lower == 0 || column <= row) {
            let value = if shape.identity != 0 {
                if row == column { U::ONE } else { U::ZERO }
            } else {
                let at = row as u64 * shape.row + column as u64 * shape.column;
                (from.offset(at).read(0).convert() * scale).convert()
            };
            let into = to.offset(row as u64 * shape.to_row + column as u64 * shape.to_column);
            into.write(0, if shape.add != 0 { into.read(0) + value } else { value });
        }
        step += COPY_THREADS / COPY_TILE;
    }
}
