//! Transfers of parts of the host's memory and of buffers, within a scope.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{fill_index, on_each, on_each_launching};
use gpu_core::{Device, Error, Result};

/// Parts as (first on the host, first on the device, elements).
const PARTS: [(usize, usize, usize); 6] =
    [(0, 0, 0), (0, 0, 1), (3, 50, 17), (99, 0, 901), (1000, 1000, 0), (1, 2, 998)];

#[test]
fn parts_go_up_and_come_down() {
    on_each("parts_go_up_and_come_down", |device| {
        let streams = [device.stream().unwrap(), device.default_stream()];
        for (stream, pinned) in streams.iter().flat_map(|stream| [(stream, true), (stream, false)]) {
            for (host, at, len) in PARTS {
                let mut on_host = device.pinned::<u32>(1000).unwrap();
                let mut pageable = vec![0; 1000];
                let memory: &mut [u32] = if pinned { &mut on_host } else { &mut pageable };
                memory.iter_mut().zip(10..).for_each(|(to, number)| *to = number);
                let mut buffer = device.upload(&[1_u32; 1000]).unwrap();
                let source = &memory[host..host + len];
                stream
                    .transfers(|transfers| transfers.upload(source, buffer.slice_mut(at..at + len)))
                    .unwrap();
                let mut expected = vec![1; 1000];
                expected[at..at + len].copy_from_slice(source);
                assert_eq!(buffer.to_vec().unwrap(), expected, "{len} from {host} to {at}");

                let target = &mut memory[host..host + len];
                target.fill(0);
                stream.transfers(|transfers| transfers.download(buffer.slice(at..at + len), target)).unwrap();
                assert!(
                    memory.iter().zip(10..).all(|(&value, number)| value == number),
                    "{len} from {at} to {host}"
                );
            }
        }
    });
}

/// A pipeline of two halves: each is uploaded, worked on and downloaded, in the order of the calls.
#[test]
fn work_comes_between_transfers() {
    on_each_launching("work_comes_between_transfers", |device| {
        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let mut pinned = device.pinned::<u32>(200).unwrap();
        pinned.fill(7);
        let mut buffer = device.alloc::<u32>(100).unwrap();
        let (source, results) = pinned.split_at_mut(100);
        let (first, second) = results.split_at_mut(50);
        let count = stream
            .transfers(|transfers| {
                transfers.upload(source, &mut buffer)?;
                fill_index(&stream, buffer.slice_mut(..50), 32)?;
                transfers.download(buffer.slice(..50), first)?;
                // Another stream waits for the transfers that use the buffer, and the next transfer for it.
                other.memset(buffer.slice_mut(60..), 0)?;
                transfers.download(buffer.slice(50..), second)?;
                Ok(transfers.stream().device() == device)
            })
            .unwrap();
        assert!(count, "what the closure gives comes back");
        let expected = (0..100).map(|at| if at < 50 { at } else { 7 * u32::from(at < 60) });
        assert_eq!(pinned[100..], expected.collect::<Vec<_>>());
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    on_each("what_does_not_fit_is_refused", |device| {
        let stream = device.stream().unwrap();
        let mut foreign = Device::simulator().upload(&[1_u32, 2]).unwrap();
        let mut own = device.upload(&[3_u32, 4]).unwrap();
        let (source, mut target) = ([8_u32, 9, 10], [5_u32; 2]);
        let refused = stream.transfers(|transfers| {
            let error = transfers.upload(&source, &mut own).unwrap_err();
            assert!(matches!(error, Error::LengthMismatch { expected: 2, actual: 3, .. }), "{error:?}");
            let error = transfers.upload(&source[..0], &mut own).unwrap_err();
            assert!(matches!(error, Error::LengthMismatch { expected: 2, actual: 0, .. }), "{error:?}");
            let error = transfers.upload(&source[..2], &mut foreign).unwrap_err();
            assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
            transfers.download(&foreign, &mut target)
        });
        assert!(
            matches!(refused, Err(Error::WrongDevice { .. })),
            "the closure's error comes out: {refused:?}"
        );
        let refused = stream.transfers(|transfers| transfers.download(own.slice(1..), &mut target));
        assert!(matches!(refused, Err(Error::LengthMismatch { expected: 1, actual: 2, .. })), "{refused:?}");
        assert_eq!(
            (own.to_vec().unwrap(), foreign.to_vec().unwrap(), target),
            (vec![3, 4], vec![1, 2], [5, 5])
        );
    });
}

#[test]
fn transfers_cannot_be_captured() {
    on_each_launching("transfers_cannot_be_captured", |device| {
        let stream = device.stream().unwrap();
        for up in [false, true] {
            let mut target = [1_u8; 4];
            let captured = stream.capture(device.upload(&[2_u8; 4]).unwrap(), |stream, memory| {
                let refused = stream.transfers(|transfers| {
                    if up {
                        transfers.upload(&[3; 4], &mut *memory)
                    } else {
                        transfers.download(&*memory, &mut target)
                    }
                });
                assert!(matches!(refused, Err(Error::NotCapturable { .. })), "{refused:?}");
                Ok(())
            });
            let what = "a transfer of the host's memory";
            assert!(matches!(captured, Err(Error::NotCapturable { what: found }) if found == what));
            assert_eq!(target, [1; 4]);
        }
    });
}

/// The host's memory is free when a panic has left the scope, and not before.
#[test]
fn a_panic_waits() {
    on_each("a_panic_waits", |device| {
        let stream = device.stream().unwrap();
        let (mut results, mut buffer) = (vec![0_u32; 1 << 20], device.alloc::<u32>(1 << 20).unwrap());
        let left = catch_unwind(AssertUnwindSafe(|| {
            stream.transfers(|transfers| -> Result<()> {
                stream.memset(&mut buffer, 1)?;
                transfers.download(&buffer, &mut results)?;
                panic!("of the caller")
            })
        }));
        assert!(left.is_err());
        assert!(stream.is_done().unwrap());
        assert_eq!(results, vec![0x0101_0101; 1 << 20]);
    });
}

#[test]
fn unwritten_bytes_do_not_come_down() {
    let device = Device::simulator();
    let (buffer, mut target) = (device.alloc::<u32>(4).unwrap(), [5_u32; 4]);
    let stream = device.stream().unwrap();
    let error = stream.transfers(|transfers| transfers.download(&buffer, &mut target)).unwrap_err();
    assert!(matches!(&error, Error::Simulator(_)), "{error}");
    assert_eq!(target, [5; 4]);
}
