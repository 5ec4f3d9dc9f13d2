//! The columns of a piece of which a few rows are added.

use super::Across;
use crate::cpu::lanes::Block;
use crate::launch::RealElement;

/// Columns from some row on.
pub(super) struct Columns<'a, T> {
    /// The first ones, as registers hold them: what those have behind a column are others, whose sums are not looked
    /// at.
    pub(super) whole: Option<Block<'a, T>>,
    /// How many those are.
    pub(super) count: usize,
    /// All of them.
    pub(super) a: &'a [T],
    pub(super) leading: usize,
    /// Elements of each.
    pub(super) len: usize,
    pub(super) x: &'a [T],
}

impl<'a, T: RealElement> Columns<'a, T> {
    /// Those of a part from its row `at` on, for which there is `room` in registers, `leading` elements from one to the
    /// next.
    #[inline(always)]
    pub(super) fn new(part: &Across<'a, T>, leading: usize, at: usize, room: usize) -> Self {
        let a = &part.a[part.columns.start * leading + part.first + at..];
        let fit = if a.len() < room { 0 } else { (a.len() - room) / leading + 1 };
        let count = fit.min(part.columns.len());
        let whole = if count > 0 { Some(Block::new(a, leading, count, room)) } else { None };
        let len = (part.sums.len() - at).min(room);
        Self { whole, count, a, leading, len, x: &part.x[part.columns.clone()] }
    }
}
