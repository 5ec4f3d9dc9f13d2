//! Vectors as registers of the machine's instructions, for the tiles of products, where the compiler left to itself
//! takes vectors along the wrong extent: with tiles of 12 × 16 `f32` it gathered, and 100³ took eight times as long.

use core::marker::PhantomData;

use gpu_std::float::Float;

/// Says that the machine has the instructions of a kind of register: without it there is no such register.
pub struct Has<V>(PhantomData<V>);

impl<V> Has<V> {
    /// # Safety
    /// The machine has them.
    pub unsafe fn new() -> Self {
        Self(PhantomData)
    }
}

impl<V> Clone for Has<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Has<V> {}

/// A register of some elements. In functions that are not compiled for its instructions it is right, and slow.
pub trait Lanes<T>: Copy {
    /// Elements of it.
    const LEN: usize;

    /// As many times `value`.
    fn splat(has: Has<Self>, value: T) -> Self;

    /// The first elements of `values`.
    ///
    /// # Panics
    /// If there are fewer.
    fn load(has: Has<Self>, values: &[T]) -> Self;

    /// Writes the first elements of `values`.
    ///
    /// # Panics
    /// If there are fewer.
    fn store(self, values: &mut [T]);

    /// `a · self + sum`, rounded once.
    fn mul_add(self, a: Self, sum: Self) -> Self;

    /// The product.
    fn times(self, other: Self) -> Self;

    /// The sum.
    fn plus(self, other: Self) -> Self;
}

/// Lines of a block that is turned, and elements of each.
pub const TURNED: usize = 4;

/// A type that registers hold.
pub trait Registers: Float {
    /// Writes the transpose of a block of [`TURNED`] lines to `to`, whose lines are `step` elements apart.
    ///
    /// # Panics
    /// If the memory ends before.
    #[inline(always)]
    fn turn(lines: [&[Self; TURNED]; TURNED], to: &mut [Self], step: usize) {
        for column in 0..TURNED {
            for (line, to) in lines.iter().zip(&mut to[column * step..][..TURNED]) {
                *to = line[column];
            }
        }
    }

    /// Of 64 bytes.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Lanes<Self>;
    /// Of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Self>;
}

impl Registers for f32 {
    #[cfg(target_arch = "x86_64")]
    type Avx512 = core::arch::x86_64::__m512;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = core::arch::x86_64::__m256;

    // Element by element a core takes three times as long.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn turn(lines: [&[Self; TURNED]; TURNED], to: &mut [Self], step: usize) {
        x86::turn_f32(lines, to, step);
    }
}

impl Registers for f64 {
    #[cfg(target_arch = "x86_64")]
    type Avx512 = core::arch::x86_64::__m512d;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = core::arch::x86_64::__m256d;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn turn(lines: [&[Self; TURNED]; TURNED], to: &mut [Self], step: usize) {
        x86::turn_f64(lines, to, step);
    }
}

/// Four elements, whatever the machine.
#[derive(Clone, Copy)]
pub(super) struct Portable<T>([T; 4]);

impl<T> Portable<T> {
    /// Every machine has what this takes.
    pub(super) const HAS: Has<Self> = Has(PhantomData);
}

impl<T: Float> Lanes<T> for Portable<T> {
    const LEN: usize = 4;

    #[inline(always)]
    fn splat(_: Has<Self>, value: T) -> Self {
        Self([value; 4])
    }

    #[inline(always)]
    fn load(_: Has<Self>, values: &[T]) -> Self {
        Self(*values.first_chunk().expect("as many elements"))
    }

    #[inline(always)]
    fn store(self, values: &mut [T]) {
        *values.first_chunk_mut().expect("as many elements") = self.0;
    }

    #[inline(always)]
    fn mul_add(self, a: Self, sum: Self) -> Self {
        Self(core::array::from_fn(|lane| a.0[lane].mul_add(self.0[lane], sum.0[lane])))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self(core::array::from_fn(|lane| self.0[lane] * other.0[lane]))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(core::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }
}

/// Registers of x86-64.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    use super::{Has, Lanes, TURNED};

    /// [`super::Registers::turn`], with what every such machine has.
    #[inline(always)]
    pub(super) fn turn_f32(lines: [&[f32; TURNED]; TURNED], to: &mut [f32], step: usize) {
        let to = &mut to[..(TURNED - 1) * step + TURNED];
        // SAFETY: what is read is the lines' and what is written is of `to`, which has so many elements.
        unsafe {
            let [a, b, c, d] = lines.map(|line| _mm_loadu_ps(line.as_ptr()));
            let (low, high) = (
                [_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d)],
                [_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d)],
            );
            let to = to.as_mut_ptr();
            _mm_storeu_ps(to, _mm_movelh_ps(low[0], low[1]));
            _mm_storeu_ps(to.add(step), _mm_movehl_ps(low[1], low[0]));
            _mm_storeu_ps(to.add(2 * step), _mm_movelh_ps(high[0], high[1]));
            _mm_storeu_ps(to.add(3 * step), _mm_movehl_ps(high[1], high[0]));
        }
    }

    /// [`super::Registers::turn`], with what every such machine has.
    #[inline(always)]
    pub(super) fn turn_f64(lines: [&[f64; TURNED]; TURNED], to: &mut [f64], step: usize) {
        let to = &mut to[..(TURNED - 1) * step + TURNED];
        // SAFETY: what is read is the lines' and what is written is of `to`, which has so many elements.
        unsafe {
            for pair in [0, 2] {
                for column in [0, 2] {
                    let a = _mm_loadu_pd(lines[pair].as_ptr().add(column));
                    let b = _mm_loadu_pd(lines[pair + 1].as_ptr().add(column));
                    let to = to.as_mut_ptr().add(column * step + pair);
                    _mm_storeu_pd(to, _mm_unpacklo_pd(a, b));
                    _mm_storeu_pd(to.add(step), _mm_unpackhi_pd(a, b));
                }
            }
        }
    }

    macro_rules! registers {
        ($(
            $Register:ident of $T:ty, $LEN:literal: $set:ident, $load:ident, $store:ident,
            $mul_add:ident, $mul:ident, $add:ident;
        )*) => { $(
            impl Lanes<$T> for $Register {
                const LEN: usize = $LEN;

                #[inline(always)]
                fn splat(_: Has<Self>, value: $T) -> Self {
                    // SAFETY: the machine has these instructions, as `Has` says.
                    unsafe { $set(value) }
                }

                #[inline(always)]
                fn load(_: Has<Self>, values: &[$T]) -> Self {
                    let values: &[$T; $LEN] = values.first_chunk().expect("as many elements");
                    // SAFETY: as above; all that is read is the array's.
                    unsafe { $load(values.as_ptr()) }
                }

                #[inline(always)]
                fn store(self, values: &mut [$T]) {
                    let values: &mut [$T; $LEN] = values.first_chunk_mut().expect("as many elements");
                    // SAFETY: as above; all that is written is the array's.
                    unsafe { $store(values.as_mut_ptr(), self) }
                }

                #[inline(always)]
                fn mul_add(self, a: Self, sum: Self) -> Self {
                    // SAFETY: as above, or there would be no such register.
                    unsafe { $mul_add(a, self, sum) }
                }

                #[inline(always)]
                fn times(self, other: Self) -> Self {
                    // SAFETY: as above, or there would be no such register.
                    unsafe { $mul(self, other) }
                }

                #[inline(always)]
                fn plus(self, other: Self) -> Self {
                    // SAFETY: as above, or there would be no such register.
                    unsafe { $add(self, other) }
                }
            }
        )* };
    }

    registers! {
        __m512 of f32, 16: _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps,
            _mm512_fmadd_ps, _mm512_mul_ps, _mm512_add_ps;
        __m512d of f64, 8: _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd,
            _mm512_fmadd_pd, _mm512_mul_pd, _mm512_add_pd;
        __m256 of f32, 8: _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps,
            _mm256_fmadd_ps, _mm256_mul_ps, _mm256_add_ps;
        __m256d of f64, 4: _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd,
            _mm256_fmadd_pd, _mm256_mul_pd, _mm256_add_pd;
    }
}
