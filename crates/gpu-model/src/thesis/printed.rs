//! What the thesis prints, read from this crate's folder `data`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Error, Result};

/// A table as it is printed.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Table {
    /// What the first number of each row counts.
    pub(super) row: String,
    /// The others, in their order.
    pub(super) columns: Vec<String>,
    /// The unit of each column.
    pub(super) units: Vec<String>,
    /// The numbers; nan stands for N/A.
    pub(super) rows: Vec<Vec<f64>>,
}

/// Numbers that the text works out.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Worked {
    /// Of what.
    pub(super) about: String,
    /// Name, number and unit.
    pub(super) quantities: Vec<(String, f64, String)>,
}

impl Table {
    /// The columns that formulas give, each with its place in a row.
    pub(super) fn computed(&self) -> impl Iterator<Item = (usize, &str)> {
        let all = self.columns.iter().enumerate().map(|(at, name)| (at, name.as_str()));
        all.filter(|(_, name)| !name.starts_with("measured"))
    }

    /// The number in the row that begins with `row`, in the column called `column`.
    pub(super) fn number(&self, table: &str, row: f64, column: &str) -> Result<f64> {
        let found = self.rows.iter().find(|numbers| numbers[0] == row);
        let at = self.columns.iter().position(|name| name == column);
        found.zip(at).map(|(numbers, at)| numbers[at + 1]).ok_or_else(|| {
            bad(table, &row.to_string(), format!("there is no such row, or no column {column}"))
        })
    }
}

fn bad(table: &str, row: &str, why: String) -> Error {
    Error::BadTable { table: table.to_owned(), row: row.to_owned(), why }
}

fn read<T: for<'de> Deserialize<'de>>(text: &str) -> Result<BTreeMap<String, T>> {
    toml::from_str(text).map_err(|error| Error::Syntax {
        line: error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count()),
        why: error.message().to_owned(),
    })
}

/// The tables by name, each row of which has as many numbers as its heading says.
pub(super) fn tables() -> Result<BTreeMap<String, Table>> {
    let tables: BTreeMap<String, Table> = read(include_str!("../../data/tables.toml"))?;
    for (name, table) in &tables {
        if table.units.len() != table.columns.len() {
            return Err(bad(name, "units", "there is not one for each column".to_owned()));
        }
        for numbers in &table.rows {
            if numbers.len() != table.columns.len() + 1 {
                let row = numbers.first().map_or_else(String::new, f64::to_string);
                let why = format!("{} numbers, and {} columns", numbers.len(), table.columns.len() + 1);
                return Err(bad(name, &row, why));
            }
        }
    }
    Ok(tables)
}

/// The numbers in the text, by section.
pub(super) fn worked() -> Result<BTreeMap<String, Worked>> {
    read(include_str!("../../data/worked.toml"))
}
