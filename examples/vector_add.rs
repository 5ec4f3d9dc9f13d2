//! What the sum of two vectors takes on the CPU, on the GPU, and with the copies to it and back.
//!
//! `cargo run --release --example vector_add` runs a course's 21 tests (`gpu_examples::additions::VECTORS`): more
//! elements, more repetitions between the copies, larger blocks; from pageable and from pinned memory. Without a GPU
//! it runs them in the simulator, a thousand times smaller; those times are the simulator's own.

use std::process::ExitCode;

use clap::Parser;
use gpu_examples::additions::{self, VECTORS};
use gpu_examples::exit_code;

/// Time the sum of two vectors with 21 grids, blocks and repetitions, and the copies around it
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    common: additions::Common,
}

/// So many times smaller are the sizes for the simulator.
const SMALLER: u32 = 1000;

fn main() -> ExitCode {
    let options = Options::parse().common;
    exit_code(additions::run(&options, "sums of vectors of f32", &VECTORS, SMALLER))
}
