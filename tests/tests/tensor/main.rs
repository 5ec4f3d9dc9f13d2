//! Products on the tensor cores, here of 16-bit floats: one body over all backends, against a serial oracle.

mod chained;
mod clusters;
mod easy;
mod epilogue;
mod gelu;
mod int8;
mod older_devices;
mod steps;
mod tf32;

use std::time::Instant;

use gpu_core::{Device, Kind, ScratchSize};
use gpu_linalg::plan::tensor::split;
use gpu_linalg::variants::{self, TensorVariant};
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Error, Layout, Matrix, MatrixMut, TensorElement, TensorOutput, bf16, f16,
    gemm_tensor, gemm_tensor_scratch,
};
use gpu_oracles::dot;
use gpu_tests::backends::{cuda, for_each};
use gpu_tests::data::random;
use gpu_tests::scratch::{exactly, lacks};

/// Stands where nothing may be written.
const UNTOUCHED: f32 = -64.0;

/// A type of factors or of results.
trait Number: Copy + PartialEq + core::fmt::Debug {
    fn of(value: f32) -> Self;
    fn value(self) -> f32;
}

macro_rules! numbers {
    ($($T:ty: $of:expr, $value:expr;)*) => { $(
        impl Number for $T {
            fn of(value: f32) -> Self {
                $of(value)
            }
            fn value(self) -> f32 {
                $value(self)
            }
        }
    )* };
}
numbers! {
    bf16: bf16::from_f32, bf16::to_f32;
    f16: f16::from_f32, f16::to_f32;
    f32: |value| value, |value| value;
}

/// Of `[m, n, k]`, which of A, B and C are column-major, and how many there are.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: [usize; 3],
    columns: [bool; 3],
    count: usize,
    /// Whether A, and whether B, has odd lines, which the copy engine does not take.
    odd: [bool; 2],
    /// Whether nothing is between lines.
    dense: bool,
    /// How many elements of memory come before A, and before B.
    starts: [usize; 2],
    alpha: f32,
    beta: f32,
}

impl Case {
    /// The layouts of A, B and C, with gaps behind lines and matrices.
    fn layouts(self) -> [BatchLayout; 3] {
        let [m, n, k] = self.shape;
        let mut at = 0;
        [(m, k), (k, n), (m, n)].map(|(rows, columns)| {
            let column_major = self.columns[at];
            let new = if column_major { Layout::column_major } else { Layout::row_major };
            let contiguous = if column_major { rows } else { columns };
            let odd = self.odd.get(at).copied().unwrap_or(self.count > 1);
            let leading = match (self.dense, odd) {
                (true, _) => contiguous,
                (false, true) => contiguous.next_multiple_of(8) + 1,
                (false, false) => contiguous.next_multiple_of(8) + 8,
            };
            at += 1;
            let matrix = new(rows, columns).unwrap().with_leading_dimension(leading).unwrap();
            let lines = if column_major { columns } else { rows };
            BatchLayout { matrix, count: self.count, stride: (leading * lines).next_multiple_of(8) + 8 }
        })
    }
}

/// The same behind so many elements of memory.
fn behind<T: Number>(start: usize, values: Vec<T>) -> Vec<T> {
    std::iter::repeat_n(T::of(f32::NAN), start).chain(values).collect()
}

fn filled<T: Number>(layout: BatchLayout, seed: u64, other: f32, value: impl Fn(u64) -> f32) -> Vec<T> {
    let mut values = vec![T::of(other); layout.stride * layout.count + 16];
    for number in 0..layout.count {
        for row in 0..layout.matrix.rows() {
            for column in 0..layout.matrix.columns() {
                let at = number * layout.stride + layout.matrix.index(row, column);
                values[at] = T::of(value(random(seed, at)));
            }
        }
    }
    values
}

/// The oracle: each element's exact sum of products, in `f64`, and the sum of their sizes.
fn sums<T: Number>(a: &[T], b: &[T], [of_a, of_b, of_c]: [BatchLayout; 3]) -> Vec<(usize, f64, f64)> {
    let (m, n) = of_c.matrix.shape();
    let mut sums = Vec::new();
    for number in 0..of_c.count {
        let value = |of: &[T], layout: BatchLayout, row, column| {
            f64::from(of[number * layout.stride + layout.matrix.index(row, column)].value())
        };
        let k = of_a.matrix.columns();
        let of_row = |row| -> Vec<f64> { (0..k).map(|at| value(a, of_a, row, at)).collect() };
        let of_column = |column| -> Vec<f64> { (0..k).map(|at| value(b, of_b, at, column)).collect() };
        let columns: Vec<Vec<f64>> = (0..n).map(of_column).collect();
        for row in 0..m {
            let factors = of_row(row);
            for (column, others) in columns.iter().enumerate() {
                let (sum, sizes) = dot(&factors, others);
                sums.push((number * of_c.stride + of_c.matrix.index(row, column), sum, sizes));
            }
        }
    }
    sums
}

/// The product on a device; `None` after saying so where that has no tensor cores.
fn product<T: TensorElement + Number, C: TensorOutput<T> + Number>(
    device: &Device,
    variant: Option<TensorVariant>,
    case: Case,
    [a, b]: [&[T]; 2],
    c: &[C],
) -> Option<Vec<C>> {
    let layouts = case.layouts();
    let (a, b) = (device.upload(a).unwrap(), device.upload(b).unwrap());
    let mut output = device.upload(c).unwrap();
    let stream = device.default_stream();
    let a = Batch::new(a.slice(case.starts[0]..), layouts[0]).unwrap();
    let b = Batch::new(b.slice(case.starts[1]..), layouts[1]).unwrap();
    let output_batch = BatchMut::new(&mut output, layouts[2]).unwrap();
    let size = match variant {
        None => gemm_tensor_scratch(a, b, layouts[2]),
        Some(variant) => variants::gemm_tensor_scratch(variant, a, b, layouts[2]),
    };
    let mut scratch = exactly(&stream, size);
    let result = match variant {
        None => gemm_tensor::<T, C>(&stream, case.alpha, a, b, case.beta, output_batch, &mut scratch),
        Some(variant) => variants::gemm_tensor::<T, C>(
            &stream,
            variant,
            case.alpha,
            a,
            b,
            case.beta,
            output_batch,
            &mut scratch,
        ),
    };
    match result {
        Ok(()) => Some(output.to_vec().unwrap()),
        // What the copy engine does not take.
        Err(Error::Unaligned { .. }) if case.dense || case.odd != [false; 2] || case.starts != [0; 2] => None,
        Err(error @ Error::NoTensorCores { .. }) => {
            println!("skipped on {}: {error}", device.name());
            None
        }
        Err(error) => panic!("{case:?} on {}: {error}", device.name()),
    }
}

const SHAPES: [[usize; 3]; 17] = [
    [1, 1, 1],
    [1, 8, 64],
    [64, 256, 64],
    [128, 256, 128],
    [129, 257, 65],
    [127, 250, 200],
    [5, 300, 700],
    [300, 7, 96],
    [40, 513, 321],
    // In parts, the last of which is shorter.
    [9, 20, 2000],
    [130, 6, 1100],
    // In more parts than are added at a time.
    [3, 40, 5001],
    [33, 32, 129],
    // Lines shorter than what is copied at once, and several tiles of rows.
    [3, 5, 70],
    [1, 6, 131],
    [13, 2, 3],
    [277, 31, 67],
];

fn cases() -> impl Iterator<Item = Case> {
    SHAPES.into_iter().enumerate().flat_map(|(number, shape)| {
        (0..4).map(move |order| {
            let columns = [order & 1 != 0, order & 2 != 0, (number + order) % 3 == 2];
            let (alpha, beta) = [(1.0, 0.0), (2.0, 1.0), (-1.0, -0.5)][(number + order) % 3];
            let odd =
                [[false; 2], [false; 2], [true, false], [false, true], [true; 2]][(number + 2 * order) % 5];
            let starts = [(number + order) % 4 / 3, (number * 3 + order) % 5 / 3 * 8];
            let dense = (number + order / 2) % 2 == 1;
            Case { shape, columns, count: 1 + (number * 5 + order) % 7 / 5, odd, dense, starts, alpha, beta }
        })
    })
}

/// Small integers: every operation is exact, so all devices give the same bits.
fn exact<T: TensorElement + Number, C: TensorOutput<T> + Number>(
    device: &Device,
    variant: Option<TensorVariant>,
    case: Case,
) {
    let layouts = case.layouts();
    let small = |bits: u64| (bits % 5) as f32 - 2.0;
    // Nothing of what lies between lines and matrices counts.
    let mut a = filled::<T>(layouts[0], 1, f32::NAN, small);
    let mut b = filled::<T>(layouts[1], 2, f32::NAN, small);
    if case.dense {
        // Nor is there anything behind them.
        a.truncate(layouts[0].span().unwrap());
        b.truncate(layouts[1].span().unwrap());
    }
    let c =
        filled::<C>(layouts[2], 3, UNTOUCHED, |bits| if case.beta == 0.0 { f32::NAN } else { small(bits) });
    let mut expected = c.clone();
    for (at, sum, _) in sums(&a, &b, layouts) {
        let old = if case.beta == 0.0 { 0.0 } else { f64::from(case.beta) * f64::from(c[at].value()) };
        expected[at] = C::of((f64::from(case.alpha) * sum + old) as f32);
    }
    let (a, b) = (behind(case.starts[0], a), behind(case.starts[1], b));
    let Some(actual) = product::<T, C>(device, variant, case, [&a, &b], &c) else { return };
    let differs = actual.iter().zip(&expected).position(|(a, b)| a != b);
    if let Some(at) = differs {
        let wrong = actual.iter().zip(&expected).filter(|(a, b)| a != b).count();
        panic!(
            "{case:?} on {}: element {at} is {:?}, not {:?}; {wrong} of {} are wrong",
            device.name(),
            actual[at],
            expected[at],
            expected.len()
        );
    }
}

#[test]
fn products_of_small_integers_are_exact() {
    for_each("products_of_small_integers_are_exact", |device| {
        let start = Instant::now();
        for (number, case) in cases().enumerate() {
            // Each case by one kernel, and each kernel in each order.
            let variant = |round| {
                let all = TensorVariant::ALL;
                Some(all[(number + number / (2 * all.len()) + round) % all.len()])
            };
            exact::<bf16, f32>(device, variant(0), case);
            exact::<f16, f16>(device, variant(1), case);
            if number % 3 == 0 {
                exact::<bf16, bf16>(device, variant(2), case);
                exact::<f16, f32>(device, None, case);
            }
        }
        println!("{}: {:.1} s", device.name(), start.elapsed().as_secs_f64());
    });
}

/// Factors of few rows or columns in all layouts: lines that follow one another at once, or begin anywhere.
fn thin_cases() -> impl Iterator<Item = Case> {
    let shapes = [[1, 1, 1], [3, 5, 70], [1, 6, 131], [13, 2, 3], [2, 9, 300], [150, 3, 65], [31, 140, 129]];
    shapes.into_iter().flat_map(|shape| {
        (0..16).map(move |bits: usize| {
            let bit = |at: usize| bits >> at & 1 == 1;
            let columns = [bit(0), bit(1), bit(2)];
            let starts = [bits % 3, bits % 5];
            let beta = if bits % 7 == 6 { -2.0 } else { 0.0 };
            Case { shape, columns, count: 1, odd: [true; 2], dense: bit(3), starts, alpha: 1.0, beta }
        })
    })
}

#[test]
fn products_of_thin_factors_are_exact() {
    for_each("products_of_thin_factors_are_exact", |device| {
        for (number, case) in thin_cases().enumerate() {
            exact::<bf16, bf16>(device, None, case);
            if number % 4 == 0 {
                exact::<f16, f32>(device, None, case);
            }
        }
    });
}

/// Nothing lies behind the last lines of factors whose inner stages are copied without a look at their ends.
#[test]
fn thin_factors_end_with_their_last_lines() {
    let shape = [40, 33, 321];
    assert_eq!(split(2, shape.map(|extent| extent as u32), 1).0, 1, "a part may have no inner stage");
    for_each("thin_factors_end_with_their_last_lines", |device| {
        for order in 0..4 {
            let columns = [order & 1 != 0, order & 2 != 0, order == 3];
            let (odd, starts) = ([true; 2], [0; 2]);
            let case = Case { shape, columns, count: 1, odd, dense: true, starts, alpha: 1.0, beta: 0.0 };
            exact::<bf16, f32>(device, Some(TensorVariant::Thin), case);
        }
    });
}

/// Any numbers: within the bound on every device, and on the CPU and in the simulator the same bits.
#[test]
fn products_of_any_numbers_are_within_the_bound() {
    let case = Case {
        shape: [70, 300, 555],
        columns: [false; 3],
        count: 1,
        odd: [false; 2],
        dense: false,
        starts: [0; 2],
        alpha: 1.0,
        beta: 0.0,
    };
    let layouts = case.layouts();
    let uniform = |bits: u64| (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
    let a = filled::<bf16>(layouts[0], 4, 0.0, uniform);
    let b = filled::<bf16>(layouts[1], 5, 0.0, uniform);
    let c = filled::<f32>(layouts[2], 6, UNTOUCHED, uniform);
    let sums = sums(&a, &b, layouts);
    let mut first: Option<Vec<f32>> = None;
    for_each("products_of_any_numbers_are_within_the_bound", |device| {
        let Some(actual) = product::<bf16, f32>(device, None, case, [&a, &b], &c) else { return };
        for &(at, sum, sizes) in &sums {
            let bound = 2.0 * 555.0 * f64::from(f32::EPSILON) * sizes;
            let error = (f64::from(actual[at]) - sum).abs();
            assert!(error <= bound, "{}: element {at} is off by {error}, allowed is {bound}", device.name());
        }
        let serial = device.kind() != gpu_core::Kind::Cuda;
        match &first {
            None => first = Some(actual),
            Some(first) if serial => assert_eq!(&actual, first, "{}", device.name()),
            Some(_) => {}
        }
    });
}

/// Factors that are not aligned, in products large enough that they are copied: the bits of the product without copies,
/// and of the CPU. On a GPU, whose kernels add in orders of their own, of small integers.
#[test]
fn copied_factors_give_the_same_bits() {
    let uniform = |bits: u64| (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
    let small = |bits: u64| (bits % 5) as f32 - 2.0;
    for_each("copied_factors_give_the_same_bits", |device| {
        let of_gpu = device.kind() == gpu_core::Kind::Cuda;
        let value = |bits| if of_gpu { small(bits) } else { uniform(bits) };
        for order in 0..4_usize {
            let columns = [order & 1 != 0, order & 2 != 0, order == 3];
            let odd = [[true, true], [true, false], [false, true], [false, false]][order];
            // The last is not aligned by its starts alone.
            let starts = [[0, 0], [3, 8], [0, 1], [1, 5]][order];
            let case = Case {
                // Of the first the copy pays.
                shape: if order == 0 { [300, 400, 600] } else { [131, 270, 203] },
                columns,
                count: 1 + order % 2,
                odd,
                dense: false,
                starts,
                alpha: 1.0,
                beta: 0.0,
            };
            let layouts = case.layouts();
            let a = behind(starts[0], filled::<bf16>(layouts[0], 10, f32::NAN, value));
            let b = behind(starts[1], filled::<bf16>(layouts[1], 11, f32::NAN, value));
            let c = filled::<f32>(layouts[2], 12, UNTOUCHED, value);
            let of = |device: &Device, variant| product::<bf16, f32>(device, variant, case, [&a, &b], &c);
            let expected = of(&Device::cpu(), None).unwrap();
            let (of_a, of_b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
            let of_a = Batch::new(of_a.slice(starts[0]..), layouts[0]).unwrap();
            let of_b = Batch::new(of_b.slice(starts[1]..), layouts[1]).unwrap();
            let chosen = gemm_tensor_scratch(of_a, of_b, layouts[2]);
            let packed = variants::gemm_tensor_scratch(TensorVariant::Packed, of_a, of_b, layouts[2]);
            assert_eq!(chosen == packed, order == 0, "{case:?}");
            for variant in [None, Some(TensorVariant::Lanes), Some(TensorVariant::Packed)] {
                let Some(actual) = of(device, variant) else { continue };
                let wrong = actual.iter().zip(&expected).filter(|(a, b)| a != b).count();
                assert_eq!(wrong, 0, "{variant:?} of {case:?} on {}: of {}", device.name(), expected.len());
            }
        }
    });
}

/// Memory for copies is asked for where they pay, and too little of it is an error.
#[test]
fn copies_of_factors_have_their_scratch_memory() {
    for_each("copies_of_factors_have_their_scratch_memory", |device| {
        let memory = device.zeroed::<bf16>(700 * 704 + 1).unwrap();
        let of = |start: usize, leading| {
            let layout = Layout::row_major(700, 700).unwrap().with_leading_dimension(leading).unwrap();
            Matrix::new(memory.slice(start..), layout).unwrap()
        };
        let c = Layout::row_major(700, 700).unwrap();
        let aligned = gemm_tensor_scratch(of(0, 704), of(0, 704), c);
        let size = gemm_tensor_scratch(of(0, 701), of(0, 704), c);
        // A copy of 700 lines of 704 elements.
        assert_eq!(size, aligned.with(ScratchSize::new().array::<bf16>(700 * 704)));
        assert_eq!(gemm_tensor_scratch(of(0, 704), of(1, 704), c), size);
        let mut output = device.zeroed::<f32>(700 * 700).unwrap();
        let output = MatrixMut::new(&mut output, c).unwrap();
        let stream = device.default_stream();
        let mut none = exactly(&stream, ScratchSize::new());
        let result = gemm_tensor::<bf16, f32>(&stream, 1.0, of(1, 704), of(0, 704), 0.0, output, &mut none);
        assert!(if device.kind() == Kind::Cpu { result.is_ok() } else { lacks(result, size) });
    });
}

/// NaN and infinities come through; `alpha` = 0 does not read the factors.
#[test]
fn not_a_number_and_infinities() {
    for_each("not_a_number_and_infinities", |device| {
        let case = Case {
            shape: [3, 8, 16],
            columns: [false; 3],
            count: 1,
            odd: [false; 2],
            dense: false,
            starts: [0; 2],
            alpha: 1.0,
            beta: 0.0,
        };
        let layouts = case.layouts();
        let mut a = filled::<f16>(layouts[0], 7, 0.0, |_| 1.0);
        let b = filled::<f16>(layouts[1], 8, 0.0, |_| 1.0);
        let c = filled::<f32>(layouts[2], 9, UNTOUCHED, |_| 1.0);
        a[layouts[0].matrix.index(0, 3)] = f16::of(f32::NAN);
        a[layouts[0].matrix.index(1, 15)] = f16::of(f32::NEG_INFINITY);
        let Some(actual) = product::<f16, f32>(device, None, case, [&a, &b], &c) else { return };
        let at = |row, column| actual[layouts[2].matrix.index(row, column)];
        for column in 0..8 {
            assert!(at(0, column).is_nan(), "{}", device.name());
            assert_eq!((at(1, column), at(2, column)), (f32::NEG_INFINITY, 16.0), "{}", device.name());
        }
        let none = Case { alpha: 0.0, beta: 2.0, ..case };
        let Some(actual) = product::<f16, f32>(device, None, none, [&a, &b], &c) else { return };
        assert_eq!(actual[layouts[2].matrix.index(0, 3)], 2.0, "{}", device.name());
    });
}

/// On a GPU: sizes at which the ring, the persistent grid and the order of tiles go round many times.
#[test]
fn large_products_on_a_gpu() {
    let Some(device) = cuda("large_products_on_a_gpu") else { return };
    for (shape, columns) in [
        ([1000, 2000, 1024], [false, false, false]),
        ([2048, 4096, 512], [false, true, false]),
        ([3000, 1111, 776], [true, false, false]),
        ([1537, 2049, 1000], [true, true, true]),
    ] {
        let case = Case {
            shape,
            columns,
            count: 1,
            odd: [false; 2],
            dense: false,
            starts: [0; 2],
            alpha: 1.0,
            beta: 0.0,
        };
        let layouts = case.layouts();
        let small = |bits: u64| (bits % 5) as f32 - 2.0;
        let (a, b) = (filled::<bf16>(layouts[0], 1, 0.0, small), filled::<bf16>(layouts[1], 2, 0.0, small));
        let c = filled::<f32>(layouts[2], 3, UNTOUCHED, small);
        let expected = product::<bf16, f32>(&Device::cpu(), None, case, [&a, &b], &c).unwrap();
        for variant in TensorVariant::ALL {
            let Some(actual) = product::<bf16, f32>(&device, Some(variant), case, [&a, &b], &c) else {
                continue;
            };
            let wrong = actual.iter().zip(&expected).filter(|(a, b)| a != b).count();
            assert_eq!(wrong, 0, "{variant:?} of {case:?}: of {}", expected.len());
        }
    }
}
