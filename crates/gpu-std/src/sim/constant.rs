//! Tables: the array itself, captured by the launch.

use crate::memory::Element;

#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Table<T: Element, const N: usize>([T; N]);

impl<T: Element, const N: usize> Table<T, N> {
    pub const fn new(entries: [T; N]) -> Self {
        Self(entries)
    }

    #[inline]
    #[track_caller]
    pub fn read(self, index: u32) -> T {
        match self.0.get(index as usize) {
            Some(&entry) => entry,
            None => panic!("entry {index} of a constant table of {N} entries"),
        }
    }
}
