//! Reductions of whole arrays.

use gpu_core::{Buffer, Stream, View};
use gpu_reduce::{Instance, Scratch, reference};

use crate::data::{Element, Layout, poison, same, wrong};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// The reduction `R` of arrays of `T`, one output of one element for each.
pub struct Reduce<'a, T: Element, R: Instance<Output: Element>> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<R::Output>,
    scratch: Scratch,
    /// What the reference computes, where it was asked.
    expected: Vec<Option<R::Output>>,
}

impl<'a, T: Element + gpu_reduce::Element, R: Instance<Item = T, Output: Element>> Reduce<'a, T, R> {
    /// Reductions of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>) -> Result<Self, Error> {
        let Layout { count, elements, .. } = inputs.layout;
        let outputs = Outputs::new(session, Layout::new::<R::Output>(count, 1))?;
        let scratch = Scratch::with_size(&session.stream, gpu_reduce::reduce_scratch(elements))?;
        Ok(Self { inputs, outputs, scratch, expected: vec![None; count] })
    }
}

/// The reduction of a slice by the reference.
fn by_reference<T: gpu_reduce::Element, R: Instance<Item = T>>(values: &[T]) -> Result<R::Output, Error> {
    let view = T::one(View::from(values));
    let slices = T::slices(&view).expect("a host slice is on the CPU");
    let mut output = [R::Output::default()];
    reference::reduce::<R, _>(slices, &mut output)?;
    Ok(output[0])
}

impl<T: Element + gpu_reduce::Element, R: Instance<Item = T, Output: Element>> Work for Reduce<'_, T, R> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        (self.inputs.layout.elements * size_of::<T>() + size_of::<R::Output>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let view = T::one(self.inputs.device.slice(self.inputs.layout.range(input)));
        Ok(gpu_reduce::reduce_into::<R>(stream, view, self.outputs.of(input), &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, expected, .. } = self;
        for (input, _) in launched.iter().enumerate().filter(|(_, launched)| **launched) {
            if expected[input].is_none() {
                expected[input] = Some(by_reference::<T, R>(&inputs.host[inputs.layout.range(input)])?);
            }
        }
        outputs.check(launched, |input, output| {
            output.fill(expected[input].expect("every launched one has just been computed"));
        })
    }
}

/// The sum of an array on the host, back on the host: a copy to the device, the sum, and the copy of the result. The
/// launches take no turns: what is on the device before is written over.
pub struct SumWithCopy<'a, T: Element> {
    inputs: Inputs<'a, T>,
    device: Buffer<T>,
    output: Buffer<T>,
    scratch: Scratch,
    /// The results, poison before.
    results: Vec<T>,
    expected: Vec<Option<T>>,
}

impl<'a, T: Element> SumWithCopy<'a, T> {
    /// Sums of `inputs`, from the host's copy of them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>) -> Result<Self, Error> {
        let Layout { count, elements, .. } = inputs.layout;
        Ok(Self {
            inputs,
            device: session.device.alloc(elements)?,
            output: session.device.alloc(1)?,
            scratch: Scratch::with_size(&session.stream, gpu_reduce::reduce_scratch(elements))?,
            results: vec![poison(); count],
            expected: vec![None; count],
        })
    }
}

impl<T: Element + gpu_reduce::Element> Work for SumWithCopy<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        ((self.inputs.layout.elements + 1) * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.results.fill(poison());
        Ok(stream.memset(&mut self.output, T::POISON)?)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        self.device.copy_from(&self.inputs.host[self.inputs.layout.range(input)])?;
        gpu_reduce::sum_into(stream, &self.device, &mut self.output, &mut self.scratch)?;
        stream.synchronize()?;
        Ok(self.output.copy_to(&mut self.results[input..=input])?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        for (input, _) in launched.iter().enumerate().filter(|(_, launched)| **launched) {
            let values = &self.inputs.host[self.inputs.layout.range(input)];
            let expected = match self.expected[input] {
                Some(expected) => expected,
                None => by_reference::<T, T::Sum>(values)?,
            };
            self.expected[input] = Some(expected);
            if !same(&expected, &self.results[input]) {
                return Err(wrong(input, 0, &expected, &self.results[input], T::POISON));
            }
        }
        Ok(())
    }
}
