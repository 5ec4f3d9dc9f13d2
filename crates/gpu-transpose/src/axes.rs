//! Arrays of any rank as lists of axes, and the same arrays with as few axes as possible.

use gpu_core::BatchLayout;

use crate::error::Error;

/// The most axes a permutation may have once unit axes are dropped and adjacent ones fused.
pub const MAX_RANK: usize = gpu_transpose_kernels::MAX_AXES;

/// An axis of an array that is copied from one place to another: `extent` indices, each so many elements after the
/// one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Indices.
    pub extent: usize,
    /// Elements from one index to the next in the input.
    pub input: usize,
    /// Elements from one index to the next in the output.
    pub output: usize,
}

/// The axes of batched transpositions from matrices that lie as `input` to ones of the transposed shape.
pub(crate) fn of_matrices(input: BatchLayout, output: BatchLayout) -> Vec<Axis> {
    // Where the input's rows and columns go.
    let (from, to) = (input.matrix, output.matrix.transposed());
    simplify(vec![
        Axis { extent: from.columns(), input: from.index(0, 1), output: to.index(0, 1) },
        Axis { extent: from.rows(), input: from.index(1, 0), output: to.index(1, 0) },
        Axis { extent: input.count, input: input.stride, output: output.stride },
    ])
}

/// The axes of a permutation of a dense array, `output axis k` being `input axis axes[k]`; and its elements.
pub(crate) fn of_permutation(shape: &[usize], axes: &[usize]) -> Result<(Vec<Axis>, usize), Error> {
    let mut seen = vec![false; shape.len()];
    let valid = axes.len() == shape.len()
        && axes.iter().all(|&axis| seen.get_mut(axis).is_some_and(|seen| !std::mem::replace(seen, true)));
    if !valid {
        return Err(Error::NotAPermutation { axes: axes.to_vec(), rank: shape.len() });
    }
    let Some(len) = shape.iter().try_fold(1usize, |len, &extent| len.checked_mul(extent)) else {
        // An extent of zero makes the array empty, whatever the others are.
        return if shape.contains(&0) {
            Ok((Vec::new(), 0))
        } else {
            Err(Error::ShapeOverflow { shape: shape.to_vec() })
        };
    };
    if len == 0 {
        return Ok((Vec::new(), 0));
    }
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let mut output = 1;
    let mut list = Vec::with_capacity(shape.len());
    for &axis in axes.iter().rev() {
        list.push(Axis { extent: shape[axis], input: strides[axis], output });
        output *= shape[axis];
    }
    let list = simplify(list);
    if list.len() > MAX_RANK {
        return Err(Error::Rank { limit: MAX_RANK, actual: list.len() });
    }
    Ok((list, len))
}

/// The same copy without axes of extent one, sorted by output stride (the fastest first), and neighbours that step
/// alike on both sides fused into one.
pub(crate) fn simplify(mut axes: Vec<Axis>) -> Vec<Axis> {
    axes.retain(|axis| axis.extent != 1);
    axes.sort_by_key(|axis| axis.output);
    let mut fused: Vec<Axis> = Vec::with_capacity(axes.len());
    for axis in axes {
        match fused.last_mut() {
            Some(inner)
                if inner.extent.checked_mul(inner.input) == Some(axis.input)
                    && inner.extent.checked_mul(inner.output) == Some(axis.output) =>
            {
                inner.extent *= axis.extent;
            }
            _ => fused.push(axis),
        }
    }
    fused
}

/// The same copy in wider elements, of up to 16 bytes, where the fastest axis is the same on both sides and
/// everything is a multiple of them; and the bytes of these. `address` has the low bits of both addresses.
pub(crate) fn widen(axes: Vec<Axis>, bytes: usize, address: u64) -> (Vec<Axis>, usize) {
    let Some((fastest, others)) = axes.split_first() else { return (axes, bytes) };
    if (fastest.input, fastest.output) != (1, 1) {
        return (axes, bytes);
    }
    let mut factor = 16 / bytes;
    let fits = |factor: usize| {
        fastest.extent.is_multiple_of(factor)
            && address.is_multiple_of((bytes * factor) as u64)
            && others.iter().all(|axis| (axis.input | axis.output).is_multiple_of(factor))
    };
    while !fits(factor) {
        factor /= 2; // 1 fits
    }
    let mut wide = vec![Axis { extent: fastest.extent / factor, ..*fastest }];
    wide.extend(others.iter().map(|axis| Axis {
        extent: axis.extent,
        input: axis.input / factor,
        output: axis.output / factor,
    }));
    (simplify(wide), bytes * factor)
}

#[cfg(test)]
mod tests {
    use gpu_core::Layout;

    use super::*;

    fn axis(extent: usize, input: usize, output: usize) -> Axis {
        Axis { extent, input, output }
    }

    #[test]
    fn unit_axes_go_and_neighbours_fuse() {
        let of = |shape: &[usize], axes: &[usize]| of_permutation(shape, axes).unwrap().0;
        assert_eq!(of(&[2, 3, 4], &[0, 1, 2]), [axis(24, 1, 1)], "no change is a copy");
        assert_eq!(of(&[2, 3, 4], &[2, 0, 1]), [axis(6, 4, 1), axis(4, 1, 6)], "two axes stay together");
        assert_eq!(of(&[2, 1, 4], &[2, 1, 0]), [axis(2, 4, 1), axis(4, 1, 2)]);
        assert_eq!(of(&[2, 3, 4], &[1, 0, 2]), [axis(4, 1, 1), axis(2, 12, 4), axis(3, 4, 8)]);
        assert_eq!(of(&[1, 1], &[1, 0]), []);
    }

    #[test]
    fn rows_of_a_matrix_without_gaps_fuse_with_the_batch_only_where_they_follow() {
        let batch = |rows, columns, stride| {
            BatchLayout::new(Layout::row_major(rows, columns).unwrap(), 3, stride).unwrap()
        };
        assert_eq!(of_matrices(batch(1, 7, 7), batch(7, 1, 7)), [axis(21, 1, 1)]);
        assert_eq!(of_matrices(batch(1, 7, 8), batch(7, 1, 7)), [axis(7, 1, 1), axis(3, 8, 7)]);
    }

    #[test]
    fn what_is_transposed_into_the_other_order_is_copied() {
        let matrix = Layout::row_major(5, 7).unwrap();
        let wide = matrix.with_leading_dimension(9).unwrap();
        let of = |input: Layout, output: Layout| of_matrices(input.into(), output.into());
        assert_eq!(of(matrix, matrix.transposed()), [axis(35, 1, 1)]);
        assert_eq!(of(wide, matrix.transposed()), [axis(7, 1, 1), axis(5, 9, 7)]);
        assert_eq!(of(matrix.transposed(), wide), [axis(7, 1, 1), axis(5, 7, 9)]);
    }

    #[test]
    fn a_fast_axis_that_stays_becomes_wider_elements() {
        let complex = || of_permutation(&[3, 5, 2], &[1, 0, 2]).unwrap().0;
        assert_eq!(widen(complex(), 8, 0), (vec![axis(3, 5, 1), axis(5, 1, 3)], 16));
        assert_eq!(widen(complex(), 8, 8).1, 8, "addresses are no multiples of 16");
        let (axes, bytes) = widen(of_permutation(&[3, 5, 6], &[1, 0, 2]).unwrap().0, 1, 0);
        assert_eq!((axes[0], bytes), (axis(3, 1, 1), 2));
    }

    #[test]
    fn what_is_no_permutation_is_refused() {
        for axes in [&[0, 1][..], &[0, 0, 1], &[0, 1, 3], &[0, 1, 2, 3]] {
            let error = of_permutation(&[2, 3, 4], axes).unwrap_err();
            assert!(matches!(error, Error::NotAPermutation { rank: 3, .. }), "{error}");
        }
        assert!(matches!(of_permutation(&[usize::MAX, 2], &[1, 0]), Err(Error::ShapeOverflow { .. })));
        assert_eq!(of_permutation(&[usize::MAX, 2, 0], &[1, 0, 2]).unwrap().1, 0);
        let reversed: Vec<usize> = (0..9).rev().collect();
        assert!(matches!(of_permutation(&[2; 9], &reversed), Err(Error::Rank { limit: 8, actual: 9 })));
    }
}
