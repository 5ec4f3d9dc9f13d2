//! On the device, with the operators of `operator_kernels`.

use std::error::Error;

use gpu_core::Device;
use gpu_reduce::kernels::{Mapped, Sum};
use gpu_reduce::{reduce, reduce_axis, reduce_by_key, reduce_segments};
use gpu_scan::{Options, scan, scan_axis, scan_segments};
use operator_kernels::{HeatingDegrees, LastKnown, Moments};

use crate::gaps::gap_begins;
use crate::series::{HOURS, Series};

/// Of temperatures: mean, variance, count.
pub type OfTemperatures = [f64; 3];

/// What the program computes.
pub struct Results {
    /// The series with its gaps filled: with the last value before them, whichever station's.
    pub filled: Vec<f32>,
    /// Where gaps begin.
    pub gaps: Vec<u32>,
    /// Of all of it.
    pub moments: OfTemperatures,
    /// Of all of it.
    pub degrees: f64,
    /// The heating degrees of each week.
    pub weeks: Vec<f64>,
    /// Each stretch's station.
    pub stations: Vec<u16>,
    /// Of each stretch of one station.
    pub stretches: Vec<OfTemperatures>,
    /// Filled with values of the same stretch only: NaN where it begins with a gap.
    pub within_stretches: Vec<f32>,
    /// Of each complete day.
    pub days: Vec<OfTemperatures>,
    /// Of each hour of the day, over complete days.
    pub hours: Vec<OfTemperatures>,
    /// Complete days filled with the value of the same hour of the day before.
    pub within_hours: Vec<f32>,
}

pub fn compute(device: &Device, series: &Series) -> Result<Results, Box<dyn Error>> {
    type Degrees = Mapped<HeatingDegrees, Sum<f64>>;
    let measured = device.upload(&series.measured)?;
    let filled = scan::<LastKnown>(&measured, Options::inclusive())?;
    let moments = reduce::<Moments, 3>(filled.view())?;
    let [degrees] = reduce::<Degrees, 1>(filled.view())?;

    // ---- Of segments: between offsets, runs of equal keys -------------------------------------------------------------
    let weeks = gpu_reduce::Offsets::new(device, &series.weeks)?;
    let weeks = reduce_segments::<Degrees>(filled.view(), &weeks)?.to_vec()?;
    let keys = device.upload(&series.stations)?;
    let (stations, stretches) = reduce_by_key::<Moments, u16>(&keys, filled.view())?;
    let same_station = gpu_scan::Segments::by_key(&keys);
    let within_stretches = scan_segments::<LastKnown>(&measured, &same_station, Options::inclusive())?;

    // ---- Along the axes of a matrix: rows are days, columns hours -------------------------------------------------------
    let (shape, hours) = ([series.days(), HOURS], series.days() * HOURS);
    let along = |axis: usize| -> Result<Vec<OfTemperatures>, gpu_reduce::Error> {
        // Hours have no mean where there is no day.
        if hours == 0 {
            return Ok(Vec::new());
        }
        Ok(triples(reduce_axis::<Moments>(filled.slice(..hours), &shape, axis)?.to_vec()?))
    };
    let within_hours = scan_axis::<LastKnown>(measured.slice(..hours), &shape, 0, Options::inclusive())?;
    Ok(Results {
        gaps: gap_begins(&measured)?,
        moments,
        degrees,
        weeks,
        stations: stations.to_vec()?,
        stretches: triples(stretches.to_vec()?),
        within_stretches: within_stretches.to_vec()?,
        days: along(1)?,
        hours: along(0)?,
        within_hours: within_hours.to_vec()?,
        filled: filled.to_vec()?,
    })
}

/// The outputs of each segment or line together.
fn triples(outputs: Vec<f64>) -> Vec<OfTemperatures> {
    outputs.as_chunks().0.to_vec()
}
