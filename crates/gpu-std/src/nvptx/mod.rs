//! The GPU's side: bare instructions.
//!
//! Two rules hold everywhere here. Operations in which lanes cooperate (barriers, votes, shuffles) are LLVM intrinsics,
//! which LLVM knows to be convergent: inline assembly is not, and LLVM duplicates it into divergent branches. And plain
//! loads and stores are ordinary Rust accesses, not assembly, so that LLVM folds addresses, merges and schedules them.

pub mod async_copy;
pub mod atomic;
pub mod barrier;
pub mod bits;
pub mod cluster;
pub mod constant;
pub mod float;
pub mod half;
pub mod memory;
pub mod mma;
pub mod tensor_map;
pub mod texture;
pub mod thread;
pub mod warp;
pub mod wgmma;

/// Empty assembly that might change the word.
#[inline(always)]
pub fn opaque(mut word: u32) -> u32 {
    // SAFETY: it does nothing.
    unsafe { core::arch::asm!("// {}", inout(reg32) word, options(nomem, nostack, preserves_flags)) };
    word
}

/// The same, with what tells the driver's assembler that the loop it stands in stays one.
#[inline(always)]
pub fn rolled(mut word: u32) -> u32 {
    // SAFETY: it does nothing.
    unsafe {
        core::arch::asm!(".pragma \"nounroll\"; // {}", inout(reg32) word, options(nomem, nostack, preserves_flags))
    };
    word
}

/// A remark to the driver's assembler about the loop whose first block it stands in.
#[inline(always)]
pub fn keep_rolled() {
    // SAFETY: it does nothing.
    unsafe { core::arch::asm!(".pragma \"nounroll\";", options(nomem, nostack, preserves_flags)) };
}

/// A kernel has nobody to tell: it traps, and the launch fails with `CUDA_ERROR_LAUNCH_FAILED`.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}

/// An entry of a PTX module. The features it needs are allowed here, so that kernel crates need none.
#[doc(hidden)]
#[macro_export]
#[allow_internal_unstable(abi_ptx)]
macro_rules! __entry {
    ($name:ident, ($($parameter:ident: $type:ty),*), $body:block) => {
        #[unsafe(no_mangle)]
        #[allow(improper_ctypes_definitions, unused_variables)]
        pub unsafe extern "ptx-kernel" fn $name($($parameter: $type),*) $body
    };
}

/// The address, in parameter space, of the kernel parameter of that name.
#[doc(hidden)]
#[macro_export]
#[allow_internal_unstable(asm_experimental_arch)]
macro_rules! __parameter_address {
    ($name:literal) => {{
        let address: u64;
        // SAFETY: it only names a parameter of the kernel that this stands in.
        unsafe {
            ::core::arch::asm!(
                concat!("mov.b64 {}, ", $name, ";"),
                out(reg64) address,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        address
    }};
}
