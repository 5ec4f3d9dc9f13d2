//! Copies of boxes out of shared memory: what goes wrong with them.

use gpu_sim::{Fault, FaultKind, Simulator};
use gpu_std::barrier::fence_proxy;
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;
use gpu_std::tensor_map::{TensorMap, commit_stores, wait_stores, wait_stores_read};

use crate::clusters::{HALF, Ring, map_of, races};
use crate::harness::*;

/// A block's matrix of 10 rows of 32 words in boxes of four, the last of which is half outside.
fn stored(seed: u64, launch: Ring) -> Result<Vec<u32>, Fault> {
    let simulator = Simulator::new(config(seed));
    let y = Words::new(&simulator, &[7; 32 * 12]);
    let map = map_of(y.global().address(), 10);
    let config = LaunchConfig::linear(1, 64).shared(2 * HALF);
    // SAFETY: the simulator checks every access.
    unsafe { launch(&simulator, config, map, y.global_mut()) }?;
    Ok(y.get())
}

#[device]
fn stage(half: Shared<u32>, first: u32) {
    for at in 0..2 {
        let word = 64 * at + thread::thread_idx_x();
        half.write(word, 100 * first + word); // FAULT: stages_before_the_copy_has_read
    }
}

macro_rules! stores {
    ($(
        $name:ident: |$map:ident, $y:ident, $half:ident, $row:ident|
        $before:block $fence:block $store:block $end:block
    )*) => { $(
        #[kernel]
        fn $name($map: TensorMap, $y: GlobalMut<u32>) {
            let halves = shared::dynamic().array::<u32>(2 * HALF / 4);
            for round in 0..3 {
                let ($half, $row) = (halves.offset(round % 2 * HALF / 4), 4 * round);
                if thread::thread_idx_x() == 0 $before
                thread::sync_threads();
                stage($half, round);
                $fence;
                thread::sync_threads();
                if thread::thread_idx_x() == 0 $store
            }
            if thread::thread_idx_x() == 0 $end
        }
    )* };
}

stores! {
    stores_boxes: |map, _y, half, row| {
        wait_stores_read::<1>();
    } {
        fence_proxy();
    } {
        map.store(half, [0, row, 0]);
        commit_stores();
    } {
        wait_stores_read::<0>();
    }

    reads_what_it_has_stored: |map, y, half, row| {
        wait_stores_read::<1>();
    } {
        fence_proxy();
    } {
        map.store(half, [0, row, 0]);
        commit_stores();
    } {
        wait_stores::<0>();
        y.write(32 * 10, y.as_global().read(32 * 9));
    }

    lacks_the_fence_before_a_store: |map, _y, half, row| {
        wait_stores_read::<1>();
    } {
    } {
        map.store(half, [0, row, 0]); // FAULT: lacks_the_fence_before_a_store
        commit_stores();
    } {
        wait_stores_read::<0>();
    }

    stages_before_the_copy_has_read: |map, _y, half, row| {
        wait_stores_read::<2>();
    } {
        fence_proxy();
    } {
        map.store(half, [0, row, 0]); // FAULT: stages_before_the_copy_has_read
        commit_stores();
    } {
        wait_stores_read::<0>();
    }

    ends_before_its_stores_have_read: |map, _y, half, row| {
        wait_stores_read::<1>();
    } {
        fence_proxy();
    } {
        map.store(half, [0, row, 0]); // FAULT: ends_before_its_stores_have_read
        commit_stores();
    } {
        wait_stores_read::<1>();
    }

    never_ends_its_groups: |map, _y, half, row| {
        wait_stores_read::<0>();
    } {
        fence_proxy();
    } {
        if row == 8 {
            map.store(half, [0, row, 0]); // FAULT: never_ends_its_groups
        }
    } {
        wait_stores_read::<0>();
    }

    reads_what_is_not_stored_yet: |map, y, half, row| {
        wait_stores_read::<1>();
    } {
        fence_proxy();
    } {
        map.store(half, [0, row, 0]); // FAULT: reads_what_is_not_stored_yet
        commit_stores();
    } {
        wait_stores_read::<0>();
        y.write(32 * 10, y.as_global().read(32 * 9)); // FAULT: reads_what_is_not_stored_yet
    }
}

#[test]
fn copies_out_of_shared_memory() {
    bounded("copies_out_of_shared_memory", |tally| {
        let mut rows: Vec<u32> = (0..32 * 12).map(|at| 100 * (at / 128) + at % 128).collect();
        rows[32 * 10..].fill(7);
        tally.passes(stores_boxes::META, &rows, |seed| stored(seed, stores_boxes::launch));
        rows[32 * 10] = rows[32 * 9];
        tally.passes(reads_what_it_has_stored::META, &rows, |seed| {
            stored(seed, reads_what_it_has_stored::launch)
        });
        let fence = |fault: &Fault| matches!(fault.kind, FaultKind::NoProxyFence { .. });
        tally.caught(lacks_the_fence_before_a_store::META, fence, |seed| {
            stored(seed, lacks_the_fence_before_a_store::launch)
        });
        tally.caught(stages_before_the_copy_has_read::META, races, |seed| {
            stored(seed, stages_before_the_copy_has_read::launch)
        });
        let waits = |fault: &Fault| matches!(fault.kind, FaultKind::StoreNotWaited { .. });
        tally.caught(ends_before_its_stores_have_read::META, waits, |seed| {
            stored(seed, ends_before_its_stores_have_read::launch)
        });
        tally.caught(never_ends_its_groups::META, waits, |seed| stored(seed, never_ends_its_groups::launch));
        tally.caught(reads_what_is_not_stored_yet::META, races, |seed| {
            stored(seed, reads_what_is_not_stored_yet::launch)
        });
    });
}
