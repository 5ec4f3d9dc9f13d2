//! What a measured time makes of the counts.

use super::{Architecture, Metrics, SECTOR_BYTES};

/// Bytes a second, and how much of the device's peaks was used (in percent).
///
/// nvprof's utilisation is a level "on a scale of 0 to 10"; here it is the percentage itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// The time they are for, in seconds.
    pub seconds: f64,
    /// "Requested global memory load throughput".
    pub gld_requested_throughput: f64,
    /// "Requested global memory store throughput".
    pub gst_requested_throughput: f64,
    /// "Global memory load throughput": whole sectors.
    pub gld_throughput: f64,
    /// "Global memory store throughput".
    pub gst_throughput: f64,
    /// "Shared memory load throughput": whole passes through the banks.
    pub shared_load_throughput: f64,
    /// "Shared memory store throughput".
    pub shared_store_throughput: f64,
    /// Bytes that the threads asked for, loads, stores and atomics together, of what the memory can move in that
    /// time. A kernel that reads and writes everything once cannot have more than 100; one whose data stays in the
    /// caches can.
    pub requested_utilization: f64,
    /// "The utilization level of the device memory relative to the peak utilization": what the modelled caches let
    /// through. `None` where caches were not modelled.
    pub dram_utilization: Option<f64>,
    /// "Ratio of achieved to peak single-precision floating-point operations". `None` where no operations were given:
    /// the simulator does not count arithmetic.
    pub flop_sp_efficiency: Option<f64>,
}

impl Metrics {
    /// Rates of a launch that took `seconds` on a device like `architecture` and did `operations` 32-bit floating-point
    /// operations, a fused multiply-add being two.
    ///
    /// # Panics
    /// Where `seconds` is not a positive number.
    pub fn rates(&self, seconds: f64, operations: Option<u64>, architecture: &Architecture) -> Rates {
        assert!(seconds > 0.0 && seconds.is_finite(), "a launch takes some time, not {seconds} s");
        let rate = |bytes: u64| bytes as f64 / seconds;
        let of_bandwidth = |bytes: u64| 100.0 * rate(bytes) / architecture.bandwidth;
        Rates {
            seconds,
            gld_requested_throughput: rate(self.global_loads.requested),
            gst_requested_throughput: rate(self.global_stores.requested),
            gld_throughput: rate(self.global_loads.moved),
            gst_throughput: rate(self.global_stores.moved),
            shared_load_throughput: rate(self.shared_loads.moved),
            shared_store_throughput: rate(self.shared_stores.moved),
            requested_utilization: of_bandwidth(self.global_bytes().requested),
            dram_utilization: self.caches.map(|caches| {
                of_bandwidth((caches.dram_read_transactions + caches.dram_write_transactions) * SECTOR_BYTES)
            }),
            flop_sp_efficiency: operations
                .map(|operations| 100.0 * operations as f64 / seconds / architecture.flops_f32),
        }
    }
}
