//! Passes over memory, and their launches: from extents, shapes and alignment alone.

use gpu_core::Grid;
use gpu_std::launch::LaunchConfig;
use gpu_stencil_kernels::iterate::march::{self, March};
use gpu_stencil_kernels::iterate::step::{self, Step};
use gpu_stencil_kernels::iterate::strip::{self, Strips};

use super::boundary::Boundary;
use super::stencil::Shape;
use crate::error::Error;
use crate::plan::blocks;

/// The kernel of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Eight steps of a star of radius 1 on a plane, `f32`, without a source.
    Star8,
    /// Four steps of a star of radius 1 on a plane.
    Star4,
    /// Four steps of a box of radius 1 on a plane.
    Box4,
    /// A step of a star of radius 1 in a volume.
    March,
    /// A step of anything.
    Step,
}

impl Kernel {
    /// Steps that it makes in a pass.
    pub const fn steps(self) -> usize {
        match self {
            Self::Star8 => 8,
            Self::Star4 | Self::Box4 => 4,
            Self::March | Self::Step => 1,
        }
    }
}

/// What is iterated, as far as it decides what is launched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The grid.
    pub grid: Grid,
    /// Its boundary.
    pub boundary: Boundary,
    /// The stencil's shape.
    pub shape: Shape,
    /// Its radius.
    pub radius: usize,
    /// Whether there is a source.
    pub with_source: bool,
    /// Bytes of an element.
    pub bytes: usize,
    /// Whether all memory starts at multiples of 16 bytes.
    pub aligned: bool,
}

/// Strips that a multiprocessor runs at once. Their number is a little less than a multiple of what all of them do, so
/// that the last ones do not have the device to themselves.
const RESIDENT: usize = 16;
/// Such rounds at most.
const ROUNDS: usize = 12;
/// Rows of a strip where there is more than one round: of 96, a sixth is computed twice for eight steps. (100 steps
/// of 16384² `f32` on an H200: 13.5 ms with 96 rows, 14.1 with 64, 13.9 with 128, 14.2 with 192, 19.1 with 576.)
const ROUND_ROWS: usize = 96;
/// Rows of a strip at least.
const STRIP_ROWS: usize = 64;
/// Planes that a block marches through: of the first and last one more is read. (512³ `f32`, a step: 306 µs with 64,
/// and no more than 314 with 8 to 128.)
const MARCH_PLANES: usize = 64;

impl Case {
    /// The kernels for `steps` steps, each with its number of passes, in order.
    pub fn kernels(&self, steps: usize) -> [(Kernel, usize); 3] {
        let near = self.grid.dimensions() == 2 && self.radius == 1;
        let eight = near && self.shape == Shape::Star && self.bytes == 4 && !self.with_source;
        let (eights, rest) = if eight { (steps / 8, steps % 8) } else { (0, steps) };
        let (fours, ones) = if near { (rest / 4, rest % 4) } else { (0, rest) };
        let four = if self.shape == Shape::Star { Kernel::Star4 } else { Kernel::Box4 };
        [(Kernel::Star8, eights), (four, fours), (self.single(), ones)]
    }

    /// The kernel for one step.
    pub fn single(&self) -> Kernel {
        let march = self.grid.dimensions() == 3 && self.radius == 1 && self.shape == Shape::Star;
        if march && self.vectors() { Kernel::March } else { Kernel::Step }
    }

    /// Whether all rows start at multiples of 16 bytes.
    fn vectors(&self) -> bool {
        self.aligned && (self.grid.columns() * self.bytes).is_multiple_of(16)
    }

    /// The launch of eight or four steps on so many multiprocessors.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`].
    pub fn strips(&self, steps: usize, multiprocessors: u32) -> Result<(LaunchConfig, Strips), Error> {
        let (rows, columns) = (self.grid.rows(), self.grid.columns());
        let across = columns.div_ceil(strip::width(self.bytes as u32, steps as u32) as usize);
        let resident = RESIDENT * multiprocessors as usize;
        let height = |rounds: usize| rows.div_ceil((rounds * resident / across).max(1));
        let height = (2..=ROUNDS).rev().map(height).find(|&height| height >= ROUND_ROWS).unwrap_or(height(1));
        let height = height.max(STRIP_ROWS);
        let down = rows.div_ceil(height);
        let strips = Strips {
            rows: rows as u32,
            columns: columns as u32,
            across: across as u32,
            down: down as u32,
            height: height as u32,
            boundary: self.boundary.code(),
            vectors: self.vectors() as u32,
            with_source: self.with_source as u32,
        };
        let warps = (strip::THREADS / 32) as usize;
        Ok((LaunchConfig::linear(blocks((across * down).div_ceil(warps) as u128)?, strip::THREADS), strips))
    }

    /// The launch of a step of a star in a volume.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`].
    pub fn march(&self) -> Result<(LaunchConfig, March), Error> {
        let (planes, rows, columns) = (self.grid.planes(), self.grid.rows(), self.grid.columns());
        let across = (columns * self.bytes).div_ceil(march::WIDTH_BYTES as usize);
        let height = planes.min(MARCH_PLANES);
        let count = across
            .saturating_mul(rows.div_ceil(march::ROWS as usize))
            .saturating_mul(planes.div_ceil(height));
        let shape = March {
            planes: planes as u32,
            rows: rows as u32,
            columns: columns as u32,
            height: height as u32,
            boundary: self.boundary.code(),
            with_source: self.with_source as u32,
        };
        Ok((LaunchConfig::linear(blocks(count as u128)?, march::THREADS), shape))
    }

    /// The launch of a step of anything, without its taps.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`].
    pub fn step(&self, difference: bool) -> Result<(LaunchConfig, Step), Error> {
        let (planes, rows, columns) = (self.grid.planes(), self.grid.rows(), self.grid.columns());
        let count = columns
            .div_ceil(step::COLUMNS as usize)
            .saturating_mul(rows.div_ceil(step::ROWS as usize))
            .saturating_mul(planes);
        let shape = Step {
            planes: planes as u32,
            rows: rows as u32,
            columns: columns as u32,
            radius: self.radius as u32,
            depth: if self.grid.dimensions() == 3 { self.radius as u32 } else { 0 },
            boundary: self.boundary.code(),
            taps: 0,
            with_source: self.with_source as u32,
            carry: 0,
            difference: difference as u32,
        };
        Ok((LaunchConfig::linear(blocks(count as u128)?, step::THREADS), shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(grid: Grid, bytes: usize) -> Case {
        let boundary = Boundary::Dirichlet;
        Case { grid, boundary, shape: Shape::Star, radius: 1, with_source: false, bytes, aligned: true }
    }

    #[test]
    fn as_many_steps_at_once_as_there_are() {
        let plane = case(Grid::plane(100, 100).unwrap(), 4);
        assert_eq!(plane.kernels(103), [(Kernel::Star8, 12), (Kernel::Star4, 1), (Kernel::Step, 3)]);
        let source = Case { with_source: true, ..plane };
        assert_eq!(source.kernels(9), [(Kernel::Star8, 0), (Kernel::Star4, 2), (Kernel::Step, 1)]);
        let wide = Case { radius: 2, ..plane };
        assert_eq!(wide.kernels(9)[2], (Kernel::Step, 9));
        let whole = Case { shape: Shape::Box, bytes: 8, ..plane };
        assert_eq!(whole.kernels(4)[1], (Kernel::Box4, 1));
        let volume = case(Grid::volume(5, 5, 8).unwrap(), 4);
        assert_eq!(volume.kernels(5), [(Kernel::Star8, 0), (Kernel::Star4, 0), (Kernel::March, 5)]);
        assert_eq!(case(Grid::volume(5, 5, 9).unwrap(), 4).single(), Kernel::Step);
        for case in [plane, source, wide, whole, volume] {
            for steps in 0..30 {
                let made: usize =
                    case.kernels(steps).iter().map(|(kernel, passes)| kernel.steps() * passes).sum();
                assert_eq!(made, steps);
            }
        }
    }

    #[test]
    fn strips_cover_the_grid() {
        for (rows, columns) in [(1, 1), (64, 112), (65, 113), (16384, 16384), (3, 1 << 20), (1 << 20, 3)] {
            for bytes in [4, 8] {
                let case = case(Grid::plane(rows, columns).unwrap(), bytes);
                let (launch, strips) = case.strips(4, 132).unwrap();
                assert!((strips.across * strip::width(bytes as u32, 4)) as usize >= columns);
                assert!(u64::from(strips.down) * u64::from(strips.height) >= rows as u64);
                let count = u64::from(strips.across) * u64::from(strips.down);
                assert!(u64::from(launch.grid[0]) * 4 >= count);
            }
        }
        // The figure's grid: 171 times 147 strips are not quite twelve times 2112. Smaller ones: three rounds, one.
        for (side, across, height, rounds) in [(16384, 147, 96, 12), (8192, 74, 97, 3), (4096, 37, 72, 1)] {
            let (_, strips) = case(Grid::plane(side, side).unwrap(), 4).strips(8, 132).unwrap();
            assert_eq!((strips.across, strips.height), (across, height));
            assert!((strips.across * strips.down).div_ceil(2112) == rounds);
        }
        assert_eq!((strip::width(4, 8), strip::width(4, 4), strip::width(8, 4)), (112, 120, 56));
    }

    #[test]
    fn a_grid_of_too_many_blocks_is_refused() {
        let grid = Grid::volume(1 << 30, 1 << 10, 1 << 10).unwrap();
        assert!(matches!(
            case(grid, 4).step(false),
            Err(Error::Device(gpu_core::Error::TooManyBlocks { .. }))
        ));
        assert!(matches!(case(grid, 4).march(), Err(Error::Device(gpu_core::Error::TooManyBlocks { .. }))));
    }
}
