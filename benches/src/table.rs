//! Text in aligned columns.

use std::fmt;

/// On which side a column is flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows under a header; `Display` pads every cell to its column's width, in characters, two spaces between columns.
#[derive(Clone, Debug)]
pub struct Table<const N: usize> {
    header: [&'static str; N],
    align: [Align; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// An empty table with these columns.
    pub fn new(columns: &[(&'static str, Align); N]) -> Self {
        Self {
            header: columns.map(|(name, _)| name),
            align: columns.map(|(_, align)| align),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = self.header.map(str::to_owned);
        let mut widths = [0; N];
        for row in std::iter::once(&header).chain(&self.rows) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let rule = widths.map(|width| "-".repeat(width));
        for row in [&header, &rule].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for ((cell, &width), align) in row.iter().zip(&widths).zip(self.align) {
                match align {
                    Align::Left => line.push_str(&format!("{cell:<width$}  ")),
                    Align::Right => line.push_str(&format!("{cell:>width$}  ")),
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
    fn columns_align_whatever_is_in_them() {
        let mut table = Table::new(&[("name", Align::Left), ("µ", Align::Right), ("×", Align::Left)]);
        table.row(["a".into(), "1.5".into(), "x²".into()]);
        table.row(["much longer".into(), "100.25".into(), String::new()]);
        let expected = "\
name              µ  ×
-----------  ------  --
a               1.5  x²
much longer  100.25
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn a_table_without_rows_is_its_header() {
        let table = Table::new(&[("one", Align::Left), ("two", Align::Right)]);
        assert_eq!(table.to_string(), "one  two\n---  ---\n");
    }
}
