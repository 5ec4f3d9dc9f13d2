//! The steps of ordering a triangle's rows, each by itself.

use gpu_core::{Buffer, View};
use gpu_scan::{Options, Scratch, kernels::Sum, scan_into};
use gpu_sparse_kernels::order::CLASSES;

use super::order::RowKeys;
use super::{Analysis, Profile, Side};
use crate::error::Error;
use crate::launch::Element;
use crate::reference;

/// The steps of [`Analysis::order_rows`], one at a time, to be timed or looked at: maximum, counts, exclusive sums,
/// order. Each step works on what the ones before left.
///
/// ```
/// use gpu_sparse::{Analysis, Csr, Diagonal, OrderSteps, Side};
/// let device = gpu_core::Device::simulator();
/// let a = Csr::upload(&device, 3, 3, &[0, 1, 3, 4], &[0, 0, 1, 2], &[2.0, 1.0, 4.0, 8.0])?;
/// let analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored)?;
/// let mut steps = OrderSteps::new(&analysis);
/// assert_eq!(steps.maximum()?, 2);
/// steps.count()?;
/// steps.sum()?;
/// steps.order()?;
/// let mut rows = [0; 3];
/// steps.rows().expect("the last step was done").copy_to(&mut rows)?;
/// assert_eq!(rows, [0, 2, 1]);
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
#[derive(Debug)]
pub struct OrderSteps<'a, 'm, T: Element> {
    analysis: &'a Analysis<'m, T>,
    levels: u32,
    /// What says the group of each row, and how many rows each group has, with a zero behind.
    counted: Option<(Groups, Buffer<u32>)>,
    starts: Option<Buffer<u32>>,
    rows: Option<Buffer<u32>>,
}

/// What says the group of each row.
#[derive(Debug)]
enum Groups {
    /// The group itself; where there are no rows, or on the CPU.
    Plain(Buffer<u32>),
    Keys(RowKeys),
}

impl<'a, 'm, T: Element> OrderSteps<'a, 'm, T> {
    /// Nothing is done yet, but that the number of levels is the analysis's.
    pub fn new(analysis: &'a Analysis<'m, T>) -> Self {
        Self { analysis, levels: analysis.level_count(), counted: None, starts: None, rows: None }
    }

    /// How many levels there are: the highest of them. Waits for it.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    pub fn maximum(&mut self) -> Result<u32, Error> {
        let levels = self.analysis.levels();
        self.levels = match levels.as_slice() {
            _ if levels.is_empty() => 0,
            Some(levels) => levels.iter().copied().max().unwrap_or(0),
            None => gpu_reduce::max(levels)?,
        };
        Ok(self.levels)
    }

    /// The group of each row, and how many rows each group has. Waits for it.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    pub fn count(&mut self) -> Result<(), Error> {
        let (matrix, shape) = (self.analysis.matrix(), self.analysis.shape());
        let levels = self.analysis.levels();
        let device = matrix.device();
        let count = (CLASSES * self.levels) as usize;
        if let (Some((offsets, indices, _)), Some(levels)) = (matrix.slices(), levels.as_slice()) {
            let side = if shape.upper != 0 { Side::Upper } else { Side::Lower };
            let (groups, mut counts) = reference::count_rows(offsets, indices, levels, self.levels, side);
            counts.push(0);
            self.counted = Some((Groups::Plain(device.upload(&groups)?), device.upload(&counts)?));
            return Ok(());
        }
        let mut counts = device.zeroed(count + 1)?;
        let groups = if levels.is_empty() {
            Groups::Plain(device.alloc(0)?)
        } else {
            let stream = device.default_stream();
            let profile = Profile { levels: self.levels, ..self.analysis.profile() };
            let keys = RowKeys::of(&stream, &matrix, shape, levels, &profile, counts.slice_mut(..count))?;
            stream.synchronize()?;
            Groups::Keys(keys)
        };
        self.counted = Some((groups, counts));
        Ok(())
    }

    /// Where each group starts: the sums of the counts before it. Waits for it. Counts first, if that was not done.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    pub fn sum(&mut self) -> Result<(), Error> {
        let (_, counts) = match &self.counted {
            Some(counted) => counted,
            None => {
                self.count()?;
                return self.sum();
            }
        };
        let stream = counts.device().default_stream();
        let mut starts = stream.device().alloc(counts.len())?;
        Scratch::kept(&stream, |scratch| {
            scan_into::<Sum<u32>>(&stream, counts, Options::exclusive(), &mut starts, scratch)
        })?;
        stream.synchronize()?;
        self.starts = Some(starts);
        Ok(())
    }

    /// The rows in the order of their groups. Waits for it. Sums first, if that was not done.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    pub fn order(&mut self) -> Result<(), Error> {
        let (Some((groups, _)), Some(starts)) = (&self.counted, &self.starts) else {
            self.sum()?;
            return self.order();
        };
        let stream = starts.device().default_stream();
        let rows = match groups {
            Groups::Keys(keys) => keys.order(&stream)?,
            Groups::Plain(groups) => match (groups.view().as_slice(), starts.view().as_slice()) {
                (Some(groups), Some(starts)) => {
                    stream.device().upload(&reference::place_rows(groups, starts))?
                }
                _ => stream.device().alloc(0)?,
            },
        };
        stream.synchronize()?;
        self.rows = Some(rows);
        Ok(())
    }

    /// Where each group starts, and where the last ends, once that step was done.
    pub fn starts(&self) -> Option<View<'_, u32>> {
        self.starts.as_ref().map(Buffer::view)
    }

    /// The rows in their order, once that step was done.
    pub fn rows(&self) -> Option<View<'_, u32>> {
        self.rows.as_ref().map(Buffer::view)
    }
}
