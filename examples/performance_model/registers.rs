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

#[cfg(test)]
mod tests {
    use super::super::recorded::SOURCES;
    use super::super::tests::with_counters;
    use super::*;

    /// Of each kernel whose text is read there is a number that a thread can have, and of no other.
    #[test]
    fn each_text_has_its_registers() {
        let registers = registers();
        let device = gpu_model::Device::by_name("h200").expect("it is described");
        let mut kernels = with_counters(|counters| {
            let counter = crate::counter(counters, &SOURCES[0], &device).expect("it was measured");
            counter.counting().kernels().map(str::to_owned).collect::<Vec<_>>()
        });
        kernels.sort_unstable();
        let mut known: Vec<&str> = registers.keys().copied().collect();
        known.sort_unstable();
        assert_eq!(known, kernels);
        assert!(registers.values().all(|count| (1..=255).contains(count)), "{registers:?}");
        // Two blocks of 256 threads fit, as this kernel asks for, and one of that.
        assert_eq!((registers["tensor_bf16"], registers["factor_tiled_f64"]), (128, 255));
    }
}
