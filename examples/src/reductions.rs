//! All sums, and what the simulator counts of them.

use std::error::Error;

use gpu_core::{Buffer, Device, Stream};
use gpu_reduce::variants::{Variant, sum_with};
use gpu_reduce::{Scratch, sum_into};
use gpu_sim::metrics::Metrics;
use gpu_sim::{BlockOrder, Config, Record};

use crate::choice::{Choice, Textbook};

/// A sum: a textbook's, or [`sum_into`].
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

    /// Threads of a block.
    pub fn block(self) -> u32 {
        match self {
            Self::Textbook(_) => gpu_reduce::variants::BLOCK,
            Self::Fast => gpu_reduce_kernels::THREADS,
        }
    }

    /// How many kernels the sum of `len` elements launches.
    pub fn launches(self, len: usize) -> usize {
        match self {
            Self::Textbook(variant) => variant.launches(len).count(),
            Self::Fast => 1,
        }
    }
}

/// An array on a device, with all that its sum takes.
pub struct Work {
    /// Where everything is enqueued.
    pub stream: Stream,
    /// The elements on the host …
    values: Vec<f64>,
    /// … and on the device.
    input: Buffer<f64>,
    output: Buffer<f64>,
    sums: Buffer<f64>,
    scratch: Scratch,
    /// The sum.
    pub expected: f64,
}

/// Element `index`: a whole number of magnitude up to 2^15. Sums of up to 2^38 of them are exact in any order, so all
/// summations give the same bits.
fn element(index: usize) -> f64 {
    let hash = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    f64::from((hash >> 48) as i32 - (1 << 15))
}

impl Work {
    /// An array of `len` elements.
    ///
    /// # Errors
    /// Those of the device; a reference that differs from the exact sum.
    #[inline]
    pub fn new(device: &Device, len: usize) -> Result<Self, Box<dyn Error>> {
        let values: Vec<f64> = (0..len).map(element).collect();
        let exact: i64 = values.iter().map(|&value| value as i64).sum();
        let expected = gpu_reduce::reference::sum(&values);
        if expected != exact as f64 {
            return Err(format!("the reference's sum of {len} elements is {expected}, not {exact}").into());
        }
        let stream = device.stream()?;
        let most = Variant::ALL.into_iter().map(|variant| variant.scratch_len(len)).max().unwrap_or(0);
        Ok(Self {
            input: device.upload(&values)?,
            output: device.zeroed(1)?,
            sums: device.alloc(most)?,
            scratch: Scratch::with_size(&stream, gpu_reduce::reduce_scratch(len))?,
            stream,
            values,
            expected,
        })
    }

    /// Copies the elements to the device once more.
    ///
    /// # Errors
    /// Those of the device.
    #[inline]
    pub fn copy(&mut self) -> Result<(), gpu_core::Error> {
        self.input.copy_from(&self.values)
    }

    /// Enqueues a sum.
    ///
    /// # Errors
    /// Those of [`sum_into`] and [`sum_with`].
    #[inline]
    pub fn enqueue(&mut self, summation: Summation) -> Result<(), gpu_reduce::Error> {
        match summation {
            Summation::Textbook(variant) => {
                sum_with(variant, &self.stream, &self.input, &mut self.output, &mut self.sums)
            }
            Summation::Fast => sum_into(&self.stream, &self.input, &mut self.output, &mut self.scratch),
        }
    }

    /// Waits for what was enqueued and takes the result to the host.
    ///
    /// # Errors
    /// Those of the device.
    #[inline]
    pub fn result(&mut self) -> Result<f64, gpu_core::Error> {
        self.stream.synchronize()?;
        let mut result = [0.0];
        self.output.copy_to(&mut result)?;
        Ok(result[0])
    }

    /// Sums once, into memory that holds something else, and compares with the reference.
    ///
    /// # Errors
    /// Those of the device; a wrong result.
    #[inline]
    pub fn check(&mut self, summation: Summation) -> Result<(), Box<dyn Error>> {
        self.stream.memset(&mut self.output, 0xff)?;
        self.enqueue(summation)?;
        let (result, expected) = (self.result()?, self.expected);
        if result.to_bits() == expected.to_bits() {
            Ok(())
        } else {
            Err(format!("{summation}: the sum is {result}, the reference's is {expected}").into())
        }
    }
}

/// What the simulator counts of the sum of `len` elements, all launches together; the sum is checked.
///
/// # Errors
/// A fault of the simulator, or a wrong result.
#[inline]
pub fn count(summation: Summation, len: usize) -> Result<Metrics, Box<dyn Error>> {
    let device = Device::simulator_with(Config {
        record: Record::Full,
        block_order: BlockOrder::Ascending,
        vary_residency: false,
        ..Config::default()
    });
    let mut work = Work::new(&device, len)?;
    work.check(summation)?;
    let reports = device.as_simulator().ok_or("the simulator is a simulator")?.take_reports();
    Ok(Metrics::of_all(&reports))
}
