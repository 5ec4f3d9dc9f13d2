//! A SIMT simulator that runs GPU kernels on the host and watches every access.
//!
//! A [`Simulator`] holds simulated global memory and launches kernels: plain Rust closures that call the functions of
//! [`device`] where a GPU has instructions. Every thread of the grid runs for real, on one OS thread, interleaved by
//! a seed. What real hardware would silently get wrong is a [`Fault`] with kernel, source line, block and thread:
//! races (by happens-before, not by luck), accesses out of bounds or to bytes never written, barriers under
//! divergence, collectives that a lane never reaches, blocks that wait in vain and spins without end.
//!
//! ```
//! use gpu_sim::device::{Load, Store, block_idx, global_load, global_store};
//! use gpu_sim::{FaultKind, Geometry, Kernel, Simulator};
//!
//! let simulator = Simulator::default();
//! let sum = simulator.alloc(4)?;
//! simulator.write(sum, &0u32.to_ne_bytes())?;
//!
//! // Two blocks add to one word without an atomic: whatever the order, nothing orders them.
//! let kernel = Kernel { name: "racy_sum", file: file!(), line: line!() };
//! let fault = simulator
//!     .launch(kernel, Geometry::linear(2, 1, 0), &|| {
//!         let old: u32 = global_load(sum, Load::Weak);
//!         global_store(sum, old + block_idx()[0], Store::Weak);
//!     })
//!     .unwrap_err();
//!
//! assert!(matches!(fault.kind, FaultKind::Race { .. }));
//! assert_eq!(fault.kernel, "racy_sum");
//! let other = fault.other.as_ref().expect("a race has two sides");
//! assert_ne!(fault.block, other.block);
//! println!("{fault}");
//! # Ok::<(), gpu_sim::Fault>(())
//! ```
//!
//! The memory model, and how it is decided, are explained in the crate's README.

pub mod check;
mod clock;
mod config;
pub mod device;
mod engine;
mod fault;
mod geometry;
mod memory;
pub mod metrics;
mod report;
mod rng;
mod simulator;
mod streams;

pub use config::{BlockOrder, Config, Record};
pub use fault::{Direction, Fault, FaultDetails, FaultKind, OtherAccess, Site, Space, Waiter};
pub use geometry::{Geometry, Kernel, WARP};
pub use report::{Count, Counts, Operation, Path, Paths, Report, SiteCounts};
pub use simulator::Simulator;
pub use streams::Mark;
