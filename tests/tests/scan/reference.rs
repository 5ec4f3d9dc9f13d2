//! The CPU's scans of lengths that no simulator is asked for. Here and not beside them, where they would be optimized
//! with their crate: that takes 20 seconds, and running them as they are one.

use gpu_scan::Options;
use gpu_scan::kernels::{GROUP, Max, Scan, Shape, Sum};
use gpu_scan::reference::{scan, scan_in_place};

#[test]
fn whole_numbers_are_scanned_exactly() {
    for len in [0usize, 1, 2, 31, 4095, 4096, 4097, 100_003, 4096 * 700 + 5] {
        let values: Vec<f32> = (0..len).map(|i| if i % 3 == 0 { 1.0 } else { 0.0 }).collect();
        let mut sums = vec![-1.0; len];
        scan::<Sum<f32>>(&values, &Options::inclusive(), &mut sums).unwrap();
        let expected: Vec<f32> = (0..len).map(|i| (i / 3 + 1) as f32).collect();
        assert_eq!(sums, expected, "{len} elements");
    }
}

/// A reverse scan is the scan of the reversed array wherever rounding does not show; and in place it is the same.
#[test]
fn reverse_and_in_place() {
    fn check<S: Scan<Item = i32, Output = i32>>(len: i32) {
        let values: Vec<i32> = (0..len).map(|i| i.wrapping_mul(2_654_435) % 1000).collect();
        let mut backwards: Vec<i32> = values.iter().rev().copied().collect();
        scan_in_place::<S>(&mut backwards, &Options::exclusive().starting_with(-500));
        backwards.reverse();
        let mut actual = vec![0; values.len()];
        let options = Options::exclusive().starting_with(-500).reversed();
        scan::<S>(&values, &options, &mut actual).unwrap();
        assert!(actual == backwards, "{} of {len} elements", S::NAME);
        let mut in_place = values;
        scan_in_place::<S>(&mut in_place, &options);
        assert!(in_place == backwards, "{} of {len} elements in place", S::NAME);
    }
    // Some chunks, and many.
    for len in [20_011, 100_003, 3_000_017] {
        check::<Max<i32>>(len);
        check::<Sum<i32>>(len);
    }
}

/// Results of more than 32 MB, which go past the caches, from whatever address on, and a length that ends within a row
/// of vectors.
#[test]
fn more_than_caches_hold() {
    let len = (32 << 20) / size_of::<u32>() + 4099;
    let values: Vec<u32> = (0..len as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let mut sums = vec![7; len + 2];
    for first in [0, 1] {
        for (exclusive, reverse) in [(false, false), (true, false), (false, true)] {
            let options = if exclusive { Options::exclusive() } else { Options::inclusive() };
            let options = if reverse { options.reversed() } else { options };
            scan::<Sum<u32>>(&values, &options, &mut sums[first..first + len]).unwrap();
            let mut sum = 0u32;
            let mut check = |i: usize| {
                let before = sum;
                sum = sum.wrapping_add(values[i]);
                assert_eq!(sums[first + i], if exclusive { before } else { sum }, "result {i}");
            };
            if reverse {
                (0..len).rev().for_each(&mut check)
            } else {
                (0..len).for_each(&mut check)
            }
            assert_eq!(sums[first + len..], [7, 7][first..], "what is behind");
        }
    }
}

/// The bound of the order: every element passes through at most `depth` additions on its way into a result, so the
/// error is at most depth·u/(1 - depth·u) times the sum of magnitudes (Higham, Accuracy and Stability, section 4.2).
#[test]
fn the_error_is_within_the_bound_of_the_order() {
    let len = 3_000_017;
    let values: Vec<f32> =
        (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 - 8e6).collect();
    let mut sums = vec![0.0; len];
    scan::<Sum<f32>>(&values, &Options::inclusive(), &mut sums).unwrap();
    let shape = Shape::of::<Sum<f32>>();
    let groups = shape.tiles(len as u64).div_ceil(GROUP as u64);
    // Vector, lanes, rows, warps, lanes of a group, groups; the three additions that put them together; and q's.
    let depth = f64::from(shape.vector + 5 + shape.rows + shape.warps + 5) + groups as f64 + 3.0 + 1.0;
    let u = f64::from(f32::EPSILON) / 2.0;
    let (mut exact, mut magnitude) = (0.0, 0.0);
    for (value, sum) in values.iter().zip(&sums) {
        exact += f64::from(*value);
        magnitude += f64::from(value.abs());
        let bound = depth * u / (1.0 - depth * u) * magnitude;
        assert!((f64::from(*sum) - exact).abs() <= bound);
    }
}

/// A sum that some elements break.
struct Breaks;

impl Scan for Breaks {
    type Item = u32;
    type Register = u32;
    type Output = u32;
    const NAME: &'static str = "sum that breaks";
    const IDENTITY: u32 = 0;
    const EMPTY: u32 = 0;
    fn extend(item: u32) -> u32 {
        assert!(item != 7, "a seven");
        item
    }
    fn combine(before: u32, after: u32) -> u32 {
        before.wrapping_add(after)
    }
    fn output(result: u32) -> u32 {
        result
    }
    fn resume(output: u32) -> u32 {
        output
    }
}

/// Whichever chunk it is that panics, no other waits for it for ever.
#[test]
fn a_panic_of_an_operator_arrives() {
    for place in [0, 999_999, 1_999_999] {
        let mut values = vec![1; 2_000_000];
        values[place] = 7;
        let mut output = vec![0; values.len()];
        let scan = || scan::<Breaks>(&values, &Options::inclusive(), &mut output);
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(scan)).unwrap_err();
        assert!(panic.downcast_ref::<&str>().is_some_and(|text| text.contains("a seven")), "{place}");
    }
}
