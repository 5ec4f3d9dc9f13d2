//! Grids and their boundaries.

use gpu_stencil_kernels::iterate;

use crate::error::Error;

/// The extents of a grid of cells without gaps: planes one after the other, in them rows, in those columns.
///
/// ```
/// use gpu_stencil::iterate::Grid;
/// assert_eq!(Grid::plane(480, 640)?.len(), 307_200);
/// assert_eq!(Grid::volume(2, 3, 4)?.index(1, 2, 3), 23);
/// assert!(Grid::plane(0, 4).is_err());
/// # Ok::<(), gpu_stencil::Error>(())
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
    /// [`Error::EmptyGrid`], [`gpu_core::Error::ExtentTooLarge`], [`Error::SizeOverflow`].
    pub fn plane(rows: usize, columns: usize) -> Result<Self, Error> {
        Self { extents: [1, rows, columns], dimensions: 2 }.checked()
    }

    /// A volume.
    ///
    /// # Errors
    /// [`Error::EmptyGrid`], [`gpu_core::Error::ExtentTooLarge`], [`Error::SizeOverflow`].
    pub fn volume(planes: usize, rows: usize, columns: usize) -> Result<Self, Error> {
        Self { extents: [planes, rows, columns], dimensions: 3 }.checked()
    }

    fn checked(self) -> Result<Self, Error> {
        let [planes, rows, columns] = self.extents;
        if self.extents.contains(&0) {
            return Err(Error::EmptyGrid { planes, rows, columns });
        }
        for (what, actual) in [
            ("the planes of a grid", planes),
            ("the rows of a grid", rows),
            ("the columns of a grid", columns),
        ] {
            if actual > LIMIT {
                return Err(Error::Device(gpu_core::Error::ExtentTooLarge { what, actual, limit: LIMIT }));
            }
        }
        match planes.checked_mul(rows).and_then(|rows| rows.checked_mul(columns)) {
            Some(_) => Ok(self),
            None => Err(Error::SizeOverflow { count: planes, rows, pitch: columns }),
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

    /// How far away in memory a cell is that is so many planes, rows and columns away.
    pub(super) fn distance(self, [planes, rows, columns]: [i32; 3]) -> i64 {
        let [_, height, width] = self.extents.map(|extent| extent as i64);
        (i64::from(planes) * height + i64::from(rows)) * width + i64::from(columns)
    }
}

/// What happens at the edge of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// The outermost cells, as many layers as the stencil's radius, stay as they are. (A grid without inner cells
    /// stays as it is.)
    Dirichlet,
    /// Nothing flows through the edge: the grid goes on mirrored at it, the cell `k` beyond the edge being the cell
    /// `k` before it (SciPy's `reflect`: the edge lies between cells). Where the weights are those of a diffusion the
    /// sum of all cells stays.
    Neumann,
    /// The grid goes on with its other side.
    Periodic,
}

impl Boundary {
    /// The kernels' number.
    pub(super) const fn code(self) -> u32 {
        match self {
            Self::Dirichlet => iterate::DIRICHLET,
            Self::Neumann => iterate::NEUMANN,
            Self::Periodic => iterate::PERIODIC,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_grid_is_refused() {
        assert!(matches!(Grid::volume(3, 0, 2), Err(Error::EmptyGrid { planes: 3, rows: 0, columns: 2 })));
        assert!(matches!(
            Grid::plane(1 << 31, 1),
            Err(Error::Device(gpu_core::Error::ExtentTooLarge { .. }))
        ));
        assert!(matches!(Grid::volume(1 << 30, 1 << 30, 1 << 30), Err(Error::SizeOverflow { .. })));
    }
}
