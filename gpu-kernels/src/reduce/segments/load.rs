//! What a lane does with a load.

use gpu_std::{device, unroll, warp};

use super::ROWS;
use crate::reduce::item::Item;
use crate::reduce::operator::Reduction;
use crate::reduce::quad::Quads;

/// Takes the first `wanted` elements of a load, the first of which is number `offset`. All lanes of a warp together.
#[device]
#[inline(always)]
pub(super) fn take_quad<R: Reduction, const V: usize, const A: usize>(
    locals: &mut [R::Local; A],
    quad: <<R::Item as Item>::Source as Quads>::Quad,
    wanted: u32,
    offset: u32,
) {
    // Where all lanes want all, nothing has to be asked for each element.
    if warp::warp_vote_all(warp::FULL, wanted >= V as u32) {
        unroll::<V>(|lane| {
            let item = <R::Item as Item>::Source::item(quad, lane as u32);
            locals[lane % A] = R::take(locals[lane % A], item, offset + lane as u32);
        });
        return;
    }
    unroll::<V>(|lane| {
        if (lane as u32) < wanted {
            let item = <R::Item as Item>::Source::item(quad, lane as u32);
            locals[lane % A] = R::take(locals[lane % A], item, offset + lane as u32);
        }
    });
}

/// `array[index] = value`, without memory that an index could be used in.
#[device]
#[inline(always)]
pub(super) fn set<T: Copy>(array: &mut [T; ROWS], index: u32, value: T) {
    unroll::<ROWS>(|i| {
        if i as u32 == index {
            array[i] = value;
        }
    });
}
