//! Text tables whose columns align.

/// A table: one header, then rows of as many cells.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    left: usize,
}

impl Table {
    /// A table with these headings; the first `left` columns are text and start at the left, the others are numbers
    /// and end at the right.
    pub fn new<S: Into<String>>(headings: impl IntoIterator<Item = S>, left: usize) -> Self {
        Self { rows: vec![headings.into_iter().map(Into::into).collect()], left }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not as many cells as there are headings.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let row: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(row.len(), self.rows[0].len(), "cells of a row and headings");
        self.rows.push(row);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows[0].len();
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                if column < self.left {
                    line.push_str(&format!("{gap}{cell:<width$}"));
                } else {
                    line.push_str(&format!("{gap}{cell:>width$}"));
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align() {
        let mut table = Table::new(["kernel", "regs"], 1);
        table.row(["a", "9"]);
        table.row(["longer_name", "128"]);
        assert_eq!(table.to_string(), "kernel       regs\na               9\nlonger_name   128\n");
    }

    #[test]
    #[should_panic(expected = "cells of a row and headings")]
    fn a_row_of_another_length_is_refused() {
        Table::new(["a", "b"], 1).row(["1"]);
    }
}
