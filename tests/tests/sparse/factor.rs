//! Incomplete factors and one side of a matrix: one body over all backends, against serial oracles.

use std::collections::BTreeMap;

use gpu_core::Device;
use gpu_sim::{Config, Record};
use gpu_sparse::{Csr, Error, Side, ic0, ilu0, triangle};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;

use crate::support::{Host, Random, Value, matrix, triangles};

/// A matrix by its places.
type Places<T> = BTreeMap<(u32, u32), T>;

fn places<T: Value>(a: &Host<T>) -> Places<T> {
    let of_row = |row: usize| a.row(row).map(move |entry| ((row as u32, a.indices[entry]), a.values[entry]));
    (0..a.rows).flat_map(of_row).collect()
}

fn host<T: Value>(rows: usize, places: &Places<T>) -> Host<T> {
    let mut offsets = vec![0u32; rows + 1];
    places.keys().for_each(|&(row, _)| offsets[row as usize + 1] += 1);
    (0..rows).for_each(|row| offsets[row + 1] += offsets[row]);
    let (indices, values) = (places.keys().map(|key| key.1).collect(), places.values().copied().collect());
    Host { rows, columns: rows, offsets, indices, values }
}

/// Gives a square matrix a diagonal that dominates its rows and columns.
fn dominant<T: Value>(mut a: Host<T>) -> Host<T> {
    let mut sums = vec![1.0; a.rows];
    for row in 0..a.rows {
        for entry in a.row(row) {
            let size = if a.values[entry] < T::ZERO { -a.values[entry] } else { a.values[entry] };
            for index in [row, a.indices[entry] as usize] {
                sums[index] += as_f64(size);
            }
        }
    }
    for (row, &sum) in sums.iter().enumerate() {
        for entry in a.row(row).filter(|&entry| a.indices[entry] as usize == row) {
            a.values[entry] = T::of(sum);
        }
    }
    a
}

fn as_f64<T: Value>(value: T) -> f64 {
    format!("{value:?}").parse().expect("a number")
}

/// The oracle of IC(0): each entry by its definition, in the documented order.
fn naive_ic0<T: Value>(a: &Places<T>) -> Places<T> {
    let mut factor: Places<T> = Places::new();
    for (&(row, column), &value) in a {
        let left: Vec<(u32, T)> = factor.range((row, 0)..(row, column)).map(|(key, &l)| (key.1, l)).collect();
        let mut sum = value;
        for (k, l) in left {
            let other = if column == row { Some(&l) } else { factor.get(&(column, k)) };
            if let Some(&other) = other {
                sum = (-l).mul_add(other, sum);
            }
        }
        let entry = if column == row { sum.sqrt() } else { sum / factor[&(column, column)] };
        factor.insert((row, column), entry);
    }
    factor
}

/// The oracle of ILU(0): each entry by its definition, in the documented order.
fn naive_ilu0<T: Value>(a: &Places<T>) -> Places<T> {
    let mut factors: Places<T> = Places::new();
    for (&(row, column), &value) in a {
        let mut sum = value;
        for k in 0..row.min(column) {
            if let (Some(&l), Some(&u)) = (factors.get(&(row, k)), factors.get(&(k, column))) {
                sum = (-l).mul_add(u, sum);
            }
        }
        factors.insert((row, column), if column < row { sum / factors[&(column, column)] } else { sum });
    }
    factors
}

fn values<T: Value>(a: Csr<T>) -> Vec<T> {
    a.into_buffers().2.to_vec().unwrap()
}

/// Square matrices with a full diagonal.
fn squares<T: Value>() -> Vec<(&'static str, Host<T>)> {
    let of = |rows: usize, seed, columns: fn(usize, usize, &mut Random) -> Vec<usize>| {
        matrix(rows, rows, seed, move |row, random| {
            let mut columns = columns(row, rows, random);
            columns.push(row);
            columns
        })
    };
    vec![
        ("no rows", of(0, 1, |_, _, _| vec![])),
        ("one row", of(1, 2, |_, _, _| vec![])),
        ("diagonal", of(600, 3, |_, _, _| vec![])),
        ("dense", of(40, 4, |_, rows, _| (0..rows).collect())),
        ("chain", of(530, 5, |row, rows, _| vec![row.saturating_sub(1), (row + 1).min(rows - 1)])),
        (
            "plane",
            of(400, 6, |row, rows, _| {
                vec![
                    row.saturating_sub(20),
                    row.saturating_sub(1),
                    (row + 1).min(rows - 1),
                    (row + 20).min(rows - 1),
                ]
            }),
        ),
        ("random", of(300, 7, |_, rows, random| (0..random.below(9)).map(|_| random.below(rows)).collect())),
        (
            "power law",
            of(350, 8, |_, rows, random| {
                let most = if random.below(40) == 0 { rows } else { 3 };
                (0..most).map(|_| random.below(rows)).collect()
            }),
        ),
    ]
}

fn factors<T: Value>(test: &str) {
    for_each(test, |device| {
        for (name, lower) in triangles::<T>(true) {
            let lower = dominant(lower);
            let expected = host(lower.rows, &naive_ic0(&places(&lower)));
            let factor = ic0(&lower.on(device)).unwrap();
            assert_same_bits(&values(factor), &expected.values, &format!("ic0, {name}"));
        }
        for (name, square) in squares::<T>() {
            let square = dominant(square);
            let expected = naive_ilu0(&places(&square));
            let factors = ilu0(&square.on(device)).unwrap();
            let side = |upper: bool| {
                let kept = expected.iter().filter(|((row, column), _)| (column >= row) == upper);
                host(square.rows, &kept.map(|(&key, &value)| (key, value)).collect())
            };
            for (what, found, expected) in
                [("L", factors.lower, side(false)), ("U", factors.upper, side(true))]
            {
                let (offsets, indices, values) = found.into_buffers();
                assert_eq!(offsets.to_vec().unwrap(), expected.offsets, "{what}, {name}");
                assert_eq!(indices.to_vec().unwrap(), expected.indices, "{what}, {name}");
                assert_same_bits(&values.to_vec().unwrap(), &expected.values, &format!("{what}, {name}"));
            }
        }
    });
}

#[test]
fn factors_of_f32_are_those_of_the_documented_order() {
    factors::<f32>("factors f32");
}

#[test]
fn factors_of_f64_are_those_of_the_documented_order() {
    factors::<f64>("factors f64");
}

/// What makes them factors: their product has A's entries where A has some. Each is a chain of at most n products, so
/// that the difference is at most gamma_(n+2) of the sum of their sizes (Higham, lemma 8.4 and theorem 10.3).
#[test]
fn products_of_factors_have_the_entries_of_the_matrix() {
    let device = Device::cpu();
    for (name, lower) in triangles::<f64>(true) {
        let lower = dominant(lower);
        let factor = places(&Host { values: values(ic0(&lower.on(&device)).unwrap()), ..lower.clone() });
        for ((row, column), value) in places(&lower) {
            let of_row = factor.range((row, 0)..=(row, column));
            let products: Vec<f64> =
                of_row.filter_map(|((_, k), l)| factor.get(&(column, *k)).map(|other| l * other)).collect();
            check(name, value, &products);
        }
    }
    for (name, square) in squares::<f64>() {
        let square = dominant(square);
        let factors = ilu0(&square.on(&device)).unwrap();
        let (lower, upper) = (dense(factors.lower), dense(factors.upper));
        for ((row, column), value) in places(&square) {
            let mut products: Vec<f64> =
                (0..row).filter_map(|k| Some(lower.get(&(row, k))? * upper.get(&(k, column))?)).collect();
            products.extend(upper.get(&(row, column)));
            check(name, value, &products);
        }
    }

    fn dense(a: Csr<f64>) -> Places<f64> {
        let rows = a.view().rows();
        let (offsets, indices, values) = a.into_buffers();
        let (offsets, indices) = (offsets.to_vec().unwrap(), indices.to_vec().unwrap());
        places(&Host { rows, columns: rows, offsets, indices, values: values.to_vec().unwrap() })
    }

    fn check(name: &str, value: f64, products: &[f64]) {
        let n = (products.len() + 2) as f64 * f64::UNIT;
        let bound = n / (1.0 - n) * products.iter().map(|product| product.abs()).sum::<f64>() * 1.01;
        let difference = (products.iter().sum::<f64>() - value).abs();
        assert!(difference <= bound, "{name}: {difference:e} > {bound:e}");
    }
}

#[test]
fn one_side_of_a_matrix_is_what_it_says() {
    for_each("triangle", |device| {
        for (name, square) in squares::<f32>() {
            let a = square.on(device);
            for (side, with_diagonal) in
                [(Side::Lower, true), (Side::Lower, false), (Side::Upper, true), (Side::Upper, false)]
            {
                let kept = places(&square).into_iter().filter(|((row, column), _)| {
                    let inside = if side == Side::Lower { column < row } else { column > row };
                    inside || with_diagonal && column == row
                });
                let expected = host(square.rows, &kept.collect());
                let (offsets, indices, values) = triangle(&a, side, with_diagonal).unwrap().into_buffers();
                assert_eq!(offsets.to_vec().unwrap(), expected.offsets, "{name}, {side:?}");
                assert_eq!(indices.to_vec().unwrap(), expected.indices, "{name}, {side:?}");
                assert_same_bits(&values.to_vec().unwrap(), &expected.values, name);
            }
        }
    });
}

#[test]
fn what_has_no_factors_is_refused() {
    for_each("no factors", |device| {
        let upload = |offsets: &[u32], indices: &[u32], values: &[f64]| {
            let rows = offsets.len() - 1;
            Csr::upload(device, rows, rows, offsets, indices, values).unwrap()
        };
        // Positive diagonal, but not definite: 1 - 2 · 2 of row 1; row 2 is as bad, and later.
        let a = upload(&[0, 1, 3, 5], &[0, 0, 1, 1, 2], &[1.0, 2.0, 1.0, 9.0, 1.0]);
        assert!(matches!(ic0(&a), Err(Error::NotPositive { row: 1 })));
        // 1 - 1 · 1: nothing is left.
        let a = upload(&[0, 1, 3], &[0, 0, 1], &[1.0; 3]);
        assert!(matches!(ic0(&a), Err(Error::NotPositive { row: 1 })));
        let a = upload(&[0, 1, 2], &[0, 1], &[1.0, f64::NAN]);
        assert!(matches!(ic0(&a), Err(Error::NotPositive { row: 1 })));
        let a = upload(&[0, 1, 2], &[0, 1], &[1.0, 0.0]);
        assert!(matches!(ic0(&a), Err(Error::ZeroPivot { row: 1 })));
        let a = upload(&[0, 1, 2], &[0, 0], &[1.0, 1.0]);
        assert!(matches!(ic0(&a), Err(Error::MissingDiagonal { row: 1 })));
        assert!(matches!(ilu0(&a), Err(Error::MissingDiagonal { row: 1 })));
        let a = upload(&[0, 2, 4], &[0, 1, 0, 1], &[1.0, 2.0, 2.0, 4.0]);
        assert!(matches!(ic0(&a), Err(Error::WrongSide { row: 0, column: 1 })));
        // 4 - 2 · 2.
        assert!(matches!(ilu0(&a), Err(Error::ZeroPivot { row: 1 })));
        let a = upload(&[0, 2, 4], &[0, 1, 0, 1], &[0.0, 2.0, 2.0, 4.0]);
        assert!(matches!(ilu0(&a), Err(Error::ZeroPivot { row: 0 })));
        let wide = matrix::<f32>(2, 3, 1, |row, _| vec![row]).on(device);
        for result in
            [ic0(&wide).map(|_| ()), ilu0(&wide).map(|_| ()), triangle(&wide, Side::Lower, true).map(|_| ())]
        {
            assert!(matches!(
                result,
                Err(Error::Device(gpu_core::Error::NotSquare { rows: 2, columns: 3, .. }))
            ));
        }
    });
}

/// Rows end right before what the first row has next: they change no entry of the row behind them.
#[test]
fn rows_change_their_own_entries_alone() {
    let comb = dominant(matrix::<f64>(300, 300, 92, |row, _| match row {
        0 => std::iter::once(0).chain((2..300).step_by(2)).collect(),
        _ if row % 2 == 1 => vec![0, row],
        _ => vec![row],
    }));
    let expected = naive_ilu0(&places(&comb));
    println!("rows_change_their_own_entries_alone: seeds 0 to 9");
    for seed in 0..10 {
        let device = Device::simulator_with(Config { record: Record::Races, ..Config::with_seed(seed) });
        let factors = ilu0(&comb.on(&device)).unwrap();
        let of = |upper: bool| -> Vec<f64> {
            let side = expected.iter().filter(|((row, column), _)| (column >= row) == upper);
            side.map(|(_, &value)| value).collect()
        };
        assert_same_bits(&values(factors.lower), &of(false), &format!("L, seed {seed}"));
        assert_same_bits(&values(factors.upper), &of(true), &format!("U, seed {seed}"));
    }
}

#[test]
fn a_thousand_schedules_of_factors() {
    let square = dominant(matrix::<f32>(300, 300, 91, |row, random| {
        let near = [row.saturating_sub(1), row.saturating_sub(40), (row + 1).min(299), random.below(300)];
        let mut columns = vec![row];
        columns.extend(near.iter().take(random.below(5)));
        columns
    }));
    let cpu = Device::cpu();
    let lower = |device: &Device| triangle(&square.on(device), Side::Lower, true).unwrap();
    let expected = values(ic0(&lower(&cpu)).unwrap());
    let both = ilu0(&square.on(&cpu)).unwrap();
    let (expected_lower, expected_upper) = (values(both.lower), values(both.upper));
    println!("a_thousand_schedules_of_factors: seeds 0 to 999");
    for seed in 0..1000 {
        let resident_blocks = 2 + (seed % 7) as usize;
        let config = Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) };
        let device = Device::simulator_with(config);
        let context = format!("seed {seed}");
        if seed % 2 == 0 {
            assert_same_bits(&values(ic0(&lower(&device)).unwrap()), &expected, &context);
        } else {
            let both = ilu0(&square.on(&device)).unwrap();
            assert_same_bits(&values(both.lower), &expected_lower, &context);
            assert_same_bits(&values(both.upper), &expected_upper, &context);
        }
    }
}
