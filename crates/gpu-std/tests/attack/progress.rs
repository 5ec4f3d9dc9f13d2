//! Blocks that wait for others which need not be there, and waits that never end.

use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::Attack;

/// Every block waits for another and then says that it has come. `y`: tickets, flags.
#[kernel]
fn passes_on(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let blocks = thread::grid_dim_x();
    let drawn = y.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
    let (me, waits_for) = match how {
        1 => (thread::block_idx_x(), thread::block_idx_x() + 1),
        2 if thread::block_idx_x() == 0 => (0, blocks - 1),
        2 => (thread::block_idx_x(), blocks),
        3 => (drawn, drawn + 1),
        4 => (thread::block_idx_x(), thread::block_idx_x().wrapping_sub(1)),
        5 => (drawn, if drawn == 0 { blocks - 1 } else { blocks }),
        6 => (drawn, if drawn == 0 { 1 } else { drawn - 1 }),
        _ => (drawn, drawn.wrapping_sub(1)),
    };
    if waits_for < blocks {
        while y.atomic(1 + waits_for).load(Ordering::Acquire, Scope::Device) == 0 {}
    }
    y.atomic(1 + me).store(1, Ordering::Release, Scope::Device);
    x.prefetch(0);
}

#[test]
fn waiting_for_blocks() {
    let attack = |blocks: u32, broken| Attack {
        name: "waiting for a block",
        launch: passes_on::launch,
        config: LaunchConfig::linear(blocks, 1),
        x: vec![1],
        y: vec![0; 1 + blocks as usize],
        expected: std::iter::once(blocks).chain((0..blocks).map(|_| 1)).collect(),
        together: false,
        broken,
    };
    attack(
        16,
        &[
            "for the next one by index",
            "the first for the last",
            "for the next one to begin",
            "for the one before by index",
            "the first to begin for the last to begin",
            "the first two for each other",
        ],
    )
    .check();
    // With few blocks, one that waits for an earlier one has what it needs on nearly every device.
    for blocks in [4, 8] {
        let later = &["for the next one by index", "the first for the last", "for the next one to begin"];
        attack(blocks, later).check();
    }
    let later = &[
        "for the next one by index (at times)",
        "the first for the last (at times)",
        "for the next one to begin (at times)",
    ];
    attack(3, later).check();
}

/// Threads that wait for each other inside a block.
#[kernel]
fn waits_inside(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let i = thread::thread_idx_x();
    let flag = shared::dynamic().array::<u32>(1);
    if i == 0 {
        flag.write(0, 0);
    }
    thread::sync_threads();
    if i == 40 {
        while how != 3 && flag.atomic(0).load(Ordering::Acquire, Scope::Block) == 0 {}
        if how == 1 {
            thread::sync_threads();
        }
    }
    if i == 3 && how != 2 {
        if how == 3 {
            while flag.atomic(0).load(Ordering::Acquire, Scope::Block) == 0 {}
        }
        flag.atomic(0).store(1, Ordering::Release, Scope::Block);
    }
    if how == 4 && i == 3 {
        while y.read(0) != 1 {}
    }
    y.write(i, x.read(i));
}

#[test]
fn waiting_inside_a_block() {
    Attack {
        name: "waiting inside a block",
        launch: waits_inside::launch,
        config: LaunchConfig::linear(1, 64).shared(4),
        x: (0..64).collect(),
        y: vec![5],
        expected: (0..64).collect(),
        together: false,
        broken: &[
            "a barrier for one",
            "for a flag that nobody sets",
            "for oneself",
            "plainly for another's write",
        ],
    }
    .check();
}
