//! Runs of equal keys: the sums of their values, their lengths, their keys.

use gpu_core::{Buffer, Count, Scratch, Stream};
use gpu_reduce::kernels::Sum;
use gpu_reduce::{reduce_by_key_into, reference};
use gpu_sort::{RunsMut, run_length_encode_into, unique_into};

use super::segments::Lengths;
use crate::data::{Layout, front, hash};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// How long runs are.
pub const LENGTHS: [Lengths; 3] = [Lengths::Equal(8), Lengths::Equal(256), Lengths::PowerLaw];

/// Arrays of keys in runs that are as long as segments are.
struct Keys {
    layout: Layout,
    device: Buffer<u32>,
    /// Where the runs start, and where the last one ends: the same in all arrays.
    offsets: Vec<u32>,
}

impl Keys {
    /// Keys laid out as `layout`.
    fn new(session: &Session, layout: Layout, lengths: Lengths) -> Result<Self, Error> {
        let offsets = lengths.offsets(layout.elements);
        let mut host = vec![0; layout.len()];
        for input in 0..layout.count {
            let keys = &mut host[layout.range(input)];
            for (run, ends) in offsets.windows(2).enumerate() {
                keys[ends[0] as usize..ends[1] as usize].fill(key(layout, input, run));
            }
        }
        Ok(Self { layout, device: session.device.upload(&host)?, offsets })
    }

    /// Runs of an array.
    fn runs(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The keys of the runs of input `input`.
    fn unique(&self, input: usize) -> impl Iterator<Item = u32> {
        (0..self.runs()).map(move |run| key(self.layout, input, run))
    }
}

/// The key of run `run` of input `input`. No two indices have the same hash (each of its steps can be undone), so
/// neighbours differ.
fn key(layout: Layout, input: usize, run: usize) -> u32 {
    hash(input * layout.elements + run)
}

/// The sums of the values of each run of equal keys: arrays of `f32` and as many keys of 32 bits.
pub struct SumByKey<'a> {
    inputs: Inputs<'a, f32>,
    keys: Keys,
    unique: Outputs<u32>,
    sums: Outputs<f32>,
    counts: Outputs<Count>,
    scratch: Scratch,
}

impl<'a> SumByKey<'a> {
    /// Sums of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, f32>, lengths: Lengths) -> Result<Self, Error> {
        let Layout { count, elements, .. } = inputs.layout;
        let layout = Layout::new::<u32>(count, elements);
        Ok(Self {
            inputs,
            keys: Keys::new(session, layout, lengths)?,
            unique: Outputs::new(session, layout)?,
            sums: Outputs::new(session, inputs.layout)?,
            counts: Outputs::new(session, Layout::new::<Count>(count, 1))?,
            scratch: Scratch::with_size(
                &session.stream,
                gpu_reduce::reduce_by_key_scratch::<Sum<f32>, u32>(elements),
            )?,
        })
    }
}

impl Work for SumByKey<'_> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    /// Keys and values in; keys, sums and their number out. Where the runs start, 4 bytes a run that ours also writes
    /// and reads again, is its own affair.
    fn bytes(&self) -> u64 {
        let each = size_of::<u32>() + size_of::<f32>();
        ((self.inputs.layout.elements + self.keys.runs()) * each + size_of::<Count>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.unique.poison(stream)?;
        self.sums.poison(stream)?;
        self.counts.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let keys = self.keys.device.slice(self.keys.layout.range(input));
        let values = self.inputs.device.slice(self.inputs.layout.range(input));
        let (unique, sums, count) = (self.unique.of(input), self.sums.of(input), self.counts.of(input));
        let scratch = &mut self.scratch;
        Ok(reduce_by_key_into::<Sum<f32>, u32>(stream, keys, values, unique, sums, count, scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let (inputs, keys, runs) = (self.inputs, &self.keys, self.keys.runs());
        self.counts.check(launched, |_, count| count[0] = runs as Count)?;
        self.unique.check(launched, |input, output| front(output, keys.unique(input)))?;
        let offsets: Vec<usize> = keys.offsets.iter().map(|&offset| offset as usize).collect();
        self.sums.check(launched, |input, output| {
            let values = &inputs.host[inputs.layout.range(input)];
            // What lies behind the runs' sums is not written.
            front(output, []);
            reference::reduce_segments::<Sum<f32>, _>(values, &offsets, &mut output[..runs])
                .expect("the offsets are those of the runs");
        })
    }
}

/// The run-length encoding of arrays of `u32`.
pub struct RunLengths {
    keys: Keys,
    values: Outputs<u32>,
    starts: Outputs<u64>,
    lengths: Outputs<u64>,
    counts: Outputs<u64>,
    scratch: Scratch,
}

impl RunLengths {
    /// Encodings of arrays of `elements` elements.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, elements: usize, lengths: Lengths) -> Result<Self, Error> {
        let layout = session.layout::<u32>(elements);
        let numbers = Layout::new::<u64>(layout.count, elements);
        Ok(Self {
            keys: Keys::new(session, layout, lengths)?,
            values: Outputs::new(session, layout)?,
            starts: Outputs::new(session, numbers)?,
            lengths: Outputs::new(session, numbers)?,
            counts: Outputs::new(session, Layout::new::<u64>(layout.count, 1))?,
            scratch: Scratch::with_size(&session.stream, gpu_sort::select_scratch::<u32>(elements)?)?,
        })
    }
}

impl Work for RunLengths {
    fn inputs(&self) -> usize {
        self.keys.layout.count
    }

    /// Elements in; an element, a start and a length a run and their number out.
    fn bytes(&self) -> u64 {
        let each = size_of::<u32>() + 2 * size_of::<u64>();
        (self.keys.layout.elements * size_of::<u32>() + self.keys.runs() * each + size_of::<u64>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.values.poison(stream)?;
        self.starts.poison(stream)?;
        self.lengths.poison(stream)?;
        self.counts.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let items = self.keys.device.slice(self.keys.layout.range(input));
        let runs = RunsMut {
            values: self.values.of(input),
            starts: self.starts.of(input),
            lengths: self.lengths.of(input),
            count: self.counts.of(input),
        };
        Ok(run_length_encode_into(stream, items, runs, &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let keys = &self.keys;
        let ends = || keys.offsets.windows(2);
        self.counts.check(launched, |_, count| count[0] = keys.runs() as u64)?;
        self.values.check(launched, |input, output| front(output, keys.unique(input)))?;
        self.starts.check(launched, |_, output| front(output, ends().map(|ends| ends[0].into())))?;
        self.lengths.check(launched, |_, output| front(output, ends().map(|ends| (ends[1] - ends[0]).into())))
    }
}

/// The first element of each run of equal ones, of arrays of `u32`.
pub struct Unique {
    keys: Keys,
    outputs: Outputs<u32>,
    counts: Outputs<u64>,
    scratch: Scratch,
}

impl Unique {
    /// Selections from arrays of `elements` elements.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, elements: usize, lengths: Lengths) -> Result<Self, Error> {
        let layout = session.layout::<u32>(elements);
        Ok(Self {
            keys: Keys::new(session, layout, lengths)?,
            outputs: Outputs::new(session, layout)?,
            counts: Outputs::new(session, Layout::new::<u64>(layout.count, 1))?,
            scratch: Scratch::with_size(&session.stream, gpu_sort::select_scratch::<u32>(elements)?)?,
        })
    }
}

impl Work for Unique {
    fn inputs(&self) -> usize {
        self.keys.layout.count
    }

    fn bytes(&self) -> u64 {
        ((self.keys.layout.elements + self.keys.runs()) * size_of::<u32>() + size_of::<u64>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)?;
        self.counts.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let items = self.keys.device.slice(self.keys.layout.range(input));
        let (unique, count) = (self.outputs.of(input), self.counts.of(input));
        Ok(unique_into(stream, items, unique, count, &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let keys = &self.keys;
        self.counts.check(launched, |_, count| count[0] = keys.runs() as u64)?;
        self.outputs.check(launched, |input, output| front(output, keys.unique(input)))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Args;

    #[test]
    fn neighbouring_runs_have_other_keys_and_a_wrong_one_is_found() {
        let args = Args::try_parse_from(["bench-gpu", "--device", "cpu"]).expect("valid");
        let session = Session::new(&args).expect("the CPU is there");
        for lengths in LENGTHS {
            let mut work = RunLengths::new(&session, 1000, lengths).expect("it is small");
            for input in 0..2 {
                let unique: Vec<u32> = work.keys.unique(input).collect();
                assert!(unique.windows(2).all(|keys| keys[0] != keys[1]), "{lengths:?}");
            }
            work.poison(&session.stream).expect("it works");
            work.launch(&session.stream, 1).expect("it works");
            work.check(&[false, true]).expect("all is right");
            work.check(&[true, true]).expect_err("the first was not launched");
            work.check(&[false, false]).expect_err("the second was");
            work.keys.offsets[1] += 1;
            work.check(&[false, true]).expect_err("a run is longer than was found");
        }
    }
}
