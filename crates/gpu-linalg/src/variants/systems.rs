//! Triangular systems by a launch of choice: what [`trsm()`](crate::trsm)'s plan chooses between.

use gpu_core::matrix::Invalid;
use gpu_core::{Scratch, ScratchSize, Stream, ViewMut};

use crate::api::{self, Diagonal, Side, Triangle, elements, lend};
use crate::error::Error;
use crate::level3::{OnLeft, TriangleElement, square};
use crate::matrix::{Batch, BatchLayout, BatchMut};
use crate::plan::level3::{self as plan, Form};

/// [`trsm()`](crate::trsm) with A on the left and its diagonal stored, all rows in one launch, of blocks of threads for
/// many right-hand sides if they are `wide` and else for few.
///
/// # Errors
/// As there, with the scratch memory that [`trsm_square_scratch`] says.
///
/// ```
/// use gpu_linalg::variants::trsm_square;
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, Triangle};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[2.0, 0.0, 1.0, 4.0])?;
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// for wide in [false, true] {
///     let (mut b, mut info) = (device.upload(&[2.0, 9.0])?, device.alloc(1)?);
///     let layout = Layout::row_major(2, 1)?;
///     let mut scratch = Scratch::new(&device.default_stream());
///     let x = MatrixMut::new(&mut b, layout)?;
///     trsm_square(&device.default_stream(), wide, Triangle::Lower, 1.0, a, x, &mut info, &mut scratch)?;
///     assert_eq!(b.to_vec()?, [1.0, 2.0]);
/// }
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of the system")]
pub fn trsm_square<'a, 'b, 'i, T: TriangleElement>(
    stream: &Stream,
    wide: bool,
    triangle: Triangle,
    alpha: T,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<BatchMut<'b, T>>,
    info: impl Into<ViewMut<'i, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (a, mut b, info) = (a.into(), b.into(), info.into());
    api::expect_system(stream, Side::Left, a, &mut b, &info)?;
    lend(stream, scratch, ("triangular system", trsm_square_scratch::<T>(wide, b.layout())?), |mut words| {
        if b.layout().is_empty() {
            return Ok(stream.memset(info, u8::MAX)?);
        }
        stream.memset(words.reborrow(), 0)?;
        let of = OnLeft::new(Side::Left, triangle, a);
        square(stream, form(wide), (&of, Diagonal::Stored), alpha, &mut b, (words, info))
    })
}

/// Scratch memory of [`trsm_square`] for right-hand sides of this layout.
///
/// # Errors
/// [`Error::Device`] where its elements are not a `usize`.
pub fn trsm_square_scratch<T>(wide: bool, b: impl Into<BatchLayout>) -> Result<ScratchSize, Error> {
    let BatchLayout { matrix, count, stride } = b.into();
    let (rows, columns) = matrix.shape();
    let too_large = || Error::Device(Invalid::BatchOverflow { count, stride }.into());
    let words = plan::words::<T>(form(wide), rows, columns, count);
    Ok(elements::<T>(words.ok_or_else(too_large)?))
}

fn form(wide: bool) -> Form {
    if wide { Form::Wide } else { Form::Narrow }
}
