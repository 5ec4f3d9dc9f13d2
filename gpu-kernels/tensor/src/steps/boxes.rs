//! Tiles that the copy engine brings, while those before are multiplied.
//!
//! They go through a ring of stages. One thread starts the copies of a tile as soon as all have multiplied the one that
//! was there before; a barrier of each stage counts the bytes that arrive. That thread multiplies, too: all wait for
//! the slowest at each step, which a warp of its own for copies (`../warps.rs`) does away with.

use gpu_std::barrier::{Barrier, fence_init};
use gpu_std::half::bf16;
use gpu_std::memory::GlobalMut;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::tensor_map::TensorMap;
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{keep_rolled, kernel, wgmma};

use super::STEP_TILE;
use super::tiles::{SUMS, TILE, multiply, write};
use crate::place::Place;
use crate::warps::load;

/// Stages of the ring.
const STAGES: u32 = 3;
/// Bytes of a stage's two tiles.
const STAGE_BYTES: u32 = 2 * TILE * 2;

/// Dynamic shared memory of a block.
pub const STEP_BOXES_BYTES: u32 =
    SharedLayout::new().array::<bf16>(2 * STAGES * TILE).array::<u64>(STAGES).bytes();

/// Blocks of [`STEP_THREADS`](crate::STEP_THREADS) threads, two warpgroups, with
/// [`STEP_BOXES_BYTES`](crate::STEP_BOXES_BYTES), one for each tile of [`STEP_TILE`](crate::STEP_TILE)² of C. The
/// factors come in boxes of [`boxes`](crate::boxes) for `[false, true]` and as many columns.
#[kernel(images = sm_90a, launch_bounds(256, 2))]
pub fn tensor_step_boxes(a: TensorMap, b: TensorMap, c: GlobalMut<f32>, m: u32, n: u32, k: u32) {
    let mut memory = shared::dynamic();
    let (tiles, barriers) = (memory.array::<bf16>(2 * STAGES * TILE), memory.array::<u64>(STAGES));
    let thread = thread_idx_x();
    if thread == 0 {
        let mut stage = 0;
        while stage < STAGES {
            Barrier::at(barriers, stage).init(1);
            stage += 1;
        }
        fence_init();
    }
    sync_threads();

    let Place { row, column, .. } = Place::of(block_idx_x(), m.div_ceil(STEP_TILE), n.div_ceil(STEP_TILE));
    let (row, column) = (row * STEP_TILE, column * STEP_TILE);
    let depth = wgmma::depth::<bf16>();
    let steps = k.div_ceil(depth);
    // Where the tiles of A and of B of a step are, and the barrier that says that they have come.
    let stage = |step: u32| {
        let number = step % STAGES;
        let a_tile = tiles.offset(2 * number * TILE);
        (a_tile, a_tile.offset(TILE), Barrier::at(barriers, number))
    };
    let mut sums = [0; SUMS];
    let mut fetched = 0;
    let mut step = 0;
    while step < steps {
        keep_rolled();
        if thread == 0 {
            // Two steps ahead; what is overwritten has been multiplied in the step before.
            while fetched < steps && fetched < step + STAGES {
                keep_rolled();
                let (a_tile, b_tile, is_there) = stage(fetched);
                is_there.arrive_expect(STAGE_BYTES);
                load(&a, a_tile, is_there, [fetched * depth, row, 0], 0);
                load(&b, b_tile, is_there, [fetched * depth, column, 0], STEP_TILE);
                fetched += 1;
            }
        }
        let (a_tile, b_tile, is_there) = stage(step);
        is_there.wait(step / STAGES % 2);
        multiply(&mut sums, a_tile, b_tile);
        sync_threads();
        step += 1;
    }
    write(c, &sums, row, column, [m, n]);
}
