//! The sum of an array.

use gpu_core::Stream;
use gpu_reduce::{Scratch, reference};

use crate::data::Layout;
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// Sums of arrays, one output of one element for each.
pub struct Sum<'a> {
    inputs: Inputs<'a>,
    outputs: Outputs,
    scratch: Scratch,
    /// What the reference computes, where it was asked.
    expected: Vec<Option<f32>>,
}

impl<'a> Sum<'a> {
    /// Sums of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a>) -> Result<Self, Error> {
        let Layout { count, elements, .. } = inputs.layout;
        let outputs = Outputs::new(session, Layout::new(count, 1))?;
        let scratch = Scratch::for_len(&session.stream, elements)?;
        Ok(Self { inputs, outputs, scratch, expected: vec![None; count] })
    }
}

impl Work for Sum<'_> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        (self.inputs.layout.elements as u64 + 1) * size_of::<f32>() as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let range = self.inputs.layout.range(input);
        let view = self.inputs.device.slice(range);
        Ok(gpu_reduce::sum_into(stream, view, self.outputs.of(input), &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, expected, .. } = self;
        outputs.check(launched, |input, output| {
            let sum = || reference::sum(&inputs.host[inputs.layout.range(input)]);
            output.fill(*expected[input].get_or_insert_with(sum));
        })
    }
}
