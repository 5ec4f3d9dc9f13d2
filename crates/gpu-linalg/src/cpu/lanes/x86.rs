//! Registers of x86-64.

use core::arch::x86_64::*;

use super::line;
use super::tile::{self, ROWS, SIDE};
use super::{Across, Block, Has, Lanes, TURNED, add_products};

/// [`super::Registers::turn`], with what every such machine has.
#[inline(always)]
pub(super) fn turn_f32(lines: [&[f32; TURNED]; TURNED], to: &mut [f32], step: usize) {
    let to = &mut to[..(TURNED - 1) * step + TURNED];
    // SAFETY: what is read is the lines' and what is written is of `to`, which has so many elements.
    unsafe {
        let [a, b, c, d] = lines.map(|line| _mm_loadu_ps(line.as_ptr()));
        let (low, high) =
            ([_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d)], [_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d)]);
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
        let to = to.as_mut_ptr();
        for column in [0, 2] {
            let [a, b, c, d] = lines.map(|line| _mm_loadu_pd(line.as_ptr().add(column)));
            let to = to.add(column * step);
            _mm_storeu_pd(to, _mm_unpacklo_pd(a, b));
            _mm_storeu_pd(to.add(2), _mm_unpacklo_pd(c, d));
            _mm_storeu_pd(to.add(step), _mm_unpackhi_pd(a, b));
            _mm_storeu_pd(to.add(step + 2), _mm_unpackhi_pd(c, d));
        }
    }
}

/// The even elements of four, of one register and then of another.
const EVEN: i32 = 0b10_00_10_00;
/// The odd ones.
const ODD: i32 = 0b11_01_11_01;

/// All bits of as many elements as are read, from an element on that is said by how many those are.
const MASK_32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
/// The same of elements of 8 bytes.
const MASK_64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];

// The first `len` elements at `values`, and zeros behind them. What masks leave out is not read.
//
// # Safety of each
// The machine has the instructions, there are so many elements, and the register holds as many.
macro_rules! some {
    ($($name:ident: $T:ty, $Register:ident, $features:literal, |$values:ident, $len:ident| $load:expr;)*) => { $(
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn $name($values: *const $T, $len: usize) -> $Register {
            // SAFETY: the caller's promise; masks begin inside their tables.
            unsafe { $load }
        }
    )* };
}

some! {
    some_512_f32: f32, __m512, "avx512f", |values, len| _mm512_maskz_loadu_ps(((1u32 << len) - 1) as u16, values);
    some_512_f64: f64, __m512d, "avx512f", |values, len| _mm512_maskz_loadu_pd(((1u32 << len) - 1) as u8, values);
    some_256_f32: f32, __m256, "avx", |values, len|
        _mm256_maskload_ps(values, _mm256_loadu_si256(MASK_32.as_ptr().add(8 - len).cast()));
    some_256_f64: f64, __m256d, "avx", |values, len|
        _mm256_maskload_pd(values, _mm256_loadu_si256(MASK_64.as_ptr().add(4 - len).cast()));
    some_128_f32: f32, __m128, "avx", |values, len|
        _mm_maskload_ps(values, _mm_loadu_si128(MASK_32.as_ptr().add(8 - len).cast()));
    some_128_f64: f64, __m128d, "avx", |values, len|
        _mm_maskload_pd(values, _mm_loadu_si128(MASK_64.as_ptr().add(4 - len).cast()));
}

// Writes the first `len` elements of a register to `to`: of those of 64 bytes by a mask, others
// by halves, as a masked store takes some kinds of cores ten times as long as another.
//
// # Safety of each
// The machine has the instructions, there are so many elements, and the register holds as many.
macro_rules! stores_of_some {
    ($(
        $name:ident: $T:ty, $Register:ident, $features:literal, |$to:ident, $len:ident, $from:ident| $store:expr;
    )*) => { $(
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn $name($to: *mut $T, $len: usize, $from: $Register) {
            // SAFETY: the caller's promise; masks begin inside their tables.
            unsafe { $store }
        }
    )* };
}

stores_of_some! {
    to_some_512_f32: f32, __m512, "avx512f", |to, len, from|
        _mm512_mask_storeu_ps(to, ((1u32 << len) - 1) as u16, from);
    to_some_512_f64: f64, __m512d, "avx512f", |to, len, from|
        _mm512_mask_storeu_pd(to, ((1u32 << len) - 1) as u8, from);
    to_some_256_f32: f32, __m256, "avx", |to, len, from| {
        let half = _mm256_castps256_ps128(from);
        if len < 4 {
            return to_some_128_f32(to, len, half);
        }
        _mm_storeu_ps(to, half);
        to_some_128_f32(to.add(4), len - 4, _mm256_extractf128_ps::<1>(from));
    };
    to_some_256_f64: f64, __m256d, "avx", |to, len, from| {
        let half = _mm256_castpd256_pd128(from);
        if len < 2 {
            return to_some_128_f64(to, len, half);
        }
        _mm_storeu_pd(to, half);
        to_some_128_f64(to.add(2), len - 2, _mm256_extractf128_pd::<1>(from));
    };
    to_some_128_f32: f32, __m128, "avx", |to, len, from| {
        if len == 4 {
            return _mm_storeu_ps(to, from);
        }
        let (mut to, mut from) = (to, from);
        if len & 2 != 0 {
            to.cast::<i64>().write_unaligned(_mm_cvtsi128_si64(_mm_castps_si128(from)));
            (to, from) = (to.add(2), _mm_movehl_ps(from, from));
        }
        if len & 1 != 0 {
            _mm_store_ss(to, from);
        }
    };
    to_some_128_f64: f64, __m128d, "avx", |to, len, from| {
        if len == 2 {
            _mm_storeu_pd(to, from);
        } else if len == 1 {
            _mm_store_sd(to, from);
        }
    };
}

/// Where as many of some pieces of 16 bytes begin, each as four elements.
///
/// # Panics
/// If one has fewer.
#[inline(always)]
fn first_pieces<T, const N: usize>(pieces: [&[T]; 4]) -> [*const f32; N] {
    let mut first = [core::ptr::null(); N];
    for (first, piece) in first.iter_mut().zip(pieces) {
        assert!(size_of_val(piece) >= 16, "as many elements");
        *first = piece.as_ptr().cast();
    }
    first
}

// Pieces of 16 bytes side by side in a register.
//
// # Safety of each
// The machine has the instructions, and there are 16 bytes at each address.
macro_rules! pieces {
    ($($name:ident: $N:literal, $Register:ident, $features:literal, |$pieces:ident| $load:expr;)*) => { $(
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn $name($pieces: [*const f32; $N]) -> $Register {
            // SAFETY: the caller's promise.
            unsafe { $load }
        }
    )* };
}

pieces! {
    pieces_128_f32: 1, __m128, "avx", |pieces| _mm_loadu_ps(pieces[0]);
    pieces_128_f64: 1, __m128d, "avx", |pieces| _mm_castps_pd(_mm_loadu_ps(pieces[0]));
    pieces_256_f32: 2, __m256, "avx", |pieces| _mm256_insertf128_ps::<1>(
        _mm256_castps128_ps256(_mm_loadu_ps(pieces[0])), _mm_loadu_ps(pieces[1]));
    pieces_256_f64: 2, __m256d, "avx", |pieces| _mm256_castps_pd(pieces_256_f32(pieces));
    pieces_512_f32: 4, __m512, "avx512f", |pieces| {
        let two = _mm512_castps256_ps512(pieces_256_f32([pieces[0], pieces[1]]));
        _mm512_insertf32x4::<3>(_mm512_insertf32x4::<2>(two, _mm_loadu_ps(pieces[2])), _mm_loadu_ps(pieces[3]))
    };
    pieces_512_f64: 4, __m512d, "avx512f", |pieces| _mm512_castps_pd(pieces_512_f32(pieces));
}

macro_rules! registers {
    ($(
        $Register:ident of $T:ty, $LEN:literal: $set:ident, $load:ident, $store:ident,
        $mul_add:ident, $mul:ident, $add:ident, $some:ident, $to_some:ident, $pieces:ident, $even:expr, $odd:expr,
        [$($every:expr),*] $(, $products:path, $line:path, $SUMS:path)?;
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

            $(
                #[inline(always)]
                fn add_products<const M: usize, const N: usize>(
                    has: Has<Self>,
                    lines: Block<'_, $T>,
                    rows: Across<'_, $T, M>,
                    ahead: usize,
                    sums: &mut [[Self; N]; M],
                ) {
                    if const { M != ROWS || N != SIDE } {
                        return add_products(has, lines, rows, ahead, sums);
                    }
                    let (sums, _) = sums.as_flattened_mut().as_chunks_mut::<SIDE>();
                    let sums = sums.first_chunk_mut::<ROWS>().expect("as many rows");
                    // SAFETY: as above, or there would be no such register.
                    unsafe { $products(lines, rows.first(), sums) }
                }

                #[inline(always)]
                fn add_line<const G: usize>(_: Has<Self>, line: &[$T], x: &[$T], sums: &mut [Self; G]) -> bool {
                    let sums = sums.first_chunk_mut::<{ $SUMS }>().filter(|_| G == $SUMS);
                    let Some(sums) = sums else { return false };
                    // SAFETY: as above, or there would be no such register.
                    unsafe { $line(line, x, sums) };
                    true
                }
            )?

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

            #[inline(always)]
            fn load_some(has: Has<Self>, values: &[$T]) -> Self {
                if values.is_empty() {
                    // A load of nothing from where no memory is takes a core a hundred times as long.
                    return Self::splat(has, 0.0);
                }
                // SAFETY: as above; what is read is the slice's, as its length says.
                unsafe { $some(values.as_ptr(), values.len().min($LEN)) }
            }

            #[inline(always)]
            fn store_some(self, values: &mut [$T]) {
                // SAFETY: as above, or there would be no such register; what is written is the slice's, as its length
                // says.
                unsafe { $to_some(values.as_mut_ptr(), values.len().min($LEN), self) }
            }

            #[inline(always)]
            fn load_pieces(_: Has<Self>, pieces: [&[$T]; 4]) -> Self {
                // SAFETY: as above; the pieces have 16 bytes each.
                unsafe { $pieces(first_pieces(pieces)) }
            }

            #[inline(always)]
            fn every(self, place: usize) -> Self {
                let mut at = 0..;
                $(
                    if at.next() == Some(place) {
                        // SAFETY: as above, or there would be no such register.
                        return unsafe { $every(self) };
                    }
                )*
                panic!("16 bytes have no element {place}");
            }

            #[inline(always)]
            fn halves(self, other: Self) -> (Self, Self) {
                // SAFETY: as above, or there would be no such register.
                unsafe { ($even(self, other), $odd(self, other)) }
            }
        }
    )* };
}

registers! {
    __m512 of f32, 16: _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps,
        _mm512_fmadd_ps, _mm512_mul_ps, _mm512_add_ps, some_512_f32, to_some_512_f32, pieces_512_f32,
        _mm512_shuffle_ps::<EVEN>, _mm512_shuffle_ps::<ODD>,
        [_mm512_permute_ps::<0x00>, _mm512_permute_ps::<0x55>, _mm512_permute_ps::<0xaa>, _mm512_permute_ps::<0xff>];
    __m512d of f64, 8: _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd,
        _mm512_fmadd_pd, _mm512_mul_pd, _mm512_add_pd, some_512_f64, to_some_512_f64, pieces_512_f64,
        _mm512_unpacklo_pd, _mm512_unpackhi_pd, [_mm512_permute_pd::<0>, _mm512_permute_pd::<0xff>];
    __m256 of f32, 8: _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps,
        _mm256_fmadd_ps, _mm256_mul_ps, _mm256_add_ps, some_256_f32, to_some_256_f32, pieces_256_f32,
        _mm256_shuffle_ps::<EVEN>, _mm256_shuffle_ps::<ODD>,
        [_mm256_permute_ps::<0x00>, _mm256_permute_ps::<0x55>, _mm256_permute_ps::<0xaa>, _mm256_permute_ps::<0xff>],
        tile::products_f32, line::add_f32, line::SUMS_F32;
    __m256d of f64, 4: _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd,
        _mm256_fmadd_pd, _mm256_mul_pd, _mm256_add_pd, some_256_f64, to_some_256_f64, pieces_256_f64,
        _mm256_unpacklo_pd, _mm256_unpackhi_pd, [_mm256_permute_pd::<0>, _mm256_permute_pd::<0xf>],
        tile::products_f64, line::add_f64, line::SUMS_F64;
    __m128 of f32, 4: _mm_set1_ps, _mm_loadu_ps, _mm_storeu_ps,
        _mm_fmadd_ps, _mm_mul_ps, _mm_add_ps, some_128_f32, to_some_128_f32, pieces_128_f32,
        _mm_shuffle_ps::<EVEN>, _mm_shuffle_ps::<ODD>,
        [_mm_permute_ps::<0x00>, _mm_permute_ps::<0x55>, _mm_permute_ps::<0xaa>, _mm_permute_ps::<0xff>];
    __m128d of f64, 2: _mm_set1_pd, _mm_loadu_pd, _mm_storeu_pd,
        _mm_fmadd_pd, _mm_mul_pd, _mm_add_pd, some_128_f64, to_some_128_f64, pieces_128_f64,
        _mm_unpacklo_pd, _mm_unpackhi_pd, [_mm_permute_pd::<0>, _mm_permute_pd::<0x3>];
}
