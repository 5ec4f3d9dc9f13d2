//! Scans of segments.

use gpu_core::Stream;
use gpu_scan::kernels::Sum;
use gpu_scan::{Offsets, Options, Scratch, Segmented, Segments, reference, scan_segments_into};

use super::segments::Lengths;
use crate::data::Element;
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// The inclusive sums of segments of arrays of `T`, between offsets.
pub struct ScanSegments<'a, T: Element> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    scratch: Scratch,
    offsets: Offsets,
    /// The same on the host, and how many.
    on_host: Offsets,
    count: usize,
}

impl<'a, T: Element> ScanSegments<'a, T> {
    /// Scans of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>, lengths: Lengths) -> Result<Self, Error> {
        let offsets = lengths.offsets(inputs.layout.elements);
        Ok(Self {
            inputs,
            outputs: Outputs::new(session, inputs.layout)?,
            scratch: Scratch::with_size(
                &session.stream,
                gpu_scan::scan_segments_scratch(inputs.layout.elements),
            )?,
            offsets: Offsets::new(&session.device, &offsets)?,
            on_host: Offsets::new(&gpu_core::Device::cpu(), &offsets)?,
            count: offsets.len(),
        })
    }
}

impl<T: Element + gpu_scan::Element> Work for ScanSegments<'_, T>
where
    Sum<T>: Segmented<Item = T, Output = T>,
{
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        (2 * self.inputs.layout.elements * size_of::<T>() + self.count * size_of::<u32>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let source = self.inputs.device.slice(self.inputs.layout.range(input));
        let (segments, options) = (Segments::by_offsets(&self.offsets), Options::inclusive());
        let (output, scratch) = (self.outputs.of(input), &mut self.scratch);
        Ok(scan_segments_into::<Sum<T>>(stream, source, &segments, options, output, scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let (inputs, segments) = (self.inputs, Segments::by_offsets(&self.on_host));
        self.outputs.check(launched, |input, output| {
            let values = &inputs.host[inputs.layout.range(input)];
            reference::scan_segments::<Sum<T>>(values, &segments, &Options::inclusive(), output)
                .expect("the output is as long as the input");
        })
    }
}
