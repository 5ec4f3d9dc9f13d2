//! Kernels whose PTX `tests/ptx.rs` of gpu-std looks at; each shows one promise of the library.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg(target_arch = "nvptx64")]
// What 9.0 alone has is of no use to the others.
#![allow(unused_imports)]

use gpu_std::prelude::*;
#[cfg(target_feature = "sm_80")]
use gpu_std::async_copy;
use gpu_std::barrier::{Barrier, fence_proxy};
use gpu_std::cluster::Remote;
use gpu_std::half::bf16;
use gpu_std::mma::store_matrices;
use gpu_std::tensor_map::{TensorMap, commit_stores, wait_stores, wait_stores_read};
use gpu_std::texture::Texture;
use gpu_std::{float, unroll};

/// One barrier, not one a branch.
#[kernel(images = sm_75_80)]
fn guard_barrier_guard(x: GlobalMut<u32>, flag: u32) {
    let i = thread::index_1d();
    if i < flag {
        x.write(i, 1);
    }
    thread::sync_threads();
    if i < flag {
        x.write(i + 1000, 2);
    }
}

/// One `bar.warp.sync`, not one a branch.
#[kernel(images = sm_75_80)]
fn guard_sync_warp_guard(x: GlobalMut<u32>, flag: u32) {
    let i = thread::index_1d();
    if i < flag {
        x.write(i, 1);
    }
    warp::sync_warp(warp::FULL);
    if i < flag {
        x.write(i + 1000, 2);
    }
}

/// The shuffle stays behind the branch in which only some lanes were, and before the one that uses it.
#[kernel(images = sm_75_80)]
fn shuffle_after_branch(x: GlobalMut<u32>, flag: u32) {
    let i = thread::index_1d();
    let mut value = i;
    if i < flag {
        value = x.read(i);
    }
    let other = warp::shuffle_xor(warp::FULL, value, 1);
    if i < flag {
        x.write(i, other);
    }
}

/// Votes are not sunk to their only use, which is divergent.
#[kernel(images = sm_75_80)]
fn vote_before_branch(x: GlobalMut<u32>, flag: u32) {
    let i = thread::index_1d();
    let ballot = warp::warp_vote_ballot(warp::FULL, x.read(i) > 7);
    let any = warp::warp_vote_any(warp::FULL, x.read(i) > 8);
    let all = warp::warp_vote_all(warp::FULL, x.read(i) > 9);
    if i < flag {
        x.write(i, ballot + u32::from(any) + u32::from(all));
    }
}

/// Barriers with a result.
#[kernel(images = sm_75_80)]
fn barrier_results(x: GlobalMut<u32>) {
    let i = thread::index_1d();
    let odd = x.read(i) % 2 == 1;
    let count = thread::sync_threads_count(odd);
    let all = thread::sync_threads_and(odd);
    let any = thread::sync_threads_or(odd);
    x.write(i, count + u32::from(all) * 100 + u32::from(any) * 1000);
}

/// Shuffles of every kind, with the flag, and of 64 bits.
#[kernel(images = sm_75_80)]
fn shuffles(x: GlobalMut<u32>, y: GlobalMut<f64>) {
    let i = thread::index_1d();
    let (up, valid) = warp::warp_shuffle_up(warp::FULL, i, 3, 16);
    let down = warp::shuffle_down(warp::FULL, up, 2);
    let idx = warp::shuffle_idx(warp::FULL, down, 0);
    x.write(i, idx + u32::from(valid));
    y.write(i, warp::shuffle_xor(warp::FULL, y.read(i), 16));
}

/// `redux.sync` on sm_80, shuffles before; and `match.any`.
#[kernel(images = sm_75_80)]
fn reductions(x: GlobalMut<u32>) {
    let i = thread::index_1d();
    let sum = warp::warp_reduce(warp::FULL, x.read(i), warp::WarpReductionOp::Add);
    let max = warp::warp_reduce(warp::FULL, x.read(i) as i32, warp::WarpReductionOp::Max);
    let same = warp::warp_match_any(warp::FULL, u64::from(i) << 33);
    x.write(i, sum + max as u32 + same + warp::activemask());
}

macro_rules! vectors {
    ($($name:ident: $t:ty, $n:literal;)*) => { $(
        /// Reads and writes one vector in one instruction each.
        #[kernel(images = sm_75_80)]
        fn $name(x: Global<$t>, y: GlobalMut<$t>) {
            let i = thread::index_1d() * $n;
            y.write_vec::<$n>(i, x.read_vec::<$n>(i));
        }
    )* };
}
vectors! {
    vector_f32x4: f32, 4;
    vector_f32x2: f32, 2;
    vector_f64x2: f64, 2;
    vector_u8x16: u8, 16;
    vector_u8x4: u8, 4;
    vector_u16x8: u16, 8;
    vector_u16x2: u16, 2;
}

/// A vector computed on between load and store.
#[kernel(images = sm_75_80)]
fn vector_arithmetic(x: Global<f32>, y: GlobalMut<f32>) {
    let i = thread::index_1d() * 4;
    let [a, b, c, d] = x.read_vec::<4>(i);
    y.write_vec(i, [d, a + 1.0, float::min(b, c), float::mul_add(a, b, c)]);
}

/// Scalars of each width.
#[kernel(images = sm_75_80)]
fn scalars(a: GlobalMut<u8>, b: GlobalMut<i16>, c: GlobalMut<f32>, d: GlobalMut<i64>) {
    let i = thread::index_1d();
    a.write(i, a.read(i).wrapping_add(1));
    b.write(i, b.read(i).wrapping_add(1));
    c.write(i, c.read(i) + 1.0);
    d.write(i, d.read(i).wrapping_add(1));
}

/// Read-only and streaming forms.
#[kernel(images = sm_75_80)]
fn cache_hints(x: Global<f32>, y: GlobalMut<f32>, b: Global<u8>, c: GlobalMut<u8>) {
    let i = thread::index_1d();
    x.prefetch(i * 32);
    y.write_streaming(i, x.read_only(i) + x.read_streaming(i + 7));
    let [p, q, r, s] = x.read_only_vec::<4>(i * 4);
    let [t, u, v, w] = x.read_streaming_vec::<4>(i * 4 + 400);
    y.write_streaming_vec(i * 4 + 4000, [p + t, q + u, r + v, s + w]);
    c.write_streaming(i, b.read_only(i));
    c.write_volatile(i + 100, c.read_volatile(i + 200));
}

macro_rules! eight_loads {
    ($($name:ident: $read:ident;)*) => { $(
        /// Eight independent 16-byte loads a thread: all are to be in flight before the first is used.
        #[kernel(images = sm_75_80, launch_bounds(256, 4), opt_level = 2)]
        fn $name(x: Global<f32>, y: GlobalMut<f32>, tiles: u32) {
            let lane = thread::thread_idx_x() * 4;
            let mut sums = [0.0f32; 4];
            let mut tile = thread::block_idx_x();
            while tile < tiles {
                let base = x.offset(u64::from(tile) * 8192);
                let mut values = [[0.0f32; 4]; 8];
                unroll::<8>(|j| values[j] = base.offset(j as u64 * 1024).$read::<4>(lane));
                unroll::<8>(|j| unroll::<4>(|k| sums[k] += values[j][k]));
                tile += thread::grid_dim_x();
            }
            y.write_vec(thread::index_1d() * 4, sums);
        }
    )* };
}
eight_loads! {
    eight_loads: read_vec;
    eight_loads_read_only: read_only_vec;
    eight_loads_streaming: read_streaming_vec;
}

/// Shared memory: two arrays, scalar and vector accesses.
#[kernel(images = sm_75_80, launch_bounds(128))]
fn shared_arrays(x: Global<f32>, y: GlobalMut<f32>) {
    let mut shared = shared::dynamic();
    let tile: Shared<f32> = shared.array(128 * 4);
    let flags: Shared<u32> = shared.array(32);
    let t = thread::thread_idx_x();
    tile.write_vec::<4>(t * 4, x.read_vec(t * 4));
    if t < 32 {
        flags.write(t, t);
    }
    thread::sync_threads();
    let [a, b, c, d] = tile.read_vec::<4>((t ^ 1) * 4);
    y.write(t, a + b + c + d + tile.read(t) + flags.read(t % 32) as f32);
}

/// Atomics: operation, order and scope in global and shared memory.
#[kernel(images = sm_75_80)]
fn atomics(a: GlobalMut<u32>, b: GlobalMut<u64>, c: GlobalMut<f32>, d: GlobalMut<i32>, e: GlobalMut<f64>) {
    use Ordering::*;
    use Scope::*;
    let mut shared = shared::dynamic();
    let counters: Shared<u32> = shared.array(32);
    let i = thread::thread_idx_x();
    counters.atomic(i % 32).fetch_add(1, Relaxed, Block);
    counters.atomic(1).fetch_inc(7, Relaxed, Block);
    let mut seen = a.atomic(0).fetch_add(1, Relaxed, Device);
    seen += a.atomic(1).fetch_sub(2, AcqRel, Device);
    seen += a.atomic(2).exchange(3, Acquire, System);
    seen += a.atomic(3).compare_exchange(4, 5, Release, Block);
    seen += a.atomic(4).load(Acquire, Device) + a.atomic(5).load(Relaxed, Device);
    a.atomic(6).store(seen, Release, Device);
    a.atomic(7).store(seen, Relaxed, System);
    b.atomic(0).fetch_max(6, Relaxed, Device);
    b.atomic(1).store(b.atomic(2).load(Acquire, Device), Relaxed, Device);
    b.atomic(3).fetch_or(1, Relaxed, Device);
    c.atomic(0).fetch_add(1.5, Relaxed, Device);
    d.atomic(0).fetch_min(-3, Relaxed, Device);
    e.atomic(0).fetch_add(2.5, Relaxed, Device);
    thread::block_fence();
    thread::device_fence();
    thread::system_fence();
}

/// A struct of numbers as a parameter.
#[derive(Clone, Copy, Parameter)]
#[repr(C)]
pub struct Shape {
    rows: u32,
    columns: u64,
    scale: [f32; 2],
}

/// A table indexed at run time, from the constant bank; a struct beside it.
#[kernel(images = sm_75_80)]
fn constant_table(weights: Constant<f32, 25>, bytes: Constant<u8, 7>, x: Global<f32>, y: GlobalMut<f32>, shape: Shape) {
    let i = thread::index_1d();
    let mut sum = shape.scale[1];
    for k in 0..25 {
        sum = float::mul_add(weights.read(k), x.read(i + k), sum);
    }
    sum += weights.read(i % 25) + f32::from(bytes.read(i % 7)) + (shape.rows + shape.columns as u32) as f32;
    y.write(i, sum);
}

/// Clocks and timers.
#[kernel(images = sm_75_80)]
fn clocks(x: GlobalMut<u64>) {
    let before = thread::clock64();
    x.write(0, x.read(1) + x.read(2));
    x.write(3, thread::clock64() - before);
    x.write(4, thread::globaltimer());
    thread::nanosleep(100);
}

/// Float operations.
#[kernel(images = sm_75_80)]
fn floats(x: GlobalMut<f32>, y: GlobalMut<f64>) {
    x.write(0, float::min(x.read(1), x.read(2)));
    x.write(3, float::max(x.read(4), x.read(5)));
    x.write(6, float::sqrt(float::abs(x.read(7))));
    x.write(8, x.read(9) * x.read(10) + x.read(11));
    y.write(0, float::min(y.read(1), y.read(2)));
    y.write(3, float::mul_add(y.read(4), y.read(5), y.read(6)));
    x.write(12, x.read(13) / x.read(14));
}

/// Branches of every kind leave no trace.
#[kernel(images = sm_75_80)]
fn branches(x: GlobalMut<u32>, n: u32) {
    let i = thread::index_1d();
    let mut total = 0;
    for k in 0..n {
        if k % 3 == 0 {
            continue;
        }
        total += x.read(k);
    }
    while total > 100 {
        total /= 2;
    }
    total += match i % 4 {
        0 => 10,
        1 => 20,
        _ => 30,
    };
    if let Some(more) = total.checked_sub(5) {
        total = more;
    }
    loop {
        total += 1;
        if total % 7 == 0 {
            break;
        }
    }
    x.write(i, total);
}

/// Copies that run beside the thread.
#[cfg(target_feature = "sm_80")]
#[kernel(images = sm_75_80, launch_bounds(128))]
fn asynchronous(x: Global<f32>, y: GlobalMut<f32>, n: u32) {
    let mut shared = shared::dynamic();
    let tile: Shared<f32> = shared.array(128 * 8);
    let t = thread::thread_idx_x();
    async_copy::copy::<f32, 4>(tile, t * 4, x, t * 4);
    async_copy::commit();
    async_copy::copy::<f32, 2>(tile, 512 + t * 2, x, 512 + t * 2);
    async_copy::copy_or_zero::<f32, 1>(tile, 768 + t, x, t, n);
    async_copy::commit();
    async_copy::wait::<1>();
    thread::sync_threads();
    y.write(t, tile.read(t ^ 5));
    async_copy::wait::<0>();
    thread::sync_threads();
    y.write(t + 128, tile.read((512 + t) ^ 5));
}

/// A product of the whole warp stays behind the branch in which only some lanes were, and before the one that uses it.
#[cfg(target_feature = "sm_80")]
#[kernel(images = sm_75_80)]
fn mma_after_branch(x: GlobalMut<f64>, flag: u32) {
    let i = thread::index_1d();
    let mut value = 1.0;
    if i < flag {
        value = x.read(i);
    }
    let product = gpu_std::mma::m16n8k16_f64([value; 8], [value; 4], [0.0; 4]);
    if i < flag {
        x.write(i, product[0] + product[3]);
    }
}

/// Reads of each dimension and type; the last one's value is not used.
#[kernel(images = sm_75_80)]
fn textures(texture: Texture, y: GlobalMut<f32>) {
    let i = thread::index_1d();
    let x = i as f32;
    let [a, ..] = texture.read_1d::<f32>(x);
    let [_, b, ..] = texture.read_2d::<u32>(x, a);
    let [.., c] = texture.read_3d::<f32>(x, a, b as f32);
    let _ = texture.read_2d::<f32>(a, x);
    y.write(i, c);
}

/// One barrier of the cluster, not one a branch.
#[kernel(images = sm_90a, cluster = 2)]
fn guard_cluster_guard(x: GlobalMut<u32>, flag: u32) {
    let i = thread::index_1d();
    if i < flag {
        x.write(i, 1);
    }
    gpu_std::cluster::sync();
    if i < flag {
        x.write(i + 1000, 2);
    }
}

/// What blocks of a cluster do in each other's shared memory.
#[kernel(images = sm_90a, cluster = 2)]
fn cluster_memory(x: GlobalMut<u32>) {
    let mut shared = shared::dynamic();
    let words = shared.array::<u32>(256);
    let barrier = Barrier::at(shared.array(1), 0);
    let other = gpu_std::cluster::rank() ^ 1;
    let i = thread::thread_idx_x();
    Remote::of(words, other).write(i, x.read(i));
    Remote::of(words, other).write_vec(4 * i, x.as_global().read_vec::<4>(i));
    barrier.arrive_at(other);
    barrier.wait_cluster(0);
    let word = Remote::of(words, other).read(i);
    let [a, ..] = Remote::of(words, other).read_vec::<4>(4 * i);
    x.write(i, word + a);
    barrier.free_at(other);
}

/// Copies of boxes to a cluster, and out of shared memory.
#[kernel(images = sm_90a, cluster = 2)]
fn boxes_of_a_cluster(map: TensorMap, row: u32) {
    let mut shared = shared::dynamic();
    let tile = shared.array::<bf16>(4096);
    let barrier = Barrier::at(shared.array(1), 0);
    map.load_multicast(tile, barrier, [0, row, 0], 3);
    store_matrices(tile, 8 * thread::thread_idx_x(), [row; 4]);
    fence_proxy();
    map.store(tile, [0, row, 1]);
    commit_stores();
    wait_stores_read::<1>();
    wait_stores::<0>();
}
