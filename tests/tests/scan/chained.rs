//! Scans one behind the other, with nothing in between: kernels that wait by themselves for the one before, and the
//! simulator watches that they do.

use gpu_core::Device;
use gpu_scan::{Options, Scratch, scan_into};
use gpu_scan_kernels::Sum;
use gpu_sim::Config;

#[test]
fn kernels_wait_for_the_one_before() {
    let check = |device: &Device| {
        let stream = device.stream().unwrap();
        for len in [1, 1000, 20_000] {
            let values: Vec<u32> = (0..len).map(|i| i as u32 % 7).collect();
            let (mut first, mut second) = (device.upload(&values).unwrap(), device.alloc(len).unwrap());
            let mut scratch = Scratch::with_size(&stream, gpu_scan::scan_scratch(len)).unwrap().fixed();
            let mut scan = |from: &_, to: &mut _| {
                scan_into::<Sum<u32>>(&stream, from, Options::inclusive(), to, &mut scratch).unwrap();
            };
            scan(&first, &mut second);
            // Over what the one before may still read.
            scan(&second, &mut first);
            stream.synchronize().unwrap();
            let mut expected = values;
            for _ in 0..2 {
                let mut sum = 0u32;
                expected.iter_mut().for_each(|value| {
                    sum = sum.wrapping_add(*value);
                    *value = sum;
                });
            }
            assert_eq!(first.to_vec().unwrap(), expected, "{len} on {}", device.name());
        }
    };
    gpu_tests::backends::for_each("kernels_wait_for_the_one_before", check);
    for seed in 0..5 {
        check(&Device::simulator_with(Config::with_seed(seed)));
    }
}
