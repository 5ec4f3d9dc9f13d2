//! Scans of arrays.

use std::fmt::Debug;

use gpu_core::Element;
use gpu_scan::kernels::{Max, Sum};
use gpu_scan::{Instance, Options, Scratch, scan_in_place, scan_into};
use proptest::prelude::*;

use super::{Guarded, Place, fuzz, length, place, wrong};

#[derive(Clone, Debug)]
struct Case {
    place: Place,
    len: usize,
    operator: usize,
    exclusive: bool,
    reversed: bool,
    initial: u32,
    in_place: bool,
    /// Of the output's length and of what the scratch memory was made for.
    wrong: [isize; 2],
    other_stream: bool,
}

fn with<S, T>(case: &Case, of: impl Fn(u64) -> T + Copy, initial: T, combine: impl Fn(T, T) -> T)
where
    S: Instance<Item = T, Output = T>,
    T: Element + PartialEq + Debug,
{
    let Case { place, len, exclusive, reversed, in_place, wrong, other_stream, .. } = *case;
    let device = place.device();
    let (stream, other) = (device.stream().expect("a stream"), device.stream().expect("a stream"));
    let options = if exclusive { Options::exclusive() } else { Options::inclusive() };
    let options = if reversed { options.reversed() } else { options }.starting_with(initial);
    let values = place.values(place.offsets.0 + len, of);
    let input = device.upload(&values).expect("memory");
    let capacity = if wrong[1] < 0 { len / 2 } else { len };
    let of_stream = if other_stream { &other } else { &stream };
    let mut scratch =
        Scratch::with_size(of_stream, gpu_scan::scan_scratch(capacity)).expect("memory").fixed();
    let output_len = if in_place { len } else { len.saturating_add_signed(wrong[0]) };
    let mut output = Guarded::new(&device, place.offsets.1, output_len, |i| of(i as u64 ^ place.seed));
    let range = output.range();
    let from = if in_place { output.old().to_vec() } else { values[place.offsets.0..].to_vec() };
    let target = output.buffer.slice_mut(range);
    let result = if in_place {
        scan_in_place::<S>(&stream, target, options, &mut scratch)
    } else {
        scan_into::<S>(&stream, input.slice(place.offsets.0..), options, target, &mut scratch)
    };
    stream.synchronize().expect("no fault");
    assert_eq!(input.to_vec().expect("its values"), values);
    if result.is_err() {
        assert!(other_stream || wrong[1] < 0 || output_len != len, "{result:?}");
        return output.check(None);
    }
    let mut expected = vec![initial; len];
    let mut before = initial;
    for step in 0..len {
        let at = if reversed { len - 1 - step } else { step };
        let after = combine(before, from[at]);
        expected[at] = if exclusive { before } else { after };
        before = after;
    }
    output.check(Some(&expected));
}

#[test]
fn arrays() {
    let cases = (
        place(),
        length(),
        0usize..3,
        (any::<bool>(), any::<bool>(), any::<u32>(), any::<bool>()),
        [wrong(), wrong()],
        prop::bool::weighted(0.05),
    );
    let cases = cases.prop_map(|(place, len, operator, options, wrong, other_stream)| {
        let (exclusive, reversed, initial, in_place) = options;
        Case { place, len, operator, exclusive, reversed, initial, in_place, wrong, other_stream }
    });
    fuzz("scan", cases, |case| match case.operator {
        0 => with::<Sum<u32>, _>(case, |bits| bits as u32, case.initial, u32::wrapping_add),
        1 => with::<Sum<i64>, _>(case, |bits| bits as i64, case.initial.into(), i64::wrapping_add),
        _ => with::<Max<i32>, _>(case, |bits| bits as i32, case.initial as i32, i32::max),
    });
}
