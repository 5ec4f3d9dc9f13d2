//! What metrics need to know of a device.

/// A device's numbers, from NVIDIA's architecture papers and programming guide. They enter the models only (caches,
/// occupancy, peaks); what the simulator counts is the same on all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Architecture {
    /// What it is called: "h200".
    pub name: &'static str,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Warps resident on a multiprocessor at most.
    pub warps: u32,
    /// Blocks resident on a multiprocessor at most.
    pub blocks: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// Shared memory of a multiprocessor in bytes, at most.
    pub shared_bytes: u32,
    /// Shared memory that the driver takes from each block, in bytes.
    pub shared_reserved: u32,
    /// First-level cache of a multiprocessor in bytes; shared memory is carved out of it where `unified`.
    pub l1_bytes: u32,
    /// Whether shared memory and first-level cache are the same memory.
    pub unified: bool,
    /// Second-level cache in bytes.
    pub l2_bytes: u32,
    /// Peak bandwidth of the device's memory in bytes a second.
    pub bandwidth: f64,
    /// Peak 32-bit floating-point operations a second, a fused multiply-add being two.
    pub flops_f32: f64,
}

const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;

impl Architecture {
    /// Tesla P100 (6.0): first-level cache and shared memory are two.
    pub const P100: Self = Self {
        name: "p100",
        multiprocessors: 56,
        warps: 64,
        blocks: 32,
        registers: 65_536,
        shared_bytes: 64 * KIB,
        shared_reserved: 0,
        l1_bytes: 24 * KIB,
        unified: false,
        l2_bytes: 4 * MIB,
        bandwidth: 732e9,
        flops_f32: 9.3e12,
    };
    /// Tesla V100 (7.0).
    pub const V100: Self = Self {
        name: "v100",
        multiprocessors: 80,
        shared_bytes: 96 * KIB,
        l1_bytes: 128 * KIB,
        unified: true,
        l2_bytes: 6 * MIB,
        bandwidth: 900e9,
        flops_f32: 15.7e12,
        ..Self::P100
    };
    /// T4 (7.5).
    pub const T4: Self = Self {
        name: "t4",
        multiprocessors: 40,
        warps: 32,
        blocks: 16,
        shared_bytes: 64 * KIB,
        l1_bytes: 96 * KIB,
        l2_bytes: 4 * MIB,
        bandwidth: 320e9,
        flops_f32: 8.1e12,
        ..Self::V100
    };
    /// A100, 40 GB (8.0).
    pub const A100: Self = Self {
        name: "a100",
        multiprocessors: 108,
        shared_bytes: 164 * KIB,
        shared_reserved: KIB,
        l1_bytes: 192 * KIB,
        l2_bytes: 40 * MIB,
        bandwidth: 1_555e9,
        flops_f32: 19.5e12,
        ..Self::V100
    };
    /// H100, SXM (9.0).
    pub const H100: Self = Self {
        name: "h100",
        multiprocessors: 132,
        shared_bytes: 228 * KIB,
        l1_bytes: 256 * KIB,
        l2_bytes: 50 * MIB,
        bandwidth: 3_352e9,
        flops_f32: 66.9e12,
        ..Self::A100
    };
    /// H200, SXM (9.0).
    pub const H200: Self = Self { name: "h200", bandwidth: 4_800e9, ..Self::H100 };

    /// All of them, oldest first.
    pub const ALL: [Self; 6] = [Self::P100, Self::V100, Self::T4, Self::A100, Self::H100, Self::H200];

    /// The one called `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|architecture| architecture.name == name)
    }
}
