//! What is refused, with what was expected and what was given; data stays as it was.

use gpu_core::matrix::Invalid;
use gpu_core::{Device, Error as Core, Kind, Scratch, ScratchSize};
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Error, Layout, Matrix, MatrixMut, Order, Sizes, Triangle, logdet, potrf,
    potrf_scratch, potrf_sizes, potrf_to, potri, potri_scratch, potri_to, potrs, potrs_refined,
    potrs_scratch, potrs_sizes, potrs_to,
};
use gpu_tests::backends::for_each;
use gpu_tests::errors::assert_length;
use gpu_tests::scratch::{exactly, is_of_other_stream, lacks};

#[test]
fn scratch_memory_of_more_than_can_be_counted_is_refused() {
    for (n, count) in [(usize::MAX, 1), (1 << 32, 2), (1000, usize::MAX), (400, usize::MAX / 400)] {
        let error = potrf_scratch::<f64>(n, count).unwrap_err();
        assert!(matches!(error, Error::Device(_)), "{count} of {n} rows: {error}");
    }
    // A batch needs a reciprocal for each row and a word for each tile.
    assert!(potrf_scratch::<f64>(1000, 1 << 20).unwrap().bytes() >= 8000 << 20);
}

#[test]
fn what_does_not_fit_is_refused() {
    let device = Device::simulator();
    let stream = device.default_stream();
    let mut a = device.upload(&[7.0f32; 64]).unwrap();
    let mut info = device.alloc(1).unwrap();
    let mut scratch = exactly(&stream, ScratchSize::new());
    let wide = Layout::row_major(3, 4).unwrap();
    let into = MatrixMut::new(&mut a, wide).unwrap();
    let error = potrf(&stream, Triangle::Lower, into, &mut info, &mut scratch).unwrap_err();
    assert!(matches!(error, Error::Device(Core::NotSquare { rows: 3, columns: 4, .. })), "{error}");

    let square = Layout::row_major(4, 4).unwrap();
    let batch = BatchLayout::new(square, 2, 16).unwrap();
    let into = BatchMut::new(&mut a, batch).unwrap();
    let error = potrf(&stream, Triangle::Lower, into, &mut info, &mut scratch).unwrap_err();
    assert_length(error, "the words of information", 2, 1);

    let (n, mut large) = (129, device.upload(&vec![7.0f32; 129 * 129]).unwrap());
    let into = MatrixMut::new(&mut large, Layout::row_major(n, n).unwrap()).unwrap();
    let result = potrf(&stream, Triangle::Lower, into, &mut info, &mut scratch);
    assert!(lacks(result, potrf_scratch::<f32>(n, 1).unwrap()));
    let into = MatrixMut::new(&mut large, Layout::row_major(n, n).unwrap()).unwrap();
    let mut foreign = Scratch::new(&device.stream().unwrap());
    assert!(is_of_other_stream(potrf(&stream, Triangle::Lower, into, &mut info, &mut foreign)));

    let from = device.upload(&[1.0f32; 9]).unwrap();
    let (from, into) = (
        Matrix::new(&from, Layout::row_major(3, 3).unwrap()).unwrap(),
        MatrixMut::new(&mut a, square).unwrap(),
    );
    let error = potrf_to(&stream, Triangle::Lower, from, into, &mut info, &mut scratch).unwrap_err();
    assert!(matches!(error, Error::Device(Core::Shape { expected: (3, 3), actual: (4, 4), .. })), "{error}");

    let l = device.upload(&[1.0f32; 64]).unwrap();
    let l = Batch::new(&l, batch).unwrap();
    let one = MatrixMut::new(&mut a, square).unwrap();
    let error = potrs(&stream, Triangle::Lower, l, one, &mut scratch).unwrap_err();
    assert!(matches!(error, Error::BatchCounts { a: 2, b: 1, .. }), "{error}");
    let flat = BatchMut::new(&mut a, BatchLayout::new(wide, 2, 12).unwrap()).unwrap();
    let error = potrs(&stream, Triangle::Lower, l, flat, &mut scratch).unwrap_err();
    assert!(matches!(error, Error::Device(Core::Shape { expected: (4, 4), actual: (3, 4), .. })), "{error}");

    // Matrices of a batch that overlap are refused where the batch is made.
    let overlap = BatchLayout::new(square, 2, 15).unwrap();
    let error = BatchMut::new(&mut a, overlap).map(|_| ()).unwrap_err();
    assert!(matches!(error, Core::Matrix(Invalid::Overlap { expected: 16, actual: 15 })), "{error}");
    assert_eq!(a.to_vec().unwrap(), [7.0; 64]);
    assert_eq!(large.to_vec().unwrap(), vec![7.0; 129 * 129]);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let device = Device::simulator();
    let stream = device.default_stream();
    let error = Sizes::new(&device, &[4, 513]).unwrap_err();
    assert!(matches!(error, Error::Device(Core::ExtentTooLarge { actual: 513, limit: 512, .. })), "{error}");
    let sizes = Sizes::new(&device, &[4, 3]).unwrap();
    let mut a = device.upload(&[7.0f64; 25]).unwrap();
    let mut info = device.alloc(2).unwrap();
    let order = Order::RowMajor;
    let error =
        potrf_sizes(&stream, Triangle::Lower, order, &sizes, a.slice_mut(1..), &mut info).unwrap_err();
    assert_length(error, "the matrices' elements", 25, 24);
    let error =
        potrf_sizes(&stream, Triangle::Lower, order, &sizes, &mut a, info.slice_mut(1..)).unwrap_err();
    assert_length(error, "the words of information", 2, 1);
    let mut b = device.upload(&[7.0f64; 15]).unwrap();
    let error = potrs_sizes(&stream, Triangle::Lower, order, &sizes, &a, order, 2, &mut b).unwrap_err();
    assert_length(error, "the right-hand sides' elements", 14, 15);
    let elsewhere = Device::cpu().upload(&[7.0f64; 25]).unwrap();
    let error = potrs_sizes(&stream, Triangle::Lower, order, &sizes, &elsewhere, order, 2, b.slice_mut(1..))
        .unwrap_err();
    assert!(matches!(error, Error::Device(_)), "{error}");
    assert_eq!((a.to_vec().unwrap(), b.to_vec().unwrap()), (vec![7.0; 25], vec![7.0; 15]));
}

#[test]
fn inverses_determinants_and_systems_that_do_not_fit_are_refused() {
    for_each("inverses that do not fit", |device| {
        let stream = device.default_stream();
        let n = 150;
        let (square, wide) = (Layout::row_major(n, n).unwrap(), Layout::row_major(n, n - 1).unwrap());
        let mut a = device.upload(&vec![7.0f64; n * n]).unwrap();
        let error = logdet(Matrix::new(&a, wide).unwrap()).unwrap_err();
        assert!(matches!(error, Error::Device(Core::NotSquare { rows: 150, columns: 149, .. })), "{error}");
        let mut enough = exactly(&device.default_stream(), potri_scratch::<f64>(n, 1).unwrap());
        let into = MatrixMut::new(&mut a, wide).unwrap();
        let error = potri(&stream, Triangle::Lower, into, &mut enough).unwrap_err();
        assert!(matches!(error, Error::Device(Core::NotSquare { rows: 150, columns: 149, .. })), "{error}");
        let mut call = |scratch: &mut Scratch| {
            potri(&stream, Triangle::Upper, MatrixMut::new(&mut a, square).unwrap(), scratch)
        };
        assert!(is_of_other_stream(call(&mut Scratch::new(&device.stream().unwrap()))));
        if device.kind() != Kind::Cpu {
            let mut none = exactly(&stream, ScratchSize::new());
            assert!(lacks(call(&mut none), potri_scratch::<f64>(n, 1).unwrap()));
        }
        let mut x = device.upload(&[7.0f64; 50]).unwrap();
        let five = Layout::row_major(5, 5).unwrap();
        fn to(x: &mut gpu_core::Buffer<f64>) -> BatchMut<'_, f64> {
            let five = Layout::row_major(5, 5).unwrap();
            BatchMut::new(x, BatchLayout::new(five, 2, 25).unwrap()).unwrap()
        }
        let from = Matrix::new(a.slice(..25), five).unwrap();
        let error = potri_to(&stream, Triangle::Lower, from, to(&mut x), &mut enough).unwrap_err();
        assert!(matches!(error, Error::BatchCounts { a: 1, b: 2, c: 2 }), "{error}");
        let from = Matrix::new(&a, square).unwrap();
        let error = potri_to(&stream, Triangle::Lower, from, to(&mut x), &mut enough).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::Shape { expected: (150, 150), actual: (5, 5), .. })),
            "{error}"
        );
        let from = Matrix::new(a.slice(..25), five).unwrap();
        let error = potrs_to(&stream, Triangle::Lower, from, from, to(&mut x), &mut enough).unwrap_err();
        assert!(matches!(error, Error::BatchCounts { a: 1, b: 2, c: 2 }), "{error}");
        let wide = Matrix::new(a.slice(..20), Layout::row_major(5, 4).unwrap()).unwrap();
        let error = potrs_to(&stream, Triangle::Lower, from, wide, to(&mut x), &mut enough).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::Shape { expected: (5, 4), actual: (5, 5), .. })),
            "{error}"
        );
        assert_eq!(x.to_vec().unwrap(), [7.0; 50]);

        let right = Layout::column_major(n, 2).unwrap();
        let mut b = device.upload(&vec![3.0f64; 2 * n]).unwrap();
        let needed = potrs_scratch::<f64>(n, right).unwrap();
        let l = Matrix::new(&a, square).unwrap();
        let mut call = |scratch: &mut Scratch| {
            potrs(&stream, Triangle::Lower, l, MatrixMut::new(&mut b, right).unwrap(), scratch)
        };
        assert!(is_of_other_stream(call(&mut Scratch::new(&device.stream().unwrap()))));
        if device.kind() != Kind::Cpu {
            assert!(lacks(call(&mut exactly(&stream, ScratchSize::new())), needed));
        }
        let into = MatrixMut::new(&mut b, Layout::column_major(2, n).unwrap()).unwrap();
        let error = potrs_refined(Triangle::Lower, l, into).unwrap_err();
        assert!(matches!(error, Error::Device(Core::Shape { .. })), "{error}");

        // Memory of another device.
        let elsewhere = Device::simulator().upload(&vec![7.0f64; n * n]).unwrap();
        let (l, into) = (Matrix::new(&elsewhere, square).unwrap(), MatrixMut::new(&mut b, right).unwrap());
        let mut enough = exactly(&stream, needed);
        let error = potrs(&stream, Triangle::Lower, l, into, &mut enough).unwrap_err();
        assert!(matches!(error, Error::Device(_)), "{error}");
        assert_eq!(a.to_vec().unwrap(), vec![7.0; n * n]);
        assert_eq!(b.to_vec().unwrap(), vec![3.0; 2 * n]);
    });
}

/// A function that returns the error itself leaves the right-hand sides as they were.
#[test]
fn refined_systems_that_are_not_positive_definite_leave_the_right_hand_sides() {
    for_each("refined and not positive definite", |device| {
        for bad in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
            let n = 140;
            let a: Vec<f64> = (0..n * n)
                .map(|at| match (at / n, at % n) {
                    (131, 131) => bad,
                    (i, j) if i == j => 4.0,
                    _ => 1.0 / 64.0,
                })
                .collect();
            let (a, mut b) = (device.upload(&a).unwrap(), device.upload(&vec![3.0f64; n]).unwrap());
            let matrix = Matrix::new(&a, Layout::row_major(n, n).unwrap()).unwrap();
            let right = MatrixMut::new(&mut b, Layout::column_major(n, 1).unwrap()).unwrap();
            let error = potrs_refined(Triangle::Upper, matrix, right).unwrap_err();
            assert!(
                matches!(error, Error::NotPositiveDefinite { matrix: 0, index: 132 }),
                "{bad}: {error} on {}",
                device.name()
            );
            assert_eq!(b.to_vec().unwrap(), vec![3.0; n], "{bad}");
        }
    });
}
