//! Permutations of bytes, and additions by some threads.

unsafe extern "C" {
    #[link_name = "llvm.nvvm.prmt"]
    pub safe fn byte_permute(low: u32, high: u32, selector: u32) -> u32;
}

macro_rules! additions {
    ($($name:ident: $t:ty, $register:ident, $suffix:literal;)*) => { $(
        #[inline(always)]
        pub fn $name(mut sum: u32, addend: u32, a: $t, b: $t) -> u32 {
            // SAFETY: it computes in registers.
            unsafe {
                core::arch::asm!(
                    concat!("{{.reg .pred p; setp.le.", $suffix, " p, {a}, {b}; @p add.u32 {sum}, {sum}, {addend};}}"),
                    a = in($register) a, b = in($register) b, sum = inout(reg32) sum, addend = in(reg32) addend,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            sum
        }
    )* };
}
additions! {
    add_if_at_most_u32: u32, reg32, "u32";
    add_if_at_most_u64: u64, reg64, "u64";
}
