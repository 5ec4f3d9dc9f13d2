//! What the types of factors are to the kernels: how tiles are multiplied, and what a sum becomes.

use gpu_std::half::{Float16, bf16, f16};
use gpu_std::memory::{Element, GlobalMut, Shared};
use gpu_std::mma::{Half, pack};
use gpu_std::{device, opaque, unroll, wgmma};

use crate::rows::{self, Classes};
use crate::warps::A_BYTES;

/// A type of factors, as what a sum can become.
pub trait Output: wgmma::Factor {
    /// The sums' type, and that of `alpha` and `beta`.
    type Scale: Element;

    /// Whether C may be of this type and not of the sums'.
    const NARROWS: bool;

    /// Whether tiles of A, and of B, may be contiguous across `k`.
    const ACROSS: [bool; 2];

    /// Whether lines of A may be in classes, as `rows.rs` has them.
    const CLASSES: bool;

    /// Adds the product of two tiles in shared memory to the sums of warpgroup `group`, which has its part of A's rows.
    fn multiply<const A_ACROSS: bool, const B_ACROSS: bool, const IN_CLASSES: bool, const SUMS: usize>(
        sums: &mut [u32; SUMS],
        a: Shared<Self>,
        b: Shared<Self>,
        group: u32,
        classes: Classes,
    );

    /// The sum of two parts of a sum.
    fn add(a: Self::Scale, b: Self::Scale) -> Self::Scale;

    /// What leaves a sum as it is.
    const ONE: Self::Scale;

    /// The bits of a sum.
    fn bits(sum: Self::Scale) -> u32;

    /// The sum of these bits.
    fn of_bits(bits: u32) -> Self::Scale;

    /// `alpha · sum`, of a sum's bits.
    fn times(sum: u32, alpha: Self::Scale) -> Self::Scale;

    /// Writes neighbours, rounded, four with one access.
    fn write_rounded<const V: usize>(c: GlobalMut<Self>, values: [Self::Scale; V]);

    /// `alpha · sum + beta · old`, of a sum's bits; `old` is not asked for where `beta` is zero.
    fn scaled(
        sum: u32,
        alpha: Self::Scale,
        beta: Self::Scale,
        old: impl FnOnce() -> Self::Scale,
    ) -> Self::Scale;

    /// Two sums, scaled and rounded, in a word. Not asked for where C is never of this type.
    fn pack(sums: [u32; 2], alpha: Self::Scale) -> u32;

    /// Whether C is read: not where `beta` is zero.
    fn reads(beta: Self::Scale) -> bool;

    /// Rounded.
    fn narrow(value: Self::Scale) -> Self;

    /// Exactly.
    fn widen(self) -> Self::Scale;
}

/// What all with sums of `f32` have.
macro_rules! floats {
    ($(
        $T:ty: $narrows:literal $across:expr, $classes:literal,
        |$sums:ident, $a:ident, $b:ident, $group:ident, $of:ident| <$A:ident, $B:ident, $C:ident> $multiply:expr,
        $write:expr, $pack:expr, $narrow:expr, $widen:expr;
    )*) => { $(
        impl Output for $T {
            type Scale = f32;
            const NARROWS: bool = $narrows;
            const ACROSS: [bool; 2] = $across;
            const CLASSES: bool = $classes;

            #[device]
            #[inline(always)]
            fn multiply<const $A: bool, const $B: bool, const $C: bool, const SUMS: usize>(
                $sums: &mut [u32; SUMS],
                $a: Shared<Self>,
                $b: Shared<Self>,
                $group: u32,
                $of: Classes,
            ) {
                $multiply;
            }

            #[inline(always)]
            fn add(a: f32, b: f32) -> f32 {
                a + b
            }

            const ONE: f32 = 1.0;

            #[inline(always)]
            fn bits(sum: f32) -> u32 {
                sum.to_bits()
            }

            #[inline(always)]
            fn of_bits(bits: u32) -> f32 {
                f32::from_bits(bits)
            }

            #[inline(always)]
            fn times(sum: u32, alpha: f32) -> f32 {
                alpha * f32::from_bits(sum)
            }

            #[device]
            #[inline(always)]
            fn write_rounded<const V: usize>(c: GlobalMut<Self>, values: [f32; V]) {
                $write(c, values);
            }

            #[device]
            #[inline(always)]
            fn scaled(sum: u32, alpha: f32, beta: f32, old: impl FnOnce() -> f32) -> f32 {
                let product = Self::times(sum, alpha);
                if beta == 0.0 { product } else { gpu_std::float::mul_add(beta, old(), product) }
            }

            #[device]
            #[inline(always)]
            fn pack(sums: [u32; 2], alpha: f32) -> u32 {
                $pack(sums.map(|sum| Self::times(sum, alpha)))
            }

            #[inline(always)]
            fn reads(beta: f32) -> bool {
                beta != 0.0
            }

            #[inline(always)]
            fn narrow(value: f32) -> Self {
                $narrow(value)
            }

            #[inline(always)]
            fn widen(self) -> f32 {
                $widen(self)
            }
        }
    )* };
}
floats! {
    bf16: true [true; 2], false,
        |sums, a, b, group, _of| <A, B, _C> wgmma::multiply_add::<bf16, A, B, SUMS>(sums, rows_of(a, group), b),
        write_halves, pack_halves::<bf16>, Float16::narrow, Float16::widen;
    f16: true [true; 2], false,
        |sums, a, b, group, _of| <A, B, _C> wgmma::multiply_add::<f16, A, B, SUMS>(sums, rows_of(a, group), b),
        write_halves, pack_halves::<f16>, Float16::narrow, Float16::widen;
    // As tf32: A is rounded on its way, B was where it was copied into lines along `k`.
    f32: false [true, false], true,
        |sums, a, b, _group, of| <A, _B, C> rows::multiply::<A, C, SUMS>(sums, a, b, of),
        write_floats, never_packed, core::convert::identity, core::convert::identity;
}

/// A warpgroup's rows of a tile of A, which are one after the other, whether along `k` or in a box of their own.
#[inline(always)]
fn rows_of<T: Element>(tile: Shared<T>, group: u32) -> Shared<T> {
    tile.offset(group * const { A_BYTES / 2 / size_of::<T>() as u32 })
}

/// Sums of `i32`, which wrap. Tiles are contiguous along `k`, and C is of the sums' type.
impl Output for i8 {
    type Scale = i32;
    const NARROWS: bool = false;
    const ACROSS: [bool; 2] = [false; 2];
    const CLASSES: bool = false;

    #[device]
    #[inline(always)]
    fn multiply<const A_ACROSS: bool, const B_ACROSS: bool, const IN_CLASSES: bool, const SUMS: usize>(
        sums: &mut [u32; SUMS],
        a: Shared<Self>,
        b: Shared<Self>,
        group: u32,
        _classes: Classes,
    ) {
        wgmma::multiply_add::<i8, false, false, SUMS>(sums, rows_of(a, group), b);
    }

    #[inline(always)]
    fn add(a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    const ONE: i32 = 1;

    #[inline(always)]
    fn bits(sum: i32) -> u32 {
        sum.cast_unsigned()
    }

    #[inline(always)]
    fn of_bits(bits: u32) -> i32 {
        bits.cast_signed()
    }

    #[inline(always)]
    fn times(sum: u32, alpha: i32) -> i32 {
        alpha.wrapping_mul(sum.cast_signed())
    }

    #[device]
    #[inline(always)]
    fn write_rounded<const V: usize>(c: GlobalMut<Self>, values: [i32; V]) {
        c.cast::<i32>().write_vec(0, values);
    }

    #[device]
    #[inline(always)]
    fn scaled(sum: u32, alpha: i32, beta: i32, old: impl FnOnce() -> i32) -> i32 {
        let product = Self::times(sum, alpha);
        // What is known of beta would be used before, for four products of C in registers of their own.
        let factor = opaque(beta.cast_unsigned()).cast_signed();
        if beta == 0 { product } else { factor.wrapping_mul(old()).wrapping_add(product) }
    }

    #[inline(always)]
    fn pack(sums: [u32; 2], alpha: i32) -> u32 {
        Self::times(sums[0], alpha).cast_unsigned()
    }

    #[inline(always)]
    fn reads(beta: i32) -> bool {
        beta != 0
    }

    /// Not asked for: C is never of `i8`.
    #[inline(always)]
    fn narrow(value: i32) -> Self {
        value as i8
    }

    #[inline(always)]
    fn widen(self) -> i32 {
        i32::from(self)
    }
}

#[device]
#[inline(always)]
fn write_halves<T: Half + Output<Scale = f32>, const V: usize>(c: GlobalMut<T>, values: [f32; V]) {
    if const { V == 4 } {
        c.cast::<u32>().write_vec(0, [0, 2].map(|at| pack::<T>(values[at % V], values[(at + 1) % V])));
    } else {
        unroll::<V>(|at| c.write(at as u32, T::narrow(values[at])));
    }
}

#[device]
#[inline(always)]
fn pack_halves<T: Half>([a, b]: [f32; 2]) -> u32 {
    pack::<T>(a, b)
}

/// A C of `f32` is one of sums, of which no two are a word.
fn never_packed([a, _]: [f32; 2]) -> u32 {
    a.to_bits()
}

#[device]
#[inline(always)]
fn write_floats<const V: usize>(c: GlobalMut<f32>, values: [f32; V]) {
    c.write_vec(0, values);
}
