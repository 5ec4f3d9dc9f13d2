//! Filters of images of one channel, and of three, without gaps, that go on as their edges do (NPP's
//! `NPP_BORDER_REPLICATE`): Gaussians, full filters; Sobel's magnitude of one channel.

use gpu_core::Stream;
use gpu_stencil::plan::Window;
use gpu_stencil::{
    Border, Filter, Gradients, Image, ImageLayout, ImageMut, Pixel, SeparableFilter, Weight, correlate_into,
    correlate_separable_into, reference, sobel_into,
};

use super::Op;
use crate::data::Element;
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// Elements of a pixel of red, green and blue.
pub const RGB: usize = 3;

/// The weights of a filter.
enum Weights<S: Weight> {
    Separable(SeparableFilter<S>),
    Full(Filter<S>),
}

impl<S: Weight> Weights<S> {
    fn of(op: Op) -> Result<Self, Error> {
        // No two alike, nor any zero; the peer has the same.
        let full = |taps: usize| {
            let weight = |at: usize| S::from_f64((at as f64 - 40.5) / 4096.0);
            Filter::new(taps, taps, &(0..taps * taps).map(weight).collect::<Vec<S>>())
        };
        Ok(match op {
            Op::Gaussian5 | Op::Gaussian5Rgb => Self::Separable(SeparableFilter::gaussian_of_radius(1.0, 2)?),
            Op::Gaussian11 => Self::Separable(SeparableFilter::gaussian_of_radius(2.0, 5)?),
            Op::Filter3 | Op::Filter3Rgb => Self::Full(full(3)?),
            _ => Self::Full(full(11)?),
        })
    }
}

/// A window of `taps` × `taps` pixels around its output.
fn around(taps: usize) -> Window {
    Window { taps: (taps as u32, taps as u32), left: taps as i32 / 2, top: taps as i32 / 2 }
}

/// Filters of images.
pub struct Filtered<'a, T: Element + Pixel> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    layout: ImageLayout,
    weights: Weights<T::Sum>,
}

impl<'a, T: Element + Pixel> Filtered<'a, T> {
    /// `op` on each of `inputs`, an image of `rows` rows of `cols` elements.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        session: &Session,
        inputs: Inputs<'a, T>,
        op: Op,
        [rows, cols]: [usize; 2],
    ) -> Result<Self, Error> {
        let outputs = Outputs::new(session, inputs.layout)?;
        let channels = if matches!(op, Op::Gaussian5Rgb | Op::Filter3Rgb) { RGB } else { 1 };
        let layout = ImageLayout::new(cols / channels, rows, channels)?;
        Ok(Self { inputs, outputs, layout, weights: Weights::of(op)? })
    }
}

impl<T: Element + Pixel> Work for Filtered<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        2 * (self.inputs.layout.elements * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let image = Image::new(self.inputs.device.slice(self.inputs.layout.range(input)), self.layout)?;
        let output = ImageMut::new(self.outputs.of(input), self.layout)?;
        match &self.weights {
            Weights::Separable(filter) => {
                correlate_separable_into(stream, image, filter, Border::Nearest, output)?;
            }
            Weights::Full(filter) => correlate_into(stream, image, filter, Border::Nearest, output)?,
        }
        Ok(())
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, layout, weights } = self;
        outputs.check(launched, |input, output| {
            let input = (&inputs.host[inputs.layout.range(input)], *layout);
            let output = (output, *layout);
            match weights {
                Weights::Separable(filter) => {
                    let weights = [filter.row(), filter.column()];
                    reference::separable(weights, around(filter.row().len()), Border::Nearest, input, output);
                }
                Weights::Full(filter) => {
                    let window = around(filter.width());
                    reference::correlate(filter.weights(), window, Border::Nearest, input, output);
                }
            }
        })
    }
}

/// Magnitudes of Sobel's gradients.
pub struct Sobel<'a> {
    inputs: Inputs<'a, f32>,
    outputs: Outputs<f32>,
    layout: ImageLayout,
}

impl<'a> Sobel<'a> {
    /// Of each of `inputs`, an image of `rows` × `cols` pixels.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, f32>, [rows, cols]: [usize; 2]) -> Result<Self, Error> {
        let outputs = Outputs::new(session, inputs.layout)?;
        Ok(Self { inputs, outputs, layout: ImageLayout::new(cols, rows, 1)? })
    }
}

impl Work for Sobel<'_> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        2 * (self.inputs.layout.elements * size_of::<f32>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let image = Image::new(self.inputs.device.slice(self.inputs.layout.range(input)), self.layout)?;
        let magnitude = Some(ImageMut::new(self.outputs.of(input), self.layout)?);
        Ok(sobel_into(stream, image, Border::Nearest, Gradients { magnitude, ..Gradients::default() })?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, layout } = self;
        outputs.check(launched, |input, output| {
            let input = (&inputs.host[inputs.layout.range(input)], *layout);
            let outputs = [None, None, Some((output, *layout))];
            reference::sobel(around(3), Border::Nearest, input, outputs, None);
        })
    }
}
