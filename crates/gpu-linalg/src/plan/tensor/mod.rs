//! Products on the tensor cores: how the copy engine sees the factors, and the launch.

use gpu_core::Capability;
use gpu_std::launch::LaunchConfig;
use gpu_std::tensor_map::{Format, Swizzle, Tensor};
use gpu_tensor_kernels::{
    CLASSES, Classes, FINISH_SHARED_BYTES, FINISH_THREADS, Factors, LANES_SHARED_BYTES, LANES_THREADS, PAIR,
    PAIR_SHARED_BYTES, PAIR_SUMS, Product, ROWS, THIN_SHARED_BYTES, THIN_THREADS, THIN_TILE, TILE, boxes,
    columns, finish_blocks, output_box, pair_boxes, part_leading, shared_bytes, threads,
};

mod parts;
mod tf32;
mod way;

pub use parts::split;
pub use way::Choice;
use way::Way;

use super::pack::{Pack, is_aligned};
use super::{blocks, extent};
use crate::error::Error;
use crate::matrix::{BatchLayout, Order};
use crate::variants::TensorVariant;

/// A product by the copy engine and the tensor cores of capability 9.0, and one by those of 8.0 and later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Grid, block and shared memory with the copy engine.
    pub launch: LaunchConfig,
    /// How many sums a thread has there: 128, or 64, half as many columns a tile.
    pub sums: usize,
    /// Whether blocks are in pairs there.
    pub paired: bool,
    /// The same without, and how the factors lie.
    pub lanes: (LaunchConfig, Factors),
    /// The same where a factor is thin: that of few rows or columns as the second.
    pub thin: Option<Thin>,
    /// Shapes and strides of what the products are written to, row-major: C, or the sums of the parts.
    pub product: Product,
    /// Where the sums are in parts: how those are added, and shapes and strides of C.
    pub finish: Option<(LaunchConfig, Product)>,
    /// Whether the factors change places: `Cᵀ = Bᵀ · Aᵀ` makes a column-major C row-major, and the larger factor the
    /// first one.
    pub swapped: bool,
    /// Whether the rows of `product` are columns of the C that `finish` has.
    pub turned: bool,
    /// The launch before that copies factors into the scratch memory.
    pub pack: Option<Pack>,
    /// A and B, after all that; `None` where the copy engine does not take one of them. Of an A in classes it is the
    /// first of those.
    pub factors: Option<[Tensor; 2]>,
    /// A by classes of its lines, where it takes it so.
    pub classes: Option<([Tensor; CLASSES as usize], Classes)>,
}

/// A product by the kernel for factors of few rows or columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thin {
    /// Grid, block and shared memory.
    pub launch: LaunchConfig,
    /// As [`Plan::product`].
    pub product: Product,
    /// How the factors lie.
    pub factors: Factors,
    /// Whether the factors change places once more.
    pub swapped: bool,
}

impl Plan {
    /// The plan for a C that is not empty, and elements of `bytes` bytes, those of C having `c_bytes`.
    ///
    /// `multiprocessors` are the device's; the addresses are those of A, B and C, and where scratch memory of
    /// [`scratch_len`] begins, aligned to 16 bytes. Without `sums` the product counts as zero and its factors are not
    /// read.
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`].
    pub fn new(
        (bytes, c_bytes): (usize, usize),
        multiprocessors: u32,
        [mut a, mut b, mut c]: [BatchLayout; 3],
        [mut a_address, mut b_address, c_address, scratch]: [u64; 4],
        sums: bool,
        choice: Choice,
    ) -> Result<Self, Error> {
        let variant = choice.variant;
        let swapped = c.matrix.order() == Order::ColumnMajor;
        if swapped {
            (a, b, c) = (b.transposed(), a.transposed(), c.transposed());
            (a_address, b_address) = (b_address, a_address);
        }
        let m = extent("the number of rows of C", c.matrix.rows())?;
        let n = extent("the number of columns of C", c.matrix.columns())?;
        let k = extent("the inner length of a product", a.matrix.columns())?;
        let k = if sums { k } else { 0 };
        let Way { parts, part, is_thin, turned, packs, of_parts } =
            Way::new(bytes, choice, [a, b], [a_address, b_address], [m, n, k], sums);
        let (m, n) = if turned { (n, m) } else { (m, n) };
        if turned {
            (a, b) = (b.transposed(), a.transposed());
            (a_address, b_address) = (b_address, a_address);
        }
        let pack = Pack::new(packs, bytes, [a, b], [a_address, b_address], of_parts)?;
        if let Some(pack) = &pack {
            [a, b] = pack.layouts;
            [a_address, b_address] = pack.addresses([a_address, b_address], scratch);
        }
        let across = [a.matrix.order() == Order::ColumnMajor, b.matrix.order() == Order::RowMajor];
        let count = c.count as u128 * u128::from(parts);
        let tiles = |sums| u128::from(m.div_ceil(ROWS)) * u128::from(n.div_ceil(columns(sums))) * count;
        let multiprocessors = multiprocessors.max(1);
        let classes = (bytes == size_of::<f32>() && !is_aligned(a, a_address, bytes) && k > 0)
            .then(|| tf32::classes(a, a_address))
            .flatten();
        let narrow = match variant {
            Some(TensorVariant::Narrow) => true,
            Some(TensorVariant::Wide | TensorVariant::Cluster) => false,
            // The other tile takes words along `k` only, and not in classes.
            _ if bytes == size_of::<f32>() && (across[0] || classes.is_some()) => true,
            _ => is_narrow(multiprocessors, [128, 64].map(tiles)),
        };
        let sums = if narrow { 64 } else { 128 };
        let paired = variant == Some(TensorVariant::Cluster) && bytes == size_of::<u16>() && !across[0];
        let [a_box, b_box] = if paired {
            pair_boxes(bytes as u32, across)
        } else {
            boxes(bytes as u32, columns(sums), across)
        };
        // Without a sum nothing is copied: any memory will do.
        let tensor = |layout: BatchLayout, address: u64, tile| {
            if k == 0 {
                return placeholder(c_address, bytes, tile);
            }
            tensor(layout, address, bytes, tile)
        };
        let aligned = |layout, address| u32::from(is_aligned(layout, address, bytes));
        let factors = Factors {
            leading: [a, b].map(|layout| layout.matrix.leading_dimension() as u64),
            batch: [a, b].map(|layout| layout.stride as u64),
            vectors: [aligned(a, a_address), aligned(b, b_address)],
            rounds: [0, 1].map(|at| u32::from(pack.is_none_or(|pack| !pack.copied[at]))),
            listed: 0,
            listed_a: 0,
        };
        let a = match &classes {
            Some(([first, ..], _)) => Some(*first),
            None => tensor(a, a_address, a_box),
        };
        let b = tensor(b, b_address, b_box);
        let lane_tiles = u128::from(m.div_ceil(TILE)) * u128::from(n.div_ceil(TILE)) * count;
        let lanes = LaunchConfig::linear(blocks(lane_tiles)?, LANES_THREADS).shared(LANES_SHARED_BYTES);
        let grid = if paired {
            let pairs =
                u128::from(m.div_ceil(PAIR * ROWS)) * u128::from(n.div_ceil(columns(PAIR_SUMS))) * count;
            let clusters = blocks(pairs)?.min((multiprocessors / PAIR).max(1));
            clusters * PAIR
        } else if sums == 128 {
            // Blocks of the wide tile go on to another one.
            blocks(tiles(sums))?.min(multiprocessors)
        } else {
            blocks(tiles(sums))?
        };
        let strides = c.matrix.leading_dimension() | c.stride | c.matrix.columns();
        let accessed = |bytes: usize| {
            (strides * c_bytes).is_multiple_of(bytes) && c_address.is_multiple_of(bytes as u64)
        };
        let vectors = if accessed(16) { 2 } else { u32::from(accessed(4 * c_bytes)) };
        let product = Product {
            c_leading: c.matrix.leading_dimension() as u64,
            c_batch: c.stride as u64,
            m,
            n,
            k,
            count: c.count as u32,
            narrow: u32::from(c_bytes == bytes && bytes < size_of::<f32>()),
            vectors,
            parts,
            part,
            across: across.map(u32::from),
            c_across: 0,
        };
        let (mut product, mut finish) = (product, None);
        if of_parts > 0 {
            let grid = blocks(finish_blocks([m, n], c.count as u128, parts))?;
            let adds = LaunchConfig::linear(grid, FINISH_THREADS).shared(FINISH_SHARED_BYTES);
            finish = Some((adds, Product { c_across: u32::from(turned), ..product }));
            product.c_leading = part_leading(n);
            product.c_batch = u64::from(m) * part_leading(n);
            (product.narrow, product.vectors) = (0, 2);
        }
        let written = if of_parts > 0 { scratch } else { c_address };
        if paired && output(&product, written).is_none() {
            product.vectors = product.vectors.min(1);
        }
        let shared = if paired { PAIR_SHARED_BYTES } else { shared_bytes(bytes as u32, sums) };
        let launch = LaunchConfig::linear(grid, threads(sums)).shared(shared);
        let thin = if is_thin { Some(Thin::new(product, factors, count)?) } else { None };
        let lanes = (lanes, factors);
        let factors = a.zip(b).map(|(a, b)| [a, b]);
        Ok(Self {
            launch,
            sums,
            paired,
            lanes,
            thin,
            product,
            finish,
            swapped,
            turned,
            pack,
            factors,
            classes,
        })
    }

    /// [`Plan::new`] for products whose matrices start where a table says. Of each layout the stride has the bits that
    /// some matrix's start has: whether all are multiples of 16 bytes is all that it tells.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn listed(
        bytes: (usize, usize),
        capability: Option<Capability>,
        layouts: [BatchLayout; 3],
        [a, b, c]: [u64; 3],
        sums: bool,
    ) -> Result<Self, Error> {
        let along_k =
            [layouts[0].matrix.order() == Order::RowMajor, layouts[1].matrix.order() == Order::ColumnMajor];
        let choice = Choice::listed(bytes.0, along_k).on(capability);
        let mut plan = Self::new(bytes, 1, layouts, [a, b, c, 0], sums, choice)?;
        let count = layouts[2].count as u32;
        let listed = |factors: &mut Factors, grid: u32, swapped: bool| {
            factors.batch = [0, 0];
            (factors.listed, factors.listed_a) = (grid / count, u32::from(swapped));
        };
        plan.product.c_batch = 0;
        listed(&mut plan.lanes.1, plan.lanes.0.grid[0], plan.swapped);
        if let Some(thin) = &mut plan.thin {
            thin.product.c_batch = 0;
            listed(&mut thin.factors, thin.launch.grid[0], plan.swapped != thin.swapped);
        }
        plan.factors = None;
        Ok(plan)
    }

    /// What the product is written to, C or the sums of the parts at this address, as the copy engine writes it for
    /// blocks in pairs; `None` where it does not.
    pub fn output(&self, address: u64) -> Option<Tensor> {
        output(&self.product, address)
    }
}

impl Thin {
    /// The product of so many matrices' parts, its factor of fewer rows or columns second: `Cᵀ = Bᵀ · Aᵀ` where that
    /// is A.
    fn new(mut product: Product, mut factors: Factors, count: u128) -> Result<Self, Error> {
        let swapped = product.m < product.n;
        if swapped {
            product = Product {
                m: product.n,
                n: product.m,
                across: [product.across[1], product.across[0]],
                c_across: 1,
                ..product
            };
            factors.leading.reverse();
            factors.batch.reverse();
        }
        let [rows, columns] = THIN_TILE;
        let tiles = u128::from(product.m.div_ceil(rows)) * u128::from(product.n.div_ceil(columns)) * count;
        let launch = LaunchConfig::linear(blocks(tiles)?, THIN_THREADS).shared(THIN_SHARED_BYTES);
        Ok(Self { launch, product, factors, swapped })
    }
}

/// Words of scratch memory for a product of factors at `addresses`, whose elements have `bytes` bytes: the sums of the
/// parts, then copies of factors.
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`], [`Error::Device`] of copies whose length is
/// not a `usize`.
pub fn scratch_len(
    bytes: usize,
    choice: Choice,
    [mut a, mut b, mut c]: [BatchLayout; 3],
    [mut a_address, mut b_address]: [u64; 2],
) -> Result<usize, Error> {
    if c.matrix.order() == Order::ColumnMajor {
        (a, b, c) = (b.transposed(), a.transposed(), c.transposed());
        (a_address, b_address) = (b_address, a_address);
    }
    let m = extent("the number of rows of C", c.matrix.rows())?;
    let n = extent("the number of columns of C", c.matrix.columns())?;
    let k = extent("the inner length of a product", a.matrix.columns())?;
    let Way { turned, packs, of_parts, .. } =
        Way::new(bytes, choice, [a, b], [a_address, b_address], [m, n, k], true);
    if turned {
        (a, b) = (b.transposed(), a.transposed());
        (a_address, b_address) = (b_address, a_address);
    }
    let pack = Pack::new(packs, bytes, [a, b], [a_address, b_address], of_parts)?;
    Ok(of_parts + pack.map_or(0, |pack| pack.words))
}

/// Whether the tile of half the columns takes less time, for products of so many tiles of each kind: each wave of
/// them takes 0.56 of the time of the wide one's. They read a third more from the L2 for the same product, but two
/// of them share a multiprocessor, of which one multiplies while the other writes.
fn is_narrow(multiprocessors: u32, [wide, narrow]: [u128; 2]) -> bool {
    let waves = |tiles: u128| tiles.div_ceil(multiprocessors.into()) as f64;
    waves(narrow) * 0.56 < waves(wide)
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

/// The same of what a product is written to, of which 16 bytes may be accessed at once.
fn output(product: &Product, address: u64) -> Option<Tensor> {
    let bytes = if product.narrow != 0 { size_of::<u16>() } else { size_of::<u32>() };
    let count = u64::from(product.count) * u64::from(product.parts);
    let stride = if count == 1 { product.c_leading * u64::from(product.m) } else { product.c_batch };
    let [width, height] = output_box(bytes as u32);
    let tensor = Tensor {
        address,
        format: format(bytes),
        extents: [product.n.into(), product.m.into(), count],
        strides: [product.c_leading, stride].map(|elements| elements * bytes as u64),
        tile: [width, height, 1],
        swizzle: Swizzle::Bytes128,
    };
    (product.vectors == 2 && stride > 0 && tensor.check().is_ok()).then_some(tensor)
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

    fn plan(layouts: [BatchLayout; 3], [a, b, c]: [u64; 3]) -> Plan {
        Plan::new((2, 4), 132, layouts, [a, b, c, 0], true, Choice::of(None)).unwrap()
    }

    #[test]
    fn blocks_are_no_more_than_tiles_or_multiprocessors() {
        let square = |n| one(Layout::row_major(n, n).unwrap());
        for (n, blocks) in [(1, 1), (256, 4), (257, 9), (8192, 132)] {
            assert_eq!(plan([square(n); 3], [0; 3]).launch.grid, [blocks, 1, 1], "{n}");
        }
    }

    #[test]
    fn pairs_of_blocks_are_whole_and_write_boxes_where_they_can() {
        let plan = |n, c_bytes, address| {
            let square = one(Layout::row_major(n, n).unwrap());
            let choice = Choice::of(Some(TensorVariant::Cluster));
            Plan::new((2, c_bytes), 131, [square; 3], [0, 0, address, 0], true, choice).unwrap()
        };
        for (n, blocks) in [(8, 2), (256, 2), (264, 8), (1024, 32), (8192, 130)] {
            let plan = plan(n, 4, 0);
            assert!(plan.paired && plan.launch.grid == [blocks, 1, 1], "{n}: {:?}", plan.launch.grid);
            let [a, b] = plan.factors.unwrap();
            assert_eq!((a.tile, b.tile), ([64, 128, 1], [64, 64, 1]));
        }
        let tile = |plan: Plan| plan.output(0).map(|tensor| (tensor.tile, tensor.extents));
        assert_eq!(tile(plan(264, 4, 16)), Some(([32, 16, 1], [264, 264, 1])));
        assert_eq!(tile(plan(264, 2, 16)), Some(([64, 16, 1], [264, 264, 1])));
        assert_eq!(tile(plan(264, 2, 8)), None);
        assert_eq!(tile(plan(260, 2, 16)), None);
    }

    #[test]
    fn factors_are_boxes_of_128_bytes() {
        let (row, column) = (Layout::row_major(8, 16).unwrap(), Layout::column_major(8, 16).unwrap());
        let c = one(Layout::row_major(8, 8).unwrap());
        let nt = plan([one(row), one(row.transposed()), c], [64, 128, 0]);
        let [a, b] = nt.factors.unwrap();
        assert_eq!(
            (a.extents, a.strides[0], a.tile, nt.product.across[0]),
            ([16, 8, 1], 32, [64, 128, 1], 0)
        );
        assert_eq!((b.extents, b.address, b.tile, nt.product.across[1]), ([16, 8, 1], 128, [64, 128, 1], 0));
        let tn = plan([one(column), one(column.transposed()), c], [64, 128, 0]);
        let [a, b] = tn.factors.unwrap();
        assert_eq!((a.extents, a.strides[0], a.tile, tn.product.across[0]), ([8, 16, 1], 16, [64, 64, 1], 1));
        assert_eq!((b.extents, b.tile, tn.product.across[1]), ([8, 16, 1], [64, 64, 1], 1));
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
        assert_eq!((a.address, b.address, plan.product.across), (32, 16, [1, 0]));
    }
}
