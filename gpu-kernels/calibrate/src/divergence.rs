//! Branches that threads of a warp take apart (González García, sections 5.2.3 and 5.3; the chain of additions is that
//! of Wong et al., *Demystifying GPU microarchitecture through microbenchmarking*, 2010).

use gpu_std::float::sqrt;
use gpu_std::memory::GlobalMut;
use gpu_std::thread::{block_idx_x, clock64, index_1d, sync_threads, thread_idx_x};
use gpu_std::{kernel, opaque, rolled};

/// Additions of a branch of [`calibrate_branches()`], each of which waits for the one before.
pub const ADDITIONS: u32 = 32;

/// Threads whose lanes differ by multiples of `branches` take one branch, the others others, each a chain of
/// [`ADDITIONS`] of `f32`, `steps` times: `cycles[b]` is what block `b` took.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_branches(cycles: GlobalMut<u64>, branches: u32, steps: u32, seed: f32) {
    let mine = thread_idx_x() % 32 % branches;
    let (mut one, mut other, mut step) = (seed, seed, 0);
    sync_threads();
    let start = clock64();
    while step < steps {
        let mut branch = 0;
        while branch < branches {
            branch = rolled(branch);
            if mine == branch {
                gpu_std::unroll::<16>(|_| {
                    one += other;
                    other += one;
                });
            }
            branch += 1;
        }
        step = rolled(step) + 1;
    }
    sync_threads();
    let end = clock64();
    // Sums of positive numbers.
    if one < 0.0 {
        cycles.write(block_idx_x(), 0);
    } else if thread_idx_x() == 0 {
        cycles.write(block_idx_x(), end - start);
    }
}

/// Listing 5.2: half of each warp adds 1 to its element, the other half the root of its thread's number.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_divergent(values: GlobalMut<f32>, len: u32) {
    let index = index_1d();
    if index < len {
        if thread_idx_x() % 32 < 16 {
            values.write(index, values.read(index) + 1.0);
        } else {
            // The compiler would compute both and select, if it saw that the root does no harm.
            values.write(index, values.read(index) + sqrt(opaque(thread_idx_x()) as f32));
        }
    }
}

/// Listing 5.3: all threads do what both branches do, one behind the other. Volatile, or the first store would be left
/// out.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_merged(values: GlobalMut<f32>, len: u32) {
    let index = index_1d();
    if index < len {
        values.write_volatile(index, values.read_volatile(index) + 1.0);
        values.write_volatile(index, values.read_volatile(index) + sqrt(thread_idx_x() as f32));
    }
}
