//! The kernels of the PTX modules.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::*;

/// The kernels: calls the macro `$with` with, for samples with the same bits, the samples of a vector and the blocks that fit
/// on a multiprocessor without spilling (ptxas 13.0), the kernels of bins of the same width, with what finds the bin, and
/// of bins between edges, and the types of such samples, with the bits that make their bits' order that of the numbers.
#[macro_export]
macro_rules! histogram_instances {
    ($with:ident) => {
        $with! {
            u8, 16, 2: histogram_even_u8 by EvenInteger, histogram_edges_u8; u8 ^ 0, i8 ^ 0x80;
            u16, 8, 2: histogram_even_u16 by EvenInteger, histogram_edges_u16; u16 ^ 0, i16 ^ 0x8000;
            u32, 4, 3: histogram_even_u32 by EvenInteger, histogram_edges_u32; u32 ^ 0, i32 ^ 0x8000_0000;
            f32, 4, 3: histogram_even_f32 by EvenF32, histogram_edges_f32; f32 ^ 0;
            f64, 2, 3: histogram_even_f64 by EvenF64, histogram_edges_f64; f64 ^ 0;
        }
    };
}

macro_rules! kernels {
    ($($t:ty, $v:literal, $blocks:literal: $even:ident by $binning:ty, $edges:ident; $($sample:ident ^ $flip:literal),*;)*) => { $(
        /// Counts samples in bins of the same width: [`histogram`].
        #[kernel(images = sm_75, launch_bounds(512, $blocks))]
        pub fn $even(samples: Global<$t>, len: u64, binning: $binning, bins: u32, counts: GlobalMut<u32>, wide: u32) {
            histogram::<$t, $binning, $v>(samples, len, binning, bins, counts, wide);
        }

        /// Counts samples in bins between edges: [`histogram`].
        #[kernel(images = sm_75, launch_bounds(512, $blocks))]
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
histogram_instances!(kernels);
