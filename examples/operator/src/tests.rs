//! On the CPU and in the simulator; with feature `cuda`, the program itself checks what a GPU computes.

use gpu_core::Device;
use gpu_reduce::{reduce, reduce_axis, reduce_by_key, reduce_segments};
use gpu_scan::{Options, scan_axis, scan_segments};
use operator_kernels::{LastKnown, Moments};

use crate::check::check;
use crate::compute::{Results, compute};
use crate::series::Series;

/// All of it, any NaN being any NaN.
fn bits(results: &Results) -> Vec<u64> {
    let Results {
        filled,
        gaps,
        moments,
        degrees,
        weeks,
        stations,
        stretches,
        within_stretches,
        days,
        hours,
        within_hours,
    } = results;
    let of_f32 =
        [filled, within_stretches, within_hours].into_iter().flatten().map(|&value| f64::from(value));
    let of_f64 = moments.iter().chain([degrees]).chain(weeks).copied();
    let triples = [stretches, days, hours].into_iter().flatten().flatten().copied();
    let values = of_f32.chain(of_f64).chain(triples);
    let values = values.map(|value| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() });
    let whole =
        stations.iter().map(|&station| u64::from(station)).chain(gaps.iter().map(|&gap| u64::from(gap)));
    values.chain(whole).collect()
}

/// The lengths are those of several tiles, with and without a rest, of no whole day, of one, and of several groups of
/// slabs of days.
#[test]
fn every_device_gives_the_same_bits() {
    for len in [1, 2, 5, 24, 25, 167, 4096, 6145, 100_003] {
        let series = Series::new(len);
        let on_cpu = compute(&Device::cpu(), &series).unwrap();
        check(&series, &on_cpu).unwrap();
        let simulated = compute(&Device::simulator(), &series).unwrap();
        assert!(bits(&on_cpu) == bits(&simulated), "{len}");
    }
}

#[test]
fn a_wrong_result_is_found() {
    let series = Series::new(10_000);
    let finds = |what: &str, change: fn(&mut Results)| {
        let mut results = compute(&Device::cpu(), &series).unwrap();
        change(&mut results);
        let error = check(&series, &results).expect_err(what);
        assert!(error.contains(what), "{error}");
    };
    finds("temperature 3", |results| results.filled[3] += 0.25);
    finds("gaps", |results| results.gaps[2] += 1);
    finds("all hours: the mean", |results| results.moments[0] += 1e-9);
    finds("all hours: the variance", |results| results.moments[1] *= 1.0 + 1e-9);
    finds("all hours: the count", |results| results.moments[2] += 1.0);
    finds("all hours: 0 heating", |results| results.degrees = 0.0);
    finds("week 59", |results| results.weeks[59] += 0.25);
    finds("weeks", |results| results.weeks.truncate(59));
    finds("stations", |results| results.stations[1] = 0);
    finds("stretch 2: the mean", |results| results.stretches[2][0] = f64::NAN);
    finds("stretches", |results| results.stretches.truncate(2));
    // The one before the first is not of the same stretch.
    finds("temperature of a stretch", |results| results.within_stretches = results.filled.clone());
    finds("day 100: the variance", |results| results.days[100][1] = 0.0);
    finds("hour 23: the mean", |results| results.hours[23][0] -= 1e-9);
    finds("temperature of an hour 27", |results| results.within_hours[27] = f32::NAN);
    finds("filled values", |results| results.within_hours.truncate(1));
}

#[test]
fn the_moments_of_nothing_do_not_exist() {
    for device in [Device::cpu(), Device::simulator()] {
        let empty = device.upload::<f32>(&[]).unwrap();
        let error = reduce::<Moments, 3>(empty.view()).unwrap_err();
        assert!(matches!(error, gpu_reduce::Error::Empty { what: "moments" }), "{error}");
        let error = reduce_axis::<Moments>(empty.view(), &[0, 3], 0).unwrap_err();
        assert!(matches!(error, gpu_reduce::Error::Empty { what: "moments" }), "{error}");
        let (keys, results) =
            reduce_by_key::<Moments, u8>(&device.upload(&[]).unwrap(), empty.view()).unwrap();
        assert!(keys.is_empty() && results.is_empty());
    }
}

/// A kernel of one's own is predicted from the simulator: a launch takes 2 µs at least, more values take longer, and
/// nothing is faster than their bytes. What the model has no numbers of is refused.
#[test]
fn the_kernel_is_predicted() {
    let of = |len| crate::predict::gaps("h200", &Series::new(len).measured).unwrap();
    let (few, many) = (of(1000), of(100_000));
    assert!(few.time.0 > 2e-6 && many.time.0 > few.time.0, "{few:?} {many:?}");
    assert!(many.bound.time.0 > 4.0 * 100_000.0 / 4.8e12 && many.bound.time.0 < many.time.0, "{many:?}");
    assert!(crate::predict::gaps("v100", &[1.0]).is_err());
}

/// What is wrong with segments and shapes is said before anything is launched.
#[test]
fn what_is_no_part_of_the_series() {
    use gpu_core::segments::Invalid;
    use gpu_reduce::Error as Reduce;
    use gpu_scan::Error as Scan;
    for device in [Device::cpu(), Device::simulator()] {
        let values = device.upload(&[1.0f32; 6]).unwrap();
        let segments = |offsets: &[u32]| gpu_reduce::Offsets::new(&device, offsets).unwrap();
        let error = reduce_segments::<Moments>(values.view(), &segments(&[0, 7])).unwrap_err();
        assert!(matches!(error, Reduce::Segments(Invalid::BeyondEnd { end: 7, len: 6, .. })), "{error}");
        let error = reduce_segments::<Moments>(values.view(), &segments(&[0, 2, 2])).unwrap_err();
        assert!(
            matches!(error, Reduce::Segments(Invalid::EmptySegment { what: "moments", segment: 1 })),
            "{error}"
        );
        let error = reduce_axis::<Moments>(values.view(), &[2, 3], 2).unwrap_err();
        assert!(matches!(error, Reduce::Axis { axis: 2, axes: 2 }), "{error}");
        let keys = device.upload(&[1u8; 5]).unwrap();
        let error = reduce_by_key::<Moments, u8>(&keys, values.view()).unwrap_err();
        assert!(matches!(error, Reduce::InputLengths { first: 5, second: 6, .. }), "{error}");

        let by_key = gpu_scan::Segments::by_key(&keys);
        let error = scan_segments::<LastKnown>(&values, &by_key, Options::inclusive()).unwrap_err();
        assert!(matches!(error, Scan::InputLengths { .. }), "{error}");
        let error = scan_axis::<LastKnown>(&values, &[2, 4], 0, Options::inclusive()).unwrap_err();
        assert!(matches!(error, Scan::ShapeLength { expected: 8, actual: 6, .. }), "{error}");
    }
}
