//! Scans along the rows and the columns of a matrix.

use gpu_core::{Device, Stream};
use gpu_scan::kernels::Sum;
use gpu_scan::{Options, Scratch, scan_axis_into};

use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// The inclusive sums along an axis of row-major matrices of `f32`.
pub struct ScanAxis<'a> {
    inputs: Inputs<'a, f32>,
    outputs: Outputs<f32>,
    scratch: Scratch,
    shape: [usize; 2],
    axis: usize,
}

impl<'a> ScanAxis<'a> {
    /// Scans of `inputs`, which are matrices of that shape: along axis 0 of the columns, along axis 1 of the rows.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        session: &Session,
        inputs: Inputs<'a, f32>,
        shape: [usize; 2],
        axis: usize,
    ) -> Result<Self, Error> {
        let scratch =
            Scratch::with_size(&session.stream, gpu_scan::scan_axis_scratch::<Sum<f32>>(&shape, axis)?)?;
        Ok(Self { inputs, outputs: Outputs::new(session, inputs.layout)?, scratch, shape, axis })
    }
}

impl Work for ScanAxis<'_> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        2 * (self.inputs.layout.elements * size_of::<f32>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let source = self.inputs.device.slice(self.inputs.layout.range(input));
        let (options, output) = (Options::inclusive(), self.outputs.of(input));
        let scratch = &mut self.scratch;
        Ok(scan_axis_into::<Sum<f32>>(stream, source, &self.shape, self.axis, options, output, scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, shape, axis, .. } = self;
        let stream = Device::cpu().default_stream();
        let mut scratch =
            Scratch::with_size(&stream, gpu_scan::scan_axis_scratch::<Sum<f32>>(shape, *axis)?)?;
        outputs.check(launched, |input, output| {
            let values = &inputs.host[inputs.layout.range(input)];
            let options = Options::inclusive();
            scan_axis_into::<Sum<f32>>(&stream, values, shape, *axis, options, output, &mut scratch)
                .expect("the launch was of the same shape");
        })
    }
}
