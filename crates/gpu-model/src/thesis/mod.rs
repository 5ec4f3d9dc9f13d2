#![doc = include_str!("../../docs/thesis.md")]

mod cholesky;
mod compared;
mod exceptions;
mod extended;
mod printed;
mod worked;

use serde::Serialize;

pub use exceptions::{Exception, exceptions};

use crate::error::{Error, Result};

/// A number that the thesis prints, and what the formulas give.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The table: `B.1`; `section 5.3` where the number stands in the text.
    pub table: String,
    /// The row: the first number of the table's row, or the name of the quantity.
    pub row: String,
    /// The model, and what of it where the table has several columns of one.
    pub model: String,
    /// What is printed.
    pub printed: f64,
    /// What the model's formula gives, as the table applies it.
    pub computed: f64,
    /// The unit of both; `ratio` of a model's time to the measured one.
    pub unit: String,
    /// What the text's formula gives, where the table follows another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_text: Option<f64>,
}

impl Cell {
    /// How far `computed` is from `printed`, as a part of the latter.
    pub fn deviation(&self) -> f64 {
        (self.computed / self.printed - 1.0).abs()
    }

    /// Whether it is within 1 %.
    pub fn agrees(&self) -> bool {
        self.deviation() <= AGREEMENT
    }
}

/// How far a number may be from the printed one to agree with it. It is a demand, not a bound of errors: what
/// rounding to the digits printed explains is far less in most cells.
pub const AGREEMENT: f64 = 0.01;

/// Whose formula is applied where text and tables differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// What the numbers in the table follow.
    Table,
    /// What the text says.
    Text,
}

/// All cells: tables B.1 to B.18 and 9.1, and the numbers that sections 5.2, 5.3 and 9.1 to 9.3 work out.
///
/// # Errors
/// The crate's own data do not read, which its tests rule out.
///
/// ```
/// let cells = gpu_model::thesis::cells()?;
/// let cell = cells.iter().find(|cell| cell.table == "B.1" && cell.row == "4194304").expect("printed");
/// assert_eq!((cell.model.as_str(), cell.printed), ("hong_kim", 9.776368));
/// assert!(cell.agrees());
/// # Ok::<(), gpu_model::Error>(())
/// ```
pub fn cells() -> Result<Vec<Cell>> {
    let printed = printed::tables()?;
    let mut cells = Vec::new();
    for (name, formula) in TABLES {
        let missing = || Error::BadTable {
            table: name.to_owned(),
            row: String::new(),
            why: "it is not among the printed ones".to_owned(),
        };
        let table = printed.get(name).ok_or_else(missing)?;
        for numbers in &table.rows {
            for (at, model) in table.computed() {
                let value = numbers[at + 1];
                let of = |reading| formula(name, &printed, numbers[0], model, reading);
                let (computed, by_text) = match (of(Reading::Table), of(Reading::Text)) {
                    // The device does not take such blocks, and no number is printed.
                    (Err(Error::OverLimit { .. }), _) if value.is_nan() => continue,
                    (computed, by_text) => (computed?, by_text?),
                };
                cells.push(Cell {
                    table: name.to_owned(),
                    row: numbers[0].to_string(),
                    model: model.to_owned(),
                    printed: value,
                    computed,
                    unit: table.units[at].clone(),
                    by_text: (by_text != computed).then_some(by_text),
                });
            }
        }
    }
    cells.extend(worked::cells()?);
    Ok(cells)
}

/// What the first number of a table's rows counts, or what a section's numbers are of.
///
/// # Errors
/// The crate's own data do not read, which its tests rule out.
pub fn about(table: &str) -> Result<Option<String>> {
    let of_rows = printed::tables()?.remove(table).map(|table| format!("rows: {}", table.row));
    Ok(of_rows.or(printed::worked()?.remove(table).map(|worked| worked.about)))
}

type Printed = std::collections::BTreeMap<String, printed::Table>;

/// The number in a table's row and column.
type Formula = fn(&str, &Printed, f64, &str, Reading) -> Result<f64>;

const TABLES: [(&str, Formula); 19] = [
    ("B.1", compared::vector_sum),
    ("B.2", compared::ratio),
    ("B.3", compared::product),
    ("B.4", compared::ratio),
    ("B.5", compared::product),
    ("B.6", compared::ratio),
    ("B.7", compared::product),
    ("B.8", compared::ratio),
    ("B.9", compared::product),
    ("B.10", compared::ratio),
    ("B.11", extended::rows),
    ("B.12", extended::rows),
    ("B.13", extended::columns),
    ("B.14", extended::columns),
    ("B.15", extended::columns),
    ("B.16", extended::reduction),
    ("B.17", extended::reduction),
    ("B.18", cholesky::factorisation),
    ("9.1", cholesky::factorisation),
];

fn no_such(table: &str, model: &str) -> Error {
    Error::BadTable { table: table.to_owned(), row: String::new(), why: format!("no formula for {model}") }
}
