//! The kernel and device attributes of gpu-std.
