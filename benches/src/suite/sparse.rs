//! Sparse matrices: those of the figures and 40 that a seed draws, and how their products, analyses, solutions and
//! transpositions are timed.

use std::fmt;
use std::time::Instant;

use gpu_core::{Device, Layout, Matrix, MatrixMut, Stream};
use gpu_sparse::{
    Algorithm, Analysis, Csr, Diagonal, Side, Spmv, Strategy, Transposition, reference, transpose,
    transpose_by,
};

use crate::error::Error;
use crate::shapes::{logarithmic, split_mix};
use crate::sweep::{launch_median, wall_median};

/// The seed of the drawn structures.
pub const SEED: u64 = 20_261_123;
/// Columns of the products with several vectors, and right-hand sides.
pub const COLUMNS: usize = 8;

/// How the columns of a row are chosen. benches/peers/sparse.cu has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The 7-point Laplacian of a cube of `a` points an edge.
    Laplacian,
    /// The 5-point Laplacian of a plane of lines of `a` points.
    Plane,
    /// Up to `a` entries, the diagonal and columns that a hash draws from all before it.
    Random,
    /// The `a` columns before the diagonal.
    Band,
    /// Of the `a` columns before the diagonal about `b` in 256.
    Sparse,
    /// Groups of `a` rows, each of which has up to `b` entries in the group before.
    Groups,
    /// `a · 2^t` columns drawn from all before, where every second row has t > 0, every fourth t > 1, and so on to 10.
    Power,
    /// Dense triangles of `a` rows on the diagonal.
    Blocks,
}

const KINDS: [(Kind, &str); 8] = [
    (Kind::Laplacian, "laplacian"),
    (Kind::Plane, "plane"),
    (Kind::Random, "random"),
    (Kind::Band, "band"),
    (Kind::Sparse, "sparse"),
    (Kind::Groups, "groups"),
    (Kind::Power, "power"),
    (Kind::Blocks, "blocks"),
];

/// A structure: a lower triangle with its diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structure {
    /// How the columns of a row are chosen.
    pub kind: Kind,
    /// Rows, and columns.
    pub rows: u32,
    /// See [`Kind`].
    pub a: u32,
    /// See [`Kind`].
    pub b: u32,
    /// Whether it was drawn.
    pub drawn: bool,
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KINDS.iter().find(|(kind, _)| *kind == self.kind).map_or("", |(_, name)| *name);
        f.pad(&format!("{name} {} {} {} {}", self.rows, self.a, self.b, u8::from(self.drawn)))
    }
}

/// The structures of the figures, then 40 that the seed draws, five of each kind.
pub fn structures() -> Vec<Structure> {
    let figure = |kind, rows, a| Structure { kind, rows, a, b: 0, drawn: false };
    let mut all = vec![
        figure(Kind::Laplacian, 216 * 216 * 216, 216),
        figure(Kind::Random, 5_000_000, 8),
        figure(Kind::Band, 200_000, 16),
    ];
    all.extend((0..40).map(|number| {
        let draw = |what: u64, low, high| logarithmic(split_mix(SEED, 8 * number + what), low, high) as u32;
        let kind = KINDS[number as usize % KINDS.len()].0;
        let rows = draw(0, 1 << 15, 1 << 22);
        let (rows, a, b) = match kind {
            Kind::Laplacian => {
                let edge = draw(1, 30, 160);
                (edge * edge * edge, edge, 0)
            }
            Kind::Plane => (rows, draw(1, 16, (rows / 16) as usize), 0),
            Kind::Random => (rows, draw(1, 2, 32), 0),
            // A level a row: large ones would take the vendor seconds.
            Kind::Band => (rows / 16, draw(1, 1, 64), 0),
            Kind::Sparse => (rows / 16, draw(1, 16, 2048), draw(2, 1, 64)),
            Kind::Groups => (rows, draw(1, 32, rows as usize), draw(2, 1, 24)),
            Kind::Power => (rows / 4, draw(1, 1, 6), 0),
            Kind::Blocks => (rows, draw(1, 2, 48), 0),
        };
        Structure { kind, rows, a, b, drawn: true }
    }));
    all
}

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
    /// The columns of a row, ascending, the diagonal last.
    pub fn columns(&self, row: u32, columns: &mut Vec<u32>) {
        self.columns_before(row, columns);
        columns.sort_unstable();
        columns.dedup();
        columns.push(row);
    }

    /// The columns of a row before the diagonal, in any order and perhaps several times.
    pub fn columns_before(&self, row: u32, columns: &mut Vec<u32>) {
        columns.clear();
        let Self { a, b, .. } = *self;
        let drawn = |from: u32, below: u32, count: u32| {
            (1..=count).filter(move |_| below > 0).map(move |k| from + hash(row, k) % below.max(1))
        };
        match self.kind {
            Kind::Laplacian => {
                let (plane, in_plane) = (a * a, row % (a * a));
                columns.extend((row >= plane).then(|| row - plane));
                columns.extend((in_plane >= a).then(|| row - a));
                columns.extend((!row.is_multiple_of(a)).then(|| row - 1));
            }
            Kind::Plane => {
                columns.extend((row >= a).then(|| row - a));
                columns.extend((!row.is_multiple_of(a)).then(|| row - 1));
            }
            Kind::Random => columns.extend(drawn(0, row, a - 1)),
            Kind::Band => columns.extend(row.saturating_sub(a)..row),
            Kind::Sparse => {
                columns.extend((row.saturating_sub(a)..row).filter(|&column| hash(row, column) & 0xff < b));
            }
            Kind::Groups => {
                let group = row / a;
                if group > 0 {
                    columns.extend(drawn((group - 1) * a, a, b));
                }
            }
            Kind::Power => {
                let doublings = hash(row, 0).trailing_zeros().min(10);
                columns.extend(drawn(0, row, a << doublings));
            }
            Kind::Blocks => columns.extend(row / a * a..row),
        }
    }

    /// The matrix: 1 on the diagonal, and beside it numbers of which a row's add up to less.
    pub fn arrays(&self) -> Arrays {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut columns = Vec::new();
        for row in 0..self.rows {
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

/// An operation, who did it, and its milliseconds.
#[derive(Clone, Debug)]
pub struct Timed {
    /// What was timed.
    pub operation: &'static str,
    /// The algorithm that was forced, where there are several.
    pub algorithm: String,
    /// Whether that is what is chosen by itself.
    pub is_chosen: bool,
    /// The median of the launches, in milliseconds; of analyses and transpositions, which wait, by the wall clock.
    pub ms: f64,
    /// Bytes that it reads and writes at least, once each; 0 where that says nothing.
    pub bytes: u64,
}

/// The median milliseconds of `rounds` launches, or of three where one takes longer than 30.
fn median(
    stream: &Stream,
    rounds: usize,
    mut launch: impl FnMut() -> Result<(), gpu_sparse::Error>,
) -> Result<f64, Error> {
    stream.synchronize()?;
    let start = Instant::now();
    launch()?;
    stream.synchronize()?;
    let rounds = if start.elapsed().as_millis() > 30 { rounds.min(3) } else { rounds };
    launch_median(stream, rounds, launch)
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
    let vector_bytes = 16 * rows as u64;

    let mut expected = vec![0.0; if check { rows } else { 0 }];
    let compare = |what: &str, expected: &[f64], out: &[f64]| -> Result<(), Error> {
        if check && out.iter().zip(expected).any(|(a, b)| a.to_bits() != b.to_bits()) {
            return Err(Error::WrongShape(what.into()));
        }
        Ok(())
    };
    // ---- products
    if check {
        reference::spmv(1.0, offsets, indices, values, &b, 0.0, &mut expected);
    }
    let chosen = Spmv::new(&a)?.strategy();
    for strategy in [Strategy::Thread, Strategy::Lanes4, Strategy::Balanced] {
        let mut product = Spmv::new(&a)?.with_strategy(strategy)?;
        let ms = median(&stream, rounds, || product.run(&stream, 1.0, &right, 0.0, &mut out))?;
        let algorithm = format!("{strategy:?}");
        compare(&algorithm, &expected, &out.to_vec()?)?;
        let (is_chosen, bytes) = (strategy == chosen, matrix_bytes + vector_bytes);
        timed.push(Timed { operation: "spmv", algorithm, is_chosen, ms, bytes });
    }
    // ---- with several vectors: all columns are the same
    let layouts = [
        ("row-major", Layout::row_major(rows, COLUMNS)?),
        ("column-major", Layout::column_major(rows, COLUMNS)?),
    ];
    let repeated = |layout: Layout| -> Vec<f64> {
        let mut all = vec![0.0; rows * COLUMNS];
        for (row, &value) in b.iter().enumerate() {
            (0..COLUMNS).for_each(|column| all[layout.index(row, column)] = value);
        }
        all
    };
    let last_column = |layout: Layout, all: &[f64]| -> Vec<f64> {
        (0..rows).map(|row| all[layout.index(row, COLUMNS - 1)]).collect()
    };
    let mut outs = device.alloc::<f64>(rows * COLUMNS)?;
    for (name, layout) in layouts {
        let rights = device.upload(&repeated(layout))?;
        let mut product = Spmv::new(&a)?;
        let ms = median(&stream, rounds, || {
            let (b, c) = (Matrix::new(&rights, layout)?, MatrixMut::new(&mut outs, layout)?);
            product.run_many(&stream, 1.0, b, 0.0, c)
        })?;
        if check {
            compare(name, &expected, &last_column(layout, &outs.to_vec()?))?;
        }
        let bytes = matrix_bytes + vector_bytes * COLUMNS as u64;
        timed.push(Timed { operation: "spmm", algorithm: name.into(), is_chosen: true, ms, bytes });
    }
    // ---- analyses
    let few = if rounds > 5 { 5 } else { rounds };
    let ms = wall_median(few, || {
        drop(Analysis::new(&a, Side::Lower, Diagonal::Stored)?);
        Ok(())
    })?;
    let mut analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored)?;
    let (chosen, levels) = (analysis.algorithm(), analysis.level_count());
    let algorithm = format!("{levels} levels");
    timed.push(Timed { operation: "analysis", algorithm: algorithm.clone(), is_chosen: true, ms, bytes: 0 });
    // Without the order of rows, and with it and what else its solution needs.
    for (name, algorithm) in [("levels", Algorithm::Free), ("for ordered", Algorithm::Ordered)] {
        let ms = wall_median(few, || {
            drop(Analysis::with(&a, Side::Lower, Diagonal::Stored, algorithm)?);
            Ok(())
        })?;
        timed.push(Timed {
            operation: "analysis of",
            algorithm: name.into(),
            is_chosen: false,
            ms,
            bytes: 0,
        });
    }
    let ms = wall_median(few, || {
        drop(analysis.order_rows()?);
        Ok(())
    })?;
    timed.push(Timed { operation: "order rows", algorithm, is_chosen: true, ms, bytes: vector_bytes });
    // ---- systems
    if check {
        reference::solve(offsets, indices, values, Side::Lower, Diagonal::Stored, 1.0, &b, &mut expected);
    }
    for algorithm in Algorithm::ALL {
        analysis = analysis.with_algorithm(algorithm)?;
        let ms = median(&stream, rounds, || analysis.solve(&stream, 1.0, &right, &mut out))?;
        let (name, is_chosen) = (format!("{algorithm:?}"), algorithm == chosen);
        compare(&name, &expected, &out.to_vec()?)?;
        let bytes = matrix_bytes + vector_bytes;
        timed.push(Timed { operation: "solve", algorithm: name, is_chosen, ms, bytes });
    }
    analysis = analysis.with_algorithm(Algorithm::Auto)?;
    for (name, layout) in layouts {
        let rights = device.upload(&repeated(layout))?;
        let ms = median(&stream, rounds, || {
            let (b, x) = (Matrix::new(&rights, layout)?, MatrixMut::new(&mut outs, layout)?);
            analysis.solve_many(&stream, 1.0, b, x)
        })?;
        if check {
            compare(name, &expected, &last_column(layout, &outs.to_vec()?))?;
        }
        let bytes = matrix_bytes + vector_bytes * COLUMNS as u64;
        timed.push(Timed { operation: "solve many", algorithm: name.into(), is_chosen: true, ms, bytes });
    }
    // ---- backwards
    if check {
        let (offsets, indices, values) = reference::transpose(rows, offsets, indices, values);
        reference::solve(&offsets, &indices, &values, Side::Upper, Diagonal::Stored, 1.0, &b, &mut expected);
    }
    let mut backwards = Analysis::transposed(&a, Side::Lower, Diagonal::Stored)?;
    let chosen = backwards.algorithm();
    for algorithm in Algorithm::ALL {
        backwards = backwards.with_algorithm(algorithm)?;
        let ms = median(&stream, rounds, || backwards.solve(&stream, 1.0, &right, &mut out))?;
        let (name, is_chosen) = (format!("{algorithm:?}"), algorithm == chosen);
        compare(&name, &expected, &out.to_vec()?)?;
        let bytes = matrix_bytes + vector_bytes;
        timed.push(Timed { operation: "solve Aᵀ", algorithm: name, is_chosen, ms, bytes });
    }
    // ---- the transposition: compressed columns
    let ms = wall_median(few, || {
        drop(transpose(&a)?);
        Ok(device.synchronize()?)
    })?;
    let (algorithm, bytes) = (String::new(), 2 * matrix_bytes);
    timed.push(Timed { operation: "transpose", algorithm, is_chosen: true, ms, bytes });
    let chosen = transpose_by(&a, Transposition::Auto)?.1;
    for way in [Transposition::Sorted, Transposition::Tiles] {
        // Not every matrix is transposed by tiles.
        if transpose_by(&a, way)?.1 != way {
            continue;
        }
        let ms = wall_median(few, || {
            drop(transpose_by(&a, way)?);
            Ok(device.synchronize()?)
        })?;
        let (algorithm, is_chosen) = (format!("{way:?}"), way == chosen);
        timed.push(Timed { operation: "transpose by", algorithm, is_chosen, ms, bytes });
    }
    Ok(timed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_lower_triangles_and_all_is_timed() {
        for (kind, _) in KINDS {
            let structure = Structure { kind, rows: 729, a: 9, b: 16, drawn: true };
            let arrays = structure.arrays();
            assert_eq!(arrays.0.len(), 730);
            let timed = measure(&Device::cpu(), &arrays, 2, true).unwrap();
            // The ways of transposition come last: by a sort, and by tiles where the matrix has near columns.
            let (by_ways, others): (Vec<_>, Vec<_>) =
                timed.iter().partition(|timed| timed.operation == "transpose by");
            let ways: Vec<&str> = by_ways.iter().map(|timed| timed.algorithm.as_str()).collect();
            assert!(ways == ["Sorted"] || ways == ["Sorted", "Tiles"], "{structure}: {ways:?}");
            assert_eq!(by_ways.iter().filter(|timed| timed.is_chosen).count(), 1, "{structure}");
            assert_eq!(others.len(), 20, "{structure}");
            assert_eq!(others.iter().filter(|timed| timed.is_chosen).count(), 10, "{structure}");
        }
    }

    /// Of the columns that the program in C++ draws: its functions were run for these.
    #[test]
    fn the_program_of_the_vendor_has_the_same_structures() {
        let expected: [u64; 8] = [
            1_209_010_666_195_783_441,
            9_770_611_128_585_273_713,
            5_252_645_865_651_249_435,
            7_033_093_959_779_893_997,
            13_277_900_261_314_051_666,
            3_726_050_754_855_526_047,
            10_014_326_344_860_189_010,
            9_794_640_833_605_063_413,
        ];
        for ((kind, _), expected) in KINDS.into_iter().zip(expected) {
            let structure = Structure { kind, rows: 729, a: 9, b: 16, drawn: true };
            let (mut sum, mut columns) = (0u64, Vec::new());
            for row in 0..structure.rows {
                structure.columns(row, &mut columns);
                for &column in &columns {
                    sum = sum.wrapping_mul(1_000_003).wrapping_add(column.into());
                }
                sum = sum.wrapping_mul(31).wrapping_add(columns.len() as u64);
            }
            assert_eq!(sum, expected, "{structure}");
        }
    }

    #[test]
    fn the_drawn_structures_are_forty_and_of_bearable_size() {
        let all = structures();
        assert_eq!(all.iter().filter(|structure| structure.drawn).count(), 40);
        for structure in &all {
            let a = u64::from(structure.a);
            // Of a row, in the mean: doublings add half of `a` each.
            let entries = match structure.kind {
                Kind::Laplacian => 4,
                Kind::Plane => 3,
                Kind::Random | Kind::Band => a + 1,
                Kind::Sparse => 1 + a * u64::from(structure.b) / 256,
                Kind::Groups => 1 + u64::from(structure.b),
                Kind::Power => 1 + 7 * a,
                Kind::Blocks => 1 + a / 2,
            };
            assert!(entries * u64::from(structure.rows) < 150_000_000, "{structure}");
        }
    }
}
