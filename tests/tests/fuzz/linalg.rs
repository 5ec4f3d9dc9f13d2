//! Products of matrices and vectors.

use gpu_linalg::{Layout, Matrix, MatrixMut, gemm, gemm_scratch_len, gemv, gemv_scratch_len};
use proptest::prelude::*;

use super::{Guarded, fuzz, place, wrong};

/// Whole numbers: sums of products are exact in any order.
fn small(bits: u64) -> f32 {
    (bits % 9) as f32 - 4.0
}

fn extent() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0usize..20, 2 => 20usize..150, 1 => 150usize..700]
}

pub fn layout(rows: usize, columns: usize, by_rows: bool, gap: usize) -> Layout {
    let layout = if by_rows { Layout::row_major(rows, columns) } else { Layout::column_major(rows, columns) };
    let layout = layout.expect("a matrix");
    layout.with_leading_dimension(layout.leading_dimension() + gap).expect("a line fits")
}

#[test]
fn matrix_and_vector() {
    let scalar = || prop::sample::select(vec![0.0f32, 1.0, -2.0]);
    let cases = (
        place(),
        (extent(), extent()),
        any::<bool>(),
        0usize..5,
        (scalar(), scalar()),
        [wrong(), wrong(), wrong()],
    );
    fuzz("gemv", cases, |(place, (rows, columns), by_rows, gap, (alpha, beta), wrong)| {
        let (rows, columns, alpha, beta) = (*rows, *columns, *alpha, *beta);
        let device = place.device();
        let stream = device.stream().expect("a stream");
        let layout = layout(rows, columns, *by_rows, *gap);
        let a = place.values(place.offsets.0 + layout.span(), small);
        let x = place.values(columns.saturating_add_signed(wrong[0]), |bits| small(bits >> 20));
        let (on_device, vector) = (device.upload(&a).expect("memory"), device.upload(&x).expect("memory"));
        let scratch = gemv_scratch_len::<f32>(layout).expect("a length");
        let mut scratch = device.zeroed(scratch.saturating_add_signed(wrong[2])).expect("memory");
        let mut y =
            Guarded::new(&device, place.offsets.1, rows.saturating_add_signed(wrong[1]), |i| small(i as u64));
        let range = y.range();
        let matrix = Matrix::new(on_device.slice(place.offsets.0..), layout).expect("it has room");
        let target = y.buffer.slice_mut(range);
        let result = gemv(&stream, alpha, matrix, &vector, beta, target, &mut scratch);
        stream.synchronize().expect("no fault");
        assert_eq!(on_device.to_vec().expect("its values"), a);
        assert_eq!(vector.to_vec().expect("its values"), x);
        if result.is_err() {
            assert_ne!(*wrong, [0; 3], "{result:?}");
            return y.check(None);
        }
        let of_row = |row: usize| -> f32 {
            let product = |column| a[place.offsets.0 + layout.index(row, column)] * x[column];
            (0..columns).map(product).sum()
        };
        let old = y.old();
        let expected: Vec<f32> = (0..rows)
            .map(|row| {
                let before = if beta == 0.0 { 0.0 } else { beta * old[row] };
                let product = if alpha == 0.0 { 0.0 } else { alpha * of_row(row) };
                product + before
            })
            .collect();
        y.check(Some(&expected));
    });
}

#[test]
fn matrix_and_matrix() {
    let small_extent = || prop_oneof![6 => 0usize..20, 2 => 20usize..90, 1 => 90usize..400];
    let orders = [any::<bool>(), any::<bool>(), any::<bool>()];
    let cases =
        (place(), [small_extent(), small_extent(), small_extent()], orders, [0usize..4, 0..4, 0..4], wrong());
    fuzz("gemm", cases, |(place, [m, n, k], orders, gaps, wrong)| {
        let (m, n, k) = (*m, *n, *k);
        let device = place.device();
        let stream = device.stream().expect("a stream");
        let of_a = layout(m, k, orders[0], gaps[0]);
        let of_b = layout(k.saturating_add_signed(*wrong), n, orders[1], gaps[1]);
        let of_c = layout(m, n, orders[2], gaps[2]);
        let a = place.values(of_a.span(), small);
        let b = place.values(of_b.span(), |bits| small(bits >> 20));
        let (first, second) = (device.upload(&a).expect("memory"), device.upload(&b).expect("memory"));
        let mut c = Guarded::new(&device, place.offsets.1, of_c.span(), |i| small(i as u64));
        let range = c.range();
        let target = MatrixMut::new(c.buffer.slice_mut(range), of_c).expect("it has room");
        let mut scratch = device.alloc(gemm_scratch_len::<f32>(k, of_c)).expect("memory");
        let result = gemm(
            &stream,
            1.0,
            Matrix::new(&first, of_a).expect("it has room"),
            Matrix::new(&second, of_b).expect("it has room"),
            0.0,
            target,
            &mut scratch,
        );
        stream.synchronize().expect("no fault");
        if result.is_err() {
            assert_ne!(of_b.rows(), k, "{result:?}");
            return c.check(None);
        }
        let mut expected = c.old().to_vec();
        for row in 0..m {
            for column in 0..n {
                let product = |i| a[of_a.index(row, i)] * b[of_b.index(i, column)];
                expected[of_c.index(row, column)] = (0..k).map(product).sum();
            }
        }
        c.check(Some(&expected));
    });
}
