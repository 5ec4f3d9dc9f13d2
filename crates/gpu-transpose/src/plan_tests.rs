use super::*;
use crate::axes::of_permutation;

fn matrix(rows: usize, columns: usize) -> Layout {
    Layout::row_major(rows, columns).unwrap()
}

#[test]
fn aligned_matrices_take_a_block_a_tile() {
    for (rows, columns, blocks) in [(64, 64, 1), (68, 64, 2), (64, 68, 2), (132, 1000, 48)] {
        let Plan::Tiles(plan) = Plan::new(matrix(rows, columns), 4).unwrap() else { panic!("tiles") };
        assert_eq!((plan.kernel, plan.launch.grid), (Kernel::Aligned, [blocks, 1, 1]), "{rows} × {columns}");
    }
}

#[test]
fn each_kind_of_array_gets_its_kernel() {
    let of = |shape: &[usize], axes: &[usize], bytes, address| {
        Plan::of(of_permutation(shape, axes).unwrap().0, bytes, address).unwrap()
    };
    assert_eq!(of(&[4, 5, 6], &[0, 1, 2], 2, 0), Plan::Copy { bytes: 16, elements: 15 });
    assert_eq!(of(&[1, 5], &[1, 0], 4, 0), Plan::Copy { bytes: 4, elements: 5 });
    assert!(matches!(of(&[64, 64], &[1, 0], 1, 0), Plan::Tiles(Tiles { kernel: Kernel::Aligned, .. })));
    assert!(matches!(of(&[64, 64], &[1, 0], 1, 1), Plan::Tiles(Tiles { kernel: Kernel::Skewed, .. })));
    assert!(matches!(of(&[64, 63], &[1, 0], 8, 0), Plan::Tiles(Tiles { kernel: Kernel::Skewed, .. })));
    assert!(matches!(of(&[63, 61], &[1, 0], 16, 0), Plan::Tiles(Tiles { kernel: Kernel::Aligned, .. })));
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
    assert!(
        matches!(error, Error::Device(gpu_core::Error::TooManyBlocks { blocks: 0x1_0000_0000, .. })),
        "{error}"
    );
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

/// Wherever the blocks start, together they are all tiles once.
#[test]
fn strips_cover_all_tiles_once() {
    for (rows, columns, bytes, strips) in [
        (256, 16384, 8, true),
        (96, 8192, 16, true),
        (64, 3 * 16384, 8, true),
        (64, 16384 + 16, 8, false),
        (64, 16384, 4, false),
    ] {
        let Plan::Tiles(plan) = Plan::new(matrix(rows, columns), bytes).unwrap() else { panic!("tiles") };
        assert_eq!(plan.grid.axes, 2 + u32::from(strips), "{rows} × {columns} of {bytes} bytes");
        let (tile, words) = (tile(bytes), bytes as u64 / 4);
        // As kernels count: the first axis fastest.
        let grid = plan.grid;
        let mut places: Vec<(u32, u32, u64, u64)> = (0..plan.launch.grid[0])
            .map(|block| {
                let (mut rest, mut place) = (block, (0, 0, 0, 0));
                for axis in 0..grid.axes as usize {
                    let index = rest % grid.extents[axis];
                    rest /= grid.extents[axis];
                    place.0 += if axis == 0 { index } else { 0 };
                    place.1 += index * grid.across[axis];
                    place.2 += u64::from(index) * grid.input[axis];
                    place.3 += u64::from(index) * grid.output[axis];
                }
                place
            })
            .collect();
        places.sort_unstable();
        let (down, across) = (rows.div_ceil(tile.rows as usize), columns.div_ceil(tile.columns as usize));
        let expected =
            (0..down as u64).flat_map(|i| (0..across as u64).map(move |j| (i, j))).map(|(i, j)| {
                let (row, column) = (i * u64::from(tile.rows), j * u64::from(tile.columns));
                let (from, to) = (row * columns as u64 + column, column * rows as u64 + row);
                (i as u32, j as u32, from * words, to * words)
            });
        assert_eq!(places, expected.collect::<Vec<_>>(), "{rows} × {columns} of {bytes} bytes");
    }
}
