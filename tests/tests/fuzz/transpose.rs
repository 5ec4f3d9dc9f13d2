//! Transpositions and permutations.

use std::fmt::Debug;

use gpu_core::Element;
use gpu_transpose::{Batch, BatchLayout, BatchMut, Layout, Order, permute_into, transpose_into};
use proptest::prelude::*;

use super::{Guarded, Place, fuzz, place, wrong};

#[derive(Clone, Debug)]
struct Case {
    place: Place,
    bytes: usize,
    shape: (usize, usize, usize),
    /// Of input and output.
    orders: [Order; 2],
    /// Gaps after rows and matrices, of input and output.
    gaps: [usize; 4],
    wrong: [isize; 3],
}

fn extent() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0usize..40, 1 => prop::sample::select(vec![31usize, 32, 33, 63, 64, 65, 96, 128, 160])]
}

fn of_type<T: Element + PartialEq + Debug>(case: &Case, of: impl Fn(u64) -> T + Copy) {
    let Case { place, shape: (count, rows, columns), orders, gaps, wrong, .. } = *case;
    let device = place.device();
    let [matrix, dense] = [(orders[0], rows, columns), (orders[1], columns, rows)]
        .map(|(order, rows, columns)| Layout::new(order, rows, columns).expect("it is small"));
    let matrix = matrix.with_leading_dimension(matrix.contiguous() + gaps[0]).expect("a line fits");
    let stride = matrix.lines() * matrix.leading_dimension() + gaps[1];
    let ld = dense.contiguous() + gaps[2];
    let output_stride = (dense.lines() * ld + gaps[3]).saturating_add_signed(wrong[1]);
    let output_ld = ld.saturating_add_signed(wrong[0]);
    let batch = BatchLayout::new(matrix, count, stride).expect("matrices apart");
    let values = place.values(place.offsets.0 + batch.span().expect("checked"), of);
    let input = device.upload(&values).expect("memory");
    let transposed = dense
        .with_leading_dimension(output_ld)
        .and_then(|transposed| BatchLayout::new(transposed, count, output_stride));
    let to = transposed.as_ref().ok().copied();
    let len = to.map_or(dense.lines() * output_ld, |batch| batch.span().expect("checked"));
    let len = len.saturating_add_signed(wrong[2]);
    let mut output = Guarded::new(&device, place.offsets.1, len, |i| of(!(i as u64)));
    let range = output.range();
    let stream = device.stream().expect("a stream");
    let result = transposed
        .and_then(|transposed| BatchMut::new(output.buffer.slice_mut(range), transposed))
        .map_err(gpu_transpose::Error::from)
        .and_then(|output| {
            transpose_into(&stream, Batch::new(input.slice(place.offsets.0..), batch)?, output)
        });
    stream.synchronize().expect("no fault");
    assert_eq!(input.to_vec().expect("its values"), values);
    if result.is_err() {
        assert_ne!(wrong, [0; 3], "{result:?}");
        return output.check(None);
    }
    let (mut expected, to) = (output.old().to_vec(), to.expect("it was written"));
    for (number, row, column) in
        (0..count).flat_map(|n| (0..rows).flat_map(move |r| (0..columns).map(move |c| (n, r, c))))
    {
        expected[number * to.stride + to.matrix.index(column, row)] =
            values[place.offsets.0 + number * stride + matrix.index(row, column)];
    }
    output.check(Some(&expected));
}

#[test]
fn matrices() {
    let gap = || prop_oneof![2 => Just(0usize), 1 => 0usize..20];
    let order = || prop::sample::select(vec![Order::RowMajor, Order::ColumnMajor]);
    let cases = (
        place(),
        prop::sample::select(vec![1usize, 2, 4, 8]),
        (0usize..4, extent(), extent()),
        [order(), order()],
        [gap(), gap(), gap(), gap()],
        [wrong(), wrong(), wrong()],
    );
    let cases = cases.prop_map(|(place, bytes, shape, orders, gaps, wrong)| Case {
        place,
        bytes,
        shape,
        orders,
        gaps,
        wrong,
    });
    fuzz("transpose", cases, |case| match case.bytes {
        1 => of_type(case, |bits| bits as u8),
        2 => of_type(case, |bits| bits as u16),
        4 => of_type(case, |bits| bits as u32),
        _ => of_type(case, |bits| bits),
    });
}

#[test]
fn permutations() {
    let extents = prop::collection::vec(0usize..9, 0..6);
    let axes = prop::collection::vec(0usize..6, 0..6);
    let case = (extents, axes, any::<bool>(), place(), wrong()).prop_perturb(
        |(shape, mut axes, is_permutation, place, wrong), mut rng| {
            if is_permutation {
                axes = (0..shape.len()).collect();
                for last in (1..axes.len()).rev() {
                    axes.swap(last, rng.random_range(0..=last));
                }
            }
            (shape, axes, place, wrong)
        },
    );
    fuzz("permute", case, |(shape, axes, place, wrong)| {
        let device = place.device();
        let len: usize = shape.iter().product();
        let values = place.values(place.offsets.0 + len, |bits| bits as u16);
        let input = device.upload(&values).expect("memory");
        let mut output =
            Guarded::new(&device, place.offsets.1, len.saturating_add_signed(*wrong), |i| !(i as u16));
        let (range, stream) = (output.range(), device.stream().expect("a stream"));
        let target = output.buffer.slice_mut(range);
        let result = permute_into(&stream, input.slice(place.offsets.0..), shape, axes, target);
        stream.synchronize().expect("no fault");
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        let is_permutation = sorted.iter().copied().eq(0..shape.len());
        if result.is_err() {
            assert!(!is_permutation || *wrong != 0, "{result:?}");
            return output.check(None);
        }
        assert!(is_permutation);
        let new: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
        let mut expected = output.old().to_vec();
        for (at, expected) in expected.iter_mut().take(len).enumerate() {
            // The place in the output, axis by axis, is that in the input along other axes.
            let (mut rest, mut from) = (at, 0);
            for (position, &axis) in axes.iter().enumerate().rev() {
                let index = rest % new[position];
                rest /= new[position];
                from += index * shape[axis + 1..].iter().product::<usize>();
            }
            *expected = values[place.offsets.0 + from];
        }
        output.check(Some(&expected));
    });
}
