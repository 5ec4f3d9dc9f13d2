//! Random structures that shrink to the smallest that fails: analysis, ordering, solution, product and factors, on all
//! backends.

use gpu_core::{Device, View};
use gpu_sparse::{Analysis, Diagonal, Side, Spmv, ic0, ilu0, triangle};
use gpu_tests::backends::{cases, for_each};
use gpu_tests::compare::assert_same_bits;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::support::{Host, matrix, reversed, vector};

/// What is drawn.
#[derive(Clone, Debug)]
struct Case {
    kind: Kind,
    rows: usize,
    seed: u64,
    unit: bool,
    upper: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Some rows without any entry, beside a unit diagonal that is not stored.
    Empty,
    Dense,
    /// As many levels as rows.
    Chain,
    /// One level.
    Diagonal,
    Random,
    /// Few rows with very many entries.
    PowerLaw,
}

fn drawn() -> impl Strategy<Value = Case> {
    let kinds = [Kind::Empty, Kind::Dense, Kind::Chain, Kind::Diagonal, Kind::Random, Kind::PowerLaw];
    let rows = prop_oneof![1 => Just(1usize), 3 => 0usize..40, 3 => 200usize..300, 1 => 500usize..800];
    (prop::sample::select(kinds.to_vec()), rows, any::<u64>(), any::<bool>(), any::<bool>()).prop_map(
        |(kind, rows, seed, unit, upper)| {
            let rows = if matches!(kind, Kind::Dense) { rows.min(60) } else { rows };
            // Of zero xorshift makes zeros.
            Case { kind, rows, seed: seed | 1, unit: unit || matches!(kind, Kind::Empty), upper }
        },
    )
}

impl Case {
    fn host(&self) -> (Host<f32>, Side, Diagonal) {
        let kind = self.kind;
        let lower = matrix::<f32>(self.rows, self.rows, self.seed, |row, random| {
            let mut columns = match kind {
                Kind::Empty if random.below(2) == 0 => return vec![],
                Kind::Empty | Kind::Random => {
                    (0..random.below(7)).map(|_| random.below(row.max(1))).collect()
                }
                Kind::Dense => (0..row).collect(),
                Kind::Chain => row.checked_sub(1).into_iter().collect(),
                Kind::Diagonal => vec![],
                Kind::PowerLaw => {
                    let most = if random.below(30) == 0 { row } else { row.min(2) };
                    (0..most).map(|_| random.below(row)).collect::<Vec<_>>()
                }
            };
            columns.retain(|&column| column < row);
            columns.extend((!matches!(kind, Kind::Empty)).then_some(row));
            columns
        });
        let diagonal = if self.unit { Diagonal::Unit } else { Diagonal::Stored };
        if self.upper { (reversed(&lower), Side::Upper, diagonal) } else { (lower, Side::Lower, diagonal) }
    }
}

fn words(view: View<'_, u32>) -> Vec<u32> {
    let mut words = vec![0; view.len()];
    view.copy_to(&mut words).unwrap();
    words
}

/// Draws as many cases as are asked for, the same on every backend.
fn check(test: &str, body: impl Fn(&Device, &Case)) {
    println!("{test}: ChaCha from 32 bytes of 19");
    for_each(test, |device| {
        let config = Config { cases: cases() / 4, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[19; 32]);
        let outcome = TestRunner::new_with_rng(config, rng).run(&drawn(), |case| {
            body(device, &case);
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{test}, {device}: {error}"));
    });
}

#[test]
fn random_triangles_are_analysed_ordered_and_solved() {
    check("property of triangles", |device, case| {
        let (host, side, diagonal) = case.host();
        let a = host.on(device);
        let mut analysis = Analysis::new(&a, side, diagonal).unwrap();
        // ---- levels and solution, row by row
        let b = vector::<f32>(host.rows, case.seed);
        let (mut levels, mut x) = (vec![0u32; host.rows], vec![0.0f32; host.rows]);
        for number in 0..host.rows {
            let row = if case.upper { host.rows - 1 - number } else { number };
            let mut entries: Vec<usize> = host.row(row).collect();
            if case.upper {
                entries.reverse();
            }
            let (mut sum, mut inverse) = (0.0f32, 1.0);
            for entry in entries {
                let column = host.indices[entry] as usize;
                if column != row {
                    levels[row] = levels[row].max(levels[column]);
                    sum = host.values[entry].mul_add(x[column], sum);
                } else if !case.unit {
                    inverse = 1.0 / host.values[entry];
                }
            }
            levels[row] += 1;
            x[row] = (2.0 * b[row] - sum) * inverse;
        }
        assert_eq!(words(analysis.levels()), levels);
        assert_eq!(analysis.level_count(), levels.iter().copied().max().unwrap_or(0));
        match case.kind {
            Kind::Chain | Kind::Dense => assert_eq!(analysis.level_count() as usize, host.rows),
            Kind::Diagonal => assert_eq!(analysis.level_count(), u32::from(host.rows > 0)),
            _ => {}
        }
        let (right, mut solution) = (device.upload(&b).unwrap(), device.alloc(host.rows).unwrap());
        analysis.solve(&device.default_stream(), 2.0, &right, &mut solution).unwrap();
        assert_same_bits(&solution.to_vec().unwrap(), &x, "solution");
        // ---- the order: level, then size, then number
        let order = analysis.order_rows().unwrap();
        let key = |row: &u32| {
            let row = *row as usize;
            let beside = host.row(row).filter(|&entry| host.indices[entry] as usize != row).count();
            let class = [1, 2, 4, 8, 16].iter().position(|&most| (1..=most).contains(&beside));
            (levels[row], if beside == 0 { 6 } else { class.unwrap_or(5) }, row)
        };
        let mut rows: Vec<u32> = (0..host.rows as u32).collect();
        rows.sort_by_key(key);
        assert_eq!(words(order.rows()), rows);
        let starts = words(order.starts());
        assert_eq!(starts.len(), 7 * analysis.level_count() as usize + 1);
        for (at, row) in rows.iter().enumerate() {
            let (level, class, _) = key(row);
            let group = 7 * (level as usize - 1) + class;
            assert!((starts[group] as usize..starts[group + 1] as usize).contains(&at));
        }
    });
}

#[test]
fn random_products_are_within_their_bound() {
    check("property of products", |device, case| {
        let (host, ..) = case.host();
        let a = host.on(device);
        let x = vector::<f32>(host.rows, case.seed);
        let (on_device, mut y) = (device.upload(&x).unwrap(), device.alloc(host.rows).unwrap());
        let mut product = Spmv::new(&a).unwrap();
        product.run(&device.default_stream(), 1.0, &on_device, 0.0, &mut y).unwrap();
        let y = y.to_vec().unwrap();
        for (row, y) in y.iter().enumerate() {
            let products = host
                .row(row)
                .map(|entry| f64::from(host.values[entry]) * f64::from(x[host.indices[entry] as usize]));
            let (sum, size) =
                products.fold((0.0, 0.0), |(sum, size), product| (sum + product, size + product.abs()));
            let n = (host.row(row).len() + 1) as f64 * f64::from(f32::EPSILON) / 2.0;
            assert!((f64::from(*y) - sum).abs() <= n / (1.0 - n) * size, "row {row}");
        }
    });
}

/// A symmetric matrix of the structure, whose diagonal dominates: both factors exist, and LU's are Cholesky's, `U = D
/// · Lᵀ` with Cholesky's `L · D^(1/2)`, but for rounding.
#[test]
fn random_factors_agree_with_each_other() {
    check("property of factors", |device, case| {
        let (host, ..) = Case { upper: false, ..case.clone() }.host();
        let n = host.rows;
        let mut dense = vec![0.0f64; n * n];
        let mut kept = vec![false; n * n];
        for row in 0..n {
            for entry in host.row(row) {
                let column = host.indices[entry] as usize;
                for place in [row * n + column, column * n + row] {
                    dense[place] = f64::from(host.values[entry]);
                    kept[place] = true;
                }
            }
        }
        for row in 0..n {
            dense[row * n + row] = 0.0;
            kept[row * n + row] = true;
            dense[row * n + row] = 1.0 + (0..n).map(|column| dense[row * n + column].abs()).sum::<f64>();
        }
        let mut square = Host { rows: n, columns: n, offsets: vec![0], indices: vec![], values: vec![] };
        for row in 0..n {
            for column in (0..n).filter(|column| kept[row * n + column]) {
                square.indices.push(column as u32);
                square.values.push(dense[row * n + column]);
            }
            square.offsets.push(square.indices.len() as u32);
        }
        let a = square.on(device);
        let cholesky = ic0(&triangle(&a, Side::Lower, true).unwrap()).unwrap();
        let factors = ilu0(&a).unwrap();
        let parts = |matrix: gpu_sparse::Csr<f64>| {
            let (offsets, indices, values) = matrix.into_buffers();
            (offsets.to_vec().unwrap(), indices.to_vec().unwrap(), values.to_vec().unwrap())
        };
        let ((offsets, indices, values), upper) = (parts(cholesky), parts(factors.upper));
        let mut transposed = vec![0.0; n * n];
        for row in 0..n {
            for entry in upper.0[row] as usize..upper.0[row + 1] as usize {
                transposed[upper.1[entry] as usize * n + row] = upper.2[entry];
            }
        }
        for row in 0..n {
            for entry in offsets[row] as usize..offsets[row + 1] as usize {
                let column = indices[entry] as usize;
                let pivot = transposed[column * n + column].sqrt();
                let expected = transposed[row * n + column] / pivot;
                let scale = (dense[row * n + row] * dense[column * n + column]).sqrt();
                assert!((values[entry] - expected).abs() <= 1e-12 * scale, "({row}, {column})");
            }
        }
    });
}
