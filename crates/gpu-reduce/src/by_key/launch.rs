//! The launches of reductions by key.

use gpu_core::{Stream, View, ViewMut};
use gpu_reduce_kernels::{COUNTED, Starts};
use gpu_sort_kernels::runs::{self as kernels, RUNS_HEADER, RunsShape};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use super::KeyScratch;
use crate::operand::Operand;
use crate::plan::SegmentsPlan;
use crate::segments::Segmented;
use gpu_core::Error;

/// A type of keys: `i8` to `i64`, `u8` to `u64`. They are compared by their bits.
pub trait RunKey: gpu_core::Element + Eq {
    /// Enqueues the kernel that finds the runs.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// Until the kernel has ended, `keys` must have `len` elements, which nothing writes, `runs` room for a word,
    /// `offsets` for `len` and [`RUNS_HEADER`] and one more, and `unique` for `len`, which nothing else reads or
    /// writes; `words` must be the scratch memory that [`kernels::find_runs`] asks for, `capacity` words of it. `len`
    /// is not zero and less than 2^32.
    #[doc(hidden)]
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch_runs(
        stream: &Stream,
        keys: Global<Self>,
        len: u64,
        runs: GlobalMut<u32>,
        offsets: GlobalMut<u32>,
        unique: GlobalMut<Self>,
        words: GlobalMut<u64>,
        capacity: u64,
    ) -> Result<(), gpu_core::Error>;
}

macro_rules! keys {
    ($($t:ty as $bits:ty: $find:ident;)*) => { $(
        impl RunKey for $t {
            #[inline]
            unsafe fn launch_runs(
                stream: &Stream,
                keys: Global<$t>,
                len: u64,
                runs: GlobalMut<u32>,
                offsets: GlobalMut<u32>,
                unique: GlobalMut<$t>,
                words: GlobalMut<u64>,
                capacity: u64,
            ) -> Result<(), gpu_core::Error> {
                const SHAPE: RunsShape = RunsShape::of::<$bits>();
                let (keys, unique) = (keys.cast::<$bits>(), unique.cast::<$bits>());
                let config = LaunchConfig::linear(SHAPE.blocks(len), SHAPE.threads()).shared(SHAPE.shared_bytes());
                // SAFETY: the caller promises what the kernel needs; the shape is that of its kernels.
                unsafe { kernels::$find::launch(stream, config, keys, len, runs, offsets, unique, words, capacity) }
            }
        }
    )* };
}
keys! {
    u8 as u8: find_runs_b8;
    i8 as u8: find_runs_b8;
    u16 as u16: find_runs_b16;
    i16 as u16: find_runs_b16;
    u32 as u32: find_runs_b32;
    i32 as u32: find_runs_b32;
    u64 as u64: find_runs_b64;
    i64 as u64: find_runs_b64;
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
    let tiles = scratch.prepared_tiles()?;
    let offsets = scratch.offsets.view_mut().as_global_mut();
    // SAFETY: the kernel reads the keys; it writes at most `len` unique keys, for which there is room, one number of
    // runs, and its own words, of which there are enough for `len` and which are zero or what the launch before left.
    // Buffers are freed only after the work enqueued before, and the scratch memory is used on this stream only.
    unsafe {
        K::launch_runs(
            stream,
            keys.as_global(),
            len as u64,
            runs.as_global_mut(),
            offsets,
            unique.as_global_mut(),
            tiles,
            scratch.tiles.len() as u64,
        )
    }?;
    scratch.dirty = false;
    let plan = SegmentsPlan::counted::<R>(len, stream.device().planned_multiprocessors());
    let starts = Starts {
        offsets: offsets.offset(u64::from(RUNS_HEADER)).as_global(),
        form: COUNTED,
        length: 0,
        count: plan.segments,
    };
    let places = scratch.segments.prepared()?;
    // SAFETY: the offsets increase up to `len`, which the values have, and their number stands before them; there is
    // room for a result of each, and for the words of the parts, which are zero (`prepared`, and every launch leaves
    // them so).
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
