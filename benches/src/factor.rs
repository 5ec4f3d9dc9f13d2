//! Cholesky factorisations, and systems solved by them: the sizes of the figures, and sizes drawn by a seed.

use std::fmt;
use std::str::FromStr;

use gpu_core::{Buffer, Device, Scratch};
use gpu_linalg::{Batch, BatchMut, FactorElement, Layout, Triangle, expect_positive_definite, potrf, potrs};

use crate::data::{self, Element};
use crate::error::Error;
use crate::shapes::{logarithmic, split_mix};
use crate::sweep::batch_median;

/// The seed of the drawn sizes.
pub const SEED: u64 = 20_261_118;
/// Sizes that are drawn of each type.
const DRAWN: u64 = 100;
/// Batches that are drawn of each type.
const DRAWN_BATCHES: u64 = 40;
/// Elements of a factor that are checked, of the first and the last matrix.
const CHECKED: usize = 64;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Factorisations in place.
    Potrf,
    /// Systems of factored matrices, with so many right-hand sides.
    Potrs(usize),
}

/// A batch of matrices, column-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What is measured.
    pub op: Op,
    /// Of which type.
    pub element: &'static str,
    /// Rows.
    pub n: usize,
    /// Matrices.
    pub count: usize,
    /// Which triangle.
    pub triangle: Triangle,
    /// Elements between columns.
    pub gap: usize,
    /// Whether it was drawn.
    pub drawn: bool,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (op, columns) = match self.op {
            Op::Potrf => ("potrf", 0),
            Op::Potrs(columns) => ("potrs", columns),
        };
        let triangle = if self.triangle == Triangle::Lower { 'l' } else { 'u' };
        let Self { element, n, count, gap, .. } = self;
        write!(f, "{op} {element} {n} {count} {triangle} {gap} {columns} {}", u8::from(self.drawn))
    }
}

impl FromStr for Shape {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(line: &str) -> Result<Self, Error> {
        let wrong = || Error::NoShape(line.to_owned());
        let [op, element, n, count, triangle, gap, columns, drawn] =
            line.split_whitespace().collect::<Vec<_>>()[..]
        else {
            return Err(wrong());
        };
        let number = |text: &str| text.parse().map_err(|_| wrong());
        let op = match op {
            "potrf" => Op::Potrf,
            "potrs" => Op::Potrs(number(columns)?),
            _ => return Err(wrong()),
        };
        let element = ["f32", "f64"].into_iter().find(|&known| known == element).ok_or_else(wrong)?;
        let triangle = match triangle {
            "l" => Triangle::Lower,
            "u" => Triangle::Upper,
            _ => return Err(wrong()),
        };
        let (n, count, gap) = (number(n)?, number(count)?, number(gap)?);
        Ok(Self { op, element, n, count, triangle, gap, drawn: drawn == "1" })
    }
}

impl Shape {
    /// Floating-point operations.
    pub fn operations(&self) -> f64 {
        let (n, count) = (self.n as f64, self.count as f64);
        count
            * match self.op {
                Op::Potrf => n * n * n / 3.0,
                Op::Potrs(columns) => 2.0 * n * n * columns as f64,
            }
    }
}

/// Those of the figures, then those that the seed draws.
pub fn shapes() -> Vec<Shape> {
    let one = |op, element, n, count| Shape {
        op,
        element,
        n,
        count,
        triangle: Triangle::Lower,
        gap: 0,
        drawn: false,
    };
    let mut all = Vec::new();
    for element in ["f64", "f32"] {
        all.extend([512, 2048, 8192, 16_384].map(|n| one(Op::Potrf, element, n, 1)));
        for (n, count) in [
            (4, 100_000),
            (8, 100_000),
            (16, 100_000),
            (32, 50_000),
            (64, 10_000),
            (128, 4000),
            (256, 1000),
            (512, 200),
        ] {
            all.push(one(Op::Potrf, element, n, count));
            all.extend([1, 16].map(|columns| one(Op::Potrs(columns), element, n, count)));
        }
        all.push(Shape { triangle: Triangle::Upper, ..one(Op::Potrf, element, 32, 50_000) });
        all.push(Shape { triangle: Triangle::Upper, ..one(Op::Potrf, element, 128, 4000) });
        all.extend([512, 4096].map(|n| one(Op::Potrs(1), element, n, 1)));
        all.push(one(Op::Potrs(256), element, 4096, 1));
        let drawn = |bits: &dyn Fn(u64) -> u64, n, count| {
            let triangle = if bits(1) >> 63 == 1 { Triangle::Upper } else { Triangle::Lower };
            let gap = if bits(2) >> 63 == 1 { bits(3) as usize % 17 } else { 0 };
            Shape { triangle, gap, drawn: true, ..one(Op::Potrf, element, n, count) }
        };
        for number in 0..DRAWN {
            let bits = |what: u64| split_mix(SEED, number * 16 + what);
            all.push(drawn(&bits, logarithmic(bits(0), 1, 16_384), 1));
        }
        for number in 0..DRAWN_BATCHES {
            let bits = |what: u64| split_mix(SEED + 1, number * 16 + what);
            let n = logarithmic(bits(0), 4, 512);
            let count = (logarithmic(bits(4), 1 << 18, 1 << 26) / (n * n)).clamp(2, 100_000);
            all.push(drawn(&bits, n, count));
        }
    }
    all
}

/// The milliseconds of a call, of batches of calls. A factorisation has a fresh matrix each time: the copy's own
/// milliseconds are taken off.
///
/// # Errors
/// Those of the device; a factor that is not within its bound.
pub fn measure(device: &Device, shape: &Shape, is_checked: bool) -> Result<f64, Error> {
    if shape.element == "f32" {
        of_type::<f32>(device, shape, is_checked)
    } else {
        of_type::<f64>(device, shape, is_checked)
    }
}

fn of_type<T: Element + FactorElement + Into<f64> + From<f32>>(
    device: &Device,
    shape: &Shape,
    is_checked: bool,
) -> Result<f64, Error> {
    let &Shape { n, count, triangle, gap, .. } = shape;
    let matrix = Layout::column_major(n, n)?.with_leading_dimension(n + gap)?;
    let layout = matrix.batch(count)?;
    // Elements are at most a half, and the diagonal outweighs the rest of its row.
    let mut host = data::values::<T>(layout.span()?);
    for number in 0..count {
        for i in 0..n {
            host[number * layout.stride + matrix.index(i, i)] = T::from(n as f32);
        }
    }
    let stream = device.stream()?;
    let fresh = device.upload(&host)?;
    let mut a = device.upload(&host)?;
    let mut info = device.alloc::<u32>(count)?;
    let mut scratch = Scratch::new(&stream);
    let mut factor = |a: &mut Buffer<T>| -> Result<(), Error> {
        let matrices = BatchMut::new(a, layout)?;
        Ok(potrf(&stream, triangle, matrices, &mut info, &mut scratch)?)
    };
    let Op::Potrs(columns) = shape.op else {
        let copy = batch_median(&stream, || stream.copy(&mut a, &fresh))?;
        let both = batch_median(&stream, || -> Result<(), Error> {
            stream.copy(&mut a, &fresh)?;
            factor(&mut a)
        })?;
        if is_checked {
            stream.copy(&mut a, &fresh)?;
            factor(&mut a)?;
            expect_positive_definite(&info)?;
            for number in [0, count - 1] {
                let at = number * layout.stride..number * layout.stride + matrix.span();
                check(shape, matrix, &host[at.clone()], &device_part(&a, at)?)?;
            }
        }
        return Ok(both - copy);
    };
    factor(&mut a)?;
    let right = Layout::column_major(n, columns)?;
    let right = right.batch(count)?;
    let mut b = device.upload(&data::values::<T>(right.span()?))?;
    let l = Batch::new(&a, layout)?;
    batch_median(&stream, || -> Result<(), Error> {
        let right = BatchMut::new(&mut b, right)?;
        Ok(potrs(&stream, triangle, l, right, &mut scratch)?)
    })
}

fn device_part<T: Element>(buffer: &Buffer<T>, at: std::ops::Range<usize>) -> Result<Vec<T>, Error> {
    let mut part = vec![T::default(); at.len()];
    buffer.slice(at).copy_to(&mut part)?;
    Ok(part)
}

/// Compares elements of `L·Lᵀ` with A's: `|A - L·Lᵀ| ≤ γ_{n + 8 + n/64} |L|·|Lᵀ|` (N. J. Higham, *Accuracy and Stability of Numerical
/// Algorithms*, theorem 10.3), and that of the sum here.
fn check<T: Element + Into<f64>>(shape: &Shape, layout: Layout, a: &[T], factor: &[T]) -> Result<(), Error> {
    let n = layout.rows();
    let at = |i: usize, j: usize| match shape.triangle {
        Triangle::Lower => layout.index(i, j),
        Triangle::Upper => layout.index(j, i),
    };
    let unit = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON } / 2.0;
    let bound = (n as f64 * (1.0 + 1.0 / 64.0) + 8.0) * (unit + f64::EPSILON / 2.0) * 1.01;
    for sample in 0..CHECKED {
        let (i, j) = if sample == 0 {
            (n - 1, n - 1)
        } else {
            (data::hash(2 * sample) as usize % n, data::hash(2 * sample + 1) as usize % n)
        };
        let (i, j) = (i.max(j), i.min(j));
        let (mut sum, mut size) = (0.0, 0.0);
        for k in 0..=j {
            let product = factor[at(i, k)].into() * factor[at(j, k)].into();
            (sum, size) = (sum + product, size + product.abs());
        }
        let expected: f64 = a[at(i, j)].into();
        // Not a number is not within the bound.
        let is_right = (expected - sum).abs() <= bound * size;
        if !is_right {
            let what = format!("{shape}: ({i}, {j}) of the factor's product is {sum}, expected {expected}");
            return Err(Error::WrongShape(what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_shapes_are_measured_and_checked_on_the_cpu() {
        let device = Device::cpu();
        let small = |shape: &&Shape| shape.n <= 40 && shape.count == 1;
        let all = shapes();
        let mut measured = 0;
        for shape in all.iter().filter(small) {
            measure(&device, shape, true).expect("the factors are right");
            measured += 1;
        }
        assert!(measured > 20);
        assert_eq!(all.iter().filter(|shape| shape.drawn).count(), 280);
    }

    #[test]
    fn lines_of_shapes_are_read_back() {
        for shape in shapes() {
            assert_eq!(shape.to_string().parse::<Shape>().expect("a shape"), shape);
        }
        for line in [
            "",
            "potrf f64 8 1 l 0 0",
            "potrf f16 8 1 l 0 0 0",
            "potrf f64 8 x l 0 0 0",
            "gemm f64 8 1 l 0 0 0",
        ] {
            assert!(matches!(line.parse::<Shape>(), Err(Error::NoShape(text)) if text == line));
        }
    }

    #[test]
    fn a_wrong_factor_is_found() {
        let shape = shapes()[0];
        let layout = Layout::column_major(2, 2).expect("four elements");
        assert!(check(&shape, layout, &[4.0f64, 2.0, 0.0, 10.0], &[2.0, 1.0, 0.0, 3.0]).is_ok());
        assert!(check(&shape, layout, &[4.0f64, 2.0, 0.0, 10.0], &[2.0, 1.0, 0.0, f64::NAN]).is_err());
        assert!(check(&shape, layout, &[4.0f64, 2.0, 0.0, 10.0], &[2.0, 1.0, 0.0, 3.0000001]).is_err());
    }
}
