//! Counts of selections and of sorts of segments: two smaller arrays, cut as the large one is.

use std::error::Error;

use gpu_benches::shapes::{Cut, Op, Shape, measure, offsets};
use gpu_core::Device;
use gpu_examples::predicted::{Counted, side_by_side};
use gpu_model::waves::{Counts, simulated};
use gpu_sort::TopK;

use super::cases::Counting;
use super::scaling::stops_growing;

/// Elements that are simulated at most; counts of more are scaled from those of as many and of half of them.
const SIMULATED: usize = 1 << 16;
/// Of selections of few keys, which go through each element once …
const SELECTED: usize = 1 << 20;
/// … and of an array from which one is filtered: shorter ones are not.
const FILTERED: usize = 1 << 22;
/// Keys that are few.
const FEW: usize = 128;

/// Bytes that any implementation reads and writes.
pub fn bytes(shape: Shape) -> f64 {
    let key = key_bytes(shape);
    match (shape.op, shape.cut) {
        (Op::TopK(k), Cut::Rows(row)) => (shape.len * key + shape.len / row * k * (key + 4)) as f64,
        (Op::SortIndices, _) => (shape.len * (2 * key + 4)) as f64,
        _ => (2 * shape.len * key) as f64,
    }
}

fn key_bytes(shape: Shape) -> usize {
    match shape.element {
        "f64" => 8,
        "u8" => 1,
        _ => 4,
    }
}

/// How many keys are selected.
fn first(shape: Shape) -> usize {
    match shape.op {
        Op::TopK(k) => k,
        _ => 1,
    }
}

/// The same shape of at most so many elements: fewer segments as long as they are, or as many that are shorter where
/// there is no room for two.
fn shrunk(shape: Shape, most: usize) -> Shape {
    if shape.len <= most {
        return shape;
    }
    let (len, cut) = match shape.cut {
        Cut::Rows(row) if 2 * row > most && most / (shape.len / row) >= 8 * first(shape) => {
            let count = shape.len / row;
            (most / count * count, Cut::Rows(most / count))
        }
        Cut::Rows(row) => ((most / row).max(1) * row, shape.cut),
        cut => (most, cut),
    };
    Shape { len, cut, ..shape }
}

/// What a shape counts.
///
/// # Errors
/// Those of the simulator.
pub fn count(shape: Shape, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let (is_one, most) = match (shape.op, shape.cut) {
        (Op::TopK(k), Cut::Rows(row)) if row == shape.len && k <= FEW => (true, FILTERED),
        (Op::TopK(k), Cut::Rows(row)) if row > 1024 && k <= FEW => (false, SELECTED),
        // Keys that are sorted with indices, or have 64 bits, take twice the time.
        _ if key_bytes(shape) == 8 || shape.op != Op::Sort => (false, SIMULATED / 2),
        _ => (false, SIMULATED),
    };
    let mut large = shrunk(shape, most);
    if large.len < shape.len && shrunk(shape, most / 4).len == large.len {
        // One segment fills it: two, and one.
        large = shrunk(shape, 2 * large.len);
    }
    if large == shape {
        let launches = simulate(shape, counting)?;
        return Ok(Counted { smaller: launches.clone(), launches, simulated: shape.len });
    }
    let halves = [2, 4].map(|part| shrunk(shape, most / part));
    let small = halves.into_iter().find(|small| small.len < large.len).ok_or("nothing is smaller")?;
    let [of_small, of_large] = side_by_side([small, large], |shape| simulate(shape, counting))?;
    let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: large.len };
    let (growth, all) = (large.len as f64 / small.len as f64, shape.len as f64);
    // Of few segments not all kinds of launches are there: then the larger array alone is scaled.
    let (small, of_small, growth) =
        if of_small.len() == of_large.len() { (small, &of_small, growth) } else { (large, &of_large, 1.0) };
    for (of_small, of_large) in of_small.iter().zip(&of_large) {
        // A grid that is the same for both does not grow, nor one that stops growing between them.
        let is_same = growth > 1.0 && of_small.blocks == of_large.blocks;
        let stops = is_same || growth > 1.0 && stops_growing(of_small.blocks, of_large.blocks, growth);
        if growth > 1.0 && matches!(shape.cut, Cut::Varied(_) | Cut::PowerLaw) && of_large.kernel != "fill" {
            let blocks = blocks_of_segments(shape, [(small, of_small), (large, of_large)]);
            let (small, large) = ((of_small, small.len as f64), (of_large, large.len as f64));
            counted.push_scaled(small, large, all, None)?;
            for launches in [&mut counted.launches, &mut counted.smaller] {
                launches.last_mut().into_iter().for_each(|launch| launch.blocks = blocks);
            }
            continue;
        }
        if is_same && is_one {
            // Of an array that is filtered the sample is as large, and the last block has a few candidates more.
            counted.launches.push(of_large.clone());
            counted.smaller.push(of_small.clone());
            continue;
        }
        let blocks = stops.then_some(of_large.blocks);
        let least = small.len as f64 / if growth > 1.0 { 1.0 } else { 2.0 };
        counted.push_scaled((of_small, least), (of_large, large.len as f64), all, blocks)?;
    }
    Ok(counted)
}

/// The grid of a launch that goes over segments of several lengths: a thread classifies one; of tiles there are some
/// for the classes, and beside them as many as elements make.
fn blocks_of_segments(shape: Shape, [(small, of_small), (large, of_large)]: [(Shape, &Counts); 2]) -> u64 {
    if of_large.kernel == "segmented_classify" {
        let segments = offsets(shape.len, shape.cut).len() as u64 - 1;
        return segments.div_ceil(of_large.threads.into());
    }
    let [few, many] = [of_small, of_large].map(|launch| launch.blocks as f64);
    let each = (many - few) / (large.len - small.len) as f64;
    (many + each * (shape.len - large.len) as f64).ceil() as u64
}

fn simulate(shape: Shape, counting: &Counting) -> Result<Vec<Counts>, String> {
    let device = Device::simulator_with(simulated::config(counting.caches));
    measure(&device, &shape, TopK::largest(), false).map_err(|error| format!("{shape}: {error}"))?;
    counting.launched_by_units(&device, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_shapes_have_as_many_segments_or_as_long_ones() {
        let shape = |op, len, cut| Shape { op, element: "i32", len, cut, drawn: false };
        let of = |shape, most| {
            let Shape { len, cut, .. } = shrunk(shape, most);
            (len, cut)
        };
        let rows = shape(Op::Sort, 1 << 20, Cut::Rows(1000));
        assert_eq!(of(rows, 4096), (4000, Cut::Rows(1000)));
        // Three long ones stay three, unless too few keys would be left to select from.
        let long = |k| shape(Op::TopK(k), 3 << 20, Cut::Rows(1 << 20));
        assert_eq!(of(long(4), 3 << 10), (3 << 10, Cut::Rows(1 << 10)));
        assert_eq!(of(long(500), 3 << 10), (1 << 20, Cut::Rows(1 << 20)));
        assert_eq!(of(rows, 1 << 20), (1 << 20, Cut::Rows(1000)));
    }
}
