//! How rows are ordered, from sizes alone.

use gpu_core::Capability;
use gpu_core::occupancy::Multiprocessor;
use gpu_sparse_kernels::THREADS;
use gpu_sparse_kernels::order_narrow::{
    ALL_DIAGONALS, MOST_KEYS, NO_DIAGONALS, SOME_DIAGONALS, STEP, WARPS, count_bytes, order_bytes,
};

use super::solve::Profile;

/// Registers of a thread of both kernels.
const REGISTERS: u32 = 32;
/// Blocks on a multiprocessor of which nothing is known.
const BLOCKS: u32 = 8;

/// Rows of a warp's tile where rows have so many keys, on so many multiprocessors; none where they have more than fit 8
/// bits. The rows' order does not depend on it.
///
/// There are as many tiles as warps are resident, as a tile costs about as much time as any other. A tile has a count
/// of each key, so that few keys have short tiles: at least two rows for each count.
pub fn tile(rows: u32, keys: u32, multiprocessors: u32, capability: Option<Capability>) -> Option<u32> {
    let shared = count_bytes(keys.min(MOST_KEYS)).max(order_bytes(keys.min(MOST_KEYS)));
    let blocks = capability
        .and_then(Multiprocessor::of)
        .map_or(BLOCKS, |multiprocessor| multiprocessor.occupancy(REGISTERS, shared, THREADS).blocks);
    let tiles = (WARPS * blocks.max(1)).saturating_mul(multiprocessors.max(1));
    let even = rows.div_ceil(tiles);
    // Mutants: of two equal numbers either is the larger.
    let least = if even > 2 * keys { even } else { 2 * keys };
    (keys <= MOST_KEYS).then(|| least.next_multiple_of(STEP))
}

/// Blocks for so many rows, at least one.
pub const fn blocks(rows: u32, tile: u32) -> u32 {
    rows.div_ceil(tile).div_ceil(WARPS)
}

/// What is known of the diagonals of a triangle's rows.
pub const fn diagonals(profile: &Profile) -> u32 {
    match profile.stored {
        stored if stored == profile.rows => ALL_DIAGONALS,
        0 => NO_DIAGONALS,
        _ => SOME_DIAGONALS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_for_all_warps_or_for_their_counts() {
        let hopper = Some(Capability::new(9, 0));
        for (rows, keys, rows_of_tile, count) in [
            (1, 1, 128, 1),
            (8 * 128, 7, 128, 1),
            (8 * 128 + 1, 64, 128, 2),
            (100_000, 65, 256, 49),
            (100_000, 256, 512, 25),
            (55_000_000, 75, 6528, 1054),
            // Seven and six blocks a multiprocessor.
            (55_000_000, 153, 7552, 911),
            (55_000_000, 256, 8704, 790),
        ] {
            let tile = tile(rows, keys, 132, hopper).unwrap();
            assert_eq!((tile, blocks(rows, tile)), (rows_of_tile, count), "{rows} rows, {keys} keys");
        }
        assert_eq!(tile(1000, 257, 132, hopper), None);
        let on = |multiprocessors| tile(55_000_000, 75, multiprocessors, hopper).unwrap();
        assert_eq!([132, 80, 16, u32::MAX].map(on), [6528, 10_752, 53_760, 256]);
        assert_eq!(tile(55_000_000, 75, 132, None), tile(55_000_000, 75, 132, hopper));
        // A multiprocessor of capability 7.5 has half the warps.
        assert_eq!(tile(55_000_000, 20, 132, Some(Capability::new(7, 5))), Some(17_408));
    }

    #[test]
    fn diagonals_are_all_or_none_or_some() {
        let of = |stored| diagonals(&Profile { rows: 5, stored, ..Profile::default() });
        assert_eq!([0, 1, 4, 5].map(of), [NO_DIAGONALS, SOME_DIAGONALS, SOME_DIAGONALS, ALL_DIAGONALS]);
    }
}
