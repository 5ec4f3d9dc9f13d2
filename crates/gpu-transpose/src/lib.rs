//! Matrix transposition on the GPU, in the simulator and on the CPU.
