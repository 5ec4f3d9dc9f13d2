//! The textbook's transpositions, to be measured beside the fast one: what each lesson about memory is worth.
//!
//! All compute the same as [`transpose_into`](crate::transpose_into), a thread an element (a patch of 32 in the last
//! two), and differ in where a warp's accesses fall. Each [`Variant`] says why it is as fast as it is; its metrics
//! are what gpu-sim counts (`cargo run --release --example memory_metrics -- --all`), its times what `--example
//! transpose_variants` measures.

mod launch;

use gpu_core::{Layout, Matrix, MatrixMut, Order, Stream};
use gpu_std::launch::LaunchConfig;
use gpu_transpose_kernels::variants as kernels;

use crate::api::expect_transposed;
use crate::error::Error;

/// A textbook transposition.
///
/// Efficiencies are nvprof's: bytes that the threads asked for, of the bytes that the accesses took. They hold for
/// elements of 4 bytes and whole tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// Reads along rows, writes down columns; blocks of 32 × 32.
    ///
    /// Each of a warp's 32 stores falls into a sector of its own, of whose 32 bytes it fills 4: `gst_efficiency` 12.5
    /// %, eight times the store traffic between multiprocessor and L2. Slow, though less than eight times slower: the
    /// L2 gathers neighbouring columns before they go to DRAM. `gld_efficiency` 100 %, no shared memory.
    NaiveScatter,
    /// Reads down columns, writes along rows; blocks of 32 × 32.
    ///
    /// The same for loads, `gld_efficiency` 12.5 %, and `gst_efficiency` 100 %. What a sector holds beyond the 4
    /// bytes that a warp asked for, the block's other warps ask for next: L1 has it then, where the sectors have not
    /// been evicted. A load makes its warp wait, a store does not.
    NaiveGather,
    /// Through a 16 × 16 tile in shared memory that is read by columns.
    ///
    /// Both global accesses run along rows, 64 bytes at a time: both efficiencies 100 %. In shared memory a warp
    /// writes two rows of 16 words in one pass and reads two columns in eight: words 16 apart lie in two banks in
    /// turn. Of nine passes two would do: `shared_efficiency` 22.2 %.
    Shared16,
    /// Through a 32 × 32 tile in shared memory that is read by columns.
    ///
    /// A column lies in one bank: a load takes 32 passes, `shared_efficiency` 2 of 33, 6.06 %. Global accesses as
    /// good as can be, and yet slower than with 16 × 16, also because all 32 warps of a block wait at its barrier.
    Shared32,
    /// Through a 16 × 16 tile that is written by columns.
    ///
    /// The conflicts of [`Variant::Shared16`] at the store: 22.2 % again. A store does not make its warp wait, but the
    /// barrier after it does.
    SharedStores16,
    /// Through a 32 × 32 tile that is written by columns: 6.06 %, as [`Variant::Shared32`].
    SharedStores32,
    /// Through a 16 × 17 tile: each row has a spare word.
    ///
    /// A column's 16 words lie in 16 banks; but a warp takes two rows, then two columns, and those overlap in one
    /// bank: two passes each, `shared_efficiency` 50 %.
    Padded16,
    /// Through a 32 × 33 tile: each row has a spare word.
    ///
    /// Rows and columns lie in 32 banks: one pass each, 100 % throughout. What is left to the fast version are the 4
    /// bytes a thread asks for at a time: too few in flight to fill the memory's pipeline.
    Padded32,
    /// Patches of 8 × 4 elements in a thread's registers, under a bound of 32 registers a thread.
    ///
    /// 32 values and their addresses are more than 32 registers: on 8.0 and up the rest spills to local memory (48
    /// bytes a thread on 9.0). Each thread walks its own patch, so a warp's loads have gaps of 12 bytes between 4 and
    /// its stores fall into columns: `gld_efficiency` 25 %, `gst_efficiency` 12.5 %.
    Patch,
    /// [`Variant::Patch`] split in two launches, each of half a patch: 16 values fit, and nothing spills.
    PatchSplit,
}

impl Variant {
    /// All of them, in the order of the textbooks.
    pub const ALL: [Self; 10] = [
        Self::NaiveScatter,
        Self::NaiveGather,
        Self::Shared16,
        Self::Shared32,
        Self::SharedStores16,
        Self::SharedStores32,
        Self::Padded16,
        Self::Padded32,
        Self::Patch,
        Self::PatchSplit,
    ];

    /// What it is called, without the size of its tile: "naive", "naive_gather", "shared", "shared_stores",
    /// "shared_padded", "patch" or "patch_split". With [`Variant::block`] it is unique.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NaiveScatter => "naive",
            Self::NaiveGather => "naive_gather",
            Self::Shared16 | Self::Shared32 => "shared",
            Self::SharedStores16 | Self::SharedStores32 => "shared_stores",
            Self::Padded16 | Self::Padded32 => "shared_padded",
            Self::Patch => "patch",
            Self::PatchSplit => "patch_split",
        }
    }

    /// Rows and columns of a block of threads.
    pub const fn block(self) -> u32 {
        match self {
            Self::Shared16 | Self::SharedStores16 | Self::Padded16 => 16,
            _ => 32,
        }
    }

    /// The variant of a name with its block: `shared_padded_32`, `naive_32`; the block may be left out where there is
    /// only one.
    ///
    /// ```
    /// use gpu_transpose::variants::Variant;
    /// assert_eq!(Variant::by_name("shared_padded_32"), Some(Variant::Padded32));
    /// assert_eq!(Variant::by_name("naive"), Some(Variant::NaiveScatter));
    /// assert_eq!(Variant::by_name("shared"), None);
    /// ```
    pub fn by_name(name: &str) -> Option<Self> {
        let mut alike = Self::ALL.into_iter().filter(|variant| variant.name() == name);
        match (alike.next(), alike.next()) {
            (Some(only), None) => Some(only),
            _ => Self::ALL.into_iter().find(|variant| variant.to_string() == name),
        }
    }

    /// The launch for a matrix, or one of the launches where there are two. A grid that exceeds what a device takes is
    /// refused when it is launched.
    pub fn launch_config(self, matrix: Layout) -> LaunchConfig {
        let fit = |size: usize, tile: u32| u32::try_from(size.div_ceil(tile as usize)).unwrap_or(u32::MAX);
        let block = self.block();
        let (rows, columns) = (matrix.rows(), matrix.columns());
        let tile = |pitch| LaunchConfig {
            grid: [fit(columns, block), fit(rows, block), 1],
            block: [block, block, 1],
            shared_bytes: if pitch == 0 { 0 } else { kernels::shared_bytes(block, pitch) },
        };
        match self {
            Self::NaiveScatter => tile(0),
            Self::NaiveGather => LaunchConfig { grid: [fit(rows, block), fit(columns, block), 1], ..tile(0) },
            Self::Shared16 | Self::Shared32 | Self::SharedStores16 | Self::SharedStores32 => tile(block),
            Self::Padded16 | Self::Padded32 => tile(block + 1),
            Self::Patch | Self::PatchSplit => LaunchConfig {
                grid: [fit(columns, block * kernels::PATCH_SHORT), fit(rows, block * kernels::PATCH_LONG), 1],
                ..tile(0)
            },
        }
    }
}

/// Name and block: `shared_padded_32`.
impl core::fmt::Display for Variant {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(&format!("{}_{}", self.name(), self.block()))
    }
}

/// Writes the transposed matrix to `output`, on `stream`, as `variant` does it: as
/// [`transpose_into`](crate::transpose_into) but slower. On the CPU all variants are the same plain loop.
///
/// # Errors
/// As `transpose_into`; [`Error::ColumnMajor`] where columns are contiguous; a matrix of more than 65,535 tiles from top to bottom is a
/// [`LaunchLimit`](gpu_core::Error::LaunchLimit).
///
/// ```
/// use gpu_transpose::{Layout, Matrix, MatrixMut};
/// use gpu_transpose::variants::{Variant, transpose_with};
/// let device = gpu_core::Device::simulator();
/// let input = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let mut output = device.alloc(6)?;
/// let matrix = Matrix::new(&input, Layout::row_major(2, 3)?)?;
/// let transposed = MatrixMut::new(&mut output, Layout::row_major(3, 2)?)?;
/// transpose_with(Variant::Padded32, &device.default_stream(), matrix, transposed)?;
/// assert_eq!(output.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose_with<'a, 'b>(
    variant: Variant,
    stream: &Stream,
    input: impl Into<Matrix<'a, f32>>,
    output: impl Into<MatrixMut<'b, f32>>,
) -> Result<(), Error> {
    let (input, output) = (input.into(), output.into());
    let (matrix, transposed) = (input.layout(), output.layout());
    if [matrix, transposed].iter().any(|layout| layout.order() == Order::ColumnMajor) {
        return Err(Error::ColumnMajor);
    }
    expect_transposed(matrix, transposed)?;
    let (input, mut output) = (input.data(), output.into_data());
    stream.expect("input of a transposition", input.device())?;
    stream.expect("output of a transposition", output.device())?;

    if matrix.is_empty() {
        return Ok(());
    }
    if let (Some(input), Some(output)) = (input.as_slice(), output.as_mut_slice()) {
        for row in 0..matrix.rows() {
            for column in 0..matrix.columns() {
                output[transposed.index(column, row)] = input[matrix.index(row, column)];
            }
        }
        return Ok(());
    }
    Ok(launch::transpose(variant, stream, input, matrix, output, transposed.leading_dimension())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for variant in Variant::ALL {
            assert_eq!(Variant::by_name(&variant.to_string()), Some(variant));
        }
        assert_eq!(Variant::by_name("shared_padded"), None);
        assert_eq!(Variant::by_name("nothing"), None);
    }

    #[test]
    fn grids_cover_the_matrix() {
        let matrix = Layout::row_major(100, 70).unwrap();
        let grid = |variant: Variant| variant.launch_config(matrix).grid;
        assert_eq!(grid(Variant::NaiveScatter), [3, 4, 1]);
        assert_eq!(grid(Variant::NaiveGather), [4, 3, 1]);
        assert_eq!(grid(Variant::Padded16), [5, 7, 1]);
        assert_eq!(grid(Variant::PatchSplit), [1, 1, 1]);
        assert_eq!(Variant::Padded32.launch_config(matrix).shared_bytes, 32 * 33 * 4);
        assert_eq!(Variant::NaiveGather.launch_config(matrix).shared_bytes, 0);
    }
}
