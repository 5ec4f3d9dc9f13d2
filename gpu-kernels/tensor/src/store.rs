//! What becomes of the sums: `alpha · sum + beta · C`, in the type of the sums or in that of the factors.
//!
//! The tensor cores leave a lane two neighbours of a row, of each eight columns. They go through shared memory,
//! eight rows of a warp at a time, from where its lanes write neighbours: whole lines of the L2, four elements a
//! lane, or one where C is not aligned.

use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::{device, opaque, rolled, unroll, warp};

use crate::epilogue::Epilogue;
use crate::output::Output;
use crate::place::{Place, Product};

/// Elements that a lane activates at a time: more would be more code, and a multiprocessor has other warps.
const FUSED: usize = 2;

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
    pub(crate) fn write<
        E: Epilogue<T::Scale>,
        const BLOCKS: usize,
        const PASSES: usize,
        const PARTS: usize,
        const SUMS: usize,
    >(
        &self,
        sums: &[u32; SUMS],
        Place { row, column, matrix }: Place,
        epilogue: E,
        strip: impl Fn(u32) -> [u32; 2],
    ) {
        const { assert!(SUMS == 2 * BLOCKS * PARTS && BLOCKS == 2 * PASSES) };
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
            let row = row + down + part % 2 * 8;
            // What is known of it would be computed before all parts, for registers of its own.
            let place = Place { row, column: column + right, matrix: opaque(matrix) };
            // Fewer at a time where registers are few, and warps many.
            if const { SUMS == 128 } {
                self.write_part::<E, BLOCKS, PASSES, 2>(place, epilogue);
            } else {
                self.write_part::<E, BLOCKS, PASSES, 1>(place, epilogue);
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

    /// Writes eight staged rows of `BLOCKS` blocks, whose first element is at `place`, step by step: what is costly has
    /// its code once for `FUSED` neighbours, all else for `ROWS` rows of four. They are the same lane's until they
    /// are written.
    #[device]
    #[inline(always)]
    fn write_part<E: Epilogue<T::Scale>, const BLOCKS: usize, const PASSES: usize, const ROWS: usize>(
        &self,
        place: Place,
        epilogue: E,
    ) {
        let mut alpha = self.alpha;
        if opaque(u32::from(T::reads(self.beta))) != 0 {
            let mut pass = 0;
            while pass < const { PASSES as u32 } {
                pass = rolled(pass);
                self.update::<BLOCKS, ROWS>(pass, place);
                pass += 1;
            }
            alpha = T::ONE;
        }
        if epilogue.is_asked() {
            let mut pass = 0;
            while pass < const { PASSES as u32 } {
                pass = rolled(pass);
                self.apply::<E, BLOCKS, ROWS>(pass, place, alpha, epilogue);
                pass += const { ROWS as u32 };
            }
            alpha = T::ONE;
            if epilogue.activates() {
                let parts = const { 4 / FUSED as u32 };
                let mut number = 0;
                while number < const { PASSES as u32 } * parts {
                    number = rolled(number);
                    let staged =
                        Lane::of::<BLOCKS, ROWS>(number / parts).staged + number % parts * FUSED as u32;
                    let values = self.staging.read_vec::<FUSED>(staged).map(T::of_bits);
                    self.staging.write_vec(staged, epilogue.activate(values).map(T::bits));
                    number += 1;
                }
            }
        }
        if opaque(self.product.vectors) != 0 {
            let mut pass = 0;
            while pass < const { PASSES as u32 } {
                pass = rolled(pass);
                unroll::<ROWS>(|at| {
                    let Lane { staged, row, column } = Lane::of::<BLOCKS, ROWS>(pass + at as u32);
                    let sums = self.staging.read_vec::<4>(staged);
                    self.put(
                        Place { row: place.row + row, column: place.column + column, ..place },
                        sums,
                        alpha,
                    );
                });
                pass += const { ROWS as u32 };
            }
        } else {
            warp::sync_warp(warp::FULL);
            let mut pass = 0;
            while pass < const { 4 * PASSES as u32 } {
                pass = rolled(pass);
                // Some at a time, which wait for the staged sums together.
                unroll::<4>(|at| {
                    let index = (pass + at as u32) * 32 + warp::lane_id();
                    let (row, column) =
                        (index / const { 8 * BLOCKS as u32 }, index % const { 8 * BLOCKS as u32 });
                    let sum = self.staging.read(row * pitch(BLOCKS) + column);
                    self.put(
                        Place { row: place.row + row, column: place.column + column, ..place },
                        [sum],
                        alpha,
                    );
                });
                pass += 4;
            }
        }
    }

    /// Adds what C has to four of a lane's sums, where they are staged.
    #[device]
    #[inline(always)]
    fn update<const BLOCKS: usize, const ROWS: usize>(&self, pass: u32, place: Place) {
        let &Self { c, product, alpha, beta, staging } = self;
        let Lane { staged, row, column } = Lane::of::<BLOCKS, ROWS>(pass);
        let place = Place { row: place.row + row, column: place.column + column, ..place };
        let start = place.start(product);
        let sums = staging.read_vec::<4>(staged);
        let mut old = [T::Scale::default(); 4];
        if place.row < product.m {
            if product.vectors != 0 {
                if place.column < product.n {
                    old = read::<T, 4>(c, product, start);
                }
            } else {
                unroll::<4>(|at| {
                    if place.column + (at as u32) < product.n {
                        [old[at]] = read::<T, 1>(c, product, start + at as u64);
                    }
                });
            }
        }
        let mut values = sums;
        unroll::<4>(|at| values[at] = T::bits(T::scaled(sums[at], alpha, beta, || old[at])));
        staging.write_vec(staged, values);
    }

    /// Applies the epilogue to four sums in each of `ROWS` rows, where they are staged. Of what is outside it is that of
    /// the last row or column, so that it is applied to all at once.
    #[device]
    #[inline(always)]
    fn apply<E: Epilogue<T::Scale>, const BLOCKS: usize, const ROWS: usize>(
        &self,
        pass: u32,
        place: Place,
        alpha: T::Scale,
        epilogue: E,
    ) {
        let &Self { product, staging, .. } = self;
        let mut values = [[T::Scale::default(); 4]; ROWS];
        let (mut rows, mut columns) = ([0; ROWS], [0; 4]);
        unroll::<ROWS>(|at| {
            let Lane { staged, row, column } = Lane::of::<BLOCKS, ROWS>(pass + at as u32);
            values[at] = staging.read_vec::<4>(staged).map(|sum| T::times(sum, alpha));
            rows[at] = (place.row + row).min(product.m - 1);
            unroll::<4>(|at| columns[at] = (place.column + column + at as u32).min(product.n - 1));
        });
        let values = epilogue.apply_all(values, rows, columns, place.matrix);
        unroll::<ROWS>(|at| {
            staging.write_vec(Lane::of::<BLOCKS, ROWS>(pass + at as u32).staged, values[at].map(T::bits));
        });
    }

    /// Writes `alpha` times neighbours, if they are in C.
    #[device]
    #[inline(always)]
    fn put<const V: usize>(&self, place: Place, sums: [u32; V], alpha: T::Scale) {
        let &Self { c, product, .. } = self;
        if place.row < product.m && place.column < product.n {
            write::<T, V>(c, product, place.start(product), sums.map(|sum| T::times(sum, alpha)));
        }
    }
}

/// Where a lane's four neighbours of a pass are: from the first of eight rows of `BLOCKS` blocks, and staged.
struct Lane {
    staged: u32,
    row: u32,
    column: u32,
}

impl Lane {
    #[device]
    #[inline(always)]
    fn of<const BLOCKS: usize, const ROWS: usize>(pass: u32) -> Self {
        let lanes = const { 2 * BLOCKS as u32 };
        // Where registers are few what is known of it is not to be computed before all parts.
        let lane = if const { ROWS == 1 } { opaque(warp::lane_id()) } else { warp::lane_id() };
        // A pass has whole rows: the columns are the same in each.
        let (row, column) = (pass * (32 / lanes) + lane / lanes, lane % lanes * 4);
        Self { staged: row * pitch(BLOCKS) + column, row, column }
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
        if epilogue.activates() {
            [value] = epilogue.activate([value]);
        }
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
