//! The kernels of products on the tensor cores, and their launches.

pub(crate) mod launch;
