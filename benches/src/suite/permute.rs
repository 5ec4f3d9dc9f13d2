//! Transpositions and permutations of other elements than `f32`, and in place.

use std::marker::PhantomData;

use gpu_core::{Buffer, Element, Stream};
use gpu_transpose::{Batch, Matrix};

use super::Typed;
use crate::data;
use crate::error::Error;
use crate::protocol::Work;
use crate::session::Session;

/// Outputs are checked at so many places.
const PLACES: usize = 1000;

/// Permutations of arrays, each input in turn.
pub struct Permute<T: Element> {
    typed: Typed,
    inputs: usize,
    input: Buffer<T>,
    output: Buffer<T>,
    element: PhantomData<T>,
}

/// The work of a case.
///
/// # Errors
/// Those of the device.
pub fn work(session: &Session, typed: Typed) -> Result<Box<dyn Work>, Error> {
    Ok(match typed.bytes {
        1 => Box::new(Permute::<u8>::new(session, typed)?),
        2 => Box::new(Permute::<u16>::new(session, typed)?),
        4 => Box::new(Permute::<u32>::new(session, typed)?),
        8 => Box::new(Permute::<u64>::new(session, typed)?),
        _ => Box::new(Permute::<u128>::new(session, typed)?),
    })
}

impl<T: Element> Permute<T> {
    fn new(session: &Session, typed: Typed) -> Result<Self, Error> {
        let elements = typed.elements();
        let inputs = session.layout((elements * typed.bytes).div_ceil(size_of::<f32>())).count;
        let mut input = session.device.alloc(inputs * elements)?;
        let host: Vec<T> = (0..elements).map(element).collect();
        for number in 0..inputs {
            input.slice_mut(number * elements..(number + 1) * elements).copy_from(&host)?;
        }
        let output = session.device.alloc(if typed.in_place { 0 } else { inputs * elements })?;
        Ok(Self { typed, inputs, input, output, element: PhantomData })
    }
}

/// The input's element at `index`.
fn element<T: Element>(index: usize) -> T {
    let word = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let words = [word ^ word >> 29, word.rotate_left(17)];
    bytemuck::pod_read_unaligned(&bytemuck::bytes_of(&words)[..size_of::<T>()])
}

impl<T: Element> Work for Permute<T> {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn bytes(&self) -> u64 {
        2 * (self.typed.elements() * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        // In place the input is what is written: it stays one of its two forms.
        if !self.typed.in_place {
            stream.memset(&mut self.output, data::POISON_BYTE)?;
        }
        Ok(())
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let elements = self.typed.elements();
        let range = input * elements..(input + 1) * elements;
        if self.typed.in_place {
            let [.., rows, columns] = self.typed.extents;
            let batch = Batch::one(Matrix::new(rows, columns)?);
            let data = self.input.slice_mut(range);
            return Ok(gpu_transpose::transpose_in_place(stream, data, batch, &mut self.output)?);
        }
        let (source, target) = (self.input.slice(range.clone()), self.output.slice_mut(range));
        let axes = self.typed.axes.map(usize::from);
        let Typed { extents, .. } = self.typed;
        Ok(gpu_transpose::permute_into(stream, source, &extents, &axes, target)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Typed { extents, axes, in_place, .. } = self.typed;
        let elements = self.typed.elements();
        for input in (0..self.inputs).filter(|&input| launched[input]) {
            for place in 0..PLACES {
                // Spread over the output, its first and its last element included.
                let at = (elements - 1) / (PLACES - 1) * place
                    + (elements - 1) % (PLACES - 1) * place / (PLACES - 1);
                let (mut rest, mut from) = (at, 0);
                for axis in axes.iter().rev().map(|&axis| usize::from(axis)) {
                    from += rest % extents[axis] * extents[axis + 1..].iter().product::<usize>();
                    rest /= extents[axis];
                }
                let buffer = if in_place { &self.input } else { &self.output };
                let mut actual = [T::default()];
                buffer.slice(input * elements + at..input * elements + at + 1).copy_to(&mut actual)?;
                let expected: T = element(from);
                // After an even number of launches a matrix in place is what it was.
                let right = actual[0] == expected || in_place && actual[0] == element(at);
                if !right {
                    return Err(Error::WrongElement {
                        input,
                        index: at,
                        expected: format!("{expected:?}"),
                        actual: format!("{:?}", actual[0]),
                    });
                }
            }
        }
        Ok(())
    }
}
