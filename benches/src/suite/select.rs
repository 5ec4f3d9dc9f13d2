//! Compaction and partition by flags.

use gpu_core::{Buffer, Stream};
use gpu_sort::{Scratch, partition_flagged_into, select_flagged_into};
use rayon::prelude::*;

use crate::data::{Element, Layout, front, hash};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// The items of arrays of `T` with a flag, which is a random bit: half of them; and, in a partition, the others. All
/// arrays have the same flags.
pub struct Select<'a, T: Element> {
    inputs: Inputs<'a, T>,
    flags: Buffer<u8>,
    outputs: Outputs<T>,
    rejected: Option<Outputs<T>>,
    counts: Outputs<u64>,
    scratch: Scratch,
    /// How many are selected.
    selected: usize,
}

/// The flag of the item at `index`: another bit than items begin with.
pub fn flag(index: usize) -> u8 {
    (hash(index) & 1) as u8
}

impl<'a, T: Element> Select<'a, T> {
    /// Selections from `inputs`, or partitions of them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>, partition: bool) -> Result<Self, Error> {
        let len = inputs.layout.elements;
        let flags: Vec<u8> = (0..len).into_par_iter().map(flag).collect();
        Ok(Self {
            inputs,
            selected: flags.iter().filter(|flag| **flag != 0).count(),
            flags: session.device.upload(&flags)?,
            outputs: Outputs::new(session, inputs.layout)?,
            rejected: partition.then(|| Outputs::new(session, inputs.layout)).transpose()?,
            counts: Outputs::new(session, Layout::new::<u64>(inputs.layout.count, 1))?,
            scratch: Scratch::with_size(&session.stream, gpu_sort::select_scratch::<T>(len)?)?,
        })
    }
}

impl<T: Element> Work for Select<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        let len = self.inputs.layout.elements;
        let written = if self.rejected.is_some() { len } else { self.selected };
        (len + (len + written) * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.counts.poison(stream)?;
        self.rejected.as_mut().map_or(Ok(()), |rejected| rejected.poison(stream))?;
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let items = self.inputs.device.slice(self.inputs.layout.range(input));
        let (selected, count) = (self.outputs.of(input), self.counts.of(input));
        let (flags, scratch) = (&self.flags, &mut self.scratch);
        let Some(rejected) = &mut self.rejected else {
            return Ok(select_flagged_into(stream, items, flags, selected, count, scratch)?);
        };
        let rejected = rejected.of(input);
        Ok(partition_flagged_into(stream, items, flags, selected, rejected, count, scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let (inputs, selected) = (self.inputs, self.selected);
        self.counts.check(launched, |_, count| count[0] = selected as u64)?;
        // What lies behind the items is not written.
        let write = |is_set: bool, input: usize, output: &mut [T]| {
            let items = inputs.host[inputs.layout.range(input)].iter().enumerate();
            front(output, items.filter(|(index, _)| (flag(*index) != 0) == is_set).map(|(_, item)| *item));
        };
        self.outputs.check(launched, |input, output| write(true, input, output))?;
        let Some(rejected) = &mut self.rejected else { return Ok(()) };
        rejected.check(launched, |input, output| write(false, input, output))
    }
}
