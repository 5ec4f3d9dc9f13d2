//! The reductions and scans by name.

use gpu_core::ScratchSize;
use gpu_reduce::kernels::Sum;
use gpu_reduce::*;
use gpu_scan::*;

use super::*;

const LEN: usize = 3_000;
const SHAPE: [usize; 2] = [40, 75];

/// More than any of them needs.
fn room(stream: &Stream) -> Scratch {
    scratch(stream, ScratchSize::new().tickets(4096).zeros(4096).array::<u8>(1 << 18))
}

/// Replays calls of `$call` for each name: of which elements, to how many of which.
macro_rules! each {
    ($device:ident, $held:expr, $call:ident: $($name:ident($input:ident) => $count:expr, $output:ty;)*) => { $(
        let make = |stream: &Stream| {
            (($input($device), $held), $device.zeroed::<$output>($count).unwrap(), room(stream))
        };
        replays($device, stringify!($name), make, |s, ((x, held), y, scratch)| $call!($name, s, x, held, y, scratch));
    )* };
}

fn real(device: &Device) -> Buffer<f32> {
    floats(device, LEN)
}

fn whole(device: &Device) -> Buffer<u32> {
    ints(device, LEN, 1 << 31)
}

macro_rules! plain {
    ($name:ident, $s:ident, $x:ident, $held:ident, $y:ident, $scratch:ident) => {{
        let () = $held;
        $name($s, &*$x, $y, $scratch)
    }};
}

macro_rules! segmented {
    ($name:ident, $s:ident, $x:ident, $held:ident, $y:ident, $scratch:ident) => {
        $name($s, &*$x, &*$held, $y, $scratch)
    };
}

macro_rules! rows {
    ($name:ident, $s:ident, $x:ident, $held:ident, $y:ident, $scratch:ident) => {{
        let () = $held;
        $name($s, &*$x, &SHAPE, 1, $y, $scratch)
    }};
}

macro_rules! columns {
    ($name:ident, $s:ident, $x:ident, $held:ident, $y:ident, $scratch:ident) => {{
        let () = $held;
        $name($s, &*$x, &SHAPE, 0, $y, $scratch)
    }};
}

#[test]
fn reductions_of_all() {
    on_each("reductions_of_all", |device| {
        each! { device, (), plain:
            product_into(real) => 1, f32;
            min_into(real) => 1, f32;
            minmax_into(real) => 2, f32;
            argmin_into(real) => 1, u64;
            sum_of_squares_into(real) => 1, f32;
            norm_l1_into(real) => 1, f32;
            norm_max_into(real) => 1, f32;
            any_into(real) => 1, u8;
            all_into(real) => 1, u8;
            bit_and_into(whole) => 1, u32;
            bit_or_into(whole) => 1, u32;
            bit_xor_into(whole) => 1, u32;
            wide_sum_into(whole) => 1, u64;
        }
        let make = |stream: &Stream| (real(device), device.zeroed::<f32>(1).unwrap(), room(stream));
        replays(device, "reduce_into", make, |s, (x, y, scratch)| {
            reduce_into::<Sum<f32>>(s, &*x, y, scratch)
        });
    });
}

#[test]
fn reductions_of_segments() {
    on_each("reductions_of_segments", |device| {
        let offsets = || gpu_core::Offsets::new(device, &[0, 5, 6, 1_900, 2_345, LEN as u32]).unwrap();
        each! { device, offsets(), segmented:
            sum_segments_into(real) => 5, f32;
            product_segments_into(real) => 5, f32;
            min_segments_into(real) => 5, f32;
            max_segments_into(real) => 5, f32;
            minmax_segments_into(real) => 10, f32;
            argmin_segments_into(real) => 5, u64;
            argmax_segments_into(real) => 5, u64;
            sum_of_squares_segments_into(real) => 5, f32;
            norm_l1_segments_into(real) => 5, f32;
            norm_l2_segments_into(real) => 5, f32;
            norm_max_segments_into(real) => 5, f32;
            any_segments_into(real) => 5, u8;
            all_segments_into(real) => 5, u8;
            count_nonzero_segments_into(real) => 5, u64;
            bit_and_segments_into(whole) => 5, u32;
            bit_or_segments_into(whole) => 5, u32;
            bit_xor_segments_into(whole) => 5, u32;
            wide_sum_segments_into(whole) => 5, u64;
        }
    });
}

#[test]
fn reductions_along_axes() {
    on_each("reductions_along_axes", |device| {
        each! { device, (), rows:
            sum_axis_into(real) => 40, f32;
            product_axis_into(real) => 40, f32;
            min_axis_into(real) => 40, f32;
            max_axis_into(real) => 40, f32;
            minmax_axis_into(real) => 80, f32;
            argmin_axis_into(real) => 40, u64;
            sum_of_squares_axis_into(real) => 40, f32;
            norm_l1_axis_into(real) => 40, f32;
            norm_l2_axis_into(real) => 40, f32;
        }
        each! { device, (), columns:
            argmax_axis_into(real) => 75, u64;
            norm_max_axis_into(real) => 75, f32;
            any_axis_into(real) => 75, u8;
            all_axis_into(real) => 75, u8;
            count_nonzero_axis_into(real) => 75, u64;
            bit_and_axis_into(whole) => 75, u32;
            bit_or_axis_into(whole) => 75, u32;
            bit_xor_axis_into(whole) => 75, u32;
            wide_sum_axis_into(whole) => 75, u64;
        }
    });
}

#[test]
fn scans_by_name() {
    on_each("scans_by_name", |device| {
        each! { device, (), plain:
            inclusive_sum_into(real) => LEN, f32;
            exclusive_sum_into(real) => LEN, f32;
            inclusive_product_into(real) => LEN, f32;
            exclusive_product_into(real) => LEN, f32;
            inclusive_min_into(real) => LEN, f32;
            exclusive_min_into(real) => LEN, f32;
            inclusive_max_into(real) => LEN, f32;
            exclusive_max_into(real) => LEN, f32;
            inclusive_wide_sum_into(whole) => LEN, u64;
            exclusive_wide_sum_into(whole) => LEN, u64;
            inclusive_and_into(whole) => LEN, u32;
            exclusive_and_into(whole) => LEN, u32;
            inclusive_or_into(whole) => LEN, u32;
            exclusive_or_into(whole) => LEN, u32;
            inclusive_xor_into(whole) => LEN, u32;
            exclusive_xor_into(whole) => LEN, u32;
        }
    });
}
