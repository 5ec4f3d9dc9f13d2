//! Random shapes, leading dimensions, sides, triangles, orders, batches and factors, which shrink to the smallest case
//! that fails: the checks of `solve`, `multiply` and `update`, with their oracles and bounds. Sizes are those at which
//! something changes, primes, and any.

use gpu_linalg::{Diagonal, Order, Side, Triangle};
use gpu_tests::backends::cases;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::common::*;
use crate::{multiply, not_finite, solve, update};

/// 0, 1, blocks and their neighbours, primes.
fn sizes() -> impl Strategy<Value = usize> {
    let edges = vec![0, 1, 2, 31, 32, 33, 63, 64, 65];
    let primes = vec![3, 5, 7, 11, 13, 17, 19, 23, 29, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73];
    prop_oneof![
        6 => prop::sample::select(edges),
        6 => prop::sample::select(primes),
        4 => 0usize..50,
        1 => prop::sample::select(vec![127usize, 128, 129, 131]),
    ]
}

/// Of the other matrix: few columns are as good as many.
fn others() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0usize), Just(1), Just(2), 3usize..20, Just(31), Just(32), Just(33)]
}

/// What is drawn.
#[derive(Clone, Debug)]
struct Drawn {
    side: Side,
    triangle: Triangle,
    diagonal: Diagonal,
    orders: [Order; 2],
    sizes: [usize; 3],
    gap: usize,
    alpha: f32,
    beta: f32,
    seed: u64,
    wide: bool,
    flag: bool,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let counts = prop_oneof![6 => Just(1usize), 1 => Just(0), 3 => 2usize..5];
    let factor = || prop_oneof![Just(0.0f32), Just(1.0), Just(-1.0), -2.0f32..2.0];
    let input =
        (any::<[bool; 7]>(), (sizes(), others(), counts), 0..7usize, (factor(), factor()), 0u64..1 << 40);
    input.prop_map(|(flags, (n, m, count), gap, (alpha, beta), seed)| {
        let choice = |number: usize| usize::from(flags[number]);
        // Of several matrices smaller ones: there are as many blocks.
        let count = if n > 80 { count.min(2) } else { count };
        Drawn {
            side: SIDES[choice(0)],
            triangle: TRIANGLES[choice(1)],
            diagonal: DIAGONALS[choice(2)],
            orders: [ORDERS[choice(3)], ORDERS[choice(4)]],
            sizes: [n, m, count],
            gap,
            alpha,
            beta,
            seed,
            wide: flags[5],
            flag: flags[6],
        }
    })
}

/// Runs `check` on cases drawn by the seed of 32 bytes `seed`, which is printed.
fn property(what: &str, seed: u8, check: impl Fn(Drawn)) {
    println!("{what}: ChaCha of 32 bytes {seed:#x}");
    let config = Config { cases: cases() / 4, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let run = |drawn| {
        check(drawn);
        Ok(())
    };
    runner.run(&drawn(), run).unwrap();
}

#[test]
fn any_system() {
    property("any_system", 0x61, |drawn| {
        let Drawn { side, triangle, diagonal, orders, sizes, gap, alpha, .. } = drawn;
        let case = solve::Case { side, triangle, diagonal, orders, sizes, gap, alpha };
        match (drawn.flag, drawn.wide) {
            (false, false) => solve::check::<f32>(case, drawn.seed),
            (false, true) => solve::check::<f64>(case, drawn.seed),
            (true, false) => solve::check_vector::<f32>(case, drawn.seed),
            (true, true) => solve::check_vector::<f64>(case, drawn.seed),
        }
    });
}

#[test]
fn any_product() {
    property("any_product", 0x62, |drawn| {
        let Drawn { side, triangle, diagonal, orders, sizes, gap, .. } = drawn;
        let factors = (drawn.alpha, drawn.beta);
        let case = multiply::Case { side, triangle, diagonal, orders, sizes, gap, factors };
        match (drawn.flag, drawn.wide) {
            (false, false) => multiply::check_trmm::<f32>(case, drawn.seed),
            (false, true) => multiply::check_trmm::<f64>(case, drawn.seed),
            (true, false) => multiply::check_symm::<f32>(case, drawn.seed),
            (true, true) => multiply::check_symm::<f64>(case, drawn.seed),
        }
    });
}

#[test]
fn any_update() {
    property("any_update", 0x63, |drawn| {
        let Drawn { triangle, orders, sizes, gap, .. } = drawn;
        let factors = (drawn.alpha, drawn.beta);
        let case = update::Case { twice: drawn.flag, triangle, orders, sizes, gap, factors };
        if drawn.wide {
            update::check::<f64>(case, drawn.seed);
        } else {
            update::check::<f32>(case, drawn.seed);
        }
    });
}

#[test]
fn what_is_not_finite_comes_through() {
    property("what_is_not_finite_comes_through", 0x64, |drawn| {
        let Drawn { side, triangle, diagonal, orders, sizes: [n, m, _], gap, seed, .. } = drawn;
        let function = not_finite::FUNCTIONS[seed as usize % 4];
        let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][seed as usize / 4 % 3];
        let case = not_finite::Case {
            function,
            side,
            triangle,
            diagonal,
            orders,
            sizes: [n.max(1), m.max(1)],
            gap,
            in_a: drawn.flag,
            bad,
        };
        if drawn.wide {
            not_finite::check::<f64>(case, seed);
        } else {
            not_finite::check::<f32>(case, seed);
        }
    });
}
