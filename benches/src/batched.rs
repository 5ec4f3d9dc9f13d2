//! Products of batches whose matrices start anywhere: squares, and shapes drawn by a seed.

use std::fmt;

use gpu_core::{Device, Element};
use gpu_linalg::{
    BatchStarts, Layout, Matrix, MatrixMut, bf16, gemm_batched, gemm_tensor_batched, gemm_tf32_batched,
};

use crate::error::Error;
use crate::shapes::{logarithmic, split_mix};
use crate::sweep::batch_median;

/// The seed of the drawn shapes.
pub const SEED: u64 = 20_261_128;
/// Shapes that are drawn of each type.
const DRAWN: u64 = 20;
/// Elements of the three matrices of all products, about: more than the L2 holds.
const ELEMENTS: usize = 48 << 20;
/// The most products.
const MOST: usize = 200_000;

/// A batch of products of m × k and k × n matrices, C being row-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Of which type: `f32`, `f64`, `tf32`, and `bf16` with C of it.
    pub element: &'static str,
    /// m, n, k.
    pub extents: [usize; 3],
    /// Whether A and B are stored transposed, that is column-major.
    pub transposed: [bool; 2],
    /// Products.
    pub count: usize,
    /// Whether it was drawn.
    pub drawn: bool,
}

impl Shape {
    fn new(element: &'static str, extents: [usize; 3], transposed: [bool; 2], drawn: bool) -> Self {
        let [m, n, k] = extents;
        let count = (ELEMENTS / (m * k + k * n + m * n)).clamp(1, MOST);
        Self { element, extents, transposed, count, drawn }
    }

    /// The median milliseconds of a launch.
    ///
    /// # Errors
    /// Those of the device; if `is_checked`, a result that is not within the bound of its sum.
    pub fn measure(&self, device: &Device, is_checked: bool) -> Result<f64, Error> {
        let unit = |at: usize| (split_mix(SEED, at as u64) >> 40) as f32 / (1 << 23) as f32 - 1.0;
        // What comes on top of a sum's roundings: of 16-bit results half a unit of theirs, of tf32's factors two of
        // 2^-11 and their product.
        match self.element {
            "f32" => self.of_type(device, is_checked, unit, f64::from, 0.0, |stream, a, b, c, starts| {
                gemm_batched(stream, 1.0, a, b, 0.0, c, starts)
            }),
            "f64" => self.of_type(
                device,
                is_checked,
                |at| f64::from(unit(at)),
                |value| value,
                0.0,
                |stream, a, b, c, starts| gemm_batched(stream, 1.0, a, b, 0.0, c, starts),
            ),
            "tf32" => {
                self.of_type(device, is_checked, unit, f64::from, 3.0 / 2048.0, |stream, a, b, c, starts| {
                    gemm_tf32_batched(stream, 1.0, a, b, 0.0, c, starts)
                })
            }
            _ => {
                let (value, widen) = (|at| bf16::from_f32(unit(at)), |value: bf16| f64::from(value.to_f32()));
                self.of_type(device, is_checked, value, widen, 1.0 / 256.0, |stream, a, b, c, starts| {
                    gemm_tensor_batched::<bf16, bf16>(stream, 1.0, a, b, 0.0, c, starts)
                })
            }
        }
    }

    fn of_type<T: Element>(
        &self,
        device: &Device,
        is_checked: bool,
        value: impl Fn(usize) -> T,
        widen: impl Fn(T) -> f64,
        of_types: f64,
        multiply: impl Fn(
            &gpu_core::Stream,
            Matrix<'_, T>,
            Matrix<'_, T>,
            MatrixMut<'_, T>,
            &BatchStarts,
        ) -> Result<(), gpu_linalg::Error>,
    ) -> Result<f64, Error> {
        const PERIOD: usize = 1 << 20;
        let ([m, n, k], count) = (self.extents, self.count);
        let layout = |rows, columns, transposed| {
            if transposed { Layout::column_major(rows, columns) } else { Layout::row_major(rows, columns) }
        };
        let (of_a, of_b) = (layout(m, k, self.transposed[0])?, layout(k, n, self.transposed[1])?);
        let of_c = Layout::row_major(m, n)?;
        let period: Vec<T> = (0..PERIOD).map(value).collect();
        let factor = |span: usize| -> Result<_, Error> {
            let elements: Vec<T> = period.iter().copied().cycle().take(span * count).collect();
            Ok(device.upload(&elements)?)
        };
        let (a, b) = (factor(m * k)?, factor(k * n)?);
        let mut c = device.zeroed::<T>(m * n * count)?;
        // In no order: a step that shares no divisor with the count visits all.
        let step = (count / 2..).find(|&step| step > 0 && divisor(step, count) == 1).unwrap_or(1);
        let places: Vec<usize> = (0..count).map(|at| at * step % count).collect();
        let starts: Vec<[usize; 3]> = places
            .iter()
            .enumerate()
            .map(|(at, &place)| [place * m * k, at * k * n, place * m * n])
            .collect();
        let starts = BatchStarts::new(device, &starts)?;
        let stream = device.stream()?;
        let ms = batch_median(&stream, || -> Result<(), Error> {
            let (a, b) = (Matrix::new(&a, of_a)?, Matrix::new(&b, of_b)?);
            Ok(multiply(&stream, a, b, MatrixMut::new(&mut c, of_c)?, &starts)?)
        })?;
        if is_checked {
            let actual = c.to_vec()?;
            for sample in 0..64 {
                let bits = |what: u64| split_mix(SEED + 1, sample * 4 + what) as usize;
                let (number, row, column) = (bits(0) % count, bits(1) % m, bits(2) % n);
                let [from_a, from_b, from_c] = starts.starts()[number];
                let (mut sum, mut sizes) = (0.0, 0.0);
                for k in 0..k {
                    let factor = |at: usize| widen(period[at % PERIOD]);
                    let product =
                        factor(from_a + of_a.index(row, k)) * factor(from_b + of_b.index(k, column));
                    (sum, sizes) = (sum + product, sizes + product.abs());
                }
                let epsilon = if self.element == "f64" { f64::EPSILON } else { f32::EPSILON.into() };
                let bound = (2.0 * k as f64 * epsilon + of_types) * sizes;
                let actual = widen(actual[from_c + of_c.index(row, column)]);
                // NaN is not.
                let is_right = (actual - sum).abs() <= bound;
                if !is_right {
                    let what = format!("{self}: {number}, ({row}, {column}) is {actual:?}, expected {sum:?}");
                    return Err(Error::WrongShape(what));
                }
            }
        }
        Ok(ms)
    }
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Squares, and shapes with extents from 1 to 512.
pub fn shapes() -> Vec<Shape> {
    let mut all = Vec::new();
    for element in ["f32", "f64", "tf32", "bf16"] {
        let squares = [16, 32, 64, 128, 256];
        all.extend(squares.map(|n| Shape::new(element, [n; 3], [false; 2], false)));
        for number in 0..DRAWN {
            let bits = |what: u64| split_mix(SEED, number * 16 + what);
            let extents = [0, 1, 2].map(|what| logarithmic(bits(what), 1, 512));
            let transposed = [3, 4].map(|what| bits(what) >> 63 == 1);
            all.push(Shape::new(element, extents, transposed, true));
        }
    }
    all
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.extents;
        let [a, b] = self.transposed.map(|transposed| if transposed { 't' } else { 'n' });
        let Self { element, count, drawn, .. } = self;
        write!(f, "gemm_batched {element} {m} {n} {k} {a}{b} {count} {}", u8::from(*drawn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_right_on_the_cpu_and_more_than_the_l2_holds() {
        for shape in shapes() {
            let [m, n, k] = shape.extents;
            let elements = shape.count * (m * k + k * n + m * n);
            assert!(shape.count == MOST || elements > ELEMENTS / 2, "{shape}");
        }
        let device = Device::cpu();
        for element in ["f32", "f64", "tf32", "bf16"] {
            let shape = Shape { count: 7, ..Shape::new(element, [9, 20, 31], [true, false], false) };
            assert!(shape.measure(&device, true).expect("it is right") > 0.0);
        }
    }
}
