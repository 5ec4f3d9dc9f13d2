//! The peer program follows our protocol: what both sides state must agree.

use std::process::{Command, Stdio};
use std::time::Duration;

use gpu_benches::data::{Element, Layout};
use gpu_benches::easy;
use gpu_benches::protocol::Effort;
use gpu_benches::session::{MIN_ROTATED_BYTES, ROTATED_CACHES};
use gpu_benches::suite::runs;
use gpu_benches::suite::segments::{self, Lengths};
use gpu_benches::suite::{self, Case, Op, Type};

const PROTOCOL: &str = include_str!("../peers/protocol.cuh");
const PEERS: &str = include_str!("../peers/peers.cu");
const SEGMENTS: &str = include_str!("../peers/segments.hpp");
const EASY: &str = include_str!("../peers/easy.py");

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
    assert_eq!(constant("kAlignment"), Layout::new::<u8>(1, 1).stride as u64);
    assert_eq!(constant("kAlignment"), 8 * Layout::new::<f64>(1, 1).stride as u64);
    assert_eq!(constant("kCopySingles"), Effort::COPY_SINGLES as u64);
    assert_eq!(constant("kCopyBatches"), Effort::COPY_BATCHES as u64);
}

#[test]
fn the_easy_calls_are_timed_as_long_and_all_known() {
    let easy::Effort { time, most } = easy::Effort::FULL;
    let line = EASY
        .lines()
        .find_map(|line| line.strip_prefix("SECONDS, MOST, MOST_ROWS, CALLS = "))
        .expect("the line");
    let numbers: Vec<f64> = line.split(", ").map(|number| number.parse().expect("a number")).collect();
    assert_eq!(numbers, [time.as_secs_f64(), most as f64, easy::MOST_ROWS as f64, f64::from(easy::CALLS)]);
    for shape in easy::shapes() {
        // One segment, and what is timed without a synchronisation, have no peer.
        let name = shape.call.name();
        assert!(
            ["segmented_sort_into", "alloc_busy"].contains(&name)
                || EASY.contains(&format!("\"{name}\": lambda")),
            "{name}"
        );
    }
}

/// Where neither library is there it says so, and measures nothing.
#[test]
fn the_easy_calls_of_nobody_are_no_error() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/easy.py");
    let started = Command::new("python3").arg("-S").arg(program).stdin(Stdio::null()).output();
    let output = match started {
        Ok(output) => output,
        Err(why) => return println!("SKIPPED: no python3: {why}"),
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout.is_empty(), "{errors}");
    // Without its packages (-S) Python finds neither.
    assert!(errors.contains("torch is not there") && errors.contains("cupy is not there"), "{errors}");
}

/// The numbers between braces after `prefix`, in a line of the C++ source.
fn list(prefix: &str) -> Vec<usize> {
    let found = PEERS.lines().find_map(|line| line.split_once(prefix));
    let rest = found.unwrap_or_else(|| panic!("no {prefix}")).1;
    let numbers = rest[..rest.find('}').expect("an end")].split(", ");
    numbers.map(|number| number.parse().expect("a number")).collect()
}

#[test]
fn the_sizes_are_the_same() {
    let lengths = |quick, op, element| -> Vec<usize> {
        let cases = suite::cases(quick).into_iter();
        cases.filter(|case| case.op == op && case.element == element).map(Case::elements).collect()
    };
    for (quick, logs, literature) in [
        (false, "logs = {", "std::vector<uint64_t> literature = {"),
        (true, "if (options.quick) logs = {", "literature = {"),
    ] {
        let logs: Vec<usize> = list(logs).into_iter().map(|log| 1 << log).collect();
        let literature = if quick { vec![1000] } else { list(literature) };
        for element in [Type::F32, Type::F64, Type::I32, Type::U8] {
            for op in [Op::Max, Op::ArgMax] {
                assert_eq!(lengths(quick, op, element), logs);
            }
            // Scans of segments are measured beside one of the whole array, which is ours alone.
            let own = if element == Type::F32 && !quick { vec![segments::ELEMENTS] } else { vec![] };
            assert_eq!(lengths(quick, Op::Scan, element), [logs.clone(), own].concat());
            let all =
                if element == Type::F64 { [logs.clone(), literature.clone()].concat() } else { logs.clone() };
            assert_eq!(lengths(quick, Op::Sum, element), all);
        }
        assert_eq!(lengths(quick, Op::SumWithCopy, Type::F64), literature);
        for element in [Type::F32, Type::U8] {
            assert_eq!(lengths(quick, Op::Histogram, element), logs);
        }
        for op in [Op::Select, Op::Partition] {
            assert_eq!(lengths(quick, op, Type::I32), logs);
        }
        let sorted =
            list(if quick { "if (options.quick) sorted = {" } else { "std::vector<uint64_t> sorted = {" });
        let sorted: Vec<usize> = sorted.into_iter().map(|log| 1 << log).collect();
        for op in [Op::Sort, Op::SortPairs] {
            assert_eq!(lengths(quick, op, Type::I32), sorted);
        }
        let shapes: Vec<String> = suite::cases(quick)
            .into_iter()
            .filter_map(|case| match case.shape {
                suite::Shape::Matrix { rows, cols } if case.op == suite::Op::Transpose => {
                    Some(format!("{{{rows}, {cols}}}"))
                }
                _ => None,
            })
            .collect();
        let shapes = format!("shapes = {{{}}}", shapes.join(", "));
        assert!(PEERS.contains(&shapes), "{shapes}");
    }
    assert!(
        PEERS.contains("logs = {10, 16}, shapes = {{64, 64}, {256, 256}, {61, 67}}, literature = {1000};")
    );
}

#[test]
fn the_products_are_the_same() {
    for (quick, squares, factors, added) in [
        (false, "squares = {", "factors = {", "1ull << 28"),
        (true, "if (options.quick) squares = {", "factors = {", "1ull << 10"),
    ] {
        let of = |op, element| {
            let cases = suite::cases(quick).into_iter();
            cases.filter(move |case| case.op == op && case.element == element)
        };
        let shapes = |op| -> Vec<String> {
            let shape = |case: Case| match case.shape {
                suite::Shape::Matrix { rows, cols } => format!("{{{rows}, {cols}}}"),
                other => panic!("{other:?} is no matrix"),
            };
            of(op, Type::F32).map(shape).collect()
        };
        for element in [Type::F32, Type::F64] {
            let sides: Vec<usize> = of(Op::Gemm, element).map(|case| case.elements().isqrt()).collect();
            assert_eq!(list(squares), sides);
        }
        for op in [Op::Gemv, Op::GemvTransposed] {
            let wanted = format!("{factors}{}}}", shapes(op).join(", "));
            assert!(PEERS.contains(&wanted), "{wanted}");
        }
        for op in [Op::Add, Op::Dot, Op::Nrm2, Op::Asum, Op::Axpy, Op::Scale] {
            let [len] = of(op, Type::F32).map(Case::elements).collect::<Vec<_>>()[..] else {
                panic!("one {}", op.name())
            };
            assert_eq!(format!("1ull << {}", len.ilog2()), added);
        }
        let triangles = list(if quick { "if (options.quick) triangles = {" } else { "> triangles = {" });
        for (op, element) in
            [Op::Ger, Op::Symv, Op::Trmv].map(|op| [(op, Type::F32), (op, Type::F64)]).concat()
        {
            assert_eq!(triangles, of(op, element).map(|case| case.elements().isqrt()).collect::<Vec<_>>());
        }
    }
    assert!(PEERS.contains("added = options.quick ? 1ull << 10 : 1ull << 28;"));
}

/// What is multiplied with in place, and what multiples are taken of.
#[test]
fn the_factors_are_the_same() {
    const LEVEL1: &str = include_str!("../peers/level1.cuh");
    assert_eq!(suite::FACTOR, -1023.0 / 1024.0);
    assert!(LEVEL1.contains("constexpr float kFactor = -1023.0f / 1024.0f;"));
    assert!(LEVEL1.contains("return Element<T>::value(1);"));
}

#[test]
fn the_scanned_matrices_are_the_same() {
    for (quick, shape) in [(true, "options.quick ? Shape{"), (false, ": Shape{")] {
        let [rows, cols] = list(shape)[..] else { panic!("rows and columns") };
        for op in [Op::Columns, Op::ScanRows, Op::ScanColumns] {
            let cases = suite::cases(quick).into_iter().filter(|case| case.op == op);
            let shapes: Vec<_> = cases.map(|case| case.shape).collect();
            assert_eq!(shapes, [suite::Shape::Matrix { rows, cols }], "{}", op.name());
        }
        // The peer's key of an element is a shift.
        assert!(cols.is_power_of_two());
    }
}

#[test]
fn the_images_are_the_same() {
    for (quick, sides) in [(false, "images = {"), (true, "if (options.quick) images = {")] {
        let cases = suite::cases(quick).into_iter();
        let halved = cases.filter(|case| case.op == Op::ResizeHalf && case.element == Type::F32);
        assert_eq!(list(sides), halved.map(|case| case.elements().isqrt()).collect::<Vec<_>>());
    }
}

#[test]
fn the_filters_are_the_same() {
    const STENCIL: &str = include_str!("../peers/stencil.cuh");
    for (quick, prefix) in
        [(true, "options.quick ? std::vector<uint64_t>{"), (false, ": std::vector<uint64_t>{")]
    {
        for (op, element) in [
            (Op::Gaussian5, Type::F32),
            (Op::Gaussian11, Type::F32),
            (Op::Gaussian5, Type::U8),
            (Op::Filter3, Type::F32),
            (Op::Filter11, Type::F32),
            (Op::SobelMagnitude, Type::F32),
        ] {
            let cases = suite::cases(quick).into_iter();
            let cases = cases.filter(|case| case.op == op && case.element == element);
            let sides: Vec<usize> = cases.map(|case| case.elements().isqrt()).collect();
            assert_eq!(list(prefix), sides, "{}", op.name());
            let name = format!("\"{}/{}/\"", op.name(), element.name());
            assert!(STENCIL.contains(&name), "{name}");
        }
    }
}

/// Values that the C++ side printed.
#[test]
fn the_inputs_are_the_same() {
    for (index, float, double, int, byte) in [
        (0, -0.5, -0.5, 0, 0),
        (1, 0.073_397_58, 0.073_397_580_068_558_45, -1_832_243_442, 146),
        (12_345, 0.310_863_67, 0.310_863_678_809_255_36, -812_334_314, 207),
        (536_870_911, 0.162_364_6, 0.162_364_604_417_234_66, -1_450_132_982, 169),
    ] {
        assert_eq!(f32::value(index), float, "element {index}");
        assert_eq!(f64::value(index), double, "element {index}");
        assert_eq!((i32::value(index), u8::value(index)), (int, byte), "element {index}");
    }
}

/// The segments: the C++ side's constants, and the number of offsets and their hash that it printed.
#[test]
fn the_segments_are_the_same() {
    let number = |lengths: &Lengths| match lengths {
        Lengths::Equal(len) => *len,
        Lengths::PowerLaw => 0,
    };
    for (name, ours) in [("lengths", &Lengths::ALL[..]), ("runs", &runs::LENGTHS)] {
        let theirs = list(&format!("std::vector<uint64_t> {name} = {{"));
        assert_eq!(theirs, ours.iter().map(number).collect::<Vec<_>>(), "{name}");
    }
    for (name, value) in [
        ("kSegmentElements", segments::ELEMENTS as u64),
        ("kQuickSegmentElements", segments::QUICK_ELEMENTS as u64),
        ("kPowerLawSeed", segments::POWER_LAW_SEED),
        ("kPowerLawDoublings", segments::POWER_LAW_DOUBLINGS),
    ] {
        assert!(SEGMENTS.contains(&format!("constexpr uint64_t {name} = {value};")), "{name}");
    }
    for (elements, lengths, count, hash) in [
        (segments::ELEMENTS, Lengths::PowerLaw, 4_194_195, 0xe3b0_3a13_39c5_6352),
        (segments::QUICK_ELEMENTS, Lengths::PowerLaw, 3_721, 0x6410_b683_f032_27ef),
        (segments::QUICK_ELEMENTS, Lengths::Equal(1000), 67, 0x6731_d34b_1f96_9c18),
    ] {
        let offsets = lengths.offsets(elements);
        let found = offsets.iter().fold(0u64, |hash, &at| hash.wrapping_mul(31).wrapping_add(at.into()));
        assert_eq!((offsets.len(), found), (count, hash), "{lengths:?} of {elements}");
    }
}
