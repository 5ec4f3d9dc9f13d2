#![doc = include_str!("../README.md")]

#[cfg(feature = "calibrate")]
pub mod calibrate;
pub mod device;
pub mod error;
pub mod literature;
pub mod thesis;
pub mod units;
pub mod waves;

pub use device::{Device, Launch};
pub use error::{Error, Result};
