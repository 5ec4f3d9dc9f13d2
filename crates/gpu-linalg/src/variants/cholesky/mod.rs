//! Cholesky's factorisation step by step, from the loops of the textbook to a GPU's kernels beside a host (seed: C.
//! González, *Coste computacional en GPU*, 2012, chapter 8).
//!
//! The matrix lies on the host. The first two versions factor it there. The others are MAGMA's left-looking one: a
//! column of blocks goes to the device, what is left of it is subtracted there, its block of the diagonal comes back
//! and is factored on the host while the device goes on with those below it, and goes there again for these to be
//! solved with it. Copies back to the host are on a stream of their own. They work on the CPU too, where a stream's
//! work is done at once.
//!
//! ```
//! use gpu_linalg::variants::cholesky::{CholeskyVariant, cholesky, generate, structured_rows};
//! use gpu_linalg::{Layout, Triangle};
//! let device = gpu_core::Device::best();
//! let first = structured_rows(8);
//! let a: Vec<f64> = generate(32, 4, &first, 1);
//! let layout = Layout::row_major(32, 32)?;
//! let (mut by_all, mut by_some) = (a.clone(), a);
//! let all = cholesky(CholeskyVariant::Blocks, &device, Triangle::Lower, &mut by_all, layout, 4)?;
//! let some = cholesky(CholeskyVariant::Structured, &device, Triangle::Lower, &mut by_some, layout, 4)?;
//! assert_eq!(by_all, by_some);
//! // Table 9.1 has those of 8 blocks of 64.
//! assert_eq!((some.syrk, some.gemm, some.trsm, some.potrf), (16, 17, 16, 8));
//! assert_eq!((all.syrk, all.gemm, all.trsm, all.potrf), (28, 56, 28, 8));
//! # Ok::<(), gpu_linalg::Error>(())
//! ```

mod device;
mod host;
mod hybrid;
mod launch;
mod structure;

pub use launch::CholeskyElement;
pub use structure::{first_blocks, generate, rows_of_share, structured_rows};

use gpu_core::{Device, checks};

use crate::api::Triangle;
use crate::error::Error;
use crate::matrix::Layout;
use host::Lower;

/// A textbook version of Cholesky's factorisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CholeskyVariant {
    /// Three loops on the host (listing 8.1).
    Sequential,
    /// The same by blocks (listing 8.2): the same bits.
    Blocked,
    /// MAGMA's: what the same is done to is one call, by the products of this crate (listings 8.3 and 8.4).
    Tiles,
    /// A call for every block (listings 8.5 to 8.8).
    Blocks,
    /// Calls for the blocks that are there (listings 8.9 to 8.12): the bits of [`Blocks`](Self::Blocks).
    Structured,
    /// The same calls by the textbook's own kernels, on copies of the blocks (section 8.4).
    Own,
}

gpu_core::named! {
    CholeskyVariant in "gpu_linalg::variants::cholesky", "All of them, in the order of the textbook.";
    Sequential = "sequential",
    Blocked = "blocked",
    Tiles = "tiles",
    Blocks = "blocks",
    Structured = "structured",
    Own = "own kernels",
}

/// How often a factorisation called what: the rows of the thesis' table 9.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Updates of blocks of the diagonal.
    pub syrk: u64,
    /// Updates of blocks below it.
    pub gemm: u64,
    /// Solutions with a factored block.
    pub trsm: u64,
    /// Factorisations of blocks.
    pub potrf: u64,
    /// Copies of a row of blocks to the host.
    pub row_copies: u64,
    /// Copies of a factored block to the device.
    pub block_copies: u64,
}

/// Factors a matrix on the host by `variant`, in place, in blocks of `side` rows: `A = L · Lᵀ` of the lower triangle,
/// `A = Uᵀ · U` of the upper one. The other triangle is neither read nor written. Says how often it called what.
///
/// What runs on a device runs on `device`, with memory of its own for the matrix.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`Error::SkylineSide`] of 0; [`Error::Device`] where `a` is shorter than its layout,
/// or with the device's errors; [`Error::NotPositiveDefinite`], and then the triangle is unspecified.
pub fn cholesky<T: CholeskyElement>(
    variant: CholeskyVariant,
    device: &Device,
    triangle: Triangle,
    a: &mut [T],
    layout: Layout,
    side: usize,
) -> Result<Calls, Error> {
    expect_blocks(a.len(), layout, side)?;
    let lower = Lower::new(triangle, a, layout);
    match variant {
        CholeskyVariant::Sequential => host::sequential(lower),
        CholeskyVariant::Blocked => host::blocked(lower, side),
        hybrid => hybrid::factor(hybrid, device, lower, side),
    }
}

/// The rows of a square matrix in memory of `len` elements, in blocks of `side` rows.
fn expect_blocks(len: usize, layout: Layout, side: usize) -> Result<usize, Error> {
    let rows = checks::square("a symmetric matrix", layout.shape())?;
    if side == 0 {
        return Err(Error::SkylineSide { side });
    }
    checks::span("a matrix", layout.span(), len)?;
    Ok(rows)
}
