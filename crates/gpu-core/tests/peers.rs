//! Copies between devices: two simulators, and two GPUs where there are as many.

mod common;
// As cuda-shim makes its own.
#[cfg(feature = "cuda")]
#[path = "../../cuda-shim/tests/fake/mod.rs"]
mod fake;

use common::{fill_index, on_each_pair};
use gpu_core::{Buffer, Device, Error, Result, Stream};
use gpu_sim::FaultKind;

#[test]
fn views_are_sent_and_fetched() {
    on_each_pair("views_are_sent_and_fetched", |near, far| {
        let data: Vec<u16> = (0..1000).map(|number| number * 7).collect();
        let source = near.upload(&data).unwrap();
        let streams = [near.stream(), far.stream(), Ok(near.default_stream()), Ok(far.default_stream())];
        for stream in streams.map(Result::unwrap) {
            for (from, to, len) in [(0, 0, 1000), (1, 0, 999), (3, 500, 1), (500, 13, 487), (999, 999, 1)] {
                let mut target = far.upload(&[1_u16; 1000]).unwrap();
                stream.copy_peer(target.slice_mut(to..to + len), source.slice(from..from + len)).unwrap();
                let mut expected = vec![1; 1000];
                expected[to..to + len].copy_from_slice(&data[from..from + len]);
                assert_eq!(target.to_vec().unwrap(), expected, "{len} from {from} to {to}");
                // And back.
                let mut back = near.upload(&[2_u16; 1000]).unwrap();
                stream.copy_peer(back.slice_mut(from..from + len), target.slice(to..to + len)).unwrap();
                assert_eq!(back.slice(from..from + len).to_vec().unwrap(), data[from..from + len]);
                assert!(back.slice(..from).to_vec().unwrap().iter().all(|&value| value == 2));
                assert!(back.slice(from + len..).to_vec().unwrap().iter().all(|&value| value == 2));
            }
        }
        // More than a page, and than the host's staging memory is likely to be.
        let large: Vec<f64> = (0..3_000_001).map(f64::from).collect();
        let (source, mut target) = (near.upload(&large).unwrap(), far.alloc(large.len()).unwrap());
        far.stream().unwrap().copy_peer(&mut target, &source).unwrap();
        assert!(target.to_vec().unwrap() == large);
    });
}

#[test]
fn what_is_not_possible_is_refused() {
    on_each_pair("what_is_not_possible_is_refused", |near, far| {
        let stream = near.stream().unwrap();
        let source = near.upload(&[1_u32, 2, 3]).unwrap();
        let mut target = far.upload(&[9_u32; 3]).unwrap();
        let error = stream.copy_peer(target.slice_mut(..2), &source).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { expected: 2, actual: 3, .. }), "{error:?}");
        // Nothing, from anywhere to anywhere.
        stream.copy_peer(target.slice_mut(3..), source.slice(..0)).unwrap();
        stream.copy_peer(&mut far.alloc::<u32>(0).unwrap(), &near.alloc::<u32>(0).unwrap()).unwrap();
        let error = stream.copy_peer(target.slice_mut(3..), source.slice(..1)).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { expected: 0, actual: 1, .. }), "{error:?}");
        // A stream that has nothing to do with it.
        for other in [Device::simulator(), Device::cpu()] {
            let error = other.stream().unwrap().copy_peer(&mut target, &source).unwrap_err();
            assert!(
                matches!(&error, Error::WrongDevice { what, .. } if what.starts_with("stream")),
                "{error:?}"
            );
        }
        // Devices of other kinds.
        let mut host = [7_u32; 3];
        let error = stream.copy_peer(&mut host, &source).unwrap_err();
        assert!(matches!(&error, Error::NotPeers { .. }), "{error:?}");
        let error = stream.copy_peer(&mut target, &host).unwrap_err();
        assert!(matches!(&error, Error::NotPeers { from, .. } if from.starts_with("CPU")), "{error:?}");
        assert_eq!((target.to_vec().unwrap(), host), (vec![9; 3], [7; 3]));
        // One device: a copy, whose stream must be there.
        let mut same = near.alloc(2).unwrap();
        stream.copy_peer(&mut same, source.slice(1..)).unwrap();
        assert_eq!(same.to_vec().unwrap(), [2, 3]);
        let error = far.stream().unwrap().copy_peer(&mut same, source.slice(1..)).unwrap_err();
        assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
        // By another stream than the one that is captured, of either device.
        for of in [near, far] {
            let captured = of.stream().unwrap().capture((), |_, ()| {
                let refused = stream.copy_peer(&mut target, &source);
                assert!(matches!(refused, Err(Error::NotCapturable { .. })));
                Ok(())
            });
            let what = "work on another stream";
            assert!(matches!(captured, Err(Error::NotCapturable { what: found }) if found == what));
        }
        assert_eq!(target.to_vec().unwrap(), [9; 3]);
        // Within one device it is a copy, and captured as one.
        let mut graph = stream
            .capture((source, same), |stream, (source, same)| {
                stream.copy_peer(same.view_mut(), source.slice(..2))
            })
            .unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(graph.resources().1.to_vec().unwrap(), [1, 2]);
    });
}

#[test]
fn the_cpu_is_one_device() {
    let cpu = Device::cpu();
    let mut target = cpu.zeroed::<u8>(4).unwrap();
    cpu.stream().unwrap().copy_peer(target.slice_mut(1..3), &[5, 6]).unwrap();
    assert_eq!(target.to_vec().unwrap(), [0, 5, 6, 0]);
    // Two handles to it are the same device.
    Device::cpu().default_stream().copy_peer(target.slice_mut(..1), &[4]).unwrap();
    assert_eq!(target.to_vec().unwrap(), [4, 5, 6, 0]);
    let elsewhere = Device::simulator().upload(&[1_u8; 4]).unwrap();
    let error = cpu.stream().unwrap().copy_peer(&mut target, &elsewhere).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "no stream copies from simulator to {cpu}: devices of different kinds exchange data through the host"
        )
    );
}

/// A generator for programs: xorshift.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// What buffers of two devices hold if all work is done in the order of the calls; in the simulator anything else is a
/// race.
#[test]
fn safe_programs_of_two_devices_have_no_race() {
    const LEN: usize = 96;
    on_each_pair("safe_programs_of_two_devices_have_no_race", |near, far| {
        for seed in 1..=100 {
            let mut draw = Draw(seed << 20 | 0x5EED);
            let devices = [near, far];
            let mut buffers: Vec<Buffer<u32>> =
                (0..6).map(|number| devices[number % 2].upload(&[number as u32; LEN]).unwrap()).collect();
            let mut expected: Vec<Vec<u32>> = (0..6).map(|number| vec![number; LEN]).collect();
            let mut streams: Vec<Stream> =
                (0..6).map(|number| devices[number % 2].stream().unwrap()).collect();
            for step in 0..40 {
                let number = draw.below(6);
                // Some stream of the buffer's device.
                let at = number % 2 + 2 * draw.below(3);
                let stream =
                    if draw.below(6) == 0 { devices[at % 2].default_stream() } else { streams[at].clone() };
                let done = match draw.below(10) {
                    0 => {
                        expected[number].fill(u32::from_ne_bytes([step; 4]));
                        stream.memset(&mut buffers[number], step)
                    }
                    1 | 2 => {
                        expected[number].iter_mut().zip(0..).for_each(|(to, index)| *to = index);
                        fill_index(&stream, buffers[number].view_mut(), 32)
                    }
                    3 => {
                        streams[at] = devices[at % 2].stream().unwrap();
                        Ok(())
                    }
                    4 => {
                        assert_eq!(buffers[number].to_vec().unwrap(), expected[number], "seed {seed}");
                        Ok(())
                    }
                    5 => {
                        let fresh = devices[number % 2].upload(&[77; LEN]);
                        expected[number].fill(77);
                        fresh.map(|fresh| buffers[number] = fresh)
                    }
                    _ => {
                        let from = (number + 1 + draw.below(5)) % 6;
                        let (to_start, from_start) = (draw.below(LEN / 2), draw.below(LEN / 2));
                        let piece = expected[from][from_start..from_start + LEN / 2].to_vec();
                        expected[number][to_start..to_start + LEN / 2].copy_from_slice(&piece);
                        let [target, source] = buffers.get_disjoint_mut([number, from]).unwrap();
                        // Sent or fetched.
                        let stream = if draw.below(2) == 0 { stream } else { streams[from].clone() };
                        let stream = if number % 2 == from % 2 { streams[number].clone() } else { stream };
                        stream.copy_peer(
                            target.slice_mut(to_start..to_start + LEN / 2),
                            source.slice(from_start..from_start + LEN / 2),
                        )
                    }
                };
                done.unwrap_or_else(|error| panic!("seed {seed}, step {step}: {error}"));
            }
            for (buffer, expected) in buffers.iter().zip(&expected) {
                assert_eq!(&buffer.to_vec().unwrap(), expected, "seed {seed}");
            }
        }
    });
}

/// A race with work of that name.
#[track_caller]
fn races(result: Result<()>, with: &str) {
    match result {
        Err(Error::Simulator(fault)) if matches!(fault.kind, FaultKind::Race { .. }) => {
            let text = fault.to_string();
            // Both places are named.
            assert!(text.contains(with) && text.matches("peers.rs").count() == 2, "{text}");
        }
        other => panic!("{other:?}"),
    }
}

/// Where the program orders by itself, a missing wait is found, on either side, and one that is there is seen.
#[test]
fn the_simulator_finds_a_missing_wait() {
    let (near, far) = (Device::simulator(), Device::simulator());
    // SAFETY: what is not ordered is found, and runs at once in the simulator.
    let free = |device: &Device| unsafe { device.stream().unwrap().unordered() };
    for fetches in [false, true] {
        let copied = || {
            let copier = free(if fetches { &far } else { &near });
            let source = near.upload(&[1_u32; 4]).unwrap();
            let mut target = far.zeroed::<u32>(4).unwrap();
            copier.copy_peer(&mut target, &source).unwrap();
            (copier, source, target)
        };
        // The target is written, the source read.
        let (_copier, _source, mut target) = copied();
        races(free(&far).memset(&mut target, 0), "copy of 16 bytes from another device");
        let (_copier, mut source, _target) = copied();
        races(free(&near).memset(&mut source, 0), "copy of 16 bytes to another device");
        // A copy that comes too early.
        let copier = free(if fetches { &far } else { &near });
        let mut source = near.upload(&[1_u32; 4]).unwrap();
        let mut target = far.zeroed::<u32>(4).unwrap();
        free(&near).memset(&mut source, 3).unwrap();
        races(copier.copy_peer(&mut target, &source), "fill of 16 bytes");
        let source = near.upload(&[1_u32; 4]).unwrap();
        free(&far).memset(&mut target, 3).unwrap();
        races(copier.copy_peer(&mut target, &source), "fill of 16 bytes");

        // The host has waited: for the stream, an event in it, or its device.
        for way in 0..4 {
            let (copier, mut source, mut target) = copied();
            match way {
                0 => copier.synchronize().unwrap(),
                1 => copier.record().unwrap().synchronize().unwrap(),
                2 => assert!(copier.is_done().unwrap()),
                _ => {
                    // Also where the stream is no more.
                    let device = copier.device().clone();
                    drop(copier);
                    device.synchronize().unwrap();
                }
            }
            free(&near).memset(&mut source, 0).unwrap();
            free(&far).memset(&mut target, 0).unwrap();
        }
        // A stream of the copier's device has waited, and copies on.
        let (copier, source, mut target) = copied();
        let next = free(copier.device());
        next.wait(&copier.record().unwrap()).unwrap();
        next.copy_peer(&mut target, &source).unwrap();
        races(free(&near).copy_peer(&mut target, &source), "copy of 16 bytes from another device");
    }
}

#[test]
fn unwritten_bytes_stay_unwritten() {
    let (near, far) = (Device::simulator(), Device::simulator());
    let mut source = near.alloc::<u32>(4).unwrap();
    source.slice_mut(1..3).copy_from(&[5, 6]).unwrap();
    let mut target = far.zeroed::<u32>(4).unwrap();
    near.stream().unwrap().copy_peer(&mut target, &source).unwrap();
    assert_eq!(target.slice(1..3).to_vec().unwrap(), [5, 6]);
    let error = target.to_vec().unwrap_err();
    assert!(
        matches!(&error, Error::Simulator(fault) if matches!(fault.kind, FaultKind::Unwritten { .. })),
        "{error}"
    );
}

/// Streams, buffers and devices go in any order.
#[test]
fn what_was_copied_outlives_the_rest() {
    on_each_pair("what_was_copied_outlives_the_rest", |near, far| {
        for fetches in [false, true] {
            let stream = (if fetches { far } else { near }).stream().unwrap();
            let (source, mut target) = (near.upload(&[3_u8; 5000]).unwrap(), far.alloc(5000).unwrap());
            stream.copy_peer(&mut target, &source).unwrap();
            drop((source, stream));
            assert_eq!(target.to_vec().unwrap(), [3; 5000]);
        }
    });
    let (near, far) = (Device::simulator(), Device::simulator());
    let (to, fro) = (near.stream().unwrap(), far.stream().unwrap());
    let mut a = near.upload(&[1_u8; 8]).unwrap();
    let mut b = far.alloc::<u8>(8).unwrap();
    to.copy_peer(&mut b, &a).unwrap();
    fro.copy_peer(&mut a, &b).unwrap();
    drop((near, b, far));
    assert_eq!(a.to_vec().unwrap(), [1; 8]);
    drop(to);
    fro.synchronize().unwrap();
}

/// Two threads copy in both directions.
#[test]
fn threads_do_not_wait_for_each_other() {
    on_each_pair("threads_do_not_wait_for_each_other", |near, far| {
        std::thread::scope(|scope| {
            for (from, to) in [(near, far), (far, near)] {
                scope.spawn(move || {
                    let stream = from.stream().unwrap();
                    let (source, mut target) = (from.upload(&[1_u8; 64]).unwrap(), to.alloc(64).unwrap());
                    for _ in 0..300 {
                        stream.copy_peer(&mut target, &source).unwrap();
                    }
                    assert_eq!(target.to_vec().unwrap(), [1; 64]);
                });
            }
        });
    });
}

#[cfg(all(feature = "cuda", target_os = "linux", target_pointer_width = "64"))]
#[test]
fn events_are_recorded_where_they_are_needed() {
    for scenario in ["near", "far", "default", "dropped", "unordered"] {
        fake::run_with("peers", "counts_events_of_peers", scenario);
    }
}

#[test]
#[ignore = "needs the driver that the test above makes"]
fn counts_events_of_peers() {
    let [near, far, other] = [0, 1, 2].map(|number| Device::cuda(number).unwrap());
    let mut before = (0, 0);
    let mut count = |records: u64, waits: u64, what: &str| {
        let now = near.memory_info().unwrap();
        assert_eq!((now.0 - before.0, now.1 - before.1), (records, waits), "events and waits: {what}");
        before = now;
    };
    let total = || near.properties().unwrap().total_memory;
    let (a, b) = (near.stream().unwrap(), far.stream().unwrap());
    let mut x = near.upload(&[1_u32; 64]).unwrap();
    let mut y = far.upload(&[2_u32; 64]).unwrap();
    match std::env::var("FAKE_DRIVER").unwrap().as_str() {
        "near" => {
            a.memset(&mut x, 1).unwrap();
            b.memset(&mut y, 1).unwrap();
            count(0, 0, "each device has one stream");
            a.copy_peer(y.slice_mut(1..), x.slice(..63)).unwrap();
            assert_eq!(total(), 1_002_002, "each context and each pool, and one copy");
            // The default stream of the target's device is not ordered with the copier, so its work is waited for too.
            count(2, 2, "the stream there has used the target, as has the default stream");
            a.copy_peer(y.slice_mut(..3), x.slice(..3)).unwrap();
            assert_eq!(total(), 2_002_002, "once");
            count(0, 0, "nothing in between");
            b.memset(&mut y, 2).unwrap();
            count(1, 1, "the copy");
            b.memset(&mut y, 3).unwrap();
            count(0, 0, "once");
            a.memset(&mut x, 1).unwrap();
            count(0, 0, "its own work");
            // Fetched: what the target's device has read is now what waits.
            b.copy_peer(&mut x, &y).unwrap();
            count(2, 2, "the copier of before and the default stream there");
            a.memset(&mut x, 1).unwrap();
            count(1, 1, "what was fetched");
            a.copy_peer(&mut y, &x).unwrap();
            count(1, 1, "what was waited for on one device is not known on the other");
        }
        "far" => {
            a.copy_peer(&mut y, &x).unwrap();
            let mut z = other.upload(&[2_u32; 64]).unwrap();
            a.copy_peer(&mut z, &x).unwrap();
            assert_eq!(total(), 2_000_000, "through the host");
        }
        "default" => {
            near.default_stream().copy_peer(&mut y, &x).unwrap();
            count(1, 1, "the default stream there");
            far.default_stream().memset(&mut y, 1).unwrap();
            count(1, 1, "the copy");
            x.copy_from(&[3; 64]).unwrap();
            y.copy_from(&[3; 64]).unwrap();
            count(0, 0, "each on its own device");
        }
        "dropped" => {
            a.copy_peer(&mut y, &x).unwrap();
            count(1, 1, "the default stream there");
            drop(a);
            // Of its own device's order it is the only stream, which is noted there when it goes.
            let now = near.memory_info().unwrap();
            assert!(now.0 - before.0 >= 1, "its end is marked for those on the other device");
            let waits = now.1;
            b.memset(&mut y, 1).unwrap();
            assert_eq!(near.memory_info().unwrap().1, waits + 1, "and waited for");
            drop((x, y));
        }
        "unordered" => {
            // SAFETY: nothing runs here.
            let free = unsafe { a.unordered() };
            free.copy_peer(&mut y, &x).unwrap();
            assert_eq!(total(), 1_002_002);
            count(0, 0, "the caller orders");
        }
        name => panic!("no scenario {name}"),
    }
}
