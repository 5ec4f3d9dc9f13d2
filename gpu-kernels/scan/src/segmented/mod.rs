//! Scans of segments: at every place the combination of the elements up to it since its segment started.
//!
//! As scans of whole arrays, in one launch and one pass and in the same order (see the [module above](super)), with
//! an operator that starts anew where a segment does ([`BySegment`]). So a segment's results depend on where it lies
//! in the array, but not on what lies before it, and not on the device.
//!
//! Where segments start is found tile by tile, a bit an element ([`Starts`]), so one kernel serves flags, offsets,
//! keys and segments of one length. Of a row of vectors one ballot says which of them have a start, and with it every
//! lane knows how far down it may reach: only values travel from lane to lane.

mod operator;
mod segments;
mod starts;
mod totals;
mod turns;

pub use operator::{BySegment, Since, element};
pub use segments::{segments, segments_flipped};
pub use starts::{BY_FLAGS, BY_KEY, BY_OFFSETS, OF_LENGTH, Starts};

use gpu_collective::grid::Pass;
use gpu_std::shared::SharedLayout;

use super::{Scan, Shape, VECTOR_BYTES, waiting_words};

/// How an operator's scan of segments is cut.
pub const fn shape<S: Scan>() -> Shape {
    Shape::of::<BySegment<S>>()
}

/// Bytes of dynamic shared memory of a block.
pub const fn shared_bytes(shape: Shape) -> u32 {
    let words = shape.words - 1;
    let waiting = waiting_words(shape.threads(), shape.rows, shape.vector, shape.input_words, words);
    Pass::layout(SharedLayout::new(), shape.words)
        .array::<u32>(shape.warps * shape.words)
        .array::<u32>(1)
        .array::<u32>(2 * shape.warps * shape.words)
        .array::<u32>(2 * shape.warps)
        .array::<u32>(2 * shape.tile() / 32)
        .array::<u32>(2 * waiting)
        .array::<u32>(shape.warps * 32 * VECTOR_BYTES / 4)
        .bytes()
}
