//! What the solvers free of synchronisation share: entries that a lane asks for together, and a block's system.
//!
//! A value of the solution says itself whether it is known: all its bits are ones until then, a NaN that no result has.
//! A load that sees it needs nothing else, so relaxed loads and stores suffice.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, nanosleep};
use gpu_std::{device, unroll, warp};

use crate::NONE;
use crate::levels::{Beside, Rows};
use crate::scalar::Scalar;

/// Entries that a lane asks for together: their loads overlap, where one after the other each would wait for the
/// second-level cache.
pub const ASKED: usize = 4;

/// Nanoseconds that a warp sleeps which has asked in vain: others of its multiprocessor, for one of which it waits, issue
/// their instructions meanwhile.
const SLEEP: u32 = 40;

/// Whether all lanes of a warp are ready; sleeps where not all are and none of them got on, or `moved`.
#[device]
#[inline(always)]
pub(crate) fn all_are(ready: bool, moved: bool) -> bool {
    let all = warp::warp_vote_all(warp::FULL, ready);
    if !all {
        sleep_unless(moved);
    }
    all
}

/// Sleeps where none of a warp's lanes `moved`.
#[device]
#[inline(always)]
pub(crate) fn sleep_unless(moved: bool) {
    if !warp::warp_vote_any(warp::FULL, moved) {
        nanosleep(SLEEP);
    }
}

/// Where the elements of right-hand sides and of solutions lie, and of how many systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Strides {
    /// Elements from one row of the right-hand sides to the next.
    pub b_row: u64,
    /// Elements from one right-hand side to the next.
    pub b_column: u64,
    /// Elements from one row of the solutions to the next.
    pub x_row: u64,
    /// Elements from one solution to the next.
    pub x_column: u64,
    /// Systems, fewer than 2^32.
    pub systems: u64,
}

/// What is read of a system, and where its solution goes.
#[derive(Clone, Copy)]
pub(crate) struct System<T: Scalar> {
    pub(crate) indices: Global<u32>,
    pub(crate) values: Global<T>,
    pub(crate) b: Global<T>,
    pub(crate) x: GlobalMut<T::Word>,
    pub(crate) alpha: T,
    pub(crate) strides: Strides,
}

impl<T: Scalar> System<T> {
    /// One of the systems.
    #[device]
    #[inline(always)]
    pub(crate) fn of(mut self, number: u32) -> Self {
        self.b = self.b.offset(number as u64 * self.strides.b_column);
        self.x = self.x.offset(number as u64 * self.strides.x_column);
        self
    }

    /// The system of this block: blocks that follow each other are of one after the other, so that all are solved at
    /// the same time. And the word that it draws from.
    #[device]
    #[inline(always)]
    pub(crate) fn of_block(self, ticket: GlobalMut<u32>) -> (Self, GlobalMut<u32>) {
        let systems = self.strides.systems as u32;
        // Mutants: of one system all blocks are of the first.
        let number = if systems > 1 { block_idx_x() % systems } else { 0 };
        (self.of(number), ticket.offset(number as u64))
    }

    /// `alpha · b` of a row, and one over its diagonal.
    #[device]
    #[inline(always)]
    pub(crate) fn ends(&self, row: u32, rest: &Beside, shape: &Rows) -> (T, T) {
        let right = self.alpha * self.b.offset(row as u64 * self.strides.b_row).read_only(0);
        (right, if shape.unit != 0 { T::ONE } else { T::ONE / self.values.read_only(rest.diagonal) })
    }

    /// What is known of a row's solution.
    #[device]
    #[inline(always)]
    pub(crate) fn ask(&self, row: u32) -> T::Word {
        self.x.offset(row as u64 * self.strides.x_row).atomic(0).load(Ordering::Relaxed, Scope::Device)
    }

    /// A row's solution, for all to know.
    #[device]
    #[inline(always)]
    pub(crate) fn tell(&self, row: u32, word: T::Word) {
        self.x.offset(row as u64 * self.strides.x_row).atomic(0).store(
            word,
            Ordering::Relaxed,
            Scope::Device,
        );
    }
}

/// Some entries of a row: the numbers of the rows that they wait for, their values, and what is known of what they are
/// multiplied by.
#[derive(Clone, Copy)]
pub(crate) struct Batch<T: Scalar> {
    others: [u32; ASKED],
    pub(crate) values: [T; ASKED],
    pub(crate) words: [T::Word; ASKED],
}

impl<T: Scalar> Batch<T> {
    /// Those of a row from its entry `first` on, every `step`th, before entry `end`, which wait for rows with numbers
    /// below `number`.
    #[device]
    #[inline(always)]
    pub(crate) fn read(
        system: &System<T>,
        shape: &Rows,
        number: u32,
        rest: &Beside,
        (first, step, end): (u32, u32, u32),
    ) -> Self {
        let mut batch =
            Self { others: [0; ASKED], values: [T::ZERO; ASKED], words: [T::ZERO.to_word(); ASKED] };
        unroll::<ASKED>(|j| {
            let entry = first + j as u32 * step;
            let place = if entry < end { rest.place(entry) } else { NONE };
            let column = system.indices.read_only_below(place, NONE, 0);
            batch.others[j] = shape.other(column, number);
            // Where there is none the product is -0: whatever that is added to stays what it is.
            batch.values[j] = system.values.read_only_below(place, NONE, -T::ZERO);
            if entry < end {
                batch.words[j] = T::UNKNOWN;
            }
        });
        batch
    }

    /// Knows nothing of the first `left` of them, as when they were read.
    #[device]
    #[inline(always)]
    pub(crate) fn forget(&mut self, left: u32) {
        unroll::<ASKED>(|j| {
            self.words[j] = if (j as u32) < left { T::UNKNOWN } else { T::ZERO.to_word() };
        });
    }

    /// Asks for what is not known, and says whether all is.
    #[device]
    #[inline(always)]
    pub(crate) fn ask(&mut self, mut of: impl FnMut(u32) -> T::Word) -> bool {
        unroll::<ASKED>(|j| {
            if self.words[j] == T::UNKNOWN {
                self.words[j] = of(self.others[j]);
            }
        });
        self.are_known()
    }

    /// Whether all are known.
    #[device]
    #[inline(always)]
    pub(crate) fn are_known(&self) -> bool {
        let mut known = true;
        unroll::<ASKED>(|j| known &= self.words[j] != T::UNKNOWN);
        known
    }

    /// Asks for the first that is not known, and says whether it is.
    #[device]
    #[inline(always)]
    pub(crate) fn ask_one(&mut self, mut of: impl FnMut(u32) -> T::Word) -> bool {
        let (mut asked, mut known) = (false, true);
        unroll::<ASKED>(|j| {
            if !asked && self.words[j] == T::UNKNOWN {
                self.words[j] = of(self.others[j]);
                asked = true;
                known = self.words[j] != T::UNKNOWN;
            }
        });
        known
    }

    /// Puts all of the lane's where the warp adds them up, one lane's after the other's.
    #[device]
    #[inline(always)]
    pub(crate) fn stage(&self, values: Shared<T>, solved: Shared<T>) {
        unroll::<{ ASKED / 2 }>(|j| {
            let at = ASKED as u32 * warp::lane_id() + 2 * j as u32;
            values.write_vec(at, [self.values[2 * j], self.values[2 * j + 1]]);
            solved.write_vec(at, [T::from_word(self.words[2 * j]), T::from_word(self.words[2 * j + 1])]);
        });
    }

    /// All of them, one after the other, added to `sum`.
    #[device]
    #[inline(always)]
    pub(crate) fn add_all(&self, mut sum: T) -> T {
        unroll::<ASKED>(|j| sum = self.values[j].mul_add(T::from_word(self.words[j]), sum));
        sum
    }

    /// The first `left` of them, one after the other, added to `sum`.
    #[device]
    #[inline(always)]
    pub(crate) fn add(&self, mut sum: T, left: u32) -> T {
        unroll::<ASKED>(|j| {
            // Mutants: where there is none the product is -0, which changes no sum.
            if (j as u32) < left {
                sum = self.values[j].mul_add(T::from_word(self.words[j]), sum);
            }
        });
        sum
    }
}
