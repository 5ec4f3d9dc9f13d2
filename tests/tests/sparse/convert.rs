//! Conversions: one body over all backends, against serial oracles.

use std::collections::BTreeMap;

use gpu_sparse::{
    Coo, CooView, Csc, Csr, Duplicates, Error, Transposition, compress, expand, sort_rows, transpose_by,
};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::errors::assert_length;

use crate::support::{Random, Value, matrix};

fn lists<T: Value>(test: &str) {
    for_each(test, |device| {
        for (rows, columns, len) in [
            (0, 0, 0),
            (3, 4, 0),
            (1, 1, 1),
            (1, 1, 500),
            (7, 5, 300),
            (500, 3, 700),
            (3, 100_000, 257),
            (1000, 1000, 3000),
        ] {
            let mut random = Random(51 + len as u64);
            let mut entries: Vec<(u32, u32, T)> = Vec::new();
            for _ in 0..len {
                let (row, column) = (random.below(rows) as u32, random.below(columns) as u32);
                entries.push((row, column, T::of(random.number())));
            }
            // The oracle: one sum a place, entries in their order.
            let mut sums: BTreeMap<(u32, u32), T> = BTreeMap::new();
            for &(row, column, value) in &entries {
                sums.entry((row, column)).and_modify(|sum| *sum = *sum + value).or_insert(value);
            }
            let offsets: Vec<u32> = (0..=rows as u32)
                .map(|row| sums.keys().filter(|place| place.0 < row).count() as u32)
                .collect();
            let columns_of: Vec<u32> = sums.keys().map(|place| place.1).collect();

            let row_indices: Vec<u32> = entries.iter().map(|entry| entry.0).collect();
            let column_indices: Vec<u32> = entries.iter().map(|entry| entry.1).collect();
            let values: Vec<T> = entries.iter().map(|entry| entry.2).collect();
            let list = Coo::upload(device, rows, columns, &row_indices, &column_indices, &values).unwrap();
            let (found_offsets, found_columns, found_values) = compress(&list).unwrap().into_buffers();
            assert_eq!(found_offsets.to_vec().unwrap(), offsets);
            assert_eq!(found_columns.to_vec().unwrap(), columns_of);
            let sums: Vec<T> = sums.into_values().collect();
            assert_same_bits(&found_values.to_vec().unwrap(), &sums, "compressed");
        }
    });
}

#[test]
fn lists_of_f32_are_compressed() {
    lists::<f32>("compress f32");
}

#[test]
fn lists_of_f64_are_compressed() {
    lists::<f64>("compress f64");
}

#[test]
fn an_entry_outside_is_refused() {
    for_each("compress, outside", |device| {
        let buffers = (device.upload(&[0, 1, 2]).unwrap(), device.upload(&[0, 9, 9]).unwrap());
        let list = Coo::new(3, 5, buffers.0, buffers.1, device.upload(&[1.0f32; 3]).unwrap()).unwrap();
        let error = compress(&list).unwrap_err();
        assert!(
            matches!(error, Error::OutOfRange { entry: 1, row: 1, column: 9, rows: 3, columns: 5 }),
            "{error}"
        );
        // The same entries, borrowed.
        let lent = (device.upload(&[0, 1, 2]).unwrap(), device.upload(&[0, 9, 9]).unwrap());
        let values = device.upload(&[1.0f32; 3]).unwrap();
        let entries = CooView::new(3, 5, &lent.0, &lent.1, &values).unwrap();
        let error = compress(entries).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { entry: 1, row: 1, column: 9, .. }), "{error}");
        let error = CooView::new(3, 5, lent.0.slice(1..), &lent.1, &values).unwrap_err();
        assert_length(error, "row indices of a matrix", 3, 2);
        let error = CooView::new(3, 5, &lent.0, &lent.1, values.slice(1..)).unwrap_err();
        assert_length(error, "values of a matrix", 3, 2);
        // The first row and the first column that there are not.
        for (row, column) in [(3, 0), (0, 5)] {
            let lent = (device.upload(&[row]).unwrap(), device.upload(&[column]).unwrap());
            let error =
                compress(CooView::new(3, 5, &lent.0, &lent.1, values.slice(..1)).unwrap()).unwrap_err();
            assert!(matches!(error, Error::OutOfRange { entry: 0, .. }), "{error}");
        }
        let error = Coo::upload(device, 3, 5, &[3], &[0], &[1.0f32]).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { entry: 0, row: 3, .. }), "{error}");
    });
}

fn expansions<T: Value>(test: &str) {
    for_each(test, |device| {
        for (rows, columns) in [(0, 0), (0, 9), (9, 0), (1, 1), (1, 700), (700, 1), (300, 40), (1031, 257)] {
            // Every third row is empty, and so are the last ones.
            let mut host = matrix::<T>(rows, columns, 62, |row, random| {
                let is_empty = columns == 0 || row % 3 == 1 || row + 20 > rows.max(30);
                (0..if is_empty { 0 } else { random.below(12) }).map(|_| random.below(columns)).collect()
            });
            // What a sum would change.
            for (value, special) in host.values.iter_mut().zip([-0.0, f64::NAN, f64::INFINITY, 0.0]) {
                *value = T::of(special);
            }
            let a = host.on(device);
            let list = expand(&a).unwrap();
            assert_eq!((list.rows(), list.columns(), list.entries()), (rows, columns, host.values.len()));
            let expected: Vec<u32> =
                (0..rows).flat_map(|row| host.row(row).map(move |_| row as u32)).collect();
            assert_eq!(list.view().row_indices().to_vec().unwrap(), expected);
            assert_eq!(list.view().column_indices().to_vec().unwrap(), host.indices);
            assert_same_bits(&list.view().values().to_vec().unwrap(), &host.values, "expanded");
            let (offsets, indices, values) = compress(&list).unwrap().into_buffers();
            assert_eq!(offsets.to_vec().unwrap(), host.offsets);
            assert_eq!(indices.to_vec().unwrap(), host.indices);
            assert_same_bits(&values.to_vec().unwrap(), &host.values, "and back");
        }
        // No entries at all.
        let a = Csr::<T>::upload(device, 5, 7, &[0; 6], &[], &[]).unwrap();
        let list = expand(&a).unwrap();
        assert_eq!((list.rows(), list.columns(), list.entries()), (5, 7, 0));
        assert_eq!(compress(&list).unwrap().into_buffers().0.to_vec().unwrap(), [0; 6]);
    });
}

#[test]
fn matrices_of_f32_are_expanded_to_lists_and_back() {
    expansions::<f32>("expand f32");
}

#[test]
fn matrices_of_f64_are_expanded_to_lists_and_back() {
    expansions::<f64>("expand f64");
}

fn shuffled<T: Value>(test: &str) {
    for_each(test, |device| {
        for (rows, columns) in [(0, 0), (0, 9), (9, 0), (1, 1), (1, 700), (700, 1), (300, 40), (1031, 257)] {
            let sorted = matrix::<T>(rows, columns, 63, |row, random| {
                let is_empty = columns == 0 || row % 3 == 1;
                (0..if is_empty { 0 } else { random.below(12) }).map(|_| random.below(columns)).collect()
            });
            let (mut host, mut random) = (sorted.clone(), Random(64));
            for row in 0..rows {
                let entries = host.row(row);
                for last in entries.clone().rev() {
                    let other = entries.start + random.below(last - entries.start + 1);
                    host.indices.swap(last, other);
                    host.values.swap(last, other);
                }
            }
            let (offsets, indices) =
                (device.upload(&host.offsets).unwrap(), device.upload(&host.indices).unwrap());
            let values = device.upload(&host.values).unwrap();
            for duplicates in [Duplicates::Added, Duplicates::Refused] {
                let found = sort_rows(rows, columns, &offsets, &indices, &values, duplicates).unwrap();
                let (offsets, indices, values) = found.into_buffers();
                assert_eq!(offsets.to_vec().unwrap(), sorted.offsets);
                assert_eq!(indices.to_vec().unwrap(), sorted.indices);
                assert_same_bits(&values.to_vec().unwrap(), &sorted.values, "sorted");
            }
        }
    });
}

#[test]
fn rows_of_f32_are_sorted() {
    shuffled::<f32>("sort_rows f32");
}

#[test]
fn rows_of_f64_are_sorted() {
    shuffled::<f64>("sort_rows f64");
}

#[test]
fn equal_places_of_unsorted_rows_are_added_or_refused() {
    for_each("sort_rows, duplicates", |device| {
        // Row 2 has a column twice, row 3 one three times.
        let offsets = device.upload(&[0, 2, 2, 5, 9]).unwrap();
        let indices = device.upload(&[3, 1, 4, 0, 4, 2, 5, 2, 2]).unwrap();
        let values = device.upload(&[1.0f32, 2.0, 1e8, 4.0, 1.0, 3.0, 5.0, 1e8, -1e8]).unwrap();
        let sorted = |duplicates| sort_rows(4, 6, &offsets, &indices, &values, duplicates);
        let (ends, columns, sums) = sorted(Duplicates::Added).unwrap().into_buffers();
        assert_eq!(ends.to_vec().unwrap(), [0, 2, 2, 4, 6]);
        assert_eq!(columns.to_vec().unwrap(), [1, 3, 0, 4, 2, 5]);
        // In the order in which they stand: the 3 is lost to the first sum.
        assert_eq!(sums.to_vec().unwrap(), [2.0, 1.0, 4.0, 1e8, 0.0, 5.0]);
        let error = sorted(Duplicates::Refused).unwrap_err();
        assert!(matches!(error, Error::Duplicate { row: 2, column: 4 }), "{error}");
    });
}

#[test]
fn unsorted_arrays_that_are_no_matrix_are_refused() {
    for_each("sort_rows, no matrices", |device| {
        let values = device.upload(&[1.0f64; 3]).unwrap();
        let refused = |offsets: &[u32], indices: &[u32]| {
            let (offsets, indices) = (device.upload(offsets).unwrap(), device.upload(indices).unwrap());
            sort_rows(2, 3, &offsets, &indices, &values, Duplicates::Added).unwrap_err().to_string()
        };
        assert_eq!(refused(&[0, 3], &[2, 1, 0]), "offsets of a matrix: expected 3 elements, got 2");
        assert_eq!(refused(&[0, 1, 2], &[2, 1]), "values of a matrix: expected 2 elements, got 3");
        assert_eq!(refused(&[1, 2, 3], &[2, 1, 0]), "row 0 has the entries from 1 to 3, of 3");
        assert_eq!(refused(&[0, 4, 3], &[2, 1, 0]), "row 0 has the entries from 0 to 4, of 3");
        // Row 0 is unsorted, which is no fault here; row 1 has a column that there is not.
        assert_eq!(refused(&[0, 2, 3], &[2, 1, 3]), "entry 2 stands in row 1 and column 3 of a 2 × 3 matrix");
    });
}

/// The transposed matrix, which is the same whichever way it goes.
fn transposed_by_each<T: Value>(a: &Csr<T>) -> Csr<T> {
    let is_elsewhere = a.view().offsets().as_slice().is_none() && a.view().entries() > 0;
    let by = |asked: Transposition| {
        let (transposed, way) = transpose_by(a, asked).unwrap();
        match asked {
            // Which matrices go so is said below.
            Transposition::Tiles if is_elsewhere => assert_ne!(way, Transposition::Sampled),
            Transposition::Sampled if is_elsewhere => assert_ne!(way, Transposition::Sampled),
            _ => assert_eq!(way, Transposition::Sorted),
        }
        let (rows, columns) = (transposed.view().rows(), transposed.view().columns());
        let (offsets, indices, values) = transposed.into_buffers();
        (rows, columns, [offsets.to_vec().unwrap(), indices.to_vec().unwrap()], values.to_vec().unwrap())
    };
    let sorted = by(Transposition::Sorted);
    for other in [Transposition::Tiles, Transposition::Sampled] {
        let found = by(other);
        assert_eq!((sorted.0, sorted.1, &sorted.2), (found.0, found.1, &found.2), "{other:?}");
        assert_same_bits(&sorted.3, &found.3, &format!("{other:?}"));
    }
    // So few are sorted.
    by(Transposition::Auto);
    transpose_by(a, Transposition::Sampled).unwrap().0
}

fn transpositions<T: Value>(test: &str) {
    for_each(test, |device| {
        for (rows, columns, most) in [
            (0, 0, 12),
            (0, 9, 12),
            (9, 0, 12),
            (1, 1, 12),
            (1, 700, 12),
            (700, 1, 12),
            (300, 40, 12),
            (257, 1031, 12),
            // Several tiles, and several buckets of columns, the last of them not whole.
            (2500, 1500, 12),
            (40, 70_000, 200),
            // Longer columns than tiles are for.
            (6000, 4, 16),
        ] {
            let host = matrix::<T>(rows, columns, 61, |_, random| {
                if columns == 0 {
                    return vec![];
                }
                (0..random.below(most)).map(|_| random.below(columns)).collect()
            });
            let mut expected: Vec<(u32, u32, T)> = (0..rows)
                .flat_map(|row| host.row(row).map(move |entry| (row, entry)))
                .map(|(row, entry)| (host.indices[entry], row as u32, host.values[entry]))
                .collect();
            expected.sort_by_key(|entry| (entry.0, entry.1));
            let a = host.on(device);
            let transposed = transposed_by_each(&a);
            assert_eq!((transposed.view().rows(), transposed.view().columns()), (columns, rows));
            // It is a matrix.
            let (offsets, indices, values) = transposed.into_buffers();
            let transposed = Csr::new(columns, rows, offsets, indices, values).unwrap();
            let back = transposed_by_each(&transposed);
            let offsets = |matrix: &Csr<T>| {
                let mut offsets = vec![0; matrix.view().rows() + 1];
                matrix.view().offsets().copy_to(&mut offsets).unwrap();
                offsets
            };
            assert_eq!(offsets(&back), host.offsets);
            let ends: Vec<u32> = (0..=columns as u32)
                .map(|column| expected.partition_point(|entry| entry.0 < column) as u32)
                .collect();
            assert_eq!(offsets(&transposed), ends);
            let of_columns = Csc::of_transposed(transposed);
            assert_eq!((of_columns.rows(), of_columns.columns()), (rows, columns));
            let (_, indices, values) = of_columns.into_transposed().into_buffers();
            assert_eq!(indices.to_vec().unwrap(), expected.iter().map(|entry| entry.1).collect::<Vec<_>>());
            let expected: Vec<T> = expected.iter().map(|entry| entry.2).collect();
            assert_same_bits(&values.to_vec().unwrap(), &expected, "transposed");
        }
    });
}

/// Those of a band are near each other; of 70 000 columns a tile's entries go to most buckets; a column of 300 entries
/// is too long, which a sample does not say.
#[test]
fn a_sample_says_which_way_entries_go() {
    for_each("transpose, sampled", |device| {
        for (rows, columns, of_row, expected) in [
            (8000, 8000, 3, [Transposition::Tiles; 2]),
            (3000, 70_000, 30, [Transposition::Sorted, Transposition::Tiles]),
            (300, 5, 4, [Transposition::Sorted; 2]),
        ] {
            let host = matrix::<f32>(rows, columns, 71, |row, random| match columns {
                8000 => (row..columns.min(row + of_row)).collect(),
                5 => (0..of_row).collect(),
                _ => (0..of_row).map(|_| random.below(columns)).collect(),
            });
            for (asked, expected) in [Transposition::Sampled, Transposition::Tiles].into_iter().zip(expected)
            {
                let (transposed, way) = transpose_by(&host.on(device), asked).unwrap();
                let is_here = transposed.view().offsets().as_slice().is_some();
                let expected = if is_here { Transposition::Sorted } else { expected };
                assert_eq!(way, expected, "{rows} × {columns}, {asked:?}");
            }
        }
    });
}

#[test]
fn matrices_of_f32_are_transposed() {
    transpositions::<f32>("transpose f32");
}

#[test]
fn matrices_of_f64_are_transposed() {
    transpositions::<f64>("transpose f64");
}

#[test]
fn sprs_and_back_is_the_same() {
    for_each("sprs", |device| {
        let host = matrix::<f64>(50, 70, 71, |_, random| (0..5).map(|_| random.below(70)).collect());
        let wide =
            |numbers: &[u32]| -> Vec<usize> { numbers.iter().map(|&number| number as usize).collect() };
        let theirs =
            sprs::CsMat::new((50, 70), wide(&host.offsets), wide(&host.indices), host.values.clone());
        for matrix in [theirs.clone(), theirs.to_csc()] {
            assert_eq!(Csr::from_sprs(device, &matrix).unwrap().view().to_sprs().unwrap(), theirs);
        }
    });
}
