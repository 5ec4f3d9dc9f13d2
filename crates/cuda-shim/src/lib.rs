//! Resolves the CUDA driver at run time: no toolkit and no driver needed to build or start.
