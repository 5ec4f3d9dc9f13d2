//! Products by clusters of two blocks: tiles that one of the two does not have, batches, parts, all orders, and a C
//! that is written by the copy engine or by threads.

use gpu_linalg::variants::TensorVariant;
use gpu_linalg::{bf16, f16};
use gpu_tests::backends::for_each;

use super::epilogue::PLAIN;
use super::{Case, UNTOUCHED, behind, exact, filled, product};

const CLUSTER: Option<TensorVariant> = Some(TensorVariant::Cluster);

fn case(shape: [usize; 3], order: usize) -> Case {
    Case { shape, columns: [order & 1 != 0, order & 2 != 0, order & 4 != 0], ..PLAIN }
}

#[test]
fn products_by_clusters_are_exact() {
    for_each("products_by_clusters_are_exact", |device| {
        // One tile, which the second block does not have; a row of its; an odd number of them, two of columns; in
        // parts.
        for (number, shape) in [[64, 256, 64], [136, 64, 200], [264, 264, 72], [72, 520, 136], [16, 24, 2000]]
            .into_iter()
            .enumerate()
        {
            for step in 0..4 {
                let order = (2 * number + 3 * step) % 8;
                let case = Case { count: 1 + (number + step) % 4 / 3, ..case(shape, order) };
                match (number + step) % 4 {
                    0 => exact::<bf16, bf16>(device, CLUSTER, case),
                    1 => exact::<bf16, f32>(device, CLUSTER, case),
                    2 => exact::<f16, f16>(device, CLUSTER, Case { alpha: -2.0, ..case }),
                    _ => exact::<f16, f32>(device, CLUSTER, Case { alpha: 0.5, ..case }),
                }
            }
        }
        // By threads: with an old C, and without alignment.
        exact::<bf16, f32>(device, CLUSTER, Case { beta: -0.5, ..case([264, 264, 72], 1) });
        exact::<bf16, bf16>(device, CLUSTER, case([257, 259, 72], 2));
        // Without a sum.
        exact::<bf16, f32>(device, CLUSTER, Case { alpha: 0.0, ..case([264, 24, 72], 0) });
    });
}

/// Sums are added in the order of the other kernels.
#[test]
fn products_by_clusters_have_the_bits_of_others() {
    for_each("products_by_clusters_have_the_bits_of_others", |device| {
        let uniform = |bits: u64| (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
        let case = case([300, 280, 328], 2);
        let layouts = case.layouts();
        let a = behind(0, filled::<bf16>(layouts[0], 20, f32::NAN, uniform));
        let b = behind(0, filled::<bf16>(layouts[1], 21, f32::NAN, uniform));
        let c = filled::<f32>(layouts[2], 22, UNTOUCHED, uniform);
        let of = |variant| product::<bf16, f32>(device, Some(variant), case, [&a, &b], &c);
        let (Some(pairs), Some(wide)) = (of(TensorVariant::Cluster), of(TensorVariant::Wide)) else { return };
        assert_eq!(pairs, wide, "{}", device.name());
    });
}
