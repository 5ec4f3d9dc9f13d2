//! Matrices that are taken as they are: the same as those that are looked at, and not looked at.

use gpu_core::{Buffer, Device};
use gpu_sparse::{Csc, CscView, Csr, CsrView, Error, Spmv, Wide, WideSpmv, spmv};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;

use crate::support::{Host, columns_of, matrix, naive_product, vector};

const ROWS: usize = 90;
const COLUMNS: usize = 130;

fn upload<T: gpu_sparse::Element>(device: &Device, host: &Host<T>) -> (Buffer<u32>, Buffer<u32>, Buffer<T>) {
    let (offsets, indices) = (device.upload(&host.offsets).unwrap(), device.upload(&host.indices).unwrap());
    (offsets, indices, device.upload(&host.values).unwrap())
}

#[test]
fn unchecked_matrices_are_those_that_were_checked() {
    for_each("unchecked", |device| {
        let host: Host<f64> = matrix(ROWS, COLUMNS, 510, |_, random| columns_of(random, 20, COLUMNS));
        let (of_columns, of_rows) = (vector::<f64>(COLUMNS, 511), vector::<f64>(ROWS, 512));
        let mut expected = vec![0.0; ROWS];
        naive_product(1.0, &host, &of_columns, 0.0, &mut expected);
        let (x, of_rows) = (device.upload(&of_columns).unwrap(), device.upload(&of_rows).unwrap());
        let stream = device.default_stream();

        // ---- compressed rows
        let (offsets, indices, values) = upload(device, &host);
        // SAFETY: arrays of a matrix, all on one device; as below.
        let view = unsafe { CsrView::new_unchecked(ROWS, COLUMNS, &offsets, &indices, &values) };
        assert_eq!((view.rows(), view.columns(), view.entries()), (ROWS, COLUMNS, host.values.len()));
        assert_same_bits(&spmv(view, &x).unwrap().to_vec().unwrap(), &expected, "CsrView");
        let (offsets, indices, values) = upload(device, &host);
        // SAFETY: as above.
        let a = unsafe { Csr::new_unchecked(ROWS, COLUMNS, offsets, indices, values) };
        assert_same_bits(&spmv(&a, &x).unwrap().to_vec().unwrap(), &expected, "Csr");

        // ---- compressed columns: the same arrays are the transposed matrix
        let transposed =
            Csr::upload(device, ROWS, COLUMNS, &host.offsets, &host.indices, &host.values).unwrap();
        let transposed = Spmv::transposed(&transposed).unwrap();
        let product = |mut product: Spmv<'_, f64>| {
            let mut y = device.alloc(COLUMNS).unwrap();
            product.run(&stream, 1.0, &of_rows, 0.0, &mut y).unwrap();
            y.to_vec().unwrap()
        };
        let expected_transposed = product(transposed);
        let (offsets, indices, values) = upload(device, &host);
        // SAFETY: as above.
        let view = unsafe { CscView::new_unchecked(COLUMNS, ROWS, &offsets, &indices, &values) };
        assert_eq!((view.rows(), view.columns(), view.entries()), (COLUMNS, ROWS, host.values.len()));
        let found = product(Spmv::transposed(view.transposed()).unwrap());
        assert_same_bits(&found, &expected_transposed, "CscView");
        let checked = Csc::new(COLUMNS, ROWS, offsets, indices, values).unwrap();
        let (offsets, indices, values) = upload(device, &host);
        // SAFETY: as above.
        let taken = unsafe { Csc::new_unchecked(COLUMNS, ROWS, offsets, indices, values) };
        for a in [checked, taken] {
            assert_eq!((a.rows(), a.columns()), (COLUMNS, ROWS));
            let found = product(Spmv::transposed(a.transposed()).unwrap());
            assert_same_bits(&found, &expected_transposed, "Csc");
        }

        // ---- offsets of 64 bits
        let wide: Vec<u64> = host.offsets.iter().map(|&offset| offset.into()).collect();
        let (offsets, a) = (device.upload(&wide).unwrap(), a.view());
        // SAFETY: as above.
        let whole = unsafe { Wide::new_unchecked(ROWS, COLUMNS, &offsets, a.indices(), a.values()) }.unwrap();
        // SAFETY: as above.
        let cut = unsafe { Wide::in_panels_unchecked(ROWS, COLUMNS, &offsets, a.indices(), a.values(), 100) };
        let cut = cut.unwrap();
        assert!(whole.panels().count() == 1 && cut.panels().count() > 1);
        for wide in [whole, cut] {
            let mut y = device.alloc(ROWS).unwrap();
            WideSpmv::new(&wide).unwrap().run(&stream, 1.0, &x, 0.0, &mut y).unwrap();
            assert_same_bits(&y.to_vec().unwrap(), &expected, "Wide");
        }
    });
}

/// Their checked twins refuse rows that do not ascend; these do not look. No matrix that is made here is used.
#[test]
fn unchecked_matrices_are_not_looked_at() {
    for_each("unchecked, unsorted", |device| {
        let host =
            Host { rows: 1, columns: 3, offsets: vec![0, 2], indices: vec![2, 1], values: vec![1.0f32; 2] };
        let (offsets, indices, values) = upload(device, &host);
        let unsorted = |error: Error| assert!(matches!(error, Error::Unsorted { .. }), "{error}");
        unsorted(CsrView::new(1, 3, &offsets, &indices, &values).unwrap_err());
        unsorted(CscView::new(3, 1, &offsets, &indices, &values).unwrap_err());
        let wide = device.upload(&[0u64, 2]).unwrap();
        unsorted(Wide::new(1, 3, &wide, &indices, &values).unwrap_err());
        // SAFETY: kernels hold columns to the matrix, and none is launched.
        let view = unsafe { CsrView::new_unchecked(1, 3, &offsets, &indices, &values) };
        assert_eq!(view.entries(), 2);
        // SAFETY: as above.
        let view = unsafe { CscView::new_unchecked(3, 1, &offsets, &indices, &values) };
        assert_eq!(view.entries(), 2);
        // SAFETY: as above.
        let view = unsafe { Wide::new_unchecked(1, 3, &wide, &indices, &values) }.unwrap();
        assert_eq!(view.entries(), 2);
        // What does not need a look at the columns is refused here too.
        let short = device.upload(&[0u64, 1]).unwrap();
        // SAFETY: as above.
        let error = unsafe { Wide::new_unchecked(1, 3, &short, &indices, &values) }.unwrap_err();
        assert!(matches!(error, Error::Offsets { row: 0, start: 0, end: 1, entries: 2 }), "{error}");
        // SAFETY: as above.
        let error = unsafe { Wide::in_panels_unchecked(1, 3, &wide, &indices, &values, 2) }.unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::ExtentTooLarge { actual: 3, limit: 2, .. })),
            "{error}"
        );
        let twice = (device.upload(&[0, 2]).unwrap(), device.upload(&[2, 1]).unwrap());
        unsorted(Csc::new(3, 1, twice.0, twice.1, values).unwrap_err());
    });
}
