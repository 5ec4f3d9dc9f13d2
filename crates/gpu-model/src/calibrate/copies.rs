//! Tables 5.1 to 5.4: copies between host and device, and within the device.

use gpu_core::Result;

use super::Row;
use super::timing::Bench;

/// GB/s, by the host's clock from the call until the data is there.
pub(super) fn copies(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let sizes = bench.pick(vec![12, 16, 20, 22, 24, 26, 28], vec![12]);
    for log in sizes {
        let bytes = 1_usize << log;
        let over = [bytes as f64, 0.0];
        let mut pageable = vec![0_u8; bytes];
        let mut pinned = bench.device.pinned::<u8>(bytes)?;
        let mut buffer = bench.device.zeroed::<u8>(bytes)?;
        let mut other = bench.device.zeroed::<u8>(bytes)?;
        let rounds = bench.pick(if log > 24 { 5 } else { 31 }, 1);
        let mut push = |of: &str, seconds: f64| {
            rows.push(Row::new("copy", of, over, bytes as f64 / seconds * 1e-9, "GB/s"));
        };
        push("pageable_to_device", bench.rounds_of(rounds, || buffer.copy_from(&pageable))?);
        push("pageable_to_host", bench.rounds_of(rounds, || buffer.copy_to(&mut pageable))?);
        push("pinned_to_device", bench.rounds_of(rounds, || buffer.copy_from(&pinned))?);
        push("pinned_to_host", bench.rounds_of(rounds, || buffer.copy_to(&mut pinned))?);
        push("within_device", bench.among(rounds, || bench.stream.copy(&mut other, &buffer))?);
    }
    Ok(())
}
