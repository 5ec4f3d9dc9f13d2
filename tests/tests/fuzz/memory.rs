//! Memory itself: buffers and views of a device, and the simulator's calls for its host.

use gpu_core::{Buffer, Device};
use gpu_sim::Simulator;
use gpu_tests::data::random;
use proptest::prelude::*;

use super::{fuzz, place};

/// A range of something of this length: inside, over its end, or turned round.
fn range(seed: u64, len: usize) -> (usize, usize) {
    let [first, second] = [0, 1].map(|at| random(seed, at) as usize % (len + 2));
    match random(seed, 2) % 12 {
        0 => (first, second),
        1 => (first, usize::MAX),
        _ => (first.min(second).min(len), first.max(second).min(len)),
    }
}

#[test]
fn buffers() {
    let lens = prop::array::uniform3(prop_oneof![Just(0usize), 1usize..40, 40usize..3000]);
    let steps = prop::collection::vec((0usize..6, 0usize..3, 0usize..3, any::<u64>()), 1..40);
    fuzz("buffers", (place(), lens, steps), |(place, lens, steps)| {
        let device = place.device();
        let streams: Vec<_> = (0..2).map(|_| device.stream().expect("a stream")).collect();
        let mut expected: Vec<Vec<u16>> =
            lens.iter().map(|&len| place.values(len, |bits| bits as u16)).collect();
        let mut buffers: Vec<Buffer<u16>> =
            expected.iter().map(|values| device.upload(values).expect("memory")).collect();
        for &(what, number, other, seed) in steps {
            let (len, stream) = (expected[number].len(), &streams[seed as usize % 2]);
            let (start, end) = range(seed, len);
            let fits = start <= end && end <= len;
            match what {
                0 => {
                    let view = buffers[number].try_slice(start..end);
                    assert_eq!(view.is_ok(), fits, "{start}..{end} of {len}");
                    if let Ok(view) = view {
                        assert_eq!(view.to_vec().expect("its values"), expected[number][start..end]);
                    }
                }
                1 => {
                    let target = buffers[number].try_slice_mut(start..end);
                    assert_eq!(target.is_ok(), fits, "{start}..{end} of {len}");
                    if let Ok(target) = target {
                        stream.memset(target, seed as u8).expect("no fault");
                        expected[number][start..end].fill(u16::from_ne_bytes([seed as u8; 2]));
                    }
                }
                2 if other != number && fits => {
                    let (begin, stop) = range(!seed, expected[other].len());
                    let [target, source] = buffers.get_disjoint_mut([number, other]).expect("two");
                    let Ok(source) = source.try_slice(begin..stop) else { continue };
                    let result = stream.copy(target.slice_mut(start..end), source);
                    assert_eq!(result.is_ok(), end - start == stop - begin, "{result:?}");
                    if result.is_ok() {
                        let from = expected[other][begin..stop].to_vec();
                        expected[number][start..end].copy_from_slice(&from);
                    }
                }
                3 => {
                    let values: Vec<u16> = (0..end.min(4000)).map(|at| random(seed, at) as u16).collect();
                    let result = buffers[number].copy_from(&values);
                    assert_eq!(result.is_ok(), values.len() == len, "{result:?}");
                    if result.is_ok() {
                        expected[number] = values;
                    }
                }
                4 => {
                    let mut values = vec![0; end.min(4000)];
                    let result = buffers[number].copy_to(&mut values);
                    assert_eq!(result.is_ok(), values.len() == len, "{result:?}");
                    assert!(result.is_err() || values == expected[number]);
                }
                // Freed while streams may still be at work.
                _ => {
                    let len = start.min(3000);
                    buffers[number] = device.zeroed(len).expect("memory");
                    expected[number] = vec![0; len];
                }
            }
        }
        for (buffer, expected) in buffers.iter().zip(&expected) {
            assert_eq!(&buffer.to_vec().expect("its values"), expected);
        }
        assert!(device.alloc::<u16>(usize::MAX).is_err());
        assert!(device.alloc::<u16>(usize::MAX / 2).is_err());
    });
}

/// What is known of an allocation: its address, and its bytes, where something was written.
type Known = (u64, Vec<Option<u8>>);

/// Where something begins in an allocation, or a bit outside, and how long it is.
fn spot((_, bytes): &Known, seed: u64) -> (usize, usize) {
    let (start, end) = range(seed, bytes.len());
    (start, end.wrapping_sub(start))
}

fn fits((_, bytes): &Known, (start, len): (usize, usize)) -> bool {
    start.checked_add(len).is_some_and(|end| end <= bytes.len())
}

#[test]
fn host_calls() {
    let steps = prop::collection::vec((0usize..7, any::<u64>()), 1..60);
    fuzz("host calls of the simulator", (0u64..1 << 20, steps), |(seed, steps)| {
        let simulator = Simulator::new(gpu_sim::Config::with_seed(*seed));
        let mut known: Vec<Known> = vec![(simulator.alloc(100).expect("memory"), vec![None; 100])];
        let mut freed = Vec::new();
        for &(what, seed) in steps {
            let of = random(seed, 7) as usize % known.len();
            let (start, len) = spot(&known[of], seed);
            let address = known[of].0 + start as u64;
            // What the host has memory for.
            let short = len.min(6000);
            match what {
                0 if known.len() < 8 => {
                    let len = random(seed, 8) as usize % 5000;
                    let (address, old) = if seed.is_multiple_of(2) {
                        (simulator.alloc(len), None)
                    } else {
                        (simulator.alloc_zeroed(len), Some(0))
                    };
                    known.push((address.expect("memory"), vec![old; len]));
                }
                1 if known.len() > 1 => {
                    let (address, bytes) = known.swap_remove(of);
                    assert!(bytes.is_empty() || simulator.free(address + 1).is_err());
                    simulator.free(address).expect("it was there");
                    freed.push(address);
                }
                2 => {
                    let result = simulator.write(address, &vec![seed as u8; short]);
                    assert_eq!(result.is_ok(), fits(&known[of], (start, short)), "{result:?}");
                    if result.is_ok() {
                        known[of].1[start..start + short].fill(Some(seed as u8));
                    }
                }
                3 => {
                    let mut bytes = vec![0xa5; short];
                    let result = simulator.read(address, &mut bytes);
                    let there: Option<Vec<u8>> = match fits(&known[of], (start, short)) {
                        true => known[of].1[start..start + short].iter().copied().collect(),
                        false => None,
                    };
                    assert_eq!(result.is_ok(), there.is_some(), "{result:?}");
                    assert_eq!(bytes, there.unwrap_or(vec![0xa5; short]));
                }
                4 => {
                    let result = simulator.fill(address, len, seed as u8);
                    assert_eq!(result.is_ok(), fits(&known[of], (start, len)), "{result:?}");
                    if result.is_ok() {
                        known[of].1[start..start + len].fill(Some(seed as u8));
                    }
                }
                5 => {
                    let other = random(seed, 9) as usize % known.len();
                    let (begin, _) = spot(&known[other], !seed);
                    let result = simulator.copy(address, known[other].0 + begin as u64, len);
                    let is_right = fits(&known[of], (start, len)) && fits(&known[other], (begin, len));
                    assert_eq!(result.is_ok(), is_right, "{result:?}");
                    if is_right {
                        let bytes = known[other].1[begin..begin + len].to_vec();
                        known[of].1[start..start + len].copy_from_slice(&bytes);
                    }
                }
                _ => {
                    for &address in &freed {
                        assert!(
                            simulator.read(address, &mut [0]).is_err() && simulator.free(address).is_err()
                        );
                    }
                }
            }
        }
        for (address, bytes) in &known {
            for (at, byte) in bytes.iter().enumerate() {
                let mut out = [0];
                let result = simulator.read(address + at as u64, &mut out);
                assert_eq!(result.is_ok().then_some(out[0]), *byte);
            }
        }
        assert!(simulator.alloc(usize::MAX).is_err());
    });
}

/// A device that is not there is an error, whatever its name is.
#[test]
fn names() {
    fuzz("names of devices", "[a-z:0-9+ -]{0,12}", |name| {
        if let Ok(device) = Device::by_name(name) {
            assert!(["cpu", "simulator"].contains(&name.as_str()) || name.starts_with("cuda"), "{name}");
            drop(device);
        }
    });
}
