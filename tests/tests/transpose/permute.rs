//! Permutations, batches and in-place transpositions of elements of every size: one body over all backends, against
//! serial oracles.

use gpu_core::{Device, Element};
use gpu_sim::Operation;
use gpu_tests::backends::for_each;
use gpu_transpose::{
    Batch, BatchLayout, BatchMut, Layout, Scratch, in_place_scratch, permute, permute_into, skew, tile,
    transpose, transpose_in_place, transpose_into,
};
use gpu_transpose_kernels::SQUARE_B128;

/// `len` elements, each byte of which is another than those around it.
fn elements<T: Element>(len: usize) -> Vec<T> {
    let bytes: Vec<u8> =
        (0..len * size_of::<T>()).map(|i| (i as u32).wrapping_mul(0x9e37_79b9).to_be_bytes()[0]).collect();
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// The oracle: `output[i…] = input[permuted i…]`, element by element.
fn naive<T: Copy>(input: &[T], shape: &[usize], axes: &[usize]) -> Vec<T> {
    let extents: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
    let stride = |axis: usize| shape[axis + 1..].iter().product::<usize>();
    (0..input.len())
        .map(|mut number| {
            let mut from = 0;
            for (&axis, extent) in axes.iter().zip(&extents).rev() {
                from += number % extent * stride(axis);
                number /= extent;
            }
            input[from]
        })
        .collect()
}

fn bits<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn permutations(rank: usize) -> Vec<Vec<usize>> {
    if rank == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(rank - 1);
    shorter
        .iter()
        .flat_map(|rest| (0..rank).map(move |at| [&rest[..at], &[rank - 1], &rest[at..]].concat()))
        .collect()
}

fn check_permutation<T: Element>(device: &Device, shape: &[usize], axes: &[usize]) {
    let values = elements::<T>(shape.iter().product());
    let output = permute(&device.upload(&values).unwrap(), shape, axes).unwrap().to_vec().unwrap();
    let expected = naive(&values, shape, axes);
    let name = core::any::type_name::<T>();
    assert!(bits(&output) == bits(&expected), "{name}: {shape:?} by {axes:?} on {}", device.name());
}

#[test]
fn all_permutations_of_small_arrays() {
    for_each("all_permutations_of_small_arrays", |device| {
        for shape in
            [&[5][..], &[9, 11], &[3, 1, 40], &[17, 9, 10], &[2, 3, 5, 4], &[2, 8, 3, 16], &[3, 2, 4, 1, 9]]
        {
            for axes in permutations(shape.len()) {
                check_permutation::<u16>(device, shape, &axes);
                check_permutation::<f64>(device, shape, &axes);
            }
        }
        for axes in permutations(3) {
            check_permutation::<u8>(device, &[32, 16, 48], &axes);
            check_permutation::<i32>(device, &[12, 70, 2], &axes);
            check_permutation::<u128>(device, &[9, 10, 11], &axes);
        }
    });
}

fn check_shapes<T: Element>(device: &Device) {
    let bytes = size_of::<T>();
    let tile = tile(bytes);
    let (r, c) = (tile.rows as usize, tile.columns as usize);
    let vector = 16 / bytes;
    for (rows, columns) in [
        (1, 1),
        (8, 9),
        (r, c),
        (r - vector, c + vector),
        (r - 1, c + 1),
        (r + 1, c - 1),
        (2 * r + 3, c + 5),
        (131, 257),
        (3, 300),
        (300, 7),
    ] {
        check_permutation::<T>(device, &[rows, columns], &[1, 0]);
    }
    // Odd sizes with a skewed tile that touches no border.
    if bytes < 16 {
        let tile = skew(bytes);
        let [rows, columns] = [2 * tile.rows + 33, 2 * tile.columns + 23].map(|extent| extent as usize);
        check_permutation::<T>(device, &[rows, columns], &[1, 0]);
    }
}

#[test]
fn shapes_around_every_boundary_in_every_element_size() {
    for_each("shapes_around_every_boundary_in_every_element_size", |device| {
        check_shapes::<u8>(device);
        check_shapes::<i16>(device);
        check_shapes::<u32>(device);
        check_shapes::<f64>(device);
        check_shapes::<u128>(device);
    });
}

/// A batch with gaps everywhere, from `from` to `to`.
fn check_batch<T: Element>(
    device: &Device,
    (rows, columns): (usize, usize),
    gap: usize,
    from: usize,
    to: usize,
) {
    let input_batch = {
        let matrix = Layout::row_major(rows, columns)
            .and_then(|layout| layout.with_leading_dimension(columns + gap))
            .unwrap();
        BatchLayout::new(matrix, 2, matrix.span() + gap).unwrap()
    };
    let output_ld = rows + gap;
    let output_len = (columns - 1) * output_ld + rows;
    let stride = output_len + gap;
    let values = elements::<T>(from + input_batch.span().unwrap());
    let old = elements::<T>(to + stride + output_len + 5);
    let mut expected = old.clone();
    for number in 0..2 {
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            expected[to + number * stride + column * output_ld + row] =
                values[from + number * input_batch.stride + row * (columns + gap) + column];
        }
    }
    let input = device.upload(&values).unwrap();
    let mut output = device.upload(&old).unwrap();
    let source = Batch::new(input.slice(from..), input_batch).unwrap();
    let transposed =
        Layout::row_major(columns, rows).and_then(|layout| layout.with_leading_dimension(output_ld)).unwrap();
    let transposed = BatchLayout::new(transposed, 2, stride).unwrap();
    let target = BatchMut::new(output.slice_mut(to..), transposed).unwrap();
    transpose_into(&device.default_stream(), source, target).unwrap();
    let name = core::any::type_name::<T>();
    let own = transpose(source).unwrap().to_vec().unwrap();
    let without_gaps: Vec<T> = (0..2 * columns)
        .flat_map(|line| {
            let first = to + line / columns * stride + line % columns * output_ld;
            expected[first..first + rows].iter().copied()
        })
        .collect();
    assert!(bits(&own) == bits(&without_gaps), "{name}: {rows} × {columns} + {gap} on {}", device.name());
    assert!(
        bits(&output.to_vec().unwrap()) == bits(&expected),
        "{name}: {rows} × {columns} + {gap} from {from} to {to} on {}",
        device.name()
    );
}

fn check_batches<T: Element>(device: &Device) {
    let vector = 16 / size_of::<T>();
    for shape in [(80, 144), (160, 272), (129, 67), (16, 259), (250, 17)] {
        check_batch::<T>(device, shape, 0, 0, 0);
        check_batch::<T>(device, shape, 2 * vector, vector, 0);
        check_batch::<T>(device, shape, 1, 0, 3);
        check_batch::<T>(device, shape, 3, 1, 0);
    }
}

#[test]
fn batches_offsets_and_leading_dimensions() {
    for_each("batches_offsets_and_leading_dimensions", |device| {
        check_batches::<u8>(device);
        check_batches::<u16>(device);
        check_batches::<f32>(device);
        check_batches::<u64>(device);
        check_batches::<u128>(device);
    });
}

/// Three tiles of bytes each way, of which one touches no border and the others each side of it, from and to any
/// address; matrices that are smaller than a sector; windows that end with a tile's last row.
#[test]
fn bytes_that_lie_anywhere() {
    for_each("bytes_that_lie_anywhere", |device| {
        let tile = skew(1);
        let (r, c) = (tile.rows as usize, tile.columns as usize);
        for (gap, from, to) in [(0, 0, 0), (1, 5, 3), (6, 15, 31), (16, 1, 16)] {
            check_batch::<u8>(device, (2 * r + 33, 2 * c + 23), gap, from, to);
        }
        for shape in [(1, 1), (3, 5), (17, 9), (r - 31, c), (r, c + 1), (r + 1, 15), (9, 2 * c + 1)] {
            for (gap, from, to) in [(0, 0, 0), (1, 7, 30), (195, 3, 1)] {
                check_batch::<u8>(device, shape, gap, from, to);
            }
        }
    });
}

/// No word takes more than one pass through the 32 banks of shared memory, no vector of 16 bytes more than a warp's
/// four: neither where rows arrive, nor where they are turned, nor where columns are read. (Columns lie alike, so that
/// lanes which have nothing of a column have nothing of any: the simulator counts a lane's first access with the first
/// of the others. Only the borders' zeros and single bytes are stored in other sizes.)
#[test]
fn tiles_of_bytes_have_no_bank_conflicts() {
    let config = gpu_sim::Config { record: gpu_sim::Record::Full, ..gpu_sim::Config::default() };
    let device = Device::simulator_with(config);
    let tile = skew(1);
    let (rows, columns) = (3 * tile.rows as usize, 2 * tile.columns as usize + 21);
    for (from, to) in [(0, 0), (1, 5), (7, 18), (15, 31)] {
        check_batch::<u8>(&device, (rows, columns), 32, from, to);
        let report = device.as_simulator().unwrap().last_report().unwrap();
        let words = |operation: Operation| {
            let mut words = gpu_sim::Count::default();
            for site in report.sites.iter().filter(|site| site.operation == operation) {
                if site.count.bytes == 4 * site.count.lanes {
                    words.requests += site.count.requests;
                    words.wavefronts += site.count.wavefronts;
                }
            }
            assert!(words.requests > 0, "{operation:?}");
            words
        };
        for operation in [Operation::SharedLoad, Operation::SharedStore] {
            let words = words(operation);
            assert_eq!(words.wavefronts, words.requests, "{operation:?} from {from} to {to}");
        }
        let copies = report.counts.async_copies;
        assert!(copies.requests > 0 && copies.wavefronts <= 4 * copies.requests, "{copies:?}");
    }
}

/// `count` matrices in place, `gap` between rows and between matrices.
fn check_in_place<T: Element>(
    device: &Device,
    (rows, columns): (usize, usize),
    count: usize,
    gap: usize,
    from: usize,
) {
    let ld = columns + gap;
    let matrix =
        Layout::row_major(rows, columns).and_then(|layout| layout.with_leading_dimension(ld)).unwrap();
    let batch = BatchLayout::new(matrix, count, matrix.span() + gap).unwrap();
    let values = elements::<T>(from + batch.span().unwrap() + 3);
    let mut expected = values.clone();
    let transposed_ld = if rows == columns { ld } else { rows };
    for number in 0..count {
        let start = from + number * batch.stride;
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            expected[start + column * transposed_ld + row] = values[start + row * ld + column];
        }
    }
    let mut data = device.upload(&values).unwrap();
    let stream = device.default_stream();
    let size = in_place_scratch::<T>(device, batch).unwrap();
    let mut scratch = Scratch::with_size(&stream, size).unwrap().fixed();
    let matrices = BatchMut::new(data.slice_mut(from..), batch).unwrap();
    transpose_in_place(&stream, matrices, &mut scratch).unwrap();
    let name = core::any::type_name::<T>();
    assert!(
        bits(&data.to_vec().unwrap()) == bits(&expected),
        "{name}: {count} of {rows} × {columns} + {gap} from {from} on {}",
        device.name()
    );
}

fn check_all_in_place<T: Element>(device: &Device) {
    let vector = 16 / size_of::<T>();
    for side in [1, 2, 31, 64, 80, 129, 144] {
        check_in_place::<T>(device, (side, side), 2, 0, 0);
        check_in_place::<T>(device, (side, side), 1, vector, vector);
        check_in_place::<T>(device, (side, side), 2, 1, 1);
    }
    for shape in
        [(1, 50), (50, 1), (2, 3), (6, 4), (7, 64), (64, 7), (48, 72), (131, 70), (70, 140), (9, 300)]
    {
        check_in_place::<T>(device, shape, 2, 0, 1);
    }
}

#[test]
fn squares_and_rectangles_in_place() {
    for_each("squares_and_rectangles_in_place", |device| {
        check_all_in_place::<u8>(device);
        check_all_in_place::<u16>(device);
        check_all_in_place::<f32>(device);
        check_all_in_place::<f64>(device);
        check_all_in_place::<u128>(device);
    });
}

/// Seventeen tiles along a side: groups of tiles of which the last ones end before.
#[test]
fn squares_of_groups_of_tiles_in_place() {
    for_each("squares_of_groups_of_tiles_in_place", |device| {
        let side = 16 * SQUARE_B128.side as usize + 1;
        check_in_place::<u128>(device, (side, side), 1, 0, 0);
    });
}

#[test]
fn what_is_empty_is_fine() {
    for_each("what_is_empty_is_fine", |device| {
        let input = device.upload::<u16>(&[]).unwrap();
        assert_eq!(permute(&input, &[3, 0, 5], &[2, 0, 1]).unwrap().len(), 0);
        let stream = device.default_stream();
        let mut output = device.alloc::<u16>(0).unwrap();
        let [batch, transposed] =
            [(3, 4), (4, 3)].map(|(r, c)| BatchLayout::new(Layout::row_major(r, c).unwrap(), 0, 12).unwrap());
        let source = Batch::new(&input, batch).unwrap();
        assert!(transpose(source).unwrap().is_empty());
        transpose_into(&stream, source, BatchMut::new(&mut output, transposed).unwrap()).unwrap();
        let none = &mut Scratch::new(&stream).fixed();
        transpose_in_place(&stream, BatchMut::new(&mut output, batch).unwrap(), none).unwrap();
    });
}

/// NumPy's own results: `numpy_permutations.py` writes them.
#[test]
fn permutations_are_those_of_numpy() {
    let golden = include_str!("../data/numpy_permutations.txt");
    let numbers =
        |text: &str| text.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<usize>>();
    let cases: Vec<[Vec<usize>; 3]> = golden
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut parts = line.split(';').map(numbers);
            core::array::from_fn(|_| parts.next().unwrap())
        })
        .collect();
    assert!(cases.len() > 40, "only {} cases", cases.len());
    for_each("permutations_are_those_of_numpy", |device| {
        for [shape, axes, expected] in &cases {
            let input: Vec<u16> = (0..shape.iter().product::<usize>() as u16).collect();
            let mut output = device.alloc(input.len()).unwrap();
            let stream = device.default_stream();
            let input = device.upload(&input).unwrap();
            permute_into(&stream, &input, shape, axes, &mut output).unwrap();
            let output: Vec<usize> = output.to_vec().unwrap().into_iter().map(usize::from).collect();
            assert_eq!(&output, expected, "{shape:?} by {axes:?} on {}", device.name());
        }
    });
}
