//! The thesis' numbers: each cell agrees with what is printed, or the documentation lists it; no listed cell agrees.

use std::collections::BTreeMap;

use gpu_model::thesis::{Cell, Exception, about, cells, exceptions};

fn key(table: &str, row: &str, model: &str) -> String {
    format!("{table}, {row}, {model}")
}

#[test]
fn every_cell_agrees_or_is_listed() {
    let mut listed: BTreeMap<String, Exception> = BTreeMap::new();
    for one in exceptions().expect("the list reads") {
        let key = key(&one.table, &one.row, &one.model);
        assert!(!one.reason.is_empty(), "{key} has no reason");
        assert!(listed.insert(key.clone(), one).is_none(), "{key} is listed twice");
    }
    for cell in cells().expect("the data read") {
        let key = key(&cell.table, &cell.row, &cell.model);
        match listed.remove(&key) {
            None => assert!(cell.agrees(), "{key} does not agree and is not listed: {cell:?}"),
            Some(exception) => {
                assert!(!cell.agrees(), "{key} is listed, but agrees: {cell:?}");
                assert_eq!(exception.printed, cell.printed, "{key}");
                // Six digits are listed: at most half of the sixth off, of a number of 1.00000 at least.
                assert!((exception.found / cell.computed - 1.0).abs() <= 5e-6, "{key}: {cell:?}");
            }
        }
    }
    assert!(listed.is_empty(), "listed, but no cells: {:?}", listed.keys());
}

/// As many as are printed, measurements left out: a table's rows times its models.
#[test]
fn no_cell_is_missing() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cell in cells().expect("the data read") {
        *counts.entry(cell.table).or_default() += 1;
    }
    for (table, rows, models) in [
        ("B.1", 7, 4),
        ("B.2", 7, 3),
        ("B.3", 7, 4),
        ("B.4", 7, 3),
        ("B.5", 7, 4),
        ("B.6", 7, 3),
        ("B.7", 10, 4),
        ("B.8", 10, 3),
        ("B.9", 10, 4),
        ("B.10", 10, 3),
        ("B.11", 10, 2),
        ("B.12", 10, 2),
        ("B.14", 10, 2),
        ("B.15", 10, 2),
        ("B.16", 7, 2),
        ("B.17", 7, 2),
        ("B.18", 6, 1),
        ("9.1", 6, 12),
    ] {
        assert_eq!(counts.remove(table), Some(rows * models), "{table}");
    }
    // 11 blocks of 16 to 1024 threads; the C1060 takes those up to 512, 7 of them.
    assert_eq!(counts.remove("B.13"), Some(11 + 7));
    for (section, numbers) in [
        ("section 5.2.1", 8),
        ("section 5.2.2", 2),
        ("section 5.2.3", 5),
        ("section 5.3", 17),
        ("section 9.1", 16),
        ("9.2", 23),
        ("section 9.3", 30),
    ] {
        assert_eq!(counts.remove(section), Some(numbers), "{section}");
    }
    assert!(counts.is_empty(), "{counts:?}");
}

/// Cells that are worked by hand from the text alone.
#[test]
fn cells_by_hand() {
    let cells = cells().expect("the data read");
    let of = |table: &str, row: &str, model: &str| -> &Cell {
        let found = cells.iter().find(|cell| (&*cell.table, &*cell.row, &*cell.model) == (table, row, model));
        found.unwrap_or_else(|| panic!("no cell {table}, {row}, {model}"))
    };
    let check = |table: &str, row: &str, model: &str, by_hand: f64| {
        let computed = of(table, row, model).computed;
        // Fewer than 50 operations, each off by 2^-53: less than 1e-14.
        assert!((computed / by_hand - 1.0).abs() < 1e-14, "{table}, {row}, {model}: {computed}, {by_hand}");
    };
    // 7 blocks of 4 warps of 32 threads over 32·4 lanes, 48 + 3·500 cycles; with a cache 48 + 1500/16.
    check("B.1", "784", "mukherjee_sum", 7.0 * 1548.0 / 1.15e6);
    check("B.1", "784", "mukherjee_sum_cached", 7.0 * 141.75 / 1.15e6);
    // 32 warps on a multiprocessor, 8/3 of them at a time, 3·800 cycles each; 19 executions of 8·14 blocks for 2048.
    check("B.1", "262144", "nugteren", 19.0 * (32.0 * 3.0 / 8.0 * 2400.0 + 32.0 - 8.0 / 3.0) / 1.15e6);
    // 28 warps: 16000 + 48 + 48/3·27.
    check("B.1", "784", "hong_kim", (16_000.0 + 48.0 + 16.0 * 27.0) / 1.15e6);
    // 48 warps of 2000·48 cycles, and 500.
    check("B.3", "192", "hong_kim", (500.0 + 48.0 * 96_000.0) / 1.15e6);
    // 3 blocks of 6 warps over 4, each thread 2000·48 + 4000·600/16 + 600.
    check("B.11", "500", "gonzalez", 3.0 * 1.5 * 246_600.0 / 1.15e6);
    // 4000 rows of 380·64 + 3450 at 1.3 GHz.
    check("B.13", "64", "gonzalez_1.3", 4000.0 * 27_770.0 / 1.3e6);
    // The ratio to what was measured.
    check("B.2", "784", "nugteren", of("B.1", "784", "nugteren").computed / 0.007131);
}

/// Where the text has another formula than the table, both are there.
#[test]
fn the_text_is_there_too() {
    let cells = cells().expect("the data read");
    let by_text = |table: &str, row: &str, model: &str| {
        let found = cells.iter().find(|cell| (&*cell.table, &*cell.row, &*cell.model) == (table, row, model));
        found
            .and_then(|cell| cell.by_text)
            .unwrap_or_else(|| panic!("nothing by the text for {table}, {row}"))
    };
    // Coalesced over 32 threads: 3·(500 + 32)/32 + 48 cycles.
    let expected = 32.0 * (3.0 * 16.625 + 48.0) / 1.15e6;
    assert!((by_text("B.1", "4096", "mukherjee_sum") / expected - 1.0).abs() < 1e-14);
    // 2000·48 + 4000·600/10 + 4000·4·9/10 + 600 = 351 000 cycles, section 9.2.
    let expected = 6.0 * 1.5 * 351_000.0 / 1.15e6;
    assert!((by_text("B.11", "1000", "gonzalez") / expected - 1.0).abs() < 1e-14);
    // Captions as printed: 1 · 2400 + 32 · 1, 19 times.
    let expected = 19.0 * 2432.0 / 1.15e6;
    assert!((by_text("B.1", "262144", "nugteren") / expected - 1.0).abs() < 1e-14);
    // The atomics' tables follow the text.
    assert!(cells.iter().filter(|cell| cell.table == "B.14").all(|cell| cell.by_text.is_none()));
}

#[test]
fn tables_say_what_they_are_of() {
    assert_eq!(about("B.3"), Ok(Some("rows: threads".to_owned())));
    assert!(about("section 5.3").expect("the data read").is_some_and(|text| text.contains("C2070")));
    assert_eq!(about("B.99"), Ok(None));
}
