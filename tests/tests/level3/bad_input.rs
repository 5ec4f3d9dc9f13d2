//! Bad input gets an error that says what was expected, and the data are as they were.

use gpu_core::{Device, Kind, Scratch, ScratchSize};
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Diagonal, Error, Layout, Matrix, MatrixMut, Side, Triangle,
    solve_triangular, symm, symm_scratch, syr2k, syrk, trmm, trmm_scratch, trsm, trsm_scratch, trsv,
    trsv_scratch,
};
use gpu_tests::backends::for_each;
use gpu_tests::errors::assert_length;
use gpu_tests::scratch::{exactly, is_of_other_stream, lacks};

const LOWER: Triangle = Triangle::Lower;
const STORED: Diagonal = Diagonal::Stored;

fn row_major(rows: usize, columns: usize) -> Layout {
    Layout::row_major(rows, columns).unwrap()
}

#[test]
fn shapes_are_checked_and_outputs_untouched() {
    for_each("shapes", |device| {
        let a = device.upload(&[1.0f32; 12]).unwrap();
        let mut b = device.upload(&[5.0f32; 12]).unwrap();
        let mut info = device.upload(&[3u32]).unwrap();
        let stream = device.default_stream();
        let mut scratch = Scratch::new(&stream);
        let matrix = |rows, columns| Matrix::new(&a, row_major(rows, columns)).unwrap();
        macro_rules! refused {
            ($call:expr, $error:pat) => {
                let error = $call.unwrap_err();
                assert!(matches!(error, $error), "{error:?}");
                assert_eq!(b.to_vec().unwrap(), [5.0; 12]);
                assert_eq!(info.to_vec().unwrap(), [3]);
            };
        }
        macro_rules! output {
            ($rows:expr, $columns:expr) => {
                MatrixMut::new(&mut b, row_major($rows, $columns)).unwrap()
            };
        }
        let left = Side::Left;
        refused!(
            trsm(&stream, left, LOWER, STORED, 1.0, matrix(3, 4), output!(3, 4), &mut info, &mut scratch),
            Error::Device(gpu_core::Error::NotSquare { rows: 3, columns: 4, .. })
        );
        refused!(
            trsm(&stream, left, LOWER, STORED, 1.0, matrix(3, 3), output!(4, 3), &mut info, &mut scratch),
            Error::ProductShapes { a: (3, 3), b: (4, 3), c: (4, 3) }
        );
        refused!(
            trsm(
                &stream,
                Side::Right,
                LOWER,
                STORED,
                1.0,
                matrix(3, 3),
                output!(3, 4),
                &mut info,
                &mut scratch
            ),
            Error::ProductShapes { a: (3, 4), b: (3, 3), c: (3, 4) }
        );
        let mut words = device.alloc::<u32>(2).unwrap();
        refused!(
            trsm(&stream, left, LOWER, STORED, 1.0, matrix(3, 3), output!(3, 4), &mut words, &mut scratch),
            Error::Device(gpu_core::Error::LengthMismatch {
                what: "the words of information",
                expected: 1,
                actual: 2
            })
        );
        let needed = trmm_scratch::<f32>(left, row_major(3, 4)).unwrap();
        if device.kind() != Kind::Cpu {
            let mut none = exactly(&stream, ScratchSize::new());
            let result = trmm(&stream, left, LOWER, STORED, 1.0, matrix(3, 3), output!(3, 4), &mut none);
            assert!(lacks(result, needed));
        }
        let two = BatchLayout::new(row_major(2, 2), 2, 4).unwrap();
        refused!(
            trsm(
                &stream,
                left,
                LOWER,
                STORED,
                1.0,
                Batch::new(&a, two).unwrap(),
                output!(2, 3),
                &mut info,
                &mut scratch
            ),
            Error::BatchCounts { a: 2, b: 1, c: 1 }
        );
        refused!(
            trmm(&stream, left, LOWER, STORED, 1.0, matrix(2, 3), output!(2, 3), &mut scratch),
            Error::Device(gpu_core::Error::NotSquare { rows: 2, columns: 3, .. })
        );
        refused!(
            symm(&stream, left, LOWER, 1.0, matrix(3, 3), matrix(3, 4), 1.0, output!(3, 3), &mut scratch),
            Error::Device(gpu_core::Error::Shape { expected: (3, 4), actual: (3, 3), .. })
        );
        refused!(
            syrk(&stream, LOWER, 1.0, matrix(3, 4), 0.0, output!(3, 4), &mut scratch),
            Error::Device(gpu_core::Error::NotSquare { rows: 3, columns: 4, .. })
        );
        refused!(
            syrk(&stream, LOWER, 1.0, matrix(2, 4), 0.0, output!(3, 3), &mut scratch),
            Error::ProductShapes { a: (2, 4), b: (4, 2), c: (3, 3) }
        );
        refused!(
            syr2k(&stream, LOWER, 1.0, matrix(3, 4), matrix(3, 2), 0.0, output!(3, 3), &mut scratch),
            Error::Device(gpu_core::Error::Shape { expected: (3, 4), actual: (3, 2), .. })
        );
        let vector = trsv(&stream, LOWER, STORED, matrix(3, 3), &mut b, &mut info, &mut scratch);
        assert!(matches!(vector.unwrap_err(), Error::ProductShapes { .. }));
    });
}

/// Strides that make elements or matrices the same, memory that is too short: refused before there is a matrix to hand
/// over.
#[test]
fn layouts_are_checked() {
    use gpu_core::Error::{Length, Matrix};
    use gpu_core::matrix::Invalid::{LeadingDimension, Overlap};
    for_each("layouts", |device| {
        let mut b = device.upload(&[5.0f64; 12]).unwrap();
        let narrow = row_major(3, 3).with_leading_dimension(2).unwrap_err();
        assert!(
            matches!(narrow, Matrix(LeadingDimension { rows: 3, columns: 3, expected: 3, actual: 2 })),
            "{narrow:?}"
        );
        let layout = BatchLayout::new(row_major(2, 2), 3, 3).unwrap();
        let overlap = BatchMut::new(&mut b, layout).map(|_| ()).unwrap_err();
        assert!(matches!(overlap, Matrix(Overlap { expected: 4, actual: 3 })), "{overlap:?}");
        // With a gap in their lines matrices span more than they hold.
        let wide = row_major(2, 2).with_leading_dimension(3).unwrap();
        let overlap = BatchMut::new(&mut b, BatchLayout::new(wide, 2, 4).unwrap()).map(|_| ()).unwrap_err();
        assert!(matches!(overlap, Matrix(Overlap { expected: 5, actual: 4 })), "{overlap:?}");
        let short = MatrixMut::new(&mut b, row_major(4, 4)).map(|_| ()).unwrap_err();
        assert!(matches!(short, Length { expected: 16, actual: 12, .. }), "{short:?}");
        // What is read may be one matrix several times.
        let one = BatchLayout::new(row_major(2, 2), 5, 0).unwrap();
        assert!(Batch::new(&b, one).is_ok());
        assert_eq!(b.to_vec().unwrap(), [5.0; 12]);
    });
}

/// Every function says how much scratch memory it lacks, but on the CPU, and which batches have how many matrices.
#[test]
fn scratch_memory_and_batches_are_checked() {
    for_each("scratch and batches", |device| {
        let stream = device.default_stream();
        let square = BatchLayout::new(row_major(70, 70), 2, 4900).unwrap();
        let other = BatchLayout { count: 1, ..square };
        let a = device.upload(&[1.0f64; 9800]).unwrap();
        let mut b = device.upload(&[5.0f64; 9800]).unwrap();
        let mut info = device.upload(&[3u32; 2]).unwrap();
        let mut none = exactly(&stream, ScratchSize::new());
        let mut enough = Scratch::new(&stream);
        let (left, of_a) = (Side::Left, Batch::new(&a, square).unwrap());
        let fewer = Batch::new(&a, other).unwrap();
        macro_rules! into {
            () => {
                BatchMut::new(&mut b, square).unwrap()
            };
        }
        let one = Matrix::new(&a, row_major(70, 70)).unwrap();
        macro_rules! each {
            ($scratch:expr) => {
                [
                    trsm(&stream, left, LOWER, STORED, 1.0, of_a, into!(), &mut info, $scratch),
                    trmm(&stream, left, LOWER, STORED, 1.0, of_a, into!(), $scratch),
                    symm(&stream, left, LOWER, 1.0, of_a, of_a, 0.0, into!(), $scratch),
                    trsv(&stream, LOWER, STORED, one, b.slice_mut(..70), info.slice_mut(..1), $scratch),
                ]
            };
        }
        let mut foreign = Scratch::new(&device.stream().unwrap());
        assert!(each!(&mut foreign).into_iter().all(is_of_other_stream));
        if device.kind() != Kind::Cpu {
            let sizes = [
                trsm_scratch::<f64>(left, square).unwrap(),
                trmm_scratch::<f64>(left, square).unwrap(),
                symm_scratch::<f64>(left, square).unwrap(),
                trsv_scratch::<f64>(70).unwrap(),
            ];
            for (result, size) in each!(&mut none).into_iter().zip(sizes) {
                assert!(size.bytes() > 0 && lacks(result, size), "{size:?}");
            }
        }
        let others = [
            trsm(&stream, left, LOWER, STORED, 1.0, fewer, into!(), &mut info, &mut enough),
            trmm(&stream, left, LOWER, STORED, 1.0, fewer, into!(), &mut enough),
            symm(&stream, left, LOWER, 1.0, fewer, of_a, 0.0, into!(), &mut enough),
            syrk(&stream, LOWER, 1.0, fewer, 0.0, into!(), &mut enough),
            syr2k(&stream, LOWER, 1.0, of_a, fewer, 0.0, into!(), &mut enough),
        ];
        for other in others {
            let error = other.unwrap_err();
            assert!(matches!(error, Error::BatchCounts { .. }), "{error:?}");
        }
        let error = trsv(&stream, LOWER, STORED, one, b.slice_mut(..70), &mut info, &mut enough).unwrap_err();
        assert_length(error, "the words of information", 1, 2);
        let flat = Matrix::new(&a, row_major(70, 60)).unwrap();
        let error = trsv(&stream, LOWER, STORED, flat, b.slice_mut(..70), info.slice_mut(..1), &mut enough);
        let error = error.unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::NotSquare { rows: 70, columns: 60, .. })),
            "{error:?}"
        );
        assert_eq!(b.to_vec().unwrap(), [5.0; 9800]);
        assert_eq!(info.to_vec().unwrap(), [3; 2]);
    });
}

#[test]
fn another_devices_memory_is_refused() {
    let (here, there) = (Device::simulator(), Device::simulator());
    let a = there.upload(&[1.0f32; 4]).unwrap();
    let mut b = here.upload(&[5.0f32; 4]).unwrap();
    let mut scratch = Scratch::new(&here.default_stream());
    let (a, output) =
        (Matrix::new(&a, row_major(2, 2)).unwrap(), MatrixMut::new(&mut b, row_major(2, 2)).unwrap());
    let error = syrk(&here.default_stream(), LOWER, 1.0, a, 0.0, output, &mut scratch).unwrap_err();
    assert!(matches!(error, Error::Device(_)), "{error:?}");
    assert_eq!(b.to_vec().unwrap(), [5.0; 4]);
}

/// The first zero of the diagonal, on every backend, whatever the triangle and the side, and of every matrix of a batch.
#[test]
fn the_first_zero_of_the_diagonal_is_found() {
    let n = 200;
    for_each("singular", |device| {
        for (zeros, triangle, side) in [
            (vec![0], Triangle::Lower, Side::Left),
            (vec![199], Triangle::Upper, Side::Left),
            (vec![70, 65, 180], Triangle::Upper, Side::Right),
            (vec![128, 64], Triangle::Lower, Side::Right),
        ] {
            let mut a = vec![0.0f64; n * n];
            (0..n).for_each(|at| a[at * (n + 1)] = 2.0);
            zeros.iter().for_each(|&at| a[at * (n + 1)] = if at % 2 == 0 { 0.0 } else { -0.0 });
            let first = *zeros.iter().min().unwrap();
            let (a, b) = (device.upload(&a).unwrap(), device.upload(&vec![1.0; n]).unwrap());
            let layout = if side == Side::Left { row_major(n, 1) } else { row_major(1, n) };
            let (a, right) = (Matrix::new(&a, row_major(n, n)).unwrap(), Matrix::new(&b, layout).unwrap());
            let error = solve_triangular(side, triangle, Diagonal::Stored, a, right).unwrap_err();
            assert!(
                matches!(error, Error::SingularTriangle { matrix: 0, index } if index == first),
                "{error:?}, {zeros:?} on {}",
                device.name()
            );
            assert_eq!(b.to_vec().unwrap(), vec![1.0; n]);
            let ones = solve_triangular(side, triangle, Diagonal::Unit, a, right).unwrap();
            assert_eq!(ones.to_vec().unwrap(), vec![1.0; n], "the diagonal of ones is not read");
        }
        let stream = device.default_stream();
        let a = device.upload(&[1.0f32, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        let mut b = device.upload(&[1.0f32; 6]).unwrap();
        let mut info = device.alloc(3).unwrap();
        let matrices = Batch::new(&a, BatchLayout::new(row_major(2, 2), 3, 4).unwrap()).unwrap();
        let right = BatchLayout::new(row_major(2, 1), 3, 2).unwrap();
        let mut scratch = exactly(&device.default_stream(), trsm_scratch::<f32>(Side::Left, right).unwrap());
        let output = BatchMut::new(&mut b, right).unwrap();
        trsm(&stream, Side::Left, LOWER, STORED, 1.0, matrices, output, &mut info, &mut scratch).unwrap();
        assert_eq!(info.to_vec().unwrap(), [1, u32::MAX, 0], "{}", device.name());
    });
}
