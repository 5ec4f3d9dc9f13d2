//! Matrices in memory: their layout, views of them, and batches.
//!
//! ```
//! use gpu_core::{Device, Layout, Matrix};
//! let buffer = Device::simulator().upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let matrix = Matrix::new(&buffer, Layout::row_major(2, 3)?)?;
//! assert_eq!(matrix.transposed().layout(), Layout::column_major(3, 2)?);
//! assert!(Matrix::new(&buffer, Layout::row_major(2, 4)?).is_err());
//! # Ok::<(), gpu_core::Error>(())
//! ```

/// What views of matrices, of batches and of images have in common.
macro_rules! accessors {
    ($Read:ident, $Write:ident: $Layout:ty) => {
        impl<'a, T: Element> $Read<'a, T> {
            /// Shape, and how that lies in memory.
            pub fn layout(&self) -> $Layout {
                self.layout
            }

            /// Its memory.
            pub fn data(&self) -> View<'a, T> {
                self.data
            }
        }

        impl<'a, T: Element> $Write<'a, T> {
            /// Shape, and how that lies in memory.
            pub fn layout(&self) -> $Layout {
                self.layout
            }

            /// Its memory, to read.
            pub fn data(&self) -> View<'_, T> {
                self.data.view()
            }

            /// Its memory, to write.
            pub fn data_mut(&mut self) -> ViewMut<'_, T> {
                self.data.reborrow()
            }

            /// Its memory, given up.
            pub fn into_data(self) -> ViewMut<'a, T> {
                self.data
            }
        }
    };
}
pub(crate) use accessors;

/// What those have in common that can be transposed.
macro_rules! transposed {
    ($($View:ident),*) => { $(
        impl<T: Element> $View<'_, T> {
            /// Transposed: the same memory, nothing is moved.
            #[must_use]
            pub fn transposed(self) -> Self {
                Self { layout: self.layout.transposed(), ..self }
            }
        }
    )* };
}

mod batch;
mod invalid;
mod layout;

pub use batch::{Batch, BatchLayout, BatchMut};
pub use invalid::Invalid;
pub use layout::{Layout, Order};

use crate::buffer::Buffer;
use crate::checks;
use crate::element::Element;
use crate::error::Result;
use crate::view::{View, ViewMut};

/// A matrix in the memory of a device, to read. What lies in its gaps is never read.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T: Element> {
    data: View<'a, T>,
    layout: Layout,
}

impl<'a, T: Element> Matrix<'a, T> {
    /// The matrix that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) where `data` is shorter than the matrix.
    pub fn new(data: impl Into<View<'a, T>>, layout: Layout) -> Result<Self> {
        let data = data.into();
        checks::span("a matrix", layout.span(), data.len())?;
        Ok(Self { data, layout })
    }
}

/// A matrix in the memory of a device, to read and write. What lies in its gaps is neither read nor written.
#[derive(Debug)]
pub struct MatrixMut<'a, T: Element> {
    data: ViewMut<'a, T>,
    layout: Layout,
}

impl<'a, T: Element> MatrixMut<'a, T> {
    /// The matrix that starts with the first element of `data`.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) where `data` is shorter than the matrix.
    pub fn new(data: impl Into<ViewMut<'a, T>>, layout: Layout) -> Result<Self> {
        let data = data.into();
        checks::span("a matrix", layout.span(), data.len())?;
        Ok(Self { data, layout })
    }
}

accessors!(Matrix, MatrixMut: Layout);
transposed!(Matrix, MatrixMut);

/// A vector is a matrix of one row.
impl<'a, T: Element> From<View<'a, T>> for Matrix<'a, T> {
    fn from(data: View<'a, T>) -> Self {
        Self { data, layout: Layout::vector(data.len()) }
    }
}

/// What becomes a view becomes a vector. Not one implementation for all: other crates could make a [`Matrix`] one of
/// them.
macro_rules! vectors {
    ($($(const $n:ident)? $source:ty),*) => { $(
        impl<'a, T: Element $(, const $n: usize)?> From<&'a $source> for Matrix<'a, T> {
            fn from(source: &'a $source) -> Self {
                View::from(source).into()
            }
        }

        impl<'a, T: Element $(, const $n: usize)?> From<&'a mut $source> for MatrixMut<'a, T> {
            fn from(source: &'a mut $source) -> Self {
                ViewMut::from(source).into()
            }
        }
    )* };
}
vectors!(Buffer<T>, [T], Vec<T>, const N [T; N]);

/// A vector is a matrix of one row.
impl<'a, T: Element> From<ViewMut<'a, T>> for MatrixMut<'a, T> {
    fn from(data: ViewMut<'a, T>) -> Self {
        let layout = Layout::vector(data.len());
        Self { data, layout }
    }
}
