//! A scan that is not commutative: gaps in a series are filled with the last value before them.

use gpu_scan_kernels::Scan;

/// The last value that is a number; NaN as long as there was none.
#[derive(Clone, Copy, Debug)]
pub struct LastKnown;

impl Scan for LastKnown {
    type Item = f32;
    type Register = f32;
    type Output = f32;
    const NAME: &'static str = "last known value";
    const IDENTITY: f32 = f32::NAN;
    const EMPTY: f32 = f32::NAN;
    #[inline(always)]
    fn extend(item: f32) -> f32 {
        item
    }
    #[inline(always)]
    fn combine(before: f32, after: f32) -> f32 {
        if after.is_nan() { before } else { after }
    }
    #[inline(always)]
    fn output(result: f32) -> f32 {
        result
    }
    #[inline(always)]
    fn resume(output: f32) -> f32 {
        output
    }
}
