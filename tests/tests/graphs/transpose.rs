use gpu_transpose::{
    Batch, BatchLayout, BatchMut, Layout, Matrix, MatrixMut, Scratch, in_place_scratch, permute_into,
    transpose_in_place, transpose_into,
};

use super::*;

#[test]
fn transposes() {
    on_each("transposes", |device| {
        let (rows, columns) = (70, 130);
        let layout = Layout::row_major(rows, columns).unwrap();
        let make =
            |_: &Stream| (floats(device, rows * columns), device.zeroed::<f32>(rows * columns).unwrap(), ());
        replays(device, "transpose", make, |s, (x, y, ())| {
            let output = MatrixMut::new(y, Layout::row_major(columns, rows)?)?;
            Ok(transpose_into(s, Matrix::new(&*x, layout)?, output)?)
        });
        let [batch, transposed] = [(35, 26), (26, 35)]
            .map(|(r, c)| BatchLayout::new(Layout::row_major(r, c).unwrap(), 10, 35 * 26).unwrap());
        replays(device, "transpose_batch", make, |s, (x, y, ())| {
            Ok(transpose_into(s, Batch::new(&*x, batch)?, BatchMut::new(y, transposed)?)?)
        });
        replays(device, "permute", make, |s, (x, y, ())| {
            Ok(permute_into(s, &*x, &[7, 10, 130], &[2, 0, 1], y)?)
        });
        let make = |stream: &Stream| {
            let size = in_place_scratch::<f32>(device, layout).unwrap();
            let scratch = Scratch::with_size(stream, size).unwrap();
            (floats(device, rows * columns), device.zeroed::<f32>(rows * columns).unwrap(), scratch)
        };
        replays(device, "transpose in place", make, |s, (x, y, scratch)| {
            s.copy(&mut *y, &*x)?;
            Ok(transpose_in_place(s, MatrixMut::new(y, layout)?, scratch)?)
        });
    });
}
