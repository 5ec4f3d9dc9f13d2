//! What moves with the keys.

/// Bytes of what moves with a key where a value has `bytes`: the value itself, or an index of 4 bytes by which it is
/// gathered at the end.
pub(crate) const fn moved_bytes(bytes: usize) -> usize {
    match bytes {
        0 | 4 | 8 => bytes,
        _ => 4,
    }
}
