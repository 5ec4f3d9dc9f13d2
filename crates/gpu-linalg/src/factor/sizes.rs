//! Batches of matrices of sizes of their own.

use std::ops::Range;

use gpu_core::{Buffer, Device, Resources, Visitor, checks};

use crate::error::Error;
use crate::plan::factor::{Kernel, MOST};

/// The sizes of the matrices of a batch, which lie one after the other without gaps.
///
/// Made once on the host, and used for as many batches as have these sizes: matrices of like size are computed
/// together.
///
/// ```
/// use gpu_linalg::Sizes;
/// let sizes = Sizes::new(&gpu_core::Device::simulator(), &[3, 100, 0, 5])?;
/// assert_eq!((sizes.count(), sizes.elements(), sizes.rows()), (4, 9 + 10_000 + 25, 108));
/// assert_eq!(sizes.first(1), 9);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Sizes {
    sizes: Vec<usize>,
    firsts: Vec<usize>,
    /// Rows of the matrices before each.
    before: Vec<usize>,
    table: Buffer<u64>,
    groups: Vec<Group>,
}

/// Matrices that are computed in one launch: a part of the table.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub kernel: Kernel,
    /// Rows of the largest.
    pub most: u32,
    /// Entries of the table.
    pub entries: Range<usize>,
}

/// Words of an entry of the table.
pub(crate) const WORDS: usize = 3;
/// The sizes up to which matrices are computed together.
const CLASSES: [usize; 7] = [8, 16, 32, 64, 128, 256, MOST];

impl Sizes {
    /// For matrices of so many rows and columns, each at most 512.
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] where the device's memory does not suffice.
    pub fn new(device: &Device, sizes: &[usize]) -> Result<Self, Error> {
        let what = "the number of rows of a matrix of a batch of sizes of their own";
        sizes.iter().try_for_each(|&size| checks::extent(what, size, MOST))?;
        checks::extent("the number of matrices", sizes.len(), u32::MAX as usize)?;
        // Less than 2^32 · 2^18.
        let sums = |of: fn(usize) -> usize| -> Vec<usize> {
            let before = sizes.iter().scan(0, |sum, &size| {
                *sum += of(size);
                Some(*sum)
            });
            std::iter::once(0).chain(before).collect()
        };
        let (firsts, before) = (sums(|size| size * size), sums(|size| size));
        let class = |number: &u32| CLASSES.iter().position(|&most| sizes[*number as usize] <= most);
        let mut order: Vec<u32> = (0..sizes.len() as u32).filter(|&at| sizes[at as usize] > 0).collect();
        // Of a class the largest first: what takes longest does not start last.
        order.sort_by_key(|number| (class(number), std::cmp::Reverse(sizes[*number as usize])));
        let entry = |&number: &u32| {
            let at = number as usize;
            [firsts[at] as u64, u64::from(number) << 32 | sizes[at] as u64, before[at] as u64]
        };
        let table: Vec<u64> = order.iter().flat_map(entry).collect();
        let mut groups = Vec::new();
        let mut start = 0;
        for part in order.chunk_by(|a, b| class(a) == class(b)) {
            let most = sizes[part[0] as usize];
            groups.push(Group {
                kernel: Kernel::of(most),
                most: most as u32,
                entries: start..start + part.len(),
            });
            start += part.len();
        }
        let table = device.upload(&table)?;
        Ok(Self { sizes: sizes.to_vec(), firsts, before, table, groups })
    }

    /// Matrices.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The rows, and columns, of each.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The number of the first element of matrix `number`, or, of their count, the elements of all.
    ///
    /// # Panics
    /// Where `number` is beyond the count.
    pub fn first(&self, number: usize) -> usize {
        self.firsts[number]
    }

    /// The rows of the matrices before matrix `number`: so many times the right-hand sides is the number of its
    /// solution's first element.
    ///
    /// # Panics
    /// Where `number` is beyond the count.
    pub fn rows_before(&self, number: usize) -> usize {
        self.before[number]
    }

    /// Elements of all matrices.
    pub fn elements(&self) -> usize {
        self.firsts[self.count()]
    }

    /// Rows of all matrices.
    pub fn rows(&self) -> usize {
        self.before[self.count()]
    }

    pub(crate) fn table(&self) -> &Buffer<u64> {
        &self.table
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }
}

// SAFETY: it owns its memory.
unsafe impl Resources for Sizes {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.buffer(&self.table);
    }
}
