//! The first of rows, segments and parts of them, and of candidates.

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::{device, keep_rolled, opaque};

use super::array::{Array, Keyed};
use super::source::{Composites, Keys, Source};
use super::{COUNT, Selection};
use crate::composite::Composite;
use crate::segmented::Job;
use crate::segmented::memory::{Arrays, segment, store, tile_of_row};

/// How a block selects.
pub trait Algorithm {
    /// Threads of a block.
    const THREADS: usize;
    /// Hands the first `k` of `len` words to `emit`, with their ranks; how many there are. A block holds `room` candidates, at least
    /// twice `k`.
    fn select<S: Source>(source: S, len: u32, k: u32, room: u32, emit: impl Fn(u32, S::Composite)) -> u32;
}

/// Selects the first `k` of each row or segment, or of each part of a row, by a block of [`Algorithm::THREADS`]; `k` is at most half
/// of `room`, and the row's elements are less than 2^32.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn select_rows<K: Keyed, C: Composite, A: Algorithm>(
    selection: Selection,
    room: u32,
    keys: Global<u8>,
    offsets: Global<u32>,
    header: Global<u32>,
    keys_output: GlobalMut<u8>,
    indices: GlobalMut<u32>,
    candidates: GlobalMut<C>,
) {
    let (job, k) = (selection.job, selection.job.limit);
    if selection.guard > 0 {
        let count = header.read(COUNT);
        // Mutants: where candidates are selected as well it is the same that they write.
        if k <= count && count <= selection.guard {
            return;
        }
    }
    // Of whole rows, which are most, without divisions.
    let (mut row, mut first) = (block_idx_x(), 0);
    if selection.parts > 1 {
        let part;
        (row, part) = tile_of_row(row, selection.parts);
        first = part as u64 * selection.part;
    }
    let (start, len) = segment(job, offsets, row);
    let mut len = len as u32;
    if selection.parts > 1 {
        // Opaque: whole rows go around it, which else would compute it as well.
        len = opaque((len as u64).saturating_sub(first).min(selection.part) as u32);
    }
    let own_keys = Array::new(keys, job.key_bytes, job.order).offset(start + first);
    let source = Keys::<K, C>::new(own_keys, selection.last, first as u32);
    let arrays = Arrays { keys, keys_output, indices };
    let own = candidates.offset(block_idx_x() as u64 * k as u64);
    let selected = A::select(source, len, k, room, |rank, composite| {
        if selection.parts == 1 {
            let job = Job { key_bytes: K::bytes(job.key_bytes), ..job };
            store(arrays, job, composite, row, start, rank);
        } else {
            own.write(rank, composite);
        }
    });
    // Mutants: a whole row has `k` elements, so that nothing is to be filled.
    if selection.parts > 1 {
        let mut rank = selected + thread_idx_x();
        while rank < k {
            keep_rolled();
            own.write(rank, C::HIGHEST);
            rank += A::THREADS as u32;
        }
    }
}

/// Selects the first `k` of each row's candidates, of which there are `k` of each of [`Selection::parts`] parts; or, where that
/// is 0, of those of the whole array as many as `header` says. `K`'s bits are those of the keys.
#[device]
#[inline(always)]
pub fn select_candidates<C: Composite, A: Algorithm>(
    selection: Selection,
    room: u32,
    candidates: Global<C>,
    offsets: Global<u32>,
    header: Global<u32>,
    keys_output: GlobalMut<u8>,
    indices: GlobalMut<u32>,
) {
    let (job, k, row) = (selection.job, selection.job.limit, block_idx_x());
    let mut len = selection.parts * k;
    if selection.parts == 0 {
        len = header.read(COUNT);
        if len < k || len > selection.guard {
            return;
        }
    }
    let (start, _) = segment(job, offsets, row);
    let arrays = Arrays { keys: keys_output.as_global(), keys_output, indices };
    let source = Composites::new(candidates.offset(row as u64 * len as u64), 8 * job.key_bytes);
    A::select(source, len, k, room, |rank, composite| {
        store(arrays, job, composite, row, start, rank);
    });
}
