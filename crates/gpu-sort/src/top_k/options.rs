//! Which keys come first.

use crate::key::{SortKey, SortOptions, Sorting};

/// Which keys are selected: the largest or the smallest, in the total order that [`sort`](crate::sort()) has. So of
/// floats NaNs without a sign are larger than all numbers, those with one smaller, and -0 is smaller than +0. Of equal
/// keys the first come first. They are given in that order, unless any will do ([`TopK::in_any_order`]). Unless told
/// otherwise, [`TopK::largest`].
///
/// ```
/// assert_eq!(gpu_sort::TopK::default(), gpu_sort::TopK::largest());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopK {
    is_largest: bool,
    is_in_any_order: bool,
}

impl Default for TopK {
    fn default() -> Self {
        Self::largest()
    }
}

impl TopK {
    /// The largest keys, the largest first.
    pub const fn largest() -> Self {
        Self { is_largest: true, is_in_any_order: false }
    }

    /// The smallest keys, the smallest first.
    pub const fn smallest() -> Self {
        Self { is_largest: false, is_in_any_order: false }
    }

    /// The same keys, in whatever order costs least.
    ///
    /// The keys, and with them indices or values, are those of the sorted result, of equal keys too. Their order is a
    /// function of the keys' type, of the lengths, of `k` and of whether indices or values are asked for: the same in
    /// each run and on every device. But it may be another in a later version, so that nothing should depend on it.
    ///
    /// Today kernels sort what they select anyway, in the memory of a block, and only where a segment's keys are all
    /// wanted is a sort left out: they stay where they are, with values by a copy, with the indices of one long array
    /// by one pass over the keys in the place of one for each 8 of their bits.
    ///
    /// ```
    /// use gpu_sort::{Segments, TopK, top_k_pairs};
    /// let any = TopK::largest().in_any_order();
    /// let (keys, values) = top_k_pairs(&[3, 9, 7], &[b'c', b'i', b'g'], Segments::of_length(3)?, 2, any)?;
    /// let mut pairs: Vec<_> = keys.to_vec()?.into_iter().zip(values.to_vec()?).collect();
    /// pairs.sort();
    /// assert_eq!(pairs, [(7, b'g'), (9, b'i')]);
    /// # Ok::<(), gpu_sort::Error>(())
    /// ```
    #[must_use]
    pub const fn in_any_order(self) -> Self {
        Self { is_in_any_order: true, ..self }
    }

    /// Whether any order will do.
    pub(crate) const fn is_in_any_order(self) -> bool {
        self.is_in_any_order
    }

    /// As options of a sort.
    pub(crate) const fn sort_options(self) -> SortOptions {
        if self.is_largest { SortOptions::descending() } else { SortOptions::ascending() }
    }

    pub(crate) fn sorting<K: SortKey>(self) -> Sorting {
        self.sort_options().checked::<K>().expect("all bits are a key's")
    }
}
