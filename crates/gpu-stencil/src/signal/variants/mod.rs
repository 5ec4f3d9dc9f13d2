//! The textbook's correlations, to be measured beside the fast one: what the memory that holds the filter is worth,
//! and what a sum in a register. On devices that run kernels, [`Mode::Valid`], with the same bits as
//! [`correlate`](super::correlate).
//!
//! They are those of C. Gimenez, *Computación de Alto Rendimiento en GPU* (2019), section 6: a thread an output,
//! blocks of 256. All lanes of a warp want the same tap at a time, and 32 elements of the signal beside each other.
//!
//! | the filter in | why it is as fast as it is |
//! |---|---|
//! | [`Memory::Global`] | Two loads for each multiplication. The tap is one word for all lanes, in the L1 after the first, but it takes the L1's turn as the 32 elements do, and its latency. |
//! | [`Memory::Constant`] | The constant cache answers one address a time, which is what a warp asks for here, beside the L1: that has half the loads. A table travels with the launch, in the kernel's 4 KB of parameters. |
//! | [`Memory::Shared`] | A word for all lanes is one pass, as quick as from the constant cache, after each block has copied the filter and waited. Pieces of 1024 taps: the filter may be longer than the block, which the textbook's may not. |
//!
//! With the sum in [`Sum::Output`], as the textbook's kernels have it, every tap costs a store as well (the compiler
//! keeps what was stored in a register and saves the load); [`Sum::Register`] stores once. Fast is what none of them
//! does: to use an element of the signal for several outputs of a thread, so that there is more than one
//! multiplication to a load.

mod launch;

pub use launch::VariantElement;

use gpu_core::{Stream, View, ViewMut, checks};
use gpu_std::launch::LaunchConfig;
use gpu_stencil_kernels::signal::variants::shared_bytes;

use super::plan::{Mode, Operation, Plan};
use crate::error::Error;

/// Where the filter is while the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// In global memory.
    Global,
    /// In constant memory: 1000 `f32` or 500 `f64` at most.
    Constant,
    /// In shared memory.
    Shared,
}

gpu_core::named! {
    Memory in "gpu_stencil::signal::variants", "All of them.";
    Global = "global",
    Constant = "constant",
    Shared = "shared",
}

/// Where the sum of an output's products is while it grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sum {
    /// In the output, in global memory.
    Output,
    /// In a register.
    Register,
}

/// Threads of a block: the textbook's.
const THREADS: u32 = 256;

/// A filter in its memory.
#[derive(Clone, Debug)]
pub struct Staged<'s, T: VariantElement> {
    memory: Memory,
    table: Vec<T>,
    device: View<'s, T>,
}

impl<'s, T: VariantElement> Staged<'s, T> {
    /// Puts `filter` where kernels find it: into the first elements of `staging`, or, where it is to be in constant
    /// memory, beside the launches that take it with them. Waits for the copy.
    ///
    /// # Errors
    /// [`Error::EmptyOperand`]; [`Error::FilterTooLong`] where it is longer than a constant table;
    /// [`gpu_core::Error::Length`] where `staging` is shorter than the filter; [`Error::Device`] where the copy failed.
    pub fn new(memory: Memory, filter: &[T], staging: impl Into<ViewMut<'s, T>>) -> Result<Self, Error> {
        let (staging, len) = (staging.into(), filter.len());
        if len == 0 {
            return Err(Error::EmptyOperand { what: "filter" });
        }
        if memory == Memory::Constant && len > T::TABLE {
            return Err(Error::FilterTooLong { memory: memory.name(), actual: len, limit: T::TABLE });
        }
        checks::span("a filter", len, staging.len())?;
        let mut staging = staging.into_slice(..len);
        if memory != Memory::Constant {
            staging.copy_from(filter)?;
        }
        Ok(Self { memory, table: filter.to_vec(), device: staging.into() })
    }

    /// The outputs of the correlation of `signal` with the filter for which the filter lies within the signal:
    /// `signal.len() - filter.len() + 1`.
    ///
    /// On `stream`. Neither allocates device memory nor waits. A graph can capture it with the filter in constant
    /// memory, staged within the capture; elsewhere the filter is borrowed by this and cannot be among the graph's
    /// resources: [`gpu_core::Error::GraphMemory`].
    ///
    /// # Errors
    /// [`Error::EmptyOperand`], [`gpu_core::Error::OutputLength`], [`gpu_core::Error::Aliasing`];
    /// [`Error::FilterTooLong`] where the filter is longer than the signal; [`gpu_core::Error::ExtentTooLarge`];
    /// [`Error::Device`] where memory is on another device than the stream, where the launch failed, and on the CPU,
    /// which runs no kernels. The output is as it was then.
    ///
    /// ```
    /// use gpu_stencil::signal::variants::{Memory, Staged, Sum};
    /// let device = gpu_core::Device::simulator();
    /// let signal = device.upload(&[1.0f32, 2.0, 3.0, 4.0])?;
    /// let (mut staging, mut output) = (device.alloc(2)?, device.alloc(3)?);
    /// let filter = Staged::new(Memory::Shared, &[1.0, 10.0], &mut staging)?;
    /// filter.correlate_into(&device.default_stream(), Sum::Register, &signal, &mut output)?;
    /// assert_eq!(output.to_vec()?, [21.0, 32.0, 43.0]);
    /// # Ok::<(), gpu_stencil::Error>(())
    /// ```
    pub fn correlate_into<'x, 'o>(
        &self,
        stream: &Stream,
        sum: Sum,
        signal: impl Into<View<'x, T>>,
        output: impl Into<ViewMut<'o, T>>,
    ) -> Result<(), Error> {
        let (signal, output) = (signal.into(), output.into());
        let (n, m) = (signal.len(), self.table.len());
        let plan = Plan::new::<T>(
            Operation::Correlation,
            Mode::Valid,
            n,
            m,
            0,
            stream.device().planned_multiprocessors(),
        )?;
        if m > n {
            return Err(Error::FilterTooLong { memory: self.memory.name(), actual: m, limit: n });
        }
        checks::extent("the signal of a textbook's correlation", n, i32::MAX as usize)?;
        checks::output("correlation", plan.chains.outputs as usize, output.len())?;
        stream.expect("signal", signal.device())?;
        stream.expect("filter", self.device.device())?;
        stream.expect("output", output.device())?;
        output.expect_apart("the signal", &signal)?;
        output.expect_apart("the filter", &self.device)?;
        let bytes = if self.memory == Memory::Shared { shared_bytes::<T>() } else { 0 };
        let config =
            LaunchConfig::linear((plan.chains.outputs as u32).div_ceil(THREADS), THREADS).shared(bytes);
        Ok(launch::correlate(stream, config, self, sum, signal, output)?)
    }
}
