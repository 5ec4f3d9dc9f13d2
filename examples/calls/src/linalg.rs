//! Products by kernels that a plan takes for no shape of the programs, and what is done with vectors and matrices.

use gpu_linalg::plan::gemm::Kernel;
use gpu_linalg::variants::{self, GemvVariant, VariantElement, gemm_tiles};
use gpu_linalg::{
    Element, Layout, Matrix, MatrixMut, RealElement, Scratch, axpy, gemm_scratch, gemv, gemv_scratch, swap,
};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::LaunchConfig;

use super::{Call, Part, Sample, USUAL, samples, sides};

/// Rows and columns of products.
const SIDE: usize = 2048;
/// How long the sums are that are simulated, of which the smaller ones have a quarter: no plan cuts those.
const LENGTH: usize = 1024;
/// The longest sums that a kernel of its own takes.
const SHORT: usize = 16;
/// Elements of a row of a matrix whose sums are not cut, and rows of which columns have 8 or 16 times as many.
const LINE: usize = 1024;
/// Few rows, whose sums are cut into pieces.
const FEW: usize = 64;

/// All of them.
pub fn all() -> Vec<Call> {
    let mut all = vec![
        product::<f32>(Kernel::Large, [true, false]),
        product::<f32>(Kernel::Low, [false; 2]),
        product::<f32>(Kernel::Flat, [false; 2]),
        product::<f32>(Kernel::Short, [false; 2]),
        product::<f64>(Kernel::Short, [false; 2]),
        product::<f64>(Kernel::Double, [false; 2]),
        product::<f64>(Kernel::TensorLarge, [false; 2]),
        product::<f64>(Kernel::TensorFlat, [false; 2]),
    ];
    for kernel in [Kernel::TensorAligned, Kernel::TensorBulk] {
        all.extend([product::<f64>(kernel, [true, false]), product::<f64>(kernel, [true, true])]);
    }
    all.extend([
        with_vector::<f16>("rows", |len| ([len / LINE, LINE], true)),
        with_vector::<bf16>("rows", |len| ([len / LINE, LINE], true)),
        with_vector::<f64>("columns", |len| ([8 * LINE, len / (8 * LINE)], false)),
        with_vector::<f16>("columns", |len| ([16 * LINE, len / (16 * LINE)], false)),
        with_vector::<bf16>("columns", |len| ([16 * LINE, len / (16 * LINE)], false)),
        with_vector::<f16>("few_rows", |len| ([FEW, len / FEW], true)),
        with_vector::<bf16>("few_rows", |len| ([FEW, len / FEW], true)),
        by_variant::<i32>("row", GemvVariant::Row),
        by_variant::<i32>("rows", GemvVariant::Rows(4)),
        by_variant::<i32>("column", GemvVariant::Column),
        sum("vector", |len| [1, len]),
        sum("matrix", sides),
        multiple_added(),
        exchange::<f32>(),
        exchange::<f64>(),
    ]);
    all
}

/// A type's name without the module that it is in.
fn name<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}

/// A product of two matrices by a kernel, the factors column-major or not. Its size is that of both sides times the
/// length of its sums.
fn product<T: RealElement + Sample>(kernel: Kernel, columns: [bool; 2]) -> Call {
    let orders = columns.map(|column| if column { "t" } else { "n" }).concat();
    let name = format!("gemm_tiles/{}/{}/{orders}", kernel.name(), name::<T>());
    let length = if kernel == Kernel::Short { SHORT } else { LENGTH };
    let (area, whole) = (SIDE * SIDE, if kernel == Kernel::Short { SHORT } else { SIDE });
    let bytes = size_of::<T>() as f64 * (1.0 / whole as f64 + 2.0 / SIDE as f64);
    let call = Call::new(name, bytes, Part::sample(area * length, 1), move |device, products| {
        let k = products / area;
        let of = |rows, columns, column| match column {
            true => Layout::column_major(rows, columns),
            false => Layout::row_major(rows, columns),
        };
        let [of_a, of_b] = [of(SIDE, k, columns[0])?, of(k, SIDE, columns[1])?];
        let of_c = Layout::row_major(SIDE, SIDE)?;
        let stream = device.default_stream();
        let [a, b] = [device.zeroed::<T>(of_a.span())?, device.zeroed::<T>(of_b.span())?];
        let mut c = device.zeroed::<T>(of_c.span())?;
        let size = gemm_scratch::<T>(k, of_c);
        let mut scratch = Scratch::from_buffer(&stream, device.zeroed(size.words())?)?;
        Ok(Box::new(move || {
            let (a, b, c) = (Matrix::new(&a, of_a)?, Matrix::new(&b, of_b)?, MatrixMut::new(&mut c, of_c)?);
            Ok(gemm_tiles(&stream, kernel, None, T::ONE, a, b, T::ZERO, c, &mut scratch)?)
        }))
    });
    Call { size: area * whole, operations: 2.0, ..call }
}

/// A product of a matrix, row-major or not, and a vector.
fn with_vector<T: Element<Sum: Sample> + Sample>(
    kind: &str,
    extents: fn(usize) -> ([usize; 2], bool),
) -> Call {
    let name = format!("gemv/{kind}/{}", name::<T>());
    // Into how many pieces sums are cut depends on their length: those are simulated as long as they are.
    let part = if kind == "few_rows" { USUAL } else { 1 << 20 };
    Call::new(name, size_of::<T>() as f64, Part::sample(part, 4), move |device, len| {
        let ([rows, columns], is_row_major) = extents(len);
        let layout = match is_row_major {
            true => Layout::row_major(rows, columns)?,
            false => Layout::column_major(rows, columns)?,
        };
        let (stream, a) = (device.default_stream(), device.upload(&samples::<T>(len))?);
        let (x, mut y) = (device.upload(&samples::<T>(columns))?, device.zeroed::<T>(rows)?);
        let mut scratch = Scratch::from_buffer(&stream, device.zeroed(gemv_scratch::<T>(layout)?.words())?)?;
        let [alpha, beta] = [u32::MAX, 1 << 30].map(T::Sum::of);
        Ok(Box::new(move || {
            Ok(gemv(&stream, alpha, Matrix::new(&a, layout)?, &x, beta, &mut y, &mut scratch)?)
        }))
    })
}

/// The same as a textbook has it.
fn by_variant<T: VariantElement + Sample>(kind: &str, variant: GemvVariant) -> Call {
    const THREADS: u32 = 64;
    const COLUMNS: usize = 1024;
    let name = format!("variants/gemv/{kind}/{}", name::<T>());
    Call::new(name, size_of::<T>() as f64, Part::sample(1 << 20, 2), move |device, len| {
        let [rows, columns] = [len / COLUMNS, COLUMNS];
        let threads = variant.threads(rows as u32, columns as u32);
        let config = LaunchConfig::linear(threads.div_ceil(THREADS.into()) as u32, THREADS);
        let (stream, a) = (device.default_stream(), device.upload(&samples::<T>(len))?);
        let (x, mut y) = (device.upload(&samples::<T>(columns))?, device.alloc::<T>(rows)?);
        Ok(Box::new(move || Ok(variants::gemv(variant, &stream, config, &a, &x, &mut y)?)))
    })
}

/// A sum of two arrays, an element a thread.
fn sum(kind: &str, extents: fn(usize) -> [usize; 2]) -> Call {
    Call::new(format!("variants/add/{kind}"), 12.0, Part::sample(1 << 20, 8), move |device, len| {
        let [rows, columns] = extents(len);
        let block = if rows == 1 { [256, 1] } else { [32, 8] };
        let config = LaunchConfig {
            grid: [columns.div_ceil(block[0]) as u32, rows.div_ceil(block[1]) as u32, 1],
            block: [block[0] as u32, block[1] as u32, 1],
            shared_bytes: 0,
        };
        let stream = device.default_stream();
        let (x, y) = (device.upload(&samples::<f32>(len))?, device.upload(&samples::<f32>(len))?);
        let mut z = device.alloc::<f32>(len)?;
        Ok(Box::new(move || Ok(variants::add(&stream, config, &x, &y, &mut z, [rows, columns])?)))
    })
}

/// A multiple of a vector of `f64` added to another.
fn multiple_added() -> Call {
    Call::new("elementwise/axpy/f64".into(), 24.0, Part::sample(1 << 20, 8), |device, len| {
        let (stream, layout) = (device.default_stream(), Layout::row_major(1, len)?);
        let (x, mut y) = (device.upload(&samples::<f64>(len))?, device.upload(&samples::<f64>(len))?);
        Ok(Box::new(move || {
            Ok(axpy(&stream, 2.0, Matrix::new(&x, layout)?, MatrixMut::new(&mut y, layout)?)?)
        }))
    })
}

/// Two vectors exchanged.
fn exchange<T: RealElement + Sample>() -> Call {
    let bytes = 4.0 * size_of::<T>() as f64;
    Call::new(format!("swap/{}", name::<T>()), bytes, Part::sample(1 << 20, 8), |device, len| {
        let (stream, layout) = (device.default_stream(), Layout::row_major(1, len)?);
        let [mut x, mut y] = [device.upload(&samples::<T>(len))?, device.upload(&samples::<T>(len))?];
        Ok(Box::new(move || {
            Ok(swap(&stream, MatrixMut::new(&mut x, layout)?, MatrixMut::new(&mut y, layout)?)?)
        }))
    })
}
