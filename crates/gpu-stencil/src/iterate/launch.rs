//! The launches: the only unsafe code here.

use gpu_collective::Number;
use gpu_core::{Stream, View, ViewMut};
use gpu_std::constant::Constant;
use gpu_std::float::Float;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::iterate::march::{self, March};
use gpu_stencil_kernels::iterate::step::{self, Step};
use gpu_stencil_kernels::iterate::strip::{self, Strips};

use super::api::Problem;
use super::plan::{Case, Kernel};
use super::stencil::Stencil;
use crate::error::Error;

/// A type of cells: `f32`, `f64`.
pub trait GridElement: gpu_reduce::RealElement + Number<Magnitude = Self> + Float + sealed::Kernels {}

/// What a pass reads and writes: the state, the source (anything, where there is none), and the new state.
type Cells<T> = (Global<T>, Global<T>, GlobalMut<T>);

/// Taps of a step: weights, and where their neighbours are, in memory and in the neighbourhood.
#[derive(Clone, Copy)]
pub struct Taps<T> {
    weights: [T; step::TABLE],
    distances: [i64; step::TABLE],
    places: [u32; step::TABLE],
}

mod sealed {
    use super::*;

    /// The kernels.
    pub trait Kernels: gpu_core::Element + Float {
        /// Enqueues several steps; `kernel` is one that makes several.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold the grid, the new state shared with nothing; `config`
        /// must be that of the plan.
        unsafe fn strips(
            kernel: Kernel,
            stream: &Stream,
            config: LaunchConfig,
            cells: Cells<Self>,
            strips: Strips,
            weights: [Self; strip::TABLE],
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues a step of a star in a volume.
        ///
        /// # Safety
        /// As [`Kernels::strips`].
        unsafe fn march(
            stream: &Stream,
            config: LaunchConfig,
            cells: Cells<Self>,
            shape: March,
            weights: [Self; march::TABLE],
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues a step, or a part of its taps.
        ///
        /// # Safety
        /// As [`Kernels::strips`].
        unsafe fn step(
            stream: &Stream,
            config: LaunchConfig,
            cells: Cells<Self>,
            shape: Step,
            factor: Self,
            taps: Taps<Self>,
        ) -> Result<(), gpu_core::Error>;
    }
}

macro_rules! elements {
    ($($T:ty: $march:ident, $step:ident, $($kernel:ident => $strip:ident),*;)*) => { $(
        impl GridElement for $T {}

        impl sealed::Kernels for $T {
            #[inline]
            unsafe fn strips(
                kernel: Kernel,
                stream: &Stream,
                config: LaunchConfig,
                (input, source, output): Cells<Self>,
                strips: Strips,
                weights: [Self; strip::TABLE],
            ) -> Result<(), gpu_core::Error> {
                let weights = Constant::new(weights);
                match kernel {
                    $(
                        // SAFETY: the caller's promise.
                        Kernel::$kernel => unsafe {
                            strip::$strip::launch(stream, config, input, source, output, strips, weights)
                        },
                    )*
                    _ => unreachable!("{kernel:?} makes no several steps of this type"),
                }
            }

            #[inline]
            unsafe fn march(
                stream: &Stream,
                config: LaunchConfig,
                (input, source, output): Cells<Self>,
                shape: March,
                weights: [Self; march::TABLE],
            ) -> Result<(), gpu_core::Error> {
                let weights = Constant::new(weights);
                // SAFETY: the caller's promise.
                unsafe { march::$march::launch(stream, config, input, source, output, shape, weights) }
            }

            #[inline]
            unsafe fn step(
                stream: &Stream,
                config: LaunchConfig,
                (input, source, output): Cells<Self>,
                shape: Step,
                factor: Self,
                taps: Taps<Self>,
            ) -> Result<(), gpu_core::Error> {
                let (weights, distances, places) =
                    (Constant::new(taps.weights), Constant::new(taps.distances), Constant::new(taps.places));
                // SAFETY: the caller's promise.
                unsafe {
                    step::$step::launch(
                        stream, config, input, source, output, shape, factor, weights, distances, places,
                    )
                }
            }
        }
    )* };
}

elements! {
    f32: stencil_march_f32, stencil_step_f32, Star8 => stencil_star_8_f32, Star4 => stencil_star_4_f32, Box4 => stencil_box_4_f32;
    f64: stencil_march_f64, stencil_step_f64, Star4 => stencil_star_4_f64, Box4 => stencil_box_4_f64;
}

/// The table of a kernel that has no places in it: the source's factor and the weights.
fn table<T: Float, const N: usize>(stencil: &Stencil<T>) -> [T; N] {
    let mut table = [T::ZERO; N];
    table[0] = stencil.source_factor();
    table[1..=stencil.weights().len()].copy_from_slice(stencil.weights());
    table
}

/// Enqueues a pass.
///
/// # Safety
/// Until the kernels have ended the accessors must hold the grid, the new state shared with nothing; `case` must be
/// the problem's, with the accessors' alignment.
#[inline]
unsafe fn pass<T: GridElement>(
    problem: &Problem<'_, T>,
    stream: &Stream,
    case: &Case,
    kernel: Kernel,
    cells: Cells<T>,
    difference: bool,
) -> Result<(), Error> {
    match kernel {
        Kernel::Star8 | Kernel::Star4 | Kernel::Box4 => {
            let (config, strips) = case.strips(kernel.steps(), stream.device().planned_multiprocessors())?;
            // SAFETY: the caller's promise.
            unsafe { T::strips(kernel, stream, config, cells, strips, table(problem.stencil))? };
        }
        Kernel::March => {
            let (config, shape) = case.march()?;
            // SAFETY: the caller's promise.
            unsafe { T::march(stream, config, cells, shape, table(problem.stencil))? };
        }
        Kernel::Step => {
            let (config, shape) = case.step(difference)?;
            let taps: Vec<([i32; 3], T)> = problem.stencil.taps().collect();
            let last = (taps.len() - 1) / step::TABLE;
            for (number, taps) in taps.chunks(step::TABLE).enumerate() {
                let mut table = Taps {
                    weights: [<T as Float>::ZERO; step::TABLE],
                    distances: [0; step::TABLE],
                    places: [0; step::TABLE],
                };
                for (at, &(place, weight)) in taps.iter().enumerate() {
                    table.weights[at] = weight;
                    table.distances[at] = problem.grid.distance(place);
                    table.places[at] = step::pack(place);
                }
                let shape = Step {
                    taps: taps.len() as u32,
                    carry: (number > 0) as u32,
                    difference: if number == last { shape.difference } else { 0 },
                    ..shape
                };
                let factor = problem.stencil.source_factor();
                // SAFETY: the caller's promise.
                unsafe { T::step(stream, config, cells, shape, factor, table)? };
            }
        }
    }
    Ok(())
}

/// Enqueues `steps` steps, at least one.
pub(super) fn iterate<T: GridElement>(
    problem: &Problem<'_, T>,
    stream: &Stream,
    input: View<'_, T>,
    mut output: ViewMut<'_, T>,
    mut scratch: ViewMut<'_, T>,
    steps: usize,
) -> Result<(), Error> {
    let (input, output, scratch) = (input.as_global(), output.as_global_mut(), scratch.as_global_mut());
    let source = problem.source.map_or(input, |source| source.as_global());
    let case = problem.case(&[input.address(), output.address(), scratch.address()]);
    let kernels = case.kernels(steps);
    let passes: usize = kernels.iter().map(|(_, passes)| passes).sum();
    let each = kernels.into_iter().flat_map(|(kernel, passes)| std::iter::repeat_n(kernel, passes));
    let mut from = input;
    for (number, kernel) in each.enumerate() {
        // The last one writes the output.
        let to = if (passes - number) % 2 == 1 { output } else { scratch };
        // SAFETY: the views hold the grid, and the scratch memory does where there are several passes, so several
        // steps (checked by the caller); output and scratch are exclusive and apart, and a pass reads what the one
        // before it on the stream wrote. Everything is freed only after the work enqueued before.
        unsafe { pass(problem, stream, &case, kernel, (from, source, to), false)? };
        from = to.as_global();
    }
    Ok(())
}

/// Enqueues a step whose result is what it changes.
pub(super) fn difference<T: GridElement>(
    problem: &Problem<'_, T>,
    stream: &Stream,
    input: View<'_, T>,
    mut output: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (input, output) = (input.as_global(), output.as_global_mut());
    let source = problem.source.map_or(input, |source| source.as_global());
    let case = problem.case(&[input.address(), output.address()]);
    // SAFETY: the views hold the grid, and the output is exclusive; everything is freed only after the work enqueued
    // before.
    unsafe { pass(problem, stream, &case, Kernel::Step, (input, source, output), true) }
}
