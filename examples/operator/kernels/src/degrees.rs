//! A map of one's own in front of a reduction that is there.

use gpu_reduce_kernels::Map;

/// Below this temperature, in degrees Celsius, there is heating.
pub const BASE: f32 = 18.0;

/// How many degrees a temperature is below [`BASE`]; 0 where it is not.
#[derive(Clone, Copy, Debug)]
pub struct HeatingDegrees;

impl Map for HeatingDegrees {
    type Item = f32;
    type Output = f64;
    #[inline(always)]
    fn map(temperature: f32) -> f64 {
        if temperature < BASE { (BASE - temperature) as f64 } else { 0.0 }
    }
}
