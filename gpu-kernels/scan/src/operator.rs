//! What a scan combines with.

use core::marker::PhantomData;

use gpu_std::half::{bf16, f16};
use gpu_std::memory::Element;

use super::packed::Packed;
use gpu_collective::{Accumulator, Integer, Number, Register};

/// An associative operator, with what it takes and what it gives.
///
/// # Laws
/// 1. *Identity:* combining with `extend(IDENTITY)`, on either side, changes nothing, bit for bit (any NaN being any
///    NaN).
/// 2. *Associativity:* `combine(combine(a, b), c)` is `combine(a, combine(b, c))`, up to rounding. Elements are
///    combined in the order of the array, so it need not be commutative, and always with the same brackets (see the
///    [module](super)), so rounding is always the same too.
///
/// Functions here run on the GPU, in the simulator and on the CPU; they are pure.
pub trait Scan: 'static {
    /// An element of the input.
    type Item: Packed;
    /// What it is computed with.
    type Register: Accumulator;
    /// An element of the output.
    type Output: Packed;
    /// Its name in messages.
    const NAME: &'static str;
    /// What changes nothing.
    const IDENTITY: Self::Item;
    /// The result of nothing: where an exclusive scan starts unless told otherwise.
    const EMPTY: Self::Output;
    /// An element in registers.
    fn extend(item: Self::Item) -> Self::Register;
    /// The result of some elements with that of those that follow them.
    #[must_use]
    fn combine(before: Self::Register, after: Self::Register) -> Self::Register;
    /// What is written.
    fn output(result: Self::Register) -> Self::Output;
    /// A result to go on from.
    fn resume(output: Self::Output) -> Self::Register;
}

/// Bits that are flipped in the elements before they are scanned, and in the results before they are written: so one
/// kernel scans by several operators. A minimum of flipped numbers is a maximum, where it is the sign of floats that
/// is flipped, or all bits of whole numbers; flipping the highest bit makes signed numbers of unsigned ones; and what
/// none of the flipped words lacks, all words lack.
pub trait Flip: Copy {
    /// The words of elements, the first of which starts the first word, with those bits flipped.
    #[must_use]
    fn words<const N: usize>(self, words: [u32; N]) -> [u32; N];

    /// An element with those bits flipped.
    #[inline(always)]
    #[must_use]
    fn element<T: Packed>(self, element: T) -> T {
        let mut words = [0; 2];
        element.pack(&mut words, 0);
        T::unpack(&self.words(words), 0)
    }

    /// A vector of `N` words of what changes nothing, which is `S`'s identity when it is flipped.
    #[inline(always)]
    #[must_use]
    fn nothing<S: Scan, const N: usize>(self) -> [u32; N] {
        let mut words = [0; N];
        let mut index = 0;
        while index < 4 * N / S::Item::BYTES as usize {
            S::IDENTITY.pack(&mut words, index);
            index += 1;
        }
        self.words(words)
    }
}

/// None.
impl Flip for () {
    #[inline(always)]
    fn words<const N: usize>(self, words: [u32; N]) -> [u32; N] {
        words
    }
}

/// Those of 8 bytes of elements: the lower half in every other word from the first on.
impl Flip for u64 {
    #[inline(always)]
    fn words<const N: usize>(self, words: [u32; N]) -> [u32; N] {
        core::array::from_fn(|word| {
            words[word] ^ if word % 2 == 0 { self as u32 } else { (self >> 32) as u32 }
        })
    }
}

/// What is to be flipped for a kernel of `K` to scan by `S`, an operator on elements as wide: what tells their
/// identities apart.
pub fn flip<S: Scan, K: Scan>() -> u64 {
    let [low, high] = <() as Flip>::nothing::<S, 2>(());
    let [low_of_kernel, high_of_kernel] = <() as Flip>::nothing::<K, 2>(());
    ((high ^ high_of_kernel) as u64) << 32 | (low ^ low_of_kernel) as u64
}

/// A result of `S` as one of such a kernel.
pub fn flipped<S: Scan, K: Scan>(result: S::Register) -> K::Register {
    let mut words = [0; 2];
    S::output(result).pack(&mut words, 0);
    K::resume(K::Output::unpack(&flip::<S, K>().words(words), 0))
}

/// The ends of a type's order, and its additive identity.
pub trait Bounds: Number + Packed {
    /// What changes nothing when added: for floats -0.0 (0.0 would turn -0.0 into 0.0).
    const NOTHING: Self;
    /// Not less than any other.
    const HIGHEST: Self;
    /// Not greater than any other.
    const LOWEST: Self;
}

macro_rules! bounds {
    ($($t:ty: $nothing:expr, $highest:expr, $lowest:expr;)*) => { $(
        impl Bounds for $t {
            const NOTHING: Self = $nothing;
            const HIGHEST: Self = $highest;
            const LOWEST: Self = $lowest;
        }
    )* };
}
bounds! {
    f32: -0.0, f32::INFINITY, f32::NEG_INFINITY;
    f64: -0.0, f64::INFINITY, f64::NEG_INFINITY;
    f16: f16::from_bits(0x8000), f16::from_bits(0x7c00), f16::from_bits(0xfc00);
    bf16: bf16::from_bits(0x8000), bf16::from_bits(0x7f80), bf16::from_bits(0xff80);
    i8: 0, i8::MAX, i8::MIN;
    i16: 0, i16::MAX, i16::MIN;
    i32: 0, i32::MAX, i32::MIN;
    i64: 0, i64::MAX, i64::MIN;
    u8: 0, u8::MAX, u8::MIN;
    u16: 0, u16::MAX, u16::MIN;
    u32: 0, u32::MAX, u32::MIN;
    u64: 0, u64::MAX, u64::MIN;
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident<T: $bound:path>, $text:literal: $identity:expr, $empty:expr, $combine:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T>(PhantomData<fn() -> T>);

        impl<T: Bounds + $bound> Scan for $name<T> {
            type Item = T;
            type Register = T::Register;
            type Output = T;
            const NAME: &'static str = $text;
            const IDENTITY: T = $identity;
            const EMPTY: T = $empty;
            #[inline(always)]
            fn extend(item: T) -> T::Register {
                item.extend()
            }
            #[inline(always)]
            fn combine(before: T::Register, after: T::Register) -> T::Register {
                $combine(before, after)
            }
            #[inline(always)]
            fn output(result: T::Register) -> T {
                T::narrow(result)
            }
            #[inline(always)]
            fn resume(output: T) -> T::Register {
                output.extend()
            }
        }
    )* };
}

operators! {
    /// Sums. Integers wrap in their own type; [`WideSum`] does not. 16-bit floats are added as `f32`.
    Sum<T: Number>, "sum": T::NOTHING, T::ZERO, T::Register::plus;
    /// Products. Integers wrap. 16-bit floats are multiplied as `f32`.
    Product<T: Number>, "product": <T as Number>::ONE, <T as Number>::ONE, T::Register::times;
    /// The smallest so far: NaN from the first NaN on, and -0 is smaller than +0.
    Min<T: Number>, "minimum": T::HIGHEST, T::HIGHEST, T::Register::smaller;
    /// The largest so far: NaN from the first NaN on, and +0 is larger than -0.
    Max<T: Number>, "maximum": T::LOWEST, T::LOWEST, T::Register::larger;
    /// The bits that all so far have.
    And<T: Integer>, "bitwise and": T::FULL, T::FULL, core::ops::BitAnd::bitand;
    /// The bits that any so far has.
    Or<T: Integer>, "bitwise or": T::ZERO, T::ZERO, core::ops::BitOr::bitor;
    /// The bits that an odd number so far has.
    Xor<T: Integer>, "bitwise exclusive or": T::ZERO, T::ZERO, core::ops::BitXor::bitxor;
}

/// Sums in a wider type, which is also that of the output: 8 and 16 bits in 32, 32 bits in 64.
#[derive(Clone, Copy, Debug)]
pub struct WideSum<T>(PhantomData<fn() -> T>);

/// A type with a wider one.
pub trait Widen: Bounds {
    /// Of twice or four times the bits.
    type Wide: Register + Element + Packed + Bounds;
    /// The same value.
    fn widen(self) -> Self::Wide;
}

macro_rules! widen {
    ($($t:ty => $wide:ty: $convert:expr;)*) => { $(
        impl Widen for $t {
            type Wide = $wide;
            #[inline(always)]
            fn widen(self) -> $wide {
                $convert(self)
            }
        }
    )* };
}
widen! {
    i8 => i32: i32::from; u8 => u32: u32::from; i16 => i32: i32::from; u16 => u32: u32::from;
    i32 => i64: i64::from; u32 => u64: u64::from;
    f16 => f32: f32::from; bf16 => f32: f32::from; f32 => f64: f64::from;
}

impl<T: Widen> Scan for WideSum<T> {
    type Item = T;
    type Register = T::Wide;
    type Output = T::Wide;
    const NAME: &'static str = "sum in a wider type";
    const IDENTITY: T = T::NOTHING;
    const EMPTY: T::Wide = <T::Wide as Number>::ZERO;
    #[inline(always)]
    fn extend(item: T) -> T::Wide {
        item.widen()
    }
    #[inline(always)]
    fn combine(before: T::Wide, after: T::Wide) -> T::Wide {
        before.plus(after)
    }
    #[inline(always)]
    fn output(result: T::Wide) -> T::Wide {
        result
    }
    #[inline(always)]
    fn resume(output: T::Wide) -> T::Wide {
        output
    }
}
