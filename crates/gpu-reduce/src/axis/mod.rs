//! An axis of an array.

use gpu_core::segments::Invalid;
use gpu_reduce_kernels::{Lines, Reduction};

use crate::instance::{AlongColumns, Segmented};
use crate::plan::{columns_scratch_words, segments_scratch_words};
use crate::segments::Places;
use gpu_core::Error;

/// A row-major array as `outer × len × inner`, reduced along the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Along {
    pub(crate) outer: usize,
    pub(crate) len: usize,
    pub(crate) inner: usize,
}

/// The most lines: they are counted in 32 bits, with room for a block's more.
const MOST_LINES: usize = (u32::MAX - 0x10000) as usize;

/// The product of extents, if it can be counted: 0 where one of them is, whatever the others are.
pub(crate) fn product(extents: &[usize]) -> Option<usize> {
    if extents.contains(&0) {
        return Some(0);
    }
    extents.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent))
}

impl Along {
    /// `axis` of an array of `shape`.
    pub(crate) fn new<R: Reduction>(shape: &[usize], axis: usize) -> Result<Self, Error> {
        if axis >= shape.len() {
            return Err(Error::Axis { axis, axes: shape.len() });
        }
        let most = isize::MAX as usize;
        let too_long = Error::TooLong { len: usize::MAX, most };
        let len = shape[axis];
        if [&shape[..axis], &shape[axis + 1..]].concat().contains(&0) {
            // No lines, whatever the other extents are.
            return Ok(Self { outer: 0, len: 0, inner: 0 });
        }
        let product = |extents: &[usize]| product(extents).filter(|&product| product <= most);
        let (Some(outer), Some(inner)) = (product(&shape[..axis]), product(&shape[axis + 1..])) else {
            return Err(too_long);
        };
        if product(&[outer, inner]).is_none() {
            return Err(too_long);
        }
        if product(&[outer, len, inner]).is_none() || len > u32::MAX as usize {
            return Err(too_long);
        }
        let along = Self { outer, len, inner };
        if along.results() > MOST_LINES {
            return Err(Invalid::TooManySegments { count: along.results(), most: MOST_LINES }.into());
        }
        if len == 0 && along.results() > 0 && R::EMPTY.is_none() {
            return Err(Error::Empty { what: R::NAME });
        }
        Ok(along)
    }

    /// Elements.
    pub(crate) fn elements(self) -> usize {
        self.outer * self.len * self.inner
    }

    /// Lines, hence results.
    pub(crate) fn results(self) -> usize {
        self.outer * self.inner
    }

    /// The lines as rows, where they are.
    pub(crate) fn rows(self) -> Option<Result<Places<'static>, Error>> {
        (self.inner == 1).then(|| Places::rows(self.outer, self.len))
    }

    /// The lines as what the kernel takes; see [`reduce_columns`](crate::launch::reduce_columns).
    pub(crate) fn lines(self) -> Lines {
        Lines { rows: self.len as u64, inner: self.inner as u32, lines: self.results() as u32, is_vector: 0 }
    }

    /// Words of scratch memory.
    pub(crate) fn scratch_words<R: Segmented + AlongColumns>(self) -> usize {
        if self.inner == 1 {
            segments_scratch_words::<R>(self.elements())
        } else {
            columns_scratch_words::<R>(self.lines())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_reduce_kernels::{Min, Sum};

    #[test]
    fn an_array_of_nothing_has_no_lines_whatever_its_other_extents() {
        const MAX: usize = usize::MAX;
        for axis in [1, 2] {
            let along = Along::new::<Min<f32>>(&[0, MAX, MAX], axis).unwrap();
            assert_eq!((along.results(), along.elements(), along.scratch_words::<Min<f32>>()), (0, 0, 0));
        }
        // As many results as no memory holds.
        assert!(matches!(Along::new::<Sum<f32>>(&[0, MAX, MAX], 0), Err(Error::TooLong { .. })));
        assert!(matches!(
            Along::new::<Sum<f32>>(&[0, 1 << 40], 0),
            Err(Error::Segments(Invalid::TooManySegments { .. }))
        ));
        assert_eq!(Along::new::<Sum<f32>>(&[0, 5], 0).unwrap().results(), 5);
        assert!(matches!(Along::new::<Min<f32>>(&[0, 5], 0), Err(Error::Empty { .. })));
        assert!(matches!(Along::new::<Sum<f32>>(&[MAX, 2], 0), Err(Error::TooLong { .. })));
    }
}
