//! Which factors of products on the tensor cores are copied into aligned memory first, and where they lie then.

use gpu_std::launch::LaunchConfig;
use gpu_tensor_kernels::{PACK_LINES, PACK_SHARED_BYTES, PACK_THREADS, PACK_WORDS, Packing, TILE};

use super::{blocks, extent};
use crate::error::Error;
use crate::matrix::{BatchLayout, Layout, Order};

/// What addresses, leading dimensions and strides of batches are multiples of where the copy engine takes a factor, in
/// bytes.
pub const ALIGNMENT: usize = 16;

/// The orders in which the lines of A and of B are along the inner axis.
const ALONG_INNER: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

/// Which factors are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packs {
    /// None.
    Never,
    /// Those that are not aligned, where the copy pays.
    WherePays,
    /// Both.
    Always,
    /// Both, with lines along the inner axis, of `f32` rounded to tf32.
    AlongInner,
    /// The same of the second.
    SecondAlongInner,
    /// The same of those that are not aligned, or whose lines are not along the inner axis.
    AlongInnerWhereNeeded,
}

impl Packs {
    /// Whether copies have lines along the inner axis, whichever way the factors' lie.
    fn turns(self) -> bool {
        matches!(self, Self::AlongInner | Self::SecondAlongInner | Self::AlongInnerWhereNeeded)
    }

    /// Which factors are copied, or would be where it pays.
    pub fn candidates(self, bytes: usize, factors: [BatchLayout; 2], addresses: [u64; 2]) -> [bool; 2] {
        let is_unaligned = |at: usize| !is_aligned(factors[at], addresses[at], bytes);
        match self {
            Self::Never => [false; 2],
            Self::WherePays => [0, 1].map(is_unaligned),
            Self::Always | Self::AlongInner => [true; 2],
            Self::SecondAlongInner => [false, true],
            Self::AlongInnerWhereNeeded => {
                [0, 1].map(|at| factors[at].matrix.order() != ALONG_INNER[at] || is_unaligned(at))
            }
        }
    }
}

/// A launch that copies one factor or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pack {
    /// Grid and block.
    pub launch: LaunchConfig,
    /// What is copied where.
    pub packing: Packing,
    /// Which of A and B are copied.
    pub copied: [bool; 2],
    /// A and B afterwards: as before where they are not copied.
    pub layouts: [BatchLayout; 2],
    /// Words of 32 bits that the copies take.
    pub words: usize,
}

impl Pack {
    /// The copies for a product of `factors` at `addresses`, whose elements have `bytes` bytes, to `first` words from
    /// the start of aligned memory on; `None` where nothing is copied.
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`], [`Error::Device`] of copies whose
    /// length is not a `usize`.
    pub fn new(
        packs: Packs,
        bytes: usize,
        factors: [BatchLayout; 2],
        addresses: [u64; 2],
        first: usize,
    ) -> Result<Option<Self>, Error> {
        let [a, b] = factors.map(|factor| factor.matrix.shape());
        let is_empty = [a.0, a.1, b.1, factors[0].count].contains(&0);
        let copied = match packs {
            _ if is_empty => [false; 2],
            Packs::WherePays => pays(bytes, factors, addresses),
            packs => packs.candidates(bytes, factors, addresses),
        };
        if copied == [false; 2] {
            return Ok(None);
        }
        let (mut packing, mut layouts) = (Packing::default(), factors);
        let (mut words, mut launched) = (0, [0_u128; 2]);
        for (at, factor) in factors.into_iter().enumerate().filter(|&(at, _)| copied[at]) {
            let order = if packs.turns() { ALONG_INNER[at] } else { factor.matrix.order() };
            let packed = packed(factor, order, bytes)?;
            packing.across[at] = u32::from(order != factor.matrix.order());
            let [lines, contiguous] = [packed.matrix.lines(), packed.matrix.contiguous()];
            packing.leading[at] = factor.matrix.leading_dimension() as u64;
            packing.batch[at] = factor.stride as u64;
            packing.packed_leading[at] = (packed.matrix.leading_dimension() * bytes / 4) as u64;
            packing.packed_batch[at] = (packed.stride * bytes / 4) as u64;
            packing.packed_first[at] = (first + words) as u64;
            packing.lines[at] = extent("the number of lines of a factor", lines)?;
            packing.contiguous[at] = extent("the length of a factor's lines", contiguous)?;
            let columns = contiguous.div_ceil(PACK_WORDS as usize * 4 / bytes) as u128;
            launched[at] = lines.div_ceil(PACK_LINES as usize) as u128 * columns * packed.count as u128;
            words += packed.stride * packed.count * bytes / 4;
            layouts[at] = packed;
        }
        packing.of_a = blocks(launched[0])?;
        let shared = if packs.turns() { PACK_SHARED_BYTES } else { 0 };
        let launch = LaunchConfig::linear(blocks(launched[0] + launched[1])?, PACK_THREADS).shared(shared);
        Ok(Some(Self { launch, packing, copied, layouts, words }))
    }

    /// Where each factor begins, of copies in aligned memory from `scratch` on.
    pub fn addresses(&self, given: [u64; 2], scratch: u64) -> [u64; 2] {
        [0, 1].map(|at| if self.copied[at] { scratch + 4 * self.packing.packed_first[at] } else { given[at] })
    }
}

/// The same matrices in this order, with lines that begin at multiples of [`ALIGNMENT`] and no other gaps.
fn packed(factor: BatchLayout, order: Order, bytes: usize) -> Result<BatchLayout, Error> {
    let (rows, columns) = factor.matrix.shape();
    let matrix = Layout::new(order, rows, columns)?;
    let leading = matrix.contiguous().next_multiple_of(ALIGNMENT / bytes);
    let matrix = matrix.with_leading_dimension(leading)?;
    let packed = BatchLayout::new(matrix, factor.count, leading * matrix.lines())?;
    // The last line's gap counts, too, and so do bytes.
    BatchLayout::new(Layout::row_major(packed.count, packed.stride)?, bytes, packed.count * packed.stride)?;
    Ok(packed)
}

/// Whether each 16 bytes of the factor's lines may be copied at once.
pub fn is_aligned(factor: BatchLayout, address: u64, bytes: usize) -> bool {
    let stride = if factor.count > 1 { factor.stride } else { 0 };
    let strides = (factor.matrix.leading_dimension() | stride) * bytes;
    address.is_multiple_of(ALIGNMENT as u64) && strides.is_multiple_of(ALIGNMENT)
}

/// Which of the factors are copied because that is faster.
///
/// In microseconds on an H200. Without a copy a factor goes to shared memory element by element, once for each tile of
/// 128 × 128 of C: 280 to 480 elements a nanosecond (507 × 5904 × 652 in 51 µs, 1 × 1263 × 42,732 in 195, 516 × 3605 ×
/// 1165 in 91). With one a launch reads and writes the factor at some 3.5 TB/s, after which tiles arrive ten times as
/// fast. A product of 128³ has 16,384 elements of each and so never pays for the launch; one of 1024³ has 8 million of
/// each in tiles, 42 µs, and a copy of 2 MB, 6 µs.
fn pays(bytes: usize, factors: [BatchLayout; 2], addresses: [u64; 2]) -> [bool; 2] {
    let unaligned = [0, 1].map(|at| !is_aligned(factors[at], addresses[at], bytes));
    let [a, b] = factors.map(|factor| factor.matrix.shape());
    let tiles = |extent: usize| extent.div_ceil(TILE as usize) as f64;
    let count = factors[0].count as f64;
    // Rows of A once for each column of tiles, columns of B once for each row.
    let loads = [a.0 as f64 * tiles(b.1), b.1 as f64 * tiles(a.0)].map(|lines| lines * a.1 as f64 * count);
    let (mut slow, mut copy) = (0.0, LAUNCH);
    for at in (0..2).filter(|&at| unaligned[at]) {
        let (rows, columns) = factors[at].matrix.shape();
        slow += loads[at] / ELEMENTS_PER_MICROSECOND;
        copy += rows as f64 * columns as f64 * count * 2.0 * bytes as f64 / BYTES_PER_MICROSECOND;
    }
    if copy + slow * 0.1 < slow { unaligned } else { [false; 2] }
}

/// What another launch takes, where it need not be waited for.
pub(super) const LAUNCH: f64 = 2.5;
const ELEMENTS_PER_MICROSECOND: f64 = 400e3;
pub(super) const BYTES_PER_MICROSECOND: f64 = 3.5e6;

#[cfg(test)]
mod tests {
    use super::*;

    fn square(n: usize, leading: usize) -> BatchLayout {
        let matrix = Layout::row_major(n, n).unwrap().with_leading_dimension(leading).unwrap();
        BatchLayout { matrix, count: 1, stride: 0 }
    }

    #[test]
    fn large_products_of_unaligned_factors_are_copied() {
        let copied = |factors, addresses| {
            Pack::new(Packs::WherePays, 2, factors, addresses, 0).unwrap().map(|pack| pack.copied)
        };
        assert_eq!(copied([square(1024, 1025), square(1024, 1024)], [0; 2]), Some([true, false]));
        assert_eq!(copied([square(1024, 1024); 2], [0, 2]), Some([false, true]));
        assert_eq!(copied([square(1024, 1024); 2], [16, 32]), None);
        assert_eq!(copied([square(128, 129); 2], [0; 2]), None);
        // Long lines, but each of them once.
        let (a, b) = (Layout::row_major(1, 40_000).unwrap(), Layout::row_major(40_000, 1001).unwrap());
        let one = |matrix| BatchLayout { matrix, count: 1, stride: 0 };
        assert_eq!(copied([one(a), one(b)], [0; 2]), Some([false, true]));
        let empty = one(Layout::row_major(0, 40_000).unwrap());
        assert_eq!(copied([empty, one(b)], [2; 2]), None);
    }

    #[test]
    fn bytes_are_copied_where_the_tensor_cores_do_not_take_them() {
        let copied = |factors, addresses| {
            Pack::new(Packs::AlongInnerWhereNeeded, 1, factors, addresses, 0).unwrap().map(|pack| pack.copied)
        };
        let (a, b) = (square(100, 112), square(100, 112).transposed());
        assert_eq!(copied([a, b], [16, 32]), None);
        assert_eq!(copied([a, b], [16, 33]), Some([false, true]));
        assert_eq!(copied([b, b], [16, 32]), Some([true, false]));
        assert_eq!(copied([a, a], [16, 32]), Some([false, true]));
        assert_eq!(copied([square(100, 100), b], [16, 32]), Some([true, false]));
        let pack = Pack::new(Packs::AlongInnerWhereNeeded, 1, [b, a], [0; 2], 0).unwrap().unwrap();
        assert_eq!((pack.words, pack.packing.across), (2 * 100 * 112 / 4, [1; 2]));
        assert_eq!(pack.layouts.map(|layout| layout.matrix.order()), ALONG_INNER);
        // A block copies 64 lines of 128 bytes.
        assert_eq!((pack.launch.grid, pack.packing.of_a), ([4, 1, 1], 2));
    }

    #[test]
    fn copies_are_aligned_and_apart() {
        let odd = |rows, columns: usize| {
            let matrix =
                Layout::row_major(rows, columns).unwrap().with_leading_dimension(columns + 1).unwrap();
            BatchLayout { matrix, count: 3, stride: 5000 }
        };
        let factors = [odd(10, 13), odd(13, 30)];
        let pack = Pack::new(Packs::Always, 2, factors, [2, 4], 8).unwrap().unwrap();
        let addresses = pack.addresses([2, 4], 1 << 20);
        for at in 0..2 {
            assert!(is_aligned(pack.layouts[at], addresses[at], 2), "{pack:?}");
            assert_eq!(pack.layouts[at].matrix.shape(), factors[at].matrix.shape());
        }
        // 10 lines of 16 and 13 of 32 elements, three times.
        assert_eq!(addresses, [(1 << 20) + 32, (1 << 20) + 32 + 3 * 10 * 16 * 2]);
        assert_eq!(pack.words, 3 * (10 * 16 + 13 * 32) / 2);
        assert_eq!((pack.launch.grid, pack.packing.of_a), ([6, 1, 1], 3));
    }
}
