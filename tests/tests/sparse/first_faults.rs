//! The first of several faults, in rows of several blocks: of what they find each at the same time the least counts.

use gpu_core::Device;
use gpu_sparse::{Algorithm, Analysis, CooView, Csr, Diagonal, Error, Side, Wide, compress, ic0, ilu0};
use gpu_tests::backends::for_each;

const ROWS: usize = 600;
/// In two blocks of 256 threads, a row each.
const FAULTS: [usize; 2] = [300, 590];

/// A diagonal matrix of these columns and values.
fn diagonal(
    device: &Device,
    column: impl Fn(usize) -> usize,
    value: impl Fn(usize) -> f64,
) -> Result<Csr<f64>, Error> {
    let offsets: Vec<u32> = (0..=ROWS as u32).collect();
    let columns: Vec<u32> = (0..ROWS).map(|row| column(row) as u32).collect();
    let values: Vec<f64> = (0..ROWS).map(value).collect();
    on_device(device, &offsets, &columns, &values)
}

/// A matrix that is looked at where it lives: of one that is uploaded the host has looked at it before.
fn on_device(device: &Device, offsets: &[u32], columns: &[u32], values: &[f64]) -> Result<Csr<f64>, Error> {
    let (offsets, columns) = (device.upload(offsets)?, device.upload(columns)?);
    Csr::new(ROWS, ROWS, offsets, columns, device.upload(values)?)
}

/// `other(row)` in the rows with faults, `usual(row)` in all others.
fn either<T>(usual: impl Fn(usize) -> T, other: impl Fn(usize) -> T) -> impl Fn(usize) -> T {
    move |row| if FAULTS.contains(&row) { other(row) } else { usual(row) }
}

#[test]
fn the_first_fault_of_several_blocks_is_told() {
    for_each("the first fault of several blocks", |device| {
        // ---- Matrices
        let error = diagonal(device, either(|row| row, |_| ROWS), |_| 1.0).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { row: 300, .. }), "{error}");
        let mut offsets: Vec<u32> = (0..=ROWS as u32).collect();
        FAULTS.iter().for_each(|&row| offsets[row + 1] = row as u32 - 1);
        let columns = vec![0; ROWS];
        let error = on_device(device, &offsets, &columns, &[1.0; ROWS]).unwrap_err();
        assert!(matches!(error, Error::Offsets { row: 300, .. }), "{error}");

        // ---- Triangles
        let analysed = |column: &dyn Fn(usize) -> usize, value: &dyn Fn(usize) -> f64| {
            let a = diagonal(device, column, value).unwrap();
            Analysis::new(&a, Side::Lower, Diagonal::Stored).map(|_| ()).unwrap_err()
        };
        let one = |_: usize| 1.0;
        let error = analysed(&either(|row| row, |row| row + 1), &one);
        assert!(matches!(error, Error::WrongSide { row: 300, .. }), "{error}");
        let error = analysed(&either(|row| row, |row| row - 1), &one);
        assert!(matches!(error, Error::MissingDiagonal { row: 300 }), "{error}");
        let error = analysed(&|row| row, &either(|_| 1.0, |_| 0.0));
        assert!(matches!(error, Error::ZeroPivot { row: 300 }), "{error}");

        // ---- Another structure
        let a = diagonal(device, |row| row, one).unwrap();
        let analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored).unwrap();
        let other = diagonal(device, either(|row| row, |row| row - 1), one).unwrap();
        let error = analysis.with_matrix(&other).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::OtherStructure { row: 300 }), "{error}");

        // ---- Factors
        let error = ic0(&diagonal(device, |row| row, either(|_| 1.0, |_| -1.0)).unwrap()).unwrap_err();
        assert!(matches!(error, Error::NotPositive { row: 300 }), "{error}");
        let error = ilu0(&diagonal(device, |row| row, either(|_| 1.0, |_| 0.0)).unwrap()).unwrap_err();
        assert!(matches!(error, Error::ZeroPivot { row: 300 }), "{error}");
        let error = ilu0(&other).unwrap_err();
        assert!(matches!(error, Error::MissingDiagonal { row: 300 }), "{error}");

        // ---- Lists of entries, and offsets of 64 bits
        let rows: Vec<u32> = (0..ROWS).map(either(|row| row as u32, |_| ROWS as u32)).collect();
        let (rows, columns) = (device.upload(&rows).unwrap(), device.upload(&columns).unwrap());
        let values = device.upload(&vec![1.0f32; ROWS]).unwrap();
        let error = compress(CooView::new(ROWS, ROWS, &rows, &columns, &values).unwrap()).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { entry: 300, .. }), "{error}");
        let offsets: Vec<u64> = (0..=ROWS).map(either(|row| row as u64, |_| 1 << 40)).collect();
        let offsets = device.upload(&offsets).unwrap();
        let error = Wide::new(ROWS, ROWS, &offsets, &columns, &values).unwrap_err();
        assert!(matches!(error, Error::Offsets { row: 299, .. }), "{error}");
    });
}

/// Two rows of each level, far from each other, and more groups of rows than a block counts in shared memory.
#[test]
fn more_levels_than_are_counted_in_shared_memory() {
    use gpu_sparse_kernels::order::{CLASSES, MOST_COUNTERS};
    const CHAIN: usize = MOST_COUNTERS as usize / CLASSES as usize + 10;
    for_each("more levels than are counted in shared memory", |device| {
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for row in 0..2 * CHAIN as u32 {
            if row % CHAIN as u32 > 0 {
                columns.push(row - 1);
            }
            columns.push(row);
            offsets.push(columns.len() as u32);
        }
        // x of a row is 1 less that of the row before in its chain: 1, 0, 1, 0, …
        let values = vec![1.0f32; columns.len()];
        let a = Csr::upload(device, 2 * CHAIN, 2 * CHAIN, &offsets, &columns, &values).unwrap();
        let mut analysis = Analysis::with(&a, Side::Lower, Diagonal::Stored, Algorithm::Ordered).unwrap();
        assert_eq!(analysis.level_count() as usize, CHAIN, "{device}");
        let b = device.upload(&vec![1.0f32; 2 * CHAIN]).unwrap();
        let mut x = device.zeroed::<f32>(2 * CHAIN).unwrap();
        analysis.solve(&device.default_stream(), 1.0, &b, &mut x).unwrap();
        let expected: Vec<f32> = (0..2 * CHAIN).map(|row| (1 - row % CHAIN % 2) as f32).collect();
        assert_eq!(x.to_vec().unwrap(), expected, "{device}");
    });
}
