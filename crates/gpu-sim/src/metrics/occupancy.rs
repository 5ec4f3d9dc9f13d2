//! How many warps a launch keeps on a multiprocessor: a model.

use super::Architecture;
use crate::geometry::{Geometry, WARP};

/// How full a launch makes the device, by its shape alone.
///
/// Nothing is timed: blocks are taken to run for the same time and to be dealt to the multiprocessors in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Occupancy {
    /// Blocks that fit on a multiprocessor at once.
    pub resident_blocks: u32,
    /// Warps of those blocks, of the most a multiprocessor can hold: what a long launch gets. In percent.
    pub theoretical: f64,
    /// The same as an average over the multiprocessors while they have work: lower where blocks are too few to fill
    /// them, or the last ones run alone. nvprof's `achieved_occupancy`: "Ratio of the average active warps per active
    /// cycle to the maximum number of warps supported on a multiprocessor". In percent.
    pub achieved: f64,
}

/// Blocks of this shape that fit on a multiprocessor; 0 where one does not fit, or has no thread. Without `registers`,
/// they do not limit.
pub(crate) fn resident_blocks(
    architecture: &Architecture,
    geometry: &Geometry,
    registers: Option<u32>,
) -> u32 {
    let warps = warps_of(geometry);
    let Some(fit) = u64::from(architecture.warps).checked_div(warps) else { return 0 };
    let mut blocks = fit.min(architecture.blocks.into());
    let shared = u64::from(geometry.shared_bytes) + u64::from(architecture.shared_reserved);
    if let Some(fit) = u64::from(architecture.shared_bytes).checked_div(shared) {
        blocks = blocks.min(fit);
    }
    if let Some(registers) = registers {
        // A warp gets its registers in units of 256.
        let warp = (u64::from(registers) * u64::from(WARP)).next_multiple_of(256).max(256);
        blocks = blocks.min(u64::from(architecture.registers) / warp.saturating_mul(warps));
    }
    // No more than the architecture's blocks.
    blocks as u32
}

/// Warps of a block, whatever its shape.
fn warps_of(geometry: &Geometry) -> u64 {
    let threads = geometry.block.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
    threads.div_ceil(WARP.into())
}

impl Occupancy {
    /// Of a launch; `registers` of a thread, where known, from the assembler. Nothing where no block fits, or there is
    /// none, or no multiprocessor.
    pub fn of(architecture: &Architecture, geometry: &Geometry, registers: Option<u32>) -> Self {
        let resident = resident_blocks(architecture, geometry, registers);
        if resident == 0 || architecture.multiprocessors == 0 {
            return Self::default();
        }
        let warps = warps_of(geometry) as f64;
        let most = f64::from(architecture.warps);
        let blocks = geometry.grid.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
        let units = u64::from(architecture.multiprocessors);
        // Some multiprocessors get one block more than others; each runs its share in rounds.
        let (share, more) = (blocks / units, blocks % units);
        let rounds = |blocks: u64| blocks.div_ceil(resident.into()) as f64;
        let active = more as f64 * rounds(share + 1) + (units - more) as f64 * rounds(share);
        Self {
            resident_blocks: resident,
            theoretical: 100.0 * f64::from(resident) * warps / most,
            achieved: 100.0 * blocks as f64 * warps / (active.max(1.0) * most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_shared_memory_and_registers_limit() {
        let of = |threads, shared, registers| {
            resident_blocks(&Architecture::H200, &Geometry::linear(1, threads, shared), registers)
        };
        assert_eq!(of(1024, 0, None), 2);
        assert_eq!(of(32, 0, None), 32);
        assert_eq!(of(256, 48 << 10, None), 4);
        assert_eq!(of(1024, 0, Some(64)), 1);
        assert_eq!(of(1024, 0, Some(65)), 0);
        assert_eq!(of(256, 0, Some(33)), 6);
    }

    #[test]
    fn shapes_and_devices_that_cannot_be_hold_nothing() {
        let h200 = Architecture::H200;
        let none = Occupancy::default();
        let of = |device: &Architecture, geometry, registers| Occupancy::of(device, &geometry, registers);
        assert_eq!(of(&h200, Geometry::linear(1, 0, 0), None), none);
        assert_eq!(of(&h200, Geometry::linear(1, 32, u32::MAX), None), none);
        assert_eq!(of(&h200, Geometry::linear(1, 32, 0), Some(u32::MAX)), none);
        let huge = Geometry { grid: [u32::MAX; 3], block: [u32::MAX; 3], shared_bytes: u32::MAX };
        assert_eq!(of(&h200, huge, Some(u32::MAX)), none);
        assert_eq!(of(&Architecture { multiprocessors: 0, ..h200 }, Geometry::linear(1, 32, 0), None), none);
        assert_eq!(of(&Architecture { warps: 0, ..h200 }, Geometry::linear(1, 32, 0), None), none);
        let all = Geometry { grid: [u32::MAX; 3], ..Geometry::linear(1, 1024, 0) };
        assert!((of(&h200, all, None).achieved - 100.0).abs() < 1e-6);
    }

    #[test]
    fn few_blocks_and_last_rounds_lower_what_is_achieved() {
        let of = |blocks| Occupancy::of(&Architecture::H200, &Geometry::linear(blocks, 1024, 0), None);
        assert_eq!((of(264).theoretical, of(264).achieved), (100.0, 100.0));
        assert_eq!((of(66).theoretical, of(66).achieved), (100.0, 50.0));
        // 132 multiprocessors: two rounds, the second half empty.
        assert_eq!(of(3 * 132).achieved, 75.0);
    }
}
