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
