//! Streams, events and launches.

mod common;

use common::{
    AT_MOST_64, BOUNDED, FILL_INDEX, MISSING, fill_index, fill_index_with, on_cuda, on_each,
    on_each_launching, reverse_shared, store_late,
};
use gpu_core::{Device, Error, Kind};
use gpu_std::launch::{Image, KernelMeta, LaunchConfig};

#[test]
fn kernels_run() {
    on_each_launching("kernels_run", |device| {
        for len in [1_usize, 31, 1000, 4096, 10_007] {
            let mut buffer = device.alloc(len).unwrap();
            fill_index(&device.stream().unwrap(), buffer.view_mut(), 128).unwrap();
            assert_eq!(buffer.to_vec().unwrap(), (0..len as u32).collect::<Vec<_>>(), "{device}, {len}");
        }
    });
}

#[test]
fn shared_memory_beyond_the_default_is_opted_into() {
    on_each_launching("shared_memory_beyond_the_default_is_opted_into", |device| {
        // Growing and shrinking: what was opted into once stays allowed.
        for kib in [1, 48, 60, 49, 64, 8] {
            let mut buffer = device.alloc(256).unwrap();
            reverse_shared(&device.stream().unwrap(), buffer.view_mut(), 64, kib * 1024).unwrap();
            let expected: Vec<u32> = (0..256).map(|index| 63 - index % 64).collect();
            assert_eq!(buffer.to_vec().unwrap(), expected, "{device}, {kib} KiB");
        }
    });
}

#[test]
fn a_launch_that_cannot_be_is_refused_and_writes_nothing() {
    on_each_launching("a_launch_that_cannot_be_is_refused_and_writes_nothing", |device| {
        let stream = device.stream().unwrap();
        let mut buffer = device.upload(&[7_u32; 4]).unwrap();
        let mut launch = |kernel, config| fill_index_with(&stream, kernel, buffer.view_mut(), config);
        for config in [LaunchConfig::linear(0, 32), LaunchConfig::linear(1, 0)] {
            match launch(&FILL_INDEX, config) {
                Err(Error::EmptyLaunch { kernel, grid, block }) => {
                    assert_eq!((kernel.as_str(), grid, block), ("fill_index", config.grid, config.block));
                }
                other => panic!("{other:?}"),
            }
        }
        let too_many_in_y = LaunchConfig { grid: [1, 65536, 1], block: [1, 1, 1], shared_bytes: 0 };
        for (kernel, config) in [
            (&FILL_INDEX, LaunchConfig::linear(1, 1025)),
            (&AT_MOST_64, LaunchConfig::linear(1, 65)),
            (&FILL_INDEX, LaunchConfig::linear(1, 1).shared(u32::MAX)),
            (&FILL_INDEX, LaunchConfig::linear(u32::MAX, 1)),
            (&FILL_INDEX, too_many_in_y),
        ] {
            match launch(kernel, config) {
                Err(Error::LaunchLimit { asked, limit, .. }) => assert!(asked > limit, "{config:?}"),
                other => panic!("{device}, {config:?}: {other:?}"),
            }
        }
        assert_eq!(buffer.to_vec().unwrap(), [7; 4]);
        fill_index(&stream, buffer.view_mut(), 32).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [0, 1, 2, 3], "and the device goes on");
    });
}

#[test]
fn the_cpu_launches_nothing() {
    let mut buffer = Device::cpu().upload(&[7_u32; 4]).unwrap();
    let refused = fill_index(&Device::cpu().default_stream(), buffer.view_mut(), 32);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    assert_eq!(buffer.to_vec().unwrap(), [7; 4]);
}

#[test]
fn events_order_and_measure() {
    on_each("events_order_and_measure", |device| {
        let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
        let mut buffer = device.zeroed::<u32>(1 << 16).unwrap();
        let start = first.record().unwrap();
        first.memset(&mut buffer, 1).unwrap();
        let filled = first.record().unwrap();
        second.wait(&filled).unwrap();
        second.memset(buffer.slice_mut(1..), 2).unwrap();
        let end = second.record().unwrap();
        end.synchronize().unwrap();
        assert!(end.is_done().unwrap() && filled.is_done().unwrap());
        let (whole, part) = (end.elapsed_ms(&start).unwrap(), filled.elapsed_ms(&start).unwrap());
        assert!(0.0 <= part && part <= whole, "{device}: {part} of {whole} ms");
        let content = buffer.to_vec().unwrap();
        assert_eq!(content[0], 0x0101_0101);
        assert!(content[1..].iter().all(|&value| value == 0x0202_0202));
        second.synchronize().unwrap();
        assert!(second.is_done().unwrap());
        let elsewhere = Device::simulator().default_stream().record().unwrap();
        assert!(matches!(end.elapsed_ms(&elsewhere), Err(Error::WrongDevice { .. })));
    });
}

#[test]
fn pinned_memory_travels_while_the_host_goes_on() {
    on_each("pinned_memory_travels_while_the_host_goes_on", |device| {
        let stream = device.stream().unwrap();
        let mut pinned = device.pinned::<u32>(10_000).unwrap();
        assert!(pinned.iter().all(|&value| value == 0));
        pinned.iter_mut().zip(0..).for_each(|(value, index)| *value = index);
        let up = stream.upload(pinned, device.alloc(10_000).unwrap()).unwrap();
        let (mut pinned, buffer) = up.wait().unwrap();
        pinned.fill(9);
        let down = stream.download(buffer, pinned).unwrap();
        while !down.is_done().unwrap() {
            std::thread::yield_now();
        }
        let (pinned, buffer) = down.wait().unwrap();
        assert!(pinned.iter().copied().eq(0..10_000), "{device}");
        // Dropped without waiting: the drop waits. Forgotten: leaked, and still owned.
        drop(stream.download(buffer, pinned).unwrap());
        let forgotten = stream.upload(device.pinned(100).unwrap(), device.alloc::<u8>(100).unwrap()).unwrap();
        std::mem::forget(forgotten);
        device.synchronize().unwrap();
    });
}

#[test]
fn a_transfer_comes_after_work_on_every_stream() {
    on_each_launching("a_transfer_comes_after_work_on_every_stream", |device| {
        let mut buffer = device.upload(&[0_u32, 5]).unwrap();
        // Long enough that a transfer which did not wait would be first.
        store_late(&device.stream().unwrap(), buffer.view_mut(), 50_000_000, 42).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [42, 5], "{device}");
        store_late(&device.stream().unwrap(), buffer.view_mut(), 50_000_000, 43).unwrap();
        buffer.copy_from(&[1, 1]).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [1, 1], "{device}");
    });
}

#[test]
fn memory_is_not_freed_under_a_kernel() {
    on_each_launching("memory_is_not_freed_under_a_kernel", |device| {
        let stream = device.stream().unwrap();
        let mut buffer = device.alloc(1).unwrap();
        store_late(&stream, buffer.view_mut(), 50_000_000, 42).unwrap();
        drop(buffer);
        // Whether or not the drop waits: nobody else has the memory while the kernel may write to it.
        let others: Vec<_> = (0..64).map(|_| device.zeroed::<u32>(1).unwrap()).collect();
        stream.synchronize().unwrap();
        assert!(others.iter().all(|other| other.to_vec().unwrap() == [0]), "{device}");
    });
}

/// Up to 256 bytes by way of the host's memory, more from the device's; from several threads, and work on another
/// stream.
#[test]
fn results_come_back() {
    on_each_launching("results_come_back", |device| {
        std::thread::scope(|scope| {
            for stream in [device.default_stream(), device.stream().unwrap(), device.stream().unwrap()] {
                scope.spawn(move || {
                    let other = stream.device().stream().unwrap();
                    for round in 0..20 {
                        for len in [1, 2, 64, 65, 1000] {
                            let by = if round % 2 == 0 { &stream } else { &other };
                            let mut results = vec![u32::MAX; len];
                            stream.read_back(&mut results, |output| fill_index(by, output, 128)).unwrap();
                            assert_eq!(results, (0..len as u32).collect::<Vec<_>>(), "{len}, round {round}");
                        }
                    }
                    let mut late = [0];
                    stream.read_back(&mut late, |output| store_late(&other, output, 1_000_000, 42)).unwrap();
                    assert_eq!(late, [42], "it has waited");
                });
            }
        });
        let mut none = [0u32; 0];
        let is_empty = |output: gpu_core::ViewMut<'_, u32>| {
            assert!(output.is_empty());
            Ok(())
        };
        device.default_stream().read_back(&mut none, is_empty).unwrap();
    });
}

#[test]
fn everything_may_be_dropped_in_any_order() {
    on_each("everything_may_be_dropped_in_any_order", |device| {
        for order in 0..24 {
            // A device of its own where there can be one.
            let device = if device.kind() == Kind::Simulator { Device::simulator() } else { device.clone() };
            let stream = device.stream().unwrap();
            let buffer = device.upload(&[1_u32, 2, 3]).unwrap();
            let event = stream.record().unwrap();
            let mut parts: Vec<Box<dyn std::any::Any + Send>> =
                vec![Box::new(device), Box::new(stream), Box::new(buffer), Box::new(event)];
            let mut rest = order;
            for left in (1..=4).rev() {
                let part = parts.remove(rest % left);
                rest /= left;
                // On this thread and on another.
                if left % 2 == 0 {
                    drop(part);
                } else {
                    std::thread::spawn(move || drop(part)).join().unwrap();
                }
            }
        }
        device.synchronize().unwrap();
    });
}

#[test]
fn threads_share_a_device() {
    on_each_launching("threads_share_a_device", |device| {
        std::thread::scope(|scope| {
            for seed in 0..8_u32 {
                scope.spawn(move || {
                    let stream = device.stream().unwrap();
                    for round in 0..10 {
                        let len = 100 + 10 * seed as usize + round;
                        let mut buffer = device.upload(&vec![seed; len]).unwrap();
                        fill_index(&stream, buffer.slice_mut(1..), 64).unwrap();
                        let content = buffer.to_vec().unwrap();
                        assert_eq!(content[0], seed);
                        assert!(content[1..].iter().copied().eq(0..len as u32 - 1));
                    }
                });
            }
        });
    });
}

#[test]
fn what_the_compiler_bounded_is_refused_in_time() {
    on_cuda("what_the_compiler_bounded_is_refused_in_time", |device| {
        let mut buffer = device.zeroed::<u32>(1).unwrap();
        let stream = device.stream().unwrap();
        match fill_index_with(&stream, &BOUNDED, buffer.view_mut(), LaunchConfig::linear(1, 65)) {
            Err(Error::LaunchLimit { asked: 65, limit: 64, what, .. }) => assert!(what.contains("compiled")),
            other => panic!("{other:?}"),
        }
        fill_index_with(&stream, &BOUNDED, buffer.view_mut(), LaunchConfig::linear(1, 64)).unwrap();
        let resources = device.kernel_resources(&BOUNDED).unwrap();
        assert_eq!((resources.max_threads, resources.static_shared, resources.local), (64, 0, 0));
        let occupancy = device.occupancy(&BOUNDED, &LaunchConfig::linear(1, 64)).unwrap();
        assert!(occupancy.blocks > 0 && occupancy.fraction() > 0.2, "{occupancy:?}");
    });
}

#[test]
fn kernels_that_do_not_load_say_why() {
    const fn fill_index(images: &'static [Image], parameters: &'static [usize]) -> KernelMeta {
        KernelMeta { images, parameters, ..FILL_INDEX }
    }
    const fn image(ptx: &'static str) -> Image {
        Image { arch: 75, exact: false, ptx }
    }
    static NONSENSE: KernelMeta = fill_index(
        &[image(
            ".version 7.4\n.target sm_75\n.address_size 64\n.visible .entry fill_index()\n{\nnonsense;\n}\n",
        )],
        &[],
    );
    static FUTURE: KernelMeta = fill_index(&[image(".version 99.0\n")], &[8, 4]);
    static NOWHERE: KernelMeta =
        fill_index(&[Image { arch: 61, exact: true, ptx: ".version 6.0\n" }], &[8, 4]);
    static CUT_OFF: KernelMeta = fill_index(
        &[image(".version 7.4\n.visible .entry fill_index(.param .u64 a, .param .u32 b)\n{\n")],
        &[8, 4],
    );
    static OLDER: KernelMeta =
        fill_index(&[image(".version 7.4\n.visible .entry fill_index(.param .u64 a)\n{\n}\n")], &[8, 4]);
    on_cuda("kernels_that_do_not_load_say_why", |device| {
        let mut buffer = device.upload(&[7_u32]).unwrap();
        let stream = device.stream().unwrap();
        let mut launch = |kernel| {
            fill_index_with(&stream, kernel, buffer.view_mut(), LaunchConfig::linear(1, 1)).unwrap_err()
        };
        match launch(&NONSENSE) {
            Error::Cuda(failure) => {
                assert_eq!((failure.name.as_str(), failure.sticky), ("CUDA_ERROR_INVALID_PTX", false));
                let log = failure.log.expect("the compiler wrote something");
                assert!(log.contains("fill_index") && log.contains("nonsense"), "{log}");
            }
            other => panic!("{other:?}"),
        }
        match launch(&FUTURE) {
            Error::DriverTooOld { kernel, needs_isa: 990, needs_driver, driver } => {
                assert_eq!(kernel, "fill_index");
                assert!(needs_driver > driver);
            }
            other => panic!("{other:?}"),
        }
        match launch(&NOWHERE) {
            Error::NoKernelImage { kernel, have, .. } => {
                assert_eq!((kernel.as_str(), have.as_str()), ("fill_index", "sm_61a"))
            }
            other => panic!("{other:?}"),
        }
        for (kernel, expected) in
            [(&MISSING, "has no entry"), (&CUT_OFF, "is cut off"), (&OLDER, "takes parameters of [8] bytes")]
        {
            match launch(kernel) {
                Error::BadImage { target, why, .. } => {
                    assert!(target == "sm_75" && why.contains(expected), "{why}");
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(buffer.to_vec().unwrap(), [7]);
    });
}
