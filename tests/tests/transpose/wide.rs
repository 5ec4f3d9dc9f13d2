//! The kernel of large squares of bytes in place, which real devices run for thousands of rows: here for a few tiles.

use gpu_core::Device;
use gpu_sim::{Config, Record};
use gpu_tests::backends::{cuda, for_each};
use gpu_transpose::{
    BatchLayout, BatchMut, Layout, MatrixMut, Scratch, transpose_in_place, transpose_in_place_wide,
};

/// `len` bytes that differ from those around them.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i as u32).wrapping_mul(0x9e37_79b9).to_be_bytes()[0]).collect()
}

/// What `values` become, by an oracle that goes byte by byte.
fn transposed(values: &[u8], batch: BatchLayout, from: usize) -> Vec<u8> {
    let (side, ld) = (batch.matrix.rows(), batch.matrix.leading_dimension());
    let mut result = values.to_vec();
    for number in 0..batch.count {
        let start = from + number * batch.stride;
        for (row, column) in (0..side).flat_map(|row| (0..side).map(move |column| (row, column))) {
            result[start + column * ld + row] = values[start + row * ld + column];
        }
    }
    result
}

/// `count` matrices, `gap` bytes between rows and between matrices, in at most `blocks` blocks. The gaps and what
/// surrounds the matrices stay as they were.
fn check(device: &Device, side: usize, count: usize, gap: usize, from: usize, blocks: u32) {
    let ld = side + gap;
    let matrix = Layout::row_major(side, side).and_then(|layout| layout.with_leading_dimension(ld)).unwrap();
    let batch = BatchLayout::new(matrix, count, matrix.span() + gap).unwrap();
    let values = bytes(from + batch.span().unwrap() + 40);
    let expected = transposed(&values, batch, from);
    let mut data = device.upload(&values).unwrap();
    let matrices = BatchMut::new(data.slice_mut(from..), batch).unwrap();
    transpose_in_place_wide(&device.default_stream(), matrices, blocks).unwrap();
    let name = device.name();
    assert!(
        data.to_vec().unwrap() == expected,
        "{count} of {side}² + {gap} from {from}, {blocks} blocks, on {name}"
    );
    if let Some(simulator) = device.as_simulator() {
        let report = simulator.last_report().unwrap();
        let pairs = (side.div_ceil(256) * (side.div_ceil(256) + 1) / 2 * count) as u64;
        assert_eq!(report.kernel, "transpose_square_wide_b8");
        assert_eq!(report.blocks, pairs.min(blocks.into()));
    }
}

/// Less than a tile, tiles that end before, whole tiles; a block for every pair, and blocks that take several.
#[test]
fn squares_of_any_multiple_of_vectors() {
    for_each("squares_of_any_multiple_of_vectors", |device| {
        for side in [16, 48, 240, 256, 272] {
            for blocks in [1, 2, 1000] {
                check(device, side, 1, 0, 0, blocks);
            }
            check(device, side, 3, 16, 32, 4);
        }
        check(device, 512, 1, 48, 16, 2);
        check(device, 784, 2, 16, 0, 5);
        check(device, 1040, 1, 0, 0, 4);
    });
}

/// Blocks that start, interleave and end in any order: no two touch the same bytes, and none reads shared memory before
/// it is written.
#[test]
fn no_schedule_shows_a_race() {
    for seed in 0..6 {
        let resident_blocks = 1 + (seed % 4) as usize;
        let config = Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) };
        let device = Device::simulator_with(config);
        check(&device, 528, 1, 16, 16, 2 + (seed % 3) as u32);
        check(&device, 272, 2, 0, 0, 2);
    }
}

/// Whole rows of tiles are whole sectors, and no access to shared memory takes more passes through its banks than its
/// bytes need.
#[test]
fn accesses_have_no_bank_conflicts_and_no_unused_bytes() {
    let device = Device::simulator_with(Config { record: Record::Full, ..Config::default() });
    check(&device, 768, 1, 0, 0, 4);
    let counts = device.as_simulator().unwrap().last_report().unwrap().counts;
    for accesses in [counts.shared_loads, counts.shared_stores] {
        assert_eq!(accesses.bytes, 768 * 768, "{accesses:?}");
        assert_eq!(accesses.wavefronts * 128, accesses.bytes, "{accesses:?}");
    }
    for accesses in [counts.global_loads, counts.global_stores] {
        assert_eq!(accesses.bytes, 768 * 768, "{accesses:?}");
        assert_eq!(accesses.sectors * 32, accesses.bytes, "{accesses:?}");
    }
}

/// What the kernel does not take goes to the other one.
#[test]
fn other_squares_are_transposed_all_the_same() {
    for_each("other_squares_are_transposed_all_the_same", |device| {
        let values: Vec<u16> = (0..300 * 300).map(|i| i as u16).collect();
        let mut data = device.upload(&values).unwrap();
        let matrix = MatrixMut::new(&mut data, Layout::row_major(300, 300).unwrap()).unwrap();
        transpose_in_place_wide(&device.default_stream(), matrix, 7).unwrap();
        let expected: Vec<u16> = (0..300 * 300).map(|i| values[i % 300 * 300 + i / 300]).collect();
        assert_eq!(data.to_vec().unwrap(), expected);
        if let Some(simulator) = device.as_simulator() {
            assert_eq!(simulator.last_report().unwrap().kernel, "transpose_square_b16");
        }
    });
}

/// As the public function launches it: 33 tiles along a side of which the last ends before, more pairs than blocks.
#[test]
fn a_device_takes_it_for_large_squares() {
    let Some(device) = cuda("a_device_takes_it_for_large_squares") else { return };
    let batch = BatchLayout::from(
        Layout::row_major(8208, 8208).and_then(|layout| layout.with_leading_dimension(8448)).unwrap(),
    );
    let values = bytes(256 + batch.span().unwrap() + 40);
    let mut data = device.upload(&values).unwrap();
    let (stream, matrix) = (device.default_stream(), BatchMut::new(data.slice_mut(256..), batch).unwrap());
    transpose_in_place(&stream, matrix, &mut Scratch::new(&stream).fixed()).unwrap();
    assert!(data.to_vec().unwrap() == transposed(&values, batch, 256));
}
