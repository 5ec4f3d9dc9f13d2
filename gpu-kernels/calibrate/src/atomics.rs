//! The same sum three ways (González García, section 5.2.5).

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::GlobalMut;
use gpu_std::{kernel, opaque, rolled};

/// One thread adds `times` ones in a register and writes their sum to `output[0]`.
#[kernel(images = sm_75, launch_bounds(1))]
pub fn calibrate_add_register(output: GlobalMut<u32>, times: u32) {
    let (mut sum, mut time) = (0, 0);
    while time < times {
        time = rolled(time) + 1;
        sum = opaque(sum) + 1;
    }
    output.write(0, sum);
}

/// One thread adds `times` ones to `output[0]`, in global memory each time.
#[kernel(images = sm_75, launch_bounds(1))]
pub fn calibrate_add_global(output: GlobalMut<u32>, times: u32) {
    let mut time = 0;
    while time < times {
        time = rolled(time) + 1;
        output.write_volatile(0, output.read_volatile(0) + 1);
    }
}

/// Every thread adds one to `output[0]`, atomically, `times` times.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_add_atomic(output: GlobalMut<u32>, times: u32) {
    let mut time = 0;
    while time < times {
        time = rolled(time) + 1;
        output.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
    }
}
