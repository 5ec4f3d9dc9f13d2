//! What the tests share: a simulator, and arrays in it.
#![allow(dead_code)]

use bytemuck::{Pod, Zeroable};
use gpu_sim::{Config, Record, Simulator};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Element, Global, GlobalMut};

/// A simulator that checks for races, with one of many schedules.
pub fn simulator(seed: u64) -> Simulator {
    Simulator::new(Config { seed, record: Record::Full, ..Config::default() })
}

/// One block of `threads` threads with `bytes` of shared memory.
pub fn block(threads: u32, bytes: u32) -> LaunchConfig {
    LaunchConfig::linear(1, threads).shared(bytes)
}

/// An array in simulated memory.
pub struct Array<T> {
    simulator: Simulator,
    address: u64,
    len: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Element + Pod + Zeroable> Array<T> {
    pub fn new(simulator: &Simulator, values: &[T]) -> Self {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let address = simulator.alloc(bytes.len()).expect("memory");
        simulator.write(address, bytes).expect("a write inside the array");
        Self { simulator: simulator.clone(), address, len: values.len(), element: std::marker::PhantomData }
    }

    pub fn zeroed(simulator: &Simulator, len: usize) -> Self {
        Self::new(simulator, &vec![T::zeroed(); len])
    }

    pub fn get(&self) -> Vec<T> {
        let mut values = vec![T::zeroed(); self.len];
        self.simulator
            .read(self.address, bytemuck::cast_slice_mut(&mut values))
            .expect("a read inside the array");
        values
    }

    pub fn global(&self) -> Global<T> {
        // SAFETY: the tests launch in bounds, or expect the simulator to say that they do not.
        unsafe { Global::from_raw(self.address) }
    }

    pub fn global_mut(&self) -> GlobalMut<T> {
        // SAFETY: as above.
        unsafe { GlobalMut::from_raw(self.address) }
    }
}
