//! The host's side: memory, launches, reports.

mod copies;
mod streams;

use std::collections::VecDeque;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::Config;
use crate::engine::between::{all_ordered, settle};
use crate::engine::earlier::Earlier;
use crate::engine::launch::{self, Compiled};
use crate::engine::{Caller, inside};
use crate::fault::{Direction, Fault, FaultDetails, FaultKind, Space};
use crate::geometry::{Geometry, Kernel};
use crate::memory::alloc::Heap;
use crate::memory::range::Range;
use crate::report::Report;
use crate::streams::{DEFAULT, Streams};

/// Shadow pages kept between launches.
const SHADOW_KEPT: usize = 64 << 20;

struct State {
    heap: Heap,
    /// Which addresses `heap` gives out.
    _range: Range,
    config: Config,
    /// The reports of the last launches, the newest at the end.
    reports: VecDeque<Report>,
    /// Bytes of the fills that were enqueued.
    fills: Vec<u64>,
    launches: u32,
    /// The last thing that happened, if it was a launch.
    last: Option<Earlier>,
    /// The stream that it was on.
    last_stream: u32,
    streams: Streams,
}

/// A simulated device. Clones share its memory; calls from several threads take turns.
///
/// # Streams
/// A handle is that of a stream, at first of the default one: what is called on it, launches, writes, reads, fills and
/// copies, comes one after the other. [`Simulator::stream`] gives a handle of another stream. What is called there runs
/// at once too, but nothing orders it with what other such streams do, save [`record`](Self::record) and
/// [`wait`](Self::wait), and waits of the host ([`synchronize`](Self::synchronize)). Where it touches bytes that other work wrote
/// before, or writes what that read, without an order between them, it is a race: the fault names both, with their streams.
/// Atomics of kernels do not race with each other; a kernel that reads atomically what an earlier one released comes after it. The default
/// stream's work comes after all there is, and what follows after it. Allocating and freeing memory orders nothing.
///
/// Found are races with the last 16,384 launches, fills and copies that lie behind no work of the default stream.
///
/// # Panics
/// All methods, when called inside a kernel, of whichever simulator: the kernel's fault.
#[derive(Clone)]
pub struct Simulator {
    id: u64,
    state: Arc<Mutex<State>>,
    stream: u32,
    /// Who makes the calls, where not who makes them.
    caller: Option<Caller>,
    /// What its kernels are given: see [`Simulator::lending`].
    views: Arc<[(u64, usize)]>,
}

impl std::fmt::Debug for Simulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulator").finish_non_exhaustive()
    }
}

impl Default for Simulator {
    fn default() -> Self {
        Self::new(Config::default())
    }
}

impl Simulator {
    /// A device without any allocation.
    pub fn new(config: Config) -> Self {
        let range = Range::new();
        let heap = Heap::new(range.first());
        let state = State {
            heap,
            _range: range,
            config,
            reports: VecDeque::new(),
            fills: Vec::new(),
            launches: 0,
            last: None,
            last_stream: DEFAULT,
            streams: Streams::default(),
        };
        static MADE: AtomicU64 = AtomicU64::new(0);
        let id = MADE.fetch_add(1, Ordering::Relaxed);
        Self { id, state: Arc::new(Mutex::new(state)), stream: DEFAULT, caller: None, views: Arc::default() }
    }

    /// A number that no other simulator of this process has; clones have the same. Kernels know it from
    /// [`device::simulator`](crate::device::simulator).
    pub fn id(&self) -> u64 {
        self.id
    }

    #[track_caller]
    fn state(&self) -> MutexGuard<'_, State> {
        // A launch holds the lock: waiting for it here would never end.
        assert!(!inside(), "a kernel runs on this thread: no Simulator can be used inside one");
        // A panic of a simulated thread is caught; one elsewhere leaves memory as it is on a real device.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates global memory and returns its simulated address, aligned to 2^40. Its bytes count as never written.
    /// No other simulator that this OS thread made, and that still is there, gives out that address.
    ///
    /// # Errors
    /// [`FaultKind::OutOfMemory`] with what is free.
    #[track_caller]
    pub fn alloc(&self, bytes: usize) -> Result<u64, Fault> {
        self.alloc_region(bytes, false, Location::caller())
    }

    /// As [`Simulator::alloc`], but its bytes are zeros that count as written. Like those of [`Simulator::alloc`] they
    /// take no memory of the host before they are touched.
    ///
    /// # Errors
    /// [`FaultKind::OutOfMemory`] with what is free.
    #[track_caller]
    pub fn alloc_zeroed(&self, bytes: usize) -> Result<u64, Fault> {
        self.alloc_region(bytes, true, Location::caller())
    }

    #[track_caller]
    fn alloc_region(&self, bytes: usize, written: bool, caller: &Location<'_>) -> Result<u64, Fault> {
        let mut state = self.state();
        let (seed, limit) = (state.config.seed, state.config.memory_limit);
        state.heap.alloc(bytes, limit, written).map_err(|kind| Fault::host(kind, seed, caller))
    }

    /// Frees an allocation. Its address is never given out again, and using it is a fault.
    ///
    /// # Errors
    /// [`FaultKind::InvalidFree`] when `addr` does not begin a live allocation.
    #[track_caller]
    pub fn free(&self, addr: u64) -> Result<(), Fault> {
        let caller = Location::caller();
        let mut state = self.state();
        let seed = state.config.seed;
        state.heap.free(addr).map_err(|kind| Fault::host(kind, seed, caller))
    }

    /// Where the allocation begins that an address is in, if it is in one that lives.
    pub fn allocation(&self, addr: u64) -> Option<u64> {
        let (_, offset) = self.state().heap.locate(addr, 1)?;
        Some(addr - offset as u64)
    }

    /// Copies bytes from the host to global memory.
    ///
    /// # Errors
    /// Out of bounds, or after free.
    #[track_caller]
    pub fn write(&self, addr: u64, bytes: &[u8]) -> Result<(), Fault> {
        let caller = self.called(Location::caller());
        let mut state = self.state();
        let seed = state.config.seed;
        if state.heap.locate(addr, bytes.len()).is_some() {
            state.settle(
                self,
                &format!("write of {} bytes", bytes.len()),
                &[(addr, bytes.len(), true)],
                caller,
            )?;
        }
        let kind = match state.heap.locate(addr, bytes.len()) {
            Some((region, offset)) => {
                region.bytes_mut()[offset..offset + bytes.len()].copy_from_slice(bytes);
                region.mark_range(offset, bytes.len());
                return Ok(());
            }
            None => state.heap.explain(addr, bytes.len(), Direction::Write),
        };
        Err(Fault::host(kind, seed, caller))
    }

    /// Copies bytes from global memory to the host.
    ///
    /// # Errors
    /// Out of bounds, after free, or bytes that nobody wrote; `out` is then unchanged.
    #[track_caller]
    pub fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        let caller = self.called(Location::caller());
        let mut state = self.state();
        let seed = state.config.seed;
        if state.heap.locate(addr, out.len()).is_some() {
            state.settle(
                self,
                &format!("read of {} bytes", out.len()),
                &[(addr, out.len(), false)],
                caller,
            )?;
        }
        let kind = match state.heap.locate(addr, out.len()) {
            Some((region, offset)) => match region.first_unwritten(offset, out.len()) {
                None => {
                    out.copy_from_slice(&region.bytes()[offset..offset + out.len()]);
                    return Ok(());
                }
                Some(first) => {
                    let address = addr + (first - offset) as u64;
                    let kind =
                        FaultKind::Unwritten { space: Space::Global, address, bytes: out.len() as u64 };
                    return Err(Fault::host(kind, seed, caller).after(region.kernel()));
                }
            },
            None => state.heap.explain(addr, out.len(), Direction::Read),
        };
        Err(Fault::host(kind, seed, caller))
    }

    /// Sets bytes of global memory.
    ///
    /// # Errors
    /// Out of bounds, or after free.
    #[track_caller]
    pub fn fill(&self, addr: u64, bytes: usize, value: u8) -> Result<(), Fault> {
        let caller = self.called(Location::caller());
        let mut state = self.state();
        let seed = state.config.seed;
        if state.heap.locate(addr, bytes).is_some() {
            state.settle(self, &format!("fill of {bytes} bytes"), &[(addr, bytes, true)], caller)?;
        }
        let kind = match state.heap.locate(addr, bytes) {
            Some((region, offset)) => {
                region.bytes_mut()[offset..offset + bytes].fill(value);
                region.mark_range(offset, bytes);
                return Ok(());
            }
            None => state.heap.explain(addr, bytes, Direction::Write),
        };
        Err(Fault::host(kind, seed, caller))
    }

    /// Copies bytes within global memory, as if through a buffer. Like a device-to-device copy on hardware it takes
    /// never-written bytes along: the copy of such a byte is as unwritten as the original.
    ///
    /// # Errors
    /// Out of bounds, or after free; nothing is then copied.
    #[track_caller]
    pub fn copy(&self, dst: u64, src: u64, bytes: usize) -> Result<(), Fault> {
        let caller = self.called(Location::caller());
        let mut state = self.state();
        let seed = state.config.seed;
        if state.heap.locate(src, bytes).is_some() && state.heap.locate(dst, bytes).is_some() {
            let ranges = [(src, bytes, false), (dst, bytes, true)];
            state.settle(self, &format!("copy of {bytes} bytes"), &ranges, caller)?;
        }
        let taken = state.take(src, bytes).and_then(|taken| state.put(dst, &taken));
        taken.map_err(|kind| Fault::host(kind, seed, caller))
    }

    /// Runs a kernel: `body` once for every thread of the grid, with the functions of [`device`](crate::device) to
    /// know which thread it is and to reach memory.
    ///
    /// # Errors
    /// The first fault, or a launch of zero or too many threads. Memory stays readable after a fault, with what the
    /// kernel wrote until then.
    ///
    /// # Panics
    /// When called inside a kernel.
    #[track_caller]
    pub fn launch(
        &self,
        kernel: Kernel<'_>,
        geometry: Geometry,
        body: &(dyn Fn() + Sync),
    ) -> Result<Report, Fault> {
        self.launch_bounded(kernel, u32::MAX, geometry, body)
    }

    /// [`Simulator::launch_clustered`] of a kernel that waits by itself for the one before: its threads may run before
    /// that has ended, until they have called
    /// [`grid_dependency_synchronize`](crate::device::grid_dependency_synchronize), or a barrier, a release or the
    /// like orders them after one that has. Where such a thread touches memory that the launch before wrote, or writes
    /// what that read, it is a race with it. Memory that the host accessed in between makes the launches come one after
    /// the other, as on a stream.
    ///
    /// # Errors
    /// As [`Simulator::launch_clustered`], and [`FaultKind::NeverWaits`] where there is a launch before and no thread
    /// waited for it.
    ///
    /// # Panics
    /// When called inside a kernel.
    #[track_caller]
    pub fn launch_programmatic(
        &self,
        kernel: Kernel<'_>,
        (max_threads, cluster): (u32, u32),
        geometry: Geometry,
        body: &(dyn Fn() + Sync),
    ) -> Result<Report, Fault> {
        self.launch_compiled(kernel, Compiled { max_threads, programmatic: true, cluster }, geometry, body)
    }

    /// [`Simulator::launch`] of a kernel that was compiled for blocks of at most `max_threads` threads.
    ///
    /// # Errors
    /// As [`Simulator::launch`], and [`FaultKind::InvalidLaunch`] where a block has more.
    ///
    /// # Panics
    /// When called inside a kernel.
    #[track_caller]
    pub fn launch_bounded(
        &self,
        kernel: Kernel<'_>,
        max_threads: u32,
        geometry: Geometry,
        body: &(dyn Fn() + Sync),
    ) -> Result<Report, Fault> {
        self.launch_clustered(kernel, (max_threads, 1), geometry, body)
    }

    /// [`Simulator::launch_bounded`] of a kernel whose blocks are in clusters of so many neighbours in x: those of one
    /// start together, and reach each other's shared memory.
    ///
    /// # Errors
    /// As there, and [`FaultKind::PartialCluster`].
    ///
    /// # Panics
    /// When called inside a kernel.
    #[track_caller]
    pub fn launch_clustered(
        &self,
        kernel: Kernel<'_>,
        (max_threads, cluster): (u32, u32),
        geometry: Geometry,
        body: &(dyn Fn() + Sync),
    ) -> Result<Report, Fault> {
        self.launch_compiled(kernel, Compiled { max_threads, programmatic: false, cluster }, geometry, body)
    }

    /// Another handle of the same stream, whose kernels are given these addresses and bytes: where one of them is in an
    /// allocation, the rest of that is out of bounds to them.
    ///
    /// ```
    /// use gpu_sim::device::{Load, global_load};
    /// use gpu_sim::{FaultKind, Geometry, Kernel, Simulator};
    /// let simulator = Simulator::default();
    /// let memory = simulator.alloc_zeroed(64)?;
    /// let kernel = Kernel { name: "reads_past_its_view", file: file!(), line: line!() };
    /// let read = || _ = global_load::<u32>(memory + 32, Load::Weak);
    /// simulator.launch(kernel, Geometry::linear(1, 1, 0), &read)?;
    /// let given = simulator.lending(&[(memory, 32)]);
    /// let fault = given.launch(kernel, Geometry::linear(1, 1, 0), &read).unwrap_err();
    /// assert!(matches!(fault.kind, FaultKind::OutOfBounds { offset: 32, size: 32, .. }), "{fault}");
    /// # Ok::<(), gpu_sim::Fault>(())
    /// ```
    #[must_use]
    pub fn lending(&self, views: &[(u64, usize)]) -> Self {
        Self { views: views.into(), ..self.clone() }
    }

    #[track_caller]
    fn launch_compiled(
        &self,
        kernel: Kernel<'_>,
        compiled: Compiled,
        geometry: Geometry,
        body: &(dyn Fn() + Sync),
    ) -> Result<Report, Fault> {
        let mut state = self.state();
        let state = &mut *state;
        state.launches = state.launches.wrapping_add(1);
        let (config, generation) = (state.config, state.launches);
        if std::mem::replace(&mut state.last_stream, self.stream) != self.stream {
            state.last = None;
        }
        let (name, site) = (kernel.name, format!("{}:{}", kernel.file, kernel.line));
        state.heap.lend(&self.views);
        let launched = launch::launch(
            &mut state.heap,
            &mut state.last,
            config,
            (kernel, self.id),
            (geometry, compiled),
            generation,
            body,
        );
        state.heap.take_back(&self.views);
        let settled = match (&launched, &state.last) {
            (Ok(_), Some(launch)) if self.stream != DEFAULT => {
                let kind = FaultKind::Race { space: Space::Global, direction: Direction::Write, address: 0 };
                let blank = FaultDetails::blank(kind, config.seed);
                let blank = FaultDetails { kernel: name.into(), kernel_site: site, ..blank };
                settle(&mut state.heap, &mut state.streams, self.stream, launch, blank)
            }
            _ => Ok(()),
        };
        if self.stream == DEFAULT {
            all_ordered(&mut state.heap, &mut state.streams);
        }
        state.heap.trim_shadows(SHADOW_KEPT);
        let report = launched?;
        settled?;
        if state.reports.len() == Self::REPORTS {
            state.reports.pop_front();
        }
        state.reports.push_back(report.clone());
        Ok(report)
    }

    /// The report of the last launch that completed and was not taken.
    #[track_caller]
    pub fn last_report(&self) -> Option<Report> {
        self.state().reports.back().cloned()
    }

    /// How many reports are kept for [`take_reports`](Self::take_reports).
    pub const REPORTS: usize = 64;

    /// The reports of the launches that completed since this was last called, oldest first: of the last
    /// [`REPORTS`](Self::REPORTS) at most. What a function did that launches several kernels.
    #[track_caller]
    pub fn take_reports(&self) -> Vec<Report> {
        std::mem::take(&mut self.state().reports).into()
    }

    /// Notes that a fill of so many bytes was enqueued between launches: it takes time as they do.
    #[track_caller]
    pub fn note_fill(&self, bytes: u64) {
        let mut state = self.state();
        if state.fills.len() < Self::REPORTS {
            state.fills.push(bytes);
        }
    }

    /// The bytes of the fills that were noted since this was last called, of the first [`REPORTS`](Self::REPORTS) at
    /// most.
    #[track_caller]
    pub fn take_fills(&self) -> Vec<u64> {
        std::mem::take(&mut self.state().fills)
    }

    /// Sets the seed of later launches.
    #[track_caller]
    pub fn set_seed(&self, seed: u64) {
        self.state().config.seed = seed;
    }

    /// The settings.
    #[track_caller]
    pub fn config(&self) -> Config {
        self.state().config
    }

    /// Changes the settings of later launches.
    #[track_caller]
    pub fn set_config(&self, config: Config) {
        self.state().config = config;
    }
}
