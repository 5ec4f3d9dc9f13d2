//! Compaction by flags.

use gpu_core::{Buffer, Stream};
use gpu_scan::{SelectScratch, select_flagged_into};
use rayon::prelude::*;

use crate::data::{Element, Layout, hash, poison};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// The items of arrays of `T` with a flag, which is a random bit: half of them. All arrays have the same flags.
pub struct Select<'a, T: Element> {
    inputs: Inputs<'a, T>,
    flags: Buffer<u8>,
    outputs: Outputs<T>,
    counts: Outputs<u64>,
    scratch: SelectScratch,
    /// How many are selected.
    selected: usize,
}

/// The flag of the item at `index`: another bit than items begin with.
pub fn flag(index: usize) -> u8 {
    (hash(index) & 1) as u8
}

impl<'a, T: Element> Select<'a, T> {
    /// Selections from `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>) -> Result<Self, Error> {
        let len = inputs.layout.elements;
        let flags: Vec<u8> = (0..len).into_par_iter().map(flag).collect();
        Ok(Self {
            inputs,
            selected: flags.iter().filter(|flag| **flag != 0).count(),
            flags: session.device.upload(&flags)?,
            outputs: Outputs::new(session, inputs.layout)?,
            counts: Outputs::new(session, Layout::new::<u64>(inputs.layout.count, 1))?,
            scratch: SelectScratch::new::<T>(&session.stream, len)?,
        })
    }
}

impl<T: Element> Work for Select<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        let len = self.inputs.layout.elements;
        (len + (len + self.selected) * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.counts.poison(stream)?;
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let items = self.inputs.device.slice(self.inputs.layout.range(input));
        let (selected, count) = (self.outputs.of(input), self.counts.of(input));
        Ok(select_flagged_into(stream, items, &self.flags, selected, count, &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let (inputs, selected) = (self.inputs, self.selected);
        self.counts.check(launched, |_, count| count[0] = selected as u64)?;
        self.outputs.check(launched, |input, output| {
            let items = &inputs.host[inputs.layout.range(input)];
            let mut kept =
                items.iter().enumerate().filter(|(index, _)| flag(*index) != 0).map(|(_, item)| *item);
            // What lies behind the selected items is not written.
            output.iter_mut().for_each(|place| *place = kept.next().unwrap_or(poison::<T>()));
        })
    }
}
