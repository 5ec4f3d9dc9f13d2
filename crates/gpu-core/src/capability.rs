//! Compute capabilities and version numbers.

use core::fmt;

/// A compute capability: what a generation of GPUs can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability {
    /// The generation.
    pub major: u32,
    /// The variant within it.
    pub minor: u32,
}

impl Capability {
    /// The capability `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// As images write it: 90 for 9.0.
    pub const fn arch(self) -> u32 {
        self.major * 10 + self.minor
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Writes a version that is kept as one number: 12040 with unit 1000, 74 with unit 10.
pub(crate) fn version(number: u32, unit: u32) -> String {
    let minor = if unit == 1000 { number % 1000 / 10 } else { number % unit };
    format!("{}.{minor}", number / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_written_as_people_do() {
        assert_eq!(version(12040, 1000), "12.4");
        assert_eq!(version(13000, 1000), "13.0");
        assert_eq!(version(74, 10), "7.4");
        assert_eq!(Capability::new(9, 0).to_string(), "9.0");
        assert_eq!(Capability::new(12, 1).arch(), 121);
    }
}
