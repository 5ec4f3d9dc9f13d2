//! Histograms of 256 bins.

use gpu_core::Stream;
use gpu_sort::{HistogramSample, histogram_even, histogram_even_into};

use crate::data::{Element, Layout};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// How many bins.
pub const BINS: usize = 256;

/// The histogram of arrays of `T` with bins of the same width.
pub struct Histogram<'a, T: Element + HistogramSample> {
    inputs: Inputs<'a, T>,
    counts: Outputs<u64>,
    bounds: (T::Bound, T::Bound),
}

impl<'a, T: Element + HistogramSample> Histogram<'a, T> {
    /// Histograms of `inputs` between `bounds`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        session: &Session,
        inputs: Inputs<'a, T>,
        bounds: (T::Bound, T::Bound),
    ) -> Result<Self, Error> {
        let counts = Outputs::new(session, Layout::new::<u64>(inputs.layout.count, BINS))?;
        Ok(Self { inputs, counts, bounds })
    }
}

impl<T: Element + HistogramSample> Work for Histogram<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        (self.inputs.layout.elements * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.counts.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let samples = self.inputs.device.slice(self.inputs.layout.range(input));
        let (lower, upper) = self.bounds;
        Ok(histogram_even_into(stream, samples, lower, upper, self.counts.of(input))?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let (inputs, (lower, upper)) = (self.inputs, self.bounds);
        self.counts.check(launched, |input, counts| {
            let samples = &inputs.host[inputs.layout.range(input)];
            let on_cpu = histogram_even::<T, u64>(samples, BINS, lower, upper).and_then(|c| c.to_vec());
            counts.copy_from_slice(&on_cpu.expect("the bounds are right"));
        })
    }
}
