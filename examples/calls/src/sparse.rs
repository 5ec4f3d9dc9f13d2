//! Sparse matrices of `f32`: the programs have those of `f64`.

use gpu_core::{Device, Layout, Matrix, MatrixMut};
use gpu_sparse::{
    Algorithm, Analysis, Coo, Csr, Diagonal, Error, Side, Spmv, Strategy, Transposition, compress, ic0, ilu0,
    transpose_by,
};

use super::{Call, Part, Prepared, samples};

/// Rows of a usual matrix, and those that are simulated: …
const ROWS: usize = 1 << 20;
const SIMULATED: usize = 1 << 13;
/// … less where the list of entries is sorted, …
const SORTED: usize = 1 << 11;
/// … and more where levels of few rows would be one launch.
const BY_LEVELS: usize = 1 << 14;
/// Levels of a triangle, however many rows it has.
const LEVELS: usize = 16;
/// Columns of what is multiplied or solved for together.
const COLUMNS: usize = 8;
/// Bytes of a row's three entries, with its offset.
const ROW: f64 = 3.0 * 8.0 + 4.0;

/// All of them.
pub fn all() -> Vec<Call> {
    let products = [Strategy::Thread, Strategy::Balanced].map(product);
    let systems =
        [Algorithm::Levels, Algorithm::Free, Algorithm::Chains, Algorithm::Ordered].map(system).into_iter();
    let transpositions = [Transposition::Sorted, Transposition::Tiles].map(transposition);
    let others = [products_together(), systems_together(), cholesky(), lu(), duplicates()];
    products.into_iter().chain(systems).chain(others).chain(transpositions).collect()
}

/// A call of a matrix of so many rows, which moves so many bytes for each beside the entries.
fn call(
    name: String,
    others: usize,
    ready: impl Fn(&Device, usize) -> Prepared + Send + Sync + 'static,
) -> Call {
    Call::new(name, ROW + others as f64, Part::all(SIMULATED), ready).with(ROWS, 6.0)
}

/// The columns of a row of a lower triangle of so many rows, the diagonal last: two of the level before.
fn columns(row: usize, rows: usize) -> impl Iterator<Item = usize> {
    let of_level = rows / LEVELS;
    let before = row.checked_sub(of_level).map(|column| column & !1);
    before.into_iter().flat_map(|column| [column, column + 1]).chain([row])
}

/// Rows, columns and values of a triangle's entries, of which the diagonal outweighs all others; and, if that is
/// wanted, of the transposed one's.
fn entries(rows: usize, both: bool) -> (Vec<u32>, Vec<u32>, Vec<f32>) {
    let mut all = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        for column in columns(row, rows) {
            let sides = [(row, column), (column, row)];
            for (row, column) in sides.into_iter().take(if both && row != column { 2 } else { 1 }) {
                all.0.push(row as u32);
                all.1.push(column as u32);
                all.2.push(if row == column { 16.0 } else { -0.5 });
            }
        }
    }
    all
}

fn matrix(device: &Device, rows: usize, both: bool) -> Result<Csr<f32>, Error> {
    let (rows_of, columns_of, values) = entries(rows, both);
    compress(&Coo::upload(device, rows, rows, &rows_of, &columns_of, &values)?)
}

/// A triangle for as long as the process lives: what is prepared for it borrows it, and it is small.
fn kept(device: &Device, rows: usize) -> Result<&'static Csr<f32>, Error> {
    Ok(Box::leak(Box::new(matrix(device, rows, false)?)))
}

fn product(strategy: Strategy) -> Call {
    call(format!("spmv/{strategy:?}/f32"), 8, move |device, rows| {
        let (stream, x) = (device.default_stream(), device.upload(&samples::<f32>(rows))?);
        let mut y = device.alloc::<f32>(rows)?;
        let mut product = Spmv::new(kept(device, rows)?)?.with_strategy(strategy)?;
        Ok(Box::new(move || Ok(product.run(&stream, 1.0, &x, 0.0, &mut y)?)))
    })
}

fn products_together() -> Call {
    call("spmm/f32".into(), 8 * COLUMNS, |device, rows| {
        let layout = Layout::row_major(rows, COLUMNS)?;
        let (stream, b) = (device.default_stream(), device.upload(&samples::<f32>(rows * COLUMNS))?);
        let mut c = device.alloc::<f32>(rows * COLUMNS)?;
        let mut product = Spmv::new(kept(device, rows)?)?;
        Ok(Box::new(move || {
            let (b, c) = (Matrix::new(&b, layout)?, MatrixMut::new(&mut c, layout)?);
            Ok(product.run_many(&stream, 1.0, b, 0.0, c)?)
        }))
    })
}

fn system(algorithm: Algorithm) -> Call {
    let solved = call(format!("solve/{algorithm:?}/f32"), 8, move |device, rows| {
        let (stream, b) = (device.default_stream(), device.upload(&samples::<f32>(rows))?);
        let mut x = device.alloc::<f32>(rows)?;
        let mut analysis = Analysis::with(kept(device, rows)?, Side::Lower, Diagonal::Stored, algorithm)?;
        Ok(Box::new(move || Ok(analysis.solve(&stream, 1.0, &b, &mut x)?)))
    });
    let rows = if algorithm == Algorithm::Levels { BY_LEVELS } else { SIMULATED };
    Call { part: Part::all(rows), ..solved }
}

fn systems_together() -> Call {
    call("solve_many/f32".into(), 8 * COLUMNS, |device, rows| {
        let layout = Layout::row_major(rows, COLUMNS)?;
        let (stream, b) = (device.default_stream(), device.upload(&samples::<f32>(rows * COLUMNS))?);
        let mut x = device.alloc::<f32>(rows * COLUMNS)?;
        let (a, by) = (kept(device, rows)?, Algorithm::Ordered);
        let mut analysis = Analysis::with(a, Side::Lower, Diagonal::Stored, by)?;
        Ok(Box::new(move || {
            let (b, x) = (Matrix::new(&b, layout)?, MatrixMut::new(&mut x, layout)?);
            Ok(analysis.solve_many(&stream, 1.0, b, x)?)
        }))
    })
}

/// The incomplete Cholesky factor.
fn cholesky() -> Call {
    call("ic0/f32".into(), 12, |device, rows| {
        let a = matrix(device, rows, false)?;
        Ok(Box::new(move || Ok(ic0(&a).map(drop)?)))
    })
}

/// The incomplete factors of a matrix of both sides.
fn lu() -> Call {
    let call = call("ilu0/f32".into(), 36, |device, rows| {
        let a = matrix(device, rows, true)?;
        Ok(Box::new(move || Ok(ilu0(&a).map(drop)?)))
    });
    Call { part: Part::all(SIMULATED / 2), ..call }
}

/// Rows of a list of entries in which each comes twice.
fn duplicates() -> Call {
    let call = call("compress/f32".into(), 80, |device, rows| {
        let (rows_of, columns_of, values) = entries(rows, false);
        let [rows_of, columns_of] = [rows_of, columns_of].map(|all| [&all[..], &all[..]].concat());
        let values = [&values[..], &values[..]].concat();
        let list = Coo::upload(device, rows, rows, &rows_of, &columns_of, &values)?;
        Ok(Box::new(move || Ok(compress(&list).map(drop)?)))
    });
    Call { part: Part::all(SORTED), ..call }
}

fn transposition(way: Transposition) -> Call {
    call(format!("transpose_sparse/{way:?}/f32"), 28, move |device, rows| {
        let a = matrix(device, rows, false)?;
        Ok(Box::new(move || Ok(transpose_by(&a, way).map(drop)?)))
    })
}
