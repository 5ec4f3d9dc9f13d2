//! Loads and stores.
//!
//! Plain accesses go through an integer as wide as the access: LLVM then emits one instruction of that width
//! (`ld.global.v4.b32` for 16 bytes), where an array in an aligned struct may be split in two. LLVM infers the address
//! space: every `Address` comes from a kernel parameter of its own, every shared one from the shared-memory symbol.

use crate::memory::Element;
use core::arch::asm;

#[repr(transparent)]
pub struct Address<T>(*mut T);

impl<T> Clone for Address<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Address<T> {}

// SAFETY: an address is a number; what may be done with it is said where an accessor is made.
unsafe impl<T> Send for Address<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Address<T> {}

// `[T; N]` and a word `W` of the same size hold the same bytes. In the arms of `by_width` that do not apply the sizes
// differ; they are compiled, never run.
#[inline(always)]
pub fn cast<A: Copy, B: Copy>(from: A) -> B {
    if size_of::<A>() != size_of::<B>() {
        unreachable!();
    }
    // SAFETY: the sizes agree, and both are made of numbers: no padding, any bits valid.
    unsafe { (&raw const from).cast::<B>().read_unaligned() }
}

// Runs `$body` with `$W` as the integer as wide as `[T; N]`.
macro_rules! by_width {
    ($T:ty, $N:ident, $W:ident => $body:expr) => {
        match const { crate::memory::vector_bytes::<$T, $N>() } {
            1 => {
                type $W = u8;
                $body
            }
            2 => {
                type $W = u16;
                $body
            }
            4 => {
                type $W = u32;
                $body
            }
            8 => {
                type $W = u64;
                $body
            }
            _ => {
                type $W = u128;
                $body
            }
        }
    };
}

// One load instruction of the width of `[T; N]`, from a generic address that is known to be global. `pure, nomem`: the
// memory does not change while the kernel runs, so LLVM may keep any number in flight and merge equal ones.
macro_rules! read_only_load {
    ($instruction:literal, $T:ty, $N:ident, $pointer:expr) => {{
        let pointer = $pointer;
        // SAFETY: whoever made the accessor vouched for the address.
        unsafe {
            match const { (crate::memory::vector_bytes::<$T, $N>(), size_of::<$T>()) } {
                (1, _) => {
                    let a: u16;
                    asm!(concat!($instruction, ".u8 {}, [{}];"), out(reg16) a, in(reg64) pointer,
                        options(pure, nomem, nostack, preserves_flags));
                    cast(a as u8)
                }
                (2, _) => {
                    let a: u16;
                    asm!(concat!($instruction, ".b16 {}, [{}];"), out(reg16) a, in(reg64) pointer,
                        options(pure, nomem, nostack, preserves_flags));
                    cast(a)
                }
                (4, _) => {
                    let a: u32;
                    asm!(concat!($instruction, ".b32 {}, [{}];"), out(reg32) a, in(reg64) pointer,
                        options(pure, nomem, nostack, preserves_flags));
                    cast(a)
                }
                (8, 8) => {
                    let a: u64;
                    asm!(concat!($instruction, ".b64 {}, [{}];"), out(reg64) a, in(reg64) pointer,
                        options(pure, nomem, nostack, preserves_flags));
                    cast(a)
                }
                (8, _) => {
                    let (a, b): (u32, u32);
                    asm!(concat!($instruction, ".v2.b32 {{{}, {}}}, [{}];"), out(reg32) a, out(reg32) b,
                        in(reg64) pointer, options(pure, nomem, nostack, preserves_flags));
                    cast([a, b])
                }
                (_, 8) => {
                    let (a, b): (u64, u64);
                    asm!(concat!($instruction, ".v2.b64 {{{}, {}}}, [{}];"), out(reg64) a, out(reg64) b,
                        in(reg64) pointer, options(pure, nomem, nostack, preserves_flags));
                    cast([a, b])
                }
                _ => {
                    let (a, b, c, d): (u32, u32, u32, u32);
                    asm!(concat!($instruction, ".v4.b32 {{{}, {}, {}, {}}}, [{}];"), out(reg32) a, out(reg32) b,
                        out(reg32) c, out(reg32) d, in(reg64) pointer,
                        options(pure, nomem, nostack, preserves_flags));
                    cast([a, b, c, d])
                }
            }
        }
    }};
}

// One element with one predicated instruction, no branch. As above, and nothing is read where the predicate does not
// hold.
macro_rules! predicated_load {
    ($instruction:literal, $class:ident, $pointer:expr, $index:expr, $limit:expr, $value:ident) => {
        asm!(concat!("{{ .reg .pred p; setp.lt.u32 p, {}, {}; @p ", $instruction, " {}, [{}]; }}"), in(reg32) $index,
            in(reg32) $limit, inout($class) $value, in(reg64) $pointer, options(pure, nomem, nostack, preserves_flags))
    };
}

macro_rules! streaming_store {
    ($instruction:literal, $T:ty, $N:ident, $pointer:expr, $value:expr) => {{
        let (pointer, value) = ($pointer, $value);
        // SAFETY: whoever made the accessor vouched for the address.
        unsafe {
            match const { (crate::memory::vector_bytes::<$T, $N>(), size_of::<$T>()) } {
                (1, _) => {
                    let a: u8 = cast(value);
                    asm!(concat!($instruction, ".u8 [{}], {};"), in(reg64) pointer, in(reg16) u16::from(a),
                        options(nostack, preserves_flags));
                }
                (2, _) => {
                    let a: u16 = cast(value);
                    asm!(concat!($instruction, ".b16 [{}], {};"), in(reg64) pointer, in(reg16) a,
                        options(nostack, preserves_flags));
                }
                (4, _) => {
                    let a: u32 = cast(value);
                    asm!(concat!($instruction, ".b32 [{}], {};"), in(reg64) pointer, in(reg32) a,
                        options(nostack, preserves_flags));
                }
                (8, 8) => {
                    let a: u64 = cast(value);
                    asm!(concat!($instruction, ".b64 [{}], {};"), in(reg64) pointer, in(reg64) a,
                        options(nostack, preserves_flags));
                }
                (8, _) => {
                    let [a, b]: [u32; 2] = cast(value);
                    asm!(concat!($instruction, ".v2.b32 [{}], {{{}, {}}};"), in(reg64) pointer, in(reg32) a,
                        in(reg32) b, options(nostack, preserves_flags));
                }
                (_, 8) => {
                    let [a, b]: [u64; 2] = cast(value);
                    asm!(concat!($instruction, ".v2.b64 [{}], {{{}, {}}};"), in(reg64) pointer, in(reg64) a,
                        in(reg64) b, options(nostack, preserves_flags));
                }
                _ => {
                    let [a, b, c, d]: [u32; 4] = cast(value);
                    asm!(concat!($instruction, ".v4.b32 [{}], {{{}, {}, {}, {}}};"), in(reg64) pointer, in(reg32) a,
                        in(reg32) b, in(reg32) c, in(reg32) d, options(nostack, preserves_flags));
                }
            }
        }
    }};
}

impl<T: Element> Address<T> {
    #[inline(always)]
    pub const fn from_raw(address: u64) -> Self {
        Self(core::ptr::without_provenance_mut(address as usize))
    }

    #[inline(always)]
    pub fn raw(self) -> u64 {
        self.0 as u64
    }

    #[inline(always)]
    pub fn offset(self, elements: u64) -> Self {
        Self(self.0.wrapping_add(elements as usize))
    }

    #[inline(always)]
    pub fn cast<U>(self) -> Address<U> {
        Address(self.0.cast())
    }

    #[inline(always)]
    fn at(self, index: u32) -> *mut T {
        // SAFETY: the access that follows is valid for this element, so the address is inside the allocation.
        unsafe { self.0.add(index as usize) }
    }

    #[inline(always)]
    pub fn load<const N: usize>(self, index: u32) -> [T; N] {
        // SAFETY: whoever made the accessor vouched for the address, its alignment included.
        by_width!(T, N, W => cast(unsafe { self.at(index).cast::<W>().read() }))
    }

    #[inline(always)]
    pub fn store<const N: usize>(self, index: u32, value: [T; N]) {
        // SAFETY: whoever made the accessor vouched for the address, its alignment included.
        by_width!(T, N, W => unsafe { self.at(index).cast::<W>().write(cast(value)) });
    }

    #[inline(always)]
    pub fn load_volatile(self, index: u32) -> T {
        // SAFETY: whoever made the accessor vouched for the address.
        unsafe { self.at(index).read_volatile() }
    }

    #[inline(always)]
    pub fn store_volatile(self, index: u32, value: T) {
        // SAFETY: whoever made the accessor vouched for the address.
        unsafe { self.at(index).write_volatile(value) }
    }

    #[inline(always)]
    pub fn load_read_only<const N: usize>(self, index: u32) -> [T; N] {
        read_only_load!("ld.global.nc", T, N, self.at(index))
    }

    #[inline(always)]
    pub fn load_read_only_below(self, index: u32, limit: u32, otherwise: T) -> T {
        let pointer = self.at(index);
        // SAFETY: whoever made the accessor vouched for the address of an element that is read.
        unsafe {
            match const { size_of::<T>() } {
                1 => {
                    let mut value = u16::from(cast::<T, u8>(otherwise));
                    predicated_load!("ld.global.nc.u8", reg16, pointer, index, limit, value);
                    cast(value as u8)
                }
                2 => {
                    let mut value: u16 = cast(otherwise);
                    predicated_load!("ld.global.nc.b16", reg16, pointer, index, limit, value);
                    cast(value)
                }
                4 => {
                    let mut value: u32 = cast(otherwise);
                    predicated_load!("ld.global.nc.b32", reg32, pointer, index, limit, value);
                    cast(value)
                }
                _ => {
                    let mut value: u64 = cast(otherwise);
                    predicated_load!("ld.global.nc.b64", reg64, pointer, index, limit, value);
                    cast(value)
                }
            }
        }
    }

    #[inline(always)]
    pub fn load_streaming<const N: usize>(self, index: u32) -> [T; N] {
        read_only_load!("ld.global.nc.L1::no_allocate", T, N, self.at(index))
    }

    #[inline(always)]
    pub fn prefetch(self, index: u32) {
        // SAFETY: whoever made the accessor vouched for the address; a prefetch changes no value.
        unsafe {
            asm!("prefetch.global.L2 [{}];", in(reg64) self.at(index), options(nomem, nostack, preserves_flags));
        }
    }

    #[inline(always)]
    pub fn store_streaming<const N: usize>(self, index: u32, value: [T; N]) {
        streaming_store!("st.global.cs", T, N, self.at(index), value)
    }
}

/// Raises the alignment of the block's dynamic shared memory to what the widest access needs.
#[repr(C, align(16))]
struct Aligned16(u128);

#[inline(always)]
fn shared_base() -> *mut u8 {
    core::intrinsics::gpu::gpu_launch_sized_workgroup_mem::<Aligned16>().cast()
}

#[inline(always)]
fn shared_at<T>(offset: u32, index: u32) -> *mut T {
    // SAFETY: the access that follows is valid for this element, so the address is inside the block's memory.
    unsafe { shared_base().add(offset as usize).cast::<T>().add(index as usize) }
}

/// The 32-bit address, in the shared window, of byte `offset` of the dynamic shared memory.
///
/// By the name that rustc gives that memory: converted from the generic address, ptxas would build the whole generic
/// one at each use first. The operand that only the comment names keeps the declaration.
#[inline(always)]
pub fn shared_window(offset: u32) -> u32 {
    let address: u32;
    // SAFETY: it takes an address, nothing more.
    unsafe {
        asm!("mov.u32 {0}, gpu_launch_sized_workgroup_mem; // {1}",
            out(reg32) address, in(reg64) shared_base(), options(pure, nomem, nostack, preserves_flags));
    }
    address.wrapping_add(offset)
}

/// Raises it further, to what tiles need that the copy engine and the tensor cores work with.
#[repr(C, align(1024))]
struct Aligned1024([u8; 1024]);

/// [`shared_window`] of memory that starts at a multiple of 1024 bytes, in each kernel that calls it.
#[inline(always)]
pub fn shared_window_1024(offset: u32) -> u32 {
    let base = core::intrinsics::gpu::gpu_launch_sized_workgroup_mem::<Aligned1024>();
    let address: u32;
    // SAFETY: it takes an address, nothing more.
    unsafe {
        asm!("mov.u32 {0}, gpu_launch_sized_workgroup_mem; // {1}",
            out(reg32) address, in(reg64) base, options(pure, nomem, nostack, preserves_flags));
    }
    address.wrapping_add(offset)
}

#[inline(always)]
pub fn shared_load<T: Element, const N: usize>(offset: u32, index: u32) -> [T; N] {
    // SAFETY: the offset comes from the block's own layout; its size was given at launch.
    by_width!(T, N, W => cast(unsafe { shared_at::<T>(offset, index).cast::<W>().read() }))
}

#[inline(always)]
pub fn shared_store<T: Element, const N: usize>(offset: u32, index: u32, value: [T; N]) {
    // SAFETY: the offset comes from the block's own layout; its size was given at launch.
    by_width!(T, N, W => unsafe { shared_at::<T>(offset, index).cast::<W>().write(cast(value)) });
}

/// Bytes of dynamic shared memory that this block was launched with.
#[inline(always)]
pub fn shared_bytes() -> u32 {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.read.ptx.sreg.dynamic_smem_size"]
        safe fn dynamic_smem_size() -> u32;
    }
    dynamic_smem_size()
}
