//! Counts of large launches from those of small ones.

use std::error::Error;

use gpu_examples::predicted::Counted;
use gpu_model::units::Bytes;
use gpu_model::waves::Counts;
use gpu_sim::Config;

/// The launches of so many elements, scaled from those of two smaller sizes. With `growing` it fails where a grid stops
/// growing between these.
///
/// # Errors
/// Other launches of one size than of the other; those of [`Counted::push_scaled`].
pub fn scaled_launches(
    [small, large]: [&[Counts]; 2],
    elements: [usize; 2],
    to: usize,
    growing: bool,
) -> Result<Counted, Box<dyn Error>> {
    if small.len() != large.len() {
        return Err(format!("{} and {} elements differ in their launches", elements[0], elements[1]).into());
    }
    let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: elements[1] };
    let [of_small, of_large] = elements.map(|elements| elements as f64);
    for (small, large) in small.iter().zip(large) {
        if growing && stops_growing(small.blocks, large.blocks, of_large / of_small) {
            return Err(format!("the grid of {} stops growing before that", large.kernel).into());
        }
        // A grid that is the same for both does not grow.
        let fixed = (small.blocks == large.blocks).then_some(large.blocks);
        counted.push_scaled((small, of_small), (large, of_large), to as f64, fixed)?;
    }
    Ok(counted)
}

/// Whether a grid of more than a few blocks becomes larger, but by much less than the work.
pub fn stops_growing(small: u64, large: u64, growth: f64) -> bool {
    small >= 32 && large > small && (large as f64) < 0.95 * growth * small as f64
}

/// Blocks of a sample are far apart, so that what neighbours share each of them reads from memory: where that is more
/// than there is, of all that is moved, it is read once.
pub fn read_once(counted: &mut Counted, bytes: Bytes) {
    for launches in [&mut counted.launches, &mut counted.smaller] {
        if let [launch] = &mut launches[..] {
            let read = (bytes.0 - launch.memory_written.0).max(0.0);
            launch.memory_read = Bytes(launch.memory_read.0.min(read));
        }
    }
}

/// Where all that is moved fits into the second-level cache, later launches find it there.
pub fn in_cache(counted: &mut Counted, bytes: Bytes, l2: Bytes) {
    if bytes.0 > l2.0 {
        return;
    }
    for launches in [&mut counted.launches, &mut counted.smaller] {
        for launch in launches.iter_mut().skip(1) {
            *launch = launch.clone().cached();
        }
    }
}

/// The multiprocessors of a device on which a part of so many elements is cut as all of them are on the usual one.
pub fn multiprocessors(part: usize, of: usize) -> u32 {
    let all = Config::default().multiprocessors;
    // A cast saturates; there is one at least.
    (f64::from(all) * part as f64 / of as f64).round().max(1.0) as u32
}

/// All operations are the longest launch's.
pub fn operate(launches: &mut [Counts], operations: f64) {
    let longest =
        launches.iter_mut().max_by(|one, other| one.instructions.all().total_cmp(&other.instructions.all()));
    if let Some(longest) = longest {
        longest.operations = operations;
    }
}
