//! What is refused.

use gpu_core::Error;

/// That an array, called `what`, was refused for its length.
pub fn assert_length(error: impl Into<Error>, what: &str, expected: usize, actual: usize) {
    let error = error.into();
    let Error::LengthMismatch { what: named, expected: wanted, actual: given } = &error else {
        panic!("{error}")
    };
    assert_eq!((*named, *wanted, *given), (what, expected, actual), "{error}");
}
