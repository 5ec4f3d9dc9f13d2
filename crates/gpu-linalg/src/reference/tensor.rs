//! Products of narrow elements with wide sums.

use std::mem::take;

use gpu_core::{cores, vectors};

use super::gemm;
use crate::api::Epilogue;
use crate::matrix::{BatchLayout, Order};
use crate::plan::gemm::{AsVector, Sums};
use crate::plan::tensor::split;
use crate::tensor::launch::{TensorElement, TensorOutput};

/// [`crate::gemm_tensor`] of slices with their layouts.
///
/// Products are exact in `f32`; an element of C is a chain of them over ascending `k`, each added with one rounding, or
/// the sum of as many chains as the plan has parts; of more than 32, of the sums of neighbours.
///
/// # Panics
/// Where shapes do not fit together, or a slice is shorter than its batch.
///
/// ```
/// use gpu_linalg::{BatchLayout, Layout, bf16, reference};
/// let layout = BatchLayout { matrix: Layout::row_major(2, 2)?, count: 1, stride: 0 };
/// let (a, b) = ([1.0, 2.0, 3.0, 4.0].map(bf16::from_f32), [5.0, 6.0, 7.0, 8.0].map(bf16::from_f32));
/// let mut c = [0.0_f32; 4];
/// reference::gemm_tensor(1.0, (&a, layout), (&b, layout), 0.0, (&mut c, layout));
/// assert_eq!(c, [19.0, 22.0, 43.0, 50.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_tensor<T: TensorElement, C: TensorOutput<T>>(
    alpha: f32,
    a: (&[T], BatchLayout),
    b: (&[T], BatchLayout),
    beta: f32,
    c: (&mut [C], BatchLayout),
) {
    gemm_tensor_with(alpha, a, b, beta, c, &Epilogue::new());
}

/// [`crate::gemm_tensor_with`] of slices with their layouts.
///
/// # Panics
/// As [`gemm_tensor`], and where the bias is shorter than C's rows or columns need, or not in host memory.
///
/// ```
/// use gpu_linalg::{Activation, BatchLayout, Epilogue, Layout, bf16, reference};
/// let layout = BatchLayout { matrix: Layout::row_major(2, 2)?, count: 1, stride: 0 };
/// let (a, b) = ([1.0, 2.0, 3.0, 4.0].map(bf16::from_f32), [5.0, 6.0, 7.0, 8.0].map(bf16::from_f32));
/// let mut c = [0.0_f32; 4];
/// let epilogue = Epilogue::new().bias_per_row(&[-20.0, 1.0]).activation(Activation::Relu);
/// reference::gemm_tensor_with(1.0, (&a, layout), (&b, layout), 0.0, (&mut c, layout), &epilogue);
/// assert_eq!(c, [0.0, 2.0, 44.0, 51.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_tensor_with<T: TensorElement, C: TensorOutput<T>>(
    alpha: f32,
    a: (&[T], BatchLayout),
    b: (&[T], BatchLayout),
    beta: f32,
    c: (&mut [C], BatchLayout),
    epilogue: &Epilogue<'_>,
) {
    product(Sums::Parts, alpha, a, b, beta, c, *epilogue, T::widen, (C::narrow, C::widen));
}

/// One product with each sum in one chain.
pub(crate) fn gemm_tensor_in_chains<T: TensorElement, C: TensorOutput<T>>(
    alpha: f32,
    a: (&[T], BatchLayout),
    b: (&[T], BatchLayout),
    beta: f32,
    c: (&mut [C], BatchLayout),
) {
    product(Sums::Chains, alpha, a, b, beta, c, Epilogue::new(), T::widen, (C::narrow, C::widen));
}

/// [`crate::gemm_tf32`] of slices with their layouts: the same of factors rounded to tf32, but where it is
/// [`gemv`](super::gemv()).
///
/// # Panics
/// As there.
///
/// ```
/// use gpu_linalg::{BatchLayout, Layout, reference};
/// let layout = BatchLayout { matrix: Layout::row_major(2, 2)?, count: 1, stride: 0 };
/// let mut c = [0.0; 4];
/// reference::gemm_tf32(1.0, (&[1.0 + 1.0 / 4096.0; 4], layout), (&[1.5; 4], layout), 0.0, (&mut c, layout));
/// assert_eq!(c, [3.0; 4]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_tf32(
    alpha: f32,
    a: (&[f32], BatchLayout),
    b: (&[f32], BatchLayout),
    beta: f32,
    c: (&mut [f32], BatchLayout),
) {
    gemm_tf32_with(alpha, a, b, beta, c, &Epilogue::new());
}

/// [`crate::gemm_tf32_with`] of slices with their layouts.
///
/// # Panics
/// As [`gemm_tensor_with`].
///
/// ```
/// use gpu_linalg::{BatchLayout, Epilogue, Layout, reference};
/// let layout = BatchLayout { matrix: Layout::row_major(1, 1)?, count: 1, stride: 0 };
/// let (mut c, epilogue) = ([0.0], Epilogue::new().bias_per_column(&[0.5]));
/// let a = [1.0 + 1.0 / 4096.0];
/// reference::gemm_tf32_with(1.0, (&a, layout), (&[3.0], layout), 0.0, (&mut c, layout), &epilogue);
/// assert_eq!(c, [3.5]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_tf32_with(
    alpha: f32,
    a: (&[f32], BatchLayout),
    b: (&[f32], BatchLayout),
    beta: f32,
    c: (&mut [f32], BatchLayout),
    epilogue: &Epilogue<'_>,
) {
    if AsVector::of::<f32>([a.1, b.1, c.1]).is_some() && epilogue.is_empty() {
        return gemm(alpha, a, b, beta, c);
    }
    product(Sums::Parts, alpha, a, b, beta, c, *epilogue, round_tf32, (|sum| sum, |old| old));
}

/// One product with each sum in one chain.
pub(crate) fn gemm_tf32_in_chains(
    alpha: f32,
    a: (&[f32], BatchLayout),
    b: (&[f32], BatchLayout),
    beta: f32,
    c: (&mut [f32], BatchLayout),
) {
    product(Sums::Chains, alpha, a, b, beta, c, Epilogue::new(), round_tf32, (|sum| sum, |old| old));
}

fn round_tf32(value: f32) -> f32 {
    f32::from_bits(gpu_std::mma::round_tf32(value.to_bits()))
}

/// A row's products with one element of the other factor.
struct Products<'a> {
    factor: f32,
    others: &'a [f32],
    sums: &'a mut [f32],
}

impl vectors::Work for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { factor, others, sums } = self;
        sums.iter_mut().zip(others).for_each(|(sum, &other)| *sum = factor.mul_add(other, *sum));
    }
}

/// Products of what `widen` makes of the elements of factors, with a C of other elements.
#[expect(clippy::too_many_arguments, reason = "those of the product, and its types")]
fn product<T: gpu_core::Element, C: gpu_core::Element>(
    sums: Sums,
    alpha: f32,
    (a, a_layout): (&[T], BatchLayout),
    (b, b_layout): (&[T], BatchLayout),
    beta: f32,
    (c, c_layout): (&mut [C], BatchLayout),
    epilogue: Epilogue<'_>,
    widen: impl Fn(T) -> f32 + Sync + Copy,
    (narrow, widen_c): (impl Fn(f32) -> C + Sync + Copy, impl Fn(C) -> f32 + Sync + Copy),
) {
    if c_layout.matrix.order() == Order::ColumnMajor {
        let (a, b) = ((a, a_layout.transposed()), (b, b_layout.transposed()));
        let (c, epilogue) = ((c, c_layout.transposed()), epilogue.transposed());
        return product(sums, alpha, b, a, beta, c, epilogue, widen, (narrow, widen_c));
    }
    let (m, n) = c_layout.matrix.shape();
    let k = if alpha == 0.0 { 0 } else { a_layout.matrix.columns() };
    let (a_matrix, b_matrix) = (a_layout.matrix, b_layout.matrix);
    if m == 0 || n == 0 {
        return;
    }
    // Extents that no plan takes have no parts.
    let extents = [m, n, k].map(|extent| u32::try_from(extent).unwrap_or(0));
    let (parts, part) = match sums {
        Sums::Parts => split(size_of::<T>(), extents, c_layout.count),
        Sums::Chains | Sums::None => (1, 0),
    };
    let part = if parts == 1 { k } else { part as usize };
    let group = gpu_tensor_kernels::group(parts) as usize;
    let finish = epilogue.on_cpu();
    for number in 0..c_layout.count {
        let (a_start, b_start) = (number * a_layout.stride, number * b_layout.stride);
        let c = &mut c[number * c_layout.stride..][..c_layout.matrix.span()];
        cores::chunks(c, c_layout.matrix.leading_dimension(), 1, |row, c| {
            let (mut sums, mut group_sums) = (vec![0.0_f32; n], vec![0.0_f32; n]);
            let mut others = vec![0.0_f32; n];
            for (number, first) in (0..k).step_by(part.max(1)).enumerate() {
                let mut chains = vec![0.0_f32; n];
                for k in first..k.min(first + part) {
                    let factor = widen(a[a_start + a_matrix.index(row, k)]);
                    let first = b_start + b_matrix.index(k, 0);
                    if b_matrix.order() == Order::RowMajor {
                        others.iter_mut().zip(&b[first..]).for_each(|(other, &b)| *other = widen(b));
                    } else {
                        let lines = b[first..].iter().step_by(b_matrix.leading_dimension());
                        others.iter_mut().zip(lines).for_each(|(other, &b)| *other = widen(b));
                    }
                    vectors::run(Products { factor, others: &others, sums: &mut chains });
                }
                if parts == 1 {
                    sums = chains;
                    continue;
                }
                group_sums.iter_mut().zip(chains).for_each(|(sum, chain)| *sum += chain);
                if (number + 1) % group == 0 || first + part >= k {
                    sums.iter_mut().zip(&mut group_sums).for_each(|(sum, group)| *sum += take(group));
                }
            }
            for (column, (c, sum)) in c.iter_mut().zip(sums).enumerate() {
                let product = alpha * sum;
                let scaled = if beta == 0.0 { product } else { beta.mul_add(widen_c(*c), product) };
                *c = narrow(finish(scaled, number, [row, column]));
            }
        });
    }
}
