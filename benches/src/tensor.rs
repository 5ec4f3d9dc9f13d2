//! Products of narrow elements on the tensor cores: the shapes of the figures.

use std::fmt;

use gpu_core::{Buffer, Device, Element, Scratch, ScratchSize, Stream};
use gpu_linalg::variants::{self, TensorVariant};
use gpu_linalg::{
    Activation, Batch, BatchLayout, BatchMut, Epilogue, Layout, TensorElement, TensorOutput, bf16, f16,
    gemm_i8, gemm_i8_scratch, gemm_tensor_scratch, gemm_tensor_with, gemm_tf32_scratch, gemm_tf32_with,
};

use crate::error::Error;
use crate::shapes::{logarithmic, split_mix};
use crate::sweep::batch_median;

/// The seed of the elements (../peers/tensor.cu has the same).
const SEED: u64 = 7;
/// Elements are those of the first so many, again and again.
const PERIOD: usize = 1 << 24;

/// A shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The factors' type.
    pub element: &'static str,
    /// C's type.
    pub output: &'static str,
    /// Rows of C, columns of C, length of the sums.
    pub size: [usize; 3],
    /// Whether A and B are stored transposed.
    pub transposed: [bool; 2],
    /// Matrices of the batch.
    pub count: usize,
}

impl Shape {
    /// Operations.
    pub fn operations(&self) -> f64 {
        self.size.iter().map(|&extent| extent as f64).product::<f64>() * 2.0 * self.count as f64
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.size;
        let order = |transposed| if transposed { 't' } else { 'n' };
        let [a, b] = self.transposed.map(order);
        write!(f, "gemm_tensor {} {} {m} {n} {k} {a}{b} {}", self.element, self.output, self.count)
    }
}

/// Shapes that are drawn for each type, twice.
const DRAWN: usize = 100;
/// The most elements of a matrix: what is drawn larger is drawn again.
const LARGEST: usize = 1 << 26;

/// Those of the figures, and drawn ones.
pub fn shapes() -> Vec<Shape> {
    let one = |element, output, size, transposed| Shape { element, output, size, transposed, count: 1 };
    let square = |n| [n; 3];
    let mut all = Vec::new();
    for n in [1024, 2048, 4096, 8192, 16_384] {
        all.push(one("bf16", "bf16", square(n), [false, false]));
    }
    for transposed in [[false, true], [true, false], [true, true]] {
        all.push(one("bf16", "bf16", square(8192), transposed));
    }
    all.push(one("bf16", "f32", square(8192), [false, false]));
    for n in [4096, 8192, 16_384] {
        all.push(one("f16", "f16", square(n), [false, false]));
    }
    for transposed in [[false, true], [true, false], [true, true]] {
        all.push(one("f16", "f16", square(8192), transposed));
    }
    for size in
        [[8192, 8192, 512], [4096, 4096, 64], [100, 10_000, 4000], [2048, 32, 2048], [20_000, 128, 128]]
    {
        all.push(one("bf16", "bf16", size, [false, false]));
    }
    for n in [2048, 4096, 8192] {
        all.push(one("tf32", "f32", square(n), [false, false]));
    }
    for transposed in [[false, true], [true, false], [true, true]] {
        all.push(one("tf32", "f32", square(8192), transposed));
    }
    // Along k both, as the tensor cores take bytes; and what has to be copied first.
    for n in [1024, 2048, 4096, 8192, 16_384] {
        all.push(one("i8", "i32", square(n), [false, true]));
    }
    for transposed in [[false, false], [true, false], [true, true]] {
        all.push(one("i8", "i32", square(8192), transposed));
    }
    all.push(one("i8", "i32", square(4097), [false, true]));
    // Few rows or columns.
    all.push(one("i8", "i32", [4096, 16, 4096], [false, true]));
    all.push(one("i8", "i32", [1, 4096, 4096], [false, false]));
    all.push(one("i8", "i32", [1000, 9, 5001], [false, false]));
    // Lines that are not aligned.
    for n in [1000, 1023, 4097] {
        all.push(one("bf16", "bf16", square(n), [false, false]));
    }
    all.push(one("bf16", "bf16", square(4097), [true, true]));
    all.push(one("tf32", "f32", square(4097), [true, false]));
    for n in [128, 256] {
        all.push(Shape { count: 256, ..one("bf16", "bf16", square(n), [false, false]) });
    }
    let mut draw = 0;
    // The second hundred came later: the first is that of earlier results.
    for (element, output) in [("bf16", "bf16"), ("tf32", "f32")].repeat(2) {
        let before = all.len();
        while all.len() < before + DRAWN {
            let bits = |what: u64| split_mix(SEED, 100_000 + 8 * draw + what);
            let [m, n] = [0, 1].map(|what| logarithmic(bits(what), 1, 16_384));
            let k = logarithmic(bits(2), 1, 200_000);
            let transposed = [bits(3) % 2 == 1, bits(4) % 2 == 1];
            draw += 1;
            if [m * k, k * n, m * n].into_iter().all(|elements| elements <= LARGEST) {
                all.push(one(element, output, [m, n, k], transposed));
            }
        }
    }
    all
}

/// The milliseconds of the shape's product, of batches of launches between two events, by a kernel of choice or by the one
/// that is chosen.
///
/// # Errors
/// Those of the device; a result that is not the CPU's.
pub fn measure(
    device: &Device,
    shape: &Shape,
    variant: Option<TensorVariant>,
    is_checked: bool,
) -> Result<f64, Error> {
    of_shape(device, shape, variant, &Epilogue::new(), is_checked)
}

/// The milliseconds of the same with a bias for each column and an activation in the launch of the product; none of
/// `i8`, whose products have no epilogue.
///
/// # Errors
/// Those of the device.
pub fn measure_fused(device: &Device, shape: &Shape, activation: Activation) -> Result<Option<f64>, Error> {
    if shape.element == "i8" {
        return Ok(None);
    }
    let bias = device.upload(&vec![0.25; shape.size[1]])?;
    let epilogue = Epilogue::new().bias_per_column(&bias).activation(activation);
    of_shape(device, shape, None, &epilogue, false).map(Some)
}

fn of_shape(
    device: &Device,
    shape: &Shape,
    variant: Option<TensorVariant>,
    epilogue: &Epilogue<'_>,
    is_checked: bool,
) -> Result<f64, Error> {
    let (bf16, f16) = (bf16::from_f32, f16::from_f32);
    match (shape.element, shape.output) {
        ("tf32", _) => of_tf32(device, shape, variant, epilogue, is_checked),
        ("i8", _) => of_i8(device, shape, variant, is_checked),
        ("bf16", "f32") => of_type::<_, f32>(device, shape, variant, epilogue, is_checked, bf16),
        ("bf16", _) => of_type::<bf16, bf16>(device, shape, variant, epilogue, is_checked, bf16),
        ("f16", "f32") => of_type::<_, f32>(device, shape, variant, epilogue, is_checked, f16),
        _ => of_type::<f16, f16>(device, shape, variant, epilogue, is_checked, f16),
    }
}

/// Number `index` of the elements: between -1 and 1.
fn element(index: usize) -> f32 {
    (split_mix(SEED, (index % PERIOD) as u64) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

fn of_type<T: TensorElement, C: TensorOutput<T>>(
    device: &Device,
    shape: &Shape,
    variant: Option<TensorVariant>,
    epilogue: &Epilogue<'_>,
    is_checked: bool,
    convert: impl Fn(f32) -> T,
) -> Result<f64, Error> {
    let size = |a: Batch<'_, T>, b: Batch<'_, T>, c| match variant {
        None => gemm_tensor_scratch(a, b, c),
        Some(variant) => variants::gemm_tensor_scratch(variant, a, b, c),
    };
    let multiply =
        |stream: &Stream, a: Batch<'_, T>, b: Batch<'_, T>, c: BatchMut<'_, C>, scratch: &mut Scratch| {
            match variant {
                None => gemm_tensor_with(stream, 1.0, a, b, 0.0, c, epilogue, scratch),
                Some(one) => variants::gemm_tensor_with(stream, one, 1.0, a, b, 0.0, c, epilogue, scratch),
            }
        };
    of_product(device, shape, is_checked, convert, size, multiply, |value: C| value.widen().into())
}

fn of_tf32(
    device: &Device,
    shape: &Shape,
    variant: Option<TensorVariant>,
    epilogue: &Epilogue<'_>,
    is_checked: bool,
) -> Result<f64, Error> {
    let size = |a: Batch<'_, f32>, b: Batch<'_, f32>, c| match variant {
        None => gemm_tf32_scratch(a.layout(), b.layout(), c),
        Some(variant) => variants::gemm_tf32_scratch(variant, a.layout(), b.layout(), c),
    };
    let multiply = |stream: &Stream,
                    a: Batch<'_, f32>,
                    b: Batch<'_, f32>,
                    c: BatchMut<'_, f32>,
                    scratch: &mut Scratch| match variant {
        None => gemm_tf32_with(stream, 1.0, a, b, 0.0, c, epilogue, scratch),
        Some(one) => variants::gemm_tf32_with(stream, one, 1.0, a, b, 0.0, c, epilogue, scratch),
    };
    of_product(device, shape, is_checked, |value| value, size, multiply, f64::from)
}

fn of_i8(
    device: &Device,
    shape: &Shape,
    variant: Option<TensorVariant>,
    is_checked: bool,
) -> Result<f64, Error> {
    let size = |a: Batch<'_, i8>, b: Batch<'_, i8>, c| match variant {
        None => gemm_i8_scratch(a, b, c),
        Some(variant) => variants::gemm_i8_scratch(variant, a, b, c),
    };
    let multiply =
        |stream: &Stream, a: Batch<'_, i8>, b: Batch<'_, i8>, c: BatchMut<'_, i32>, scratch: &mut Scratch| {
            match variant {
                None => gemm_i8(stream, 1, a, b, 0, c, scratch),
                Some(variant) => variants::gemm_i8(stream, variant, 1, a, b, 0, c, scratch),
            }
        };
    of_product(device, shape, is_checked, |value| byte(value) as i8, size, multiply, f64::from)
}

/// All 256 numbers, each as often.
fn byte(value: f32) -> f32 {
    (value * 128.0).floor()
}

fn of_product<T: Element, C: Element>(
    device: &Device,
    shape: &Shape,
    is_checked: bool,
    convert: impl Fn(f32) -> T,
    size: impl Fn(Batch<'_, T>, Batch<'_, T>, BatchLayout) -> ScratchSize,
    multiply: impl Fn(
        &Stream,
        Batch<'_, T>,
        Batch<'_, T>,
        BatchMut<'_, C>,
        &mut Scratch,
    ) -> Result<(), gpu_linalg::Error>,
    value: impl Fn(C) -> f64,
) -> Result<f64, Error> {
    let stream = device.stream()?;
    let [m, n, k] = shape.size;
    let matrix = |rows, columns, transposed: bool| {
        let stored =
            if transposed { Layout::column_major(rows, columns) } else { Layout::row_major(rows, columns) };
        Ok::<_, gpu_linalg::Error>(BatchLayout {
            matrix: stored?,
            count: shape.count,
            stride: rows * columns,
        })
    };
    let layouts =
        [matrix(m, k, shape.transposed[0])?, matrix(k, n, shape.transposed[1])?, matrix(m, n, false)?];
    // Both factors are of the same memory, as for the peer.
    let len = (m * k).max(k * n) * shape.count;
    let period: Vec<T> = (0..PERIOD.min(len)).map(|index| convert(element(index))).collect();
    let factors = device.upload(&period.iter().copied().cycle().take(len).collect::<Vec<_>>())?;
    let mut c: Buffer<C> = device.zeroed(m * n * shape.count)?;
    let of = |layout| Batch::new(&factors, layout);
    // Zeros, as a simulator that runs some of the blocks does not write all of it.
    let size = size(of(layouts[0])?, of(layouts[1])?, layouts[2]);
    let mut scratch = Scratch::from_buffer(&stream, device.zeroed(size.words())?)?;
    let mut product = |c: &mut Buffer<C>| {
        let c = BatchMut::new(c, layouts[2])?;
        multiply(&stream, of(layouts[0])?, of(layouts[1])?, c, &mut scratch)
    };
    let ms = batch_median(&stream, || product(&mut c))?;
    if is_checked {
        let c: Vec<f64> = c.to_vec()?.into_iter().map(value).collect();
        check(shape, layouts, &c)?;
    }
    Ok(ms)
}

/// Compares 1,000 drawn elements of C with sums of doubles.
fn check(shape: &Shape, [a, b, c]: [BatchLayout; 3], actual: &[f64]) -> Result<(), Error> {
    let half: fn(f32) -> f32 = match shape.element {
        "bf16" => |value| bf16::from_f32(value).to_f32(),
        "tf32" => |value| value,
        "i8" => byte,
        _ => |value| f16::from_f32(value).to_f32(),
    };
    // What C's type rounds off, and what the sums do.
    let unit = match shape.output {
        "bf16" => 1.0 / 256.0,
        "f16" => 1.0 / 2048.0,
        _ => 0.0,
    };
    // And the rounding of factors that are compared unrounded.
    let of_factors = if shape.element == "tf32" { 2.0 / 2048.0 + 1.0 / 2048.0 / 2048.0 } else { 0.0 };
    let [m, n, k] = shape.size;
    for draw in 0..1000 {
        let pick = |what: u64, extent: usize| (split_mix(SEED + 1 + what, draw) % extent as u64) as usize;
        let (number, row, column) = (pick(0, shape.count), pick(1, m), pick(2, n));
        let (mut sum, mut sizes) = (0.0_f64, 0.0_f64);
        for k in 0..k {
            let factors =
                [number * a.stride + a.matrix.index(row, k), number * b.stride + b.matrix.index(k, column)];
            let [x, y] = factors.map(|at| f64::from(half(element(at))));
            sum += x * y;
            sizes += (x * y).abs();
        }
        let at = number * c.stride + c.matrix.index(row, column);
        let of_sums = if shape.element == "i8" { 0.0 } else { 2.002 * k as f64 * f64::from(f32::EPSILON) };
        let relative = of_sums + of_factors;
        let bound = relative * sizes + unit * sum.abs() + 1e-30;
        let value = actual[at];
        if (value - sum).abs() > bound || value.is_nan() {
            return Err(Error::WrongShape(format!("{shape}: element {at} is {value}, not {sum}")));
        }
    }
    Ok(())
}
