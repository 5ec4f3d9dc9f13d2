//! Offsets of 64 bits, and compressed columns: one body over all backends.

use gpu_core::{Device, Layout, Matrix, MatrixMut};
use gpu_sparse::{Csc, CscView, Spmv, Wide, WideSpmv, narrow_indices};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;

use crate::support::{Host, columns_of, matrix, naive_product, vector};

fn wide(offsets: &[u32]) -> Vec<u64> {
    offsets.iter().map(|&offset| offset.into()).collect()
}

#[test]
fn products_of_panels_have_the_bits_of_the_whole() {
    for_each("wide products", |device| {
        let host: Host<f64> = matrix(300, 200, 400, |row, random| {
            let most = if row % 100 == 40 { 190 } else { 8 };
            columns_of(random, most, 200)
        });
        let offsets = device.upload(&wide(&host.offsets)).unwrap();
        let (indices, values) = (device.upload(&host.indices).unwrap(), device.upload(&host.values).unwrap());
        let (x, old) = (vector::<f64>(200, 401), vector::<f64>(300, 402));
        let mut expected = old.clone();
        naive_product(1.5, &host, &x, -2.0, &mut expected);
        let on_device = device.upload(&x).unwrap();
        for (limit, panels) in [(usize::MAX, 1..=1), (1000, 2..=5), (200, 8..=30)] {
            let a = if limit == usize::MAX {
                Wide::new(300, 200, &offsets, &indices, &values).unwrap()
            } else {
                Wide::in_panels(300, 200, &offsets, &indices, &values, limit).unwrap()
            };
            let count = a.panels().count();
            assert!(panels.contains(&count), "{count} panels of {limit}");
            assert_eq!(a.narrow().is_some(), count == 1);
            assert_eq!((a.rows(), a.columns(), a.entries()), (300, 200, host.values.len()));
            let mut product = WideSpmv::new(&a).unwrap();
            let mut y = device.upload(&old).unwrap();
            product.run(&device.default_stream(), 1.5, &on_device, -2.0, &mut y).unwrap();
            assert_same_bits(&y.to_vec().unwrap(), &expected, &format!("panels of {limit}"));
            for layout in [
                Layout::row_major(300, 2).unwrap(),
                Layout::column_major(300, 2).unwrap().with_leading_dimension(307).unwrap(),
            ] {
                let b: Vec<f64> = [&x[..], &x[..]].concat();
                let b = device.upload(&b).unwrap();
                let b = Matrix::new(&b, Layout::column_major(200, 2).unwrap()).unwrap();
                let mut before = vec![-77.0; layout.span()];
                let mut after = before.clone();
                for column in 0..2 {
                    for row in 0..300 {
                        before[layout.index(row, column)] = old[row];
                        after[layout.index(row, column)] = expected[row];
                    }
                }
                let mut c = device.upload(&before).unwrap();
                let out = MatrixMut::new(&mut c, layout).unwrap();
                product.run_many(&device.default_stream(), 1.5, b, -2.0, out).unwrap();
                assert_same_bits(&c.to_vec().unwrap(), &after, &format!("panels of {limit}, {layout:?}"));
            }
        }
    });
}

fn refused(device: &Device, columns: usize, offsets: &[u64], indices: &[u32], limit: usize) -> String {
    let rows = offsets.len() - 1;
    let (offsets, indices) = (device.upload(offsets).unwrap(), device.upload(indices).unwrap());
    let values = device.upload(&vec![1.0f32; indices.len()]).unwrap();
    Wide::in_panels(rows, columns, &offsets, &indices, &values, limit).unwrap_err().to_string()
}

#[test]
fn wide_arrays_that_are_no_matrix_are_refused() {
    for_each("wide, no matrices", |device| {
        let large = 1 << 40;
        let refused = |columns, offsets: &[u64], indices: &[u32], limit| {
            refused(device, columns, offsets, indices, limit)
        };
        for limit in [4, 100] {
            assert_eq!(refused(3, &[1, 2], &[0, 1], limit), "row 0 has the entries from 1 to 2, of 2");
            assert_eq!(refused(3, &[0, 1], &[0, 1], limit), "row 0 has the entries from 0 to 1, of 2");
            let said = refused(3, &[0, 1, large, 2, 3], &[0, 1, 2], limit);
            assert_eq!(said, format!("row 1 has the entries from 1 to {large}, of 3"));
            let said = refused(9, &[0, 1, 2, 4, 5], &[0, 3, 5, 4, 1], limit);
            assert_eq!(said, "row 2 has column 4 after 5: columns ascend");
            let said = refused(9, &[0, 1, 2, 4, 5], &[0, 3, 5, 5, 1], limit);
            assert_eq!(said, "row 2 has column 5 twice");
            let said = refused(9, &[0, 1, 2, 4, 5], &[0, 3, 5, 9, 1], limit);
            assert_eq!(said, "entry 3 stands in row 2 and column 9 of a 4 × 9 matrix");
        }
        let said = refused(9, &[0, 1, 5], &[0, 1, 2, 3, 4], 4);
        assert_eq!(said, "a row with its entries is 5, the limit is 4");
        let many = device.upload(&[5u64, 1 << 33]).unwrap();
        let error = gpu_core::Error::from(narrow_indices(&many).unwrap_err());
        let gpu_core::Error::ExtentTooLarge { what: "a column", actual, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(actual, 1 << 33);
    });
}

#[test]
fn columns_of_64_bits_are_narrowed() {
    for_each("narrowed", |device| {
        let wide: Vec<u64> = (0..700).map(|number| number * 6_000_000).collect();
        let narrow: Vec<u32> = wide.iter().map(|&number| number as u32).collect();
        assert_eq!(narrow_indices(&device.upload(&wide).unwrap()).unwrap().to_vec().unwrap(), narrow);
        assert!(narrow_indices(&device.alloc(0).unwrap()).unwrap().is_empty());
    });
}

#[test]
fn compressed_columns_and_rows_are_the_same_matrix() {
    for_each("columns", |device| {
        let host: Host<f32> = matrix(90, 130, 410, |_, random| columns_of(random, 20, 130));
        let a = host.on(device);
        let columns = Csc::from_csr(&a).unwrap();
        let view: CscView<'_, f32> = (&columns).into();
        assert_eq!((view.rows(), view.columns(), view.entries()), (90, 130, host.values.len()));
        let (offsets, indices, values) = view.to_csr().unwrap().into_buffers();
        assert_eq!(offsets.to_vec().unwrap(), host.offsets);
        assert_eq!(indices.to_vec().unwrap(), host.indices);
        assert_same_bits(&values.to_vec().unwrap(), &host.values, "and back");
        // The same arrays, given as columns.
        let given = view.transposed();
        let again = CscView::new(90, 130, given.offsets(), given.indices(), given.values()).unwrap();
        let x = vector::<f32>(130, 411);
        let mut expected = vec![0.0; 90];
        naive_product(1.0, &host, &x, 0.0, &mut expected);
        let (x, mut y) = (device.upload(&x).unwrap(), device.alloc(90).unwrap());
        let mut product = Spmv::transposed(again.transposed()).unwrap();
        product.run(&device.default_stream(), 1.0, &x, 0.0, &mut y).unwrap();
        assert_same_bits(&y.to_vec().unwrap(), &expected, "product of columns");
    });
}
