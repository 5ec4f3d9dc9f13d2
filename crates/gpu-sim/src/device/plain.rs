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

/// The bytes of a value, and zeros behind them: what accesses move whatever the type, so that all but their shells is
/// compiled once, here, and not with each kernel.
pub(crate) type Bytes = [u8; 16];

/// A value and its bytes. Not copied with functions of the library: kernels are compiled without optimization in tests,
/// where each of those is a call with checks.
#[repr(C)]
union Bits<T: Plain> {
    bytes: Bytes,
    value: T,
}

/// Accesses have 1, 2, 4, 8 or 16 bytes.
pub(super) const fn check_size<T: Plain>() {
    assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16), "an access has 1, 2, 4, 8 or 16 bytes");
}

/// The value of these bytes.
pub(super) fn value<T: Plain>(bytes: Bytes) -> T {
    const { check_size::<T>() };
    // SAFETY: the value is no larger than the bytes, all of which are there, and any bits are valid.
    unsafe { Bits { bytes }.value }
}

/// The bytes of a value.
pub(super) fn bytes<T: Plain>(value: T) -> Bytes {
    const { check_size::<T>() };
    let mut bits = Bits::<T> { bytes: [0; 16] };
    bits.value = value;
    // SAFETY: all bytes were written, and the value has no padding.
    unsafe { bits.bytes }
}
