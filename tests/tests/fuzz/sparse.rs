//! Sparse matrices: arrays that are none, systems, products, factors, files.

use gpu_core::Device;
use gpu_sparse::{
    Analysis, Coo, Csr, Diagonal, Error, Side, Spmv, Transposition, compress, ic0, ilu0, market,
    transpose_by, triangle,
};
use gpu_tests::data::random;
use proptest::prelude::*;

use super::{Guarded, Place, fuzz, place, wrong};

/// What is wrong with a matrix, if anything.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Offset(u32),
    Column(u32),
    Duplicate,
    Swapped,
    Zero,
    NaN,
    WrongSide,
    MissingDiagonal,
}

#[derive(Clone, Debug)]
struct Case {
    place: Place,
    rows: usize,
    most: usize,
    fault: Fault,
    /// Where the fault is.
    at: usize,
    upper: bool,
    unit: bool,
    /// Of the lengths of both vectors.
    wrong: [isize; 2],
    alpha: f64,
    beta: f64,
}

/// A triangle on the host.
#[derive(Clone, Debug)]
struct Host {
    offsets: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Case {
    fn host(&self) -> Host {
        let mut host = Host { offsets: vec![0], indices: vec![], values: vec![] };
        for row in 0..self.rows {
            let draw = |k: usize| random(self.place.seed ^ row as u64, k) as usize;
            let before = if self.upper { self.rows - 1 - row } else { row };
            let beside = if before == 0 { 0 } else { draw(0) % (self.most + 1) };
            let mut columns: Vec<usize> = (0..beside).map(|k| draw(k + 1) % before.max(1)).collect();
            if self.upper {
                columns.iter_mut().for_each(|column| *column = self.rows - 1 - *column);
            }
            columns.push(row);
            columns.sort_unstable();
            columns.dedup();
            for column in columns {
                host.indices.push(column as u32);
                let unit = (draw(column + 100) >> 12) as f64 / (1u64 << 52) as f64;
                host.values.push(if column == row { 1.0 + unit } else { (unit - 0.5) / self.most as f64 });
            }
            host.offsets.push(host.indices.len() as u32);
        }
        if self.rows == 0 {
            return host;
        }
        // ---- the fault
        let row = self.at % self.rows;
        let entries = host.offsets[row] as usize..host.offsets[row + 1] as usize;
        let diagonal = if self.upper { entries.start } else { entries.end - 1 };
        match self.fault {
            Fault::None => {}
            Fault::Offset(offset) => host.offsets[self.at % (self.rows + 1)] = offset,
            Fault::Column(column) => host.indices[entries.start] = column,
            Fault::Duplicate if entries.len() > 1 => {
                host.indices[entries.start + 1] = host.indices[entries.start]
            }
            Fault::Swapped if entries.len() > 1 => host.indices.swap(entries.start, entries.start + 1),
            Fault::Zero => host.values[diagonal] = -0.0,
            Fault::NaN => host.values[diagonal] = f64::NAN,
            Fault::WrongSide => host.indices[diagonal] = if self.upper { 0 } else { self.rows as u32 - 1 },
            Fault::MissingDiagonal if entries.len() > 1 => {
                host.indices.remove(diagonal);
                host.values.remove(diagonal);
                host.offsets[row + 1..].iter_mut().for_each(|offset| *offset -= 1);
            }
            _ => {}
        }
        host
    }
}

/// Whether arrays are a matrix of so many columns: as it is defined, one after the other.
fn is_matrix(host: &Host, columns: usize) -> bool {
    let entries = host.indices.len();
    host.offsets[0] == 0
        && host.offsets.last().is_some_and(|&last| last as usize == entries)
        && host.offsets.windows(2).all(|pair| {
            pair[0] <= pair[1]
                && host.indices.get(pair[0] as usize..pair[1] as usize).is_some_and(|row| {
                    row.iter().all(|&column| (column as usize) < columns)
                        && row.windows(2).all(|pair| pair[0] < pair[1])
                })
        })
}

/// Whether a matrix is such a triangle.
fn is_triangle(host: &Host, upper: bool, unit: bool) -> bool {
    host.offsets.windows(2).enumerate().all(|(row, pair)| {
        let entries = pair[0] as usize..pair[1] as usize;
        let columns = &host.indices[entries.clone()];
        let inside = |&column: &u32| if upper { column as usize >= row } else { column as usize <= row };
        let diagonal = columns.iter().position(|&column| column as usize == row);
        columns.iter().all(inside)
            && (unit || diagonal.is_some_and(|place| host.values[entries.start + place] != 0.0))
    })
}

fn whole(case: &Case) {
    let device = case.place.device();
    let (host, rows) = (case.host(), case.rows);
    let Host { offsets, indices, values } = &host;
    let uploaded = Csr::upload(&device, rows, rows, offsets, indices, values);
    // The same, found where the arrays live.
    let (there, columns) = (device.upload(offsets).expect("memory"), device.upload(indices).expect("memory"));
    let on_device = Csr::new(rows, rows, there, columns, device.upload(values).expect("memory"));
    assert_eq!(uploaded.is_ok(), is_matrix(&host, rows), "{:?}", uploaded.err());
    assert_eq!(
        uploaded.as_ref().map_err(Error::to_string).err(),
        on_device.as_ref().map_err(Error::to_string).err()
    );
    let Ok(a) = uploaded else { return };

    // ---- products
    let stream = device.default_stream();
    let x_len = rows.saturating_add_signed(case.wrong[0]);
    let y_len = rows.saturating_add_signed(case.wrong[1]);
    let number = |bits: u64| (bits >> 12) as f64 / (1u64 << 52) as f64 - 0.5;
    let x = case.place.values(case.place.offsets.0 + x_len, number);
    let right = device.upload(&x).expect("memory");
    let mut output = Guarded::new(&device, case.place.offsets.1, y_len, |i| number(random(7, i)));
    let range = output.range();
    let mut expected = output.old().to_vec();
    let input = || right.slice(case.place.offsets.0..);
    let result = Spmv::new(&a).expect("memory").run(
        &stream,
        case.alpha,
        input(),
        case.beta,
        output.buffer.slice_mut(range.clone()),
    );
    assert_eq!(result.is_ok(), x_len == rows && y_len == rows, "{result:?}");
    if result.is_ok() {
        let x = &x[case.place.offsets.0..];
        gpu_sparse::reference::spmv(case.alpha, offsets, indices, values, x, case.beta, &mut expected);
        check_bits(&output, &expected);
    } else {
        output.check(None);
    }

    // ---- systems
    let (side, diagonal) = (
        if case.upper { Side::Upper } else { Side::Lower },
        if case.unit { Diagonal::Unit } else { Diagonal::Stored },
    );
    let analysis = Analysis::new(&a, side, diagonal);
    assert_eq!(analysis.is_ok(), is_triangle(&host, case.upper, case.unit), "{:?}", analysis.err());
    if let Ok(mut analysis) = analysis {
        let mut output = Guarded::new(&device, case.place.offsets.1, y_len, |i| number(random(8, i)));
        let result = analysis.solve(&stream, case.alpha, input(), output.buffer.slice_mut(range));
        assert_eq!(result.is_ok(), x_len == rows && y_len == rows, "{result:?}");
        if result.is_ok() {
            let x = &x[case.place.offsets.0..];
            let mut expected = vec![0.0; rows];
            gpu_sparse::reference::solve(
                offsets,
                indices,
                values,
                side,
                diagonal,
                case.alpha,
                x,
                &mut expected,
            );
            check_bits(&output, &expected);
        } else {
            output.check(None);
        }
    }

    // ---- factors
    let mut factor = values.clone();
    let result = ic0(&a);
    if !case.upper && is_triangle(&host, false, false) {
        let found = gpu_sparse::reference::ic0(offsets, indices, &mut factor);
        match result {
            Ok(l) => {
                assert_eq!(found, None);
                same_bits(&l.into_buffers().2.to_vec().expect("its values"), &factor);
            }
            Err(Error::NotPositive { row }) => assert_eq!(found, Some(row)),
            Err(error) => panic!("{error}"),
        }
    } else if rows > 0 && !is_triangle(&host, false, false) {
        assert!(result.is_err());
    }
    let has_diagonal = gpu_sparse::reference::missing_diagonal(offsets, indices).is_none();
    match ilu0(&a) {
        Ok(_) => assert!(has_diagonal),
        Err(Error::MissingDiagonal { .. }) => assert!(!has_diagonal),
        Err(Error::ZeroPivot { .. }) => assert!(has_diagonal),
        Err(error) => panic!("{error}"),
    }
    for with_diagonal in [true, false] {
        let expected = gpu_sparse::reference::triangle(offsets, indices, values, Side::Lower, with_diagonal);
        let (found, columns, _) = triangle(&a, Side::Lower, with_diagonal).expect("memory").into_buffers();
        assert_eq!(found.to_vec().expect("its offsets"), expected.0);
        assert_eq!(columns.to_vec().expect("its columns"), expected.1);
    }
    // ---- there and back
    for way in [Transposition::Sampled, Transposition::Tiles, Transposition::Sorted] {
        let there = transpose_by(&a, way).expect("memory").0;
        let back = transpose_by(&there, way).expect("memory").0.into_buffers();
        assert_eq!(&back.0.to_vec().expect("its offsets"), offsets);
        assert_eq!(&back.1.to_vec().expect("its columns"), indices);
        same_bits(&back.2.to_vec().expect("its values"), values);
    }
}

fn same_bits(actual: &[f64], expected: &[f64]) {
    gpu_tests::compare::assert_same_bits(actual, expected, "values");
}

/// Any NaN is any other, and what is around the output has not changed.
fn check_bits(output: &Guarded<f64>, expected: &[f64]) {
    let all = output.buffer.to_vec().expect("its values");
    same_bits(&all[output.range()], expected);
    let mut around = all;
    around[output.range()].copy_from_slice(output.old());
    assert_eq!(around, output.old);
}

#[test]
fn matrices() {
    let fault = prop_oneof![
        8 => Just(Fault::None),
        1 => any::<u32>().prop_map(Fault::Offset),
        1 => (0u32..40).prop_map(Fault::Offset),
        1 => any::<u32>().prop_map(Fault::Column),
        1 => (0u32..40).prop_map(Fault::Column),
        1 => Just(Fault::Duplicate),
        1 => Just(Fault::Swapped),
        1 => Just(Fault::Zero),
        1 => Just(Fault::NaN),
        1 => Just(Fault::WrongSide),
        1 => Just(Fault::MissingDiagonal),
    ];
    let factors = prop::sample::select(vec![(1.0, 0.0), (-0.5, 2.0), (0.0, 0.0), (0.0, 1.0), (3.0, -1.0)]);
    let rows = prop_oneof![2 => 0usize..6, 3 => 0usize..80, 1 => 240usize..600];
    let cases = (
        place(),
        (rows, 1usize..9),
        (fault, any::<usize>()),
        (any::<bool>(), any::<bool>()),
        [wrong(), wrong()],
        factors,
    );
    let cases = cases.prop_map(|(place, (rows, most), (fault, at), (upper, unit), wrong, (alpha, beta))| {
        Case { place, rows, most, fault, at, upper, unit, wrong, alpha, beta }
    });
    fuzz("sparse matrices", cases, whole);
}

#[test]
fn lists_of_entries() {
    let entry = (0u32..24, 0u32..24, -4i8..5);
    let cases = (place(), 0usize..24, 0usize..24, prop::collection::vec(entry, 0..400));
    fuzz("sparse lists", cases, |(place, rows, columns, entries)| {
        let device = place.device();
        let of = |k: usize| -> Vec<u32> { entries.iter().map(|entry| [entry.0, entry.1][k]).collect() };
        let values: Vec<f64> = entries.iter().map(|entry| entry.2.into()).collect();
        let list = Coo::upload(&device, *rows, *columns, &of(0), &of(1), &values);
        let result = list.and_then(|list| compress(&list));
        let outside = |entry: &(u32, u32, i8)| entry.0 as usize >= *rows || entry.1 as usize >= *columns;
        assert_eq!(result.is_ok(), !entries.iter().any(outside), "{:?}", result.err());
        let Ok(a) = result else { return };
        // Small integers: any order adds them exactly.
        let mut dense = vec![None; rows * columns];
        for &(row, column, value) in entries {
            *dense[row as usize * columns + column as usize].get_or_insert(0.0) += f64::from(value);
        }
        let (offsets, indices, values) = a.into_buffers();
        let (offsets, indices) = (offsets.to_vec().expect("offsets"), indices.to_vec().expect("columns"));
        let values = values.to_vec().expect("values");
        let mut found = vec![None; rows * columns];
        for row in 0..*rows {
            for entry in offsets[row] as usize..offsets[row + 1] as usize {
                assert_eq!(found[row * columns + indices[entry] as usize].replace(values[entry]), None);
            }
        }
        assert_eq!(found, dense);
    });
}

#[test]
fn files() {
    const TEXT: &str = "%%MatrixMarket matrix coordinate real symmetric\n% three rows\n\
        3 3 4\n1 1 2\n2 1 -1.5e0\n2 2 2\n3 3 2\n";
    let change = (
        0usize..200,
        prop_oneof![Just(None), prop::sample::select(b"0123456789 -+.e\n%x\xff".to_vec()).prop_map(Some)],
    );
    let cases = (place(), prop::collection::vec(change, 0..4), 0usize..200);
    fuzz("sparse files", cases, |(place, changes, end)| {
        let mut text = TEXT.as_bytes().to_vec();
        for &(at, byte) in changes {
            let at = at % text.len();
            match byte {
                Some(byte) => text[at] = byte,
                None => drop(text.remove(at)),
            }
        }
        if *end < text.len() / 2 {
            text.truncate(*end);
        }
        let lines = text.split(|&byte| byte == b'\n').count();
        let device: Device = place.device();
        match market::read::<f64>(&device, text.as_slice()) {
            // What is read is written and read again.
            Ok(entries) => {
                let a = compress(&entries).expect("its entries are inside");
                let mut file = Vec::new();
                market::write(&a, &mut file).expect("memory");
                let again = compress(&market::read::<f64>(&device, file.as_slice()).expect("a file"));
                let (first, second) = (a.into_buffers(), again.expect("a matrix").into_buffers());
                assert_eq!(first.1.to_vec().expect("columns"), second.1.to_vec().expect("columns"));
                same_bits(&first.2.to_vec().expect("values"), &second.2.to_vec().expect("values"));
            }
            Err(Error::Market { line, .. }) => assert!((1..=lines + 1).contains(&line), "{line}"),
            Err(Error::Device(gpu_core::Error::ExtentTooLarge { .. })) => {}
            Err(error) => panic!("{error}"),
        }
    });
}
