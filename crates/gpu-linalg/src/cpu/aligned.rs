//! Elements that begin with a line of a cache: a register that is read from two of these takes a core twice as long.

use core::ops::{Deref, DerefMut};

/// Bytes of a line, and of a widest register.
const LINE: usize = 64;

/// Some elements, the first one at a multiple of 64 bytes.
#[derive(Debug)]
pub struct Aligned<T> {
    /// These, and what is before and behind them.
    all: Vec<T>,
    start: usize,
    len: usize,
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self { all: Vec::new(), start: 0, len: 0 }
    }
}

impl<T: Copy> Aligned<T> {
    /// As many times `value`.
    pub(super) fn new(value: T, len: usize) -> Self {
        let most = LINE / size_of::<T>();
        let all = vec![value; len + most];
        // A vector's elements stay where they are when it is moved.
        let start = all.as_ptr().align_offset(LINE).min(most);
        Self { all, start, len }
    }

    /// Makes room for so many; where there was less, all are `value` then.
    pub(super) fn grow(&mut self, value: T, len: usize) {
        if self.len < len {
            *self = Self::new(value, len);
        }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.all[self.start..][..self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.all[self.start..][..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_begin_with_a_line() {
        for len in [0, 1, 7, 1000] {
            let mut some = Aligned::new(1f32, len);
            assert_eq!((some.as_ptr().addr() % LINE, some.len()), (0, len));
            some.fill(2.0);
            assert!(some.iter().all(|&value| value == 2.0));
            some.grow(3.0, len + 1);
            assert_eq!((some.as_ptr().addr() % LINE, &some[..]), (0, &vec![3.0; len + 1][..]));
            some.grow(4.0, len);
            assert_eq!(some[0], 3.0);
        }
    }
}
