//! Whatever holds elements goes where elements are read or written: buffers, vectors, arrays, slices and views.

use gpu_core::{Device, View};
use gpu_linalg::add;
use gpu_reduce::kernels::Sum;
use gpu_reduce::{reduce, reduce_by_key, sum};
use gpu_tests::backends::for_each;

#[test]
fn buffers_and_views_of_devices() {
    for_each("buffers and views", |device| {
        let stream = device.default_stream();
        let buffer = device.upload(&[1.0f32, 2.0, 3.0]).unwrap();
        let mut output = device.alloc(3).unwrap();
        assert_eq!(reduce::<Sum<f32>, 1>(&buffer).unwrap(), [6.0], "on {device}");
        assert_eq!(reduce::<Sum<f32>, 1>(buffer.slice(1..)).unwrap(), [5.0], "on {device}");
        add(&stream, &buffer, buffer.view(), output.slice_mut(..)).unwrap();
        add(&stream, &buffer, &buffer, &mut output).unwrap();
        assert_eq!(output.to_vec().unwrap(), [2.0, 4.0, 6.0], "on {device}");
        let keys = device.upload(&[7u8, 7, 9]).unwrap();
        let (unique, sums) = reduce_by_key::<Sum<f32>, u8>(&keys, &buffer).unwrap();
        assert_eq!(
            (unique.to_vec().unwrap(), sums.to_vec().unwrap()),
            (vec![7, 9], vec![3.0, 3.0]),
            "on {device}"
        );
    });
}

#[test]
fn what_lies_on_the_host() {
    let (stream, values) = (Device::cpu().default_stream(), vec![1.0f32, 2.0, 3.0]);
    let view: View<'_, f32> = (&values).into();
    let sums = [sum(&values), sum(&[1.0, 2.0, 3.0]), sum(&values[..]), sum(view)];
    assert_eq!(sums.map(Result::unwrap), [6.0; 4]);
    assert_eq!(reduce::<Sum<f32>, 1>(&values).unwrap(), [6.0]);
    let (mut to_vec, mut to_array) = (vec![0.0; 3], [0.0; 3]);
    add(&stream, &values, &[1.0, 1.0, 1.0], &mut to_vec).unwrap();
    add(&stream, &values[..], view, &mut to_array).unwrap();
    assert_eq!((to_vec.as_slice(), to_array), (&[2.0, 3.0, 4.0][..], [2.0, 4.0, 6.0]));
    let (unique, sums) = reduce_by_key::<Sum<f32>, u8>(&[7, 7, 9], &values).unwrap();
    assert_eq!((unique.to_vec().unwrap(), sums.to_vec().unwrap()), (vec![7, 9], vec![3.0, 3.0]));
}
