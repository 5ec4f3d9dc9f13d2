//! Streams: handles of them, and what orders them.

use std::panic::Location;

use super::{Simulator, State};
use crate::engine::Caller;
use crate::engine::between::{all_ordered, settle_ranges};
use crate::fault::{Direction, Fault, FaultDetails, FaultKind, Space};
use crate::streams::{DEFAULT, Mark};

impl State {
    /// Host calls on a stream that are in bounds: see [`settle_ranges`].
    pub(super) fn settle(
        &mut self,
        of: &Simulator,
        name: &str,
        ranges: &[(u64, usize, bool)],
        caller: Caller,
    ) -> Result<(), Fault> {
        self.last = None;
        let first = ranges.first().map_or(0, |range| range.0);
        let kind = FaultKind::Race { space: Space::Global, direction: Direction::Write, address: first };
        let blank = FaultDetails { site: Some(caller.into()), ..FaultDetails::blank(kind, self.config.seed) };
        settle_ranges(&mut self.heap, &mut self.streams, of.stream, name, ranges, (caller, blank))
    }
}

impl Simulator {
    /// A handle of a new stream of this device.
    ///
    /// ```
    /// use gpu_sim::{FaultKind, Simulator};
    /// let default = Simulator::default();
    /// let (a, b) = (default.stream(), default.stream());
    /// let memory = default.alloc(4)?;
    /// a.fill(memory, 4, 1)?;
    /// let fault = b.fill(memory, 4, 2).unwrap_err();
    /// assert!(matches!(fault.kind, FaultKind::Race { .. }), "nothing orders them: {fault}");
    /// b.wait(&a.record());
    /// b.fill(memory, 4, 2)?;
    /// # Ok::<(), gpu_sim::Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn stream(&self) -> Self {
        Self { stream: self.state().streams.add(), ..self.clone() }
    }

    /// Another handle of the same stream, whose fills, copies, reads and writes are reported as made at a place: for
    /// who makes them for somebody else.
    #[must_use]
    pub fn called_from(&self, caller: &'static Location<'static>) -> Self {
        Self { caller: Some(caller), ..self.clone() }
    }

    /// Marks this point of the stream.
    #[track_caller]
    pub fn record(&self) -> Mark {
        self.state().streams.record(self.stream, self.id)
    }

    /// What is enqueued on the stream from now on comes after a point of another.
    ///
    /// # Panics
    /// Where the point is of another simulator; inside a kernel.
    #[track_caller]
    pub fn wait(&self, mark: &Mark) {
        self.expect(mark);
        self.state().streams.wait(self.stream, mark);
    }

    /// The host waits for all that was enqueued on the stream: what it enqueues from now on, anywhere, comes after that.
    #[track_caller]
    pub fn synchronize(&self) {
        let mut state = self.state();
        let state = &mut *state;
        if self.stream == DEFAULT {
            return all_ordered(&mut state.heap, &mut state.streams);
        }
        let mark = state.streams.record(self.stream, self.id);
        state.streams.reached(&mark);
    }

    /// The host waits for a point of a stream.
    ///
    /// # Panics
    /// As [`Simulator::wait`].
    #[track_caller]
    pub fn wait_on_host(&self, mark: &Mark) {
        self.expect(mark);
        self.state().streams.reached(mark);
    }

    /// Whether the host has waited for a point, or for one behind it.
    ///
    /// # Panics
    /// As [`Simulator::wait`].
    #[track_caller]
    pub fn has_waited(&self, mark: &Mark) -> bool {
        self.expect(mark);
        self.state().streams.has_reached(mark)
    }

    #[track_caller]
    fn expect(&self, mark: &Mark) {
        assert_eq!(mark.simulator, self.id, "a mark of another simulator");
    }

    /// Who is to be named as having called.
    pub(super) fn called(&self, caller: Caller) -> Caller {
        self.caller.unwrap_or(caller)
    }
}
