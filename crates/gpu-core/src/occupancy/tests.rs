//! Against numbers of NVIDIA's occupancy calculator, worked out by hand from its rules.

use super::*;
use crate::capability::Capability;

fn on(major: u32, minor: u32) -> Multiprocessor {
    Multiprocessor::of(Capability::new(major, minor)).expect("in the table")
}

/// Capability, registers, shared bytes, threads; then blocks, warps, limit.
type Case = ((u32, u32), u32, u32, u32, u32, u32, Limit);

const CASES: &[Case] = &[
    // 7.5: 32 warps, 16 blocks, 64 KiB in units of 256, nothing reserved.
    ((7, 5), 32, 0, 256, 4, 32, Limit::Warps),
    ((7, 5), 32, 0, 32, 16, 16, Limit::Blocks),
    ((7, 5), 128, 0, 256, 2, 16, Limit::Registers),
    ((7, 5), 32, 16 * 1024, 128, 4, 16, Limit::Shared),
    ((7, 5), 32, 16 * 1024 + 1, 128, 3, 12, Limit::Shared),
    ((7, 5), 255, 0, 256, 1, 8, Limit::Registers),
    // 8.0: 64 warps, 32 blocks, 164 KiB in units of 128, 1 KiB reserved.
    ((8, 0), 32, 0, 256, 8, 64, Limit::Warps),
    ((8, 0), 32, 0, 32, 32, 32, Limit::Blocks),
    ((8, 0), 40, 0, 256, 6, 48, Limit::Registers),
    ((8, 0), 32, 48 * 1024, 256, 3, 24, Limit::Shared),
    ((8, 0), 32, 40 * 1024, 256, 4, 32, Limit::Shared),
    ((8, 0), 32, 40 * 1024 + 1, 256, 3, 24, Limit::Shared),
    ((8, 0), 32, 163 * 1024, 1024, 1, 32, Limit::Shared),
    // 8.6: 48 warps, 16 blocks, 100 KiB.
    ((8, 6), 32, 0, 256, 6, 48, Limit::Warps),
    ((8, 6), 32, 0, 64, 16, 32, Limit::Blocks),
    ((8, 6), 48, 0, 1024, 1, 32, Limit::Warps),
    ((8, 6), 32, 24 * 1024, 128, 4, 16, Limit::Shared),
    ((8, 6), 32, 99 * 1024, 128, 1, 4, Limit::Shared),
    // 9.0: 64 warps, 32 blocks, 228 KiB.
    ((9, 0), 32, 0, 1024, 2, 64, Limit::Warps),
    ((9, 0), 64, 40_000, 256, 4, 32, Limit::Registers),
    ((9, 0), 168, 0, 384, 1, 12, Limit::Registers),
    ((9, 0), 32, 56 * 1024, 128, 4, 16, Limit::Shared),
    ((9, 0), 32, 227 * 1024, 128, 1, 4, Limit::Shared),
    ((9, 0), 0, 0, 128, 16, 64, Limit::Warps),
    // 33 registers take as much as 40: a warp's come in units of 256.
    ((9, 0), 33, 0, 256, 6, 48, Limit::Registers),
    // A block that is no whole number of warps fills its last one.
    ((9, 0), 32, 0, 33, 32, 64, Limit::Blocks),
];

#[test]
fn known_tables() {
    for &((major, minor), registers, shared, threads, blocks, warps, limit) in CASES {
        let found = on(major, minor).occupancy(registers, shared, threads);
        assert_eq!(
            (found.blocks, found.warps, found.limit),
            (blocks, warps, limit),
            "{major}.{minor}: {registers} registers, {shared} bytes, {threads} threads"
        );
    }
}

#[test]
fn what_no_block_may_have_cannot_be_resident() {
    for (registers, shared, threads) in
        [(32, 0, 0), (32, 0, 1025), (256, 0, 32), (32, 227 * 1024 + 1, 32), (80, 0, 1024), (u32::MAX, 0, 32)]
    {
        let found = on(9, 0).occupancy(registers, shared, threads);
        assert_eq!((found.blocks, found.limit), (0, Limit::Block), "{registers} {shared} {threads}");
        assert_eq!(found.fraction(), 0.0);
    }
    assert_eq!(on(9, 0).occupancy(32, u32::MAX, 32).limit, Limit::Block);
}

#[test]
fn the_carve_out_is_the_smallest_that_holds_the_blocks() {
    assert_eq!(on(8, 0).occupancy(32, 0, 1024).carveout, 8 * 1024, "two blocks of the reserved KiB");
    assert_eq!(on(9, 0).occupancy(32, 227 * 1024, 128).carveout, 228 * 1024);
    assert_eq!(on(9, 0).occupancy(64, 40_000, 256).carveout, 164 * 1024);
    assert_eq!(on(7, 5).occupancy(32, 0, 256).carveout, 32 * 1024);
}

#[test]
fn more_of_anything_never_gives_more_blocks() {
    for capability in [(7, 0), (7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0)] {
        let on = on(capability.0, capability.1);
        let blocks = |registers, shared, threads| on.occupancy(registers, shared, threads).blocks;
        for threads in (32..=1024).step_by(32) {
            for registers in 1..255 {
                assert!(blocks(registers + 1, 0, threads) <= blocks(registers, 0, threads));
            }
            for kib in 0..on.shared / 1024 {
                assert!(blocks(32, (kib + 1) * 1024, threads) <= blocks(32, kib * 1024, threads));
            }
        }
    }
}

#[test]
fn a_device_may_differ_from_the_table() {
    let properties = Properties {
        capability: Capability::new(9, 0),
        max_threads_per_multiprocessor: 1024,
        max_blocks_per_multiprocessor: 4,
        ..Properties::default()
    };
    let found = occupancy(&properties, 32, 0, 128).expect("9.0 is in the table");
    assert_eq!((found.blocks, found.max_warps, found.limit), (4, 32, Limit::Blocks));
    let unknown = Properties { capability: Capability::new(6, 1), ..Properties::default() };
    assert_eq!(occupancy(&unknown, 32, 0, 128), None);
}

#[test]
fn a_multiprocessor_that_cannot_be_holds_nothing() {
    let changes: [fn(&mut Multiprocessor); 6] = [
        |on| on.warp_size = 0,
        |on| on.register_unit = 0,
        |on| on.partitions = 0,
        |on| on.shared_unit = 0,
        |on| on.warps = 0,
        |on| on.blocks = 0,
    ];
    for change in changes {
        let mut on = on(9, 0);
        change(&mut on);
        let found = on.occupancy(32, 0, 128);
        assert_eq!((found.blocks, found.limit, found.fraction()), (0, Limit::Block, 0.0));
    }
}

#[test]
fn numbers_of_any_size_are_counted() {
    let mut on = on(9, 0);
    for field in [
        &mut on.warp_size,
        &mut on.threads_per_block,
        &mut on.warps,
        &mut on.blocks,
        &mut on.registers,
        &mut on.registers_per_block,
        &mut on.registers_per_thread,
        &mut on.shared,
        &mut on.shared_per_block,
    ] {
        *field = u32::MAX;
    }
    // A warp has more registers than a block may.
    assert_eq!(on.occupancy(u32::MAX, u32::MAX, u32::MAX).limit, Limit::Block);
    on.warp_size = 32;
    // One, of all but the reserved KiB and another.
    assert_eq!(on.occupancy(1, u32::MAX - 2048, 32).blocks, 1);
    on.shared_reserved = u32::MAX;
    assert_eq!(on.occupancy(1, u32::MAX, 32).limit, Limit::Block);
    on.shared_unit = u32::MAX;
    assert_eq!(on.occupancy(1, 0, 32).blocks, 1);
    on.register_unit = u32::MAX;
    assert_eq!(
        on.occupancy(1, 0, 32).limit,
        Limit::Block,
        "a quarter of the registers is less than one unit"
    );
}
