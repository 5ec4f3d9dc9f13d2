//! Calls that are refused leave their output as it was.

use gpu_core::interop::{raw_pointer, view_from_raw, view_mut_from_raw};
use gpu_core::{Buffer, Device, Error as Core, Kind, Layout, Matrix, MatrixMut, Stream, ViewMut};
use gpu_sparse::{Algorithm, Analysis, Csr, Diagonal, Error, Side, Spmv, Strategy, Wide, WideSpmv};
use gpu_tests::backends::{cuda, for_each};

use crate::support::matrix;

/// What outputs hold before.
const OLD: f64 = 7.0;

/// Vectors, or columns that lie one behind the other.
const COLUMNS: usize = 3;

/// That a call from vectors of `columns` elements to such of `rows`, `count` of them, refuses other lengths, a stream
/// of another device, and vectors there, each with its error, and leaves its output.
fn refuses(
    name: &str,
    device: &Device,
    (rows, columns, count): (usize, usize, usize),
    mut call: impl FnMut(&Stream, &Buffer<f64>, &mut Buffer<f64>) -> Result<(), Error>,
) {
    let other = if device.kind() == Kind::Cpu { Device::simulator() } else { Device::cpu() };
    let mut refused = |stream: &Device, input: (&Device, usize), output: (&Device, usize)| {
        let (len, stream) = (count * output.1, stream.default_stream());
        let input = input.0.upload(&vec![1.0; count * input.1]).unwrap();
        let mut output = output.0.upload(&vec![OLD; len]).unwrap();
        let error = call(&stream, &input, &mut output).unwrap_err();
        assert_eq!(output.to_vec().unwrap(), vec![OLD; len], "{name}: {error}");
        error
    };
    for (input, output) in
        [(columns - 1, rows), (columns + 1, rows), (columns, rows - 1), (columns, rows + 1)]
    {
        match refused(device, (device, input), (device, output)) {
            Error::Device(Core::VectorLengths { .. }) if count == 1 => {}
            Error::Device(Core::Shape { expected, actual, .. }) => {
                assert_ne!(expected, actual, "{name}")
            }
            error => panic!("{name}: {error}"),
        }
    }
    for (on, input, output) in [(&other, device, device), (device, &other, device), (device, device, &other)]
    {
        match refused(on, (input, columns), (output, rows)) {
            Error::Device(Core::WrongDevice { .. }) => {}
            error => panic!("{name}: {error}"),
        }
    }
}

/// So many columns of a buffer, one behind the other.
fn layout(len: usize) -> Layout {
    Layout::column_major(len / COLUMNS, COLUMNS).unwrap()
}

#[test]
fn refused_systems_leave_the_solution() {
    for_each("refused systems", |device| {
        let a = matrix::<f64>(40, 40, 501, |row, _| vec![row / 2, row]).on(device);
        for algorithm in Algorithm::ALL {
            let mut analysis = Analysis::with(&a, Side::Lower, Diagonal::Stored, algorithm).unwrap();
            refuses("solve", device, (40, 40, 1), |stream, b, x| analysis.solve(stream, 1.0, b, x));
            refuses("solve_many", device, (40, 40, COLUMNS), |stream, b, x| {
                let (of_b, of_x) = (layout(b.len()), layout(x.len()));
                analysis.solve_many(stream, 1.0, Matrix::new(b, of_b)?, MatrixMut::new(x, of_x)?)
            });
        }
    });
}

#[test]
fn refused_products_leave_the_output() {
    for_each("refused products", |device| {
        let host = matrix::<f64>(40, 50, 502, |row, _| vec![row, row + 5]);
        let a = host.on(device);
        for strategy in [Strategy::Thread, Strategy::Lanes4, Strategy::Balanced] {
            let mut product = Spmv::new(&a).unwrap().with_strategy(strategy).unwrap();
            refuses("run", device, (40, 50, 1), |stream, x, y| product.run(stream, 1.0, x, 2.0, y));
            refuses("run_many", device, (40, 50, COLUMNS), |stream, b, c| {
                let (of_b, of_c) = (layout(b.len()), layout(c.len()));
                product.run_many(stream, 1.0, Matrix::new(b, of_b)?, 2.0, MatrixMut::new(c, of_c)?)
            });
        }
        let offsets: Vec<u64> = host.offsets.iter().map(|&offset| offset.into()).collect();
        let (offsets, a) = (device.upload(&offsets).unwrap(), a.view());
        let wide = Wide::in_panels(40, 50, &offsets, a.indices(), a.values(), 50).unwrap();
        assert!(wide.panels().count() > 1);
        let mut product = WideSpmv::new(&wide).unwrap();
        refuses("wide run", device, (40, 50, 1), |stream, x, y| product.run(stream, 1.0, x, 2.0, y));
        refuses("wide run_many", device, (40, 50, COLUMNS), |stream, b, c| {
            let (of_b, of_c) = (layout(b.len()), layout(c.len()));
            product.run_many(stream, 1.0, Matrix::new(b, of_b)?, 2.0, MatrixMut::new(c, of_c)?)
        });
    });
}

/// Borrows rule out that outputs share memory with what is read, so it takes memory that was taken over from
/// elsewhere: on CUDA.
#[test]
fn outputs_that_share_memory_are_refused_and_left() {
    let Some(device) = cuda("outputs_that_share_memory_are_refused_and_left") else { return };
    let stream = device.default_stream();
    const ROWS: usize = 40;
    let host = matrix::<f64>(ROWS, ROWS, 503, |row, _| vec![row / 2, row]);
    let a = host.on(&device);
    let old: Vec<f64> = (0..4 * ROWS * COLUMNS).map(|i| i as f64).collect();
    let memory = device.upload(&old).unwrap();
    let address = |from: usize| raw_pointer(&memory).unwrap() + (from * size_of::<f64>()) as u64;
    // SAFETY: the elements are the buffer's, which outlives the calls below. Those that are handed them twice refuse.
    let read = |from, len| unsafe { view_from_raw::<f64>(&device, address(from), len) }.unwrap();
    // SAFETY: as above.
    let write = |from, len| unsafe { view_mut_from_raw::<f64>(&device, address(from), len) }.unwrap();
    let of_a = |a: &Csr<f64>| -> ViewMut<'_, f64> {
        let address = raw_pointer(a.view().values()).unwrap();
        // SAFETY: as above, of the matrix.
        unsafe { view_mut_from_raw(&device, address, ROWS) }.unwrap()
    };
    let refused = |result: Result<(), Error>, expected| {
        assert!(
            matches!(result, Err(Error::Device(Core::Aliasing { with })) if with == expected),
            "{expected}: {result:?}"
        );
        assert_eq!(memory.to_vec().unwrap(), old, "{expected}");
        assert_eq!(a.view().values().to_vec().unwrap(), host.values, "{expected}");
    };
    // One element in common.
    let (many, from) = (ROWS * COLUMNS, ROWS * COLUMNS - 1);
    let mut analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored).unwrap();
    refused(analysis.solve(&stream, 1.0, read(0, ROWS), write(ROWS - 1, ROWS)), "b");
    refused(analysis.solve(&stream, 1.0, read(0, ROWS), of_a(&a)), "A");
    let b = Matrix::new(read(0, many), layout(many)).unwrap();
    let x = MatrixMut::new(write(from, many), layout(many)).unwrap();
    refused(analysis.solve_many(&stream, 1.0, b, x), "b");
    let mut product = Spmv::new(&a).unwrap();
    refused(product.run(&stream, 1.0, read(0, ROWS), 0.0, write(ROWS - 1, ROWS)), "x");
    refused(product.run(&stream, 1.0, read(0, ROWS), 0.0, of_a(&a)), "A");
    let c = MatrixMut::new(write(from, many), layout(many)).unwrap();
    refused(product.run_many(&stream, 1.0, b, 0.0, c), "B");
}
