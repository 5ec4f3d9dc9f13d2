//! Which factors of a product of tf32 are copied: rounded, into lines along the inner axis.
//!
//! The second one always is, since the tensor cores read it from where the copy engine puts it. The first one goes
//! through registers, which round it, from lines along the inner axis or across. So the second one should be small:
//! the factors change places where that copies less, for a product that is written in lines of C's columns and turned
//! by the launch that adds parts. Lines of the first one that are not multiples of 16 bytes apart come in classes.

use gpu_std::tensor_map::{Format, Swizzle, Tensor};
use gpu_tensor_kernels::{CLASSES, Classes, class_box};

use super::super::pack::{ALIGNMENT, BYTES_PER_MICROSECOND, LAUNCH, Packs, is_aligned};
use crate::matrix::{BatchLayout, Order};

/// Columns of C up to which a first factor across the inner axis is read as it lies, by the tile of half the columns:
/// that takes 12 % more time for the product, and a copy the less of it, the more columns there are.
const ACROSS_COLUMNS: usize = 4096;

/// The same of a first factor in classes of lines, which only that tile takes.
const CLASS_COLUMNS: usize = 1024;

const BYTES: usize = size_of::<f32>();

/// Whether the factors of such a product change places, and which are copied. `is_split` says that the sums are in
/// parts, which are added by another launch in any case.
pub(super) fn way(factors: [BatchLayout; 2], addresses: [u64; 2], is_split: bool) -> (bool, Packs) {
    let [a, b] = factors;
    let [here, there] =
        [copied([a, b], addresses), copied([b.transposed(), a.transposed()], [addresses[1], addresses[0]])];
    let (rows, columns) = (a.matrix.rows() as f64, b.matrix.columns() as f64);
    let elements = rows * columns * a.count as f64;
    // Sums and turned lines of single words, which are written three times as slowly.
    let turn = if is_split { 0.0 } else { LAUNCH + elements * 5.0 * BYTES as f64 / BYTES_PER_MICROSECOND };
    let time = |words: f64| words * 2.0 * BYTES as f64 / BYTES_PER_MICROSECOND;
    if time(there.0) + turn < time(here.0) { (true, there.1) } else { (false, here.1) }
}

/// Words that are copied of the factors of a product, and which factors that are.
fn copied([a, b]: [BatchLayout; 2], [address, _]: [u64; 2]) -> (f64, Packs) {
    let words = |factor: BatchLayout| {
        let (rows, columns) = factor.matrix.shape();
        rows as f64 * columns as f64 * factor.count as f64
    };
    let most = if !is_aligned(a, address, BYTES) {
        if classes(a, address).is_some() { CLASS_COLUMNS } else { 0 }
    } else if a.matrix.order() == Order::ColumnMajor {
        ACROSS_COLUMNS
    } else {
        usize::MAX
    };
    if b.matrix.columns() <= most {
        (words(b), Packs::SecondAlongInner)
    } else {
        (words(a) + words(b), Packs::AlongInner)
    }
}

/// The first factor by classes of its lines, each of which is as the copy engine wants it: the fourth line from one on
/// begins a multiple of 16 bytes behind it. `None` where there are not so many lines, or matrices of a batch differ.
pub(super) fn classes(a: BatchLayout, address: u64) -> Option<([Tensor; CLASSES as usize], Classes)> {
    let (matrix, alignment) = (a.matrix, ALIGNMENT as u64);
    let stride = if a.count > 1 { (a.stride * BYTES) as u64 } else { 0 };
    if matrix.lines() < CLASSES as usize || !stride.is_multiple_of(alignment) || (a.count > 1 && stride == 0)
    {
        return None;
    }
    let line = (matrix.leading_dimension() * BYTES) as u64;
    let [width, height] = class_box(matrix.order() == Order::ColumnMajor);
    let (mut tensors, mut classes) =
        ([None; CLASSES as usize], Classes { count: CLASSES, ..Classes::default() });
    for (class, tensor) in tensors.iter_mut().enumerate() {
        let start = address + class as u64 * line;
        let shift = start % alignment / BYTES as u64;
        classes.shifts[class] = shift as u32;
        let lines = (matrix.lines() - class).div_ceil(CLASSES as usize) as u64;
        let strides =
            [u64::from(CLASSES) * line, if stride == 0 { u64::from(CLASSES) * line * lines } else { stride }];
        let class = Tensor {
            address: start / alignment * alignment,
            format: Format::U32,
            extents: [matrix.contiguous() as u64 + shift, lines, a.count as u64],
            strides,
            tile: [width, height, 1],
            swizzle: Swizzle::None,
        };
        *tensor = class.check().is_ok().then_some(class);
    }
    let [Some(first), Some(second), Some(third), Some(fourth)] = tensors else { return None };
    Some(([first, second, third, fourth], classes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Layout;

    fn one(matrix: Layout) -> BatchLayout {
        BatchLayout { matrix, count: 1, stride: 0 }
    }

    fn row(rows: usize, columns: usize) -> BatchLayout {
        one(Layout::row_major(rows, columns).unwrap())
    }

    #[test]
    fn the_larger_factor_is_read_as_it_lies() {
        let (tall, flat) = (row(4000, 1000), row(1000, 64));
        assert_eq!(way([tall, flat], [0; 2], false), (false, Packs::SecondAlongInner));
        let turned = [flat.transposed(), tall.transposed()];
        assert_eq!(way(turned, [0; 2], true), (true, Packs::SecondAlongInner));
        // 256,000 elements of C are less than four millions of B, but more than 6400 sums of ten.
        assert_eq!(way(turned, [0; 2], false), (true, Packs::SecondAlongInner));
        assert_eq!(way([row(64, 10), row(10, 4000)], [0; 2], false), (false, Packs::AlongInner));
        // Not aligned: in classes, unless there are too many columns for that.
        assert_eq!(way([row(4000, 1001), row(1001, 64)], [0; 2], true), (false, Packs::SecondAlongInner));
        assert_eq!(way([tall, flat], [4, 0], true), (false, Packs::SecondAlongInner));
        assert_eq!(way([row(4001, 1001), row(1001, 2001)], [0; 2], true), (false, Packs::AlongInner));
    }

    #[test]
    fn each_fourth_line_is_aligned() {
        let odd = Layout::row_major(10, 13).unwrap().with_leading_dimension(15).unwrap();
        let (tensors, classes) = super::classes(one(odd), 1024 + 8).unwrap();
        assert_eq!((classes.count, classes.shifts), (4, [2, 1, 0, 3]));
        let of = |tensor: Tensor| (tensor.address, tensor.extents, tensor.strides[0], tensor.tile);
        assert_eq!(of(tensors[0]), (1024, [15, 3, 1], 240, [36, 32, 1]));
        assert_eq!(of(tensors[1]), (1024 + 64, [14, 3, 1], 240, [36, 32, 1]));
        assert_eq!(of(tensors[2]), (1024 + 128, [13, 2, 1], 240, [36, 32, 1]));
        assert_eq!(of(tensors[3]), (1024 + 176, [16, 2, 1], 240, [36, 32, 1]));
        let two = |stride| BatchLayout { matrix: odd.transposed(), count: 2, stride };
        assert_eq!(super::classes(two(152), 0).unwrap().0[0].tile, [132, 8, 1]);
        assert_eq!(super::classes(two(151), 0), None);
        assert_eq!(super::classes(row(3, 13), 0), None);
    }

    #[test]
    fn across_the_inner_axis_it_is_copied_for_many_columns() {
        let across = |rows, k| one(Layout::column_major(rows, k).unwrap());
        let few = [across(8192, 8192), row(8192, 4096)];
        assert_eq!(way(few, [0; 2], false), (false, Packs::SecondAlongInner));
        let many = [across(8192, 8192), across(8192, 8192)];
        assert_eq!(way(many, [0; 2], false), (false, Packs::AlongInner));
    }
}
