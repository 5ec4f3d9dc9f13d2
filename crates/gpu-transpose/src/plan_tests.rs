use super::*;
use crate::axes::of_permutation;

fn matrix(rows: usize, columns: usize) -> Matrix {
    Matrix::new(rows, columns).unwrap()
}

#[test]
fn aligned_matrices_take_a_block_a_tile() {
    for (rows, columns, blocks) in [(64, 64, 1), (68, 64, 2), (64, 68, 2), (132, 1000, 48)] {
        let Plan::Tiles(plan) = Plan::new(matrix(rows, columns), 4).unwrap() else { panic!("tiles") };
        assert_eq!(
            (plan.kernel, plan.launch.grid),
            (Kernel::Aligned(0), [blocks, 1, 1]),
            "{rows} × {columns}"
        );
    }
}

#[test]
fn each_kind_of_array_gets_its_kernel() {
    let of = |shape: &[usize], axes: &[usize], bytes, address| {
        Plan::of(of_permutation(shape, axes).unwrap().0, bytes, address, Tuning::default()).unwrap()
    };
    assert_eq!(of(&[4, 5, 6], &[0, 1, 2], 2, 0), Plan::Copy { bytes: 16, elements: 15 });
    assert_eq!(of(&[1, 5], &[1, 0], 4, 0), Plan::Copy { bytes: 4, elements: 5 });
    assert!(matches!(of(&[64, 64], &[1, 0], 1, 0), Plan::Tiles(Tiles { kernel: Kernel::Aligned(0), .. })));
    assert!(matches!(of(&[64, 64], &[1, 0], 1, 1), Plan::Tiles(Tiles { kernel: Kernel::Skewed(0), .. })));
    assert!(matches!(of(&[64, 63], &[1, 0], 8, 0), Plan::Tiles(Tiles { kernel: Kernel::Skewed(0), .. })));
    assert!(matches!(of(&[63, 61], &[1, 0], 16, 0), Plan::Tiles(Tiles { kernel: Kernel::Aligned(0), .. })));
    assert!(matches!(of(&[1000, 3], &[1, 0], 4, 0), Plan::Elements(_)));
    let Plan::Elements(rows) = of(&[8, 9, 32], &[1, 0, 2], 2, 0) else { panic!("elements") };
    assert_eq!((rows.bytes, rows.walk.axes, rows.walk.elements), (16, 3, 8 * 9 * 4));
}

#[test]
fn large_axes_are_walked_in_pieces() {
    let Plan::Elements(plan) = Plan::new(matrix(5, (1 << 30) + 1), 4).unwrap() else { panic!("elements") };
    let pieces = ((1usize << 30) + 1).div_ceil((1 << 30) / 5) as u32;
    assert_eq!((plan.grid.extents[1], plan.walk.piece, plan.last), (pieces, (1 << 30) / 5, (1 << 30) + 1));
}

#[test]
fn too_many_blocks_are_an_error() {
    let error = Plan::new(matrix(1 << 22, 1 << 22), 4).unwrap_err();
    assert!(matches!(error, Error::TooManyBlocks { blocks: 0x1_0000_0000, .. }), "{error}");
}

#[test]
fn division_by_multiplication_is_exact_at_every_boundary() {
    for d in (1..300).chain([1000, 4095, 4096, 4097, 65_537, (1 << 30) - 1, 1 << 30]) {
        let (multiplier, shift) = kernels::divisor(d);
        let top = kernels::MAX_ELEMENTS as u32 - 1;
        let near = |n: u32| [n.saturating_sub(1), n.min(top), n.saturating_add(1).min(top)];
        for n in [0, 1, d, d.saturating_mul(2).min(top), top / d * d, top].into_iter().flat_map(near) {
            assert_eq!((u64::from(n) * u64::from(multiplier)) >> shift, u64::from(n / d), "{n} / {d}");
        }
    }
}

#[test]
fn numbers_that_are_no_tile_mean_the_default() {
    let axes = || of_matrices(matrix(64, 64), 64, 1, 0, 0);
    let plan = |tile| Plan::of(axes(), 4, 0, Tuning { tile, skew: 0 }).unwrap();
    assert_eq!(plan(7), plan(0));
}
