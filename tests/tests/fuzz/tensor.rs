//! Products on the tensor cores, of every type of factors, by the kernel of the plan or one of choice.

use gpu_core::{Element, Stream};
use gpu_linalg::variants::{self, TensorVariant};
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Error, bf16, f16, gemm_i8, gemm_i8_scratch, gemm_tensor,
    gemm_tensor_scratch, gemm_tf32, gemm_tf32_scratch,
};
use gpu_tests::scratch::exactly;
use proptest::prelude::*;

use super::linalg::layout;
use super::{Guarded, Place, fuzz, place, wrong};

/// What is drawn of a product.
#[derive(Clone, Debug)]
struct Case {
    place: Place,
    shape: [usize; 3],
    by_rows: [bool; 3],
    gaps: [usize; 3],
    /// All are multiples of so many elements, as the copy engine wants them.
    step: usize,
    count: usize,
    /// The factor that is the same for all, if it is one of the two.
    same: usize,
    variant: Option<TensorVariant>,
    alpha: i32,
    beta: i32,
    /// How much longer B is along the sums.
    wrong: isize,
}

fn cases() -> impl Strategy<Value = Case> {
    let extent = || prop_oneof![5 => 0usize..40, 3 => 40usize..140, 1 => 140usize..300];
    let variants = prop::sample::select(TensorVariant::ALL.to_vec());
    let shapes = (
        [extent(), extent(), extent()],
        [any::<bool>(), any::<bool>(), any::<bool>()],
        [0usize..5, 0..5, 0..5],
        prop::sample::select(vec![1usize, 1, 8, 16]),
        (1usize..4, 0usize..6),
    );
    let scalars = (prop::sample::select(vec![1, 2, 0]), prop::sample::select(vec![0, 0, -1]));
    (place(), shapes, prop::option::of(variants), scalars, wrong()).prop_map(
        |(place, (shape, by_rows, gaps, step, (count, same)), variant, (alpha, beta), wrong)| Case {
            place,
            shape: shape.map(|extent| extent / step * step),
            by_rows,
            gaps: gaps.map(|gap| gap * step),
            step,
            count,
            same,
            variant,
            alpha,
            beta,
            wrong,
        },
    )
}

impl Case {
    /// A, B and C; of a factor that is the same for all the stride is zero.
    fn layouts(&self) -> [BatchLayout; 3] {
        let [m, n, k] = self.shape;
        let b_rows = k.saturating_add_signed(self.wrong);
        [(0, m, k), (1, b_rows, n), (2, m, n)].map(|(number, rows, columns)| {
            let (gap, is_same) = (self.gaps[number], number < 2 && number == self.same);
            let matrix = layout(rows, columns, self.by_rows[number], gap);
            let stride = if is_same { 0 } else { matrix.span().next_multiple_of(self.step) + gap };
            BatchLayout { matrix, count: self.count, stride }
        })
    }

    /// Whole numbers, small enough that every sum is exact in every type.
    fn check<F: Element, C: Element + PartialEq + std::fmt::Debug>(
        &self,
        (of_factor, of_output): (impl Fn(i32) -> F, impl Fn(i32) -> C),
        multiply: impl FnOnce(&Stream, Batch<'_, F>, Batch<'_, F>, BatchMut<'_, C>) -> Result<(), Error>,
    ) {
        let [m, n, k] = self.shape;
        let device = self.place.device();
        let stream = device.stream().expect("a stream");
        let [a, b, c] = self.layouts();
        let len = |batch: BatchLayout| (batch.count - 1) * batch.stride + batch.matrix.span();
        let small = |shift: u32| move |bits: u64| ((bits >> shift) % 5) as i32 - 2;
        let (of_a, of_b) = (self.place.values(len(a), small(0)), self.place.values(len(b), small(20)));
        let upload = |before: usize, values: &[i32]| {
            let values = std::iter::repeat_n(&1, before).chain(values);
            device.upload(&values.map(|&value| of_factor(value)).collect::<Vec<F>>()).expect("memory")
        };
        let before = self.place.offsets.0 / self.step * self.step;
        let (first, second) = (upload(before, &of_a), upload(0, &of_b));
        let from = self.place.offsets.1 / self.step * self.step;
        let old = |at: usize| (at % 7) as i32 - 3;
        let mut written = Guarded::new(&device, from, len(c), |at| of_output(old(at)));
        let range = written.range();
        let target = BatchMut::new(written.buffer.slice_mut(range), c).expect("it has room");
        let (a_batch, b_batch) = (Batch::new(first.slice(before..), a), Batch::new(&second, b));
        let result = multiply(&stream, a_batch.expect("it has room"), b_batch.expect("it has room"), target);
        stream.synchronize().expect("no fault");
        match result {
            Ok(()) => assert_eq!(b.matrix.rows(), k, "B is longer along the sums than A"),
            Err(Error::Unaligned { .. }) if self.variant.is_some() => return written.check(None),
            Err(_) if b.matrix.rows() != k => return written.check(None),
            Err(error) => panic!("{error}"),
        }
        let mut expected: Vec<i32> = (from..from + len(c)).map(old).collect();
        for number in 0..self.count {
            for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                let product = |i| {
                    of_a[number * a.stride + a.matrix.index(row, i)]
                        * of_b[number * b.stride + b.matrix.index(i, column)]
                };
                let at = &mut expected[number * c.stride + c.matrix.index(row, column)];
                *at = self.alpha * (0..k).map(product).sum::<i32>() + self.beta * *at;
            }
        }
        let expected: Vec<C> = expected.into_iter().map(&of_output).collect();
        written.check(Some(&expected));
    }
}

/// Factors of 16 bits, and sums of `f32` or rounded.
#[test]
fn of_halves() {
    fn check<T: gpu_linalg::TensorElement, C>(case: &Case, of: fn(f32) -> T, of_output: fn(f32) -> C)
    where
        C: gpu_linalg::TensorOutput<T> + PartialEq + std::fmt::Debug,
    {
        let whole = (|value: i32| of(value as f32), |value: i32| of_output(value as f32));
        case.check(whole, |stream, a, b, c| {
            let (alpha, beta) = (case.alpha as f32, case.beta as f32);
            let size = match case.variant {
                None => gemm_tensor_scratch(a, b, c.layout()),
                Some(variant) => variants::gemm_tensor_scratch(variant, a, b, c.layout()),
            };
            let mut scratch = exactly(stream, size);
            match case.variant {
                None => gemm_tensor(stream, alpha, a, b, beta, c, &mut scratch),
                Some(variant) => variants::gemm_tensor(stream, variant, alpha, a, b, beta, c, &mut scratch),
            }
        });
    }
    fuzz("gemm_tensor", (cases(), any::<bool>()), |(case, is_wide)| {
        if *is_wide {
            check(case, bf16::from_f32, |value| value);
        } else {
            check(case, f16::from_f32, f16::from_f32);
        }
    });
}

#[test]
fn of_tf32() {
    fuzz("gemm_tf32", cases(), |case| {
        let whole = (|value: i32| value as f32, |value: i32| value as f32);
        case.check(whole, |stream, a, b, c| {
            let (alpha, beta) = (case.alpha as f32, case.beta as f32);
            let layouts = (a.layout(), b.layout(), c.layout());
            let size = match case.variant {
                None => gemm_tf32_scratch(layouts.0, layouts.1, layouts.2),
                Some(variant) => variants::gemm_tf32_scratch(variant, layouts.0, layouts.1, layouts.2),
            };
            let mut scratch = exactly(stream, size);
            match case.variant {
                None => gemm_tf32(stream, alpha, a, b, beta, c, &mut scratch),
                Some(variant) => variants::gemm_tf32(stream, variant, alpha, a, b, beta, c, &mut scratch),
            }
        });
    });
}

#[test]
fn of_bytes() {
    fuzz("gemm_i8", cases(), |case| {
        let whole = (|value: i32| value as i8, |value: i32| value);
        case.check(whole, |stream, a, b, c| {
            let size = match case.variant {
                None => gemm_i8_scratch(a, b, c.layout()),
                Some(variant) => variants::gemm_i8_scratch(variant, a, b, c.layout()),
            };
            let mut scratch = exactly(stream, size);
            match case.variant {
                None => gemm_i8(stream, case.alpha, a, b, case.beta, c, &mut scratch),
                Some(variant) => {
                    variants::gemm_i8(stream, variant, case.alpha, a, b, case.beta, c, &mut scratch)
                }
            }
        });
    });
}
