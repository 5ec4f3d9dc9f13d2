//! A description of the rows.

use super::Row;

/// To be written.
pub fn describe(_rows: &[Row]) -> String {
    String::new()
}
