//! Result codes: what a call of the driver returned, under its name.

use std::ffi::CStr;

use cuda_shim::CUresult;

use crate::error::DriverFailure;

/// Runs a call and names its failure. The call's name is a literal, so that errors can be grepped for.
pub(super) fn check(call: &'static str, outcome: CUresult) -> Result<(), Box<DriverFailure>> {
    outcome.code().map_err(|code| failure(call, code))
}

/// The failure of `call` with this code.
#[cold]
pub(crate) fn failure(call: &'static str, code: i32) -> Box<DriverFailure> {
    let text = |text: &CStr| text.to_string_lossy().into_owned();
    let (name, text) = (text(CUresult(code).name()), text(CUresult(code).text()));
    Box::new(DriverFailure { call, code, name, text, sticky: is_sticky(code), launch: None, log: None })
}

/// Whether a failure leaves the context unusable: every later call would return it again.
pub(super) fn is_sticky(code: i32) -> bool {
    matches!(
        code,
        // The driver has shut down.
        4
        // Uncorrectable memory and link errors, contained ones too.
        | 214 | 220 | 226
        // Illegal address, time limit, context destroyed, assertion.
        | 700 | 702 | 709 | 710
        // Hardware stack, illegal instruction, misaligned address, address space, program counter, launch failure,
        // tensor memory leak.
        | 714
            ..=719 | 721
        // The device is gone (fallen off the bus, or reset by someone).
        | 46 | 999
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_carry_the_code_and_its_name() {
        let failure = failure("cuMemAlloc", 2);
        assert_eq!(
            (failure.code, failure.name.as_str(), failure.sticky),
            (2, "CUDA_ERROR_OUT_OF_MEMORY", false)
        );
        assert!(
            failure.to_string().starts_with("cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (2): "),
            "{failure}"
        );
    }

    #[test]
    fn faults_of_kernels_are_sticky_and_refusals_are_not() {
        for sticky in [700, 702, 710, 716, 719] {
            assert!(is_sticky(sticky), "{sticky}");
        }
        for passing in [1, 2, 100, 101, 201, 218, 400, 500, 600, 701, 720, 801] {
            assert!(!is_sticky(passing), "{passing}");
        }
    }
}
