//! The textbook's sums, to be measured beside the fast one: what each lesson about a tree of additions is worth.
//!
//! All compute a sum, in an order that depends on the length alone, but each in an order of its own: unlike
//! [`sum`](crate::sum())'s the last bits of floats differ from one to the other and from the CPU's. Each [`Variant`]
//! says why it is as fast as it is. Blocks have [`BLOCK`] threads; all but the final two are launched again on what
//! they wrote, until one value is left. Times are what `cargo run --release --example reduction_variants` measures,
//! beside the metrics.
//!
//! # What the simulator counts
//! nvprof's metrics, in percent, for 2^16 elements of 8 bytes, all launches together; a test computes this table.
//! *Loads* and *stores* are passes through the banks for each request to shared memory: 2 is what a whole warp of
//! 8-byte elements takes without conflicts. Branches are those of the source.
//!
//! | variant | launches | branch_efficiency | shared_efficiency | loads | stores | gld_efficiency |
//! |---|---|---|---|---|---|---|
//! | [`Variant::Divergent`] | 2 | 71.4 | 25.1 | 1.67 | 1.72 | 100.0 |
//! | [`Variant::Strided`] | 2 | 98.2 | 25.1 | 7.78 | 5.31 | 100.0 |
//! | [`Variant::Sequential`] | 2 | 98.2 | 92.7 | 1.73 | 1.86 | 100.0 |
//! | [`Variant::FirstAdd`] | 2 | 98.3 | 92.7 | 1.73 | 1.86 | 100.0 |
//! | [`Variant::LastWarp`] | 2 | 99.4 | 99.4 | 1.98 | 2.00 | 100.0 |
//! | [`Variant::FirstAddLastWarp`] | 2 | 99.4 | 99.4 | 1.98 | 2.00 | 100.0 |
//! | [`Variant::Unrolled`] | 2 | 99.1 | 99.4 | 1.98 | 2.00 | 100.0 |
//! | [`Variant::Several`] | 2 | 99.3 | 99.6 | 1.98 | 2.00 | 100.0 |
//! | [`Variant::FinalGlobal`] | 1 | 99.7 | 0.0 | 0.00 | 0.00 | 100.0 |
//! | [`Variant::FinalShared`] | 1 | 99.7 | 99.9 | 1.99 | 2.00 | 100.0 |
//!
//! The first two have the same `shared_efficiency` for different reasons: few lanes of each warp take part, or all do
//! and wait for each other's banks.

mod launch;

use gpu_core::{Stream, View, ViewMut, checks};
use gpu_reduce_kernels::variants as kernels;
use gpu_reduce_kernels::{Number, Register};
use gpu_std::launch::LaunchConfig;

use gpu_core::Error;

pub use gpu_reduce_kernels::variants::BLOCK;
pub use launch::Kernels;

/// The most blocks of [`Variant::Several`]: as many partial results as one block of it takes with a pair a thread, so
/// two launches do.
pub const SEVERAL_BLOCKS: u32 = 2 * BLOCK;

/// What the variants add: `f64`, as the literature does, and `f32`.
pub trait Value: Kernels + Number<Register = Self> + Register {}
impl Value for f64 {}
impl Value for f32 {}

/// A textbook sum.
///
/// The first seven stages are those of M. Harris, *Optimizing Parallel Reduction in CUDA* (NVIDIA, 2007), in the form
/// and order that C. González gave them (*Modelo de estimación de rendimiento para arquitecturas paralelas
/// heterogéneas*, Universidad Politécnica de Valencia, 2012, chapter 6), who measured the final two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// First stage: neighbours are added, then neighbours of those, by threads that lie as far apart as the elements.
    ///
    /// In each of the first five rounds every warp has threads that add and threads that do not: it issues both ways,
    /// and all 16 warps stay busy to the end for ever fewer additions. The literature's version also divides, to know
    /// who adds; here the compiler sees that the divisor is a power of two and masks.
    Divergent,
    /// Second stage: the same additions, by the first threads.
    ///
    /// Warps add or rest as a whole, until less than one is left. But thread `t` now takes the elements `2 d t` and
    /// `2 d t + d`, and such strides meet in few banks: twice the passes in the first round, up to sixteen times later.
    Strided,
    /// Third stage: the first half of the elements is added to the second, by the first threads.
    ///
    /// Neighbours take neighbours: no conflicts, and no more divergence than in [`Variant::Strided`]. What remains is
    /// that half of the threads do nothing but load one element.
    Sequential,
    /// Fourth stage: each thread adds two elements on its way to shared memory.
    ///
    /// The idle half is gone, and with it half of the blocks, each with its tree and its barriers; two loads a thread
    /// are in flight.
    FirstAdd,
    /// Fifth stage: [`Variant::Sequential`], with the last six rounds unrolled for one warp.
    ///
    /// The other 15 warps leave six barriers and six branches earlier. The warp itself saves loop and conditions, and
    /// its 32 lanes all add in every round, to no purpose beyond the first few: more bytes asked of shared memory, at
    /// the same number of passes.
    LastWarp,
    /// Sixth stage: [`Variant::FirstAdd`] with the last six rounds unrolled for one warp.
    FirstAddLastWarp,
    /// Between the sixth stage and the seventh: [`Variant::FirstAdd`] with all rounds unrolled.
    ///
    /// The block's size is a constant, so nothing of a loop is left. What it saves beside
    /// [`Variant::FirstAddLastWarp`] are three rounds' counters: little.
    Unrolled,
    /// Seventh stage: at most [`SEVERAL_BLOCKS`] blocks walk over the array, a pair a thread at a time; then
    /// [`Variant::Unrolled`]'s tree.
    ///
    /// The trees are as many as blocks, not as tiles, so additions are as cheap as they can be: what counts is how fast
    /// elements arrive. Still a thread asks for 8 bytes at a time and waits for them before the next.
    Several,
    /// The final algorithm on global memory: one block, whose threads keep their running sums in global memory.
    ///
    /// Two loads and a store for every element, and the store's place is loaded again a moment later: each round
    /// waits for the cache. And one block is one multiprocessor: the others idle. (The original adds to the first
    /// elements of its input; this one has memory of its own, and leaves the input.)
    FinalGlobal,
    /// The final algorithm on shared memory: the same, with the running sums in shared memory.
    ///
    /// A load of an element no longer queues behind a store and a load of the sum; the compiler even keeps the sum in a
    /// register between two stores. It is still one multiprocessor's share of the memory's bandwidth, and at most 4 KiB
    /// in flight.
    FinalShared,
}

gpu_core::named! {
    Variant in "gpu_reduce::variants", "All of them, in the order of the literature.";
    Divergent = "divergent",
    Strided = "strided",
    Sequential = "sequential",
    FirstAdd = "first_add",
    LastWarp = "last_warp",
    FirstAddLastWarp = "first_add_last_warp",
    Unrolled = "unrolled",
    Several = "several",
    FinalGlobal = "final_global",
    FinalShared = "final_shared",
}

impl Variant {
    /// How many blocks one launch on `len` elements has: as many partial results it leaves.
    pub const fn blocks(self, len: usize) -> usize {
        let block = BLOCK as usize;
        let blocks = match self {
            Self::Divergent | Self::Strided | Self::Sequential | Self::LastWarp => len.div_ceil(block),
            Self::FirstAdd | Self::FirstAddLastWarp | Self::Unrolled => len.div_ceil(2 * block),
            Self::Several => {
                let blocks = len.div_ceil(2 * block);
                if blocks < SEVERAL_BLOCKS as usize { blocks } else { SEVERAL_BLOCKS as usize }
            }
            Self::FinalGlobal | Self::FinalShared => 1,
        };
        if blocks == 0 { 1 } else { blocks }
    }

    /// The launches that sum `len` elements, one after the other: the elements of each and its blocks.
    ///
    /// ```
    /// use gpu_reduce::variants::Variant;
    /// let launches: Vec<_> = Variant::Sequential.launches(1_000_000).collect();
    /// assert_eq!(launches, [(1_000_000, 1954), (1954, 4), (4, 1)]);
    /// assert_eq!(Variant::FinalShared.launches(1_000_000).count(), 1);
    /// ```
    pub fn launches(self, len: usize) -> impl Iterator<Item = (usize, usize)> {
        let launch = move |len| (len, self.blocks(len));
        core::iter::successors(Some(launch(len)), move |&(_, blocks)| (blocks > 1).then(|| launch(blocks)))
    }

    /// How many elements of scratch memory the sum of `len` elements needs: the partial results of all launches but the
    /// last, or the running sums of [`Variant::FinalGlobal`].
    pub fn scratch_len(self, len: usize) -> usize {
        match self {
            Self::FinalGlobal => BLOCK as usize,
            _ => self.launches(len).map(|(_, blocks)| blocks).filter(|&blocks| blocks > 1).sum(),
        }
    }

    /// One launch on `len` elements. A grid that exceeds what a device takes is refused when it is launched.
    pub fn launch_config<T: Value>(self, len: usize) -> LaunchConfig {
        let blocks = u32::try_from(self.blocks(len)).unwrap_or(u32::MAX);
        LaunchConfig::linear(blocks, BLOCK).shared(match self {
            Self::FinalGlobal => 0,
            _ => kernels::shared_bytes::<T>(),
        })
    }
}

/// Writes the sum of `input` to `output[0]`, on `stream`, as `variant` does it: slower than
/// [`sum_into`](crate::sum_into) and in another order. The sum of nothing is 0. On the CPU all variants are the same
/// plain loop.
///
/// `scratch` has at least [`Variant::scratch_len`] elements of any content. Neither allocates nor waits.
///
/// # Errors
/// [`Error::OutputLength`] where `output` is not one element, [`Error::ScratchTooSmall`]; those of the device where the
/// memory is on another device than the stream, or where a launch failed or has more blocks than the device takes.
///
/// ```
/// use gpu_reduce::variants::{Variant, sum_with};
/// let device = gpu_core::Device::simulator();
/// let input = device.upload(&[0.5; 3000])?;
/// let mut output = device.alloc(1)?;
/// let mut scratch = device.alloc(Variant::Several.scratch_len(input.len()))?;
/// sum_with(Variant::Several, &device.default_stream(), &input, &mut output, &mut scratch)?;
/// assert_eq!(output.to_vec()?, [1500.0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn sum_with<'a, 'b, 'c, T: Value>(
    variant: Variant,
    stream: &Stream,
    input: impl Into<View<'a, T>>,
    output: impl Into<ViewMut<'b, T>>,
    scratch: impl Into<ViewMut<'c, T>>,
) -> Result<(), Error> {
    const NAME: &str = "sum";
    let (input, mut output, scratch) = (input.into(), output.into(), scratch.into());
    checks::output(NAME, 1, output.len())?;
    let [expected, actual] =
        [variant.scratch_len(input.len()), scratch.len()].map(|len| len * size_of::<T>());
    if actual < expected {
        return Err(Error::ScratchTooSmall { what: NAME, expected, actual });
    }
    stream.expect("input of a reduction", input.device())?;
    stream.expect("output of a reduction", output.device())?;
    stream.expect("scratch memory of a reduction", scratch.device())?;

    if let (Some(input), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        output[0] = input.iter().fold(T::ZERO, |sum, &value| sum.plus(value));
        return Ok(());
    }
    launch::sum(variant, stream, input, output, scratch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_end_with_one_block_and_scratch_holds_what_they_leave() {
        for variant in Variant::ALL {
            for len in [0, 1, 512, 513, 1024, 1025, 1 << 20, (1 << 20) + 1, 100_000_000, usize::MAX >> 8] {
                let launches: Vec<_> = variant.launches(len).collect();
                assert_eq!(launches[0].0, len, "{variant}");
                assert!(
                    launches.windows(2).all(|pair| pair[0].1 == pair[1].0),
                    "{variant} {len}: {launches:?}"
                );
                assert_eq!(launches.iter().filter(|(_, blocks)| *blocks == 1).count(), 1, "{variant} {len}");
                assert_eq!(launches[launches.len() - 1].1, 1, "{variant} {len}");
                let left: usize = launches[..launches.len() - 1].iter().map(|(_, blocks)| blocks).sum();
                let sums = if variant == Variant::FinalGlobal { BLOCK as usize } else { 0 };
                assert_eq!(variant.scratch_len(len), left + sums, "{variant} {len}");
            }
        }
    }

    #[test]
    fn several_takes_two_launches_whatever_the_length() {
        assert_eq!(Variant::Several.launches(1024).count(), 1);
        for len in [1025, 100_000_000, 1 << 40] {
            assert_eq!(Variant::Several.launches(len).count(), 2);
        }
    }

    #[test]
    fn shared_memory_is_an_element_a_thread() {
        assert_eq!(Variant::Several.launch_config::<f64>(1 << 30).shared_bytes, 4096);
        assert_eq!(Variant::Divergent.launch_config::<f32>(1 << 20).shared_bytes, 2048);
        assert_eq!(Variant::FinalGlobal.launch_config::<f64>(1 << 30).shared_bytes, 0);
        assert_eq!(Variant::Divergent.launch_config::<f32>(100_000_000).grid, [195_313, 1, 1]);
    }
}
