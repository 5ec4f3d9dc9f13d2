//! Every atomic operation through the simulator: what it returns and what it leaves, against plain Rust; and that
//! operations of many threads do not get lost.

mod support;

use gpu_std::atomic::fence;
use gpu_std::prelude::*;
use support::{Array, block, simulator};

macro_rules! integer_tests {
    ($($t:ident)*) => { $(
        mod $t {
            use super::*;

            /// Each operation on an element of its own, in global and in shared memory: results, then what is left.
            #[kernel]
            fn each(start: $t, value: $t, olds: GlobalMut<$t>, news: GlobalMut<$t>) {
                let mut memory = shared::dynamic();
                let tile: Shared<$t> = memory.array(11);
                for i in 0..11 {
                    tile.write(i, start);
                }
                let (order, scope) = (Ordering::AcqRel, Scope::Device);
                for space in 0..2 {
                    let at = |i: u32| if space == 0 { news.atomic(i) } else { tile.atomic(i) };
                    let base = space * 11;
                    olds.write(base, at(0).fetch_add(value, order, scope));
                    olds.write(base + 1, at(1).fetch_sub(value, Ordering::Relaxed, Scope::Block));
                    olds.write(base + 2, at(2).fetch_min(value, Ordering::Acquire, Scope::System));
                    olds.write(base + 3, at(3).fetch_max(value, Ordering::Release, scope));
                    olds.write(base + 4, at(4).fetch_and(value, order, scope));
                    olds.write(base + 5, at(5).fetch_or(value, order, scope));
                    olds.write(base + 6, at(6).fetch_xor(value, order, scope));
                    olds.write(base + 7, at(7).exchange(value, order, scope));
                    olds.write(base + 8, at(8).compare_exchange(start, value, order, scope));
                    olds.write(base + 9, at(9).compare_exchange(!start, value, order, scope));
                    at(10).store(value, Ordering::Release, scope);
                    olds.write(base + 10, at(10).load(Ordering::Acquire, scope));
                }
                for i in 0..11 {
                    news.write(11 + i, tile.read(i));
                }
            }

            #[test]
            fn each_operation() {
                let pairs: [($t, $t); 5] = [
                    (5, 3),
                    (3, 5),
                    ($t::MAX, 1),
                    ($t::MIN, 1),
                    (0x5a, (0 as $t).wrapping_sub(2)),
                ];
                for (start, value) in pairs {
                    let simulator = simulator(1);
                    let olds = Array::<$t>::zeroed(&simulator, 22);
                    let news = Array::<$t>::new(&simulator, &[start; 22]);
                    let config = block(1, 11 * size_of::<$t>() as u32);
                    // SAFETY: 22 elements each.
                    unsafe { each::launch(&simulator, config, start, value, olds.global_mut(), news.global_mut()) }
                        .unwrap();
                    let left = [
                        start.wrapping_add(value),
                        start.wrapping_sub(value),
                        start.min(value),
                        start.max(value),
                        start & value,
                        start | value,
                        start ^ value,
                        value,
                        value,
                        start,
                        value,
                    ];
                    let mut returned = [start; 11];
                    returned[10] = value;
                    assert_eq!(news.get(), [left, left].concat(), "{start} and {value}");
                    assert_eq!(olds.get(), [returned, returned].concat(), "{start} and {value}");
                }
            }
        }
    )* };
}
integer_tests!(u32 i32 u64 i64);

macro_rules! counter_tests {
    ($($name:ident: $t:ty;)*) => { $(
        mod $name {
            use super::*;

            #[kernel]
            fn wrap(x: GlobalMut<$t>) {
                for _ in 0..7 {
                    x.atomic(0).fetch_inc(4, Ordering::Relaxed, Scope::Device);
                    x.atomic(1).fetch_dec(4, Ordering::Relaxed, Scope::Device);
                }
                x.atomic(2).fetch_inc(4, Ordering::Relaxed, Scope::Device);
                x.atomic(3).fetch_dec(4, Ordering::Relaxed, Scope::Device);
            }

            #[test]
            fn counters_wrap() {
                let simulator = simulator(1);
                let x = Array::<$t>::new(&simulator, &[0, 1, 9, 9]);
                // SAFETY: four elements.
                unsafe { wrap::launch(&simulator, block(1, 0), x.global_mut()) }.unwrap();
                // 0 1 2 3 4 0 1 2; 1 0 4 3 2 1 0 4; above the bound both start anew.
                assert_eq!(x.get(), [2, 4, 0, 4]);
            }
        }
    )* };
}
counter_tests! {
    counter_u32: u32;
    counter_u64: u64;
}

#[kernel]
fn float_sums(x: GlobalMut<f32>, y: GlobalMut<f64>) {
    let mut memory = shared::dynamic();
    let tile: Shared<f32> = memory.array(2);
    if thread::thread_idx_x() == 0 {
        tile.write(0, 0.0);
        tile.write(1, f32::MIN_POSITIVE / 4.0);
    }
    thread::sync_threads();
    let (relaxed, device) = (Ordering::Relaxed, Scope::Device);
    x.atomic(0).fetch_add(0.5, relaxed, device);
    y.atomic(0).fetch_sub(0.25, relaxed, device);
    tile.atomic(0).fetch_add(2.0, relaxed, Scope::Block);
    thread::sync_threads();
    if thread::thread_idx_x() == 0 {
        x.atomic(1).fetch_sub(f32::MIN_POSITIVE / 2.0, relaxed, device);
        tile.atomic(1).fetch_sub(-f32::MIN_POSITIVE / 4.0, relaxed, Scope::Block);
        let old = y.atomic(1).compare_exchange(1.5, 2.5, relaxed, device);
        y.atomic(2).exchange(old, relaxed, device);
        x.write(2, tile.read(0));
        x.write(3, tile.read(1));
    }
}

#[test]
fn floats_add_up() {
    for seed in 0..20 {
        let simulator = simulator(seed);
        let x = Array::<f32>::new(&simulator, &[1.0, 0.0, 0.0, 0.0]);
        let y = Array::<f64>::new(&simulator, &[1.0, 1.5, 0.0]);
        // SAFETY: four and three elements.
        unsafe { float_sums::launch(&simulator, block(64, 8), x.global_mut(), y.global_mut()) }.unwrap();
        // Global addition takes subnormal numbers for zero, shared addition keeps them: as the GPU does.
        assert_eq!(x.get(), [33.0, 0.0, 128.0, f32::MIN_POSITIVE / 2.0]);
        assert_eq!(y.get(), [-15.0, 2.5, 1.5]);
    }
}

/// The last block to arrive adds up what the others wrote: only right if the ticket orders their writes before.
#[kernel]
fn last_block(parts: GlobalMut<u32>, ticket: GlobalMut<u32>, total: GlobalMut<u32>) {
    let block = thread::block_idx_x();
    parts.write(block, block + 1);
    let arrived = ticket.atomic(0).fetch_add(1, Ordering::AcqRel, Scope::Device);
    if arrived == thread::grid_dim_x() - 1 {
        let mut sum = 0;
        for i in 0..thread::grid_dim_x() {
            sum += parts.read(i);
        }
        total.write(0, sum);
    }
}

/// The same with fences and a relaxed ticket.
#[kernel]
fn last_block_fenced(parts: GlobalMut<u32>, ticket: GlobalMut<u32>, total: GlobalMut<u32>) {
    let block = thread::block_idx_x();
    parts.write(block, block + 1);
    fence(Ordering::Release, Scope::Device);
    let arrived = ticket.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
    if arrived == thread::grid_dim_x() - 1 {
        thread::device_fence();
        let mut sum = 0;
        for i in 0..thread::grid_dim_x() {
            sum += parts.read(i);
        }
        total.write(0, sum);
    }
}

#[test]
fn orders_hold_over_many_schedules() {
    for seed in 0..100 {
        let simulator = simulator(seed);
        for fenced in [false, true] {
            let parts = Array::<u32>::zeroed(&simulator, 9);
            let ticket = Array::<u32>::zeroed(&simulator, 1);
            let total = Array::<u32>::zeroed(&simulator, 1);
            let config = gpu_std::launch::LaunchConfig::linear(9, 1);
            let (a, b, c) = (parts.global_mut(), ticket.global_mut(), total.global_mut());
            // SAFETY: one part a block.
            let result = unsafe {
                if fenced {
                    last_block_fenced::launch(&simulator, config, a, b, c)
                } else {
                    last_block::launch(&simulator, config, a, b, c)
                }
            };
            result.unwrap_or_else(|fault| panic!("seed {seed}, fenced {fenced}: {fault}"));
            assert_eq!(total.get(), [45]);
        }
    }
}
