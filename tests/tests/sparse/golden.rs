//! What SciPy and NumPy make of the same matrices, and the matrices of the examples' folder.

use gpu_core::{Device, View};
use gpu_sparse::{
    Analysis, Coo, Csr, Diagonal, Error, Side, compress, ic0, ilu0, market, reference, spmv, triangle,
};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::golden::blocks;

/// As near as some hundred roundings of numbers of size 10 allow.
fn assert_close(actual: &[f64], expected: &[f64], what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (actual, expected) in actual.iter().zip(expected) {
        assert!((actual - expected).abs() <= 1e-13 * (1.0 + expected.abs()), "{what}: {actual} {expected}");
    }
}

/// The matrix of these three diagonals.
fn band(device: &Device, below: &[f64], diagonal: &[f64], above: &[f64]) -> Csr<f64> {
    let (mut offsets, mut indices, mut values) = (vec![0u32], Vec::new(), Vec::new());
    for (row, &on) in diagonal.iter().enumerate() {
        let entries = [
            row.checked_sub(1).map(|k| (k, below[k])),
            Some((row, on)),
            above.get(row).map(|&v| (row + 1, v)),
        ];
        for (column, value) in entries.into_iter().flatten() {
            indices.push(column as u32);
            values.push(value);
        }
        offsets.push(indices.len() as u32);
    }
    Csr::upload(device, diagonal.len(), diagonal.len(), &offsets, &indices, &values).unwrap()
}

fn values(a: Csr<f64>) -> Vec<f64> {
    a.into_buffers().2.to_vec().unwrap()
}

#[test]
fn golden_results_are_scipys() {
    let blocks = blocks(include_str!("../data/scipy_sparse.txt"), "size");
    assert_eq!(blocks.len(), 5);
    for_each("golden", |device| {
        for block in &blocks {
            let of = |what: &str| block.numbers::<f64>(what);
            let integers = |what: &str| block.numbers::<u32>(what);
            let size = integers("size")[0] as usize;
            let entries =
                Coo::upload(device, size, size, &integers("rows"), &integers("columns"), &of("values"))
                    .unwrap();
            let a = compress(&entries).unwrap();
            let x = device.upload(&of("x")).unwrap();
            assert_close(&spmv(&a, &x).unwrap().to_vec().unwrap(), &of("product"), "product");
            for (what, side) in [("lower", Side::Lower), ("upper", Side::Upper)] {
                let part = triangle(&a, side, true).unwrap();
                let mut solution = device.alloc(size).unwrap();
                let mut analysis = Analysis::new(&part, side, Diagonal::Stored).unwrap();
                analysis.solve(&device.default_stream(), 1.0, &x, &mut solution).unwrap();
                assert_close(&solution.to_vec().unwrap(), &of(what), what);
            }
            let (offsets, indices, sums) = a.into_buffers();
            assert_eq!(offsets.to_vec().unwrap(), integers("offsets"));
            assert_eq!(indices.to_vec().unwrap(), integers("indices"));
            assert_close(&sums.to_vec().unwrap(), &of("sums"), "sums");
            // ---- factors: of each row the entry below the diagonal, and the diagonal
            let (below, diagonal) = (of("below"), of("diagonal"));
            let lower = band(device, &below, &diagonal, &[]);
            let mut expected = vec![of("cholesky_diagonal")[0]];
            for (l, d) in of("cholesky_below").iter().zip(&of("cholesky_diagonal")[1..]) {
                expected.extend([*l, *d]);
            }
            assert_close(&values(ic0(&lower).unwrap()), &expected, "Cholesky");
            let factors = ilu0(&band(device, &below, &diagonal, &of("above"))).unwrap();
            assert_close(&values(factors.lower), &of("l_below"), "L");
            let mut expected = Vec::new();
            for (row, d) in of("u_diagonal").into_iter().enumerate() {
                expected.push(d);
                expected.extend(of("above").get(row));
            }
            assert_close(&values(factors.upper), &expected, "U");
        }
    });
}

fn words(view: View<'_, u32>) -> Vec<u32> {
    let mut words = vec![0; view.len()];
    view.copy_to(&mut words).unwrap();
    words
}

/// Meshes have levels, rows and factors that no generated band has: all backends agree with the CPU.
#[test]
fn files_of_the_examples_are_factored() {
    let files = [
        (include_str!("../../../examples/matrices/membrane.mtx"), 580, 3820, true),
        (include_str!("../../../examples/matrices/plate.mtx"), 502, 6340, true),
        (include_str!("../../../examples/matrices/transport.mtx"), 676, 4526, false),
    ];
    for_each("files of the examples", |device| {
        for (text, rows, entries, symmetric) in files {
            let a = compress(&market::read::<f64>(device, text.as_bytes()).unwrap()).unwrap();
            assert_eq!((a.view().rows(), a.view().entries()), (rows, entries));
            let (offsets, indices) = (words(a.view().offsets()), words(a.view().indices()));
            let mut host = vec![0.0; entries];
            a.view().values().copy_to(&mut host).unwrap();
            let lower = triangle(&a, Side::Lower, true).unwrap();
            let analysis = Analysis::new(&lower, Side::Lower, Diagonal::Stored).unwrap();
            let parts = reference::triangle(&offsets, &indices, &host, Side::Lower, true);
            assert_eq!(words(analysis.levels()), reference::levels(&parts.0, &parts.1, Side::Lower));
            if symmetric {
                let mut expected = parts.2.clone();
                let found = reference::ic0(&parts.0, &parts.1, &mut expected);
                match ic0(&lower) {
                    Ok(l) => assert_same_bits(&values(l), &expected, "IC(0)"),
                    Err(Error::NotPositive { row }) => assert_eq!(found, Some(row)),
                    Err(error) => panic!("{error}"),
                }
            }
            let factors = ilu0(&a).unwrap();
            let mut expected = host.clone();
            assert_eq!(reference::ilu0(&offsets, &indices, &mut expected), None);
            let upper = reference::triangle(&offsets, &indices, &expected, Side::Upper, true);
            let below = reference::triangle(&offsets, &indices, &expected, Side::Lower, false);
            assert_same_bits(&values(factors.upper), &upper.2, "U");
            assert_same_bits(&values(factors.lower), &below.2, "L");
        }
    });
}
