//! Scans of arrays, of segments and along columns.

use gpu_core::{Device, Scratch};
use gpu_scan::kernels::{self, And, Min, Product, Scan, Sum, WideSum, Xor};
use gpu_scan::{
    AlongColumns, Instance, Options, Segmented, Segments, launched, scan_axis_scratch, scan_scratch,
    scan_segments_scratch,
};
use gpu_std::half::{bf16, f16};

use super::{Call, Part, Prepared, Sample, samples, sides, snake};

/// Elements of each segment.
const SEGMENT: usize = 256;

/// Kernels that programs time.
const TIMED: &str =
    "scan_sum_f32 scan_sum_f64 scan_sum_u32 scan_sum_u8 scan_segments_sum_f32 scan_columns_sum_f32";

/// One of a kernel that no program times.
fn call<S: Scan<Item: Sample, Output: Sample>>(
    all: &mut Vec<Call>,
    kernel: &str,
    function: &str,
    scan: &str,
    ready: fn(&Device, usize) -> Prepared,
) {
    let bytes = (size_of::<S::Item>() + size_of::<S::Output>()) as f64;
    if let Some((operator, of)) = scan.split_once('<')
        && TIMED.split(' ').all(|timed| timed != kernel)
    {
        let [operator, element] = snake(operator.trim(), of.trim_end_matches('>'));
        all.push(Call::new(format!("{function}/{operator}/{element}"), bytes, Part::all(1 << 17), ready));
    }
}

/// All of them.
pub fn all() -> Vec<Call> {
    let mut all = Vec::new();
    macro_rules! scans {
        ($($scan:ty $(, $same:ty)* $(| $flip:ident: $($flipped:ty),+)?; $v:literal, $n:literal, $l:literal;
            $images:ident, $blocks:literal, $whole:ident;
            $of_segments:literal, $segments:ident;
            $of_columns:literal, $k:literal, $columns:ident;)*) => { $(
            whole::<$scan>(&mut all, stringify!($whole), stringify!($scan));
            segments::<$scan>(&mut all, stringify!($segments), stringify!($scan));
            columns::<$scan>(&mut all, stringify!($columns), stringify!($scan));
        )* };
    }
    kernels::scan_instances!(scans);
    all
}

fn whole<S: Instance<Item: Sample, Output: Sample>>(all: &mut Vec<Call>, kernel: &str, scan: &str) {
    call::<S>(all, kernel, "scan", scan, |device, len| {
        let (stream, input) = (device.default_stream(), device.upload(&samples::<S::Item>(len))?);
        let mut output = device.alloc(len)?;
        let mut scratch = Scratch::with_size(&stream, scan_scratch(len))?;
        Ok(Box::new(move || {
            let (options, output) = (Options::inclusive(), output.view_mut());
            Ok(launched::scan::<S>(&stream, input.view(), options, output, &mut scratch)?)
        }))
    });
}

fn segments<S: Segmented<Item: Sample, Output: Sample>>(all: &mut Vec<Call>, kernel: &str, scan: &str) {
    call::<S>(all, kernel, "scan_segments", scan, |device, len| {
        let (stream, input) = (device.default_stream(), device.upload(&samples::<S::Item>(len))?);
        let mut output = device.alloc(len)?;
        let mut scratch = Scratch::with_size(&stream, scan_segments_scratch(len))?;
        Ok(Box::new(move || {
            let (options, output) = (Options::inclusive(), output.view_mut());
            let rows = Segments::of_length(SEGMENT)?;
            Ok(launched::scan_segments::<S>(&stream, input.view(), rows, options, output, &mut scratch)?)
        }))
    });
}

fn columns<S: Segmented<Item: Sample, Output: Sample> + AlongColumns>(
    all: &mut Vec<Call>,
    kernel: &str,
    scan: &str,
) {
    call::<S>(all, kernel, "scan_axis", scan, |device, len| {
        let (stream, shape) = (device.default_stream(), sides(len));
        let (input, mut output) = (device.upload(&samples::<S::Item>(len))?, device.alloc(len)?);
        let mut scratch = Scratch::with_size(&stream, scan_axis_scratch::<S>(&shape, 0)?)?;
        Ok(Box::new(move || {
            let (options, output) = (Options::inclusive(), output.view_mut());
            Ok(launched::scan_columns::<S>(&stream, input.view(), shape, options, output, &mut scratch)?)
        }))
    });
}
