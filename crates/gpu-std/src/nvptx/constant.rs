//! Tables in parameter space, which is the constant bank.
//!
//! The entry's by-value parameter is never touched as a Rust value: an index into it would copy all of it to local
//! memory. The address comes from the parameter's name, and `ld.param` takes it in a register.

use crate::memory::Element;
use core::arch::asm;
use core::marker::PhantomData;

#[derive(Clone, Copy)]
pub struct Table<T: Element, const N: usize> {
    address: u64,
    element: PhantomData<T>,
}

/// What the PTX entry declares.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entry<T: Element, const N: usize>([T; N]);

impl<T: Element, const N: usize> Table<T, N> {
    #[inline(always)]
    pub fn at(address: u64) -> Self {
        Self { address, element: PhantomData }
    }

    #[inline(always)]
    pub fn read(self, index: u32) -> T {
        let address = self.address + u64::from(index) * size_of::<T>() as u64;
        // SAFETY: the entry is inside the table (the simulator checks), and each arm fills exactly the element's
        // bytes, any of which are valid. Parameters do not change: `nomem`.
        unsafe {
            match size_of::<T>() {
                1 => {
                    let value: u16;
                    asm!("ld.param.u8 {}, [{}];", out(reg16) value, in(reg64) address,
                        options(pure, nomem, nostack, preserves_flags));
                    (&raw const value).cast::<T>().read_unaligned()
                }
                2 => {
                    let value: u16;
                    asm!("ld.param.b16 {}, [{}];", out(reg16) value, in(reg64) address,
                        options(pure, nomem, nostack, preserves_flags));
                    (&raw const value).cast::<T>().read_unaligned()
                }
                4 => {
                    let value: u32;
                    asm!("ld.param.b32 {}, [{}];", out(reg32) value, in(reg64) address,
                        options(pure, nomem, nostack, preserves_flags));
                    (&raw const value).cast::<T>().read_unaligned()
                }
                _ => {
                    let value: u64;
                    asm!("ld.param.b64 {}, [{}];", out(reg64) value, in(reg64) address,
                        options(pure, nomem, nostack, preserves_flags));
                    (&raw const value).cast::<T>().read_unaligned()
                }
            }
        }
    }
}
