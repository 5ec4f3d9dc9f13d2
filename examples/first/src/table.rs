//! A table whose columns line up.

use std::fmt;

/// Rows of text under a heading. The first column is flush left, the others flush right.
///
/// ```
/// let mut table = gpu_first::table::Table::new(["step", "ms"]);
/// table.row(["sum", "12.5"]);
/// assert_eq!(table.to_string(), "step    ms\n----  ----\nsum   12.5\n");
/// ```
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this heading.
    pub fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>) -> Self {
        Self { rows: vec![heading.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// Where it has another number of cells than the heading.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.rows[0].len(), "a row has as many cells as the heading");
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows[0].len();
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (index, row) in self.rows.iter().enumerate() {
            let cell = |column: usize| match column {
                0 => format!("{:<1$}", row[0], widths[0]),
                _ => format!("{:>1$}", row[column], widths[column]),
            };
            writeln!(f, "{}", (0..columns).map(cell).collect::<Vec<_>>().join("  ").trim_end())?;
            if index == 0 {
                writeln!(
                    f,
                    "{}",
                    widths.iter().map(|&width| "-".repeat(width)).collect::<Vec<_>>().join("  ")
                )?;
            }
        }
        Ok(())
    }
}
