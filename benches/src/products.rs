//! Products of matrices, and of a matrix and a vector, at the shapes of the figures and at shapes drawn by a seed.

use std::fmt;
use std::str::FromStr;

use gpu_core::{Buffer, Device, Scratch, Stream};
use gpu_linalg::plan::gemm::{AsVector, Kernel, Split};
use gpu_linalg::variants::gemm_tiles;
use gpu_linalg::{Layout, Matrix, MatrixMut, RealElement, gemm, gemv};

use crate::data::{self, Element};
use crate::error::Error;
use crate::shapes::{logarithmic, split_mix};
use crate::sweep::{batch_median, brief_median};

/// The seed of the drawn shapes.
pub const SEED: u64 = 20_261_121;
/// Shapes that are drawn of each type.
const DRAWN: u64 = 200;
/// Products of matrices, of a matrix and a vector, and of matrices with few results side by side and few products of
/// each, which are seldom among the others, that are drawn of each type for a CPU; and the most products of elements.
const DRAWN_FOR_CPU: [u64; 3] = [60, 30, 40];
const MOST_PRODUCTS: usize = 1 << 30;
/// Results side by side that are few, at most.
const FEW: usize = 16;
/// The most elements of a matrix: what is drawn larger is drawn again.
const MOST_ELEMENTS: usize = 1 << 29;
/// Different elements of the factors: they repeat after so many.
const PERIOD: usize = 1 << 24;
/// Elements that B's first is a multiple of, as the peer's is.
const ALIGNED: usize = 64;
/// Elements of a product that are checked.
const CHECKED: usize = 64;

/// What is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Matrices.
    Gemm,
    /// A matrix and a vector.
    Gemv,
}

/// A product of an m × k and a k × n matrix, or, with n = 1, a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What is multiplied.
    pub op: Op,
    /// Of which type.
    pub element: &'static str,
    /// m, n, k.
    pub extents: [usize; 3],
    /// Whether A and B are stored transposed, that is column-major.
    pub transposed: [bool; 2],
    /// Whether it was drawn.
    pub drawn: bool,
}

/// The shapes for a GPU: those of the figures, then those that the seed draws.
pub fn shapes() -> Vec<Shape> {
    let figures = [
        [1000, 1000, 1000],
        [257, 1031, 513],
        [4097, 4097, 4097],
        [100, 10_000, 4000],
        [2048, 32, 2048],
        [20_000, 128, 128],
        [64, 64, 100_000],
        [4096, 4096, 4096],
        [8192, 8192, 8192],
    ];
    let mut all = Vec::new();
    for element in ["f32", "f64"] {
        let shape = |extents, transposed, drawn| Shape { op: Op::Gemm, element, extents, transposed, drawn };
        all.extend(figures.map(|extents| shape(extents, [false; 2], false)));
        for number in 0..DRAWN {
            let is_small = |[m, n, k]: [usize; 3]| (m * k).max(k * n).max(m * n) <= MOST_ELEMENTS;
            let (extents, transposed) = drawn([16_384, 16_384, 200_000], number, is_small);
            all.push(shape(extents, transposed, true));
        }
    }
    all
}

/// Extents from 1 to `most`, log-uniformly, and whether A and B are stored transposed, of the shape of that number: the
/// first that are drawn for which `is_fit` holds.
fn drawn(most: [usize; 3], number: u64, is_fit: impl Fn([usize; 3]) -> bool) -> ([usize; 3], [bool; 2]) {
    let mut draw = 0;
    loop {
        let bits = |what: u64| split_mix(SEED, (1000 * draw + number) * 16 + what);
        let extents = [0, 1, 2].map(|what| logarithmic(bits(what as u64), 1, most[what]));
        if is_fit(extents) {
            return (extents, [bits(3) >> 63 == 1, bits(4) >> 63 == 1]);
        }
        draw += 1;
    }
}

/// The shapes for a CPU: squares, flat and tall ones, odd ones, in all orders, then those that the seed draws.
pub fn cpu_shapes() -> Vec<Shape> {
    let matrices = [
        [1, 1, 1],
        [3, 5, 7],
        [16, 16, 16],
        [33, 31, 29],
        [64, 64, 64],
        [100, 100, 100],
        [127, 129, 131],
        [256, 256, 256],
        [257, 511, 255],
        [512, 512, 512],
        [1000, 1000, 1000],
        [1023, 1025, 1021],
        [2048, 2048, 2048],
        [1, 4096, 4096],
        [4096, 1, 4096],
        [4096, 4096, 1],
        [4096, 8, 4096],
        [8, 4096, 4096],
        [4096, 4096, 8],
        [64, 64, 4096],
        [4095, 33, 257],
    ];
    let vectors = [
        [1, 1],
        [7, 9],
        [64, 64],
        [100, 100],
        [255, 257],
        [512, 512],
        [1000, 1000],
        [1, 4096],
        [4096, 1],
        [3, 4096],
        [4096, 3],
        [1023, 1025],
        [2048, 2048],
        [4095, 4097],
        [4096, 4096],
    ];
    let mut all = Vec::new();
    for element in ["f32", "f64"] {
        for [m, k] in vectors {
            for transposed in [false, true] {
                let (extents, transposed) = ([m, 1, k], [transposed, false]);
                all.push(Shape { op: Op::Gemv, element, extents, transposed, drawn: false });
            }
        }
        for extents in matrices {
            for transposed in [[false, false], [false, true], [true, false], [true, true]] {
                all.push(Shape { op: Op::Gemm, element, extents, transposed, drawn: false });
            }
        }
        for number in 0..DRAWN_FOR_CPU[0] {
            let (extents, transposed) =
                drawn([4096; 3], number, |all| all.iter().product::<usize>() <= MOST_PRODUCTS);
            all.push(Shape { op: Op::Gemm, element, extents, transposed, drawn: true });
        }
        for number in 0..DRAWN_FOR_CPU[1] {
            let (extents, transposed) = drawn([8192, 1, 8192], number, |_| true);
            all.push(Shape {
                op: Op::Gemv,
                element,
                extents,
                transposed: [transposed[0], false],
                drawn: true,
            });
        }
        for number in 0..DRAWN_FOR_CPU[2] {
            let (extents, transposed) = drawn([4096, 4096, 64], DRAWN + number, |[m, n, _]| m.min(n) <= FEW);
            all.push(Shape { op: Op::Gemm, element, extents, transposed, drawn: true });
        }
    }
    all
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let op = match self.op {
            Op::Gemm => "gemm",
            Op::Gemv => "gemv",
        };
        let [m, n, k] = self.extents;
        let [a, b] = self.transposed.map(|transposed| if transposed { 't' } else { 'n' });
        write!(f, "{op} {} {m} {n} {k} {a}{b} {}", self.element, u8::from(self.drawn))
    }
}

impl FromStr for Shape {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(line: &str) -> Result<Self, Error> {
        let wrong = || Error::NoShape(line.to_owned());
        let [op, element, m, n, k, transposed, drawn] = line.split_whitespace().collect::<Vec<_>>()[..]
        else {
            return Err(wrong());
        };
        let op = match op {
            "gemm" => Op::Gemm,
            "gemv" => Op::Gemv,
            _ => return Err(wrong()),
        };
        let element = ["f32", "f64"].into_iter().find(|&known| known == element).ok_or_else(wrong)?;
        let extent = |text: &str| text.parse().map_err(|_| wrong());
        let transposed = match transposed {
            "nn" => [false, false],
            "nt" => [false, true],
            "tn" => [true, false],
            "tt" => [true, true],
            _ => return Err(wrong()),
        };
        let extents = [extent(m)?, extent(n)?, extent(k)?];
        Ok(Self { op, element, extents, transposed, drawn: drawn == "1" })
    }
}

/// Factors of each type on a device, made once: the largest shape's elements, which repeat. B is behind A.
pub struct Factors {
    device: Device,
    stream: Stream,
    f32: Option<Pool<f32>>,
    f64: Option<Pool<f64>>,
}

struct Pool<T: gpu_core::Element> {
    period: Vec<T>,
    memory: Buffer<T>,
}

impl<T: Element> Pool<T> {
    fn new(device: &Device, stream: &Stream, len: usize) -> Result<Self, Error> {
        let period = data::values::<T>(PERIOD.min(len));
        let mut memory = device.alloc::<T>(len)?;
        let mut start = 0;
        while start < len {
            let some = period.len().min(len - start);
            memory.slice_mut(start..start + some).copy_from(&period[..some])?;
            start += some;
        }
        stream.synchronize()?;
        Ok(Self { period, memory })
    }
}

impl Factors {
    /// For a device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self { device: device.clone(), stream: device.stream()?, f32: None, f64: None })
    }

    /// The median milliseconds of a launch, of batches of launches: between two events, on a CPU by the clock. By a
    /// kernel, or by that which the plan takes.
    ///
    /// # Errors
    /// Those of the device; a result that is not the one that the order of operations gives.
    pub fn measure(
        &mut self,
        shape: &Shape,
        kernel: Option<Kernel>,
        most: usize,
        is_checked: bool,
    ) -> Result<f64, Error> {
        let Self { device, stream, .. } = self;
        if shape.element == "f32" {
            self.f64 = None;
            if self.f32.is_none() {
                self.f32 = Some(Pool::new(device, stream, most)?);
            }
            of_type(device, stream, self.f32.as_ref().expect("it was made"), shape, kernel, is_checked)
        } else {
            self.f32 = None;
            if self.f64.is_none() {
                self.f64 = Some(Pool::new(device, stream, most)?);
            }
            of_type(device, stream, self.f64.as_ref().expect("it was made"), shape, kernel, is_checked)
        }
    }
}

impl Shape {
    /// Where B begins in a pool's memory, of which the first elements are A's.
    fn start_of_b(&self) -> usize {
        (self.extents[0] * self.extents[2]).next_multiple_of(ALIGNED)
    }

    /// The kernels that take it, of devices from 8.0 on: those that its plan chooses between. None of products that are
    /// of a matrix and a vector.
    pub fn kernels(&self) -> impl Iterator<Item = Kernel> {
        let ([m, n, k], bytes) = (self.extents, if self.element == "f32" { 4 } else { 8 });
        let of_tiles = self.op == Op::Gemm && m > 1 && n > 1;
        // C is row-major; a flat one may be computed turned, and then A is what is read across.
        let across = self.transposed[1] || !self.transposed[0];
        // The contiguous extents of A, B and C, which have no gaps.
        let lines = [if self.transposed[0] { m } else { k }, if self.transposed[1] { k } else { n }, n];
        let aligned = lines.iter().all(|line| (line * bytes).is_multiple_of(16));
        let takes = move |kernel: &Kernel| {
            of_tiles && kernel.takes(bytes, k, across) && (aligned || !kernel.needs_alignment())
        };
        Kernel::of(bytes, None).iter().copied().filter(takes)
    }
}

/// The most elements of both factors.
pub fn most_elements(shapes: &[Shape]) -> usize {
    shapes.iter().map(|shape| shape.start_of_b() + shape.extents[2] * shape.extents[1]).max().unwrap_or(0)
}

fn layout(rows: usize, columns: usize, transposed: bool) -> Result<Layout, Error> {
    Ok(if transposed { Layout::column_major(rows, columns)? } else { Layout::row_major(rows, columns)? })
}

fn of_type<T: Element + RealElement + Into<f64>>(
    device: &Device,
    stream: &Stream,
    pool: &Pool<T>,
    shape: &Shape,
    kernel: Option<Kernel>,
    is_checked: bool,
) -> Result<f64, Error> {
    let [m, n, k] = shape.extents;
    let of_a = layout(m, k, shape.transposed[0])?;
    let a = Matrix::new(pool.memory.slice(..m * k), of_a)?;
    let behind = pool.memory.slice(shape.start_of_b()..);
    if shape.op == Op::Gemv {
        let mut y = device.zeroed::<T>(m)?;
        let mut scratch = Scratch::new(stream);
        let x = behind.slice(..k);
        return batch_median(stream, || gemv(stream, T::ONE, a, x, T::ZERO, &mut y, &mut scratch));
    }
    let of_b = layout(k, n, shape.transposed[1])?;
    let b = Matrix::new(behind.slice(..k * n), of_b)?;
    let of_c = Layout::row_major(m, n)?;
    let mut c = device.zeroed::<T>(m * n)?;
    let mut scratch = Scratch::new(stream);
    let ms = match kernel {
        None => batch_median(stream, || -> Result<(), Error> {
            let c = MatrixMut::new(&mut c, of_c)?;
            Ok(gemm(stream, T::ONE, a, b, T::ZERO, c, &mut scratch)?)
        }),
        Some(kernel) => brief_median(stream, || -> Result<(), Error> {
            let c = MatrixMut::new(&mut c, of_c)?;
            Ok(gemm_tiles(stream, kernel, None, T::ONE, a, b, T::ZERO, c, &mut scratch)?)
        }),
    }?;
    if is_checked {
        let c = c.to_vec()?;
        let value = |index: usize| pool.period[index % pool.period.len()];
        let vector = AsVector::of::<T>([of_a.into(), of_b.into(), of_c.into()]);
        let of_vector = kernel.is_none() && vector.is_some();
        let split = Split::of(size_of::<T>(), k, of_c.into());
        for sample in 0..CHECKED.min(m * n) {
            let (row, column) = if sample == 0 {
                (m - 1, n - 1)
            } else {
                (data::hash(2 * sample) as usize % m, data::hash(2 * sample + 1) as usize % n)
            };
            let of_b = |k: usize| value(shape.start_of_b() + of_b.index(k, column));
            let factors = |k: usize| (value(of_a.index(row, k)), of_b(k));
            let actual = c[row * n + column];
            let (is_right, expected) = if of_vector {
                bounded(actual, (0..k).map(factors))
            } else {
                let chain = |sum: T, k: usize| factors(k).0.mul_add(factors(k).1, sum);
                let parts = split.ranges(k).map(|part| part.fold(T::ZERO, chain));
                let expected = parts.fold(T::ZERO, |sum, part| sum + part);
                (data::same(&actual, &expected), expected.into())
            };
            if !is_right {
                let what = format!("{shape}: ({row}, {column}) is {actual:?}, expected {expected:?}");
                return Err(Error::WrongShape(what));
            }
        }
    }
    Ok(ms)
}

/// Whether a sum of products in some order is right, and what it is about. Two orders differ by at most `2 k ε Σ|a b|`, to first order
/// (N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 3.1): this one, and that of the sum here.
fn bounded<T: Into<f64>>(actual: T, factors: impl Iterator<Item = (T, T)>) -> (bool, f64) {
    let (mut sum, mut of_magnitudes, mut k) = (0.0, 0.0, 0.0);
    for (a, b) in factors {
        let product = a.into() * b.into();
        (sum, of_magnitudes, k) = (sum + product, of_magnitudes + product.abs(), k + 1.0);
    }
    let epsilon = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    ((actual.into() - sum).abs() <= 2.0 * k * epsilon * of_magnitudes, sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_within_what_memory_holds_and_every_order_is_drawn() {
        let all = shapes();
        assert_eq!(all.iter().filter(|shape| shape.drawn).count(), 400);
        assert!(most_elements(&all) <= 2 * MOST_ELEMENTS + ALIGNED);
        for transposed in [[false, false], [false, true], [true, false], [true, true]] {
            assert!(all.iter().any(|shape| shape.drawn && shape.transposed == transposed));
        }
    }

    #[test]
    fn shapes_are_read_as_they_are_written() {
        for shape in shapes().into_iter().chain(cpu_shapes()) {
            assert_eq!(shape.to_string().parse::<Shape>().expect("it was written"), shape);
        }
        for wrong in
            ["", "gemm f32 1 2 3 nn", "gemm f16 1 2 3 nn 0", "gemm f32 1 -2 3 nn 0", "gemm f32 1 2 3 na 0"]
        {
            assert!(matches!(wrong.parse::<Shape>(), Err(Error::NoShape(line)) if line == wrong));
        }
    }

    #[test]
    fn sums_are_right_within_their_bound_only() {
        let factors = || [(1.0f32, 3.0), (0.5, -2.0), (0.1, 10.0)].into_iter();
        assert!(bounded(3.0, factors()).0 && !bounded(3.001, factors()).0 && !bounded(f32::NAN, factors()).0);
    }

    #[test]
    fn the_cpu_has_small_shapes_measured_and_checked() {
        let device = Device::cpu();
        let small = |shape: &&Shape| !shape.drawn && shape.extents.iter().all(|&extent| extent <= 64);
        let shapes: Vec<Shape> = cpu_shapes().iter().filter(small).copied().collect();
        let mut factors = Factors::new(&device).expect("the CPU is there");
        for shape in &shapes {
            let ms =
                factors.measure(shape, None, most_elements(&shapes), true).expect("the results are right");
            assert!(ms > 0.0, "{shape}");
        }
        assert!(shapes.len() > 20);
    }
}
