//! Scans of whole arrays.

use gpu_core::Stream;
use gpu_scan::{Instance, Options, Scratch, reference, scan_into};

use crate::data::Element;
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// The inclusive scan with the operator `S` of arrays of `T`.
pub struct Scan<'a, T: Element, S: Instance<Item = T, Output = T>> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    scratch: Scratch,
    operator: core::marker::PhantomData<fn() -> S>,
}

impl<'a, T: Element, S: Instance<Item = T, Output = T>> Scan<'a, T, S> {
    /// Scans of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>) -> Result<Self, Error> {
        let outputs = Outputs::new(session, inputs.layout)?;
        let scratch = Scratch::with_size(&session.stream, gpu_scan::scan_scratch(inputs.layout.elements))?;
        Ok(Self { inputs, outputs, scratch, operator: core::marker::PhantomData })
    }
}

impl<T: Element, S: Instance<Item = T, Output = T>> Work for Scan<'_, T, S> {
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
        let options = Options::inclusive();
        Ok(scan_into::<S>(stream, source, options, self.outputs.of(input), &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let inputs = self.inputs;
        self.outputs.check(launched, |input, output| {
            let values = &inputs.host[inputs.layout.range(input)];
            reference::scan::<S>(values, &Options::inclusive(), output)
                .expect("the output is as long as the input");
        })
    }
}
