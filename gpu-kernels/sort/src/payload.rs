//! What moves with the keys.

use gpu_std::memory::{Element, Global, GlobalMut, Shared};
use gpu_std::thread::sync_threads;
use gpu_std::{device, rolled, unroll};

use super::packed::Packed;
use super::sweep::Tile;

/// What moves with the keys of a tile.
pub trait Payload: Copy {
    /// Whether there is anything.
    const MOVES: bool;

    /// Moves it. `places.get(l)` is the place of the thread's key of row `l` among those of the tile, sorted by this
    /// digit; `to(l)` that, in the output, of the key at place `threads * l + thread` of a complete tile, and
    /// `to_of_last(l)` of another, where `l` may be known at run time only. `exchange` has room for the tile. Uses
    /// barriers.
    fn carry<const L: usize>(
        self,
        tile: &Tile,
        places: Packed<16, L>,
        to: impl Fn(usize) -> u64,
        to_of_last: impl Fn(usize) -> u64,
        exchange: Shared<u8>,
    );
}

/// Nothing.
impl Payload for () {
    const MOVES: bool = false;

    #[inline(always)]
    fn carry<const L: usize>(
        self,
        _: &Tile,
        _: Packed<16, L>,
        _: impl Fn(usize) -> u64,
        _: impl Fn(usize) -> u64,
        _: Shared<u8>,
    ) {
    }
}

/// The bits of a value, which may be an index: `u32` or `u64`.
pub trait Value: Element {
    /// The index as a value, modulo what it can hold.
    fn of_index(index: u64) -> Self;
}

impl Value for u32 {
    #[inline(always)]
    fn of_index(index: u64) -> Self {
        index as u32
    }
}

impl Value for u64 {
    #[inline(always)]
    fn of_index(index: u64) -> Self {
        index
    }
}

/// Values, one for each key.
#[derive(Clone, Copy)]
pub struct Pairs<V: Value> {
    /// Where they are.
    pub input: Global<V>,
    /// Where they go.
    pub output: GlobalMut<V>,
    /// Whether they are the keys' indices instead.
    pub indices: bool,
}

impl<V: Value> Payload for Pairs<V> {
    const MOVES: bool = true;

    #[device]
    #[inline(always)]
    fn carry<const L: usize>(
        self,
        tile: &Tile,
        places: Packed<16, L>,
        to: impl Fn(usize) -> u64,
        to_of_last: impl Fn(usize) -> u64,
        exchange: Shared<u8>,
    ) {
        let input = self.input.offset(tile.base);
        let exchange = exchange.cast::<V>();
        let mut values = [V::default(); L];
        unroll::<L>(|row| {
            let at = tile.place::<L>(row);
            if !self.indices && at < tile.left {
                values[row] = input.read(at);
            }
        });
        if self.indices {
            unroll::<L>(|row| values[row] = V::of_index(tile.base + tile.place::<L>(row) as u64));
        }
        // The keys have been read from there.
        sync_threads();
        unroll::<L>(|row| exchange.write(places.get(row), values[row]));
        sync_threads();
        if tile.left == tile.len {
            unroll::<L>(|row| self.output.offset(to(row)).write(0, exchange.read(tile.sorted(row))));
        } else {
            let mut row = 0;
            // Mutants: one more row is behind the tile.
            while row < L as u32 {
                row = rolled(row);
                let at = tile.sorted(row as usize);
                if at < tile.left {
                    self.output.offset(to_of_last(row as usize)).write(0, exchange.read(at));
                }
                row += 1;
            }
        }
    }
}
