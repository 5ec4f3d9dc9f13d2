//! What is refused, with what was expected and what was given; data stays as it was.

use gpu_core::Device;
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Error, Layout, Matrix, MatrixMut, Order, Sizes, Triangle, potrf,
    potrf_scratch_len, potrf_sizes, potrf_to, potrs, potrs_sizes,
};

#[test]
fn what_does_not_fit_is_refused() {
    let device = Device::simulator();
    let stream = device.default_stream();
    let mut a = device.upload(&[7.0f32; 64]).unwrap();
    let mut info = device.alloc(1).unwrap();
    let mut scratch = device.alloc::<f32>(0).unwrap();
    let wide = Layout::row_major(3, 4).unwrap();
    let into = MatrixMut::new(&mut a, wide).unwrap();
    let error = potrf(&stream, Triangle::Lower, into, &mut info, &mut scratch).unwrap_err();
    assert!(matches!(error, Error::NotSquare { rows: 3, columns: 4 }), "{error}");

    let square = Layout::row_major(4, 4).unwrap();
    let batch = BatchLayout::new(square, 2, 16).unwrap();
    let into = BatchMut::new(&mut a, batch).unwrap();
    let error = potrf(&stream, Triangle::Lower, into, &mut info, &mut scratch).unwrap_err();
    assert!(matches!(error, Error::InfoLength { expected: 2, actual: 1 }), "{error}");

    let (n, mut large) = (129, device.upload(&vec![7.0f32; 129 * 129]).unwrap());
    let into = MatrixMut::new(&mut large, Layout::row_major(n, n).unwrap()).unwrap();
    let error = potrf(&stream, Triangle::Lower, into, &mut info, &mut scratch).unwrap_err();
    let needed = potrf_scratch_len::<f32>(n, 1).unwrap();
    assert!(matches!(error, Error::ScratchTooSmall { expected, actual: 0 } if expected == needed), "{error}");

    let from = device.upload(&[1.0f32; 9]).unwrap();
    let (from, into) = (
        Matrix::new(&from, Layout::row_major(3, 3).unwrap()).unwrap(),
        MatrixMut::new(&mut a, square).unwrap(),
    );
    let error = potrf_to(&stream, Triangle::Lower, from, into, &mut info, &mut scratch).unwrap_err();
    assert!(matches!(error, Error::Shapes { expected: (3, 3), actual: (4, 4) }), "{error}");

    let l = device.upload(&[1.0f32; 64]).unwrap();
    let l = Batch::new(&l, batch).unwrap();
    let one = MatrixMut::new(&mut a, square).unwrap();
    let error = potrs(&stream, Triangle::Lower, l, one, &mut scratch).unwrap_err();
    assert!(matches!(error, Error::BatchCounts { a: 2, b: 1, .. }), "{error}");
    let flat = BatchMut::new(&mut a, BatchLayout::new(wide, 2, 12).unwrap()).unwrap();
    let error = potrs(&stream, Triangle::Lower, l, flat, &mut scratch).unwrap_err();
    assert!(matches!(error, Error::Shapes { expected: (4, 4), actual: (3, 4) }), "{error}");

    // Matrices of a batch that overlap are refused where the batch is made.
    let overlap = BatchLayout::new(square, 2, 15).unwrap();
    assert!(BatchMut::new(&mut a, overlap).is_err());
    assert_eq!(a.to_vec().unwrap(), [7.0; 64]);
    assert_eq!(large.to_vec().unwrap(), vec![7.0; 129 * 129]);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let device = Device::simulator();
    let stream = device.default_stream();
    let error = Sizes::new(&device, &[4, 513]).unwrap_err();
    assert!(matches!(error, Error::ExtentTooLarge { actual: 513, limit: 512, .. }), "{error}");
    let sizes = Sizes::new(&device, &[4, 3]).unwrap();
    let mut a = device.upload(&[7.0f64; 25]).unwrap();
    let mut info = device.alloc(2).unwrap();
    let order = Order::RowMajor;
    let error =
        potrf_sizes(&stream, Triangle::Lower, order, &sizes, a.slice_mut(1..), &mut info).unwrap_err();
    assert!(matches!(error, Error::BatchLength { expected: 25, actual: 24 }), "{error}");
    let error =
        potrf_sizes(&stream, Triangle::Lower, order, &sizes, &mut a, info.slice_mut(1..)).unwrap_err();
    assert!(matches!(error, Error::InfoLength { expected: 2, actual: 1 }), "{error}");
    let mut b = device.upload(&[7.0f64; 15]).unwrap();
    let error = potrs_sizes(&stream, Triangle::Lower, order, &sizes, &a, order, 2, &mut b).unwrap_err();
    assert!(matches!(error, Error::BatchLength { expected: 14, actual: 15 }), "{error}");
    let elsewhere = Device::cpu().upload(&[7.0f64; 25]).unwrap();
    let error = potrs_sizes(&stream, Triangle::Lower, order, &sizes, &elsewhere, order, 2, b.slice_mut(1..))
        .unwrap_err();
    assert!(matches!(error, Error::Device(_)), "{error}");
    assert_eq!((a.to_vec().unwrap(), b.to_vec().unwrap()), (vec![7.0; 25], vec![7.0; 15]));
}
