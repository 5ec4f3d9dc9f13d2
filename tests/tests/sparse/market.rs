//! Matrix Market files.

use gpu_core::Device;
use gpu_sparse::{Csr, Element, compress, market};
use gpu_tests::backends::for_each;

use crate::support::matrix;

fn compressed(device: &Device, text: &str) -> Csr<f64> {
    compress(&market::read::<f64>(device, text.as_bytes()).unwrap()).unwrap()
}

fn parts<T: Element>(matrix: Csr<T>) -> (Vec<u32>, Vec<u32>, Vec<T>) {
    let (offsets, indices, values) = matrix.into_buffers();
    (offsets.to_vec().unwrap(), indices.to_vec().unwrap(), values.to_vec().unwrap())
}

#[test]
fn files_are_read() {
    for_each("market", |device| {
        let general =
            "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 3\n2 1 -1.5e0\n1 3 2\n1 1 4\n";
        assert_eq!(parts(compressed(device, general)), (vec![0, 2, 3], vec![0, 2, 0], vec![4.0, 2.0, -1.5]));
        let symmetric = "%%matrixmarket MATRIX coordinate integer symmetric\r\n2 2 2\r\n1 1 4\r\n2 1 3\r\n";
        assert_eq!(parts(compressed(device, symmetric)), (vec![0, 2, 3], vec![0, 1, 0], vec![4.0, 3.0, 3.0]));
        let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n\n% the end\n";
        assert_eq!(parts(compressed(device, skew)), (vec![0, 1, 2], vec![1, 0], vec![-3.0, 3.0]));
        let pattern = "%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n";
        assert_eq!(parts(compressed(device, pattern)), (vec![0, 1], vec![1], vec![1.0]));
        let empty = "%%MatrixMarket matrix coordinate real general\n3 0 0\n";
        assert_eq!(parts(compressed(device, empty)), (vec![0; 4], vec![], vec![]));
    });
}

#[test]
fn what_is_written_is_read_again() {
    for_each("market, there and back", |device| {
        let host = matrix::<f64>(40, 30, 81, |_, random| (0..4).map(|_| random.below(30)).collect());
        let mut file = Vec::new();
        market::write(&host.on(device), &mut file).unwrap();
        let read = compressed(device, std::str::from_utf8(&file).unwrap());
        assert_eq!(parts(read), (host.offsets, host.indices, host.values));
    });
}

#[test]
fn mistakes_are_told_with_their_line() {
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let cases = [
        ("".to_string(), "line 1: a file starts with `%%MatrixMarket matrix` and three words more"),
        (
            "%%MatrixMarket matrix array real general\n".into(),
            "line 1: `array` files are not read, only `coordinate`",
        ),
        (
            "%%MatrixMarket matrix coordinate complex general\n".into(),
            "line 1: `complex` values are not read",
        ),
        (
            "%%MatrixMarket matrix coordinate real hermitian\n".into(),
            "line 1: `hermitian` matrices are not read",
        ),
        (format!("{head}% only that\n"), "line 3: the file ends where the size should be"),
        (format!("{head}2 2\n"), "line 2: the size is 3 numbers, not `2 2`"),
        (format!("{head}2 -2 1\n"), "line 2: `-2` is no number of columns"),
        (format!("{head}2 2 2\n1 1 1\n"), "line 4: the file ends where entry 2 of 2 should be"),
        (format!("{head}2 2 1\n%\n1 1\n"), "line 4: an entry is 3 numbers, not `1 1`"),
        (format!("{head}2 2 1\n1 1 1 1\n"), "line 3: an entry is 3 numbers, not `1 1 1 1`"),
        (format!("{head}2 2 1\n1 x 1\n"), "line 3: `x` is no column"),
        (format!("{head}2 2 1\n1 1 one\n"), "line 3: `one` is no number"),
        (format!("{head}2 2 1\n0 1 1\n"), "line 3: row 0 of 2"),
        (format!("{head}2 2 1\n1 3 1\n"), "line 3: column 3 of 2"),
        (format!("{head}2 2 1\n1 1 1\n\n2 2 2\n"), "line 5: there are more entries than the 1 announced"),
        (
            "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n".into(),
            "line 3: of a symmetric matrix the lower triangle is stored",
        ),
        (
            "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 2 1\n".into(),
            "line 2: a 2 × 3 matrix is not symmetric",
        ),
    ];
    for (text, expected) in cases {
        let error = market::read::<f32>(&Device::cpu(), text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let error = market::read::<f32>(&Device::cpu(), &b"%%MatrixMarket\xff\n"[..]).unwrap_err();
    assert_eq!(error.to_string(), "line 1: not UTF-8");
}
