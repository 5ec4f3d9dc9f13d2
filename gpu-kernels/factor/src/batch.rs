//! Where the matrices of a batch lie.

use gpu_std::device;
use gpu_std::memory::Global;
use gpu_std::parameter::Parameter;

/// The matrices of a launch, as lower triangles: element (i, j) lies `i · row + j · column` behind a matrix's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Batch {
    /// Elements from one row to the next of what is read. Of what has sizes of its own 1 or 0: whether rows are
    /// contiguous, so that the size is what lies between columns, or columns are.
    pub row: u64,
    /// Elements from one column to the next of what is read.
    pub column: u64,
    /// Elements from one matrix to the next of what is read.
    pub stride: u64,
    /// The same of what is written.
    pub to_row: u64,
    /// The same of what is written.
    pub to_column: u64,
    /// The same of what is written.
    pub to_stride: u64,
    /// Matrices.
    pub count: u32,
    /// Their rows and columns, where they all have the same; else zero: a table has three words for each matrix: the
    /// number of its first element; in the lower half its rows, in the upper half its place in the batch; the rows
    /// before it.
    pub size: u32,
    /// What is added to the orders of minors.
    pub before: u32,
    /// Of a step of a large matrix 1, else 0: an order that is there already stays, and reciprocals of roots are
    /// written.
    pub part: u32,
    /// Elements from one column to the next of what is added to the step's columns before all else; zero: nothing is.
    pub added: u64,
    /// Whether 16 bytes of a row may be accessed at once: of what is read [`FROM`], of what is written [`TO`], or the
    /// sum of both. Others than the kernel of blocks do not ask.
    pub vectors: u32,
}

/// Of [`Batch::vectors`]: what is read.
pub const FROM: u32 = 1;
/// Of [`Batch::vectors`]: what is written.
pub const TO: u32 = 2;

/// A matrix of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub size: u32,
    pub number: u32,
    pub first: u64,
    pub row: u64,
    pub column: u64,
    pub to_first: u64,
    pub to_row: u64,
    pub to_column: u64,
}

impl Batch {
    /// Matrix `number` of the launch; beyond the last one, a matrix without elements.
    #[device]
    #[inline(always)]
    pub(crate) fn place(&self, table: Global<u64>, number: u32) -> Place {
        let mut place = Place {
            size: 0,
            number,
            first: 0,
            row: self.row,
            column: self.column,
            to_first: 0,
            to_row: self.to_row,
            to_column: self.to_column,
        };
        if number < self.count {
            place.size = self.size;
            place.first = number as u64 * self.stride;
            place.to_first = number as u64 * self.to_stride;
            if self.size == 0 {
                let table = table.offset(3 * number as u64);
                let word = table.read_only(1);
                place.first = table.read_only(0);
                place.to_first = place.first;
                place.size = word as u32;
                place.number = (word >> 32) as u32;
                let size = place.size as u64;
                let of = |contiguous: u64| if contiguous != 0 { (1, size) } else { (size, 1) };
                (place.row, place.column) = of(self.row);
                (place.to_row, place.to_column) = of(self.to_row);
            }
        }
        place
    }
}
