//! Sums.

use core::marker::PhantomData;

use gpu_std::memory::GlobalMut;

use super::choice::{Choice, Maskable, Told, ToldSource};
use crate::computed::Computed;
use crate::number::{Integer, Number, Register};

/// The sum of integers in 64 bits, or its lowest bits; if `COUNTS`, for an instruction more an element, also the
/// count of what is not zero: the lower half of [`Choice::which`] says what is written, the upper one what elements
/// are cut down to.
///
/// Signed ones are read with their sign turned, which makes them greater by as much as that bit is worth; it is
/// subtracted again.
#[derive(Clone, Copy, Debug)]
pub struct Sums<T, const COUNTS: bool>(PhantomData<fn() -> T>);

impl<T, const COUNTS: bool> Sums<T, COUNTS> {
    /// [`Choice::which`] for a sum in the element's type.
    pub const NARROW: u64 = 0xffff_ffff_0000_0000;
    /// [`Choice::which`] for a sum in 64 bits.
    pub const WIDE: u64 = 0xffff_ffff_0000_0001;
    /// [`Choice::which`] for a count.
    pub const COUNT: u64 = 0x0000_0001_0000_0001;
}

impl<T: Maskable + Integer<Wide = u64> + Ord, const COUNTS: bool> Computed for Sums<T, COUNTS> {
    type Item = Told<T, true>;
    type Local = T::Partial;
    type Accumulator = u64;
    type Output = u64;
    const OUTPUTS: u32 = 1;
    const IDENTITY: u64 = 0;
    #[inline(always)]
    fn start(_: u32) -> T::Partial {
        T::EMPTY
    }
    #[inline(always)]
    fn take(source: ToldSource<T, true>, local: T::Partial, item: Self::Item, _: u32) -> T::Partial {
        let Choice { turn, which, .. } = source.choice;
        let most = T::from_raw_bits((which as i64 >> 32) as u64);
        let element = if COUNTS { item.0.min(most) } else { item.0 };
        let sum = element.add_to(local);
        // In 64 bits sums of signed integers are those of unsigned ones.
        // Mutants: of eight bytes nothing is turned over, and nothing is taken.
        if T::BYTES < 8 { T::from_raw_bits(turn).take_from(sum) } else { sum }
    }
    #[inline(always)]
    fn widen(source: ToldSource<T, true>, local: T::Partial, _: u64) -> u64 {
        let sum = T::widen(local);
        // A partial sum of bytes has 32 bits.
        let sign = if T::BYTES == 1 { source.choice.turn & (1 << 31) } else { 0 };
        (sum ^ sign).wrapping_sub(sign)
    }
    #[inline(always)]
    fn combine(_: ToldSource<T, true>, a: u64, b: u64) -> u64 {
        a.plus(b)
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn write(source: ToldSource<T, true>, output: GlobalMut<u64>, index: u64, total: Option<u64>) {
        let total = total.unwrap_or(0);
        // Mutants: eight bytes are the same either way.
        if T::BYTES < 8 && source.choice.which == Self::NARROW {
            output.cast::<T>().offset(index).write(0, T::from_raw_bits(total));
        } else {
            output.offset(index).write(0, total);
        }
    }
}

/// The count of what is not zero, of whole arrays: [`Sums`] would be slower, and longer than a sum has to be.
#[derive(Clone, Copy, Debug)]
pub struct Counts<T>(PhantomData<fn() -> T>);

impl<T: Maskable> Computed for Counts<T> {
    type Item = Told<T, true>;
    type Local = u32;
    type Accumulator = u64;
    type Output = u64;
    const OUTPUTS: u32 = 1;
    const IDENTITY: u64 = 0;
    #[inline(always)]
    fn start(_: u32) -> u32 {
        0
    }
    #[inline(always)]
    fn take(_: ToldSource<T, true>, local: u32, item: Self::Item, _: u32) -> u32 {
        local + item.0.is_nonzero() as u32
    }
    #[inline(always)]
    fn widen(_: ToldSource<T, true>, local: u32, _: u64) -> u64 {
        local as u64
    }
    #[inline(always)]
    fn combine(_: ToldSource<T, true>, a: u64, b: u64) -> u64 {
        a + b
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn write(_: ToldSource<T, true>, output: GlobalMut<u64>, index: u64, total: Option<u64>) {
        output.offset(index).write(0, total.unwrap_or(0));
    }
}

/// A number that a choice makes a factor of.
pub trait Weighable: Maskable {
    /// The choice that makes the element itself of it.
    const ITSELF: Choice = Choice::AS_IT_IS;
    /// The choice that makes 1 of what is not negative and -1 of what is.
    const SIGN: Choice;
    /// What the choice makes of it: the bits that are kept, then some turned over. Of integers [`Choice::which`] says
    /// how many bits they are shifted down before.
    fn factor(self, choice: Choice) -> Self::Register;
}

macro_rules! weighable {
    ($($t:ident: $register:ident;)*) => { $(
        impl Weighable for $t {
            const SIGN: Choice = Choice { keep: !1, turn: 1, which: $register::BITS as u64 - 1 };
            #[inline(always)]
            fn factor(self, Choice { keep, turn, which }: Choice) -> $register {
                self.extend().wrapping_shr(which as u32) & keep as $register ^ turn as $register
            }
        }
    )* };
}
weighable! { i8: i32; i16: i32; i32: i32; i64: i64; }

macro_rules! weighable_reals {
    ($($t:ident as $bits:ident;)*) => { $(
        impl Weighable for $t {
            const SIGN: Choice =
                Choice { keep: !($bits::MAX >> 1) as u64, turn: (1.0 as $t).to_bits() as u64, which: 0 };
            #[inline(always)]
            fn factor(self, Choice { keep, turn, .. }: Choice) -> $t {
                $t::from_bits(self.to_bits() & keep as $bits ^ turn as $bits)
            }
        }
    )* };
}
weighable_reals! { f32 as u32; f64 as u64; }

/// The sum of elements, each times [`Weighable::factor`]. That of nothing is zero.
#[derive(Clone, Copy, Debug)]
pub struct Weighted<T>(PhantomData<fn() -> T>);

impl<T: Weighable> Computed for Weighted<T> {
    type Item = Told<T, false>;
    type Local = T::Register;
    type Accumulator = T::Register;
    type Output = T;
    const OUTPUTS: u32 = 1;
    const IDENTITY: T::Register = T::Register::NOTHING;
    #[inline(always)]
    fn start(_: u32) -> T::Register {
        T::Register::NOTHING
    }
    #[inline(always)]
    fn take(source: ToldSource<T, false>, local: T::Register, item: Self::Item, _: u32) -> T::Register {
        local.plus(item.0.extend().times(item.0.factor(source.choice)))
    }
    #[inline(always)]
    fn widen(_: ToldSource<T, false>, local: T::Register, _: u64) -> T::Register {
        local
    }
    #[inline(always)]
    fn combine(_: ToldSource<T, false>, a: T::Register, b: T::Register) -> T::Register {
        a.plus(b)
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn write(_: ToldSource<T, false>, output: GlobalMut<T>, index: u64, total: Option<T::Register>) {
        output.offset(index).write(0, total.map_or(T::ZERO, T::narrow));
    }
}

/// The sum of 16-bit floats in 32 bits, with [`HalfSums::ROUNDED`] rounded at the end. That of nothing is zero.
#[derive(Clone, Copy, Debug)]
pub struct HalfSums<T>(PhantomData<fn() -> T>);

impl<T> HalfSums<T> {
    /// [`Choice::which`] for what writes elements.
    pub const ROUNDED: u64 = 0;
    /// [`Choice::which`] for what writes `f32`.
    pub const EXTENDED: u64 = 1;
}

impl<T: Maskable + Number<Register = f32>> Computed for HalfSums<T> {
    type Item = Told<T, true>;
    type Local = f32;
    type Accumulator = f32;
    type Output = f32;
    const OUTPUTS: u32 = 1;
    const IDENTITY: f32 = f32::NOTHING;
    #[inline(always)]
    fn start(_: u32) -> f32 {
        f32::NOTHING
    }
    #[inline(always)]
    fn take(_: ToldSource<T, true>, local: f32, item: Self::Item, _: u32) -> f32 {
        local.plus(item.0.extend())
    }
    #[inline(always)]
    fn widen(_: ToldSource<T, true>, local: f32, _: u64) -> f32 {
        local
    }
    #[inline(always)]
    fn combine(_: ToldSource<T, true>, a: f32, b: f32) -> f32 {
        a.plus(b)
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn write(source: ToldSource<T, true>, output: GlobalMut<f32>, index: u64, total: Option<f32>) {
        let total = total.unwrap_or(0.0);
        if source.choice.which == Self::EXTENDED {
            output.offset(index).write(0, total);
        } else {
            output.cast::<T>().offset(index).write(0, T::narrow(total));
        }
    }
}
