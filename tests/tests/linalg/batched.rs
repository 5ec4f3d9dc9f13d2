//! Products of batches whose matrices start anywhere, of every type: one body over all backends, against a serial
//! oracle in `i64`, and in reals against the chain of multiply-adds that is documented.

use gpu_core::matrix::Invalid;
use gpu_core::{Device, Element, Error as Core, Stream};
use gpu_linalg::{
    BatchStarts, Error, Layout, Matrix, MatrixMut, Order, bf16, f16, gemm_batched, gemm_i8_batched,
    gemm_tensor_batched, gemm_tf32_batched,
};
use gpu_tests::backends::{for_each, for_each_small};
use gpu_tests::data::random;

use super::basics::{ORDERS, layout, values};

/// A function and its types of factors and of results.
trait Product {
    type Factor: Element;
    type Output: Element + PartialEq + core::fmt::Debug;
    fn factor(value: i64) -> Self::Factor;
    fn output(value: i64) -> Self::Output;
    /// Stands where nothing may be read.
    fn outside() -> Self::Factor;
    fn run(
        stream: &Stream,
        factors: [i64; 2],
        a: Matrix<'_, Self::Factor>,
        b: Matrix<'_, Self::Factor>,
        c: MatrixMut<'_, Self::Output>,
        starts: &BatchStarts,
    ) -> Result<(), Error>;
}

macro_rules! products {
    ($($name:ident: $function:path, $Factor:ty, $Output:ty, $Scale:ty,
        $factor:expr, $output:expr, $outside:expr;)*) => { $(
        struct $name;

        impl Product for $name {
            type Factor = $Factor;
            type Output = $Output;
            fn factor(value: i64) -> $Factor {
                $factor(value)
            }
            fn output(value: i64) -> $Output {
                $output(value)
            }
            fn outside() -> $Factor {
                $outside
            }
            fn run(
                stream: &Stream,
                [alpha, beta]: [i64; 2],
                a: Matrix<'_, $Factor>,
                b: Matrix<'_, $Factor>,
                c: MatrixMut<'_, $Output>,
                starts: &BatchStarts,
            ) -> Result<(), Error> {
                $function(stream, alpha as $Scale, a, b, beta as $Scale, c, starts)
            }
        }
    )* };
}
products! {
    Singles: gemm_batched, f32, f32, f32, |value| value as f32, |value| value as f32, f32::NAN;
    Doubles: gemm_batched, f64, f64, f64, |value| value as f64, |value| value as f64, f64::NAN;
    Tf32: gemm_tf32_batched, f32, f32, f32, |value| value as f32, |value| value as f32, f32::NAN;
    BrainToSingle: gemm_tensor_batched, bf16, f32, f32,
        |value| bf16::from_f32(value as f32), |value| value as f32, bf16::from_f32(f32::NAN);
    Halves: gemm_tensor_batched, f16, f16, f32,
        |value| f16::from_f32(value as f32), |value| f16::from_f32(value as f32), f16::from_f32(f32::NAN);
    Bytes: gemm_i8_batched, i8, i32, i32, |value| value as i8, |value| value as i32, 111;
}

/// A batch: shape, orders of A, B and C, what leading dimensions are longer, and where matrices start.
#[derive(Clone, Debug)]
struct Case {
    shape: [usize; 3],
    orders: [Order; 3],
    gap: usize,
    starts: Vec<[usize; 3]>,
    factors: [i64; 2],
}

impl Case {
    /// Drawn from a seed. Starts are in no order, some factors are there for several products, and what is
    /// `aligned` starts at multiples of 16 elements.
    fn drawn(seed: u64) -> Self {
        let mut draws = (0..).map(|at| random(seed, at) as usize);
        let mut draw = |below: usize| draws.next().unwrap() % below;
        let extents = [1, 3, 8, 20, 32, 33, 64, 70];
        let shape = [extents[draw(8)], extents[draw(8)], [0, 1, 5, 16, 32, 67, 96][draw(7)]];
        let orders = [0; 3].map(|_| ORDERS[draw(2)]);
        let (count, aligned) = (1 + draw(5), draw(2) == 0);
        let (gap, step) = if aligned { (0, 16) } else { (draw(3), 1) };
        let [a, b, c] =
            Self::layouts_of(shape, orders, gap).map(|layout| layout.span().next_multiple_of(step));
        // C's places in no order, with something between.
        let mut places: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            places.swap(at, draw(at + 1));
        }
        let starts = places
            .into_iter()
            .map(|place| {
                [draw(count) * (a + step), draw(3) * step + draw(2) * b, place * (c + 2 * step) + step]
            })
            .collect();
        let factors = [[1, 0], [2, 1], [-1, -2], [0, 1]][draw(4)];
        Self { shape, orders, gap, starts, factors }
    }

    fn layouts_of([m, n, k]: [usize; 3], [a, b, c]: [Order; 3], gap: usize) -> [Layout; 3] {
        [layout(m, k, a, gap), layout(k, n, b, gap), layout(m, n, c, gap)]
    }

    fn layouts(&self) -> [Layout; 3] {
        Self::layouts_of(self.shape, self.orders, self.gap)
    }

    /// Elements of A's, B's and C's memory.
    fn lens(&self) -> [usize; 3] {
        let layouts = self.layouts();
        [0, 1, 2].map(|at| self.starts.iter().map(|start| start[at] + layouts[at].span()).max().unwrap_or(0))
    }

    /// Which elements of an array belong to a matrix.
    fn held(&self, which: usize) -> Vec<bool> {
        let (layout, mut held) = (self.layouts()[which], vec![false; self.lens()[which]]);
        for start in &self.starts {
            for row in 0..layout.rows() {
                for column in 0..layout.columns() {
                    held[start[which] + layout.index(row, column)] = true;
                }
            }
        }
        held
    }
}

/// Small integers, of which every operation of every type is exact.
fn exact<P: Product>(device: &Device, case: &Case, seed: u64) {
    let small = |which: u64, at: usize| (random(seed + which, at) % 5) as i64 - 2;
    let factor = |which: usize| -> Vec<P::Factor> {
        let held = case.held(which);
        let value = |at| if held[at] { P::factor(small(which as u64, at)) } else { P::outside() };
        (0..held.len()).map(value).collect()
    };
    let (a, b) = (factor(0), factor(1));
    let len = case.lens()[2];
    let mut expected: Vec<i64> = (0..len).map(|at| small(2, at)).collect();
    let c: Vec<P::Output> = expected.iter().map(|&value| P::output(value)).collect();
    let ([of_a, of_b, of_c], [m, n, k], [alpha, beta]) = (case.layouts(), case.shape, case.factors);
    for start in &case.starts {
        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
            let value =
                |at| small(0, start[0] + of_a.index(row, at)) * small(1, start[1] + of_b.index(at, column));
            let sum: i64 = (0..k).map(value).sum();
            let at = &mut expected[start[2] + of_c.index(row, column)];
            *at = alpha * sum + beta * *at;
        }
    }
    let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    let mut output = device.upload(&c).unwrap();
    let starts = BatchStarts::new(device, &case.starts).unwrap();
    let (a, b) = (Matrix::new(&a, of_a), Matrix::new(&b, of_b));
    let product = MatrixMut::new(&mut output, of_c).unwrap();
    match P::run(&device.default_stream(), case.factors, a.unwrap(), b.unwrap(), product, &starts) {
        Ok(()) => {}
        Err(error @ Error::NoTensorCores { .. }) => return println!("skipped on {}: {error}", device.name()),
        Err(error) => panic!("{case:?} on {}: {error}", device.name()),
    }
    let expected: Vec<P::Output> = expected.into_iter().map(P::output).collect();
    let actual = output.to_vec().unwrap();
    let wrong = (0..len).filter(|&at| actual[at] != expected[at]).count();
    assert_eq!(wrong, 0, "of {len}: {case:?} on {}", device.name());
}

#[test]
fn batches_by_starts_of_small_integers_are_exact() {
    for_each("batches_by_starts_of_small_integers_are_exact", |device| {
        for seed in 0..40 {
            let case = Case::drawn(seed);
            match seed % 6 {
                0 => exact::<Singles>(device, &case, seed),
                1 => exact::<Doubles>(device, &case, seed),
                2 => exact::<Tf32>(device, &case, seed),
                3 => exact::<BrainToSingle>(device, &case, seed),
                4 => exact::<Halves>(device, &case, seed),
                _ => exact::<Bytes>(device, &case, seed),
            }
        }
    });
}

/// All orders of all types, at a shape with whole and cut tiles of every kernel that takes starts.
#[test]
fn batches_by_starts_take_every_order() {
    let all = (0..8).map(|bits: usize| [0, 1, 2].map(|at| ORDERS[bits >> at & 1]));
    let cases: Vec<Case> = all
        .enumerate()
        .map(|(number, orders)| {
            let (shape, gap) = ([[136, 72, 40], [40, 140, 33]][number % 2], number % 2);
            let [a, b, c] =
                Case::layouts_of(shape, orders, gap).map(|layout| layout.span().next_multiple_of(16));
            let starts = vec![[a, 0, c + 16], [0, b, 0]];
            Case { shape, orders, gap, starts, factors: [1, 1] }
        })
        .collect();
    // Of few multiprocessors, so that the wider tiles are taken.
    for_each_small("batches_by_starts_take_every_order", |device| {
        for (seed, case) in cases.iter().enumerate() {
            let seed = seed as u64;
            exact::<Singles>(device, case, seed);
            exact::<Doubles>(device, case, seed);
            exact::<Tf32>(device, case, seed);
            exact::<BrainToSingle>(device, case, seed);
            exact::<Halves>(device, case, seed);
            exact::<Bytes>(device, case, seed);
        }
    });
}

/// Reals: on every device the bits of one chain of fused multiply-adds over ascending `k`.
#[test]
fn batches_by_starts_have_the_bits_of_chains() {
    macro_rules! check {
        ($T:ty, $device:expr, $case:expr, $seed:expr) => {{
            let (device, case): (&Device, &Case) = ($device, $case);
            let [a_len, b_len, c_len] = case.lens();
            let (a, b) = (values::<$T>($seed, a_len), values::<$T>($seed + 1, b_len));
            let mut expected = values::<$T>($seed + 2, c_len);
            let mut output = device.upload(&expected).unwrap();
            let [of_a, of_b, of_c] = case.layouts();
            let (alpha, beta): ($T, $T) = (-1.25, 0.75);
            for start in &case.starts {
                for (row, column) in
                    (0..of_c.rows()).flat_map(|row| (0..of_c.columns()).map(move |at| (row, at)))
                {
                    let sum = (0..of_a.columns()).fold(0.0, |sum: $T, k| {
                        a[start[0] + of_a.index(row, k)].mul_add(b[start[1] + of_b.index(k, column)], sum)
                    });
                    let c = &mut expected[start[2] + of_c.index(row, column)];
                    *c = alpha.mul_add(sum + 0.0, beta * *c);
                }
            }
            let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
            let starts = BatchStarts::new(device, &case.starts).unwrap();
            let (a, b) = (Matrix::new(&a, of_a).unwrap(), Matrix::new(&b, of_b).unwrap());
            let product = MatrixMut::new(&mut output, of_c).unwrap();
            gemm_batched(&device.default_stream(), alpha, a, b, beta, product, &starts).unwrap();
            let bits = |values: &[$T]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert!(bits(&output.to_vec().unwrap()) == bits(&expected), "{case:?} on {}", device.name());
        }};
    }
    for_each("batches_by_starts_have_the_bits_of_chains", |device| {
        for seed in 100..106 {
            check!(f32, device, &Case::drawn(seed), seed);
            check!(f64, device, &Case::drawn(seed + 50), seed);
        }
        // Where `gemm` would cut the sums.
        let orders = [Order::RowMajor, Order::ColumnMajor, Order::RowMajor];
        let long = Case { shape: [9, 10, 1500], orders, gap: 1, starts: vec![[3, 1, 0]], factors: [1, 1] };
        check!(f32, device, &long, 7);
        check!(f64, device, &long, 7);
    });
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_written() {
    for_each("what_cannot_be_is_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let a = device.upload(&[1.0f32; 12]).unwrap();
        let mut c = device.upload(&[7.0f32; 12]).unwrap();
        let [two, wide] = [(2, 2), (2, 3)].map(|(rows, columns)| Layout::row_major(rows, columns).unwrap());
        let mut run = |of_a, of_c, starts: &[[usize; 3]]| {
            let starts = BatchStarts::new(device, starts).unwrap();
            let (a, b) = (Matrix::new(&a, of_a).unwrap(), Matrix::new(&a, two).unwrap());
            let product = MatrixMut::new(&mut c, of_c).unwrap();
            gemm_batched(&stream, 1.0, a, b, 0.0, product, &starts).unwrap_err()
        };
        let error = run(wide, two, &[[0, 0, 0]]);
        assert!(matches!(error, Error::ProductShapes { a: (2, 3), b: (2, 2), c: (2, 2) }), "{error:?}");
        for (at, what) in ["the last A", "the last B", "the last C"].into_iter().enumerate() {
            let mut starts = [0; 3];
            starts[at] = 9;
            let error = run(two, two, &[[0, 0, 4], starts]);
            let Error::Device(Core::Length { what: found, expected: 13, actual: 12 }) = error else {
                panic!("{error:?}")
            };
            assert!(found.starts_with(what), "{found}");
            starts[at] = usize::MAX;
            let error = run(two, two, &[starts]);
            assert!(matches!(error, Error::Device(Core::Length { .. })), "{error:?}");
        }
        let error = run(two, two, &[[0, 0, 8], [0, 0, 0], [0, 0, 5]]);
        let Error::Device(Core::Matrix(Invalid::Overlap { expected: 4, actual: 3 })) = error else {
            panic!("{error:?}")
        };
        assert_eq!(c.to_vec().unwrap(), [7.0; 12]);
        // Nothing to do.
        let starts = BatchStarts::new(device, &[]).unwrap();
        let (factor, product) = (Matrix::new(&a, two).unwrap(), MatrixMut::new(&mut c, two).unwrap());
        gemm_batched(&stream, 1.0, factor, factor, 0.0, product, &starts).unwrap();
        assert_eq!((starts.count(), c.to_vec().unwrap()), (0, vec![7.0; 12]));
    });
}
