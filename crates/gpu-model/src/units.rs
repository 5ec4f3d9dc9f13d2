//! Numbers with units: what is added, multiplied and divided has to make sense.
//!
//! ```
//! use gpu_model::units::{Bytes, BytesPerSecond, Cycles, Hertz};
//! let time = Cycles(1_150.0) / Hertz(1.15e9) + Bytes(4_000.0) / BytesPerSecond(4e9);
//! assert_eq!(time.0, 2e-6);
//! ```

use std::iter::Sum;
use std::ops::{Add, Div, Mul, Sub};

/// A number with a unit that can be written as text, `1.15 GHz`.
pub trait Quantity: Copy {
    /// The units that can stand behind the number, each with what one of it is in the base unit.
    const UNITS: &'static [(&'static str, f64)];

    /// The quantity of so many base units.
    fn from_base(value: f64) -> Self;

    /// In base units.
    fn base(self) -> f64;
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $($unit:literal = $size:expr),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, serde::Serialize)]
        pub struct $name(pub f64);

        impl Quantity for $name {
            const UNITS: &'static [(&'static str, f64)] = &[$(($unit, $size)),+];

            fn from_base(value: f64) -> Self {
                Self(value)
            }

            fn base(self) -> f64 {
                self.0
            }
        }

        impl Add for $name {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;

            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Mul<f64> for $name {
            type Output = Self;

            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl Div<f64> for $name {
            type Output = Self;

            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }

        /// How many of the one are in the other.
        impl Div for $name {
            type Output = f64;

            fn div(self, divisor: Self) -> f64 {
                self.0 / divisor.0
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(quantities: I) -> Self {
                quantities.fold(Self(0.0), |sum, one| sum + one)
            }
        }

        impl $name {
            /// The larger of the two.
            #[must_use]
            pub fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }

            /// The smaller of the two.
            #[must_use]
            pub fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }
        }
    };
}

quantity!(
    /// Clock cycles of a device.
    Cycles, "cycles" = 1.0, "cycle" = 1.0
);
quantity!(
    /// Time in seconds.
    Seconds, "s" = 1.0, "ms" = 1e-3, "us" = 1e-6, "µs" = 1e-6, "ns" = 1e-9
);
quantity!(
    /// Frequency in 1/s.
    Hertz, "Hz" = 1.0, "kHz" = 1e3, "MHz" = 1e6, "GHz" = 1e9
);
quantity!(
    /// An amount of memory.
    Bytes, "B" = 1.0, "kB" = 1e3, "MB" = 1e6, "GB" = 1e9, "KiB" = 1024.0, "MiB" = 1_048_576.0, "GiB" = GIB
);
quantity!(
    /// Memory moved in a second.
    BytesPerSecond, "B/s" = 1.0, "MB/s" = 1e6, "GB/s" = 1e9, "TB/s" = 1e12, "GiB/s" = GIB
);
quantity!(
    /// Operations of arithmetic in a second, a fused multiply-add being two.
    FlopPerSecond, "FLOP/s" = 1.0, "GFLOP/s" = 1e9, "TFLOP/s" = 1e12
);
quantity!(
    /// A part of a whole.
    Fraction, "%" = 1e-2
);

/// 2^30, what a GiB has of bytes.
pub const GIB: f64 = 1_073_741_824.0;

impl Seconds {
    /// In thousandths of a second.
    pub fn milliseconds(self) -> f64 {
        self.0 * 1e3
    }
}

impl Div<Hertz> for Cycles {
    type Output = Seconds;

    fn div(self, clock: Hertz) -> Seconds {
        Seconds(self.0 / clock.0)
    }
}

impl Mul<Hertz> for Seconds {
    type Output = Cycles;

    fn mul(self, clock: Hertz) -> Cycles {
        Cycles(self.0 * clock.0)
    }
}

impl Div<BytesPerSecond> for Bytes {
    type Output = Seconds;

    fn div(self, bandwidth: BytesPerSecond) -> Seconds {
        Seconds(self.0 / bandwidth.0)
    }
}

impl Div<Seconds> for Bytes {
    type Output = BytesPerSecond;

    fn div(self, time: Seconds) -> BytesPerSecond {
        BytesPerSecond(self.0 / time.0)
    }
}

/// Why a text is no quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// What stands before the unit is no number.
    NotANumber,
    /// The unit is missing or belongs to another quantity.
    WrongUnit,
}

/// Reads `1.15 GHz`: a number, one space, a unit. Gives the number as it stands there too.
///
/// # Errors
/// No number, no unit, or another quantity's.
///
/// ```
/// use gpu_model::units::{Hertz, ParseError, parse};
/// assert_eq!(parse::<Hertz>("1.15 GHz"), Ok((Hertz(1.15e9), 1.15)));
/// assert_eq!(parse::<Hertz>("1.15 GB"), Err(ParseError::WrongUnit));
/// assert_eq!(parse::<Hertz>("fast"), Err(ParseError::WrongUnit));
/// assert_eq!(parse::<Hertz>("very GHz"), Err(ParseError::NotANumber));
/// ```
pub fn parse<Q: Quantity>(text: &str) -> Result<(Q, f64), ParseError> {
    let (number, unit) = text.split_once(' ').ok_or(ParseError::WrongUnit)?;
    let size = Q::UNITS.iter().find(|(name, _)| *name == unit).ok_or(ParseError::WrongUnit)?.1;
    let number: f64 = number.parse().map_err(|_| ParseError::NotANumber)?;
    Ok((Q::from_base(number * size), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_every_quantity() {
        assert_eq!(parse::<Bytes>("48 KiB"), Ok((Bytes(49_152.0), 48.0)));
        assert_eq!(parse::<Bytes>("6 GiB"), Ok((Bytes(6_442_450_944.0), 6.0)));
        assert_eq!(parse::<BytesPerSecond>("4.8 TB/s"), Ok((BytesPerSecond(4.8e12), 4.8)));
        assert_eq!(parse::<Cycles>("600 cycles"), Ok((Cycles(600.0), 600.0)));
        assert_eq!(parse::<Fraction>("50 %"), Ok((Fraction(0.5), 50.0)));
        assert_eq!(parse::<FlopPerSecond>("67 TFLOP/s"), Ok((FlopPerSecond(67e12), 67.0)));
        assert_eq!(parse::<Seconds>("3 ms").map(|(time, _)| time.milliseconds()), Ok(3.0));
        // A bandwidth is no amount.
        assert_eq!(parse::<Bytes>("144 GB/s"), Err(ParseError::WrongUnit));
        assert_eq!(parse::<Cycles>("600"), Err(ParseError::WrongUnit));
    }

    #[test]
    fn quotients_have_their_units() {
        // 1150 cycles at 1.15 GHz are 1 µs; and back.
        let time: Seconds = Cycles(1150.0) / Hertz(1.15e9);
        assert!((time.0 - 1e-6).abs() < 1e-18);
        assert!(((time * Hertz(1.15e9)).0 - 1150.0).abs() < 1e-9);
        // 8 GB at 4 GB/s are 2 s; 8 GB in 2 s are 4 GB/s.
        assert_eq!(Bytes(8e9) / BytesPerSecond(4e9), Seconds(2.0));
        assert_eq!(Bytes(8e9) / Seconds(2.0), BytesPerSecond(4e9));
        assert_eq!(Cycles(600.0) / Cycles(300.0), 2.0);
        assert_eq!([Cycles(1.0), Cycles(2.0)].into_iter().sum::<Cycles>(), Cycles(3.0));
        assert_eq!(Cycles(5.0) - Cycles(2.0), Cycles(3.0));
        assert_eq!(Cycles(5.0).max(Cycles(2.0)), Cycles(5.0));
        assert_eq!(Cycles(5.0).min(Cycles(2.0)), Cycles(2.0));
    }
}
