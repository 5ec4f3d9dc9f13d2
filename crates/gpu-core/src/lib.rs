//! Devices, streams, buffers, launches and errors: a safe layer over the CUDA driver, the simulator and the CPU.
