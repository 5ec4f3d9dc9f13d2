//! The launches of reductions by key.

use gpu_core::{Count, Error, Scratch, Stream, View, ViewMut};
use gpu_reduce_kernels::{COUNTED, Starts};
use gpu_sort_kernels::runs::{self, RUNS_HEADER, RunsShape};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use super::{offset_words, reduce_by_key_scratch};
use crate::instance::{OfSegments, Segmented};
use crate::launch::launch;
use crate::operand::Operand;
use crate::plan::SegmentsPlan;
use crate::scratch::HEADER;

/// A type of keys: `i8` to `i64`, `u8` to `u64`. They are compared by their bits.
///
/// # Safety
/// The kernel is [`find_runs`](runs::find_runs) of those bits, with this shape.
pub unsafe trait RunKey: gpu_core::Element + Eq {
    /// The bits.
    type Bits: gpu_core::Element;
    /// How keys are cut.
    const SHAPE: RunsShape;
    /// The kernel that finds their runs.
    #[doc(hidden)]
    type Kernel: Kernel<
        Arguments = (
            Global<Self::Bits>,
            u64,
            GlobalMut<u32>,
            GlobalMut<u32>,
            GlobalMut<Self::Bits>,
            GlobalMut<u64>,
            u64,
        ),
    >;
}

macro_rules! keys {
    ($($bits:ty, $v:literal, $l:literal: $find:ident, $($key:ident)*;)*) => { $( keys!(@ $bits, $find: $($key)*); )* };
    (@ $bits:ty, $find:ident: $($key:ident)*) => { $(
        // SAFETY: the kernel has the name of those bits.
        unsafe impl RunKey for $key {
            type Bits = $bits;
            const SHAPE: RunsShape = RunsShape::of::<$bits>();
            type Kernel = runs::$find;
        }
    )* };
}
gpu_sort_kernels::run_instances!(keys);

/// Enqueues a reduction by key of at least one element. Everything has been checked: lengths, devices, scratch.
pub(super) fn reduce_by_key<R: Segmented, K: RunKey>(
    stream: &Stream,
    keys: View<'_, K>,
    values: &<R::Item as Operand>::Views<'_>,
    mut unique: ViewMut<'_, K>,
    mut results: ViewMut<'_, R::Output>,
    mut runs: ViewMut<'_, Count>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let len = keys.len();
    // The kernel writes the lower half of the number alone.
    stream.memset(runs.reborrow(), 0)?;
    let runs = runs.as_global_mut().cast();
    scratch.lend(R::NAME, reduce_by_key_scratch::<R, K>(len), |mut parts| {
        let offsets = parts.array(offset_words(len)).as_global_mut();
        let shape = K::SHAPE;
        let blocks = stream.device().blocks_for(runs::BLOCKS, shape.tiles(len as u64));
        let config = LaunchConfig::linear(blocks, shape.threads()).shared(shape.shared_bytes());
        let unique = unique.as_global_mut().cast();
        let arguments =
            (keys.as_global().cast(), len as u64, runs, offsets, unique, parts.tickets, parts.ticket_words);
        // SAFETY: the kernel reads the keys; it writes at most `len` unique keys, for which there is room, one number of
        // runs, and its own words, of which there are enough for `len` and which are zero or what the launch before left.
        // Buffers are freed only after the work enqueued before, and the scratch memory is used on this stream only.
        unsafe { K::Kernel::launch_on(stream, config, arguments) }?;
        let plan = SegmentsPlan::counted::<R>(len, stream.device().planned_multiprocessors());
        let starts = Starts {
            offsets: offsets.offset(u64::from(RUNS_HEADER)).as_global(),
            form: COUNTED,
            length: 0,
            count: plan.segments,
        };
        let scratch = parts.zeros.offset(HEADER as u64);
        let extent = OfSegments { len: len as u64, starts, share: plan.share, scratch };
        let (source, results) = (R::Item::source(values), results.as_global_mut());
        // SAFETY: the offsets increase up to `len`, which the values have, and their number stands before them; there is
        // room for a result of each, and for the words of the parts, which are zero (the scratch memory says so, and every
        // launch leaves them so).
        unsafe { launch::<R, R::Of, R::Kernel, _>(stream, plan.launch(), source, extent, results) }
    })
}
