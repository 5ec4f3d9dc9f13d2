//! The factors of [`Kernel::TensorBulk`](super::Kernel::TensorBulk) as the copy engine finds them.

use gpu_std::tensor_map::{Format, Swizzle, Tensor};

use crate::matrix::BatchLayout;

/// A batch of matrices of doubles as the copy engine finds them, in boxes of so many elements and lines. It counts in
/// words of four bytes.
pub(super) fn tensor((layout, address): (BatchLayout, u64), [width, height]: [u32; 2]) -> Tensor {
    let (leading, lines) = (layout.matrix.leading_dimension() as u64, layout.matrix.lines() as u64);
    let words = |elements: u64| elements * (size_of::<f64>() / size_of::<u32>()) as u64;
    // Matrices at the same place are one, which has no stride.
    let (count, stride) = match layout.stride as u64 {
        0 => (1, leading * lines),
        stride => (layout.count as u64, stride),
    };
    Tensor {
        address,
        format: Format::U32,
        extents: [words(layout.matrix.contiguous() as u64), lines, count],
        strides: [leading, stride].map(|elements| elements * size_of::<f64>() as u64),
        tile: [words(width.into()) as u32, height, 1],
        swizzle: Swizzle::Bytes128,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kernel, Plan, Sums};
    use super::*;
    use crate::error::Error;
    use crate::matrix::Layout;

    #[test]
    fn the_copy_engine_counts_in_words_and_takes_equal_matrices_for_one() {
        let matrix = Layout::row_major(128, 128).unwrap();
        let layout = |stride| BatchLayout { matrix, count: 3, stride };
        let layouts = [layout(0), layout(128 * 130), layout(128 * 128)];
        let plan = |addresses| {
            let sums = Sums::Chains;
            Plan::with_kernel(Kernel::TensorBulk, 8, layouts, addresses, sums, None)
        };
        let [a, b] = plan([16, 32, 48, 0]).unwrap().tensors.unwrap();
        let tensor = |address, count, stride, tile| Tensor {
            address,
            format: Format::U32,
            extents: [256, 128, count],
            strides: [1024, stride],
            tile,
            swizzle: Swizzle::Bytes128,
        };
        assert_eq!(a, tensor(16, 1, 8 * 128 * 128, [32, 128, 1]));
        assert_eq!(b, tensor(32, 3, 8 * 128 * 130, [32, 16, 1]));
        assert_eq!((a.check(), b.check()), (Ok(()), Ok(())));
        assert!(matches!(plan([16, 40, 48, 0]), Err(Error::NotAligned { .. })));
    }
}
