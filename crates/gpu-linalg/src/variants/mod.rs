//! The textbook's sums and products, to be measured beside the fast ones: what each lesson is worth. Of `f32`,
//! products with a vector also of `f64` and `i32`, row-major without gaps, on devices that run kernels.
//!
//! All but [`GemvVariant::Column`] add in ascending order and give the bits of a serial loop of fused multiply-adds.
//! Grid and block are the caller's, as the textbook's experiments vary them; a grid too small is refused.

pub mod cholesky;
mod launch;
mod steps;
mod systems;
mod tensor;
mod tiles;

pub use launch::VariantElement;
pub use steps::{TensorStep, gemm_step};
pub use systems::{trsm_square, trsm_square_scratch};
pub use tensor::{
    TensorVariant, gemm_i8, gemm_i8_scratch, gemm_tensor, gemm_tensor_scratch, gemm_tensor_with, gemm_tf32,
    gemm_tf32_scratch, gemm_tf32_with,
};
pub use tiles::gemm_tiles;

use gpu_core::{Stream, View, ViewMut, checks};
use gpu_linalg_kernels::variants as kernels;
use gpu_std::launch::LaunchConfig;

use crate::error::Error;
use crate::matrix::Layout;
use crate::plan::extent;

/// A textbook product of two matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GemmVariant {
    /// A thread an element of C, every factor from global memory.
    Naive,
    /// A thread an element of C, tiles of 32 × 32 in shared memory.
    Shared,
    /// 8 × 8 elements of C a thread in registers: the fast kernel with tiles of 64 × 64, whatever the size.
    Registers,
}

impl GemmVariant {
    /// All of them, in the order of the textbook.
    pub const ALL: [Self; 3] = [Self::Naive, Self::Shared, Self::Registers];

    /// The launch for an m × n product; naive ones with blocks of 32 × 8 threads.
    pub fn launch_config(self, m: u32, n: u32) -> LaunchConfig {
        let tiles = |columns: u32, rows: u32| [n.div_ceil(columns).max(1), m.div_ceil(rows).max(1), 1];
        match self {
            Self::Naive => LaunchConfig { grid: tiles(32, 8), block: [32, 8, 1], shared_bytes: 0 },
            Self::Shared => LaunchConfig {
                grid: tiles(kernels::TILE, kernels::TILE),
                block: [kernels::TILE, kernels::TILE, 1],
                shared_bytes: kernels::shared_bytes(),
            },
            Self::Registers => {
                let tile = gpu_linalg_kernels::gemm::GEMM_MEDIUM_F32;
                LaunchConfig::linear(tile.count(m, n).max(1) as u32, tile.threads).shared(tile.shared_bytes())
            }
        }
    }
}

/// A textbook product of a matrix and a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GemvVariant {
    /// A row a thread.
    Row,
    /// So many consecutive rows a thread.
    Rows(u32),
    /// A column a thread, added by atomics: in another order each time.
    Column,
}

impl GemvVariant {
    /// Threads that an m × n matrix needs.
    pub fn threads(self, m: u32, n: u32) -> u64 {
        u64::from(match self {
            Self::Row => m,
            Self::Rows(per_thread) => m.div_ceil(per_thread.max(1)),
            Self::Column => n,
        })
    }
}

/// `C = A · B` by `variant`: A is m × k, B is k × n, C is m × n, `shape` is `[m, n, k]`.
///
/// # Errors
/// [`gpu_core::Error::Length`], [`Invalid::SizeOverflow`](gpu_core::matrix::Invalid::SizeOverflow),
/// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] on the CPU, which runs no kernels. C is as it was then.
///
/// ```
/// use gpu_linalg::variants::{GemmVariant, gemm};
/// let device = gpu_core::Device::simulator();
/// let (a, b) = (device.upload(&[1.0, 2.0])?, device.upload(&[10.0, 20.0])?);
/// let mut c = device.alloc(1)?;
/// gemm(GemmVariant::Shared, &device.default_stream(), &a, &b, &mut c, [1, 1, 2])?;
/// assert_eq!(c.to_vec()?, [50.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm<'a, 'b, 'c>(
    variant: GemmVariant,
    stream: &Stream,
    a: impl Into<View<'a, f32>>,
    b: impl Into<View<'b, f32>>,
    c: impl Into<ViewMut<'c, f32>>,
    shape: [usize; 3],
) -> Result<(), Error> {
    let (a, b, c) = (a.into(), b.into(), c.into());
    let [m, n, k] = expect_product(stream, (a, b), &c, shape)?;
    if m == 0 || n == 0 {
        return Ok(());
    }
    Ok(launch::gemm(variant, stream, variant.launch_config(m, n), a, b, c, [m, n, k])?)
}

/// That the matrices of a product are as long as `[m, n, k]` says, and on the stream's device; and these extents.
fn expect_product<F: gpu_core::Element, C: gpu_core::Element>(
    stream: &Stream,
    (a, b): (View<'_, F>, View<'_, F>),
    c: &ViewMut<'_, C>,
    [m, n, k]: [usize; 3],
) -> Result<[u32; 3], Error> {
    expect_len(a.len(), m, k)?;
    expect_len(b.len(), k, n)?;
    expect_len(c.len(), m, n)?;
    stream.expect("first factor of a product", a.device())?;
    stream.expect("second factor of a product", b.device())?;
    stream.expect("output of a product", c.device())?;
    let m = extent("the number of rows of C", m)?;
    let n = extent("the number of columns of C", n)?;
    Ok([m, n, extent("the inner length of a product", k)?])
}

/// `y = A · x` by `variant` with `config`, A being row-major of `rows` × `columns` elements.
///
/// # Errors
/// [`gpu_core::Error::VectorLengths`], [`gpu_core::Error::Length`],
/// [`Invalid::SizeOverflow`](gpu_core::matrix::Invalid::SizeOverflow), [`gpu_core::Error::ExtentTooLarge`];
/// [`Error::TooFewThreads`] where `config` has fewer than [`GemvVariant::threads`], [`Error::TooManyAxes`] where it has
/// some in y or z; [`Error::Device`] on the CPU, which runs no kernels. `y` is as it was then.
///
/// ```
/// use gpu_linalg::variants::{GemvVariant, gemv};
/// use gpu_std::launch::LaunchConfig;
/// let device = gpu_core::Device::simulator();
/// let (a, x) = (device.upload(&[1, 2, 3, 4])?, device.upload(&[1, 10])?);
/// let mut y = device.alloc(2)?;
/// gemv(GemvVariant::Row, &device.default_stream(), LaunchConfig::linear(1, 32), &a, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [21, 43]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemv<'a, 'x, 'y, T: VariantElement>(
    variant: GemvVariant,
    stream: &Stream,
    config: LaunchConfig,
    a: impl Into<View<'a, T>>,
    x: impl Into<View<'x, T>>,
    y: impl Into<ViewMut<'y, T>>,
) -> Result<(), Error> {
    let (a, x, mut y) = (a.into(), x.into(), y.into());
    let (rows, columns) = (y.len(), x.len());
    expect_len(a.len(), rows, columns)?;
    stream.expect("matrix of a product", a.device())?;
    stream.expect("vector of a product", x.device())?;
    stream.expect("output of a product", y.device())?;
    let (m, n) = (extent("the number of rows", rows)?, extent("the number of columns", columns)?);
    let (expected, actual) = (variant.threads(m, n), u64::from(config.grid[0]) * u64::from(config.block[0]));
    if actual < expected {
        return Err(Error::TooFewThreads { expected, actual });
    }
    expect_axes(config, 1)?;
    if m == 0 {
        return Ok(());
    }
    if variant == GemvVariant::Column {
        stream.memset(y.reborrow(), 0)?;
        if n == 0 {
            return Ok(());
        }
    }
    Ok(launch::gemv(variant, stream, config, a, x, y, [m, n])?)
}

/// `z = x + y`, a thread an element, with grid and block of the caller's choice: one too large does no harm.
///
/// `shape` is that of row-major matrices without gaps, `[rows, columns]`; x counts through the columns and y through
/// the rows. Vectors have one row.
///
/// # Errors
/// [`gpu_core::Error::Length`], [`Invalid::SizeOverflow`](gpu_core::matrix::Invalid::SizeOverflow),
/// [`gpu_core::Error::ExtentTooLarge`]; [`Error::TooFewThreads`] where x or y has fewer threads than columns or rows,
/// [`Error::TooManyAxes`] where there are some in z; [`Error::Device`] on the CPU, which runs no kernels. `z` is as it
/// was then.
///
/// ```
/// use gpu_std::launch::LaunchConfig;
/// let device = gpu_core::Device::simulator();
/// let (x, y) = (device.upload(&[1.0; 100])?, device.upload(&[2.0; 100])?);
/// let mut z = device.alloc(100)?;
/// gpu_linalg::variants::add(&device.default_stream(), LaunchConfig::linear(7, 16), &x, &y, &mut z, [1, 100])?;
/// assert_eq!(z.to_vec()?, [3.0; 100]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn add<'x, 'y, 'z>(
    stream: &Stream,
    config: LaunchConfig,
    x: impl Into<View<'x, f32>>,
    y: impl Into<View<'y, f32>>,
    z: impl Into<ViewMut<'z, f32>>,
    shape: [usize; 2],
) -> Result<(), Error> {
    let (x, y, z) = (x.into(), y.into(), z.into());
    let [rows, columns] = shape;
    for len in [x.len(), y.len(), z.len()] {
        expect_len(len, rows, columns)?;
    }
    stream.expect("first operand", x.device())?;
    stream.expect("second operand", y.device())?;
    stream.expect("output", z.device())?;
    let rows = extent("the number of rows", rows)?;
    let columns = extent("the number of columns", columns)?;
    for (axis, expected) in [columns, rows].into_iter().enumerate() {
        let (expected, actual) =
            (u64::from(expected), u64::from(config.grid[axis]) * u64::from(config.block[axis]));
        if actual < expected {
            return Err(Error::TooFewThreads { expected, actual });
        }
    }
    expect_axes(config, 2)?;
    if rows > 0 && columns > 0 {
        launch::add(stream, config, x, y, z, [rows, columns])?;
    }
    Ok(())
}

/// Refuses a launch with several threads along another axis than the first `axes`.
fn expect_axes(config: LaunchConfig, axes: usize) -> Result<(), Error> {
    let LaunchConfig { grid, block, .. } = config;
    let alone = |axis: usize| grid[axis] <= 1 && block[axis] <= 1;
    if (axes..3).all(alone) { Ok(()) } else { Err(Error::TooManyAxes { axes, grid, block }) }
}

fn expect_len(actual: usize, rows: usize, columns: usize) -> Result<(), Error> {
    Ok(checks::span("a matrix", Layout::row_major(rows, columns)?.span(), actual)?)
}
