//! The product by tiles in shared memory, a thread an element, and the subtraction (seed: C. González, 2012, listings
//! 8.14 and 8.15).

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{index_1d, index_2d, sync_threads, thread_idx_x, thread_idx_y};
use gpu_std::{device, kernel, rolled};

use super::TILE;

/// Dynamic shared memory of the product, in bytes.
pub const fn product_shared_bytes<T: Float>() -> u32 {
    SharedLayout::new().array::<T>(TILE * TILE).array::<T>(TILE * TILE).bytes()
}

/// Beyond the matrices everything counts as zero.
#[device]
#[inline(always)]
fn product<T: Float>(a: Global<T>, b: Global<T>, c: GlobalMut<T>, m: u32, n: u32, k: u32) {
    let mut memory = shared::dynamic();
    let (a_tile, b_tile) = (memory.array::<T>(TILE * TILE), memory.array::<T>(TILE * TILE));
    let [column, row] = index_2d();
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let mut sum = T::ZERO;
    let mut first = 0;
    // Mutants: in one more turn zeros are added, as behind an end that is not a tile's.
    while first < k {
        first = rolled(first);
        let of_a = if row < m && first + x < k { a.read(row * k + first + x) } else { T::ZERO };
        let of_b = if first + y < k && column < n { b.read((first + y) * n + column) } else { T::ZERO };
        a_tile.write(y * TILE + x, of_a);
        b_tile.write(y * TILE + x, of_b);
        sync_threads();
        let mut at = 0;
        while at < TILE {
            at = rolled(at);
            sum = a_tile.read(y * TILE + at).mul_add(b_tile.read(at * TILE + x), sum);
            at += 1;
        }
        // Nobody overwrites a tile that others still read.
        sync_threads();
        first += TILE;
    }
    if row < m && column < n {
        c.write(row * n + column, sum);
    }
}

macro_rules! kernels {
    ($($T:ty: $transpose:ident, $product:ident, $subtract:ident, $solve:ident;)*) => { $(
        #[doc = concat!("The m × n product of two matrices of `", stringify!($T), "`, each element one chain of fused multiply-adds from zero.")]
        ///
        /// Launch blocks of [`TILE`] × [`TILE`] threads, one a tile, with [`product_shared_bytes`].
        #[kernel(images = sm_75, launch_bounds(1024))]
        pub fn $product(a: Global<$T>, b: Global<$T>, c: GlobalMut<$T>, m: u32, n: u32, k: u32) {
            product::<$T>(a, b, c, m, n, k);
        }

        #[doc = concat!("`b = b - x`, vectors of `", stringify!($T), "`.")]
        ///
        /// Launch `n` threads or more.
        #[kernel(images = sm_75, launch_bounds(1024))]
        pub fn $subtract(b: GlobalMut<$T>, x: Global<$T>, n: u32) {
            let i = index_1d();
            if i < n {
                b.write(i, b.read(i) - x.read(i));
            }
        }
    )* };
}
crate::textbook_instances!(kernels);
