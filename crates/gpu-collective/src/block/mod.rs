//! What the threads of a one-dimensional block do together. All threads have to call.

mod histogram;
pub mod merge;
mod radix_rank;
mod reduce;
mod scan;

pub use histogram::{Histogram, histogram_copies};
pub use radix_rank::{DigitPlaces, RadixRank};
pub use reduce::{combine_warps, leave_for_first_warp, reduce};
pub use scan::{Scanned, exclusive_scan, scan_warps};
