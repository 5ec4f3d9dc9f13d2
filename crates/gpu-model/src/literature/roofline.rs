//! The roofline: no kernel is faster than its operations at the peak, nor than its bytes at the bandwidth of any
//! level of memory.
//!
//! S. Williams, A. Waterman, D. Patterson, *Roofline: an insightful visual performance model for multicore
//! architectures*, Communications of the ACM 52(4), 2009; with a bandwidth for each level as in C. Yang, T. Kurth, S.
//! Williams, *Hierarchical roofline analysis for GPUs*, 2020.
//!
//! ```text
//! attainable = min(peak, intensity · bandwidth)          intensity: operations a byte
//! ridge      = peak / bandwidth                          from there on the peak limits
//! time       = max(operations / peak, bytes of each level / its bandwidth)
//! ```
//!
//! ```
//! use gpu_model::literature::roofline::{Demand, Limit, Roofline};
//! use gpu_model::units::Bytes;
//! use gpu_model::Device;
//! let roof = Roofline::single(&Device::by_name("h200")?);
//! // The sum of 2^28 floats: one operation for 4 bytes, far left of the ridge.
//! let found = roof.bound(&Demand { operations: 268435455.0, bytes: vec![Bytes(1073741824.0)] })?;
//! assert_eq!(found.limit, Limit::Level("memory".to_owned()));
//! assert!((found.time.0 - 223.7e-6).abs() < 0.1e-6);
//! # Ok::<(), gpu_model::Error>(())
//! ```

use crate::device::Device;
use crate::error::{Error, Result, not_negative, positive};
use crate::units::{Bytes, BytesPerSecond, FlopPerSecond, Seconds};

/// A level of memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// What it is called.
    pub name: String,
    /// What it moves in a second.
    pub bandwidth: BytesPerSecond,
}

/// A device's limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    /// Operations in a second.
    pub peak: FlopPerSecond,
    /// Levels of memory, any number.
    pub levels: Vec<Level>,
}

/// What a kernel asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Operations.
    pub operations: f64,
    /// What it moves at each level.
    pub bytes: Vec<Bytes>,
}

/// What limits a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// Operations.
    Peak,
    /// The level of memory with this name.
    Level(String),
}

/// What limits, in a word or two.
impl core::fmt::Display for Limit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Peak => f.pad("operations"),
            Self::Level(name) => f.pad(name),
        }
    }
}

/// The least time a kernel can take, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct LowerBound {
    /// The time.
    pub time: Seconds,
    /// What limits it.
    pub limit: Limit,
}

impl Roofline {
    /// 32-bit operations and the device's memory.
    pub fn single(device: &Device) -> Self {
        Self::of(device, device.peak_single())
    }

    /// 64-bit operations and the device's memory.
    pub fn double(device: &Device) -> Self {
        Self::of(device, device.peak_double())
    }

    fn of(device: &Device, peak: FlopPerSecond) -> Self {
        let memory = Level { name: "memory".to_owned(), bandwidth: device.memory.bandwidth };
        Self { peak, levels: vec![memory] }
    }

    /// Operations a byte from which on the peak limits, at each level.
    ///
    /// # Errors
    /// A peak or a bandwidth that is not positive.
    pub fn ridges(&self) -> Result<Vec<f64>> {
        let peak = positive("peak", self.peak.0)?;
        self.levels.iter().map(|level| Ok(peak / positive("bandwidth", level.bandwidth.0)?)).collect()
    }

    /// Operations in a second of a kernel with these operations a byte at each level.
    ///
    /// # Errors
    /// Another number of intensities than of levels; one, the peak or a bandwidth that is not positive.
    pub fn attainable(&self, intensities: &[f64]) -> Result<FlopPerSecond> {
        self.same_number(intensities.len())?;
        let mut least = positive("peak", self.peak.0)?;
        for (level, intensity) in self.levels.iter().zip(intensities) {
            let bandwidth = positive("bandwidth", level.bandwidth.0)?;
            least = least.min(positive("intensity", *intensity)? * bandwidth);
        }
        Ok(FlopPerSecond(least))
    }

    /// The least time a kernel can take. Where several limits are equal the first level is named, then the peak.
    ///
    /// # Errors
    /// Another number of bytes than of levels; negative operations or bytes; a peak or a bandwidth that is not
    /// positive.
    pub fn bound(&self, demand: &Demand) -> Result<LowerBound> {
        self.same_number(demand.bytes.len())?;
        let mut found: Option<LowerBound> = None;
        let mut at_least = |time: Seconds, limit: Limit| {
            if found.as_ref().is_none_or(|before| time > before.time) {
                found = Some(LowerBound { time, limit });
            }
        };
        for (level, bytes) in self.levels.iter().zip(&demand.bytes) {
            positive("bandwidth", level.bandwidth.0)?;
            let bytes = Bytes(not_negative("bytes", bytes.0)?);
            at_least(bytes / level.bandwidth, Limit::Level(level.name.clone()));
        }
        let operations = not_negative("operations", demand.operations)?;
        let computing = Seconds(operations / positive("peak", self.peak.0)?);
        at_least(computing, Limit::Peak);
        Ok(found.unwrap_or(LowerBound { time: computing, limit: Limit::Peak }))
    }

    fn same_number(&self, given: usize) -> Result<()> {
        if given == self.levels.len() {
            return Ok(());
        }
        let (value, other_value) = (given as f64, self.levels.len() as f64);
        Err(Error::Contradiction { field: "bytes", value, other: "levels", other_value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roof() -> Roofline {
        let level =
            |name: &str, bandwidth| Level { name: name.to_owned(), bandwidth: BytesPerSecond(bandwidth) };
        Roofline { peak: FlopPerSecond(1e12), levels: vec![level("memory", 100e9), level("l2", 400e9)] }
    }

    /// 1e12/100e9 = 10 and 1e12/400e9 = 2.5 operations a byte. 4 and 1: min(1e12, 400e9, 400e9) = 400e9; 20 and 2:
    /// 800e9 by the second level; 20 and 20: the peak.
    #[test]
    fn ridges_and_what_is_attainable() {
        assert_eq!(roof().ridges(), Ok(vec![10.0, 2.5]));
        assert_eq!(roof().attainable(&[4.0, 1.0]), Ok(FlopPerSecond(400e9)));
        assert_eq!(roof().attainable(&[20.0, 2.0]), Ok(FlopPerSecond(800e9)));
        assert_eq!(roof().attainable(&[20.0, 20.0]), Ok(FlopPerSecond(1e12)));
    }

    /// 2e9 operations take 2 ms; 1e9 bytes of memory 10 ms, 8e9 of l2 20 ms, 1e6 of each nothing to speak of.
    #[test]
    fn the_slowest_limits() {
        let bound = |operations, memory, l2| {
            roof().bound(&Demand { operations, bytes: vec![Bytes(memory), Bytes(l2)] }).expect("positive")
        };
        let level = |name: &str| Limit::Level(name.to_owned());
        assert_eq!(bound(2e9, 1e9, 1e9), LowerBound { time: Seconds(1e-2), limit: level("memory") });
        assert_eq!(bound(2e9, 1e9, 8e9), LowerBound { time: Seconds(2e-2), limit: level("l2") });
        assert_eq!(bound(2e9, 1e6, 1e6), LowerBound { time: Seconds(2e-3), limit: Limit::Peak });
        // Without levels only the peak is left.
        let bare = Roofline { levels: Vec::new(), ..roof() };
        let found = bare.bound(&Demand { operations: 2e9, bytes: Vec::new() });
        assert_eq!(found, Ok(LowerBound { time: Seconds(2e-3), limit: Limit::Peak }));
    }

    #[test]
    fn bad_parameters() {
        let demand = Demand { operations: 1.0, bytes: vec![Bytes(1.0)] };
        assert!(matches!(roof().bound(&demand), Err(Error::Contradiction { .. })));
        let negative = Demand { operations: -1.0, bytes: vec![Bytes(1.0); 2] };
        assert!(roof().bound(&negative).is_err() && roof().attainable(&[0.0, 1.0]).is_err());
        assert!(Roofline { peak: FlopPerSecond(0.0), ..roof() }.ridges().is_err());
    }
}
