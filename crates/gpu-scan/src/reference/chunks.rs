//! The walk of all cores through an array: each takes the next chunk of tiles, finds their totals, waits for what
//! comes before the chunk, hands on what comes before the next, and writes its results while others read.
//!
//! So no core waits for all others, and while one computes another has the memory. (2^26 `f32` on two cores of an AMD
//! EPYC, family 26, with 1 MiB of second-level cache each: 13.9 to 14.3 ms, a parallel copy 10.6 to 10.9; on 16 cores
//! of a machine with an H200 5.36 and 4.21. In batches of 2 MiB a core, with barriers between totals and results, it
//! took a sixth longer, of 512 KiB two thirds: a barrier took some 25 µs.)
//!
//! Results that are more than caches hold go past them: then nobody reads memory only to write it (a tenth of the
//! time).

use core::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpu_core::{cores, vectors};
use gpu_scan_kernels::{Scan, Shape};

use super::part::{Apart, Backwards, Part, Past, Rows};
use super::tile::{Room, Total, Write, vectors_of};
use super::{Walk, identity};
use crate::options::Options;

/// Tiles of a chunk, 16 to 20 KiB each: with 4 to 32 it took within 4 % as long.
const CHUNK: usize = 8;

/// Bytes of results of which more go past the caches.
pub(super) const STREAMED: usize = 32 << 20;

/// Rounds that a core waits before it lets other threads run.
const SPINS: u32 = 10_000;

/// Scans the tiles of an array, on all cores.
pub(super) fn in_chunks<S: Scan, P: Part<S>, const V: usize>(
    part: P,
    options: &Options<S::Output>,
    shape: Shape,
) {
    let (tile, reverse) = (shape.tile() as usize, options.reverse);
    let workers = cores::count().min(part.len().div_ceil(CHUNK * tile));
    // From a chunk to the one that its worker probably takes next.
    let bytes = (workers * CHUNK * tile * size_of::<S::Item>()) as isize;
    let next = if reverse { -bytes } else { bytes };
    let streams = part.len() * size_of::<S::Output>() > STREAMED;
    let chunks = Mutex::new(Chunks { rest: Some(part), taken: 0, tile, reverse, scan: PhantomData });
    let walk = Mutex::new(Walk::<S>::from(options.initial::<S>()));
    let turn = Turn(AtomicUsize::new(0));

    let take_all = || {
        let mut buffer = if reverse { vec![S::EMPTY; tile] } else { Vec::new() };
        let (mut room, vectors) = (Room::<S>::new(shape), vectors_of(shape));
        let mut lanes = vec![identity::<S>(); CHUNK * vectors];
        loop {
            let taken = chunks.lock().expect("nothing panics that holds it").take();
            let Some((number, mut chunk)) = taken else { return };
            let total = |(items, lanes)| {
                vectors::run(Total::<S, V> { items, reverse, shape, room: &mut room, lanes })
            };
            let tiles = chunk.items().chunks(tile).zip(lanes.chunks_exact_mut(vectors));
            let mut totals: Vec<S::Register> = tiles.map(total).collect();
            if reverse {
                totals.reverse();
            }
            if !turn.wait_for(number) {
                return;
            }
            let mut starts = walk.lock().expect("it would be nobody's turn").over(&totals);
            turn.pass_on(number);
            if reverse {
                starts.reverse();
            }
            let tiles = starts.windows(2).zip(lanes.chunks_exact(vectors)).enumerate();
            let tiles = tiles.map(|(tile_number, (starts, lanes))| (tile_number * tile, starts, lanes));
            let room = &mut room;
            if reverse {
                // By way of a buffer, tile by tile forwards: all the way backwards took 1.6 times as long (2^26 `f32`).
                for (first, starts, lanes) in tiles {
                    let end = (first + tile).min(chunk.len());
                    let buffer = &mut buffer[..end - first];
                    let rows = &mut Backwards { input: &chunk.items()[first..end], buffer };
                    let (before, with) = (starts[1], starts[0]);
                    let base = 0;
                    vectors::run(Write::<S, _, V> {
                        rows,
                        base,
                        options,
                        shape,
                        room,
                        lanes,
                        before,
                        with,
                        next,
                    });
                    chunk.results()[first..end].copy_from_slice(buffer);
                }
            } else if let (true, Some(Apart { input, output })) = (streams, chunk.apart()) {
                vectors::streamed(output, |results| {
                    forwards::<S, _, V>(&mut Past { input, results }, tiles, (options, shape, next), room);
                });
            } else {
                forwards::<S, _, V>(&mut chunk, tiles, (options, shape, next), room);
            }
        }
    };
    let work = || {
        // Whoever waits for a chunk that will not come has to know.
        let ends_waiting = EndsWaiting(&turn);
        take_all();
        core::mem::forget(ends_waiting);
    };
    match workers {
        0 => {}
        1 => work(),
        _ => cores::together(workers, &work),
    }
}

/// Writes the results of `tiles`: of each its first element among the rows', what comes before it and that with it,
/// and its lanes.
fn forwards<'a, S: Scan, P: Rows<S>, const V: usize>(
    rows: &mut P,
    tiles: impl Iterator<Item = (usize, &'a [S::Register], &'a [S::Register])>,
    (options, shape, next): (&Options<S::Output>, Shape, isize),
    room: &mut Room<S>,
) {
    for (base, starts, lanes) in tiles {
        let (before, with) = (starts[0], starts[1]);
        vectors::run(Write::<S, _, V> { rows, base, options, shape, room, lanes, before, with, next });
    }
}

/// What has not been taken yet, and how much has.
struct Chunks<S, P> {
    rest: Option<P>,
    taken: usize,
    tile: usize,
    reverse: bool,
    scan: PhantomData<fn() -> S>,
}

impl<S: Scan, P: Part<S>> Chunks<S, P> {
    /// The next chunk and its number, if there is one. Tiles are cut from the array's start; a reverse scan takes the
    /// last ones first.
    fn take(&mut self) -> Option<(usize, P)> {
        let rest = self.rest.take().filter(|rest| rest.len() > 0)?;
        let chunk;
        if self.reverse {
            let tiles = rest.len().div_ceil(self.tile);
            let (others, last) = rest.split_at(tiles.saturating_sub(CHUNK) * self.tile);
            (chunk, self.rest) = (last, Some(others));
        } else {
            let len = (CHUNK * self.tile).min(rest.len());
            let (first, others) = rest.split_at(len);
            (chunk, self.rest) = (first, Some(others));
        }
        self.taken += 1;
        Some((self.taken - 1, chunk))
    }
}

/// The number of the chunk whose worker may walk.
struct Turn(AtomicUsize);

impl Turn {
    /// No chunk's: a worker has panicked.
    const NEVER: usize = usize::MAX;

    /// Makes it the next chunk's turn, unless it is nobody's any longer.
    fn pass_on(&self, number: usize) {
        let _ = self.0.compare_exchange(number, number + 1, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Whether it became the turn of the chunk `number`. It was taken after all before it, whose workers run, and
    /// wait for nobody else.
    fn wait_for(&self, number: usize) -> bool {
        let mut rounds = 0u32;
        loop {
            match self.0.load(Ordering::Acquire) {
                turn if turn == number => return true,
                Self::NEVER => return false,
                _ if rounds < SPINS => std::hint::spin_loop(),
                _ => std::thread::yield_now(),
            }
            rounds = rounds.saturating_add(1);
        }
    }
}

/// Ends all waiting when it is dropped: when its worker panics, as a user's operator may.
struct EndsWaiting<'a>(&'a Turn);

impl Drop for EndsWaiting<'_> {
    fn drop(&mut self) {
        self.0.0.store(Turn::NEVER, Ordering::Release);
    }
}
