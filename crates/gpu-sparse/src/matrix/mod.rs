//! Matrices in memory.

pub(crate) mod check;
mod coo;
mod csr;
mod held;
#[cfg(feature = "sprs")]
mod with_sprs;

pub use coo::Coo;
pub use csr::{Csc, Csr, CsrView};

pub(crate) use csr::{extent, sizes};
pub(crate) use held::Held;
