//! What an access moves.

/// A value that memory can hold: bytes that mean the same wherever they lie.
///
/// # Safety
/// Any bits of that size must be a valid value, the type must have no padding, and it must not own, borrow or point
/// to anything: a load makes it from bytes that a kernel has written in whatever way.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($t:ty)*) => { $(
        // SAFETY: a number, of which any bits are valid.
        unsafe impl Plain for $t {}
    )* };
}
plain!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 f32 f64);

// SAFETY: elements follow each other without padding, and of each any bits are valid.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// What a thread that has ended reads.
pub(super) fn zero<T: Plain>() -> T {
    // SAFETY: any bits are valid.
    unsafe { std::mem::zeroed() }
}
