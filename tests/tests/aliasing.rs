//! Outputs that share memory with what is read. Borrows rule that out, so it takes memory that was taken over from
//! elsewhere: on CUDA.

use gpu_core::interop::{raw_pointer, view_from_raw, view_mut_from_raw};
use gpu_core::{Buffer, Device, Element, Scratch, View, ViewMut};
use gpu_linalg::{Layout, Matrix, MatrixMut};
use gpu_stencil::iterate::{Boundary, Grid, Problem, Stencil, iterate_into, iterate_scratch};
use gpu_stencil::resize::{Interpolation, resize_into};
use gpu_stencil::signal::{self, Mode};
use gpu_stencil::texture::{Descriptor, Texture, sample_into};
use gpu_stencil::{Border, Filter, Gradients, Image, ImageLayout, ImageMut, SeparableFilter};
use gpu_tests::backends::cuda;

/// Memory of which any part can be read and written at the same time, as far as the compiler knows.
struct Shared<'a, T: Element> {
    device: &'a Device,
    buffer: Buffer<T>,
}

impl<'a, T: Element> Shared<'a, T> {
    fn address(&self, from: usize) -> u64 {
        raw_pointer(&self.buffer).unwrap() + (from * size_of::<T>()) as u64
    }

    fn read(&self, from: usize, len: usize) -> View<'a, T> {
        assert!(from + len <= self.buffer.len());
        // SAFETY: the elements are the buffer's, which outlives the calls below. Those that are handed them twice are
        // to refuse.
        unsafe { view_from_raw(self.device, self.address(from), len) }.unwrap()
    }

    fn write(&self, from: usize, len: usize) -> ViewMut<'a, T> {
        assert!(from + len <= self.buffer.len());
        // SAFETY: as above.
        unsafe { view_mut_from_raw(self.device, self.address(from), len) }.unwrap()
    }
}

/// That the call names `$with`.
macro_rules! refuses {
    ($with:literal, $call:expr) => {
        match $call.map_err(gpu_core::Error::from) {
            Err(gpu_core::Error::Aliasing { with }) => assert_eq!(with, $with),
            other => panic!("{other:?} instead of an output that shares memory with {}", $with),
        }
    };
}

#[test]
fn stencils_refuse_outputs_that_share_memory() {
    let Some(device) = cuda("stencils_refuse_outputs_that_share_memory") else { return };
    let stream = device.default_stream();
    let content: Vec<f32> = (0..512).map(|i| i as f32).collect();
    let memory = Shared { device: &device, buffer: device.upload(&content).unwrap() };
    let layout = ImageLayout::new(16, 8, 1).unwrap();
    // One element in common.
    let image = || Image::new(memory.read(0, 128), layout).unwrap();
    let output = || ImageMut::new(memory.write(127, 128), layout).unwrap();
    let apart = || ImageMut::new(memory.write(256, 128), layout).unwrap();

    let full = Filter::new(3, 3, &[1.0; 9]).unwrap();
    refuses!("the input", gpu_stencil::correlate_into(&stream, image(), &full, Border::Reflect, output()));
    let separable = SeparableFilter::new(&[1.0; 3], &[1.0; 3]).unwrap();
    refuses!(
        "the input",
        gpu_stencil::correlate_separable_into(&stream, image(), &separable, Border::Reflect, output())
    );

    let gradients = Gradients { gy: Some(output()), ..Gradients::default() };
    refuses!("the input", gpu_stencil::sobel_into(&stream, image(), Border::Reflect, gradients));
    let twice = Gradients {
        gx: Some(apart()),
        direction: Some(ImageMut::new(memory.write(383, 128), layout).unwrap()),
        ..Gradients::default()
    };
    refuses!("another output", gpu_stencil::sobel_into(&stream, image(), Border::Reflect, twice));

    refuses!("the input", resize_into(&stream, image(), Interpolation::Nearest, output()));

    let (samples, filter) = (memory.read(0, 100), memory.read(200, 5));
    refuses!(
        "the signal",
        signal::correlate_into(&stream, samples, filter, Mode::Same, memory.write(99, 100))
    );
    refuses!(
        "the filter",
        signal::correlate_into(&stream, samples, filter, Mode::Same, memory.write(204, 100))
    );

    let texture = Texture::new(&device, &[8], 1, Descriptor::default(), &content[..8]).unwrap();
    refuses!(
        "the places in a texture",
        sample_into(&stream, &texture, memory.read(0, 10), memory.write(9, 10))
    );

    let (grid, laplace) = (Grid::plane(8, 16).unwrap(), Stencil::jacobi(2, 1.0f32).unwrap());
    let large = Shared { device: &device, buffer: device.upload(&[0.5f32; 512]).unwrap() };
    let size = iterate_scratch::<f32>(grid, 2);
    let mut scratch = Scratch::with_size(&stream, size).unwrap().fixed();
    let problem = Problem::new(&laplace, grid, Boundary::Periodic).unwrap();
    let mut step = |problem: &Problem<'_, f32>, output| {
        iterate_into(&stream, problem, large.read(0, 128), 2, large.write(output, 128), &mut scratch)
    };
    refuses!("the state", step(&problem, 127));
    let heated = problem.with_source(large.read(256, 128)).unwrap();
    refuses!("the source", step(&heated, 255));

    // Scratch memory that somebody brought: the last element that the call uses.
    let words = device.upload(&vec![5u128; 4 * size.words()]).unwrap();
    let address = raw_pointer(&words).unwrap() + 127 * size_of::<f32>() as u64;
    let mut brought = Scratch::from_buffer(&stream, words).unwrap();
    // SAFETY: the elements are those words', which outlive the calls below. These are to refuse them.
    let read = || unsafe { view_from_raw::<f32>(&device, address, 128) }.unwrap();
    // SAFETY: as above.
    let write = unsafe { view_mut_from_raw::<f32>(&device, address, 128) }.unwrap();
    let mut step = |problem: &Problem<'_, f32>, state: View<'_, f32>, output: ViewMut<'_, f32>| {
        iterate_into(&stream, problem, state, 2, output, &mut brought)
    };
    refuses!("the state", step(&problem, read(), large.write(128, 128)));
    refuses!("the output", step(&problem, large.read(0, 128), write));
    let heated = problem.with_source(read()).unwrap();
    refuses!("the source", step(&heated, large.read(0, 128), large.write(128, 128)));
    assert!(brought.into_buffer().to_vec().unwrap().iter().all(|&word| word == 5));

    assert_eq!(memory.buffer.to_vec().unwrap(), content, "what was refused wrote nothing");
    assert!(large.buffer.to_vec().unwrap().iter().all(|&value| value == 0.5));
}

#[test]
fn transpositions_refuse_outputs_that_share_memory() {
    let Some(device) = cuda("transpositions_refuse_outputs_that_share_memory") else { return };
    let stream = device.default_stream();
    let content: Vec<f32> = (0..256).map(|i| i as f32).collect();
    let memory = Shared { device: &device, buffer: device.upload(&content).unwrap() };
    let square = Layout::row_major(8, 8).unwrap();
    let matrix = Matrix::new(memory.read(0, 64), square).unwrap();
    let output = MatrixMut::new(memory.write(63, 64), square).unwrap();
    refuses!("the input", gpu_transpose::transpose_into(&stream, matrix, output));
    let (input, output) = (memory.read(0, 64), memory.write(63, 64));
    refuses!("the input", gpu_transpose::permute_into(&stream, input, &[8, 8], &[1, 0], output));
    assert_eq!(memory.buffer.to_vec().unwrap(), content, "what was refused wrote nothing");
}

#[test]
fn products_and_sums_refuse_outputs_that_share_memory() {
    let Some(device) = cuda("products_and_sums_refuse_outputs_that_share_memory") else { return };
    let stream = device.default_stream();
    let content: Vec<f32> = (0..512).map(|i| i as f32).collect();
    let memory = Shared { device: &device, buffer: device.upload(&content).unwrap() };
    let square = Layout::row_major(8, 8).unwrap();
    let matrix = |from| Matrix::new(memory.read(from, 64), square).unwrap();
    let output = |from| MatrixMut::new(memory.write(from, 64), square).unwrap();

    let mut none = Scratch::new(&stream);
    let mut gemm = |output| gpu_linalg::gemm(&stream, 1.0, matrix(0), matrix(128), 0.0, output, &mut none);
    refuses!("A", gemm(output(63)));
    refuses!("B", gemm(output(191)));
    refuses!("y", gpu_linalg::add(&stream, memory.read(0, 9), memory.read(100, 9), memory.write(108, 9)));
    refuses!("x", gpu_linalg::add(&stream, memory.read(0, 9), memory.read(100, 9), memory.write(8, 9)));

    let mut scratch = Scratch::new(&stream);
    let biased = gpu_linalg::Epilogue::new().bias_per_row(memory.read(320, 8));
    let mut fused = |output| {
        let (a, b) = (matrix(0), matrix(128));
        gpu_linalg::gemm_tf32_with(&stream, 1.0, a, b, 0.0, output, &biased, &mut scratch)
    };
    refuses!("A", fused(output(63)));
    refuses!("the bias", fused(output(327)));
    let mut scratch = Scratch::new(&stream);
    let mut gemv = |y| gpu_linalg::gemv(&stream, 1.0, matrix(0), memory.read(100, 8), 0.0, y, &mut scratch);
    refuses!("A", gemv(memory.write(63, 8)));
    refuses!("x", gemv(memory.write(107, 8)));
    refuses!("x", gpu_linalg::ger(&stream, 1.0, memory.read(63, 8), memory.read(100, 8), output(0)));
    refuses!("y", gpu_linalg::ger(&stream, 1.0, memory.read(100, 8), memory.read(63, 8), output(0)));

    assert_eq!(memory.buffer.to_vec().unwrap(), content, "what was refused wrote nothing");
}

#[test]
fn factors_systems_and_updates_refuse_outputs_that_share_memory() {
    use gpu_linalg::{Diagonal, Side, Triangle};
    let Some(device) = cuda("factors_systems_and_updates_refuse_outputs_that_share_memory") else { return };
    let stream = device.default_stream();
    let content: Vec<f32> = (0..512).map(|i| i as f32).collect();
    let memory = Shared { device: &device, buffer: device.upload(&content).unwrap() };
    let square = Layout::row_major(8, 8).unwrap();
    let matrix = |from| Matrix::new(memory.read(from, 64), square).unwrap();
    // One element in common with the matrix from 0 on, or with the one from 128 on.
    let output = |from| MatrixMut::new(memory.write(from, 64), square).unwrap();
    let mut scratch = Scratch::new(&stream);
    let mut info = device.upload(&[5u32]).unwrap();
    let (lower, left, stored) = (Triangle::Lower, Side::Left, Diagonal::Stored);

    let into = output(63);
    refuses!("A", gpu_linalg::potrf_to(&stream, lower, matrix(0), into, &mut info, &mut scratch));
    refuses!("L", gpu_linalg::potrs(&stream, lower, matrix(0), output(63), &mut scratch));
    refuses!("L", gpu_linalg::potri_to(&stream, lower, matrix(0), output(63), &mut scratch));
    refuses!("L", gpu_linalg::potrs_to(&stream, lower, matrix(0), matrix(256), output(63), &mut scratch));
    refuses!("B", gpu_linalg::potrs_to(&stream, lower, matrix(256), matrix(0), output(63), &mut scratch));
    let into = output(63);
    refuses!(
        "A",
        gpu_linalg::trsm(&stream, left, lower, stored, 1.0, matrix(0), into, &mut info, &mut scratch)
    );
    let x = memory.write(63, 8);
    refuses!("A", gpu_linalg::trsv(&stream, lower, stored, matrix(0), x, &mut info, &mut scratch));
    refuses!("A", gpu_linalg::trmm(&stream, left, lower, stored, 1.0, matrix(0), output(63), &mut scratch));
    for (with_b, from) in [(false, 63), (true, 191)] {
        let mut symm = |into| {
            gpu_linalg::symm(&stream, left, lower, 1.0, matrix(0), matrix(128), 0.0, into, &mut scratch)
        };
        match with_b {
            false => refuses!("A", symm(output(from))),
            true => refuses!("B", symm(output(from))),
        }
        let mut syr2k =
            |into| gpu_linalg::syr2k(&stream, lower, 1.0, matrix(0), matrix(128), 0.0, into, &mut scratch);
        match with_b {
            false => refuses!("A", syr2k(output(from))),
            true => refuses!("B", syr2k(output(from))),
        }
    }
    refuses!("A", gpu_linalg::syrk(&stream, lower, 1.0, matrix(0), 0.0, output(63), &mut scratch));

    let (sizes, order) = (gpu_linalg::Sizes::new(&device, &[8]).unwrap(), gpu_linalg::Order::ColumnMajor);
    let (l, b) = (memory.read(0, 64), memory.write(63, 8));
    refuses!("L", gpu_linalg::potrs_sizes(&stream, lower, order, &sizes, l, order, 1, b));

    assert_eq!(memory.buffer.to_vec().unwrap(), content, "what was refused wrote nothing");
    assert_eq!(info.to_vec().unwrap(), [5]);

    let content = vec![2.0f64; 128];
    let memory = Shared { device: &device, buffer: device.upload(&content).unwrap() };
    let a = Matrix::new(memory.read(0, 64), square).unwrap();
    let b = MatrixMut::new(memory.write(63, 8), Layout::column_major(8, 1).unwrap()).unwrap();
    refuses!("A", gpu_linalg::potrs_refined(lower, a, b));
    assert_eq!(memory.buffer.to_vec().unwrap(), content, "what was refused wrote nothing");
}
