//! The scans by name: each is the one of its name.

use gpu_core::Element;
use gpu_tests::backends::for_each;

/// What is combined up to each place, and before it.
fn serial<T: Copy, R: Copy>(values: &[T], start: R, combine: impl Fn(R, T) -> R) -> (Vec<R>, Vec<R>) {
    let mut so_far = start;
    let step = |&value: &T| {
        let before = so_far;
        so_far = combine(before, value);
        (so_far, before)
    };
    values.iter().map(step).unzip()
}

#[test]
fn names_of_all_scans() {
    fn same<R: Element + PartialEq + core::fmt::Debug>(
        name: &str,
        actual: Result<gpu_core::Buffer<R>, gpu_core::Error>,
        expected: &[R],
    ) {
        assert_eq!(actual.unwrap().to_vec().unwrap(), expected, "{name}");
    }
    for_each("names_of_all_scans", |device| {
        let of = |i: u32| i.wrapping_mul(0x9e37_79b9) as i32 >> (i % 29);
        let values: Vec<i32> = (0..3000).map(of).collect();
        let input = device.upload(&values).unwrap();
        macro_rules! named {
            ($($inclusive:ident $exclusive:ident: $start:expr, $combine:expr;)*) => { $(
                let (up_to, before) = serial(&values, $start, $combine);
                same(stringify!($inclusive), gpu_scan::$inclusive(&input), &up_to);
                same(stringify!($exclusive), gpu_scan::$exclusive(&input), &before);
            )* };
        }
        named! {
            inclusive_sum exclusive_sum: 0, i32::wrapping_add;
            inclusive_wide_sum exclusive_wide_sum: 0, |sum: i64, value: i32| sum + i64::from(value);
            inclusive_product exclusive_product: 1, i32::wrapping_mul;
            inclusive_min exclusive_min: i32::MAX, i32::min;
            inclusive_max exclusive_max: i32::MIN, i32::max;
            inclusive_and exclusive_and: -1, |bits, value| bits & value;
            inclusive_or exclusive_or: 0, |bits, value| bits | value;
            inclusive_xor exclusive_xor: 0, |bits, value| bits ^ value;
        }
    });
}
