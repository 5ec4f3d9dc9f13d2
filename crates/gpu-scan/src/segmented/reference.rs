//! The CPU's scans of segments: the kernels' order, tile by tile on all cores.

use gpu_core::{Segments, checks, cores};
use gpu_scan_kernels::segmented::{BySegment, Since, element, shape};
use gpu_scan_kernels::{Scan, Shape};

use super::starts::fill;
use crate::options::Options;
use crate::reference::{LANES, Walk, identity, over_lanes};
use gpu_core::Error;

type Register<S> = Since<<S as Scan>::Register>;

/// Writes the scan of each segment of `input` with the operator `S` to `output`, on all cores.
///
/// # Errors
/// [`Error::OutputLength`]; [`Error::InputLengths`] and [`Invalid::BeyondEnd`](gpu_core::segments::Invalid::BeyondEnd)
/// where the segments are not those of `input`; those of the device where they were not made of memory of the host.
///
/// ```
/// use gpu_scan::{Options, Segments, kernels::Max, reference};
/// let mut highest = [0; 5];
/// let segments = Segments::by_key(&[7u16, 7, 7, 9, 9]);
/// reference::scan_segments::<Max<i32>>(&[1, 5, 3, -2, -4], &segments, &Options::inclusive(), &mut highest)?;
/// assert_eq!(highest, [1, 5, 5, -2, -2]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan_segments<'s, S: Scan>(
    input: &[S::Item],
    segments: impl Into<Segments<'s>>,
    options: &Options<S::Output>,
    output: &mut [S::Output],
) -> Result<(), Error> {
    let segments = segments.into();
    checks::output(S::NAME, input.len(), output.len())?;
    segments.expect(&gpu_core::Device::cpu().default_stream(), S::NAME, input.len())?;
    let shape = shape::<S>();
    let tile = shape.tile() as usize;
    let initial = options.initial::<S>();
    let load = |number: usize| {
        let base = number * tile;
        let items = &input[base..(base + tile).min(input.len())];
        elements::<S>(items, base, input.len(), segments, options.reverse, initial, tile)
    };
    let tiles = input.len().div_ceil(tile);
    let mut totals: Vec<Register<S>> =
        cores::collect(tiles, |number| Ends::<S>::new(&load(number), shape).total);
    if options.reverse {
        totals.reverse();
    }
    let mut starts = Walk::<BySegment<S>>::from(identity::<BySegment<S>>()).over(&totals);
    if options.reverse {
        starts.reverse();
    }
    cores::chunks(output, tile, 1, |number, output| {
        let (mut before, mut with) = (starts[number], starts[number + 1]);
        if options.reverse {
            std::mem::swap(&mut before, &mut with);
        }
        let elements = load(number);
        let results = results::<S>(&elements, &Ends::new(&elements, shape), shape, before, with);
        let result = |at: usize| {
            let own = if options.exclusive && elements[at].starts() {
                initial
            } else if !options.exclusive {
                results[at].value
            } else {
                at.checked_sub(1).map_or(before, |at| results[at]).value
            };
            S::output(own)
        };
        for (at, place) in output.iter_mut().enumerate() {
            // A tile that is read backwards begins with what it lacks.
            *place = result(if options.reverse { tile - 1 - at } else { at });
        }
    });
    Ok(())
}

/// A tile's elements in the order of the scan; what it lacks are identities.
fn elements<S: Scan>(
    items: &[S::Item],
    base: usize,
    len: usize,
    segments: Segments<'_>,
    reverse: bool,
    initial: S::Register,
    tile: usize,
) -> Vec<Register<S>> {
    // Backwards, an element starts a segment if one starts at the next.
    let mut starts = vec![true; items.len()];
    if reverse {
        let known = items.len().min(len - base - 1);
        fill(segments, base + 1, &mut starts[..known]);
    } else {
        fill(segments, base, &mut starts);
    }
    let own = items.iter().zip(&starts).map(|(item, start)| element::<S>(*item, *start, initial));
    let mut elements: Vec<_> = own.collect();
    elements.resize(tile, identity::<BySegment<S>>());
    if reverse {
        elements.reverse();
    }
    elements
}

/// What is known of a tile alone.
struct Ends<S: Scan> {
    /// At the ends of the vectors, from the start of their warp's part on.
    vectors: Vec<Register<S>>,
    /// Before each warp's part.
    warps: Vec<Register<S>>,
    total: Register<S>,
}

impl<S: Scan> Ends<S> {
    fn new(elements: &[Register<S>], shape: Shape) -> Self {
        let combine = BySegment::<S>::combine;
        let (vector, row) = (shape.vector as usize, LANES * shape.vector as usize);
        let mut ends = Self { vectors: Vec::new(), warps: Vec::new(), total: identity::<BySegment<S>>() };
        for warp in elements.chunks(row * shape.rows as usize) {
            let mut carry = identity::<BySegment<S>>();
            for row in warp.chunks(row) {
                let mut lanes = [carry; LANES];
                for (lane, vector) in lanes.iter_mut().zip(row.chunks(vector)) {
                    *lane = vector[1..].iter().fold(vector[0], |total, item| combine(total, *item));
                }
                let lanes = over_lanes::<BySegment<S>>(lanes);
                ends.vectors.extend(lanes.iter().map(|lane| combine(carry, *lane)));
                carry = combine(carry, lanes[LANES - 1]);
            }
            ends.warps.push(ends.total);
            ends.total = combine(ends.total, carry);
        }
        ends
    }
}

/// The inclusive results of a tile; `before` is that of everything before it, `with` the same with the tile.
fn results<S: Scan>(
    elements: &[Register<S>],
    ends: &Ends<S>,
    shape: Shape,
    before: Register<S>,
    with: Register<S>,
) -> Vec<Register<S>> {
    let combine = BySegment::<S>::combine;
    let vectors_of_warp = LANES * shape.rows as usize;
    let mut results = Vec::with_capacity(elements.len());
    let mut previous = combine(before, ends.warps[0]);
    for (number, vector) in elements.chunks(shape.vector as usize).enumerate() {
        if number % vectors_of_warp == 0 {
            previous = combine(before, ends.warps[number / vectors_of_warp]);
        }
        let mut total = vector[0];
        for (j, item) in vector[..vector.len() - 1].iter().enumerate() {
            total = if j > 0 { combine(total, *item) } else { total };
            results.push(combine(previous, total));
        }
        let own = combine(ends.warps[number / vectors_of_warp], ends.vectors[number]);
        let is_last = (number + 1) * vector.len() == elements.len();
        previous = if is_last { with } else { combine(before, own) };
        results.push(previous);
    }
    results
}
