//! Means: a sum on the device, and the quotient on the host.
//!
//! Sums of integers are made in 64 bits, where those of 64-bit integers may wrap. A wrapped sum and the extremes tell
//! the exact one as long as no more than 2^64 numbers lie between the least and the most that it can be; where more
//! do, the elements are added up on the host.

use gpu_core::segments::Invalid;
use std::borrow::Cow;

use gpu_core::{Buffer, Scratch, Segments, Stream, View, ViewMut, checks};
use gpu_reduce_kernels::Reduction;
use rayon::prelude::*;

use super::{reduce, reduce_axis_into, reduce_into, reduce_segments_into};
use crate::axis::Along;
use crate::element::Element;
use crate::segments::Places;
use gpu_core::Error;

/// A sum that a mean is made of.
type Total<T> = <<T as Element>::Total as Reduction>::Output;

/// Its name in messages.
const NAME: &str = "mean";

/// How the exact sum of integers is found.
#[doc(hidden)]
pub struct Exact<T: Element> {
    /// The most elements whose sum fits in 64 bits whatever they are.
    pub most: usize,
    /// An element.
    pub element: fn(T) -> i128,
    /// A sum, as it was wrapped to 64 bits.
    pub wrapped: fn(Total<T>) -> u64,
    /// The mean of so many elements with an exact sum.
    pub mean: fn(i128, usize) -> T::Mean,
}

impl<T: Element> Exact<T> {
    /// The exact sum of `len` elements with these extremes, if it is the only one with these bits.
    fn sum(&self, total: Total<T>, [min, max]: [T; 2], len: usize) -> Option<i128> {
        let [least, most] = [min, max].map(|extreme| (self.element)(extreme) * len as i128);
        let beyond = (self.wrapped)(total).wrapping_sub(least as u64);
        (most - least < 1 << 64).then(|| least + i128::from(beyond))
    }
}

/// The elements on the host.
fn on_host<'a, T: Element>(input: View<'a, T>) -> Result<Cow<'a, [T]>, Error> {
    if let Some(slice) = input.as_slice() {
        return Ok(Cow::Borrowed(slice));
    }
    Ok(Cow::Owned(input.to_vec()?))
}

/// The mean: of floats in their type, of integers in `f64` from their exact sum. There is none of no elements.
///
/// Of 64-bit integers, whose sum may need more than 64 bits, the extremes are computed too. Where those times the
/// length are 2^64 apart or more, the elements are copied to the host and added up there.
///
/// # Errors
/// As [`reduce`](crate::reduce()).
///
/// ```
/// assert_eq!(gpu_reduce::mean(&[1u8, 2, 255, 255])?, 128.25);
/// assert_eq!(gpu_reduce::mean(&[i64::MAX, i64::MAX])?, i64::MAX as f64);
/// assert!(gpu_reduce::mean::<f32>(&[]).is_err());
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn mean<'a, T: Element>(input: impl Into<View<'a, T>>) -> Result<T::Mean, Error> {
    let input = input.into();
    if input.is_empty() {
        return Err(Error::Empty { what: NAME });
    }
    let [total] = reduce::<T::Total, _>(T::one(input))?;
    of_all(input, total, || reduce::<T::MinMax, _>(T::one(input)))
}

/// Writes the mean to `output`, one element, on `stream`; see [`mean`](crate::mean()).
///
/// Unlike other functions on a stream it waits for the sum, since the quotient is computed on the host, and allocates
/// memory for it. `scratch` is that of a reduction, [`reduce_scratch`](crate::reduce_scratch).
///
/// # Errors
/// As [`reduce_into`]; [`Error::NotCapturable`] in a capture. Nothing is written then.
///
/// ```
/// use gpu_reduce::{Scratch, mean_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let values = device.upload(&[1u8, 2, 255, 255])?;
/// let mut mean = device.zeroed(1)?;
/// mean_into(&stream, &values, &mut mean, &mut Scratch::new(&stream))?;
/// assert_eq!(mean.to_vec()?, [128.25]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn mean_into<'a, 'b, T: Element>(
    stream: &Stream,
    input: impl Into<View<'a, T>>,
    output: impl Into<ViewMut<'b, T::Mean>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let input = input.into();
    let mut output = expect_output(stream, output.into(), 1)?;
    if input.is_empty() {
        return Err(Error::Empty { what: NAME });
    }
    let [total] = of_stream(stream, [Total::<T>::default()], |sums| {
        reduce_into::<T::Total>(stream, T::one(input), sums, scratch)
    })?;
    let mean = of_all(input, total, || {
        of_stream(stream, [T::ZERO; 2], |extremes| {
            reduce_into::<T::MinMax>(stream, T::one(input), extremes, scratch)
        })
    })?;
    output.copy_from(&[mean])
}

/// The mean of elements with this sum.
fn of_all<T: Element>(
    input: View<'_, T>,
    total: Total<T>,
    extremes: impl FnOnce() -> Result<[T; 2], Error>,
) -> Result<T::Mean, Error> {
    let len = input.len();
    let Some(exact) = T::EXACT.filter(|exact| len > exact.most) else { return Ok(T::mean(total, len)) };
    let sum = match exact.sum(total, extremes()?, len) {
        Some(sum) => sum,
        None => on_host(input)?.par_iter().map(|&value| (exact.element)(value)).sum(),
    };
    Ok((exact.mean)(sum, len))
}

/// What `reduce` writes to memory of the stream's device, on the host.
fn of_stream<T: gpu_core::Element, A: AsMut<[T]>>(
    stream: &Stream,
    mut results: A,
    reduce: impl FnOnce(ViewMut<'_, T>) -> Result<(), Error>,
) -> Result<A, Error> {
    let mut on_device = stream.device().alloc(results.as_mut().len())?;
    reduce(on_device.view_mut())?;
    on_device.copy_to(results.as_mut())?;
    Ok(results)
}

/// The output, if it is on the stream's device and has so many elements.
fn expect_output<'a, M: gpu_core::Element>(
    stream: &Stream,
    output: ViewMut<'a, M>,
    expected: usize,
) -> Result<ViewMut<'a, M>, Error> {
    stream.expect("output of a reduction", output.device())?;
    checks::output(NAME, expected, output.len())?;
    Ok(output)
}

/// As [`mean`](crate::mean()), of each segment: see [`reduce_segments`](crate::reduce_segments). The
/// quotients are computed on the host, so this waits for the sums.
///
/// # Errors
/// As [`reduce_segments`](crate::reduce_segments); [`Invalid::EmptySegment`].
///
/// ```
/// use gpu_reduce::{Segments, mean_segments};
/// assert_eq!(mean_segments(&[1u8, 2, 255, 255], Segments::of_length(2)?)?.to_vec()?, [1.5, 255.0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn mean_segments<'a, 's, T: Element>(
    input: impl Into<View<'a, T>>,
    segments: impl Into<Segments<'s>>,
) -> Result<Buffer<T::Mean>, Error> {
    let (input, segments) = (input.into(), segments.into());
    let count = Places::new(segments, NAME, input.len())?.count;
    Scratch::computed(input.device(), count, |stream, output, scratch| {
        mean_segments_into(stream, input, segments, output, scratch)
    })
}

/// Writes the mean of each segment to `output`, on `stream`; see [`mean_segments`].
///
/// Waits and allocates as [`mean_into`]. `scratch` is that of the sums and, of 64-bit integers, of the extremes:
/// [`reduce_segments_scratch`](crate::reduce_segments_scratch) of [`Element::Total`] and of [`Element::MinMax`].
///
/// # Errors
/// As [`reduce_segments_into`]; [`Invalid::EmptySegment`]; [`Error::NotCapturable`] in a capture. Nothing is written
/// then.
///
/// ```
/// use gpu_reduce::{Scratch, Segments, mean_segments_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let (values, rows) = (device.upload(&[1u8, 2, 255, 255])?, Segments::of_length(2)?);
/// let mut means = device.zeroed(2)?;
/// mean_segments_into(&stream, &values, rows, &mut means, &mut Scratch::new(&stream))?;
/// assert_eq!(means.to_vec()?, [1.5, 255.0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn mean_segments_into<'a, 's, 'b, T: Element>(
    stream: &Stream,
    input: impl Into<View<'a, T>>,
    segments: impl Into<Segments<'s>>,
    output: impl Into<ViewMut<'b, T::Mean>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (input, segments) = (input.into(), segments.into());
    let places = Places::new(segments, NAME, input.len())?;
    if let Some(segment) = places.first_empty {
        return Err(Invalid::EmptySegment { what: NAME, segment }.into());
    }
    let output = expect_output(stream, output.into(), places.count)?;
    let totals = of_stream(stream, vec![Total::<T>::default(); places.count], |sums| {
        reduce_segments_into::<T::Total>(stream, T::one(input), segments, sums, scratch)
    })?;
    let offsets = places.to_vec()?;
    let longest = offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let extremes = || {
        of_stream(stream, vec![T::ZERO; 2 * places.count], |extremes| {
            reduce_segments_into::<T::MinMax>(stream, T::one(input), segments, extremes, scratch)
        })
    };
    let of = |line: usize| offsets[line]..offsets[line + 1];
    means(
        input,
        totals,
        extremes,
        longest,
        |line| of(line).len(),
        |line, values, element| values[of(line)].iter().map(|&value| element(value)).sum(),
        output,
    )
}

/// As [`mean`](crate::mean()), along an axis: see [`reduce_axis`](crate::reduce_axis). The quotients are
/// computed on the host, so this waits for the sums.
///
/// # Errors
/// As [`reduce_axis`](crate::reduce_axis).
///
/// ```
/// assert_eq!(gpu_reduce::mean_axis(&[1u8, 2, 255, 3], &[2, 2], 0)?.to_vec()?, [128.0, 2.5]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn mean_axis<'a, T: Element>(
    input: impl Into<View<'a, T>>,
    shape: &[usize],
    axis: usize,
) -> Result<Buffer<T::Mean>, Error> {
    let input = input.into();
    let count = along(input, shape, axis)?.results();
    Scratch::computed(input.device(), count, |stream, output, scratch| {
        mean_axis_into(stream, input, shape, axis, output, scratch)
    })
}

/// Writes the means along `axis` of a row-major array of `shape` to `output`, on `stream`; see [`mean_axis`].
///
/// Waits and allocates as [`mean_into`]. `scratch` is that of the sums and, of 64-bit integers, of the extremes:
/// [`reduce_axis_scratch`](crate::reduce_axis_scratch) of [`Element::Total`] and of [`Element::MinMax`].
///
/// # Errors
/// As [`reduce_axis_into`]; [`Error::NotCapturable`] in a capture. Nothing is written then.
///
/// ```
/// use gpu_reduce::{Scratch, mean_axis_into};
/// let device = gpu_core::Device::simulator();
/// let stream = device.stream()?;
/// let matrix = device.upload(&[1u8, 2, 255, 3])?;
/// let mut means = device.zeroed(2)?;
/// mean_axis_into(&stream, &matrix, &[2, 2], 0, &mut means, &mut Scratch::new(&stream))?;
/// assert_eq!(means.to_vec()?, [128.0, 2.5]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn mean_axis_into<'a, 'b, T: Element>(
    stream: &Stream,
    input: impl Into<View<'a, T>>,
    shape: &[usize],
    axis: usize,
    output: impl Into<ViewMut<'b, T::Mean>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let input = input.into();
    let count = along(input, shape, axis)?.results();
    let output = expect_output(stream, output.into(), count)?;
    let totals = of_stream(stream, vec![Total::<T>::default(); count], |sums| {
        reduce_axis_into::<T::Total>(stream, T::one(input), shape, axis, sums, scratch)
    })?;
    if count == 0 {
        return Ok(());
    }
    let extremes = || {
        of_stream(stream, vec![T::ZERO; 2 * count], |extremes| {
            reduce_axis_into::<T::MinMax>(stream, T::one(input), shape, axis, extremes, scratch)
        })
    };
    let (len, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    means(
        input,
        totals,
        extremes,
        len,
        |_| len,
        |line, values, element| {
            let first = line / inner * len * inner + line % inner;
            values[first..].iter().step_by(inner).take(len).map(|&value| element(value)).sum()
        },
        output,
    )
}

/// How an axis lies in the input, if it has elements.
fn along<T: Element>(input: View<'_, T>, shape: &[usize], axis: usize) -> Result<Along, Error> {
    if shape.get(axis) == Some(&0) {
        return Err(Error::Empty { what: NAME });
    }
    let along = Along::new::<T::Total>(shape, axis)?;
    match (along.elements(), input.len()) {
        (expected, actual) if expected == actual => Ok(along),
        (expected, actual) => Err(Error::ShapeLength { what: NAME, expected, actual }),
    }
}

/// Writes the means of lines of elements with these sums: the longest has `longest` elements, each `len(line)`, and
/// `add` adds up one of them on the host.
fn means<'a, T: Element>(
    input: View<'a, T>,
    totals: Vec<Total<T>>,
    extremes: impl FnOnce() -> Result<Vec<T>, Error>,
    longest: usize,
    len: impl Fn(usize) -> usize,
    add: impl Fn(usize, &[T], fn(T) -> i128) -> i128,
    mut output: ViewMut<'_, T::Mean>,
) -> Result<(), Error> {
    let totals = totals.into_iter().enumerate();
    let Some(exact) = T::EXACT.filter(|exact| longest > exact.most) else {
        let means: Vec<_> = totals.map(|(line, total)| T::mean(total, len(line))).collect();
        return output.copy_from(&means);
    };
    let extremes = extremes()?;
    let mut values: Option<Cow<'a, [T]>> = None;
    let means = totals
        .map(|(line, total)| {
            let sum = match exact.sum(total, [extremes[2 * line], extremes[2 * line + 1]], len(line)) {
                Some(sum) => sum,
                None => {
                    let values = match &values {
                        Some(values) => values,
                        None => values.insert(on_host(input)?),
                    };
                    add(line, values, exact.element)
                }
            };
            Ok((exact.mean)(sum, len(line)))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    output.copy_from(&means)
}

#[cfg(test)]
mod tests {
    use gpu_core::{Device, Offsets};

    use super::*;

    /// Of 64-bit integers whose sums wrap, whose sums do not, and whose extremes do not tell.
    fn arrays() -> Vec<Vec<i64>> {
        const MAX: i64 = i64::MAX;
        const MIN: i64 = i64::MIN;
        vec![
            vec![MAX; 2],
            vec![MIN; 3],
            vec![MAX, MIN],
            vec![MIN, MAX, MAX, MAX],
            vec![1, 2, -5],
            vec![7],
            (0..3000).map(|i| MAX - i).collect(),
            (0..5000i64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64)).collect(),
        ]
    }

    fn expected(values: &[i64]) -> f64 {
        values.iter().map(|&value| i128::from(value)).sum::<i128>() as f64 / values.len() as f64
    }

    #[test]
    fn means_of_64_bit_integers_do_not_wrap() {
        for device in [Device::cpu(), Device::simulator()] {
            for values in arrays() {
                let buffer = device.upload(&values).unwrap();
                assert_eq!(mean(&buffer).unwrap(), expected(&values), "{device}");
                let unsigned: Vec<u64> = values.iter().map(|&value| value as u64).collect();
                let sum: u128 = unsigned.iter().map(|&value| u128::from(value)).sum();
                let buffer = device.upload(&unsigned).unwrap();
                assert_eq!(mean(&buffer).unwrap(), sum as f64 / unsigned.len() as f64, "{device}");
            }
        }
    }

    #[test]
    fn means_of_parts_of_64_bit_integers_do_not_wrap() {
        for device in [Device::cpu(), Device::simulator()] {
            let values: Vec<i64> = arrays().concat();
            let mut offsets = vec![0];
            for array in arrays() {
                offsets.push(offsets.last().unwrap() + array.len() as u32);
            }
            let buffer = device.upload(&values).unwrap();
            let segments = Offsets::new(&device, &offsets).unwrap();
            let of_segments: Vec<f64> = arrays().iter().map(|array| expected(array)).collect();
            assert_eq!(mean_segments(&buffer, &segments).unwrap().to_vec().unwrap(), of_segments, "{device}");

            let shape = [4, 9, 5];
            let buffer = device.upload(&values[values.len() - 180..]).unwrap();
            let values = buffer.to_vec().unwrap();
            for axis in 0..3 {
                let (len, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
                let of_lines: Vec<f64> = (0..180 / len)
                    .map(|line| {
                        let at = |i: usize| (line / inner * len + i) * inner + line % inner;
                        expected(&(0..len).map(|i| values[at(i)]).collect::<Vec<_>>())
                    })
                    .collect();
                let means = mean_axis(&buffer, &shape, axis).unwrap().to_vec().unwrap();
                assert_eq!(means, of_lines, "{device}, axis {axis}");
            }
        }
    }
}
