//! Bits, extremes and their places.

use core::marker::PhantomData;

use gpu_std::memory::GlobalMut;

use super::choice::{ALL, Choice, Maskable, Told, ToldSource};
use crate::computed::Computed;
use crate::number::{Integer, Register};
use crate::operator::Reduction;
use crate::operators::{ArgMax, MinMax};

/// The bits that any element has, or with [`Bits::ODD`] those that an odd number of them has.
#[derive(Clone, Copy, Debug)]
pub struct Bits<T>(PhantomData<fn() -> T>);

impl<T> Bits<T> {
    /// [`Choice::which`] for `or`: those bits that stay if both have them.
    pub const ANY: u64 = ALL;
    /// [`Choice::which`] for `xor`.
    pub const ODD: u64 = 0;
}

impl<T: Maskable + Integer> Computed for Bits<T> {
    type Item = Told<T, true>;
    type Local = T::Register;
    type Accumulator = T::Register;
    type Output = T;
    const OUTPUTS: u32 = 1;
    const IDENTITY: T::Register = T::NONE;
    #[inline(always)]
    fn start(_: u32) -> T::Register {
        T::NONE
    }
    #[inline(always)]
    fn take(source: ToldSource<T, true>, local: T::Register, item: Self::Item, _: u32) -> T::Register {
        Self::combine(source, local, item.0.extend())
    }
    #[inline(always)]
    fn widen(_: ToldSource<T, true>, local: T::Register, _: u64) -> T::Register {
        local
    }
    /// One instruction of three inputs.
    #[inline(always)]
    fn combine(source: ToldSource<T, true>, a: T::Register, b: T::Register) -> T::Register {
        (a ^ b) | (a & b & T::from_raw_bits(source.choice.which).extend())
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn write(source: ToldSource<T, true>, output: GlobalMut<T>, index: u64, total: Option<T::Register>) {
        let total = T::narrow(total.unwrap_or(T::NONE));
        output.offset(index).write(0, total.turned(source.choice.turn));
    }
}

/// The largest element, or with [`Extreme::TRUTH`] whether it is not zero. Of nothing that is zero: there is no
/// maximum of it, but a maximum norm, and a truth.
#[derive(Clone, Copy, Debug)]
pub struct Extreme<T>(PhantomData<fn() -> T>);

impl<T> Extreme<T> {
    /// [`Choice::which`] for what writes elements.
    pub const ELEMENT: u64 = 0;
    /// [`Choice::which`] for what writes bytes, 0 or 1.
    pub const TRUTH: u64 = 1;
}

impl<T: Maskable> Computed for Extreme<T> {
    type Item = Told<T, true>;
    type Local = T::Register;
    type Accumulator = T::Register;
    type Output = T;
    const OUTPUTS: u32 = 1;
    const IDENTITY: T::Register = T::Register::LOWEST;
    #[inline(always)]
    fn start(_: u32) -> T::Register {
        T::Register::LOWEST
    }
    #[inline(always)]
    fn take(_: ToldSource<T, true>, local: T::Register, item: Self::Item, _: u32) -> T::Register {
        local.larger(item.0.extend())
    }
    #[inline(always)]
    fn widen(_: ToldSource<T, true>, local: T::Register, _: u64) -> T::Register {
        local
    }
    #[inline(always)]
    fn combine(_: ToldSource<T, true>, a: T::Register, b: T::Register) -> T::Register {
        a.larger(b)
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn write(source: ToldSource<T, true>, output: GlobalMut<T>, index: u64, total: Option<T::Register>) {
        let Choice { turn, which, .. } = source.choice;
        let total = total.map_or(T::ZERO, T::narrow).turned(turn);
        // The truth of floats is asked of integers, as that of their magnitudes' bits.
        if T::MAGNITUDE == ALL && which == Self::TRUTH {
            output.cast::<u8>().offset(index).write(0, total.is_nonzero() as u8);
        } else {
            output.offset(index).write(0, total);
        }
    }
}

/// The smallest and the largest, or with [`Extremes::NORM`] the largest magnitude of signed integers, whose sign is
/// turned to order them.
#[derive(Clone, Copy, Debug)]
pub struct Extremes<T>(PhantomData<fn() -> T>);

impl<T> Extremes<T> {
    /// [`Choice::which`] for what writes both.
    pub const BOTH: u64 = 0;
    /// [`Choice::which`] for the maximum norm.
    pub const NORM: u64 = 1;
}

impl<T: Maskable + Integer> Computed for Extremes<T> {
    type Item = Told<T, true>;
    type Local = (T::Register, T::Register);
    type Accumulator = (T::Register, T::Register);
    type Output = T;
    const OUTPUTS: u32 = 2;
    const IDENTITY: Self::Accumulator = <MinMax<T> as Reduction>::IDENTITY;
    #[inline(always)]
    fn start(_: u32) -> Self::Local {
        Self::IDENTITY
    }
    #[inline(always)]
    fn take(_: ToldSource<T, true>, local: Self::Local, item: Self::Item, offset: u32) -> Self::Local {
        <MinMax<T> as Reduction>::take(local, item.0, offset)
    }
    #[inline(always)]
    fn widen(_: ToldSource<T, true>, local: Self::Local, _: u64) -> Self::Accumulator {
        local
    }
    #[inline(always)]
    fn combine(_: ToldSource<T, true>, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        <MinMax<T> as Reduction>::combine(a, b)
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn write(
        source: ToldSource<T, true>,
        output: GlobalMut<T>,
        index: u64,
        total: Option<Self::Accumulator>,
    ) {
        let Choice { turn, which, .. } = source.choice;
        // Of nothing a norm is that of zero.
        let zero = T::ZERO.turned(turn).extend();
        let (smallest, largest) = total.unwrap_or((zero, zero));
        let (smallest, largest) = (T::narrow(smallest), T::narrow(largest));
        if which == Self::NORM {
            let zero = T::from_raw_bits(turn).raw_bits();
            let (below, above) = (smallest.raw_bits(), largest.raw_bits());
            let norm = zero.saturating_sub(below).max(above.saturating_sub(zero));
            output.offset(index).write(0, T::from_raw_bits(norm));
        } else {
            let output = output.offset(2 * index);
            output.write(0, smallest.turned(turn));
            output.write(1, largest.turned(turn));
        }
    }
}

/// Where the largest is, as [`ArgMax`] of changed bits.
#[derive(Clone, Copy, Debug)]
pub struct Place<T>(PhantomData<fn() -> T>);

impl<T: Maskable> Computed for Place<T> {
    type Item = Told<T, true>;
    type Local = <ArgMax<T> as Reduction>::Local;
    type Accumulator = <ArgMax<T> as Reduction>::Accumulator;
    type Output = u64;
    const OUTPUTS: u32 = 1;
    const IDENTITY: Self::Accumulator = <ArgMax<T> as Reduction>::IDENTITY;
    #[inline(always)]
    fn start(first: u32) -> Self::Local {
        <ArgMax<T> as Reduction>::start(first)
    }
    #[inline(always)]
    fn take(_: ToldSource<T, true>, local: Self::Local, item: Self::Item, offset: u32) -> Self::Local {
        <ArgMax<T> as Reduction>::take(local, item.0, offset)
    }
    #[inline(always)]
    fn widen(_: ToldSource<T, true>, local: Self::Local, base: u64) -> Self::Accumulator {
        <ArgMax<T> as Reduction>::widen(local, base)
    }
    #[inline(always)]
    fn combine(_: ToldSource<T, true>, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        <ArgMax<T> as Reduction>::combine(a, b)
    }
    /// There is no place in nothing.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn write(_: ToldSource<T, true>, output: GlobalMut<u64>, index: u64, total: Option<Self::Accumulator>) {
        if let Some((_, place)) = total {
            output.offset(index).write(0, place);
        }
    }
}
