//! The kernels, and which one is taken.

use std::cell::Cell;

use gpu_core::Capability;
use gpu_linalg_kernels::gemm::{
    GEMM_F64, GEMM_FLAT_F32, GEMM_LOW_F32, GEMM_MEDIUM_F32, GEMM_TENSOR_F64, GEMM_TENSOR_FLAT_F64,
    GEMM_TENSOR_HALVES_F64, GEMM_TENSOR_MEDIUM_F64, SHORT_COLUMNS_F32, SHORT_COLUMNS_F64, Tile, aligned,
    bulk, large, short, small,
};

use super::super::kept;
use super::cost::{Shape, clocks};

/// Which kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Tiles of 128 × 128 `f32`, from 8.0 on.
    Large,
    /// Tiles of 64 × 64 `f32`.
    Medium,
    /// Tiles of 32 × 128 `f32`, for products of some rows, from 8.0 on.
    Low,
    /// Tiles of 16 × 128 `f32`, for products of few rows, from 8.0 on.
    Flat,
    /// Tiles of 64 × 64 `f64`, without tensor cores.
    Double,
    /// Tiles of 64 × 128 `f64`, on the tensor cores, where all matrices may be accessed by 16 bytes, from 9.0 on.
    TensorAligned,
    /// Tiles of 128 × 128 `f64`, likewise, whose factors the copy engine brings: where a block may have 192 KiB of
    /// shared memory, on devices of 9.0 to 11.0.
    TensorBulk,
    /// Tiles of 128 × 128 `f64`, on the tensor cores.
    TensorLarge,
    /// Tiles of 64 × 64 `f64`, on the tensor cores.
    TensorMedium,
    /// The same of twice the threads, where a multiprocessor has few tiles.
    TensorHalves,
    /// Tiles of 16 × 128 `f64`, on the tensor cores, for products of few rows.
    TensorFlat,
    /// Sums of at most [`MOST_SHORT`] products, of both types.
    Short,
    /// Tiles of 32 × 32 without stages, of both types: small matrices.
    Small,
}

/// The longest sums of [`Kernel::Short`]: it reads them a few products at a time, tiles all at once.
pub const MOST_SHORT: usize = 16;
/// The longest where B is contiguous along k: a warp reads one element of each of 32 lines then.
pub const MOST_SHORT_ACROSS: usize = 8;

/// The device's capability, its multiprocessors, the shape, the parts of sums and their length.
type Asked = (Option<Capability>, u32, Shape, (u64, u64));

thread_local! {
    /// The kernel that was asked for last: to compare them takes a third of the host's time for a launch, and the next
    /// product often has the same shape.
    static LAST: Cell<Option<(Asked, Kernel)>> = const { Cell::new(None) };
}

/// How fast a kernel with stages is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// Blocks that a multiprocessor has room for.
    pub(super) blocks: f64,
    /// Warps that keep a multiprocessor busy.
    pub(super) warps: f64,
    /// What a busy one has of the peak.
    pub(super) fraction: f64,
    /// Clocks that a stage of all blocks on a multiprocessor takes at least, however few they are.
    pub(super) stage: f64,
    /// Clocks before the first stage and behind the last of one block, and more of each that a multiprocessor has. The
    /// more results a thread has, the longer it writes, and few warps hide it.
    pub(super) ends: [f64; 2],
}

impl Kernel {
    /// Those for doubles on tensor cores, those that want the most of a device first.
    const ON_TENSOR_CORES: [Self; 8] = [
        Self::TensorBulk,
        Self::TensorAligned,
        Self::TensorLarge,
        Self::TensorMedium,
        Self::TensorHalves,
        Self::TensorFlat,
        Self::Short,
        Self::Small,
    ];

    /// Those for elements of `bytes` bytes, 4 or 8, on a device of this capability; all of them where it is `None`,
    /// as on the simulator.
    pub const fn of(bytes: usize, capability: Option<Capability>) -> &'static [Self] {
        let generation = match capability {
            Some(capability) => capability.major,
            None => u32::MAX,
        };
        match (bytes, generation) {
            (4, 8..) => &[Self::Large, Self::Medium, Self::Low, Self::Flat, Self::Short, Self::Small],
            (4, _) => &[Self::Medium, Self::Short, Self::Small],
            (_, 9..12 | u32::MAX) => &Self::ON_TENSOR_CORES,
            // From 12.0 on a block has at most 99 KiB of shared memory.
            (_, 12..) => Self::ON_TENSOR_CORES.split_at(1).1,
            (_, 8) => Self::ON_TENSOR_CORES.split_at(2).1,
            _ => &[Self::Double, Self::Short, Self::Small],
        }
    }

    /// Whether it takes products of elements of `bytes` bytes with sums of `k` products; if alpha is zero there are
    /// none. Those of [`Kernel::Short`] are few, and where B is contiguous along k it takes [`MOST_SHORT_ACROSS`] at
    /// most; those of [`Kernel::TensorBulk`] are not empty.
    pub fn takes(self, bytes: usize, k: usize, across: bool) -> bool {
        let most = if across { MOST_SHORT_ACROSS } else { MOST_SHORT };
        let older = Some(Capability::new(7, 5));
        let is_of_type = [None, older].iter().any(|&device| Self::of(bytes, device).contains(&self));
        is_of_type && (self != Self::Short || k <= most) && (self != Self::TensorBulk || k > 0)
    }

    /// Whether it takes only products of which all matrices may be accessed by 16 bytes: where they, their rows and the
    /// matrices of a batch begin at multiples of that, and lines of A and B are whole multiples.
    pub const fn needs_alignment(self) -> bool {
        matches!(self, Self::TensorAligned | Self::TensorBulk)
    }

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Large => "large",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Flat => "flat",
            Self::Double => "double",
            Self::TensorAligned => "tensor_aligned",
            Self::TensorBulk => "tensor_bulk",
            Self::TensorLarge => "tensor_large",
            Self::TensorMedium => "tensor_medium",
            Self::TensorHalves => "tensor_halves",
            Self::TensorFlat => "tensor_flat",
            Self::Short => "short",
            Self::Small => "small",
        }
    }

    /// Whether it takes products whose matrices start where a table says.
    const fn is_listed(self) -> bool {
        matches!(self, Self::Medium | Self::TensorMedium | Self::Small)
    }

    /// The one that takes the least time on so many multiprocessors.
    pub(super) fn choose(
        capability: Option<Capability>,
        multiprocessors: u32,
        shape: Shape,
        parts: (u64, u64),
    ) -> Self {
        let asked = (capability, multiprocessors, shape, parts);
        kept(&LAST, asked, || Self::fastest(capability, multiprocessors, shape, parts, |_| true))
    }

    /// The same of those that take products whose matrices start where a table says.
    pub(super) fn fastest_listed(
        capability: Option<Capability>,
        multiprocessors: u32,
        shape: Shape,
        parts: (u64, u64),
    ) -> Self {
        Self::fastest(capability, multiprocessors, shape, parts, Self::is_listed)
    }

    fn fastest(
        capability: Option<Capability>,
        multiprocessors: u32,
        shape: Shape,
        (parts, piece): (u64, u64),
        takes: impl Fn(Self) -> bool,
    ) -> Self {
        let kernels = Self::of(shape.bytes as usize, capability).iter().filter(|&&kernel| takes(kernel));
        let kernels = kernels.filter(|kernel| shape.aligned || !kernel.needs_alignment());
        let timed = kernels.map(|&kernel| (clocks(kernel, shape, parts, piece, multiprocessors), kernel));
        let fastest = timed.reduce(|best, other| if other.0 < best.0 { other } else { best });
        fastest.expect("every type has a kernel").1
    }

    /// Its tile.
    pub(super) const fn tile(self) -> Tile {
        match self {
            Self::Large => large::TILE,
            Self::Medium => GEMM_MEDIUM_F32,
            Self::Low => GEMM_LOW_F32,
            Self::Flat => GEMM_FLAT_F32,
            Self::Double => GEMM_F64,
            Self::TensorAligned => aligned::TILE,
            Self::TensorBulk => bulk::TILE,
            Self::TensorLarge => GEMM_TENSOR_F64,
            Self::TensorMedium => GEMM_TENSOR_MEDIUM_F64,
            Self::TensorHalves => GEMM_TENSOR_HALVES_F64,
            Self::TensorFlat => GEMM_TENSOR_FLAT_F64,
            // There are no stages to copy, and how many rows and columns a block has depends on C: see [`Self::tiles`].
            Self::Short => {
                Tile { rows: 32, columns: 32, depth: 1, threads: short::THREADS, stages: 0, bytes: 4 }
            }
            // As little a stage: see [`Self::shared_bytes`].
            Self::Small => Tile {
                rows: small::TILE,
                columns: small::TILE,
                depth: 1,
                threads: small::THREADS,
                stages: 0,
                bytes: 4,
            },
        }
    }

    /// Bytes of dynamic shared memory of a block.
    pub(super) const fn shared_bytes(self, bytes: usize) -> u32 {
        match self {
            Self::Small => small::shared_bytes(bytes as u32),
            Self::TensorAligned => aligned::shared_bytes(),
            Self::TensorBulk => bulk::shared_bytes(),
            _ => self.tile().shared_bytes(),
        }
    }

    /// The rows and the columns of a block, of a C of `n` columns of elements of `bytes` bytes.
    pub(super) const fn block(self, n: u32, bytes: usize) -> [u32; 2] {
        match self {
            Self::Short => short::tile(n, if bytes == 4 { SHORT_COLUMNS_F32 } else { SHORT_COLUMNS_F64 }),
            _ => [self.tile().rows, self.tile().columns],
        }
    }

    /// The tiles of a product of m × n elements of `bytes` bytes, from the first row to the last and from the first
    /// column to the last.
    pub(super) const fn tiles(self, m: u32, n: u32, bytes: usize) -> [u32; 2] {
        let [rows, columns] = self.block(n, bytes);
        [m.div_ceil(rows), n.div_ceil(columns)]
    }

    /// How fast it is; without meaning where there are no stages: see `short_clocks` and `small_clocks`.
    ///
    /// Fitted, like the other constants that only [`clocks`] has, to what an H200 took for 334 products and 110 updates
    /// by each kernel (`product-shapes --kernels`, `level3 --kernels`, 2026-11-27): so that the one that is taken is
    /// hardly slower than the fastest, less than 1 % in the mean.
    pub(super) const fn rate(self) -> Rate {
        let (blocks, warps, fraction, stage, ends) = match self {
            Self::Large => (2.0, 8.69, 0.844, 2340.0, [1020.0, 7910.0]),
            Self::Medium => (4.0, 4.11, 0.631, 530.0, [1800.0, 1680.0]),
            Self::Low => (4.0, 4.45, 0.601, 436.0, [1640.0, 1750.0]),
            Self::Flat => (3.0, 5.89, 0.399, 457.0, [1220.0, 1230.0]),
            Self::Double => (2.0, 8.0, 0.25, 350.0, [4000.0, 2500.0]),
            Self::TensorAligned => (2.0, 4.31, 0.897, 288.0, [4000.0, 1500.0]),
            Self::TensorBulk => (1.0, 8.0, 1.02, 1490.0, [0.0, 15_500.0]),
            Self::TensorLarge => (1.0, 5.38, 0.999, 2490.0, [0.0, 10_200.0]),
            Self::TensorMedium => (4.0, 4.41, 0.638, 316.0, [3050.0, 1920.0]),
            Self::TensorHalves => (2.0, 8.02, 0.671, 981.0, [992.0, 2330.0]),
            Self::TensorFlat => (3.0, 9.39, 0.584, 70.4, [1610.0, 1140.0]),
            Self::Short | Self::Small => (2.0, 16.0, 0.0, 0.0, [0.0; 2]),
        };
        Rate { blocks, warps, fraction, stage, ends }
    }
}

/// A kernel as it was thought to be when the cut of sums was fixed, which is their order and stays.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfCut {
    pub(super) tile: Tile,
    pub(super) rate: Rate,
}

impl OfCut {
    /// The kernels of then, for elements of `bytes` bytes, 4 or 8.
    pub(super) const fn of(bytes: usize) -> &'static [Self] {
        if bytes == 4 { &SINGLES_OF_CUT } else { &DOUBLES_OF_CUT }
    }

    const fn new(
        [rows, columns, depth]: [u32; 3],
        threads: u32,
        bytes: u32,
        (blocks, warps, fraction): (f64, f64, f64),
    ) -> Self {
        let tile = Tile { rows, columns, depth, threads, stages: 3, bytes };
        Self { tile, rate: Rate { blocks, warps, fraction, stage: 350.0, ends: [2000.0, 0.0] } }
    }
}

static SINGLES_OF_CUT: [OfCut; 5] = [
    OfCut::new([128, 256, 16], 256, 4, (1.0, 8.0, 0.95)),
    OfCut::new([128, 128, 16], 128, 4, (2.0, 5.0, 0.92)),
    OfCut::new([64, 64, 16], 128, 4, (6.0, 10.0, 0.75)),
    OfCut::new([32, 128, 16], 128, 4, (4.0, 8.0, 0.55)),
    OfCut::new([16, 128, 32], 128, 4, (3.0, 8.0, 0.42)),
];

static DOUBLES_OF_CUT: [OfCut; 3] = [
    OfCut::new([128, 128, 16], 256, 8, (1.0, 8.0, 0.75)),
    OfCut::new([64, 64, 16], 128, 8, (3.0, 6.0, 0.7)),
    OfCut::new([16, 128, 16], 128, 8, (3.0, 8.0, 0.55)),
];
