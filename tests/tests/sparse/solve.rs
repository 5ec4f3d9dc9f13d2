//! Levels, ordered rows and triangular systems: one body over all backends, against serial oracles.

use gpu_sparse::{Algorithm, Analysis, Diagonal, Error, Side};
use gpu_sparse_kernels::{order, ordered};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;

use crate::support::{Host, Value, matrix, naive_solution, reversed, triangles, vector};

/// The oracle.
fn levels_of<T>(a: &Host<T>) -> Vec<u32> {
    gpu_oracles::levels(&a.offsets, &a.indices)
}

/// Every triangle on both sides, with what its diagonal may be taken for.
fn all<T: Value>() -> Vec<(String, Host<T>, Side, Diagonal)> {
    let mut cases = Vec::new();
    for (with_diagonal, diagonals) in
        [(true, &[Diagonal::Stored, Diagonal::Unit][..]), (false, &[Diagonal::Unit])]
    {
        for (name, lower) in triangles::<T>(with_diagonal) {
            for &diagonal in diagonals {
                let upper = reversed(&lower);
                cases.push((format!("lower {name}, {diagonal:?}"), lower.clone(), Side::Lower, diagonal));
                cases.push((format!("upper {name}, {diagonal:?}"), upper, Side::Upper, diagonal));
            }
        }
    }
    cases
}

fn systems<T: Value>(test: &str) {
    for_each(test, |device| {
        for (name, host, side, diagonal) in all::<T>() {
            let a = host.on(device);
            let b = vector::<T>(host.rows, 31);
            let expected = naive_solution(&host, side, diagonal, T::of(-0.5), &b);
            let right = device.upload(&b).unwrap();
            let mut analysis = Analysis::new(&a, side, diagonal).unwrap();
            for algorithm in Algorithm::ALL {
                analysis = analysis.with_algorithm(algorithm).unwrap();
                // Twice: what the first left in scratch memory does not matter.
                for _ in 0..2 {
                    let mut x = device.upload(&vec![T::of(7.0); host.rows]).unwrap();
                    analysis.solve(&device.default_stream(), T::of(-0.5), &right, &mut x).unwrap();
                    assert_same_bits(&x.to_vec().unwrap(), &expected, &format!("{name}, {algorithm:?}"));
                }
            }
        }
    });
}

#[test]
fn systems_of_f32_have_the_solutions_of_the_documented_order() {
    systems::<f32>("solve f32");
}

#[test]
fn systems_of_f64_have_the_solutions_of_the_documented_order() {
    systems::<f64>("solve f64");
}

/// The points of a grid of lines of 1040, the last of which is shorter: a row needs the one before, the one a line
/// before and, now and then, others.
fn grid<T: Value>() -> Host<T> {
    matrix(8 * 1040 + 77, 8 * 1040 + 77, 33, |row, random| {
        let mut columns = vec![row];
        columns.extend((row % 1040 > 0).then(|| row - 1));
        columns.extend(row.checked_sub(1040));
        columns.extend((row % 5 == 0).then(|| row - random.below(row.min(1040))));
        columns
    })
}

fn walks<T: Value>(test: &str) {
    let lower = grid::<T>();
    let cases = [(reversed(&lower), Side::Upper), (lower, Side::Lower)].map(|(host, side)| {
        let b = vector::<T>(host.rows, 34);
        let expected = naive_solution(&host, side, Diagonal::Stored, T::of(-0.5), &b);
        (levels_of(&host), host, side, b, expected)
    });
    for_each(test, |device| {
        for (expected_levels, host, side, b, expected) in &cases {
            let (a, side) = (host.on(device), *side);
            let mut analysis = Analysis::with(&a, side, Diagonal::Stored, Algorithm::Chains).unwrap();
            let profile = analysis.profile();
            assert!(profile.is_grid(), "{profile:?}");
            assert_eq!((profile.stride, profile.aligned), (1040, 7357));
            let mut levels = vec![0; host.rows];
            analysis.levels().copy_to(&mut levels).unwrap();
            assert_eq!(levels, *expected_levels, "{side:?}");
            let right = device.upload(b).unwrap();
            let mut x = device.alloc(host.rows).unwrap();
            analysis.solve(&device.default_stream(), T::of(-0.5), &right, &mut x).unwrap();
            assert_same_bits(&x.to_vec().unwrap(), expected, &format!("{side:?}"));
        }
    });
}

/// Of a transposed grid with a short line the lines do not begin where blocks of as many rows do.
#[test]
fn a_grid_from_its_short_line_on_is_not_walked_through() {
    for_each("transposed grid", |device| {
        let plane = |rows: usize| {
            matrix::<f32>(rows, rows, 35, |row, _| {
                let left = (row % 1040 > 0).then(|| row - 1);
                [row].into_iter().chain(left).chain(row.checked_sub(1040)).collect()
            })
        };
        for (rows, is_grid) in [(9 * 1040, true), (9 * 1040 - 7, false)] {
            let a = plane(rows).on(device);
            let lower = Analysis::new(&a, Side::Lower, Diagonal::Stored).unwrap();
            let upper = Analysis::transposed(&a, Side::Lower, Diagonal::Stored).unwrap();
            assert_eq!((lower.profile().is_grid(), upper.profile().is_grid()), (true, is_grid), "{rows}");
            assert_eq!(upper.profile().stride, 1040);
        }
    });
}

#[test]
fn grids_of_f32_are_walked_through() {
    walks::<f32>("grids of f32");
}

#[test]
fn grids_of_f64_are_walked_through() {
    walks::<f64>("grids of f64");
}

/// Higham's theorem 8.5, with two roundings more: `|A x - b| ≤ gamma_(n+3) |A| |x|`.
#[test]
fn residuals_are_within_their_bound() {
    for (name, host, side, diagonal) in all::<f32>() {
        let b = vector::<f32>(host.rows, 32);
        let x = naive_solution(&host, side, diagonal, 1.0, &b);
        for row in 0..host.rows {
            let (mut residual, mut scale) = (-f64::from(b[row]), 0.0);
            if diagonal == Diagonal::Unit {
                residual += f64::from(x[row]);
                scale += f64::from(x[row].abs());
            }
            for entry in host.row(row) {
                let column = host.indices[entry] as usize;
                if column != row || diagonal == Diagonal::Stored {
                    let product = f64::from(host.values[entry]) * f64::from(x[column]);
                    residual += product;
                    scale += product.abs();
                }
            }
            let n = (host.row(row).len() + 3) as f64;
            let bound = n * f32::UNIT / (1.0 - n * f32::UNIT) * scale;
            assert!(
                residual.abs() <= bound || scale.is_infinite() || scale.is_nan(),
                "{name}, row {row}: {residual:e} > {bound:e}"
            );
        }
    }
}

#[test]
fn levels_and_the_order_of_rows_are_what_they_mean() {
    for_each("levels", |device| {
        for (name, host, side, diagonal) in all::<f32>() {
            let a = host.on(device);
            let analysis = Analysis::new(&a, side, diagonal).unwrap();
            let expected = levels_of(&host);
            let mut levels = vec![0; host.rows];
            analysis.levels().copy_to(&mut levels).unwrap();
            assert_eq!(levels, expected, "{name}");
            let count = expected.iter().copied().max().unwrap_or(0);
            assert_eq!(analysis.level_count(), count, "{name}");
            let mut rows = vec![0; count as usize];
            expected.iter().for_each(|&level| rows[level as usize - 1] += 1);
            assert_eq!(analysis.rows_per_level().unwrap(), rows, "{name}");

            // The rows that wait for one of the same block of 256, and the longest.
            let number = |row: usize| if side == Side::Upper { host.rows - 1 - row } else { row };
            let block = |row: usize| number(row) / 256;
            let beside = |row: usize| -> Vec<usize> {
                host.row(row)
                    .map(|entry| host.indices[entry] as usize)
                    .filter(|&column| column != row)
                    .collect()
            };
            let is_near = |row: &usize| beside(*row).iter().any(|&column| block(column) == block(*row));
            let near = (0..host.rows).filter(is_near).count();
            let longest = (0..host.rows).map(|row| beside(row).len()).max().unwrap_or(0);
            let profile = analysis.profile();
            assert_eq!((profile.near, profile.longest), (near as u32, longest as u32), "{name}");
            assert_eq!((profile.rows, profile.levels), (host.rows as u32, count), "{name}");

            // The seed's classes, one comparison each.
            let class =
                |row: usize| match host.row(row).filter(|&entry| host.indices[entry] as usize != row).count()
                {
                    0 => 6u32,
                    1 => 0,
                    2 => 1,
                    3..=4 => 2,
                    5..=8 => 3,
                    9..=16 => 4,
                    _ => 5,
                };
            let group = |row: &u32| 7 * (expected[*row as usize] - 1) + class(*row as usize);
            let mut rows: Vec<u32> = (0..host.rows as u32).collect();
            rows.sort_by_key(group);
            let starts: Vec<u32> = (0..=7 * count)
                .map(|wanted| rows.partition_point(|row| group(row) < wanted) as u32)
                .collect();
            let mut warps = vec![0];
            for (group, pair) in starts.windows(2).enumerate() {
                let lanes = [1, 2, 4, 8, 16, 32, 1][group % 7];
                warps.push(warps[group] + ((pair[1] - pair[0]) * lanes).div_ceil(32));
            }
            let order = analysis.order_rows().unwrap();
            for (what, view, expected) in [
                ("rows", order.rows(), rows),
                ("starts", order.starts(), starts),
                ("warps", order.warps(), warps),
            ] {
                let mut found = vec![0; view.len()];
                view.copy_to(&mut found).unwrap();
                assert_eq!(found, expected, "{what} of {name}");
            }
        }
    });
}

#[test]
fn infinities_and_nan_go_through() {
    for_each("solve of NaN", |device| {
        let a = matrix::<f64>(300, 300, 41, |row, _| if row > 0 { vec![row - 1, row] } else { vec![0] })
            .on(device);
        for algorithm in Algorithm::ALL {
            let mut b = vec![1.0; 300];
            // All bits set: what is not known yet has the same.
            b[100] = f64::from_bits(u64::MAX);
            b[0] = f64::INFINITY;
            let (b, mut x) = (device.upload(&b).unwrap(), device.alloc(300).unwrap());
            let mut analysis =
                Analysis::new(&a, Side::Lower, Diagonal::Stored).unwrap().with_algorithm(algorithm).unwrap();
            analysis.solve(&device.default_stream(), 1.0, &b, &mut x).unwrap();
            let x = x.to_vec().unwrap();
            assert!(x[..100].iter().all(|x| x.is_infinite()) && x[100..].iter().all(|x| x.is_nan()));
        }
    });
}

/// A row that needs all rows before it in a window, in the last of a block's windows.
#[test]
fn windows_of_which_rows_need_all_rows_are_solved() {
    for_each("solve of full windows", |device| {
        let host = matrix::<f64>(300, 300, 44, |row, _| (row.saturating_sub(40)..=row).collect());
        let (a, b) = (host.on(device), vector::<f64>(300, 45));
        let mut analysis = Analysis::with(&a, Side::Lower, Diagonal::Stored, Algorithm::Chains).unwrap();
        let (right, mut x) = (device.upload(&b).unwrap(), device.alloc(300).unwrap());
        analysis.solve(&device.default_stream(), 1.0, &right, &mut x).unwrap();
        let expected = naive_solution(&host, Side::Lower, Diagonal::Stored, 1.0, &b);
        assert_same_bits(&x.to_vec().unwrap(), &expected, "full windows");
    });
}

/// What a row does not need is not multiplied with anything: an infinite solution before it, an infinite diagonal.
#[test]
fn infinities_stay_where_they_are() {
    for_each("solve beside infinities", |device| {
        // The first solution is infinite, and rows of up to 150 or 100 entries do not need it. Every seventh is nothing
        // over infinity.
        for part in [2, 3] {
            let mut host = matrix::<f64>(300, 300, 46, |row, _| {
                if row == 0 { vec![0] } else { ((row - row / part).max(1)..=row).collect() }
            });
            for row in 0..300 {
                let (entries, diagonal) = (host.row(row), host.row(row).end - 1);
                host.values[entries].iter_mut().for_each(|value| *value /= 1024.0);
                host.values[diagonal] *= if row % 7 == 6 { f64::INFINITY } else { 1024.0 };
            }
            let mut b = vector::<f64>(300, 47);
            b[0] = f64::INFINITY;
            let expected = naive_solution(&host, Side::Lower, Diagonal::Stored, 1.0, &b);
            assert!(expected[0].is_infinite() && expected[1..].iter().all(|x| x.is_finite()));
            let (a, right) = (host.on(device), device.upload(&b).unwrap());
            for algorithm in Algorithm::ALL {
                let mut analysis = Analysis::with(&a, Side::Lower, Diagonal::Stored, algorithm).unwrap();
                let mut x = device.alloc(300).unwrap();
                analysis.solve(&device.default_stream(), 1.0, &right, &mut x).unwrap();
                assert_same_bits(&x.to_vec().unwrap(), &expected, &format!("{algorithm:?}"));
            }
        }
    });
}

/// Rows have a lane for four of their entries, and no more than twice as many: of more than 16, where that is at
/// least 8.
#[test]
fn ordered_rows_have_as_many_lanes_as_they_need() {
    for entries in 0..=16 {
        let lanes = ordered::lanes_of(order::class(entries), 32);
        assert_eq!(lanes, entries.next_power_of_two().div_ceil(4), "{entries}");
    }
    for longest in 17..=200u32 {
        let lanes = longest.div_ceil(4).next_power_of_two().clamp(8, 32);
        assert_eq!(ordered::lanes_of(order::class(longest), ordered::widest(longest)), lanes, "{longest}");
    }
}

#[test]
fn an_analysis_takes_other_values_of_the_same_structure() {
    for_each("other values", |device| {
        let host = matrix::<f32>(200, 200, 42, |row, _| vec![row / 2, row]);
        let a = host.on(device);
        let other = Host { values: host.values.iter().map(|value| value * 3.0).collect(), ..host.clone() };
        let (values, b) = (device.upload(&other.values).unwrap(), vector::<f32>(200, 43));
        let analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored).unwrap();
        let mut analysis = analysis.with_values(&values).unwrap();
        let (right, mut x) = (device.upload(&b).unwrap(), device.alloc(200).unwrap());
        analysis.solve(&device.default_stream(), 1.0, &right, &mut x).unwrap();
        assert_same_bits(
            &x.to_vec().unwrap(),
            &naive_solution(&other, Side::Lower, Diagonal::Stored, 1.0, &b),
            "other values",
        );
        let zeros = device.zeroed(other.values.len()).unwrap();
        assert!(matches!(analysis.with_values(&zeros), Err(Error::ZeroPivot { row: 0 })));
    });
}

#[test]
fn what_is_no_triangle_is_refused() {
    for_each("no triangles", |device| {
        let refused = |offsets: &[u32], indices: &[u32], values: &[f64], side, diagonal| {
            let rows = offsets.len() - 1;
            let a = gpu_sparse::Csr::upload(device, rows, rows, offsets, indices, values).unwrap();
            Analysis::new(&a, side, diagonal).unwrap_err().to_string()
        };
        let (lower, upper) = (Side::Lower, Side::Upper);
        let (stored, unit) = (Diagonal::Stored, Diagonal::Unit);
        assert_eq!(
            refused(&[0, 1, 2, 4], &[0, 1, 1, 2], &[1.0; 4], upper, stored),
            "row 2 has an entry in column 1, on the wrong side of the diagonal"
        );
        assert_eq!(
            refused(&[0, 2, 2], &[0, 1], &[1.0; 2], lower, unit),
            "row 0 has an entry in column 1, on the wrong side of the diagonal"
        );
        assert_eq!(refused(&[0, 1, 1], &[0], &[1.0], lower, stored), "row 1 has no entry on the diagonal");
        assert_eq!(
            refused(&[0, 1, 2], &[0, 1], &[1.0, -0.0], upper, stored),
            "the entry on the diagonal of row 1 is zero"
        );
        let a = gpu_sparse::Csr::upload(device, 2, 2, &[0, 1, 2], &[0, 1], &[1.0f32, -0.0]).unwrap();
        assert!(matches!(Analysis::new(&a, lower, stored), Err(Error::ZeroPivot { row: 1 })));
        let a = matrix::<f32>(2, 3, 1, |_, _| vec![0]).on(device);
        let error = Analysis::new(&a, lower, stored).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::NotSquare { rows: 2, columns: 3, .. })),
            "{error}"
        );
        // The smallest number that is not zero is one; so is a half whose upper word alone says so.
        for value in [f64::from_bits(1), 0.5] {
            let a = gpu_sparse::Csr::upload(device, 1, 1, &[0, 1], &[0], &[value]).unwrap();
            assert!(Analysis::new(&a, lower, stored).is_ok());
        }
    });
}
