//! Products of matrices: which kernel, and how it sees the operands.

mod copy_engine;
mod cost;
mod kernel;
mod split;
mod vector;

pub use kernel::{Kernel, MOST_SHORT, MOST_SHORT_ACROSS};
pub use split::Split;
pub use vector::AsVector;
pub(crate) use vector::scratch_len as vector_scratch_len;

use gpu_core::Capability;
use gpu_linalg_kernels::gemm::{
    ALL, FINISH_THREADS, LOWER, Operand, Parts, Product, UPPER, aligned, bulk, grid, large,
};
use gpu_std::launch::LaunchConfig;
use gpu_std::tensor_map::Tensor;

use copy_engine::tensor;

use super::{blocks, extent};
use crate::api::Triangle;
use crate::error::Error;
use crate::launch::RealElement;
use crate::matrix::{BatchLayout, Order};

/// The launches of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The kernel.
    pub kernel: Kernel,
    /// Grid, block and shared memory.
    pub launch: LaunchConfig,
    /// Shapes and strides, C being row-major: where there is a second launch, C is scratch memory, and the factors
    /// one and zero.
    pub product: Product,
    /// Whether the factors change places: `Cᵀ = Bᵀ · Aᵀ` makes a column-major C row-major.
    pub swapped: bool,
    /// The launch that adds the parts of the sums, if there is one.
    pub finish: Option<(LaunchConfig, Parts)>,
    /// The factors as the copy engine finds them, for [`Kernel::TensorBulk`].
    pub tensors: Option<[Tensor; 2]>,
}

/// How the sums of a product are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// They count as zero, and the factors are not read.
    None,
    /// As their [`Split`] says.
    Parts,
    /// Each as one chain.
    Chains,
}

impl Sums {
    /// Their cut, which is `parts` where there may be several.
    pub(crate) fn split(self, k: usize, parts: impl FnOnce() -> Split) -> Split {
        if self == Self::Chains { Split { parts: 1, piece: k, turned: false } } else { parts() }
    }
}

impl Split {
    /// The cut of sums of `k` products, of elements of `bytes` bytes.
    pub fn of(bytes: usize, k: usize, c: BatchLayout) -> Self {
        Self::of_part(bytes, k, c, false)
    }

    /// The cut where of a square C only a triangle is computed if it is `half`.
    pub fn of_part(bytes: usize, k: usize, c: BatchLayout, half: bool) -> Self {
        Self::of_shape(bytes, [c.matrix.lines(), c.matrix.contiguous(), k], c.count, half)
    }
}

/// Elements of scratch memory of products: the sums of all parts, where a second launch adds them.
pub fn scratch_len<T: RealElement>(k: usize, c: BatchLayout) -> usize {
    scratch_len_of_part::<T>(k, c, false).max(vector::scratch_len::<T>(k, c))
}

/// The same without products that are those of a matrix and a vector, where of C only a triangle is computed if it is
/// `half`.
pub fn scratch_len_of_part<T: RealElement>(k: usize, c: BatchLayout, half: bool) -> usize {
    let split = Split::of_part(size_of::<T>(), k, c, half);
    if !split.is_finished_apart() || c.matrix.is_empty() {
        return 0;
    }
    let (lines, contiguous) = (c.matrix.lines(), c.matrix.contiguous());
    let (m, n) = if split.turned { (contiguous, lines) } else { (lines, contiguous) };
    c.count * split.parts * m * pitch(size_of::<T>(), n)
}

/// Elements from one row of a part's sums to the next: 16 bytes can be written at once.
fn pitch(bytes: usize, n: usize) -> usize {
    n.next_multiple_of(16 / bytes)
}

impl Plan {
    /// The plan for C of the given layout, which is not empty, and elements of `bytes` bytes, 4 or 8.
    ///
    /// `capability` is the device's ([`gpu_core::Device::capability`]): tensor cores for `f64` and copies past
    /// the registers came with 8.0, larger operations with 9.0; `multiprocessors` are its. The order of
    /// combination depends on neither. `addresses` are those of A, B, C and the scratch memory, which is not used
    /// where `sums` are [`Sums::Chains`]. With a `triangle` only that part of C, which is square, is computed.
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`].
    pub fn new(
        bytes: usize,
        capability: Option<Capability>,
        multiprocessors: u32,
        layouts: [BatchLayout; 3],
        addresses: [u64; 4],
        sums: Sums,
        triangle: Option<Triangle>,
    ) -> Result<Self, Error> {
        let view = Seen::new(bytes, layouts, addresses, sums, triangle)?;
        let parts = (view.split.parts as u64, view.split.piece as u64);
        view.plan(Kernel::choose(capability, multiprocessors, view.shape(), parts))
    }

    /// [`Plan::new`] for products whose matrices start where a table says, with sums in chains. Of each layout the
    /// stride has the bits that some matrix's start has: whether all are multiples of 16 bytes is all that it tells.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn listed(
        bytes: usize,
        capability: Option<Capability>,
        multiprocessors: u32,
        layouts: [BatchLayout; 3],
        addresses: [u64; 3],
        sums: bool,
    ) -> Result<Self, Error> {
        let [a, b, c] = addresses;
        let sums = if sums { Sums::Chains } else { Sums::None };
        let view = Seen::new(bytes, layouts, [a, b, c, 0], sums, None)?;
        let parts = (view.split.parts as u64, view.split.piece as u64);
        let mut plan = view.plan(Kernel::fastest_listed(capability, multiprocessors, view.shape(), parts))?;
        (plan.product.a.batch, plan.product.b.batch, plan.product.c_batch) = (0, 0, 0);
        plan.product.listed = plan.launch.grid[0] / layouts[2].count as u32;
        plan.product.listed_a = u32::from(plan.swapped);
        Ok(plan)
    }

    /// [`Plan::new`] for a kernel of the caller's choice.
    ///
    /// # Errors
    /// As [`Plan::new`]; [`Error::KernelNotFor`] where [`Kernel::takes`] says no; [`Error::NotAligned`] where the
    /// kernel [needs alignment](Kernel::needs_alignment).
    pub fn with_kernel(
        kernel: Kernel,
        bytes: usize,
        layouts: [BatchLayout; 3],
        addresses: [u64; 4],
        sums: Sums,
        triangle: Option<Triangle>,
    ) -> Result<Self, Error> {
        let view = Seen::new(bytes, layouts, addresses, sums, triangle)?;
        let (k, across) = (view.k as usize, view.shape().across);
        if !kernel.takes(bytes, k, across) {
            return Err(Error::KernelNotFor { kernel: kernel.name(), bytes, k });
        }
        if kernel.needs_alignment() && !view.is_aligned() {
            return Err(Error::NotAligned { kernel: kernel.name() });
        }
        view.plan(kernel)
    }
}

/// A product as a kernel sees it, C being row-major, and turned if the split says so.
struct Seen {
    bytes: usize,
    swapped: bool,
    /// Layouts and addresses.
    a: (BatchLayout, u64),
    b: (BatchLayout, u64),
    c: (BatchLayout, u64),
    scratch: u64,
    m: u32,
    n: u32,
    k: u32,
    split: Split,
    /// That of the C it sees.
    triangle: Option<Triangle>,
}

impl Seen {
    fn new(
        bytes: usize,
        layouts: [BatchLayout; 3],
        addresses: [u64; 4],
        sums: Sums,
        mut triangle: Option<Triangle>,
    ) -> Result<Self, Error> {
        let [mut a, mut b, mut c] = core::array::from_fn(|at| (layouts[at], addresses[at]));
        let (mut swapped, half) = (false, triangle.is_some());
        let mut swap = || {
            (a, b) = ((b.0.transposed(), b.1), (a.0.transposed(), a.1));
            c.0 = c.0.transposed();
            swapped = !swapped;
            triangle = triangle.map(Triangle::other);
        };
        let length = if sums == Sums::None { 0 } else { layouts[0].matrix.columns() };
        let split = sums.split(length, || Split::of_part(bytes, length, layouts[2], half));
        if layouts[2].matrix.order() == Order::ColumnMajor {
            swap();
        }
        if split.turned {
            swap();
        }
        let m = extent("the number of rows of C", c.0.matrix.rows())?;
        let n = extent("the number of columns of C", c.0.matrix.columns())?;
        let k = extent("the inner length of a product", a.0.matrix.columns())?;
        let k = if sums == Sums::None { 0 } else { k };
        Ok(Self { bytes, swapped, a, b, c, scratch: addresses[3], m, n, k, split, triangle })
    }

    fn shape(&self) -> cost::Shape {
        let [m, n, k] = [self.m, self.n, self.k].map(u64::from);
        let (count, bytes) = (self.c.0.count as u64, self.bytes as u64);
        let across = self.b.0.matrix.order() == Order::ColumnMajor;
        let half = self.triangle.is_some();
        cost::Shape { m, n, k, count, bytes, half, across, aligned: self.is_aligned() }
    }

    /// Whether a matrix, its lines and the matrices of its batch begin at multiples of 16 bytes.
    fn is_side_aligned(&self, (layout, address): (BatchLayout, u64)) -> bool {
        let strides = (layout.matrix.leading_dimension() | layout.stride) * self.bytes;
        address.is_multiple_of(16) && strides.is_multiple_of(16)
    }

    /// Whether all may be accessed by 16 bytes, and the copy engine takes the factors: see [`Kernel::needs_alignment`].
    fn is_aligned(&self) -> bool {
        let whole =
            |(layout, _): (BatchLayout, u64)| (layout.matrix.contiguous() * self.bytes).is_multiple_of(16);
        let is_taken = |side| self.bytes != 8 || tensor(side, [2, 1]).check().is_ok();
        let is_whole =
            [self.a, self.b].iter().all(|&side| whole(side) && self.is_side_aligned(side) && is_taken(side));
        let of_c = if self.split.is_finished_apart() {
            self.scratch.is_multiple_of(16)
        } else {
            self.is_side_aligned(self.c)
        };
        is_whole && of_c && self.k > 0
    }

    fn plan(&self, kernel: Kernel) -> Result<Plan, Error> {
        let &Self { bytes, swapped, m, n, k, split, .. } = self;
        let tile = kernel.tile();
        let (c, count) = (self.c.0, self.c.0.count);
        let (parts, piece) = (split.parts as u32, split.piece as u32);
        let operand = |side: (BatchLayout, u64), along_k: Order, rows: u32, extent: u32, by_vectors: bool| {
            let (leading, batch) = (side.0.matrix.leading_dimension() as u64, side.0.stride as u64);
            let whole = (extent as usize * bytes).is_multiple_of(16);
            let along_k = side.0.matrix.order() == along_k;
            let aligned = by_vectors && whole && self.is_side_aligned(side);
            match kernel {
                Kernel::TensorAligned => aligned::operand(rows, leading, batch, along_k),
                Kernel::Large => large::operand(leading, batch, along_k, aligned && !along_k),
                _ => Operand::new(tile, rows, leading, batch, along_k, aligned),
            }
            .cut(piece)
        };
        let triangle = match self.triangle {
            None => ALL,
            Some(Triangle::Lower) => LOWER,
            Some(Triangle::Upper) => UPPER,
        };
        let b = operand(self.b, Order::ColumnMajor, tile.columns, n, true);
        // The largest tiles have no kernel for A by 16 bytes beside a B by elements.
        let a = operand(self.a, Order::RowMajor, tile.rows, m, kernel != Kernel::Large || b.vectors != 0);
        let mut product = Product {
            triangle,
            a,
            b,
            c_leading: c.matrix.leading_dimension() as u64,
            c_batch: c.stride as u64,
            c_part: 0,
            c_vectors: self.is_side_aligned(self.c) as u32,
            m,
            n,
            k,
            piece,
            parts,
            listed: 0,
            listed_a: 0,
        };
        let mut finish = None;
        if split.is_finished_apart() {
            let leading = pitch(bytes, n as usize);
            let part = m as u64 * leading as u64;
            let batch = part * u64::from(parts);
            let (c_row, c_column) =
                if split.turned { (1, product.c_leading) } else { (product.c_leading, 1) };
            let elements = m as u128 * n as u128 * count as u128;
            let grid = blocks(elements.div_ceil(FINISH_THREADS.into()))?;
            let sums = Parts {
                batch,
                part,
                c_row,
                c_column,
                c_batch: product.c_batch,
                leading: leading as u32,
                m,
                n,
                count: count as u32,
                parts,
                triangle,
            };
            finish = Some((LaunchConfig::linear(grid, FINISH_THREADS), sums));
            product = Product {
                c_leading: leading as u64,
                c_batch: batch,
                c_part: part,
                c_vectors: self.scratch.is_multiple_of(16) as u32,
                ..product
            };
        }
        // Blocks of short sums find out by themselves that they have nothing to do.
        let folded = if kernel == Kernel::Short { ALL } else { triangle };
        let [down, across] = kernel.tiles(m, n, bytes);
        let [down, across] = grid(down, across, folded).map(u128::from);
        let blocks = blocks(down * across * count as u128 * u128::from(parts))?;
        let launch = LaunchConfig::linear(blocks, tile.threads).shared(kernel.shared_bytes(bytes));
        let tensors = (kernel == Kernel::TensorBulk).then(|| {
            let of = |side, operand: Operand, rows| tensor(side, bulk::boxes(rows, operand.along_k != 0));
            [of(self.a, product.a, tile.rows), of(self.b, product.b, tile.columns)]
        });
        Ok(Plan { kernel, launch, product, swapped, finish, tensors })
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
    fn tiles_are_as_large_as_pays() {
        let older = Some(Capability::new(7, 5));
        let kernel = |bytes, capability, m, n, k| {
            let layouts = [(m, k), (k, n), (m, n)].map(|(m, n)| one(Layout::row_major(m, n).unwrap()));
            Plan::new(bytes, capability, 132, layouts, [0; 4], Sums::Parts, None).unwrap().kernel
        };
        assert_eq!(kernel(4, None, 4096, 4096, 4096), Kernel::Large);
        assert_eq!(kernel(4, None, 20_000, 128, 128), Kernel::Medium);
        assert_eq!(kernel(4, None, 10, 4000, 4000), Kernel::Flat);
        assert_eq!(kernel(4, None, 4000, 10, 4000), Kernel::Flat);
        assert_eq!(kernel(4, older, 4096, 4096, 4096), Kernel::Medium);
        assert_eq!(kernel(8, None, 4096, 4096, 4096), Kernel::TensorBulk);
        assert_eq!(kernel(8, None, 1024, 1024, 1024), Kernel::TensorAligned);
        assert_eq!(kernel(8, None, 4097, 4097, 4097), Kernel::TensorLarge);
        assert_eq!(kernel(8, Some(Capability::new(8, 0)), 4096, 4096, 4096), Kernel::TensorLarge);
        assert_eq!(kernel(8, None, 512, 512, 512), Kernel::TensorAligned);
        assert_eq!(kernel(8, Some(Capability::new(8, 0)), 512, 512, 512), Kernel::TensorHalves);
        assert_eq!(kernel(4, None, 512, 512, 512), Kernel::Medium);
        assert_eq!(kernel(8, None, 10, 4000, 4000), Kernel::TensorFlat);
        assert_eq!(kernel(8, older, 4096, 4096, 4096), Kernel::Double);
    }

    #[test]
    fn what_is_listed_has_kernels_that_take_it() {
        let plan = |bytes, capability, multiprocessors, [m, n, k]: [usize; 3], count| {
            let layout = |m, n| BatchLayout { matrix: Layout::row_major(m, n).unwrap(), count, stride: 0 };
            let layouts = [layout(m, k), layout(k, n), layout(m, n)];
            Plan::listed(bytes, capability, multiprocessors, layouts, [0; 3], true).unwrap()
        };
        let older = Some(Capability::new(7, 5));
        for (bytes, large) in [(4, Kernel::Medium), (8, Kernel::TensorMedium)] {
            assert_eq!(plan(bytes, None, 132, [20, 20, 20], 1000).kernel, Kernel::Small);
            // What tests of few multiprocessors come to.
            let plan = plan(bytes, None, 1, [136, 72, 40], 2);
            assert_eq!((plan.kernel, plan.product.parts), (large, 1));
            assert_eq!(plan.product.listed * 2, plan.launch.grid[0]);
        }
        assert_eq!(plan(8, older, 132, [300, 300, 300], 100).kernel, Kernel::Small);
        assert_eq!(plan(4, older, 132, [300, 300, 300], 100).kernel, Kernel::Medium);
    }

    #[test]
    fn blocks_and_shared_memory_are_within_what_devices_have() {
        let plan = Plan::new(4, None, 132, [square(4096); 3], [0; 4], Sums::Parts, None).unwrap();
        assert_eq!((plan.launch.grid[0], plan.launch.block[0]), (1024, 128));
        assert!(plan.launch.shared_bytes <= 99 << 10, "what one of 8.6 has for a block");
        for bytes in [4, 8] {
            let before_8_0 = Plan::new(
                bytes,
                Some(Capability::new(7, 5)),
                132,
                [square(4096); 3],
                [0; 4],
                Sums::Parts,
                None,
            )
            .unwrap();
            assert!(before_8_0.launch.shared_bytes <= 64 << 10, "what a multiprocessor of 7.5 has");
        }
        for (capability, room) in [((9, 0), 227), ((10, 0), 227), ((12, 0), 99), ((8, 0), 163)] {
            let capability = Some(Capability::new(capability.0, capability.1));
            let plan = Plan::new(8, capability, 132, [square(4096); 3], [0; 4], Sums::Parts, None).unwrap();
            assert!(plan.launch.shared_bytes <= room << 10, "{capability:?}: {:?}", plan.kernel);
        }
    }

    #[test]
    fn the_cut_does_not_depend_on_the_device() {
        let layouts = [(64, 5000), (5000, 64), (64, 64)].map(|(m, n)| one(Layout::row_major(m, n).unwrap()));
        let devices = [(None, 132), (Some(Capability::new(8, 0)), 16), (Some(Capability::new(7, 5)), 40)];
        let parts = devices.map(|(capability, multiprocessors)| {
            let plan = Plan::new(4, capability, multiprocessors, layouts, [0; 4], Sums::Parts, None).unwrap();
            (plan.product.parts, plan.product.piece)
        });
        assert!(parts[0].0 > 1 && parts == [parts[0]; 3], "{parts:?}");
    }

    #[test]
    fn a_column_major_output_is_the_transposed_product() {
        let row = |m, n| one(Layout::row_major(m, n).unwrap());
        let column = |m, n| one(Layout::column_major(m, n).unwrap());
        let plan = Plan::new(
            4,
            None,
            132,
            [row(3, 5), column(5, 7), column(3, 7)],
            [16, 32, 64, 0],
            Sums::Parts,
            None,
        )
        .unwrap();
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
            let plan = Plan::new(4, None, 132, [layout; 3], [address; 4], Sums::Parts, None).unwrap();
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
        let error =
            Plan::new(4, None, 132, [inner, wide, wide], [0; 4], Sums::Parts, None).unwrap_err().into();
        assert!(
            matches!(error, gpu_core::Error::ExtentTooLarge { actual, .. } if actual == (1 << 30) + 1),
            "{error}"
        );
        let huge = BatchLayout { count: 1 << 40, ..inner };
        let error = Plan::new(4, None, 132, [huge; 3], [0; 4], Sums::Parts, None).unwrap_err().into();
        assert!(
            matches!(error, gpu_core::Error::TooManyBlocks { blocks, .. } if blocks == 1 << 40),
            "{error}"
        );
    }
}
