//! What becomes of the sums: `alpha · sum + beta · C`, in the type of the sums or in that of the factors.
//!
//! The tensor cores leave a lane two neighbours of a row, of each eight columns. They go through shared memory,
//! eight rows of a warp at a time, from where its lanes write neighbours: whole lines of the L2, four elements a
//! lane, or one where C is not aligned.

use gpu_std::half::{bf16, f16};
use gpu_std::memory::{Element, GlobalMut, Shared};
use gpu_std::mma::{Half, pack};
use gpu_std::{device, opaque, rolled, unroll, warp, wgmma};

use crate::epilogue::Epilogue;
use crate::place::{Place, Product};

/// Words of shared memory for a warp that writes `8 * blocks` columns at a time. Lines of eight rows are padded so
/// that what half a warp writes falls into different banks.
pub(crate) const fn staging(blocks: usize) -> u32 {
    8 * pitch(blocks)
}

const fn pitch(blocks: usize) -> u32 {
    8 * blocks as u32 + 8
}

/// Words of shared memory for a warp that writes whole lines: 16 rows of 256 bytes, padded by a vector.
pub(crate) const WHOLE_STAGING: u32 = 16 * WHOLE_PITCH;
const WHOLE_PITCH: u32 = 64 + 4;

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
        $T:ty: $narrows:literal |$a:ident, $b:ident| $across:tt,
        $write:expr, $pack:expr, $narrow:expr, $widen:expr;
    )*) => { $(
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
    (@multiply $T:ty, [$a:tt $b:tt]) => { wgmma::multiply_add::<$T, $a, $b, SUMS> };
}
floats! {
    bf16: true |A, B| [A B], write_halves, pack_halves::<bf16>, bf16::from_f32, bf16::to_f32;
    f16: true |A, B| [A B], write_halves, pack_halves::<f16>, f16::from_f32, f16::to_f32;
    // As tf32, whose tiles are contiguous along `k`.
    f32: false |_A, _B| [false false], write_floats, never_packed, core::convert::identity, core::convert::identity;
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

/// Where a warp's sums go, and what becomes of them.
pub(crate) struct Target<'a, T: Output> {
    pub c: GlobalMut<T>,
    pub product: &'a Product,
    pub alpha: T::Scale,
    pub beta: T::Scale,
    /// The warp's [`staging`].
    pub staging: Shared<u32>,
}

impl<T: Output> Target<'_, T> {
    /// Writes a warp's sums to C, 8 rows and `8 * BLOCKS` columns at a time: the two halves of `PARTS / 2` strips of 16
    /// rows, each strip so many rows and columns from `place`.
    #[device]
    #[inline(always)]
    pub(crate) fn write<E: Epilogue<T::Scale>, const BLOCKS: usize, const PARTS: usize, const SUMS: usize>(
        &self,
        sums: &[u32; SUMS],
        Place { row, column, matrix }: Place,
        epilogue: E,
        strip: impl Fn(u32) -> [u32; 2],
    ) {
        const { assert!(SUMS == 2 * BLOCKS * PARTS) };
        let lane = warp::lane_id();
        let own = lane / 4 * pitch(BLOCKS) + lane % 4 * 2;
        let mut part = 0;
        while part < PARTS as u32 {
            part = rolled(part);
            // Registers have no index: each part has its own code, up to here.
            let mut pairs = [[0; 2]; BLOCKS];
            unroll::<PARTS>(|this| {
                if this as u32 == part {
                    unroll::<BLOCKS>(|block| {
                        let at = (this / 2 * BLOCKS + block) * 4 + this % 2 * 2;
                        pairs[block] = [sums[at], sums[at + 1]];
                    });
                }
            });
            // What was there has been read, and what is there then has been written.
            warp::sync_warp(warp::FULL);
            unroll::<BLOCKS>(|block| self.staging.write_vec(own + 8 * block as u32, pairs[block]));
            warp::sync_warp(warp::FULL);
            let [down, right] = strip(part / 2);
            let place = [row + down + part % 2 * 8, column + right];
            let mut pass = 0;
            while pass < const { BLOCKS as u32 / 2 } {
                pass = rolled(pass);
                self.pass::<E, BLOCKS>(pass, place, matrix, epilogue);
                pass += 1;
            }
            part += 1;
        }
    }

    /// Writes a warp's 16 rows of `SUMS * 2` columns to a C whose elements are accessed 16 bytes at a time and not
    /// read, 256 bytes of each row together.
    #[device]
    #[inline(always)]
    pub(crate) fn write_whole<const WIDE: usize, const NARROW: usize, const SUMS: usize>(
        &self,
        sums: &[u32; SUMS],
        place: Place,
    ) {
        if T::NARROWS && self.product.narrow != 0 {
            self.lines::<NARROW, 16, 1, SUMS>(sums, place, |sums| [T::pack(sums, self.alpha)]);
        } else {
            self.lines::<WIDE, 8, 2, SUMS>(sums, place, |sums| {
                sums.map(|sum| T::bits(T::times(sum, self.alpha)))
            });
        }
    }

    /// The same in `CHUNKS` parts of `BLOCKS` blocks of eight columns; two elements of C are `WORDS` words.
    #[device]
    #[inline(always)]
    fn lines<const CHUNKS: usize, const BLOCKS: usize, const WORDS: usize, const SUMS: usize>(
        &self,
        sums: &[u32; SUMS],
        Place { row, column, matrix }: Place,
        pack: impl Fn([u32; 2]) -> [u32; WORDS],
    ) {
        const { assert!(SUMS == 4 * BLOCKS * CHUNKS && BLOCKS * WORDS == 16) };
        let words = WORDS as u32;
        let lane = warp::lane_id();
        let own = lane / 4 * WHOLE_PITCH + lane % 4 * words;
        let (line, vector) = (lane / 16, lane % 16);
        let (row, column) = (row + line, column + vector * (8 / words));
        let start = u64::from(matrix) * self.product.c_batch
            + u64::from(row) * self.product.c_leading
            + u64::from(column);
        let mut first = self.c.cast::<u32>().offset(start * u64::from(words) / 2);
        let down = self.product.c_leading * u64::from(words);
        let staged = line * WHOLE_PITCH + vector * 4;
        unroll::<CHUNKS>(|chunk| {
            // What was there before has been read, and what is there then has been written.
            warp::sync_warp(warp::FULL);
            unroll::<BLOCKS>(|block| {
                unroll::<2>(|half| {
                    let at = (chunk * BLOCKS + block) * 4 + half * 2;
                    let place = own + half as u32 * 8 * WHOLE_PITCH + block as u32 * 4 * words;
                    self.staging.write_vec(place, pack([sums[at], sums[at + 1]]));
                });
            });
            warp::sync_warp(warp::FULL);
            let is_inside = column + chunk as u32 * 8 * (BLOCKS as u32) < self.product.n;
            let mut target = first;
            unroll::<8>(|pass| {
                let pass = pass as u32;
                let values = self.staging.read_vec::<4>(staged + pass * 2 * WHOLE_PITCH);
                if is_inside && row + 2 * pass < self.product.m {
                    target.write_vec(0, values);
                }
                target = target.offset(down);
            });
            first = first.offset(64);
        });
    }

    /// Writes four elements a lane of the eight rows from `[row, column]` on: neighbours, or, where C is not accessed
    /// four at a time, such that those of neighbouring lanes are. The epilogue's code is there once for both.
    #[device]
    #[inline(always)]
    fn pass<E: Epilogue<T::Scale>, const BLOCKS: usize>(
        &self,
        pass: u32,
        [row, column]: [u32; 2],
        matrix: u32,
        epilogue: E,
    ) {
        // What is known of these would be computed before all parts, for registers of its own, or make the loop around
        // this several.
        let (matrix, is_vectors) = (opaque(matrix), opaque(self.product.vectors) != 0);
        let &Self { c, product, alpha, beta, staging } = self;
        let is_read = opaque(u32::from(T::reads(beta))) != 0;
        let columns = const { 8 * BLOCKS as u32 };
        // Of the first element, and of the others beside it: a line has a multiple of 32 columns.
        let lane = warp::lane_id() * if is_vectors { 4 } else { 1 };
        let first = [pass * (128 / columns) + lane / columns, lane % columns];
        let within = |[line, place]: [u32; 2], at: usize| {
            let at = at as u32;
            let [down, right] = if is_vectors { [0, at] } else { [at * 32 / columns, at * 32 % columns] };
            [line + down, place + right]
        };
        let place = |first: [u32; 2], at: usize| {
            let [line, place] = within(first, at);
            Place { row: row + line, column: column + place, matrix }
        };
        let is_inside = |place: Place| (place.row < product.m) & (place.column < product.n);
        let staged = |at: usize| {
            let [line, place] = within(first, at);
            line * pitch(BLOCKS) + place
        };
        let mut sums = [0; 4];
        if is_vectors {
            sums = staging.read_vec(staged(0));
        } else {
            unroll::<4>(|at| sums[at] = staging.read(staged(at)));
        }
        let mut values = sums.map(|sum| T::times(sum, alpha));
        if is_read {
            let mut old = [T::Scale::default(); 4];
            if is_vectors {
                let place = place(first, 0);
                if is_inside(place) {
                    old = read::<T, 4>(c, product, place.start(product));
                }
            } else {
                unroll::<4>(|at| {
                    let place = place(first, at);
                    if is_inside(place) {
                        [old[at]] = read::<T, 1>(c, product, place.start(product));
                    }
                });
            }
            unroll::<4>(|at| values[at] = T::scaled(sums[at], alpha, beta, || old[at]));
        }
        if epilogue.is_asked() {
            // Of what is outside it is that of the last row or column, so that it is applied to all at once.
            let mut places = [place(first, 0); 4];
            unroll::<4>(|at| {
                let Place { row, column, matrix } = place(first, at);
                places[at] = Place { row: row.min(product.m - 1), column: column.min(product.n - 1), matrix };
            });
            values = epilogue.apply_all(values, places);
        }
        // Computed once more, where what was would take registers from the epilogue.
        let first = first.map(opaque);
        if is_vectors {
            let place = place(first, 0);
            if is_inside(place) {
                write::<T, 4>(c, product, place.start(product), values);
            }
        } else {
            unroll::<4>(|at| {
                let place = place(first, at);
                if is_inside(place) {
                    write::<T, 1>(c, product, place.start(product), [values[at]]);
                }
            });
        }
    }
}

/// Writes what becomes of one sum.
#[device]
#[inline(always)]
pub(crate) fn element<T: Output, E: Epilogue<T::Scale>>(
    sum: u32,
    place: Place,
    c: GlobalMut<T>,
    product: &Product,
    (alpha, beta): (T::Scale, T::Scale),
    epilogue: E,
) {
    let start = place.start(product);
    let mut value = if T::reads(beta) {
        let [old] = read::<T, 1>(c, product, start);
        T::scaled(sum, alpha, beta, || old)
    } else {
        T::times(sum, alpha)
    };
    if epilogue.is_asked() {
        value = epilogue.apply(value, place);
    }
    write::<T, 1>(c, product, start, [value]);
}

/// Neighbours of C, from one that this is the index of.
#[device]
#[inline(always)]
fn read<T: Output, const V: usize>(c: GlobalMut<T>, product: &Product, start: u64) -> [T::Scale; V] {
    let c = c.as_global();
    if T::NARROWS && opaque(product.narrow) != 0 {
        c.offset(start).read_vec::<V>(0).map(T::widen)
    } else {
        c.cast::<T::Scale>().offset(start).read_vec(0)
    }
}

/// Writes neighbours to C, rounded to its type.
#[device]
#[inline(always)]
fn write<T: Output, const V: usize>(c: GlobalMut<T>, product: &Product, start: u64, values: [T::Scale; V]) {
    if T::NARROWS && opaque(product.narrow) != 0 {
        T::write_rounded(c.offset(start), values);
    } else {
        c.cast::<T::Scale>().offset(start).write_vec(0, values);
    }
}
