//! Copies of rectangles at a constant distance from each other.

use gpu_std::device;
use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, thread_idx_x};

use super::THREADS;
use super::spread::TILE;

const LINES: u32 = THREADS / TILE;

/// What is copied, but for addresses: lines of contiguous elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Copy {
    /// Elements from one line to the next where it is read.
    pub from_leading: u64,
    /// Elements from one matrix to the next where it is read.
    pub from_batch: u64,
    /// Elements from one line to the next where it is written.
    pub to_leading: u64,
    /// Elements from one matrix to the next where it is written.
    pub to_batch: u64,
    /// Lines.
    pub lines: u32,
    /// Elements of a line.
    pub length: u32,
    /// Matrices.
    pub count: u32,
}

impl Copy {
    /// Blocks of a launch.
    pub const fn grid(&self) -> u128 {
        self.lines.div_ceil(TILE) as u128 * self.length.div_ceil(TILE) as u128 * self.count as u128
    }
}

/// Copies a tile of a matrix.
#[device]
#[inline(always)]
pub(super) fn copy<T: Element>(from: Global<T>, to: GlobalMut<T>, shape: &Copy) {
    let (down, across) = (shape.lines.div_ceil(TILE), shape.length.div_ceil(TILE));
    let rest = block_idx_x() / across;
    let place = block_idx_x() % across * TILE + thread_idx_x() % TILE;
    let (number, first) = (rest / down, rest % down * TILE);
    let from = from.offset(number as u64 * shape.from_batch);
    let to = to.offset(number as u64 * shape.to_batch);
    let mut line = thread_idx_x() / TILE;
    while line < TILE {
        let row = first + line;
        if row < shape.lines && place < shape.length {
            let value = from.offset(row as u64 * shape.from_leading).read(place);
            to.offset(row as u64 * shape.to_leading).write(place, value);
        }
        line += LINES;
    }
}
