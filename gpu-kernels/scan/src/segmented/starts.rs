//! Where segments start: a bit for each element of a tile, in shared memory, in the order of the scan.
//!
//! A tile's offsets are asked for together with its elements, at the place where they are if all segments are alike
//! ([`Window`]). Where they are not there, the block looks at 256 places at once, until what is left lies in a
//! window. (H200, sums of 2^26 `f32`, with this and the stores of [`segments`](super::segments()), against a warp's
//! search and offsets read one after the other: segments of 8 from 247 to 171 µs, of 2^20 from 175 to 166, of random
//! lengths up to 15 from 260 to 223, of lengths by a power law from 266 to 224; the whole array takes 151.)

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::mul_add;
use gpu_std::memory::{Global, Shared};
use gpu_std::thread::{sync_threads, sync_threads_count, thread_idx_x};
use gpu_std::warp::{self, FULL, warp_vote_ballot};
use gpu_std::{device, keep_rolled, opaque, rolled, unroll};

/// Segments start at elements with a flag that is not zero.
pub const BY_FLAGS: u32 = 0;
/// Segments start at the offsets in an array of `u32` that do not decrease.
pub const BY_OFFSETS: u32 = 1;
/// Segments have all the same length.
pub const OF_LENGTH: u32 = 2;
/// Segments are runs of equal keys of 1 byte; for 2, 4 and 8 bytes the next numbers.
pub const BY_KEY: u32 = 3;

/// What says where segments start. One starts at the first element in any case.
#[derive(Clone, Copy)]
pub struct Starts {
    /// In which way: one of the constants.
    pub kind: u32,
    /// Flags, offsets or keys.
    pub array: Global<u8>,
    /// How many offsets there are, or the length of segments, at most that of the array.
    pub count: u64,
}

/// A tile of an array.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// Its first element.
    pub(super) base: u64,
    /// Its elements.
    pub(super) left: u32,
    /// Those of a tile that is complete.
    pub(super) full: u32,
    /// Elements of the array.
    pub(super) len: u64,
    /// Whether it is read backwards: then segments start with their last element.
    pub(super) reverse: bool,
}

impl Tile {
    /// The first place at which a start is one of the tile: backwards, an element starts a segment if one starts at
    /// the next.
    #[inline(always)]
    fn from(self) -> u64 {
        self.base + self.reverse as u64
    }

    /// Whether the array starts in it: backwards with its last element.
    #[inline(always)]
    fn has_first(self) -> bool {
        if self.reverse { self.base + self.left as u64 == self.len } else { self.base == 0 }
    }

    /// The element that it starts with.
    #[inline(always)]
    fn first(self) -> u32 {
        if self.reverse { self.left - 1 } else { 0 }
    }

    /// The same tile, which the compiler knows nothing of.
    #[inline(always)]
    fn again(self) -> Self {
        let base = (opaque((self.base >> 32) as u32) as u64) << 32 | opaque(self.base as u32) as u64;
        Self { base, left: opaque(self.left), ..self }
    }

    /// The place of an element in the order of the scan: that of its bit.
    #[inline(always)]
    fn place(self, element: u32) -> u32 {
        if self.reverse { self.full - 1 - element } else { element }
    }
}

/// Offsets that a thread asks for at once: with 256 threads those of a tile of 4096 elements in segments of 4.
const AT_ONCE: usize = 4;

/// Flags or keys that a thread asks for at once.
const LOADS: usize = 4;

/// As many offsets for each thread, a stride of the block apart.
#[derive(Clone, Copy, Default)]
pub(super) struct Window {
    /// The number of the first thread's first one.
    first: u64,
    /// How many there are from the thread's own first one on.
    left: u32,
    /// The thread's own; 0 where there is none.
    offsets: [u32; AT_ONCE],
}

impl Starts {
    /// How many offsets there are for an element of an array of `len`, or segments of one length.
    #[inline(always)]
    pub(super) fn density(self, len: u64) -> f32 {
        let of_length = self.kind == OF_LENGTH;
        let each = reciprocal(if of_length { self.count } else { len } as f32);
        if of_length { each } else { self.count as f32 * each }
    }

    /// Asks for the offsets where those of the tile are if all segments are alike. What is returned is on its way:
    /// nothing waits for it.
    #[device]
    #[inline(always)]
    pub(super) fn ask<const W: usize>(self, tile: Tile, density: f32) -> Window {
        if self.kind != BY_OFFSETS {
            return Window::default();
        }
        // Five roundings of 2^-24 each and a reciprocal: the number is wrong by less than its 2^21st part, and by one
        // for what is cut off.
        let guess = (tile.from() as f32 * density) as u32;
        self.window::<W>(guess.saturating_sub(8 + (guess >> 21)) as u64)
    }

    /// Asks for the offsets from number `first` on.
    #[inline(always)]
    fn window<const W: usize>(self, first: u64) -> Window {
        let at = first + opaque(thread_idx_x()) as u64;
        let left = self.count.saturating_sub(at).min(u32::MAX as u64) as u32;
        let place = self.array.cast::<u32>().offset(at);
        let mut offsets = [0; AT_ONCE];
        unroll::<AT_ONCE>(|i| {
            let further = (i * 32 * W) as u32;
            if further < left {
                offsets[i] = place.read(further);
            }
        });
        Window { first, left, offsets }
    }

    /// Sets the bits of the tile's elements in `bits`, which has room for `words` words of 32. `window` is what
    /// [`ask`](Self::ask) gave. Barriers.
    #[device]
    #[inline(always)]
    pub(super) fn mark<const W: usize>(
        self,
        tile: Tile,
        window: Window,
        density: f32,
        bits: Shared<u32>,
        words: u32,
    ) {
        // Opaque, or addresses and numbers of the thread would be kept while vectors are on their way.
        let thread = opaque(thread_idx_x());
        if self.kind == BY_OFFSETS || self.kind == OF_LENGTH {
            let mut word = thread;
            while word < words {
                bits.write(word, 0);
                word += 32 * W as u32;
            }
            if self.kind == BY_OFFSETS {
                self.mark_offsets::<W>(tile, window, bits);
            } else {
                sync_threads();
                // Opaque, or what is worked out from it would be kept from tile to tile.
                let length =
                    (opaque((self.count >> 32) as u32) as u64) << 32 | opaque(self.count as u32) as u64;
                let mut at = distance_to_multiple(tile.from(), length, density) + thread as u64 * length;
                while at < tile.left as u64 {
                    set(bits, tile.place(at as u32));
                    at += 32 * W as u64 * length;
                }
            }
            if thread == 0 && tile.has_first() {
                set(bits, tile.place(tile.first()));
            }
        } else {
            self.vote::<W>(tile, bits, words);
        }
        sync_threads();
    }

    /// Sets the bits of elements with an offset. Barriers, the first before any bit is set.
    #[device]
    #[inline(always)]
    fn mark_offsets<const W: usize>(self, tile: Tile, window: Window, bits: Shared<u32>) {
        let threads = 32 * W as u64;
        let thread = opaque(thread_idx_x()) as u64;
        // No offset is as far as some tiles are.
        // Mutants: no tile begins there: the tiles before it have an even number of elements, many of them.
        let is_beyond = tile.from() > u32::MAX as u64;
        let from = tile.from().min(u32::MAX as u64) as u32;
        let (mut window, mut next, mut is_known) = (window, window.first, true);
        let is_less = window.left > 0 && window.offsets[0] < from;
        let less = sync_threads_count(is_less) as u64;
        // The first that is not less is among the threads' first ones, or it has to be looked for.
        // Mutants: to look from the first one on finds the same.
        if less == threads || (less == 0 && window.first > 0) {
            let mut low = if less == 0 { 0 } else { window.first + threads };
            // As many as there are threads are looked at at once, until what is left lies in a window.
            let mut shift = 0;
            // Mutants: to look once more, further apart, finds the same.
            while self.count - low > threads << shift {
                shift += threads.trailing_zeros();
            }
            while shift > 0 {
                shift = rolled(shift);
                // Mutants: if the first behind them is less, so are they; what is not skipped the windows go over.
                let probe = low + ((thread + 1) << shift) - 1;
                let is_less = probe < self.count && self.array.cast::<u32>().offset(probe).read(0) < from;
                low += (sync_threads_count(is_less) as u64) << shift;
                shift -= threads.trailing_zeros();
            }
            (next, is_known) = (low, false);
        }
        if is_beyond {
            return;
        }
        // What lies before the tile is further away than its last element, modulo 2^32.
        let last = (tile.left - 1).min(u32::MAX - from);
        // The compiler would put the first window's iteration before the others.
        let mut is_known = opaque(is_known as u32);
        loop {
            is_known = rolled(is_known);
            if is_known == 0 {
                window = self.window::<W>(next);
            }
            unroll::<AT_ONCE>(|i| {
                let distance = window.offsets[i].wrapping_sub(from);
                // An offset that does not exist is 0: if that is in the tile, it is where the array starts.
                if distance <= last {
                    set(bits, tile.place(distance));
                }
            });
            // Mutants: one window more has no offsets; and the bit of the last element is set already.
            if window.left <= ((AT_ONCE - 1) * 32 * W) as u32 || window.offsets[AT_ONCE - 1] > from + last {
                break;
            }
            (next, is_known) = (next + (AT_ONCE * 32 * W) as u64, opaque(0));
        }
    }

    /// Sets the bits of all elements that start a segment by their flags or keys. A warp asks for those of several
    /// words of bits at once: four loads each, of whatever width, so that all else stands there once.
    #[device]
    #[inline(always)]
    fn vote<const W: usize>(self, tile: Tile, bits: Shared<u32>, words: u32) {
        let mut of_block = 0;
        // Mutants: in a turn more no word is written.
        while of_block < words {
            // Opaque, or all that follows from them would be kept in registers while vectors are on their way.
            let (kind, tile) = (opaque(self.kind), tile.again());
            let (warp, lane) = (opaque(thread_idx_x()) / 32, opaque(warp::lane_id()));
            let by_flags = kind == BY_FLAGS;
            let at_once = if by_flags { LOADS } else { LOADS / 2 } as u32;
            let bytes = 1i32 << kind.saturating_sub(BY_KEY);
            let array = self.array.offset(tile.base * bytes as u64);
            let word = opaque(of_block + at_once * warp);
            // An element's neighbour is the one before it or, backwards, behind it; where it has none, itself. What
            // lies before the tile has negative numbers.
            let is_last = tile.base + tile.left as u64 == tile.len;
            let (step, lowest) =
                if tile.reverse { (1, 0) } else { (-1, if tile.base == 0 { 0 } else { -1 }) };
            let highest = tile.left as i32 - (tile.reverse && is_last) as i32;
            // Flags of four words of bits, or keys of two, each before its neighbour.
            let even = if by_flags && tile.reverse { step } else { 0 };
            let odd = if by_flags && !tile.reverse { 0 } else { step };
            let places: [Global<u8>; LOADS] = core::array::from_fn(|i| {
                let among = if by_flags { i } else { i / 2 } as u32;
                let own = ((word + among) * 32 + lane).min(tile.left - 1) as i32;
                let place = (own + if i % 2 == 0 { even } else { odd }).max(lowest).min(highest);
                array.offset((place as i64 * bytes as i64) as u64)
            });
            let values: [u64; LOADS] = if bytes == 1 {
                places.map(|place| place.read(0) as u64)
            } else if bytes == 2 {
                places.map(|place| place.cast::<u16>().read(0) as u64)
            } else if bytes == 4 {
                places.map(|place| place.cast::<u32>().read(0) as u64)
            } else {
                places.map(|place| place.cast::<u64>().read(0))
            };
            // A lane for each of the words.
            let mut votes = 0;
            unroll::<LOADS>(|i| {
                let other = if by_flags { 0 } else { values[i ^ 1] };
                let of_word = warp_vote_ballot(FULL, values[i] != other);
                votes = if lane << !by_flags as u32 == i as u32 { of_word } else { votes };
            });
            let own = word + lane;
            if lane < at_once && own < words {
                let at = own * 32;
                let valid = if at + 32 <= tile.left { FULL } else { (1u32 << (tile.left.max(at) - at)) - 1 };
                let mut of_word = votes & valid;
                if tile.has_first() && tile.first() / 32 == own {
                    of_word |= 1 << (tile.first() % 32);
                }
                let of_word = if tile.reverse { of_word.reverse_bits() } else { of_word };
                bits.write(tile.place(at) / 32, of_word);
            }
            of_block += W as u32 * at_once;
        }
    }
}

/// 1 / `value`, wrong by less than its 2^22nd part, for a `value` from 1 to 2^64. By Newton's method: a division is a
/// call, which needs a stack.
#[inline(always)]
fn reciprocal(value: f32) -> f32 {
    // Wrong by an eighth at most; each step squares that, and the last rounds twice.
    let mut result = f32::from_bits(0x7ef3_11c7 - value.to_bits());
    unroll::<4>(|_| result = mul_add(result, mul_add(-value, result, 1.0), result));
    result
}

/// From `from` to the next multiple of `length`, of which `each` is the [`reciprocal`]. By estimates: a division of
/// 64 bits is a call, which needs a stack.
#[inline(always)]
fn distance_to_multiple(from: u64, length: u64, each: f32) -> u64 {
    let mut rest = from;
    // Two times, seldom more: where the estimate has more than 32 bits.
    // Mutants: of a rest of one length there is none left to go either way.
    while rest >= length {
        keep_rolled();
        // Wrong by less than its 2^21st part before its 2^20th is taken off: never too much, or only where it is less
        // than 1.
        let times = (rest as f32 * each * (1.0 - 1.0 / 1048576.0)) as u32;
        rest -= times.max(1) as u64 * length;
    }
    if rest == 0 { 0 } else { length - rest }
}

/// Sets one bit.
#[inline(always)]
fn set(bits: Shared<u32>, at: u32) {
    bits.atomic(at / 32).fetch_or(1 << (at % 32), Ordering::Relaxed, Scope::Block);
}
