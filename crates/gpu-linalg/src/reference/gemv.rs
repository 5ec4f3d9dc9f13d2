//! Products of a matrix and a vector.

use gpu_kernels::linalg::gemv::{WARPS, vector};
use gpu_std::float::Float;
use rayon::prelude::*;

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
    y.par_iter_mut().enumerate().for_each(|(row, y)| {
        let sum_of = |number: usize| {
            let part = number * piece..((number + 1) * piece).min(length);
            let product = |column: usize, sum: T::Sum| {
                a[layout.index(row, column)].widen().mul_add(x[column].widen(), sum)
            };
            if plan.along {
                // Vectors of 16 bytes go to the lanes in turn; then lanes at halved distances are added.
                let (vector, width) = (vector::<T>() as usize, plan.shape.width as usize);
                let mut lanes = vec![T::Sum::ZERO; width];
                for column in part.clone() {
                    let lane = (column - part.start) / vector % width;
                    lanes[lane] = product(column, lanes[lane]);
                }
                let mut distance = width / 2;
                while distance > 0 {
                    (0..distance).for_each(|lane| lanes[lane] = lanes[lane] + lanes[lane + distance]);
                    distance /= 2;
                }
                lanes[0]
            } else {
                // Lines go to the warps in turn; then the warps are added.
                let mut warps = [T::Sum::ZERO; WARPS as usize];
                for column in part.clone() {
                    let warp = (column - part.start) % WARPS as usize;
                    warps[warp] = product(column, warps[warp]);
                }
                warps[1..].iter().fold(warps[0], |sum, &warp| sum + warp)
            }
        };
        let sum = (1..plan.shape.pieces as usize).fold(sum_of(0), |sum, number| sum + sum_of(number));
        *y = T::narrow(finish(alpha, sum, beta, || y.widen()));
    });
    Ok(())
}
