//! Reductions one behind the other, with nothing in between: kernels that wait by themselves for the one before, and
//! the simulator watches that they do.

use gpu_core::Device;
use gpu_reduce::{Offsets, Plan, Scratch, reduce_axis_into, reduce_into, reduce_segments_into};
use gpu_reduce_kernels::{Sum, sum_unordered_f32, tile};
use gpu_sim::Config;

/// Columns, rows, segments of the results, the sum of those; twice, over what the kernels before may still read.
#[test]
fn kernels_wait_for_the_one_before() {
    let check = |device: &Device| {
        let stream = device.stream().unwrap();
        let shape = [30, 40, 50];
        let values: Vec<i32> = (0..60_000).map(|i| i % 1009 - 500).collect();
        let offsets = [0u32, 7, 7, 60, 1200];
        let input = device.upload(&values).unwrap();
        let segments = Offsets::new(device, &offsets).unwrap();
        let (mut planes, mut rows) = (device.alloc::<i32>(2000).unwrap(), device.alloc::<i32>(1200).unwrap());
        let (mut parts, mut all) = (device.alloc::<i32>(4).unwrap(), device.alloc::<i32>(1).unwrap());
        let mut of_planes =
            Scratch::with_size(&stream, gpu_reduce::reduce_axis_scratch::<Sum<i32>>(&shape, 0).unwrap())
                .unwrap()
                .fixed();
        let mut of_rows =
            Scratch::with_size(&stream, gpu_reduce::reduce_axis_scratch::<Sum<i32>>(&shape, 2).unwrap())
                .unwrap()
                .fixed();
        let mut of_parts = Scratch::with_size(&stream, gpu_reduce::reduce_segments_scratch::<Sum<i32>>(1200))
            .unwrap()
            .fixed();
        let mut of_all = Scratch::with_size(&stream, gpu_reduce::reduce_scratch(60_000)).unwrap().fixed();
        for _ in 0..2 {
            reduce_into::<Sum<i32>>(&stream, &input, &mut all, &mut of_all).unwrap();
            reduce_axis_into::<Sum<i32>>(&stream, &input, &shape, 0, &mut planes, &mut of_planes).unwrap();
            reduce_into::<Sum<i32>>(&stream, &planes, &mut all, &mut of_all).unwrap();
            reduce_axis_into::<Sum<i32>>(&stream, &input, &shape, 2, &mut rows, &mut of_rows).unwrap();
            reduce_segments_into::<Sum<i32>>(&stream, &rows, &segments, &mut parts, &mut of_parts).unwrap();
            reduce_into::<Sum<i32>>(&stream, &parts, &mut all, &mut of_all).unwrap();
        }
        stream.synchronize().unwrap();
        let sums: Vec<i32> = values.chunks(50).map(|row| row.iter().sum()).collect();
        let planes_expected: Vec<i32> =
            (0..2000).map(|at| values.iter().skip(at).step_by(2000).sum()).collect();
        let parts_expected: Vec<i32> =
            offsets.windows(2).map(|w| sums[w[0] as usize..w[1] as usize].iter().sum()).collect();
        assert_eq!(planes.to_vec().unwrap(), planes_expected, "{}", device.name());
        assert_eq!(parts.to_vec().unwrap(), parts_expected, "{}", device.name());
        assert_eq!(all.to_vec().unwrap(), [values.iter().sum::<i32>()], "{}", device.name());
    };
    gpu_tests::backends::for_each("kernels_wait_for_the_one_before", check);
    for seed in 0..5 {
        check(&Device::simulator_with(Config::with_seed(seed)));
    }
}

/// Between the library's sums in any order memory is cleared, which no kernel overtakes. Without that they wait too:
/// the second adds up what the first has written.
#[test]
fn sums_in_any_order_wait_for_the_one_before() {
    let device = Device::simulator();
    let stream = device.stream().unwrap();
    let len = 2 * tile::<f32>() as usize;
    let input = device.upload(&vec![1.0f32; len]).unwrap();
    let (mut first, mut second) = (device.zeroed::<f32>(1).unwrap(), device.zeroed::<f32>(1).unwrap());
    let config = |len| Plan::new::<Sum<f32>>(len).launch();
    let sum = first.view_mut().as_global_mut();
    // SAFETY: the simulator checks every access.
    unsafe {
        sum_unordered_f32::launch(&stream, config(len), input.view().as_global(), len as u64, 1, sum)
            .unwrap();
        let all = second.view_mut().as_global_mut();
        sum_unordered_f32::launch(&stream, config(1), sum.as_global(), 1, 1, all).unwrap();
    }
    assert_eq!(second.to_vec().unwrap(), [len as f32]);
}
