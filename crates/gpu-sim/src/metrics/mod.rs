//! nvprof's metrics, computed from what a launch did.
//!
//! Everything here comes out of a [`Report`]: recorded accesses, grouped into the requests of warps. There is no
//! formula per kernel. Three kinds of numbers are kept apart:
//!
//! - *counted*: requests, bytes, sectors, passes through the banks. What hardware would count too;
//! - *modelled*: caches ([`Traffic`]) and [`Occupancy`], with their assumptions said there;
//! - *given*: a measured time and a number of floating-point operations make rates of them ([`Rates`]).
//!
//! Quotations are nvprof's own descriptions of its metrics (`nvprof --query-metrics`). A percentage of nothing is 0, as
//! nvprof has it.
//!
//! ```
//! use gpu_sim::device::{Load, Store, global_load, global_store, thread_idx};
//! use gpu_sim::metrics::{Architecture, Metrics};
//! use gpu_sim::{Config, Geometry, Kernel, Record, Simulator};
//!
//! let config = Config { record: Record::Full, caches: Some(Architecture::H200), ..Config::default() };
//! let simulator = Simulator::new(config);
//! let data = simulator.alloc(32 * 32 * 4)?;
//! simulator.fill(data, 32 * 32 * 4, 0)?;
//!
//! // A warp adds one to the first column of a 32 × 32 matrix.
//! let kernel = Kernel { name: "column", file: file!(), line: line!() };
//! let report = simulator.launch(kernel, Geometry::linear(1, 32, 0), &|| {
//!     let address = data + u64::from(thread_idx()[0]) * 128;
//!     global_store(address, global_load::<u32>(address, Load::Weak) + 1, Store::Weak);
//! })?;
//!
//! let metrics = Metrics::new(&report);
//! assert_eq!((metrics.gld_transactions, metrics.gld_efficiency), (32, 12.5));
//! assert_eq!((metrics.global_loads.requested, metrics.global_loads.moved), (128, 1024));
//! let caches = metrics.caches.expect("asked for");
//! // Memory brings sectors in pairs.
//! assert_eq!((caches.dram_read_transactions, caches.l2_write_hit_rate), (64, 100.0));
//! # Ok::<(), gpu_sim::Fault>(())
//! ```

mod architecture;
pub(crate) mod cache;
mod instructions;
mod occupancy;
mod rates;

pub use architecture::Architecture;
pub use cache::Traffic;
pub use instructions::Instructions;
pub use occupancy::Occupancy;
pub use rates::Rates;

use crate::report::{Count, Counts, Report};

/// Bytes of a sector, the unit in which global memory is accessed.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes that one pass through the banks of shared memory can serve: 32 words of 4.
pub const WAVEFRONT_BYTES: u64 = 128;

/// Bytes of one kind of access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// What the threads asked for, counted for each thread.
    pub requested: u64,
    /// What the accesses took: whole sectors, or whole passes.
    pub moved: u64,
}

impl Bytes {
    fn global(count: &Count) -> Self {
        Self { requested: count.bytes, moved: count.sectors * SECTOR_BYTES }
    }

    fn shared(count: &Count) -> Self {
        Self { requested: count.bytes, moved: count.wavefronts * WAVEFRONT_BYTES }
    }

    fn plus(self, other: Self) -> Self {
        Self { requested: self.requested + other.requested, moved: self.moved + other.moved }
    }

    /// Requested, of what was moved, in percent. More than 100 where threads share what is moved.
    pub fn efficiency(self) -> f64 {
        percent(self.requested, self.moved)
    }
}

/// The metrics of one launch. Efficiencies and rates of hits are percentages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// "Ratio of requested global memory load throughput to required global memory load throughput expressed as
    /// percentage." Bytes that the threads loaded, of 32 for each sector that a warp's request touched.
    pub gld_efficiency: f64,
    /// "Ratio of requested global memory store throughput to required global memory store throughput expressed as
    /// percentage."
    pub gst_efficiency: f64,
    /// "Ratio of requested shared memory throughput to required shared memory throughput expressed as percentage."
    /// Loads and stores together: bytes asked for, of 128 for each pass through the banks.
    pub shared_efficiency: f64,
    /// "Ratio of non-divergent branches to total branches expressed as percentage." Of the branches in the source: the
    /// compiler turns short ones into predicated instructions and unrolls loops, and a profiler then sees fewer. 100
    /// where there are none.
    pub branch_efficiency: f64,
    /// "Number of divergent branches within a warp." Of the branches in the source, as above.
    pub divergent_branch: u64,

    /// "Number of global memory load transactions": sectors, read-only loads included.
    pub gld_transactions: u64,
    /// "Number of global memory store transactions".
    pub gst_transactions: u64,
    /// "Average number of global memory load transactions performed for each global memory load."
    pub gld_transactions_per_request: f64,
    /// "Average number of global memory store transactions performed for each global memory store".
    pub gst_transactions_per_request: f64,
    /// "Number of shared memory load transactions": passes through the banks.
    pub shared_load_transactions: u64,
    /// "Number of shared memory store transactions".
    pub shared_store_transactions: u64,
    /// "Average number of shared memory load transactions performed for each shared memory load".
    pub shared_load_transactions_per_request: f64,
    /// "Average number of shared memory store transactions performed for each shared memory store".
    pub shared_store_transactions_per_request: f64,

    /// Bytes of global loads, read-only ones included.
    pub global_loads: Bytes,
    /// Bytes of global stores.
    pub global_stores: Bytes,
    /// Bytes of atomics on global memory.
    pub global_atomics: Bytes,
    /// Bytes that asynchronous copies read from global memory; nvprof's metrics are older than those.
    pub async_copies: Bytes,
    /// Bytes of shared-memory loads.
    pub shared_loads: Bytes,
    /// Bytes of shared-memory stores.
    pub shared_stores: Bytes,

    /// Instructions by class.
    pub instructions: Instructions,
    /// The modelled caches, where [`Config::caches`](crate::Config::caches) asked for them.
    pub caches: Option<Caches>,
}

/// Transactions and hits in the modelled caches; see [`Traffic`] for the model. A transaction is a sector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Caches {
    /// "Hit rate for global loads in unified l1/tex cache."
    pub global_hit_rate: f64,
    /// Sectors that loads wanted from L1.
    pub l1_transactions: u64,
    /// "Memory read transactions seen at L2 cache for all read requests". Atomics count as reads and as writes.
    pub l2_read_transactions: u64,
    /// "Memory write transactions seen at L2 cache for all write requests".
    pub l2_write_transactions: u64,
    /// Hits of reads, nvprof's `l2_tex_read_hit_rate`: "Hit rate at L2 cache for all read requests from texture cache".
    pub l2_read_hit_rate: f64,
    /// Hits of writes, nvprof's `l2_tex_write_hit_rate`. A write that misses brings nothing from memory.
    pub l2_write_hit_rate: f64,
    /// "Device memory read transactions".
    pub dram_read_transactions: u64,
    /// "Device memory write transactions": while the launch ran, and what it left in L2 to be written.
    pub dram_write_transactions: u64,
    /// What these came from.
    pub traffic: Traffic,
}

impl Metrics {
    /// The metrics of a launch that was recorded with [`Record::Full`](crate::Record::Full).
    pub fn new(report: &Report) -> Self {
        Self::of_counts(&report.counts, report.caches)
    }

    /// The metrics of several launches together, each recorded with [`Record::Full`](crate::Record::Full) and each with
    /// caches that were empty before it.
    pub fn of_all(reports: &[Report]) -> Self {
        let mut counts = Counts::default();
        reports.iter().for_each(|report| counts.add(&report.counts));
        let caches = reports.iter().filter_map(|report| report.caches).reduce(Traffic::plus);
        Self::of_counts(&counts, caches)
    }

    fn of_counts(counts: &Counts, caches: Option<Traffic>) -> Self {
        let mut loads = counts.global_loads;
        loads.add(&counts.read_only_loads);
        let stores = &counts.global_stores;
        let (shared_loads, shared_stores) = (&counts.shared_loads, &counts.shared_stores);
        let branches = &counts.branches;
        let shared = Bytes::shared(shared_loads).plus(Bytes::shared(shared_stores));
        Self {
            gld_efficiency: Bytes::global(&loads).efficiency(),
            gst_efficiency: Bytes::global(stores).efficiency(),
            shared_efficiency: shared.efficiency(),
            branch_efficiency: match branches.requests {
                0 => 100.0,
                all => percent(all - branches.divergent, all),
            },
            divergent_branch: branches.divergent,
            gld_transactions: loads.sectors,
            gst_transactions: stores.sectors,
            gld_transactions_per_request: ratio(loads.sectors, loads.requests),
            gst_transactions_per_request: ratio(stores.sectors, stores.requests),
            shared_load_transactions: shared_loads.wavefronts,
            shared_store_transactions: shared_stores.wavefronts,
            shared_load_transactions_per_request: ratio(shared_loads.wavefronts, shared_loads.requests),
            shared_store_transactions_per_request: ratio(shared_stores.wavefronts, shared_stores.requests),
            global_loads: Bytes::global(&loads),
            global_stores: Bytes::global(stores),
            global_atomics: Bytes::global(&counts.global_atomics),
            async_copies: Bytes::global(&counts.async_copies),
            shared_loads: Bytes::shared(shared_loads),
            shared_stores: Bytes::shared(shared_stores),
            instructions: Instructions::new(counts),
            caches: caches.map(Caches::new),
        }
    }

    /// All bytes that went between the multiprocessors and global memory: requested, and moved as sectors.
    pub fn global_bytes(&self) -> Bytes {
        self.global_loads.plus(self.global_stores).plus(self.global_atomics).plus(self.async_copies)
    }
}

impl Caches {
    fn new(traffic: Traffic) -> Self {
        Self {
            global_hit_rate: percent(traffic.l1_load_hits, traffic.l1_loads),
            l1_transactions: traffic.l1_loads,
            l2_read_transactions: traffic.l2_reads + traffic.l2_atomics,
            l2_write_transactions: traffic.l2_writes + traffic.l2_atomics,
            l2_read_hit_rate: percent(
                traffic.l2_read_hits + traffic.l2_atomic_hits,
                traffic.l2_reads + traffic.l2_atomics,
            ),
            l2_write_hit_rate: percent(
                traffic.l2_write_hits + traffic.l2_atomic_hits,
                traffic.l2_writes + traffic.l2_atomics,
            ),
            dram_read_transactions: traffic.dram_reads,
            dram_write_transactions: traffic.dram_writes + traffic.dirty,
            traffic,
        }
    }
}

fn ratio(of: u64, by: u64) -> f64 {
    if by == 0 { 0.0 } else { of as f64 / by as f64 }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * ratio(part, whole)
}
