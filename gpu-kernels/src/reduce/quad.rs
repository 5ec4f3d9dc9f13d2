//! Sixteen bytes from any element on.
//!
//! A segment starts anywhere, but loads of 16 bytes start at multiples of 16. So a thread reads the aligned 16 bytes that hold
//! its first element and, where they do not hold all it wants, the next ones, and shifts the two into place: 16 instructions
//! whatever the type, where one load for each element would take a thread sixteen of `u8`. What comes second a neighbouring
//! lane has read first, so the L1 has it: these loads are the plain cached ones.

use gpu_std::bits::funnel_shift_right;
use gpu_std::half::{bf16, f16};
use gpu_std::memory::Global;
use gpu_std::{device, opaque, unroll};

use super::LOAD_BYTES;
use super::item::Source;

/// One or two arrays that are read 16 bytes at a time, whatever the alignment.
pub trait Quads: Source {
    /// 16 bytes of each array.
    type Quad: Copy;
    /// What stands where nothing was read.
    const NOTHING: Self::Quad;
    /// The same from the last multiple of 16 bytes on, that of each array.
    #[must_use]
    fn floor(self) -> Self;
    /// The first 16 bytes, which are aligned.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn quad(self) -> Self::Quad;
    /// The same, of which no other load will want a part: past the L1.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn streamed(self) -> Self::Quad;
    /// Whether the first `wanted` elements, or as many of them as 16 bytes hold, reach beyond the next multiple of 16 bytes,
    /// in either array.
    fn is_split(self, wanted: u32) -> bool;
    /// The first 16 bytes, given the aligned ones that hold the first element and those after them.
    fn joined(self, first: Self::Quad, second: Self::Quad) -> Self::Quad;
    /// The first `wanted` elements, or as many of them as 16 bytes hold, one after the other.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn one_by_one(self, wanted: u32) -> Self::Quad;
    /// The same in a loop: little code, and slow.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn in_turn(self, wanted: u32) -> Self::Quad;
    /// Element `index` of 16 bytes.
    fn item(quad: Self::Quad, index: u32) -> Self::Item;
}

/// 16 bytes of one array.
pub type Words = [u32; 4];

macro_rules! quads {
    ($($t:ty, $bits:ty: $from:expr;)*) => { $(
        impl Quads for Global<$t> {
            type Quad = Words;
            const NOTHING: Words = [0; 4];
            #[inline(always)]
            fn floor(self) -> Self {
                self.offset((beyond::<$bits>(self.address()) as u64).wrapping_neg())
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn quad(self) -> Words {
                self.cast::<u32>().read_only_vec(0)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn streamed(self) -> Words {
                self.cast::<u32>().read_streaming_vec(0)
            }
            #[inline(always)]
            fn is_split(self, wanted: u32) -> bool {
                let beyond = beyond::<$bits>(self.address());
                beyond > 0 && wanted > per_quad::<$bits>() - beyond
            }
            #[inline(always)]
            fn joined(self, first: Words, second: Words) -> Words {
                joined::<$bits>(self.address(), first, second)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn one_by_one(self, wanted: u32) -> Words {
                one_by_one(self.cast::<$bits>(), wanted)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn in_turn(self, wanted: u32) -> Words {
                in_turn(self.cast::<$bits>(), wanted)
            }
            #[inline(always)]
            fn item(quad: Words, index: u32) -> $t {
                const BYTES: u32 = size_of::<$t>() as u32;
                let (word, bit) = (index * BYTES / 4, index * BYTES % 4 * 8);
                let low = (quad[word as usize] >> bit) as u64;
                let bits = if BYTES == 8 { (quad[word as usize + 1] as u64) << 32 | low } else { low };
                $from(bits as $bits)
            }
        }

        impl Quads for (Global<$t>, Global<$t>) {
            type Quad = (Words, Words);
            const NOTHING: Self::Quad = ([0; 4], [0; 4]);
            #[inline(always)]
            fn floor(self) -> Self {
                (self.0.floor(), self.1.floor())
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn quad(self) -> Self::Quad {
                (self.0.quad(), self.1.quad())
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn streamed(self) -> Self::Quad {
                (self.0.streamed(), self.1.streamed())
            }
            #[inline(always)]
            fn is_split(self, wanted: u32) -> bool {
                self.0.is_split(wanted) | self.1.is_split(wanted)
            }
            #[inline(always)]
            fn joined(self, first: Self::Quad, second: Self::Quad) -> Self::Quad {
                (self.0.joined(first.0, second.0), self.1.joined(first.1, second.1))
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn one_by_one(self, wanted: u32) -> Self::Quad {
                (self.0.one_by_one(wanted), self.1.one_by_one(wanted))
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn in_turn(self, wanted: u32) -> Self::Quad {
                (self.0.in_turn(wanted), self.1.in_turn(wanted))
            }
            #[inline(always)]
            fn item(quad: Self::Quad, index: u32) -> ($t, $t) {
                (<Global<$t> as Quads>::item(quad.0, index), <Global<$t> as Quads>::item(quad.1, index))
            }
        }
    )* };
}
quads! {
    f32, u32: f32::from_bits;
    f64, u64: f64::from_bits;
    f16, u16: f16::from_bits;
    bf16, u16: bf16::from_bits;
    i8, u8: |bits| bits as i8;
    i16, u16: |bits| bits as i16;
    i32, u32: |bits| bits as i32;
    i64, u64: |bits| bits as i64;
    u8, u8: |bits| bits;
    u16, u16: |bits| bits;
    u32, u32: |bits| bits;
    u64, u64: |bits| bits;
}

/// An unsigned integer as wide as an element.
trait Bits: gpu_std::memory::Element {
    const NONE: Self;
    fn wide(self) -> u64;
}
macro_rules! bits {
    ($($t:ty)*) => { $(
        impl Bits for $t {
            const NONE: Self = 0;
            #[inline(always)]
            fn wide(self) -> u64 {
                self as u64
            }
        }
    )* };
}
bits!(u8 u16 u32 u64);

/// Elements in 16 bytes.
const fn per_quad<B: Bits>() -> u32 {
    LOAD_BYTES / size_of::<B>() as u32
}

/// How many elements lie between the last multiple of 16 bytes and an address.
#[inline(always)]
fn beyond<B: Bits>(address: u64) -> u32 {
    address as u32 % LOAD_BYTES / size_of::<B>() as u32
}

#[device]
#[inline(always)]
fn one_by_one<B: Bits>(array: Global<B>, wanted: u32) -> Words {
    let mut words = [0u32; 4];
    unroll::<{ LOAD_BYTES as usize }>(|index| {
        if (index as u32) < per_quad::<B>() {
            let bits = array.read_only_below(index as u32, wanted, B::NONE).wide();
            let byte = index * size_of::<B>();
            words[byte / 4] |= (bits as u32) << (byte % 4 * 8);
            if size_of::<B>() == 8 {
                words[byte / 4 + 1] = (bits >> 32) as u32;
            }
        }
    });
    words
}

#[device]
#[inline(always)]
fn in_turn<B: Bits>(array: Global<B>, wanted: u32) -> Words {
    let bits = 8 * size_of::<B>();
    let mut words = [0; 4];
    let mut first = 0;
    // A word's elements come in from above, or both words of one; the first are at the bottom in the end.
    while first < opaque(per_quad::<B>()) {
        let mut above = 0;
        unroll::<4>(|index| {
            if bits * index < 32 {
                let part = array.read_only_below(first + index as u32, wanted, B::NONE);
                above |= part.wide() << (bits * index);
            }
        });
        let [_, b, c, d] = words;
        let (low, high) = (above as u32, (above >> 32) as u32);
        words = if bits == 64 { [c, d, low, high] } else { [b, c, d, low] };
        first += if bits < 32 { 32 / bits as u32 } else { 1 };
    }
    words
}

/// 16 of 32 bytes, from as far on as the address is from a multiple of 16: by 8, by 4, then within words.
#[device]
#[inline(always)]
fn joined<B: Bits>(address: u64, first: Words, second: Words) -> Words {
    let bytes = address as u32 % LOAD_BYTES;
    let [a, b, c, d] = first;
    let [e, f, g, h] = second;
    let pick = |is: bool, yes: u32, no: u32| if is { yes } else { no };
    let by_8 = bytes & 8 != 0;
    let (a, b, c) = (pick(by_8, c, a), pick(by_8, d, b), pick(by_8, e, c));
    let (d, e, f) = (pick(by_8, f, d), pick(by_8, g, e), pick(by_8, h, f));
    if size_of::<B>() == 8 {
        return [a, b, c, d];
    }
    let by_4 = bytes & 4 != 0;
    let (a, b, c) = (pick(by_4, b, a), pick(by_4, c, b), pick(by_4, d, c));
    let (d, e) = (pick(by_4, e, d), pick(by_4, f, e));
    if size_of::<B>() == 4 {
        return [a, b, c, d];
    }
    let within = |low: u32, high: u32| funnel_shift_right(low, high, bytes % 4 * 8);
    [within(a, b), within(b, c), within(c, d), within(d, e)]
}
