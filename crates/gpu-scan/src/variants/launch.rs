//! The variants' launches: their only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_scan_kernels::variants as kernels;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use super::{Variant, tiles};
use gpu_core::Error;

/// A grid that exceeds what a device takes is refused when it is launched.
fn config(blocks: usize) -> LaunchConfig {
    let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
    LaunchConfig::linear(blocks, kernels::THREADS).shared(kernels::SHARED_BYTES)
}

/// Enqueues the sums. Everything has been checked: same device, same length, at least one element, enough scratch
/// memory.
pub(super) fn sum(
    variant: Variant,
    stream: &Stream,
    input: View<'_, f32>,
    mut output: ViewMut<'_, f32>,
    scratch: ViewMut<'_, u64>,
) -> Result<(), Error> {
    let (from, to, len) = (input.as_global(), output.as_global_mut(), input.len());
    let mut words = scratch.into_slice(..variant.scratch_len(len));
    let room = words.as_global_mut();
    if matches!(variant, Variant::SumAll | Variant::LookBack) {
        stream.memset(words.reborrow(), 0)?;
    }
    let (one, all) = (config(1), config(tiles(len)));
    let n = len as u64;
    let (ticket, flags) = (room.cast(), room.offset(1));
    let totals = room.cast::<f32>();
    // SAFETY: the kernels read the input, which has `len` elements, write as many of the output, and use in the
    // scratch memory a word for each tile (and a ticket, zero as are the words), all of which the views have; the
    // two-phase kernels read what those before them on the stream wrote. The views do not overlap, as output and
    // scratch memory are exclusive, and are freed only after the work enqueued before.
    unsafe {
        match variant {
            Variant::HillisSteele => stream.launch::<kernels::scan_hillis_steele_f32>(one, (from, to, n))?,
            Variant::Blelloch => stream.launch::<kernels::scan_blelloch_f32>(one, (from, to, n))?,
            Variant::Recursive | Variant::RecursivePadded => {
                recursive(variant, stream, from, to, len, totals)?;
            }
            Variant::SumAll => {
                stream.launch::<kernels::scan_sum_all_f32>(all, (from, to, n, flags, ticket))?;
            }
            Variant::LookBack => {
                stream.launch::<kernels::scan_look_back_f32>(all, (from, to, n, flags, ticket))?;
            }
            Variant::ReduceThenScan => {
                let count = tiles(len) as u64;
                stream.launch::<kernels::scan_totals_f32>(all, (from, n, totals))?;
                stream.launch::<kernels::scan_blelloch_f32>(one, (totals.as_global(), totals, count))?;
                stream.launch::<kernels::scan_tiles_from_f32>(all, (from, to, n, totals.as_global()))?;
            }
        }
    }
    Ok(())
}

/// Scans the tiles, then their totals, then adds these to the tiles.
///
/// # Safety
/// `from` has `len` elements, `to` room for as many, the same memory or apart, and `totals` an element for each tile
/// of each level.
#[inline]
unsafe fn recursive(
    variant: Variant,
    stream: &Stream,
    from: Global<f32>,
    to: GlobalMut<f32>,
    len: usize,
    totals: GlobalMut<f32>,
) -> Result<(), gpu_core::Error> {
    let (tiles, n) = (tiles(len), len as u64);
    let blocks = config(tiles);
    // SAFETY: the caller promises the memory; a deeper level's totals lie behind this one's.
    unsafe {
        if variant == Variant::RecursivePadded {
            stream.launch::<kernels::scan_tiles_padded_f32>(blocks, (from, to, n, totals))?;
        } else {
            stream.launch::<kernels::scan_tiles_f32>(blocks, (from, to, n, totals))?;
        }
        if tiles > 1 {
            recursive(variant, stream, totals.as_global(), totals, tiles, totals.offset(tiles as u64))?;
            stream.launch::<kernels::scan_add_before_f32>(blocks, (to, n, totals.as_global()))?;
        }
    }
    Ok(())
}
