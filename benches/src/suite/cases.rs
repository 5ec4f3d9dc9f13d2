//! Which cases there are: the sizes of the figures, or small ones.

use super::*;

/// Elements of the sum that is a fresh process's first result.
const FIRST: usize = 1 << 20;

/// The sums of doubles that the literature measured, with and without the copy to the device (C. González, *Modelo de
/// estimación de rendimiento para arquitecturas paralelas heterogéneas*, 2012, chapter 9).
pub const LITERATURE: [usize; 7] =
    [500_000, 1_000_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000, 100_000_000];

/// All cases: the sizes of the figures, or small ones.
pub fn cases(quick: bool) -> Vec<Case> {
    let (lengths, matrices, first): (&[usize], &[(usize, usize)], usize) = if quick {
        (&[1 << 10, 1 << 16], &[(64, 64), (256, 256), (61, 67)], 1 << 10)
    } else {
        let matrices = &[(1024, 1024), (4096, 4096), (16384, 16384), (16381, 16363)];
        (&[1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28], matrices, FIRST)
    };
    let literature: &[usize] = if quick { &[1000] } else { &LITERATURE };
    let vector = |op, element, len| Case { op, element, shape: Shape::Vector(len) };
    let mut cases = vec![vector(Op::FirstResult, Type::F32, first)];
    // All of a type one after the other: they share their inputs.
    for element in Type::REDUCED {
        for op in [Op::Sum, Op::Max, Op::ArgMax, Op::Scan] {
            cases.extend(lengths.iter().map(|&len| vector(op, element, len)));
        }
    }
    let sorted: &[usize] = if quick { &[1 << 10, 1 << 12] } else { &[1 << 16, 1 << 20, 1 << 24, 1 << 27] };
    for op in [Op::Sort, Op::SortPairs] {
        cases.extend(sorted.iter().map(|&len| vector(op, Type::I32, len)));
    }
    for element in [Type::F32, Type::U8] {
        cases.extend(lengths.iter().map(|&len| vector(Op::Histogram, element, len)));
    }
    for op in [Op::Select, Op::Partition] {
        cases.extend(lengths.iter().map(|&len| vector(op, Type::I32, len)));
    }
    // One size: that of the figure.
    cases.push(vector(Op::SumUnordered, Type::F32, lengths[lengths.len() - 1]));
    for op in [Op::Sum, Op::SumWithCopy] {
        cases.extend(literature.iter().map(|&len| vector(op, Type::F64, len)));
    }
    cases.extend(matrices.iter().map(|&(rows, cols)| Case {
        op: Op::Transpose,
        element: Type::F32,
        shape: Shape::Matrix { rows, cols },
    }));
    let (segmented, columns) =
        if quick { (segments::QUICK_ELEMENTS, (256, 256)) } else { (segments::ELEMENTS, (16384, 16384)) };
    for op in [Op::Segments, Op::ScanSegments] {
        cases.extend(Lengths::ALL.into_iter().map(|lengths| Case {
            op,
            element: Type::F32,
            shape: Shape::Segmented(segmented, lengths),
        }));
    }
    for (op, element) in
        [(Op::ReduceByKey, Type::F32), (Op::RunLengthEncode, Type::U32), (Op::Unique, Type::U32)]
    {
        let shape = |lengths| Shape::Segmented(segmented, lengths);
        cases.extend(runs::LENGTHS.map(|lengths| Case { op, element, shape: shape(lengths) }));
    }
    // What the scan of segments is measured by.
    if !quick {
        cases.push(vector(Op::Scan, Type::F32, segmented));
    }
    for op in [Op::Columns, Op::ScanRows, Op::ScanColumns] {
        let shape = Shape::Matrix { rows: columns.0, cols: columns.1 };
        cases.push(Case { op, element: Type::F32, shape });
    }
    // The copies of the same sizes; where a matrix has as many elements as an array, one copy serves both.
    let mut copies: Vec<usize> =
        lengths.iter().copied().chain(matrices.iter().map(|(rows, cols)| rows * cols)).collect();
    copies.sort_unstable();
    copies.dedup();
    cases.extend(copies.into_iter().map(|len| vector(Op::Copy, Type::F32, len)));
    cases.extend(products(quick));
    cases.extend(resizes(quick));
    cases.extend(stencils(quick));
    cases.extend(arrays(quick));
    cases.extend(filters(quick));
    cases
}

/// Correlations with short and long filters, steps on a plane and in a volume.
fn stencils(quick: bool) -> Vec<Case> {
    let (len, side, cube) = if quick { (1 << 12, 40, 12) } else { (1 << 26, 16384, 512) };
    let mut cases = Vec::new();
    for element in [Type::F32, Type::F64] {
        let filtered = [5, 32, 256].map(|taps| Shape::Filtered(len, taps));
        cases.extend(filtered.map(|shape| Case { op: Op::Correlate, element, shape }));
        let plane = Shape::Matrix { rows: side, cols: side };
        cases.push(Case { op: Op::Heat, element, shape: plane });
        cases.push(Case { op: Op::Jacobi, element, shape: Shape::Cube(cube) });
    }
    cases
}

/// Filters of square images.
fn filters(quick: bool) -> Vec<Case> {
    let sides: &[usize] = if quick { &[64] } else { &[4096, 16384] };
    let cases = [
        (Op::Gaussian5, Type::F32),
        (Op::Gaussian11, Type::F32),
        (Op::Gaussian5, Type::U8),
        (Op::Gaussian11, Type::U8),
        (Op::Gaussian5, Type::F64),
        (Op::Filter3, Type::F32),
        (Op::Filter11, Type::F32),
        (Op::SobelMagnitude, Type::F32),
    ];
    let of_channels = [(Op::Gaussian5Rgb, Type::U16), (Op::Filter3Rgb, Type::F32)];
    let case = |op, element, rows, cols| Case { op, element, shape: Shape::Matrix { rows, cols } };
    let grey =
        cases.iter().flat_map(|&(op, element)| sides.iter().map(move |&side| case(op, element, side, side)));
    // 8192 × 8192 pixels of three elements are nearly as many as 16384 × 16384 of one.
    let sides: &[usize] = if quick { &[64] } else { &[4096, 8192] };
    let rgb = of_channels.iter().flat_map(|&(op, element)| {
        sides.iter().map(move |&side| case(op, element, side, stencil::RGB * side))
    });
    grey.chain(rgb).collect()
}

/// Products of square matrices, and of matrices of any shape and a vector; outer products, and products with a
/// triangle; operations on vectors.
fn products(quick: bool) -> Vec<Case> {
    let (squares, shapes): (&[usize], &[(usize, usize)]) = if quick {
        (&[65], &[(64, 64), (3, 1000), (1000, 3)])
    } else {
        let shapes = &[(1024, 1024), (4096, 4096), (16384, 16384), (100_000, 2000), (2000, 100_000)];
        (&[512, 1024, 2048, 4096, 8192], shapes)
    };
    let case = |op, element, rows, cols| Case { op, element, shape: Shape::Matrix { rows, cols } };
    let vector = Shape::Vector(if quick { 1 << 10 } else { 1 << 28 });
    let of_vectors = [Op::Add, Op::Dot, Op::Nrm2, Op::Asum, Op::Axpy, Op::Scale];
    let mut cases = of_vectors.map(|op| Case { op, element: Type::F32, shape: vector }).to_vec();
    for element in [Type::F32, Type::F64] {
        cases.extend(squares.iter().map(|&n| case(Op::Gemm, element, n, n)));
    }
    let sides: &[usize] = if quick { &[130] } else { &[4096, 16384] };
    for element in [Type::F32, Type::F64] {
        for op in [Op::Ger, Op::Symv, Op::Trmv] {
            cases.extend(sides.iter().map(|&n| case(op, element, n, n)));
        }
    }
    for op in [Op::Gemv, Op::GemvTransposed] {
        cases.extend(shapes.iter().map(|&(rows, cols)| case(op, Type::F32, rows, cols)));
    }
    cases
}

/// Images made smaller and larger.
fn resizes(quick: bool) -> Vec<Case> {
    let (sides, smaller): (&[usize], usize) =
        if quick { (&[64, 250], 61) } else { (&[1024, 4096, 16384], 8192) };
    let case = |op, element, side| Case { op, element, shape: Shape::Matrix { rows: side, cols: side } };
    let mut cases: Vec<Case> = sides.iter().map(|&side| case(Op::ResizeHalf, Type::F32, side)).collect();
    cases.push(case(Op::ResizeHalf, Type::U8, sides[sides.len() - 1]));
    cases.push(case(Op::ResizeDouble, Type::F32, smaller));
    cases.push(case(Op::ResizeDouble, Type::U8, smaller));
    cases
}

/// Transpositions of other elements, in place, and all orders of four axes.
fn arrays(quick: bool) -> Vec<Case> {
    let (side, odd, axis) = if quick { (128, (61, 67), 6) } else { (16384, (16381, 16363), 256) };
    let out_of_place = |bytes, rows, cols| Typed::matrix(bytes, rows, cols, false);
    let mut arrays = vec![
        out_of_place(1, side, side),
        out_of_place(2, side, side),
        out_of_place(8, side / 2, side / 2),
        out_of_place(8, side, side),
        out_of_place(16, side / 2, side / 2),
        out_of_place(16, side, side),
        out_of_place(1, odd.0, odd.1),
        out_of_place(2, odd.0, odd.1),
        out_of_place(8, odd.0, odd.1),
    ];
    for bytes in [1, 2, 4, 8, 16] {
        arrays.extend([side / 2, side].map(|side| Typed::matrix(bytes, side, side, true)));
    }
    for number in 0..24u8 {
        // The digits of `number` in the bases 4, 3, 2 pick the axes.
        let mut left = vec![0, 1, 2, 3];
        let axes = [number / 6, number / 2 % 3, number % 2, 0].map(|digit| left.remove(usize::from(digit)));
        arrays.push(Typed { bytes: 2, extents: [axis; 4], axes, in_place: false });
    }
    let op = |typed: Typed| if typed.in_place { Op::InPlace } else { Op::Permute };
    let case = |typed: Typed| Case {
        op: op(typed),
        element: Type::of_bytes(typed.bytes),
        shape: Shape::Array(typed),
    };
    arrays.into_iter().map(case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_sizes_are_there_and_names_are_distinct() {
        let names: Vec<String> = cases(false).into_iter().map(Case::name).collect();
        for name in [
            "first_result/f32/2^20",
            "sum/f32/2^10",
            "sum/f32/2^16",
            "sum/f32/2^20",
            "sum/f32/2^24",
            "sum/f32/2^28",
            "sum_unordered/f32/2^28",
            "max/f64/2^10",
            "argmax/u8/2^28",
            "sum/i32/2^20",
            "scan/f32/2^28",
            "scan/u8/2^10",
            "sort/i32/2^27",
            "sort_pairs/i32/2^27",
            "histogram/f32/2^28",
            "histogram/u8/2^28",
            "select/i32/2^28",
            "partition/i32/2^28",
            "unique/u32/2^3",
            "run_length_encode/u32/2^8",
            "run_length_encode/u32/power_law",
            "reduce_by_key/f32/2^3",
            "reduce_by_key/f32/power_law",
            "sum/f64/100000000",
            "sum_with_copy/f64/500000",
            "transpose/f32/1024x1024",
            "transpose/f32/4096x4096",
            "transpose/f32/16384x16384",
            "transpose/f32/16381x16363",
            "gaussian_5x5/f32/16384x16384",
            "gaussian_11x11/f32/16384x16384",
            "gaussian_5x5/u8/16384x16384",
            "filter_3x3/f32/16384x16384",
            "filter_11x11/f32/16384x16384",
            "sobel_magnitude/f32/16384x16384",
            "gaussian_5x5_rgb/u16/8192x24576",
            "filter_3x3_rgb/f32/8192x24576",
            "segments/f32/2^3",
            "segments/f32/2^20",
            "segments/f32/power_law",
            "scan_segments/f32/2^3",
            "scan_segments/f32/power_law",
            "scan/f32/2^26",
            "columns/f32/16384x16384",
            "scan_rows/f32/16384x16384",
            "scan_columns/f32/16384x16384",
            "copy/f32/2^28",
            "add/f32/2^28",
            "dot/f32/2^28",
            "nrm2/f32/2^28",
            "asum/f32/2^28",
            "axpy/f32/2^28",
            "scale/f32/2^28",
            "ger/f32/4096x4096",
            "symv/f64/16384x16384",
            "trmv/f32/16384x16384",
            "gemm/f32/4096x4096",
            "gemm/f64/512x512",
            "gemv/f32/100000x2000",
            "correlate/f32/2^26/256",
            "heat/f32/16384x16384",
            "jacobi/f64/512x512x512",
            "gemv_transposed/f32/16384x16384",
            "resize_half/f32/16384x16384",
            "copy/f32/268042303",
        ] {
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{name} in {names:?}");
        }
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len());
    }

    #[test]
    fn only_the_orders_of_four_axes_are_long() {
        let long: Vec<String> =
            cases(false).into_iter().filter(|case| case.is_long()).map(Case::name).collect();
        assert_eq!(long.len(), 24);
        assert!(long.iter().all(|name| name.starts_with("permute/u16/256x256x256x256/")), "{long:?}");
        assert!(!cases(true).into_iter().any(Case::is_long));
    }

    #[test]
    fn quick_sizes_are_small() {
        assert!(cases(true).into_iter().all(|case| case.elements() <= 1 << 16));
    }

    #[test]
    fn a_copy_moves_as_many_bytes() {
        assert_eq!(Case::copy_of(8 << 20).elements(), 1 << 20);
        assert_eq!(Case::copy_of((4 << 28) + 4).name(), "copy/f32/2^27");
        assert_eq!(Case::copy_of((8 << 28) + 8).name(), "copy/f32/2^28");
        assert_eq!(Case::copy_of(8 * 16381 * 16363).elements(), 16381 * 16363);
        assert_eq!(Case::copy_of(8).elements(), 1);
    }
}
