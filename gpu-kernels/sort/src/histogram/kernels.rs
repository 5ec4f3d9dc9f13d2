//! The kernels of the PTX modules.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::*;

// The type's samples in a vector; blocks that fit on a multiprocessor without spilling (ptxas 13.0).
macro_rules! kernels {
    ($($images:ident of $t:ty, $v:literal, $blocks:literal: $even:ident by $binning:ty, $edges:ident;)*) => { $(
        /// Counts samples in bins of the same width: [`histogram`].
        #[kernel(images = $images, launch_bounds(512, $blocks))]
        pub fn $even(samples: Global<$t>, len: u64, binning: $binning, bins: u32, counts: GlobalMut<u32>, wide: u32) {
            histogram::<$t, $binning, $v>(samples, len, binning, bins, counts, wide);
        }

        /// Counts samples in bins between edges: [`histogram`].
        #[kernel(images = $images, launch_bounds(512, $blocks))]
        pub fn $edges(
            samples: Global<$t>,
            len: u64,
            edges: Global<$t>,
            flip: u32,
            bins: u32,
            counts: GlobalMut<u32>,
            wide: u32,
        ) {
            let binning = Edges { edges, bins, flip };
            histogram::<$t, Edges<$t>, $v>(samples, len, binning, bins, counts, wide);
        }
    )* };
}
kernels! {
    sm_75 of u8, 16, 2: histogram_even_u8 by EvenInteger, histogram_edges_u8;
    sm_75 of u16, 8, 2: histogram_even_u16 by EvenInteger, histogram_edges_u16;
    sm_75 of u32, 4, 3: histogram_even_u32 by EvenInteger, histogram_edges_u32;
    sm_75 of f32, 4, 3: histogram_even_f32 by EvenF32, histogram_edges_f32;
    sm_75 of f64, 2, 3: histogram_even_f64 by EvenF64, histogram_edges_f64;
}
