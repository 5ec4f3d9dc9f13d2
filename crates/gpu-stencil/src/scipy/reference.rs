//! The same on the CPU.

use gpu_core::cores;
use gpu_stencil_kernels::filter::scipy::{Exact, Line, Lines, Rectangle};

/// What a line of `input` that starts at `first` has in SciPy's buffer.
fn line<T: Exact>(
    input: &[T],
    lines: Lines,
    outside: f64,
    first: usize,
) -> Line<impl Fn(i32) -> f64 + use<'_, T>> {
    let read = move |index: i32| input[first + index as usize * lines.step.get() as usize].to_f64();
    Line { read, length: lines.length, mode: lines.mode, outside }
}

/// A pass of `correlate1d`.
pub(super) fn correlate1d<T: Exact>(
    input: &[T],
    output: &mut [T],
    lines: Lines,
    outside: f64,
    weights: &[f64],
) {
    let (step, length) = (lines.step.get() as usize, lines.length as usize);
    cores::elements(output, |at, output| {
        let place = at / step % length;
        let line = line(input, lines, outside, at - place * step);
        let weight = |tap: u32| weights[tap as usize];
        let first = place as i32 - lines.before;
        *output = T::from_f64(line.correlate(first, lines.taps as i32, lines.symmetry, weight));
    });
}

/// `correlate`.
pub(super) fn correlate<T: Exact>(
    input: &[T],
    output: &mut [T],
    rectangle: Rectangle,
    outside: f64,
    weights: &[f64],
) {
    cores::elements(output, |at, output| {
        let read = |at: u64| input[at as usize].to_f64();
        let sum = rectangle.correlate(at as u64, outside, read, |tap| weights[tap as usize]);
        *output = T::from_f64(sum);
    });
}

/// A pass of `uniform_filter1d`.
pub(super) fn uniform<T: Exact>(input: &[T], output: &mut [T], lines: Lines, outside: f64) {
    let (step, length) = (lines.step.get() as usize, lines.length as usize);
    for number in 0..output.len() / length {
        let first = number / step * (step * length) + number % step;
        let line = line(input, lines, outside, first);
        line.means(-lines.before, lines.taps as i32, |index, mean| {
            output[first + index as usize * step] = T::from_f64(mean);
        });
    }
}

/// `output += other`.
pub(super) fn add<T: Exact>(output: &mut [T], other: &[T]) {
    const TASK: usize = 4096;
    cores::chunks(output, TASK, 1, |number, output| {
        let other = &other[number * TASK..];
        output.iter_mut().zip(other).for_each(|(output, &other)| *output = output.sum(other));
    });
}
