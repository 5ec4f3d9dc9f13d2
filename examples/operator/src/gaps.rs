//! The launch of a kernel of one's own.

use gpu_collective::grid::scratch_words;
use gpu_core::{Buffer, Error, Kind};
use gpu_std::launch::LaunchConfig;
use operator_kernels::{self as kernels, GAPS_TILE, gaps_shared_bytes};

/// The first hour of each gap. There are less than 2^32 hours.
pub fn gap_begins(values: &Buffer<f32>) -> Result<Vec<u32>, Error> {
    let device = values.device();
    if device.kind() == Kind::Cpu {
        let values = values.to_vec()?;
        let begins = |at: &usize| values[*at].is_nan() && (*at == 0 || !values[at - 1].is_nan());
        return Ok((0..values.len()).filter(begins).map(|at| at as u32).collect());
    }
    let len = values.len() as u32;
    let tiles = len.div_ceil(GAPS_TILE);
    let capacity = scratch_words(u64::from(tiles), 1);
    let (mut begins, mut count) = (device.zeroed::<u32>(values.len())?, device.zeroed::<u32>(1)?);
    let mut words = device.zeroed::<u64>(capacity as usize)?;
    let config = LaunchConfig::linear(tiles.min(8 * device.planned_multiprocessors()), GAPS_TILE);
    let (to, counted) = (begins.view_mut().as_global_mut(), count.view_mut().as_global_mut());
    let words = words.view_mut().as_global_mut();
    // SAFETY: the kernel reads `len` values, writes at most as many beginnings and one count, and uses the words, which
    // are zero and enough; nothing else uses these buffers until the copies below, which wait for it.
    unsafe {
        let config = config.shared(gaps_shared_bytes());
        kernels::gap_begins::launch(
            &device.default_stream(),
            config,
            values.view().as_global(),
            len,
            to,
            counted,
            words,
            capacity,
        )?;
    }
    let count = count.to_vec()?[0] as usize;
    let mut found = vec![0; count];
    begins.slice(..count).copy_to(&mut found)?;
    Ok(found)
}
