use gpu_transpose::{
    BatchLayout, Layout, in_place_scratch_len, permute_into, transpose_batch_into, transpose_in_place,
    transpose_into,
};

use super::*;

#[test]
fn transposes() {
    on_each("transposes", |device| {
        let (rows, columns) = (70, 130);
        let layout = Layout::row_major(rows, columns).unwrap();
        let make =
            |_: &Stream| (floats(device, rows * columns), device.zeroed::<f32>(rows * columns).unwrap(), ());
        replays(device, "transpose", make, |s, (x, y, ())| Ok(transpose_into(s, &*x, layout, y, rows)?));
        let batch = BatchLayout::new(Layout::row_major(35, 26).unwrap(), 10, 35 * 26).unwrap();
        replays(device, "transpose_batch", make, |s, (x, y, ())| {
            Ok(transpose_batch_into(s, &*x, batch, y, 35, 35 * 26)?)
        });
        replays(device, "permute", make, |s, (x, y, ())| {
            Ok(permute_into(s, &*x, &[7, 10, 130], &[2, 0, 1], y)?)
        });
        let make = |_: &Stream| {
            let scratch =
                device.zeroed::<f32>(in_place_scratch_len::<f32>(device, layout.into()).unwrap()).unwrap();
            (floats(device, rows * columns), device.zeroed::<f32>(rows * columns).unwrap(), scratch)
        };
        replays(device, "transpose in place", make, |s, (x, y, scratch)| {
            s.copy(&mut *y, &*x)?;
            Ok(transpose_in_place(s, y, layout.into(), scratch)?)
        });
    });
}
