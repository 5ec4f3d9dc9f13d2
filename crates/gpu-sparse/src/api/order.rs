//! Rows ordered by level and size class.

use gpu_core::{Buffer, Resources, Stream, View, ViewMut, Visitor};
use gpu_scan::{Options, Scratch, kernels::Sum, scan_into};
use gpu_sort::{SortOptions, sort_indices};
use gpu_sparse_kernels::levels::Rows;
use gpu_sparse_kernels::order::{CLASSES, classes};
use gpu_sparse_kernels::order_narrow::WARPS;
use gpu_sparse_kernels::solve::Run;

use super::{Side, sums};
use crate::error::Error;
use crate::launch::Element;
use crate::matrix::CsrView;
use crate::plan::order as plan;
use crate::plan::solve::{Profile, runs};
use crate::{reference, systems};

/// The rows of a triangle, grouped by level and inside a level by size class: rows with 1, 2, 3–4, 5–8, 9–16, more
/// entries beside the diagonal, and with none; in each class in ascending order. And the warps that they fill, if a row
/// gets as many lanes as it has entries, rounded up to a power of two, and no warp has rows of two classes.
#[derive(Debug)]
pub struct RowOrder {
    rows: Buffer<u32>,
    starts: Buffer<u32>,
    warps: Buffer<u32>,
    runs: Vec<(Run, u32)>,
}

impl RowOrder {
    /// The order of the rows of a triangle that was found to be one, with this profile. Does not wait.
    pub(crate) fn new<T: Element>(
        stream: &Stream,
        matrix: &CsrView<'_, T>,
        shape: Rows,
        levels: &Buffer<u32>,
        profile: &Profile,
    ) -> Result<Self, Error> {
        let device = stream.device();
        let count = profile.levels;
        let groups = (CLASSES * count) as usize;
        if let (Some((offsets, indices, _)), Some(levels)) = (matrix.slices(), levels.view().as_slice()) {
            let side = if shape.upper != 0 { Side::Upper } else { Side::Lower };
            let ordered = reference::order_rows(offsets, indices, levels, count, side);
            let (rows, starts) = (device.upload(&ordered.rows)?, device.upload(&ordered.starts)?);
            return Ok(Self { rows, starts, warps: device.upload(&ordered.warps)?, runs: Vec::new() });
        }
        let mut starts = device.zeroed::<u32>(groups + 1)?;
        let mut warps = device.zeroed::<u32>(groups + 1)?;
        if matrix.rows == 0 {
            return Ok(Self { rows: device.alloc(0)?, starts, warps, runs: Vec::new() });
        }
        // ---- counting, and the sums of the counts
        let keys = RowKeys::of(stream, matrix, shape, levels.view(), profile, starts.slice_mut(..groups))?;
        systems::warps(stream, starts.slice(..groups), warps.slice_mut(..groups))?;
        for counts in [&mut starts, &mut warps] {
            sums(stream, counts, Options::exclusive())?;
        }
        // ---- the rows in the order of their groups
        Ok(Self { rows: keys.order(stream)?, starts, warps, runs: Vec::new() })
    }

    /// Finds the launches of a solution level by level, and waits for the order, if that was not done.
    pub(crate) fn find_runs(&mut self) -> Result<(), Error> {
        if self.runs.is_empty() {
            self.runs = runs(&sizes(&self.starts.to_vec()?));
        }
        Ok(())
    }

    /// The rows in their order.
    pub fn rows(&self) -> View<'_, u32> {
        self.rows.view()
    }

    /// Where each group starts: class `c` of level `l`, counted from 1, is group `7 (l - 1) + c`; and, last, where the
    /// last ends.
    pub fn starts(&self) -> View<'_, u32> {
        self.starts.view()
    }

    /// The warps before those of each group, and, last, all of them.
    pub fn warps(&self) -> View<'_, u32> {
        self.warps.view()
    }

    /// What each warp of a solution free of synchronisation does: two words each; none of no rows. Rows of more than 16
    /// entries have `widest` lanes. Waits for it.
    pub(crate) fn tasks(&self, stream: &Stream, widest: u32) -> Result<Buffer<u32>, Error> {
        let device = stream.device();
        let groups = self.starts.len() - 1;
        if groups == 0 {
            return Ok(device.alloc(0)?);
        }
        let mut before = device.zeroed::<u32>(groups + 1)?;
        systems::task_counts(stream, self.starts.view(), before.slice_mut(..groups), widest)?;
        sums(stream, &mut before, Options::exclusive())?;
        let [count] = before.slice(groups..).to_array()?;
        let mut tasks = device.alloc(2 * count as usize)?;
        systems::tasks(stream, self.starts.view(), &before, &mut tasks, widest)?;
        Ok(tasks)
    }

    /// The launches of a solution level by level, once they were found.
    pub(crate) fn runs(&self) -> &[(Run, u32)] {
        &self.runs
    }
}

/// Keys of a triangle's rows, which ascend as the rows' groups do.
#[derive(Debug)]
pub(super) enum RowKeys {
    /// So few that each tile of so many rows counts each of them.
    Narrow { keys: Buffer<u8>, by_tile: Buffer<u32>, tile: u32 },
    /// They are sorted, by so many bits.
    Wide(Buffer<u32>, u32),
}

impl RowKeys {
    /// Enqueues those of a triangle with rows, and how many rows each group has.
    pub(super) fn of<T: Element>(
        stream: &Stream,
        matrix: &CsrView<'_, T>,
        shape: Rows,
        levels: View<'_, u32>,
        profile: &Profile,
        counts: ViewMut<'_, u32>,
    ) -> Result<Self, Error> {
        let (device, classes) = (stream.device(), classes(profile.longest));
        let many = classes * profile.levels;
        let (multiprocessors, capability) = (device.planned_multiprocessors(), device.capability());
        if let Some(tile) = plan::tile(shape.rows, many, multiprocessors, capability) {
            let tiles = plan::blocks(shape.rows, tile) * WARPS;
            let (mut keys, mut by_tile) =
                (device.alloc(matrix.rows)?, device.alloc((many * tiles) as usize)?);
            let which = (shape, classes, plan::diagonals(profile));
            systems::groups_by_tile(stream, matrix, which, levels, (&mut keys, &mut by_tile, tile), counts)?;
            return Ok(Self::Narrow { keys, by_tile, tile });
        }
        let mut keys = device.alloc(matrix.rows)?;
        systems::groups(stream, matrix, (shape, classes), levels, &mut keys, counts)?;
        Ok(Self::Wide(keys, u32::BITS - (many - 1).leading_zeros()))
    }

    /// Enqueues the rows in the order of their keys.
    pub(super) fn order(&self, stream: &Stream) -> Result<Buffer<u32>, Error> {
        match self {
            Self::Narrow { keys, by_tile, tile } => {
                let mut starts = stream.device().alloc(by_tile.len())?;
                Scratch::kept(stream, |scratch| {
                    scan_into::<Sum<u32>>(stream, by_tile, Options::exclusive(), &mut starts, scratch)
                })?;
                let mut rows = stream.device().alloc(keys.len())?;
                systems::order_by_tile(stream, keys, (&starts, *tile), &mut rows)?;
                Ok(rows)
            }
            Self::Wide(keys, bits) => Ok(sort_indices(keys, SortOptions::ascending().by_bits(0..*bits))?.1),
        }
    }
}

/// Rows of each level.
fn sizes(starts: &[u32]) -> Vec<u32> {
    let of_levels: Vec<u32> = starts.iter().step_by(CLASSES as usize).copied().collect();
    of_levels.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

// SAFETY: it owns its memory.
unsafe impl Resources for RowOrder {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        let Self { rows, starts, warps, .. } = self;
        [rows, starts, warps].into_iter().for_each(|buffer| visitor.buffer(buffer));
    }
}
