//! Operations on vectors: dot products, multiples added and in place. Norms are reductions.

use gpu_core::{Stream, View, vectors};
use gpu_linalg::{RealElement, Scratch, axpy, dot_into, scale};
use gpu_reduce::reference;
use rayon::prelude::*;

use super::linalg::operands;
use crate::data::{Element, Layout};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// What vectors are multiplied with in place: rounded each time, and even after thousands of launches no zero.
pub const FACTOR: f32 = -1023.0 / 1024.0;

/// Elements that a core updates at once: they stay in its first-level cache however often that is.
const PART: usize = 1 << 11;

/// Dot products of `f32`: each input and the one after it.
pub struct Dot<'a> {
    inputs: Inputs<'a, f32>,
    outputs: Outputs<f32>,
    scratch: Scratch,
    /// What the reference computes, where it was asked.
    expected: Vec<Option<f32>>,
}

impl<'a> Dot<'a> {
    /// Products of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, f32>) -> Result<Self, Error> {
        let Layout { count, elements, .. } = inputs.layout;
        Ok(Self {
            inputs,
            outputs: Outputs::new(session, Layout::new::<f32>(count, 1))?,
            scratch: Scratch::with_size(&session.stream, gpu_reduce::reduce_scratch(elements))?,
            expected: vec![None; count],
        })
    }
}

impl Work for Dot<'_> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        ((2 * self.inputs.layout.elements + 1) * size_of::<f32>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let [x, y] = operands(self.inputs.layout, input).map(|range| self.inputs.device.slice(range));
        Ok(dot_into(stream, x, y, self.outputs.of(input), &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, expected, .. } = self;
        for input in (0..launched.len()).filter(|&input| launched[input]) {
            if expected[input].is_none() {
                let [x, y] = operands(inputs.layout, input).map(|range| &inputs.host[range]);
                let mut product = [0.0];
                reference::reduce::<<f32 as gpu_reduce::Element>::Dot, _>((x, y), &mut product)?;
                expected[input] = Some(product[0]);
            }
        }
        outputs.check(launched, |input, output| {
            output.fill(expected[input].expect("every launched one has just been computed"));
        })
    }
}

/// Copies of inputs that launches change in place, and how often each was changed.
pub(super) struct InPlace<'a, T: Element> {
    pub(super) inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    times: Vec<usize>,
}

impl<'a, T: Element> InPlace<'a, T> {
    pub(super) fn new(session: &Session, inputs: Inputs<'a, T>) -> Result<Self, Error> {
        let outputs = Outputs::new(session, inputs.layout)?;
        let mut copies = Self { inputs, outputs, times: vec![0; inputs.layout.count] };
        // Launches read them before the first set of timings, too.
        copies.set(&session.stream)?;
        Ok(copies)
    }

    /// Makes them what the inputs are.
    pub(super) fn set(&mut self, stream: &Stream) -> Result<(), Error> {
        self.times.fill(0);
        let inputs = self.inputs;
        self.outputs.set(stream, |input| inputs.device.slice(inputs.layout.range(input)))
    }

    /// The one of that number, which is changed now.
    pub(super) fn change(&mut self, input: usize) -> gpu_core::ViewMut<'_, T> {
        self.times[input] += 1;
        self.outputs.of(input)
    }

    /// Checks all; `update` does what so many launches do to the one of that number.
    pub(super) fn check(&mut self, update: impl Fn(usize, usize, &mut [T])) -> Result<(), Error> {
        let Self { inputs, outputs, times } = self;
        // Those of which there was no launch must be what they were.
        outputs.check(&vec![true; times.len()], |input, output| {
            output.copy_from_slice(&inputs.host[inputs.layout.range(input)]);
            update(input, times[input], output);
        })
    }
}

/// `y = alpha · x + y`, so many times, each element by one fused multiply-add.
pub(super) struct Axpys<'a, T> {
    pub(super) times: usize,
    pub(super) alpha: T,
    pub(super) x: &'a [T],
    pub(super) y: &'a mut [T],
}

impl<T: RealElement> vectors::Work for Axpys<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (y, x) in self.y.chunks_mut(PART).zip(self.x.chunks(PART)) {
            for _ in 0..self.times {
                y.iter_mut().zip(x).for_each(|(y, &x)| *y = self.alpha.mul_add(x, *y));
            }
        }
    }
}

/// What multiples are taken of: a number like any other.
pub(super) fn alpha<T: Element>() -> T {
    T::value(1)
}

/// `y = alpha · x + y` in place: each input and the one after it, which is x.
pub struct Axpy<'a, T: Element> {
    y: InPlace<'a, T>,
}

impl<'a, T: Element> Axpy<'a, T> {
    /// Updates of copies of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>) -> Result<Self, Error> {
        Ok(Self { y: InPlace::new(session, inputs)? })
    }
}

impl<T: Element + RealElement> Work for Axpy<'_, T> {
    fn inputs(&self) -> usize {
        self.y.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        3 * (self.y.inputs.layout.elements * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.y.set(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let inputs = self.y.inputs;
        let [_, x] = operands(inputs.layout, input);
        let x: View<'_, T> = inputs.device.slice(x);
        Ok(axpy(stream, alpha::<T>(), x, self.y.change(input))?)
    }

    fn check(&mut self, _: &[bool]) -> Result<(), Error> {
        let inputs = self.y.inputs;
        self.y.check(|input, times, y| {
            let [_, x] = operands(inputs.layout, input);
            y.par_chunks_mut(PART)
                .zip(inputs.host[x].par_chunks(PART))
                .for_each(|(y, x)| vectors::run(Axpys { times, alpha: alpha(), x, y }));
        })
    }
}

/// `x = alpha · x` in place.
pub struct Scale<'a> {
    x: InPlace<'a, f32>,
}

impl<'a> Scale<'a> {
    /// Multiples of copies of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, f32>) -> Result<Self, Error> {
        Ok(Self { x: InPlace::new(session, inputs)? })
    }
}

impl Work for Scale<'_> {
    fn inputs(&self) -> usize {
        self.x.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        2 * (self.x.inputs.layout.elements * size_of::<f32>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.x.set(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        Ok(scale(stream, FACTOR, self.x.change(input))?)
    }

    fn check(&mut self, _: &[bool]) -> Result<(), Error> {
        self.x.check(|_, times, x| {
            x.par_chunks_mut(PART)
                .for_each(|x| (0..times).for_each(|_| x.iter_mut().for_each(|x| *x *= FACTOR)));
        })
    }
}
