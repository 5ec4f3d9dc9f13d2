//! The result codes of the driver API: which of them `cust_raw` knows.

/// The call did what it should.
pub const SUCCESS: i32 = 0;
/// `CUDA_ERROR_NO_DEVICE`: what every call returns where there is no driver.
pub const NO_DEVICE: i32 = 100;
/// `CUDA_ERROR_NOT_SUPPORTED`: what a call returns that the driver is too old to have.
pub const NOT_SUPPORTED: i32 = 801;
/// `CUDA_ERROR_UNKNOWN`: stands for every code that `cust_raw`'s enum lacks.
pub const UNKNOWN: i32 = 999;

/// The codes of CUDA 11.4, which are those of `cust_raw::cudaError_enum`, as inclusive ranges.
const KNOWN: &[(i32, i32)] = &[
    (0, 8),
    (34, 34),
    (100, 102),
    (200, 202),
    (205, 224),
    (300, 304),
    (400, 401),
    (500, 500),
    (600, 600),
    (700, 705),
    (708, 720),
    (800, 809),
    (900, 911),
    (999, 999),
];

/// `code`, or [`UNKNOWN`] where `cust_raw`'s enum has no such value.
pub(crate) fn clamp(code: i32) -> i32 {
    if KNOWN.iter().any(|&(first, last)| (first..=last).contains(&code)) { code } else { UNKNOWN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_newer_than_the_bindings_become_unknown() {
        for newer in [9, 36, 46, 225, 226, 721, 910 + 2, 998, -1, i32::MAX] {
            assert_eq!(clamp(newer), UNKNOWN, "{newer}");
        }
    }

    #[test]
    fn known_codes_stay() {
        for known in [0, 2, 100, 205, 222, 224, 700, 719, 720, 801, 911, 999] {
            assert_eq!(clamp(known), known);
        }
    }
}
