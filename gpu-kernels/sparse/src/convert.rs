//! From one storage of a matrix to another: what sorts and scans leave to be done.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, index_1d, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, warp};

use crate::THREADS;

/// How often each number occurs: a thread a number, in blocks of [`THREADS`]. `counts` is zero before, and has `most`
/// elements; what is no smaller counts as the last of them. Lanes with the same number add together.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_count(numbers: Global<u32>, counts: GlobalMut<u32>, len: u32, most: u32) {
    let at = index_1d();
    let inside = at < len;
    let number = if inside { numbers.read_only(at).min(most - 1) } else { crate::NONE };
    let same = warp::warp_match_any(warp::FULL, number);
    if inside && same.trailing_zeros() == warp::lane_id() {
        counts.atomic(number).fetch_add(same.count_ones(), Ordering::Relaxed, Scope::Device);
    }
}

/// The last of the rows from `low` on, before row `high`, that starts at or before an entry; behind it are those that
/// start later. Row `low` does.
#[device]
#[inline(always)]
pub(crate) fn row_of(offsets: Global<u32>, entry: u32, (mut low, mut high): (u32, u32)) -> u32 {
    while high - low > 1 {
        keep_rolled();
        let middle = low + (high - low) / 2;
        if offsets.read_only(middle) <= entry {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Bytes of dynamic shared memory of a block of [`sparse_rows()`].
pub const ROWS_SHARED_BYTES: u32 = SharedLayout::new().array::<u32>(2).bytes();

/// Entries of a block of [`sparse_rows()`].
pub const ROWS_TILE: u32 = 8 * THREADS;

/// The row of every entry: a block [`ROWS_TILE`] entries, of [`THREADS`], with [`ROWS_SHARED_BYTES`].
///
/// Two threads look for the rows of the block's first and last entry, all others between those, which are few, and from
/// the row of their entry before.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_rows(offsets: Global<u32>, rows: GlobalMut<u32>, count: u32, entries: u32) {
    let ends = shared::dynamic().array::<u32>(2);
    let thread = thread_idx_x();
    let first = block_idx_x() * ROWS_TILE;
    // Mutants: an entry further on is in the same row or in a later one, and bounds the others' search as well.
    let last = if entries - first > ROWS_TILE { first + ROWS_TILE - 1 } else { entries - 1 };
    if thread.is_multiple_of(32) && thread < 64 {
        let entry = if thread == 0 { first } else { last };
        ends.write(thread / 32, row_of(offsets, entry, (0, count)));
    }
    sync_threads();
    let (mut row, end) = (ends.read(0), ends.read(1) + 1);
    let mut at = first + thread;
    while at <= last {
        keep_rolled();
        row = row_of(offsets, at, (row, end));
        rows.write(at, row);
        at += THREADS;
    }
}

/// Numbers of 64 bits as 32: how much each is above `base`. The first, if any, that is below or more than `most` above
/// goes to `found`, which is [`NONE`](crate::NONE) before: a thread a number, in blocks of [`THREADS`].
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_narrow(
    wide: Global<u64>,
    narrow: GlobalMut<u32>,
    found: GlobalMut<u32>,
    base: u64,
    most: u32,
    len: u32,
) {
    let at = index_1d();
    if at < len {
        let above = wide.read_only(at).wrapping_sub(base);
        if above > most as u64 {
            found.atomic(0).fetch_min(at, Ordering::Relaxed, Scope::Device);
        }
        narrow.write(at, above as u32);
    }
}

/// Words that [`sparse_keys()`] writes: the first entry, if any, that stands outside of the matrix; and the first of a
/// block in which an entry does not stand after the one before it. They hold [`NONE`](crate::NONE) before.
pub const FOUND: u32 = 2;

/// Bytes of dynamic shared memory of a block of [`sparse_keys()`].
pub const KEYS_SHARED_BYTES: u32 = SharedLayout::new().array::<u32>(1).bytes();

/// The key by which entries are sorted, the row above the column, which has `bits` of it, and what [`FOUND`] says: a
/// thread an entry, in blocks of [`THREADS`], with [`KEYS_SHARED_BYTES`]. Of entries in no order half do not stand
/// after the one before: a block says so once.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_keys(
    rows: Global<u32>,
    columns: Global<u32>,
    keys: GlobalMut<u64>,
    found: GlobalMut<u32>,
    row_count: u32,
    column_count: u32,
    bits: u32,
    len: u32,
) {
    let falls = shared::dynamic().array::<u32>(1);
    let (at, thread) = (index_1d(), thread_idx_x());
    if thread == 0 {
        falls.write(0, 0);
    }
    sync_threads();
    let mut does_fall = false;
    if at < len {
        let (row, column) = (rows.read_only(at), columns.read_only(at));
        if at > 0 {
            let before = rows.read_only(at - 1);
            // Mutants: entries that are taken not to ascend are sorted, to the order that they have.
            does_fall = row < before || row == before && column <= columns.read_only(at - 1);
        }
        if row >= row_count || column >= column_count {
            found.atomic(0).fetch_min(at, Ordering::Relaxed, Scope::Device);
        }
        keys.write(at, (row as u64) << bits | column as u64);
    }
    if warp::warp_vote_any(warp::FULL, does_fall) && warp::lane_id() == 0 {
        falls.atomic(0).fetch_max(1, Ordering::Relaxed, Scope::Block);
    }
    sync_threads();
    if thread == 0 && falls.read(0) != 0 {
        found.atomic(1).fetch_min(at, Ordering::Relaxed, Scope::Device);
    }
}

/// Where a key differs from the one before, 1, else 0: a thread a key, in blocks of [`THREADS`].
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_heads(keys: Global<u64>, heads: GlobalMut<u32>, len: u32) {
    let at = index_1d();
    if at < len {
        let is_head = at == 0 || keys.read_only(at) != keys.read_only(at - 1);
        heads.write(at, is_head as u32);
    }
}

/// The values of equal keys, added in the order in which they stand, from the first: a thread a key, in blocks of
/// [`THREADS`]. `places` are the inclusive sums of [`sparse_heads()`], `order` says where a key's value
/// is, and a key has its column in the lowest `bits`.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
fn add<T: Float>(
    keys: Global<u64>,
    order: Global<u32>,
    places: Global<u32>,
    values: Global<T>,
    rows: GlobalMut<u32>,
    columns: GlobalMut<u32>,
    sums: GlobalMut<T>,
    bits: u32,
    len: u32,
) {
    let at = index_1d();
    if at < len {
        let place = places.read_only(at);
        if at == 0 || places.read_only(at - 1) != place {
            let key = keys.read_only(at);
            let mut sum = values.read_only(order.read_only(at));
            let mut next = at + 1;
            while next < len && places.read_only(next) == place {
                keep_rolled();
                sum = sum + values.read_only(order.read_only(next));
                next += 1;
            }
            rows.write(place - 1, (key >> bits) as u32);
            columns.write(place - 1, (key & ((1 << bits) - 1)) as u32);
            sums.write(place - 1, sum);
        }
    }
}

macro_rules! kernels {
    ($($T:ty: $add:ident, $gather:ident;)*) => { $(
        #[doc = concat!("Values of `", stringify!($T), "` of equal keys, added; see the module's source.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $add(
            keys: Global<u64>,
            order: Global<u32>,
            places: Global<u32>,
            values: Global<$T>,
            rows: GlobalMut<u32>,
            columns: GlobalMut<u32>,
            sums: GlobalMut<$T>,
            bits: u32,
            len: u32,
        ) {
            add::<$T>(keys, order, places, values, rows, columns, sums, bits, len);
        }

        #[doc = concat!("Rows and values of `", stringify!($T), "` of entries in another order.")]
        ///
        /// A thread an entry, in blocks of [`THREADS`].
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $gather(
            order: Global<u32>,
            rows: Global<u32>,
            values: Global<$T>,
            rows_output: GlobalMut<u32>,
            values_output: GlobalMut<$T>,
            len: u32,
        ) {
            let at = index_1d();
            if at < len {
                let from = order.read_only(at);
                rows_output.write(at, rows.read_only(from));
                values_output.write(at, values.read_only(from));
            }
        }
    )* };
}

kernels! {
    f32: sparse_add_f32, sparse_gather_f32;
    f64: sparse_add_f64, sparse_gather_f64;
}
