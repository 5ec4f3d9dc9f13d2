//! Times the ordering of a triangle's rows by level and size, step by step, beside the copy of its arrays: see
//! `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::sweep::{self, Options, Results, launch_median, wall_median};
use gpu_core::Device;
use gpu_sparse::{Analysis, Csr, Diagonal, OrderSteps, Side, reference};

/// Times maximum, counts, sums and order of random triangles of the sizes that the literature measured, by the wall
/// clock, as they wait; and a copy that reads and writes as many bytes as the ordering has to.
/// benches/peers/sparse_order.cu times Thrust on the same.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    options: Options,

    /// How often each step is timed
    #[arg(long, default_value_t = 11)]
    rounds: usize,
}

/// Rows, and entries with the diagonal.
const SIZES: [(u32, u64); 7] = [
    (100_000, 3_200_000),
    (100_000, 1_000_000),
    (1_000_000, 64_000_000),
    (5_000_000, 79_000_000),
    (16_000_000, 47_000_000),
    (36_000_000, 74_000_000),
    (55_000_000, 113_000_000),
];

/// The MurmurHash3 finaliser of two numbers.
fn hash(a: u32, b: u32) -> u32 {
    let mut h = a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x7f4a_7c15);
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// A lower triangle whose entries beside the diagonal are spread evenly over the rows, at columns that the hash draws.
fn triangle(rows: u32, entries: u64) -> (Vec<u32>, Vec<u32>) {
    let beside = entries - u64::from(rows);
    let up_to = |row: u32| u64::from(row) * beside / u64::from(rows);
    let (mut offsets, mut indices, mut columns) = (vec![0], Vec::new(), Vec::new());
    for row in 0..rows {
        let own = (up_to(row + 1) - up_to(row)).min(row.into()) as u32;
        columns.clear();
        columns.extend((0..own).map(|k| hash(row, k + 1) % row));
        columns.sort_unstable();
        columns.dedup();
        indices.extend_from_slice(&columns);
        indices.push(row);
        offsets.push(indices.len() as u32);
    }
    (offsets, indices)
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { options, rounds }: &Args) -> Result<(), Error> {
    let device = Device::cuda(0)?;
    let mut results = Results::new("sparse order", &device, options)?;
    for (rows, entries) in SIZES {
        let name = format!("{:.1}M / {:.1}M", f64::from(rows) / 1e6, entries as f64 / 1e6);
        if options.selects(&name) {
            for (step, ms) in measure(&device, rows, entries, *rounds, options.check)? {
                let bytes = 16 * u64::from(rows);
                println!("{name:16} {step:14} {ms:10.4} ms");
                let subject = serde_json::json!({ "matrix": name, "step": step, "bytes": bytes });
                results.write(&subject, ms)?;
            }
        }
    }
    Ok(())
}

/// The steps and their milliseconds; of the copy, which reads and writes 16 bytes a row, between events.
fn measure(
    device: &Device,
    rows: u32,
    entries: u64,
    rounds: usize,
    check: bool,
) -> Result<Vec<(&'static str, f64)>, Error> {
    let (offsets, indices) = triangle(rows, entries);
    let rows = rows as usize;
    let a = Csr::upload(device, rows, rows, &offsets, &indices, &vec![1f32; indices.len()])?;
    let analysis = Analysis::new(&a, Side::Lower, Diagonal::Unit)?;
    let mut steps = OrderSteps::new(&analysis);
    // What the first calls compile does not count.
    steps.order()?;
    let mut timed = vec![
        ("maximum", wall_median(rounds, || Ok(steps.maximum().map(drop)?))?),
        ("counting", wall_median(rounds, || Ok(steps.count()?))?),
        ("exclusive sums", wall_median(rounds, || Ok(steps.sum()?))?),
        ("order", wall_median(rounds, || Ok(steps.order()?))?),
        ("all", wall_median(rounds, || Ok(steps.maximum().map(drop).and_then(|()| all(&mut steps))?))?),
    ];
    if check {
        let levels = reference::levels(&offsets, &indices, Side::Lower);
        let count = levels.iter().copied().max().unwrap_or(0);
        let (groups, counts) = reference::count_rows(&offsets, &indices, &levels, count, Side::Lower);
        let expected = reference::place_rows(&groups, &reference::starts_of(&counts));
        let mut found = vec![0; rows];
        if let Some(view) = steps.rows() {
            view.copy_to(&mut found)?;
        }
        if found != expected {
            return Err(Error::WrongShape(format!("order of {rows} rows")));
        }
    }
    let (from, mut to) = (device.zeroed::<u64>(rows)?, device.alloc::<u64>(rows)?);
    let stream = device.stream()?;
    timed.push(("copy", launch_median(&stream, rounds, || stream.copy(&mut to, &from))?));
    Ok(timed)
}

fn all(steps: &mut OrderSteps<'_, '_, f32>) -> Result<(), gpu_sparse::Error> {
    steps.count()?;
    steps.sum()?;
    steps.order()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_small_triangle_are_timed_and_right() {
        let timed = measure(&Device::cpu(), 3000, 9000, 2, true).unwrap();
        assert_eq!(timed.len(), 6);
        assert!(timed.iter().all(|(_, ms)| *ms >= 0.0));
    }
}
