//! What is no matrix is refused: on all backends, with the same words.

use gpu_core::{Device, Error as Core};
use gpu_sparse::{Csr, CsrView, Error};
use gpu_tests::backends::for_each;

fn refused(device: &Device, columns: usize, offsets: &[u32], indices: &[u32], values: usize) -> String {
    let rows = offsets.len().saturating_sub(1);
    let (offsets, indices) = (device.upload(offsets).unwrap(), device.upload(indices).unwrap());
    let values = device.upload(&vec![1.0f32; values]).unwrap();
    Csr::new(rows, columns, offsets, indices, values).unwrap_err().to_string()
}

#[test]
fn arrays_that_are_no_matrix_are_refused() {
    for_each("no matrices", |device| {
        let refused = |columns, offsets: &[u32], indices: &[u32]| {
            refused(device, columns, offsets, indices, indices.len())
        };
        assert_eq!(refused(3, &[1, 2], &[0, 1]), "row 0 has the entries from 1 to 2, of 2");
        assert_eq!(refused(3, &[0, 1], &[0, 1]), "row 0 has the entries from 0 to 1, of 2");
        assert_eq!(refused(3, &[0, 2, 1, 3], &[0, 1, 2]), "row 1 has the entries from 2 to 1, of 3");
        assert_eq!(refused(3, &[0, 9, 9, 3], &[0, 1, 2]), "row 0 has the entries from 0 to 9, of 3");
        assert_eq!(refused(3, &[0, 1, 2], &[0, 3]), "entry 1 stands in row 1 and column 3 of a 2 × 3 matrix");
        assert_eq!(refused(9, &[0, 0, 3], &[2, 5, 4]), "row 1 has column 4 after 5: columns ascend");
        assert_eq!(refused(9, &[0, 3], &[2, 4, 4]), "row 0 has column 4 twice");
    });
}

#[test]
fn arrays_of_other_lengths_are_refused() {
    for_each("lengths", |device| {
        assert_eq!(refused(device, 3, &[0, 1], &[0], 2), "values of a matrix: expected 1 elements, got 2");
        let (offsets, indices) = (device.upload(&[0u32, 1]).unwrap(), device.upload(&[0u32]).unwrap());
        let values = device.upload(&[1.0f64]).unwrap();
        let error = CsrView::new(5, 5, &offsets, &indices, &values).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Device(Core::LengthMismatch { what: "offsets of a matrix", expected: 6, actual: 2 })
            ),
            "{error}"
        );
        let error = CsrView::new(5, u32::MAX as usize, &offsets, &indices, &values).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::ExtentTooLarge { what: "the number of columns", .. })),
            "{error}"
        );
    });
}

#[test]
fn the_first_fault_of_many_rows_is_told() {
    for_each("the first fault", |device| {
        let rows = 2000;
        let offsets: Vec<u32> = (0..=rows).map(|row| 2 * row).collect();
        let mut indices: Vec<u32> = (0..rows).flat_map(|_| [3, 5]).collect();
        for row in [1999, 1234, 1500] {
            indices[2 * row + 1] = 3;
        }
        assert_eq!(refused(device, 6, &offsets, &indices, indices.len()), "row 1234 has column 3 twice");
    });
}
