//! Products right behind the kernel that makes a factor: what copies factors waits for that kernel by itself
//! (programmatic launches), and the simulator watches that it does.

use core::fmt::Debug;

use gpu_core::{Device, Element, Stream};
use gpu_linalg::variants::{self, TensorVariant};
use gpu_linalg::{Batch, BatchMut, Error, Layout, Matrix, MatrixMut, bf16};
use gpu_sim::Config;
use gpu_tests::backends::for_each;
use gpu_tests::data::random;
use gpu_tests::scratch::exactly;
use gpu_transpose::transpose_into;

/// Rows and columns of C, and the sum's length: several tiles of the transposition, and several blocks that copy.
const SHAPE: [usize; 3] = [67, 45, 83];

/// Every factor is copied, whether it has to be or not.
const VARIANT: TensorVariant = TensorVariant::Packed;

/// A is a transposition's result. Sums of small whole numbers are exact in any order.
fn check<T: Element, C: Element + PartialEq + Debug>(
    device: &Device,
    of: impl Fn(f32) -> T,
    to: impl Fn(f32) -> C,
    multiply: impl Fn(&Stream, Batch<'_, T>, Batch<'_, T>, BatchMut<'_, C>) -> Result<(), Error>,
) {
    let [m, n, k] = SHAPE;
    let small = |seed| move |at| (random(seed, at) % 5) as f32 - 2.0;
    let turned: Vec<f32> = (0..k * m).map(small(1)).collect();
    let b: Vec<f32> = (0..k * n).map(small(2)).collect();
    let element = |at: usize| (0..k).map(|inner| turned[inner * m + at / n] * b[inner * n + at % n]).sum();
    let expected: Vec<C> = (0..m * n).map(|at| to(element(at))).collect();

    let upload =
        |values: &[f32]| device.upload(&values.iter().map(|&value| of(value)).collect::<Vec<_>>()).unwrap();
    let (turned, b) = (upload(&turned), upload(&b));
    let mut a = device.zeroed::<T>(m * k).unwrap();
    let mut c = device.zeroed::<C>(m * n).unwrap();
    let stream = device.stream().unwrap();
    let turned = Matrix::new(&turned, Layout::row_major(k, m).unwrap()).unwrap();
    let target = MatrixMut::new(&mut a, Layout::row_major(m, k).unwrap()).unwrap();
    transpose_into(&stream, turned, target).unwrap();
    let a = Batch::new(&a, Layout::row_major(m, k).unwrap().into()).unwrap();
    let b = Batch::new(&b, Layout::row_major(k, n).unwrap().into()).unwrap();
    let output = BatchMut::new(&mut c, Layout::row_major(m, n).unwrap().into()).unwrap();
    match multiply(&stream, a, b, output) {
        Ok(()) => {
            stream.synchronize().unwrap();
            assert_eq!(c.to_vec().unwrap(), expected, "{}", device.name());
        }
        Err(error @ Error::NoTensorCores { .. }) => println!("skipped on {}: {error}", device.name()),
        Err(error) => panic!("{error} on {}", device.name()),
    }
}

#[test]
fn copies_of_factors_wait_for_the_kernel_before() {
    let [m, n, _] = SHAPE;
    let of_c = Layout::row_major(m, n).unwrap();
    let all = |device: &Device| {
        check(
            device,
            bf16::from_f32,
            |value| value,
            |stream, a, b, c| {
                let mut scratch = exactly(stream, variants::gemm_tensor_scratch(VARIANT, a, b, of_c));
                variants::gemm_tensor::<bf16, f32>(stream, VARIANT, 1.0, a, b, 0.0, c, &mut scratch)
            },
        );
        check(
            device,
            |value| value,
            |value| value,
            |stream, a, b, c| {
                let mut scratch =
                    exactly(stream, variants::gemm_tf32_scratch(VARIANT, a.layout(), b.layout(), of_c));
                variants::gemm_tf32(stream, VARIANT, 1.0, a, b, 0.0, c, &mut scratch)
            },
        );
        check(
            device,
            |value| value as i8,
            |value| value as i32,
            |stream, a, b, c| {
                let mut scratch = exactly(stream, variants::gemm_i8_scratch(VARIANT, a, b, of_c));
                variants::gemm_i8(stream, VARIANT, 1, a, b, 0, c, &mut scratch)
            },
        );
    };
    for_each("copies_of_factors_wait_for_the_kernel_before", all);
    for seed in 0..3 {
        all(&Device::simulator_with(Config::with_seed(seed)));
    }
}
