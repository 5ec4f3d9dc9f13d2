//! Lines of a matrix at equal distances, whose bounds are looked at once.

use core::marker::PhantomData;

use gpu_core::vectors::prefetch;

/// Some lines of as many elements each.
#[derive(Clone, Copy)]
pub struct Block<'a, T> {
    pub(super) start: *const T,
    pub(super) step: usize,
    lines: usize,
    len: usize,
    matrix: PhantomData<&'a [T]>,
}

impl<'a, T: Copy> Block<'a, T> {
    /// The first `len` elements of `lines` lines, the first one at the start of `matrix` and each `step` elements
    /// behind the one before.
    ///
    /// # Panics
    /// If the matrix ends before, or there is no line.
    #[inline(always)]
    pub fn new(matrix: &'a [T], step: usize, lines: usize, len: usize) -> Self {
        let last = (lines - 1).checked_mul(step).and_then(|last| last.checked_add(len));
        assert!(last.is_some_and(|end| end <= matrix.len()), "lines are in their matrix");
        Self { start: matrix.as_ptr(), step, lines, len, matrix: PhantomData }
    }

    /// How many lines.
    #[inline(always)]
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Elements of each line.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The first `L` elements of all lines, each as a line across them.
    ///
    /// # Panics
    /// If lines are shorter.
    #[inline(always)]
    pub fn across<const L: usize>(&self) -> Across<'a, T, L> {
        assert!(L <= self.len, "elements are in their lines");
        let mut starts = [self.start; L];
        for (j, start) in starts.iter_mut().enumerate() {
            *start = start.wrapping_add(j);
        }
        Across { starts, step: self.step, count: self.lines, lines: PhantomData }
    }

    /// An element of a line.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn at(&self, line: usize, k: usize) -> T {
        assert!(line < self.lines && k < self.len, "elements are in their lines");
        // SAFETY: it is in the matrix, as all elements of the lines are.
        unsafe { *self.start.add(line * self.step + k) }
    }

    /// What a line has from an element on.
    ///
    /// # Panics
    /// If there is no such line, or it ends before.
    #[inline(always)]
    pub fn rest(&self, line: usize, k: usize) -> &'a [T] {
        assert!(line < self.lines && k <= self.len, "elements are in their lines");
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts(self.start.add(line * self.step + k), self.len - k) }
    }

    /// `N` elements of a line that follow each other.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub fn some<const N: usize>(&self, line: usize, k: usize) -> &'a [T; N] {
        assert!(line < self.lines && N <= self.len && k <= self.len - N, "elements are in their lines");
        // SAFETY: as above.
        unsafe { &*self.start.add(line * self.step + k).cast() }
    }

    /// `lines` lines that follow each other.
    ///
    /// # Panics
    /// If there are fewer, or that is none.
    #[inline(always)]
    pub fn part(&self, first: usize, lines: usize) -> Self {
        assert!(0 < lines && lines <= self.lines && first <= self.lines - lines, "lines are in their matrix");
        // SAFETY: the first one is in the matrix, as all lines are.
        Self { start: unsafe { self.start.add(first * self.step) }, lines, ..*self }
    }

    /// Some of the lines.
    ///
    /// # Panics
    /// If there is no such line.
    #[inline(always)]
    pub fn beside<const L: usize>(&self, lines: [usize; L]) -> Beside<'a, T, L> {
        let mut starts = [self.start; L];
        for j in 0..L {
            assert!(lines[j] < self.lines, "lines are in their matrix");
            // SAFETY: it is in the matrix, as all lines are.
            starts[j] = unsafe { self.start.add(lines[j] * self.step) };
        }
        Beside { starts, len: self.len, lines: PhantomData }
    }
}

/// Some lines of as many elements each, wherever they are.
#[derive(Clone, Copy)]
pub struct Beside<'a, T, const L: usize> {
    starts: [*const T; L],
    len: usize,
    lines: PhantomData<&'a [T]>,
}

impl<'a, T, const L: usize> Beside<'a, T, L> {
    /// These lines.
    ///
    /// # Panics
    /// If one has fewer elements than `len`.
    #[inline(always)]
    pub fn new(lines: [&'a [T]; L], len: usize) -> Self {
        assert!(lines.iter().all(|line| len <= line.len()), "lines are as long");
        Self { starts: lines.map(<[T]>::as_ptr), len, lines: PhantomData }
    }

    /// `count` elements of each, from an element on.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub fn some(&self, k: usize, count: usize) -> [&'a [T]; L] {
        assert!(k <= self.len && count <= self.len - k, "elements are in their lines");
        // SAFETY: they are in each line, as all have so many.
        self.starts.map(|start| unsafe { core::slice::from_raw_parts(start.add(k), count) })
    }
}

/// Some lines of as many elements each, those as far from each other.
#[derive(Clone, Copy)]
pub struct Across<'a, T, const L: usize> {
    pub(super) starts: [*const T; L],
    pub(super) step: usize,
    pub(super) count: usize,
    lines: PhantomData<&'a [T]>,
}

impl<'a, T: Copy, const L: usize> Across<'a, T, L> {
    /// `count` elements of each line, `step` from one to the next; lines begin at `starts` in `matrix`.
    ///
    /// # Panics
    /// If the matrix ends before.
    #[inline(always)]
    pub fn new(matrix: &'a [T], starts: [usize; L], step: usize, count: usize) -> Self {
        let last = count.saturating_sub(1).checked_mul(step);
        let mut pointers = [matrix.as_ptr(); L];
        for j in 0..L {
            let end = last.and_then(|last| last.checked_add(starts[j]));
            assert!(count == 0 || end.is_some_and(|end| end < matrix.len()), "lines are in their matrix");
            pointers[j] = matrix.as_ptr().wrapping_add(starts[j]);
        }
        Self { starts: pointers, step, count, lines: PhantomData }
    }

    /// The first `N` lines.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub fn first<const N: usize>(&self) -> Across<'a, T, N> {
        let starts = *self.starts.first_chunk().expect("there are as many lines");
        Across { starts, step: self.step, count: self.count, lines: PhantomData }
    }

    /// Asks the nearest cache for what is `ahead` elements behind one of the first line.
    #[inline(always)]
    pub fn ask(&self, k: usize, ahead: usize) {
        let distance = (k * self.step + ahead) * size_of::<T>();
        // SAFETY: as [`Self::at`]; a reference to nothing, of which no more than the address is taken.
        prefetch(unsafe { core::slice::from_raw_parts(self.starts[0], 0) }, distance as isize, 1);
    }

    /// An element of a line.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn at(&self, line: usize, k: usize) -> T {
        assert!(k < self.count, "elements are in their lines");
        // SAFETY: the last one of each line is in the matrix, and this is not behind it.
        unsafe { *self.starts[line].add(k * self.step) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Across, Beside, Block};

    #[test]
    fn elements_are_the_lines() {
        let matrix: Vec<u32> = (0..23).collect();
        let block = Block::new(&matrix, 10, 3, 3);
        assert_eq!([block.at(0, 0), block.at(1, 2), block.at(2, 2)], [0, 12, 22]);
        assert_eq!(block.some::<2>(2, 1), &[21, 22]);
        assert_eq!(block.rest(1, 1), [11, 12]);
    }

    #[test]
    fn what_is_beyond_is_refused() {
        let matrix = [0u32; 23];
        let is_refused =
            |work: &dyn Fn() -> u32| std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err();
        assert!(is_refused(&|| Block::new(&matrix, 10, 3, 4).at(0, 0)));
        assert!(is_refused(&|| Block::new(&matrix, usize::MAX, 3, 1).at(0, 0)));
        let block = Block::new(&matrix, 10, 3, 3);
        assert!(is_refused(&|| block.at(3, 0)) && is_refused(&|| block.at(0, 3)));
        assert!(is_refused(&|| block.some::<2>(0, 2)[0]) && is_refused(&|| block.some::<4>(0, 0)[0]));
        assert!(is_refused(&|| block.rest(3, 0)[0]) && is_refused(&|| block.rest(0, 4).len() as u32));
        assert!(!is_refused(&|| block.some::<3>(2, 0)[0] + block.at(2, 2)));
        assert!(is_refused(&|| block.beside([2, 3]).some(0, 1)[0][0]));
        for (first, lines) in [(2, 2), (0, 4), (0, 0), (3, 1), (usize::MAX, 2)] {
            assert!(is_refused(&|| block.part(first, lines).at(0, 0)), "{lines} from {first} on");
        }
    }

    #[test]
    fn lines_across_have_their_elements_as_far_apart() {
        let matrix: Vec<u32> = (0..23).collect();
        let is_refused =
            |work: &dyn Fn() -> u32| std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err();
        let lines = Across::new(&matrix, [0, 2, 2], 10, 3);
        assert_eq!([lines.at(0, 2), lines.at(1, 0), lines.at(2, 2)], [20, 2, 22]);
        assert!(is_refused(&|| lines.at(0, 3)) && is_refused(&|| lines.at(3, 0)));
        for (start, step, count) in
            [(3, 10, 3), (0, 11, 4), (23, 1, 1), (0, usize::MAX, 3), (usize::MAX, 1, 2)]
        {
            assert!(is_refused(&|| Across::new(&matrix, [0, start], step, count).at(0, 0)), "{start} {step}");
        }
        assert!(is_refused(&|| Across::new(&matrix, [99], 1, 0).at(0, 0)), "there are none");
    }

    #[test]
    fn a_blocks_first_elements_are_lines_across_it() {
        let matrix: Vec<u32> = (0..23).collect();
        let across = Block::new(&matrix, 10, 3, 3).across::<3>();
        assert_eq!([across.at(0, 2), across.at(2, 0), across.at(1, 1)], [20, 2, 11]);
        let first = across.first::<2>();
        assert_eq!([first.at(0, 1), first.at(1, 2)], [10, 21]);
        first.ask(2, usize::MAX >> 8);
        let is_refused =
            |work: &dyn Fn() -> u32| std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err();
        assert!(is_refused(&|| first.at(0, 3)) && is_refused(&|| across.first::<4>().at(0, 0)));
        assert!(is_refused(&|| Block::new(&matrix, 10, 3, 3).across::<4>().at(0, 0)));
    }

    #[test]
    fn lines_beside_each_other_end_together() {
        let matrix: Vec<u32> = (0..23).collect();
        let lines = Beside::new([&matrix[3..], &matrix[..10]], 9);
        assert_eq!(lines.some(2, 3), [[5, 6, 7], [2, 3, 4]]);
        assert_eq!(lines.some(9, 0), [[0u32; 0]; 2]);
        let block = Block::new(&matrix, 10, 3, 3);
        assert_eq!(block.beside([2, 0]).some(1, 2), [[21, 22], [1, 2]]);
        let part = block.part(1, 2);
        assert_eq!([part.rest(0, 1), part.rest(1, 1)], [[11, 12], [21, 22]]);
        for (k, count) in [(9, 1), (0, 10), (10, 0), (1, usize::MAX)] {
            let some = std::panic::AssertUnwindSafe(|| lines.some(k, count).len());
            assert!(std::panic::catch_unwind(some).is_err(), "{count} from {k} on");
        }
        assert!(std::panic::catch_unwind(|| Beside::new([&[0; 4][..], &[0; 3]], 4)).is_err());
    }
}
