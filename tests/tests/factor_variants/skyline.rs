//! Factorisations of skyline matrices.

use gpu_core::{Device, Kind, Layout, MatrixMut, Scratch, ScratchSize};
use gpu_linalg::{BlockSkyline, Error, Triangle, cholesky_skyline, potrf, potrf_scratch, potrf_skyline};
use gpu_tests::backends::{cuda, for_each};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::random;
use gpu_tests::errors::assert_length;
use gpu_tests::scratch::{exactly, is_of_other_stream, lacks};

use crate::support::{Real, assert_factor, place, positive_definite, stored};

/// Rows and columns of the kernels' tiles.
const TILE: usize = 128;

/// The factor by its definition, which is that of a matrix with zeros left of the skyline: of an element the sum of
/// the products before its column's tile, from zero, is subtracted, then those of the tile's columns are.
fn oracle<T: Real>(a: &[T], n: usize, start: impl Fn(usize) -> usize) -> Vec<T> {
    let mut l = vec![T::ZERO; n * n];
    for column in 0..n {
        let tile = column / TILE * TILE;
        let mut reciprocal = T::ZERO;
        for row in (column..n).filter(|&row| start(row) <= column) {
            let (left, upper) = (&l[row * n..], &l[column * n..]);
            let sum = (0..tile).fold(T::ZERO, |sum, k| left[k].mul_add(upper[k], sum));
            let element = a[row * n + column] + -(sum + T::ZERO);
            let element = (tile..column).fold(element, |element, k| (-left[k]).mul_add(upper[k], element));
            if row == column {
                reciprocal = element.reciprocal_root();
                l[row * n + column] = element.sqrt();
            } else {
                l[row * n + column] = element * reciprocal;
            }
        }
    }
    l
}

/// First blocks at random, most rows short.
fn random_first(seed: u64, blocks: usize) -> Vec<usize> {
    let first = |row: usize| {
        let bits = random(seed, row);
        if bits.is_multiple_of(4) { (bits >> 8) as usize % (row + 1) } else { row.saturating_sub(1) }
    };
    (0..blocks).map(first).collect()
}

/// Both triangles, both orders, with gaps or without; what is not the matrix's stays.
fn check<T: Real>(device: &Device, n: usize, side: usize, first: &[usize], layouts: &[(Triangle, Layout)]) {
    let start = |row: usize| first[row / side] * side;
    let a = positive_definite::<T>(n as u64, n, start);
    let expected = oracle(&a, n, start);
    assert_factor(&expected, &a, n, "the oracle");
    let skyline = BlockSkyline::new(device, n, side, first).unwrap();
    // More than is needed, and dirty.
    let mut scratch = exactly(&device.default_stream(), skyline.scratch::<T>());
    for &(triangle, layout) in layouts {
        let context = format!(
            "{n} rows in blocks of {side}, {triangle:?}, {layout:?}, {} on {}",
            std::any::type_name::<T>(),
            device.name()
        );
        // Outside the triangle and the skyline lies what would show.
        let mut memory = stored(&a, n, layout, triangle, T::of(f64::NAN));
        let mut wanted = stored(&expected, n, layout, triangle, T::of(f64::NAN));
        for row in 0..n {
            for column in 0..start(row) {
                memory[place(layout, triangle, row, column)] = T::of(-7.0);
                wanted[place(layout, triangle, row, column)] = T::of(-7.0);
            }
        }
        let mut buffer = device.upload(&memory).unwrap();
        let matrix = MatrixMut::new(&mut buffer, layout).unwrap();
        let mut info = device.upload(&[7u32]).unwrap();
        potrf_skyline(&device.default_stream(), triangle, &skyline, matrix, &mut info, &mut scratch).unwrap();
        assert_eq!(info.to_vec().unwrap(), [0], "{context}");
        assert_same_bits(&buffer.to_vec().unwrap(), &wanted, &context);
    }
}

/// All ways in which a matrix may lie.
fn all_layouts(n: usize) -> Vec<(Triangle, Layout)> {
    let (row, column) = (Layout::row_major(n, n).unwrap(), Layout::column_major(n, n).unwrap());
    let wide = |layout: Layout, more| layout.with_leading_dimension(n + more).unwrap();
    vec![
        (Triangle::Lower, wide(row, (8 - n % 4) % 8)),
        (Triangle::Upper, column),
        (Triangle::Lower, wide(row, 1 + n % 2)),
        (Triangle::Upper, wide(row, 3)),
        (Triangle::Lower, column),
    ]
}

fn sizes<T: Real>(device: &Device) {
    let full = |n: usize, side: usize| vec![0; n.div_ceil(side)];
    check::<T>(device, 0, 64, &[], &all_layouts(0));
    check::<T>(device, 1, 64, &[0], &all_layouts(1));
    // Of 100 the last panel and the first one that is put back lie at the same place.
    for n in [2, 15, 100, 127, 128, 129] {
        check::<T>(device, n, 64, &full(n, 64), &all_layouts(n)[..2]);
    }
    check::<T>(device, 131, 64, &full(131, 64), &all_layouts(131));
    // Tiles are smaller than blocks, equal, and larger, whole numbers of them and not.
    check::<T>(device, 300, 128, &[0, 1, 0], &all_layouts(300)[1..4]);
    check::<T>(device, 400, 192, &[0, 1, 0], &all_layouts(400)[..2]);
    // Rows of tiles that begin within a tile, at a panel and between two.
    check::<T>(
        device,
        300,
        16,
        &(0..19).map(|row: usize| row.saturating_sub(9)).collect::<Vec<_>>(),
        &all_layouts(300),
    );
    check::<T>(
        device,
        290,
        1,
        &(0..290).map(|row: usize| row.saturating_sub(70)).collect::<Vec<_>>(),
        &all_layouts(290)[..2],
    );
    check::<T>(device, 257, 64, &[0, 0, 1, 3, 1], &all_layouts(257)[..3]);
    check::<T>(device, 193, 32, &random_first(3, 7), &all_layouts(193));
    check::<T>(device, 150, 7, &random_first(5, 22), &all_layouts(150)[..4]);
    check::<T>(device, 150, 1, &random_first(6, 150), &all_layouts(150)[..4]);
    // Nothing but the diagonal.
    check::<T>(device, 130, 1, &(0..130).collect::<Vec<_>>(), &all_layouts(130)[..2]);
}

#[test]
fn factors_of_f32_in_any_layout() {
    for_each("factors_of_f32_in_any_layout", sizes::<f32>);
}

#[test]
fn factors_of_f64_in_any_layout() {
    for_each("factors_of_f64_in_any_layout", sizes::<f64>);
}

/// Enough tiles that blocks take several each, and wait for each other.
#[test]
fn factors_of_many_tiles() {
    for_each("factors_of_many_tiles", |device| {
        let n = if device.kind() == gpu_core::Kind::Simulator { 550 } else { 1000 };
        let blocks = n / 50;
        check::<f64>(device, n, 50, &random_first(11, blocks), &all_layouts(n)[..1]);
        check::<f32>(device, n, 50, &random_first(12, blocks), &all_layouts(n)[1..2]);
    });
}

/// A band so wide that the tiles near the diagonal have their sums in two parts: the bits are those of the CPU.
#[test]
fn wide_bands_on_the_gpu() {
    fn check<T: Real>(device: &Device, layout: Layout) {
        let (n, side) = (layout.rows(), 64);
        let first: Vec<usize> = (0..n.div_ceil(side)).map(|row| row.saturating_sub(47)).collect();
        let a = positive_definite::<T>(3, n, |row| first[row / side] * side);
        let a = stored(&a, n, layout, Triangle::Lower, T::of(f64::NAN));
        let factor = |device: &Device| {
            let skyline = BlockSkyline::new(device, n, side, &first).unwrap();
            let mut buffer = device.upload(&a).unwrap();
            let matrix = MatrixMut::new(&mut buffer, layout).unwrap();
            cholesky_skyline(Triangle::Lower, &skyline, matrix).unwrap();
            buffer.to_vec().unwrap()
        };
        let context = format!("{layout:?}, {} on {}", std::any::type_name::<T>(), device.name());
        assert_same_bits(&factor(device), &factor(&Device::cpu()), &context);
    }
    let Some(device) = cuda("wide_bands_on_the_gpu") else { return };
    check::<f64>(&device, Layout::row_major(60 * TILE + 5, 60 * TILE + 5).unwrap());
    check::<f32>(&device, Layout::column_major(48 * TILE, 48 * TILE).unwrap());
}

/// A skyline's factor is that of the matrix with zeros where it has none.
#[test]
fn the_factor_is_that_of_a_matrix_with_zeros() {
    for_each("the_factor_is_that_of_a_matrix_with_zeros", |device| {
        let (n, side) = (333, 9);
        let first = random_first(31, n / side);
        let start = |row: usize| first[row / side] * side;
        let a = positive_definite::<f64>(3, n, start);
        let layout = Layout::row_major(n, n).unwrap();
        let (mut dense, mut sparse) = (device.upload(&a).unwrap(), device.upload(&a).unwrap());
        let mut info = device.upload(&[7u32]).unwrap();
        let mut scratch = exactly(&device.default_stream(), potrf_scratch::<f64>(n, 1).unwrap());
        let matrix = MatrixMut::new(&mut dense, layout).unwrap();
        potrf(&device.default_stream(), Triangle::Lower, matrix, &mut info, &mut scratch).unwrap();
        assert_eq!(info.to_vec().unwrap(), [0]);
        let skyline = BlockSkyline::new(device, n, side, &first).unwrap();
        let matrix = MatrixMut::new(&mut sparse, layout).unwrap();
        cholesky_skyline(Triangle::Lower, &skyline, matrix).unwrap();
        assert_same_bits(&sparse.to_vec().unwrap(), &dense.to_vec().unwrap(), &device.name());
    });
}

/// The first pivot that fails is named, wherever it is, and however many come after it.
#[test]
fn matrices_that_are_not_positive_definite() {
    for_each("matrices_that_are_not_positive_definite", |device| {
        let (n, side) = (300, 20);
        let first = random_first(9, 15);
        let start = |row: usize| first[row / side] * side;
        let layout = Layout::row_major(n, n).unwrap();
        let skyline = BlockSkyline::new(device, n, side, &first).unwrap();
        for (at, bad) in
            [(0, -1.0), (0, 0.0), (5, f64::INFINITY), (127, f64::NAN), (128, -1e30), (240, 0.0), (299, -0.5)]
        {
            let mut a = positive_definite::<f64>(1, n, start);
            a[at * n + at] = bad;
            // Others, later.
            for later in (at + 40..n).step_by(40) {
                a[later * n + later] = -1.0;
            }
            let mut buffer = device.upload(&a).unwrap();
            let matrix = MatrixMut::new(&mut buffer, layout).unwrap();
            let error = cholesky_skyline(Triangle::Lower, &skyline, matrix).unwrap_err();
            assert!(
                matches!(error, Error::NotPositiveDefinite { matrix: 0, index } if index == at + 1),
                "{at}, {bad}: {error} on {}",
                device.name()
            );
        }
    });
}

/// Blocks that nothing orders: whichever fails first, it is the first of the matrix that is named.
#[test]
fn the_first_of_several_blocks_that_fail_is_named() {
    for_each("the_first_of_several_blocks_that_fail_is_named", |device| {
        let n = 3 * TILE;
        let skyline = BlockSkyline::new(device, n, TILE, &[0, 1, 2]).unwrap();
        let mut a = vec![0.0f32; n * n];
        for at in 0..n {
            a[at * n + at] = if at % TILE == 40 { -1.0 } else { 1.0 };
        }
        let mut buffer = device.upload(&a).unwrap();
        let matrix = MatrixMut::new(&mut buffer, Layout::row_major(n, n).unwrap()).unwrap();
        let error = cholesky_skyline(Triangle::Lower, &skyline, matrix).unwrap_err();
        let is_first = matches!(error, Error::NotPositiveDefinite { matrix: 0, index: 41 });
        assert!(is_first, "{error} on {}", device.name());
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    for_each("what_does_not_fit_is_refused", |device| {
        let stream = device.default_stream();
        assert!(matches!(
            BlockSkyline::new(device, 10, 4, &[0, 0]),
            Err(Error::SkylineRows { n: 10, side: 4, expected: 3, actual: 2 })
        ));
        assert!(matches!(
            BlockSkyline::new(device, 10, 4, &[0, 0, 3]),
            Err(Error::SkylineRow { row: 2, first: 3 })
        ));
        assert!(matches!(BlockSkyline::new(device, 10, 0, &[]), Err(Error::SkylineSide { side: 0 })));
        let skyline = BlockSkyline::new(device, 3, 1, &[0, 0, 1]).unwrap();
        let before = [4.0, 7.0, 7.0, 2.0, 5.0, 7.0, 7.0, 4.0, 5.0];
        let mut a = device.upload(&before).unwrap();
        let mut scratch = exactly(&stream, skyline.scratch::<f64>());
        let small = MatrixMut::new(&mut a, Layout::row_major(2, 3).unwrap()).unwrap();
        let mut info = device.upload(&[7u32, 7]).unwrap();
        let one = info.slice_mut(..1);
        let error = potrf_skyline(&stream, Triangle::Lower, &skyline, small, one, &mut scratch).unwrap_err();
        assert!(matches!(error, Error::SkylineSize { expected: 3, actual: (2, 3) }), "{error}");
        let mut call = |scratch: &mut Scratch| {
            let matrix = MatrixMut::new(&mut a, Layout::row_major(3, 3).unwrap()).unwrap();
            potrf_skyline(&stream, Triangle::Lower, &skyline, matrix, info.slice_mut(..1), scratch)
        };
        assert!(is_of_other_stream(call(&mut Scratch::new(&device.stream().unwrap()))));
        if device.kind() != Kind::Cpu {
            assert!(lacks(call(&mut exactly(&stream, ScratchSize::new())), skyline.scratch::<f64>()));
        }
        let matrix = MatrixMut::new(&mut a, Layout::row_major(3, 3).unwrap()).unwrap();
        let error =
            potrf_skyline(&stream, Triangle::Lower, &skyline, matrix, &mut info, &mut scratch).unwrap_err();
        assert_length(error, "the words of information", 1, 2);
        assert_eq!(info.to_vec().unwrap(), [7, 7]);
        assert_eq!(a.to_vec().unwrap(), before);
    });
}

/// Schedules of every kind give the same bits: blocks wait for each other in all of them.
#[test]
fn schedules_make_no_difference() {
    let (n, side) = (320, 32);
    let first = random_first(21, 10);
    let start = |row: usize| first[row / side] * side;
    let a = positive_definite::<f32>(2, n, start);
    let expected = oracle(&a, n, start);
    for seed in 0..6 {
        // One block alone, and few or many at the same time.
        let config =
            gpu_sim::Config { seed, resident_blocks: [1, 2, 40][seed as usize % 3], ..Default::default() };
        let device = Device::simulator_with(config);
        let skyline = BlockSkyline::new(&device, n, side, &first).unwrap();
        let mut buffer = device.upload(&a).unwrap();
        let matrix = MatrixMut::new(&mut buffer, Layout::row_major(n, n).unwrap()).unwrap();
        cholesky_skyline(Triangle::Lower, &skyline, matrix).unwrap();
        let l: Vec<f32> = buffer.to_vec().unwrap();
        for row in 0..n {
            let range = row * n + start(row)..row * n + row + 1;
            assert_same_bits(&l[range.clone()], &expected[range], &format!("row {row}, seed {seed}"));
        }
    }
}
