//! Sums in any order.

use gpu_core::{Scratch, ScratchSize, Stream, View, ViewMut};
use gpu_reduce_kernels::Register;

use super::reduce_into;
use crate::element::Element;
use crate::launch;
use crate::plan::Plan;
use gpu_core::Error;

/// The sum, its blocks' results added in the order in which they end: of `f32` and `f64` **the result differs from
/// run to run** on a GPU. [`sum`](crate::sum()) gives the same bits everywhere.
///
/// Of integers, whose sums do not depend on the order, and of `f16` and `bf16` it is [`sum`](crate::sum()). Of `f32`
/// and `f64` the results are added to 0, on the CPU that of [`sum`](crate::sum()): so the sum of negative zeros is 0.
/// Where blocks' results of `f32` are subnormal, or become so, a GPU takes them for zero.
///
/// With `d` the additions on the longest path within a block (`4k + 10`, see the [crate documentation](crate)) and
/// `b` blocks, the error is at most `γ_{d + b} · Σ|x|` (Higham, §4.2), and `2b · 2^-126` more for `f32`.
///
/// # Errors
/// As [`reduce`](crate::reduce()).
///
/// ```
/// let values = gpu_core::Device::best().upload(&[1.0f32; 10_000])?;
/// assert_eq!(gpu_reduce::sum_unordered(&values)?, 10_000.0);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn sum_unordered<'a, T: Element>(input: impl Into<View<'a, T>>) -> Result<T, Error> {
    let input = input.into();
    if T::SUM_UNORDERED.is_none() {
        return crate::sum(input);
    }
    if input.as_slice().is_some() {
        return Ok(added_to_zero(crate::sum(input)?));
    }
    let sum = Scratch::computed(input.device(), 1, |stream, sum, scratch| {
        sum_unordered_into(stream, input, sum, scratch)
    })?;
    let [sum] = sum.view().to_array()?;
    Ok(sum)
}

/// As [`sum_unordered`], on `stream` and into `output`: see [`reduce_into`](crate::reduce_into). The scratch memory
/// is that of [`sum_into`](crate::sum_into), of which the sums of `f32` and `f64` leave all but the stream alone.
///
/// # Errors
/// As [`reduce_into`](crate::reduce_into); where the launch failed, `output` may be zero.
pub fn sum_unordered_into<'a, 'b, T: Element>(
    stream: &Stream,
    input: impl Into<View<'a, T>>,
    output: impl Into<ViewMut<'b, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (input, mut output) = (input.into(), output.into());
    let Some(kernel) = T::SUM_UNORDERED else {
        return reduce_into::<T::Sum>(stream, T::one(input), output, scratch);
    };
    if input.as_slice().is_some() {
        reduce_into::<T::Sum>(stream, T::one(input), output.reborrow(), scratch)?;
        for sum in output.as_mut_slice().into_iter().flatten() {
            *sum = added_to_zero(*sum);
        }
        return Ok(());
    }
    super::expect_outputs::<T::Sum>(output.len())?;
    let plan = Plan::checked::<T::Sum>(input.len())?;
    scratch.expect(stream, "sum in any order", ScratchSize::new())?;
    stream.expect("input of a reduction", input.device())?;
    stream.expect("output of a reduction", output.device())?;
    launch::sum_unordered(stream, kernel, input, plan, output)
}

/// The sum as a block adds it to the output, which is 0 before.
fn added_to_zero<T: Element>(sum: T) -> T {
    T::narrow(T::ZERO.extend().plus(sum.extend()))
}

#[cfg(test)]
mod tests {
    use gpu_core::Device;

    use super::*;

    #[test]
    fn negative_zeros_add_up_to_zero_everywhere() {
        for device in [Device::cpu(), Device::simulator()] {
            let stream = device.stream().unwrap();
            for len in [0, 1, 5000] {
                let input = device.upload(&vec![-0.0f32; len]).unwrap();
                assert_eq!(sum_unordered(&input).unwrap().to_bits(), 0, "{len} on {device}");
                let input = device.upload(&vec![-0.0f64; len]).unwrap();
                let mut output = device.upload(&[7.0]).unwrap();
                let mut scratch = Scratch::new(&stream);
                sum_unordered_into(&stream, &input, &mut output, &mut scratch).unwrap();
                stream.synchronize().unwrap();
                assert_eq!(output.to_vec().unwrap()[0].to_bits(), 0, "{len} on {device}");
            }
        }
    }
}
