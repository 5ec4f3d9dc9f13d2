//! What a reduction takes one after the other, and where it comes from: an array, or two arrays side by side.

use gpu_std::half::{bf16, f16};
use gpu_std::memory::Global;

use super::number::Number;
use super::quad::Quads;

/// An element of an array, or a pair of elements at the same index of two.
///
/// ```
/// use gpu_collective::Item;
/// assert_eq!((<f64 as Item>::BYTES, <f64 as Item>::ARRAYS), (8, 1));
/// assert_eq!(<(f32, f32) as Item>::ARRAYS, 2);
/// ```
pub trait Item: Copy + Send + Sync + 'static {
    /// How a kernel reads it.
    type Source: Quads<Item = Self>;
    /// Bytes of an element of one array.
    const BYTES: u32;
    /// How many arrays there are.
    const ARRAYS: u32;
    /// Any value: what stands where nothing was read.
    const ANY: Self;
}

/// One or two arrays in global memory.
pub trait Source: Copy {
    /// What they give.
    type Item;
    /// Whether every array starts at a multiple of 16 bytes.
    fn is_aligned(self) -> bool;
    /// The same from element `elements` on.
    #[must_use]
    fn offset(self, elements: u64) -> Self;
    /// The item at `index`, which nobody will read again.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read(self, index: u32) -> Self::Item;
    /// `V` items from `index` on, 16 bytes of each array.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn read_vec<const V: usize>(self, index: u32) -> [Self::Item; V];
    /// Asks for the 128 bytes around the item at `index`, of each array.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn prefetch(self, index: u32);
}

macro_rules! items {
    ($($t:ty)*) => { $(
        impl Item for $t {
            type Source = Global<$t>;
            const BYTES: u32 = size_of::<$t>() as u32;
            const ARRAYS: u32 = 1;
            const ANY: Self = <$t as Number>::ZERO;
        }

        impl Source for Global<$t> {
            type Item = $t;
            #[inline(always)]
            fn is_aligned(self) -> bool {
                // Of 32 bits, as a comparison of 64 is two.
                (self.address() as u32).is_multiple_of(super::LOAD_BYTES)
            }
            #[inline(always)]
            fn offset(self, elements: u64) -> Self {
                Global::offset(self, elements)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn read(self, index: u32) -> $t {
                self.read_streaming(index)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn read_vec<const V: usize>(self, index: u32) -> [$t; V] {
                self.read_streaming_vec(index)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn prefetch(self, index: u32) {
                Global::prefetch(self, index);
            }
        }

        impl Item for ($t, $t) {
            type Source = (Global<$t>, Global<$t>);
            const BYTES: u32 = size_of::<$t>() as u32;
            const ARRAYS: u32 = 2;
            const ANY: Self = (<$t as Number>::ZERO, <$t as Number>::ZERO);
        }

        impl Source for (Global<$t>, Global<$t>) {
            type Item = ($t, $t);
            #[inline(always)]
            fn is_aligned(self) -> bool {
                Source::is_aligned(self.0) & Source::is_aligned(self.1)
            }
            #[inline(always)]
            fn offset(self, elements: u64) -> Self {
                (self.0.offset(elements), self.1.offset(elements))
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn read(self, index: u32) -> ($t, $t) {
                (self.0.read_streaming(index), self.1.read_streaming(index))
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn read_vec<const V: usize>(self, index: u32) -> [($t, $t); V] {
                let first = self.0.read_streaming_vec::<V>(index);
                let second = self.1.read_streaming_vec::<V>(index);
                core::array::from_fn(|i| (first[i], second[i]))
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn prefetch(self, index: u32) {
                self.0.prefetch(index);
                self.1.prefetch(index);
            }
        }
    )* };
}
items!(f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64);
