//! The same chains on the CPU, in rayon: bit for bit what the kernel computes.

use gpu_core::cores;
use gpu_core::vectors::{self, Work};
use gpu_std::float::Float;
use gpu_stencil_kernels::signal::Chains;

/// Outputs whose sums are in registers: four of 64 bytes of `f32`.
const SUMS: usize = 64;
/// Multiplications that a task does at least: entering the thread pool for fewer would cost more.
const TASK: usize = 1 << 19;

/// Computes `shape` of a signal and the elements of a filter.
///
/// # Panics
/// Where the slices have not the lengths that `shape` says.
///
/// ```
/// use gpu_stencil::signal::plan::{Mode, Operation, Plan};
/// let plan = Plan::new::<f32>(Operation::Convolution, Mode::Full, 3, 2, 0, 132)?;
/// let mut output = [0.0; 4];
/// gpu_stencil::signal::reference::chains(&plan.chains, &[1.0, 2.0, 3.0], &[1.0, 0.5], &mut output);
/// assert_eq!(output, [1.0, 2.5, 4.0, 1.5]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn chains<T: Float>(shape: &Chains, signal: &[T], filter: &[T], output: &mut [T]) {
    let lengths = [signal.len(), filter.len(), output.len()].map(|length| length as u64);
    assert_eq!(lengths, [shape.length, shape.taps, shape.outputs], "signal, filter and output");
    let taps: Vec<T> =
        if shape.taps_reversed != 0 { filter.iter().rev().copied().collect() } else { filter.to_vec() };
    let outputs = output.len();
    let tasks = (TASK / taps.len() / SUMS).max(1);
    cores::chunks(output, SUMS, tasks, |chunk, output| {
        let end = chunk * SUMS + output.len();
        // Reversed: the first output is the last chain.
        let chain = if shape.outputs_reversed != 0 { outputs - end } else { chunk * SUMS };
        let start = shape.first + chain as i64;
        let width = output.len() + taps.len() - 1;
        let inside =
            usize::try_from(start).ok().and_then(|start| signal.get(start..start.checked_add(width)?));
        match inside {
            Some(window) => vectors::run(Sums { window, taps: &taps, output }),
            None => {
                let element = |at: i64| usize::try_from(at).ok().and_then(|at| signal.get(at).copied());
                let window: Vec<T> =
                    (start..start + width as i64).map(|at| element(at).unwrap_or(T::ZERO)).collect();
                vectors::run(Sums { window: &window, taps: &taps, output });
            }
        }
        if shape.outputs_reversed != 0 {
            output.reverse();
        }
    });
}

/// Consecutive outputs, at most [`SUMS`], and the part of the signal that they come from.
struct Sums<'a, T> {
    window: &'a [T],
    taps: &'a [T],
    output: &'a mut [T],
}

impl<T: Float> Work for Sums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { window, taps, output } = self;
        if output.len() == SUMS {
            let mut sums = [T::ZERO; SUMS];
            for (&tap, values) in taps.iter().zip(window.windows(SUMS)) {
                for (sum, &value) in sums.iter_mut().zip(values) {
                    *sum = tap.mul_add(value, *sum);
                }
            }
            output.copy_from_slice(&sums);
        } else {
            for (values, output) in window.windows(taps.len()).zip(output) {
                *output =
                    taps.iter().zip(values).fold(T::ZERO, |sum, (&tap, &value)| tap.mul_add(value, sum));
            }
        }
    }
}
