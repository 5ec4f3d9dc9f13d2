//! The launches of reductions by key.

use gpu_core::{Stream, View, ViewMut};
use gpu_kernels::reduce::{self as kernels, COUNTED, RUNS_HEADER, RUNS_SHARED_BYTES, Starts, THREADS};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use super::{COUNTS, KeyScratch};
use crate::error::Error;
use crate::operand::Operand;
use crate::plan::SegmentsPlan;
use crate::segments::Segmented;

/// A type of keys: `i8` to `i64`, `u8` to `u64`. They are compared by their bits.
pub trait RunKey: gpu_core::Element + Eq {
    /// Enqueues the two kernels that find the runs.
    ///
    /// # Errors
    /// Those of the launches.
    ///
    /// # Safety
    /// Until the kernels have ended, `keys` must have `len` elements, which nothing writes, `counts` room for a word a block,
    /// `runs` for one, `offsets` for `len` and [`RUNS_HEADER`] and one more, and `unique` for `len`, which nothing else reads or
    /// writes. `len` is not zero and less than 2^32.
    #[doc(hidden)]
    unsafe fn launch_runs(
        stream: &Stream,
        keys: Global<Self>,
        len: u64,
        counts: GlobalMut<u32>,
        runs: GlobalMut<u32>,
        offsets: GlobalMut<u32>,
        unique: GlobalMut<Self>,
    ) -> Result<(), gpu_core::Error>;
}

macro_rules! keys {
    ($($t:ty as $bits:ty: $count:ident, $write:ident;)*) => { $(
        impl RunKey for $t {
            unsafe fn launch_runs(
                stream: &Stream,
                keys: Global<$t>,
                len: u64,
                counts: GlobalMut<u32>,
                runs: GlobalMut<u32>,
                offsets: GlobalMut<u32>,
                unique: GlobalMut<$t>,
            ) -> Result<(), gpu_core::Error> {
                let (keys, unique) = (keys.cast::<$bits>(), unique.cast::<$bits>());
                let each = kernels::tiles_per_block::<$bits>(len);
                let config = LaunchConfig::linear(kernels::blocks::<$bits>(len), THREADS).shared(RUNS_SHARED_BYTES);
                // SAFETY: the caller promises what the kernels need; the second starts when the first has ended.
                unsafe {
                    kernels::$count::launch(stream, config, keys, len, each, counts)?;
                    kernels::$write::launch(
                        stream, config, keys, len, each, counts.as_global(), runs, offsets, unique,
                    )
                }
            }
        }
    )* };
}
keys! {
    u8 as u8: count_runs_b8, write_runs_b8;
    i8 as u8: count_runs_b8, write_runs_b8;
    u16 as u16: count_runs_b16, write_runs_b16;
    i16 as u16: count_runs_b16, write_runs_b16;
    u32 as u32: count_runs_b32, write_runs_b32;
    i32 as u32: count_runs_b32, write_runs_b32;
    u64 as u64: count_runs_b64, write_runs_b64;
    i64 as u64: count_runs_b64, write_runs_b64;
}

/// Enqueues a reduction by key of at least one element. Everything has been checked: lengths, devices, scratch.
pub(super) fn reduce_by_key<R: Segmented, K: RunKey>(
    stream: &Stream,
    keys: View<'_, K>,
    values: &<R::Item as Operand>::Views<'_>,
    mut unique: ViewMut<'_, K>,
    mut results: ViewMut<'_, R::Output>,
    mut runs: ViewMut<'_, u32>,
    scratch: &mut KeyScratch,
) -> Result<(), Error> {
    let len = keys.len();
    let counts = scratch.words.view_mut().as_global_mut();
    let offsets = counts.offset(COUNTS as u64);
    // SAFETY: the kernels read the keys; they write at most `len` unique keys, for which there is room, one number of runs, and
    // their own words, of which there are enough for `len`. Buffers are freed only after the work enqueued before, and the scratch
    // memory is used on this stream only.
    unsafe {
        K::launch_runs(
            stream,
            keys.as_global(),
            len as u64,
            counts,
            runs.as_global_mut(),
            offsets,
            unique.as_global_mut(),
        )
    }?;
    // As if every run had one element: blocks beyond the last run end at once.
    let plan = SegmentsPlan::new::<R>(len, len);
    let starts = Starts {
        offsets: offsets.offset(u64::from(RUNS_HEADER)).as_global(),
        form: COUNTED,
        length: 0,
        count: plan.segments,
    };
    let places = scratch.segments.prepared()?;
    // SAFETY: the offsets increase up to `len`, which the values have, and their number stands before them; there is room for a
    // result of each, and for the words of the parts, which are zero (`prepared`, and every launch leaves them so).
    unsafe {
        R::launch_segments(
            stream,
            plan.launch(),
            R::Item::source(values),
            len as u64,
            starts,
            plan.share,
            GlobalMut::from_raw(places),
            results.as_global_mut(),
        )
    }?;
    scratch.segments.dirty = false;
    Ok(())
}
