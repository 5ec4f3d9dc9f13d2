//! Sorts of keys and of pairs.

use gpu_core::{Stream, View};
use gpu_sort::{Scratch, SortKey, SortOptions, sort_into, sort_pairs, sort_pairs_into};

use crate::data::Element;
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// The sort of arrays of `T`, ascending, alone or with as many values: the next input.
pub struct Sort<'a, T: Element + SortKey> {
    inputs: Inputs<'a, T>,
    keys: Outputs<T>,
    values: Option<Outputs<T>>,
    scratch: Scratch,
}

impl<'a, T: Element + SortKey> Sort<'a, T> {
    /// Sorts of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>, pairs: bool) -> Result<Self, Error> {
        let len = inputs.layout.elements;
        let scratch = if pairs {
            Scratch::with_size(&session.stream, gpu_sort::sort_pairs_scratch::<T, T>(len)?)?
        } else {
            Scratch::with_size(&session.stream, gpu_sort::sort_scratch::<T>(len)?)?
        };
        let keys = Outputs::new(session, inputs.layout)?;
        let values = pairs.then(|| Outputs::new(session, inputs.layout)).transpose()?;
        Ok(Self { inputs, keys, values, scratch })
    }
}

/// The input whose elements are the values of those of input `input`.
fn partner(inputs: &Inputs<'_, impl Element>, input: usize) -> usize {
    (input + 1) % inputs.layout.count
}

impl<T: Element + SortKey> Work for Sort<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        // Once in and once out, however many passes there are.
        let arrays = if self.values.is_some() { 4 } else { 2 };
        arrays * (self.inputs.layout.elements * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.values.as_mut().map_or(Ok(()), |values| values.poison(stream))?;
        self.keys.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let of = |input: usize| self.inputs.device.slice(self.inputs.layout.range(input));
        let (keys, options, output) = (of(input), SortOptions::ascending(), self.keys.of(input));
        let Some(values) = &mut self.values else {
            return Ok(sort_into(stream, keys, options, output, &mut self.scratch)?);
        };
        let (source, target) = (of(partner(&self.inputs, input)), values.of(input));
        Ok(sort_pairs_into(stream, keys, source, options, output, target, &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let inputs = self.inputs;
        let of = |input: usize| &inputs.host[inputs.layout.range(input)];
        let sorted = |input: usize| -> Result<(Vec<T>, Vec<T>), gpu_sort::Error> {
            let (keys, values) = (View::from(of(input)), View::from(of(partner(&inputs, input))));
            let (keys, values) = sort_pairs(keys, values, SortOptions::ascending())?;
            Ok((keys.to_vec()?, values.to_vec()?))
        };
        let on_cpu = |input| sorted(input).expect("the CPU sorts what is as long as it is");
        self.keys.check(launched, |input, output| output.copy_from_slice(&on_cpu(input).0))?;
        let Some(values) = &mut self.values else { return Ok(()) };
        values.check(launched, |input, output| output.copy_from_slice(&on_cpu(input).1))
    }
}
