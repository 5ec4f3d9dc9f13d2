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

/// The bits of a value, and zeros above them: what accesses move whatever the type, so that all but their shells is
/// compiled once, here, and not with each kernel. A number and not an array, which would go through memory: a load of
/// 16 bytes right after a store of 4 of them waits until that is in the cache.
pub(crate) type Bytes = u128;

/// A value and its bits. Not copied with functions of the library: kernels are compiled without optimization in tests,
/// where each of those is a call with checks.
#[repr(C)]
union Bits<T: Plain> {
    of_1: u8,
    of_2: u16,
    of_4: u32,
    of_8: u64,
    of_16: u128,
    value: T,
}

/// Accesses have 1, 2, 4, 8 or 16 bytes.
pub(super) const fn check_size<T: Plain>() {
    assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16), "an access has 1, 2, 4, 8 or 16 bytes");
}

/// The value of these bits.
pub(super) fn value<T: Plain>(bits: Bytes) -> T {
    const { check_size::<T>() };
    let bits = match size_of::<T>() {
        1 => Bits { of_1: bits as u8 },
        2 => Bits { of_2: bits as u16 },
        4 => Bits { of_4: bits as u32 },
        8 => Bits { of_8: bits as u64 },
        _ => Bits { of_16: bits },
    };
    // SAFETY: the number is as large as the value, of which any bits are valid.
    unsafe { bits.value }
}

/// The bits of a value.
pub(super) fn bytes<T: Plain>(value: T) -> Bytes {
    const { check_size::<T>() };
    let bits = Bits { value };
    // SAFETY: the number is as large as the value, which has no padding.
    unsafe {
        match size_of::<T>() {
            1 => bits.of_1 as Bytes,
            2 => bits.of_2 as Bytes,
            4 => bits.of_4 as Bytes,
            8 => bits.of_8 as Bytes,
            _ => bits.of_16,
        }
    }
}
