//! Kernels whose blocks take several parts in turn, in fewer blocks than a launch of small matrices has.

use gpu_core::Device;
use gpu_std::launch::LaunchConfig;
use gpu_transpose_kernels as kernels;

/// Two blocks have several rows each, and several bands of columns: what one round reads of the scratch memory, the
/// next must not have overwritten.
#[test]
fn passes_in_place_take_rows_and_bands_in_turn() {
    // Coprime: nothing is rotated, `a` and `b` are the extents themselves.
    let (rows, columns) = (7, 300);
    let values: Vec<u32> = (0..rows * columns).collect();
    let device = Device::simulator();
    let stream = device.default_stream();
    let mut data = device.upload(&values).unwrap();
    let mut scratch = device.alloc::<u32>(2 * (columns.max(rows * kernels::band(4))) as usize).unwrap();
    let launch = LaunchConfig::linear(2, kernels::THREADS);
    // SAFETY: the array has that many rows and columns, and the scratch memory a row and a band for each block.
    unsafe {
        stream
            .launch::<kernels::transpose_rows_b32>(
                launch,
                (data.view_mut().untyped(), scratch.view_mut().untyped(), rows, columns, columns),
            )
            .unwrap();
        stream
            .launch::<kernels::transpose_columns_b32>(
                launch,
                (data.view_mut().untyped(), scratch.view_mut().untyped(), rows, columns, rows, columns, 0),
            )
            .unwrap();
    }
    let expected: Vec<u32> = (0..rows * columns).map(|i| i % rows * columns + i / rows).collect();
    assert_eq!(data.to_vec().unwrap(), expected);
}
