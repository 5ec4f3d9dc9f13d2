//! Sparse matrices of known structures, on the host.

use std::fmt;

use rayon::prelude::*;

/// A matrix by its compressed rows.
#[derive(Clone, Debug, Default)]
pub struct Arrays<T> {
    /// Where each row starts, and where the last ends.
    pub offsets: Vec<u32>,
    /// The entries' columns, ascending in each row.
    pub indices: Vec<u32>,
    /// The entries' values.
    pub values: Vec<T>,
}

/// The 7-point Laplacian of a cube of `edge`³ points with zeros around it, times the square of their distance: 6 on
/// the diagonal, -1 for each neighbour. The inner half of each edge conducts `contrast` times as well; between two
/// points the conductivity is the harmonic mean.
pub fn poisson(edge: u32, contrast: f64) -> Arrays<f64> {
    let (plane, rows) = (edge * edge, edge * edge * edge);
    let inner = edge / 4..edge - edge / 4;
    let conductivity = |row: u32| {
        let is_inner = [row % edge, row % plane / edge, row / plane].iter().all(|at| inner.contains(at));
        if is_inner { contrast } else { 1.0 }
    };
    let mut arrays = Arrays { offsets: vec![0], ..Arrays::default() };
    for row in 0..rows {
        let (x, y, z) = (row % edge, row % plane / edge, row / plane);
        let neighbours = [
            (z > 0, row.wrapping_sub(plane)),
            (y > 0, row.wrapping_sub(edge)),
            (x > 0, row.wrapping_sub(1)),
            (true, row),
            (x + 1 < edge, row + 1),
            (y + 1 < edge, row + edge),
            (z + 1 < edge, row + plane),
        ];
        let own = conductivity(row);
        let between = |(is_there, column): (bool, u32)| {
            let other = if is_there { conductivity(column) } else { own };
            2.0 * own * other / (own + other)
        };
        let diagonal: f64 =
            neighbours.iter().filter(|(_, column)| *column != row).map(|&to| between(to)).sum();
        for to in neighbours.into_iter().filter(|(is_there, _)| *is_there) {
            arrays.indices.push(to.1);
            arrays.values.push(if to.1 == row { diagonal } else { -between(to) });
        }
        arrays.offsets.push(arrays.indices.len() as u32);
    }
    arrays
}

/// The structure of a lower triangle with its diagonal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure {
    /// The 5-point Laplacian of a square of so many points an edge.
    Poisson2(u32),
    /// The 7-point Laplacian of a cube of so many points an edge.
    Poisson3(u32),
    /// So many rows, each with so many columns before the diagonal.
    Band(u32, u32),
    /// So many rows with about so many entries in all, at columns that a hash draws.
    Random(u32, u64),
}

/// Rows and entries of the matrices in the literature's tables.
pub const TABLES: [(u32, u64); 7] = [
    (100_000, 3_200_000),
    (100_000, 1_000_000),
    (1_000_000, 64_000_000),
    (5_000_000, 79_000_000),
    (16_000_000, 47_000_000),
    (36_000_000, 74_000_000),
    (55_000_000, 113_000_000),
];

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisson2(edge) => write!(f, "poisson2:{edge}"),
            Self::Poisson3(edge) => write!(f, "poisson3:{edge}"),
            Self::Band(rows, half) => write!(f, "band:{rows}:{half}"),
            Self::Random(rows, entries) => write!(f, "random:{rows}:{entries}"),
        }
    }
}

/// The hash of two numbers, from MurmurHash3's last step.
fn hash(a: u32, b: u32) -> u32 {
    let mut h = a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x7f4a_7c15);
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

impl Structure {
    /// The structure that text like `poisson3:100` or `random:1000000:8000000` names.
    ///
    /// # Errors
    /// Says what there is.
    pub fn by_name(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split(':').collect();
        let number = |word: &str| word.replace('_', "").parse::<u64>().ok();
        let small = |word: &str| number(word).and_then(|number| u32::try_from(number).ok());
        let structure = match words.as_slice() {
            ["poisson2", edge] => small(edge).map(Self::Poisson2),
            ["poisson3", edge] => small(edge).map(Self::Poisson3),
            ["band", rows, half] => small(rows).zip(small(half)).map(|(rows, half)| Self::Band(rows, half)),
            ["random", rows, entries] => {
                small(rows).zip(number(entries)).map(|(rows, entries)| Self::Random(rows, entries))
            }
            _ => None,
        };
        let structure = structure.ok_or(
            "it is one of poisson2:EDGE, poisson3:EDGE, band:ROWS:HALF and random:ROWS:ENTRIES".to_string(),
        )?;
        let (rows, most) = (structure.rows(), u64::from(u32::MAX) / 2);
        let entries = match structure {
            Self::Poisson2(_) => 3 * rows,
            Self::Poisson3(_) => 4 * rows,
            Self::Band(_, half) => rows.saturating_mul(u64::from(half) + 1),
            Self::Random(_, entries) => entries,
        };
        if rows == 0 || entries > most || rows > most {
            return Err(format!("{rows} rows with {entries} entries: there are 1 to {most} of them"));
        }
        Ok(structure)
    }

    /// Rows, and columns.
    pub fn rows(&self) -> u64 {
        match *self {
            Self::Poisson2(edge) => u64::from(edge).pow(2),
            Self::Poisson3(edge) => u64::from(edge).saturating_pow(3),
            Self::Band(rows, _) | Self::Random(rows, _) => rows.into(),
        }
    }

    /// Appends the columns of a row, ascending, the diagonal last.
    fn row(&self, row: u32, columns: &mut Vec<u32>) {
        let first = columns.len();
        match *self {
            Self::Poisson2(edge) => {
                columns.extend((row >= edge).then(|| row - edge));
                columns.extend((!row.is_multiple_of(edge)).then(|| row - 1));
            }
            Self::Poisson3(edge) => {
                let plane = edge * edge;
                columns.extend((row >= plane).then(|| row - plane));
                columns.extend((row % plane >= edge).then(|| row - edge));
                columns.extend((!row.is_multiple_of(edge)).then(|| row - 1));
            }
            Self::Band(_, half) => columns.extend(row.saturating_sub(half)..row),
            Self::Random(rows, entries) => {
                // Beside the diagonal, spread evenly over the rows.
                let beside = entries.saturating_sub(rows.into());
                let up_to = |row: u32| u64::from(row) * beside / u64::from(rows);
                let own = (up_to(row + 1) - up_to(row)).min(row.into()) as u32;
                columns.extend((0..own).map(|k| hash(row, k + 1) % row));
                columns[first..].sort_unstable();
                let mut kept = first;
                for at in first..columns.len() {
                    if at == first || columns[at] != columns[at - 1] {
                        columns[kept] = columns[at];
                        kept += 1;
                    }
                }
                columns.truncate(kept);
            }
        }
        columns.push(row);
    }

    /// The matrix: 1 on the diagonal, and less than 1 in all of a row beside it. `advanced` hears of rows that are
    /// done.
    pub fn lower(&self, advanced: impl Fn(u64) + Sync) -> Arrays<f32> {
        const ROWS: u32 = 1 << 16;
        let rows = self.rows() as u32;
        let parts: Vec<(Vec<u32>, Vec<u32>)> = (0..rows.div_ceil(ROWS))
            .into_par_iter()
            .map(|part| {
                let (mut ends, mut columns) = (Vec::new(), Vec::new());
                let range = part * ROWS..rows.min((part + 1) * ROWS);
                for row in range.clone() {
                    self.row(row, &mut columns);
                    ends.push(columns.len() as u32);
                }
                advanced(range.len() as u64);
                (ends, columns)
            })
            .collect();
        let mut arrays = Arrays { offsets: Vec::with_capacity(rows as usize + 1), ..Arrays::default() };
        arrays.offsets.push(0);
        arrays.indices.reserve_exact(parts.iter().map(|(_, columns)| columns.len()).sum());
        for (ends, columns) in parts {
            let before = arrays.indices.len() as u32;
            arrays.offsets.extend(ends.into_iter().map(|end| before + end));
            arrays.indices.extend(columns);
        }
        arrays.values.reserve_exact(arrays.indices.len());
        for pair in arrays.offsets.windows(2) {
            let beside = pair[1] - pair[0] - 1;
            arrays.values.extend((0..beside).map(|_| -0.5 / beside as f32));
            arrays.values.push(1.0);
        }
        arrays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_lower_triangles_of_their_sizes() {
        for name in ["poisson2:9", "poisson3:5", "band:100:7", "random:70000:200000"] {
            let structure = Structure::by_name(name).unwrap();
            assert_eq!(structure.to_string(), name);
            let Arrays { offsets, indices, values } = structure.lower(|_| ());
            assert_eq!(offsets.len() as u64, structure.rows() + 1, "{name}");
            assert_eq!(indices.len(), values.len(), "{name}");
            for (row, pair) in offsets.windows(2).enumerate() {
                let columns = &indices[pair[0] as usize..pair[1] as usize];
                assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
                assert_eq!(columns.last(), Some(&(row as u32)), "{name}");
            }
        }
        let entries = Structure::Random(70_000, 200_000).lower(|_| ()).indices.len();
        assert!((199_000..=200_000).contains(&entries), "{entries}");
        assert!(Structure::by_name("cube:3").is_err() && Structure::by_name("random:10:1e9").is_err());
        assert!(Structure::by_name("poisson3:0").is_err() && Structure::by_name("poisson3:4000").is_err());
    }

    #[test]
    fn the_laplacian_is_symmetric_and_sums_to_its_boundary() {
        let Arrays { offsets, indices, values } = poisson(4, 1.0);
        assert_eq!((offsets.len(), indices.len()), (65, 64 + 6 * 4 * 4 * 3));
        // A row's sum is how many of its neighbours are outside.
        let sum: f64 = values.iter().sum();
        assert_eq!(sum, 6.0 * 16.0);
        let corner = &indices[..offsets[1] as usize];
        assert_eq!(corner, [0, 1, 4, 16]);
        // Of two points that conduct 1 and 3 the mean is 1.5.
        let Arrays { offsets, indices, values } = poisson(4, 3.0);
        let inner = 16 + 4 + 1;
        let row = offsets[inner] as usize..offsets[inner + 1] as usize;
        assert_eq!(indices[row.clone()], [5, 17, 20, 21, 22, 25, 37]);
        assert_eq!(values[row], [-1.5, -1.5, -1.5, 13.5, -3.0, -3.0, -3.0]);
    }
}
