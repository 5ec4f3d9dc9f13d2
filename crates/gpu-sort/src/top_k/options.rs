//! Which keys come first.

use crate::key::{SortKey, SortOptions, Sorting};

/// Which keys are selected: the largest or the smallest, in the total order that [`sort`](crate::sort()) has. So of floats NaNs without a
/// sign are larger than all numbers, those with one smaller, and -0 is smaller than +0. Of equal keys the first come first.
/// Unless told otherwise, [`TopK::largest`].
///
/// ```
/// assert_eq!(gpu_sort::TopK::default(), gpu_sort::TopK::largest());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopK {
    is_largest: bool,
}

impl Default for TopK {
    fn default() -> Self {
        Self::largest()
    }
}

impl TopK {
    /// The largest keys, the largest first.
    pub const fn largest() -> Self {
        Self { is_largest: true }
    }

    /// The smallest keys, the smallest first.
    pub const fn smallest() -> Self {
        Self { is_largest: false }
    }

    /// As options of a sort.
    pub(crate) const fn sort_options(self) -> SortOptions {
        if self.is_largest { SortOptions::descending() } else { SortOptions::ascending() }
    }

    pub(crate) fn sorting<K: SortKey>(self) -> Sorting {
        self.sort_options().checked::<K>().expect("all bits are a key's")
    }
}
