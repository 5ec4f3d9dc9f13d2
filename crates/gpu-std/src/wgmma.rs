//! Products of tiles in shared memory that a warpgroup computes together, on the tensor cores of capability 9.0 (`wgmma`).
//!
//! A warpgroup is 128 threads, from a multiple of 128 on. All call at the same place; the factors are tiles in
//! shared memory, which the copy engine has brought there ([`crate::tensor_map`], with
//! [`Swizzle::Bytes128`](crate::tensor_map::Swizzle)), and each thread holds 128 of 64 × 256 sums, or 64 of 64 × 128.
//! With `w`, `g` and `t` such that the thread's number in the warpgroup is `32 w + 4 g + t`:
//!
//! | sum `i` of a thread | row `16 w + g + 8 (i / 2 % 2)`, column `8 (i / 4) + 2 t + i % 2` |
//! |---|---|
//!
//! Tiles are 128 bytes deep along `k`, [`depth`] elements. A tile whose *rows* (rows of A, columns of B) are
//! contiguous along `k` is one box of 64, 128 or 256 rows of 128 bytes. Of a tile that is contiguous across, of 16-bit
//! elements, there are boxes of 64 elements and 64 steps of `k` side by side, 8 KiB each: one of A, two or four of B.
//!
//! The tile of A may be in registers instead ([`multiply_add_rows`]), where a thread can change what it has read of it:
//!
//! | word `i` of a thread's 16 | row `16 w + g + 8 (i % 2)`, word `8 (i / 4) + t + 4 (i / 2 % 2)` of the row's 32 along `k` |
//! |---|---|
//!
//! An operation is asynchronous on the hardware; here its whole life is one call, from the fence for the sums to the wait, so
//! that nothing can touch sums or factors in flight. The tensor cores do not idle for it: another warpgroup's operation
//! runs meanwhile.
//!
//! # Numbers
//!
//! Products of `f16` and `bf16` are exact; [`f32`] factors are cut to tf32, 10 bits of mantissa. How the hardware adds is
//! not specified; sums are `f32`, as bits, and of integers `i32`, which wrap. The simulator adds products one after
//! the other along `k` by fused multiply-adds.

use crate::backend::wgmma as backend;
use crate::half::{bf16, f16};
use crate::memory::{Element, Shared};

/// A type of factors: `f16`, `bf16`, `f32` (as tf32), `i8`.
pub trait Factor: Element + sealed::Sealed {}

pub(crate) mod sealed {
    /// Which instruction it is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        F16,
        Bf16,
        Tf32,
        S8,
    }

    pub trait Sealed {
        const KIND: Kind;
    }
}
pub(crate) use sealed::Kind;

macro_rules! factors {
    ($($T:ty: $kind:ident),*) => { $(
        impl sealed::Sealed for $T {
            const KIND: Kind = Kind::$kind;
        }
        impl Factor for $T {}
    )* };
}
factors!(f16: F16, bf16: Bf16, f32: Tf32, i8: S8);

/// Rows of the sums.
pub const ROWS: u32 = 64;

/// Columns of the sums, of which a thread has so many: 128 or 64.
pub const fn columns(sums: usize) -> u32 {
    assert!(sums == 128 || sums == 64, "a thread has 128 sums or 64");
    2 * sums as u32
}

/// How deep tiles are along `k`, in bytes.
pub const DEPTH_BYTES: u32 = 128;

/// How deep tiles are along `k`.
pub const fn depth<T: Factor>() -> u32 {
    DEPTH_BYTES / size_of::<T>() as u32
}

/// Adds the product of a tile of A and a tile of B to the sums, which are `f32`, as bits, or `i32`.
///
/// `A_ACROSS` and `B_ACROSS` say that a tile is contiguous across `k` and not along it; only with 16 bits. Tiles start
/// at multiples of 1024 bytes.
///
/// ```compile_fail,E0080
/// use gpu_std::prelude::*;
/// use gpu_std::wgmma;
/// let tile: Shared<i8> = shared::dynamic().array(1);
/// wgmma::multiply_add::<i8, true, false, 128>(&mut [0; 128], tile, tile);
/// ```
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn multiply_add<T: Factor, const A_ACROSS: bool, const B_ACROSS: bool, const SUMS: usize>(
    sums: &mut [u32; SUMS],
    a: Shared<T>,
    b: Shared<T>,
) {
    const { assert!(size_of::<T>() == 2 || !A_ACROSS && !B_ACROSS, "only 16 bits are taken across k") };
    const { columns(SUMS) };
    backend::multiply_add(T::KIND, A_ACROSS, B_ACROSS, sums, a.byte(0), b.byte(0));
}

/// The same with the tile of A in registers, contiguous along `k`: in a word of 32 bits there are one element, two or
/// four, the first in its low bits. All 16 words of a thread, or `WORDS` = 4 of them, a fourth of the tile along `k`, from
/// word `first` on, a multiple of four. Of B's tile the rest is not used.
///
/// ```
/// use gpu_std::launch::LaunchConfig;
/// use gpu_std::prelude::*;
/// use gpu_std::{barrier, tensor_map, wgmma};
///
/// /// The sums of the rows of `b`, of 128 rows of 32 elements, in 64 equal rows: A is of ones.
/// #[kernel(launch_bounds(128))]
/// pub fn sums(b: tensor_map::TensorMap, y: GlobalMut<f32>) {
///     let mut memory = shared::dynamic();
///     let tile = memory.array::<f32>(128 * 32);
///     let there = barrier::Barrier::at(memory.array(1), 0);
///     let thread = thread::thread_idx_x();
///     if thread == 0 {
///         there.init(1);
///         barrier::fence_init();
///     }
///     thread::sync_threads();
///     if thread == 0 {
///         there.arrive_expect(128 * 128);
///         b.load(tile, there, [0, 0, 0]);
///     }
///     there.wait(0);
///     let mut sums = [0; 64];
///     wgmma::multiply_add_rows::<f32, false, 16, 64>(&mut sums, [1_f32.to_bits(); 16], 0, tile);
///     // A quad has a row: of the first one, a thread each fourth pair.
///     if thread < 4 {
///         for pair in 0..16 {
///             y.write(8 * pair + 2 * thread, f32::from_bits(sums[4 * pair as usize]));
///             y.write(8 * pair + 2 * thread + 1, f32::from_bits(sums[4 * pair as usize + 1]));
///         }
///     }
/// }
/// # use gpu_std::tensor_map::{Format, Swizzle, Tensor, TensorMap};
/// # let simulator = gpu_sim::Simulator::default();
/// # let (b, y) = (simulator.alloc(128 * 128)?, simulator.alloc(512)?);
/// # let rows: Vec<u8> = (0..128 * 32_u32).flat_map(|at| ((at / 32) as f32).to_ne_bytes()).collect();
/// # simulator.write(b, &rows)?;
/// # let tensor = Tensor {
/// #     address: b,
/// #     format: Format::U32,
/// #     extents: [32, 128, 1],
/// #     strides: [128, 128 * 128],
/// #     tile: [32, 128, 1],
/// #     swizzle: Swizzle::Bytes128,
/// # };
/// # let launch = LaunchConfig::linear(1, 128).shared(128 * 128 + 8);
/// # // SAFETY: the simulator checks every access.
/// # unsafe { sums::launch(&simulator, launch, TensorMap::simulated(tensor).unwrap(), GlobalMut::from_raw(y)) }?;
/// # let mut bytes = [0; 512];
/// # simulator.read(y, &mut bytes)?;
/// # for (row, sum) in bytes.chunks_exact(4).enumerate() {
/// #     assert_eq!(sum, (32.0 * row as f32).to_ne_bytes());
/// # }
/// # Ok::<(), gpu_sim::Fault>(())
/// ```
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn multiply_add_rows<T: Factor, const B_ACROSS: bool, const WORDS: usize, const SUMS: usize>(
    sums: &mut [u32; SUMS],
    a: [u32; WORDS],
    first: u32,
    b: Shared<T>,
) {
    const { assert!(size_of::<T>() == 2 || !B_ACROSS, "only 16 bits are taken across k") };
    const { assert!(WORDS == 4 || WORDS == 16, "a thread brings 4 words or 16") };
    const { columns(SUMS) };
    backend::multiply_add_rows(T::KIND, B_ACROSS, sums, a, first, b.byte(0));
}

/// The same as [`mma::round_tf32`](crate::mma::round_tf32), but for a NaN, of which some other one may become: one
/// instruction of capability 9.0.
///
/// ```
/// assert_eq!(gpu_std::wgmma::round_tf32(0x3f80_3001), 0x3f80_4000);
/// ```
#[inline(always)]
#[must_use]
pub fn round_tf32(bits: u32) -> u32 {
    backend::round_tf32(bits)
}
