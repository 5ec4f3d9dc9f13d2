//! Matrices in memory.

pub(crate) mod check;
mod coo;
mod csc;
mod csr;
mod held;
mod launch;
mod wide;
#[cfg(feature = "sprs")]
mod with_sprs;

pub use coo::{Coo, CooView};
pub use csc::{Csc, CscView};
pub use csr::{Csr, CsrView};
pub use wide::{Wide, narrow_indices};

pub(crate) use csr::{extents, sizes};
pub(crate) use held::{Held, first_difference};
