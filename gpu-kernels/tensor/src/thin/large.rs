//! What a thread copies of the factor of many rows: vectors of 16 bytes, wherever its lines begin.

use gpu_std::async_copy::copy;
use gpu_std::memory::Shared;
use gpu_std::{device, opaque, rolled, unroll};

use super::Factor;
use crate::lanes::by_element;
use crate::output::Output;

/// What a thread copies of A: the vectors of 16 bytes at one place of each `step`th line. Those lines begin alike:
/// `step` of them are a multiple of 16 bytes, whatever is between lines, and so is a stage.
pub(super) struct Copies {
    /// Where the first line begins, in elements of the matrix.
    start: u64,
    /// The tile's line, and the place in it as if lines began at multiples of 16 bytes.
    line: u32,
    place: u32,
    pub(super) shift: u32,
    step: u32,
}

impl Copies {
    #[device]
    #[inline(always)]
    pub(super) fn of<T: Output>(a: &Factor<T>, k: u32, line: u32, vector: u32, step: u32) -> Self {
        let first = if a.across { k } else { a.first };
        Self {
            start: u64::from(first + line) * a.leading,
            line,
            place: vector * Factor::<T>::VECTOR,
            shift: a.shift(line, k),
            step,
        }
    }

    /// Starts the copies of `LOADS` vectors of 16 bytes, `N` elements each, from `k` on. Zeros are needed along
    /// `k`, and to `rows`: where that is zero what lies behind the matrix's rows may be anything. `is_inner` says that
    /// it is zero, and that along `k` a vector before the stage and one behind it are in the matrix.
    #[device]
    #[inline(always)]
    pub(super) fn start<T: Output, const N: usize, const LOADS: usize>(
        &mut self,
        a: &Factor<T>,
        tile: Shared<T>,
        k: u32,
        rows: u32,
        is_inner: bool,
    ) {
        let down = self.step * a.pitch();
        let between = u64::from(self.step) * a.leading;
        let target = tile.offset(self.line * a.pitch() + self.place);
        // From line to line, in the rows that there are, and of those whose vectors are whole; where nothing is between
        // lines what comes before one and behind it may be read.
        let (line, line_end, begin) = if a.across {
            (0, u32::MAX, a.first + self.place)
        } else {
            (a.first + self.line, a.extent, k + self.place)
        };
        // Mutants: a vector right behind the last row may be anything, and is in the matrix if it is copied.
        let is_here = !a.across || begin < a.extent + self.shift;
        let is_whole = !a.across
            || a.dense
            // Mutants: what is not taken for whole comes an element at a time.
            || begin >= self.shift && begin + Factor::<T>::VECTOR <= a.extent + self.shift;
        if is_inner && (is_whole || !is_here) {
            if is_here {
                let first = a.matrix.offset(self.start + u64::from(begin) - u64::from(self.shift));
                unroll::<LOADS>(|at| {
                    if line + at as u32 * self.step < line_end {
                        copy::<T, N>(target, at as u32 * down, first.offset(at as u64 * between), 0);
                    }
                });
            }
        } else {
            self.start_outer::<T, N, LOADS>(a, target, k, rows);
        }
        if a.across {
            self.start += u64::from(Factor::<T>::DEPTH) * a.leading;
        }
    }

    /// The same wherever the stage is, without a step to the next one.
    #[device]
    #[inline(always)]
    fn start_outer<T: Output, const N: usize, const LOADS: usize>(
        &self,
        a: &Factor<T>,
        target: Shared<T>,
        k: u32,
        rows: u32,
    ) {
        let (first, line, line_end, length, needed) = if a.across {
            // Mutants: rows that need no zeros get them in vain.
            let is_row = rows > 0 || a.first + self.place < a.extent + self.shift;
            (a.first, k + self.line, a.k, a.extent, if is_row { u32::MAX } else { 0 })
        } else {
            (k, a.first + self.line, a.extent, a.k, rows.max(a.extent))
        };
        let begin = first + self.place;
        let down = self.step * a.pitch();
        let between = u64::from(self.step) * a.leading;
        // Where nothing is between lines, what comes before one and behind it may be read, as far as the matrix
        // goes; of the latter the sums along `k` must not see anything.
        let (start, shift) = (self.start + u64::from(begin), u64::from(self.shift));
        // Mutants: what is not taken for followed comes an element at a time.
        let end = start + (LOADS as u64 - 1) * between + u64::from(Factor::<T>::VECTOR);
        // Mutants: as above.
        let follows = a.dense && start >= shift;
        // Not computed before all steps, where it would take registers from them.
        // Mutants: as above.
        let is_followed = a.dense && a.across && end <= u64::from(opaque(line_end)) * a.leading + shift;
        // Mutants: an element at a time it is the same, and a vector right behind the last row may be anything.
        let is_whole = (begin >= self.shift || follows)
            && (begin + Factor::<T>::VECTOR <= length + self.shift
                || is_followed && begin < length + self.shift);
        let mut at = 0;
        while at < LOADS as u32 {
            at = rolled(at);
            let line = line + at * self.step;
            let is_line = line < line_end;
            if is_whole && is_line {
                let source = a.matrix.offset(start - shift + u64::from(at) * between);
                copy::<T, N>(target, at * down, source, 0);
                // Mutants: one line more of the others is filled with zeros in vain.
            } else if line < needed {
                let source = a.matrix.offset(self.start + u64::from(at) * between);
                let length = if is_line { length } else { 0 };
                by_element::<T, N>(target.offset(at * down), source, begin, self.shift, length);
            }
            at += 1;
        }
    }
}
