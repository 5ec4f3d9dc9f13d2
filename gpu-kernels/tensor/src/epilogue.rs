//! What is done to an element of C before it is rounded and written: `activation(alpha · A · B + beta · C + bias)`.
//!
//! It is a parameter of the kernels, so that there is one kernel for all of them; the branches are the same in all
//! threads. An [`Epilogue`] of one's own makes a kernel of one's own.

use gpu_std::float::max;
use gpu_std::memory::{Element, Global};
use gpu_std::parameter::Parameter;
use gpu_std::{device, opaque, unroll};

use crate::gelu;
use crate::place::Place;

/// What becomes of `alpha · sum + beta · C`, of sums of type `S`.
///
/// Kernels apply it once to each element that they write, and perhaps to some elements again whose results they do not
/// use. Rows and columns are those of a row-major C; a column-major one is written as `Cᵀ = Bᵀ · Aᵀ`. The crate's
/// documentation has a kernel with one.
pub trait Epilogue<S: Element>: Copy {
    /// Whether there is anything to do, the same in all threads: where not, whole lines are written as they are.
    #[inline(always)]
    fn is_asked(&self) -> bool {
        true
    }

    /// What is written of `value`, rounded to C's type, as the element of this row and column of this matrix.
    fn apply(&self, value: S, place: Place) -> S;

    /// The same of several elements: for what is decided or read for all of them alike.
    #[device]
    #[inline(always)]
    fn apply_all<const N: usize>(&self, mut values: [S; N], places: [Place; N]) -> [S; N] {
        unroll::<N>(|at| values[at] = self.apply(values[at], places[at]));
        values
    }
}

/// None: sums are written as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain;

impl<S: Element> Epilogue<S> for Plain {
    #[inline(always)]
    fn is_asked(&self) -> bool {
        false
    }

    #[inline(always)]
    fn apply(&self, value: S, _: Place) -> S {
        value
    }
}

/// A function of each element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Activation {
    /// The element itself.
    #[default]
    None,
    /// The larger of it and zero. Of -0 it is zero, and of NaN it is NaN.
    Relu,
    /// `x · Φ(x)`, with the error function: PyTorch's `gelu` as it is called without more ([`gelu`](crate::gelu())).
    Gelu,
    /// Its form with a hyperbolic tangent, up to 0.0005 from it: PyTorch's `gelu(approximate="tanh")`
    /// ([`gelu_tanh`](crate::gelu_tanh())).
    GeluTanh,
}

impl Activation {
    /// The function of `value`, the same bits as in the kernels.
    ///
    /// ```
    /// use gpu_tensor_kernels::Activation;
    /// assert_eq!([-2.0, 3.0].map(|x| Activation::Relu.of(x)), [0.0, 3.0]);
    /// ```
    pub fn of(self, value: f32) -> f32 {
        let [value] = activate(self as u32, [value]);
        value
    }
}

/// The activation of this number, of several values: on the host, too, and so no device function, which would tell the
/// simulator of branches that are the same in all threads.
#[inline(always)]
fn activate<const N: usize>(activation: u32, mut values: [f32; N]) -> [f32; N] {
    // What is known of it would make the loops around this several, each with its own activation.
    let activation = opaque(activation);
    if activation == const { Activation::Gelu as u32 } {
        unroll::<N>(|at| values[at] = gelu::gelu(values[at]));
    } else if activation == const { Activation::GeluTanh as u32 } {
        unroll::<N>(|at| values[at] = gelu::gelu_tanh(values[at]));
    } else if activation == const { Activation::Relu as u32 } {
        unroll::<N>(|at| values[at] = max(values[at], 0.0));
    }
    values
}

/// The usual epilogue: a bias, then an activation. The bias itself is a parameter of its own, as pointers are: the
/// [`Epilogue`] is the two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Usual {
    /// Elements from the bias of one matrix to that of the next.
    pub bias_batch: u64,
    /// What of C an element of the bias is for: nothing, as there is none, a row, or a column: 0, 1 or 2.
    pub bias: u32,
    /// An [`Activation`], as a number.
    pub activation: u32,
}

impl Usual {
    /// As [`Usual::bias`].
    pub const PER_ROW: u32 = 1;
    /// As [`Usual::bias`].
    pub const PER_COLUMN: u32 = 2;
}

impl Epilogue<f32> for (Global<f32>, Usual) {
    #[inline(always)]
    fn is_asked(&self) -> bool {
        opaque(self.1.bias | self.1.activation) != 0
    }

    #[device]
    #[inline(always)]
    fn apply(&self, value: f32, place: Place) -> f32 {
        let [value] = self.apply_all([value], [place]);
        value
    }

    #[device]
    #[inline(always)]
    fn apply_all<const N: usize>(&self, mut values: [f32; N], places: [Place; N]) -> [f32; N] {
        let (bias, usual) = *self;
        let per = opaque(usual.bias);
        if per != 0 {
            unroll::<N>(|at| {
                let Place { row, column, matrix } = places[at];
                let index = if per == Usual::PER_ROW { row } else { column };
                values[at] += bias.offset(u64::from(matrix) * usual.bias_batch).read_only(index);
            });
        }
        activate(usual.activation, values)
    }
}
