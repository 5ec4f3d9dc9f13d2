//! The steps to the products: against the oracle, and with the bits of the kernels that they lead to.

use gpu_core::Device;
use gpu_linalg::variants::{TensorStep, TensorVariant, gemm_step};
use gpu_linalg::{BatchLayout, Error, Layout, bf16};
use gpu_tests::backends::for_each;

use super::epilogue::PLAIN;
use super::{Case, filled, product, sums};

/// Row-major matrices without gaps.
fn layouts([m, n, k]: [usize; 3]) -> [BatchLayout; 3] {
    [(m, k), (k, n), (m, n)].map(|(rows, columns)| {
        let matrix = Layout::row_major(rows, columns).unwrap();
        BatchLayout { matrix, count: 1, stride: rows * columns }
    })
}

/// The factors, and nothing behind them.
fn factors(shape: [usize; 3], value: impl Fn(u64) -> f32 + Copy) -> [Vec<bf16>; 2] {
    let [a, b, _] = layouts(shape);
    [(a, 30), (b, 31)].map(|(layout, seed)| {
        let mut values = filled::<bf16>(layout, seed, f32::NAN, value);
        values.truncate(layout.span().unwrap());
        values
    })
}

/// C, which was NaN; `None` after saying so where the device has no such tensor cores.
fn by_step(
    device: &Device,
    step: TensorStep,
    [a, b]: [&[bf16]; 2],
    shape @ [m, n, _]: [usize; 3],
) -> Option<Vec<f32>> {
    let (a, b) = (device.upload(a).unwrap(), device.upload(b).unwrap());
    let mut c = device.upload(&vec![f32::NAN; m * n]).unwrap();
    match gemm_step(step, &device.default_stream(), &a, &b, &mut c, shape) {
        Ok(()) => Some(c.to_vec().unwrap()),
        Err(error @ Error::NoTensorCores { .. }) => {
            println!("skipped on {}: {error}", device.name());
            None
        }
        Err(error) => panic!("{step:?}, {shape:?} on {}: {error}", device.name()),
    }
}

fn for_each_with_kernels(name: &str, body: impl Fn(&Device)) {
    for_each(name, |device| {
        // The CPU has no kernels to learn from.
        if device.kind() != gpu_core::Kind::Cpu {
            body(device);
        }
    });
}

#[test]
fn steps_are_exact() {
    for_each_with_kernels("steps_are_exact", |device| {
        // Less than a tile, of C and along k; one; edges of several; no products; more of k than the ring has stages.
        let shapes = [
            [1, 8, 8],
            [128, 128, 64],
            [64, 8, 200],
            [200, 264, 72],
            [130, 136, 136],
            [9, 16, 0],
            [33, 128, 584],
        ];
        for shape in shapes {
            let [a, b] = factors(shape, |bits| (bits % 5) as f32 - 2.0);
            for step in TensorStep::ALL {
                let Some(c) = by_step(device, step, [&a, &b], shape) else { continue };
                for (at, sum, _) in sums(&a, &b, layouts(shape)) {
                    assert_eq!(c[at], sum as f32, "{step:?}, {shape:?}: element {at} on {}", device.name());
                }
            }
        }
    });
}

/// They add in the same order.
#[test]
fn steps_have_the_bits_of_the_kernels_that_they_lead_to() {
    for_each_with_kernels("steps_have_the_bits_of_the_kernels_that_they_lead_to", |device| {
        let shape = [150, 272, 328];
        let [a, b] = factors(shape, |bits| (bits >> 40) as f32 / (1 << 23) as f32 - 1.0);
        let case = Case { shape, dense: true, ..PLAIN };
        let [of_a, of_b, of_c] = case.layouts();
        assert_eq!([of_a.matrix, of_b.matrix, of_c.matrix], layouts(shape).map(|layout| layout.matrix));
        let (c, stride) = (vec![f32::NAN; of_c.stride], shape[0] * shape[1]);
        for (step, variant) in [
            (TensorStep::Fragments, TensorVariant::Lanes),
            (TensorStep::Tiles, TensorVariant::Narrow),
            (TensorStep::Boxes, TensorVariant::Narrow),
        ] {
            let own = by_step(device, step, [&a, &b], shape);
            let other = product::<bf16, f32>(device, Some(variant), case, [&a, &b], &c);
            let (Some(own), Some(other)) = (own, other) else { continue };
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&own), bits(&other[..stride]), "{step:?} on {}", device.name());
        }
    });
}

#[test]
fn steps_refuse_what_does_not_fit() {
    let device = Device::simulator();
    let stream = device.default_stream();
    let zeros = device.zeroed::<bf16>(1000).unwrap();
    let mut c = device.upload(&[7.0f32; 300]).unwrap();
    for step in TensorStep::ALL {
        for shape in [[8, 8, 12], [8, 12, 8]] {
            let [m, n, k] = shape;
            let (a, b) = (zeros.slice(..m * k), zeros.slice(..k * n));
            let refused = gemm_step(step, &stream, a, b, c.slice_mut(..m * n), shape);
            assert!(matches!(refused, Err(Error::Unaligned { bytes: 16 })), "{refused:?}");
        }
        // It begins between two multiples of 16 bytes.
        let refused =
            gemm_step(step, &stream, zeros.slice(1..65), zeros.slice(..64), c.slice_mut(..64), [8; 3]);
        assert!(matches!(refused, Err(Error::Unaligned { bytes: 16 })), "{refused:?}");
        let refused =
            gemm_step(step, &stream, zeros.slice(..63), zeros.slice(..64), c.slice_mut(..64), [8; 3]);
        let length =
            matches!(refused, Err(Error::Device(gpu_core::Error::Length { expected: 64, actual: 63, .. })));
        assert!(length, "{refused:?}");
        let on_cpu = Device::cpu();
        let ones = on_cpu.zeroed::<bf16>(64).unwrap();
        let mut out = on_cpu.zeroed::<f32>(64).unwrap();
        let refused = gemm_step(step, &on_cpu.default_stream(), &ones, &ones, &mut out, [8; 3]);
        assert!(matches!(refused, Err(Error::Device(_))), "{refused:?}");
    }
    assert_eq!(c.to_vec().unwrap(), [7.0; 300]);
}
