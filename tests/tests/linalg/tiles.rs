//! Products of matrices around the tiles of each kernel, and of sums that are cut.

use gpu_core::{Device, ScratchSize};
use gpu_linalg::plan::gemm::{Kernel, MOST_SHORT, MOST_SHORT_ACROSS, Plan, Split, Sums};
use gpu_linalg::variants::gemm_tiles;
use gpu_linalg::{Batch, BatchLayout, BatchMut, Error, Order, Triangle, syrk_scratch};
use gpu_linalg_kernels::gemm::{
    GEMM_F64, GEMM_FLAT_F32, GEMM_LOW_F32, GEMM_MEDIUM_F32, GEMM_TENSOR_F64, GEMM_TENSOR_FLAT_F64,
    GEMM_TENSOR_HALVES_F64, GEMM_TENSOR_MEDIUM_F64, Tile, aligned, bulk, large, linalg_gemm_bulk_nn_f64,
    small,
};

use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::random;
use gpu_tests::scratch::exactly;

use super::basics::{Number, ORDERS, by_tiles, check, layout, one, values};

fn around_tiles<T: Number>(test: &str, tile: Tile, depths: &[usize]) {
    for_each(test, |device| {
        let (rows, columns) = (tile.rows as usize, tile.columns as usize);
        for m in [1, rows - 1, rows, rows + 1] {
            for n in [1, columns - 1, columns, columns + 1] {
                for &k in depths {
                    let orders =
                        if (m + n + k) % 2 == 0 { ORDERS } else { [Order::ColumnMajor, Order::RowMajor] };
                    let layouts = [
                        layout(m, k, orders[0], 0),
                        layout(k, n, orders[1], 0),
                        layout(m, n, Order::RowMajor, 0),
                    ];
                    check::<T>(device, layouts.map(one), (T::of(-1.25), T::ZERO), 0, (m * n + k) as u64);
                }
            }
        }
    });
}

#[test]
fn shapes_around_flat_tiles_and_every_stage() {
    let depth = GEMM_FLAT_F32.depth as usize;
    let depths = [0, 1, depth - 1, depth, depth + 1, 3 * depth, 3 * depth + 1, 9 * depth];
    around_tiles::<f32>("shapes_around_flat_tiles_and_every_stage", GEMM_FLAT_F32, &depths);
}

#[test]
fn shapes_around_tiles_f64() {
    around_tiles::<f64>("shapes_around_tiles_f64", GEMM_TENSOR_MEDIUM_F64, &[1, 17, 16 * 3]);
}

/// What [`Kernel::Small`] has of C.
const SMALL: Tile = Tile { rows: small::TILE, columns: small::TILE, ..GEMM_MEDIUM_F32 };

const ALIGNED: Tile = aligned::TILE;
const BULK: Tile = bulk::TILE;
const LARGE: Tile = large::TILE;

/// Kernels that are only taken for large matrices, or where there are no tensor cores for doubles, each for all orders:
/// one tile with all of it inside, with and without alignment, and several at the edges; and the triangles of squares
/// of several tiles.
macro_rules! chosen_kernels {
    ($($test:ident: $T:ty, $kernel:ident, $tile:ident;)*) => { $(
        #[test]
        fn $test() {
            for_each(stringify!($test), |device| {
                if device.kind() == gpu_core::Kind::Cpu {
                    return;
                }
                let (rows, columns) = ($tile.rows as usize, $tile.columns as usize);
                // What is least beyond or before a multiple of a tile's extents.
                let one_more = if Kernel::$kernel.needs_alignment() { 2 } else { 1 };
                let (wide, all) = (columns.max(rows) + 4, [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1]]);
                for ((m, n, k), gap, triangle, orders) in [
                    ((rows, columns, 96), 0, None, &all[..]),
                    ((rows + one_more, columns - 2, 16 + one_more), one_more, None, &all),
                    ((40, columns + 4, 4), 4, None, &all),
                    ((wide, wide, 20), 4, Some(Triangle::Lower), &all[1..2]),
                    ((wide, wide, 20), 4, Some(Triangle::Upper), &all[1..2]),
                    ((wide - one_more, wide - one_more, 16 + one_more), one_more, Some(Triangle::Lower), &all[1..2]),
                    ((wide - one_more, wide - one_more, 16 + one_more), one_more, Some(Triangle::Upper), &all[4..]),
                ] {
                    for orders in orders {
                        let [a, b, c] = orders.map(|order| ORDERS[order]);
                        let layouts = [layout(m, k, a, gap), layout(k, n, b, gap), layout(m, n, c, gap)].map(one);
                        let [a, b, c] = layouts;
                        let a_values = values::<$T>(1, a.matrix.span());
                        let b_values = values::<$T>(2, b.matrix.span());
                        let mut expected = values::<$T>(3, c.matrix.span());
                        let (a_device, b_device) =
                            (device.upload(&a_values).unwrap(), device.upload(&b_values).unwrap());
                        let mut c_device = device.upload(&expected).unwrap();
                        let old = expected.clone();
                        by_tiles(1.5, (&a_values, a), (&b_values, b), -0.5, (&mut expected, c));
                        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                            if triangle.is_some_and(|triangle| !triangle.holds(row, column)) {
                                let index = c.matrix.index(row, column);
                                expected[index] = old[index];
                            }
                        }

                        // None of them needs scratch memory: it is one launch.
                        let mut scratch = exactly(&device.default_stream(), ScratchSize::new());
                        let (a, b) = (Batch::new(&a_device, a).unwrap(), Batch::new(&b_device, b).unwrap());
                        let c = BatchMut::new(&mut c_device, c).unwrap();
                        let (kernel, stream) = (Kernel::$kernel, device.default_stream());
                        gemm_tiles(&stream, kernel, triangle, 1.5, a, b, -0.5, c, &mut scratch).unwrap();
                        let context = format!("{layouts:?} on {}", device.name());
                        assert_same_bits(&c_device.to_vec().unwrap(), &expected, &context);
                    }
                }
            });
        }
    )* };
}
chosen_kernels! {
    large_tiles_f32: f32, Large, LARGE;
    aligned_tiles_f64: f64, TensorAligned, ALIGNED;
    tiles_of_the_copy_engine_f64: f64, TensorBulk, BULK;
    large_tiles_f64_on_tensor_cores: f64, TensorLarge, GEMM_TENSOR_F64;
    medium_tiles_f32: f32, Medium, GEMM_MEDIUM_F32;
    low_tiles_f32: f32, Low, GEMM_LOW_F32;
    flat_tiles_f32: f32, Flat, GEMM_FLAT_F32;
    medium_tiles_f64_on_tensor_cores: f64, TensorMedium, GEMM_TENSOR_MEDIUM_F64;
    halves_of_tiles_f64_on_tensor_cores: f64, TensorHalves, GEMM_TENSOR_HALVES_F64;
    flat_tiles_f64_on_tensor_cores: f64, TensorFlat, GEMM_TENSOR_FLAT_F64;
    doubles_without_tensor_cores: f64, Double, GEMM_F64;
    small_tiles_f32: f32, Small, SMALL;
    small_tiles_f64: f64, Small, SMALL;
}

/// What [`gemm_tiles`] refuses: kernels of another type, sums that are too long, triangles of what is no square; C is
/// as it was.
#[test]
fn kernels_that_do_not_take_a_product() {
    for_each("kernels_that_do_not_take_a_product", |device| {
        let (a, b) = (device.upload(&[1.0f32; 60]).unwrap(), device.upload(&[1.0f32; 60]).unwrap());
        let mut c = device.upload(&[7.0f32; 6]).unwrap();
        let mut scratch = exactly(&device.default_stream(), ScratchSize::new());
        let [of_a, of_b, of_c] = [(2, 20), (20, 3), (2, 3)].map(|(m, n)| layout(m, n, Order::RowMajor, 0));
        let stream = device.default_stream();
        let mut refused = |kernel, triangle| {
            let (a, b) = (Batch::new(&a, one(of_a)).unwrap(), Batch::new(&b, one(of_b)).unwrap());
            let c = BatchMut::new(&mut c, one(of_c)).unwrap();
            gemm_tiles(&stream, kernel, triangle, 1.0, a, b, 0.0, c, &mut scratch).unwrap_err()
        };
        let error = refused(Kernel::Small, Some(Triangle::Lower));
        assert!(
            matches!(error, Error::Device(gpu_core::Error::NotSquare { rows: 2, columns: 3, .. })),
            "{error}"
        );
        for (kernel, name) in [(Kernel::TensorHalves, "tensor_halves"), (Kernel::Short, "short")] {
            let error = refused(kernel, None);
            let is_it = matches!(error, Error::KernelNotFor { kernel, bytes: 4, k: 20 } if kernel == name);
            assert!(is_it, "{error}");
        }
        assert_eq!(c.to_vec().unwrap(), [7.0; 6]);
    });
}

/// Orders, gaps and batches that differ from the next case's, and the gap.
fn numbered_layouts(case: usize, (m, n, k): (usize, usize, usize)) -> ([BatchLayout; 3], usize) {
    let [a, b, c] = [0, 1, 2].map(|bit| ORDERS[case >> bit & 1]);
    let (gap, count) = (case % 3, 1 + case % 2);
    let layouts = [layout(m, k, a, gap), layout(k, n, b, gap), layout(m, n, c, gap)];
    (layouts.map(|matrix| BatchLayout { matrix, count, stride: matrix.span() + 2 * gap }), gap)
}

/// A product in them.
fn numbered<T: Number>(device: &Device, case: usize, shape: (usize, usize, usize)) {
    let (layouts, gap) = numbered_layouts(case, shape);
    let beta = if case.is_multiple_of(4) { T::of(-0.5) } else { T::ZERO };
    check::<T>(device, layouts, (T::of(1.5), beta), gap, case as u64);
}

/// The same by [`Kernel::Short`], whichever a device would take; whether it takes the product.
fn numbered_by_short<T: Number>(device: &Device, case: usize, shape: (usize, usize, usize)) -> bool {
    let ([a, b, c], _) = numbered_layouts(case, shape);
    let context = format!("{a:?}, {b:?}, {c:?} on {}", device.name());
    let values = |seed, layout: BatchLayout| values::<T>(seed, layout.span().unwrap());
    let (a_values, b_values, mut expected) = (values(1, a), values(2, b), values(3, c));
    let (a_device, b_device) = (device.upload(&a_values).unwrap(), device.upload(&b_values).unwrap());
    let (mut c_device, mut scratch) =
        (device.upload(&expected).unwrap(), exactly(&device.default_stream(), ScratchSize::new()));
    let (alpha, beta) = (T::of(1.5), T::of(-0.5));
    by_tiles(alpha, (&a_values, a), (&b_values, b), beta, (&mut expected, c));
    let (a, b) = (Batch::new(&a_device, a).unwrap(), Batch::new(&b_device, b).unwrap());
    let (c, stream) = (BatchMut::new(&mut c_device, c).unwrap(), device.default_stream());
    match gemm_tiles(&stream, Kernel::Short, None, alpha, a, b, beta, c, &mut scratch) {
        // Where it would read B along k.
        Err(Error::KernelNotFor { k, .. }) if k > MOST_SHORT_ACROSS => false,
        result => {
            result.unwrap();
            assert_same_bits(&c_device.to_vec().unwrap(), &expected, &context);
            true
        }
    }
}

/// Sums of the lengths that [`Kernel::Short`] has, of matrices of few columns, of a warp's and of several warps', batches, too.
fn short_sums<T: Number>(test: &str) {
    for_each(test, |device| {
        let (mut case, mut longest) = (0, 0);
        for n in [1, 2, 3, 5, 9, 33, 127, 130] {
            for m in [1, 8, 63, 66, 515] {
                for k in [1, 3, 4, 8, 9, MOST_SHORT] {
                    case += 1;
                    // Each case once.
                    if m * n * k > 40_000 && case % 7 != 0 {
                        continue;
                    }
                    numbered::<T>(device, case, (m, n, k));
                    if device.kind() != gpu_core::Kind::Cpu {
                        longest = longest.max(k * numbered_by_short::<T>(device, case, (m, n, k)) as usize);
                    }
                }
            }
        }
        assert!(longest == MOST_SHORT || device.kind() == gpu_core::Kind::Cpu, "{longest}");
    });
}

#[test]
fn short_sums_f32() {
    short_sums::<f32>("short_sums_f32");
}

#[test]
fn short_sums_f64() {
    short_sums::<f64>("short_sums_f64");
}

/// Products of small matrices: around a thread's rows and a tile's, and what is read at once.
fn small_products<T: Number>(test: &str) {
    for_each(test, |device| {
        let mut case = 0;
        for (m, n) in [(1, 1), (5, 16), (17, 3), (16, 33), (31, 32), (40, 70)] {
            for k in [17, 63, 96, 127, 128, 129, 300] {
                case += 1;
                numbered::<T>(device, case, (m, n, k));
            }
        }
    });
}

#[test]
fn small_products_f32() {
    small_products::<f32>("small_products_f32");
}

#[test]
fn small_products_f64() {
    small_products::<f64>("small_products_f64");
}

/// Sums that are cut, of every order of the three matrices; products that are computed transposed; and scratch memory that is too
/// small.
fn cut_sums<T: Number>(test: &str) {
    for_each(test, |device| {
        for ((m, n, k), count) in [
            ((7, 9, 700), 1),
            ((70, 20, 515), 2),
            ((300, 3, 130), 1),
            ((260, 5, 40), 2),
            ((300, 3, 33), 1),
            ((65, 2, 300), 1),
        ] {
            for orders in 0..8 {
                let [a, b, c] = [0, 1, 2].map(|bit| ORDERS[orders >> bit & 1]);
                let gap = orders % 3;
                let layouts = [layout(m, k, a, gap), layout(k, n, b, gap), layout(m, n, c, gap)];
                let layouts =
                    layouts.map(|matrix| BatchLayout { matrix, count, stride: matrix.span() + 2 * gap });
                check::<T>(device, layouts, (T::of(1.5), T::of(-0.5)), gap, 7);
                check::<T>(device, layouts, (T::ONE, T::ZERO), 0, 8);
            }
        }
    });
}

#[test]
fn sums_that_are_cut_f32() {
    assert!(Split::new(4, [7, 9, 700], 1).parts > 1 && Split::new(4, [70, 20, 515], 2).parts > 1);
    cut_sums::<f32>("sums_that_are_cut_f32");
}

#[test]
fn sums_that_are_cut_f64() {
    assert!(Split::new(8, [7, 9, 700], 1).parts > 1 && Split::new(8, [70, 20, 515], 2).parts > 1);
    cut_sums::<f64>("sums_that_are_cut_f64");
}

/// A batch of two products with one A for both, on a GPU or the simulator: each sum one chain, as no part of the sums
/// of so small a product is that is longer than a few stages.
fn chains_by_the_copy_engine(device: &Device, (m, n, k): (usize, usize, usize)) {
    let [a, b, c] = [(m, k), (k, n), (m, n)].map(|(rows, columns)| layout(rows, columns, ORDERS[0], 0));
    let batch = |matrix, stride| BatchLayout { matrix, count: 2, stride };
    let layouts = [batch(a, 0), batch(b, k * n), batch(c, m * n)];
    let (a_values, b_values) = (values::<f64>(1, m * k), values::<f64>(2, 2 * k * n));
    let (a_device, b_device) = (device.upload(&a_values).unwrap(), device.upload(&b_values).unwrap());
    let mut c_device = device.alloc::<f64>(2 * m * n).unwrap();
    let [a, b, c] = [&a_device, &b_device, &c_device].map(|buffer| buffer.view().as_global().address());
    let plan = Plan::with_kernel(Kernel::TensorBulk, 8, layouts, [a, b, c, 0], Sums::Chains, None).unwrap();
    let stream = device.default_stream();
    let [a, b] = plan.tensors.unwrap().map(|tensor| stream.tensor_map(&tensor).unwrap());
    let arguments = (a, b, c_device.view_mut(), plan.product, 1.0, 0.0);
    // SAFETY: the buffers hold the plan's matrices, and outlive the launch.
    unsafe { stream.launch::<linalg_gemm_bulk_nn_f64>(plan.launch, arguments) }.unwrap();
    let element = |at: usize| {
        let (number, row, column) = (at / (m * n), at / n % m, at % n);
        (0..k).fold(0.0, |sum, along| {
            a_values[row * k + along].mul_add(b_values[(number * k + along) * n + column], sum)
        })
    };
    let expected: Vec<f64> = (0..2 * m * n).map(element).collect();
    assert_same_bits(&c_device.to_vec().unwrap(), &expected, &format!("{k} on {}", device.name()));
}

/// Chains that go through the ring of the copy engine's stages more than twice.
#[test]
fn the_copy_engines_ring_goes_round() {
    for_each("the_copy_engines_ring_goes_round", |device| {
        if device.kind() != gpu_core::Kind::Cpu {
            let k = (2 * BULK.stages + 1) as usize * BULK.depth as usize + 2;
            chains_by_the_copy_engine(device, (10, 12, k));
        }
    });
}

/// Of a square C a triangle, by a kernel of choice, of small integers: these are exact in any order. The other
/// triangle and what is between lines stay as they are.
fn exact_triangles<T: Number>(device: &Device, kernel: Kernel, (n, k): (usize, usize)) {
    let small = |seed, len| (0..len).map(|at| T::of((random(seed, at) % 5) as f32 - 2.0)).collect::<Vec<T>>();
    for (case, triangle) in
        [Triangle::Lower, Triangle::Upper, Triangle::Lower, Triangle::Upper].into_iter().enumerate()
    {
        let [a, b, c] = [case, case ^ (case / 2), case / 2].map(|order| ORDERS[order % 2]);
        let layouts = [layout(n, k, a, 0), layout(k, n, b, 0), layout(n, n, c, case % 2)].map(one);
        let [a, b, c] = layouts;
        let (a_values, b_values) = (small(1, a.matrix.span()), small(2, b.matrix.span()));
        let old = small(3, c.matrix.span());
        let mut expected = old.clone();
        let (alpha, beta) = (T::of(2.0), T::of(-1.0));
        by_tiles(alpha, (&a_values, a), (&b_values, b), beta, (&mut expected, c));
        for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
            if !triangle.holds(row, column) {
                let index = c.matrix.index(row, column);
                expected[index] = old[index];
            }
        }

        let (a_device, b_device) = (device.upload(&a_values).unwrap(), device.upload(&b_values).unwrap());
        let mut c_device = device.upload(&old).unwrap();
        let mut scratch = exactly(&device.default_stream(), syrk_scratch::<T>(k, c));
        let (a, b) = (Batch::new(&a_device, a).unwrap(), Batch::new(&b_device, b).unwrap());
        let (c, stream) = (BatchMut::new(&mut c_device, c).unwrap(), device.default_stream());
        gemm_tiles(&stream, kernel, Some(triangle), alpha, a, b, beta, c, &mut scratch).unwrap();
        let context = format!("{triangle:?} of {layouts:?} on {}", device.name());
        assert_same_bits(&c_device.to_vec().unwrap(), &expected, &context);
    }
}

#[test]
fn triangles_of_short_sums_and_of_cut_ones() {
    for (bytes, n) in [(4, 40), (8, 40)] {
        assert!(Split::of_part(bytes, 700, one(layout(n, n, Order::RowMajor, 0)), true).parts > 1);
    }
    for_each("triangles_of_short_sums_and_of_cut_ones", |device| {
        exact_triangles::<f32>(device, Kernel::Small, (40, 700));
        exact_triangles::<f64>(device, Kernel::Small, (40, 700));
        // Tiles on both sides of the diagonal, and right behind it.
        for n in [20, 130] {
            exact_triangles::<f32>(device, Kernel::Short, (n, 3));
            exact_triangles::<f64>(device, Kernel::Short, (n, 3));
        }
    });
}

/// No access of the inner loops takes more passes through the 32 banks of shared memory than its bytes need: neither
/// the fragments that are read nor the threads' copies, which transpose factors that are contiguous along k.
macro_rules! conflict_free_kernels {
    ($($test:ident: $T:ty, $kernel:ident;)*) => { $(
        #[test]
        fn $test() {
            let config = gpu_sim::Config { record: gpu_sim::Record::Full, ..gpu_sim::Config::default() };
            let device = gpu_core::Device::simulator_with(config);
            let stream = device.default_stream();
            let square = device.upload(&values::<$T>(1, 64 * 64)).unwrap();
            let mut c = device.alloc::<$T>(64 * 64).unwrap();
            let mut scratch = exactly(&stream, ScratchSize::new());
            for orders in [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(a, b)| [ORDERS[a], ORDERS[b], Order::RowMajor]) {
                let [a, b, of_c] = orders.map(|order| one(layout(64, 64, order, 0)));
                let (a, b) = (Batch::new(&square, a).unwrap(), Batch::new(&square, b).unwrap());
                let c = BatchMut::new(&mut c, of_c).unwrap();
                gemm_tiles(&stream, Kernel::$kernel, None, 1.0, a, b, 0.0, c, &mut scratch).unwrap();
                stream.synchronize().unwrap();
                let counts = device.as_simulator().unwrap().last_report().unwrap().counts;
                assert!(counts.shared_loads.requests > 0);
                // The copy engine's are none of a thread's.
                assert_eq!(counts.async_copies.requests > 0, Kernel::$kernel != Kernel::TensorBulk);
                for accesses in [counts.shared_loads, counts.async_copies] {
                    assert_eq!(accesses.wavefronts * 128, accesses.bytes, "{orders:?}: {accesses:?}");
                }
            }
        }
    )* };
}
conflict_free_kernels! {
    inner_loops_have_no_bank_conflicts_f32: f32, Medium;
    inner_loops_have_no_bank_conflicts_of_large_tiles: f32, Large;
    inner_loops_have_no_bank_conflicts_f64: f64, TensorMedium;
    inner_loops_have_no_bank_conflicts_by_16_bytes: f64, TensorAligned;
    inner_loops_have_no_bank_conflicts_of_the_copy_engine: f64, TensorBulk;
}
