//! The work of each case, and its timings.

use gpu_linalg::RealElement;
use gpu_stencil::iterate::GridElement;
use gpu_stencil::signal::SignalElement;

use crate::data::Element;
use crate::error::Error;
use crate::protocol::{self, Effort, Work};
use crate::report::Timing;
use crate::session::{Inputs, Session};
use crate::suite::segments::{Lengths, Parts};
use crate::suite::{
    self, Add, Axpy, Case, Copy, Correlate, Dot, Filtered, Gemm, Gemv, Ger, Histogram, Iterate, Op, Reduce,
    Resize, RunLengths, Scale, Scan, ScanAxis, ScanSegments, Select, Shape, Sobel, Sort, SumByKey,
    SumUnordered, SumWithCopy, Symv, Transpose, Trmv, Type, Unique,
};

/// The timings of a case, the inputs it took in turn, and the bytes it moves.
pub(crate) type Measured = (Vec<Timing>, usize, u64);

/// Measures one case.
pub(crate) fn case(session: &mut Session, case: Case) -> Result<Measured, Error> {
    match case.shape {
        Shape::Array(typed) => {
            // These have memory of their own: what other cases used makes room.
            session.release();
            let work = suite::permute::work(session, typed)?;
            return timed(session, &session.effort, work);
        }
        Shape::Segmented(elements, lengths) => return measure_parts(session, case, elements, lengths),
        _ => {}
    }
    match (case.op, case.element) {
        (Op::SumUnordered, _) => {
            return measure_with(session, case, |session, inputs| {
                Ok(Box::new(SumUnordered::new(session, inputs)?))
            });
        }
        (Op::Sort | Op::SortPairs, _) => {
            return measure_with(session, case, |session, inputs| {
                Ok(Box::new(Sort::<i32>::new(session, inputs, case.op == Op::SortPairs)?))
            });
        }
        (Op::Select | Op::Partition, _) => {
            return measure_with(session, case, |session, inputs| {
                Ok(Box::new(Select::<i32>::new(session, inputs, case.op == Op::Partition)?))
            });
        }
        // All inputs lie between the bounds.
        (Op::Histogram, Type::F32) => {
            return measure_with(session, case, |session, inputs| {
                Ok(Box::new(Histogram::<f32>::new(session, inputs, (-0.5, 0.5))?))
            });
        }
        (Op::Histogram, _) => {
            return measure_with(session, case, |session, inputs| {
                Ok(Box::new(Histogram::<u8>::new(session, inputs, (0, 256))?))
            });
        }
        _ => {}
    }
    match case.op {
        Op::Dot | Op::Nrm2 | Op::Asum | Op::Scale => {
            return measure_with(session, case, |session, inputs| of_vectors(session, inputs, case.op));
        }
        Op::Add | Op::Axpy | Op::Gemm | Op::Gemv | Op::GemvTransposed | Op::Ger | Op::Symv | Op::Trmv => {
            return match case.element {
                Type::F64 => {
                    measure_with(session, case, |session, inputs| product::<f64>(session, inputs, case))
                }
                _ => measure_with(session, case, |session, inputs| product::<f32>(session, inputs, case)),
            };
        }
        Op::ScanRows | Op::ScanColumns => {
            return measure_with(session, case, |session, inputs| {
                let Shape::Matrix { rows, cols } = case.shape else { unreachable!("it is a matrix") };
                let axis = usize::from(case.op == Op::ScanRows);
                Ok(Box::new(ScanAxis::new(session, inputs, [rows, cols], axis)?))
            });
        }
        _ => {}
    }
    if matches!(case.op, Op::ResizeHalf | Op::ResizeDouble) {
        return match case.element {
            Type::U8 => measure_resize::<u8>(session, case),
            _ => measure_resize::<f32>(session, case),
        };
    }
    if matches!(case.op, Op::Correlate | Op::Heat | Op::Jacobi) {
        return match case.element {
            Type::F64 => measure_with(session, case, |session, inputs| stencil::<f64>(session, inputs, case)),
            _ => measure_with(session, case, |session, inputs| stencil::<f32>(session, inputs, case)),
        };
    }
    if let Some(measured) = measure_filter(session, case) {
        return measured;
    }
    match case.element {
        Type::F32 => measure_of::<f32>(session, case),
        Type::F64 => measure_of::<f64>(session, case),
        Type::I32 => measure_of::<i32>(session, case),
        Type::U8 => measure_of::<u8>(session, case),
        Type::U16 | Type::U32 | Type::U128 => unreachable!("{} has no inputs of its type", case.name()),
    }
}

/// Times a work, or launches it once in a session that counts.
fn timed(session: &Session, effort: &Effort, mut work: Box<dyn Work + '_>) -> Result<Measured, Error> {
    if session.counts {
        protocol::once(&mut *work, &session.stream)?;
        return Ok((Vec::new(), work.inputs(), work.bytes()));
    }
    let timings = protocol::measure(&mut *work, &session.stream, session.clock, effort)?;
    Ok((timings, work.inputs(), work.bytes()))
}

/// Measures a case of one type of elements only.
fn measure_with<T: Element>(
    session: &mut Session,
    case: Case,
    work: impl for<'a> FnOnce(&'a Session, Inputs<'a, T>) -> Result<Box<dyn Work + 'a>, Error>,
) -> Result<Measured, Error> {
    let layout = session.layout::<T>(case.elements());
    session.prepare::<T>(layout)?;
    let session = &*session;
    let Some(inputs) = session.inputs::<T>(layout) else { unreachable!("they were prepared just now") };
    timed(session, &session.effort, work(session, inputs)?)
}

/// Measures what is done with segments of arrays, or with runs.
fn measure_parts(
    session: &mut Session,
    case: Case,
    elements: usize,
    lengths: Lengths,
) -> Result<Measured, Error> {
    match case.op {
        // The runs are inputs of their own.
        Op::RunLengthEncode => {
            timed(session, &session.effort, Box::new(RunLengths::new(session, elements, lengths)?))
        }
        Op::Unique => timed(session, &session.effort, Box::new(Unique::new(session, elements, lengths)?)),
        op => measure_with(session, case, |session, inputs| {
            Ok(match op {
                Op::ReduceByKey => Box::new(SumByKey::new(session, inputs, lengths)?),
                Op::ScanSegments => Box::new(ScanSegments::<f32>::new(session, inputs, lengths)?),
                _ => Box::new(Parts::<f32>::segments(session, inputs, lengths)?),
            })
        }),
    }
}

/// Measures a filter of an image, if the case is one.
fn measure_filter(session: &mut Session, case: Case) -> Option<Result<Measured, Error>> {
    fn of<T: Element + gpu_stencil::Pixel>(
        session: &mut Session,
        case: Case,
        extents: [usize; 2],
    ) -> Result<Measured, Error> {
        measure_with(session, case, |session, inputs| {
            Ok(Box::new(Filtered::<T>::new(session, inputs, case.op, extents)?))
        })
    }
    let Shape::Matrix { rows, cols } = case.shape else { return None };
    let extents = [rows, cols];
    Some(match (case.op, case.element) {
        (Op::SobelMagnitude, _) => {
            measure_with(session, case, |session, inputs| Ok(Box::new(Sobel::new(session, inputs, extents)?)))
        }
        (
            Op::Gaussian5 | Op::Gaussian11 | Op::Filter3 | Op::Filter11 | Op::Gaussian5Rgb | Op::Filter3Rgb,
            element,
        ) => match element {
            Type::U8 => of::<u8>(session, case, extents),
            Type::U16 => of::<u16>(session, case, extents),
            Type::F64 => of::<f64>(session, case, extents),
            _ => of::<f32>(session, case, extents),
        },
        _ => return None,
    })
}

/// Measures a case whose inputs are shared with others.
fn measure_of<T: Element + gpu_reduce::Element + gpu_scan::Element>(
    session: &mut Session,
    case: Case,
) -> Result<Measured, Error> {
    let layout = session.layout::<T>(case.elements());
    session.prepare::<T>(layout)?;
    let session = &*session;
    let Some(inputs) = session.inputs::<T>(layout) else { unreachable!("they were prepared just now") };
    let mut effort = session.effort;
    let work: Box<dyn Work + '_> = match (case.op, case.shape) {
        (Op::Transpose, Shape::Matrix { rows, cols }) => {
            Box::new(Transpose::new(session, inputs, rows, cols)?)
        }
        (Op::Columns, Shape::Matrix { rows, cols }) => {
            Box::new(Parts::<T>::columns(session, inputs, [rows, cols])?)
        }
        (Op::Copy, _) => Box::new(Copy::new(session, inputs)?),
        (Op::SumWithCopy, _) => {
            effort = effort.of_copies();
            Box::new(SumWithCopy::new(session, inputs)?)
        }
        (Op::Scan, _) => Box::new(Scan::<T, <T as gpu_scan::Element>::Sum>::new(session, inputs)?),
        (Op::Max, _) => Box::new(Reduce::<T, <T as gpu_reduce::Element>::Max>::new(session, inputs)?),
        (Op::ArgMax, _) => Box::new(Reduce::<T, T::ArgMax>::new(session, inputs)?),
        _ => Box::new(Reduce::<T, <T as gpu_reduce::Element>::Sum>::new(session, inputs)?),
    };
    timed(session, &effort, work)
}

/// A product of matrices, or of a matrix and a vector; an outer product; a sum of vectors.
fn product<'a, T: Element + RealElement>(
    session: &Session,
    inputs: Inputs<'a, T>,
    case: Case,
) -> Result<Box<dyn Work + 'a>, Error> {
    let Shape::Matrix { rows, cols } = case.shape else {
        return Ok(match case.op {
            Op::Axpy => Box::new(Axpy::new(session, inputs)?),
            _ => Box::new(Add::new(session, inputs)?),
        });
    };
    Ok(match case.op {
        Op::Gemm => Box::new(Gemm::new(session, inputs, rows)?),
        Op::Ger => Box::new(Ger::new(session, inputs, [rows, cols])?),
        Op::Symv => Box::new(Symv::new(session, inputs, rows)?),
        Op::Trmv => Box::new(Trmv::new(session, inputs, rows)?),
        op => Box::new(Gemv::new(session, inputs, [rows, cols], op == Op::GemvTransposed)?),
    })
}

/// An operation on vectors of `f32`.
fn of_vectors<'a>(session: &Session, inputs: Inputs<'a, f32>, op: Op) -> Result<Box<dyn Work + 'a>, Error> {
    Ok(match op {
        Op::Dot => Box::new(Dot::new(session, inputs)?),
        Op::Nrm2 => Box::new(Reduce::<f32, <f32 as gpu_reduce::FloatElement>::NormL2>::new(session, inputs)?),
        Op::Asum => Box::new(Reduce::<f32, <f32 as gpu_reduce::Element>::NormL1>::new(session, inputs)?),
        _ => Box::new(Scale::new(session, inputs)?),
    })
}

/// Measures a resize of an image.
fn measure_resize<T: Element + gpu_stencil::resize::Element>(
    session: &mut Session,
    case: Case,
) -> Result<Measured, Error> {
    let Shape::Matrix { rows, cols } = case.shape else { unreachable!("{} is an image", case.name()) };
    let to = if case.op == Op::ResizeHalf { (rows / 2, cols / 2) } else { (2 * rows, 2 * cols) };
    measure_with(session, case, |session, inputs: Inputs<'_, T>| {
        Ok(Box::new(Resize::new(session, inputs, (rows, cols), to)?))
    })
}

/// A correlation, or steps on a plane or in a volume.
fn stencil<'a, T: Element + SignalElement + GridElement>(
    session: &Session,
    inputs: Inputs<'a, T>,
    case: Case,
) -> Result<Box<dyn Work + 'a>, Error> {
    Ok(match case.shape {
        Shape::Filtered(_, taps) => Box::new(Correlate::new(session, inputs, taps)?),
        Shape::Matrix { rows, cols } => Box::new(Iterate::heat(session, inputs, [rows, cols])?),
        Shape::Cube(side) => Box::new(Iterate::jacobi(session, inputs, side)?),
        _ => unreachable!("{} is none of them", case.name()),
    })
}
