//! What becomes of the sums: `alpha · sum + beta · C`, in the type of the sums or in that of the factors.
//!
//! The tensor cores leave a lane two neighbours of a row, of each eight columns. Pairs of lanes exchange two of theirs, so that each has
//! four, and a row's lanes write whole sectors.

use gpu_std::half::{bf16, f16};
use gpu_std::memory::{Element, GlobalMut, Shared};
use gpu_std::mma::{Half, pack};
use gpu_std::{device, opaque, rolled, unroll, warp, wgmma};

use crate::place::{Place, Product};

/// Columns that are written at a time.
pub(crate) const STEP: u32 = 16;

/// A type of factors, as what a sum can become.
pub trait Output: wgmma::Factor {
    /// The sums' type, and that of `alpha` and `beta`.
    type Scale: Element;

    /// Whether C may be of this type and not of the sums'.
    const NARROWS: bool;

    /// Adds the product of two tiles in shared memory to the sums of a warpgroup.
    fn multiply<const A_ACROSS: bool, const B_ACROSS: bool, const SUMS: usize>(
        sums: &mut [u32; SUMS],
        a: Shared<Self>,
        b: Shared<Self>,
    );

    /// The sum of two parts of a sum.
    fn add(a: Self::Scale, b: Self::Scale) -> Self::Scale;

    /// The bits of a sum.
    fn bits(sum: Self::Scale) -> u32;

    /// `alpha · sum`, of a sum's bits.
    fn times(sum: u32, alpha: Self::Scale) -> Self::Scale;

    /// Writes four neighbours, rounded, with one access.
    fn write_four(c: GlobalMut<Self>, values: [Self::Scale; 4]);

    /// `alpha · sum + beta · old`, of a sum's bits; `old` is not asked for where `beta` is zero.
    fn scaled(
        sum: u32,
        alpha: Self::Scale,
        beta: Self::Scale,
        old: impl FnOnce() -> Self::Scale,
    ) -> Self::Scale;

    /// Whether C is read: not where `beta` is zero.
    fn reads(beta: Self::Scale) -> bool;

    /// Rounded.
    fn narrow(value: Self::Scale) -> Self;

    /// Exactly.
    fn widen(self) -> Self::Scale;
}

/// What all with sums of `f32` have.
macro_rules! floats {
    ($($T:ty: $narrows:literal |$a:ident, $b:ident| $across:tt, $write_four:expr, $narrow:expr, $widen:expr;)*) => { $(
        impl Output for $T {
            type Scale = f32;
            const NARROWS: bool = $narrows;

            #[device]
            #[inline(always)]
            fn multiply<const $a: bool, const $b: bool, const SUMS: usize>(
                sums: &mut [u32; SUMS],
                a: Shared<Self>,
                b: Shared<Self>,
            ) {
                floats!(@multiply $T, $across)(sums, a, b);
            }

            #[inline(always)]
            fn add(a: f32, b: f32) -> f32 {
                a + b
            }

            #[inline(always)]
            fn bits(sum: f32) -> u32 {
                sum.to_bits()
            }

            #[inline(always)]
            fn times(sum: u32, alpha: f32) -> f32 {
                alpha * f32::from_bits(sum)
            }

            #[device]
            #[inline(always)]
            fn write_four(c: GlobalMut<Self>, values: [f32; 4]) {
                $write_four(c, values);
            }

            #[device]
            #[inline(always)]
            fn scaled(sum: u32, alpha: f32, beta: f32, old: impl FnOnce() -> f32) -> f32 {
                let product = Self::times(sum, alpha);
                if beta == 0.0 { product } else { gpu_std::float::mul_add(beta, old(), product) }
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
    (@multiply $T:ty, [$a:tt $b:tt]) => { wgmma::multiply_add::<$T, $a, $b, SUMS> };
}
floats! {
    bf16: true |A, B| [A B], write_halves, bf16::from_f32, bf16::to_f32;
    f16: true |A, B| [A B], write_halves, f16::from_f32, f16::to_f32;
    // As tf32, whose tiles are contiguous along `k`.
    f32: false |_A, _B| [false false], write_floats, core::convert::identity, core::convert::identity;
}

/// Sums of `i32`, which wrap. Tiles are contiguous along `k`, and C is of the sums' type.
impl Output for i8 {
    type Scale = i32;
    const NARROWS: bool = false;

    #[device]
    #[inline(always)]
    fn multiply<const A_ACROSS: bool, const B_ACROSS: bool, const SUMS: usize>(
        sums: &mut [u32; SUMS],
        a: Shared<Self>,
        b: Shared<Self>,
    ) {
        wgmma::multiply_add::<i8, false, false, SUMS>(sums, a, b);
    }

    #[inline(always)]
    fn add(a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn bits(sum: i32) -> u32 {
        sum.cast_unsigned()
    }

    #[inline(always)]
    fn times(sum: u32, alpha: i32) -> i32 {
        alpha.wrapping_mul(sum.cast_signed())
    }

    #[device]
    #[inline(always)]
    fn write_four(c: GlobalMut<Self>, values: [i32; 4]) {
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
fn write_halves<T: Half>(c: GlobalMut<T>, [a, b, d, e]: [f32; 4]) {
    c.cast::<u32>().write_vec(0, [pack::<T>(a, b), pack::<T>(d, e)]);
}

#[device]
#[inline(always)]
fn write_floats(c: GlobalMut<f32>, values: [f32; 4]) {
    c.write_vec(0, values);
}

/// Writes a warp's sums to C, 16 × 16 at a time, each part so many rows and columns from an element of a matrix.
#[device]
#[inline(always)]
pub(crate) fn tile<T: Output, const STEPS: usize, const SUMS: usize>(
    sums: &[u32; SUMS],
    c: GlobalMut<T>,
    product: &Product,
    Place { row, column, matrix }: Place,
    part: impl Fn(u32) -> [u32; 2],
    alpha: T::Scale,
    beta: T::Scale,
) {
    const { assert!(SUMS == 8 * STEPS) };
    let lane = warp::lane_id();
    let odd = !lane.is_multiple_of(2);
    // Of 16 columns a lane with an even number keeps four of the first eight, the other four of the second.
    let (line, place) = (lane / 4, lane % 4 / 2 * 4 + lane % 2 * 8);
    let (row, column) = (row + line, column + place);
    let first = u64::from(matrix) * product.c_batch + u64::from(row) * product.c_leading + u64::from(column);
    let mut step = 0;
    while step < STEPS as u32 {
        step = rolled(step);
        // Registers have no index: each step has its own code, up to here.
        let mut own = [0; 8];
        unroll::<STEPS>(|this| {
            if this as u32 == step {
                unroll::<8>(|at| own[at] = sums[this * 8 + at]);
            }
        });
        let [down, right] = part(step);
        let (row, column) = (row + down, column + right);
        let start = first + u64::from(down) * product.c_leading + u64::from(right);
        // Four neighbours at once, and none of them outside.
        let whole = product.vectors != 0 && !T::reads(beta) && row + 8 < product.m && column + 4 <= product.n;
        unroll::<2>(|half| {
            let of = |block: usize| [0, 1].map(|which| own[block * 4 + half * 2 + which]);
            let (mine, other) = if odd { (of(1), of(0)) } else { (of(0), of(1)) };
            let got = other.map(|sum| warp::shuffle_xor(warp::FULL, sum, 1));
            let [a, b] = if odd { [got, mine] } else { [mine, got] };
            let sums = [a[0], a[1], b[0], b[1]];
            let start = start + 8 * half as u64 * product.c_leading;
            let row = row + 8 * half as u32;
            if whole {
                let values = sums.map(|sum| T::times(sum, alpha));
                if T::NARROWS && product.narrow != 0 {
                    T::write_four(c.offset(start), values);
                } else {
                    c.cast::<T::Scale>().offset(start).write_vec(0, values);
                }
            } else if row < product.m && column < product.n {
                edge(sums, c, start, product, product.n - column, (alpha, beta));
            }
        });
        step += 1;
    }
}

/// Writes at most four neighbours, `left` of them, or updates them.
#[device]
#[inline(always)]
fn edge<T: Output>(
    sums: [u32; 4],
    c: GlobalMut<T>,
    start: u64,
    product: &Product,
    left: u32,
    scales: (T::Scale, T::Scale),
) {
    let left = (left, product.vectors != 0 && left >= 4);
    if T::NARROWS && product.narrow != 0 {
        four::<T, T>(sums, c.offset(start), left, scales, T::widen, T::narrow);
    } else {
        let c = c.cast::<T::Scale>().offset(start);
        four::<T, T::Scale>(sums, c, left, scales, |old| old, |new| new);
    }
}

/// The same in the type of C.
#[device]
#[inline(always)]
fn four<T: Output, C: Element>(
    sums: [u32; 4],
    c: GlobalMut<C>,
    (left, vectors): (u32, bool),
    (alpha, beta): (T::Scale, T::Scale),
    widen: impl Fn(C) -> T::Scale,
    narrow: impl Fn(T::Scale) -> C,
) {
    if vectors {
        let mut values = [C::default(); 4];
        if T::reads(beta) {
            values = c.as_global().read_vec::<4>(0);
        }
        unroll::<4>(|at| values[at] = narrow(T::scaled(sums[at], alpha, beta, || widen(values[at]))));
        c.write_vec(0, values);
    } else {
        unroll::<4>(|at| {
            let index = at as u32;
            if index < left {
                c.write(index, narrow(T::scaled(sums[at], alpha, beta, || widen(c.as_global().read(index)))));
            }
        });
    }
}
