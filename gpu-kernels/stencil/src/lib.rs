//! Stencils: every output is a function of a neighbourhood of inputs. Image filters, convolutions, resizing, iterated stencils.
//!
//! What lies outside the input is decided by [`border`], once for all kernels. Every result's order of operations is a function of the
//! filter alone, so the CPU, the simulator and every GPU give the same bits; each module states its order.

pub mod border;
pub mod filter;
pub mod iterate;
pub mod resize;
pub mod signal;
pub mod texture;
pub mod variants;
