//! The textbook's versions.

use gpu_core::{Device, Error as Core, Layout};
use gpu_linalg::variants::cholesky::{
    Calls, CholeskyElement, CholeskyVariant, cholesky, first_blocks, generate, rows_of_share, structured_rows,
};
use gpu_linalg::{Error, Triangle};
use gpu_tests::backends::for_each;
use gpu_tests::compare::{assert_same_bits, same_bits};

use crate::support::{Real, assert_factor, place, stored};

/// Every version on a matrix, in all layouts, and what has to have the same bits.
fn check<T: Real + CholeskyElement>(device: &Device, n: usize, side: usize, first: &[usize]) {
    let a: Vec<T> = generate(n, side, first, n as u64);
    let mut lower = a.clone();
    for row in 0..n {
        lower[row * n..][row + 1..n].fill(T::ZERO);
    }
    let (row, column) = (Layout::row_major(n, n).unwrap(), Layout::column_major(n, n).unwrap());
    let layouts = [
        (Triangle::Lower, row),
        (Triangle::Upper, row.with_leading_dimension(n + 3).unwrap()),
        (Triangle::Upper, column),
        (Triangle::Lower, column.with_leading_dimension(n + 1).unwrap()),
    ];
    let mut factors: Vec<Vec<T>> = Vec::new();
    for variant in CholeskyVariant::ALL {
        let mut of_variant: Option<Vec<T>> = None;
        for (triangle, layout) in layouts {
            let context = format!(
                "{}, {n} rows in blocks of {side}, {triangle:?}, {layout:?}, {} on {}",
                variant.name(),
                std::any::type_name::<T>(),
                device.name()
            );
            let canary = T::of(-7.0);
            let mut memory = stored(&lower, n, layout, triangle, canary);
            cholesky(variant, device, triangle, &mut memory, layout, side).unwrap();
            let mut l = vec![T::ZERO; n * n];
            for row in 0..n {
                for column in 0..=row {
                    let at = place(layout, triangle, row, column);
                    l[row * n + column] = std::mem::replace(&mut memory[at], canary);
                }
            }
            assert!(memory.iter().all(|&value| value == canary), "{context}: written outside the triangle");
            match &of_variant {
                Some(expected) => assert_same_bits(&l, expected, &context),
                None => {
                    assert_factor(&l, &lower, n, &context);
                    of_variant = Some(l);
                }
            }
        }
        factors.extend(of_variant);
    }
    let [sequential, blocked, _, blocks, structured, _] = &factors[..] else { panic!("six versions") };
    assert_same_bits(blocked, sequential, "blocks on the host");
    assert_same_bits(structured, blocks, "blocks of zeros left out");
    for row in 0..n {
        for column in 0..first[row / side] * side {
            assert!(structured[row * n + column] == T::ZERO, "({row}, {column}) is outside the skyline");
        }
    }
}

#[test]
fn every_version_factors_matrices_of_f64() {
    for_each("every_version_factors_matrices_of_f64", |device| {
        check::<f64>(device, 0, 4, &[]);
        check::<f64>(device, 1, 4, &[0]);
        for n in [7, 8, 9] {
            check::<f64>(device, n, 8, &vec![0; n.div_ceil(8)]);
        }
        check::<f64>(device, 100, 16, &structured_rows(7));
        check::<f64>(device, 70, 33, &[0, 0, 1]);
    });
}

#[test]
fn every_version_factors_matrices_of_f32() {
    for_each("every_version_factors_matrices_of_f32", |device| {
        check::<f32>(device, 95, 12, &rows_of_share(8, 0.4));
        check::<f32>(device, 40, 64, &[0]);
    });
}

/// The versions' roundings differ: else the comparison above would say nothing.
#[test]
fn other_orders_of_operations_have_other_bits() {
    let (device, n) = (Device::cpu(), 64);
    let a: Vec<f32> = generate(n, 8, &[0; 8], 3);
    let factor = |variant| {
        let mut l = a.clone();
        cholesky(variant, &device, Triangle::Lower, &mut l, Layout::row_major(n, n).unwrap(), 8).unwrap();
        l
    };
    let sequential = factor(CholeskyVariant::Sequential);
    assert!(same_bits(&factor(CholeskyVariant::Tiles), &sequential).is_err());
    assert!(same_bits(&factor(CholeskyVariant::Own), &factor(CholeskyVariant::Tiles)).is_err());
}

/// The numbers that table 9.1 prints, for 8, 16, 20, 24, 30 and 40 blocks. Blocks of two rows: the numbers are those of
/// the blocks.
#[test]
fn calls_are_those_of_the_table() {
    let printed = [
        (8, 16, 17, 16),
        (16, 70, 190, 70),
        (20, 120, 447, 120),
        (24, 183, 868, 183),
        (30, 289, 1755, 289),
        (40, 494, 3978, 494),
    ];
    let device = Device::cpu();
    for (blocks, syrk, gemm, trsm) in printed {
        let (side, first) = (2, structured_rows(blocks));
        let n = blocks * side;
        let layout = Layout::row_major(n, n).unwrap();
        let a: Vec<f64> = generate(n, side, &first, 5);
        assert_eq!(first_blocks(Triangle::Lower, &a, layout, side).unwrap(), first);
        assert_eq!(first_blocks(Triangle::Upper, &a, layout, side).unwrap(), first);
        let potrf = blocks as u64;
        let expected = Calls { syrk, gemm, trsm, potrf, row_copies: potrf, block_copies: potrf };
        for variant in [CholeskyVariant::Structured, CholeskyVariant::Own] {
            for triangle in [Triangle::Lower, Triangle::Upper] {
                let mut l = a.clone();
                let calls = cholesky(variant, &device, triangle, &mut l, layout, side).unwrap();
                assert_eq!(calls, expected, "{blocks} blocks, {variant:?}, {triangle:?}");
            }
        }
        // Of the dense one: all pairs, and all triples.
        let pairs = potrf * (potrf - 1) / 2;
        let dense = Calls { syrk: pairs, gemm: pairs * (potrf - 2) / 3, trsm: pairs, ..expected };
        for variant in [CholeskyVariant::Blocks, CholeskyVariant::Blocked] {
            let mut l = a.clone();
            let calls = cholesky(variant, &device, Triangle::Lower, &mut l, layout, side).unwrap();
            let copies = if variant == CholeskyVariant::Blocked { 0 } else { potrf };
            assert_eq!(calls, Calls { row_copies: copies, block_copies: copies, ..dense }, "{blocks} blocks");
        }
    }
}

#[test]
fn versions_name_the_pivot_that_fails_and_refuse_what_does_not_fit() {
    for_each("versions_name_the_pivot_that_fails_and_refuse_what_does_not_fit", |device| {
        let n = 20;
        let layout = Layout::row_major(n, n).unwrap();
        for variant in CholeskyVariant::ALL {
            for at in [0, 7, 8, 19] {
                let mut a: Vec<f64> = generate(n, 8, &[0; 3], 1);
                a[at * n + at] = if at == 8 { f64::NAN } else { -1.0 };
                let error = cholesky(variant, device, Triangle::Lower, &mut a, layout, 8).unwrap_err();
                assert!(
                    matches!(error, Error::NotPositiveDefinite { matrix: 0, index } if index == at + 1),
                    "{variant:?}, {at}: {error}"
                );
            }
            let before: Vec<f64> = generate(n, 8, &[0; 3], 1);
            let mut a = before.clone();
            let oblong = Layout::row_major(n, n - 1).unwrap();
            let refused = cholesky(variant, device, Triangle::Lower, &mut a, oblong, 8);
            assert!(matches!(refused, Err(Error::Device(Core::NotSquare { rows: 20, columns: 19, .. }))));
            let refused = cholesky(variant, device, Triangle::Lower, &mut a, layout, 0);
            assert!(matches!(refused, Err(Error::SkylineSide { side: 0 })));
            let refused = cholesky(variant, device, Triangle::Lower, &mut a[1..], layout, 8);
            assert!(matches!(refused, Err(Error::Device(Core::Length { expected: 400, actual: 399, .. }))));
            assert_eq!(a, before);
        }
    });
}
