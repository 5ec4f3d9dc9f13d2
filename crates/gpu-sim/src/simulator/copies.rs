//! Bytes on their way from one place of global memory to another, of the same simulator or of another.

use std::panic::Location;
use std::sync::Arc;

use super::{Simulator, State};
use crate::fault::{Direction, Fault, FaultKind};

/// Bytes as they were found.
pub(super) struct Taken {
    bytes: Vec<u8>,
    /// Which of them somebody has written; empty where all are.
    written: Vec<bool>,
}

impl State {
    pub(super) fn take(&mut self, src: u64, bytes: usize) -> Result<Taken, FaultKind> {
        let Some((source, from)) = self.heap.locate(src, bytes) else {
            return Err(self.heap.explain(src, bytes, Direction::Read));
        };
        let holes = source.first_unwritten(from, bytes).is_some();
        let range = if holes { from..from + bytes } else { 0..0 };
        Ok(Taken {
            written: range.map(|at| source.first_unwritten(at, 1).is_none()).collect(),
            bytes: source.bytes()[from..from + bytes].to_vec(),
        })
    }

    pub(super) fn put(&mut self, dst: u64, Taken { bytes, written }: &Taken) -> Result<(), FaultKind> {
        let Some((target, to)) = self.heap.locate(dst, bytes.len()) else {
            return Err(self.heap.explain(dst, bytes.len(), Direction::Write));
        };
        target.bytes_mut()[to..to + bytes.len()].copy_from_slice(bytes);
        if written.is_empty() {
            target.mark_range(to, bytes.len());
        }
        for (at, &written) in written.iter().enumerate() {
            target.set_written(to + at, written);
        }
        Ok(())
    }
}

impl Simulator {
    /// Copies bytes here from the global memory of another simulator, never-written bytes too, as [`copy`](Self::copy)
    /// does within one. It is work of both handles' streams.
    ///
    /// ```
    /// use gpu_sim::Simulator;
    /// let (near, far) = (Simulator::default(), Simulator::default());
    /// let (target, source) = (near.alloc(4)?, far.alloc(4)?);
    /// far.write(source, &[1, 2, 3, 4])?;
    /// near.copy_peer(target + 1, &far, source, 3)?;
    /// let mut bytes = [0; 3];
    /// near.read(target + 1, &mut bytes)?;
    /// assert_eq!(bytes, [1, 2, 3]);
    /// # Ok::<(), gpu_sim::Fault>(())
    /// ```
    ///
    /// # Errors
    /// Out of bounds, or after free, on either side; nothing is then copied.
    #[track_caller]
    pub fn copy_peer(&self, dst: u64, source: &Self, src: u64, bytes: usize) -> Result<(), Fault> {
        if Arc::ptr_eq(&self.state, &source.state) {
            return self.copy(dst, src, bytes);
        }
        let caller = self.called(Location::caller());
        // One after the other: two threads that copy in both directions do not wait for each other.
        let taken = {
            let mut state = source.state();
            let seed = state.config.seed;
            if state.heap.locate(src, bytes).is_some() {
                let name = format!("copy of {bytes} bytes to another device");
                state.settle(source, &name, &[(src, bytes, false)], caller)?;
            }
            state.take(src, bytes).map_err(|kind| Fault::host(kind, seed, caller))?
        };
        let mut state = self.state();
        let seed = state.config.seed;
        if state.heap.locate(dst, bytes).is_some() {
            let name = format!("copy of {bytes} bytes from another device");
            state.settle(self, &name, &[(dst, bytes, true)], caller)?;
        }
        state.put(dst, &taken).map_err(|kind| Fault::host(kind, seed, caller))
    }
}
