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

/// Module `measurements_of_segments`: `heating_degrees_of_segments`, `last_known_of_segments`, `moments_of_segments`.
pub static MEASUREMENTS_OF_SEGMENTS: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "measurements_of_segments",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("measurements_of_segments.sm_75.ptx"),
        },
    ],
};

/// Module `measurements_of_columns`: `last_known_of_columns`, `moments_of_columns`.
pub static MEASUREMENTS_OF_COLUMNS: ::gpu_std::launch::Module = ::gpu_std::launch::Module {
    name: "measurements_of_columns",
    images: &[
        ::gpu_std::launch::Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: include_str!("measurements_of_columns.sm_75.ptx"),
        },
    ],
};
