//! Which elements a result takes in, from which end, and where it starts.

use gpu_scan_kernels::{EXCLUSIVE, REVERSE, Scan};

/// What a scan computes, besides its operator.
///
/// ```
/// use gpu_scan::{Options, kernels::Sum, scan};
/// let values = [1, 2, 3, 4];
/// assert_eq!(scan::<Sum<i32>>(&values, Options::inclusive())?.to_vec()?, [1, 3, 6, 10]);
/// assert_eq!(scan::<Sum<i32>>(&values, Options::exclusive())?.to_vec()?, [0, 1, 3, 6]);
/// assert_eq!(scan::<Sum<i32>>(&values, Options::exclusive().starting_with(5).reversed())?.to_vec()?, [14, 12, 9, 5]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
///
/// Unless told otherwise, [`Options::inclusive`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options<T> {
    pub(crate) exclusive: bool,
    pub(crate) reverse: bool,
    pub(crate) initial: Option<T>,
}

impl<T> Default for Options<T> {
    fn default() -> Self {
        Self::inclusive()
    }
}

impl<T> Options<T> {
    /// Each result takes in its own element and all before it.
    pub const fn inclusive() -> Self {
        Self { exclusive: false, reverse: false, initial: None }
    }

    /// Each result takes in all elements before its own; the first is the initial value: unless one is given, the
    /// result of nothing (0 for sums, 1 for products, the type's largest value for minima, …).
    pub const fn exclusive() -> Self {
        Self { exclusive: true, reverse: false, initial: None }
    }

    /// With a value that is combined in front of the first element.
    #[must_use]
    pub fn starting_with(self, initial: T) -> Self {
        Self { initial: Some(initial), ..self }
    }

    /// From the last element to the first: "before" is "after" then.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { reverse: true, ..self }
    }

    /// What stands in front of the first element: what changes nothing, where an inclusive scan has no initial value.
    pub(crate) fn initial<S: Scan<Output = T>>(&self) -> S::Register
    where
        T: Copy,
    {
        match self.initial {
            Some(initial) => S::resume(initial),
            None if self.exclusive => S::resume(S::EMPTY),
            None => S::extend(S::IDENTITY),
        }
    }

    /// The kernel's form of it.
    pub(crate) const fn mode(&self) -> u32 {
        self.exclusive as u32 * EXCLUSIVE + self.reverse as u32 * REVERSE
    }
}
