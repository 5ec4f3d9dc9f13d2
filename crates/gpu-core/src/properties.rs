//! What the driver knows of a device: everything that users of `cudaDeviceProp` look for.

use core::fmt;

use crate::capability::{Capability, version};

/// The value of one property.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A count, a size, a rate.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// A name.
    Text(String),
    /// One number per axis.
    Axes(Vec<u64>),
}

/// One property, for printing and for programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// The field's name in [`Properties`].
    pub name: &'static str,
    /// Its unit; empty for counts, flags and names.
    pub unit: &'static str,
    /// Its value.
    pub value: Value,
}

macro_rules! properties {
    ($($(#[doc = $doc:literal])* $name:ident: $kind:ty, $unit:literal;)*) => {
        /// The properties of a CUDA device. Numbers that a driver does not tell are 0, flags false.
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct Properties {
            $($(#[doc = $doc])* pub $name: $kind,)*
        }

        impl Properties {
            /// Every property in order, with name and unit.
            pub fn list(&self) -> Vec<Property> {
                vec![$(Property { name: stringify!($name), unit: $unit, value: (&self.$name).into() }),*]
            }
        }
    };
}

properties! {
    /// The device's name.
    name: String, "";
    /// Its number, counted from 0.
    ordinal: u32, "";
    /// Its identity, as `nvidia-smi -L` writes it without the prefix.
    uuid: String, "";
    /// Its address on the bus: domain, bus and device.
    pci: String, "";
    /// The compute capability.
    capability: Capability, "";
    /// The newest CUDA version the driver supports, such as 12040 for 12.4.
    driver_version: DriverVersion, "";

    /// Global memory.
    total_memory: u64, "bytes";
    /// Constant memory that a module may declare.
    constant_memory: u32, "bytes";
    /// The second-level cache.
    l2_cache: u32, "bytes";
    /// The part of it that can be set aside for persisting accesses.
    l2_persisting_max: u32, "bytes";
    /// The largest window of an access policy.
    access_policy_window_max: u32, "bytes";
    /// Shared memory of a block without opt-in.
    shared_per_block: u32, "bytes";
    /// Shared memory of a block with opt-in.
    shared_per_block_optin: u32, "bytes";
    /// Shared memory of a multiprocessor.
    shared_per_multiprocessor: u32, "bytes";
    /// Shared memory that the driver takes from every block.
    shared_reserved_per_block: u32, "bytes";
    /// Whether global loads can be cached in L1.
    global_l1: bool, "";
    /// Whether local loads can be cached in L1.
    local_l1: bool, "";

    /// The boost clock.
    clock_khz: u32, "kHz";
    /// The memory's clock.
    memory_clock_khz: u32, "kHz";
    /// The width of the memory's bus.
    memory_bus_bits: u32, "bits";
    /// Single-precision throughput over double-precision.
    single_to_double_ratio: u32, "";

    /// Multiprocessors.
    multiprocessors: u32, "";
    /// Threads of a warp.
    warp_size: u32, "";
    /// Threads of a block at most.
    max_threads_per_block: u32, "";
    /// Threads resident on a multiprocessor at most.
    max_threads_per_multiprocessor: u32, "";
    /// Blocks resident on a multiprocessor at most.
    max_blocks_per_multiprocessor: u32, "";
    /// Threads of a block at most in x, y and z.
    max_block: [u32; 3], "";
    /// Blocks of a grid at most in x, y and z.
    max_grid: [u32; 3], "";
    /// 32-bit registers of a block at most.
    registers_per_block: u32, "";
    /// 32-bit registers of a multiprocessor.
    registers_per_multiprocessor: u32, "";

    /// Engines that copy beside kernels.
    async_engines: u32, "";
    /// Whether kernels of one context run beside each other.
    concurrent_kernels: bool, "";
    /// Whether streams have priorities.
    stream_priorities: bool, "";
    /// Whether grids can synchronise as a whole.
    cooperative_launch: bool, "";
    /// Whether blocks can form clusters.
    cluster_launch: bool, "";
    /// Whether kernels can be preempted between instructions.
    compute_preemption: bool, "";
    /// Whether kernels are ended after a time limit.
    kernel_timeout: bool, "";
    /// 0 default, 2 prohibited, 3 exclusive to one process.
    compute_mode: u32, "";

    /// Whether memory errors are corrected.
    ecc: bool, "";
    /// Whether the GPU shares the host's memory chips.
    integrated: bool, "";
    /// Whether host memory can be mapped for the device.
    can_map_host_memory: bool, "";
    /// Whether host and device share one range of addresses.
    unified_addressing: bool, "";
    /// Whether memory can be managed by the driver.
    managed_memory: bool, "";
    /// Whether host and device can use managed memory at the same time.
    concurrent_managed_access: bool, "";
    /// Whether the device can read the host's ordinary memory.
    pageable_memory_access: bool, "";
    /// Whether it does so through the host's page tables.
    pageable_memory_uses_host_page_tables: bool, "";
    /// Whether the host can read managed memory on the device.
    direct_managed_access_from_host: bool, "";
    /// Whether host and device atomics work on each other's memory.
    host_native_atomics: bool, "";
    /// Whether host memory can be registered.
    host_register: bool, "";
    /// Whether memory can be allocated on streams.
    memory_pools: bool, "";
    /// Whether address ranges can be reserved and mapped.
    virtual_memory_management: bool, "";
    /// Whether other devices on the bus can reach its memory.
    gpu_direct_rdma: bool, "";
    /// Whether the driver is a compute driver without a display (Windows).
    tcc_driver: bool, "";
    /// Whether the board holds several GPUs.
    multi_gpu_board: bool, "";
    /// Which of these boards it is on.
    multi_gpu_board_group: u32, "";

    /// The longest row of a pitched copy.
    max_pitch: u32, "bytes";
    /// The alignment of texture base addresses.
    texture_alignment: u32, "bytes";
    /// The alignment of texture rows.
    texture_pitch_alignment: u32, "bytes";
    /// The alignment of surfaces.
    surface_alignment: u32, "bytes";
    /// The largest one-dimensional texture.
    max_texture_1d: u32, "texels";
    /// The largest one-dimensional texture over linear memory.
    max_texture_1d_linear: u32, "texels";
    /// The largest two-dimensional texture.
    max_texture_2d: [u32; 2], "texels";
    /// The largest two-dimensional texture over linear memory: width, height and pitch in bytes.
    max_texture_2d_linear: [u32; 3], "texels";
    /// The largest three-dimensional texture.
    max_texture_3d: [u32; 3], "texels";
    /// The largest layered two-dimensional texture: width, height and layers.
    max_texture_2d_layered: [u32; 3], "texels";
    /// The widest cube map.
    max_texture_cubemap: u32, "texels";
    /// The largest one-dimensional surface.
    max_surface_1d: u32, "texels";
    /// The largest two-dimensional surface.
    max_surface_2d: [u32; 2], "texels";
    /// The largest three-dimensional surface.
    max_surface_3d: [u32; 3], "texels";
}

impl Properties {
    /// The memory's peak rate in bytes a second, both edges of its clock counted; 0 where the driver does not tell.
    pub fn peak_bandwidth(&self) -> f64 {
        2.0 * f64::from(self.memory_clock_khz) * 1e3 * f64::from(self.memory_bus_bits) / 8.0
    }

    /// All properties as one line of JSON.
    pub fn to_json(&self) -> String {
        let fields: Vec<String> = self
            .list()
            .iter()
            .map(|property| format!("{}:{}", quote(property.name), property.value.to_json()))
            .collect();
        format!("{{{}}}", fields.join(","))
    }
}

impl Value {
    /// As JSON.
    pub fn to_json(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Text(text) => quote(text),
            Self::Axes(axes) => format!("{axes:?}").replace(' ', ""),
        }
    }
}

/// As a person reads it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Flag(flag) => f.write_str(if *flag { "yes" } else { "no" }),
            Self::Text(text) => f.write_str(text),
            Self::Axes(axes) => {
                let axes: Vec<_> = axes.iter().map(u64::to_string).collect();
                f.write_str(&axes.join(" x "))
            }
        }
    }
}

/// A CUDA version, as the driver writes it: 12040 is 12.4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverVersion(pub u32);

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&version(self.0, 1000))
    }
}

impl From<&DriverVersion> for Value {
    fn from(version: &DriverVersion) -> Self {
        Self::Text(version.to_string())
    }
}

impl From<&Capability> for Value {
    fn from(capability: &Capability) -> Self {
        Self::Text(capability.to_string())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<&bool> for Value {
    fn from(flag: &bool) -> Self {
        Self::Flag(*flag)
    }
}

impl From<&u32> for Value {
    fn from(number: &u32) -> Self {
        Self::Number((*number).into())
    }
}

impl From<&u64> for Value {
    fn from(number: &u64) -> Self {
        Self::Number(*number)
    }
}

impl<const N: usize> From<&[u32; N]> for Value {
    fn from(axes: &[u32; N]) -> Self {
        Self::Axes(axes.iter().map(|&size| size.into()).collect())
    }
}

/// A JSON string.
fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            control if control < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Properties {
        Properties {
            name: "a \"GPU\"\n".into(),
            capability: Capability::new(9, 0),
            driver_version: DriverVersion(12040),
            max_grid: [1, 2, 3],
            ecc: true,
            memory_clock_khz: 1_000_000,
            memory_bus_bits: 16,
            ..Properties::default()
        }
    }

    #[test]
    fn json_is_one_escaped_line() {
        let json = some().to_json();
        assert!(json.starts_with(r#"{"name":"a \"GPU\"\u000a","ordinal":0,"#), "{json}");
        for part in
            [r#""capability":"9.0""#, r#""driver_version":"12.4""#, r#""max_grid":[1,2,3]"#, r#""ecc":true"#]
        {
            assert!(json.contains(part), "{part} in {json}");
        }
        assert!(json.ends_with('}') && !json.contains('\n'));
    }

    #[test]
    fn bandwidth_counts_both_edges() {
        assert_eq!(some().peak_bandwidth(), 4e9);
    }

    #[test]
    fn every_property_is_listed_once() {
        let mut names: Vec<_> = some().list().into_iter().map(|property| property.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count > 60, "{count}");
    }
}
