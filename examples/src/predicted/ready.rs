//! Subjects on a device, ready to be enqueued: in the simulator to be counted, on a GPU to be timed.

use std::error::Error;

use gpu_core::{Buffer, Device, Scratch, Stream};
use gpu_linalg::variants::{self, GemmVariant};
use gpu_linalg::{Layout, Matrix};
use gpu_reduce::sum_into;
use gpu_std::launch::LaunchConfig;
use gpu_stencil::variants::{Mask, blur};

use super::{COLUMNS, Element, SIGMA, Subject, THREADS};
use crate::products::{Number, Way, element};
use crate::{reductions, scans};

/// A subject of a size, with all that it reads and writes, on a device.
pub struct Ready {
    /// Where it is enqueued.
    pub stream: Stream,
    enqueue: Box<dyn FnMut() -> Result<(), Box<dyn Error>>>,
}

impl Ready {
    fn new(stream: Stream, enqueue: impl FnMut() -> Result<(), Box<dyn Error>> + 'static) -> Self {
        Self { stream, enqueue: Box::new(enqueue) }
    }

    /// Enqueues it once, on the same memory as before.
    ///
    /// # Errors
    /// Those of the device.
    pub fn enqueue(&mut self) -> Result<(), Box<dyn Error>> {
        (self.enqueue)()
    }
}

/// Small whole numbers: what is added or multiplied is exact, and not all of it zero, which takes less power than
/// anything else.
fn numbers<T: Number>(device: &Device, len: usize) -> Result<Buffer<T>, Box<dyn Error>> {
    Ok(device.upload(&(0..len).map(element).collect::<Vec<T>>())?)
}

impl Subject {
    /// Itself and its memory on `device`, with inputs in it, ready to be enqueued as often as
    /// one likes.
    ///
    /// # Errors
    /// Those of the device.
    #[inline]
    pub fn ready(self, device: &Device, size: usize) -> Result<Ready, Box<dyn Error>> {
        match self {
            Self::Transpose(transposition) => {
                let matrix = Layout::row_major(size, size)?;
                let (input, stream) = (numbers::<f32>(device, matrix.span())?, device.stream()?);
                let (mut output, on) = (device.alloc::<f32>(matrix.span())?, stream.clone());
                Ok(Ready::new(stream, move || Ok(transposition.enqueue(&on, &input, matrix, &mut output)?)))
            }
            Self::Sum(summation) => {
                let mut work = reductions::Work::new(device, size)?;
                Ok(Ready::new(work.stream.clone(), move || Ok(work.enqueue(summation)?)))
            }
            Self::SumOf(element) => {
                let (stream, scratch) = (device.stream()?, gpu_reduce::reduce_scratch(size));
                let (mut scratch, on) = (Scratch::with_size(&stream, scratch)?, stream.clone());
                macro_rules! of {
                    ($input:expr, $T:ty) => {{
                        let (input, mut output) = ($input, device.alloc::<$T>(1)?);
                        Ready::new(stream, move || Ok(sum_into(&on, &input, &mut output, &mut scratch)?))
                    }};
                }
                Ok(match element {
                    Element::F32 => of!(numbers::<f32>(device, size)?, f32),
                    Element::F64 => of!(numbers::<f64>(device, size)?, f64),
                    Element::I32 => of!(numbers::<i32>(device, size)?, i32),
                    Element::U8 => of!(device.upload(&vec![1_u8; size])?, u8),
                })
            }
            Self::Scan(summation) => {
                let mut work = scans::Work::new(device, size)?;
                Ok(Ready::new(work.stream.clone(), move || Ok(work.enqueue(summation)?)))
            }
            Self::Gemv(way, Element::F64) => gemv::<f64>(way, device, size),
            Self::Gemv(way, _) => gemv::<f32>(way, device, size),
            Self::Product(variant) => product(variant, device, [size; 3]),
            Self::Blur(variant, radius) => {
                let (mask, stream) = (Mask::gaussian(device, radius, SIGMA)?, device.stream()?);
                let input = numbers::<f32>(device, size * size)?;
                let (mut output, on) = (device.alloc::<f32>(size * size)?, stream.clone());
                Ok(Ready::new(stream, move || Ok(blur(variant, &on, &input, &mask, &mut output, [size; 2])?)))
            }
        }
    }
}

/// A product of a matrix of so many rows and a vector.
fn gemv<T: Number>(way: Way, device: &Device, rows: usize) -> Result<Ready, Box<dyn Error>> {
    let (stream, layout) = (device.stream()?, Layout::row_major(rows, COLUMNS)?);
    let (a, x) = (numbers::<T>(device, layout.span())?, numbers::<T>(device, COLUMNS)?);
    let (mut y, on) = (device.alloc::<T>(rows)?, stream.clone());
    Ok(match way {
        Way::Textbook(variant) => {
            let threads = variant.threads(u32::try_from(rows)?, COLUMNS as u32);
            let config = LaunchConfig::linear(u32::try_from(threads.div_ceil(THREADS.into()))?, THREADS);
            Ready::new(stream, move || Ok(variants::gemv(variant, &on, config, &a, &x, &mut y)?))
        }
        Way::Fast => {
            let size = T::fast_scratch(layout).transpose()?.ok_or("there is no fast product of that type")?;
            // Zeros, as where a sample of the blocks is simulated not all write their part of it.
            let mut scratch = Scratch::from_buffer(&stream, device.zeroed(size.words())?)?;
            Ready::new(stream, move || {
                let matrix = Matrix::new(&a, layout)?;
                Ok(T::fast(&on, matrix, x.view(), y.view_mut(), &mut scratch)?)
            })
        }
    })
}

/// A product of an m × k and a k × n matrix, of `[m, n, k]`.
pub(super) fn product(
    variant: GemmVariant,
    device: &Device,
    [m, n, k]: [usize; 3],
) -> Result<Ready, Box<dyn Error>> {
    let (a, b) = (numbers::<f32>(device, m * k)?, numbers::<f32>(device, k * n)?);
    let (mut c, stream) = (device.alloc::<f32>(m * n)?, device.stream()?);
    let on = stream.clone();
    Ok(Ready::new(stream, move || Ok(variants::gemm(variant, &on, &a, &b, &mut c, [m, n, k])?)))
}
