//! Keys that another stream overwrites at once: the sort has read them before, and its counts are theirs.

use gpu_sort::{Scratch, SortOptions, sort_into, sort_pairs_into};
use gpu_tests::backends::for_each;
use gpu_tests::data::random;

#[test]
fn keys_may_be_overwritten_by_another_stream() {
    for_each("keys_may_be_overwritten_by_another_stream", |device| {
        let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
        let mut scratch = Scratch::new(&first);
        let options = SortOptions::ascending;
        for len in [100, 5000, 30_000] {
            let keys: Vec<u32> = (0..len).map(|at| random(7, at) as u32).collect();
            let values: Vec<u16> = (0..len).map(|at| at as u16).collect();
            let mut expected: Vec<(u32, u16)> = keys.iter().copied().zip(values.iter().copied()).collect();
            expected.sort_by_key(|&(key, _)| key);
            let mut input = device.upload(&keys).unwrap();
            let mut sorted = device.alloc(len).unwrap();
            sort_into(&first, &input, options(), &mut sorted, &mut scratch).unwrap();
            second.memset(&mut input, 0xff).unwrap();
            assert!(sorted.to_vec().unwrap().iter().eq(expected.iter().map(|(key, _)| key)));
            assert!(input.to_vec().unwrap().iter().all(|&key| key == u32::MAX));

            input.copy_from(&keys).unwrap();
            let (mut moving, mut moved) = (device.upload(&values).unwrap(), device.alloc(len).unwrap());
            sort_pairs_into(&first, &input, &moving, options(), &mut sorted, &mut moved, &mut scratch)
                .unwrap();
            second.memset(&mut input, 0).unwrap();
            second.memset(&mut moving, 0xff).unwrap();
            assert!(sorted.to_vec().unwrap().iter().eq(expected.iter().map(|(key, _)| key)));
            assert!(moved.to_vec().unwrap().iter().eq(expected.iter().map(|(_, value)| value)));
        }
    });
}
