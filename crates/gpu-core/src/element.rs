//! What buffers hold.

/// A type that kernels can read and write and that any bytes are a value of.
///
/// Implemented for every type that is a [`gpu_std::memory::Element`] and [`bytemuck::Pod`]: floats and integers.
pub trait Element: gpu_std::memory::Element + bytemuck::Pod {}

impl<T: gpu_std::memory::Element + bytemuck::Pod> Element for T {}
