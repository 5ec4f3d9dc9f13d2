//! Devices, streams, buffers, launches and errors: a safe layer over the CUDA driver, the simulator and the CPU.
#![doc = include_str!("../README.md")]

mod backend;
mod buffer;
mod capability;
pub mod checks;
pub mod cores;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod element;
mod error;
mod event;
mod graph;
pub mod grid;
pub mod image;
#[cfg(feature = "cuda")]
pub mod interop;
mod launch;
mod limits;
pub mod matrix;
mod named;
pub mod occupancy;
#[cfg(any(feature = "cuda", feature = "simulator"))]
mod order;
mod pinned;
pub mod properties;
pub mod ptx;
mod read_back;
mod scratch;
pub mod segments;
#[cfg(feature = "simulator")]
mod simulator;
mod stream;
pub mod texture;
mod transfer;
mod transfers;
pub mod vectors;
mod view;
#[cfg(feature = "async")]
mod wait;

pub use buffer::Buffer;
pub use capability::Capability;
pub use cpu::ALIGNMENT;
pub use device::{Device, ENVIRONMENT, Kind};
pub use element::{Count, Element};
pub use error::{DriverFailure, Error, Launched, Result};
pub use event::Event;
pub use graph::{Graph, Resources, Visitor};
pub use grid::Grid;
pub use image::{Image, ImageLayout, ImageMut};
pub use launch::{AnyKernel, IntoArgument, IntoArguments, MappedArguments, Untyped};
pub use limits::Limits;
pub use matrix::{Batch, BatchLayout, BatchMut, Layout, Matrix, MatrixMut, Order};
pub use occupancy::Occupancy;
pub use pinned::Pinned;
pub use properties::Properties;
pub use scratch::{Parts, Scratch, ScratchSize};
pub use segments::{Offsets, Segments};
pub use stream::Stream;
pub use texture::Texture;
pub use transfer::{Refused, Started, Transfer};
pub use transfers::Transfers;
pub use view::{View, ViewMut};
#[cfg(feature = "async")]
pub use wait::{Synchronized, Transferred};
