//! The CPU's reductions: the oracle of the kernels, and what a machine without a GPU computes with.
//!
//! They combine in the kernels' order (see [`gpu_reduce_kernels`]), so the results agree bit for bit. It costs the CPU
//! nothing: the accumulators of a block's threads are a row that vector instructions work on.

use gpu_core::segments::Invalid;
use gpu_reduce_kernels::{GROUP, Number, Reduction, Sum, THREADS, WARPS, accumulators, per_load, slab};

use crate::axis::product;
use crate::by_key::RunKey;
use crate::operand::{Columns, Operand};
use crate::plan::Plan;
use gpu_core::{Error, checks, cores};

const THREADS_: usize = THREADS as usize;
const WARPS_: usize = WARPS as usize;

/// The sum of `values`, on all cores; zero for none. Integers wrap.
///
/// ```
/// assert_eq!(gpu_reduce::reference::sum(&[1.0, 2.0, 3.5]), 6.5);
/// ```
pub fn sum<T: Number + Operand>(values: &[T]) -> T
where
    for<'a> &'a [T]: Columns<Item = T>,
{
    total::<Sum<T>, _>(values).map_or(T::ZERO, |total| Sum::<T>::output(total, 0))
}

/// The reduction `R` of one slice or two (`(a, b)`), on all cores, into as many elements as it writes.
///
/// # Errors
/// [`Error::Empty`] where there are no elements and no result of none; [`Error::OutputLength`].
///
/// ```
/// use gpu_reduce::{kernels::MinMax, reference};
/// let mut extremes = [0.0; 2];
/// reference::reduce::<MinMax<f64>, _>(&[2.0, -1.5, 7.0][..], &mut extremes)?;
/// assert_eq!(extremes, [-1.5, 7.0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce<R: Reduction<Item: Operand>, C: Columns<Item = R::Item>>(
    input: C,
    output: &mut [R::Output],
) -> Result<(), Error> {
    checks::output(R::NAME, R::OUTPUTS as usize, output.len())?;
    if input.len() == 0 && R::EMPTY.is_none() {
        return Err(Error::Empty { what: R::NAME });
    }
    write::<R, C>(input, output);
    Ok(())
}

/// The same into a place for as many elements, where there is a result of none or there are elements.
fn write<R: Reduction<Item: Operand>, C: Columns<Item = R::Item>>(input: C, output: &mut [R::Output]) {
    match total::<R, C>(input) {
        Some(total) => {
            (0..).zip(output).for_each(|(index, output)| *output = R::output(total, index));
        }
        None => output.fill(R::EMPTY.expect("that there are none was refused")),
    }
}

/// The reduction `R` of each segment `offsets[s]..offsets[s + 1]` of one slice or two, on all cores, into as many
/// elements a segment as it writes: [`reduce`] of each of them.
///
/// # Errors
/// [`Invalid::NoOffsets`], [`Invalid::Decreasing`], [`Invalid::BeyondEnd`], [`Error::OutputLength`];
/// [`Invalid::EmptySegment`] where there is no result of none. Nothing is written then.
///
/// ```
/// use gpu_reduce::{kernels::Max, reference};
/// let mut output = [0; 2];
/// reference::reduce_segments::<Max<i32>, _>(&[3, 8, -5, 1][..], &[0, 1, 4], &mut output)?;
/// assert_eq!(output, [3, 8]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce_segments<R: Reduction<Item: Operand>, C: Columns<Item = R::Item>>(
    input: C,
    offsets: &[usize],
    output: &mut [R::Output],
) -> Result<(), Error> {
    let Some(&end) = offsets.last() else { return Err(Invalid::NoOffsets.into()) };
    for (at, pair) in offsets.windows(2).enumerate() {
        if pair[1] < pair[0] {
            return Err(Invalid::Decreasing { index: at + 1, before: pair[0], actual: pair[1] }.into());
        }
        if pair[1] == pair[0] && R::EMPTY.is_none() {
            return Err(Invalid::EmptySegment { what: R::NAME, segment: at }.into());
        }
    }
    if end > input.len() {
        return Err(Invalid::BeyondEnd { what: R::NAME, end, len: input.len() }.into());
    }
    let each = R::OUTPUTS as usize;
    checks::output(R::NAME, (offsets.len() - 1) * each, output.len())?;
    // A task for about a tile of elements, whatever the segments' lengths.
    cores::chunks(output, each, 16, |segment, output| {
        write::<R, C>(input.part(offsets[segment]..offsets[segment + 1]), output);
    });
    Ok(())
}

/// The reduction `R` of the values of each run of equal keys, on all cores: the keys, and as many elements a run as
/// `R` writes.
///
/// # Errors
/// [`Error::InputLengths`].
///
/// ```
/// use gpu_reduce::{kernels::Max, reference};
/// let (keys, maxima) = reference::reduce_by_key::<Max<i32>, u8, _>(&[1, 1, 2], &[3, 8, -5][..])?;
/// assert_eq!((keys, maxima), (vec![1, 2], vec![8, -5]));
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce_by_key<R: Reduction<Item: Operand>, K: RunKey, C: Columns<Item = R::Item>>(
    keys: &[K],
    values: C,
) -> Result<(Vec<K>, Vec<R::Output>), Error>
where
    R::Output: gpu_core::Element,
{
    checks::inputs(R::NAME, keys.len(), values.len())?;
    let is_head = |&index: &usize| index == 0 || keys[index] != keys[index - 1];
    let mut offsets: Vec<usize> = (0..keys.len()).filter(is_head).collect();
    let unique: Vec<K> = offsets.iter().map(|&first| keys[first]).collect();
    offsets.push(keys.len());
    let mut results = vec![R::Output::default(); unique.len() * R::OUTPUTS as usize];
    reduce_segments::<R, C>(values, &offsets, &mut results)?;
    Ok((unique, results))
}

/// The reduction `R` along the middle axis of an array of shape `outer × len × inner`, on all cores, into as many
/// elements a line as it writes. For `inner == 1` it is [`reduce`] of each row.
///
/// # Errors
/// [`Error::ShapeLength`], [`Error::OutputLength`]; [`Error::Empty`] where lines have no elements and there is no
/// result of none.
///
/// ```
/// use gpu_reduce::{kernels::Max, reference};
/// let mut output = [0; 3];
/// reference::reduce_axis::<Max<i32>, _>(&[3, 8, -5, 1, 9, 0][..], [1, 2, 3], &mut output)?;
/// assert_eq!(output, [3, 9, 0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce_axis<R: Reduction<Item: Operand>, C: Columns<Item = R::Item>>(
    input: C,
    [outer, len, inner]: [usize; 3],
    output: &mut [R::Output],
) -> Result<(), Error> {
    // What cannot be counted is not the length of a slice.
    let count = |extents: &[usize]| product(extents).unwrap_or(usize::MAX);
    let (expected, actual) = (count(&[outer, len, inner]), input.len());
    if actual != expected {
        return Err(Error::ShapeLength { what: R::NAME, expected, actual });
    }
    let each = R::OUTPUTS as usize;
    checks::output(R::NAME, count(&[outer, inner, each]), output.len())?;
    if output.is_empty() {
        return Ok(());
    }
    if len == 0 {
        output.fill(R::EMPTY.ok_or(Error::Empty { what: R::NAME })?);
        return Ok(());
    }
    if inner == 1 {
        cores::chunks(output, each, 1, |row, output| {
            write::<R, C>(input.part(row * len..row * len + len), output);
        });
        return Ok(());
    }
    // Some adjacent lines at a time, a row after the other.
    const LINES: usize = 1024;
    for (number, output) in output.chunks_mut(inner * each).enumerate() {
        let array = input.part(number * len * inner..(number + 1) * len * inner);
        cores::chunks(output, LINES * each, 1, |chunk, output| {
            let first = chunk * LINES;
            let totals = of_lines::<R, C>(array, inner, first, output.len() / each);
            for (output, total) in output.chunks_exact_mut(each).zip(totals) {
                (0..).zip(output).for_each(|(index, output)| *output = R::output(total, index));
            }
        });
    }
    Ok(())
}

/// The results of `count` adjacent lines from `first` on: a slab's elements one after the other, then slabs, groups
/// of slabs, ….
fn of_lines<R: Reduction<Item: Operand>, C: Columns<Item = R::Item>>(
    array: C,
    inner: usize,
    first: usize,
    count: usize,
) -> Vec<R::Accumulator> {
    let rows = array.len() / inner;
    let each = slab(rows as u64) as usize;
    let of_slab = |slab: usize| {
        let begin = slab * each;
        let mut locals = vec![R::start(0); count];
        for row in begin..rows.min(begin + each) {
            let items = array.part(row * inner + first..row * inner + first + count);
            for (at, local) in locals.iter_mut().enumerate() {
                *local = R::take(*local, items.get(at), (row - begin) as u32);
            }
        }
        locals.into_iter().map(|local| R::widen(local, begin as u64)).collect()
    };
    let mut level: Vec<Vec<R::Accumulator>> = cores::collect(rows.div_ceil(each), of_slab);
    while level.len() > 1 {
        let combined = |group: usize| {
            let mut totals = vec![R::IDENTITY; count];
            for partials in level.iter().skip(group * GROUP as usize).take(GROUP as usize) {
                totals
                    .iter_mut()
                    .zip(partials)
                    .for_each(|(total, &partial)| *total = R::combine(*total, partial));
            }
            totals
        };
        level = cores::collect(level.len().div_ceil(GROUP as usize), combined);
    }
    level.swap_remove(0)
}

/// The result before it is written; `None` for no elements.
fn total<R: Reduction<Item: Operand>, C: Columns<Item = R::Item>>(input: C) -> Option<R::Accumulator> {
    if input.len() == 0 {
        return None;
    }
    Some(R::Item::on_cpu::<R, C>(input))
}

/// The reduction of at least one item. `V` is [`per_load`], `A` is [`accumulators`], `ROW` the accumulators of a block.
pub(crate) fn whole<
    R: Reduction,
    C: Columns<Item = R::Item>,
    const V: usize,
    const A: usize,
    const ROW: usize,
>(
    input: C,
) -> R::Accumulator {
    const { assert!(V as u32 == per_load::<R::Item>() && A as u32 == accumulators::<R::Item>()) };
    if input.len() <= 32 * V {
        return of_warp::<R, C, V, A>(input);
    }
    let plan = Plan::new::<R>(input.len());
    let each = usize::try_from(plan.elements_per_block()).unwrap_or(usize::MAX);
    let partials: Vec<R::Accumulator> = cores::collect(plan.blocks as usize, |block| {
        let begin = block * each;
        let part = input.part(begin..begin.saturating_add(each).min(input.len()));
        of_block::<R, C, V, A, ROW>(part, begin as u64)
    });
    if let [only] = partials[..] {
        return only;
    }
    // The finishing block: thread t takes partials t, t + THREADS, …
    let mut threads = [R::IDENTITY; THREADS_];
    for row in partials.chunks(THREADS_) {
        for (thread, partial) in threads.iter_mut().zip(row) {
            *thread = R::combine(*thread, *partial);
        }
    }
    of_threads::<R>(&threads)
}

/// The result of so few items that only one warp of a block has any: the other lanes' and warps' results change
/// nothing.
fn of_warp<R: Reduction, C: Columns<Item = R::Item>, const V: usize, const A: usize>(
    input: C,
) -> R::Accumulator {
    let mut lanes = [R::IDENTITY; 32];
    for (thread, lane) in lanes.iter_mut().enumerate().take(input.len().div_ceil(V)) {
        let mut locals: [R::Local; A] = core::array::from_fn(|i| R::start((thread * V + i) as u32));
        for at in thread * V..(thread * V + V).min(input.len()) {
            let local = &mut locals[at % V % A];
            *local = R::take(*local, input.get(at), at as u32);
        }
        *lane = of_thread::<R, A>(locals, 0);
    }
    tree::<R, 32>(lanes)
}

/// A thread's accumulators as one: neighbours first.
#[inline(always)]
fn of_thread<R: Reduction, const A: usize>(locals: [R::Local; A], base: u64) -> R::Accumulator {
    let mut results = locals.map(|local| R::widen(local, base));
    let mut width = A / 2;
    while width > 0 {
        for i in 0..width {
            results[i] = R::combine(results[2 * i], results[2 * i + 1]);
        }
        width /= 2;
    }
    results[0]
}

/// One block's result: rows of accumulators, then the trees.
fn of_block<R: Reduction, C: Columns<Item = R::Item>, const V: usize, const A: usize, const ROW: usize>(
    part: C,
    base: u64,
) -> R::Accumulator {
    let load_row = THREADS_ * V;
    let mut locals: [R::Local; ROW] = core::array::from_fn(|i| R::start((i / A * V + i % A) as u32));
    let mut offset = 0;
    while part.len() - offset >= load_row {
        take_row::<R, C, V, A, ROW>(&mut locals, part.part(offset..offset + load_row), offset as u32);
        offset += load_row;
    }
    for index in 0..part.len() - offset {
        let local = &mut locals[index / V * A + index % V % A];
        *local = R::take(*local, part.get(offset + index), (offset + index) as u32);
    }
    let threads = core::array::from_fn(|thread| {
        of_thread::<R, A>(core::array::from_fn(|lane| locals[thread * A + lane]), base)
    });
    of_threads::<R>(&threads)
}

/// One load of every thread.
#[inline(always)]
fn take_row<R: Reduction, C: Columns<Item = R::Item>, const V: usize, const A: usize, const ROW: usize>(
    locals: &mut [R::Local; ROW],
    row: C,
    offset: u32,
) {
    // Known to be as long as it is, so that the loop has no checks.
    assert!(row.len() == THREADS_ * V && ROW == THREADS_ * A);
    if V == A {
        for (i, local) in locals.iter_mut().enumerate() {
            *local = R::take(*local, row.get(i), offset.wrapping_add(i as u32));
        }
        return;
    }
    for thread in 0..THREADS_ {
        for lane in 0..V {
            let (local, i) = (&mut locals[thread * A + lane % A], thread * V + lane);
            *local = R::take(*local, row.get(i), offset.wrapping_add(i as u32));
        }
    }
}

/// The trees over the lanes of each warp and over the warps of the block.
fn of_threads<R: Reduction>(threads: &[R::Accumulator; THREADS_]) -> R::Accumulator {
    let mut warps = [R::IDENTITY; WARPS_];
    for (warp, lanes) in warps.iter_mut().zip(threads.as_chunks::<32>().0) {
        *warp = tree::<R, 32>(*lanes);
    }
    tree::<R, WARPS_>(warps)
}

/// Element `i` takes element `i + N / 2`, and so on: what a warp does with `shuffle_down`.
fn tree<R: Reduction, const N: usize>(mut values: [R::Accumulator; N]) -> R::Accumulator {
    let mut distance = N / 2;
    while distance > 0 {
        for i in 0..distance {
            values[i] = R::combine(values[i], values[i + distance]);
        }
        distance /= 2;
    }
    values[0]
}
#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers: every order gives the exact sum.
    #[test]
    fn whole_numbers_are_summed_exactly() {
        for len in [0usize, 1, 2, 31, 1023, 1024, 1025, 4095, 4096, 4097, 100_003, 4096 * 2048 + 1] {
            let values: Vec<f32> = (0..len).map(|i| if i % 3 == 0 { 1.0 } else { 0.0 }).collect();
            assert_eq!(sum(&values), len.div_ceil(3) as f32, "{len} elements");
        }
    }

    #[test]
    fn minus_zero_stays_and_nan_and_infinity_pass_through() {
        assert_eq!(sum(&[-0.0f32; 5]).to_bits(), (-0.0f32).to_bits());
        assert_eq!(sum::<f32>(&[]).to_bits(), 0.0f32.to_bits());
        assert!(sum(&[1.0, f32::NAN]).is_nan());
        assert_eq!(sum(&[1.0, f32::INFINITY]), f32::INFINITY);
        assert!(sum(&[f32::NEG_INFINITY, f32::INFINITY]).is_nan());
    }

    /// The bound of a tree of this shape: every input passes through at most `depth` additions, so the error is at
    /// most depth·u/(1 - depth·u) times the sum of magnitudes (Higham, Accuracy and Stability, section 4.2).
    #[test]
    fn the_error_is_within_the_bound_of_the_tree() {
        let len = 3_000_017;
        let values: Vec<f32> =
            (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 - 8e6).collect();
        let exact: f64 = values.iter().map(|&x| x as f64).sum();
        let magnitude: f64 = values.iter().map(|&x| x.abs() as f64).sum();
        let plan = Plan::new::<Sum<f32>>(len);
        let depth = (plan.elements_per_block() as usize / (4 * THREADS_) + 2 + 5 + 3)
            + plan.blocks as usize / THREADS_
            + 1
            + 8;
        let u = f32::EPSILON as f64 / 2.0;
        let bound = depth as f64 * u / (1.0 - depth as f64 * u) * magnitude;
        assert!((sum(&values) as f64 - exact).abs() <= bound);
    }
}
