//! Products of a matrix and a vector.

use gpu_core::cores;
use gpu_linalg_kernels::gemv::{ACROSS_THREADS, vector};
use gpu_std::float::Float;

use super::finish;
use crate::error::Error;
use crate::launch::Element;
use crate::matrix::Layout;
use crate::plan::gemv::Plan;

/// [`crate::gemv`] of slices.
///
/// # Errors
/// Those of [`Plan::new`].
///
/// # Panics
/// Where a slice is shorter than the layout says.
///
/// ```
/// use gpu_linalg::{Layout, reference};
/// let mut y = [f32::NAN; 2];
/// reference::gemv(1.0, &[1.0, 2.0, 3.0, 4.0], Layout::row_major(2, 2)?, &[5.0, 6.0], 0.0, &mut y)?;
/// assert_eq!(y, [17.0, 39.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemv<T: Element>(
    alpha: T::Sum,
    a: &[T],
    layout: Layout,
    x: &[T],
    beta: T::Sum,
    y: &mut [T],
) -> Result<(), Error> {
    if layout.rows() == 0 {
        return Ok(());
    }
    let plan = Plan::new::<T>(layout, 0, 0, alpha != T::Sum::ZERO)?;
    let (length, piece) = (plan.shape.length as usize, plan.shape.piece as usize);
    let (vector, width) = (vector::<T>() as usize, plan.shape.width as usize);
    cores::elements(y, |row, y| {
        let sum_of = |number: usize| {
            let part = number * piece..((number + 1) * piece).min(length);
            // As many columns as a vector has elements go in turn to the lanes, or to the groups of lanes: each has a
            // chain.
            let chains = if plan.along { width } else { ACROSS_THREADS as usize / width };
            let mut sums = vec![T::Sum::ZERO; chains];
            for column in part.clone() {
                let sum = &mut sums[(column - part.start) / vector % chains];
                *sum = a[layout.index(row, column)].widen().mul_add(x[column].widen(), *sum);
            }
            // Chains of a warp are added at halved distances, then warps in their order.
            let warps = sums.chunks_mut(if plan.along { width } else { 32 / width }).map(|chains| {
                let mut distance = chains.len() / 2;
                while distance > 0 {
                    (0..distance).for_each(|chain| chains[chain] = chains[chain] + chains[chain + distance]);
                    distance /= 2;
                }
                chains[0]
            });
            warps.reduce(|sum, warp| sum + warp).unwrap_or(T::Sum::ZERO)
        };
        let sum = (1..plan.shape.pieces as usize).fold(sum_of(0), |sum, number| sum + sum_of(number));
        *y = T::narrow(finish(alpha, sum, beta, || y.widen()));
    });
    Ok(())
}
