//! The launches: the only unsafe code here.

use gpu_collective::Number;
use gpu_core::{AnyKernel, Stream, View, ViewMut};
use gpu_std::constant::Constant;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_stencil_kernels::iterate;
use gpu_stencil_kernels::iterate::march::{self, March};
use gpu_stencil_kernels::iterate::step::{self, Step};
use gpu_stencil_kernels::iterate::strip::{self, Strips};

use super::api::Problem;
use super::plan::{Case, Kernel};
use super::stencil::Stencil;
use crate::error::Error;
use crate::launch::table;

/// A type of cells: `f32`, `f64`.
pub trait GridElement: gpu_reduce::FloatElement + Number<Magnitude = Self> + Float + sealed::Kernels {}

/// What a pass reads and writes: the state, the source (anything, where there is none), and the new state.
type Cells<T> = (Global<T>, Global<T>, GlobalMut<T>);

mod sealed {
    use gpu_std::launch::Kernel as Typed;

    use super::*;

    /// The parameters of a kernel for one stencil's shape: state, source, new state, the grid as `S`, factors.
    pub type Of<T, S, const N: usize> = (Global<T>, Global<T>, GlobalMut<T>, S, Constant<T, N>);
    /// Those of the kernel for any: after the grid the source's factor, weights, and where neighbours are, in memory and
    /// in the neighbourhood.
    pub type OfStep<T> = (
        Global<T>,
        Global<T>,
        GlobalMut<T>,
        Step,
        T,
        Constant<T, { step::TABLE }>,
        Constant<i64, { step::TABLE }>,
        Constant<u32, { step::TABLE }>,
    );

    /// The kernels of a type.
    ///
    /// # Safety
    /// Each is that of its name, of this type.
    pub unsafe trait Kernels: gpu_std::memory::Element {
        /// Those that make several steps.
        const STRIPS: &'static [(Kernel, AnyKernel<Of<Self, Strips, { strip::TABLE }>>)];
        /// A star in a volume.
        type March: Typed<Arguments = Of<Self, March, { march::TABLE }>>;
        /// Anything, or a part of its taps.
        type Step: Typed<Arguments = OfStep<Self>>;
    }
}

macro_rules! elements {
    ($($T:ty, $v:literal: $blocks:literal, $march:ident; $step:ident; {
        $($kernel:ident: $steps:literal, $box:literal, $source:literal, $strip:ident;)*
    })*) => { $(
        impl GridElement for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            const STRIPS: &'static [(Kernel, AnyKernel<sealed::Of<Self, Strips, { strip::TABLE }>>)] =
                &[$((Kernel::$kernel, AnyKernel::of::<iterate::$strip>())),*];
            type March = iterate::$march;
            type Step = iterate::$step;
        }
    )* };
}
gpu_stencil_kernels::iterate_instances!(elements);

/// The table of a kernel that has no places in it: the source's factor and the weights.
fn factors<T: Float + gpu_core::Element, const N: usize>(stencil: &Stencil<T>) -> Constant<T, N> {
    table([&stencil.source_factor()].into_iter().chain(stencil.weights()))
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
    (input, source, output): Cells<T>,
    difference: bool,
) -> Result<(), Error> {
    let stencil = problem.stencil;
    match kernel {
        Kernel::Star8 | Kernel::Star4 | Kernel::Box4 => {
            let (config, strips) = case.strips(kernel.steps(), stream.device().planned_multiprocessors())?;
            let of_plan = T::STRIPS.iter().find(|(instance, _)| *instance == kernel);
            let (_, kernel) = of_plan.expect("a plan has the kernels of its type");
            // SAFETY: the caller's promise.
            unsafe { stream.launch_any(*kernel, config, (input, source, output, strips, factors(stencil)))? };
        }
        Kernel::March => {
            let (config, shape) = case.march()?;
            // SAFETY: the caller's promise.
            unsafe { stream.launch::<T::March>(config, (input, source, output, shape, factors(stencil)))? };
        }
        Kernel::Step => {
            let (config, shape) = case.step(difference)?;
            let taps: Vec<([i32; 3], T)> = stencil.taps().collect();
            let last = (taps.len() - 1) / step::TABLE;
            for (number, taps) in taps.chunks(step::TABLE).enumerate() {
                let weights = table(taps.iter().map(|(_, weight)| weight));
                let distances: Vec<i64> =
                    taps.iter().map(|&(place, _)| problem.grid.distance(place)).collect();
                let places: Vec<u32> = taps.iter().map(|&(place, _)| step::pack(place)).collect();
                let shape = Step {
                    taps: taps.len() as u32,
                    carry: (number > 0) as u32,
                    difference: if number == last { shape.difference } else { 0 },
                    ..shape
                };
                let factor = stencil.source_factor();
                let (distances, places) = (table(&distances), table(&places));
                let arguments = (input, source, output, shape, factor, weights, distances, places);
                // SAFETY: the caller's promise.
                unsafe { stream.launch::<T::Step>(config, arguments)? };
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
