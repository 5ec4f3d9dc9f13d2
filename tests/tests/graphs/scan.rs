use gpu_scan::kernels::{Max, Sum};
use gpu_scan::{
    Offsets, Options, scan_axis_in_place, scan_axis_into, scan_axis_scratch, scan_in_place, scan_into,
    scan_scratch, scan_segments_in_place, scan_segments_into, scan_segments_scratch,
};

use super::*;

/// Several blocks and tiles of every kernel.
const LEN: usize = 9_000;

#[test]
fn scans() {
    on_each("scans", |device| {
        let make = |stream: &Stream| {
            let room = scratch(stream, scan_scratch(LEN));
            (ints(device, LEN, 9), device.zeroed::<u32>(LEN).unwrap(), room)
        };
        replays(device, "scan", make, |s, (x, y, scratch)| {
            scan_into::<Sum<u32>>(s, &*x, Options::inclusive(), y, scratch)
        });
        replays(device, "scan in place", make, |s, (_, y, scratch)| {
            scan_in_place::<Sum<u32>>(s, y, Options::exclusive(), scratch)
        });
        replays(device, "two scans", make, |s, (x, y, scratch)| {
            scan_into::<Max<u32>>(s, &*x, Options::exclusive(), &mut *y, scratch)?;
            scan_in_place::<Sum<u32>>(s, y.slice_mut(..7_000), Options::inclusive(), scratch)
        });
    });
}

#[test]
fn segments_and_axes() {
    on_each("segments_and_axes", |device| {
        let offsets = || Offsets::new(device, &[0, 5, 5, 4_000, 5_432, LEN as u32]).unwrap();
        let make = |stream: &Stream| {
            let room = scratch(stream, scan_segments_scratch(LEN));
            ((ints(device, LEN, 9), offsets()), device.zeroed::<u32>(LEN).unwrap(), room)
        };
        replays(device, "scan_segments", make, |s, ((x, offsets), y, scratch)| {
            scan_segments_into::<Sum<u32>>(s, &*x, &*offsets, Options::inclusive(), y, scratch)
        });
        replays(device, "scan_segments in place", make, |s, ((_, offsets), y, scratch)| {
            scan_segments_in_place::<Sum<u32>>(s, y, &*offsets, Options::inclusive(), scratch)
        });
        for axis in 0..2 {
            let make = |stream: &Stream| {
                let room = scratch(stream, scan_axis_scratch::<Sum<u32>>(&[90, 100], axis).unwrap());
                (ints(device, LEN, 9), device.zeroed::<u32>(LEN).unwrap(), room)
            };
            replays(device, "scan_axis", make, |s, (x, y, scratch)| {
                scan_axis_into::<Sum<u32>>(s, &*x, &[90, 100], axis, Options::inclusive(), y, scratch)
            });
            replays(device, "scan_axis in place", make, |s, (_, y, scratch)| {
                scan_axis_in_place::<Sum<u32>>(s, y, &[90, 100], axis, Options::inclusive(), scratch)
            });
        }
    });
}
