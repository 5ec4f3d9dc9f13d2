//! Permutations of bytes.

unsafe extern "C" {
    #[link_name = "llvm.nvvm.prmt"]
    pub safe fn byte_permute(low: u32, high: u32, selector: u32) -> u32;
}
