//! What segments of an array there are, for what writes every element once.

use std::ops::Range;

use gpu_core::segments::{Form, Invalid, Segments};
use gpu_core::{Error, Stream, checks};
use gpu_std::memory::Global;

/// What segments of an array there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Elements of each; 0 where there are offsets.
    pub(crate) row: usize,
    pub(crate) count: usize,
    pub(crate) longest: usize,
    pub(crate) shortest: usize,
}

impl Cut {
    /// That of an array of `len` elements on the stream's device, each of which is in a segment.
    pub(crate) fn new(
        segments: Segments<'_>,
        stream: &Stream,
        what: &'static str,
        len: usize,
    ) -> Result<Self, Error> {
        segments.expect(stream, what, len)?;
        Self::of(segments, what, len)
    }

    /// The same on whatever device.
    pub(crate) fn of(segments: Segments<'_>, what: &'static str, len: usize) -> Result<Self, Error> {
        match segments.form() {
            Form::Length(row) => {
                if !len.is_multiple_of(row) {
                    return Err(Invalid::Rows { what, len, row }.into());
                }
                // A number of rows is an index of 32 bits, and so is a place in a row.
                let (count, most) = (len / row, u32::MAX as usize);
                if count > most {
                    return Err(Invalid::TooManySegments { count, most }.into());
                }
                checks::at_most(most, row)?;
                let longest = if count == 0 { 0 } else { row };
                Ok(Self { row, count, longest, shortest: longest })
            }
            Form::Offsets(offsets) => {
                let (start, end) = (offsets.first(), offsets.end());
                if start != 0 || end != len {
                    return Err(Invalid::Uncovered { what, start, end, len }.into());
                }
                let (longest, shortest) = (offsets.longest(), offsets.shortest());
                Ok(Self { row: 0, count: offsets.count(), longest, shortest })
            }
            Form::Flags(_) => {
                Err(Invalid::SegmentsBy { what, by: "flags", instead: "gpu_sort::offsets_of_flags" }.into())
            }
            Form::Keys(_) => {
                Err(Invalid::SegmentsBy { what, by: "keys", instead: "gpu_sort::offsets_of_keys" }.into())
            }
        }
    }

    /// Where each starts and ends; on the CPU.
    pub(crate) fn ranges(self, segments: Segments<'_>) -> Vec<Range<usize>> {
        let Some(offsets) = offsets_of(segments) else {
            return (0..self.count).map(|number| number * self.row..(number + 1) * self.row).collect();
        };
        let offsets = offsets.as_slice().expect("offsets are where the input is");
        offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize).collect()
    }
}

fn offsets_of<'a>(segments: Segments<'a>) -> Option<gpu_core::View<'a, u32>> {
    match segments.form() {
        Form::Offsets(offsets) => Some(offsets.view()),
        _ => None,
    }
}

/// Where kernels find offsets; `none` where there are none.
pub(crate) fn offsets(segments: Segments<'_>, none: Global<u32>) -> Global<u32> {
    offsets_of(segments).map_or(none, |offsets| offsets.as_global())
}
