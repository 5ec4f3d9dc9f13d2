//! What is done with sparse matrices, and how large that is.

use gpu_benches::suite::sparse::{COLUMNS, Kind, Structure};
use gpu_sparse::{Algorithm, Strategy, Transposition};

use super::ahead::Ahead;

/// The least lines of a smaller plane, and groups of rows.
const LINES: u32 = 8;

/// Lines of a plane, and points of an edge of a cube of so many rows, that are left where only as many levels are asked
/// for as those of the whole: a column has more of them than a cube.
const FEW_LINES: u32 = 2;
const COLUMN: u32 = 8;
const CUBE: u32 = 1 << 14;

/// What is done with a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// Its product with a vector.
    Spmv(Strategy),
    /// With several vectors, whether row-major.
    Spmm(bool),
    /// The solution of its system.
    Solve(Algorithm),
    /// Of several, whether row-major.
    SolveMany(bool),
    /// Of the transposed system, from the last row on.
    Backwards(Algorithm),
    /// Its transposition; of those that are not chosen by themselves the small ones are simulated.
    Transpose(Transposition),
    /// The order of its rows by levels.
    Order,
    /// Its incomplete Cholesky factor.
    Ic0,
    /// The incomplete factors of it and of what is above its diagonal, as below.
    Ilu0,
    /// The list of its entries.
    Expand,
    /// Its rows from such a list, in which all that is odd comes first.
    Compress,
    /// Its rows from such ones in which columns descend.
    SortRows,
    /// What is found of it before systems are solved, for an algorithm.
    Analysis(Algorithm),
    /// Of that the levels, and what an analysis does behind them for ordered rows; not by themselves.
    Levels,
    Prepare,
    /// The choice of a product.
    Plan,
    /// From offsets of 64 bits.
    Wide,
    /// An analysis of the same structure with the values of another matrix, and of a transposed one with others.
    NewMatrix,
    NewValues,
    /// The solution of several systems in columns that do not follow each other in memory.
    Apart,
}

impl Operation {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let products = [Strategy::Thread, Strategy::Lanes4, Strategy::Balanced].map(Self::Spmv);
        let several = [true, false].map(Self::Spmm);
        let systems = Algorithm::ALL.map(Self::Solve).into_iter().chain(Algorithm::ALL.map(Self::Backwards));
        let systems = systems.chain([true, false].map(Self::SolveMany));
        let others = [Self::Transpose(Transposition::Auto), Self::Order, Self::Ic0, Self::Ilu0];
        let others = others.into_iter().chain([Self::Expand, Self::Compress, Self::SortRows]);
        let analyses = [Algorithm::Auto, Algorithm::Free, Algorithm::Ordered].map(Self::Analysis);
        let plans = [Self::Plan, Self::Wide, Self::NewMatrix, Self::NewValues, Self::Apart];
        let others = others.chain(analyses).chain(plans);
        products.into_iter().chain(several).chain(systems).chain(others).collect()
    }

    /// What it and its algorithm are called in results.
    pub fn names(self) -> [String; 2] {
        match self {
            Self::Spmv(strategy) => ["spmv".into(), format!("{strategy:?}")],
            Self::Spmm(true) => ["spmm".into(), "row-major".into()],
            Self::Spmm(false) => ["spmm".into(), "column-major".into()],
            Self::Solve(algorithm) => ["solve".into(), format!("{algorithm:?}")],
            Self::SolveMany(true) => ["solve many".into(), "row-major".into()],
            Self::SolveMany(false) => ["solve many".into(), "column-major".into()],
            Self::Backwards(algorithm) => ["solve Aᵀ".into(), format!("{algorithm:?}")],
            Self::Transpose(Transposition::Auto) => ["transpose".into(), String::new()],
            Self::Transpose(way) => ["transpose by".into(), format!("{way:?}")],
            // Results say how many levels there are, which the structure does.
            Self::Order => ["order rows".into(), String::new()],
            Self::Ic0 => ["ic0".into(), String::new()],
            Self::Ilu0 => ["ilu0".into(), String::new()],
            Self::Expand => ["expand".into(), String::new()],
            Self::Compress => ["compress".into(), String::new()],
            Self::SortRows => ["sort rows".into(), String::new()],
            // As of orders.
            Self::Analysis(Algorithm::Auto) => ["analysis".into(), String::new()],
            Self::Analysis(Algorithm::Free) | Self::Levels => ["analysis of".into(), "levels".into()],
            Self::Analysis(_) | Self::Prepare => ["analysis of".into(), "for ordered".into()],
            Self::Plan => ["plan of spmv".into(), String::new()],
            Self::Wide => ["wide".into(), String::new()],
            Self::NewMatrix => ["new matrix".into(), String::new()],
            Self::NewValues => ["new values".into(), String::new()],
            Self::Apart => ["solve many".into(), "apart".into()],
        }
    }

    /// By which algorithm it solves a system, if it does.
    pub fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::Solve(algorithm) | Self::Backwards(algorithm) => Some(algorithm),
            Self::SolveMany(_) | Self::Apart => Some(Algorithm::Auto),
            _ => None,
        }
    }

    /// Whether drawn structures are predicted, too: not the way through their rows, which is known of the kinds of the
    /// figures only, and not what no program times.
    pub fn is_of_any_kind(self) -> bool {
        let has_no_way = matches!(self, Self::Spmv(_) | Self::Spmm(_) | Self::Transpose(_) | Self::Order);
        has_no_way || matches!(self, Self::Analysis(_))
    }

    /// Whether it prepares a product, or makes an analysis that of other values, or solves in columns that lie apart:
    /// what no program times.
    pub fn is_renewal(self) -> bool {
        matches!(self, Self::Plan | Self::Wide | Self::NewMatrix | Self::NewValues | Self::Apart)
    }

    /// Whether the host waits for what it does, and the wall clock times it: not products and systems.
    pub fn is_waited_for(self) -> bool {
        !matches!(
            self,
            Self::Spmv(_)
                | Self::Spmm(_)
                | Self::Solve(_)
                | Self::SolveMany(_)
                | Self::Backwards(_)
                | Self::Apart
        )
    }

    /// Whether a sample of its blocks stands for all: not where a launch adds what all blocks of another one left.
    pub fn is_sampled(self) -> bool {
        matches!(self, Self::Spmv(Strategy::Thread | Strategy::Lanes4) | Self::Spmm(_))
    }
}

/// Entries of a structure, about.
pub fn entries(structure: Structure) -> f64 {
    let rows = f64::from(structure.rows);
    match structure.kind {
        Kind::Laplacian => 4.0 * rows,
        Kind::Plane => 3.0 * rows,
        Kind::Random => f64::from(structure.a) * rows,
        Kind::Band => f64::from(structure.a + 1) * rows,
        Kind::Sparse => (1.0 + f64::from(structure.a) * f64::from(structure.b) / 256.0) * rows,
        Kind::Groups => f64::from(structure.b + 1) * rows,
        // Every second row has `a`, every fourth two times that, and so on to 2^10, as all others.
        Kind::Power => (1.0 + 6.0 * f64::from(structure.a)) * rows,
        Kind::Blocks => f64::from(structure.a + 1) / 2.0 * rows,
    }
}

/// Bytes that any implementation reads and writes.
pub fn bytes(structure: Structure, operation: Operation) -> f64 {
    let rows = f64::from(structure.rows);
    let (all, offsets) = (entries(structure), 4.0 * (rows + 1.0));
    let (matrix, list) = (12.0 * all + offsets, 16.0 * all);
    match operation {
        Operation::Spmm(_) | Operation::SolveMany(_) | Operation::Apart => {
            matrix + 16.0 * rows * COLUMNS as f64
        }
        Operation::Transpose(_) => 2.0 * matrix,
        // Each row's level and length are read, and its place is written.
        Operation::Order => 16.0 * rows,
        Operation::Ic0 => matrix + 8.0 * all,
        Operation::Ilu0 => 2.0 * matrix + 16.0 * (all - rows),
        Operation::Expand | Operation::Compress => matrix + list,
        Operation::SortRows => 2.0 * matrix,
        // Of the values only those of the diagonal are read.
        Operation::Analysis(_) | Operation::Levels | Operation::Prepare => 4.0 * all + offsets + 12.0 * rows,
        Operation::Plan => offsets,
        Operation::Wide => 4.0 * all + 3.0 * offsets,
        Operation::NewMatrix => 2.0 * (matrix - 8.0 * all) + 8.0 * rows,
        Operation::NewValues => 20.0 * all + 8.0 * rows,
        _ => matrix + 16.0 * rows,
    }
}

/// The same structure of about so many rows.
pub fn shrunk(structure: Structure, rows: u32) -> Structure {
    if structure.rows <= rows {
        return structure;
    }
    match structure.kind {
        Kind::Laplacian => {
            let edge = f64::from(rows).cbrt().round() as u32;
            Structure { rows: edge * edge * edge, a: edge, ..structure }
        }
        // As many lines, or groups, as there is room for: rows wait for those of the one before.
        Kind::Plane | Kind::Groups => Structure { rows, a: structure.a.min(rows / LINES), ..structure },
        _ => Structure { rows, ..structure },
    }
}

/// The same of an order, which depends on how many levels there are: with as many groups, lines as long as there is
/// room for, and of a cube a column.
pub fn alike(structure: Structure, rows: u32) -> Structure {
    if structure.rows <= rows {
        return structure;
    }
    let a = match structure.kind {
        Kind::Groups => {
            let part = f64::from(rows) / f64::from(structure.rows);
            (f64::from(structure.a) * part).ceil() as u32
        }
        Kind::Plane => structure.a.min(rows / FEW_LINES),
        Kind::Laplacian if rows < CUBE => structure.a.min(COLUMN),
        Kind::Laplacian => return shrunk(structure, rows),
        _ => structure.a,
    };
    Structure { rows, a, ..structure }
}

/// Levels of a structure: a row is one level behind the last of those that it waits for.
pub fn level_count(structure: Structure) -> f64 {
    let mut level = vec![0_u32; structure.rows as usize];
    let (mut ahead, mut most) = (Ahead::new(structure), 0);
    for row in 0..structure.rows {
        let own = ahead.columns(row).iter().map(|&column| level[column as usize]).max().unwrap_or(0) + 1;
        level[row as usize] = own;
        most = most.max(own);
    }
    most.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube's rows wait along three edges, a band's for the row before.
    #[test]
    fn levels_are_those_of_the_longest_way() {
        let cube = Structure { kind: Kind::Laplacian, rows: 216, a: 6, b: 0, drawn: false };
        assert_eq!(level_count(cube), 16.0);
        let band = Structure { kind: Kind::Band, rows: 50, a: 3, b: 0, drawn: false };
        assert_eq!(level_count(band), 50.0);
        assert_eq!(level_count(shrunk(Structure { rows: 1000, a: 10, ..cube }, 216)), 16.0);
        // A column of 64 planes of 8 by 8: 7 and 7 levels more than it is high.
        let large = Structure { rows: 8_000_000, a: 200, ..cube };
        assert_eq!(level_count(alike(large, 4096)), 64.0 + 2.0 * 7.0);
        assert_eq!(alike(large, CUBE), shrunk(large, CUBE));
        // As many groups, and lines of a plane.
        let groups = Structure { kind: Kind::Groups, rows: 3000, a: 1000, b: 4, drawn: false };
        assert_eq!(level_count(alike(groups, 300)), level_count(groups));
        let plane = Structure { kind: Kind::Plane, a: 1500, ..groups };
        assert_eq!((alike(plane, 900).a, alike(plane, 5000)), (450, plane));
    }
}
