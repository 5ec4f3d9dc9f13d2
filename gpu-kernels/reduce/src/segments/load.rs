//! How lanes read elements, and what they do with them.
//!
//! Every element of a segment comes through [`load`] or [`whole`], and goes through [`take_first`] or [`take_whole`].

use gpu_std::{device, keep_rolled, opaque, unroll, warp};

use super::ROWS;
use crate::computed::{Computed, SourceOf};
use crate::per_load;
use crate::quad::Quads;
use crate::whole::publishes;

/// 16 bytes of elements.
pub(super) type Quad<R> = <SourceOf<R> as Quads>::Quad;

/// Nothing was read.
pub(super) const fn no_quad<R: Computed>() -> Quad<R> {
    <SourceOf<R> as Quads>::NOTHING
}

/// Whether what is done with the elements of a load stands there once, in a loop over [`ROWS`] loads, and not once
/// for each. The loop moves all loads by one place each time, up to 12 instructions, which four sums of a word would
/// not be worth.
pub(super) const fn is_rolled<R: Computed>() -> bool {
    // Mutants: in a loop or not, the same is done in the same order.
    per_load::<R::Item>() > 4 || publishes::<R>() > 2 || R::OUTPUTS > 1
}

/// What `map` gives of each row and its number, in this order.
#[device]
#[inline(always)]
pub(super) fn map_rows<T: Copy, U: Copy>(
    is_rolled: bool,
    mut rows: [T; ROWS],
    nothing: U,
    mut map: impl FnMut(u32, T) -> U,
) -> [U; ROWS] {
    let mut results = [nothing; ROWS];
    if is_rolled {
        let mut row = 0;
        // Opaque, or the loop would be unrolled.
        while row < opaque(ROWS as u32) {
            keep_rolled();
            let result = map(row, rows[0]);
            rows = [rows[1], rows[2], rows[3], rows[3]];
            results = [results[1], results[2], results[3], result];
            row += 1;
        }
    } else {
        unroll::<ROWS>(|row| results[row] = map(row as u32, rows[row]));
    }
    results
}

/// [`ROWS`] loads of aligned 16 bytes, all of which are wanted or `None`.
#[device]
#[inline(always)]
pub(super) fn whole<R: Computed>(sources: [Option<SourceOf<R>>; ROWS]) -> [Quad<R>; ROWS] {
    core::array::from_fn(|row| sources[row].map_or(no_quad::<R>(), |source| source.streamed()))
}

/// [`ROWS`] loads: the first `wanted` elements from each source on, or as many of them as 16 bytes hold. All lanes of a warp together.
///
/// `is_whole`, the same in a warp, says whether the aligned 16 bytes at each source that anything is wanted of are
/// all to be read; `is_inner` whether those that hold an element that is wanted, and those after them, can be read;
/// `is_shared`, the same in a warp, that other loads will soon want what else is in a sector.
#[device]
#[inline(always)]
pub(super) fn load<R: Computed, const V: usize>(
    sources: [SourceOf<R>; ROWS],
    wanted: [u32; ROWS],
    is_whole: bool,
    is_inner: bool,
    is_shared: bool,
) -> [Quad<R>; ROWS] {
    let mut quads = [no_quad::<R>(); ROWS];
    if is_whole && is_shared {
        unroll::<ROWS>(|row| {
            if wanted[row] > 0 {
                quads[row] = sources[row].quad();
            }
        });
    } else if is_whole {
        unroll::<ROWS>(|row| {
            if wanted[row] > 0 {
                quads[row] = sources[row].streamed();
            }
        });
    // Mutants: either way reads what is wanted and nothing else.
    } else if V <= 4 || warp::warp_vote_all(warp::FULL, is_inner) {
        // A vote: lanes that went different ways would wait for memory one after the other.
        unroll::<ROWS>(|row| quads[row] = sources[row].by_words(wanted[row]));
    } else {
        // At the ends of the array alone.
        let rows = core::array::from_fn(|row| (sources[row], wanted[row]));
        quads = map_rows(true, rows, no_quad::<R>(), |_, (source, wanted)| source.in_turn(wanted));
    }
    quads
}

/// Elements of a load that are taken one after the other, in a loop where it has more.
const AT_ONCE: usize = 4;

/// Takes the first `wanted` elements of a load, the first of which is number `offset`.
#[device]
#[inline(always)]
pub(super) fn take_first<R: Computed, const V: usize, const A: usize>(
    source: SourceOf<R>,
    locals: &mut [R::Local; A],
    quad: Quad<R>,
    wanted: u32,
    offset: u32,
) {
    // Mutants: just so many are taken in one turn of the loop as well.
    if V <= AT_ONCE {
        take_some::<R, V, A>(source, locals, quad, wanted, offset);
        return;
    }
    in_turn::<R, V>(quad, |quad, taken| {
        take_some::<R, AT_ONCE, A>(source, locals, quad, wanted.saturating_sub(taken), offset + taken);
    });
}

/// Takes all elements of a load, the first of which is number `offset`.
#[device]
#[inline(always)]
pub(super) fn take_whole<R: Computed, const V: usize, const A: usize>(
    source: SourceOf<R>,
    locals: &mut [R::Local; A],
    quad: Quad<R>,
    offset: u32,
) {
    // Mutants: as above.
    if V <= AT_ONCE {
        take_all::<R, V, A>(source, locals, quad, offset);
        return;
    }
    in_turn::<R, V>(quad, |quad, taken| take_all::<R, AT_ONCE, A>(source, locals, quad, offset + taken));
}

/// Gives `take` [`AT_ONCE`] elements of a load after the other, and the number of the first of them.
#[device]
#[inline(always)]
fn in_turn<R: Computed, const V: usize>(mut quad: Quad<R>, mut take: impl FnMut(Quad<R>, u32)) {
    let mut taken = 0;
    while taken < opaque(V as u32) {
        keep_rolled();
        take(quad, taken);
        quad = SourceOf::<R>::behind(quad, AT_ONCE as u32);
        taken += AT_ONCE as u32;
    }
}

/// Takes the first `wanted` of `N` elements, the first of which is number `offset`.
#[inline(always)]
fn take_some<R: Computed, const N: usize, const A: usize>(
    source: SourceOf<R>,
    locals: &mut [R::Local; A],
    quad: Quad<R>,
    wanted: u32,
    offset: u32,
) {
    unroll::<N>(|lane| {
        if (lane as u32) < wanted {
            let item = SourceOf::<R>::item(quad, lane as u32);
            locals[lane % A] = R::take(source, locals[lane % A], item, offset + lane as u32);
        }
    });
}

/// Takes all of `N` elements, the first of which is number `offset`.
#[inline(always)]
fn take_all<R: Computed, const N: usize, const A: usize>(
    source: SourceOf<R>,
    locals: &mut [R::Local; A],
    quad: Quad<R>,
    offset: u32,
) {
    unroll::<N>(|lane| {
        let item = SourceOf::<R>::item(quad, lane as u32);
        locals[lane % A] = R::take(source, locals[lane % A], item, offset + lane as u32);
    });
}
