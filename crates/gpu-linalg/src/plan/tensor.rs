//! Products on the tensor cores: how the copy engine sees the factors, and the launch.

use gpu_std::launch::LaunchConfig;
use gpu_std::tensor_map::{Format, Swizzle, Tensor};
use gpu_tensor_kernels::{
    COLUMNS, Factors, LANES_SHARED_BYTES, LANES_THREADS, Product, ROWS, SHARED_BYTES, THREADS, TILE, boxes,
};

use super::{blocks, extent};
use crate::error::Error;
use crate::matrix::{BatchLayout, Order};

/// A product by the copy engine and the tensor cores of capability 9.0, and one by those of 8.0 and later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Grid, block and shared memory with the copy engine.
    pub launch: LaunchConfig,
    /// The same without, and how the factors lie.
    pub lanes: (LaunchConfig, Factors),
    /// Shapes and strides, C being row-major.
    pub product: Product,
    /// Whether the factors change places: `Cᵀ = Bᵀ · Aᵀ` makes a column-major C row-major.
    pub swapped: bool,
    /// A and B, after that; `None` where the copy engine does not take one of them.
    pub factors: Option<[Tensor; 2]>,
    /// Whether A, and whether B, is contiguous across the inner axis.
    pub across: [bool; 2],
}

impl Plan {
    /// The plan for a C that is not empty, and elements of `bytes` bytes, those of C having `c_bytes`.
    ///
    /// `multiprocessors` are the device's; `addresses` those of A, B and C. Without `sums` the product counts as zero and
    /// its factors are not read.
    ///
    /// # Errors
    /// [`Error::ExtentTooLarge`], [`Error::TooManyBlocks`].
    pub fn new(
        (bytes, c_bytes): (usize, usize),
        multiprocessors: u32,
        [mut a, mut b, mut c]: [BatchLayout; 3],
        [mut a_address, mut b_address, c_address]: [u64; 3],
        sums: bool,
    ) -> Result<Self, Error> {
        let swapped = c.matrix.order() == Order::ColumnMajor;
        if swapped {
            (a, b, c) = (b.transposed(), a.transposed(), c.transposed());
            (a_address, b_address) = (b_address, a_address);
        }
        let m = extent("the number of rows of C", c.matrix.rows())?;
        let n = extent("the number of columns of C", c.matrix.columns())?;
        let k = extent("the inner length of a product", a.matrix.columns())?;
        let k = if sums { k } else { 0 };
        let across = [a.matrix.order() == Order::ColumnMajor, b.matrix.order() == Order::RowMajor];
        let [a_box, b_box] = boxes(bytes as u32, across[0], across[1]);
        // Without a sum nothing is copied: any memory will do.
        let tensor = |layout: BatchLayout, address: u64, tile| {
            if k == 0 {
                return placeholder(c_address, bytes, tile);
            }
            tensor(layout, address, bytes, tile)
        };
        let aligned = |layout: BatchLayout, address: u64| {
            let strides = (layout.matrix.leading_dimension() | layout.stride) * bytes;
            u32::from(address.is_multiple_of(16) && strides.is_multiple_of(16))
        };
        let factors = Factors {
            leading: [a, b].map(|layout| layout.matrix.leading_dimension() as u64),
            batch: [a, b].map(|layout| layout.stride as u64),
            across: across.map(u32::from),
            vectors: [aligned(a, a_address), aligned(b, b_address)],
        };
        let a = tensor(a, a_address, a_box);
        let b = tensor(b, b_address, b_box);
        let tiles = u128::from(m.div_ceil(TILE)) * u128::from(n.div_ceil(TILE)) * c.count as u128;
        let lanes = LaunchConfig::linear(blocks(tiles)?, LANES_THREADS).shared(LANES_SHARED_BYTES);
        let tiles = u128::from(m.div_ceil(ROWS)) * u128::from(n.div_ceil(COLUMNS)) * c.count as u128;
        let grid = blocks(tiles)?.min(multiprocessors.max(1));
        let strides = c.matrix.leading_dimension() | c.stride;
        let vectors = strides.is_multiple_of(4) && c_address.is_multiple_of(4 * c_bytes as u64);
        let product = Product {
            c_leading: c.matrix.leading_dimension() as u64,
            c_batch: c.stride as u64,
            m,
            n,
            k,
            count: c.count as u32,
            narrow: u32::from(c_bytes == bytes),
            vectors: vectors.into(),
        };
        let launch = LaunchConfig::linear(grid, THREADS).shared(SHARED_BYTES);
        let lanes = (lanes, factors);
        Ok(Self { launch, lanes, product, swapped, factors: a.zip(b).map(|(a, b)| [a, b]), across })
    }
}

fn format(bytes: usize) -> Format {
    match bytes {
        1 => Format::U8,
        2 => Format::U16,
        _ => Format::U32,
    }
}

/// A factor as the copy engine sees it, if it takes it.
fn tensor(layout: BatchLayout, address: u64, bytes: usize, [width, height]: [u32; 2]) -> Option<Tensor> {
    let (leading, lines) = (layout.matrix.leading_dimension(), layout.matrix.lines());
    // One matrix has no stride; several at the same place are not for the copy engine.
    let stride = if layout.count == 1 { leading * lines } else { layout.stride };
    let tensor = Tensor {
        address,
        format: format(bytes),
        extents: [layout.matrix.contiguous() as u64, lines as u64, layout.count as u64],
        strides: [leading as u64 * bytes as u64, stride as u64 * bytes as u64],
        tile: [width, height, 1],
        swizzle: Swizzle::Bytes128,
    };
    (stride > 0 && tensor.check().is_ok()).then_some(tensor)
}

/// A tensor that nothing is copied of.
fn placeholder(address: u64, bytes: usize, [width, height]: [u32; 2]) -> Option<Tensor> {
    Some(Tensor {
        address: address / 16 * 16,
        format: format(bytes),
        extents: [1; 3],
        strides: [16; 2],
        tile: [width, height, 1],
        swizzle: Swizzle::Bytes128,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Layout;

    fn one(matrix: Layout) -> BatchLayout {
        BatchLayout { matrix, count: 1, stride: 0 }
    }

    fn plan(layouts: [BatchLayout; 3], addresses: [u64; 3]) -> Plan {
        Plan::new((2, 4), 132, layouts, addresses, true).unwrap()
    }

    #[test]
    fn blocks_are_no_more_than_tiles_or_multiprocessors() {
        let square = |n| one(Layout::row_major(n, n).unwrap());
        for (n, blocks) in [(1, 1), (256, 2), (257, 6), (8192, 132)] {
            assert_eq!(plan([square(n); 3], [0; 3]).launch.grid, [blocks, 1, 1], "{n}");
        }
    }

    #[test]
    fn factors_are_boxes_of_128_bytes() {
        let (row, column) = (Layout::row_major(8, 16).unwrap(), Layout::column_major(8, 16).unwrap());
        let c = one(Layout::row_major(8, 8).unwrap());
        let nt = plan([one(row), one(row.transposed()), c], [64, 128, 0]);
        let [a, b] = nt.factors.unwrap();
        assert_eq!((a.extents, a.strides[0], a.tile, nt.across[0]), ([16, 8, 1], 32, [64, 128, 1], false));
        assert_eq!((b.extents, b.address, b.tile, nt.across[1]), ([16, 8, 1], 128, [64, 256, 1], false));
        let tn = plan([one(column), one(column.transposed()), c], [64, 128, 0]);
        let [a, b] = tn.factors.unwrap();
        assert_eq!((a.extents, a.strides[0], a.tile, tn.across[0]), ([8, 16, 1], 16, [64, 64, 1], true));
        assert_eq!((b.extents, b.tile, tn.across[1]), ([8, 16, 1], [64, 64, 1], true));
    }

    #[test]
    fn what_the_copy_engine_does_not_take_is_seen() {
        let layout = |ld| one(Layout::row_major(8, 8).unwrap().with_leading_dimension(ld).unwrap());
        let fits = |a, address| plan([a, layout(8), layout(8)], [address, 0, 0]).factors.is_some();
        assert!(fits(layout(8), 32) && fits(layout(16), 0));
        assert!(!fits(layout(9), 32) && !fits(layout(8), 8));
        let same = BatchLayout { count: 2, stride: 0, ..layout(8) };
        let apart = BatchLayout { count: 2, stride: 64, ..layout(8) };
        assert!(plan([apart; 3], [0; 3]).factors.is_some());
        let plan = plan([same, apart, apart], [8, 0, 0]);
        assert!(plan.factors.is_none());
        assert_eq!((plan.lanes.1.batch, plan.lanes.1.vectors), ([0, 64], [0, 1]));
    }

    #[test]
    fn a_column_major_output_is_the_transposed_product() {
        let row = |m, n| one(Layout::row_major(m, n).unwrap());
        let c = one(Layout::column_major(24, 40).unwrap());
        let plan = plan([row(24, 16), row(16, 40), c], [16, 32, 0]);
        let [a, b] = plan.factors.unwrap();
        assert!(plan.swapped);
        assert_eq!((plan.product.m, plan.product.n, plan.product.c_leading), (40, 24, 24));
        assert_eq!((a.address, b.address, plan.across), (32, 16, [true, false]));
    }
}
