//! Products on capability 9.0: one warp brings tiles, two warpgroups multiply them.
//!
//! A block computes 128 rows of C by 256 or by 128 columns, 64 rows a warpgroup, tile after tile until none is left
//! (a persistent grid). Tiles of A and B, 128 bytes deep along `k`, go through a ring of stages: one thread waits
//! until a stage is empty and starts its copies, and the warpgroups wait until it is full, multiply, and say that
//! it is empty. The ring goes on across tiles of C: while one is written the next one's factors arrive. Of blocks
//! with 128 columns a multiprocessor has two, of which one multiplies while the other writes.
//!
//! After the Hopper kernels of CUTLASS (warp-specialised, persistent) and of P. Shah, "Outperforming cuBLAS on H100"
//! (2024).

use gpu_std::barrier::{Barrier, fence_init};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::tensor_map::TensorMap;
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, grid_dim_x, set_fewer_registers, set_more_registers,
    sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, opaque, rolled, shared, warp, wgmma};

use crate::epilogue::Epilogue;
use crate::output::Output;
use crate::place::{Place, Product};
use crate::rows::{self, CLASSES, Classes, class_bytes};
use crate::store::{self, Target};

/// Rows of a block's tile.
pub const ROWS: u32 = 2 * wgmma::ROWS;
/// Warps of a block that multiply.
pub(crate) const WARPS: u32 = 8;

/// Threads of a block, where a thread has so many sums: two warpgroups that multiply, and a warp of which one
/// thread copies. With 128 sums the rest of its warpgroup is there to give its registers away: a multiprocessor's
/// fourth has 16,384, for three warps of the block, so that otherwise all would have 168.
pub const fn threads(sums: usize) -> u32 {
    WARPS * 32 + if sums == 128 { 128 } else { 32 }
}

/// Columns of a block's tile, where a thread has so many sums.
pub const fn columns(sums: usize) -> u32 {
    wgmma::columns(sums)
}

/// Stages of the ring: as many as shared memory has room for, where one block is on a multiprocessor, or two.
pub const fn stages(sums: usize) -> u32 {
    if sums == 128 { 4 } else { 3 }
}

/// Blocks of eight columns that a warp writes together.
pub(crate) const BLOCKS: usize = 8;

/// Words of a warp's sums on their way to C.
const STAGING: u32 = store::WHOLE_STAGING;
// Mutants: there is more.
const _: () = assert!(STAGING >= store::staging(BLOCKS));

/// Dynamic shared memory of a block, for elements of so many bytes. Where it goes on to other tiles, the sums on their way to C have memory of
/// their own, since the ring fills again meanwhile.
pub const fn shared_bytes(bytes: u32, sums: usize) -> u32 {
    let ring = stages(sums) * (a_bytes(bytes, sums) + columns(sums) * wgmma::DEPTH_BYTES);
    ring + (2 * stages(sums) + 1) * 8 + if sums == 128 { 8 + WARPS * STAGING * 4 } else { 0 }
}

pub(crate) const A_BYTES: u32 = ROWS * wgmma::DEPTH_BYTES;

/// What a stage has of it: more of `f32` that come in classes of lines, which the wider tile has no room for.
const fn a_bytes(bytes: u32, sums: usize) -> u32 {
    if bytes == 4 && sums == 64 { class_bytes(false) } else { A_BYTES }
}
// Mutants: along `k` there are more.
const _: () = assert!(class_bytes(false) >= class_bytes(true) && class_bytes(false).is_multiple_of(1024));

/// How a kernel takes A: contiguous along `k`, across, or either, which is more for the driver to compile.
pub(crate) const ALONG: usize = 0;
pub(crate) const ACROSS: usize = 1;
pub(crate) const EITHER: usize = 2;

/// Elements along and rows of the boxes that are copied of A and of B, for elements of so many bytes and a tile of
/// so many columns. Of a factor that is contiguous across `k` a box has 128 bytes across, and the tile several of
/// them.
pub const fn boxes(bytes: u32, columns: u32, across: [bool; 2]) -> [[u32; 2]; 2] {
    let depth = wgmma::DEPTH_BYTES / bytes;
    [
        if across[0] { [depth, depth] } else { [depth, ROWS] },
        if across[1] { [depth, depth] } else { [depth, columns] },
    ]
}

/// Where a block's stages are, and how it walks through them. Where two blocks share what they bring, both wait until a
/// stage is empty in both.
pub(crate) struct Ring<T: Output, const SUMS: usize, const PAIRED: bool> {
    pub(crate) a: Shared<T>,
    pub(crate) b: Shared<T>,
    pub(crate) barriers: Shared<u64>,
    pub(crate) stage: u32,
    /// The parity of the stage's present round.
    pub(crate) round: u32,
}

impl<T: Output, const SUMS: usize, const PAIRED: bool> Ring<T, SUMS, PAIRED> {
    /// Where a multiprocessor has two blocks, the hardware starts the next one while the other multiplies.
    const PERSISTENT: bool = SUMS == 128;
    pub(crate) const STAGES: u32 = stages(SUMS);
    const COLUMNS: u32 = columns(SUMS);
    pub(crate) const B_BYTES: u32 = Self::COLUMNS * wgmma::DEPTH_BYTES;
    /// Elements of a stage's tiles.
    pub(crate) const A: u32 = a_bytes(size_of::<T>() as u32, SUMS) / size_of::<T>() as u32;
    pub(crate) const B: u32 = Self::B_BYTES / size_of::<T>() as u32;

    #[device]
    #[inline(always)]
    pub(crate) fn full(&self) -> Barrier {
        Barrier::at(self.barriers, self.stage)
    }

    #[device]
    #[inline(always)]
    pub(crate) fn empty(&self) -> Barrier {
        Barrier::at(self.barriers, Self::STAGES + self.stage)
    }

    #[device]
    #[inline(always)]
    pub(crate) fn next(&mut self) {
        self.stage += 1;
        if self.stage == Self::STAGES {
            self.stage = 0;
            self.round ^= 1;
        }
    }

    /// Adds a tile's products along all of `k` to the sums of warpgroup `group`; lines of A may be in classes.
    #[device]
    #[inline(always)]
    pub(crate) fn multiply<const A_ACROSS: bool, const B_ACROSS: bool, const IN_CLASSES: bool>(
        &mut self,
        sums: &mut [u32; SUMS],
        group: u32,
        classes: Classes,
        k: u32,
    ) {
        let mut done = 0;
        while done < k {
            self.full().wait(self.round);
            let a_tile = self.a.offset(self.stage * Self::A);
            let b_tile = self.b.offset(self.stage * Self::B);
            T::multiply::<A_ACROSS, B_ACROSS, IN_CLASSES, SUMS>(sums, a_tile, b_tile, group, classes);
            if const { PAIRED } {
                // A lane for each block: what they bring comes to both.
                let lane = thread_idx_x() % 32;
                if lane < 2 {
                    self.empty().free_at(lane);
                }
            } else if thread_idx_x().is_multiple_of(32) {
                self.empty().arrive();
            }
            self.next();
            done += wgmma::depth::<T>();
        }
    }
}

/// Computes all tiles of C with the launch's blocks of [`threads`] threads and [`shared_bytes`], at most as many as
/// there are tiles. Lines of A are in classes, each with its map, or all have the first one.
#[device]
#[inline(always)]
pub(crate) fn product<
    T: Output,
    E: Epilogue<T::Scale>,
    const SUMS: usize,
    const PARTS: usize,
    const WIDE: usize,
    const NARROW: usize,
    const A_LIES: usize,
>(
    (a, classes): ([&TensorMap; CLASSES as usize], Classes),
    b: &TensorMap,
    c: GlobalMut<T>,
    product: Product,
    alpha: T::Scale,
    beta: T::Scale,
    epilogue: E,
) {
    let mut shared = shared::dynamic();
    let stages = const { Ring::<T, SUMS, false>::STAGES };
    let mut ring = Ring::<T, SUMS, false> {
        a: shared.array(stages * Ring::<T, SUMS, false>::A),
        b: shared.array(stages * Ring::<T, SUMS, false>::B),
        barriers: shared.array(2 * stages + 1),
        stage: 0,
        round: 0,
    };
    let thread = thread_idx_x();
    if thread == 0 {
        a[0].prefetch();
        b.prefetch();
        let mut stage = 0;
        while stage < stages {
            Barrier::at(ring.barriers, stage).init(1);
            Barrier::at(ring.barriers, stages + stage).init(WARPS);
            stage += 1;
        }
        Barrier::at(ring.barriers, 2 * stages).init(WARPS * 32);
        fence_init();
    }
    let staging = if const { Ring::<T, SUMS, false>::PERSISTENT } {
        shared.array(WARPS * STAGING)
    } else {
        ring.a.cast()
    };
    grid_dependency_synchronize();
    trigger_launch_completion();
    sync_threads();

    let tile_columns = const { Ring::<T, SUMS, false>::COLUMNS };
    let (rows, columns) = (product.m.div_ceil(ROWS), product.n.div_ceil(tile_columns));
    let tiles = rows * columns * product.count * product.parts;
    let [a_across, b_across] = [0, 1].map(|at| T::ACROSS[at] && product.across[at] != 0);
    let in_classes = T::CLASSES && const { SUMS == 64 } && classes.count > 1;
    let a_across = match A_LIES {
        ALONG => false,
        ACROSS => true,
        _ => a_across,
    };
    let mut tile = block_idx_x();
    if thread >= WARPS * 32 {
        if const { SUMS == 128 } {
            set_fewer_registers::<40>();
        }
        if thread < WARPS * 32 + 32 && warp::elect(warp::FULL) {
            while tile < tiles {
                let Place { row, column, matrix } = Place::of(tile, rows, columns);
                let [matrix, mut k, end] = product.of_part(matrix);
                while k < end {
                    // In the first round nobody has used the stage: the phase before the first counts as complete.
                    ring.empty().wait(ring.round ^ 1);
                    let full = ring.full();
                    let of_a = if in_classes { class_bytes(a_across) } else { A_BYTES };
                    full.arrive_expect(of_a + Ring::<T, SUMS, false>::B_BYTES);
                    let a_tile = ring.a.offset(ring.stage * Ring::<T, SUMS, false>::A);
                    let b_tile = ring.b.offset(ring.stage * Ring::<T, SUMS, false>::B);
                    let place = [k, row * ROWS, matrix];
                    if in_classes {
                        rows::load_classes(a, a_tile.cast(), full, place, a_across);
                    } else {
                        load::<T>(a[0], a_tile, full, place, if a_across { ROWS } else { 0 });
                    }
                    let extent = if b_across { tile_columns } else { 0 };
                    load::<T>(b, b_tile, full, [k, column * tile_columns, matrix], extent);
                    ring.next();
                    k += wgmma::depth::<T>();
                }
                if const { !Ring::<T, SUMS, false>::PERSISTENT } {
                    break;
                }
                tile += grid_dim_x();
            }
        }
    } else {
        if const { SUMS == 128 } {
            set_more_registers::<232>();
        }
        let (group, warp) = (thread / 128, thread / 32);
        while tile < tiles {
            let mut sums = [0; SUMS];
            let [_, first, end] = product.of_part(Place::of(tile, rows, columns).matrix);
            let k = end - first;
            match (a_across, b_across) {
                (false, _) if in_classes => {
                    ring.multiply::<false, false, true>(&mut sums, group, classes, k);
                }
                (true, _) if in_classes => ring.multiply::<true, false, true>(&mut sums, group, classes, k),
                (false, true) => ring.multiply::<false, true, false>(&mut sums, group, classes, k),
                (false, false) => ring.multiply::<false, false, false>(&mut sums, group, classes, k),
                (true, true) => ring.multiply::<true, true, false>(&mut sums, group, classes, k),
                (true, false) => ring.multiply::<true, false, false>(&mut sums, group, classes, k),
            }
            // Computed here and not before, where it would take registers from the sums.
            let Place { row, column, matrix } = Place::of(opaque(tile), rows, columns);
            let place = Place { row: row * ROWS + 16 * warp, column: column * tile_columns, matrix };
            if const { !Ring::<T, SUMS, false>::PERSISTENT } {
                // The ring is free once all threads have multiplied, which may have read it themselves.
                let multiplied = Barrier::at(ring.barriers, 2 * stages);
                multiplied.arrive();
                multiplied.wait(0);
            }
            let staging = staging.offset(warp * STAGING);
            let target = Target { c, product: &product, alpha, beta, staging };
            // One branch: behind several the compiler would take it for rare, and its code for not worth a place here.
            if (product.vectors == 2) & !T::reads(beta) & !epilogue.is_asked() {
                target.write_whole::<WIDE, NARROW, SUMS>(&sums, place);
            } else {
                target.write::<E, BLOCKS, { BLOCKS / 2 }, PARTS, SUMS>(&sums, place, epilogue, |strip| {
                    [0, strip * 8 * BLOCKS as u32]
                });
            }
            if const { !Ring::<T, SUMS, false>::PERSISTENT } {
                break;
            }
            tile += grid_dim_x();
        }
    }
}

/// Starts the copies of a tile: of rows `place[1]` and on, from `k` = `place[0]` on, in one box; or of `extent`
/// rows that are contiguous across `k`, in several.
#[device]
#[inline(always)]
pub(crate) fn load<T: wgmma::Factor>(
    map: &TensorMap,
    target: Shared<T>,
    barrier: Barrier,
    [k, first, matrix]: [u32; 3],
    extent: u32,
) {
    if extent == 0 {
        map.load(target, barrier, [k, first, matrix]);
    } else {
        let depth = wgmma::depth::<T>();
        let mut part = 0;
        while part < extent / depth {
            part = rolled(part);
            map.load(target.offset(part * depth * depth), barrier, [first + part * depth, k, matrix]);
            part += 1;
        }
    }
}
