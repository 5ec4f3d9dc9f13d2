//! Products on capability 9.0 by pairs of blocks: what `warps.rs` does, with half as much of B read, where A lies
//! along the inner axis.
//!
//! A cluster of two blocks computes 256 rows of C by 256 columns, 128 rows a block. Each brings its own tile of A and
//! one half of the tile of B, and the copy engine delivers that half to both (multicast). So a stage of the ring is
//! full once three copies have come, two of this block's and one of the other's, and it is empty, for either of them to
//! copy into, once the warps of both blocks have multiplied: each warp says so to both.
//!
//! C leaves by the copy engine, too, where nothing else becomes of the sums: a warp stages 16 rows of 128 bytes, one
//! lane starts their copy, and the next rows are staged beside them while that is under way.
//!
//! After P. Shah, "Outperforming cuBLAS on H100" (2024), and CUTLASS.

use gpu_std::barrier::{Barrier, fence_init, fence_proxy};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::mma::{Half, store_matrices};
use gpu_std::tensor_map::{TensorMap, commit_stores, wait_stores_read};
use gpu_std::thread::{set_fewer_registers, set_more_registers, thread_idx_x};
use gpu_std::{cluster, device, opaque, rolled, shared, unroll, warp, wgmma};

use crate::epilogue::Epilogue;
use crate::output::Output;
use crate::place::{Place, Product};
use crate::rows::Classes;
use crate::store::{self, Target};
use crate::warps::{self, A_BYTES, BLOCKS, ROWS, WARPS, boxes, columns, threads};

/// Blocks of a cluster.
pub const PAIR: u32 = 2;
/// Sums of a thread.
pub const PAIR_SUMS: usize = 128;
/// Both, as the masks of copies have them.
const BOTH: u16 = 0b11;

/// Columns of a tile, and those that a block brings of B.
const COLUMNS: u32 = columns(PAIR_SUMS);
const HALF: u32 = COLUMNS / PAIR;

/// Rows of C that a warp stages together.
const LINES: u32 = 16;
/// Words of such rows of 128 bytes. Two of them are a warp's: one is copied while the other is filled.
const STAGED: u32 = LINES * 32;
const STAGING: u32 = 2 * STAGED;
// Mutants: there is more.
const _: () = assert!(STAGING >= store::staging(BLOCKS));

/// The ring of a block.
type Ring<T> = warps::Ring<T, PAIR_SUMS, true>;

/// Stages of the ring.
const STAGES: u32 = warps::stages(PAIR_SUMS);

/// Dynamic shared memory of a block.
pub const PAIR_SHARED_BYTES: u32 =
    STAGES * (ROWS + COLUMNS) * wgmma::DEPTH_BYTES + WARPS * STAGING * 4 + 2 * STAGES * 8;

/// The boxes of A and of B, as [`boxes`] gives those of a block by itself.
pub const fn pair_boxes(bytes: u32, across: [bool; 2]) -> [[u32; 2]; 2] {
    boxes(bytes, HALF, across)
}

/// Elements along and rows of the boxes of a C whose elements have so many bytes.
pub const fn output_box(bytes: u32) -> [u32; 2] {
    [128 / bytes, LINES]
}

/// Computes all tiles of C with the launch's clusters of [`PAIR`] blocks of [`threads`] threads and
/// [`PAIR_SHARED_BYTES`], at most as many clusters as there are pairs of tiles.
#[device]
#[inline(always)]
pub(crate) fn product<T: Output + Half, E: Epilogue<T::Scale>>(
    [a, b, lines]: [&TensorMap; 3],
    c: GlobalMut<T>,
    product: Product,
    alpha: T::Scale,
    beta: T::Scale,
    epilogue: E,
) {
    const { assert!(threads(PAIR_SUMS) == (WARPS + 4) * 32) };
    let mut shared = shared::dynamic();
    let (a_tiles, b_tiles) = (shared.array(STAGES * Ring::<T>::A), shared.array(STAGES * Ring::<T>::B));
    let staging = shared.array::<u32>(WARPS * STAGING);
    let barriers = shared.array(2 * STAGES);
    let mut ring = Ring::<T> { a: a_tiles, b: b_tiles, barriers, stage: 0, round: 0 };
    let thread = thread_idx_x();
    if thread == 0 {
        a.prefetch();
        b.prefetch();
        lines.prefetch();
        let mut stage = 0;
        while stage < STAGES {
            Barrier::at(barriers, stage).init(1);
            Barrier::at(barriers, STAGES + stage).init(PAIR * WARPS);
            stage += 1;
        }
        fence_init();
    }
    // The other block has begun and made its barriers.
    cluster::sync();

    let (rows, columns) = (product.m.div_ceil(PAIR * ROWS), product.n.div_ceil(COLUMNS));
    let tiles = rows * columns * product.count * product.parts;
    let rank = cluster::rank();
    let b_across = product.across[1] != 0;
    let mut tile = cluster::id_x();
    if thread >= WARPS * 32 {
        set_fewer_registers::<40>();
        if thread < WARPS * 32 + 32 && warp::elect(warp::FULL) {
            while tile < tiles {
                let Place { row, column, matrix } = Place::of(tile, rows, columns);
                let [matrix, mut k, end] = product.of_part(matrix);
                let (row, column) = ((row * PAIR + rank) * ROWS, column * COLUMNS + rank * HALF);
                while k < end {
                    // In the first round nobody has used the stage: the phase before the first counts as complete.
                    ring.empty().wait(ring.round ^ 1);
                    let full = ring.full();
                    // All that comes here, whoever brings it.
                    full.arrive_expect(A_BYTES + Ring::<T>::B_BYTES);
                    let a_tile = ring.a.offset(ring.stage * Ring::<T>::A);
                    warps::load::<T>(a, a_tile, full, [k, row, matrix], 0);
                    let b_tile = ring.b.offset(ring.stage * Ring::<T>::B + rank * (Ring::<T>::B / PAIR));
                    load_for_both::<T>(b, b_tile, full, [k, column, matrix], b_across);
                    ring.next();
                    k += wgmma::depth::<T>();
                }
                tile += cluster::grid_dim_x();
            }
        }
    } else {
        set_more_registers::<232>();
        let (group, warp) = (thread / 128, thread / 32);
        while tile < tiles {
            let mut sums = [0; PAIR_SUMS];
            let [_, first, end] = product.of_part(Place::of(tile, rows, columns).matrix);
            let k = end - first;
            if b_across {
                ring.multiply::<false, true, false>(&mut sums, group, Classes::default(), k);
            } else {
                ring.multiply::<false, false, false>(&mut sums, group, Classes::default(), k);
            }
            // Computed here and not before, where it would take registers from the sums.
            let Place { row, column, matrix } = Place::of(opaque(tile), rows, columns);
            let row = (row * PAIR + rank) * ROWS + LINES * warp;
            let place = Place { row, column: column * COLUMNS, matrix };
            let staging = staging.offset(warp * STAGING);
            let target = Target { c, product: &product, alpha, beta, staging };
            // The same for all tiles: what one way has staged is not in the other's.
            if (product.vectors == 2) & !T::reads(beta) & !epilogue.is_asked() {
                // The second block of the last pair may have no rows.
                // Mutants: the copy engine writes nothing outside of C.
                if row < product.m {
                    copy_out(&target, lines, &sums, place);
                }
            } else {
                target.write::<E, BLOCKS, { BLOCKS / 2 }, { PAIR_SUMS / 16 }, PAIR_SUMS>(
                    &sums,
                    place,
                    epilogue,
                    |strip| [0, strip * 8 * BLOCKS as u32],
                );
            }
            tile += cluster::grid_dim_x();
        }
        if thread.is_multiple_of(32) {
            wait_stores_read::<0>();
        }
    }
    // The other block may still say here that a stage is empty.
    cluster::sync();
}

/// Starts the copies of this block's half of a tile of B to both blocks, as [`warps::load`] does to one.
#[device]
#[inline(always)]
fn load_for_both<T: wgmma::Factor>(
    map: &TensorMap,
    target: Shared<T>,
    barrier: Barrier,
    [k, first, matrix]: [u32; 3],
    across: bool,
) {
    if across {
        let depth = wgmma::depth::<T>();
        let mut part = 0;
        while part < HALF / depth {
            part = rolled(part);
            let place = [first + part * depth, k, matrix];
            map.load_multicast(target.offset(part * depth * depth), barrier, place, BOTH);
            part += 1;
        }
    } else {
        map.load_multicast(target, barrier, [k, first, matrix], BOTH);
    }
}

/// Writes a warp's 16 rows of sums, scaled, to a C that is not read, in boxes.
#[device]
#[inline(always)]
fn copy_out<T: Output + Half>(
    target: &Target<'_, T>,
    lines: &TensorMap,
    sums: &[u32; PAIR_SUMS],
    place: Place,
) {
    let lane = warp::lane_id();
    let swizzle = lane % 8;
    if target.product.narrow != 0 {
        // Lanes say where rows of 8 × 8 matrices go: two of them down, two across.
        let (line, right) = (lane % 16, lane / 16);
        unroll::<4>(|part| {
            let staged = begin_box(target, part);
            unroll::<4>(|pair| {
                let words: [u32; 4] = core::array::from_fn(|matrix| {
                    let at = (part * 8 + pair * 2 + matrix / 2) * 4 + matrix % 2 * 2;
                    T::pack([sums[at], sums[at + 1]], target.alpha)
                });
                let piece = (2 * pair as u32 + right) ^ swizzle;
                store_matrices(staged.cast::<T>(), line * 64 + piece * 8, words);
            });
            end_box(lines, staged, place, 64 * part as u32);
        });
    } else {
        // Two lines at a time meet in the same banks. That odd lines write another block than even ones would part
        // them, by a choice between registers for each sum: a sixth longer to compile.
        let (line, quad) = (lane / 4, lane % 4);
        unroll::<8>(|part| {
            let staged = begin_box(target, part);
            unroll::<4>(|block| {
                let piece = (2 * block as u32 + quad / 2) ^ line;
                unroll::<2>(|half| {
                    let at = (part * 4 + block) * 4 + half * 2;
                    let words = [sums[at], sums[at + 1]].map(|sum| T::bits(T::times(sum, target.alpha)));
                    let line = line + 8 * half as u32;
                    staged.write_vec(line * 32 + piece * 4 + quad % 2 * 2, words);
                });
            });
            end_box(lines, staged, place, 32 * part as u32);
        });
    }
}

/// Where the warp stages box number `part` of its rows, once the copy before the last has read what is there.
#[device]
#[inline(always)]
fn begin_box<T: Output>(target: &Target<'_, T>, part: usize) -> Shared<u32> {
    if warp::lane_id() == 0 {
        wait_stores_read::<1>();
    }
    warp::sync_warp(warp::FULL);
    target.staging.offset(part as u32 % 2 * STAGED)
}

/// Starts its copy, to so many columns from `place` on.
#[device]
#[inline(always)]
fn end_box(lines: &TensorMap, staged: Shared<u32>, place: Place, right: u32) {
    fence_proxy();
    warp::sync_warp(warp::FULL);
    if warp::lane_id() == 0 {
        lines.store(staged, [place.column + right, place.row, place.matrix]);
        commit_stores();
    }
}
