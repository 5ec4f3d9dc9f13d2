//! Sums in any order.

use gpu_core::Stream;
use gpu_reduce::kernels::{Sum, THREADS};
use gpu_reduce::{Plan, Scratch, sum_unordered_into};
use rayon::prelude::*;

use crate::data::Layout;
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// The sum of arrays of `f32` in any order.
pub struct SumUnordered<'a> {
    inputs: Inputs<'a, f32>,
    outputs: Outputs<f32>,
    scratch: Scratch,
}

impl<'a> SumUnordered<'a> {
    /// Sums of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, f32>) -> Result<Self, Error> {
        let Layout { count, elements, .. } = inputs.layout;
        let outputs = Outputs::new(session, Layout::new::<f32>(count, 1))?;
        let scratch = Scratch::with_size(&session.stream, gpu_reduce::reduce_scratch(elements))?;
        Ok(Self { inputs, outputs, scratch })
    }

    /// The sum of input `input`, and how far off one in any order may be.
    fn exact(&self, input: usize) -> (f64, f64) {
        let values = &self.inputs.host[self.inputs.layout.range(input)];
        // Multiples of 2^-24 of at most 1/2: all sums of up to 2^29 of them are exact in 53 bits, in any order.
        let sum: f64 = values.par_iter().map(|&value| f64::from(value)).sum();
        let magnitude: f64 = values.par_iter().map(|&value| f64::from(value.abs())).sum();
        // The documentation's bound; nothing here is subnormal.
        let plan = Plan::new::<Sum<f32>>(values.len());
        let taken = plan.elements_per_block() / u64::from(4 * THREADS) + 4;
        let depth = (taken + 10 + u64::from(plan.blocks)) as f64;
        let unit = f64::from(f32::EPSILON) / 2.0;
        (sum, depth * unit / (1.0 - depth * unit) * magnitude)
    }
}

impl Work for SumUnordered<'_> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        ((self.inputs.layout.elements + 1) * size_of::<f32>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let source = self.inputs.device.slice(self.inputs.layout.range(input));
        Ok(sum_unordered_into(stream, source, self.outputs.of(input), &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        // What is within the bound is right as it is; elsewhere the sum itself was expected.
        let mut expected = vec![0.0; launched.len()];
        for (input, _) in launched.iter().enumerate().filter(|(_, launched)| **launched) {
            let (actual, (exact, bound)) = (self.outputs.read(input)?[0], self.exact(input));
            let is_right = (f64::from(actual) - exact).abs() <= bound;
            expected[input] = if is_right { actual } else { exact as f32 };
        }
        self.outputs.check(launched, |input, output| output.fill(expected[input]))
    }
}
