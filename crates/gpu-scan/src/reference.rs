//! The CPU's scans: the oracle of the kernels, and what a machine without a GPU computes with.
//!
//! They combine in the kernels' order (see [`gpu_kernels::scan`]), so the results agree bit for bit. The cores take chunks of
//! tiles that fit their caches in turn: first the tiles' totals, in one read from memory; then, what comes before the chunk being
//! known, the results, from the cache. So memory is read once and written once, as on the GPU. Within a tile the 32
//! vectors of a row are what vector instructions work on.

mod chunks;

use core::marker::PhantomData;

use gpu_core::vectors::{self, Work};
use gpu_kernels::scan::{GROUP, Scan, Shape};

use crate::error::Error;
use crate::options::Options;
pub use crate::segmented::reference::scan_segments;
use chunks::in_chunks;

/// Bytes from the results that are written to those whose memory is asked for; items are asked for a tile ahead. (One core, 2^24 `f32`: 0.46 ns
/// an element, without either 0.57.)
const RESULTS_AHEAD: usize = 2048;

pub(crate) const LANES: usize = 32;

/// Writes the scan of `input` with the operator `S` to `output`, on all cores.
///
/// # Errors
/// [`Error::OutputLength`].
///
/// ```
/// use gpu_scan::{Options, kernels::Product, reference};
/// let mut output = [0.0; 3];
/// reference::scan::<Product<f64>>(&[2.0, -1.5, 7.0], &Options::inclusive(), &mut output)?;
/// assert_eq!(output, [2.0, -3.0, -21.0]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan<S: Scan>(
    input: &[S::Item],
    options: &Options<S::Output>,
    output: &mut [S::Output],
) -> Result<(), Error> {
    if output.len() != input.len() {
        let (expected, actual) = (input.len(), output.len());
        return Err(Error::OutputLength { scan: S::NAME, expected, actual });
    }
    scan_shaped::<S, _>(Apart { input, output }, options, Shape::of::<S>());
    Ok(())
}

/// Replaces `data` by its scan with the operator `S`, on all cores.
///
/// ```
/// use gpu_scan::{Options, kernels::Sum, reference};
/// let mut data = [1, 2, 3];
/// reference::scan_in_place::<Sum<i32>>(&mut data, &Options::exclusive());
/// assert_eq!(data, [0, 1, 3]);
/// ```
pub fn scan_in_place<S: Scan<Output = <S as Scan>::Item>>(
    data: &mut [S::Output],
    options: &Options<S::Output>,
) {
    scan_shaped::<S, _>(Same { data }, options, Shape::of::<S>());
}

/// As [`scan`] for arrays of the same length, cut as `shape` says: what a kernel of another shape computes.
#[doc(hidden)]
pub fn scan_cut<S: Scan>(
    input: &[S::Item],
    options: &Options<S::Output>,
    output: &mut [S::Output],
    shape: Shape,
) {
    scan_shaped::<S, _>(Apart { input, output }, options, shape);
}

fn scan_shaped<S: Scan, P: Part<S>>(part: P, options: &Options<S::Output>, shape: Shape) {
    match shape.vector {
        2 => in_chunks::<S, P, 2>(part, options, shape),
        4 => in_chunks::<S, P, 4>(part, options, shape),
        8 => in_chunks::<S, P, 8>(part, options, shape),
        16 => in_chunks::<S, P, 16>(part, options, shape),
        other => unreachable!("no element has {other} in 16 bytes"),
    }
}

// ---- Where elements come from and results go ---------------------------------------------------------------------

/// Some consecutive elements and the places of their results.
trait Part<S: Scan>: Send + Sync + Sized {
    fn len(&self) -> usize;
    fn items(&self) -> &[S::Item];
    fn results(&mut self) -> &mut [S::Output];
    fn split_at(self, middle: usize) -> (Self, Self);
}

struct Apart<'a, I, O> {
    input: &'a [I],
    output: &'a mut [O],
}

struct Same<'a, T> {
    data: &'a mut [T],
}

impl<S: Scan> Part<S> for Apart<'_, S::Item, S::Output> {
    fn len(&self) -> usize {
        self.input.len()
    }
    fn items(&self) -> &[S::Item] {
        self.input
    }
    fn results(&mut self) -> &mut [S::Output] {
        self.output
    }
    fn split_at(self, middle: usize) -> (Self, Self) {
        let (input, output) = (self.input.split_at(middle), self.output.split_at_mut(middle));
        (Self { input: input.0, output: output.0 }, Self { input: input.1, output: output.1 })
    }
}

impl<S: Scan<Output = <S as Scan>::Item>> Part<S> for Same<'_, S::Output> {
    fn len(&self) -> usize {
        self.data.len()
    }
    fn items(&self) -> &[S::Item] {
        self.data
    }
    fn results(&mut self) -> &mut [S::Output] {
        self.data
    }
    fn split_at(self, middle: usize) -> (Self, Self) {
        let (first, second) = self.data.split_at_mut(middle);
        (Self { data: first }, Self { data: second })
    }
}

// ---- Tiles -------------------------------------------------------------------------------------------------------

/// The walk over the tiles' totals.
pub(crate) struct Walk<S: Scan> {
    /// What comes before the section.
    start: S::Register,
    /// The totals of its groups so far.
    groups: Vec<S::Register>,
    /// What comes before the group.
    before: S::Register,
    /// The totals of its tiles so far.
    tiles: Vec<S::Register>,
    /// What comes before the next tile.
    last: S::Register,
}

impl<S: Scan> Walk<S> {
    pub(crate) fn from(initial: S::Register) -> Self {
        Self {
            start: initial,
            groups: Vec::with_capacity(LANES),
            before: initial,
            tiles: Vec::with_capacity(LANES),
            last: initial,
        }
    }

    /// What comes before each of the next tiles, given their totals, and after the last.
    pub(crate) fn over(&mut self, mut totals: &[S::Register]) -> Vec<S::Register> {
        let mut starts = vec![self.last];
        while !totals.is_empty() {
            let first = self.tiles.len();
            let of_group;
            (of_group, totals) = totals.split_at(totals.len().min(GROUP as usize - first));
            self.tiles.extend_from_slice(of_group);
            let scanned = over_lanes::<S>(lanes::<S>(&self.tiles));
            starts
                .extend(scanned[first..self.tiles.len()].iter().map(|&tiles| S::combine(self.before, tiles)));
            if self.tiles.len() == LANES {
                self.tiles.clear();
                self.groups.push(scanned[LANES - 1]);
                let groups = over_lanes::<S>(lanes::<S>(&self.groups));
                self.before = S::combine(self.start, groups[self.groups.len() - 1]);
                *starts.last_mut().expect("it has one before each tile") = self.before;
                if self.groups.len() == LANES {
                    self.start = self.before;
                    self.groups.clear();
                }
            }
        }
        self.last = starts[starts.len() - 1];
        starts
    }
}

/// The values in the first lanes, the identity in the others.
fn lanes<S: Scan>(values: &[S::Register]) -> [S::Register; LANES] {
    let mut lanes = [identity::<S>(); LANES];
    lanes[..values.len()].copy_from_slice(values);
    lanes
}

pub(crate) fn identity<S: Scan>() -> S::Register {
    S::extend(S::IDENTITY)
}

/// [`total`] with wide vectors.
struct Total<'a, S, P, const V: usize> {
    part: &'a P,
    reverse: bool,
    shape: Shape,
    scan: PhantomData<fn() -> S>,
}

impl<S: Scan, P: Part<S>, const V: usize> Work for Total<'_, S, P, V> {
    type Output = S::Register;

    #[inline(always)]
    fn run(self) -> S::Register {
        total::<S, P, V>(self.part, self.reverse, self.shape)
    }
}

/// [`write`] with wide vectors.
struct Write<'a, S: Scan, P, const V: usize> {
    part: &'a mut P,
    options: &'a Options<S::Output>,
    shape: Shape,
    before: S::Register,
    with: S::Register,
    /// Bytes from the part's items to those of the same place in the chunk that is probably taken next.
    next: isize,
}

impl<S: Scan, P: Part<S>, const V: usize> Work for Write<'_, S, P, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        write::<S, P, V>(self.part, self.options, self.shape, (self.before, self.with), self.next);
    }
}

/// The total of a tile.
#[inline(always)]
fn total<S: Scan, P: Part<S>, const V: usize>(part: &P, reverse: bool, shape: Shape) -> S::Register {
    let mut total = identity::<S>();
    for warp in 0..shape.warps {
        let mut carry = identity::<S>();
        for row in 0..shape.rows {
            let start = place::<V>(shape, warp, row, reverse);
            let mut totals = [identity::<S>(); LANES];
            let row = LANES * V * size_of::<S::Item>();
            let ahead = (start + shape.tile() as usize) * size_of::<S::Item>();
            vectors::prefetch(part.items(), ahead as isize, row);
            with_row::<S, P, V>(part, start, reverse, |row| {
                for lane in 0..LANES {
                    let mut total = S::extend(row[lane][0]);
                    for item in &row[lane][1..] {
                        total = S::combine(total, S::extend(*item));
                    }
                    totals[lane] = total;
                }
            });
            carry = S::combine(carry, tree::<S>(totals));
        }
        total = S::combine(total, carry);
    }
    total
}

/// The results of a tile: `before` is that of everything before it, `with` the same with the tile.
#[inline(always)]
fn write<S: Scan, P: Part<S>, const V: usize>(
    part: &mut P,
    options: &Options<S::Output>,
    shape: Shape,
    (before, with): (S::Register, S::Register),
    next: isize,
) {
    let mut warps = identity::<S>();
    let mut previous = before;
    for warp in 0..shape.warps {
        let mut carry = identity::<S>();
        for row in 0..shape.rows {
            let start = place::<V>(shape, warp, row, options.reverse);
            let mut vectors = [[identity::<S>(); LANES]; V];
            // Backwards they go to a buffer, which is in a cache.
            if !options.reverse {
                let row = LANES * V * size_of::<S::Output>();
                let ahead = start * size_of::<S::Output>() + RESULTS_AHEAD;
                vectors::prefetch(part.results(), ahead as isize, row);
            }
            let items = LANES * V * size_of::<S::Item>();
            vectors::prefetch(part.items(), (start * size_of::<S::Item>()) as isize + next, items);
            with_row::<S, P, V>(part, start, options.reverse, |row| {
                for lane in 0..LANES {
                    let mut total = S::extend(row[lane][0]);
                    vectors[0][lane] = total;
                    for j in 1..V {
                        total = S::combine(total, S::extend(row[lane][j]));
                        vectors[j][lane] = total;
                    }
                }
            });
            let lanes = over_lanes::<S>(vectors[V - 1]);
            // The result before the row, then those at the end of each of its vectors.
            let mut ends = [previous; LANES + 1];
            for (end, lane) in ends[1..].iter_mut().zip(&lanes) {
                *end = S::combine(before, S::combine(warps, S::combine(carry, *lane)));
            }
            carry = S::combine(carry, lanes[LANES - 1]);
            if warp + 1 == shape.warps && row + 1 == shape.rows {
                ends[LANES] = with;
            }
            previous = ends[LANES];
            // Where results go is known in two of the calls, or the compiler would add element by element (a third more time). Not for
            // vectors of two, of which those of wider sums would take a third more time than so.
            let sums = match (V, options.exclusive) {
                (2, exclusive) => results::<S, V>(exclusive as usize, &ends, &vectors),
                (_, true) => results::<S, V>(1, &ends, &vectors),
                (_, false) => results::<S, V>(0, &ends, &vectors),
            };
            put::<S, P, V>(part, start, options.reverse, |results| {
                for lane in 0..LANES {
                    for j in 0..V {
                        results[lane][j] = S::output(sums[j][lane]);
                    }
                }
            });
        }
        warps = S::combine(warps, carry);
    }
}

/// The results of a row, in the vectors' places so that the loops are over lanes: those of all elements of a vector but its last, `own` places
/// further (1 for an exclusive scan), and in the place that is left those before the vectors or at their ends, from `ends`.
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

/// The first element, in memory, of a row of a tile.
fn place<const V: usize>(shape: Shape, warp: u32, row: u32, reverse: bool) -> usize {
    let rows = shape.warps * shape.rows;
    let number = warp * shape.rows + row;
    (if reverse { rows - 1 - number } else { number }) as usize * LANES * V
}

/// Gives `take` the row that starts at `start`; where there are no elements it has identities.
#[inline(always)]
fn with_row<S: Scan, P: Part<S>, const V: usize>(
    part: &P,
    start: usize,
    reverse: bool,
    take: impl FnOnce(&[[S::Item; V]; LANES]),
) {
    let items = part.items().get(start..).unwrap_or_default();
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

/// Puts the results that `give` writes where a row's elements are.
#[inline(always)]
fn put<S: Scan, P: Part<S>, const V: usize>(
    part: &mut P,
    start: usize,
    reverse: bool,
    give: impl FnOnce(&mut [[S::Output; V]; LANES]),
) {
    let places = part.results().get_mut(start..).unwrap_or_default();
    if !reverse && places.len() >= V * LANES {
        let row = places.as_chunks_mut::<V>().0.first_chunk_mut::<LANES>();
        return give(row.expect("a row is that long"));
    }
    let mut copy = [[S::EMPTY; V]; LANES];
    give(&mut copy);
    if reverse {
        copy.as_flattened_mut().reverse();
    }
    let len = places.len().min(V * LANES);
    places[..len].copy_from_slice(&copy.as_flattened()[..len]);
}

/// The inclusive scan over lanes, by doubling distances.
#[inline(always)]
pub(crate) fn over_lanes<S: Scan>(lanes: [S::Register; LANES]) -> [S::Register; LANES] {
    let lanes = step::<S, 2>(&step::<S, 1>(&lanes));
    step::<S, 16>(&step::<S, 8>(&step::<S, 4>(&lanes)))
}

/// Lane `i` becomes lane `i - D` combined with lane `i`. From one array to another: in place no vector instruction could do it.
#[inline(always)]
fn step<S: Scan, const D: usize>(from: &[S::Register; LANES]) -> [S::Register; LANES] {
    let mut lanes = *from;
    for (lane, (below, own)) in lanes[D..].iter_mut().zip(from[..LANES - D].iter().zip(&from[D..])) {
        *lane = S::combine(*below, *own);
    }
    lanes
}

/// The last lane of that scan alone: a tree of neighbours.
#[inline(always)]
fn tree<S: Scan>(mut lanes: [S::Register; LANES]) -> S::Register {
    for width in [16, 8, 4, 2, 1] {
        for lane in 0..width {
            lanes[lane] = S::combine(lanes[2 * lane], lanes[2 * lane + 1]);
        }
    }
    lanes[0]
}

#[cfg(test)]
#[path = "reference_tests.rs"]
mod tests;
