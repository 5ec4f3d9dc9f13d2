//! Products on capability 9.0: one warp brings tiles, two warpgroups multiply them.
//!
//! A block computes 128 × 256 elements of C, 64 rows a warpgroup, tile after tile until none is left (a persistent
//! grid). Tiles of A and B, 128 bytes deep along `k`, go through a ring of stages: one thread waits until a stage is
//! empty and starts its copies, and the warpgroups wait until it is full, multiply, and say that it is empty. The ring
//! goes on across tiles of C: while one is written the next one's factors arrive.
//!
//! After the Hopper kernels of CUTLASS (warp-specialised, persistent) and of P. Shah, "Outperforming cuBLAS on H100"
//! (2024).

use gpu_std::barrier::{Barrier, fence_init};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::tensor_map::TensorMap;
use gpu_std::thread::{
    block_idx_x, grid_dim_x, set_fewer_registers, set_more_registers, sync_threads, thread_idx_x,
};
use gpu_std::{device, rolled, shared, warp, wgmma};

use crate::place::{Place, Product};
use crate::store::{self, Output, STAGING};

/// Rows of a block's tile.
pub const ROWS: u32 = 2 * wgmma::ROWS;
/// Its columns.
pub const COLUMNS: u32 = wgmma::COLUMNS;
/// Threads of a block: a warpgroup of which one thread copies, and two that multiply.
pub const THREADS: u32 = 384;
/// Stages of the ring: as many as shared memory has room for.
pub const STAGES: u32 = 4;
/// Barriers of a block: each stage's two.
pub const BARRIERS: u32 = 2 * STAGES;

const A_BYTES: u32 = ROWS * wgmma::DEPTH_BYTES;
const B_BYTES: u32 = COLUMNS * wgmma::DEPTH_BYTES;
/// Warps that multiply.
const WARPS: u32 = (THREADS - 128) / 32;

/// Dynamic shared memory of a block.
pub const SHARED_BYTES: u32 = STAGES * (A_BYTES + B_BYTES) + WARPS * STAGING * 4 + BARRIERS * 8;

/// Elements along and rows of the boxes that are copied of A and of B, for elements of so many bytes. Of a factor that
/// is contiguous across `k` a box has 128 bytes across, and the tile several of them.
pub const fn boxes(bytes: u32, a_across: bool, b_across: bool) -> [[u32; 2]; 2] {
    let depth = wgmma::DEPTH_BYTES / bytes;
    [
        if a_across { [depth, depth] } else { [depth, ROWS] },
        if b_across { [depth, depth] } else { [depth, COLUMNS] },
    ]
}

/// Where a block's stages are, and how it walks through them.
struct Ring<T: wgmma::Factor> {
    a: Shared<T>,
    b: Shared<T>,
    barriers: Shared<u64>,
    stage: u32,
    /// The parity of the stage's present round.
    round: u32,
}

impl<T: wgmma::Factor> Ring<T> {
    /// Elements of a stage's tiles.
    const A: u32 = A_BYTES / size_of::<T>() as u32;
    const B: u32 = B_BYTES / size_of::<T>() as u32;

    #[device]
    #[inline(always)]
    fn full(&self) -> Barrier {
        Barrier::at(self.barriers, self.stage)
    }

    #[device]
    #[inline(always)]
    fn empty(&self) -> Barrier {
        Barrier::at(self.barriers, STAGES + self.stage)
    }

    #[device]
    #[inline(always)]
    fn next(&mut self) {
        self.stage += 1;
        if self.stage == STAGES {
            self.stage = 0;
            self.round ^= 1;
        }
    }
}

/// Computes all tiles of C with the launch's blocks of [`THREADS`] threads and [`SHARED_BYTES`], at most as many as
/// there are tiles.
#[device]
#[inline(always)]
pub(crate) fn product<T: Output, const A_ACROSS: bool, const B_ACROSS: bool>(
    a: &TensorMap,
    b: &TensorMap,
    c: GlobalMut<T>,
    product: Product,
    alpha: T::Scale,
    beta: T::Scale,
) {
    let mut shared = shared::dynamic();
    let mut ring = Ring::<T> {
        a: shared.array(STAGES * Ring::<T>::A),
        b: shared.array(STAGES * Ring::<T>::B),
        barriers: shared.array(BARRIERS),
        stage: 0,
        round: 0,
    };
    let staging = shared.array::<u32>(WARPS * STAGING);
    let thread = thread_idx_x();
    if thread == 0 {
        let mut stage = 0;
        while stage < STAGES {
            Barrier::at(ring.barriers, stage).init(1);
            Barrier::at(ring.barriers, STAGES + stage).init(WARPS);
            stage += 1;
        }
        fence_init();
    }
    sync_threads();

    let depth = wgmma::depth::<T>();
    let (rows, columns) = (product.m.div_ceil(ROWS), product.n.div_ceil(COLUMNS));
    let tiles = rows * columns * product.count;
    let mut tile = block_idx_x();
    if thread < 128 {
        set_fewer_registers::<40>();
        if thread < 32 && warp::elect(warp::FULL) {
            while tile < tiles {
                let Place { row, column, matrix } = Place::of(tile, rows, columns);
                let mut k = 0;
                while k < product.k {
                    // In the first round nobody has used the stage: the phase before the first counts as complete.
                    ring.empty().wait(ring.round ^ 1);
                    let full = ring.full();
                    full.arrive_expect(A_BYTES + B_BYTES);
                    let a_tile = ring.a.offset(ring.stage * Ring::<T>::A);
                    let b_tile = ring.b.offset(ring.stage * Ring::<T>::B);
                    load::<T, ROWS, A_ACROSS>(a, a_tile, full, [k, row * ROWS, matrix]);
                    load::<T, COLUMNS, B_ACROSS>(b, b_tile, full, [k, column * COLUMNS, matrix]);
                    ring.next();
                    k += depth;
                }
                tile += grid_dim_x();
            }
        }
    } else {
        set_more_registers::<232>();
        let (group, warp) = (thread / 128 - 1, thread / 32 - 4);
        let staging = staging.offset(warp * STAGING);
        while tile < tiles {
            let mut sums = [0; wgmma::SUMS];
            let mut k = 0;
            while k < product.k {
                ring.full().wait(ring.round);
                // A warpgroup's rows of A are one after the other, whether along k or in a box of their own.
                let a_tile = ring.a.offset(ring.stage * Ring::<T>::A + group * (Ring::<T>::A / 2));
                let b_tile = ring.b.offset(ring.stage * Ring::<T>::B);
                wgmma::multiply_add::<T, A_ACROSS, B_ACROSS>(&mut sums, a_tile, b_tile);
                if thread.is_multiple_of(32) {
                    ring.empty().arrive();
                }
                ring.next();
                k += depth;
            }
            let Place { row, column, matrix } = Place::of(tile, rows, columns);
            let place = Place { row: row * ROWS + 16 * warp, column: column * COLUMNS, matrix };
            const STEPS: usize = (COLUMNS / store::STEP) as usize;
            store::tile::<T, STEPS, { wgmma::SUMS }>(
                &sums,
                staging,
                c,
                &product,
                (place, [0, store::STEP]),
                alpha,
                beta,
            );
            tile += grid_dim_x();
        }
    }
}

/// Starts the copies of a tile: of rows `place[1]` and on, from `k` = `place[0]` on.
#[device]
#[inline(always)]
fn load<T: wgmma::Factor, const EXTENT: u32, const ACROSS: bool>(
    map: &TensorMap,
    target: Shared<T>,
    barrier: Barrier,
    [k, first, matrix]: [u32; 3],
) {
    if const { ACROSS } {
        let depth = wgmma::depth::<T>();
        let mut part = 0;
        while part < EXTENT / depth {
            part = rolled(part);
            map.load(target.offset(part * depth * depth), barrier, [first + part * depth, k, matrix]);
            part += 1;
        }
    } else {
        map.load(target, barrier, [k, first, matrix]);
    }
}
