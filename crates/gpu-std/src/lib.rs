//! The standard library that GPU kernels are written against, on the GPU and in the simulator.
