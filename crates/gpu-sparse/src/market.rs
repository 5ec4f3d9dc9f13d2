//! Matrix Market files (`.mtx`): entries as text, after the
//! [description of the format](https://math.nist.gov/MatrixMarket/formats.html).
//!
//! Read are `matrix coordinate` files of `real`, `integer` and `pattern` values, `general`, `symmetric` and
//! `skew-symmetric`: of the latter two the other half is added. Entries are read line by line, so that a file of a
//! hundred million needs the memory of its entries alone, and a mistake is told with its line. Of the libraries that
//! read this format those that are kept well do not say the line (sprs) or hold the whole file as a tree of tokens
//! (nalgebra-sparse).

use std::io::{BufRead, Write};
use std::str::FromStr;

use gpu_core::Device;

use crate::error::Error;
use crate::launch::Element;
use crate::matrix::{Coo, CsrView};

#[derive(Clone, Copy, PartialEq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// The lines of a file that are no comments.
struct Lines<R> {
    input: R,
    line: usize,
    text: String,
}

impl<R: BufRead> Lines<R> {
    /// The next line, if there is one.
    fn advance(&mut self) -> Result<bool, Error> {
        self.text.clear();
        self.line += 1;
        let read = self.input.read_line(&mut self.text).map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => self.wrong("not UTF-8"),
            _ => Error::Io(error),
        })?;
        Ok(read > 0)
    }

    /// The next line that is neither empty nor a comment.
    fn next(&mut self, expected: &str) -> Result<(), Error> {
        while self.advance()? {
            let text = self.text.trim_start();
            if !text.is_empty() && !text.starts_with('%') {
                return Ok(());
            }
        }
        Err(self.wrong(format!("the file ends where {expected} should be")))
    }

    fn wrong(&self, what: impl Into<String>) -> Error {
        Error::Market { line: self.line, what: what.into() }
    }

    /// The words of the line, exactly `N`.
    fn words<const N: usize>(&self, what: &str) -> Result<[&str; N], Error> {
        let mut words = self.text.split_ascii_whitespace();
        let found = core::array::from_fn(|_| words.next().unwrap_or(""));
        let surplus = words.next().is_some();
        if surplus || found.contains(&"") {
            return Err(self.wrong(format!("{what} is {N} numbers, not `{}`", self.text.trim())));
        }
        Ok(found)
    }

    fn number<N: FromStr>(&self, what: &str, word: &str) -> Result<N, Error> {
        word.parse().map_err(|_| self.wrong(format!("`{word}` is no {what}")))
    }
}

/// The entries of a Matrix Market file, on `device`, in the order of the file; those that symmetry adds stand behind
/// the one that they mirror.
///
/// # Errors
/// [`Error::Market`] with the line where the file is not understood, ends too soon or too late, or where an entry
/// stands outside of the matrix, or on the wrong side of a symmetric one; [`Error::Io`];
/// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`].
///
/// ```
/// use gpu_sparse::market;
/// let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1\n";
/// let entries = market::read::<f64>(&gpu_core::Device::cpu(), text.as_bytes())?;
/// assert_eq!(entries.entries(), 3);
/// let wrong = market::read::<f64>(&gpu_core::Device::cpu(), text.replace("2 1", "3 1").as_bytes());
/// assert_eq!(wrong.unwrap_err().to_string(), "line 4: row 3 of 2");
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn read<T: Element + FromStr + core::ops::Neg<Output = T>>(
    device: &Device,
    input: impl BufRead,
) -> Result<Coo<T>, Error> {
    let mut lines = Lines { input, line: 0, text: String::new() };
    // ---- what it holds
    lines.advance()?;
    let banner = lines.text.to_ascii_lowercase();
    let words: Vec<&str> = banner.split_ascii_whitespace().collect();
    let &["%%matrixmarket", "matrix", format, field, symmetry] = words.as_slice() else {
        return Err(lines.wrong("a file starts with `%%MatrixMarket matrix` and three words more"));
    };
    if format != "coordinate" {
        return Err(lines.wrong(format!("`{format}` files are not read, only `coordinate`")));
    }
    let has_values = match field {
        "real" | "integer" | "double" => true,
        "pattern" => false,
        _ => return Err(lines.wrong(format!("`{field}` values are not read"))),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" => Symmetry::Skew,
        _ => return Err(lines.wrong(format!("`{symmetry}` matrices are not read"))),
    };
    // ---- its size
    lines.next("the size")?;
    let size = lines.words::<3>("the size")?;
    let mut sizes = [0usize; 3];
    for (size, (what, word)) in sizes
        .iter_mut()
        .zip(["number of rows", "number of columns", "number of entries"].into_iter().zip(size))
    {
        *size = lines.number(what, word)?;
    }
    let [rows, columns, count] = sizes;
    crate::matrix::extents(rows, columns)?;
    crate::matrix::sizes(rows, count)?;
    if symmetry != Symmetry::General && rows != columns {
        return Err(lines.wrong(format!("a {rows} × {columns} matrix is not symmetric")));
    }
    // ---- its entries
    let (mut row_indices, mut column_indices, mut values) = (Vec::new(), Vec::new(), Vec::<T>::new());
    for entry in 0..count {
        lines.next(&format!("entry {} of {count}", entry + 1))?;
        let (place, value) = if has_values {
            let [row, column, value] = lines.words("an entry")?;
            ([row, column], lines.number("number", value)?)
        } else {
            (lines.words("an entry")?, T::ONE)
        };
        let mut indices = [0u32; 2];
        for (index, ((what, word), limit)) in
            indices.iter_mut().zip([("row", place[0]), ("column", place[1])].into_iter().zip([rows, columns]))
        {
            let number: usize = lines.number(what, word)?;
            if number == 0 || number > limit {
                return Err(lines.wrong(format!("{what} {number} of {limit}")));
            }
            *index = (number - 1) as u32;
        }
        let [row, column] = indices;
        let above = column > row || symmetry == Symmetry::Skew && column == row;
        if symmetry != Symmetry::General && above {
            return Err(lines.wrong("of a symmetric matrix the lower triangle is stored"));
        }
        row_indices.push(row);
        column_indices.push(column);
        values.push(value);
        if symmetry != Symmetry::General && row != column {
            row_indices.push(column);
            column_indices.push(row);
            values.push(if symmetry == Symmetry::Skew { -value } else { value });
        }
    }
    while lines.advance()? {
        if !lines.text.trim().is_empty() && !lines.text.starts_with('%') {
            return Err(lines.wrong(format!("there are more entries than the {count} announced")));
        }
    }
    Coo::upload(device, rows, columns, &row_indices, &column_indices, &values)
}

/// Writes a matrix as a Matrix Market file, `coordinate real general`, row by row; values with as many digits as it
/// takes to read the same again.
///
/// # Errors
/// [`Error::Io`]; [`Error::Device`] where the matrix cannot be copied to the host.
///
/// ```
/// use gpu_sparse::{CsrView, market};
/// let a = CsrView::new(1, 2, &[0, 1], &[1], &[0.1])?;
/// let mut file = Vec::new();
/// market::write(a, &mut file)?;
/// assert_eq!(file, b"%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 0.1\n");
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn write<'a, T: Element + core::fmt::Display>(
    matrix: impl Into<CsrView<'a, T>>,
    mut output: impl Write,
) -> Result<(), Error> {
    let matrix = matrix.into();
    let mut offsets = vec![0; matrix.rows + 1];
    let (mut indices, mut values) = (vec![0; matrix.entries()], vec![T::ZERO; matrix.entries()]);
    matrix.offsets.copy_to(&mut offsets)?;
    matrix.indices.copy_to(&mut indices)?;
    matrix.values.copy_to(&mut values)?;
    writeln!(output, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(output, "{} {} {}", matrix.rows, matrix.columns, indices.len())?;
    for (row, pair) in offsets.windows(2).enumerate() {
        for entry in pair[0] as usize..pair[1] as usize {
            writeln!(output, "{} {} {}", row + 1, indices[entry] + 1, values[entry])?;
        }
    }
    output.flush()?;
    Ok(())
}
