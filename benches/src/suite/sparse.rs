//! Sparse matrices of the figures, and how their products, analyses, solutions and transpositions are timed.

use gpu_core::Device;
use gpu_sparse::{Analysis, Csr, Diagonal, Method, Side, Spmv, Strategy, reference, transpose};

use crate::error::Error;
use crate::sweep::{launch_median, wall_median};

/// A structure: the lower triangle, diagonal included, of a matrix. benches/peers/sparse.cu has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// The 7-point Laplacian of a cube of so many points an edge.
    Laplacian(u32),
    /// So many rows, each with up to so many entries, the diagonal and columns that a hash draws.
    Random(u32, u32),
    /// So many rows, each with so many columns before the diagonal.
    Band(u32, u32),
}

/// The structures of the figures.
pub const STRUCTURES: [(&str, Structure); 3] = [
    ("laplacian 216", Structure::Laplacian(216)),
    ("random 5M x 8", Structure::Random(5_000_000, 8)),
    ("band 200k x 16", Structure::Band(200_000, 16)),
];

/// Offsets, columns and values.
pub type Arrays = (Vec<u32>, Vec<u32>, Vec<f64>);

/// The MurmurHash3 finaliser of two numbers.
fn hash(a: u32, b: u32) -> u32 {
    let mut h = a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x7f4a_7c15);
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

impl Structure {
    /// Rows, and columns.
    pub fn rows(self) -> u32 {
        match self {
            Self::Laplacian(edge) => edge * edge * edge,
            Self::Random(rows, _) | Self::Band(rows, _) => rows,
        }
    }

    /// The columns of a row, ascending, the diagonal last.
    fn columns(self, row: u32, columns: &mut Vec<u32>) {
        columns.clear();
        match self {
            Self::Laplacian(edge) => {
                let (plane, in_plane) = (edge * edge, row % (edge * edge));
                columns.extend((row >= plane).then(|| row - plane));
                columns.extend((in_plane >= edge).then(|| row - edge));
                columns.extend((!row.is_multiple_of(edge)).then(|| row - 1));
            }
            Self::Random(_, entries) => {
                columns.extend((1..entries).filter(|_| row > 0).map(|k| hash(row, k) % row.max(1)));
                columns.sort_unstable();
                columns.dedup();
            }
            Self::Band(_, half) => columns.extend(row.saturating_sub(half)..row),
        }
        columns.push(row);
    }

    /// The matrix: 1 on the diagonal, and beside it numbers of which a row's add up to less.
    pub fn arrays(self) -> Arrays {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut columns = Vec::new();
        for row in 0..self.rows() {
            self.columns(row, &mut columns);
            for &column in &columns {
                indices.push(column);
                values.push(if column == row { 1.0 } else { -0.5 / columns.len() as f64 });
            }
            offsets.push(indices.len() as u32);
        }
        (offsets, indices, values)
    }
}

/// An operation, the choice it was made with, and its milliseconds.
#[derive(Clone, Debug)]
pub struct Timed {
    /// What was timed.
    pub operation: String,
    /// The median of the launches, in milliseconds; of analyses and transpositions, which wait, by the wall clock.
    pub ms: f64,
    /// Bytes that it reads and writes at least, once each; 0 where that says nothing.
    pub bytes: u64,
}

/// Times a matrix's operations on a CUDA device, `rounds` times each. With `check`, compares bits with the CPU's.
///
/// # Errors
/// Those of the device; [`Error::WrongShape`] where bits differ.
pub fn measure(device: &Device, arrays: &Arrays, rounds: usize, check: bool) -> Result<Vec<Timed>, Error> {
    let (offsets, indices, values) = arrays;
    let (rows, entries) = (offsets.len() - 1, indices.len());
    let a = Csr::upload(device, rows, rows, offsets, indices, values)?;
    let stream = device.stream()?;
    let b: Vec<f64> = (0..rows).map(|row| f64::from(hash(row as u32, 0) >> 8) / f64::from(1 << 24)).collect();
    let right = device.upload(&b)?;
    let mut out = device.alloc::<f64>(rows)?;
    let mut timed = Vec::new();
    let matrix_bytes = 12 * entries as u64 + 4 * (rows as u64 + 1);

    let mut expected = vec![0.0; if check { rows } else { 0 }];
    let compare = |what: &str, expected: &[f64], out: &gpu_core::Buffer<f64>| -> Result<(), Error> {
        if check && out.to_vec()?.iter().zip(expected).any(|(a, b)| a.to_bits() != b.to_bits()) {
            return Err(Error::WrongShape(what.into()));
        }
        Ok(())
    };
    if check {
        reference::spmv(1.0, offsets, indices, values, &b, 0.0, &mut expected);
    }
    let chosen = Spmv::new(&a)?.strategy();
    for strategy in [Strategy::Thread, Strategy::Lanes4, Strategy::Balanced] {
        let mut product = Spmv::new(&a)?.with_strategy(strategy)?;
        let ms = launch_median(&stream, rounds, || product.run(&stream, 1.0, &right, 0.0, &mut out))?;
        let mark = if strategy == chosen { ", chosen" } else { "" };
        let operation = format!("spmv ({strategy:?}{mark})");
        compare(&operation, &expected, &out)?;
        timed.push(Timed { operation, ms, bytes: matrix_bytes + 16 * rows as u64 });
    }
    let ms = wall_median(rounds, || {
        drop(Analysis::new(&a, Side::Lower, Diagonal::Stored)?);
        Ok(())
    })?;
    timed.push(Timed { operation: "analysis".into(), ms, bytes: 0 });

    let mut analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored)?;
    let chosen = analysis.method();
    let start = std::time::Instant::now();
    drop(analysis.order_rows()?);
    let operation = format!("order rows, {} levels", analysis.level_count());
    timed.push(Timed { operation, ms: start.elapsed().as_secs_f64() * 1e3, bytes: 16 * rows as u64 });
    if check {
        reference::solve(offsets, indices, values, Side::Lower, Diagonal::Stored, 1.0, &b, &mut expected);
    }
    for method in [Method::Free, Method::Levels] {
        analysis = analysis.with_method(method)?;
        let ms = launch_median(&stream, rounds, || analysis.solve(&stream, 1.0, &right, &mut out))?;
        let mark = if method == chosen { ", chosen" } else { "" };
        let operation = format!("solve ({method:?}{mark})");
        compare(&operation, &expected, &out)?;
        timed.push(Timed { operation, ms, bytes: matrix_bytes + 16 * rows as u64 });
    }
    let ms = wall_median(rounds, || {
        drop(transpose(&a)?);
        Ok(device.synchronize()?)
    })?;
    timed.push(Timed { operation: "transpose".into(), ms, bytes: 2 * matrix_bytes });
    Ok(timed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_lower_triangles_and_all_is_timed() {
        for structure in [Structure::Laplacian(9), Structure::Random(500, 8), Structure::Band(300, 16)] {
            let arrays = structure.arrays();
            assert_eq!(arrays.0.len(), structure.rows() as usize + 1);
            let timed = measure(&Device::cpu(), &arrays, 2, true).unwrap();
            assert_eq!(timed.len(), 8);
        }
    }
}
