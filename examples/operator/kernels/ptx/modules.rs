// Written by gpu-builder; do not edit.

/// Module `measurements`: `heating_degrees`, `last_known`, `moments`.
pub static MEASUREMENTS: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "measurements",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("measurements.sm_75.ptx"),
        },
    ],
};
