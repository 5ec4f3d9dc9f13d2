//! Convolutions and correlations of one dimension: every output is a chain of fused multiply-adds, one for each tap.
//!
//! Output `j` is `sum over i of tap i · signal[first + j + i]`, from +0 on, `i` ascending; the signal goes on with
//! zeros on both sides. So no output depends on how the work is divided, and all devices give the same bits.
//!
//! # How
//! A block copies its part of the signal and a piece of the taps to shared memory. A thread computes [`OUTPUTS_F32`]
//! (or [`OUTPUTS_F64`]) consecutive outputs, and holds as many elements of the signal in registers, a ring: per 16
//! bytes of taps it reads 16 bytes of the signal more and those taps, which all lanes share, and multiplies 48 (20)
//! times. A thread's outputs start an odd multiple of 16 bytes apart, so that no two of eight lanes read the same
//! banks at once. Reading then takes 4 passes through shared memory for the signal and 1 to 4 for the taps, while
//! multiplying takes 12 (10) cycles, by NVIDIA's Hopper figures (128 and 64 fused multiply-adds a cycle): with many
//! taps the arithmetic sets the pace, of whose loop 192 of 206 instructions are multiplications, with few the memory
//! does. Not yet measured.

pub mod variants;

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, kernel, unroll};

/// Threads of a block, at most; fewer where there are few outputs.
pub const THREADS: u32 = 256;
/// Taps that are in shared memory at a time: enough that copying a tile's part of the signal for each piece is less
/// than a hundredth of the arithmetic, few enough that registers, not shared memory, limit the blocks: three on a
/// multiprocessor.
pub const PIECE: u32 = 512;
/// Outputs of a thread, `f32`: an odd number of vectors.
pub const OUTPUTS_F32: u32 = 12;
/// Outputs of a thread, `f64`.
pub const OUTPUTS_F64: u32 = 10;

/// What is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Chains {
    /// Elements of the signal.
    pub length: u64,
    /// Taps.
    pub taps: u64,
    /// Outputs.
    pub outputs: u64,
    /// Where in the signal the first tap of the first output falls.
    pub first: i64,
    /// Whether tap `i` is the `i`-th element of the filter from its end: 1 or 0.
    pub taps_reversed: u32,
    /// Whether output `j` is the `j`-th element from the end: 1 or 0.
    pub outputs_reversed: u32,
    /// Whether the output starts at a multiple of 16 bytes: 1 or 0.
    pub vectors: u32,
    /// Zero.
    pub reserved: u32,
}

/// Dynamic shared memory of a block of `threads` threads that each compute `outputs` elements of `T`, in bytes.
pub const fn shared_bytes<T: gpu_std::memory::Element>(threads: u32, outputs: u32) -> u32 {
    SharedLayout::new().array::<T>(threads * outputs + PIECE).array::<T>(PIECE).bytes()
}

/// Element `at` of a signal that goes on with zeros.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn element<T: Float>(signal: Global<T>, at: i64, length: u64) -> T {
    if at >= 0 && (at as u64) < length { signal.offset(at as u64).read_only(0) } else { T::ZERO }
}

/// Computes a block's outputs. Each thread has `CHUNKS` vectors of `V` of them; `SLOTS` is one more.
#[device]
#[inline(always)]
fn chains<T: Float, const V: usize, const CHUNKS: usize, const SLOTS: usize>(
    signal: Global<T>,
    filter: Global<T>,
    output: GlobalMut<T>,
    shape: Chains,
) {
    let (threads, thread) = (block_dim_x(), thread_idx_x());
    let tile = threads * (CHUNKS * V) as u32;
    let mut memory = shared::dynamic();
    let (window, weights) = (memory.array::<T>(tile + PIECE), memory.array::<T>(PIECE));
    let first_output = block_idx_x() as u64 * tile as u64;
    let mine = window.offset(thread * (CHUNKS * V) as u32);

    let mut sums = [[T::ZERO; V]; CHUNKS];
    let mut done = 0;
    while done < shape.taps {
        let taps = (shape.taps - done).min(PIECE as u64) as u32;
        // Mutants: before the first piece all threads may wait as well.
        if done > 0 {
            // Everyone has read the piece before.
            sync_threads();
        }
        let start = shape.first + (first_output + done) as i64;
        let width = tile + taps.next_multiple_of(V as u32);
        fill::<T, V, CHUNKS>(signal, start, shape.length, window, width);
        let mut at = thread;
        while at < taps.next_multiple_of(V as u32) {
            let mut weight = T::ZERO;
            if at < taps {
                let tap = done + at as u64;
                let place = if shape.taps_reversed != 0 { shape.taps - 1 - tap } else { tap };
                weight = filter.offset(place).read_only(0);
            }
            weights.write(at, weight);
            at += threads;
        }
        sync_threads();
        add::<T, V, CHUNKS, SLOTS>(mine, weights, taps, &mut sums);
        done += taps as u64;
    }

    // Through shared memory, so that neighbouring threads write neighbouring elements.
    sync_threads();
    unroll::<CHUNKS>(|chunk| mine.write_vec::<V>((chunk * V) as u32, sums[chunk]));
    sync_threads();
    let left = (shape.outputs - first_output).min(tile as u64) as u32;
    if shape.outputs_reversed != 0 {
        let end = output.offset(shape.outputs - first_output - left as u64);
        let mut at = thread;
        while at < left {
            end.write(left - 1 - at, window.read(at));
            at += threads;
        }
    } else if shape.vectors != 0 && left == tile {
        let output = output.offset(first_output);
        unroll::<CHUNKS>(|chunk| {
            let at = (chunk as u32 * threads + thread) * V as u32;
            output.write_vec::<V>(at, window.read_vec::<V>(at));
        });
    } else {
        let output = output.offset(first_output);
        let mut at = thread;
        while at < left {
            output.write(at, window.read(at));
            at += threads;
        }
    }
}

/// Copies `width` elements of the signal, from `start` on, to shared memory.
#[device]
#[inline(always)]
fn fill<T: Float, const V: usize, const CHUNKS: usize>(
    signal: Global<T>,
    start: i64,
    length: u64,
    window: Shared<T>,
    width: u32,
) {
    let (threads, thread) = (block_dim_x(), thread_idx_x());
    // Mutants: what just fits may go the other way, to the same elements.
    if start >= 0 && start as u64 + width as u64 <= length {
        let signal = signal.offset(start as u64);
        // As many as a thread has outputs are asked for before the first is awaited.
        let mut batch = [[T::ZERO; V]; CHUNKS];
        let at = |chunk: usize, j: usize| (chunk * V + j) as u32 * threads + thread;
        unroll::<CHUNKS>(|chunk| unroll::<V>(|j| batch[chunk][j] = signal.read_only(at(chunk, j))));
        let mut rest = threads * (CHUNKS * V) as u32 + thread;
        while rest < width {
            window.write(rest, signal.read_only(rest));
            rest += threads;
        }
        unroll::<CHUNKS>(|chunk| unroll::<V>(|j| window.write(at(chunk, j), batch[chunk][j])));
    } else {
        // The first and the last tile.
        let mut at = thread;
        while at < width {
            window.write(at, element(signal, start + at as i64, length));
            at += threads;
        }
    }
}

/// Adds the products of a piece's taps to a thread's sums.
#[device]
#[inline(always)]
fn add<T: Float, const V: usize, const CHUNKS: usize, const SLOTS: usize>(
    mine: Shared<T>,
    weights: Shared<T>,
    taps: u32,
    sums: &mut [[T; V]; CHUNKS],
) {
    // Element e of the signal from tap 0 of output 0 on is in slot e / V of the ring, modulo the slots.
    let mut ring = [[T::ZERO; V]; SLOTS];
    unroll::<CHUNKS>(|chunk| ring[chunk] = mine.read_vec((chunk * V) as u32));
    let mut tap = 0;
    // Once around the ring.
    // Mutants: the last time may be what is left, to the same sums.
    while tap + (SLOTS * V) as u32 <= taps {
        let (signal, weights) = (mine.offset(tap), weights.offset(tap));
        unroll::<SLOTS>(|step| {
            ring[(step + CHUNKS) % SLOTS] = signal.read_vec(((step + CHUNKS) * V) as u32);
            let factors: [T; V] = weights.read_vec((step * V) as u32);
            unroll::<V>(|k| multiply::<T, V, CHUNKS, SLOTS>(factors[k], &ring, step * V + k, sums));
        });
        tap += (SLOTS * V) as u32;
    }
    // What is left of it, tap by tap: no product with a zero that is no tap.
    let (signal, weights, left) = (mine.offset(tap), weights.offset(tap), taps - tap);
    unroll::<SLOTS>(|step| {
        if ((step * V) as u32) < left {
            ring[(step + CHUNKS) % SLOTS] = signal.read_vec(((step + CHUNKS) * V) as u32);
            let factors: [T; V] = weights.read_vec((step * V) as u32);
            unroll::<V>(|k| {
                if ((step * V + k) as u32) < left {
                    multiply::<T, V, CHUNKS, SLOTS>(factors[k], &ring, step * V + k, sums);
                }
            });
        }
    });
}

/// Adds the products of one tap, that has been `at` taps after the ring's start.
#[inline(always)]
fn multiply<T: Float, const V: usize, const CHUNKS: usize, const SLOTS: usize>(
    factor: T,
    ring: &[[T; V]; SLOTS],
    at: usize,
    sums: &mut [[T; V]; CHUNKS],
) {
    unroll::<CHUNKS>(|chunk| {
        unroll::<V>(|j| {
            let element = at + chunk * V + j;
            sums[chunk][j] = factor.mul_add(ring[element / V % SLOTS][element % V], sums[chunk][j]);
        });
    });
}

/// Convolutions and correlations of `f32`: blocks of up to [`THREADS`] threads, one for every so many times
/// [`OUTPUTS_F32`] outputs, with [`shared_bytes`].
#[kernel(images = sm_75, launch_bounds(256, 3))]
pub fn stencil_signal_f32(signal: Global<f32>, filter: Global<f32>, output: GlobalMut<f32>, shape: Chains) {
    chains::<f32, 4, 3, 4>(signal, filter, output, shape);
}

/// Convolutions and correlations of `f64`: blocks of up to [`THREADS`] threads, one for every so many times
/// [`OUTPUTS_F64`] outputs, with [`shared_bytes`].
#[kernel(images = sm_75, launch_bounds(256, 2))]
pub fn stencil_signal_f64(signal: Global<f64>, filter: Global<f64>, output: GlobalMut<f64>, shape: Chains) {
    chains::<f64, 2, 5, 6>(signal, filter, output, shape);
}
