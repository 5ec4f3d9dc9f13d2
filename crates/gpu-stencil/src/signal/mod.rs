//! Convolution and correlation of a signal with a filter, of one dimension, as NumPy's and `scipy.signal`'s.
//!
//! With a signal `x` of `n` elements and a filter `f` of `m`, either as long as it likes, and zeros outside both,
//!
//! ```text
//! convolve    full[k] = sum over i of f[i] · x[k - i]
//! correlate   full[k] = sum over i of f[i] · x[k - (m - 1) + i]
//! ```
//!
//! for `k` in `0..n + m - 1`, of which [`Mode`] says what is wanted. Names, modes and numbering are those of
//! `scipy.signal.convolve` and `correlate`; where the signal is at least as long as the filter they are NumPy's too.
//!
//! # Order, and error
//! Each output is one chain of fused multiply-adds that starts with +0: `min(n, m)` of them, one for each element of
//! the shorter of the two, in ascending order of the elements of the longer one (the signal, where they are equally
//! long), which goes on with zeros. The result is at most `gamma · sum |f||x|` from the exact one, with `gamma =
//! min(n, m)·u / (1 - min(n, m)·u)` (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., equation
//! 3.5). As the zeros outside are multiplied as well, what is not finite in the shorter one makes every output not a
//! number that it falls outside in. NumPy, which SciPy calls for one dimension, leaves those products out:
//! `np.convolve([1, 2], [inf, 1])` ends with 2, not with NaN.
//!
//! Everything is computed directly, with `n · m` multiplications, as in `method="direct"`.

mod api;
mod launch;
pub mod plan;
pub mod reference;
pub mod variants;

pub use api::{convolve, convolve_into, correlate, correlate_into};
pub use launch::SignalElement;
pub use plan::Mode;
