//! Which memory an operation may write.

use gpu_core::{Element, View, ViewMut};

use crate::error::Error;

/// Refuses an output that shares memory with `other`. Borrows rule it out, but for memory that was taken over from elsewhere.
pub(crate) fn expect_apart<T: Element, U: Element>(
    output: &mut ViewMut<'_, T>,
    with: &'static str,
    other: &View<'_, U>,
) -> Result<(), Error> {
    let end = |start: u64, bytes: usize| start + bytes as u64;
    let (to, from) = (output.as_global_mut().address(), other.as_global().address());
    let shared =
        to < end(from, other.len() * size_of::<U>()) && from < end(to, output.len() * size_of::<T>());
    if shared && output.device() == other.device() { Err(Error::Aliasing { with }) } else { Ok(()) }
}
