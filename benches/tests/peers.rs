//! The peer program follows our protocol: what both sides state must agree.

use std::time::Duration;

use gpu_benches::data::{Layout, value};
use gpu_benches::protocol::Effort;
use gpu_benches::session::{MIN_ROTATED_BYTES, ROTATED_CACHES};
use gpu_benches::suite;

const PROTOCOL: &str = include_str!("../peers/protocol.cuh");
const PEERS: &str = include_str!("../peers/peers.cu");

/// The constant of this name in the C++ source.
fn constant(name: &str) -> u64 {
    let prefix = format!("constexpr uint64_t {name} = ");
    let line = PROTOCOL.lines().find_map(|line| line.strip_prefix(prefix.as_str()));
    let number = line.and_then(|line| line.split(';').next()).unwrap_or_else(|| panic!("no constant {name}"));
    number.parse().unwrap_or_else(|_| panic!("{name} = {number}"))
}

#[test]
fn the_numbers_of_the_protocol_are_the_same() {
    for (prefix, effort) in [("k", Effort::FULL), ("kQuick", Effort::QUICK)] {
        assert_eq!(Duration::from_millis(constant(&format!("{prefix}WarmUpMs"))), effort.warm_up);
        assert_eq!(constant(&format!("{prefix}Singles")), effort.singles as u64);
        assert_eq!(constant(&format!("{prefix}Batches")), effort.batches as u64);
        assert_eq!(constant(&format!("{prefix}MaxLaunches")), effort.max_launches as u64);
        assert_eq!(constant("kBatchBytes"), effort.batch_bytes);
        assert_eq!(constant("kMinLaunches"), effort.min_launches as u64);
    }
    assert_eq!(constant("kMinRotatedBytes"), MIN_ROTATED_BYTES);
    assert_eq!(constant("kRotatedCaches"), ROTATED_CACHES);
    assert_eq!(constant("kAlignment"), Layout::new(1, 1).stride as u64);
}

#[test]
fn the_sizes_are_the_same() {
    for (quick, prefix) in [(false, "std::vector<uint64_t> logs = {"), (true, "if (options.quick) logs = {")]
    {
        let line = PEERS.lines().find_map(|line| line.trim().strip_prefix(prefix)).expect("the sizes");
        let logs: Vec<u32> = line[..line.find('}').expect("an end")]
            .split(", ")
            .map(|log| log.parse().expect("a number"))
            .collect();
        let sums: Vec<usize> = suite::cases(quick)
            .into_iter()
            .filter(|case| case.op == suite::Op::Sum)
            .map(|case| case.elements())
            .collect();
        assert_eq!(sums, logs.into_iter().map(|log| 1 << log).collect::<Vec<_>>());
        let shapes: Vec<String> = suite::cases(quick)
            .into_iter()
            .filter_map(|case| match case.shape {
                suite::Shape::Matrix { rows, cols } => Some(format!("{{{rows}, {cols}}}")),
                suite::Shape::Vector(_) | suite::Shape::Array(_) => None,
            })
            .collect();
        let shapes = format!("shapes = {{{}}}", shapes.join(", "));
        assert!(PEERS.contains(&shapes), "{shapes}");
    }
}

/// Values that the C++ side printed.
#[test]
fn the_inputs_are_the_same() {
    for (index, expected) in
        [(0, -0.5), (1, 0.073_397_58), (12_345, 0.310_863_67), (536_870_911, 0.162_364_6)]
    {
        assert_eq!(value(index), expected, "element {index}");
    }
}
