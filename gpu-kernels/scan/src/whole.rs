//! The scan of a whole array, in one launch and one pass: every element is read once and written once
//! ([`single_pass()`]).

use core::marker::PhantomData;

use gpu_collective::block::scan_warps;
use gpu_collective::grid::{Pass, Prefix, TileWork, single_pass};
use gpu_collective::vector::{Extent, Places, Room, load, store_row, store_vector};
use gpu_collective::warp::from_lane;
use gpu_collective::{Accumulator, Packed};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::thread::{grid_dependency_synchronize, thread_idx_x, trigger_launch_completion};
use gpu_std::{device, opaque, rolled, shared, unroll, warp};

use super::operator::{Flip, Scan};
use super::tile::{MAX_WORDS, Totals, identity, scan_rows, vector_total};
use super::{EXCLUSIVE, REVERSE, VECTOR_BYTES, waiting_words};

/// Scans `len` elements of `input` into `output`, which may be the same memory.
///
/// A vector has `V` elements, `N` words of the input and `M` of the output; a thread has `L` of them in a tile, and a
/// block `W` warps: what [`Shape`](super::Shape) says. `mode` is a sum of [`EXCLUSIVE`] and [`REVERSE`]. `words` has
/// [`HEADER_WORDS`](crate::HEADER_WORDS) and the shape's scratch words, `capacity` in all, which were zero before the first launch that
/// was given them, and which launches have to use one after the other. Launch at most as many blocks as there are
/// tiles.
#[device]
#[inline(always)]
pub fn whole<S: Scan, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize>(
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    len: u64,
    initial: S::Register,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    whole_flipped::<S, (), V, N, M, L, W>(input, output, len, initial, mode, words, capacity, ());
}

/// As [`whole`], with the bits of `flip` flipped in all elements and results, but for `initial`, which is flipped
/// already ([`flipped`](super::flipped)): for all operators of which [`flip`](super::flip()) says how they become
/// `S`.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn whole_flipped<
    S: Scan,
    F: Flip,
    const V: usize,
    const N: usize,
    const M: usize,
    const L: usize,
    const W: usize,
>(
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    len: u64,
    initial: S::Register,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
    flip: F,
) {
    const { assert!(4 * N as u32 == V as u32 * S::Item::BYTES && 4 * M as u32 == V as u32 * S::Output::BYTES) };
    let tiles = len.div_ceil(Part::<S, V, N, M, L, W>::LEN as u64) as u32;
    let mut memory = shared::dynamic();
    let pass = Pass::new::<Totals<S>>(tiles, words, capacity, &mut memory);
    let work = Work::<S, F, V, N, M, L, W> {
        input,
        output,
        len,
        tiles,
        mode,
        flip,
        warp_totals: memory.array(W as u32 * <S::Register as Accumulator>::WORDS),
        // Where two tiles wait for what comes before them: registers would let fewer blocks run.
        rooms: memory.array(2 * Waiting::<S, V, N, L, W>::WORDS),
        exchange: memory.array(W as u32 * ROW_WORDS),
        scan: PhantomData,
    };
    grid_dependency_synchronize();
    trigger_launch_completion();
    single_pass::<Totals<S>, _>(pass, initial, initial, &work);
}

/// What a block does with a tile. A thread remembers the result of the warps before its own.
struct Work<S: Scan, F, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize> {
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    len: u64,
    tiles: u32,
    mode: u32,
    flip: F,
    warp_totals: Shared<u32>,
    rooms: Shared<u32>,
    exchange: Shared<u32>,
    scan: PhantomData<fn() -> S>,
}

impl<S: Scan, F: Flip, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize>
    Work<S, F, V, N, M, L, W>
{
    #[inline(always)]
    fn waiting(&self, room: u32) -> Waiting<S, V, N, L, W> {
        Waiting::at(self.rooms.offset(room * Waiting::<S, V, N, L, W>::WORDS))
    }
}

impl<S: Scan, F: Flip, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize>
    TileWork<Totals<S>> for Work<S, F, V, N, M, L, W>
{
    type Held = S::Register;

    #[device]
    #[inline(always)]
    fn read(&self, tile: u32, room: u32, publish: impl FnOnce(S::Register)) -> S::Register {
        let part = Part::<S, V, N, M, L, W>::new(self.len, tile, self.tiles, self.mode);
        let vectors = part.load(self.input, self.exchange, self.waiting(room).room(), self.flip);
        let totals = core::array::from_fn(|row| {
            vector_total::<S, V>(|j| S::extend(S::Item::unpack(&vectors[row], j)))
        });
        let (ends, own) = scan_rows::<S, L>(totals);
        self.waiting(room).write(vectors, ends);
        let own_warp = thread_idx_x() / 32;
        let warps = scan_warps::<_, W>(own, identity::<S>(), own_warp, self.warp_totals, S::combine);
        publish(warps.total);
        warps.before
    }

    #[device]
    #[inline(always)]
    fn write(&self, tile: u32, room: u32, around: Prefix<S::Register>, of_warps: S::Register) {
        let part = Part::<S, V, N, M, L, W>::new(self.len, tile, self.tiles, self.mode);
        part.store(self.output, self.waiting(room), around, of_warps, self.exchange, self.flip);
    }
}

/// Where the vectors of a tile wait, and the results at their ends from the start of the warp's part on. A thread
/// reads only what it wrote, so no barrier is needed.
pub(super) struct Waiting<S, const V: usize, const N: usize, const L: usize, const W: usize> {
    vectors: Shared<u32>,
    ends: Shared<u32>,
    scan: PhantomData<fn() -> S>,
}

impl<S: Scan, const V: usize, const N: usize, const L: usize, const W: usize> Waiting<S, V, N, L, W> {
    const END: usize = <S::Register as Accumulator>::WORDS as usize;
    /// Words of all vectors.
    const VECTORS: u32 = 32 * (W * L * N) as u32;
    /// Whether an end takes the place of the vector's last element, which nobody needs when the end is known.
    const IN_PLACE: bool = N == V * Self::END;
    pub(super) const WORDS: u32 =
        waiting_words(32 * W as u32, L as u32, V as u32, N as u32, Self::END as u32);

    #[inline(always)]
    pub(super) fn at(room: Shared<u32>) -> Self {
        let thread = opaque(thread_idx_x());
        Self {
            vectors: room.offset(thread * N as u32),
            ends: room.offset(Self::VECTORS + thread),
            scan: PhantomData,
        }
    }

    /// Where its vectors are.
    #[inline(always)]
    pub(super) fn room(&self) -> Room {
        Room { first: self.vectors, step: 32 * (W * N) as u32 }
    }

    #[inline(always)]
    pub(super) fn write(&self, mut vectors: [[u32; N]; L], ends: [S::Register; L]) {
        unroll::<L>(|row| {
            unroll::<MAX_WORDS>(|word| {
                if word < Self::END {
                    let bits = ends[row].word(word as u32);
                    if Self::IN_PLACE {
                        vectors[row][N - Self::END + word] = bits;
                    } else {
                        self.ends.write(32 * (W * (row * Self::END + word)) as u32, bits);
                    }
                }
            });
            self.vectors.write_vec(32 * (row * W * N) as u32, vectors[row]);
        });
    }

    /// The thread's vector in row `row`, but for its last element, and the result at its end.
    #[inline(always)]
    pub(super) fn read(&self, row: usize) -> ([u32; N], S::Register) {
        let vector: [u32; N] = self.vectors.read_vec(32 * (row * W * N) as u32);
        let end = Accumulator::from_words(&mut |word| {
            if Self::IN_PLACE {
                vector[N - Self::END + word as usize]
            } else {
                self.ends.read(32 * (W * (row * Self::END + word as usize)) as u32)
            }
        });
        (vector, end)
    }
}

/// A tile and the thread's place in it.
struct Part<S, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize> {
    /// The tile's first element.
    base: u64,
    /// Elements of the tile.
    left: u32,
    places: Places,
    /// Where the warp's room for a row starts.
    row: u32,
    exclusive: bool,
    scan: PhantomData<fn() -> S>,
}

impl<S: Scan, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize>
    Part<S, V, N, M, L, W>
{
    const LEN: u32 = 32 * (W * L * V) as u32;

    #[inline(always)]
    fn new(len: u64, tile: u32, tiles: u32, mode: u32) -> Self {
        // Opaque: the compiler would keep all addresses of the thread, from tile to tile and from the loads to the
        // stores, in 40 registers.
        let (thread, tile) = (opaque(thread_idx_x()), opaque(tile));
        let reverse = mode & REVERSE != 0;
        let base = (if reverse { tiles - 1 - tile } else { tile }) as u64 * Self::LEN as u64;
        Self {
            base,
            left: (len - base).min(Self::LEN as u64) as u32,
            places: Places::new(thread, W as u32, V as u32, L as u32, reverse),
            row: thread / 32 * ROW_WORDS,
            exclusive: mode & EXCLUSIVE != 0,
            scan: PhantomData,
        }
    }

    /// The tile in an array at `address`, whose vectors have `words` words.
    #[inline(always)]
    fn extent(&self, address: u64, words: usize) -> Extent {
        let is_aligned = address.is_multiple_of(4 * words as u64);
        Extent { left: self.left, is_complete: self.left == Self::LEN, is_aligned }
    }

    #[inline(always)]
    fn load(
        &self,
        input: Global<S::Item>,
        exchange: Shared<u32>,
        room: Room,
        flip: impl Flip,
    ) -> [[u32; N]; L] {
        let extent = self.extent(input.address(), N);
        let (tile, exchange) = (input.offset(self.base), exchange.offset(self.row));
        let fill = flip.nothing::<S, N>();
        let vectors = load::<S::Item, V, N, L>(tile, self.places, extent, fill, exchange, room);
        core::array::from_fn(|row| flip.words(vectors[row]))
    }

    /// Writes the results of the thread's vectors in `waiting`. Around the tile is `around`, and `of_warps` is the
    /// result of the warps before the thread's own.
    #[inline(always)]
    fn store(
        &self,
        output: GlobalMut<S::Output>,
        waiting: Waiting<S, V, N, L, W>,
        around: Prefix<S::Register>,
        of_warps: S::Register,
        exchange: Shared<u32>,
        flip: impl Flip,
    ) {
        let lane = warp::lane_id();
        let extent = self.extent(output.address(), M);
        let (tile, exchange) = (output.offset(self.base), exchange.offset(self.row));
        let first_before = S::combine(around.before, of_warps);
        let is_last = self.row == (W as u32 - 1) * ROW_WORDS && lane == 31;
        // The results of a row, of which `before_row` is the one before: packed, and the last one.
        let results = |row: usize, before_row: S::Register| {
            let (elements, end) = waiting.read(row);
            let mut end = S::combine(around.before, S::combine(of_warps, end));
            if row == L - 1 && is_last {
                end = around.with;
            }
            // The result before a vector is that at the end of the one before: in the lane below, or in the last lane
            // of the row above.
            let below = from_lane(end, (lane + 31) % 32);
            let before = if lane == 0 { before_row } else { below };

            let mut packed = [0; M];
            let mut previous = before;
            let mut vector = S::extend(S::Item::unpack(&elements, 0));
            unroll::<V>(|j| {
                let result = if j + 1 < V {
                    if j > 0 {
                        vector = S::combine(vector, S::extend(S::Item::unpack(&elements, j)));
                    }
                    S::combine(before, vector)
                } else {
                    end
                };
                S::output(if self.exclusive { previous } else { result }).pack(&mut packed, j);
                previous = result;
            });
            (flip.words(packed), below)
        };
        if extent.is_aligned {
            let mut before_row = first_before;
            unroll::<L>(|row| {
                let (packed, last) = results(row, before_row);
                before_row = last;
                if self.places.has_vectors(row as u32, V as u32, extent) {
                    store_vector::<S::Output, V, M>(tile, self.places, row as u32, packed);
                }
            });
        }
        // The rows that are moved element by element: all, or that in which the array ends. In a loop, so that their
        // code stands there once.
        if !extent.is_aligned || !self.left.is_multiple_of(32 * V as u32) {
            let mut before_row = first_before;
            let mut row = 0;
            while row < L as u32 {
                row = rolled(row);
                let (packed, last) = results(row as usize, before_row);
                before_row = last;
                if warp::uniform(self.places.has_elements(row, V as u32, extent)) {
                    store_row::<S::Output, V, M>(tile, self.places, row, packed, extent, exchange, lane);
                }
                row += 1;
            }
        }
    }
}

/// Words of a row of vectors.
pub(super) const ROW_WORDS: u32 = 32 * VECTOR_BYTES / 4;
