//! Reductions that share a kernel, in all its forms: each has the bits of the CPU's own.

use crate::support::reduce::{Sample, bits_of};
use gpu_core::Device;
use gpu_reduce::kernels::*;
use gpu_reduce::{
    AlongColumns, Columns, Offsets, Operand, Segmented, reduce_axis, reduce_segments, reference,
};
use gpu_std::half::{bf16, f16};
use gpu_tests::backends::for_each;

/// Of segments, among them empty ones where they have a result, and of columns, that start at multiples of 16 bytes and
/// elsewhere.
fn check<R, T>(device: &Device, seed: u64)
where
    T: Sample + for<'a> Operand<Views<'a> = gpu_core::View<'a, T>>,
    R: Segmented + AlongColumns + Reduction<Item = T>,
    for<'a> &'a [T]: Columns<Item = T>,
{
    let context = format!("{} of {} on {device}", R::NAME, core::any::type_name::<T>());
    let tile = tile::<T>() as usize;
    let lengths = [1, 0, 3, 17, 0, 150, 1200, tile - 3, 1, tile + 9];
    let lengths = lengths.into_iter().filter(|&length| length > 0 || R::EMPTY.is_some());
    let mut offsets = vec![0];
    offsets.extend(lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    let len = offsets[offsets.len() - 1];
    let mut values = T::any_bits(seed, len);
    // What is zero alone, and among others.
    values[0] = T::ZERO;
    values[9] = T::ZERO;
    let on_device = device.upload(&values).unwrap();
    let mut expected = vec![R::Output::default(); (offsets.len() - 1) * R::OUTPUTS as usize];
    reference::reduce_segments::<R, _>(&values[..], &offsets, &mut expected).unwrap();
    let places: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
    let segments = Offsets::new(device, &places).unwrap();
    let actual = reduce_segments::<R>(on_device.view(), &segments).unwrap().to_vec().unwrap();
    assert_eq!(bits_of(&actual), bits_of(&expected), "segments: {context}");

    for (rows, columns) in [(40, 16), (70, 5), (1, 3)] {
        let mut expected = vec![R::Output::default(); columns * R::OUTPUTS as usize];
        let part = &values[..rows * columns];
        reference::reduce_axis::<R, _>(part, [1, rows, columns], &mut expected).unwrap();
        let actual = reduce_axis::<R>(on_device.slice(..rows * columns), &[rows, columns], 0)
            .unwrap()
            .to_vec()
            .unwrap();
        assert_eq!(bits_of(&actual), bits_of(&expected), "{rows} rows of {columns}: {context}");
    }
}

macro_rules! all_of {
    ($($test:ident: $t:ty, $($reduction:ident)*;)*) => { $(
        #[test]
        fn $test() {
            for_each(stringify!($test), |device| {
                $(
                    check::<$reduction<$t>, $t>(device, 2);
                    check::<$reduction<$t>, $t>(device, 3);
                )*
            });
        }
    )* };
}
all_of! {
    all_of_i8: i8, Sum WideSum Count SumOfSquares NormL1 NormMax Max Min MinMax ArgMax ArgMin Any All Or And Xor;
    all_of_i16: i16, Sum WideSum Count SumOfSquares NormL1 NormMax Max Min MinMax ArgMax ArgMin Any All Or And Xor;
    all_of_i32: i32, Sum WideSum Count SumOfSquares NormL1 NormMax Max Min MinMax ArgMax ArgMin Any All Or And Xor;
    all_of_i64: i64, Sum WideSum Count SumOfSquares NormL1 NormMax Max Min MinMax ArgMax ArgMin Any All Or And Xor;
    all_of_u8: u8, Sum WideSum Count SumOfSquares NormL1 NormMax Max Min MinMax ArgMax ArgMin Any All Or And Xor;
    all_of_u16: u16, Sum WideSum Count SumOfSquares NormL1 NormMax Max Min MinMax ArgMax ArgMin Any All Or And Xor;
    all_of_u32: u32, Sum WideSum Count SumOfSquares NormL1 NormMax Max Min MinMax ArgMax ArgMin Any All Or And Xor;
    all_of_u64: u64, Sum WideSum Count SumOfSquares NormL1 NormMax Max Min MinMax ArgMax ArgMin Any All Or And Xor;
    all_of_f32: f32, Count SumOfSquares NormL1 NormL2 NormMax Product Max Min MinMax ArgMax ArgMin Any All;
    all_of_f64: f64, Count SumOfSquares NormL1 NormL2 NormMax Product Max Min MinMax ArgMax ArgMin Any All;
    all_of_f16: f16, Sum ExtendedSum Count HalfSumOfSquares HalfNormL2 NormL1 NormMax Product Max Min MinMax ArgMax ArgMin Any All;
    all_of_bf16: bf16, Sum ExtendedSum Count HalfSumOfSquares HalfNormL2 NormL1 NormMax Product Max Min MinMax ArgMax ArgMin Any All;
}
