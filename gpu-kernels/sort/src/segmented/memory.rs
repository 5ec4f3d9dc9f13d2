//! Where keys and values are read and written.

use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::thread::thread_idx_x;
use gpu_std::{device, opaque, rolled, unroll, warp};

use super::{ALL, Job, PLACES};
use crate::composite::{Composite, Raw};

/// Rows of a warp's items that are on their way at the same time.
const AT_ONCE: usize = 4;

/// Where item `place` of a tile lies in shared memory: a lane's items are apart from the next lane's by an odd number, so that
/// neither rows nor columns meet in a bank.
#[inline(always)]
pub(super) fn padded<C: Composite>(place: u32) -> u32 {
    place + place / C::ITEMS as u32
}

/// The arrays of a sort.
#[derive(Clone, Copy)]
pub(crate) struct Arrays {
    pub(crate) keys: Global<u8>,
    pub(crate) keys_output: GlobalMut<u8>,
    pub(crate) indices: GlobalMut<u32>,
}

/// Segment `number` starts there and has so many elements.
#[device]
#[inline(always)]
pub(crate) fn segment(job: Job, offsets: Global<u32>, number: u32) -> (u64, u64) {
    if job.row > 0 {
        (number as u64 * job.row, job.row)
    } else {
        let start = offsets.read(number);
        (start as u64, (offsets.offset(1).read(number) - start) as u64)
    }
}

/// Which row of `tiles` tiles tile `entry` of all is of, and which of that row's it is.
#[inline(always)]
pub(crate) fn tile_of_row(entry: u32, tiles: u32) -> (u32, u32) {
    // Not 0 where there are any: a division that checks would bring a panic.
    let row = entry.checked_div(tiles).unwrap_or(0);
    (row, entry - row * tiles)
}

/// What says how words, keys and composites go together.
#[derive(Clone, Copy)]
pub(super) struct Layout<R: Raw> {
    set: R,
    clear: R,
    /// The number of a key's highest bit.
    top: u32,
    /// Bits of an index; 0 where composites have none.
    index_bits: u32,
}

impl<R: Raw> Layout<R> {
    #[inline(always)]
    pub(super) fn new<C: Composite>(job: Job) -> Self {
        let (set, clear) = (R::narrow(job.order.set), R::narrow(job.order.clear));
        // Known beforehand, but of the narrowest ones.
        let index_bits = match size_of::<C>() {
            4 => job.index_bits,
            8 if job.key_bytes == 8 => 0,
            _ => 32,
        };
        Self { set, clear, top: 8 * job.key_bytes - 1, index_bits }
    }

    #[inline(always)]
    fn compose<C: Composite>(self, key: R, index: u32) -> C {
        let word = key.turned(self.set, self.clear, self.top).wide() as u128;
        if size_of::<C>() == 4 {
            let index = index & ((1 << self.index_bits) - 1);
            return C::of_bits(((word as u32) << self.index_bits | index) as u128);
        }
        C::of_bits(if self.index_bits > 0 { word << 32 | index as u128 } else { word })
    }

    #[inline(always)]
    fn key<C: Composite>(self, composite: C) -> R {
        let bits = composite.to_bits();
        let word = if size_of::<C>() == 4 {
            (bits as u32 >> self.index_bits) as u64
        } else if self.index_bits > 0 {
            (bits >> 32) as u64
        } else {
            bits as u64
        };
        let word = R::narrow(word);
        // Both masks flip the highest bit or neither does: it says which of them was taken.
        word.turned_back(self.set, self.clear, self.top)
    }

    #[inline(always)]
    fn index<C: Composite>(self, composite: C) -> u32 {
        let bits = composite.to_bits() as u32;
        if size_of::<C>() == 4 { bits & ((1 << self.index_bits) - 1) } else { bits }
    }
}

/// Writes item `at` of segment `number`, which starts at `start`, in the end.
#[device]
#[inline(always)]
pub(crate) fn store<C: Composite>(arrays: Arrays, job: Job, composite: C, number: u32, start: u64, at: u32) {
    if at >= job.limit {
        return;
    }
    let to = if job.limit == ALL { start } else { number as u64 * job.limit as u64 } + at as u64;
    let layout = Layout::<C::Raw>::new::<C>(job);
    store_key(arrays, job, layout.key(composite), to);
    if job.payload > 0 {
        let index = layout.index(composite);
        let from = if job.payload == PLACES { start as u32 } else { 0 };
        arrays.indices.offset(to).write(0, from + index);
    }
}

#[device]
#[inline(always)]
fn store_key<R: Raw>(arrays: Arrays, job: Job, key: R, to: u64) {
    let keys = arrays.keys_output;
    // The widest first, the most frequent.
    if size_of::<R>() == 8 && job.key_bytes == 8 {
        keys.cast::<u64>().offset(to).write(0, key.wide());
    } else if job.key_bytes == 4 {
        keys.cast::<u32>().offset(to).write(0, key.wide() as u32);
    } else if job.key_bytes == 2 {
        keys.cast::<u16>().offset(to).write(0, key.wide() as u16);
    } else {
        keys.offset(to).write(0, key.wide() as u8);
    }
}

/// The slots of a tile: of each where its elements start, how many there are, and its segment's number.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    /// Four words for each.
    pub(super) words: Shared<u32>,
    /// The power of two that is a slot's width.
    pub(super) shift: u32,
    /// Elements of the segment before those of the tile's only slot.
    pub(super) before: u32,
    /// Where the thread's warp's part of the tile is one stretch of memory.
    pub(super) stretch: Option<Stretch>,
    /// Where it is one, of rows that do not fill their slots: the elements of a row.
    pub(super) row: Option<u32>,
}

/// A warp's part of a tile in one piece.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    /// The place of the first element in the array.
    pub(super) from: u64,
    /// How many there are of the warp's items.
    pub(super) len: u32,
}

impl Slots {
    /// Writes slot `slot`.
    #[inline(always)]
    pub(super) fn write(words: Shared<u32>, slot: u32, start: u64, len: u32, number: u32) {
        words.write_vec(4 * slot, [start as u32, (start >> 32) as u32, len, number]);
    }

    /// Where in its slot the item at `place` is, and the slot's start, length and number.
    #[inline(always)]
    pub(super) fn at(self, place: u32) -> (u32, u64, u32, u32) {
        let [low, high, len, number] = self.words.read_vec(4 * (place >> self.shift));
        (place & ((1 << self.shift) - 1), (high as u64) << 32 | low as u64, len, number)
    }
}

/// The places of the elements of a warp's rows, one behind the other, in slots that they do not fill.
#[derive(Clone, Copy)]
struct InRows {
    /// Where in the row.
    at: u32,
    /// The place of the row's slot in the warp's part.
    slot: u32,
    row: u32,
    width: u32,
}

impl InRows {
    /// The lane's first element.
    #[inline(always)]
    fn new(row: u32, shift: u32) -> Self {
        let lane = warp::lane_id();
        // Rows are not empty: a division that checks would bring a panic.
        let before = lane.checked_div(row).unwrap_or(0);
        Self { at: lane - before * row, slot: before << shift, row, width: 1 << shift }
    }

    /// The element 32 on; `rows` and `rest` are 32 in rows.
    #[inline(always)]
    fn next(self, rows: u32, rest: u32) -> Self {
        let at = self.at + rest;
        let is_beyond = at >= self.row;
        Self {
            at: if is_beyond { at - self.row } else { at },
            slot: self.slot + (rows + is_beyond as u32) * self.width,
            ..self
        }
    }
}

/// Takes the lane's elements of the warp's rows, [`AT_ONCE`] at the same time: of each whether it is there, its number in the
/// stretch and its place.
#[device]
#[inline(always)]
fn each_in_rows(slots: Slots, stretch: Stretch, row: u32, take: impl Fn([(bool, u32, InRows); AT_ONCE])) {
    let mut own = InRows::new(row, slots.shift);
    let rows = 32u32.checked_div(row).unwrap_or(0);
    let rest = 32 - rows * row;
    let mut number = warp::lane_id();
    // Mutants: in one more turn nothing is there.
    while number - warp::lane_id() < stretch.len {
        number = rolled(number);
        let mut some = [(false, 0, own); AT_ONCE];
        unroll::<AT_ONCE>(|i| {
            let number = number + 32 * i as u32;
            some[i] = (number < stretch.len, number, own);
            own = own.next(rows, rest);
        });
        take(some);
        number += 32 * AT_ONCE as u32;
    }
}

/// The first item of the thread's warp's part of a tile that is the lane's in rows of 32.
#[inline(always)]
fn first_of_warp<C: Composite>() -> u32 {
    thread_idx_x() / 32 * 32 * C::ITEMS as u32 + warp::lane_id()
}

/// One of these for keys of a width, of those that a composite may have.
macro_rules! by_width {
    ($composite:ty, $job:expr, $for:ident) => {
        if size_of::<<$composite as Composite>::Raw>() == 8 && $job.key_bytes == 8 {
            $for!(u64);
            // Mutants: of 16 bytes are those of keys of 8 only, which were asked for before.
        } else if size_of::<$composite>() < 16 {
            match $job.key_bytes {
                4 => $for!(u32),
                2 => $for!(u16),
                _ => $for!(u8),
            }
        }
    };
}

/// Reads the keys of the thread's warp's part of a tile, to shared memory; of rows that do not fill their slots nothing is
/// written behind them.
#[device]
#[inline(always)]
pub(super) fn load<C: Composite>(arrays: Arrays, job: Job, items: Shared<C>, slots: Slots) {
    let layout = Layout::<C::Raw>::new::<C>(job);
    let first = first_of_warp::<C>();
    // A row of 32 items is so many places with their padding.
    let of_row = padded::<C>(32);
    let own = items.offset(padded::<C>(first));
    if let (Some(row), Some(stretch)) = (slots.row, slots.stretch) {
        let own = items.offset(padded::<C>(thread_idx_x() / 32 * 32 * C::ITEMS as u32));
        each_in_rows(slots, stretch, row, |some| {
            let mut keys = [C::Raw::narrow(0); AT_ONCE];
            macro_rules! read {
                ($key:ty) => {{
                    let of = arrays.keys.cast::<$key>().offset(stretch.from);
                    unroll::<AT_ONCE>(|i| {
                        if some[i].0 {
                            keys[i] = C::Raw::narrow(of.read(some[i].1) as u64);
                        }
                    });
                }};
            }
            by_width!(C, job, read);
            unroll::<AT_ONCE>(|i| {
                let (is_there, _, place) = some[i];
                if is_there {
                    own.write(padded::<C>(place.slot + place.at), layout.compose(keys[i], place.at));
                }
            });
        });
        return;
    }
    let mut row = 0;
    while row < C::ITEMS as u32 {
        row = rolled(row);
        let mut keys = [C::Raw::narrow(0); AT_ONCE];
        let mut indices = [0; AT_ONCE];
        let mut there = [false; AT_ONCE];
        let mut places = [0; AT_ONCE];
        if let Some(stretch) = slots.stretch {
            let at = 32 * row + warp::lane_id();
            unroll::<AT_ONCE>(|i| {
                indices[i] = slots.before + ((first + 32 * (row + i as u32)) & ((1 << slots.shift) - 1));
                there[i] = at + 32 * (i as u32) < stretch.len;
            });
        } else {
            unroll::<AT_ONCE>(|i| {
                let (at, start, len, _) = slots.at(first + 32 * (row + i as u32));
                (places[i], indices[i], there[i]) = (start + at as u64, slots.before + at, at < len);
            });
        }
        macro_rules! read {
            ($key:ty) => {{
                let of = arrays.keys.cast::<$key>();
                if let Some(stretch) = slots.stretch {
                    let of = of.offset(stretch.from + (32 * row + warp::lane_id()) as u64);
                    unroll::<AT_ONCE>(|i| {
                        if there[i] {
                            keys[i] = C::Raw::narrow(of.read(32 * i as u32) as u64);
                        }
                    });
                } else {
                    unroll::<AT_ONCE>(|i| {
                        if there[i] {
                            keys[i] = C::Raw::narrow(of.offset(places[i]).read(0) as u64);
                        }
                    });
                }
            }};
        }
        by_width!(C, job, read);
        let of_rows = own.offset(row * of_row);
        unroll::<AT_ONCE>(|i| {
            let composite = layout.compose(keys[i], indices[i]);
            of_rows.write(i as u32 * of_row, if there[i] { composite } else { C::HIGHEST });
        });
        row += AT_ONCE as u32;
    }
}

/// Writes the thread's warp's part of a tile, of whole segments to the output, or of one that is longer to `merged`.
#[device]
#[inline(always)]
pub(super) fn store_part<C: Composite>(
    arrays: Arrays,
    job: Job,
    items: Shared<C>,
    slots: Slots,
    merged: Option<GlobalMut<C>>,
) {
    let layout = Layout::<C::Raw>::new::<C>(job);
    let first = first_of_warp::<C>();
    let of_row = padded::<C>(32);
    let own = items.offset(padded::<C>(first));
    let is_plain = job.limit == ALL && job.payload == 0 && merged.is_none();
    if let (Some(row), Some(stretch)) = (slots.row, slots.stretch) {
        let own = items.offset(padded::<C>(thread_idx_x() / 32 * 32 * C::ITEMS as u32));
        each_in_rows(slots, stretch, row, |some| {
            unroll::<AT_ONCE>(|i| {
                let (is_there, number, place) = some[i];
                if is_there {
                    let composite = own.read(padded::<C>(place.slot + place.at));
                    let to = stretch.from + number as u64;
                    store_key(arrays, job, layout.key(composite), to);
                    if job.payload > 0 {
                        let index = layout.index(composite);
                        let from = if job.payload == PLACES { to as u32 - place.at } else { 0 };
                        arrays.indices.offset(to).write(0, from + index);
                    }
                }
            });
        });
        return;
    }
    let mut row = 0;
    while row < C::ITEMS as u32 {
        row = rolled(row);
        if let (true, Some(stretch)) = (is_plain, slots.stretch) {
            let at = 32 * row + warp::lane_id();
            let mut keys = [C::Raw::narrow(0); 4];
            unroll::<4>(|i| keys[i] = layout.key(own.read((row + i as u32) * of_row)));
            macro_rules! write {
                ($key:ty) => {{
                    let to = arrays.keys_output.cast::<$key>().offset(stretch.from + at as u64);
                    unroll::<4>(|i| {
                        if at + 32 * (i as u32) < stretch.len {
                            to.write(32 * i as u32, keys[i].wide() as $key);
                        }
                    });
                }};
            }
            if size_of::<C::Raw>() == 8 && job.key_bytes == 8 {
                write!(u64);
            } else if job.key_bytes == 4 {
                write!(u32);
            } else if job.key_bytes == 2 {
                write!(u16);
            } else {
                write!(u8);
            }
        } else if is_plain {
            unroll::<4>(|i| {
                let row = row + i as u32;
                let (at, start, len, _) = slots.at(first + 32 * row);
                let key = layout.key(own.read(row * of_row));
                if at < len {
                    store_key(arrays, job, key, start + at as u64);
                }
            });
        } else {
            let mut i = 0;
            while i < opaque(4) {
                let (at, start, len, number) = slots.at(first + 32 * (row + i));
                let composite = own.read((row + i) * of_row);
                if at < len {
                    if let Some(merged) = merged {
                        merged.offset(start).write(at, composite);
                    } else {
                        store(arrays, job, composite, number, start, at);
                    }
                }
                i += 1;
            }
        }
        row += 4;
    }
}
