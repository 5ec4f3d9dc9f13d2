//! Sums of products that one block begins and another one ends.
//!
//! Near the diagonal of a band a tile has the most products, and is waited for soonest: all of them take longer than it
//! takes until then, and every pivot would wait. So the products of its first columns are a task of its own, which is
//! handed out as soon as those are known to be on their way, and leaves its sums in memory. The chain of additions is
//! the same.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, opaque};

use super::products::Sums;
use super::{THREADS, TILE, wait_for};

/// Words of a task in a skyline's table: row and column of the tile; the [cut](NO_CUT); the place of the sums; the
/// word of `progress` by which the first part says that they are there; the word of the tile that had the place before,
/// or [`NO_CUT`].
pub const TASK: u32 = 6;
/// Of a task the first tile whose products its second part adds. Here: there are no two parts.
pub const NO_CUT: u32 = u32::MAX;
/// Added to the cut of a first part.
pub const FIRST: u32 = 1 << 31;
/// Elements of a place of sums.
pub const PLACE: u32 = TILE * TILE;

/// A task's part of a tile's sums.
#[derive(Clone, Copy)]
pub(super) struct Partial<T: Sums> {
    /// The task's words from its cut on.
    pub(super) task: Global<u32>,
    /// Places of sums.
    pub(super) places: GlobalMut<T>,
    pub(super) progress: GlobalMut<u32>,
}

impl<T: Sums> Partial<T> {
    /// A word of the task. It is read where it is needed: it would need a register meanwhile.
    #[device]
    #[inline(always)]
    fn word(&self, number: u32) -> u32 {
        self.task.read_only(opaque(number))
    }

    /// The tile whose products are the first ones of a second part, if the task is one.
    #[device]
    #[inline(always)]
    pub(super) fn begin(&self) -> Option<u32> {
        let cut = self.word(0);
        if cut & FIRST == 0 { Some(cut) } else { None }
    }

    /// The tile before which a first part ends, if the task is one.
    #[device]
    #[inline(always)]
    pub(super) fn end(&self) -> Option<u32> {
        let cut = self.word(0);
        if cut & FIRST != 0 && cut != NO_CUT { Some(cut & !FIRST) } else { None }
    }

    /// The thread's elements of the place, [`THREADS`] from one to the next.
    #[device]
    #[inline(always)]
    fn place(&self) -> GlobalMut<T> {
        self.places.offset(self.word(1) as u64 * PLACE as u64 + thread_idx_x() as u64)
    }

    /// Takes over what a first part has left.
    #[device]
    #[inline(always)]
    pub(super) fn take(&self, sums: &mut T::Part) {
        let done = self.word(2);
        wait_for(self.progress, || done, 0);
        let place = self.place();
        T::each(sums, |number, sum| *sum = place.read(number * THREADS));
    }

    /// Leaves a first part's sums. Who had the place before has read what was there when its first panel is known.
    #[device]
    #[inline(always)]
    pub(super) fn leave(&self, sums: &mut T::Part) {
        let before = self.word(3);
        if before != NO_CUT {
            wait_for(self.progress, || before, 0);
        }
        let place = self.place();
        T::each(sums, |number, sum| place.write(number * THREADS, *sum));
        let word = self.word(2);
        sync_threads();
        if thread_idx_x() == 0 {
            self.progress.atomic(word).store(1, Ordering::Release, Scope::Device);
        }
    }
}
