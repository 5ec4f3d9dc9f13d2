//! Products of matrices and vectors.

use gpu_core::ScratchSize;
use gpu_linalg::plan::gemm::Kernel;
use gpu_linalg::variants::gemm_tiles;
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Error, Layout, Matrix, MatrixMut, gemm, gemm_scratch, gemv, gemv_scratch,
};
use proptest::prelude::*;

use super::{Guarded, fuzz, place, wrong};
use gpu_tests::scratch::exactly;

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
        let needed = gemv_scratch::<f32>(layout).expect("a length");
        let mut scratch = exactly(&stream, if wrong[2] < 0 { ScratchSize::new() } else { needed });
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
        let mut scratch = exactly(&stream, gemm_scratch::<f32>(k, of_c));
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

/// Products by a kernel of choice, of batches of which one factor may be the same for all: the kernel does not take
/// them, or the result is right.
#[test]
fn by_tiles() {
    let kernel = prop::sample::select(Kernel::of(8, None).to_vec());
    let extent = || prop_oneof![4 => 0usize..40, 2 => 40usize..140, 1 => 140usize..300];
    let even = any::<bool>();
    let orders = [any::<bool>(), any::<bool>(), any::<bool>()];
    let cases = (place(), kernel, [extent(), extent(), extent()], even, orders, 0usize..5, [1usize..4, 0..2]);
    fuzz("gemm_tiles", cases, |(place, kernel, extents, even, orders, gap, [count, same])| {
        // Where all is even the copy engine takes it.
        let step = if *even { 2 } else { 1 };
        let [m, n, k] = extents.map(|extent| extent / step * step);
        let device = place.device();
        let stream = device.stream().expect("a stream");
        let gap = gap * step;
        let [a, b, c] = [((m, k), 0), ((k, n), 1), ((m, n), 2)].map(|((rows, columns), at)| {
            let matrix = layout(rows, columns, orders[at], gap);
            let stride = if at == *same { 0 } else { matrix.span().next_multiple_of(2) + gap };
            BatchLayout { matrix, count: *count, stride }
        });
        let len = |batch: BatchLayout| (batch.count - 1) * batch.stride + batch.matrix.span();
        let of = |shift: u32| move |bits: u64| f64::from(small(bits >> shift));
        let (a_values, b_values) = (place.values(len(a), of(0)), place.values(len(b), of(20)));
        let (first, second) =
            (device.upload(&a_values).expect("memory"), device.upload(&b_values).expect("memory"));
        let from = place.offsets.1 / step * step;
        let mut written = Guarded::new(&device, from, len(c), |i| f64::from(small(i as u64)));
        let range = written.range();
        let mut scratch = exactly(&stream, gemm_scratch::<f64>(k, c));
        let target = BatchMut::new(written.buffer.slice_mut(range), c).expect("it has room");
        let (of_a, of_b) = (Batch::new(&first, a), Batch::new(&second, b));
        let (of_a, of_b) = (of_a.expect("it has room"), of_b.expect("it has room"));
        let result = gemm_tiles(&stream, *kernel, None, 2.0, of_a, of_b, -1.0, target, &mut scratch);
        stream.synchronize().expect("no fault");
        match result {
            Ok(()) => {}
            Err(Error::KernelNotFor { .. } | Error::NotAligned { .. }) => return written.check(None),
            Err(error) => panic!("{error}"),
        }
        let mut expected = written.old().to_vec();
        for number in 0..*count {
            for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                let product = |i| {
                    a_values[number * a.stride + a.matrix.index(row, i)]
                        * b_values[number * b.stride + b.matrix.index(i, column)]
                };
                let at = &mut expected[number * c.stride + c.matrix.index(row, column)];
                *at = 2.0 * (0..k).map(product).sum::<f64>() - *at;
            }
        }
        written.check(Some(&expected));
    });
}
