//! Correlations of a signal with a filter. No library of the vendor's has one; a copy stands beside.

use gpu_core::{Buffer, Device, Stream};
use gpu_stencil::signal::{Mode, SignalElement, correlate_into};

use crate::data::{self, Element};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// Correlations of inputs with one filter, as many outputs as inputs.
pub struct Correlate<'a, T: Element> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    filter: Buffer<T>,
    host_filter: Vec<T>,
}

impl<'a, T: Element> Correlate<'a, T> {
    /// Correlations of `inputs` with a filter of `taps` elements.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>, taps: usize) -> Result<Self, Error> {
        let host_filter = data::values::<T>(taps);
        let filter = session.device.upload(&host_filter)?;
        Ok(Self { inputs, outputs: Outputs::new(session, inputs.layout)?, filter, host_filter })
    }
}

impl<T: Element + SignalElement> Work for Correlate<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        2 * (self.inputs.layout.elements * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let signal = self.inputs.device.slice(self.inputs.layout.range(input));
        Ok(correlate_into(stream, signal, &self.filter, Mode::Same, self.outputs.of(input))?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, host_filter, .. } = self;
        let stream = Device::cpu().default_stream();
        outputs.check(launched, |input, output| {
            let signal = &inputs.host[inputs.layout.range(input)];
            correlate_into(&stream, signal, &*host_filter, Mode::Same, output)
                .expect("the launch had the same lengths");
        })
    }
}
