//! Where the segments of an array are, for reductions.

use gpu_core::segments::{Form, Invalid, Segments};
use gpu_core::{Error, Offsets};

/// The most segments: they are counted in 32 bits, and one more.
const MOST: usize = u32::MAX as usize - 1;

/// Consecutive segments of an array, some of which may be empty: between offsets, or all of one length, which may be 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    pub(crate) offsets: Option<&'a Offsets>,
    /// Elements of each where there are no offsets.
    pub(crate) length: usize,
    pub(crate) count: usize,
    /// Where the last one ends.
    pub(crate) end: usize,
    pub(crate) first_empty: Option<usize>,
}

impl<'a> Places<'a> {
    /// Those of an array of `len` elements.
    pub(crate) fn new(segments: Segments<'a>, what: &'static str, len: usize) -> Result<Self, Error> {
        match segments.form() {
            Form::Offsets(offsets) if offsets.end() > len => {
                Err(Invalid::BeyondEnd { what, end: offsets.end(), len }.into())
            }
            Form::Offsets(offsets) => Ok(Self {
                offsets: Some(offsets),
                length: 0,
                count: offsets.count(),
                end: offsets.end(),
                first_empty: offsets.first_empty(),
            }),
            Form::Length(row) if !len.is_multiple_of(row) => Err(Invalid::Rows { what, len, row }.into()),
            Form::Length(row) => Self::rows(len / row, row),
            Form::Flags(_) => {
                Err(Invalid::SegmentsBy { what, by: "flags", instead: "gpu_sort::offsets_of_flags" }.into())
            }
            Form::Keys(_) => Err(Invalid::SegmentsBy { what, by: "keys", instead: "reduce_by_key" }.into()),
        }
    }

    /// `count` rows of `length` elements each, whose product can be counted.
    pub(crate) fn rows(count: usize, length: usize) -> Result<Self, Error> {
        if count > MOST {
            return Err(Invalid::TooManySegments { count, most: MOST }.into());
        }
        let first_empty = if length == 0 && count > 0 { Some(0) } else { None };
        Ok(Self { offsets: None, length, count, end: count * length, first_empty })
    }

    /// Where each begins, and where the last one ends.
    pub(crate) fn to_vec(self) -> Result<Vec<usize>, Error> {
        let Some(offsets) = self.offsets else {
            return Ok((0..=self.count).map(|segment| segment * self.length).collect());
        };
        Ok(offsets.view().to_vec()?.into_iter().map(|offset| offset as usize).collect())
    }
}
