//! Kernels that are broken on purpose, written the way kernels are written, each beside its correct form.
//!
//! Of each broken kernel the simulator must name the kind of mistake, the kernel, the line (it is marked with a
//! comment, see [`harness`]), the block and the thread, and say the same again for the same seed; the correct form
//! must pass for 1,000 seeds with the right result. Nothing hangs: every launch and every test has a bound on its
//! time.

mod clusters;
mod harness;
mod memory;
mod progress;
mod races;
mod stores;
mod synchronisation;
mod tiles;
