//! Scratch memory on the CPU and in the simulator.

use super::*;
use crate::Device;

fn devices() -> impl Iterator<Item = Device> {
    [Device::cpu(), Device::simulator()].into_iter()
}

/// The kept words of a call that writes `value` to all of them.
fn call(scratch: &mut Scratch, size: ScratchSize, value: u8) -> (Vec<u64>, Vec<u64>) {
    let mut address = 0;
    scratch
        .lend("test", size, |parts| {
            address = parts.tickets.address();
            Ok(())
        })
        .unwrap();
    let first = scratch.memory.view().as_global().address();
    assert_eq!(address, first);
    let kept = scratch.size.kept_bytes() / WORD;
    let mut words = vec![0u64; 2 * kept];
    let view = scratch.memory.slice(..kept);
    view.cast::<u64>().copy_to(&mut words).unwrap();
    let zeros = words.split_off(scratch.size.ticket_bytes() / 8);
    let stream = scratch.stream.clone();
    stream.memset(scratch.memory.slice_mut(..kept), value).unwrap();
    words.truncate(scratch.size.tickets);
    (words, zeros[..scratch.size.zeros].to_vec())
}

#[test]
fn it_grows_to_what_every_call_needs_and_no_further() {
    for device in devices() {
        let mut scratch = Scratch::new(&device.stream().unwrap());
        let (small, large) = (ScratchSize::new().array::<u8>(3), ScratchSize::new().array::<u64>(999));
        for (size, bytes) in [(small, 256), (large, 8192), (small, 8192), (large.zeros(1), 8448)] {
            scratch.lend("test", size, |_| Ok(())).unwrap();
            assert_eq!(scratch.bytes(), bytes, "{device}");
        }
    }
}

#[test]
fn arrays_lie_one_behind_the_other() {
    for device in devices() {
        let mut scratch = Scratch::new(&device.stream().unwrap());
        let size = ScratchSize::new().tickets(3).zeros(40).array::<u8>(5).array::<f64>(33).array::<u128>(0);
        scratch
            .lend("test", size, |mut parts| {
                let base = parts.tickets.address();
                let (mut bytes, mut numbers, none) =
                    (parts.array::<u8>(5), parts.array::<f64>(33), parts.array::<u128>(0));
                assert_eq!((bytes.len(), numbers.len(), none.len()), (5, 33, 0));
                let places = [parts.zeros.address(), bytes.as_global_mut().address()];
                assert_eq!(places.map(|place| place - base), [256, 256 + 512]);
                assert_eq!(numbers.as_global_mut().address() - base, 256 + 512 + 256);
                Ok(())
            })
            .unwrap();
        assert_eq!(scratch.bytes(), 256 + 512 + 256 + 512);
    }
}

#[test]
#[should_panic(expected = "the range")]
fn no_array_that_was_not_asked_for() {
    let stream = Device::cpu().default_stream();
    let size = ScratchSize::new().array::<u8>(256);
    let _ = Scratch::new(&stream).lend("test", size, |mut parts| {
        parts.array::<u8>(1);
        parts.array::<u8>(1);
        Ok(())
    });
}

#[test]
fn what_has_to_be_zero_is_cleared_once_and_behind_a_failure() {
    for device in devices() {
        let mut scratch = Scratch::new(&device.stream().unwrap());
        let size = ScratchSize::new().tickets(4).zeros(3);
        assert_eq!(call(&mut scratch, size, 0), (vec![0; 4], vec![0; 3]));
        // Nothing is cleared: tickets are as the launch left them, and a launch that leaves zeros is trusted.
        call(&mut scratch, size, 1);
        let ones = u64::from_ne_bytes([1; 8]);
        assert_eq!(call(&mut scratch, size, 1), (vec![ones; 4], vec![ones; 3]));
        let failed: Result<()> = scratch
            .lend("test", ScratchSize::new().zeros(3), |_| Err(Error::Empty { what: "launch that fails" }));
        assert!(failed.is_err());
        assert_eq!(call(&mut scratch, size, 2), (vec![ones; 4], vec![0; 3]), "{device}");
        let _: Result<()> = scratch.lend("test", size, |_| Err(Error::Empty { what: "other" }));
        assert_eq!(call(&mut scratch, size, 3), (vec![0; 4], vec![0; 3]), "{device}");
        // More of one part: all of it is new.
        assert_eq!(call(&mut scratch, size.zeros(1000), 4), (vec![0; 4], vec![0; 1000]), "{device}");
    }
}

#[test]
fn tickets_are_cleared_for_a_kernel_that_would_leave_some() {
    let mut scratch = Scratch::new(&Device::simulator().default_stream());
    let fours = u64::from_ne_bytes([4; 8]);
    let own = |words| ScratchSize::new().own_tickets(words);
    assert_eq!(call(&mut scratch, own(100), 4).0, [0; 100]);
    assert_eq!(call(&mut scratch, own(100), 4).0, [fours; 100]);
    // Fewer of them: once.
    assert_eq!(call(&mut scratch, own(50), 4).0, [0; 100]);
    assert_eq!(call(&mut scratch, own(50), 4).0, [fours; 100]);
    assert_eq!(call(&mut scratch, own(70), 4).0, [fours; 100]);
    assert_eq!(call(&mut scratch, own(50), 4).0, [0; 100]);
    // All that there are, whatever the kernel uses of them.
    assert_eq!(call(&mut scratch, ScratchSize::new().tickets(1), 4).0, [fours; 100]);
    assert_eq!(call(&mut scratch, own(99), 4).0, [0; 100]);
}

#[test]
fn memory_that_is_brought_does_not_grow_but_is_divided_anew() {
    for device in devices() {
        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let (zeros, array) = (ScratchSize::new().zeros(32), ScratchSize::new().array::<u32>(65));
        let mut scratch = Scratch::from_buffer(&stream, device.alloc(array.words()).unwrap()).unwrap();
        assert_eq!(call(&mut scratch, zeros, 1).1, [0; 32]);
        scratch.lend("test", array, |mut parts| Ok(parts.array::<u32>(65).len())).unwrap();
        assert_eq!(call(&mut scratch, zeros, 1).1, [0; 32]);
        let both = zeros.max(array);
        let expected = |error: &Error| {
            matches!(error, Error::ScratchTooSmall { what: "test", expected: 768, actual: 512 })
        };
        let error = scratch.expect(&stream, "test", both).unwrap_err();
        assert!(expected(&error), "{error}");
        let error = scratch.lend("test", both, |_| Ok(())).unwrap_err();
        assert!(expected(&error), "{error}");
        let error = scratch.expect(&other, "test", zeros).unwrap_err();
        assert!(matches!(error, Error::ScratchOfOtherStream { what: "test" }), "{error}");
    }
    let elsewhere = Device::simulator().alloc(16).unwrap();
    let error = Scratch::from_buffer(&Device::cpu().default_stream(), elsewhere).unwrap_err();
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
}

#[test]
fn more_than_there_is_is_an_error() {
    let stream = Device::cpu().default_stream();
    let size = ScratchSize::new().array::<u64>(usize::MAX).array::<u64>(usize::MAX).zeros(usize::MAX);
    assert!(matches!(Scratch::with_size(&stream, size), Err(Error::OutOfMemory { .. })));
}
