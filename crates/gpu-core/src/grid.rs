//! Grids of cells: planes and volumes without gaps.

use crate::checks;
use crate::error::Result;

/// What no grid can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// There are no cells.
    #[error("a grid has at least one cell, this one is {planes} × {rows} × {columns}")]
    Empty {
        /// Planes.
        planes: usize,
        /// Rows of a plane.
        rows: usize,
        /// Columns of a row.
        columns: usize,
    },
    /// The number of cells is not a `usize`.
    #[error("a grid of {planes} × {rows} × {columns} cells is more than can be addressed")]
    TooLarge {
        /// Planes.
        planes: usize,
        /// Rows of a plane.
        rows: usize,
        /// Columns of a row.
        columns: usize,
    },
}

/// The extents of a grid of cells without gaps: planes one after the other, in them rows, in those columns.
///
/// ```
/// use gpu_core::Grid;
/// assert_eq!(Grid::plane(480, 640)?.len(), 307_200);
/// assert_eq!(Grid::volume(2, 3, 4)?.index(1, 2, 3), 23);
/// assert!(Grid::plane(0, 4).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    extents: [usize; 3],
    dimensions: usize,
}

/// The largest extent: places are 32-bit numbers with a sign, and a strip reaches beyond the last column.
const LIMIT: usize = i32::MAX as usize - 4096;

impl Grid {
    /// A plane.
    ///
    /// # Errors
    /// [`Invalid::Empty`], [`Error::ExtentTooLarge`](crate::Error::ExtentTooLarge), [`Invalid::TooLarge`].
    pub fn plane(rows: usize, columns: usize) -> Result<Self> {
        Self { extents: [1, rows, columns], dimensions: 2 }.checked()
    }

    /// A volume.
    ///
    /// # Errors
    /// [`Invalid::Empty`], [`Error::ExtentTooLarge`](crate::Error::ExtentTooLarge), [`Invalid::TooLarge`].
    pub fn volume(planes: usize, rows: usize, columns: usize) -> Result<Self> {
        Self { extents: [planes, rows, columns], dimensions: 3 }.checked()
    }

    fn checked(self) -> Result<Self> {
        let [planes, rows, columns] = self.extents;
        if self.extents.contains(&0) {
            return Err(Invalid::Empty { planes, rows, columns }.into());
        }
        for (what, actual) in [
            ("the planes of a grid", planes),
            ("the rows of a grid", rows),
            ("the columns of a grid", columns),
        ] {
            checks::extent(what, actual, LIMIT)?;
        }
        match planes.checked_mul(rows).and_then(|rows| rows.checked_mul(columns)) {
            Some(_) => Ok(self),
            None => Err(Invalid::TooLarge { planes, rows, columns }.into()),
        }
    }

    /// 2 or 3.
    pub const fn dimensions(self) -> usize {
        self.dimensions
    }

    /// Planes; one of a plane.
    pub const fn planes(self) -> usize {
        self.extents[0]
    }

    /// Rows of a plane.
    pub const fn rows(self) -> usize {
        self.extents[1]
    }

    /// Columns of a row.
    pub const fn columns(self) -> usize {
        self.extents[2]
    }

    /// Cells: one at least.
    #[expect(clippy::len_without_is_empty, reason = "no grid is empty")]
    pub const fn len(self) -> usize {
        self.extents[0] * self.extents[1] * self.extents[2]
    }

    /// Where a cell lies in memory.
    pub const fn index(self, plane: usize, row: usize, column: usize) -> usize {
        (plane * self.extents[1] + row) * self.extents[2] + column
    }

    /// How far away in memory a cell is that is so many planes, rows and columns away: negative where it lies before.
    ///
    /// ```
    /// let grid = gpu_core::Grid::volume(2, 3, 4)?;
    /// assert_eq!(grid.distance([1, 0, 0]), 12);
    /// assert_eq!(grid.distance([0, -1, 1]), -3);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub const fn distance(self, [planes, rows, columns]: [i32; 3]) -> i64 {
        let [_, height, width] = self.extents;
        (planes as i64 * height as i64 + rows as i64) * width as i64 + columns as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn what_cannot_be_a_grid_is_refused() {
        let empty = Invalid::Empty { planes: 3, rows: 0, columns: 2 };
        assert!(matches!(Grid::volume(3, 0, 2), Err(Error::Grid(invalid)) if invalid == empty));
        assert!(matches!(Grid::plane(1 << 31, 1), Err(Error::ExtentTooLarge { .. })));
        let large = Grid::volume(1 << 30, 1 << 30, 1 << 30);
        assert!(matches!(large, Err(Error::Grid(Invalid::TooLarge { .. }))));
    }
}
