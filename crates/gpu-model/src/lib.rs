#![doc = include_str!("../README.md")]

pub mod device;
pub mod error;
pub mod literature;
pub mod thesis;
pub mod units;

pub use device::{Device, Launch};
pub use error::{Error, Result};
