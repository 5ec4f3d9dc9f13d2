//! Maps as the simulator understands them: the tensor itself, in the room of a driver's.

use crate::tensor_map::{Format, Swizzle, Tensor};
use gpu_sim::device;

/// In the last word of a simulated map; a driver's has zeros there.
const SIMULATED: u64 = u64::from_be_bytes(*b"gpu-sim\0");

#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Map {
    /// What the driver gets, first.
    words: [u64; 16],
    /// That of the tensor.
    address: u64,
}

impl Map {
    pub const fn driver(words: [u64; 16], address: u64) -> Self {
        Self { words, address }
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    pub fn simulated(tensor: Tensor) -> Self {
        let Tensor { address, format, extents: [x, y, z], strides: [row, matrix], tile, swizzle } = tensor;
        let [width, height, depth] = tile.map(u64::from);
        let swizzled = u64::from(swizzle == Swizzle::Bytes128);
        let format = match format {
            Format::U8 => 1,
            Format::U16 => 2,
            Format::U32 => 4,
        };
        let words =
            [address, x, y, z, row, matrix, width, height, depth, swizzled, format, 0, 0, 0, 0, SIMULATED];
        Self { words, address }
    }

    pub fn prefetch(&self) {}

    #[track_caller]
    fn tile(&self) -> device::Box3 {
        let [address, x, y, z, row, matrix, width, height, depth, swizzled, bytes, .., mark] = self.words;
        assert!(mark == SIMULATED, "a tensor map of a driver, in the simulator");
        device::Box3 {
            address,
            element: bytes as u32,
            extents: [x, y, z],
            strides: [row, matrix],
            tile: [width, height, depth].map(|extent| extent as u32),
            swizzled: swizzled != 0,
        }
    }

    #[track_caller]
    pub fn load(&self, target: u32, barrier: u32, place: [u32; 3]) {
        device::tensor_load(target, barrier, &self.tile(), place.map(u32::cast_signed));
    }

    #[track_caller]
    pub fn load_multicast(&self, target: u32, barrier: u32, place: [u32; 3], mask: u16) {
        let place = place.map(u32::cast_signed);
        device::tensor_load_multicast(target, barrier, &self.tile(), place, mask);
    }

    #[track_caller]
    pub fn store(&self, source: u32, place: [u32; 3]) {
        device::tensor_store(source, &self.tile(), place.map(u32::cast_signed));
    }
}

#[track_caller]
pub fn commit_stores() {
    device::store_commit();
}

#[track_caller]
pub fn wait_stores_read<const PENDING: u32>() {
    device::store_wait(PENDING, false);
}

#[track_caller]
pub fn wait_stores<const PENDING: u32>() {
    device::store_wait(PENDING, true);
}
