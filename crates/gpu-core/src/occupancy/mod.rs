//! How many blocks of a kernel a multiprocessor holds at once, and what keeps it from holding more.
//!
//! Pure arithmetic, after NVIDIA's rules: it needs no device.
//!
//! ```
//! use gpu_core::Capability;
//! use gpu_core::occupancy::{Limit, Multiprocessor};
//!
//! // 256 threads of 64 registers each and 40,000 bytes of shared memory on an H100.
//! let occupancy = Multiprocessor::of(Capability::new(9, 0)).unwrap().occupancy(64, 40_000, 256);
//! assert_eq!((occupancy.blocks, occupancy.limit), (4, Limit::Registers));
//! assert_eq!(occupancy.fraction(), 0.5);
//! ```

mod multiprocessor;
#[cfg(test)]
mod tests;

use gpu_std::launch::{KernelMeta, LaunchConfig};

pub use multiprocessor::Multiprocessor;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::properties::Properties;

/// What a compiled kernel uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelResources {
    /// Registers of a thread.
    pub registers: u32,
    /// Shared memory that it declares itself, in bytes; dynamic shared memory comes on top.
    pub static_shared: u32,
    /// Constant memory in bytes.
    pub constant: u32,
    /// Local memory of a thread in bytes: stack frame and spilled registers.
    pub local: u32,
    /// Threads of a block at most.
    pub max_threads: u32,
}

/// What keeps a multiprocessor from holding one more block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The blocks it can keep track of.
    Blocks,
    /// The warps, that is threads, it can keep track of.
    Warps,
    /// Its registers.
    Registers,
    /// Its shared memory.
    Shared,
    /// A single block asks for more than a block may have; nothing can be launched.
    Block,
}

/// How many blocks of a kernel are resident on a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occupancy {
    /// Blocks resident at once.
    pub blocks: u32,
    /// Their warps.
    pub warps: u32,
    /// The warps that a multiprocessor can hold.
    pub max_warps: u32,
    /// What keeps one more block out. Where several do, the first in the order of [`Limit`].
    pub limit: Limit,
    /// The smallest carve-out of shared memory, in bytes, that holds these blocks; the rest of it is L1 cache.
    pub carveout: u32,
}

impl Occupancy {
    /// Resident warps over those that a multiprocessor can hold; 0 where it can hold none.
    pub fn fraction(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps.max(1))
    }
}

/// The occupancy of a kernel on a device: `registers` a thread, `shared` bytes a block (static and dynamic), `threads`
/// a block. `None` for compute capabilities before 7.0.
pub fn occupancy(properties: &Properties, registers: u32, shared: u32, threads: u32) -> Option<Occupancy> {
    Some(Multiprocessor::of_device(properties)?.occupancy(registers, shared, threads))
}

impl Multiprocessor {
    /// The occupancy of a kernel: `registers` a thread, `shared` bytes a block (static and dynamic), `threads` a block.
    ///
    /// A multiprocessor whose fields were changed to what no hardware has, to warps without threads, units of no
    /// bytes or registers, or no partitions, holds no block.
    pub fn occupancy(&self, registers: u32, shared: u32, threads: u32) -> Occupancy {
        let none = |limit| Occupancy { blocks: 0, warps: 0, max_warps: self.warps, limit, carveout: 0 };
        if threads == 0
            || threads > self.threads_per_block
            || registers > self.registers_per_thread
            || shared > self.shared_per_block
            || [self.warp_size, self.register_unit, self.partitions, self.shared_unit].contains(&0)
        {
            return none(Limit::Block);
        }

        // Registers are given to whole warps, and a warp has them in its own partition.
        let warps_per_block = threads.div_ceil(self.warp_size);
        let per_warp = round_up(u64::from(registers) * u64::from(self.warp_size), self.register_unit);
        if per_warp.saturating_mul(warps_per_block.into()) > self.registers_per_block.into() {
            return none(Limit::Block);
        }
        let by_registers = match u64::from(self.registers / self.partitions).checked_div(per_warp) {
            // At most the registers of 32 bits, or a block has none.
            Some(warps) => (warps * u64::from(self.partitions) / u64::from(warps_per_block)) as u32,
            None => u32::MAX,
        };

        // Every block has what the driver reserves, also one that asks for none.
        let per_block = round_up(u64::from(shared) + u64::from(self.shared_reserved), self.shared_unit);
        let by_shared =
            u64::from(self.shared).checked_div(per_block).map_or(u32::MAX, |blocks| blocks as u32);

        let (blocks, limit) = [
            (self.blocks, Limit::Blocks),
            (self.warps / warps_per_block, Limit::Warps),
            (by_registers, Limit::Registers),
            (by_shared, Limit::Shared),
        ]
        .into_iter()
        .min_by_key(|&(blocks, _)| blocks)
        .expect("four limits");
        if blocks == 0 {
            return none(Limit::Block);
        }
        // By shared memory too: at most what there is.
        let needed = (u64::from(blocks) * per_block) as u32;
        let carveout =
            self.carveouts.iter().map(|kib| kib.saturating_mul(1024)).find(|&bytes| bytes >= needed);
        let carveout = carveout.unwrap_or(self.shared);
        Occupancy { blocks, warps: blocks * warps_per_block, max_warps: self.warps, limit, carveout }
    }
}

/// The next multiple of a unit, which is not 0.
fn round_up(amount: u64, unit: u32) -> u64 {
    amount.div_ceil(unit.into()).saturating_mul(unit.into())
}

impl Device {
    /// What a kernel uses on this device, as compiled by its driver.
    ///
    /// # Errors
    /// [`Error::Unsupported`] elsewhere than on CUDA; those of loading the module.
    pub fn kernel_resources(&self, kernel: &'static KernelMeta) -> Result<KernelResources> {
        #[cfg(feature = "cuda")]
        {
            let backend: &dyn std::any::Any = &*self.backend;
            if let Some(context) = backend.downcast_ref::<crate::cuda::Context>() {
                return context.kernel_resources(kernel);
            }
        }
        let _ = kernel;
        Err(Error::Unsupported { what: "resources of compiled kernels", device: self.to_string() })
    }

    /// The occupancy of a kernel launched like this on this device.
    ///
    /// # Errors
    /// As [`Device::kernel_resources`].
    pub fn occupancy(&self, kernel: &'static KernelMeta, config: &LaunchConfig) -> Result<Occupancy> {
        let resources = self.kernel_resources(kernel)?;
        let properties = self.properties()?;
        let shared = resources.static_shared.saturating_add(config.shared_bytes);
        let threads = config.block.iter().fold(1_u32, |product, &size| product.saturating_mul(size));
        occupancy(&properties, resources.registers, shared, threads)
            .ok_or(Error::Unsupported { what: "an occupancy table", device: self.to_string() })
    }
}
