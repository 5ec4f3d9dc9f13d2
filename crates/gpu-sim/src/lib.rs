//! A SIMT simulator that runs GPU kernels on the host and watches every access.
