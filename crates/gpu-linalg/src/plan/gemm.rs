//! Products of matrices: which kernel, and how it sees the operands.

use gpu_linalg_kernels::gemm::{
    GEMM_F32, GEMM_F64, GEMM_SMALL_F32, GEMM_TENSOR_F64, GEMM_TENSOR_SMALL_F64, GEMM_WIDE_F32, Operand,
    Product, Tile,
};
use gpu_std::launch::LaunchConfig;

use super::{blocks, extent};
use crate::error::Error;
use crate::matrix::{BatchLayout, Order};

/// Blocks from which on a kernel with larger tiles is taken, on so many multiprocessors with room for `each` of them:
/// three quarters of that; below, too many multiprocessors would stand idle.
fn enough_blocks(multiprocessors: u32, each: u64) -> u64 {
    u64::from(multiprocessors) * each * 3 / 4
}

/// Which kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Wide tiles of `f32`, twice the large ones, from 8.0 on.
    Wide,
    /// Large tiles.
    Large,
    /// Small tiles, for matrices that have few large ones; of `f64` there is one size only.
    Small,
    /// Large tiles of `f64`, on the tensor cores.
    TensorLarge,
    /// Small tiles of `f64`, on the tensor cores.
    TensorSmall,
}

impl Kernel {
    /// The kernel for products of `count` matrices of `m` rows and `n` columns.
    fn choose(bytes: usize, from_8_0: bool, multiprocessors: u32, [m, n]: [u32; 2], count: u64) -> Self {
        // A multiprocessor has room for one block of the kernels with the largest tiles, for two of large ones of
        // `f32`.
        let enough = |tile: Tile, each: u64| {
            tile.count(m, n).saturating_mul(count) >= enough_blocks(multiprocessors, each)
        };
        // Wide tiles reach no further beyond C than large ones do: by as much as half of a tile it would cost more
        // than it gains.
        let pairs = GEMM_F32.count(m, n) == 2 * GEMM_WIDE_F32.count(m, n);
        match (bytes, from_8_0) {
            (4, true) if pairs && enough(GEMM_WIDE_F32, 1) => Self::Wide,
            (4, _) if enough(GEMM_F32, 2) => Self::Large,
            (4, _) => Self::Small,
            (_, true) if enough(GEMM_TENSOR_F64, 1) => Self::TensorLarge,
            (_, true) => Self::TensorSmall,
            (_, false) => Self::Large,
        }
    }

    /// Whether only devices from 8.0 on have it.
    pub fn is_from_8_0(self) -> bool {
        matches!(self, Self::Wide | Self::TensorLarge | Self::TensorSmall)
    }

    /// Its tile, for elements of `bytes` bytes.
    fn tile(self, bytes: usize) -> Tile {
        match (self, bytes) {
            (Self::Wide, 4) => GEMM_WIDE_F32,
            (Self::Large, 4) => GEMM_F32,
            (Self::Small, 4) => GEMM_SMALL_F32,
            (Self::Wide | Self::Large | Self::Small, _) => GEMM_F64,
            (Self::TensorLarge, _) => GEMM_TENSOR_F64,
            (Self::TensorSmall, _) => GEMM_TENSOR_SMALL_F64,
        }
    }
}

/// The launch of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The kernel.
    pub kernel: Kernel,
    /// Grid, block and shared memory.
    pub launch: LaunchConfig,
    /// Shapes and strides, C being row-major.
    pub product: Product,
    /// Whether the factors change places: `Cᵀ = Bᵀ · Aᵀ` makes a column-major C row-major.
    pub swapped: bool,
}

impl Plan {
    /// The plan for C of the given layout, which is not empty, and elements of `bytes` bytes, 4 or 8.
    ///
    /// `from_8_0` says whether the device has that compute capability: tensor cores for `f64`, and shared memory for
    /// the widest tiles of `f32`; `multiprocessors` are its. The order of combination depends on neither. `addresses`
    /// are those of A, B and C. Without `sums` the product counts as zero and its factors are not read.
    ///
    /// # Errors
    /// [`Error::ExtentTooLarge`], [`Error::TooManyBlocks`].
    pub fn new(
        bytes: usize,
        from_8_0: bool,
        multiprocessors: u32,
        layouts: [BatchLayout; 3],
        addresses: [u64; 3],
        sums: bool,
    ) -> Result<Self, Error> {
        let c = layouts[2];
        let m = extent("the number of contiguous lines of C", c.matrix.lines())?;
        let n = extent("the length of the contiguous lines of C", c.matrix.contiguous())?;
        let kernel = Kernel::choose(bytes, from_8_0, multiprocessors, [m, n], c.count as u64);
        Self::with_kernel(kernel, bytes, layouts, addresses, sums)
    }

    /// [`Plan::new`] for a kernel of the caller's choice.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with_kernel(
        kernel: Kernel,
        bytes: usize,
        [a, b, c]: [BatchLayout; 3],
        addresses: [u64; 3],
        sums: bool,
    ) -> Result<Self, Error> {
        let swapped = c.matrix.order() == Order::ColumnMajor;
        let [a_address, b_address, c_address] = addresses;
        let (a, a_address, b, b_address, c) = if swapped {
            (b.transposed(), b_address, a.transposed(), a_address, c.transposed())
        } else {
            (a, a_address, b, b_address, c)
        };
        let m = extent("the number of rows of C", c.matrix.rows())?;
        let n = extent("the number of columns of C", c.matrix.columns())?;
        let k = extent("the inner length of a product", a.matrix.columns())?;

        let tile = kernel.tile(bytes);
        let aligned = |layout: BatchLayout, address: u64| {
            let strides = (layout.matrix.leading_dimension() | layout.stride) * bytes;
            address.is_multiple_of(16) && strides.is_multiple_of(16)
        };
        let operand = |layout: BatchLayout, address: u64, along_k: Order, rows: u32| {
            let (leading, batch) = (layout.matrix.leading_dimension() as u64, layout.stride as u64);
            let along_k = layout.matrix.order() == along_k;
            Operand::new(tile, rows, leading, batch, along_k, aligned(layout, address))
        };
        let product = Product {
            a: operand(a, a_address, Order::RowMajor, tile.rows),
            b: operand(b, b_address, Order::ColumnMajor, tile.columns),
            c_leading: c.matrix.leading_dimension() as u64,
            c_batch: c.stride as u64,
            c_vectors: aligned(c, c_address) as u32,
            m,
            n,
            k: if sums { k } else { 0 },
        };
        let launch = LaunchConfig::linear(blocks(tile.count(m, n) as u128 * c.count as u128)?, tile.threads)
            .shared(tile.shared_bytes());
        Ok(Self { kernel, launch, product, swapped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Layout;

    fn one(matrix: Layout) -> BatchLayout {
        BatchLayout { matrix, count: 1, stride: 0 }
    }

    fn square(n: usize) -> BatchLayout {
        one(Layout::row_major(n, n).unwrap())
    }

    #[test]
    fn large_tiles_where_there_are_enough() {
        let plan = |n| Plan::new(4, true, 132, [square(n); 3], [0; 3], true).unwrap();
        assert_eq!((plan(512).kernel, plan(512).launch.grid[0]), (Kernel::Small, 128));
        assert_eq!(plan(1024).kernel, Kernel::Small);
        assert_eq!((plan(2048).kernel, plan(2048).launch.grid[0]), (Kernel::Wide, 128));
        assert_eq!(plan(4096).launch.block[0], GEMM_WIDE_F32.threads);
        // 17 large tiles across are 9 wide ones.
        assert_eq!((plan(2176).kernel, plan(2176).launch.grid[0]), (Kernel::Large, 289));
        let before_8_0 = Plan::new(4, false, 132, [square(4096); 3], [0; 3], true).unwrap();
        assert_eq!((before_8_0.kernel, before_8_0.launch.grid[0]), (Kernel::Large, 1024));
        assert!(before_8_0.launch.shared_bytes <= 64 << 10, "what a multiprocessor of 7.5 has");
        assert!(plan(4096).launch.shared_bytes <= 99 << 10, "what one of 8.6 has for a block");
        let double = |n, from_8_0| Plan::new(8, from_8_0, 132, [square(n); 3], [0; 3], true).unwrap().kernel;
        assert_eq!([double(512, true), double(4096, true)], [Kernel::TensorSmall, Kernel::TensorLarge]);
        assert_eq!(double(4096, false), Kernel::Large);
    }

    #[test]
    fn a_column_major_output_is_the_transposed_product() {
        let row = |m, n| one(Layout::row_major(m, n).unwrap());
        let column = |m, n| one(Layout::column_major(m, n).unwrap());
        let plan =
            Plan::new(4, true, 132, [row(3, 5), column(5, 7), column(3, 7)], [16, 32, 64], true).unwrap();
        assert!(plan.swapped);
        let Product { a, b, c_leading, m, n, k, .. } = plan.product;
        assert_eq!((m, n, k, c_leading), (7, 3, 5, 3));
        // Bᵀ is row-major, hence contiguous along k; Aᵀ is column-major, along k too.
        assert_eq!((a.along_k, a.leading, b.along_k, b.leading), (1, 5, 1, 5));
    }

    #[test]
    fn sixteen_bytes_at_once_only_where_all_is_aligned() {
        let vectors = |ld: usize, stride: usize, address: u64| {
            let matrix = Layout::row_major(8, 8).unwrap().with_leading_dimension(ld).unwrap();
            let layout = BatchLayout { matrix, count: 2, stride };
            let plan = Plan::new(4, true, 132, [layout; 3], [address; 3], true).unwrap();
            (plan.product.a.vectors, plan.product.b.vectors, plan.product.c_vectors)
        };
        // A is contiguous along k, and never copied by 16 bytes.
        assert_eq!(vectors(8, 64, 256), (0, 1, 1));
        assert_eq!(vectors(9, 72, 256), (0, 0, 0));
        assert_eq!(vectors(8, 66, 256), (0, 0, 0));
        assert_eq!(vectors(8, 64, 260), (0, 0, 0));
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let wide = one(Layout::row_major(1, (1 << 30) + 1).unwrap());
        let inner = one(Layout::row_major(1, 1).unwrap());
        let error = Plan::new(4, true, 132, [inner, wide, wide], [0; 3], true).unwrap_err();
        assert!(matches!(error, Error::ExtentTooLarge { actual, .. } if actual == (1 << 30) + 1), "{error}");
        let huge = BatchLayout { count: 1 << 40, ..inner };
        let error = Plan::new(4, true, 132, [huge; 3], [0; 3], true).unwrap_err();
        assert!(matches!(error, Error::TooManyBlocks { blocks, .. } if blocks == 1 << 40), "{error}");
    }
}
