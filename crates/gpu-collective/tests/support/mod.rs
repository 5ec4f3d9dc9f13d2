//! Simulators of many schedules, and an operator that does not commute.

use gpu_core::Device;
use gpu_sim::{Config, Record};

/// One simulator for each seed from 0 on, with few blocks at a time, that reports races.
pub fn schedules(seeds: u64) -> impl Iterator<Item = (u64, Device)> {
    println!("seeds 0 to {}", seeds - 1);
    (0..seeds).map(|seed| {
        let config = Config { resident_blocks: 4, record: Record::Races, ..Config::with_seed(seed) };
        (seed, Device::simulator_with(config))
    })
}

/// `x -> a * x + b`, modulo 2^32: functions do not commute.
pub type Affine = (u32, u32);

/// `first`, then `second`.
pub fn compose(first: Affine, second: Affine) -> Affine {
    (first.0.wrapping_mul(second.0), second.0.wrapping_mul(first.1).wrapping_add(second.1))
}

/// Changes nothing.
pub const IDENTITY: Affine = (1, 0);

/// Functions that are all different.
pub fn functions(len: u32) -> Vec<Affine> {
    (0..len).map(|i| (2 * i + 1, i.wrapping_mul(2_654_435_761))).collect()
}
