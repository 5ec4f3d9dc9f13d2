//! What a multiprocessor has to give to blocks, by compute capability.

use crate::capability::Capability;
use crate::properties::Properties;

/// The resources of one multiprocessor, and in what units it gives them away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Multiprocessor {
    /// Threads of a warp.
    pub warp_size: u32,
    /// Threads of a block at most.
    pub threads_per_block: u32,
    /// Warps resident at once.
    pub warps: u32,
    /// Blocks resident at once.
    pub blocks: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Registers of a block at most.
    pub registers_per_block: u32,
    /// Registers of a thread at most.
    pub registers_per_thread: u32,
    /// A warp's registers are a multiple of this.
    pub register_unit: u32,
    /// Quarters, each with its share of registers and warps: a warp lives in one of them.
    pub partitions: u32,
    /// Shared memory in bytes, at the largest carve-out.
    pub shared: u32,
    /// Shared memory of a block at most, with opt-in, in bytes.
    pub shared_per_block: u32,
    /// Shared memory that the driver takes from every block, in bytes.
    pub shared_reserved: u32,
    /// A block's shared memory is a multiple of this.
    pub shared_unit: u32,
    /// The sizes, in KiB and ascending, that shared memory can be carved out of the L1 cache in.
    pub carveouts: &'static [u32],
}

const KIB: u32 = 1024;

impl Multiprocessor {
    /// The multiprocessor of a compute capability, from NVIDIA's tables; a capability that is not among them is
    /// taken to be like the last before it. `None` before 7.0.
    pub fn of(capability: Capability) -> Option<Self> {
        // Threads, blocks and carve-outs are what differs.
        let (threads, blocks, carveouts): (u32, u32, &'static [u32]) =
            match (capability.major, capability.minor) {
                (..7, _) => return None,
                (7, ..5) => (2048, 32, &[0, 8, 16, 32, 64, 96]),
                (7, _) => (1024, 16, &[32, 64]),
                (8, 0) => (2048, 32, &[0, 8, 16, 32, 64, 100, 132, 164]),
                (8, 7) => (1536, 16, &[0, 8, 16, 32, 64, 100, 132, 164]),
                (8, ..9) => (1536, 16, &[0, 8, 16, 32, 64, 100]),
                (8, _) => (1536, 24, &[0, 8, 16, 32, 64, 100]),
                (9 | 10, _) => (2048, 32, &[0, 8, 16, 32, 64, 100, 132, 164, 196, 228]),
                (11, _) => (1536, 24, &[0, 8, 16, 32, 64, 100, 132, 164, 196, 228]),
                (12.., _) => (1536, 24, &[0, 8, 16, 32, 64, 100]),
            };
        let shared = carveouts[carveouts.len() - 1] * KIB;
        let reserved = if capability.major >= 8 { KIB } else { 0 };
        Some(Self {
            warp_size: 32,
            threads_per_block: 1024,
            warps: threads / 32,
            blocks,
            registers: 65536,
            registers_per_block: 65536,
            registers_per_thread: 255,
            register_unit: 256,
            partitions: 4,
            shared,
            shared_per_block: shared - reserved,
            shared_reserved: reserved,
            shared_unit: if capability.major >= 8 { 128 } else { 256 },
            carveouts,
        })
    }

    /// The multiprocessor of a device: the table's, with the numbers that its driver gives in their place.
    pub fn of_device(properties: &Properties) -> Option<Self> {
        let mut this = Self::of(properties.capability)?;
        let mut take = |field: fn(&mut Self) -> &mut u32, told: u32| {
            if told > 0 {
                *field(&mut this) = told;
            }
        };
        take(|this| &mut this.threads_per_block, properties.max_threads_per_block);
        take(|this| &mut this.warps, properties.max_threads_per_multiprocessor / 32);
        take(|this| &mut this.blocks, properties.max_blocks_per_multiprocessor);
        take(|this| &mut this.registers, properties.registers_per_multiprocessor);
        take(|this| &mut this.registers_per_block, properties.registers_per_block);
        take(|this| &mut this.shared, properties.shared_per_multiprocessor);
        take(|this| &mut this.shared_per_block, properties.shared_per_block_optin);
        take(|this| &mut this.shared_reserved, properties.shared_reserved_per_block);
        Some(this)
    }
}
