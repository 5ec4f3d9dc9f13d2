//! Bad input gets a typed error with the expected and the actual value, and leaves data as it was.

use gpu_core::matrix::Invalid as NoMatrix;
use gpu_core::segments::Invalid as NoSegments;
use gpu_core::{Device, Error as Core};
use gpu_reduce::{Error as Reduce, Scratch, sum_into};
use gpu_scan::Error as Scan;
use gpu_tests::backends::for_each;
use gpu_transpose::{
    Batch, BatchLayout, BatchMut, Error as Transpose, Layout, Matrix, MatrixMut, permute, transpose_in_place,
    transpose_into,
};

const OLD: f32 = -7.0;

#[test]
fn a_sum_checks_its_output_and_scratch() {
    for_each("a_sum_checks_its_output_and_scratch", |device| {
        let stream = device.stream().unwrap();
        let other = device.stream().unwrap();
        let input = device.upload(&vec![1.0; 60_000]).unwrap();
        let mut output = device.upload(&[OLD; 2]).unwrap();
        let mut scratch = Scratch::with_size(&stream, gpu_reduce::reduce_scratch(60_000)).unwrap().fixed();
        let mut small = Scratch::new(&stream).fixed();
        let mut foreign = Scratch::with_size(&other, gpu_reduce::reduce_scratch(60_000)).unwrap().fixed();

        let error = sum_into(&stream, &input, &mut output, &mut scratch).unwrap_err();
        assert!(matches!(error, Reduce::OutputLength { expected: 1, actual: 2, .. }), "{error}");
        let error = sum_into(&stream, &input, output.slice_mut(..0), &mut scratch).unwrap_err();
        assert!(matches!(error, Reduce::OutputLength { expected: 1, actual: 0, .. }), "{error}");
        let error = sum_into(&stream, &input, output.slice_mut(..1), &mut small).unwrap_err();
        let expected = matches!(error, Reduce::ScratchTooSmall { what: "sum", expected: 256, actual: 0 });
        assert!(expected, "{error}");
        let error = sum_into(&stream, &input, output.slice_mut(..1), &mut foreign).unwrap_err();
        assert!(matches!(error, Reduce::ScratchOfOtherStream { .. }), "{error}");
        assert_eq!(output.to_vec().unwrap(), [OLD; 2]);

        // And the same arguments without the mistake go through.
        sum_into(&stream, &input, output.slice_mut(..1), &mut scratch).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(output.to_vec().unwrap(), [60_000.0, OLD]);
    });
}

#[test]
fn nothing_has_no_extremes_and_pairs_need_partners() {
    for_each("nothing_has_no_extremes_and_pairs_need_partners", |device| {
        let stream = device.stream().unwrap();
        let input = device.upload(&[1.0; 3]).unwrap();
        let mut output = device.upload(&[OLD; 2]).unwrap();
        let mut place = device.upload(&[9u64]).unwrap();
        let mut scratch = Scratch::with_size(&stream, gpu_reduce::reduce_scratch(3)).unwrap().fixed();
        let is_empty = |error: Reduce, what: &str| {
            assert!(matches!(error, Reduce::Empty { what: of } if of == what), "{error}");
        };
        is_empty(gpu_reduce::min(input.slice(..0)).unwrap_err(), "minimum");
        is_empty(gpu_reduce::max(input.slice(..0)).unwrap_err(), "maximum");
        is_empty(gpu_reduce::minmax(input.slice(..0)).unwrap_err(), "minimum and maximum");
        is_empty(gpu_reduce::argmin(input.slice(..0)).unwrap_err(), "place of the minimum");
        is_empty(gpu_reduce::mean(input.slice(..0)).unwrap_err(), "mean");
        let error = gpu_reduce::argmax_into(&stream, input.slice(..0), &mut place, &mut scratch).unwrap_err();
        is_empty(error, "place of the maximum");
        let error =
            gpu_reduce::minmax_into(&stream, &input, output.slice_mut(..1), &mut scratch).unwrap_err();
        assert!(matches!(error, Reduce::OutputLength { expected: 2, actual: 1, .. }), "{error}");
        let error = gpu_reduce::dot(&input, input.slice(1..)).unwrap_err();
        assert!(matches!(error, Reduce::InputLengths { first: 3, second: 2, .. }), "{error}");
        let target = output.slice_mut(..1);
        let error =
            gpu_reduce::dot_into(&stream, &input, input.slice(1..), target, &mut scratch).unwrap_err();
        assert!(matches!(error, Reduce::InputLengths { first: 3, second: 2, .. }), "{error}");
        assert_eq!(place.to_vec().unwrap(), [9]);
        assert_eq!(output.to_vec().unwrap(), [OLD; 2]);
    });
}

#[test]
fn a_scan_checks_its_output_and_scratch() {
    for_each("a_scan_checks_its_output_and_scratch", |device| {
        use gpu_scan::{Options, Scratch, inclusive_sum, inclusive_sum_into, kernels::Sum, scan_in_place};
        let stream = device.stream().unwrap();
        let other = device.stream().unwrap();
        let input = device.upload(&vec![1.0f32; 60_000]).unwrap();
        let mut output = device.upload(&vec![OLD; 60_001]).unwrap();
        let mut scratch = Scratch::with_size(&stream, gpu_scan::scan_scratch(60_000)).unwrap().fixed();
        let mut small = Scratch::new(&stream).fixed();
        let mut foreign = Scratch::with_size(&other, gpu_scan::scan_scratch(60_000)).unwrap().fixed();

        for len in [0, 59_999, 60_001] {
            let error =
                inclusive_sum_into(&stream, &input, output.slice_mut(..len), &mut scratch).unwrap_err();
            let expected =
                matches!(error, Scan::OutputLength { expected: 60_000, actual, .. } if actual == len);
            assert!(expected, "{error}");
        }
        let target = output.slice_mut(..60_000);
        let error = inclusive_sum_into(&stream, &input, target, &mut small).unwrap_err();
        let expected = matches!(error, Scan::ScratchTooSmall { what: "sum", expected: 256, actual: 0 });
        assert!(expected, "{error}");
        let options = Options::exclusive();
        let error = scan_in_place::<Sum<f32>>(&stream, &mut output, options, &mut foreign).unwrap_err();
        assert!(matches!(error, Scan::ScratchOfOtherStream { .. }), "{error}");
        assert_eq!(output.to_vec().unwrap(), vec![OLD; 60_001]);

        // No elements are no mistake, and the same arguments without one go through.
        assert_eq!(inclusive_sum(input.slice(..0)).unwrap().len(), 0);
        inclusive_sum_into(&stream, input.slice(..0), output.slice_mut(..0), &mut scratch).unwrap();
        inclusive_sum_into(&stream, &input, output.slice_mut(..60_000), &mut scratch).unwrap();
        stream.synchronize().unwrap();
        let results = output.to_vec().unwrap();
        assert_eq!((results[59_999], results[60_000]), (60_000.0, OLD));
    });
}

#[test]
fn a_sort_checks_bits_lengths_and_scratch() {
    for_each("a_sort_checks_bits_lengths_and_scratch", |device| {
        use gpu_sort::{Scratch, SortOptions, sort, sort_into, sort_pairs, sort_pairs_into};
        let stream = device.stream().unwrap();
        let other = device.stream().unwrap();
        let keys = device.upload(&[3u32, 1, 2]).unwrap();
        let mut output = device.upload(&[9u32; 4]).unwrap();
        let ascending = SortOptions::ascending;
        for (start, end) in [(0, 33), (5, 4)] {
            let error = sort(&keys, ascending().by_bits(start..end)).unwrap_err();
            let expected = matches!(error, gpu_sort::Error::Bits { start: s, end: e, width: 32 } if (s, e) == (start, end));
            assert!(expected, "{error}");
        }
        let error = sort_pairs(&keys, &output, ascending()).unwrap_err();
        assert!(matches!(error, gpu_sort::Error::InputLengths { first: 3, second: 4, .. }), "{error}");
        let mut scratch =
            Scratch::with_size(&stream, gpu_sort::sort_scratch::<u32>(3).unwrap()).unwrap().fixed();
        for len in [2, 4] {
            let target = output.slice_mut(..len);
            let error = sort_into(&stream, &keys, ascending(), target, &mut scratch).unwrap_err();
            let expected =
                matches!(error, gpu_sort::Error::OutputLength { expected: 3, actual, .. } if actual == len);
            assert!(expected, "{error}");
        }
        // Too little, keys without values, another stream.
        let mut small = Scratch::new(&stream).fixed();
        let error = sort_into(&stream, &keys, ascending(), output.slice_mut(..3), &mut small).unwrap_err();
        let expected = scratch.bytes();
        assert!(
            matches!(error, gpu_sort::Error::ScratchTooSmall { expected: e, actual: 0, .. } if e == expected),
            "{error}"
        );
        let (first, second) = output.view_mut().try_split_at(2).unwrap();
        let two = keys.slice(..2);
        let error = sort_pairs_into(&stream, two, two, ascending(), first, second, &mut scratch).unwrap_err();
        assert!(
            matches!(error, gpu_sort::Error::ScratchTooSmall { expected: e, actual, .. } if e > expected && actual == expected),
            "{error}"
        );
        let mut foreign =
            Scratch::with_size(&other, gpu_sort::sort_scratch::<u32>(3).unwrap()).unwrap().fixed();
        let error = sort_into(&stream, &keys, ascending(), output.slice_mut(..3), &mut foreign).unwrap_err();
        assert!(matches!(error, gpu_sort::Error::ScratchOfOtherStream { .. }), "{error}");
        assert_eq!(output.to_vec().unwrap(), [9; 4]);

        // The same arguments without a mistake go through.
        sort_into(&stream, &keys, ascending(), output.slice_mut(..3), &mut scratch).unwrap();
        assert_eq!(output.to_vec().unwrap(), [1, 2, 3, 9]);
    });
}

#[test]
fn memory_of_another_device_is_refused() {
    let here = Device::simulator();
    for_each("memory_of_another_device_is_refused", |there| {
        let stream = here.stream().unwrap();
        let mut scratch = Scratch::new(&stream);
        let input = there.upload(&[1.0; 100]).unwrap();
        let mut output = here.upload(&[OLD]).unwrap();
        let error = sum_into(&stream, &input, &mut output, &mut scratch).unwrap_err();
        assert!(matches!(error, Reduce::WrongDevice { .. }), "{error}");
        let error =
            gpu_scan::inclusive_sum_into(&stream, input.slice(..1), &mut output, &mut scratch).unwrap_err();
        assert!(matches!(error, Scan::WrongDevice { .. }), "{error}");
        let options = gpu_sort::SortOptions::ascending();
        let error =
            gpu_sort::sort_into(&stream, input.slice(..1), options, &mut output, &mut scratch).unwrap_err();
        assert!(matches!(error, gpu_sort::Error::WrongDevice { .. }), "{error}");
        let mut count = here.upload(&[9u64]).unwrap();
        let error = gpu_scan::unique_into(&stream, input.slice(..1), &mut output, &mut count, &mut scratch)
            .unwrap_err();
        assert!(matches!(error, Scan::WrongDevice { .. }), "{error}");
        let mut counts = here.upload(&[9u32]).unwrap();
        let error = gpu_scan::histogram_even_into(&stream, &input, 0.0, 1.0, &mut counts).unwrap_err();
        assert!(matches!(error, Scan::WrongDevice { .. }), "{error}");
        assert_eq!((count.to_vec().unwrap(), counts.to_vec().unwrap()), (vec![9], vec![9]));
        let one = Layout::row_major(1, 1).unwrap();
        let (matrix, target) = (Matrix::new(&input, one).unwrap(), MatrixMut::new(&mut output, one).unwrap());
        let error = transpose_into(&stream, matrix, target).unwrap_err();
        assert!(matches!(error, Transpose::Device(Core::WrongDevice { .. })), "{error}");
        assert_eq!(output.to_vec().unwrap(), [OLD]);
    });
}

#[test]
fn a_transposition_checks_shapes_and_lengths() {
    for_each("a_transposition_checks_shapes_and_lengths", |device| {
        let stream = device.default_stream();
        let input = device.upload(&[1.0; 14]).unwrap();
        let mut output = device.upload(&[OLD; 14]).unwrap();
        let matrix = Layout::row_major(3, 5).unwrap();

        let error = Matrix::new(&input, matrix).unwrap_err();
        assert!(matches!(error, Core::Length { what: "a matrix", expected: 15, actual: 14 }), "{error}");
        let error = MatrixMut::new(&mut output, matrix.transposed()).unwrap_err();
        assert!(matches!(error, Core::Length { what: "a matrix", expected: 15, actual: 14 }), "{error}");
        let [two, seven] = [(2, 7), (7, 2)].map(|(r, c)| Layout::row_major(r, c).unwrap());
        for (from, to, expected) in
            [(two, two, (7, 2)), (seven, seven, (2, 7)), (two, seven.transposed(), (7, 2))]
        {
            let (source, target) =
                (Matrix::new(&input, from).unwrap(), MatrixMut::new(&mut output, to).unwrap());
            let error = transpose_into(&stream, source, target).unwrap_err();
            let Transpose::Device(Core::Shape { expected: shape, actual, .. }) = error else {
                panic!("{error}")
            };
            assert_eq!((shape, actual), (expected, to.shape()));
        }
        let twice = Batch::new(&input, BatchLayout::new(two, 2, 0).unwrap()).unwrap();
        let error = transpose_into(&stream, twice, MatrixMut::new(&mut output, seven).unwrap()).unwrap_err();
        assert!(matches!(error, Transpose::Count { expected: 2, actual: 1 }), "{error}");
        let error = Layout::row_major(3, 5).and_then(|layout| layout.with_leading_dimension(4)).unwrap_err();
        assert!(
            matches!(error, Core::Matrix(NoMatrix::LeadingDimension { expected: 5, actual: 4, .. })),
            "{error}"
        );
        let error = Layout::row_major(usize::MAX / 2, 3).unwrap_err();
        assert!(matches!(error, Core::Matrix(NoMatrix::SizeOverflow { .. })), "{error}");
        assert_eq!(output.to_vec().unwrap(), [OLD; 14]);
        assert_eq!(input.to_vec().unwrap(), [1.0; 14]);
    });
}

#[test]
fn a_permutation_checks_its_axes_and_lengths() {
    for_each("a_permutation_checks_its_axes_and_lengths", |device| {
        let input = device.upload(&[1.0; 23]).unwrap();
        for axes in [&[0, 1][..], &[0, 1, 1], &[1, 2, 3]] {
            let error = permute(&input, &[2, 3, 4], axes).unwrap_err();
            assert!(matches!(error, Transpose::NotAPermutation { rank: 3, .. }), "{error}");
        }
        let error = permute(&input, &[2, 3, 4], &[2, 1, 0]).unwrap_err();
        assert!(
            matches!(error, Transpose::Device(Core::Length { what: "the input", expected: 24, actual: 23 })),
            "{error}"
        );
        let error = permute(&input, &[1 << 40, 1 << 40], &[1, 0]).unwrap_err();
        assert!(matches!(error, Transpose::ShapeOverflow { .. }), "{error}");
    });
}

#[test]
fn batches_and_in_place_transpositions_check_for_overlap_gaps_and_scratch() {
    for_each("batches_and_in_place_transpositions_check_for_overlap_gaps_and_scratch", |device| {
        let stream = device.default_stream();
        let mut data = device.upload(&[OLD; 30]).unwrap();
        let none = &mut Scratch::new(&stream).fixed();
        let matrix = Layout::row_major(3, 5).unwrap();

        let overlapping = BatchLayout::new(matrix, 2, 14).unwrap();
        assert!(Batch::new(&data, overlapping).is_ok(), "of what is only read matrices may overlap");
        let error = BatchMut::new(&mut data, overlapping).unwrap_err();
        assert!(matches!(error, Core::Matrix(NoMatrix::Overlap { expected: 15, actual: 14 })), "{error}");
        let error = BatchLayout::new(matrix, 3, usize::MAX).unwrap_err();
        assert!(
            matches!(error, Core::Matrix(NoMatrix::BatchOverflow { count: 3, stride: usize::MAX })),
            "{error}"
        );
        let error = BatchMut::new(&mut data, BatchLayout::new(matrix, 3, 15).unwrap()).unwrap_err();
        assert!(matches!(error, Core::Length { what: "a batch", expected: 45, actual: 30 }), "{error}");

        let two = BatchLayout::new(matrix, 2, 15).unwrap();
        let error = transpose_in_place(&stream, BatchMut::new(&mut data, two).unwrap(), none).unwrap_err();
        assert!(matches!(error, Transpose::Device(Core::ScratchTooSmall { actual: 0, .. })), "{error}");
        let other = &mut Scratch::new(&device.stream().unwrap());
        let error = transpose_in_place(&stream, BatchMut::new(&mut data, two).unwrap(), other).unwrap_err();
        assert!(matches!(error, Transpose::Device(Core::ScratchOfOtherStream { .. })), "{error}");
        let gaps = MatrixMut::new(&mut data, matrix.with_leading_dimension(6).unwrap()).unwrap();
        let error = transpose_in_place(&stream, gaps, none).unwrap_err();
        assert!(matches!(error, Transpose::InPlaceGap { expected: 5, actual: 6 }), "{error}");
        assert_eq!(data.to_vec().unwrap(), [OLD; 30]);
    });
}

#[test]
fn devices_that_are_not_there_are_an_error_not_another_device() {
    let error = Device::cuda(1_000).unwrap_err();
    assert!(matches!(error, Core::NoDriver { .. } | Core::NoSuchDevice { asked: 1_000, .. }), "{error}");
    let error = Device::by_name("cuda:1000").unwrap_err();
    assert!(matches!(error, Core::NoDriver { .. } | Core::NoSuchDevice { asked: 1_000, .. }), "{error}");
    let error = Device::by_name("abacus").unwrap_err();
    assert!(matches!(error, Core::UnknownDevice { .. }), "{error}");
}

#[test]
fn more_memory_than_there_is_is_an_error() {
    for_each("more_memory_than_there_is_is_an_error", |device| {
        let error = device.alloc::<f32>(1 << 60).unwrap_err();
        assert!(matches!(error, Core::OutOfMemory { asked, .. } if asked == 4 << 60), "{error}");
        let error = device.alloc::<f32>(usize::MAX).unwrap_err();
        assert!(matches!(error, Core::OutOfMemory { .. }), "{error}");
        assert_eq!(device.upload(&[1.0f32]).unwrap().to_vec().unwrap(), [1.0], "the device still works");
    });
}

#[test]
fn a_sort_of_segments_checks_its_segments() {
    for_each("a_sort_of_segments_checks_its_segments", |device| {
        use gpu_sort::{
            Error, Offsets, Scratch, Segments, SortOptions, segmented_sort, segmented_sort_into,
            segmented_sort_pairs,
        };
        let keys = device.upload(&[3u32, 1, 2, 0]).unwrap();
        let of = |offsets: &[u32]| Offsets::new(device, offsets);
        assert!(matches!(of(&[]), Err(Error::Segments(NoSegments::NoOffsets))));
        assert!(matches!(
            of(&[0, 3, 2, 4]),
            Err(Error::Segments(NoSegments::Decreasing { index: 2, before: 3, actual: 2 }))
        ));
        let lengths = Offsets::from_lengths(device, &[u32::MAX, 1]);
        assert!(matches!(lengths, Err(Error::TooLong { len, .. }) if len == 1 << 32));
        assert!(matches!(Segments::of_length(0), Err(Error::Segments(NoSegments::SegmentLength))));
        let ascending = SortOptions::ascending;
        let beyond = of(&[0, 2, 5]).unwrap();
        let error = segmented_sort(&keys, &beyond, ascending()).unwrap_err();
        assert!(matches!(error, Error::Segments(NoSegments::BeyondEnd { end: 5, len: 4, .. })), "{error}");
        for ends in [[0, 3], [1, 4]] {
            let error = segmented_sort(&keys, &of(&ends).unwrap(), ascending()).unwrap_err();
            let [first, last] = ends.map(|end| end as usize);
            let Error::Segments(NoSegments::Uncovered { start, end, len: 4, .. }) = error else {
                panic!("{error}")
            };
            assert_eq!((start, end), (first, last));
        }
        let starts = device.upload(&[1u8, 0, 0, 1]).unwrap();
        for (segments, by) in [(Segments::by_flags(&starts), "flags"), (Segments::by_key(&starts), "keys")] {
            let error = segmented_sort(&keys, segments, ascending()).unwrap_err();
            assert!(
                matches!(error, Error::Segments(NoSegments::SegmentsBy { by: told, .. }) if told == by),
                "{error}"
            );
        }
        let three = Segments::of_length(3).unwrap();
        let error = segmented_sort(&keys, three, ascending()).unwrap_err();
        assert!(matches!(error, Error::Segments(NoSegments::Rows { len: 4, row: 3, .. })), "{error}");
        let rows = Segments::of_length(2).unwrap();
        let error = segmented_sort(&keys, rows, ascending().by_bits(0..8)).unwrap_err();
        assert!(matches!(error, Error::SomeBits { start: 0, end: 8, width: 32, .. }), "{error}");
        let error = segmented_sort_pairs(&keys, keys.slice(..3), rows, ascending()).unwrap_err();
        assert!(matches!(error, Error::InputLengths { first: 4, second: 3, .. }), "{error}");

        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let offsets = of(&[0, 1, 4]).unwrap();
        let segments = Segments::by_offsets(&offsets);
        let mut output = device.upload(&[9u32; 5]).unwrap();
        let mut scratch =
            Scratch::with_size(&stream, gpu_sort::segmented_sort_scratch::<u32>(4, segments).unwrap())
                .unwrap()
                .fixed();
        let error = segmented_sort_into(&stream, &keys, segments, ascending(), &mut output, &mut scratch)
            .unwrap_err();
        assert!(matches!(error, Error::OutputLength { expected: 4, actual: 5, .. }), "{error}");
        let mut of_rows =
            Scratch::with_size(&stream, gpu_sort::segmented_sort_scratch::<u32>(4, rows).unwrap())
                .unwrap()
                .fixed();
        assert_eq!(of_rows.bytes(), 0);
        let mut foreign =
            Scratch::with_size(&other, gpu_sort::segmented_sort_scratch::<u32>(4, segments).unwrap())
                .unwrap()
                .fixed();
        let error =
            segmented_sort_into(&stream, &keys, segments, ascending(), output.slice_mut(..4), &mut of_rows)
                .unwrap_err();
        assert!(matches!(error, Error::ScratchTooSmall { what: "segmented sort", actual: 0, .. }), "{error}");
        let error =
            segmented_sort_into(&stream, &keys, segments, ascending(), output.slice_mut(..4), &mut foreign)
                .unwrap_err();
        assert!(matches!(error, Error::ScratchOfOtherStream { .. }), "{error}");
        assert_eq!(output.to_vec().unwrap(), [9; 5]);
        segmented_sort_into(&stream, &keys, segments, ascending(), output.slice_mut(..4), &mut scratch)
            .unwrap();
        assert_eq!(output.to_vec().unwrap(), [3, 0, 1, 2, 9]);
    });
}

#[test]
fn a_selection_checks_k() {
    for_each("a_selection_checks_k", |device| {
        use gpu_sort::{
            Error, Offsets, Scratch, Segments, TopK, top_k, top_k_into, top_k_pairs, top_k_rows,
            top_k_rows_into, top_k_segments,
        };
        let keys = device.upload(&[3u32, 1, 2, 0]).unwrap();
        for k in [0, 5] {
            let error = top_k(&keys, k, TopK::largest()).unwrap_err();
            assert!(matches!(error, Error::K { k: actual, most: 4, .. } if actual == k), "{error}");
        }
        assert!(matches!(top_k(keys.slice(..0), 1, TopK::largest()), Err(Error::K { k: 1, most: 0, .. })));
        let error = top_k_rows(&keys, 2, 3, TopK::smallest()).unwrap_err();
        assert!(matches!(error, Error::K { k: 3, most: 2, .. }), "{error}");
        assert!(matches!(
            top_k_rows(&keys, 3, 1, TopK::smallest()),
            Err(Error::Segments(NoSegments::Rows { len: 4, row: 3, .. }))
        ));
        assert!(matches!(
            top_k_rows(&keys, 0, 1, TopK::smallest()),
            Err(Error::Segments(NoSegments::SegmentLength))
        ));
        // The shortest segment says what `k` can be.
        let offsets = Offsets::new(device, &[0, 3, 4]).unwrap();
        let segments = Segments::by_offsets(&offsets);
        let error = top_k_segments(&keys, segments, 2, TopK::largest()).unwrap_err();
        assert!(matches!(error, Error::K { k: 2, most: 1, .. }), "{error}");
        let error = top_k_pairs(&keys, keys.slice(..2), segments, 1, TopK::largest()).unwrap_err();
        assert!(matches!(error, Error::InputLengths { first: 4, second: 2, .. }), "{error}");

        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let mut scratch =
            Scratch::with_size(&stream, gpu_sort::top_k_scratch::<u32>(4, 2).unwrap()).unwrap().fixed();
        let mut foreign =
            Scratch::with_size(&other, gpu_sort::top_k_scratch::<u32>(4, 2).unwrap()).unwrap().fixed();
        let (mut first, mut indices) =
            (device.upload(&[9u32; 3]).unwrap(), device.upload(&[9u32; 2]).unwrap());
        let largest = TopK::largest();
        let error =
            top_k_into(&stream, &keys, 2, largest, &mut first, &mut indices, &mut scratch).unwrap_err();
        assert!(matches!(error, Error::OutputLength { expected: 2, actual: 3, .. }), "{error}");
        let target = first.slice_mut(..2);
        let error = top_k_into(&stream, &keys, 2, largest, target, &mut indices, &mut foreign).unwrap_err();
        assert!(matches!(error, Error::ScratchOfOtherStream { .. }), "{error}");
        let long = device.zeroed::<u32>(2000).unwrap();
        let target = first.slice_mut(..2);
        let error = top_k_into(&stream, &long, 2, largest, target, &mut indices, &mut scratch).unwrap_err();
        assert!(matches!(error, Error::ScratchTooSmall { what: "top k", .. }), "{error}");
        let error = top_k_rows_into(&stream, &keys, 2, 1, largest, &mut first, &mut indices, &mut scratch)
            .unwrap_err();
        assert!(matches!(error, Error::OutputLength { expected: 2, actual: 3, .. }), "{error}");
        assert_eq!((first.to_vec().unwrap(), indices.to_vec().unwrap()), (vec![9; 3], vec![9; 2]));
        top_k_into(&stream, &keys, 2, largest, first.slice_mut(..2), &mut indices, &mut scratch).unwrap();
        assert_eq!((first.to_vec().unwrap(), indices.to_vec().unwrap()), (vec![3, 2, 9], vec![0, 2]));
    });
}

/// A function that calls primitives of several crates returns gpu-core's error, and says which mistake it was.
#[test]
fn errors_of_all_crates_are_one() {
    fn of(number: usize) -> Result<(), gpu_core::Error> {
        let numbers = [1.0f32, 2.0, 3.0];
        match number {
            0 => drop(gpu_reduce::min(&numbers[..0])?),
            1 => drop(permute(&numbers, &[3], &[1])?),
            2 => assert_eq!(gpu_linalg::Layout::row_major(3, 5)?.with_leading_dimension(4)?.rows(), 3),
            3 => {
                let layout = gpu_linalg::Layout::row_major(1, 3)?;
                let row = gpu_linalg::Matrix::new(&numbers, layout)?;
                drop(gpu_linalg::matmul(row, row)?);
            }
            4 => drop(gpu_stencil::iterate::Stencil::heat(4, 0.1f32)?),
            _ => assert_eq!(gpu_stencil::ImageLayout::new(0, 3, 1)?.width(), 0),
        }
        Ok(())
    }
    assert!(matches!(of(0).unwrap_err(), gpu_core::Error::Empty { .. }));
    let error = of(4).unwrap_err();
    let gpu_core::Error::Primitive(own) = &error else { panic!("{error}") };
    assert!(
        matches!(own.downcast_ref(), Some(gpu_stencil::Error::StencilDimensions { actual: 4 })),
        "{error}"
    );
    let error = of(5).unwrap_err();
    assert!(matches!(error, Core::Image(gpu_core::image::Invalid::Empty { width: 0, .. })), "{error}");
    let error = of(1).unwrap_err();
    let gpu_core::Error::Primitive(own) = &error else { panic!("{error}") };
    assert!(matches!(own.downcast_ref(), Some(Transpose::NotAPermutation { rank: 1, .. })), "{error}");
    let error = of(2).unwrap_err();
    assert!(
        matches!(error, Core::Matrix(NoMatrix::LeadingDimension { expected: 5, actual: 4, .. })),
        "{error}"
    );
    let error = of(3).unwrap_err();
    let gpu_core::Error::Primitive(own) = &error else { panic!("{error}") };
    assert!(matches!(own.downcast_ref(), Some(gpu_linalg::Error::ProductShapes { .. })), "{error}");
    assert_eq!(
        error.to_string(),
        "a product of 1 × 3 and 1 × 3 matrices is 1 × 3, if their inner lengths agree; the output is 1 × 3"
    );
}
