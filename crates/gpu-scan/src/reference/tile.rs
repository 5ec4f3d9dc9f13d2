//! What a core does with a tile: first it finds the tile's total, and when it knows what comes before, the results.
//!
//! Lanes of vector instructions are neighbours in memory, of which few operations take two of the same vector. So the
//! scan over the lanes of a row goes through memory, a step at a time for all rows of the tile: what a step reads was
//! written long before, and a vector that begins within another one costs no more than any. (Row by row, each step
//! waits until the one before has left the processor's store queue: 1.4 times as long for sums of `f32`.)

use gpu_core::vectors::{self, Work};
use gpu_scan_kernels::{Scan, Shape};

use super::part::Rows;
use super::{LANES, identity};
use crate::options::Options;

/// Bytes from the results that are written to those whose memory is asked for; items are asked for a tile ahead.
/// (With 2 to 16 KiB it took within 5 % as long.)
const RESULTS_AHEAD: usize = 2048;

/// The farthest that a step of the scan over lanes reaches.
const FARTHEST: usize = LANES / 2;

/// Room for what a core knows of a tile's vectors.
pub(super) struct Room<S: Scan> {
    /// Two arrays of a register for each vector, behind as many as a step reaches before the first.
    steps: [Vec<S::Register>; 2],
    /// What comes before each of the vectors, and after the last.
    ends: Vec<S::Register>,
}

impl<S: Scan> Room<S> {
    pub(super) fn new(shape: Shape) -> Self {
        let room = || vec![identity::<S>(); FARTHEST + vectors_of(shape)];
        Self { steps: [room(), room()], ends: vec![identity::<S>(); vectors_of(shape) + 1] }
    }
}

/// The vectors of a tile.
pub(super) fn vectors_of(shape: Shape) -> usize {
    (shape.warps * shape.rows) as usize * LANES
}

/// Finds the total of a tile, and `lanes`: for each of its vectors that of the row up to the vector's end.
pub(super) struct Total<'a, S: Scan, const V: usize> {
    /// From the tile's first on, as many as there are.
    pub(super) items: &'a [S::Item],
    pub(super) reverse: bool,
    pub(super) shape: Shape,
    pub(super) room: &'a mut Room<S>,
    pub(super) lanes: &'a mut [S::Register],
}

impl<S: Scan, const V: usize> Work for Total<'_, S, V> {
    type Output = S::Register;

    #[inline(always)]
    fn run(self) -> S::Register {
        let Self { items, reverse, shape, room, lanes } = self;
        let [even, odd] = &mut room.steps;
        for (number, totals) in even[FARTHEST..].as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let start = place::<V>(shape, number, reverse);
            let row = LANES * V * size_of::<S::Item>();
            let ahead = (start + shape.tile() as usize) * size_of::<S::Item>();
            vectors::prefetch(items, ahead as isize, row);
            with_row::<S, V>(items, start, reverse, |row| {
                for lane in 0..LANES {
                    let mut total = S::extend(row[lane][0]);
                    for item in &row[lane][1..] {
                        total = S::combine(total, S::extend(*item));
                    }
                    totals[lane] = total;
                }
            });
        }
        step::<S, 1>(even, &mut odd[FARTHEST..]);
        step::<S, 2>(odd, &mut even[FARTHEST..]);
        step::<S, 4>(even, &mut odd[FARTHEST..]);
        step::<S, 8>(odd, &mut even[FARTHEST..]);
        step::<S, 16>(even, lanes);
        let mut total = identity::<S>();
        for rows in lanes.chunks_exact(shape.rows as usize * LANES) {
            let carry = rows
                .as_chunks::<LANES>()
                .0
                .iter()
                .fold(identity::<S>(), |carry, row| S::combine(carry, row[LANES - 1]));
            total = S::combine(total, carry);
        }
        total
    }
}

/// Of each row, lane `i` becomes lane `i - D` combined with lane `i`.
#[inline(always)]
fn step<S: Scan, const D: usize>(from: &[S::Register], to: &mut [S::Register]) {
    // One loop for all rows: of a loop for each the compiler makes no vectors.
    let (own, below) = (&from[FARTHEST..], &from[FARTHEST - D..]);
    for (((to, own), below), place) in to.iter_mut().zip(own).zip(below).zip(0u32..) {
        let both = S::combine(*below, *own);
        *to = if place % (LANES as u32) < D as u32 { *own } else { both };
    }
}

/// Writes the results of a tile.
pub(super) struct Write<'a, S: Scan, P, const V: usize> {
    pub(super) rows: &'a mut P,
    /// Which of the rows' elements is the tile's first.
    pub(super) base: usize,
    pub(super) options: &'a Options<S::Output>,
    pub(super) shape: Shape,
    pub(super) room: &'a mut Room<S>,
    /// What [`Total`] found.
    pub(super) lanes: &'a [S::Register],
    /// What comes before the tile, and that with the tile.
    pub(super) before: S::Register,
    pub(super) with: S::Register,
    /// Bytes from the items to those of the same place in the chunk that is probably taken next.
    pub(super) next: isize,
}

impl<S: Scan, P: Rows<S>, const V: usize> Work for Write<'_, S, P, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { rows, base, options, shape, room, lanes, before, with, next } = self;
        find_ends(room, lanes, shape, (before, with));
        for number in 0..(shape.warps * shape.rows) as usize {
            let start = base + place::<V>(shape, number, options.reverse);
            let (item, output) = (size_of::<S::Item>(), size_of::<S::Output>());
            rows.ask(start * output + RESULTS_AHEAD, LANES * V * output);
            vectors::prefetch(rows.items(), (start * item) as isize + next, LANES * V * item);
            let mut vectors = [[identity::<S>(); LANES]; V];
            with_row::<S, V>(rows.items(), start, options.reverse, |row| {
                for lane in 0..LANES {
                    let mut total = S::extend(row[lane][0]);
                    vectors[0][lane] = total;
                    for j in 1..V {
                        total = S::combine(total, S::extend(row[lane][j]));
                        vectors[j][lane] = total;
                    }
                }
            });
            let ends: &[S::Register; LANES + 1] =
                room.ends[number * LANES..].first_chunk().expect("each row has its ends");
            // Where results go is known in two of the calls, or the compiler would add element by element (a third
            // more time). Not for vectors of two, of which those of wider sums would take a third more time than so.
            let sums = match (V, options.exclusive) {
                (2, exclusive) => results::<S, V>(exclusive as usize, ends, &vectors),
                (_, true) => results::<S, V>(1, ends, &vectors),
                (_, false) => results::<S, V>(0, ends, &vectors),
            };
            rows.put::<V>(start, |results| {
                for lane in 0..LANES {
                    for j in 0..V {
                        results[lane][j] = S::output(sums[j][lane]);
                    }
                }
            });
        }
    }
}

/// What comes before each vector of the tile, and after its last.
#[inline(always)]
fn find_ends<S: Scan>(
    room: &mut Room<S>,
    lanes: &[S::Register],
    shape: Shape,
    (before, with): (S::Register, S::Register),
) {
    let [warps, carries] = &mut room.steps;
    let mut of_warps = identity::<S>();
    let warp = shape.rows as usize * LANES;
    for ((warps, carries), lanes) in
        warps.chunks_exact_mut(warp).zip(carries.chunks_exact_mut(warp)).zip(lanes.chunks_exact(warp))
    {
        warps.fill(of_warps);
        let mut carry = identity::<S>();
        for (carries, lanes) in
            carries.as_chunks_mut::<LANES>().0.iter_mut().zip(lanes.as_chunks::<LANES>().0)
        {
            *carries = [carry; LANES];
            carry = S::combine(carry, lanes[LANES - 1]);
        }
        of_warps = S::combine(of_warps, carry);
    }
    // Again one loop for all rows.
    room.ends[0] = before;
    for (((end, lane), carry), warps) in
        room.ends[1..].iter_mut().zip(lanes).zip(carries.iter()).zip(warps.iter())
    {
        *end = S::combine(before, S::combine(*warps, S::combine(*carry, *lane)));
    }
    room.ends[lanes.len()] = with;
}

/// The results of a row, in the vectors' places so that the loops are over lanes: those of all elements of a vector
/// but its last, `own` places further (1 for an exclusive scan), and in the place that is left those before the
/// vectors or at their ends, from `ends`.
#[inline(always)]
fn results<S: Scan, const V: usize>(
    own: usize,
    ends: &[S::Register; LANES + 1],
    vectors: &[[S::Register; LANES]; V],
) -> [[S::Register; LANES]; V] {
    let mut results = *vectors;
    for j in 0..V - 1 {
        for lane in 0..LANES {
            results[j + own][lane] = S::combine(ends[lane], vectors[j][lane]);
        }
    }
    results[(1 - own) * (V - 1)].copy_from_slice(&ends[1 - own..][..LANES]);
    results
}

/// The first element, in memory, of row `number` of a tile.
fn place<const V: usize>(shape: Shape, number: usize, reverse: bool) -> usize {
    let rows = (shape.warps * shape.rows) as usize;
    (if reverse { rows - 1 - number } else { number }) * LANES * V
}

/// Gives `take` the row that starts at `start`; where there are no elements it has identities.
#[inline(always)]
fn with_row<S: Scan, const V: usize>(
    items: &[S::Item],
    start: usize,
    reverse: bool,
    take: impl FnOnce(&[[S::Item; V]; LANES]),
) {
    let items = items.get(start..).unwrap_or_default();
    let mut copy;
    let row = match items.as_chunks::<V>().0.first_chunk::<LANES>() {
        Some(row) if !reverse => row,
        _ => {
            copy = [[S::IDENTITY; V]; LANES];
            let len = items.len().min(V * LANES);
            copy.as_flattened_mut()[..len].copy_from_slice(&items[..len]);
            if reverse {
                copy.as_flattened_mut().reverse();
            }
            &copy
        }
    };
    take(row);
}
