//! The GPU kernels of the workspace, one file per primitive, and their PTX.
