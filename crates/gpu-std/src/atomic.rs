//! Atomic variables in global and shared memory, with ordering and scope at each operation, and fences.
//!
//! The orders are those of `core::sync::atomic`, less sequential consistency. The scope says for whom they hold: a flag
//! released to [`Scope::Block`] is no promise to another block. To publish a payload together with its flag, pack both
//! into one `u64` and store it relaxed, or write the payload and store the flag with [`Ordering::Release`].

use crate::backend::atomic as backend;
use crate::memory::Element;
use core::marker::PhantomData;

/// What an operation orders besides itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ordering {
    /// Nothing.
    Relaxed,
    /// Accesses after it stay after it, and see what the releasing thread wrote before.
    Acquire,
    /// Accesses before it stay before it.
    Release,
    /// Both.
    AcqRel,
}

/// For whom an operation is atomic and ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The threads of the block (`.cta`).
    Block,
    /// All threads of the device (`.gpu`).
    Device,
    /// All devices and the host (`.sys`).
    System,
}

/// Where an atomic variable lies.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Address is 64 bits of global memory.
    Global,
    /// Address is the byte offset into the block's dynamic shared memory.
    Shared,
}

/// A type that has atomic operations: `u32`, `i32`, `u64`, `i64`, `f32`, `f64`.
pub trait AtomicElement: Element {
    /// The word of its size.
    #[doc(hidden)]
    type Word: backend::Word;
    #[doc(hidden)]
    fn to_word(self) -> Self::Word;
    #[doc(hidden)]
    fn from_word(word: Self::Word) -> Self;
}

macro_rules! atomic_elements {
    ($($t:ty, $word:ty: $to:expr, $from:expr;)*) => { $(
        impl AtomicElement for $t {
            type Word = $word;
            #[inline(always)]
            fn to_word(self) -> $word {
                $to(self)
            }
            #[inline(always)]
            fn from_word(word: $word) -> Self {
                $from(word)
            }
        }
    )* };
}
atomic_elements! {
    u32, u32: |v| v, |v| v;
    i32, u32: |v| v as u32, |v| v as i32;
    f32, u32: f32::to_bits, f32::from_bits;
    u64, u64: |v| v, |v| v;
    i64, u64: |v| v as u64, |v| v as i64;
    f64, u64: f64::to_bits, f64::from_bits;
}

/// An atomic variable: one element, made by `GlobalMut::atomic` or `Shared::atomic`.
pub struct Atomic<T: AtomicElement> {
    space: Space,
    address: u64,
    element: PhantomData<fn() -> T>,
}

impl<T: AtomicElement> Clone for Atomic<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: AtomicElement> Copy for Atomic<T> {}

impl<T: AtomicElement> Atomic<T> {
    #[inline(always)]
    pub(crate) fn new(space: Space, address: u64) -> Self {
        Self { space, address, element: PhantomData }
    }

    /// Its value. `ordering` is `Relaxed` or `Acquire`; a load cannot release, and the stronger orders acquire.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn load(self, ordering: Ordering, scope: Scope) -> T {
        let ordering = match ordering {
            Ordering::Relaxed => Ordering::Relaxed,
            _ => Ordering::Acquire,
        };
        T::from_word(<T::Word as backend::Word>::load(self.space, self.address, ordering, scope))
    }

    /// Sets it. `ordering` is `Relaxed` or `Release`; a store cannot acquire, and the stronger orders release.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn store(self, value: T, ordering: Ordering, scope: Scope) {
        let ordering = match ordering {
            Ordering::Relaxed => Ordering::Relaxed,
            _ => Ordering::Release,
        };
        <T::Word as backend::Word>::store(self.space, self.address, value.to_word(), ordering, scope);
    }

    /// Sets it and returns what it was.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn exchange(self, value: T, ordering: Ordering, scope: Scope) -> T {
        T::from_word(<T::Word as backend::Word>::exchange(
            self.space,
            self.address,
            value.to_word(),
            ordering,
            scope,
        ))
    }

    /// Sets it to `new` if its bits are those of `current`, and returns what it was: equal bits mean that it was set.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn compare_exchange(self, current: T, new: T, ordering: Ordering, scope: Scope) -> T {
        let (current, new) = (current.to_word(), new.to_word());
        T::from_word(<T::Word as backend::Word>::compare_exchange(
            self.space,
            self.address,
            current,
            new,
            ordering,
            scope,
        ))
    }
}

// One method a type and operation: the instruction differs by type (`atom.min.s32`, `atom.add.f64`).
macro_rules! operations {
    ($($t:ty { $($method:ident = $operation:ident, $doc:literal;)* })*) => { $(
        impl Atomic<$t> {
            $(
                #[doc = $doc]
                #[inline(always)]
                #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
                pub fn $method(self, value: $t, ordering: Ordering, scope: Scope) -> $t {
                    backend::$operation(self.space, self.address, value, ordering, scope)
                }
            )*
        }
    )* };
}

macro_rules! integer_operations {
    ($($t:ty: $add:ident $sub:ident $min:ident $max:ident $and:ident $or:ident $xor:ident;)*) => { operations! { $(
        $t {
            fetch_add = $add, "Adds, modulo 2 to the number of bits, and returns what it was.";
            fetch_sub = $sub, "Subtracts, modulo 2 to the number of bits, and returns what it was.";
            fetch_min = $min, "Keeps the smaller of it and `value`, and returns what it was.";
            fetch_max = $max, "Keeps the larger of it and `value`, and returns what it was.";
            fetch_and = $and, "Bitwise and; returns what it was.";
            fetch_or = $or, "Bitwise or; returns what it was.";
            fetch_xor = $xor, "Bitwise exclusive or; returns what it was.";
        }
    )* } };
}
integer_operations! {
    u32: add_u32 sub_u32 min_u32 max_u32 and_u32 or_u32 xor_u32;
    i32: add_i32 sub_i32 min_i32 max_i32 and_i32 or_i32 xor_i32;
    u64: add_u64 sub_u64 min_u64 max_u64 and_u64 or_u64 xor_u64;
    i64: add_i64 sub_i64 min_i64 max_i64 and_i64 or_i64 xor_i64;
}
operations! {
    u32 {
        fetch_inc = inc_u32, "Sets it to 0 where it is at least `value`, else adds 1; returns what it was.";
        fetch_dec = dec_u32, "Sets it to `value` where it is 0 or above `value`, else subtracts 1; returns what it was.";
    }
    f32 {
        fetch_add = add_f32, "Adds, rounding to nearest, and returns what it was. The order of concurrent additions, and with it the rounding, is not determined. In global memory (not in shared) subnormal values and results become zero.";
        fetch_sub = sub_f32, "Subtracts, as `fetch_add` of the negated value.";
    }
    f64 {
        fetch_add = add_f64, "Adds, rounding to nearest, and returns what it was. The order of concurrent additions, and with it the rounding, is not determined.";
        fetch_sub = sub_f64, "Subtracts, as `fetch_add` of the negated value.";
    }
}

impl Atomic<u64> {
    // There is no such instruction for 64 bits: compare-and-swap until nobody came between.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn update(self, ordering: Ordering, scope: Scope, next: impl Fn(u64) -> u64) -> u64 {
        let mut old = self.load(Ordering::Relaxed, scope);
        loop {
            crate::branch::tick();
            let seen = self.compare_exchange(old, next(old), ordering, scope);
            if seen == old {
                return old;
            }
            old = seen;
        }
    }

    /// Sets it to 0 where it is at least `value`, else adds 1; returns what it was. A loop of compare-and-swap.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn fetch_inc(self, value: u64, ordering: Ordering, scope: Scope) -> u64 {
        self.update(ordering, scope, |old| if old >= value { 0 } else { old + 1 })
    }

    /// Sets it to `value` where it is 0 or above `value`, else subtracts 1; returns what it was. A loop of
    /// compare-and-swap.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn fetch_dec(self, value: u64, ordering: Ordering, scope: Scope) -> u64 {
        self.update(ordering, scope, |old| if old == 0 || old > value { value } else { old - 1 })
    }
}

/// Orders this thread's accesses before it against those after it, for `scope`.
///
/// Together with relaxed operations on a flag it makes a release (fence, then store) or an acquire (load, then fence).
/// `Relaxed` does nothing. The GPU has one fence for the other three orders; the simulator holds them apart.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn fence(ordering: Ordering, scope: Scope) {
    if ordering != Ordering::Relaxed {
        backend::fence(ordering, scope);
    }
}
