//! A tile's way between global memory and registers.
//!
//! Where the array is aligned, a thread moves whole vectors, but for the row in which the array ends. That row, and
//! all rows of other arrays, a warp moves element by element, neighbouring lanes neighbouring elements, and exchanges
//! them through shared memory.

use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::warp::{self, sync_warp};
use gpu_std::{device, opaque, rolled, unroll};

use crate::Packed;

/// Where a thread's vectors lie in their tile, which is read backwards in a reverse scan.
#[derive(Clone, Copy)]
pub struct Places {
    /// The first element of its vector in row 0.
    first: u32,
    /// From there to the vector in the next row, modulo 2^32.
    step: u32,
    /// How many vectors of the row lie before it.
    before: u32,
    reverse: bool,
}

impl Places {
    /// Those of thread `thread` of `32 * warps`, with `rows` vectors of `vector` elements.
    #[inline(always)]
    pub fn new(thread: u32, warps: u32, vector: u32, rows: u32, reverse: bool) -> Self {
        let lane = thread % 32;
        let unit = thread / 32 * rows * 32 + lane;
        let last = 32 * warps * rows - 1;
        Self {
            first: if reverse { last - unit } else { unit } * vector,
            step: if reverse { (32 * vector).wrapping_neg() } else { 32 * vector },
            before: if reverse { 31 - lane } else { lane },
            reverse,
        }
    }

    /// The first element of its vector in row `row`.
    #[inline(always)]
    pub fn vector(self, row: u32) -> u32 {
        self.first.wrapping_add(self.step.wrapping_mul(row))
    }

    /// Whether row `row` is moved by vectors: whole and aligned.
    #[inline(always)]
    pub fn has_vectors(self, row: u32, vector: u32, extent: Extent) -> bool {
        extent.is_aligned && extent.has_row(self.start(row, vector), vector)
    }

    /// Whether row `row` is moved element by element.
    #[inline(always)]
    pub fn has_elements(self, row: u32, vector: u32, extent: Extent) -> bool {
        // Mutants: a row that starts where the tile ends stores nothing.
        !self.has_vectors(row, vector, extent) && self.start(row, vector) < extent.left
    }

    /// The first element of row `row`.
    #[inline(always)]
    fn start(self, row: u32, vector: u32) -> u32 {
        self.vector(row) - self.before * vector
    }
}

/// How much of a tile there is, and how it lies in memory.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Its elements.
    pub left: u32,
    /// Whether that is all a tile can have.
    pub is_complete: bool,
    /// Whether its vectors are aligned.
    pub is_aligned: bool,
}

impl Extent {
    #[inline(always)]
    fn has_row(self, start: u32, vector: u32) -> bool {
        start + 32 * vector <= self.left
    }
}

/// Elements that are asked for before the first is waited for, where they are read one by one.
const AT_ONCE: usize = 4;

/// Where a thread's vectors of a tile wait for what comes before it: it alone writes and reads them there.
#[derive(Clone, Copy)]
pub struct Room {
    /// The thread's vector in row 0.
    pub first: Shared<u32>,
    /// From there to that in the next row.
    pub step: u32,
}

impl Room {
    #[inline(always)]
    fn write<const N: usize>(self, row: u32, vector: [u32; N]) {
        self.first.write_vec(self.step * row, vector);
    }

    /// The vector in row `row`. Opaque: of this load and one of global memory, whichever it is to be, the compiler
    /// would make one load through a generic address.
    #[inline(always)]
    fn read<const N: usize>(self, row: u32) -> [u32; N] {
        self.first.read_vec(self.step * row).map(opaque)
    }
}

/// The thread's vectors of `V` elements in `N` words each. Beyond the tile's elements is what is in `fill`.
///
/// `exchange` is space for a row of the warp, and `room` that where the vectors will wait.
///
/// ```
/// use gpu_collective::vector::{Extent, Places, Room, load, store_row, store_vector};
/// use gpu_std::prelude::*;
///
/// /// Copies up to 256 bytes: a warp, a vector of 4 in a row and lane, 2 rows.
/// #[kernel]
/// pub fn copy_bytes(bytes: Global<u8>, copy: GlobalMut<u8>, left: u32) {
///     let memory = shared::dynamic().array::<u32>(96);
///     let (exchange, lane) = (memory, warp::lane_id());
///     let room = Room { first: memory.offset(32 + lane), step: 32 };
///     let extent = Extent { left, is_complete: left == 256, is_aligned: true };
///     let from = Places::new(lane, 1, 4, 2, false);
///     let vectors: [[u32; 1]; 2] = load::<u8, 4, 1, 2>(bytes, from, extent, [0], exchange, room);
///     for row in 0..2 {
///         if from.has_vectors(row, 4, extent) {
///             store_vector::<u8, 4, 1>(copy, from, row, vectors[row as usize]);
///         } else if from.has_elements(row, 4, extent) {
///             store_row::<u8, 4, 1>(copy, from, row, vectors[row as usize], extent, exchange, lane);
///         }
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # for left in [256, 255, 130, 3] {
/// #     let input: Vec<u8> = (0..left).map(|i| i as u8).collect();
/// #     let (bytes, mut copy) = (device.upload(&input)?, device.zeroed::<u8>(256)?);
/// #     let (from, to) = (bytes.view().as_global(), copy.view_mut().as_global_mut());
/// #     let config = LaunchConfig::linear(1, 32).shared(384);
/// #     unsafe { copy_bytes::launch(&device.default_stream(), config, from, to, left)? };
/// assert_eq!(copy.to_vec()?[..left as usize], input);
/// # }
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn load<T: Packed, const V: usize, const N: usize, const L: usize>(
    tile: Global<T>,
    places: Places,
    extent: Extent,
    fill: [u32; N],
    exchange: Shared<u32>,
    room: Room,
) -> [[u32; N]; L] {
    let words = tile.cast::<u32>();
    let vector = |row: u32| words.read_vec::<N>(places.vector(row) / V as u32 * N as u32);
    let mut vectors = [[0; N]; L];
    if extent.is_aligned && extent.is_complete {
        unroll::<L>(|row| vectors[row] = vector(row as u32));
    } else {
        // The rows that are moved element by element: all, or that in which the array ends.
        let (mut row, mut rows) = (0, L as u32);
        if extent.is_aligned {
            (row, rows) = (L as u32, 0);
            unroll::<L>(|i| {
                let start = places.start(i as u32, V as u32);
                if extent.has_row(start, V as u32) {
                    vectors[i] = vector(i as u32);
                } else {
                    vectors[i] = fill;
                    // Mutants: a row that starts where the tile ends is filled either way.
                    if start < extent.left {
                        (row, rows) = (i as u32, i as u32 + 1);
                    }
                }
            });
        }
        let first = row;
        while warp::uniform(row < rows) {
            let vector = load_row::<T, V, N>(tile, places, row, extent, fill, exchange);
            room.write(row, vector);
            // Opaque, or the loop would be unrolled all the same.
            row = opaque(row + 1);
        }
        // From where they wait, as no register is found by a number.
        unroll::<L>(|row| {
            if first <= row as u32 && (row as u32) < rows {
                vectors[row] = room.read::<N>(row as u32);
            }
        });
    }
    if places.reverse {
        unroll::<L>(|row| vectors[row] = T::reverse(vectors[row]));
    }
    vectors
}

/// As [`load`], but as the vectors lie in memory, so that nothing waits for those of a complete, aligned tile; those
/// of others row after row in a loop, which is less code.
///
/// ```
/// use gpu_collective::vector::{Extent, Places, Room, ask};
/// use gpu_std::prelude::*;
///
/// /// The sum of a lane's bytes, of up to 256: a vector of 4 in a row and lane, 2 rows.
/// #[kernel]
/// pub fn lane_sums(bytes: Global<u8>, sums: GlobalMut<u32>, left: u32) {
///     let memory = shared::dynamic().array::<u32>(96);
///     let lane = warp::lane_id();
///     let room = Room { first: memory.offset(32 + lane), step: 32 };
///     let extent = Extent { left, is_complete: left == 256, is_aligned: true };
///     let places = Places::new(lane, 1, 4, 2, false);
///     let vectors: [[u32; 1]; 2] = ask::<u8, 4, 1, 2>(bytes, places, extent, [0], memory, room);
///     let of = |word: u32| word.to_le_bytes().iter().map(|&byte| byte as u32).sum::<u32>();
///     sums.write(lane, of(vectors[0][0]) + of(vectors[1][0]));
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # for left in [256u32, 255, 3] {
/// #     let (bytes, mut sums) = (device.upload(&vec![1u8; left as usize])?, device.zeroed::<u32>(32)?);
/// #     let (from, to) = (bytes.view().as_global(), sums.view_mut().as_global_mut());
/// #     let config = LaunchConfig::linear(1, 32).shared(384);
/// #     unsafe { lane_sums::launch(&device.default_stream(), config, from, to, left)? };
/// assert_eq!(sums.to_vec()?.iter().sum::<u32>(), left);
/// # }
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn ask<T: Packed, const V: usize, const N: usize, const L: usize>(
    tile: Global<T>,
    places: Places,
    extent: Extent,
    fill: [u32; N],
    exchange: Shared<u32>,
    room: Room,
) -> [[u32; N]; L] {
    let vector = |row: u32| tile.cast::<u32>().read_vec::<N>(places.vector(row) / V as u32 * N as u32);
    if extent.is_complete && extent.is_aligned {
        return core::array::from_fn(|row| vector(row as u32));
    }
    let mut row = 0;
    while row < L as u32 {
        row = rolled(row);
        let vector = if warp::uniform(places.has_vectors(row, V as u32, extent)) {
            vector(row)
        } else {
            load_row::<T, V, N>(tile, places, row, extent, fill, exchange)
        };
        room.write(row, vector);
        row += 1;
    }
    core::array::from_fn(|row| room.read::<N>(row as u32))
}

/// The thread's vector in row `row`, which the warp reads element by element.
#[device]
#[inline(always)]
fn load_row<T: Packed, const V: usize, const N: usize>(
    tile: Global<T>,
    places: Places,
    row: u32,
    extent: Extent,
    fill: [u32; N],
    exchange: Shared<u32>,
) -> [u32; N] {
    let elements = exchange.cast::<T>();
    let start = places.start(row, V as u32);
    let mut at = warp::lane_id();
    while at < 32 * V as u32 {
        let loaded: [T; AT_ONCE] = core::array::from_fn(|i| {
            // Mutants: one more is read in vain: it is not written below.
            let (at, among) = (at + 32 * i as u32, i < V);
            // Behind the end the last element once more: a condition would be a branch for each.
            let element = if among { tile.read((start + at).min(extent.left - 1)) } else { T::default() };
            if start + at < extent.left { element } else { T::unpack(&fill, 0) }
        });
        unroll::<AT_ONCE>(|i| {
            if i < V {
                elements.write(at + 32 * i as u32, loaded[i]);
            }
        });
        at += 32 * AT_ONCE as u32;
    }
    sync_warp(warp::FULL);
    let vector = exchange.read_vec::<N>(places.before * N as u32);
    sync_warp(warp::FULL);
    vector
}

/// Writes the thread's vector of `M` words in row `row`, which the tile has whole and aligned. [`load`] has an
/// example.
#[inline(always)]
pub fn store_vector<T: Packed, const V: usize, const M: usize>(
    tile: GlobalMut<T>,
    places: Places,
    row: u32,
    vector: [u32; M],
) {
    let vector = if places.reverse { T::reverse(vector) } else { vector };
    let index = places.vector(row) / V as u32 * M as u32;
    tile.cast::<u32>().write_streaming_vec(index, vector);
}

/// Writes the warp's vectors in row `row`, which [has elements](Places::has_elements), as far as the tile has them.
/// `lane` is the thread's number in its warp. [`load`] has an example.
#[device]
#[inline(always)]
pub fn store_row<T: Packed, const V: usize, const M: usize>(
    tile: GlobalMut<T>,
    places: Places,
    row: u32,
    vector: [u32; M],
    extent: Extent,
    exchange: Shared<u32>,
    lane: u32,
) {
    let start = places.start(row, V as u32);
    let vector = if places.reverse { T::reverse(vector) } else { vector };
    let elements = exchange.cast::<T>();
    exchange.write_vec(places.before * M as u32, vector);
    sync_warp(warp::FULL);
    let mut at = lane;
    while at < 32 * V as u32 {
        if start + at < extent.left {
            tile.write_streaming(start + at, elements.read(at));
        }
        at += 32;
    }
    sync_warp(warp::FULL);
}
