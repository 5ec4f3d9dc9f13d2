//! Device attributes, by the numbers that the driver's interface gives them.

use cuda_shim::{CUdevice, CUdevice_attribute, CUresult, CUuuid};

use super::context::Context;
use crate::capability::Capability;
use crate::error::Result;
use crate::limits::Limits;
use crate::properties::{DriverVersion, Properties};

/// One attribute; 0 where the driver does not know it.
fn attribute(device: CUdevice, number: u32) -> u32 {
    let mut value = 0;
    let code = cuda_shim::cuDeviceGetAttribute(&mut value, CUdevice_attribute(number), device);
    if code == CUresult::CUDA_SUCCESS { value.max(0) as u32 } else { 0 }
}

pub(super) fn capability(device: CUdevice) -> Capability {
    Capability::new(attribute(device, 75), attribute(device, 76))
}

pub(super) fn multiprocessors(device: CUdevice) -> u32 {
    attribute(device, 16)
}

pub(super) fn has_pools(device: CUdevice) -> bool {
    attribute(device, 115) != 0
}

/// Whether a device's memory can be reached from another.
pub(super) fn reaches(device: CUdevice, peer: CUdevice) -> bool {
    let mut can = 0;
    cuda_shim::cuDeviceCanAccessPeer(&mut can, device, peer) == CUresult::CUDA_SUCCESS && can != 0
}

pub(super) fn limits(device: CUdevice) -> Limits {
    Limits {
        grid: [5, 6, 7].map(|number| attribute(device, number)),
        block: [2, 3, 4].map(|number| attribute(device, number)),
        threads: attribute(device, 1),
        // Drivers and devices without opt-in give 0.
        shared_bytes: attribute(device, 97).max(attribute(device, 8)),
    }
}

/// Bytes in the form of `nvidia-smi -L`.
fn uuid(device: CUdevice) -> String {
    let mut uuid = CUuuid::default();
    if cuda_shim::cuDeviceGetUuid(&mut uuid, device) != CUresult::CUDA_SUCCESS {
        return String::new();
    }
    let mut text = String::new();
    for (index, byte) in uuid.bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// Everything there is to know of a device.
pub(super) fn properties(context: &Context) -> Result<Properties> {
    let device = context.device;
    let number = |number| attribute(device, number);
    let flag = |number| attribute(device, number) != 0;
    let mut total_memory = 0;
    context.check("cuDeviceTotalMem", cuda_shim::cuDeviceTotalMem_v2(&mut total_memory, device))?;
    Ok(Properties {
        name: context.name.clone(),
        ordinal: context.ordinal as u32,
        uuid: uuid(device),
        pci: format!("{:04x}:{:02x}:{:02x}", number(50), number(33), number(34)),
        capability: context.capability,
        driver_version: DriverVersion(context.driver_version),

        total_memory: total_memory as u64,
        constant_memory: number(9),
        l2_cache: number(38),
        l2_persisting_max: number(108),
        access_policy_window_max: number(109),
        shared_per_block: number(8),
        shared_per_block_optin: number(97),
        shared_per_multiprocessor: number(81),
        shared_reserved_per_block: number(111),
        global_l1: flag(79),
        local_l1: flag(80),

        clock_khz: number(13),
        memory_clock_khz: number(36),
        memory_bus_bits: number(37),
        single_to_double_ratio: number(87),

        multiprocessors: number(16),
        warp_size: number(10),
        max_threads_per_block: number(1),
        max_threads_per_multiprocessor: number(39),
        max_blocks_per_multiprocessor: number(106),
        max_block: context.limits.block,
        max_grid: context.limits.grid,
        registers_per_block: number(12),
        registers_per_multiprocessor: number(82),

        async_engines: number(40),
        concurrent_kernels: flag(31),
        stream_priorities: flag(78),
        cooperative_launch: flag(95),
        cluster_launch: flag(120),
        compute_preemption: flag(90),
        kernel_timeout: flag(17),
        compute_mode: number(20),

        ecc: flag(32),
        integrated: flag(18),
        can_map_host_memory: flag(19),
        unified_addressing: flag(41),
        managed_memory: flag(83),
        concurrent_managed_access: flag(89),
        pageable_memory_access: flag(88),
        pageable_memory_uses_host_page_tables: flag(100),
        direct_managed_access_from_host: flag(101),
        host_native_atomics: flag(86),
        host_register: flag(99),
        memory_pools: flag(115),
        virtual_memory_management: flag(102),
        gpu_direct_rdma: flag(116),
        tcc_driver: flag(35),
        multi_gpu_board: flag(84),
        multi_gpu_board_group: number(85),

        max_pitch: number(11),
        texture_alignment: number(14),
        texture_pitch_alignment: number(51),
        surface_alignment: number(30),
        max_texture_1d: number(21),
        max_texture_1d_linear: number(69),
        max_texture_2d: [number(22), number(23)],
        max_texture_2d_linear: [number(70), number(71), number(72)],
        max_texture_3d: [number(24), number(25), number(26)],
        max_texture_2d_layered: [number(27), number(28), number(29)],
        max_texture_cubemap: number(52),
        max_surface_1d: number(55),
        max_surface_2d: [number(56), number(57)],
        max_surface_3d: [number(58), number(59), number(60)],
    })
}
