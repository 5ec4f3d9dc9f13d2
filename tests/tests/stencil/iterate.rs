//! Iterated stencils: one body over all backends, against a serial oracle, NumPy's results, exact solutions and what is
//! conserved.

use gpu_core::{Device, Error as Core, Scratch};
use gpu_stencil::Error;
use gpu_stencil::iterate::{
    Boundary, Grid, GridElement, Problem, Shape, Stencil, difference_into, iterate, iterate_into,
    iterate_scratch, residual,
};
use gpu_tests::backends::{cases, cuda, for_each};
use gpu_tests::compare::{Bits, assert_same_bits};
use gpu_tests::data::floats;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const BOUNDARIES: [Boundary; 3] = [Boundary::Dirichlet, Boundary::Neumann, Boundary::Periodic];

/// Which cell stands for place `at` along an axis, by walking there.
fn place(at: i64, length: usize, boundary: Boundary) -> usize {
    let length = length as i64;
    let mut at = at;
    while !(0..length).contains(&at) {
        at = match boundary {
            Boundary::Periodic => at + if at < 0 { length } else { -length },
            _ => {
                if at < 0 {
                    -1 - at
                } else {
                    2 * length - 1 - at
                }
            }
        };
    }
    at as usize
}

/// The oracle: a step, cell by cell.
fn naive<T: GridElement>(
    stencil: &Stencil<T>,
    grid: Grid,
    boundary: Boundary,
    source: Option<&[T]>,
    state: &[T],
) -> Vec<T> {
    let r = stencil.radius() as i64;
    let depth = if grid.dimensions() == 3 { r } else { 0 };
    let extents = [grid.planes(), grid.rows(), grid.columns()];
    let mut output = Vec::with_capacity(state.len());
    for (z, y, x) in (0..extents[0])
        .flat_map(|z| (0..extents[1]).flat_map(move |y| (0..extents[2]).map(move |x| (z, y, x))))
    {
        let cell = [z, y, x];
        let edge = cell
            .iter()
            .zip(extents)
            .zip([depth, r, r])
            .any(|((&at, length), reach)| (at as i64) < reach || at as i64 + reach >= length as i64);
        if boundary == Boundary::Dirichlet && edge {
            output.push(state[grid.index(z, y, x)]);
            continue;
        }
        let zero = <T as gpu_std::float::Float>::ZERO;
        let mut sum = zero;
        if let Some(source) = source {
            sum = gpu_std::float::mul_add(stencil.source_factor(), source[grid.index(z, y, x)], sum);
        }
        let mut weights = stencil.weights().iter();
        for dz in -depth..=depth {
            for dy in -r..=r {
                for dx in -r..=r {
                    let along = [dz, dy, dx].iter().filter(|&&along| along != 0).count();
                    if stencil.shape() == Shape::Star && along > 1 {
                        continue;
                    }
                    let [z, y, x] = [(z, dz, 0), (y, dy, 1), (x, dx, 2)]
                        .map(|(at, distance, axis)| place(at as i64 + distance, extents[axis], boundary));
                    let weight = *weights.next().expect("a weight for each neighbour");
                    sum = gpu_std::float::mul_add(weight, state[grid.index(z, y, x)], sum);
                }
            }
        }
        output.push(sum);
    }
    output
}

/// A grid of any dimensions.
fn grid(extents: &[usize]) -> Grid {
    match *extents {
        [rows, columns] => Grid::plane(rows, columns).unwrap(),
        [planes, rows, columns] => Grid::volume(planes, rows, columns).unwrap(),
        _ => panic!("{extents:?}"),
    }
}

/// Numbers whose rounding shows, of a size that many steps leave finite.
fn values<T>(seed: u64, len: usize, of: fn(f32) -> T) -> Vec<T> {
    floats(seed, len).into_iter().map(of).collect()
}

#[derive(Clone, Copy, Debug)]
struct Case<'a> {
    shape: Shape,
    radius: usize,
    extents: &'a [usize],
    boundary: Boundary,
    with_source: bool,
    steps: usize,
}

/// A star of radius 1.
fn star(extents: &[usize], boundary: Boundary, with_source: bool, steps: usize) -> Case<'_> {
    Case { shape: Shape::Star, radius: 1, extents, boundary, with_source, steps }
}

fn check<T: GridElement + Bits>(device: &Device, case: Case<'_>, of: fn(f32) -> T) {
    let Case { shape, radius, extents, boundary, with_source, steps } = case;
    let grid = grid(extents);
    let count = shape.weights(extents.len(), radius);
    let scale = 1.0 / count as f32;
    let weights: Vec<T> =
        floats(9, count).into_iter().map(|weight| of(weight.signum() * scale + weight / 999.0)).collect();
    let stencil = Stencil::new(extents.len(), shape, radius, &weights).unwrap().with_source_factor(of(-0.3));
    let (state, source) = (values(1, grid.len(), of), values(2, grid.len(), of));
    let mut expected = state.clone();
    for _ in 0..steps {
        expected = naive(&stencil, grid, boundary, with_source.then_some(&source), &expected);
    }
    let source = device.upload(&source).unwrap();
    let mut problem = Problem::new(&stencil, grid, boundary).unwrap();
    if with_source {
        problem = problem.with_source(&source).unwrap();
    }
    let actual = iterate(&problem, &device.upload(&state).unwrap(), steps).unwrap().to_vec().unwrap();
    assert_same_bits(&actual, &expected, &format!("{case:?} on {}", device.name()));
}

/// Planes on which strips end everywhere: a strip of eight steps writes 112 columns, of four 120 (56 of `f64`), and 64
/// rows or more. In the last ones a strip has neighbours on all sides, and takes the way without edges, rows being
/// aligned or not.
#[test]
fn strips_around_every_boundary() {
    for_each("strips_around_every_boundary", |device| {
        for boundary in BOUNDARIES {
            for (extents, steps) in [([1, 1], 8), ([2, 3], 9), ([5, 112], 8), ([3, 121], 12), ([66, 113], 8)]
            {
                check::<f32>(device, star(&extents, boundary, false, steps), |value| value);
            }
            check::<f32>(device, star(&[7, 122], boundary, true, 5), |value| value);
            check::<f64>(device, star(&[67, 57], boundary, true, 4), f64::from);
            let whole = Case { shape: Shape::Box, ..star(&[65, 61], boundary, true, 6) };
            check::<f64>(device, whole, f64::from);
            check::<f32>(device, Case { extents: &[4, 125], ..whole }, |value| value);
        }
        for (columns, with_source, steps, boundary) in [
            (240, false, 8, Boundary::Neumann),
            (243, false, 8, Boundary::Dirichlet),
            (248, true, 4, Boundary::Periodic),
        ] {
            check::<f32>(device, star(&[140, columns], boundary, with_source, steps), |value| value);
        }
        let whole = Case { shape: Shape::Box, ..star(&[136, 126], Boundary::Neumann, true, 4) };
        check::<f64>(device, whole, f64::from);
    });
}

/// Volumes whose rows are whole vectors, and fill more than a warp's 512 bytes, and such that do not; more planes than
/// a block marches through.
#[test]
fn volumes_around_every_boundary() {
    for_each("volumes_around_every_boundary", |device| {
        for boundary in BOUNDARIES {
            for extents in [[1, 1, 4], [3, 9, 132], [2, 2, 128], [66, 1, 8], [3, 4, 5]] {
                check::<f32>(device, star(&extents, boundary, extents[0] == 3, 2), |value| value);
            }
            check::<f64>(device, star(&[3, 8, 66], boundary, true, 2), f64::from);
        }
    });
}

#[test]
fn stencils_of_every_radius() {
    for_each("stencils_of_every_radius", |device| {
        for (number, boundary) in BOUNDARIES.into_iter().enumerate() {
            for radius in 1..=4 {
                for shape in [Shape::Star, Shape::Box] {
                    let case = Case {
                        shape,
                        radius,
                        extents: &[11, 70],
                        boundary,
                        with_source: (radius + number) % 2 == 0,
                        steps: 2,
                    };
                    check::<f32>(device, case, |value| value);
                    // Boxes of radius 3 and 4 have more taps than a table.
                    check::<f64>(device, Case { extents: &[3, 9, 10], ..case }, f64::from);
                }
            }
            // Cells whose neighbours are all inside, with a whole table of taps and more.
            let case = star(&[7, 11, 7], boundary, number == 1, 1);
            check::<f64>(device, Case { shape: Shape::Box, radius: 3, ..case }, f64::from);
        }
    });
}

#[test]
fn any_problem() {
    println!("{} cases from a fixed seed", cases() / 4);
    for_each("any_problem", |device| {
        let config = Config { cases: cases() / 4, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x52; 32]));
        let side = || 1..14usize;
        let extents = prop_oneof![
            (side(), 1..70usize).prop_map(|(rows, columns)| vec![rows, columns]),
            (1..6usize, 1..6usize, side()).prop_map(|(z, y, x)| vec![z, y, x]),
        ];
        let shape = prop_oneof![Just(Shape::Star), Just(Shape::Box)];
        let input = (extents, shape, 1..=4usize, 0..3usize, any::<bool>(), 0..11usize, any::<bool>());
        runner
            .run(&input, |(extents, shape, radius, boundary, with_source, steps, double)| {
                // Few steps of what costs much; half of the rest of radius 1.
                let radius = if radius > 2 { radius } else { 1 };
                let steps = if radius > 1 || extents.len() == 3 { steps % 3 } else { steps };
                let boundary = BOUNDARIES[boundary];
                let case = Case { shape, radius, extents: &extents, boundary, with_source, steps };
                if double {
                    check::<f64>(device, case, f64::from);
                } else {
                    check::<f32>(device, case, |value| value);
                }
                Ok(())
            })
            .unwrap();
    });
}

/// Multiples of 1/8 and few steps: every order is exact, and so the results are NumPy's to the bit.
#[test]
fn the_results_are_numpys() {
    let golden = include_str!("../data/stencil_iterate.txt");
    let lines: Vec<&str> = golden.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 5 * 24);
    let numbers = |line: &str| -> Vec<f64> {
        line.split_whitespace().map(|number| number.parse().expect("a number")).collect()
    };
    for_each("the_results_are_numpys", |device| {
        for case in lines.chunks(5) {
            let head: Vec<&str> = case[0].split_whitespace().collect();
            let shape = if head[0] == "star" { Shape::Star } else { Shape::Box };
            let boundary = match head[2] {
                "dirichlet" => Boundary::Dirichlet,
                "neumann" => Boundary::Neumann,
                "periodic" => Boundary::Periodic,
                other => panic!("{other} is no boundary"),
            };
            let counts: Vec<usize> = [&head[1..2], &head[3..]]
                .concat()
                .iter()
                .map(|number| number.parse().expect("a number"))
                .collect();
            let (radius, steps, extents) = (counts[0], counts[1], &counts[2..]);
            let stencil = Stencil::new(extents.len(), shape, radius, &numbers(case[1])).unwrap();
            let source = (case[2] != "none").then(|| device.upload(&numbers(case[2])).unwrap());
            let mut problem = Problem::new(&stencil, grid(extents), boundary).unwrap();
            if let Some(source) = &source {
                problem = problem.with_source(source).unwrap();
            }
            let state = device.upload(&numbers(case[3])).unwrap();
            let actual = iterate(&problem, &state, steps).unwrap().to_vec().unwrap();
            // NumPy's zeros have signs of their own.
            let unsigned = |values: Vec<f64>| values.into_iter().map(|value| value + 0.0).collect::<Vec<_>>();
            let context = format!("{} on {}", case[0], device.name());
            assert_same_bits(&unsigned(actual), &unsigned(numbers(case[4])), &context);
        }
    });
}

/// A wave on a torus is an eigenvector of a step of the heat equation: it decays by
/// `lambda = 1 - 4 alpha (sin²(pi k / rows) + sin²(pi l / columns))` each step.
///
/// With `alpha` up to 1/4 the weights are not negative and their sum is 1, but for the rounding of the middle one, so a
/// step makes no error larger, and adds one of at most `gamma_5` times the largest value for its chain, and one unit
/// for that weight: after n steps less than
/// `8 n u`, for the start and the comparison's own powers and cosines 16 u more, as all values are at most 1.
#[test]
fn waves_decay_as_they_should() {
    for_each("waves_decay_as_they_should", |device| {
        let (rows, columns, k, l, steps, alpha) = (12usize, 20usize, 2.0, 3.0, 40, 0.2f64);
        let turn = core::f64::consts::TAU;
        let wave: Vec<f64> = (0..rows * columns)
            .map(|at| {
                let (y, x) = ((at / columns) as f64, (at % columns) as f64);
                (turn * (k * y / rows as f64 + l * x / columns as f64)).cos()
            })
            .collect();
        let half = |k: f64, n: usize| (turn / 2.0 * k / n as f64).sin().powi(2);
        let decay = (1.0 - 4.0 * alpha * (half(k, rows) + half(l, columns))).powi(steps);
        let heat = Stencil::heat(2, alpha).unwrap();
        let problem = Problem::new(&heat, Grid::plane(rows, columns).unwrap(), Boundary::Periodic).unwrap();
        let actual =
            iterate(&problem, &device.upload(&wave).unwrap(), steps as usize).unwrap().to_vec().unwrap();
        let bound = (8.0 * f64::from(steps) + 16.0) * f64::EPSILON / 2.0;
        for (at, (actual, start)) in actual.iter().zip(&wave).enumerate() {
            assert!((actual - decay * start).abs() <= bound, "cell {at}: {actual} for {}", decay * start);
        }
    });
}

/// With integers and quarters all steps are exact: where nothing flows through the edge the sum is what it was.
#[test]
fn heat_is_neither_made_nor_lost() {
    for_each("heat_is_neither_made_nor_lost", |device| {
        let plate: Vec<f32> = floats(3, 9 * 130).into_iter().map(|value| value.round()).collect();
        let heat = Stencil::heat(2, 0.25f32).unwrap();
        let sum = |values: &[f32]| values.iter().copied().map(f64::from).sum::<f64>();
        for boundary in [Boundary::Neumann, Boundary::Periodic] {
            let problem = Problem::new(&heat, Grid::plane(9, 130).unwrap(), boundary).unwrap();
            let after = iterate(&problem, &device.upload(&plate).unwrap(), 5).unwrap().to_vec().unwrap();
            assert_eq!(sum(&after), sum(&plate), "{boundary:?} on {}", device.name());
            assert_ne!(after, plate);
        }
    });
}

/// A cold plane but for some cells, far enough from each other and from the edge: what becomes of each is what becomes
/// of one in a small plane. Quarters are exact, so the sum stays.
fn spots_far_apart(device: &Device, rows: usize, columns: usize, spots: &[[usize; 2]], steps: usize) {
    let (grid, heat) = (Grid::plane(rows, columns).unwrap(), Stencil::heat(2, 0.25f32).unwrap());
    let mut state = device.zeroed::<f32>(grid.len()).unwrap();
    for &[row, column] in spots {
        let cell = grid.index(0, row, column);
        state.slice_mut(cell..cell + 1).copy_from(&[1.0]).unwrap();
    }
    let side = 2 * steps + 1;
    let mut expected = vec![0.0f32; side * side];
    expected[side * steps + steps] = 1.0;
    for _ in 0..steps {
        let small = Grid::plane(side, side).unwrap();
        expected = naive(&heat, small, Boundary::Neumann, None, &expected);
    }
    let problem = Problem::new(&heat, grid, Boundary::Neumann).unwrap();
    let after = iterate(&problem, &state, steps).unwrap();
    assert_eq!(gpu_reduce::sum(&after).unwrap(), spots.len() as f32);
    for &[row, column] in spots {
        for (number, expected) in expected.chunks(side).enumerate() {
            let first = grid.index(0, row - steps + number, column - steps);
            let mut actual = vec![0.0; side];
            after.slice(first..first + side).copy_to(&mut actual).unwrap();
            let context = format!("row {number} around {row}, {column} on {}", device.name());
            assert_same_bits(&actual, expected, &context);
        }
    }
}

/// More than 2^32 bytes and cells: on a GPU, and the same on a small scale everywhere.
#[test]
fn large_planes() {
    for_each("large_planes", |device| {
        spots_far_apart(device, 40, 250, &[[8, 8], [20, 118], [31, 241]], 8);
        spots_far_apart(device, 40, 61, &[[8, 8], [20, 52]], 2);
    });
    let Some(device) = cuda("large_planes beyond 2^32 cells") else { return };
    let (rows, columns) = (65_600, 65_552);
    let spots = [[8, 8], [16_384, 112], [32_768, 65_543], [65_536, 30_000], [65_591, 65_543]];
    for steps in [8, 2] {
        spots_far_apart(&device, rows, columns, &spots, steps);
    }
}

/// The norms of what the oracle's next step changes, by gpu-reduce's definition, and the largest change.
#[test]
fn residuals_are_those_of_the_next_step() {
    for_each("residuals_are_those_of_the_next_step", |device| {
        for (extents, boundary) in [
            (vec![7, 90], Boundary::Dirichlet),
            (vec![6, 5], Boundary::Periodic),
            (vec![3, 5, 8], Boundary::Neumann),
        ] {
            let grid = grid(&extents);
            let stencil = Stencil::jacobi(extents.len(), 0.5f64).unwrap();
            let (state, source) = (values(4, grid.len(), f64::from), values(5, grid.len(), f64::from));
            let next = naive(&stencil, grid, boundary, Some(&source), &state);
            let changes: Vec<f64> = next.iter().zip(&state).map(|(next, state)| next - state).collect();
            let (state, source) = (device.upload(&state).unwrap(), device.upload(&source).unwrap());
            let problem = Problem::new(&stencil, grid, boundary).unwrap().with_source(&source).unwrap();
            let mut output = device.alloc(grid.len()).unwrap();
            difference_into(&device.default_stream(), &problem, &state, &mut output).unwrap();
            assert_same_bits(
                &output.to_vec().unwrap(),
                &changes,
                &format!("{extents:?} on {}", device.name()),
            );
            let norms = residual(&problem, &state).unwrap();
            assert_eq!(norms.max, changes.iter().fold(0.0, |max: f64, change| max.max(change.abs())));
            assert_eq!(norms.l2, gpu_reduce::norm_l2(&changes).unwrap());
        }
    });
}

/// On a plane whose edges are fixed at the values of a harmonic polynomial, Jacobi's method ends there: the second
/// differences of
/// `x² - y²` are exact, so a step changes nothing.
#[test]
fn harmonic_polynomials_stay() {
    for_each("harmonic_polynomials_stay", |device| {
        let harmonic: Vec<f64> =
            (0..10 * 30).map(|at| ((at % 30) as f64).powi(2) - f64::from(at / 30).powi(2)).collect();
        let laplace = Stencil::jacobi(2, 1.0).unwrap();
        let problem = Problem::new(&laplace, Grid::plane(10, 30).unwrap(), Boundary::Dirichlet).unwrap();
        let state = device.upload(&harmonic).unwrap();
        assert_same_bits(&iterate(&problem, &state, 9).unwrap().to_vec().unwrap(), &harmonic, &device.name());
        let norms = residual(&problem, &state).unwrap();
        assert_eq!((norms.max, norms.l2), (0.0, 0.0));
    });
}

/// What lies beside output and scratch memory stays, however they are aligned; no step copies.
#[test]
fn parts_of_buffers_that_are_not_aligned() {
    for_each("parts_of_buffers_that_are_not_aligned", |device| {
        let (grid, heat) = (Grid::plane(6, 120).unwrap(), Stencil::heat(2, 0.2f32).unwrap());
        let problem = Problem::new(&heat, grid, Boundary::Neumann).unwrap();
        let cells = grid.len();
        let state = values(6, cells + 3, |value| value);
        let input = device.upload(&state).unwrap();
        for (offset, steps) in [(0, 0), (1, 0), (1, 1), (2, 9), (3, 13)] {
            let mut expected = vec![7.0f32; cells + 8];
            let mut now = state[offset..offset + cells].to_vec();
            for _ in 0..steps {
                now = naive(&heat, grid, Boundary::Neumann, None, &now);
            }
            expected[offset..offset + cells].copy_from_slice(&now);
            let mut output = device.upload(&[7.0f32; 728]).unwrap();
            let (stream, needed) = (device.default_stream(), iterate_scratch::<f32>(grid, steps).words());
            let memory = device.upload(&vec![7u128; needed + 1]).unwrap();
            let mut scratch = Scratch::from_buffer(&stream, memory).unwrap();
            let (from, to) = (input.slice(offset..offset + cells), output.slice_mut(offset..offset + cells));
            iterate_into(&stream, &problem, from, steps, to, &mut scratch).unwrap();
            let context = format!("offset {offset}, {steps} steps on {}", device.name());
            assert_same_bits(&output.to_vec().unwrap(), &expected, &context);
            assert_eq!(scratch.into_buffer().to_vec().unwrap()[needed..], [7]);
        }
    });
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    for_each("bad_input_is_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let heat = Stencil::heat(2, 0.2f32).unwrap();
        let grid = Grid::plane(3, 4).unwrap();
        let error = Problem::new(&heat, Grid::volume(3, 4, 5).unwrap(), Boundary::Neumann).unwrap_err();
        assert!(matches!(error, Error::Dimensions { expected: 2, actual: 3 }), "{error}");
        let problem = Problem::new(&heat, grid, Boundary::Neumann).unwrap();
        let (state, short) = (device.upload(&[1.0f32; 12]).unwrap(), device.upload(&[1.0f32; 11]).unwrap());
        let mut output = device.upload(&[-7.0f32; 12]).unwrap();
        let mut short_output = device.upload(&[-7.0f32; 11]).unwrap();
        let scratch = &mut Scratch::new(&stream).fixed();
        let error = problem.with_source(&short).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::LengthMismatch { what: "source", expected: 12, actual: 11 })),
            "{error}"
        );
        let error = iterate_into(&stream, &problem, &short, 1, &mut output, scratch).unwrap_err();
        assert!(matches!(error, Error::Device(Core::LengthMismatch { what: "state", .. })), "{error}");
        let error = iterate_into(&stream, &problem, &state, 1, &mut short_output, scratch).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::OutputLength { expected: 12, actual: 11, .. })),
            "{error}"
        );
        let error = iterate_into(&stream, &problem, &state, 2, &mut output, scratch).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Device(Core::ScratchTooSmall { what: "stencil in steps", expected: 256, actual: 0 })
            ),
            "{error}"
        );
        let other = &mut Scratch::new(&device.stream().unwrap());
        let error = iterate_into(&stream, &problem, &state, 2, &mut output, other).unwrap_err();
        assert!(matches!(error, Error::Device(Core::ScratchOfOtherStream { .. })), "{error}");
        let error = iterate(&problem, &short, 2).unwrap_err();
        assert!(matches!(error, Error::Device(Core::LengthMismatch { what: "state", .. })), "{error}");
        let foreign = Device::simulator().upload(&[1.0f32; 12]).unwrap();
        let error = iterate_into(&stream, &problem, &foreign, 1, &mut output, scratch).unwrap_err();
        assert!(matches!(error, Error::Device(Core::WrongDevice { .. })), "{error}");
        let error = difference_into(&stream, &problem, &foreign, &mut output).unwrap_err();
        assert!(matches!(error, Error::Device(Core::WrongDevice { .. })), "{error}");
        assert_eq!(output.to_vec().unwrap(), [-7.0; 12]);
    });
}
