//! Scratch memory that calls are tested with.

use gpu_core::{Error, Scratch, ScratchSize, Stream};

/// As much as `size` says and no more, with ones in all bits: NaN, where it is floats.
pub fn exactly(stream: &Stream, size: ScratchSize) -> Scratch {
    let memory = stream.device().upload(&vec![u128::MAX; size.words()]).unwrap();
    Scratch::from_buffer(stream, memory).unwrap()
}

/// Whether a call was refused that was brought none and needs as much as `size` says.
pub fn lacks<E: Into<Error>>(result: Result<(), E>, size: ScratchSize) -> bool {
    let refused = result.map_err(E::into);
    matches!(refused, Err(Error::ScratchTooSmall { expected, actual: 0, .. }) if expected == size.bytes())
}

/// Whether a call was refused whose scratch memory is that of another stream.
pub fn is_of_other_stream<E: Into<Error>>(result: Result<(), E>) -> bool {
    matches!(result.map_err(E::into), Err(Error::ScratchOfOtherStream { .. }))
}
