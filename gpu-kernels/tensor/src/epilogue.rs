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

/// What becomes of `alpha · sum + beta · C`, of sums of type `S`, in two steps: what depends on the place, as a bias
/// does, and then a function of the value alone.
///
/// Kernels apply each step once to each element that they write, and perhaps to some elements again whose results they
/// do not use. Rows and columns are those of a row-major C; a column-major one is written as `Cᵀ = Bᵀ · Aᵀ`. The crate's
/// documentation has a kernel with one.
pub trait Epilogue<S: Element>: Copy {
    /// Whether there is anything to do, the same in all threads: where not, whole lines are written as they are.
    #[inline(always)]
    fn is_asked(&self) -> bool {
        true
    }

    /// What is made of `value`, that is to be the element of this row and column of this matrix. It should be short: it
    /// is there for eight elements at a time.
    fn apply(&self, value: S, place: Place) -> S;

    /// The same of the elements of some rows and columns: for what is decided or read for several of them alike.
    #[device]
    #[inline(always)]
    fn apply_all<const ROWS: usize, const COLUMNS: usize>(
        &self,
        mut values: [[S; COLUMNS]; ROWS],
        rows: [u32; ROWS],
        columns: [u32; COLUMNS],
        matrix: u32,
    ) -> [[S; COLUMNS]; ROWS] {
        unroll::<ROWS>(|row| {
            unroll::<COLUMNS>(|column| {
                let place = Place { row: rows[row], column: columns[column], matrix };
                values[row][column] = self.apply(values[row][column], place);
            });
        });
        values
    }

    /// Whether there is a second step, the same in all threads.
    #[inline(always)]
    fn activates(&self) -> bool {
        false
    }

    /// What is then made of values, each by itself, and written, rounded to C's type. Not asked for where nothing
    /// [`activates`](Epilogue::activates). It may be long: it is there for four elements at a time.
    #[inline(always)]
    fn activate<const N: usize>(&self, values: [S; N]) -> [S; N] {
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
        match self {
            Self::None => value,
            Self::Relu => max(value, 0.0),
            Self::Gelu => gelu::gelu(value),
            Self::GeluTanh => gelu::gelu_tanh(value),
        }
    }
}

/// Either form of GELU, by its number, of several values. No device function, which would tell the simulator of a branch
/// that is the same in all threads.
#[inline(always)]
fn gelu_of<const N: usize>(activation: u32, values: [f32; N]) -> [f32; N] {
    // What is known of it would make the loops around this several, each with its own activation.
    if opaque(activation) == const { Activation::Gelu as u32 } {
        values.map(gelu::gelu)
    } else {
        values.map(gelu::gelu_tanh)
    }
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
    fn apply(&self, value: f32, Place { row, column, matrix }: Place) -> f32 {
        let [[value]] = self.apply_all([[value]], [row], [column], matrix);
        value
    }

    #[device]
    #[inline(always)]
    fn apply_all<const ROWS: usize, const COLUMNS: usize>(
        &self,
        mut values: [[f32; COLUMNS]; ROWS],
        rows: [u32; ROWS],
        columns: [u32; COLUMNS],
        matrix: u32,
    ) -> [[f32; COLUMNS]; ROWS] {
        let (bias, usual) = *self;
        let per = opaque(usual.bias);
        if per != 0 {
            let bias = bias.offset(u64::from(matrix) * usual.bias_batch);
            if per == Usual::PER_ROW {
                let of_rows = rows.map(|row| bias.read_only(row));
                unroll::<ROWS>(|row| values[row] = values[row].map(|value| value + of_rows[row]));
            } else {
                let of_columns = columns.map(|column| bias.read_only(column));
                unroll::<ROWS>(|row| {
                    unroll::<COLUMNS>(|column| values[row][column] += of_columns[column]);
                });
            }
        }
        if opaque(usual.activation) == const { Activation::Relu as u32 } {
            values = values.map(|values| values.map(|value| max(value, 0.0)));
        }
        values
    }

    #[inline(always)]
    fn activates(&self) -> bool {
        opaque(self.1.activation) >= const { Activation::Gelu as u32 }
    }

    #[inline(always)]
    fn activate<const N: usize>(&self, values: [f32; N]) -> [f32; N] {
        gelu_of(self.1.activation, values)
    }
}
