//! Atomics: a function of the old value, run by the simulator at one point of the modification order.

use crate::atomic::{Ordering, Scope, Space};
use gpu_sim::device;

// The simulator's names for the same three things.
fn space(space: Space) -> device::Space {
    match space {
        Space::Global => device::Space::Global,
        Space::Shared => device::Space::Shared,
    }
}

fn order(ordering: Ordering) -> device::Ordering {
    match ordering {
        Ordering::Relaxed => device::Ordering::Relaxed,
        Ordering::Acquire => device::Ordering::Acquire,
        Ordering::Release => device::Ordering::Release,
        Ordering::AcqRel => device::Ordering::AcqRel,
    }
}

fn reach(scope: Scope) -> device::Scope {
    match scope {
        Scope::Block => device::Scope::Block,
        Scope::Device => device::Scope::Device,
        Scope::System => device::Scope::System,
    }
}

#[track_caller]
fn update<W: device::Word>(
    at: Space,
    address: u64,
    ordering: Ordering,
    scope: Scope,
    next: impl FnOnce(W) -> Option<W>,
) -> W {
    device::atomic_update(space(at), address, order(ordering), reach(scope), next)
}

pub trait Word: device::Word {
    #[track_caller]
    fn load(at: Space, address: u64, ordering: Ordering, scope: Scope) -> Self {
        device::atomic_load(space(at), address, order(ordering), reach(scope))
    }

    #[track_caller]
    fn store(at: Space, address: u64, value: Self, ordering: Ordering, scope: Scope) {
        device::atomic_store(space(at), address, value, order(ordering), reach(scope));
    }

    #[track_caller]
    fn exchange(at: Space, address: u64, value: Self, ordering: Ordering, scope: Scope) -> Self {
        update(at, address, ordering, scope, |_| Some(value))
    }

    #[track_caller]
    fn compare_exchange(
        at: Space,
        address: u64,
        current: Self,
        new: Self,
        ordering: Ordering,
        scope: Scope,
    ) -> Self
    where
        Self: PartialEq,
    {
        update(at, address, ordering, scope, |old| (old == current).then_some(new))
    }
}
impl Word for u32 {}
impl Word for u64 {}

macro_rules! operations {
    ($($name:ident($t:ty as $word:ty: $to:expr, $from:expr) = $next:expr;)*) => { $(
        #[track_caller]
        pub fn $name(at: Space, address: u64, value: $t, ordering: Ordering, scope: Scope) -> $t {
            let next: fn($t, $t) -> $t = $next;
            $from(update::<$word>(at, address, ordering, scope, |old| Some($to(next($from(old), value)))))
        }
    )* };
}

macro_rules! integers {
    ($($t:ident as $word:ty: $add:ident $sub:ident $min:ident $max:ident $and:ident $or:ident $xor:ident;)*) => {
        operations! { $(
            $add($t as $word: |v| v as $word, |v| v as $t) = $t::wrapping_add;
            $sub($t as $word: |v| v as $word, |v| v as $t) = $t::wrapping_sub;
            $min($t as $word: |v| v as $word, |v| v as $t) = |a, b| a.min(b);
            $max($t as $word: |v| v as $word, |v| v as $t) = |a, b| a.max(b);
            $and($t as $word: |v| v as $word, |v| v as $t) = |a, b| a & b;
            $or($t as $word: |v| v as $word, |v| v as $t) = |a, b| a | b;
            $xor($t as $word: |v| v as $word, |v| v as $t) = |a, b| a ^ b;
        )* }
    };
}
integers! {
    u32 as u32: add_u32 sub_u32 min_u32 max_u32 and_u32 or_u32 xor_u32;
    i32 as u32: add_i32 sub_i32 min_i32 max_i32 and_i32 or_i32 xor_i32;
    u64 as u64: add_u64 sub_u64 min_u64 max_u64 and_u64 or_u64 xor_u64;
    i64 as u64: add_i64 sub_i64 min_i64 max_i64 and_i64 or_i64 xor_i64;
}
operations! {
    inc_u32(u32 as u32: |v| v, |v| v) = |old, bound| if old >= bound { 0 } else { old + 1 };
    dec_u32(u32 as u32: |v| v, |v| v) = |old, bound| if old == 0 || old > bound { bound } else { old - 1 };
    add_f64(f64 as u64: f64::to_bits, f64::from_bits) = |a, b| a + b;
    sub_f64(f64 as u64: f64::to_bits, f64::from_bits) = |a, b| a - b;
}

// In global memory `atom.add.f32` takes and gives zero for subnormal numbers, with their sign; in shared it keeps them.
fn flush(at: Space, value: f32) -> f32 {
    match at {
        Space::Global if value.is_subnormal() => 0.0f32.copysign(value),
        _ => value,
    }
}

#[track_caller]
pub fn add_f32(at: Space, address: u64, value: f32, ordering: Ordering, scope: Scope) -> f32 {
    f32::from_bits(update::<u32>(at, address, ordering, scope, |old| {
        let sum = flush(at, f32::from_bits(old)) + flush(at, value);
        Some(flush(at, sum).to_bits())
    }))
}

#[track_caller]
pub fn sub_f32(at: Space, address: u64, value: f32, ordering: Ordering, scope: Scope) -> f32 {
    add_f32(at, address, -value, ordering, scope)
}

#[track_caller]
pub fn fence(ordering: Ordering, scope: Scope) {
    device::fence(order(ordering), reach(scope));
}
