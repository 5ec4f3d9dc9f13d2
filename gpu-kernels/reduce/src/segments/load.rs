//! How lanes read elements, and what they do with them.

use gpu_std::{device, opaque, unroll, warp};

use super::ROWS;
use crate::item::{Item, Source};
use crate::operator::Reduction;
use crate::quad::Quads;

/// 16 bytes of elements.
pub(super) type Quad<R> = <<<R as Reduction>::Item as Item>::Source as Quads>::Quad;

/// [`ROWS`] loads: the first `wanted` elements from each source on, or as many of them as 16 bytes hold. All lanes of a warp together.
///
/// `is_inner` says whether the aligned 16 bytes that hold an element that is wanted, and those after them, can be read. With `IS_SHARED`
/// other loads will soon want what else is in a sector.
#[device]
#[inline(always)]
pub(super) fn load<R: Reduction, const V: usize, const IS_SHARED: bool>(
    sources: [<R::Item as Item>::Source; ROWS],
    wanted: [u32; ROWS],
    is_inner: bool,
) -> [Quad<R>; ROWS] {
    let nothing = <<R::Item as Item>::Source as Quads>::NOTHING;
    let mut quads = [nothing; ROWS];
    let mut is_whole = true;
    unroll::<ROWS>(|row| {
        let is_full = is_inner || wanted[row] >= V as u32;
        is_whole &= wanted[row] == 0 || is_full && !sources[row].is_split(V as u32);
    });
    // Votes: lanes that went different ways would wait for memory one after the other.
    if warp::warp_vote_all(warp::FULL, is_whole) {
        unroll::<ROWS>(|row| {
            if wanted[row] > 0 {
                quads[row] = if IS_SHARED { sources[row].quad() } else { sources[row].streamed() };
            }
        });
    } else if V <= 4 {
        // All but the first of them find their sectors on the way to the L1. Two loads of 16 bytes and what joins them take twice the registers.
        unroll::<ROWS>(|row| quads[row] = sources[row].one_by_one(wanted[row]));
    } else if warp::warp_vote_all(warp::FULL, is_inner) {
        unroll::<ROWS>(|row| {
            if wanted[row] > 0 {
                quads[row] = sources[row].floor().quad();
            }
        });
        unroll::<ROWS>(|row| {
            let mut second = nothing;
            if sources[row].is_split(wanted[row]) {
                second = sources[row].floor().offset(V as u64).quad();
            }
            quads[row] = sources[row].joined(quads[row], second);
        });
    } else {
        let mut row = 0;
        while row < opaque(ROWS as u32) {
            let (mut source, mut count) = (sources[0], wanted[0]);
            unroll::<ROWS>(|other| {
                if other as u32 == row {
                    (source, count) = (sources[other], wanted[other]);
                }
            });
            let quad = source.one_by_one(count);
            unroll::<ROWS>(|other| {
                if other as u32 == row {
                    quads[other] = quad;
                }
            });
            row += 1;
        }
    }
    quads
}

/// Takes the first `wanted` elements of a load, the first of which is number `offset`. All lanes of a warp together.
#[device]
#[inline(always)]
pub(super) fn take_quad<R: Reduction, const V: usize, const A: usize>(
    locals: &mut [R::Local; A],
    quad: Quad<R>,
    wanted: u32,
    offset: u32,
) {
    // Where all lanes want all, nothing has to be asked for each element.
    if warp::warp_vote_all(warp::FULL, wanted >= V as u32) {
        take_all::<R, V, A>(locals, quad, offset);
        return;
    }
    unroll::<V>(|lane| {
        if (lane as u32) < wanted {
            let item = <R::Item as Item>::Source::item(quad, lane as u32);
            locals[lane % A] = R::take(locals[lane % A], item, offset + lane as u32);
        }
    });
}

/// Takes all elements of a load, the first of which is number `offset`.
#[device]
#[inline(always)]
pub(super) fn take_all<R: Reduction, const V: usize, const A: usize>(
    locals: &mut [R::Local; A],
    quad: Quad<R>,
    offset: u32,
) {
    unroll::<V>(|lane| {
        let item = <R::Item as Item>::Source::item(quad, lane as u32);
        locals[lane % A] = R::take(locals[lane % A], item, offset + lane as u32);
    });
}
