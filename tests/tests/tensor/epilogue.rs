//! Products with a bias and an activation: one body over all backends, against a serial oracle in `f64`.

use gpu_core::{Device, Error as Core, Kind, ScratchSize};
use gpu_linalg::plan::tensor::{Choice, Plan, split};
use gpu_linalg::variants::{self, TensorVariant};
use gpu_linalg::{
    Activation, Batch, BatchLayout, BatchMut, Epilogue, Error, Layout, Matrix, MatrixMut, TensorOutput, bf16,
    f16, gemm_tensor_scratch, gemm_tensor_with, gemm_tf32_scratch, gemm_tf32_with,
};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_tensor_kernels::{Factors, LANES_THREADS, Place, Product, product_by_lanes};
use gpu_tests::backends::{cases, for_each};
use gpu_tests::data::random;
use gpu_tests::scratch::exactly;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::{Case, Number, UNTOUCHED, behind, filled, sums};

/// A type of factors, and the functions that multiply them into a C of `C`.
pub(super) trait Factor<C: gpu_core::Element>: Number + gpu_core::Element {
    #[expect(clippy::too_many_arguments, reason = "those of the product")]
    fn product(
        device: &Device,
        variant: Option<TensorVariant>,
        alpha: f32,
        a: Batch<'_, Self>,
        b: Batch<'_, Self>,
        beta: f32,
        c: BatchMut<'_, C>,
        epilogue: &Epilogue<'_>,
    ) -> Result<(), Error>;
}

macro_rules! factors {
    ($(
        [$($C:ident)?] $T:ident, $C_of:ident: $with:ident, $size:ident |$a:ident, $b:ident| $of_a:expr, $of_b:expr;
    )*) => { $(
        impl$(<$C: TensorOutput<$T>>)? Factor<$C_of> for $T {
            fn product(
                device: &Device,
                variant: Option<TensorVariant>,
                alpha: f32,
                $a: Batch<'_, Self>,
                $b: Batch<'_, Self>,
                beta: f32,
                c: BatchMut<'_, $C_of>,
                epilogue: &Epilogue<'_>,
            ) -> Result<(), Error> {
                let size = match variant {
                    None => $size($of_a, $of_b, c.layout()),
                    Some(variant) => variants::$size(variant, $of_a, $of_b, c.layout()),
                };
                let stream = device.default_stream();
                let mut scratch = exactly(&stream, size);
                match variant {
                    None => $with(&stream, alpha, $a, $b, beta, c, epilogue, &mut scratch),
                    Some(variant) => {
                        variants::$with(&stream, variant, alpha, $a, $b, beta, c, epilogue, &mut scratch)
                    }
                }
            }
        }
    )* };
}
factors! {
    [C] bf16, C: gemm_tensor_with, gemm_tensor_scratch |a, b| a, b;
    [C] f16, C: gemm_tensor_with, gemm_tensor_scratch |a, b| a, b;
    [] f32, f32: gemm_tf32_with, gemm_tf32_scratch |a, b| a.layout(), b.layout();
}

/// A bias and an activation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fused {
    /// For each row, or for each column; or there is none.
    pub per_row: Option<bool>,
    /// Elements between the biases of two matrices, or there is one for all.
    pub gap: Option<usize>,
    pub activation: Activation,
}

impl Fused {
    /// How many elements the bias has.
    fn len(self, case: Case) -> usize {
        let of_one = self.of_one(case);
        self.gap.map_or(of_one, |gap| (of_one + gap) * (case.count - 1) + of_one)
    }

    fn of_one(self, case: Case) -> usize {
        if self.per_row == Some(true) { case.shape[0] } else { case.shape[1] }
    }

    /// The bias of an element.
    fn of(self, case: Case, bias: &[f32], at: [usize; 3]) -> f32 {
        let [matrix, row, column] = at;
        let first = matrix * self.gap.map_or(0, |gap| self.of_one(case) + gap);
        self.per_row.map_or(0.0, |per_row| bias[first + if per_row { row } else { column }])
    }
}

/// The product on a device; `None` after saying so where that has no tensor cores.
pub(super) fn product<T: Factor<C>, C: gpu_core::Element + Number>(
    device: &Device,
    variant: Option<TensorVariant>,
    case: Case,
    fused: Fused,
    [a, b]: [&[T]; 2],
    c: &[C],
    bias: &[f32],
) -> Option<Vec<C>> {
    let layouts = case.layouts();
    let (a, b) = (device.upload(a).unwrap(), device.upload(b).unwrap());
    // It begins at an odd address, and ends with its last element.
    let bias = device.upload(&[&[f32::NAN], bias].concat()).unwrap();
    let mut output = device.upload(c).unwrap();
    let a = Batch::new(a.slice(case.starts[0]..), layouts[0]).unwrap();
    let b = Batch::new(b.slice(case.starts[1]..), layouts[1]).unwrap();
    let output_batch = BatchMut::new(&mut output, layouts[2]).unwrap();
    let mut epilogue = Epilogue::new().activation(fused.activation);
    epilogue = match fused.per_row {
        None => epilogue,
        Some(true) => epilogue.bias_per_row(bias.slice(1..)),
        Some(false) => epilogue.bias_per_column(bias.slice(1..)),
    };
    if let Some(gap) = fused.gap {
        epilogue = epilogue.bias_stride(fused.of_one(case) + gap);
    }
    match T::product(device, variant, case.alpha, a, b, case.beta, output_batch, &epilogue) {
        Ok(()) => Some(output.to_vec().unwrap()),
        Err(error @ Error::NoTensorCores { .. }) => {
            println!("skipped on {}: {error}", device.name());
            None
        }
        Err(error) => panic!("{case:?} on {}: {error}", device.name()),
    }
}

/// Small integers: all but GELU is exact, so all devices give the same bits, those of the oracle.
fn exact<T: Factor<C>, C: gpu_core::Element + Number>(
    device: &Device,
    variant: Option<TensorVariant>,
    case: Case,
    fused: Fused,
) {
    let layouts = case.layouts();
    let small = |bits: u64| (bits % 5) as f32 - 2.0;
    let a = filled::<T>(layouts[0], 1, f32::NAN, small);
    let b = filled::<T>(layouts[1], 2, f32::NAN, small);
    let c =
        filled::<C>(layouts[2], 3, UNTOUCHED, |bits| if case.beta == 0.0 { f32::NAN } else { small(bits) });
    let bias: Vec<f32> = (0..fused.len(case)).map(|at| (random(4, at) % 31) as f32 - 15.0).collect();
    let mut expected = c.clone();
    let [m, n, _] = case.shape;
    for (number, (at, sum, _)) in sums(&a, &b, layouts).into_iter().enumerate() {
        let old = if case.beta == 0.0 { 0.0 } else { f64::from(case.beta) * f64::from(c[at].value()) };
        let place = [number / (m * n), number / n % m, number % n];
        let exact = f64::from(case.alpha) * sum + old + f64::from(fused.of(case, &bias, place));
        expected[at] =
            C::of(if fused.activation == Activation::Relu { exact.max(0.0) } else { exact } as f32);
    }
    let (a, b) = (behind(case.starts[0], a), behind(case.starts[1], b));
    let Some(actual) = product::<T, C>(device, variant, case, fused, [&a, &b], &c, &bias) else { return };
    let wrong: Vec<usize> = (0..expected.len()).filter(|&at| actual[at] != expected[at]).collect();
    if let Some(&at) = wrong.first() {
        panic!(
            "{variant:?} of {case:?} with {fused:?} on {}: element {at} is {:?}, not {:?}; {} of {} are wrong",
            device.name(),
            actual[at],
            expected[at],
            wrong.len(),
            expected.len()
        );
    }
}

pub(super) const PLAIN: Case = Case {
    shape: [1; 3],
    columns: [false; 3],
    count: 1,
    odd: [false; 2],
    dense: false,
    starts: [0; 2],
    alpha: 1.0,
    beta: 0.0,
};

/// Each kernel, with C in either order, of either type, aligned or not, read or not, and a bias of rows or columns.
#[test]
fn bias_and_relu_are_exact_in_each_kernel() {
    for_each("bias_and_relu_are_exact_in_each_kernel", |device| {
        for (number, variant) in TensorVariant::ALL.into_iter().enumerate() {
            for bits in 0..8_usize {
                let bit = |at: usize| bits >> at & 1 == 1;
                let case = Case {
                    // Neither a whole tile nor whole strips; of two matrices C has odd lines.
                    shape: [[33, 40, 24], [70, 9, 24]][(bits ^ number) & 1],
                    columns: [bit(1), bit(0) ^ bit(2), bit(0)],
                    count: 1 + usize::from(bit(2)),
                    alpha: if bit(1) { 2.0 } else { 1.0 },
                    beta: [0.0, 1.0, -2.0][(bits + number) % 3],
                    ..PLAIN
                };
                let activation = if (bits + number) % 4 == 3 { Activation::None } else { Activation::Relu };
                let gap = (bit(2) && bit(0)).then_some(3);
                let fused = Fused { per_row: Some(bit(1)), gap, activation };
                match (bits + number) % 3 {
                    0 => exact::<bf16, f32>(device, Some(variant), case, fused),
                    1 => exact::<bf16, bf16>(device, Some(variant), case, fused),
                    _ => exact::<f16, f16>(device, Some(variant), case, fused),
                }
                if bits % 3 == number % 3 {
                    exact::<f32, f32>(device, Some(variant), case, fused);
                }
            }
        }
    });
}

/// The kernels that plans take: of sums in parts, which are added before, and of factors that are not aligned.
#[test]
fn bias_and_relu_are_exact_where_sums_are_in_parts() {
    for_each("bias_and_relu_are_exact_where_sums_are_in_parts", |device| {
        let shapes = [[1, 1, 1], [9, 20, 700], [20, 9, 700], [34, 36, 700], [130, 3, 300]];
        for (number, shape) in shapes.into_iter().enumerate() {
            for bits in 0..4_usize {
                let columns = [number % 2 == 0, bits == 2, bits & 1 == 1];
                let beta = [0.0, -1.0][(number + bits) / 2 % 2];
                let odd = [number % 2 == 1, false];
                let case =
                    Case { shape, columns, odd, count: 1 + bits / 3, starts: [bits, 0], beta, ..PLAIN };
                let per_row = Some(bits >> 1 & 1 == 1);
                let fused = Fused { per_row, gap: Some(number), activation: Activation::Relu };
                let [m, n, k] = shape.map(|extent| extent as u32);
                assert!(
                    split(2, if columns[2] { [n, m, k] } else { [m, n, k] }, case.count).0 > 1 || k < 700
                );
                if bits % 2 == number % 2 {
                    exact::<f16, f32>(device, None, case, fused);
                } else {
                    exact::<bf16, bf16>(device, None, case, fused);
                }
                if bits == number % 4 {
                    exact::<f32, f32>(device, None, case, fused);
                }
            }
        }
    });
}

/// Without factors or sums an epilogue is applied all the same, and nothing happens to a C that is empty.
#[test]
fn an_epilogue_needs_no_sums() {
    for_each("an_epilogue_needs_no_sums", |device| {
        let fused = Fused { per_row: Some(false), gap: None, activation: Activation::Relu };
        for variant in [None, Some(TensorVariant::Lanes), Some(TensorVariant::Wide)] {
            exact::<bf16, f32>(device, variant, Case { shape: [5, 11, 0], beta: 1.0, ..PLAIN }, fused);
            exact::<f16, f16>(device, variant, Case { shape: [5, 11, 7], alpha: 0.0, ..PLAIN }, fused);
        }
        exact::<bf16, f32>(device, None, Case { shape: [0, 11, 7], ..PLAIN }, fused);
        exact::<f32, f32>(device, None, Case { shape: [6, 3, 0], beta: 0.0, ..PLAIN }, fused);
    });
}

/// NaN is NaN through ReLU and a bias, and so are infinities what they are.
#[test]
fn relu_and_bias_keep_what_is_not_a_number() {
    for_each("relu_and_bias_keep_what_is_not_a_number", |device| {
        let c = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1.0, 1.0, 1.0, 1.0];
        let bias = [0.0, 0.0, 0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -2.0];
        let case = Case { shape: [1, 8, 0], dense: true, beta: 1.0, ..PLAIN };
        let fused = Fused { per_row: Some(false), gap: None, activation: Activation::Relu };
        let none: [&[bf16]; 2] = [&[bf16::ZERO; 64], &[bf16::ZERO; 64]];
        let c = [&c[..], &[UNTOUCHED; 16]].concat();
        for variant in [None, Some(TensorVariant::Lanes)] {
            let Some(actual) = product::<bf16, f32>(device, variant, case, fused, none, &c, &bias) else {
                continue;
            };
            assert!(actual[0].is_nan() && actual[4].is_nan(), "{actual:?}");
            assert_eq!(
                [1, 2, 3, 5, 6, 7].map(|at| actual[at]),
                [f32::INFINITY, 0.0, 0.0, f32::INFINITY, 0.0, 0.0]
            );
            assert!(!actual[3].is_sign_negative(), "the larger of -0 and 0");
        }
    });
}

/// Random shapes, layouts, kernels and epilogues, which shrink to the smallest case that fails.
#[test]
fn epilogues_of_random_products_are_exact() {
    for_each("epilogues_of_random_products_are_exact", |device| {
        let config = Config { cases: cases().div_ceil(8), failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x9e; 32]));
        let side = || prop_oneof![4 => 0..20usize, 2 => 30..40usize, 1 => Just(130)];
        let drawn = (side(), side(), 0..90usize, any::<[bool; 8]>(), 1..3usize, 0..4usize, 0..3usize);
        let result = runner.run(&drawn, |(m, n, k, bits, count, gap, kernel)| {
            let case = Case {
                shape: [m, n, k],
                columns: [bits[0], bits[1], bits[2]],
                count,
                odd: [bits[3], false],
                starts: [usize::from(bits[4]), 0],
                beta: if bits[5] { -1.0 } else { 0.0 },
                ..PLAIN
            };
            let activation = if bits[6] { Activation::Relu } else { Activation::None };
            let gap = gap.checked_sub(1);
            let fused = Fused { per_row: (kernel > 0).then_some(bits[7]), gap, activation };
            let variant = [None, None, Some(TensorVariant::Lanes)][kernel];
            if bits[6] {
                exact::<bf16, f32>(device, variant, case, fused);
            } else {
                exact::<bf16, bf16>(device, variant, case, fused);
            }
            Ok(())
        });
        result.unwrap();
    });
}

/// Errors have the numbers, and C is as it was.
#[test]
fn epilogues_check_their_bias() {
    for_each("epilogues_check_their_bias", |device| {
        let stream = device.default_stream();
        let old = vec![7.0_f32; 96];
        let mut output = device.upload(&old).unwrap();
        let memory = device.zeroed::<bf16>(96).unwrap();
        let bias = device.zeroed::<f32>(20).unwrap();
        let mut scratch = exactly(&stream, ScratchSize::new());
        let layout = |rows, columns, count| BatchLayout {
            matrix: Layout::row_major(rows, columns).unwrap(),
            count,
            stride: rows * columns,
        };
        // Two of 4 × 6, whose biases have as many elements.
        let mut call = |epilogue: Epilogue<'_>| {
            let a = Batch::new(&memory, layout(4, 8, 2)).unwrap();
            let b = Batch::new(&memory, layout(8, 6, 2)).unwrap();
            let c = BatchMut::new(&mut output, layout(4, 6, 2)).unwrap();
            gemm_tensor_with::<bf16, f32>(&stream, 1.0, a, b, 0.0, c, &epilogue, &mut scratch).unwrap_err()
        };
        let relu = Epilogue::new().activation(Activation::Relu);
        let lengths = [
            (relu.bias_per_row(bias.slice(..6)), [4, 6]),
            (relu.bias_per_column(bias.slice(..4)), [6, 4]),
            (relu.bias_per_column(bias.slice(..0)), [6, 0]),
            (relu.bias_per_column(bias.slice(..12)).bias_stride(7), [13, 12]),
            (relu.bias_per_row(&bias).bias_stride(usize::MAX), [usize::MAX, 20]),
        ];
        for (epilogue, numbers) in lengths {
            match call(epilogue) {
                Error::Device(Core::LengthMismatch { what, expected, actual }) => {
                    assert_eq!((what, [expected, actual]), ("a bias for the output", numbers));
                }
                error => panic!("{error}"),
            }
        }
        let elsewhere = if device.kind() == Kind::Cpu { Device::simulator() } else { Device::cpu() };
        let foreign = elsewhere.zeroed::<f32>(6).unwrap();
        let error = call(relu.bias_per_column(&foreign));
        assert!(matches!(error, Error::Device(Core::WrongDevice { .. })), "{error}");
        assert_eq!(output.to_vec().unwrap(), old);
    });
}

/// An epilogue of one's own: what is larger than a limit is cut, and the diagonal is zero.
#[derive(Clone, Copy)]
struct Clipped {
    limit: f32,
}

impl gpu_tensor_kernels::Epilogue<f32> for Clipped {
    fn apply(&self, value: f32, Place { row, column, .. }: Place) -> f32 {
        if row == column { 0.0 } else { value.min(self.limit) }
    }
}

/// Products with it.
#[kernel(launch_bounds(256, 2))]
pub fn clipped(
    a: Global<bf16>,
    b: Global<bf16>,
    c: GlobalMut<bf16>,
    product: Product,
    factors: Factors,
    limit: f32,
) {
    product_by_lanes::<bf16, _, 8>(a, b, c, product, factors, 1.0, 0.0, Clipped { limit });
}

#[test]
fn an_epilogue_of_ones_own_makes_a_kernel() {
    let device = Device::simulator();
    let (m, n, k) = (9, 14, 5);
    let small: Vec<bf16> = (0..m * k).map(|at| bf16::from_f32((random(8, at) % 7) as f32 - 3.0)).collect();
    let others: Vec<bf16> = (0..k * n).map(|at| bf16::from_f32((random(9, at) % 7) as f32 - 3.0)).collect();
    let (a, b) = (device.upload(&small).unwrap(), device.upload(&others).unwrap());
    let mut output = device.zeroed::<f32>(m * n).unwrap();
    let of = |rows, columns| Layout::row_major(rows, columns).unwrap();
    let a = Matrix::new(&a, of(m, k)).unwrap();
    let b = Matrix::new(&b, of(k, n)).unwrap();
    let layouts = [Batch::from(a).layout(), Batch::from(b).layout()];
    let mut c = MatrixMut::new(&mut output, of(m, n)).unwrap();
    let c_layout = BatchLayout { matrix: c.layout(), count: 1, stride: 0 };
    let addresses = [a.data().as_global().address(), b.data().as_global().address(), 0, 0];
    let choice = Choice::of(Some(TensorVariant::Lanes));
    let plan = Plan::new((2, 4), 1, [layouts[0], layouts[1], c_layout], addresses, true, choice).unwrap();
    let (launch, factors) = plan.lanes;
    assert_eq!(launch.block, [LANES_THREADS, 1, 1]);
    let target = c.data_mut().as_global_mut().cast::<bf16>();
    let arguments = (a.data(), b.data(), target, plan.product, factors, 2.0);
    // SAFETY: the plan is that of the three matrices.
    unsafe { device.default_stream().launch::<clipped>(launch, arguments) }.unwrap();
    for (at, actual) in output.to_vec().unwrap().into_iter().enumerate() {
        let (row, column) = (at / n, at % n);
        let sum: f32 =
            (0..k).map(|k_at| small[row * k + k_at].to_f32() * others[k_at * n + column].to_f32()).sum();
        assert_eq!(actual, if row == column { 0.0 } else { sum.min(2.0) }, "row {row}, column {column}");
    }
}
