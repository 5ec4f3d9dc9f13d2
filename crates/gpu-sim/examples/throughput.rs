//! How many GPU threads a second the simulator runs: load, add, store, in blocks of 256 threads.
//!
//! `cargo run --release -p gpu-sim --example throughput`

use std::time::Instant;

use gpu_sim::device::{Load, Store, block_idx, global_load, global_store, thread_idx};
use gpu_sim::{Config, Fault, Geometry, Kernel, Record, Simulator};

fn main() -> Result<(), Fault> {
    const BLOCKS: u32 = 4096;
    const THREADS: u32 = 256;
    let bytes = (BLOCKS * THREADS * 4) as usize;
    println!("{BLOCKS} blocks of {THREADS} threads: y[i] = x[i] + 1; best of 7");
    for record in [Record::Off, Record::Races, Record::Full] {
        let simulator = Simulator::new(Config { record, ..Config::default() });
        let x = simulator.alloc(bytes)?;
        let y = simulator.alloc(bytes)?;
        simulator.fill(x, bytes, 0)?;
        let kernel = Kernel { name: "add_one", file: file!(), line: line!() };
        let mut best = f64::INFINITY;
        for seed in 0..7 {
            simulator.set_seed(seed);
            let start = Instant::now();
            simulator.launch(kernel, Geometry::linear(BLOCKS, THREADS, 0), &|| {
                let i = u64::from(block_idx()[0] * THREADS + thread_idx()[0]);
                let value: f32 = global_load(x + 4 * i, Load::Weak);
                global_store(y + 4 * i, value + 1.0, Store::Weak);
            })?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        let mut out = vec![0; bytes];
        simulator.read(y, &mut out)?;
        assert!(out.chunks_exact(4).all(|word| word == 1f32.to_ne_bytes()), "the kernel computes x + 1");
        let rate = f64::from(BLOCKS * THREADS) / best / 1e6;
        println!("Record::{record:?}: {rate:.1} million threads a second");
    }
    Ok(())
}
