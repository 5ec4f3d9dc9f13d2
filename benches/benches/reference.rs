//! The CPU references beside the plain ways to do the same, each with the bytes it moves: what a machine without a GPU
//! gets, and how far it is from what its memory gives. And what planning a launch costs the host.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gpu_benches::data;
use gpu_linalg::{BatchLayout, Layout, MatrixMut};
use gpu_scan::kernels::Sum;
use gpu_stencil::{Border, Image, ImageLayout, ImageMut};
use rayon::prelude::*;

/// In the second-level cache, about as large as a last-level cache, and beyond any.
const LENGTHS: [usize; 3] = [1 << 16, 1 << 20, 1 << 26];
/// The same as matrices, one of them with rows that start on odd addresses.
const MATRICES: [(usize, usize); 4] = [(256, 256), (1024, 1024), (8192, 8192), (8191, 8179)];

/// Rows and columns of square factors; the reference takes seconds for larger ones.
const SIDES: [usize; 3] = [256, 1024, 2048];
const MOST_BY_REFERENCE: usize = 256;

/// Elements that one task of a parallel loop takes.
const CHUNK: usize = 1 << 16;

const BYTES: usize = size_of::<f32>();

fn sum(criterion: &mut Criterion) {
    let values = data::values::<f32>(LENGTHS[LENGTHS.len() - 1]);
    let mut group = criterion.benchmark_group("sum/f32");
    for len in LENGTHS {
        let values = &values[..len];
        group.throughput(Throughput::Bytes((len * BYTES) as u64));
        group.bench_function(BenchmarkId::new("reference", len), |b| {
            b.iter(|| gpu_reduce::reference::sum(black_box(values)));
        });
        group.bench_function(BenchmarkId::new("serial loop", len), |b| {
            b.iter(|| black_box(values).iter().sum::<f32>());
        });
        group.bench_function(BenchmarkId::new("rayon sum", len), |b| {
            b.iter(|| black_box(values).par_iter().sum::<f32>());
        });
        // The floor: every element is loaded, and combined in whatever order is fastest.
        group.bench_function(BenchmarkId::new("parallel read", len), |b| {
            b.iter(|| black_box(values).par_chunks(CHUNK).map(combine).reduce(|| 0, |a, b| a ^ b));
        });
    }
    group.finish();
}

/// Exclusive or of the bits: no order to keep, so the compiler is free to use its widest vectors.
fn combine(values: &[f32]) -> u32 {
    values.iter().fold(0, |bits, value| bits ^ value.to_bits())
}

fn scan(criterion: &mut Criterion) {
    let values = data::values::<f32>(LENGTHS[LENGTHS.len() - 1]);
    let mut output = vec![0.0; values.len()];
    let mut group = criterion.benchmark_group("scan/f32");
    let options = gpu_scan::Options::inclusive();
    for len in LENGTHS {
        let (values, output) = (&values[..len], &mut output[..len]);
        group.throughput(Throughput::Bytes((2 * len * BYTES) as u64));
        group.bench_function(BenchmarkId::new("reference", len), |b| {
            b.iter(|| gpu_scan::reference::scan::<Sum<f32>>(black_box(values), &options, black_box(output)));
        });
        group.bench_function(BenchmarkId::new("serial loop", len), |b| {
            b.iter(|| {
                let mut sum = 0.0;
                for (output, value) in black_box(&mut *output).iter_mut().zip(black_box(values)) {
                    sum += value;
                    *output = sum;
                }
            });
        });
        group.bench_function(BenchmarkId::new("parallel copy", len), |b| {
            b.iter(|| {
                let chunks = black_box(&mut *output).par_chunks_mut(CHUNK);
                chunks
                    .zip(black_box(values).par_chunks(CHUNK))
                    .for_each(|(to, from)| to.copy_from_slice(from));
            });
        });
    }
    group.finish();
}

fn transpose(criterion: &mut Criterion) {
    let (rows, cols) = MATRICES[2];
    let values = data::values::<f32>(rows * cols);
    let mut output = vec![0.0; rows * cols];
    let mut group = criterion.benchmark_group("transpose/f32");
    for (rows, cols) in MATRICES {
        let size = format!("{rows}x{cols}");
        let (values, output) = (&values[..rows * cols], &mut output[..rows * cols]);
        group.throughput(Throughput::Bytes((2 * rows * cols * BYTES) as u64));
        let [matrix, transposed] =
            [(rows, cols), (cols, rows)].map(|(rows, cols)| Layout::row_major(rows, cols).expect("it fits"));
        group.bench_function(BenchmarkId::new("reference", &size), |b| {
            b.iter(|| {
                gpu_transpose::reference::transpose(black_box(values), matrix, black_box(output), transposed)
            });
        });
        group.bench_function(BenchmarkId::new("serial loop", &size), |b| {
            b.iter(|| serial(black_box(values), cols, black_box(output), rows));
        });
        group.bench_function(BenchmarkId::new("parallel copy", &size), |b| {
            b.iter(|| {
                let chunks = black_box(&mut *output).par_chunks_mut(CHUNK);
                chunks
                    .zip(black_box(values).par_chunks(CHUNK))
                    .for_each(|(to, from)| to.copy_from_slice(from));
            });
        });
    }
    group.finish();
}

/// The loop that everyone writes first.
fn serial(input: &[f32], cols: usize, output: &mut [f32], rows: usize) {
    for row in 0..rows {
        for column in 0..cols {
            output[column * rows + row] = input[row * cols + column];
        }
    }
}

/// Products of square matrices: the simple loops that say what is right, and what the CPU device runs.
fn gemm(criterion: &mut Criterion) {
    let device = gpu_core::Device::cpu();
    let stream = device.default_stream();
    let mut group = criterion.benchmark_group("gemm/f32");
    for side in SIDES {
        let values = data::values::<f32>(side * side);
        let mut output = vec![0.0; side * side];
        let layout = Layout::row_major(side, side).expect("it fits");
        group.throughput(Throughput::Elements(2 * (side as u64).pow(3)));
        if side <= MOST_BY_REFERENCE {
            let one = BatchLayout { matrix: layout, count: 1, stride: 0 };
            group.bench_function(BenchmarkId::new("reference", side), |b| {
                b.iter(|| {
                    let factor = (black_box(&values[..]), one);
                    gpu_linalg::reference::gemm(1.0, factor, factor, 0.0, (black_box(&mut output), one));
                });
            });
        }
        let mut scratch = gpu_linalg::Scratch::new(&stream);
        group.bench_function(BenchmarkId::new("device", side), |b| {
            b.iter(|| {
                let factor = gpu_linalg::Matrix::new(black_box(&values), layout).expect("it fits");
                let product = MatrixMut::new(black_box(&mut output[..]), layout).expect("it fits");
                gpu_linalg::gemm(&stream, 1.0, factor, factor, 0.0, product, &mut scratch)
                    .expect("the shapes agree");
            });
        });
    }
    group.finish();
}

/// Filters of an image of the size of the photograph, and of a large one.
fn filters(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gaussian/f32");
    let stream = gpu_core::Device::cpu().default_stream();
    for (width, height) in [(750, 499), (4096, 4096)] {
        let layout = ImageLayout::new(width, height, 1).expect("it fits");
        let pixels = data::values::<f32>(layout.span());
        let mut output = vec![0.0f32; layout.span()];
        group.throughput(Throughput::Bytes((2 * layout.span() * BYTES) as u64));
        group.bench_function(BenchmarkId::new("reference, 9 × 9", format!("{width}x{height}")), |b| {
            b.iter(|| {
                let image = Image::new(&pixels[..], layout).expect("it fits");
                let output = ImageMut::new(&mut output[..], layout).expect("it fits");
                gpu_stencil::gaussian_into(&stream, image, 1.0, 4.0, Border::Reflect, output)
                    .expect("it runs");
            });
        });
    }
    group.finish();
}

/// What the host does before each launch.
fn plan(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    group.bench_function("sum", |b| {
        b.iter(|| gpu_reduce::Plan::new::<gpu_reduce::kernels::Sum<f32>>(black_box(1 << 28)).launch())
    });
    group.bench_function("transpose", |b| {
        b.iter(|| {
            let matrix = Layout::row_major(black_box(16381), black_box(16363)).expect("it fits");
            gpu_transpose::Plan::new(matrix, 4).expect("it fits")
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = plan, sum, scan, transpose, gemm, filters
}
criterion_main!(benches);
