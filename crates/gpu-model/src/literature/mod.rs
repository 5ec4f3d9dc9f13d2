//! The literature's models, one a module: formulas, parameters with their units, and the source.
//!
//! | | what it takes | what it gives |
//! |---|---|---|
//! | [`pram`] | steps of processors on a shared memory | steps of time; what EREW … CRCW forbid |
//! | [`qrqw`] | the same with the length of queues, or each processor's program | time with and without barriers |
//! | [`bsp`] | supersteps of work and messages | time with both readings of the barrier |
//! | [`logp`] | L, o, g, P | time of messages and of a broadcast |
//! | [`hong_kim`] | latencies, bandwidth, warps; instructions of a warp | cycles by memory and computation parallelism |
//! | [`baghsorkhi`] | a kernel's work flow graph | cycles of the average warp |
//! | [`mukherjee`] | a thread's cycles | bounds of a kernel's time, with and without cache |
//! | [`nugteren`] | instructions of a warp, limits of the device | time by core, roofline, extensions, memory and null model |
//! | [`gonzalez`] | a thread's instructions, branches, atomics, bytes copied | time of a program on host and device |
//! | [`roofline`] | operations and bytes | the bound and what it is bound by |

pub mod baghsorkhi;
pub mod bsp;
pub mod counted;
pub mod gonzalez;
pub mod hong_kim;
pub mod logp;
pub mod mukherjee;
pub mod nugteren;
pub mod pram;
pub mod qrqw;
pub mod roofline;

/// What the unit tests compare with.
#[cfg(test)]
pub(crate) mod testing {
    /// Whether two numbers are the same but for rounding. The formulas here have fewer than 50 operations, each of
    /// which is off by 2^-53 at most, and subtract nothing close to what it is subtracted from by more than a factor
    /// of 10: 50 · 10 · 2^-53 < 1e-13.
    #[track_caller]
    pub(crate) fn same(computed: f64, by_hand: f64) {
        let error = (computed - by_hand).abs();
        assert!(error <= 1e-13 * by_hand.abs(), "computed {computed}, by hand {by_hand}");
    }
}
