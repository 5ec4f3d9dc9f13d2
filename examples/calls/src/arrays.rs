//! Transpositions, and sums as a textbook has them or in any order.

use gpu_core::{Element, Scratch};
use gpu_reduce::variants::{Value, Variant, sum_with};
use gpu_reduce::{reduce_scratch, sum_unordered_into};
use gpu_transpose::{
    Layout, Matrix, MatrixMut, in_place_scratch, transpose_in_place, transpose_in_place_wide, transpose_into,
};

use super::{Call, Part, Sample, samples, sides};

/// Elements of a sum as a textbook has it: all are simulated, as the launches of partial results get shorter from one
/// to the next.
const TEXTBOOK: usize = 1 << 17;
/// Rows that are thin: elements of each.
const THIN: usize = 3;

/// All of them.
pub fn all() -> Vec<Call> {
    let mut all: Vec<Call> = Variant::ALL.map(sum::<f32>).into();
    all.extend([
        unordered(),
        transpose::<f64>("matrix", sides),
        // Rows that are no whole vectors.
        transpose::<u8>("skewed", |len| [sides(len)[0], sides(len)[1] - 1]),
        transpose::<u8>("thin", |len| [len / THIN, THIN]),
        transpose::<u16>("thin", |len| [len / THIN, THIN]),
        transpose::<f32>("thin", |len| [len / THIN, THIN]),
        transpose::<f64>("thin", |len| [len / THIN, THIN]),
        in_place::<u8>(),
        in_place::<u16>(),
        in_place::<f32>(),
        in_place::<f64>(),
        in_place::<u128>(),
        wide(),
    ]);
    all
}

fn name<T>() -> &'static str {
    std::any::type_name::<T>()
}

/// A sum as a textbook has it.
fn sum<T: Value + Sample>(variant: Variant) -> Call {
    let call = Call::new(
        format!("sum/{variant}/{}", name::<T>()),
        size_of::<T>() as f64,
        Part::all(TEXTBOOK),
        move |device, len| {
            let (stream, input) = (device.default_stream(), device.upload(&samples::<T>(len))?);
            let (mut output, mut scratch) = (device.alloc(1)?, device.alloc(variant.scratch_len(len))?);
            Ok(Box::new(move || Ok(sum_with(variant, &stream, &input, &mut output, &mut scratch)?)))
        },
    );
    Call { size: TEXTBOOK, ..call }
}

/// A sum in any order.
fn unordered() -> Call {
    Call::new("sum_unordered/f64".into(), 8.0, Part::all(1 << 17), |device, len| {
        let (stream, input) = (device.default_stream(), device.upload(&samples::<f64>(len))?);
        let mut output = device.alloc(1)?;
        let mut scratch = Scratch::with_size(&stream, reduce_scratch(len))?;
        Ok(Box::new(move || Ok(sum_unordered_into(&stream, &input, &mut output, &mut scratch)?)))
    })
}

/// A matrix transposed.
fn transpose<T: Element + Sample>(kind: &str, extents: fn(usize) -> [usize; 2]) -> Call {
    let name = format!("transpose_into/{kind}/{}", name::<T>());
    Call::new(name, 2.0 * size_of::<T>() as f64, Part::sample(1 << 20, 8), move |device, len| {
        let [rows, columns] = extents(len);
        let (stream, matrix) = (device.default_stream(), Layout::row_major(rows, columns)?);
        let transposed = Layout::row_major(columns, rows)?;
        let input = device.upload(&samples::<T>(matrix.span()))?;
        let mut output = device.alloc(matrix.span())?;
        Ok(Box::new(move || {
            let output = MatrixMut::new(&mut output, transposed)?;
            Ok(transpose_into(&stream, Matrix::new(&input, matrix)?, output)?)
        }))
    })
}

/// A matrix of half as many rows as columns, transposed where it is.
fn in_place<T: Element + Sample>() -> Call {
    let name = format!("transpose_in_place/{}", name::<T>());
    let call = Call::new(name, 2.0 * size_of::<T>() as f64, Part::all(1 << 15).cut(), |device, len| {
        let ([rows, columns], stream) = (sides(len), device.default_stream());
        let matrix = Layout::row_major(rows, columns)?;
        let mut data = device.upload(&samples::<T>(len))?;
        let mut scratch = Scratch::with_size(&stream, in_place_scratch::<T>(device, matrix)?)?;
        Ok(Box::new(move || {
            Ok(transpose_in_place(&stream, MatrixMut::new(&mut data, matrix)?, &mut scratch)?)
        }))
    });
    // An odd power of two is no square; of so many rows there are blocks as for each multiprocessor four.
    Call { size: 1 << 19, ..call }
}

/// A square matrix of bytes by wide tiles, which a block for each multiprocessor goes through.
fn wide() -> Call {
    let part = Part::sample(1 << 22, 4);
    let call = Call::new("transpose_in_place_wide/u8".into(), 2.0, part, |device, len| {
        let ([rows, columns], stream) = (sides(len), device.default_stream());
        let matrix = Layout::row_major(rows, columns)?;
        let mut data = device.upload(&samples::<u8>(len))?;
        let blocks = device.planned_multiprocessors();
        Ok(Box::new(move || {
            Ok(transpose_in_place_wide(&stream, MatrixMut::new(&mut data, matrix)?, blocks)?)
        }))
    });
    Call { size: 1 << 26, part: part.cut(), ..call }
}
