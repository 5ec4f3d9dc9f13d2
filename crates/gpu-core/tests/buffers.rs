//! Memory and transfers, on every backend.

mod common;

use std::panic::AssertUnwindSafe;

use common::on_each;
use gpu_core::{ALIGNMENT, Device, Error, Kind, View, ViewMut};

/// 0, 1, around a page and a cache line, primes.
const LENGTHS: [usize; 9] = [0, 1, 2, 31, 32, 33, 1023, 4096, 100_003];

fn values(len: usize) -> Vec<u32> {
    (0..len as u32).map(|index| index.wrapping_mul(2_654_435_761)).collect()
}

#[test]
fn what_goes_up_comes_down() {
    on_each("what_goes_up_comes_down", |device| {
        for len in LENGTHS {
            let data = values(len);
            let buffer = device.upload(&data).unwrap();
            assert_eq!((buffer.len(), buffer.is_empty(), buffer.bytes()), (len, len == 0, len * 4));
            assert_eq!(buffer.device(), device);
            assert_eq!(buffer.to_vec().unwrap(), data, "{device}, {len}");
            let mut down = vec![7; len];
            buffer.copy_to(&mut down).unwrap();
            assert_eq!(down, data);
        }
    });
}

#[test]
fn every_element_type_travels() {
    fn travels<T: gpu_core::Element>(device: &Device, data: &[T]) {
        let buffer = device.upload(data).unwrap();
        assert_eq!(
            bytemuck::cast_slice::<T, u8>(&buffer.to_vec().unwrap()),
            bytemuck::cast_slice::<T, u8>(data)
        );
    }
    on_each("every_element_type_travels", |device| {
        // Compared as bytes: a NaN keeps its payload.
        travels(device, &[1.5_f32, -0.0, f32::from_bits(0x7fc0_1234), f32::INFINITY]);
        travels(device, &[1.5_f64, -0.0, f64::NAN, f64::MIN_POSITIVE]);
        travels(device, &[i8::MIN, -1, i8::MAX]);
        travels(device, &[i16::MIN, -1, i16::MAX]);
        travels(device, &[i32::MIN, -1, i32::MAX]);
        travels(device, &[i64::MIN, -1, i64::MAX]);
        travels(device, &[u8::MIN, 1, u8::MAX]);
        travels(device, &[u16::MIN, 1, u16::MAX]);
        travels(device, &[u64::MIN, 1, u64::MAX]);
    });
}

#[test]
fn zeroed_is_zero_and_zero_length_is_fine() {
    on_each("zeroed_is_zero_and_zero_length_is_fine", |device| {
        assert_eq!(device.zeroed::<f64>(1000).unwrap().to_vec().unwrap(), [0.0; 1000]);
        let mut empty = device.alloc::<f32>(0).unwrap();
        empty.copy_from(&[]).unwrap();
        empty.copy_to(&mut []).unwrap();
        assert!(empty.to_vec().unwrap().is_empty());
        assert!(empty.view().is_empty() && empty.slice(0..0).is_empty());
        let stream = device.stream().unwrap();
        stream.memset(&mut empty, 1).unwrap();
        stream.copy(&mut empty, &device.zeroed(0).unwrap()).unwrap();
        let pinned = device.pinned::<f32>(0).unwrap();
        let (pinned, empty) = stream.upload(pinned, empty).unwrap().wait().unwrap();
        assert!(pinned.is_empty() && empty.is_empty());
    });
}

#[test]
fn wrong_lengths_are_refused_and_change_nothing() {
    on_each("wrong_lengths_are_refused_and_change_nothing", |device| {
        let mut buffer = device.upload(&[1_u32, 2, 3]).unwrap();
        for wrong in [0, 2, 4] {
            match buffer.copy_from(&vec![9; wrong]) {
                Err(Error::LengthMismatch { expected: 3, actual, .. }) => assert_eq!(actual, wrong),
                other => panic!("{other:?}"),
            }
            let mut target = vec![8; wrong];
            assert!(matches!(buffer.copy_to(&mut target), Err(Error::LengthMismatch { expected: 3, .. })));
            assert_eq!(target, vec![8; wrong]);
            let source = device.upload(&vec![9; wrong]).unwrap();
            let refused = device.default_stream().copy(&mut buffer, &source);
            assert!(matches!(refused, Err(Error::LengthMismatch { expected: 3, .. })), "{refused:?}");
        }
        assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3]);
    });
}

#[test]
fn parts_are_copied_and_filled_where_they_lie() {
    on_each("parts_are_copied_and_filled_where_they_lie", |device| {
        let source = device.upload(&values(100)).unwrap();
        let mut target = device.zeroed::<u32>(100).unwrap();
        let stream = device.stream().unwrap();
        stream.copy(target.slice_mut(10..20), source.slice(50..60)).unwrap();
        stream.memset(target.slice_mut(97..), 0xff).unwrap();
        let mut expected = vec![0; 100];
        expected[10..20].copy_from_slice(&values(100)[50..60]);
        expected[97..].fill(u32::MAX);
        assert_eq!(target.to_vec().unwrap(), expected, "{device}");
        // A part of a part, and both halves of a split.
        let part = source.slice(20..=40).slice(5..);
        assert_eq!(part.len(), 16);
        let (left, right) = target.view_mut().try_split_at(60).unwrap();
        assert_eq!((left.len(), right.len()), (60, 40));
        stream.copy(right.into_slice(..16), part).unwrap();
        expected[60..76].copy_from_slice(&values(100)[25..41]);
        assert_eq!(target.to_vec().unwrap(), expected, "{device}");
    });
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "they are what is refused")]
fn ranges_outside_are_refused() {
    on_each("ranges_outside_are_refused", |device| {
        let mut buffer = device.zeroed::<u8>(10).unwrap();
        for (range, end) in [(0..11, 11), (11..11, 11), (5..4, 4), (usize::MAX..usize::MAX, usize::MAX)] {
            let start = range.start;
            match buffer.try_slice(range.clone()) {
                Err(Error::OutOfRange { start: s, end: e, len: 10 }) => assert_eq!((s, e), (start, end)),
                other => panic!("{other:?}"),
            }
            assert!(buffer.try_slice_mut(range).is_err());
        }
        assert!(buffer.try_slice(..=usize::MAX).is_err());
        assert!(buffer.view_mut().try_split_at(11).is_err());
        assert!(buffer.try_slice(10..10).is_ok());
        let caught = std::panic::catch_unwind(AssertUnwindSafe(|| buffer.slice(..11).len()));
        assert!(caught.is_err(), "`slice` panics as slices do");
    });
}

#[test]
fn memory_of_another_device_is_refused() {
    on_each("memory_of_another_device_is_refused", |device| {
        let elsewhere = Device::simulator();
        let mut foreign = elsewhere.upload(&[1_u32, 2]).unwrap();
        let mut own = device.upload(&[3_u32, 4]).unwrap();
        let stream = device.stream().unwrap();
        for refused in
            [stream.copy(&mut own, &foreign), stream.copy(&mut foreign, &own), stream.memset(&mut foreign, 0)]
        {
            assert!(matches!(refused, Err(Error::WrongDevice { .. })), "{refused:?}");
        }
        // Of a device of its kind a stream takes events.
        match stream.wait(&elsewhere.default_stream().record().unwrap()) {
            Ok(()) => assert_eq!(device.kind(), elsewhere.kind()),
            refused => assert!(matches!(refused, Err(Error::WrongDevice { .. })), "{refused:?}"),
        }
        let refused = stream.upload(device.pinned(2).unwrap(), foreign).unwrap_err();
        assert!(matches!(refused.error, Error::WrongDevice { .. }));
        assert_eq!(refused.buffer.to_vec().unwrap(), [1, 2], "what was given comes back");
        let refused = stream.download(own, device.pinned(3).unwrap()).unwrap_err();
        assert!(matches!(refused.error, Error::LengthMismatch { expected: 2, actual: 3, .. }));
        assert_eq!((refused.buffer.to_vec().unwrap(), refused.pinned.len()), (vec![3, 4], 3));
    });
}

#[test]
fn more_than_there_is_says_how_much() {
    on_each("more_than_there_is_says_how_much", |device| {
        // More than any machine has; more than an address space; more than 64 bits count.
        for len in [1_usize << 44, usize::MAX / 8, usize::MAX] {
            match device.alloc::<f64>(len).map(drop) {
                Err(Error::OutOfMemory { asked, free, total, .. }) => {
                    assert_eq!(asked, (len as u64).saturating_mul(8));
                    assert!(free <= total && (total == 0 || asked > total), "{free} of {total}");
                    assert!(device.kind() != Kind::Cuda || total > 1 << 30, "{total}");
                }
                other => panic!("{device}, {len}: {other:?}"),
            }
        }
        assert!(matches!(device.pinned::<u64>(usize::MAX / 2), Err(Error::OutOfMemory { .. })));
        // And the device goes on.
        assert_eq!(device.upload(&[1_u8]).unwrap().to_vec().unwrap(), [1]);
    });
}

/// An entry of a file of the system's, in bytes.
#[cfg(target_os = "linux")]
fn entry(file: &str, key: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// What this process has in memory, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    entry("/proc/self/status", "VmRSS:")
}

/// What the machine could still give, in bytes.
#[cfg(target_os = "linux")]
fn available() -> u64 {
    entry("/proc/meminfo", "MemAvailable:") + entry("/proc/meminfo", "SwapFree:")
}

#[test]
#[cfg(target_os = "linux")]
fn host_memory_costs_nothing_before_it_is_touched() {
    let len = 2_usize << 30;
    if available() < 2 * len as u64 {
        eprintln!("SKIPPED: {} bytes of memory are available", available());
        return;
    }
    for device in [Device::cpu(), Device::simulator()] {
        let before = resident();
        let mut buffers = (device.alloc::<u8>(len).unwrap(), device.zeroed::<u8>(len).unwrap());
        buffers.0.slice_mut(len / 2..len / 2 + 3).copy_from(&[1, 2, 3]).unwrap();
        buffers.1.slice_mut(len - 3..).copy_from(&[1, 2, 3]).unwrap();
        let mut read = [9; 4];
        buffers.1.slice(len - 4..).copy_to(&mut read).unwrap();
        assert_eq!(read, [0, 1, 2, 3]);
        let more = resident().saturating_sub(before);
        // Other tests of this process allocate too.
        assert!(more < 256 << 20, "{device}: {more} bytes");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn more_than_is_available_is_refused_before_it_is_touched() {
    let asked = 2 * available();
    let config = gpu_sim::Config { memory_limit: usize::MAX, ..Default::default() };
    for device in [Device::cpu(), Device::simulator_with(config)] {
        for refused in [
            device.alloc::<u8>(asked as usize).map(drop),
            device.zeroed::<u8>(asked as usize).map(drop),
            device.pinned::<u8>(asked as usize).map(drop),
        ] {
            let Err(Error::OutOfMemory { asked: told, free, .. }) = refused else { panic!("{refused:?}") };
            assert!(told == asked && free < asked, "{told} {free}");
        }
    }
}

#[test]
fn cpu_memory_is_a_slice_and_aligned() {
    let device = Device::cpu();
    let mut buffer = device.alloc::<u8>(3).unwrap();
    assert_eq!(buffer.view().as_slice().unwrap(), [0; 3], "uninitialised memory reaches nobody");
    assert_eq!(buffer.view().as_slice().unwrap().as_ptr().addr() % ALIGNMENT, 0);
    buffer.slice_mut(1..).as_mut_slice().unwrap().fill(5);
    assert_eq!(buffer.to_vec().unwrap(), [0, 5, 5]);
    assert!(Device::simulator().zeroed::<u8>(1).unwrap().view().as_slice().is_none());
}

#[test]
fn host_slices_are_views_on_the_cpu() {
    let mut data = vec![1.0_f32, 2.0, 3.0];
    let view = View::from(&data);
    assert_eq!((view.len(), view.device().kind(), view.as_slice().unwrap()), (3, Kind::Cpu, &data[..]));
    let mut view = ViewMut::from(&mut data[1..]);
    view.reborrow().as_mut_slice().unwrap()[0] = 7.0;
    assert_eq!(view.view().as_slice().unwrap(), [7.0, 3.0]);
    let mut buffer = Device::cpu().zeroed(3).unwrap();
    Device::cpu().default_stream().copy(&mut buffer, &data).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [1.0, 7.0, 3.0]);
    assert_eq!(View::from(&[0_u8; 0]).as_slice().unwrap().len(), 0);
}

#[test]
fn the_simulator_tells_unwritten_memory() {
    let device = Device::simulator();
    let mut buffer = device.alloc::<u32>(4).unwrap();
    assert!(matches!(buffer.to_vec(), Err(Error::Simulator(_))));
    let mut target = [9; 4];
    assert!(matches!(buffer.copy_to(&mut target), Err(Error::Simulator(_))));
    assert_eq!(target, [9; 4], "a fault leaves the target as it was");
    device.default_stream().memset(buffer.slice_mut(..3), 0).unwrap();
    assert!(matches!(buffer.to_vec(), Err(Error::Simulator(_))), "one element is still unwritten");
    device.default_stream().memset(buffer.slice_mut(3..), 1).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [0, 0, 0, 0x0101_0101]);
}
