//! Triangular systems, symmetric updates, Cholesky factors and products on the tensor cores. All numbers are whole and
//! small, so that every operation is exact, in whatever order.

use gpu_core::{Device, Kind, Scratch, ScratchSize};
use gpu_linalg::{
    Diagonal, Layout, Matrix, MatrixMut, Side, Triangle, bf16, gemm_tensor, gemm_tensor_scratch, potrf,
    potrf_scratch, syrk, syrk_scratch, trsm, trsm_scratch,
};
use gpu_tests::data::random;
use gpu_tests::scratch::exactly;
use proptest::prelude::*;

use super::linalg::layout;
use super::{Guarded, fuzz, place, wrong};

fn extent() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0usize..20, 2 => 20usize..70, 1 => 70usize..150]
}

fn one_of<T: Copy + std::fmt::Debug + 'static>(values: [T; 2]) -> impl Strategy<Value = T> {
    prop::sample::select(values.to_vec())
}

/// Whether a call needs more; on the CPU none does.
fn lacks_room(device: &Device, scratch: &Scratch, needed: ScratchSize) -> bool {
    device.kind() != Kind::Cpu && scratch.bytes() < needed.bytes()
}

#[test]
fn triangular_systems() {
    let of = (one_of([Side::Left, Side::Right]), one_of([Triangle::Lower, Triangle::Upper]));
    let orders = ([any::<bool>(), any::<bool>()], [0usize..4, 0..4]);
    let cases = (place(), (extent(), extent()), of, orders, [wrong(), wrong(), wrong()]);
    fuzz("trsm", cases, |(place, (n, others), (side, triangle), (orders, gaps), wrong)| {
        let (n, others, side, triangle) = (*n, *others, *side, *triangle);
        let device = place.device();
        let stream = device.stream().expect("a stream");
        let of_a = layout(n, n.saturating_add_signed(wrong[0]), orders[0], gaps[0]);
        let (rows, columns) = if side == Side::Left { (n, others) } else { (others, n) };
        let of_b = layout(rows, columns, orders[1], gaps[1]);
        // A sparse triangle: inverses of its squares stay small.
        let a =
            place.values(of_a.span(), |bits| if bits % 8 == 0 { (bits >> 8 & 2) as f64 - 1.0 } else { 0.0 });
        let x = |row: usize, column: usize| (random(!place.seed, row * columns + column) % 9) as f64 - 4.0;
        let factor = |row: usize, column: usize| match (row == column, triangle.holds(row, column)) {
            (true, _) => 1.0,
            (_, true) => a[of_a.index(row, column)],
            _ => 0.0,
        };
        let is_square = of_a.rows() == of_a.columns();
        let sum = |row: usize, column: usize| -> f64 {
            let term = |at| match side {
                Side::Left => factor(row, at) * x(at, column),
                Side::Right => x(row, at) * factor(at, column),
            };
            if is_square { (0..n).map(term).sum() } else { 0.0 }
        };
        let matrix = device.upload(&a).expect("memory");
        let mut b = Guarded::new(&device, place.offsets.1, of_b.span(), |_| 0.5);
        let mut solved = b.old().to_vec();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            b.old[place.offsets.1 + of_b.index(row, column)] = sum(row, column);
            solved[of_b.index(row, column)] = x(row, column);
        }
        b.buffer.copy_from(&b.old).expect("as long");
        let range = b.range();
        let right = MatrixMut::new(b.buffer.slice_mut(range), of_b).expect("it has room");
        let needed = trsm_scratch::<f64>(side, of_b).expect("a length");
        let mut scratch = exactly(&stream, if wrong[1] < 0 { ScratchSize::new() } else { needed });
        let mut info = device.zeroed(1usize.saturating_add_signed(wrong[2])).expect("memory");
        let a = Matrix::new(&matrix, of_a).expect("it has room");
        let result = trsm(&stream, side, triangle, Diagonal::Unit, 1.0, a, right, &mut info, &mut scratch);
        stream.synchronize().expect("no fault");
        let is_wrong = !is_square || lacks_room(&device, &scratch, needed) || info.len() != 1;
        assert_eq!(result.is_err(), is_wrong, "{result:?}");
        if result.is_err() {
            return b.check(None);
        }
        assert_eq!(info.to_vec().expect("its value"), [u32::MAX]);
        b.check(Some(&solved));
    });
}

#[test]
fn symmetric_updates_and_factors() {
    let orders = ([any::<bool>(), any::<bool>()], [0usize..4, 0..4]);
    let cases = (
        place(),
        (extent(), extent()),
        one_of([Triangle::Lower, Triangle::Upper]),
        orders,
        [wrong(), wrong()],
    );
    fuzz("syrk and potrf", cases, |(place, (n, k), triangle, (orders, gaps), wrong)| {
        let (n, k, triangle) = (*n, *k, *triangle);
        let device = place.device();
        let stream = device.stream().expect("a stream");
        let of_a = layout(n.saturating_add_signed(wrong[0]), k, orders[0], gaps[0]);
        let of_c = layout(n, n, orders[1], gaps[1]);
        let a = place.values(of_a.span(), |bits| (bits % 5) as f32 - 2.0);
        let matrix = device.upload(&a).expect("memory");
        let mut c = Guarded::new(&device, place.offsets.1, of_c.span(), |i| (i % 7) as f32);
        let range = c.range();
        let target = MatrixMut::new(c.buffer.slice_mut(range.clone()), of_c).expect("it has room");
        let mut scratch = exactly(&stream, syrk_scratch::<f32>(k, of_c));
        let factor = Matrix::new(&matrix, of_a).expect("it has room");
        let result = syrk(&stream, triangle, 2.0, factor, 1.0, target, &mut scratch);
        stream.synchronize().expect("no fault");
        assert_eq!(result.is_err(), of_a.rows() != n, "{result:?}");
        if result.is_err() {
            return c.check(None);
        }
        let mut expected = c.old().to_vec();
        for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
            if triangle.holds(row, column) {
                let sum: f32 = (0..k).map(|at| a[of_a.index(row, at)] * a[of_a.index(column, at)]).sum();
                expected[of_c.index(row, column)] += 2.0 * sum;
            }
        }
        c.check(Some(&expected));
        // A factor whose diagonal is of powers of two and whose other entries are few: roots and quotients are exact.
        let of_factor = |row: usize, column: usize| match random(place.seed, row * n + column) {
            bits if row == column => f32::from(1 + (bits % 2) as u8),
            bits if row > column && bits.is_multiple_of(8) => f32::from((bits >> 8) as u8 % 3) - 1.0,
            _ => 0.0,
        };
        let mut factor = c.old().to_vec();
        for (row, column) in (0..n).flat_map(|row| (0..=row).map(move |column| (row, column))) {
            let at = match triangle {
                Triangle::Lower => of_c.index(row, column),
                Triangle::Upper => of_c.index(column, row),
            };
            factor[at] = of_factor(row, column);
            c.old[place.offsets.1 + at] =
                (0..=column).map(|at| of_factor(row, at) * of_factor(column, at)).sum();
        }
        // A pivot that is not positive, at times.
        let bad = (wrong[1] < 0 && n > 0).then(|| place.seed as usize % n);
        if let Some(bad) = bad {
            let pivot = of_factor(bad, bad);
            c.old[place.offsets.1 + of_c.index(bad, bad)] -= pivot * pivot;
        }
        c.buffer.copy_from(&c.old).expect("as long");
        let target = MatrixMut::new(c.buffer.slice_mut(range), of_c).expect("it has room");
        let mut info = device.zeroed(1).expect("memory");
        let mut scratch = exactly(&stream, potrf_scratch::<f32>(n, 1).expect("a length"));
        potrf(&stream, triangle, target, &mut info, &mut scratch).expect("it is right");
        stream.synchronize().expect("no fault");
        assert_eq!(info.to_vec().expect("its value"), [bad.map_or(0, |bad| bad as u32 + 1)]);
        if bad.is_none() {
            c.check(Some(&factor));
        }
    });
}

#[test]
fn tensor_products() {
    let small = || prop_oneof![3 => 0usize..20, 2 => 20usize..90, 1 => 90usize..300];
    let orders = ([any::<bool>(), any::<bool>(), any::<bool>()], [0usize..9, 0..9, 0..9]);
    let cases = (place(), [small(), small(), small()], orders, one_of([0.0f32, -1.0]), [wrong(), wrong()]);
    fuzz("gemm_tensor", cases, |(place, [m, n, k], (orders, gaps), beta, wrong)| {
        let (m, n, k, beta) = (*m, *n, *k, *beta);
        let device = place.device();
        let stream = device.stream().expect("a stream");
        let of_a = layout(m, k, orders[0], gaps[0]);
        let of_b = layout(k.saturating_add_signed(wrong[0]), n, orders[1], gaps[1]);
        let of_c = layout(m, n, orders[2], gaps[2]);
        let small = |bits: u64| (bits % 5) as f32 - 2.0;
        let a = place.values(place.offsets.0 + of_a.span(), |bits| bf16::from_f32(small(bits)));
        let b = place.values(of_b.span(), |bits| bf16::from_f32(small(bits >> 20)));
        let (first, second) = (device.upload(&a).expect("memory"), device.upload(&b).expect("memory"));
        let first = Matrix::new(first.slice(place.offsets.0..), of_a).expect("it has room");
        let second = Matrix::new(&second, of_b).expect("it has room");
        let needed = gemm_tensor_scratch(first, second, of_c);
        let mut scratch = exactly(&stream, if wrong[1] < 0 { ScratchSize::new() } else { needed });
        let mut c = Guarded::new(&device, place.offsets.1, of_c.span(), |i| small(i as u64));
        let range = c.range();
        let target = MatrixMut::new(c.buffer.slice_mut(range), of_c).expect("it has room");
        let result = gemm_tensor::<bf16, f32>(&stream, 1.0, first, second, beta, target, &mut scratch);
        stream.synchronize().expect("no fault");
        let is_wrong = of_b.rows() != k || lacks_room(&device, &scratch, needed);
        assert_eq!(result.is_err(), is_wrong, "{result:?}");
        if result.is_err() {
            return c.check(None);
        }
        let mut expected = c.old().to_vec();
        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
            let product =
                |at| a[place.offsets.0 + of_a.index(row, at)].to_f32() * b[of_b.index(at, column)].to_f32();
            let old = &mut expected[of_c.index(row, column)];
            *old = (0..k).map(product).sum::<f32>() + if beta == 0.0 { 0.0 } else { beta * *old };
        }
        c.check(Some(&expected));
    });
}

/// Layouts of whatever extents: an error, or as many elements as they say.
#[test]
fn layouts() {
    let any_extent = || prop_oneof![2 => 0usize..9, 1 => any::<usize>(), 1 => Just(usize::MAX)];
    fuzz(
        "layouts",
        (any_extent(), any_extent(), any_extent(), any::<bool>()),
        |&(rows, columns, leading, by_rows)| {
            let new = if by_rows { Layout::row_major } else { Layout::column_major };
            let Ok(layout) = new(rows, columns) else {
                assert!(rows.checked_mul(columns).is_none_or(|all| all > isize::MAX as usize));
                return;
            };
            let Ok(layout) = layout.with_leading_dimension(leading) else { return };
            let (line, lines) = if by_rows { (columns, rows) } else { (rows, columns) };
            let span = if line == 0 || lines == 0 {
                0
            } else {
                (lines as u128 - 1) * leading as u128 + line as u128
            };
            assert_eq!(layout.span() as u128, span);
        },
    );
}
