//! Element-wise operations.

use gpu_core::cores;

use crate::matrix::Layout;

/// Elements that a task works on at least: entering the thread pool for fewer would cost more.
const TASK: usize = 1 << 14;

/// Writes `result(x, y)` for each pair of elements to `output`; the layouts are those of `x`, `y` and `output`, of
/// one shape and order.
///
/// # Panics
/// Where a slice is shorter than its layout says.
///
/// ```
/// use gpu_linalg::{Layout, reference};
/// let layout = Layout::row_major(1, 3)?;
/// let mut sums = [0; 3];
/// reference::elementwise([layout; 3], &[1, 2, 3], &[10, 20, 30], &mut sums, |x, y| x + y);
/// assert_eq!(sums, [11, 22, 33]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn elementwise<T: Copy + Send + Sync>(
    [x_layout, y_layout, layout]: [Layout; 3],
    x: &[T],
    y: &[T],
    output: &mut [T],
    result: impl Fn(T, T) -> T + Sync,
) {
    each_line((output, layout), |line, output| {
        let x = &x[line * x_layout.leading_dimension()..][..output.len()];
        let y = &y[line * y_layout.leading_dimension()..][..output.len()];
        cores::chunks(output, TASK, 1, |number, output| {
            let elements = output.iter_mut().zip(&x[number * TASK..]).zip(&y[number * TASK..]);
            elements.for_each(|((output, &x), &y)| *output = result(x, y));
        });
    });
}

/// Writes `change(x, y)` to each element of `y`, which has the shape and the order of `x`.
///
/// # Panics
/// Where a slice is shorter than its layout says.
pub fn update<T: Copy + Send + Sync>(
    (x, x_layout): (&[T], Layout),
    y: (&mut [T], Layout),
    change: impl Fn(T, T) -> T + Sync,
) {
    each_line(y, |line, y| {
        let x = &x[line * x_layout.leading_dimension()..][..y.len()];
        cores::chunks(y, TASK, 1, |number, y| {
            y.iter_mut().zip(&x[number * TASK..]).for_each(|(y, &x)| *y = change(x, *y));
        });
    });
}

/// Writes `change(x)` to each element of `x`.
///
/// # Panics
/// Where the slice is shorter than its layout says.
pub fn map<T: Copy + Send + Sync>(x: (&mut [T], Layout), change: impl Fn(T) -> T + Sync) {
    each_line(x, |_, x| {
        cores::chunks(x, TASK, 1, |_, x| x.iter_mut().for_each(|x| *x = change(*x)));
    });
}

/// Exchanges the elements of `x` and `y`, which have one shape and order.
///
/// # Panics
/// Where a slice is shorter than its layout says.
pub fn swap<T: Copy + Send + Sync>((x, x_layout): (&mut [T], Layout), (y, y_layout): (&mut [T], Layout)) {
    if x_layout.is_empty() {
        return;
    }
    let length = x_layout.contiguous();
    let x = (&mut x[..x_layout.span()], x_layout.leading_dimension());
    let y = (&mut y[..y_layout.span()], y_layout.leading_dimension());
    cores::pairs(x, y, |_, x, y| x[..length].swap_with_slice(&mut y[..length]));
}

/// Runs `work` with the number and the elements of each contiguous row or column.
fn each_line<T: Send>((matrix, layout): (&mut [T], Layout), work: impl Fn(usize, &mut [T]) + Sync) {
    if !layout.is_empty() {
        let (matrix, leading) = (&mut matrix[..layout.span()], layout.leading_dimension());
        cores::chunks(matrix, leading, 1, |line, elements| work(line, &mut elements[..layout.contiguous()]));
    }
}
