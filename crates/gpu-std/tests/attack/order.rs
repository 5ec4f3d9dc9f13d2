//! Blocks that depend on each other: orders, scopes and fences that are missing or too weak.

use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::Attack;

fn counting(n: u32) -> Vec<u32> {
    (0..n).map(|i| (i * 7 + 3) % 101).collect()
}

/// `y`: a flag, a payload of two, what the other block made of it.
#[kernel]
fn hands_over(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let flag = y.atomic(0);
    if thread::block_idx_x() == 0 {
        if how == 5 {
            flag.store(1, Ordering::Release, Scope::Device);
        }
        y.write(1, x.read(0));
        match how {
            1 => flag.store(1, Ordering::Relaxed, Scope::Device),
            3 => flag.store(1, Ordering::Release, Scope::Block),
            4 => {
                thread::block_fence();
                flag.store(1, Ordering::Relaxed, Scope::Device);
            }
            5 => {}
            6 => {
                flag.store(1, Ordering::Relaxed, Scope::Device);
                thread::device_fence();
            }
            7 => y.write_volatile(0, 1),
            8 => y.write(0, 1),
            _ => flag.store(1, Ordering::Release, Scope::Device),
        }
    } else {
        let acquire = if how == 2 { Ordering::Relaxed } else { Ordering::Acquire };
        while flag.load(acquire, Scope::Device) == 0 {}
        y.write(2, y.read(1) + 1);
    }
}

#[test]
fn message_passing() {
    Attack {
        name: "message passing",
        launch: hands_over::launch,
        config: LaunchConfig::linear(2, 1),
        x: vec![41],
        y: vec![0],
        expected: vec![1, 41, 42],
        together: true,
        broken: &[
            "a relaxed store",
            "a relaxed load",
            "a store of block scope",
            "a fence of block scope",
            "the flag first",
            "the fence behind the flag",
            "a volatile flag",
            "a plain flag",
        ],
    }
    .check();
}

/// `y`: a ticket, a partial sum per block, the sum.
#[kernel]
fn last_block_adds(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (block, blocks, i) = (thread::block_idx_x(), thread::grid_dim_x(), thread::thread_idx_x());
    let mut shared = shared::dynamic();
    let (parts, last) = (shared.array::<u32>(32), shared.array::<u32>(1));
    // Each thread stores a part of its own: all have to be there before the ticket is drawn.
    y.write(1 + block * 32 + i, x.read(thread::index_1d()));
    if how != 1 {
        thread::sync_threads();
    }
    if i == 0 {
        let order = match how {
            2 => Ordering::Relaxed,
            3 => Ordering::Release,
            4 => Ordering::Acquire,
            _ => Ordering::AcqRel,
        };
        let scope = if how == 5 { Scope::Block } else { Scope::Device };
        last.write(0, u32::from(y.atomic(0).fetch_add(1, order, scope) == blocks - 1));
    }
    if how != 6 {
        thread::sync_threads();
    }
    if last.read(0) == 1 {
        let mut sum = 0;
        for b in 0..blocks {
            sum += y.read(1 + b * 32 + i);
        }
        parts.write(i, sum);
        if how != 7 {
            thread::sync_threads();
        }
        if i == 0 {
            let mut all = 0;
            for k in 0..32 {
                all += parts.read(k);
            }
            y.write(1 + blocks * 32, all);
        }
    }
}

#[test]
fn last_block() {
    let x = counting(160);
    let mut expected = vec![5];
    expected.extend(&x);
    expected.push(x.iter().sum());
    Attack {
        name: "last block",
        launch: last_block_adds::launch,
        config: LaunchConfig::linear(5, 32).shared(4 * 33),
        expected,
        x,
        y: vec![0],
        together: false,
        broken: &[
            "no barrier before the ticket",
            "a relaxed ticket",
            "one that only releases",
            "one that only acquires",
            "one of block scope",
            "no barrier after the ticket",
            "no barrier among the last block's parts",
        ],
    }
    .check();
}

/// `y`: a lock, what it guards.
#[kernel]
fn locks(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let lock = y.atomic(0);
    let scope = if how == 3 { Scope::Block } else { Scope::Device };
    let acquire = if how == 1 { Ordering::Relaxed } else { Ordering::Acquire };
    if how == 4 {
        // Looked at and taken in two steps.
        while lock.load(Ordering::Acquire, Scope::Device) != 0 {}
        lock.store(1, Ordering::Relaxed, Scope::Device);
    } else {
        while lock.compare_exchange(0, 1, acquire, scope) != 0 {}
    }
    y.write(1, y.read(1) + x.read(thread::index_1d()));
    match how {
        2 => lock.store(0, Ordering::Relaxed, Scope::Device),
        5 => y.write(0, 0),
        _ => lock.store(0, Ordering::Release, scope),
    }
}

#[test]
fn lock() {
    let x = counting(6);
    Attack {
        name: "lock",
        launch: locks::launch,
        config: LaunchConfig::linear(3, 2),
        expected: vec![0, x.iter().sum()],
        x,
        y: vec![0, 0],
        together: false,
        broken: &[
            "taken by a relaxed exchange",
            "given back by a relaxed store",
            "of block scope",
            "looked at and taken in two steps (at times)",
            "given back by a plain store",
        ],
    }
    .check();
}

/// Prefix sums of blocks by looking back at the one before, in the order in which they began. `y`: a ticket, and for
/// each block a flag and a sum.
#[kernel]
fn looks_back(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let ticket = y.atomic(0);
    let me = if how == 5 {
        let me = ticket.load(Ordering::Relaxed, Scope::Device);
        ticket.store(me + 1, Ordering::Relaxed, Scope::Device);
        me
    } else {
        ticket.fetch_add(1, Ordering::Relaxed, Scope::Device)
    };
    let (flag, sum) = (1 + 2 * me, 2 + 2 * me);
    let mut before = 0;
    if me > 0 {
        let acquire = if how == 2 { Ordering::Relaxed } else { Ordering::Acquire };
        while y.atomic(flag - 2).load(acquire, Scope::Device) == 0 && how != 6 {}
        before = y.read(sum - 2);
    }
    if how == 3 {
        y.atomic(flag).store(1, Ordering::Release, Scope::Device);
    }
    y.write(sum, before + x.read(me));
    let release = if how == 1 { Ordering::Relaxed } else { Ordering::Release };
    let scope = if how == 4 { Scope::Block } else { Scope::Device };
    if how != 3 {
        y.atomic(flag).store(1, release, scope);
    }
}

#[test]
fn look_back() {
    let x = counting(6);
    let mut expected = vec![6];
    for i in 0..6 {
        expected.extend([1, x[..=i].iter().sum()]);
    }
    Attack {
        name: "look-back",
        launch: looks_back::launch,
        config: LaunchConfig::linear(6, 1),
        expected,
        x,
        y: vec![0; 13],
        together: false,
        broken: &[
            "a relaxed flag",
            "a relaxed wait",
            "the flag before the sum",
            "a flag of block scope",
            "a ticket in two steps",
            "no wait",
        ],
    }
    .check();
}

/// Two phases with a barrier of the grid between. `y`: arrivals, then values.
#[kernel]
fn two_phases(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, blocks) = (thread::index_1d(), thread::grid_dim_x());
    y.write(1 + i, x.read(i));
    if how != 1 {
        thread::sync_threads();
    }
    if thread::thread_idx_x() == 0 {
        let order = if how == 2 { Ordering::Relaxed } else { Ordering::AcqRel };
        let scope = if how == 6 { Scope::Block } else { Scope::Device };
        y.atomic(0).fetch_add(1, order, scope);
        let acquire = if how == 3 { Ordering::Relaxed } else { Ordering::Acquire };
        let all = if how == 5 { blocks - 1 } else { blocks };
        while y.atomic(0).load(acquire, Scope::Device) < all {}
    }
    if how != 4 {
        thread::sync_threads();
    }
    let n = blocks * thread::block_dim_x();
    y.write(1 + n + i, y.read(1 + (i + thread::block_dim_x()) % n));
}

#[test]
fn grid_barrier() {
    let x = counting(48);
    let mut expected = vec![3];
    expected.extend(&x);
    expected.extend((0..48).map(|i| x[(i + 16) % 48]));
    Attack {
        name: "grid barrier",
        launch: two_phases::launch,
        config: LaunchConfig::linear(3, 16),
        expected,
        x,
        y: vec![0],
        together: true,
        broken: &[
            "no barrier before arriving",
            "a relaxed arrival",
            "a relaxed wait",
            "no barrier after the wait",
            "waiting for one too few (at times)",
            "arriving in block scope",
        ],
    }
    .check();
}

/// `y`: a total, a maximum of two words.
#[kernel]
fn mixes(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, value) = (thread::index_1d(), x.read(thread::index_1d()));
    let total = y.atomic(0);
    match how {
        1 => y.write(0, y.read(0) + value),
        2 => _ = total.fetch_add(value, Ordering::Relaxed, Scope::Block),
        3 if i == 7 => y.write(0, y.read(0) + value),
        _ => _ = total.fetch_add(value, Ordering::Relaxed, Scope::Device),
    }
    if how == 4 && i == 60 {
        y.write(1, u32::from(y.read(0) > 0));
    }
    let wide = y.cast::<u64>().atomic(1);
    if how == 5 && i == 9 {
        y.atomic(2).fetch_max(value, Ordering::Relaxed, Scope::Device);
    }
    wide.fetch_max(u64::from(value) << 32, Ordering::Relaxed, Scope::Device);
    if how == 6 {
        total.store(0, Ordering::Relaxed, Scope::Device);
    }
}

#[test]
fn atomics() {
    let x = counting(64);
    Attack {
        name: "atomics",
        launch: mixes::launch,
        config: LaunchConfig::linear(2, 32),
        expected: vec![x.iter().sum(), 1, 0, x.iter().copied().max().unwrap_or(0)],
        x,
        y: vec![0, 1, 0, 0],
        together: false,
        broken: &[
            "none",
            "of block scope",
            "one plain access among them",
            "a plain read meanwhile",
            "of half a word",
            "a store that takes all back",
        ],
    }
    .check();
}

/// Items are made and their numbers published through a queue. `y`: a tail, slots, items, results.
#[kernel]
fn queues(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let n = 4;
    if thread::block_idx_x() == 0 {
        for k in 0..n {
            let item = n - 1 - k;
            y.write(1 + n + item, x.read(item));
            match how {
                1 => y.atomic(1 + k).store(item + 1, Ordering::Relaxed, Scope::Device),
                2 => y.write_volatile(1 + k, item + 1),
                _ => y.atomic(1 + k).store(item + 1, Ordering::Release, Scope::Device),
            }
        }
        y.atomic(0).store(n, if how == 3 { Ordering::Relaxed } else { Ordering::Release }, Scope::Device);
    } else {
        // Loads of which one depends on the other are not ordered by that.
        let tail = if how == 3 { n } else { 0 };
        for k in 0..n {
            let mut item = 0;
            while item == 0 {
                let order = if how == 4 { Ordering::Relaxed } else { Ordering::Acquire };
                item = y.atomic(1 + k).load(order, Scope::Device);
            }
            y.write(1 + 2 * n + item - 1, y.read(1 + n + item - 1) + 1);
        }
        while tail != n && y.atomic(0).load(Ordering::Acquire, Scope::Device) != n {}
        if how == 3 {
            y.write(0, y.read(0));
        }
    }
}

#[test]
fn queue() {
    let x = counting(4);
    let mut expected = vec![4, 4, 3, 2, 1];
    expected.extend(&x);
    expected.extend(x.iter().map(|v| v + 1));
    Attack {
        name: "queue",
        launch: queues::launch,
        config: LaunchConfig::linear(2, 1),
        expected,
        x,
        y: vec![0; 5],
        together: true,
        broken: &[
            "numbers published relaxed",
            "volatile",
            "a tail that is read plainly",
            "numbers read relaxed",
        ],
    }
    .check();
}

/// Neighbours of other blocks in place.
#[kernel]
fn shifts(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let i = thread::index_1d();
    if how == 1 {
        y.write(i, y.read((i + 1) % 64));
    } else if how == 2 {
        y.write(i, x.read((i + 1) % 64));
        thread::device_fence();
        thread::sync_threads();
        y.write(i, y.read((i + 32) % 64));
    } else if how == 3 {
        y.write(i / 2 * 2, x.read((i + 1) % 64));
    } else {
        y.write(i, x.read((i + 1) % 64));
    }
}

#[test]
fn blocks_that_nothing_orders() {
    let x = counting(64);
    Attack {
        name: "shift",
        launch: shifts::launch,
        config: LaunchConfig::linear(2, 32),
        expected: (0..64).map(|i| x[(i + 1) % 64]).collect(),
        y: x.clone(),
        x,
        together: false,
        broken: &["in place", "a fence for a barrier", "two writers of one word"],
    }
    .check();
}
