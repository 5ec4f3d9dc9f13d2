//! What moves with the keys.

use gpu_core::{Element, Error, Stream, View, ViewMut, checks};

use crate::api::NAME;

/// Where values come from, and where they go.
pub(crate) enum Values<'a, 'b, V: Element> {
    /// There are none.
    None,
    /// One a key.
    Of(View<'a, V>, ViewMut<'b, V>),
    /// The keys' indices.
    Indices(ViewMut<'b, u32>),
    /// One a key, to be put in order where they are.
    InPlace(ViewMut<'b, V>),
}

impl<V: Element> Values<'_, '_, V> {
    /// Bytes of what moves with a key.
    pub(crate) const fn moved_bytes(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Indices(_) => size_of::<u32>(),
            Self::Of(..) | Self::InPlace(_) => moved_bytes(size_of::<V>()),
        }
    }

    /// Whether an index is sorted in the place of the values.
    pub(crate) const fn is_gathered(&self) -> bool {
        matches!(self, Self::Of(..) | Self::InPlace(_)) && moved_bytes(size_of::<V>()) != size_of::<V>()
    }

    /// Whether there is one a key, and room for it.
    pub(crate) fn expect_lengths(&self, keys: usize) -> Result<(), Error> {
        match self {
            Self::None => Ok(()),
            Self::Of(values, output) => {
                checks::inputs(NAME, keys, values.len())?;
                checks::output(NAME, keys, output.len())
            }
            Self::Indices(output) => checks::output(NAME, keys, output.len()),
            Self::InPlace(values) => checks::inputs(NAME, keys, values.len()),
        }
    }

    /// Whether all is on the stream's device.
    pub(crate) fn expect_device(&self, stream: &Stream) -> Result<(), Error> {
        match self {
            Self::None => Ok(()),
            Self::Of(values, output) => {
                stream.expect("values of a sort", values.device())?;
                stream.expect("values' output of a sort", output.device())
            }
            Self::Indices(output) => stream.expect("indices of a sort", output.device()),
            Self::InPlace(values) => stream.expect("values of a sort", values.device()),
        }
    }
}

/// Bytes of what moves with a key where a value has `bytes`: the value itself, or an index of 4 bytes by which it is
/// gathered at the end.
pub(crate) const fn moved_bytes(bytes: usize) -> usize {
    match bytes {
        0 | 4 | 8 => bytes,
        _ => 4,
    }
}
