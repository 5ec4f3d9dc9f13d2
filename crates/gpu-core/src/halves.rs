//! The crate `half`'s types of 16 bits, where arrays go in and come out.
//!
//! Kernels have types of their own ([`gpu_std::half`]): they convert by the GPU's instruction for it, where `half` on
//! `nvptx64` would do so in some twenty integer instructions. The bits are the same. So host arrays of `half`'s types are
//! views of the kernels' like any others: every primitive takes them.
//!
//! ```
//! use gpu_core::{View, halves::{kernel_bf16, kernel_f16}};
//! let host = [half::f16::from_f32(1.5), half::f16::from_f32(-2.0)];
//! let view: View<'_, kernel_f16> = (&host).into();
//! assert_eq!(view.as_slice().unwrap()[1].to_f32(), -2.0);
//! // To a device, and back.
//! let buffer = gpu_core::Device::simulator().upload(gpu_core::halves::to_kernel(&host))?;
//! let mut back = [half::f16::ZERO; 2];
//! buffer.copy_to(gpu_core::halves::to_kernel_mut(&mut back))?;
//! assert_eq!(back, host);
//! # let _: Option<kernel_bf16> = None;
//! # Ok::<(), gpu_core::Error>(())
//! ```

pub use gpu_std::half::{bf16 as kernel_bf16, f16 as kernel_f16};

use crate::element::Element;
use crate::view::{View, ViewMut};

/// `half::f16` and `half::bf16`, and the kernels' types for them.
pub trait Half: bytemuck::Pod {
    /// The kernels' type with the same bits.
    type Kernel: Element;
}

/// The same numbers for kernels.
pub fn to_kernel<T: Half>(numbers: &[T]) -> &[T::Kernel] {
    bytemuck::cast_slice(numbers)
}

/// The same numbers for kernels, to be written.
pub fn to_kernel_mut<T: Half>(numbers: &mut [T]) -> &mut [T::Kernel] {
    bytemuck::cast_slice_mut(numbers)
}

macro_rules! halves {
    ($($t:ty => $kernel:ty;)*) => { $(
        impl Half for $t {
            type Kernel = $kernel;
        }
        halves!(@ $t => $kernel: ([$t])[] (Vec<$t>)[] ([$t; N])[const N: usize]);
    )* };
    (@ $t:ty => $kernel:ty: $(($array:ty)[$($n:tt)*])*) => { $(
        impl<'a, $($n)*> From<&'a $array> for View<'a, $kernel> {
            fn from(numbers: &'a $array) -> Self {
                to_kernel::<$t>(numbers).into()
            }
        }

        impl<'a, $($n)*> From<&'a mut $array> for ViewMut<'a, $kernel> {
            fn from(numbers: &'a mut $array) -> Self {
                to_kernel_mut::<$t>(numbers).into()
            }
        }
    )* };
}
halves! {
    ::half::f16 => kernel_f16;
    ::half::bf16 => kernel_bf16;
}
