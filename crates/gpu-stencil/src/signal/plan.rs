//! Which outputs there are, which of the two operands goes along the other, and how many blocks compute them: from
//! lengths alone.

use gpu_std::launch::LaunchConfig;
use gpu_std::memory::Element;
use gpu_stencil_kernels::signal::{Chains, OUTPUTS_F32, OUTPUTS_F64, THREADS, shared_bytes};

use crate::error::Error;

/// Which outputs of a convolution or correlation of `n` with `m` elements are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// All `n + m - 1`.
    #[default]
    Full,
    /// As many as the signal has elements, from the middle of all: the first `(m - 1) / 2` are left out. (NumPy gives
    /// as many as the longer operand has: exchange them for that.)
    Same,
    /// Those where the shorter operand lies in the longer one: `max(n, m) - min(n, m) + 1`.
    Valid,
}

impl Mode {
    /// The first output wanted, as a place among all, and how many follow.
    const fn window(self, n: usize, m: usize) -> (usize, usize) {
        let (short, long) = if n < m { (n, m) } else { (m, n) };
        match self {
            Self::Full => (0, n.saturating_add(m - 1)),
            Self::Same => ((m - 1) / 2, n),
            Self::Valid => (short - 1, long - short + 1),
        }
    }

    /// How many outputs a signal of `signal` elements and a filter of `filter` have: none where one is empty,
    /// `usize::MAX` where there are more.
    ///
    /// ```
    /// use gpu_stencil::signal::Mode;
    /// assert_eq!(Mode::Full.output_len(5, 3), 7);
    /// assert_eq!(Mode::Same.output_len(5, 3), 5);
    /// assert_eq!(Mode::Valid.output_len(3, 5), 3);
    /// ```
    pub const fn output_len(self, signal: usize, filter: usize) -> usize {
        if signal == 0 || filter == 0 { 0 } else { self.window(signal, filter).1 }
    }
}

/// Whether the filter is reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// It is.
    Convolution,
    /// It is not.
    Correlation,
}

impl Operation {
    /// Its name in errors.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Convolution => "convolution",
            Self::Correlation => "correlation",
        }
    }
}

/// What is computed of which operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Grid, block and shared memory.
    pub launch: LaunchConfig,
    /// The outputs as chains.
    pub chains: Chains,
    /// Whether the signal takes the filter's place, being shorter, and the filter the signal's.
    pub exchanged: bool,
}

impl Plan {
    /// The plan for a signal of `n` elements of `T` and a filter of `m` on so many multiprocessors; `address` is that
    /// of the output.
    ///
    /// # Errors
    /// [`Error::EmptyOperand`]; [`gpu_core::Error::ExtentTooLarge`], which takes more memory than there is.
    pub fn new<T: Element>(
        operation: Operation,
        mode: Mode,
        n: usize,
        m: usize,
        address: u64,
        multiprocessors: u32,
    ) -> Result<Self, Error> {
        for (what, length) in [("signal", n), ("filter", m)] {
            if length == 0 {
                return Err(Error::EmptyOperand { what });
            }
        }
        let limit = 1 << 42;
        if n.saturating_add(m) > limit {
            let what = "a signal with its filter";
            return Err(gpu_core::Error::ExtentTooLarge { what, actual: n.max(m), limit }.into());
        }
        let exchanged = n < m;
        let (length, taps) = if exchanged { (m, n) } else { (n, m) };
        let (first, outputs) = mode.window(n, m);
        // A convolution is the same with its operands exchanged, a correlation is reversed.
        let outputs_reversed = exchanged && operation == Operation::Correlation;
        let first = if outputs_reversed { n + m - 1 - first - outputs } else { first };
        let chains = Chains {
            length: length as u64,
            taps: taps as u64,
            outputs: outputs as u64,
            first: first as i64 - (taps as i64 - 1),
            taps_reversed: (operation == Operation::Convolution) as u32,
            outputs_reversed: outputs_reversed as u32,
            vectors: address.is_multiple_of(16) as u32,
            reserved: 0,
        };
        let each = if size_of::<T>() == 4 { OUTPUTS_F32 } else { OUTPUTS_F64 };
        // Small blocks while large ones would leave multiprocessors without work: two for each. Not yet measured.
        let blocks = |threads: u32| outputs.div_ceil((threads * each) as usize);
        let threads = [THREADS, THREADS / 2]
            .into_iter()
            .find(|&threads| blocks(threads) >= 2 * multiprocessors as usize);
        let threads = threads.unwrap_or(THREADS / 4);
        let launch =
            LaunchConfig::linear(blocks(threads) as u32, threads).shared(shared_bytes::<T>(threads, each));
        Ok(Self { launch, chains, exchanged })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_operand_is_the_taps() {
        let plan = |operation, mode, n, m| Plan::new::<f32>(operation, mode, n, m, 0, 132).unwrap();
        let long = plan(Operation::Correlation, Mode::Full, 10, 3);
        assert!(!long.exchanged && long.chains.first == -2 && long.chains.outputs == 12);
        let short = plan(Operation::Correlation, Mode::Same, 3, 10);
        assert!(short.exchanged && short.chains.outputs_reversed == 1 && short.chains.taps == 3);
        // Of 12 outputs the 4th to 6th; from the other end the 5th to 7th.
        assert_eq!((short.chains.first, short.chains.outputs), (12 - 4 - 3 - 2, 3));
        let valid = plan(Operation::Convolution, Mode::Valid, 10, 10);
        assert_eq!((valid.chains.first, valid.chains.outputs), (0, 1));
    }

    #[test]
    fn outputs_are_counted_whatever_the_lengths() {
        const MOST: usize = usize::MAX;
        for (mode, signal, filter, outputs) in [
            (Mode::Full, MOST, 2, MOST),
            (Mode::Full, MOST, MOST, MOST),
            (Mode::Full, MOST, 1, MOST),
            (Mode::Full, MOST - 1, 2, MOST),
            (Mode::Same, MOST, MOST, MOST),
            (Mode::Valid, MOST, 1, MOST),
            (Mode::Valid, MOST, MOST, 1),
            (Mode::Full, 0, MOST, 0),
        ] {
            assert_eq!(mode.output_len(signal, filter), outputs, "{mode:?} of {signal} and {filter}");
        }
    }

    #[test]
    fn every_output_has_a_thread_and_large_ones_large_blocks() {
        for (n, threads) in [(1, 64), (100_000, 64), (405_000, 128), (811_000, 256), (1 << 32, 256)] {
            let plan = Plan::new::<f32>(Operation::Convolution, Mode::Same, n, 1, 0, 132).unwrap();
            assert_eq!(plan.launch.block[0], threads, "{n}");
            let outputs = plan.launch.grid[0] as usize * (threads * OUTPUTS_F32) as usize;
            assert!(outputs >= n && outputs - n < (threads * OUTPUTS_F32) as usize);
        }
        assert!(matches!(
            Plan::new::<f64>(Operation::Convolution, Mode::Full, usize::MAX, 2, 0, 132),
            Err(Error::Device(gpu_core::Error::ExtentTooLarge { .. }))
        ));
        assert!(matches!(
            Plan::new::<f64>(Operation::Convolution, Mode::Full, 1, 0, 0, 132),
            Err(Error::EmptyOperand { what: "filter" })
        ));
    }
}
