//! Products in buffers of their own: of small whole numbers, so that every order of operations is exact.

use gpu_core::{Buffer, Device, Error as Core};
use gpu_linalg::{
    Batch, BatchLayout, Diagonal, Error, Layout, Matrix, Order, Triangle, matmul, matvec_symmetric,
    matvec_triangular, minus, outer, plus, times,
};
use gpu_tests::backends::for_each;
use gpu_tests::data::random;

fn number(seed: u64, at: usize) -> f32 {
    (random(seed, at) % 17) as f32 - 8.0
}

fn numbers(seed: u64, len: usize) -> Vec<f32> {
    (0..len).map(|at| number(seed, at)).collect()
}

#[test]
fn products_of_batches_come_one_after_the_other() {
    let (m, n, k, count) = (5, 4, 7, 3);
    let a_layout = Layout::column_major(m, k).unwrap().with_leading_dimension(m + 1).unwrap();
    let a_layout = BatchLayout::new(a_layout, count, a_layout.span() + 3).unwrap();
    // The same matrix each time.
    let b_layout = BatchLayout::new(Layout::row_major(k, n).unwrap(), count, 0).unwrap();
    let (a, b) = (numbers(1, a_layout.span().unwrap()), numbers(2, b_layout.span().unwrap()));
    let element = |number: usize, i: usize, j: usize| -> f32 {
        let a = |l| a[number * a_layout.stride + a_layout.matrix.index(i, l)];
        (0..k).map(|l| a(l) * b[b_layout.matrix.index(l, j)]).sum()
    };
    let expected: Vec<f32> = (0..count * m * n).map(|at| element(at / (m * n), at / n % m, at % n)).collect();
    for_each("products of batches", |device| {
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let (a, b) = (Batch::new(&a, a_layout).unwrap(), Batch::new(&b, b_layout).unwrap());
        assert_eq!(matmul(a, b).unwrap().to_vec().unwrap(), expected, "on {device}");
        let fewer = Batch::new(b.data(), BatchLayout { count: 2, ..b_layout }).unwrap();
        let error = matmul(a, fewer).unwrap_err();
        assert!(matches!(error, Error::BatchCounts { a: 3, b: 2, .. }), "{error} on {device}");
        let none = Batch::new(a.data(), BatchLayout { count: 0, ..a_layout }).unwrap();
        let of_none = Batch::new(b.data(), BatchLayout { count: 0, ..b_layout }).unwrap();
        assert!(matmul(none, of_none).unwrap().is_empty(), "on {device}");
    });
}

/// Element by element, in the order of the first operand and without its gaps.
#[test]
fn sums_differences_and_products_of_elements_have_no_gaps() {
    let (rows, columns) = (5, 70);
    let orders =
        [Order::RowMajor, Order::ColumnMajor].map(|order| Layout::new(order, rows, columns).unwrap());
    for_each("element-wise results", |device| {
        for dense in orders {
            let lead = dense.leading_dimension();
            let layouts = [lead + 3, lead + 1].map(|lead| dense.with_leading_dimension(lead).unwrap());
            let [x, y] = [(8, layouts[0]), (9, layouts[1])].map(|(seed, layout)| {
                let data = device.upload(&numbers(seed, layout.span())).unwrap();
                (data, layout)
            });
            let (of_x, of_y) = (Matrix::new(&x.0, x.1).unwrap(), Matrix::new(&y.0, y.1).unwrap());
            let expected = |of: fn(f32, f32) -> f32| -> Vec<f32> {
                let mut all = vec![0.0; rows * columns];
                for (i, j) in (0..rows * columns).map(|at| (at / columns, at % columns)) {
                    all[dense.index(i, j)] = of(number(8, x.1.index(i, j)), number(9, y.1.index(i, j)));
                }
                all
            };
            let context = format!("{:?} on {device}", dense.order());
            let to_vec = |result: Result<Buffer<f32>, Error>| result.unwrap().to_vec().unwrap();
            assert_eq!(to_vec(plus(of_x, of_y)), expected(|x, y| x + y), "{context}");
            assert_eq!(to_vec(minus(of_x, of_y)), expected(|x, y| x - y), "{context}");
            assert_eq!(to_vec(times(of_x, of_y)), expected(|x, y| x * y), "{context}");
            let error = plus(of_x, Matrix::new(of_y.data(), dense.transposed()).unwrap()).unwrap_err();
            assert!(
                matches!(error, Error::Device(Core::Shape { expected: (5, 70), actual: (70, 5), .. })),
                "{error}"
            );
        }
        let none = device.alloc::<f64>(0).unwrap();
        assert!(plus(&none, &none).unwrap().is_empty() && times(&none, &none).unwrap().is_empty());
        assert!(minus(&none, &none).unwrap().is_empty());
    });
    let (here, there) = (Device::simulator(), Device::cpu());
    let error = minus(&here.upload(&[1.0f64]).unwrap(), &there.upload(&[1.0]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Device(_)), "{error}");
}

#[test]
fn outer_products_are_all_products() {
    for_each("outer products", |device| {
        for (m, n) in [(1, 1), (3, 70), (70, 3), (0, 4), (4, 0)] {
            let (x, y) = (numbers(3, m), numbers(4, n));
            let expected: Vec<f32> = x.iter().flat_map(|x| y.iter().map(move |y| x * y)).collect();
            let (x, y) = (device.upload(&x).unwrap(), device.upload(&y).unwrap());
            assert_eq!(outer(&x, &y).unwrap().to_vec().unwrap(), expected, "{m} × {n} on {device}");
        }
    });
    let (here, there) = (Device::simulator(), Device::cpu());
    let error = outer(&here.upload(&[1.0f64]).unwrap(), &there.upload(&[1.0]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Device(_)), "{error}");
}

/// What is not in the triangle is not a number.
#[test]
fn products_with_one_triangle_read_no_other() {
    let n = 130;
    let x = numbers(6, n);
    for_each("products with one triangle", |device| {
        let of_x = device.upload(&x).unwrap();
        for (order, triangle) in [
            (Order::RowMajor, Triangle::Lower),
            (Order::RowMajor, Triangle::Upper),
            (Order::ColumnMajor, Triangle::Lower),
            (Order::ColumnMajor, Triangle::Upper),
        ] {
            let layout = Layout::new(order, n, n).unwrap().with_leading_dimension(n + 3).unwrap();
            let mut data = vec![f32::NAN; layout.span()];
            let of = |i: usize, j: usize| number(7, i.max(j) * n + i.min(j));
            for (i, j) in (0..n * n).map(|at| (at / n, at % n)).filter(|&(i, j)| triangle.holds(i, j)) {
                data[layout.index(i, j)] = of(i, j);
            }
            let a = device.upload(&data).unwrap();
            let a = Matrix::new(&a, layout).unwrap();
            let sums = |element: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
                (0..n).map(|i| (0..n).map(|j| element(i, j) * x[j]).sum()).collect()
            };
            let context = format!("{order:?}, {triangle:?} on {device}");
            let y = matvec_symmetric(triangle, a, &of_x).unwrap().to_vec().unwrap();
            assert_eq!(y, sums(&of), "{context}");
            for diagonal in [Diagonal::Stored, Diagonal::Unit] {
                let y = matvec_triangular(triangle, diagonal, a, &of_x).unwrap().to_vec().unwrap();
                let expected = sums(&|i, j| match diagonal {
                    Diagonal::Unit if i == j => 1.0,
                    _ if triangle.holds(i, j) => of(i, j),
                    _ => 0.0,
                });
                assert_eq!(y, expected, "{diagonal:?}, {context}");
            }
            assert_eq!(of_x.to_vec().unwrap(), x, "{context}: x stays");
        }
    });
}

#[test]
fn vectors_of_other_lengths_are_refused() {
    for_each("vectors of other lengths", |device| {
        let (a, x) = (device.upload(&[1.0f64; 12]).unwrap(), device.upload(&[1.0; 4]).unwrap());
        let square = Matrix::new(&a, Layout::row_major(3, 3).unwrap()).unwrap();
        let wide = Matrix::new(&a, Layout::row_major(3, 4).unwrap()).unwrap();
        for triangle in [Triangle::Lower, Triangle::Upper] {
            let of = [square, wide].map(|a| {
                let triangular = matvec_triangular(triangle, Diagonal::Stored, a, &x).unwrap_err();
                [matvec_symmetric(triangle, a, &x).unwrap_err(), triangular]
            });
            let lengths = |error: &Error| {
                matches!(error, Error::Device(Core::VectorLengths { rows: 3, columns: 3, .. }))
            };
            assert!(of[0].iter().all(lengths), "{:?} on {device}", of[0]);
            let not_square =
                |error: &Error| matches!(error, Error::Device(Core::NotSquare { rows: 3, columns: 4, .. }));
            assert!(of[1].iter().all(not_square), "{:?} on {device}", of[1]);
        }
    });
}
