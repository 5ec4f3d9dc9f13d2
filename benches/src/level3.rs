//! Triangular solves and symmetric updates at the shapes of the figures and at shapes drawn by a seed.

use std::fmt;

use gpu_core::{Device, Scratch, Stream};
use gpu_linalg::plan::gemm::Kernel;
use gpu_linalg::variants::gemm_tiles;
use gpu_linalg::{Diagonal, Layout, Matrix, MatrixMut, Side, Triangle, TriangleElement, syrk, trsm};

use crate::data;
use crate::error::Error;
use crate::shapes::{logarithmic, split_mix};
use crate::sweep::{batch_median, brief_median};

/// The seed of the drawn shapes.
pub const SEED: u64 = 20_261_123;
/// Shapes that are drawn of each operation.
const DRAWN: u64 = 100;
/// Elements of a result that are checked.
const CHECKED: usize = 64;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// The solution of a triangular system.
    Trsm,
    /// The update of a triangle.
    Syrk,
}

/// A solve with an n × n triangle and m right-hand sides, or an update of an n × n triangle by sums of m products. All
/// matrices are row-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What is computed.
    pub op: Op,
    /// Of which type.
    pub element: &'static str,
    /// n and m.
    pub extents: [usize; 2],
    /// Whether the triangle is the upper one.
    pub upper: bool,
    /// Of a solve, whether the triangle stands on the right.
    pub right: bool,
    /// Whether the factor that is not the output is stored transposed, that is column-major.
    pub transposed: bool,
    /// Elements that every leading dimension has more than it needs.
    pub gap: usize,
    /// Whether it was drawn.
    pub drawn: bool,
}

/// The shapes: those of the figures, then those that the seed draws.
pub fn shapes() -> Vec<Shape> {
    let mut all = Vec::new();
    for op in [Op::Trsm, Op::Syrk] {
        for element in ["f32", "f64"] {
            for n in [512, 1024, 2048, 4096, 8192] {
                let (upper, right, transposed) = (false, false, false);
                let extents = [n, n];
                all.push(Shape { op, element, extents, upper, right, transposed, gap: 0, drawn: false });
            }
        }
        for number in 0..DRAWN {
            let bits = |what: u64| split_mix(SEED, ((op == Op::Syrk) as u64 * DRAWN + number) * 16 + what);
            let is = |what: u64| bits(what) >> 63 == 1;
            all.push(Shape {
                op,
                element: if number % 2 == 0 { "f32" } else { "f64" },
                extents: [0, 1].map(|what| logarithmic(bits(what), 1, 16_384)),
                upper: is(2),
                right: op == Op::Trsm && is(3),
                transposed: is(4),
                gap: if is(5) { 1 + (bits(6) >> 60) as usize } else { 0 },
                drawn: true,
            });
        }
    }
    all
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let op = if self.op == Op::Trsm { "trsm" } else { "syrk" };
        let [n, m] = self.extents;
        let triangle = if self.upper { 'u' } else { 'l' };
        let side = if self.right { 'r' } else { 'l' };
        let transposed = if self.transposed { 't' } else { 'n' };
        let (element, gap, drawn) = (self.element, self.gap, u8::from(self.drawn));
        write!(f, "{op} {element} {n} {m} {side}{triangle}{transposed} {gap} {drawn}")
    }
}

impl Shape {
    /// The kernels that take it, of devices from 8.0 on: those that the plan of an update chooses between; none of
    /// solves.
    pub fn kernels(&self) -> impl Iterator<Item = Kernel> {
        let ([n, k], bytes) = (self.extents, if self.element == "f32" { 4 } else { 8 });
        let is_update = self.op == Op::Syrk;
        // Of A and its transpose one is contiguous along the sums.
        let lines = [n, if self.transposed { n } else { k }].map(|line| line + self.gap);
        let aligned = lines.iter().chain([&k, &n]).all(|line| (line * bytes).is_multiple_of(16));
        let takes = move |kernel: &Kernel| {
            is_update && kernel.takes(bytes, k, true) && (aligned || !kernel.needs_alignment())
        };
        Kernel::of(bytes, None).iter().copied().filter(takes)
    }
}

/// The median milliseconds of a launch, of batches of launches, between two events.
///
/// An update by a kernel, or by that which the plan takes. A solve's triangle has 2 on its diagonal and `1 / 4n` at
/// most elsewhere, so that solving again and again stays finite.
///
/// # Errors
/// Those of the device; a result that is not right.
pub fn measure(
    device: &Device,
    shape: &Shape,
    kernel: Option<Kernel>,
    is_checked: bool,
) -> Result<f64, Error> {
    let stream = device.stream()?;
    match (shape.op, shape.element) {
        (Op::Trsm, "f32") => solve::<f32>(device, &stream, shape, is_checked),
        (Op::Trsm, _) => solve::<f64>(device, &stream, shape, is_checked),
        (Op::Syrk, "f32") => update::<f32>(device, &stream, shape, kernel, is_checked),
        (Op::Syrk, _) => update::<f64>(device, &stream, shape, kernel, is_checked),
    }
}

fn layout(rows: usize, columns: usize, transposed: bool, gap: usize) -> Result<Layout, Error> {
    let layout =
        if transposed { Layout::column_major(rows, columns)? } else { Layout::row_major(rows, columns)? };
    Ok(layout.with_leading_dimension(layout.leading_dimension() + gap)?)
}

/// From -1 to 1, the same for the same index.
fn value(index: usize) -> f32 {
    (data::hash(index) >> 8) as f32 / (1 << 23) as f32 - 1.0
}

fn solve<T: TriangleElement + From<f32> + Into<f64>>(
    device: &Device,
    stream: &Stream,
    shape: &Shape,
    is_checked: bool,
) -> Result<f64, Error> {
    let ([n, m], triangle) = (shape.extents, if shape.upper { Triangle::Upper } else { Triangle::Lower });
    let (side, rows, columns) = if shape.right { (Side::Right, m, n) } else { (Side::Left, n, m) };
    let (of_a, of_b) = (layout(n, n, shape.transposed, shape.gap)?, layout(rows, columns, false, shape.gap)?);
    let small = 0.25 / n as f32;
    let mut host: Vec<T> = (0..of_a.span()).map(|at| T::from(value(at) * small)).collect();
    (0..n).for_each(|at| host[of_a.index(at, at)] = T::from(2.0));
    let a = device.upload(&host)?;
    let start: Vec<T> = (0..of_b.span()).map(|at| T::from(value(at))).collect();
    let mut b = device.upload(&start)?;
    let mut info = device.alloc::<u32>(1)?;
    let mut scratch = Scratch::new(stream);
    let a = Matrix::new(&a, of_a)?;
    let mut launch = || -> Result<(), Error> {
        let b = MatrixMut::new(&mut b, of_b)?;
        Ok(trsm(stream, side, triangle, Diagonal::Stored, T::ONE, a, b, &mut info, &mut scratch)?)
    };
    if !is_checked {
        return batch_median(stream, launch);
    }
    launch()?;
    let x = b.to_vec()?;
    // Row `row` of A times a column of X, or a row of X times a column of A.
    for sample in 0..CHECKED {
        let (row, other) = (data::hash(2 * sample) as usize % n, data::hash(2 * sample + 1) as usize % m);
        let (mut sum, mut magnitudes) = (0.0f64, 0.0f64);
        for k in 0..n {
            let (i, j) = if shape.right { (k, row) } else { (row, k) };
            if triangle.holds(i, j) {
                let at = if shape.right { of_b.index(other, k) } else { of_b.index(k, other) };
                let product: f64 = host[of_a.index(i, j)].into() * x[at].into();
                (sum, magnitudes) = (sum + product, magnitudes + product.abs());
            }
        }
        let at = if shape.right { of_b.index(other, row) } else { of_b.index(row, other) };
        let expected: f64 = start[at].into();
        // A's blocks have a condition of about one, so the bound is that of a sum of n products, with room for the
        // inverses.
        let bound = 4.0 * (n + 128) as f64 * unit::<T>() * (magnitudes + expected.abs());
        if (sum - expected).abs() > bound || sum.is_nan() {
            let what =
                format!("{shape}: row {row} of right-hand side {other} gives {sum}, expected {expected}");
            return Err(Error::WrongShape(what));
        }
    }
    let mut launch = || -> Result<(), Error> {
        let b = MatrixMut::new(&mut b, of_b)?;
        Ok(trsm(stream, side, triangle, Diagonal::Stored, T::ONE, a, b, &mut info, &mut scratch)?)
    };
    batch_median(stream, &mut launch)
}

fn update<T: TriangleElement + From<f32> + Into<f64>>(
    device: &Device,
    stream: &Stream,
    shape: &Shape,
    kernel: Option<Kernel>,
    is_checked: bool,
) -> Result<f64, Error> {
    let ([n, k], triangle) = (shape.extents, if shape.upper { Triangle::Upper } else { Triangle::Lower });
    let (of_a, of_c) = (layout(n, k, shape.transposed, shape.gap)?, layout(n, n, false, shape.gap)?);
    let host: Vec<T> = (0..of_a.span()).map(|at| T::from(value(at))).collect();
    let a = device.upload(&host)?;
    let mut c = device.zeroed::<T>(of_c.span())?;
    let mut scratch = Scratch::new(stream);
    let a = Matrix::new(&a, of_a)?;
    let ms = match kernel {
        None => batch_median(stream, || -> Result<(), Error> {
            let c = MatrixMut::new(&mut c, of_c)?;
            Ok(syrk(stream, triangle, T::ONE, a, T::ZERO, c, &mut scratch)?)
        }),
        Some(kernel) => brief_median(stream, || -> Result<(), Error> {
            let (c, b) = (MatrixMut::new(&mut c, of_c)?, a.transposed());
            Ok(gemm_tiles(stream, kernel, Some(triangle), T::ONE, a, b, T::ZERO, c, &mut scratch)?)
        }),
    }?;
    if is_checked {
        let c = c.to_vec()?;
        for sample in 0..CHECKED {
            let (row, column) =
                (data::hash(2 * sample) as usize % n, data::hash(2 * sample + 1) as usize % n);
            let (mut sum, mut magnitudes) = (0.0f64, 0.0f64);
            if triangle.holds(row, column) {
                for k in 0..k {
                    let product: f64 = host[of_a.index(row, k)].into() * host[of_a.index(column, k)].into();
                    (sum, magnitudes) = (sum + product, magnitudes + product.abs());
                }
            }
            let actual: f64 = c[of_c.index(row, column)].into();
            let bound = 2.0 * (k + 64) as f64 * unit::<T>() * magnitudes;
            if (actual - sum).abs() > bound || actual.is_nan() {
                let what = format!("{shape}: ({row}, {column}) is {actual}, expected {sum}");
                return Err(Error::WrongShape(what));
            }
        }
    }
    Ok(ms)
}

fn unit<T>() -> f64 {
    if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_drawn_of_every_kind() {
        let all = shapes();
        assert_eq!(all.iter().filter(|shape| shape.drawn).count(), 200);
        for of in [
            |shape: &Shape| shape.upper,
            |shape: &Shape| shape.right,
            |shape: &Shape| shape.transposed,
            |shape: &Shape| shape.gap > 0,
        ] {
            assert!(all.iter().any(|shape| shape.drawn && of(shape)));
            assert!(all.iter().any(|shape| shape.drawn && !of(shape)));
        }
    }

    #[test]
    fn small_shapes_are_right_on_the_cpu() {
        let device = Device::cpu();
        let small = |shape: &Shape| shape.extents.iter().all(|&extent| extent <= 200);
        let mut count = 0;
        for shape in shapes().iter().filter(|shape| small(shape)) {
            assert!(measure(&device, shape, None, true).expect("the results are right") > 0.0);
            count += 1;
        }
        assert!(count > 10);
    }
}
