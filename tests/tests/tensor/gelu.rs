//! The Gaussian error linear unit of products: one body over all backends, against SciPy and an oracle in `f64`.

use gpu_core::Kind;
use gpu_linalg::variants::TensorVariant;
use gpu_linalg::{Activation, bf16};
use gpu_tests::backends::for_each;
use gpu_tests::data::random;
use gpu_tests::golden::blocks;

use super::epilogue::{Fused, PLAIN, product};
use super::{Case, UNTOUCHED, filled, sums};

/// `E` of `gelu_tanh`'s error: what `e` is raised to.
fn exponent(x: f64) -> f64 {
    2.0 * (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x)
}

/// Half of the smallest number, which is lost of what is as small.
const SMALLEST: f64 = f32::from_bits(1) as f64 / 2.0;

/// GELU of SciPy's numbers, as a product without sums whose C holds them: the same bits on each device, within the
/// bound; and of what is not finite.
#[test]
fn gelu_is_the_same_on_each_device_and_within_its_bound() {
    let text = include_str!("../data/scipy_gelu.txt");
    let golden = &blocks(text, "x")[0];
    let x: Vec<f32> = golden.numbers("x");
    let u = 1.0 / f64::from(1 << 24);
    for (what, activation) in [("erf", Activation::Gelu), ("tanh", Activation::GeluTanh)] {
        let expected: Vec<f64> = golden.numbers(what);
        for_each("gelu_is_the_same_on_each_device_and_within_its_bound", |device| {
            let fused = Fused { per_row: None, gap: None, activation };
            // A sum, which is 0, and -0 would be 0.
            assert!(activation.of(-0.0).is_sign_negative() && activation.of(-0.0) == 0.0);
            let specials = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, f32::MAX, f32::MIN];
            let given = [&x[..], &specials].concat();
            let case = Case { shape: [1, given.len(), 0], dense: true, beta: 1.0, ..PLAIN };
            let c = [&given[..], &[UNTOUCHED; 32]].concat();
            for variant in [TensorVariant::Lanes, TensorVariant::Narrow, TensorVariant::Thin] {
                let none: [&[bf16]; 2] = [&[bf16::ZERO; 64], &[bf16::ZERO; 64]];
                let Some(actual) = product::<bf16, f32>(device, Some(variant), case, fused, none, &c, &[])
                else {
                    continue;
                };
                for (&x, &actual) in given.iter().zip(&actual) {
                    let same = activation.of(x);
                    assert!(
                        actual.to_bits() == same.to_bits() || x.is_nan() && actual.is_nan(),
                        "{activation:?} of {x} on {}: {actual}, on the CPU {same}",
                        device.name()
                    );
                }
                assert_eq!(actual[given.len()..], [UNTOUCHED; 32]);
                for ((&x, &exact), &actual) in x.iter().zip(&expected).zip(&actual) {
                    let e =
                        if what == "erf" { 29.0 } else { 10.0 + 4.0 * exponent(x.into()).abs().min(115.0) };
                    let bound = e * u * exact.abs() + SMALLEST;
                    let error = (f64::from(actual) - exact).abs();
                    assert!(error <= bound, "{activation:?} of {x} is {actual}, not {exact}");
                }
                let [nan, infinity, none, zero, large, small] = actual[x.len()..given.len()] else {
                    unreachable!("six numbers");
                };
                assert!(nan.is_nan());
                let others = [infinity, none, zero, large, small];
                assert_eq!(others, [f32::INFINITY, 0.0, 0.0, f32::MAX, 0.0]);
                assert_eq!(others.map(f32::is_sign_negative), [false, true, false, false, true]);
            }
        });
    }
}

/// Any numbers, by several kernels: GELU of a sum that is off by its bound, and in the simulator the bits of the CPU.
#[test]
fn gelu_of_products_is_within_the_bound() {
    let case = Case { shape: [40, 70, 33], columns: [false, true, true], alpha: 0.25, ..PLAIN };
    let layouts = case.layouts();
    let uniform = |bits: u64| (bits >> 40) as f32 / (1 << 22) as f32 - 2.0;
    let a = filled::<bf16>(layouts[0], 4, 0.0, uniform);
    let b = filled::<bf16>(layouts[1], 5, 0.0, uniform);
    let c = filled::<f32>(layouts[2], 6, UNTOUCHED, uniform);
    let bias: Vec<f32> = (0..40).map(|at| uniform(random(7, at))).collect();
    let fused = Fused { per_row: Some(true), gap: None, activation: Activation::GeluTanh };
    let (sums, u) = (sums(&a, &b, layouts), 1.0 / f64::from(1 << 24));
    let mut first: Option<Vec<f32>> = None;
    for_each("gelu_of_products_is_within_the_bound", |device| {
        for variant in TensorVariant::ALL {
            let Some(actual) = product::<bf16, f32>(device, Some(variant), case, fused, [&a, &b], &c, &bias)
            else {
                continue;
            };
            for (number, &(at, sum, sizes)) in sums.iter().enumerate() {
                let bias = f64::from(bias[number / 70]);
                let x = 0.25 * sum + bias;
                // Of the sum, of its scaling and of the bias' addition, which GELU makes 1.13 times as large.
                let off = 0.25 * sizes * (2.0 * 33.0 * 2.0 * u) + 2.0 * u * (0.25 * sizes + bias.abs());
                let exact = x / (1.0 + (-exponent(x)).exp());
                let bound = 1.13 * off + (10.0 + 4.0 * exponent(x).abs()) * u * exact.abs();
                let error = (f64::from(actual[at]) - exact).abs();
                assert!(error <= bound, "{variant:?} on {}: off by {error}, allowed {bound}", device.name());
            }
            match &first {
                None => first = Some(actual),
                Some(first) if device.kind() != Kind::Cuda => assert_eq!(&actual, first, "{variant:?}"),
                Some(_) => {}
            }
        }
    });
}
