use gpu_reduce::kernels::{Max, Sum};
use gpu_reduce::*;

use super::*;

/// Several blocks and tiles of every kernel.
const LEN: usize = 9_000;

#[test]
fn reductions() {
    on_each("reductions", |device| {
        let make = |stream: &Stream| {
            let room = scratch(stream, reduce_scratch(LEN));
            (floats(device, LEN), device.zeroed::<f32>(1).unwrap(), room)
        };
        replays(device, "sum", make, |s, (x, y, scratch)| sum_into(s, &*x, y, scratch));
        replays(device, "max", make, |s, (x, y, scratch)| max_into(s, &*x, y, scratch));
        replays(device, "dot", make, |s, (x, y, scratch)| dot_into(s, &*x, &*x, y, scratch));
        replays(device, "norm_l2", make, |s, (x, y, scratch)| norm_l2_into(s, &*x, y, scratch));
        replays(device, "sum_unordered", make, |s, (x, y, scratch)| sum_unordered_into(s, &*x, y, scratch));
        // Calls of several kinds that share the scratch memory.
        replays(device, "sum, max, sum", make, |s, (x, y, scratch)| {
            sum_into(s, &*x, &mut *y, scratch)?;
            max_into(s, x.slice(..100), &mut *y, scratch)?;
            sum_into(s, x.slice(5..), y, scratch)
        });
    });
}

#[test]
fn indices_of_extremes() {
    on_each("indices_of_extremes", |device| {
        let make = |stream: &Stream| {
            let room = scratch(stream, reduce_scratch(LEN));
            (ints(device, LEN, 1000), device.zeroed::<u64>(1).unwrap(), room)
        };
        replays(device, "argmax", make, |s, (x, y, scratch)| argmax_into(s, &*x, y, scratch));
        replays(device, "count_nonzero", make, |s, (x, y, scratch)| count_nonzero_into(s, &*x, y, scratch));
    });
}

#[test]
fn segments_and_axes() {
    on_each("segments_and_axes", |device| {
        let offsets = || Offsets::new(device, &[0, 5, 5, 4_000, 5_432, LEN as u32]).unwrap();
        let make = |stream: &Stream| {
            let room = scratch(stream, reduce_segments_scratch::<Sum<f32>>(LEN));
            ((floats(device, LEN), offsets()), device.zeroed::<f32>(5).unwrap(), room)
        };
        replays(device, "reduce_segments", make, |s, ((x, offsets), y, scratch)| {
            reduce_segments_into::<Sum<f32>>(s, &*x, &*offsets, y, scratch)
        });
        let make = |stream: &Stream| {
            let room = scratch(stream, reduce_axis_scratch::<Max<f32>>(&[90, 100], 0).unwrap());
            (floats(device, LEN), device.zeroed::<f32>(100).unwrap(), room)
        };
        replays(device, "reduce_axis", make, |s, (x, y, scratch)| {
            reduce_axis_into::<Max<f32>>(s, &*x, &[90, 100], 0, y, scratch)
        });
    });
}

#[test]
fn by_key() {
    on_each("by_key", |device| {
        let len = 5_000;
        let make = |stream: &Stream| {
            let room = scratch(stream, reduce_by_key_scratch::<Sum<f32>, u32>(len));
            let outputs = (
                device.zeroed::<u32>(len).unwrap(),
                device.zeroed::<f32>(len).unwrap(),
                device.zeroed::<gpu_core::Count>(1).unwrap(),
            );
            ((ints(device, len, 3), floats(device, len)), outputs, room)
        };
        replays(device, "reduce_by_key", make, |s, ((keys, x), (unique, sums, runs), scratch)| {
            reduce_by_key_into::<Sum<f32>, u32>(s, &*keys, &*x, unique, sums, runs, scratch)
        });
    });
}
