//! Registers of kernels' threads, which limit how many blocks are resident.
//!
//! ptxas says how many a kernel has for 9.0 (`registers.txt`); a text does not, as it has no end of them.

use std::collections::HashMap;

/// The numbers and kernels of each.
const TEXT: &str = include_str!("registers.txt");

/// The registers of each kernel, by its name.
pub fn registers() -> HashMap<&'static str, u32> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    let of_line = |line: &'static str| {
        let mut words = line.split(' ');
        let count = words.next().and_then(|count| count.parse().ok());
        let count: u32 = count.unwrap_or_else(|| panic!("registers.txt has a line `{line}`"));
        words.map(move |kernel| (kernel, count))
    };
    lines.flat_map(of_line).collect()
}
