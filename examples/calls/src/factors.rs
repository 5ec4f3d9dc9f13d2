//! Factors, refined systems, products with triangles.

use gpu_linalg::variants::cholesky::{CholeskyElement, CholeskyVariant, cholesky};
use gpu_linalg::{
    Batch, Diagonal, FactorElement, Layout, Matrix, MatrixMut, Scratch, Side, Triangle, TriangleElement,
    logdet_batch, potrs_refined, trmm, trmm_scratch,
};

use super::{Call, Part, Sample, samples};

/// Rows and columns of what a host waits for in between: all of it is simulated, launch by launch.
const SMALL: usize = 128;
/// Those of a product with a triangle, of each of whose launches a block is simulated.
const LARGE: usize = 1024;
/// Those of the matrices of a batch.
const EACH: usize = 32;

/// All of them.
pub fn all() -> Vec<Call> {
    vec![
        textbook::<f32>(),
        textbook::<f64>(),
        diagonals::<f32>(),
        diagonals::<f64>(),
        refined(),
        triangular::<f32>(),
        triangular::<f64>(),
    ]
}

fn name<T>() -> &'static str {
    std::any::type_name::<T>()
}

/// A matrix whose diagonal outweighs the rest of its rows.
fn definite<T: Sample + From<f32>>(n: usize) -> Vec<T> {
    let mut all = vec![T::from(0.25); n * n];
    (0..n).for_each(|at| all[at * n + at] = T::from(n as f32));
    all
}

/// A factorisation by a textbook's kernels on a device, and the blocks of the diagonal on its host.
fn textbook<T: CholeskyElement + Sample + From<f32>>() -> Call {
    let name = format!("cholesky/own/{}", name::<T>());
    let call = Call::new(name, size_of::<T>() as f64, Part::all(SMALL * SMALL), |device, len| {
        let (n, device) = (len.isqrt(), device.clone());
        let (layout, mut a) = (Layout::row_major(n, n)?, definite::<T>(n));
        Ok(Box::new(move || {
            cholesky(CholeskyVariant::Own, &device, Triangle::Lower, &mut a, layout, n / 4)?;
            Ok(())
        }))
    });
    Call { size: SMALL * SMALL, ..call }
}

/// The logarithms of determinants of a batch of factors, whose diagonals are copied to the host.
fn diagonals<T: FactorElement + Sample + Into<f64>>() -> Call {
    let bytes = 2.0 * size_of::<T>() as f64 / EACH as f64;
    let name = format!("logdet_batch/{}", name::<T>());
    Call::new(name, bytes, Part::all(1 << 18), |device, len| {
        let matrix = Layout::row_major(EACH, EACH)?;
        let layout = matrix.batch(len / matrix.span())?;
        let factors = device.upload(&samples::<T>(len))?;
        Ok(Box::new(move || Ok(logdet_batch(Batch::new(&factors, layout)?).map(drop)?)))
    })
}

/// A system by a factor of half the precision.
fn refined() -> Call {
    let call = Call::new("potrs_refined/f64".into(), 8.0, Part::all(SMALL * SMALL), |device, len| {
        let n = len.isqrt();
        let (layout, sides) = (Layout::row_major(n, n)?, Layout::column_major(n, 1)?);
        let (a, mut b) = (device.upload(&definite::<f64>(n))?, device.upload(&samples::<f64>(n))?);
        Ok(Box::new(move || {
            potrs_refined(Triangle::Lower, Matrix::new(&a, layout)?, MatrixMut::new(&mut b, sides)?)?;
            Ok(())
        }))
    });
    Call { size: SMALL * SMALL, ..call }
}

/// A product of a triangle and a matrix.
fn triangular<T: TriangleElement + Sample>() -> Call {
    let (side, bytes) = (LARGE, 2.5 * size_of::<T>() as f64);
    let call = Call::new(
        format!("trmm/{}", name::<T>()),
        bytes,
        Part::sample(side * side, 1),
        move |device, len| {
            let (n, stream) = (len.isqrt(), device.default_stream());
            let layout = Layout::row_major(n, n)?;
            let (a, mut b) = (device.upload(&samples::<T>(len))?, device.upload(&samples::<T>(len))?);
            let mut scratch = Scratch::from_buffer(
                &stream,
                device.zeroed(trmm_scratch::<T>(Side::Left, layout)?.words())?,
            )?;
            Ok(Box::new(move || {
                let (a, b) = (Matrix::new(&a, layout)?, MatrixMut::new(&mut b, layout)?);
                let (triangle, diagonal) = (Triangle::Lower, Diagonal::Stored);
                Ok(trmm(&stream, Side::Left, triangle, diagonal, T::ONE, a, b, &mut scratch)?)
            }))
        },
    );
    Call { size: side * side, operations: LARGE as f64, ..call }
}
