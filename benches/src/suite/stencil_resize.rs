//! Resizing.

use gpu_core::Stream;
use gpu_stencil::resize::{self, Addressing, Interpolation, reference, resize_into};
use gpu_stencil::{Image, ImageLayout, ImageMut};

use crate::data::{self, Element};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// Bilinear resizes of images of one channel.
pub struct Resize<'a, T: Element> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    from: ImageLayout,
    to: ImageLayout,
}

impl<'a, T: Element> Resize<'a, T> {
    /// Resizes of `inputs`, each an image of `from` rows and columns, to one of `to`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        session: &Session,
        inputs: Inputs<'a, T>,
        from: (usize, usize),
        to: (usize, usize),
    ) -> Result<Self, Error> {
        let [from, to] = [from, to].map(|(rows, cols)| ImageLayout::new(cols, rows, 1));
        let (from, to) = (from?, to?);
        let outputs = Outputs::new(session, data::Layout::new::<T>(inputs.layout.count, to.span()))?;
        Ok(Self { inputs, outputs, from, to })
    }
}

impl<T: Element + resize::Element> Work for Resize<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        ((self.from.span() + self.to.span()) * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let image = Image::new(self.inputs.device.slice(self.inputs.layout.range(input)), self.from)?;
        let output = ImageMut::new(self.outputs.of(input), self.to)?;
        Ok(resize_into(stream, image, Interpolation::Bilinear(Addressing::Clamp), output)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, from, to } = self;
        outputs.check(launched, |input, output| {
            let image = &inputs.host[inputs.layout.range(input)];
            let how = Interpolation::Bilinear(Addressing::Clamp);
            reference::resize((image, *from), (output, *to), how);
        })
    }
}
