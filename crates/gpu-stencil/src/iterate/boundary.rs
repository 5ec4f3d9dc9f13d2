//! What holds at the edge of a grid.

use gpu_stencil_kernels::iterate;

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
