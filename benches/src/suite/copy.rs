//! A copy from device memory to device memory: what other results are set beside.

use gpu_core::Stream;

use crate::data::Element;
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// Copies of arrays.
pub struct Copy<'a, T: Element> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
}

impl<'a, T: Element> Copy<'a, T> {
    /// Copies of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>) -> Result<Self, Error> {
        Ok(Self { inputs, outputs: Outputs::new(session, inputs.layout)? })
    }
}

impl<T: Element> Work for Copy<'_, T> {
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
        let source = self.inputs.device.slice(self.inputs.layout.range(input));
        Ok(stream.copy(self.outputs.of(input), source)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let inputs = self.inputs;
        self.outputs.check(launched, |input, output| {
            output.copy_from_slice(&inputs.host[inputs.layout.range(input)]);
        })
    }
}
