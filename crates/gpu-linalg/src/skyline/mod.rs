//! The kernels of factorisations of skyline matrices, and their launches.

pub(crate) mod launch;
