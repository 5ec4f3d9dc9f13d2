//! What becomes of the sums: `alpha · sum + beta · C`, in the type of the sums or in that of the factors.
//!
//! A warp's 16 rows go through shared memory, 32 columns at a time, so that a thread has four neighbours and a row's
//! lanes write whole sectors.

use gpu_std::half::{bf16, f16};
use gpu_std::memory::{Element, GlobalMut, Shared};
use gpu_std::{device, rolled, unroll, warp, wgmma};

use crate::place::{Place, Product};

/// Columns that go through shared memory at a time.
pub(crate) const STEP: u32 = 32;
/// Words from row to row there: a row's pairs and its fours lie in different banks.
const PITCH: u32 = STEP + 8;
/// Words of shared memory of a warp.
pub(crate) const STAGING: u32 = 16 * PITCH;

/// A type of factors, as what a sum can become.
pub trait Output: wgmma::Factor {
    /// The sums' type, and that of `alpha` and `beta`.
    type Scale: Element;

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

macro_rules! halves {
    ($($T:ty)*) => { $(
        impl Output for $T {
            type Scale = f32;

            #[device]
            #[inline(always)]
            fn scaled(sum: u32, alpha: f32, beta: f32, old: impl FnOnce() -> f32) -> f32 {
                let product = alpha * f32::from_bits(sum);
                if beta == 0.0 { product } else { gpu_std::float::mul_add(beta, old(), product) }
            }

            #[inline(always)]
            fn reads(beta: f32) -> bool {
                beta != 0.0
            }

            #[inline(always)]
            fn narrow(value: f32) -> Self {
                <$T>::from_f32(value)
            }

            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }
        }
    )* };
}
halves!(bf16 f16);

/// Writes a warp's sums to C, 16 × 32 at a time, the first from an element of a matrix on, the next ones so many rows and
/// columns further.
#[device]
#[inline(always)]
pub(crate) fn tile<T: Output, const STEPS: usize, const SUMS: usize>(
    sums: &[u32; SUMS],
    staging: Shared<u32>,
    c: GlobalMut<T>,
    product: &Product,
    (Place { row, column, matrix }, [down, right]): (Place, [u32; 2]),
    alpha: T::Scale,
    beta: T::Scale,
) {
    const { assert!(SUMS == 16 * STEPS) };
    let lane = warp::lane_id();
    let own = staging.offset(lane / 4 * PITCH + lane % 4 * 2);
    let mut step = 0;
    while step < STEPS as u32 {
        step = rolled(step);
        let (row, column) = (row + step * down, column + step * right);
        if column < product.n {
            // Registers have no index: each step has its own code, up to here.
            unroll::<STEPS>(|this| {
                if this as u32 == step {
                    unroll::<4>(|eight| {
                        let [first, second, third, fourth] =
                            [0, 1, 2, 3].map(|at| sums[this * 16 + eight * 4 + at]);
                        own.write_vec(eight as u32 * 8, [first, second]);
                        own.write_vec(eight as u32 * 8 + 8 * PITCH, [third, fourth]);
                    });
                }
            });
            warp::sync_warp(warp::FULL);
            let mut at = 0;
            while at < 4 {
                at = rolled(at);
                let (line, place) = (at * 4 + lane / 8, lane % 8 * 4);
                let (row, column) = (row + line, column + place);
                if row < product.m && column < product.n {
                    let sums = staging.read_vec::<4>(line * PITCH + place);
                    let start = u64::from(matrix) * product.c_batch
                        + u64::from(row) * product.c_leading
                        + u64::from(column);
                    let left = product.n - column;
                    let left = (left, product.vectors != 0 && left >= 4);
                    if product.narrow != 0 {
                        four::<T, T>(sums, c.offset(start), left, (alpha, beta), T::widen, T::narrow);
                    } else {
                        let c = c.cast::<T::Scale>().offset(start);
                        four::<T, T::Scale>(sums, c, left, (alpha, beta), |old| old, |new| new);
                    }
                }
                at += 1;
            }
            warp::sync_warp(warp::FULL);
        }
        step += 1;
    }
}

/// Writes at most four neighbours, `left` of them.
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
