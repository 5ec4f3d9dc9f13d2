//! Measures the primitives: on a GPU beside a copy of the same bytes, and, with the programs in `peers/`, beside the
//! vendor's versions. `bench-gpu --help` says how; `results/README.md` says what a result means.
//!
//! | module | concern |
//! | --- | --- |
//! | [`cli`] | the command line |
//! | [`protocol`] | how a launch is timed |
//! | [`stats`] | what many timings come to |
//! | [`data`] | inputs, how they lie in memory, and the check of outputs |
//! | [`suite`] | what is measured, at which sizes |
//! | [`first_result`] | the first result of a fresh process |
//! | [`session`] | the device, the inputs on it, and the copies that results are set beside |
//! | [`run`] | from the command line to the results |
//! | [`shapes`], [`products`] | selections, sorts of segments, and products at many shapes |
//! | [`easy`] | the calls that take a buffer and give a result |
//! | [`factor`] | Cholesky factorisations at many sizes |
//! | [`sweep`] | what programs that time many shapes have in common |
//! | [`counting`] | one launch in the simulator, for what it counts |
//! | [`report`], [`table`] | results as JSON lines and as a table |
//! | [`provenance`], [`date`] | device, driver, commit and date of a result |

pub mod batched;
pub mod cli;
#[cfg(feature = "simulator")]
pub mod counting;
pub mod data;
pub mod date;
pub mod easy;
pub mod error;
pub mod factor;
pub mod first_result;
pub mod first_use;
pub mod level3;
pub mod products;
pub mod protocol;
pub mod provenance;
pub mod report;
pub mod run;
pub mod session;
pub mod shapes;
pub mod skyline;
pub mod stats;
pub mod suite;
pub mod sweep;
pub mod table;
pub mod tensor;

pub use error::Error;
