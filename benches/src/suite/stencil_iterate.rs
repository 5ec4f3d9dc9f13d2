//! Steps of the heat equation on a plane, and of Jacobi's method in a volume. No library of the vendor's has them; a
//! copy stands beside.

use gpu_core::{Scratch, Stream};
use gpu_stencil::iterate::{
    Boundary, Grid, GridElement, Problem, Stencil, iterate, iterate_into, iterate_scratch,
};

use crate::data::{self, Element};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// Steps of the heat equation in a launch.
pub const HEAT_STEPS: usize = 100;
/// Cells that are checked one by one; of larger grids squares are, which takes minutes less.
const CHECKED: usize = 1 << 22;
/// The side of such a square.
const SQUARE: usize = 64;

/// Steps of a stencil from each input.
pub struct Iterate<'a, T: Element + GridElement> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    scratch: Scratch,
    stencil: Stencil<T>,
    grid: Grid,
    steps: usize,
}

impl<'a, T: Element + GridElement> Iterate<'a, T> {
    /// [`HEAT_STEPS`] steps of the heat equation from `inputs`, each a plane.
    ///
    /// # Errors
    /// Those of the device.
    pub fn heat(
        session: &Session,
        inputs: Inputs<'a, T>,
        [rows, columns]: [usize; 2],
    ) -> Result<Self, Error> {
        let fifth = <T as gpu_std::float::Float>::ONE / count(5);
        Self::new(session, inputs, Stencil::heat(2, fifth)?, Grid::plane(rows, columns)?, HEAT_STEPS)
    }

    /// A step of Jacobi's method from `inputs`, each a cube.
    ///
    /// # Errors
    /// Those of the device.
    pub fn jacobi(session: &Session, inputs: Inputs<'a, T>, side: usize) -> Result<Self, Error> {
        Self::new(session, inputs, Stencil::jacobi(3, count(1))?, Grid::volume(side, side, side)?, 1)
    }

    fn new(
        session: &Session,
        inputs: Inputs<'a, T>,
        stencil: Stencil<T>,
        grid: Grid,
        steps: usize,
    ) -> Result<Self, Error> {
        let scratch = Scratch::with_size(&session.stream, iterate_scratch::<T>(grid, steps))?;
        Ok(Self { inputs, outputs: Outputs::new(session, inputs.layout)?, scratch, stencil, grid, steps })
    }
}

/// A small number.
fn count<T: GridElement>(count: usize) -> T {
    let zero = <T as gpu_std::float::Float>::ZERO;
    (0..count).fold(zero, |sum, _| sum + <T as gpu_std::float::Float>::ONE)
}

/// The steps on the CPU.
fn expected<T: GridElement>(
    stencil: &Stencil<T>,
    grid: Grid,
    steps: usize,
    input: &[T],
) -> Result<Vec<T>, Error> {
    let problem = Problem::new(stencil, grid, Boundary::Dirichlet)?;
    Ok(iterate(&problem, input, steps)?.to_vec()?)
}

impl<T: Element + GridElement> Work for Iterate<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    /// Of one step, however many there are: a copy of as many bytes is what a pass over memory takes at least.
    fn bytes(&self) -> u64 {
        2 * (self.inputs.layout.elements * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let problem = Problem::new(&self.stencil, self.grid, Boundary::Dirichlet)?;
        let state = self.inputs.device.slice(self.inputs.layout.range(input));
        Ok(iterate_into(stream, &problem, state, self.steps, self.outputs.of(input), &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, stencil, grid, steps, .. } = self;
        if *steps == 1 || grid.len() <= CHECKED {
            return outputs.check(launched, |input, output| {
                let state = &inputs.host[inputs.layout.range(input)];
                let steps = expected(stencil, *grid, *steps, state).expect("the launch was of the same grid");
                output.copy_from_slice(&steps);
            });
        }
        // What is as far from the edge of a part as there are steps depends on the part alone.
        let side = SQUARE + 2 * *steps;
        for input in (0..launched.len()).filter(|&input| launched[input]) {
            let state = &inputs.host[inputs.layout.range(input)];
            let actual = outputs.read(input)?;
            for sample in 0..16 {
                let place =
                    |number: usize, length: usize| data::hash(2 * sample + number) as usize % (length - side);
                let (top, left) = (place(0, grid.rows()), place(1, grid.columns()));
                let row = |y: usize| grid.index(0, top + y, left);
                let part: Vec<T> = (0..side).flat_map(|y| &state[row(y)..][..side]).copied().collect();
                let part = expected(stencil, Grid::plane(side, side)?, *steps, &part)?;
                for (y, x) in
                    (*steps..*steps + SQUARE).flat_map(|y| (*steps..*steps + SQUARE).map(move |x| (y, x)))
                {
                    let (index, expected) = (row(y) + x, &part[y * side + x]);
                    if !data::same(&actual[index], expected) {
                        return Err(data::wrong(input, index, expected, &actual[index], T::POISON));
                    }
                }
            }
        }
        Ok(())
    }
}
