//! The results of parts: those of a part's warps become one, and those of a long segment's parts its own.

use gpu_collective::words;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::Shared;
use gpu_std::thread::{sync_threads, sync_threads_count, thread_idx_x};
use gpu_std::{device, keep_rolled, opaque, unroll, warp};

use super::lanes::halve;
use super::parts::{ALIGNED, DONE, INNER, LONG_WORDS, NUMBER, PARTIAL, PARTS, Parts, SEVERAL, TILES_EACH};
use super::place_words;
use crate::computed::Computed;
use crate::number::Accumulator;
use crate::whole::publishes;
use crate::{MAX_WORDS, THREADS, WARPS, tile};

impl<R: Computed> Parts<R> {
    /// Behind a barrier: of each part eight lanes combine the results of its warps, and store the part's or the
    /// segment's.
    #[device]
    #[inline(always)]
    pub(super) fn combine(&self) {
        let count = self.number.read(0) % PARTIAL;
        let thread = opaque(thread_idx_x());
        let (mut warp_first, group) = (thread / 32 * (32 / WARPS), thread % 32 / WARPS);
        while warp::uniform(warp_first < count) {
            keep_rolled();
            let number = warp_first + group;
            let result = self.of_warps(self.room(number.min(count - 1)));
            if number < count && thread.is_multiple_of(WARPS) {
                let marked = self.firsts.read(number);
                if marked & SEVERAL == 0 {
                    R::write(self.source, self.output, self.owners.read(number) as u64, Some(result));
                } else {
                    let is_first = self.lengths.read(2 * number + 1) == 0;
                    self.publish(self.place(marked & !(INNER | ALIGNED | SEVERAL), is_first), result);
                }
            }
            warp_first += THREADS / WARPS;
        }
    }

    /// Behind another barrier: counts the parts of segments of several, and finishes those whose last part was done
    /// here. All threads together.
    #[device]
    #[inline(always)]
    pub(super) fn complete(&self) {
        let thread = opaque(thread_idx_x());
        let longs = self.number.read(0) / PARTIAL;
        let mut is_complete = false;
        if thread < longs {
            let long = self.long.offset(thread * LONG_WORDS);
            let done = long.read(DONE) as u64;
            let count = self.scratch.offset(self.place(self.begin_of(long), true)).atomic(publishes::<R>());
            let before = count.fetch_add(done, Ordering::AcqRel, Scope::Device);
            is_complete = before + done == long.read(PARTS) as u64;
            long.write(DONE, is_complete as u32);
        }
        if warp::uniform(sync_threads_count(is_complete) == 0) {
            return;
        }
        let mut owner = 0;
        while warp::uniform(owner < longs) {
            keep_rolled();
            let long = self.long.offset(owner * LONG_WORDS);
            if warp::uniform(long.read(DONE) != 0) {
                self.finish(long);
            }
            owner += 1;
        }
    }

    /// Combines the parts of a complete segment and writes its result. All threads together.
    #[device]
    #[inline(always)]
    fn finish(&self, long: Shared<u32>) {
        let thread = opaque(thread_idx_x());
        let (begin, parts) = (self.begin_of(long), long.read(PARTS));
        let each = long.read(TILES_EACH) as u64 * tile::<R::Item>() as u64;
        let mut total = R::IDENTITY;
        let mut number = thread;
        // Mutants: in one more turn no lane has a part.
        while warp::uniform(number - thread % 32 < parts) {
            keep_rolled();
            if number < parts {
                let place = self.scratch.offset(self.place(begin + number as u64 * each, number == 0));
                let partial = Accumulator::from_words(&mut |word| {
                    let word = place.atomic(word);
                    // Mutants: behind the acquire of the count all others are done with the words: any scope does.
                    let value = word.load(Ordering::Relaxed, Scope::Device) as u32;
                    // Mutants: as for the load; nobody reads it before the next launch.
                    word.store(0, Ordering::Relaxed, Scope::Device);
                    value
                });
                total = R::combine(self.source, total, partial);
            }
            number += THREADS;
        }
        if thread == 0 {
            let count = self.scratch.offset(self.place(begin, true)).atomic(publishes::<R>());
            // Mutants: all parts have counted, and nobody reads it before the next launch.
            count.store(0, Ordering::Relaxed, Scope::Device);
        }
        // Whoever read the results that stood there is done with them.
        self.leave(self.room(0), halve::<R>(self.source, total, opaque(16), 1));
        sync_threads();
        if warp::uniform(thread < 32) {
            let total = self.of_warps(self.room(0));
            if thread == 0 {
                R::write(self.source, self.output, long.read(NUMBER) as u64, Some(total));
            }
        }
        sync_threads();
    }

    /// The first element of a segment of several parts.
    #[inline(always)]
    fn begin_of(&self, long: Shared<u32>) -> u64 {
        (long.read(1) as u64) << 32 | long.read(0) as u64
    }

    /// The result of a part's warps, in the first of eight lanes; each group of eight has its own part. All lanes of
    /// a warp together.
    #[device]
    #[inline(always)]
    fn of_warps(&self, room: Shared<u32>) -> R::Accumulator {
        let warp = opaque(thread_idx_x()) % WARPS;
        halve::<R>(self.source, words::read(room, WARPS, warp), opaque(WARPS / 2), 1)
    }

    /// Stores a part's result where it is looked for.
    #[device]
    #[inline(always)]
    fn publish(&self, place: u64, result: R::Accumulator) {
        unroll::<{ MAX_WORDS as usize }>(|word| {
            if (word as u32) < publishes::<R>() {
                let value = result.word(word as u32) as u64;
                let place = self.scratch.offset(place).atomic(word as u32);
                // Mutants: the count releases it, behind a barrier; who reads it has acquired that.
                place.store(value, Ordering::Relaxed, Scope::Device);
            }
        });
    }

    /// Where a part's result goes in the scratch memory; behind it, for the first part, stands the number of parts
    /// that are done.
    #[inline(always)]
    fn place(&self, first_element: u64, is_first: bool) -> u64 {
        let place = first_element / tile::<R::Item>() as u64 * 2 + !is_first as u64;
        place * place_words(publishes::<R>()) as u64
    }
}
