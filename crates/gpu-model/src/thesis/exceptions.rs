//! The cells that do not agree, as this module's documentation lists them.

use crate::error::{Error, Result};

/// A cell of a table whose formulas do not give what is printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Exception {
    /// The table.
    pub table: String,
    /// The row.
    pub row: String,
    /// The model.
    pub model: String,
    /// What is printed.
    pub printed: f64,
    /// What the formula gives, to six digits.
    pub found: f64,
    /// Why.
    pub reason: String,
}

const DOCUMENT: &str = include_str!("../../docs/thesis.md");
const HEADING: &str = "## Cells that do not agree";

/// The cells listed under "Cells that do not agree".
///
/// # Errors
/// The list has a row that is none, which the crate's tests rule out.
pub fn exceptions() -> Result<Vec<Exception>> {
    let bad = |row: &str, why: &str| Error::BadTable {
        table: HEADING.to_owned(),
        row: row.to_owned(),
        why: why.to_owned(),
    };
    let (_, list) = DOCUMENT.split_once(HEADING).ok_or_else(|| bad("", "there is no such heading"))?;
    let list = list.split("\n## ").next().unwrap_or(list);
    // Heading and rule come first.
    let rows = list.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|line| {
        let columns: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [table, row, model, printed, found, reason] = columns.as_slice() else {
            return Err(bad(line, "it has not six columns"));
        };
        let number = |text: &str| text.parse().map_err(|_| bad(line, "a number is none"));
        Ok(Exception {
            table: (*table).to_owned(),
            row: (*row).to_owned(),
            model: (*model).to_owned(),
            printed: number(printed)?,
            found: number(found)?,
            reason: (*reason).to_owned(),
        })
    })
    .collect()
}
