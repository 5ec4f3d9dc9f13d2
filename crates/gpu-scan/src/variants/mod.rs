//! The textbook's scans, to be measured beside the fast one: inclusive sums of `f32`.
//!
//! All compute the same sums, but each in an order of its own, so the last bits differ from one to the other and from
//! those of [`inclusive_sum`](crate::inclusive_sum()); those of [`Variant::LookBack`] even from run to run. A block
//! has 512 threads and takes tiles of [`TILE`] elements. Times are what `cargo run --release --example scan_variants`
//! measures.
//!
//! # What the simulator counts
//! Elements read from and written to global memory for each element of the array, launches, and passes through the
//! banks of shared memory for each request, for 2^17 elements; a test computes this table. Flags, which are awaited,
//! are not counted: how often depends on the schedule.
//!
//! | variant | launches | reads | writes | in all | shared load passes |
//! |---|---|---|---|---|---|
//! | [`Variant::HillisSteele`] | 1 | 1.000 | 1.000 | 2.000 | 1.00 |
//! | [`Variant::Blelloch`] | 1 | 1.000 | 1.000 | 2.000 | 4.23 |
//! | [`Variant::Recursive`] | 3 | 1.994 | 1.994 | 3.988 | 3.98 |
//! | [`Variant::RecursivePadded`] | 3 | 1.994 | 1.994 | 3.988 | 1.00 |
//! | [`Variant::SumAll`] | 1 | 1.000 | 1.000 | 2.000 | 1.00 |
//! | [`Variant::ReduceThenScan`] | 3 | 2.002 | 1.002 | 3.004 | 1.02 |
//! | [`Variant::LookBack`] | 1 | 1.000 | 1.000 | 2.000 | 1.00 |
//!
//! Those in one launch and those on one block move every element twice, which is the least;
//! [`Variant::ReduceThenScan`] three times, the recursive ones four times.

mod launch;

use gpu_core::{Stream, View, ViewMut, checks};

use gpu_core::Error;

pub use gpu_scan_kernels::variants::TILE;

/// A textbook scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// W. D. Hillis and G. L. Steele, *Data parallel algorithms*, 1986: every element adds the one 1, 2, 4, … places
    /// before it. One block walks over the array.
    ///
    /// Ten rounds of a thousand additions where a thousand in all would do; but neighbours read neighbours. One block
    /// is one multiprocessor: the others idle.
    HillisSteele,
    /// G. E. Blelloch, *Prefix sums and their applications*, 1990: a tree of sums, then a tree of prefixes. One block
    /// walks over the array.
    ///
    /// Two additions an element, but in twenty rounds, most of them for few threads, and strides of powers of two
    /// meet in few banks.
    Blelloch,
    /// Three phases, the second of them a scan: tiles are scanned, then, recursively, their totals; then every tile
    /// adds the sum before it (N. A. Núñez Hosco and F. Diaz, *Práctico 5*, 2024, in blocks of 1024 elements).
    ///
    /// The last phase reads and writes the array once more.
    Recursive,
    /// The same with a gap after every 32 elements of a tile (M. Harris, S. Sengupta, J. D. Owens, *Parallel prefix
    /// sum (scan) with CUDA*, GPU Gems 3, 2007): strides of powers of two meet in no bank.
    RecursivePadded,
    /// No recursion: in one launch each block waits for the totals of all tiles before its own and adds them up itself.
    ///
    /// Every element moves twice, but totals are read `tiles²/2` times: for 2^28 elements more often than elements.
    SumAll,
    /// Totals first: the tiles' sums are computed and scanned, then every tile is read again and scanned from there.
    ReduceThenScan,
    /// D. Merrill and M. Garland, *Single-pass parallel prefix scan with decoupled look-back*, 2016: in one launch
    /// each block walks back over totals until it finds a prefix that somebody has published.
    ///
    /// Which one it finds depends on timing, and with it the brackets.
    LookBack,
}

gpu_core::named! {
    Variant in "gpu_scan::variants", "All of them, in the order of the literature.";
    HillisSteele = "hillis_steele",
    Blelloch = "blelloch",
    Recursive = "recursive",
    RecursivePadded = "recursive_padded",
    SumAll = "sum_all",
    ReduceThenScan = "reduce_then_scan",
    LookBack = "look_back",
}

impl Variant {
    /// The lengths of the arrays that the recursion scans: the array, its tiles' totals, …; the last is one tile or
    /// none.
    fn levels(len: usize) -> impl Iterator<Item = usize> {
        core::iter::successors(Some(len), |len| (*len > TILE as usize).then(|| tiles(*len)))
    }

    /// How many elements of scratch memory the scan of `len` elements needs.
    pub fn scratch_len(self, len: usize) -> usize {
        match self {
            Self::HillisSteele | Self::Blelloch => 0,
            // The totals of each level's tiles.
            Self::Recursive | Self::RecursivePadded => Self::levels(len).map(tiles).sum(),
            Self::ReduceThenScan => tiles(len),
            // A ticket, and a word for each tile.
            Self::SumAll | Self::LookBack => 1 + tiles(len),
        }
    }
}

/// Tiles of an array.
fn tiles(len: usize) -> usize {
    len.div_ceil(TILE as usize)
}

/// Writes the inclusive sums of `input` to `output`, on `stream`, as `variant` does it: slower than
/// [`inclusive_sum_into`](crate::inclusive_sum_into) and in another order. On the CPU all variants are the same plain
/// loop.
///
/// `scratch` has at least [`Variant::scratch_len`] words of any content. Neither allocates nor waits.
///
/// # Errors
/// [`Error::OutputLength`], [`Error::ScratchTooSmall`]; those of the device where the memory is on another device than
/// the stream, or where a launch failed or has more blocks than the device takes.
///
/// ```
/// use gpu_scan::variants::{Variant, sum_with};
/// let device = gpu_core::Device::simulator();
/// let input = device.upload(&[0.5; 3000])?;
/// let mut output = device.alloc(3000)?;
/// let mut scratch = device.alloc(Variant::LookBack.scratch_len(input.len()))?;
/// sum_with(Variant::LookBack, &device.default_stream(), &input, &mut output, &mut scratch)?;
/// assert_eq!(output.to_vec()?[2999], 1500.0);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn sum_with<'a, 'b, 'c>(
    variant: Variant,
    stream: &Stream,
    input: impl Into<View<'a, f32>>,
    output: impl Into<ViewMut<'b, f32>>,
    scratch: impl Into<ViewMut<'c, u64>>,
) -> Result<(), Error> {
    const NAME: &str = "sum";
    let (input, mut output, scratch) = (input.into(), output.into(), scratch.into());
    checks::output(NAME, input.len(), output.len())?;
    let [expected, actual] = [variant.scratch_len(input.len()), scratch.len()].map(|words| 8 * words);
    if actual < expected {
        return Err(Error::ScratchTooSmall { what: NAME, expected, actual });
    }
    stream.expect("input of a scan", input.device())?;
    stream.expect("output of a scan", output.device())?;
    stream.expect("scratch memory of a scan", scratch.device())?;
    if input.is_empty() {
        return Ok(());
    }
    if let (Some(input), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        let mut sum = 0.0;
        for (value, result) in input.iter().zip(output) {
            sum += value;
            *result = sum;
        }
        return Ok(());
    }
    launch::sum(variant, stream, input, output, scratch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_holds_the_totals_of_every_level() {
        assert_eq!(Variant::levels(1024).collect::<Vec<_>>(), [1024]);
        assert_eq!(Variant::levels(1 << 20).collect::<Vec<_>>(), [1 << 20, 1024]);
        assert_eq!(Variant::levels((1 << 20) + 1).collect::<Vec<_>>(), [(1 << 20) + 1, 1025, 2]);
        assert_eq!(Variant::Recursive.scratch_len((1 << 20) + 1), 1025 + 2 + 1);
        assert_eq!(Variant::ReduceThenScan.scratch_len((1 << 20) + 1), 1025);
        assert_eq!(Variant::SumAll.scratch_len(1), 2);
    }
}
