//! What a kernel takes as an argument.

pub use gpu_std_macros::Parameter;

/// A type that can be a kernel's parameter: numbers, accessors, tables and `#[repr(C)]` structs of numbers.
///
/// Derive it for structs: the derive checks that every field is a number, an array of numbers, or such a struct.
/// Pointers and accessors stay out of structs: each must be a parameter of its own, so that the compiler knows which
/// memory it points to.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[derive(Clone, Copy, Parameter)]
/// #[repr(C)]
/// pub struct Shape {
///     rows: u32,
///     columns: u32,
/// }
/// ```
///
/// # Safety
/// `Entry` has the size, alignment and bytes of what the host passes, which is `Self` there; the alignment is at most
/// 16; and the bytes mean the same on the host and on the GPU.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    label = "not a kernel parameter",
    note = "kernels take numbers, `Global`, `GlobalMut`, `Constant`, `Texture` and `#[repr(C)]` structs with `#[derive(Parameter)]`"
)]
pub unsafe trait Parameter: Copy + Send + Sync + 'static {
    /// Whether kernels only read what it points to, if anything.
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    const READ_ONLY: bool = false;

    /// How many of its bytes are passed, the first ones.
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    const BYTES: usize = size_of::<Self>();

    /// The address of the memory that it describes, where it is not an address itself.
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    fn described(&self) -> u64 {
        0
    }

    /// What the PTX entry declares.
    #[cfg(target_arch = "nvptx64")]
    #[doc(hidden)]
    type Entry: Copy;

    /// The parameter, from the entry's value or from where it lies in parameter space.
    ///
    /// # Safety
    /// `address` is that of the entry's parameter.
    #[cfg(target_arch = "nvptx64")]
    #[doc(hidden)]
    unsafe fn from_entry(entry: Self::Entry, address: u64) -> Self;
}

/// A number, or a struct or array of them: what a parameter struct may hold.
///
/// # Safety
/// No pointers, and the same layout on the host and on the GPU.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a parameter struct",
    label = "not a plain number",
    note = "parameter structs hold numbers, arrays of them and other such structs; accessors are parameters of their own"
)]
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

/// Makes `Parameter` of types that are passed as they are.
#[doc(hidden)]
#[macro_export]
macro_rules! __by_value {
    () => {
        #[cfg(target_arch = "nvptx64")]
        type Entry = Self;
        #[cfg(target_arch = "nvptx64")]
        #[inline(always)]
        unsafe fn from_entry(entry: Self, _address: u64) -> Self {
            entry
        }
    };
}

macro_rules! numbers {
    ($($t:ty)*) => { $(
        // SAFETY: a number has the same layout everywhere.
        unsafe impl Plain for $t {}
        // SAFETY: as above; it is its own entry.
        unsafe impl Parameter for $t {
            __by_value!();
        }
    )* };
}
numbers!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64);

// SAFETY: elements one after the other.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

// SAFETY: an address of 8 bytes on both sides.
unsafe impl<T: crate::memory::Element> Parameter for crate::memory::Global<T> {
    #[cfg(not(target_arch = "nvptx64"))]
    const READ_ONLY: bool = true;
    __by_value!();
}
// SAFETY: as above.
unsafe impl<T: crate::memory::Element> Parameter for crate::memory::GlobalMut<T> {
    __by_value!();
}
