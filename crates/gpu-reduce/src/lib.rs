//! Reductions on the GPU, in the simulator and on the CPU, with identical bits.
