//! All scans, checked element by element and timed.

use std::error::Error;
use std::time::Instant;

use gpu_core::{Buffer, Device, Kind, Stream};
use gpu_scan::variants::{Variant, sum_with};
use gpu_scan::{Options, Scratch, inclusive_sum_into, kernels, reference};

use crate::choice::{Choice, Textbook};

/// An inclusive sum: a textbook's, or [`inclusive_sum_into`].
pub type Summation = Choice<Variant>;

impl Textbook for Variant {
    fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }
    fn by_name(name: &str) -> Option<Self> {
        Self::by_name(name)
    }
    fn label(self) -> String {
        self.name().to_owned()
    }
}

impl Summation {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Textbook(variant) => variant.name(),
            Self::Fast => "fast",
        }
    }
}

/// Seconds that runs took.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, of the sample.
    pub deviation: f64,
}

impl Times {
    /// Those of some runs.
    pub fn of(seconds: &[f64]) -> Self {
        let count = seconds.len() as f64;
        let mean = seconds.iter().sum::<f64>() / count;
        let squares: f64 = seconds.iter().map(|time| (time - mean).powi(2)).sum();
        Self { mean, deviation: (squares / (count - 1.0).max(1.0)).sqrt() }
    }
}

/// An array on a device, with all that its scans take.
pub struct Work {
    /// Where everything is enqueued.
    pub stream: Stream,
    input: Buffer<f32>,
    output: Buffer<f32>,
    words: Buffer<u64>,
    scratch: Scratch,
    /// The sums, by the CPU's reference.
    expected: Vec<f32>,
}

/// Element `index`: -1, 0 or 1, as a hash decides. Sums of any 2^28 consecutive ones stay far below 2^24, so they are
/// exact in any order, and all scans give the same bits.
fn element(index: usize) -> f32 {
    let hash = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash >> 40) % 3) as f32 - 1.0
}

impl Work {
    /// An array of `len` elements.
    ///
    /// # Errors
    /// Those of the device; a reference that differs from the exact sums.
    #[inline]
    pub fn new(device: &Device, len: usize) -> Result<Self, Box<dyn Error>> {
        let values: Vec<f32> = (0..len).map(element).collect();
        let mut expected = vec![0.0; len];
        reference::scan::<kernels::Sum<f32>>(&values, &Options::inclusive(), &mut expected)?;
        let mut exact = 0i64;
        for (index, (value, sum)) in values.iter().zip(&expected).enumerate() {
            exact += *value as i64;
            if *sum != exact as f32 {
                return Err(format!("the reference's sum [{index}] is {sum}, not {exact}").into());
            }
        }
        let stream = device.stream()?;
        let most = Variant::ALL.into_iter().map(|variant| variant.scratch_len(len)).max().unwrap_or(0);
        Ok(Self {
            input: device.upload(&values)?,
            output: device.zeroed(len)?,
            words: device.alloc(most)?,
            scratch: Scratch::with_size(&stream, gpu_scan::scan_scratch(len))?,
            stream,
            expected,
        })
    }

    /// Enqueues a scan.
    ///
    /// # Errors
    /// Those of [`inclusive_sum_into`] and [`sum_with`].
    #[inline]
    pub fn enqueue(&mut self, one: Summation) -> Result<(), gpu_scan::Error> {
        match one {
            Summation::Textbook(variant) => {
                sum_with(variant, &self.stream, &self.input, &mut self.output, &mut self.words)
            }
            Summation::Fast => {
                inclusive_sum_into(&self.stream, &self.input, &mut self.output, &mut self.scratch)
            }
        }
    }

    /// Scans once, into memory that holds something else, and compares every element with the reference.
    ///
    /// # Errors
    /// Those of the device; a wrong result.
    #[inline]
    pub fn check(&mut self, one: Summation) -> Result<(), Box<dyn Error>> {
        self.stream.memset(&mut self.output, 0xff)?;
        self.enqueue(one)?;
        self.stream.synchronize()?;
        let results = self.output.to_vec()?;
        let wrong = results.iter().zip(&self.expected).position(|(a, b)| a.to_bits() != b.to_bits());
        match wrong {
            None => Ok(()),
            Some(index) => {
                let (result, expected) = (results[index], self.expected[index]);
                Err(format!("{one}: sum [{index}] is {result}, the reference's is {expected}").into())
            }
        }
    }

    /// The times of `runs` runs, one by one, after one that is ignored: by events on a GPU, else by the clock.
    ///
    /// # Errors
    /// Those of the device.
    #[inline]
    pub fn time(&mut self, one: Summation, runs: usize) -> Result<Times, Box<dyn Error>> {
        let on_gpu = self.stream.device().kind() == Kind::Cuda;
        let mut run = || -> Result<f64, Box<dyn Error>> {
            if !on_gpu {
                let start = Instant::now();
                self.enqueue(one)?;
                self.stream.synchronize()?;
                return Ok(start.elapsed().as_secs_f64());
            }
            let start = self.stream.record()?;
            self.enqueue(one)?;
            let end = self.stream.record()?;
            self.stream.synchronize()?;
            Ok(f64::from(end.elapsed_ms(&start)?) / 1e3)
        };
        run()?;
        let times = (0..runs).map(|_| run()).collect::<Result<Vec<f64>, _>>()?;
        Ok(Times::of(&times))
    }
}

#[cfg(test)]
mod tests {
    use super::Times;

    #[test]
    fn mean_and_deviation() {
        let times = Times::of(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(times.mean, 2.5);
        assert!((times.deviation - (5f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Times::of(&[2.0]).deviation, 0.0);
    }
}
