//! The CPU's scans: the oracle of the kernels, and what a machine without a GPU computes with.
//!
//! They combine in the kernels' order (see [`gpu_scan_kernels`]), so the results agree bit for bit. The cores take
//! chunks of tiles that fit their caches in turn: first the tiles' totals, in one read from memory; then, what comes
//! before the chunk being known, the results, from the cache. So memory is read once and written once, as on the GPU.
//! Within a tile the 32 vectors of a row are what vector instructions work on.

mod chunks;
mod part;
mod tile;

use gpu_scan_kernels::{GROUP, Scan, Shape};

use crate::options::Options;
pub use crate::segmented::reference::scan_segments;
use chunks::in_chunks;
use gpu_core::{Error, checks};
use part::{Apart, Part, Same};

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
    checks::output(S::NAME, input.len(), output.len())?;
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
    let bytes = "a vector has 16 bytes of the wider of input and output";
    assert_eq!(shape.vector, Shape::of::<S>().vector, "{bytes}");
    // By the constant, so that the walk is compiled for one vector only.
    match const { Shape::of::<S>().vector } {
        2 => in_chunks::<S, P, 2>(part, options, shape),
        4 => in_chunks::<S, P, 4>(part, options, shape),
        8 => in_chunks::<S, P, 8>(part, options, shape),
        16 => in_chunks::<S, P, 16>(part, options, shape),
        other => unreachable!("no element has {other} in 16 bytes"),
    }
}

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

/// The inclusive scan over lanes, by doubling distances.
#[inline(always)]
pub(crate) fn over_lanes<S: Scan>(lanes: [S::Register; LANES]) -> [S::Register; LANES] {
    let lanes = step::<S, 2>(&step::<S, 1>(&lanes));
    step::<S, 16>(&step::<S, 8>(&step::<S, 4>(&lanes)))
}

/// Lane `i` becomes lane `i - D` combined with lane `i`. From one array to another: in place no vector instruction
/// could do it.
#[inline(always)]
fn step<S: Scan, const D: usize>(from: &[S::Register; LANES]) -> [S::Register; LANES] {
    let mut lanes = *from;
    for (lane, (below, own)) in lanes[D..].iter_mut().zip(from[..LANES - D].iter().zip(&from[D..])) {
        *lane = S::combine(*below, *own);
    }
    lanes
}
