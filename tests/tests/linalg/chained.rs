//! Products one behind the other, with nothing in between: kernels that wait by themselves for the one before, and the
//! simulator watches that they do.

use gpu_core::Device;
use gpu_linalg::{Layout, Matrix, gemv, gemv_scratch};
use gpu_sim::Config;
use gpu_tests::scratch::exactly;

#[test]
fn kernels_wait_for_the_one_before() {
    let check = |device: &Device| {
        let stream = device.stream().unwrap();
        for (n, layout) in [
            (96, Layout::row_major(96, 96).unwrap()),
            (96, Layout::column_major(96, 96).unwrap()),
            (700, Layout::row_major(700, 700).unwrap()),
            (700, Layout::column_major(700, 700).unwrap()),
        ] {
            // Three of its diagonals: sums of whole numbers, exact in any order.
            let mut a = vec![0.0f32; n * n];
            for i in 0..n {
                for (k, value) in [(0, 2.0), (1, -1.0), (n / 2, 1.0)] {
                    a[layout.index(i, (i + k) % n)] = value;
                }
            }
            let x: Vec<f32> = (0..n).map(|i| (i % 5) as f32).collect();
            let times = |x: &[f32]| -> Vec<f32> {
                (0..n).map(|i| 2.0 * x[i] - x[(i + 1) % n] + x[(i + n / 2) % n]).collect()
            };
            let on_device = device.upload(&a).unwrap();
            let (mut first, mut second) = (device.upload(&x).unwrap(), device.upload(&x).unwrap());
            let matrix = || Matrix::new(&on_device, layout).unwrap();
            let mut scratch = exactly(&stream, gemv_scratch::<f32>(layout).unwrap());
            gemv(&stream, 1.0, matrix(), &first, 0.0, &mut second, &mut scratch).unwrap();
            gemv(&stream, 1.0, matrix(), &second, 0.0, &mut first, &mut scratch).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(first.to_vec().unwrap(), times(&times(&x)), "{n} on {}", device.name());
        }
    };
    gpu_tests::backends::for_each("kernels_wait_for_the_one_before", check);
    for seed in 0..5 {
        check(&Device::simulator_with(Config::with_seed(seed)));
    }
}
