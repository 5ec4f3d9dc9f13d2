//! Which memory an operation may write.

use gpu_core::{Element, View, ViewMut};

use crate::error::Error;

/// Refuses an output that shares memory with `other`. Borrows rule it out, but for memory that was taken over from
/// elsewhere.
pub(crate) fn expect_apart<T: Element, U: Element>(
    output: &ViewMut<'_, T>,
    with: &'static str,
    other: &View<'_, U>,
) -> Result<(), Error> {
    if output.view().overlaps(other) {
        Err(Error::Device(gpu_core::Error::Aliasing { with }))
    } else {
        Ok(())
    }
}
