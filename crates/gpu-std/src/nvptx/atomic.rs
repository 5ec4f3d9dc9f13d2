//! Atomics as PTX states them: `atom.{order}.{scope}.{space}.{operation}`.
//!
//! Assembly, because rustc's own atomics know neither scope nor space. Lanes do not cooperate in them, so LLVM may
//! copy or move the block like any call that touches memory.

use crate::atomic::{Ordering, Scope, Space};
use crate::backend::memory::shared_window;
use core::arch::asm;

pub trait Word: Copy {
    fn load(space: Space, address: u64, ordering: Ordering, scope: Scope) -> Self;
    fn store(space: Space, address: u64, value: Self, ordering: Ordering, scope: Scope);
    fn exchange(space: Space, address: u64, value: Self, ordering: Ordering, scope: Scope) -> Self;
    fn compare_exchange(
        space: Space,
        address: u64,
        current: Self,
        new: Self,
        ordering: Ordering,
        scope: Scope,
    ) -> Self;
}

// Calls `$instruction!(order scope, space, register class of the address, address)` with the words for the arguments;
// they are constants after inlining, so one arm is left.
macro_rules! scopes {
    ($order:literal, $scope:expr, $space:expr, $address:expr, $instruction:ident) => {
        match ($space, $scope) {
            (Space::Global, Scope::Block) => $instruction!(concat!($order, ".cta.global"), reg64, $address),
            (Space::Global, Scope::Device) => $instruction!(concat!($order, ".gpu.global"), reg64, $address),
            (Space::Global, Scope::System) => $instruction!(concat!($order, ".sys.global"), reg64, $address),
            (Space::Shared, Scope::Block) => {
                $instruction!(concat!($order, ".cta.shared"), reg32, shared_window($address as u32))
            }
            (Space::Shared, Scope::Device) => {
                $instruction!(concat!($order, ".gpu.shared"), reg32, shared_window($address as u32))
            }
            (Space::Shared, Scope::System) => {
                $instruction!(concat!($order, ".sys.shared"), reg32, shared_window($address as u32))
            }
        }
    };
}
macro_rules! orders {
    ($ordering:expr, $scope:expr, $space:expr, $address:expr, $instruction:ident) => {
        match $ordering {
            Ordering::Relaxed => scopes!(".relaxed", $scope, $space, $address, $instruction),
            Ordering::Acquire => scopes!(".acquire", $scope, $space, $address, $instruction),
            Ordering::Release => scopes!(".release", $scope, $space, $address, $instruction),
            Ordering::AcqRel => scopes!(".acq_rel", $scope, $space, $address, $instruction),
        }
    };
}

// One read-modify-write: old value out, operand in.
macro_rules! update {
    ($space:ident, $address:ident, $value:ident, $ordering:ident, $scope:ident, $word:ty, $register:ident, $operation:literal) => {{
        let old: $word;
        macro_rules! instruction {
            ($prefix:expr, $class:ident, $at:expr) => {
                // SAFETY: whoever made the accessor vouched for the address.
                unsafe {
                    asm!(concat!("atom", $prefix, ".", $operation, " {}, [{}], {};"),
                        out($register) old, in($class) $at, in($register) $value, options(nostack, preserves_flags))
                }
            };
        }
        orders!($ordering, $scope, $space, $address, instruction);
        old
    }};
}

macro_rules! words {
    ($($word:ty, $register:ident, $bits:literal, $exchange:literal;)*) => { $(
        impl Word for $word {
            #[inline(always)]
            fn load(space: Space, address: u64, ordering: Ordering, scope: Scope) -> Self {
                let value: $word;
                macro_rules! instruction {
                    ($prefix:expr, $class:ident, $at:expr) => {
                        // SAFETY: whoever made the accessor vouched for the address.
                        unsafe {
                            asm!(concat!("ld", $prefix, ".b", $bits, " {}, [{}];"),
                                out($register) value, in($class) $at, options(nostack, preserves_flags))
                        }
                    };
                }
                match ordering {
                    Ordering::Relaxed => scopes!(".relaxed", scope, space, address, instruction),
                    _ => scopes!(".acquire", scope, space, address, instruction),
                }
                value
            }

            #[inline(always)]
            fn store(space: Space, address: u64, value: Self, ordering: Ordering, scope: Scope) {
                macro_rules! instruction {
                    ($prefix:expr, $class:ident, $at:expr) => {
                        // SAFETY: whoever made the accessor vouched for the address.
                        unsafe {
                            asm!(concat!("st", $prefix, ".b", $bits, " [{}], {};"),
                                in($class) $at, in($register) value, options(nostack, preserves_flags))
                        }
                    };
                }
                match ordering {
                    Ordering::Relaxed => scopes!(".relaxed", scope, space, address, instruction),
                    _ => scopes!(".release", scope, space, address, instruction),
                }
            }

            #[inline(always)]
            fn exchange(space: Space, address: u64, value: Self, ordering: Ordering, scope: Scope) -> Self {
                update!(space, address, value, ordering, scope, $word, $register, $exchange)
            }

            #[inline(always)]
            fn compare_exchange(
                space: Space,
                address: u64,
                current: Self,
                new: Self,
                ordering: Ordering,
                scope: Scope,
            ) -> Self {
                let old: $word;
                macro_rules! instruction {
                    ($prefix:expr, $class:ident, $at:expr) => {
                        // SAFETY: whoever made the accessor vouched for the address.
                        unsafe {
                            asm!(concat!("atom", $prefix, ".cas.b", $bits, " {}, [{}], {}, {};"),
                                out($register) old, in($class) $at, in($register) current, in($register) new,
                                options(nostack, preserves_flags))
                        }
                    };
                }
                orders!(ordering, scope, space, address, instruction);
                old
            }
        }
    )* };
}
words! {
    u32, reg32, "32", "exch.b32";
    u64, reg64, "64", "exch.b64";
}

macro_rules! operations {
    ($($name:ident($t:ty as $word:ty, $register:ident) = $operation:literal, $to:expr, $from:expr;)*) => { $(
        #[inline(always)]
        pub fn $name(space: Space, address: u64, value: $t, ordering: Ordering, scope: Scope) -> $t {
            let value: $word = $to(value);
            let old = update!(space, address, value, ordering, scope, $word, $register, $operation);
            $from(old)
        }
    )* };
}
operations! {
    add_u32(u32 as u32, reg32) = "add.u32", |v| v, |v| v;
    sub_u32(u32 as u32, reg32) = "add.u32", u32::wrapping_neg, |v| v;
    min_u32(u32 as u32, reg32) = "min.u32", |v| v, |v| v;
    max_u32(u32 as u32, reg32) = "max.u32", |v| v, |v| v;
    inc_u32(u32 as u32, reg32) = "inc.u32", |v| v, |v| v;
    dec_u32(u32 as u32, reg32) = "dec.u32", |v| v, |v| v;
    and_u32(u32 as u32, reg32) = "and.b32", |v| v, |v| v;
    or_u32(u32 as u32, reg32) = "or.b32", |v| v, |v| v;
    xor_u32(u32 as u32, reg32) = "xor.b32", |v| v, |v| v;
    add_i32(i32 as u32, reg32) = "add.s32", |v| v as u32, |v| v as i32;
    sub_i32(i32 as u32, reg32) = "add.s32", |v: i32| v.wrapping_neg() as u32, |v| v as i32;
    min_i32(i32 as u32, reg32) = "min.s32", |v| v as u32, |v| v as i32;
    max_i32(i32 as u32, reg32) = "max.s32", |v| v as u32, |v| v as i32;
    and_i32(i32 as u32, reg32) = "and.b32", |v| v as u32, |v| v as i32;
    or_i32(i32 as u32, reg32) = "or.b32", |v| v as u32, |v| v as i32;
    xor_i32(i32 as u32, reg32) = "xor.b32", |v| v as u32, |v| v as i32;
    add_u64(u64 as u64, reg64) = "add.u64", |v| v, |v| v;
    sub_u64(u64 as u64, reg64) = "add.u64", u64::wrapping_neg, |v| v;
    min_u64(u64 as u64, reg64) = "min.u64", |v| v, |v| v;
    max_u64(u64 as u64, reg64) = "max.u64", |v| v, |v| v;
    and_u64(u64 as u64, reg64) = "and.b64", |v| v, |v| v;
    or_u64(u64 as u64, reg64) = "or.b64", |v| v, |v| v;
    xor_u64(u64 as u64, reg64) = "xor.b64", |v| v, |v| v;
    add_i64(i64 as u64, reg64) = "add.u64", |v| v as u64, |v| v as i64;
    sub_i64(i64 as u64, reg64) = "add.u64", |v: i64| v.wrapping_neg() as u64, |v| v as i64;
    min_i64(i64 as u64, reg64) = "min.s64", |v| v as u64, |v| v as i64;
    max_i64(i64 as u64, reg64) = "max.s64", |v| v as u64, |v| v as i64;
    and_i64(i64 as u64, reg64) = "and.b64", |v| v as u64, |v| v as i64;
    or_i64(i64 as u64, reg64) = "or.b64", |v| v as u64, |v| v as i64;
    xor_i64(i64 as u64, reg64) = "xor.b64", |v| v as u64, |v| v as i64;
    add_f32(f32 as u32, reg32) = "add.f32", f32::to_bits, f32::from_bits;
    sub_f32(f32 as u32, reg32) = "add.f32", |v: f32| (-v).to_bits(), f32::from_bits;
    add_f64(f64 as u64, reg64) = "add.f64", f64::to_bits, f64::from_bits;
    sub_f64(f64 as u64, reg64) = "add.f64", |v: f64| (-v).to_bits(), f64::from_bits;
}

#[inline(always)]
pub fn fence(_ordering: Ordering, scope: Scope) {
    super::thread::fence(scope);
}
