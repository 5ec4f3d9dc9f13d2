//! What buffers hold.

/// A type that kernels can read and write and that any bytes are a value of.
///
/// Implemented for every type that is a [`gpu_std::memory::Element`] and [`bytemuck::Pod`]: floats and integers.
pub trait Element: gpu_std::memory::Element + bytemuck::Pod {}

impl<T: gpu_std::memory::Element + bytemuck::Pod> Element for T {}

/// How many elements a primitive has written, where only the device knows: one number that its `…_into` form takes beside
/// the output. The same for all: selections, partitions, unique items, runs and reductions by key.
///
/// (How many samples are in a bin is another matter: [histograms] count in `u32` or `u64`, as the caller likes.)
///
/// [histograms]: https://docs.rs/gpu-sort
pub type Count = u64;
