//! Into how many parts the sums of a product are cut: a function of its shape alone.

use std::cell::Cell;
use std::ops::Range;

use gpu_linalg_kernels::gemm::GEMM_FLAT_F32;

use super::super::kept;
use super::cost::{Shape, clocks_of_parts};
use super::kernel::{MOST_SHORT, OfCut};

/// Parts are multiples of so much: of every kernel's stage.
const STEP: usize = GEMM_FLAT_F32.depth as usize;
/// No part is shorter.
const LEAST_PIECE: usize = 64;
/// Parts are tried that make up to so many blocks for each multiprocessor.
const MOST_BLOCKS: u64 = 8;
/// Bytes that the parts' sums may take, if there are several.
const MOST_BYTES: u64 = 64 << 20;
/// Multiprocessors of the device that the sums are cut for: every device gets the same bits.
const MULTIPROCESSORS: u32 = 132;
/// Products of so few columns, and many rows, are computed transposed: flat tiles have few rows.
const FEW_COLUMNS: usize = 32;
/// So many rows are many.
const MANY_ROWS: usize = 256;

/// The type's bytes, the shape, the number of products, whether they are halves.
type Asked = (usize, [usize; 3], usize, bool);

thread_local! {
    /// The cut that was asked for last. A search takes as long as a launch, and one product asks for its cut twice, for
    /// scratch memory and for the plan; the next one often has the same shape.
    static LAST: Cell<Option<(Asked, Split)>> = const { Cell::new(None) };
}

/// How the sums of a product are cut along `k`.
///
/// ```
/// use gpu_linalg::plan::gemm::Split;
/// let split = Split::new(4, [64, 64, 100_000], 1);
/// assert!(split.parts > 50);
/// assert_eq!(split.ranges(100_000).map(|part| part.len()).sum::<usize>(), 100_000);
/// assert_eq!(Split::new(4, [4096, 4096, 4096], 1).parts, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Parts of a sum.
    pub parts: usize,
    /// Products in a part; the last one may have fewer.
    pub piece: usize,
    /// Whether the transposed product is computed, and turned where parts are added.
    pub(super) turned: bool,
}

impl Split {
    /// The cut of `count` products of `m` × `k` and `k` × `n` elements of `bytes` bytes, C being row-major.
    pub fn new(bytes: usize, shape: [usize; 3], count: usize) -> Self {
        Self::of_shape(bytes, shape, count, false)
    }

    /// The same, where of a square C only one triangle is computed if it is `half`.
    pub(super) fn of_shape(bytes: usize, shape: [usize; 3], count: usize, half: bool) -> Self {
        if shape[2] < 2 * LEAST_PIECE {
            return Self::search(bytes, shape, count, half);
        }
        kept(&LAST, (bytes, shape, count, half), || Self::search(bytes, shape, count, half))
    }

    fn search(bytes: usize, [m, n, k]: [usize; 3], count: usize, half: bool) -> Self {
        let results = [n, count, bytes].into_iter().fold(m as u64, |all, of| all.saturating_mul(of as u64));
        let turned = n <= FEW_COLUMNS && m >= MANY_ROWS && k > MOST_SHORT && results <= MOST_BYTES;
        let (m, n) = if turned { (n, m) } else { (m, n) };
        let whole = Self { parts: 1, piece: k, turned };
        // An empty C has no blocks to cut.
        if k < 2 * LEAST_PIECE || results == 0 {
            return whole;
        }
        let shape = Shape {
            m: m as u64,
            n: n as u64,
            k: k as u64,
            count: count as u64,
            bytes: bytes as u64,
            half,
            across: false,
            aligned: false,
        };
        let mut chosen = (f64::INFINITY, whole);
        for &kernel in OfCut::of(bytes) {
            let mut consider = |split: Self| {
                let parts = (split.parts as u64, split.piece as u64);
                let time = clocks_of_parts(kernel, shape, parts, MULTIPROCESSORS, turned);
                if time < chosen.0 {
                    chosen = (time, split);
                }
            };
            consider(whole);
            let blocks = shape.blocks([kernel.tile.rows, kernel.tile.columns]);
            for each in 1..=MOST_BLOCKS {
                let parts = (u64::from(MULTIPROCESSORS) * each / blocks) as usize;
                let piece = k.div_ceil(parts.max(1)).next_multiple_of(STEP).max(LEAST_PIECE);
                let parts = k.div_ceil(piece);
                if parts > 1 && results.saturating_mul(parts as u64) <= MOST_BYTES {
                    consider(Self { parts, piece, turned });
                }
            }
        }
        chosen.1
    }

    /// The parts of a sum of `k` products.
    pub fn ranges(self, k: usize) -> impl Iterator<Item = Range<usize>> {
        (0..self.parts).map(move |part| (part * self.piece).min(k)..((part + 1) * self.piece).min(k))
    }

    /// Whether a second launch writes C.
    pub(super) fn is_finished_apart(self) -> bool {
        self.parts > 1 || self.turned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_sums_and_are_whole_stages() {
        for shape in
            [[64, 64, 100_000], [1, 1, 1 << 24], [257, 1031, 513], [2048, 32, 2048], [7, 9, 129], [1000; 3]]
        {
            for bytes in [4, 8] {
                let split = Split::new(bytes, shape, 1);
                assert!(split.parts == 1 || split.piece.is_multiple_of(STEP), "{shape:?}: {split:?}");
                let mut end = 0;
                for part in split.ranges(shape[2]) {
                    assert!(part.start == end && part.end > end, "{shape:?}: {split:?}");
                    end = part.end;
                }
                assert_eq!(end, shape[2]);
            }
        }
    }

    #[test]
    fn few_results_are_cut_and_many_are_not() {
        let parts = |shape| [4, 8].map(|bytes| Split::new(bytes, shape, 1).parts);
        assert!(parts([64, 64, 100_000]).iter().all(|&parts| parts >= 64));
        assert_eq!(parts([4096; 3]), [1, 1]);
        assert_eq!(parts([8192; 3]), [1, 1]);
        assert_eq!(parts([100, 100, 100]), [1, 1]);
        assert_eq!(parts([100, 100, 0]), [1, 1]);
        assert_eq!(parts([0, 100, 1000]), [1, 1]);
        assert_eq!(parts([100, 0, 1000]), [1, 1]);
        // A batch fills a device, too.
        assert_eq!(Split::new(4, [64, 64, 1000], 4000).parts, 1);
    }

    #[test]
    fn tall_products_are_turned() {
        assert!(Split::new(4, [2048, 32, 2048], 1).turned);
        assert!(!Split::new(4, [32, 2048, 2048], 1).turned);
        assert!(!Split::new(4, [2048, 32, 0], 1).turned);
    }
}
