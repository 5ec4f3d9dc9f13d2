//! The date, as ISO 8601 writes it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in UTC, to the second: `2026-01-31T12:00:00Z`.
pub fn now() -> String {
    // A clock before 1970 is a clock that was never set.
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    iso(seconds)
}

/// The date and time `seconds` after the start of 1970, leap seconds aside.
fn iso(seconds: u64) -> String {
    let mut days = seconds / 86_400;
    let mut year = 1970;
    while days >= days_of_year(year) {
        days -= days_of_year(year);
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (day, time) = (days + 1, seconds % 86_400);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", time / 3600, time / 60 % 60, time % 60)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of_year(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(iso(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(iso(1_000_000_000), "2001-09-09T01:46:40Z");
        assert_eq!(iso(1_767_225_599), "2025-12-31T23:59:59Z");
        assert_eq!(iso(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
