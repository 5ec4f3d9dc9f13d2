//! Kernels that leave the views which they were given, though not the buffers: found by the simulator.

use gpu_core::{Device, Error, IntoArguments, Result, Stream};
use gpu_sim::FaultKind;
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

/// `y[i] = x[i + ahead]`.
#[kernel]
fn shift(x: Global<u32>, y: GlobalMut<u32>, ahead: u32) {
    let i = thread::index_1d();
    y.write(i, x.read(i + ahead));
}

/// The same, two at a time.
#[kernel]
fn shift_pairs(x: Global<u32>, y: GlobalMut<u32>, ahead: u32) {
    let i = 2 * thread::index_1d();
    y.write_vec(i, x.read_vec::<2>(i + ahead));
}

#[kernel]
fn count(x: GlobalMut<u32>, ahead: u32) {
    x.atomic(thread::index_1d() + ahead).fetch_add(1, Ordering::Relaxed, Scope::Device);
}

const LEN: usize = 64;

fn run(
    stream: &Stream,
    threads: u32,
    arguments: impl IntoArguments<(Global<u32>, GlobalMut<u32>, u32)>,
) -> Result<()> {
    // SAFETY: in the simulator every access is checked.
    unsafe { stream.launch::<shift>(LaunchConfig::linear(1, threads), arguments) }
}

/// It is out of bounds at that element or behind it, of so many.
#[track_caller]
fn leaves(result: Result<()>, at: i64, of: u64) {
    match result {
        Err(Error::Simulator(fault)) => match &fault.kind {
            FaultKind::OutOfBounds { offset, size, .. } => {
                assert!(*offset >= 4 * at && *size == 4 * of, "{fault}");
            }
            _ => panic!("{fault}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_view_that_is_left_within_its_buffer() {
    let device = Device::simulator();
    let stream = device.stream().unwrap();
    let x = device.upload(&[7_u32; LEN]).unwrap();
    let mut y = device.zeroed::<u32>(LEN).unwrap();
    // To the last element, of buffers and of parts of them.
    run(&stream, 64, (&x, &mut y, 0)).unwrap();
    run(&stream, 16, (x.slice(8..24), y.slice_mut(3..19), 0)).unwrap();
    run(&stream, 15, (x.slice(8..24), y.slice_mut(3..18), 1)).unwrap();
    run(&stream, 60, (x.slice(4..), y.slice_mut(..60), 0)).unwrap();
    // One past the end that is in the buffer.
    leaves(run(&stream, 16, (x.slice(8..24), y.slice_mut(3..19), 1)), 16, 16);
    leaves(run(&stream, 16, (x.slice(8..24), y.slice_mut(3..18), 0)), 15, 15);
    leaves(run(&stream, 16, (x.slice(8..24), &mut y, 16)), 16, 16);
    // Of bytes, whatever they stand for.
    let untyped = (x.slice(8..24).untyped(), y.slice_mut(..16).untyped(), 1);
    leaves(run(&stream, 16, untyped), 16, 16);
    // Half of a vector.
    let config = LaunchConfig::linear(1, 8);
    // SAFETY: as above; what is out of bounds is found.
    let pairs = unsafe { stream.launch::<shift_pairs>(config, (x.slice(8..23), y.slice_mut(..16), 0)) };
    leaves(pairs, 14, 15);
    for ahead in [0, 1] {
        // SAFETY: as above.
        let counted = unsafe { stream.launch::<count>(config, (y.slice_mut(16..24), ahead)) };
        match ahead {
            0 => counted.unwrap(),
            _ => leaves(counted, 8, 8),
        }
    }
    // Outside of the buffer it is the buffer that is left.
    leaves(run(&stream, 16, (x.slice(56..), &mut y, 0)), 64, 64);
}

#[test]
fn what_is_given_is_reached() {
    let device = Device::simulator();
    let stream = device.stream().unwrap();
    let x = device.upload(&[7_u32; LEN]).unwrap();
    let mut y = device.zeroed::<u32>(LEN).unwrap();
    // Nobody knows how much of a buffer a bare address gives, also beside a view.
    let whole = x.view().as_global();
    run(&stream, 16, (whole, y.slice_mut(..16), 40)).unwrap();
    let mut data = device.upload(&[5_u32; LEN]).unwrap();
    let whole = data.view().as_global();
    run(&stream, 16, (whole, data.slice_mut(..16), 40)).unwrap();
    let moved = (x.slice(..8), y.slice_mut(..16), 0_u32)
        .map(|(x, y, ahead): (Global<u32>, GlobalMut<u32>, u32)| (x.offset(4), y, ahead));
    run(&stream, 16, moved).unwrap();
    // Two views of one buffer are both given, to both arguments.
    let (low, high) = y.view_mut().try_split_at(32).unwrap();
    run(&stream, 32, (low.view(), high, 0)).unwrap();
    // A view with nothing in it is no limit.
    let (none, all) = data.view_mut().try_split_at(0).unwrap();
    run(&stream, 0, (none.view(), all, 0)).unwrap_err();
    // What one launch was given is no matter of the next, nor of the host.
    leaves(run(&stream, 16, (x.slice(..8), y.slice_mut(..16), 0)), 8, 8);
    run(&stream, 64, (x.view().as_global(), y.view_mut().as_global_mut(), 0)).unwrap();
    assert_eq!(x.to_vec().unwrap(), y.to_vec().unwrap());
}

#[test]
fn a_graph_gives_what_was_captured() {
    let device = Device::simulator();
    let stream = device.stream().unwrap();
    let x = device.upload(&[7_u32; LEN]).unwrap();
    let mut y = device.zeroed::<u32>(LEN).unwrap();
    for ahead in [0, 1] {
        let mut graph = stream
            .capture((&x, &mut y), |stream, (x, y)| {
                run(stream, 16, (x.slice(8..24), y.slice_mut(3..19), ahead))
            })
            .unwrap();
        match graph.launch(&stream) {
            Ok(()) => assert_eq!(ahead, 0),
            outside => leaves(outside, 16, 16),
        }
    }
    assert_eq!(y.slice(3..19).to_vec().unwrap(), [7; 16]);
}
