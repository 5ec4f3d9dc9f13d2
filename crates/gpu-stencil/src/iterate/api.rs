//! Validate, plan, launch.

use gpu_core::{Buffer, Grid, Scratch, ScratchSize, Stream, View, ViewMut, checks};

use super::boundary::Boundary;
use super::launch::{self, GridElement};
use super::plan::Case;
use super::reference;
use super::stencil::Stencil;
use crate::error::Error;

/// The call's name in errors.
const IN_STEPS: &str = "stencil in steps";

/// A stencil, the grid that it is applied to, and what holds at its edge.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a, T: GridElement> {
    pub(super) stencil: &'a Stencil<T>,
    pub(super) grid: Grid,
    pub(super) boundary: Boundary,
    pub(super) source: Option<View<'a, T>>,
}

impl<'a, T: GridElement> Problem<'a, T> {
    /// A problem without a source.
    ///
    /// # Errors
    /// [`Error::Dimensions`] where the stencil is for another number of dimensions than the grid has.
    pub fn new(stencil: &'a Stencil<T>, grid: Grid, boundary: Boundary) -> Result<Self, Error> {
        let (expected, actual) = (stencil.dimensions(), grid.dimensions());
        if expected != actual {
            return Err(Error::Dimensions { expected, actual });
        }
        Ok(Self { stencil, grid, boundary, source: None })
    }

    /// The same with a source, a value for each cell.
    ///
    /// # Errors
    /// [`gpu_core::Error::LengthMismatch`].
    pub fn with_source(self, source: impl Into<View<'a, T>>) -> Result<Self, Error> {
        let source = source.into();
        checks::length("source", self.grid.len(), source.len())?;
        Ok(Self { source: Some(source), ..self })
    }

    /// Its grid.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Refuses an input and an output that are not of the grid, or not on the stream's device, or overlap.
    fn expect(&self, stream: &Stream, input: &View<'_, T>, output: &ViewMut<'_, T>) -> Result<(), Error> {
        checks::length("state", self.grid.len(), input.len())?;
        checks::output(IN_STEPS, self.grid.len(), output.len())?;
        stream.expect("state", input.device())?;
        stream.expect("output", output.device())?;
        output.expect_apart("the state", input)?;
        if let Some(source) = &self.source {
            stream.expect("source", source.device())?;
            output.expect_apart("the source", source)?;
        }
        Ok(())
    }

    /// What decides the launches, with the addresses that are read and written.
    pub(super) fn case(&self, addresses: &[u64]) -> Case {
        let source = self.source.map(|source| source.as_global().address());
        Case {
            grid: self.grid,
            boundary: self.boundary,
            shape: self.stencil.shape(),
            radius: self.stencil.radius(),
            with_source: source.is_some(),
            bytes: size_of::<T>(),
            aligned: addresses.iter().chain(&source).all(|address| address.is_multiple_of(16)),
        }
    }
}

/// Scratch memory of so many steps on cells of type `T`: as many as the grid has, or none for fewer than two.
///
/// ```
/// use gpu_stencil::iterate::{Grid, iterate_scratch};
/// let grid = Grid::plane(1000, 1000)?;
/// assert_eq!(iterate_scratch::<f64>(grid, 1).bytes(), 0);
/// assert_eq!(iterate_scratch::<f64>(grid, 100).bytes(), 8_000_000);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub const fn iterate_scratch<T: GridElement>(grid: Grid, steps: usize) -> ScratchSize {
    ScratchSize::new().array::<T>(if steps < 2 { 0 } else { grid.len() })
}

/// Writes what `input` has become after `steps` steps to `output`.
///
/// On `stream`; no step at all copies. Waits for nothing, and allocates no device memory where `scratch` has as much as
/// [`iterate_scratch`] says; on the CPU the work is done on return.
///
/// # Errors
/// [`gpu_core::Error::LengthMismatch`], [`gpu_core::Error::OutputLength`], [`gpu_core::Error::ScratchTooSmall`],
/// [`gpu_core::Error::ScratchOfOtherStream`], [`gpu_core::Error::Aliasing`], [`gpu_core::Error::TooManyBlocks`];
/// [`Error::Device`] where memory is on another device than the stream. The output is as it was then. It is not where
/// a launch failed, which is an [`Error::Device`] too.
///
/// ```
/// use gpu_stencil::Scratch;
/// use gpu_stencil::iterate::{Boundary, Grid, Problem, Stencil, iterate_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let (grid, laplace) = (Grid::plane(3, 3)?, Stencil::jacobi(2, 1.0f32)?);
/// let problem = Problem::new(&laplace, grid, Boundary::Dirichlet)?;
/// let plate = device.upload(&[0.0, 1.0, 0.0, 2.0, 9.0, 3.0, 0.0, 4.0, 0.0])?;
/// let (mut output, mut scratch) = (device.alloc(9)?, Scratch::new(&stream));
/// iterate_into(&stream, &problem, &plate, 2, &mut output, &mut scratch)?;
/// assert_eq!(output.to_vec()?, [0.0, 1.0, 0.0, 2.0, 2.5, 3.0, 0.0, 4.0, 0.0]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn iterate_into<'i, 'o, T: GridElement>(
    stream: &Stream,
    problem: &Problem<'_, T>,
    input: impl Into<View<'i, T>>,
    steps: usize,
    output: impl Into<ViewMut<'o, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (input, output) = (input.into(), output.into());
    problem.expect(stream, &input, &output)?;
    Ok(run(stream, problem, input, steps, output, scratch)?)
}

/// Makes the steps; state and output have been checked.
fn run<T: GridElement>(
    stream: &Stream,
    problem: &Problem<'_, T>,
    input: View<'_, T>,
    steps: usize,
    mut output: ViewMut<'_, T>,
    scratch: &mut Scratch,
) -> gpu_core::Result<()> {
    let size = iterate_scratch::<T>(problem.grid, steps);
    scratch.expect(stream, IN_STEPS, size)?;
    if steps == 0 {
        return stream.copy(output, input);
    }
    scratch.lend(IN_STEPS, size, |mut parts| {
        let mut scratch = parts.array::<T>(if steps < 2 { 0 } else { problem.grid.len() });
        scratch.expect_apart("the state", &input)?;
        scratch.expect_apart("the output", &output.view())?;
        if let Some(source) = &problem.source {
            scratch.expect_apart("the source", source)?;
        }
        if let (Some(input), Some(output), Some(scratch)) =
            (input.as_slice(), output.as_mut_slice(), scratch.as_mut_slice())
        {
            let source = problem.source.and_then(|source| source.as_slice());
            let step = |from: &[T], to: &mut [T]| {
                reference::step(problem.stencil, problem.grid, problem.boundary, source, from, to);
            };
            // The last one writes the output.
            let (mut to, mut from) = if steps % 2 == 1 { (output, scratch) } else { (scratch, output) };
            step(input, to);
            for _ in 1..steps {
                (to, from) = (from, to);
                step(from, to);
            }
            return Ok(());
        }
        Ok(launch::iterate(problem, stream, input, output, scratch, steps)?)
    })
}

/// What `input` has become after `steps` steps, where it lives, in new memory; scratch memory is what the device
/// [keeps](Scratch::kept).
///
/// # Errors
/// As [`iterate_into`].
///
/// ```
/// use gpu_stencil::iterate::{Boundary, Grid, Problem, Stencil, iterate};
/// let heat = Stencil::heat(2, 0.25f32)?;
/// let problem = Problem::new(&heat, Grid::plane(3, 3)?, Boundary::Neumann)?;
/// let plate = gpu_core::Device::best().upload(&[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])?;
/// assert_eq!(iterate(&problem, &plate, 1)?.to_vec()?, [0.0, 0.25, 0.0, 0.25, 0.0, 0.25, 0.0, 0.25, 0.0]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn iterate<'i, T: GridElement>(
    problem: &Problem<'_, T>,
    input: impl Into<View<'i, T>>,
    steps: usize,
) -> Result<Buffer<T>, Error> {
    let input = input.into();
    Scratch::computed(input.device(), input.len(), |stream, output, scratch| {
        problem.expect(stream, &input, &output.view_mut())?;
        Ok(run(stream, problem, input, steps, output.view_mut(), scratch)?)
    })
}

/// Writes by how much a step would change each cell of `input`, rounded once more: what [`residual`] takes the norms
/// of.
///
/// For a solver that has to stay on its stream, with gpu-reduce's norms behind. Neither allocates device memory nor
/// waits.
///
/// # Errors
/// As [`iterate_into`].
///
/// ```
/// use gpu_stencil::iterate::{Boundary, Grid, Problem, Stencil, difference_into};
/// let device = gpu_core::Device::simulator();
/// let laplace = Stencil::jacobi(2, 1.0f32)?;
/// let problem = Problem::new(&laplace, Grid::plane(1, 3)?, Boundary::Periodic)?;
/// let (state, mut output) = (device.upload(&[0.0, 4.0, 8.0])?, device.alloc(3)?);
/// difference_into(&device.default_stream(), &problem, &state, &mut output)?;
/// assert_eq!(output.to_vec()?, [3.0, 0.0, -3.0]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn difference_into<'i, 'o, T: GridElement>(
    stream: &Stream,
    problem: &Problem<'_, T>,
    input: impl Into<View<'i, T>>,
    output: impl Into<ViewMut<'o, T>>,
) -> Result<(), Error> {
    let (input, mut output) = (input.into(), output.into());
    problem.expect(stream, &input, &output)?;
    if let (Some(input), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        let source = problem.source.and_then(|source| source.as_slice());
        reference::difference(problem.stencil, problem.grid, problem.boundary, source, input, output);
        return Ok(());
    }
    launch::difference(problem, stream, input, output)
}

/// How far a state is from one that a step leaves as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual<T> {
    /// The largest change of a cell in the next step.
    pub max: T,
    /// The square root of the sum of the squares of all changes.
    pub l2: T,
}

/// The norms of what one more step would change in `state`.
///
/// Of Jacobi's method that is the residual of the discrete equation, `Laplacian u - source`, times `spacing² / (2 ·
/// dimensions)`, where cells are not fixed. The norms are gpu-reduce's: the same bits on all devices. Allocates, and
/// waits for the result.
///
/// # Errors
/// As [`iterate_into`].
///
/// ```
/// use gpu_stencil::iterate::{Boundary, Grid, Problem, Stencil, iterate, residual};
/// let laplace = Stencil::jacobi(2, 1.0)?;
/// let problem = Problem::new(&laplace, Grid::plane(3, 4)?, Boundary::Dirichlet)?;
/// let mut plate = [0.0; 12];
/// plate[5] = 1.0;
/// assert_eq!(residual(&problem, &plate)?.max, 1.0);
/// assert!(residual(&problem, &iterate(&problem, &plate, 100)?)?.l2 < 1e-50);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn residual<'i, T: GridElement>(
    problem: &Problem<'_, T>,
    state: impl Into<View<'i, T>>,
) -> Result<Residual<T>, Error> {
    let state = state.into();
    let device = state.device();
    let mut differences = device.alloc(state.len())?;
    difference_into(&device.default_stream(), problem, state, &mut differences)?;
    let (max, l2) = (gpu_reduce::norm_max(&differences)?, gpu_reduce::norm_l2(&differences)?);
    Ok(Residual { max, l2 })
}
