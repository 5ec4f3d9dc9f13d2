//! Where segments start: what kernels are told, and what the CPU reads.

use gpu_core::segments::{Form, Segments};
use gpu_scan_kernels::segmented::{BY_FLAGS, BY_KEY, BY_OFFSETS, OF_LENGTH, Starts};
use gpu_std::memory::Global;

/// The kernels' form of the segments of `len` elements; `none` stands where there is no array.
pub(crate) fn starts(segments: Segments<'_>, none: Global<u8>, len: usize) -> Starts {
    match segments.form() {
        Form::Flags(flags) => Starts { kind: BY_FLAGS, array: flags.as_global(), count: 0 },
        Form::Offsets(offsets) => {
            let offsets = offsets.view();
            Starts { kind: BY_OFFSETS, array: offsets.as_global().cast(), count: offsets.len() as u64 }
        }
        // Longer ones are all the same: the kernel multiplies.
        Form::Length(length) => Starts { kind: OF_LENGTH, array: none, count: length.min(len) as u64 },
        Form::Keys(keys) => {
            Starts { kind: BY_KEY + keys.width().ilog2(), array: keys.bytes().as_global(), count: 0 }
        }
    }
}

/// Sets the elements of `starts` to whether a segment starts at `base` and those behind it; on the CPU.
pub(super) fn fill(segments: Segments<'_>, base: usize, starts: &mut [bool]) {
    const HERE: &str = "what tells segments is where the input is";
    match segments.form() {
        Form::Flags(flags) => {
            let flags = &flags.as_slice().expect(HERE)[base..][..starts.len()];
            starts.iter_mut().zip(flags).for_each(|(start, flag)| *start = *flag != 0);
        }
        Form::Offsets(offsets) => {
            starts.fill(false);
            let offsets = offsets.view().as_slice().expect(HERE);
            let first = offsets.partition_point(|offset| (*offset as usize) < base);
            for offset in &offsets[first..] {
                let Some(start) = starts.get_mut(*offset as usize - base) else { break };
                *start = true;
            }
        }
        Form::Length(length) => {
            starts.fill(false);
            starts
                .iter_mut()
                .skip((length - base % length) % length)
                .step_by(length)
                .for_each(|start| *start = true);
        }
        Form::Keys(keys) => {
            let (bytes, width) = (keys.bytes().as_slice().expect(HERE), keys.width());
            let key = |index: usize| &bytes[index * width..][..width];
            for (index, start) in (base..).zip(starts.iter_mut()) {
                *start = index > 0 && key(index) != key(index - 1);
            }
        }
    }
    if let (0, Some(first)) = (base, starts.first_mut()) {
        *first = true;
    }
}
