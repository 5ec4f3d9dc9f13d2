//! Values that the optimiser may not see through.

/// The same word, of which the compiler no longer knows where it came from. It costs no instruction.
///
/// What is computed from it a second time is computed a second time: where a cheap value, such as a byte of a loaded word,
/// is needed early and late in a kernel, the compiler would otherwise hold it in a register of its own all the while. As the
/// bound of a loop it keeps the loop from being unrolled: for paths that are rarely taken, and loops around a large body.
///
/// ```
/// assert_eq!(gpu_std::opaque(7), 7);
/// ```
#[inline(always)]
pub fn opaque(word: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    let word = crate::backend::opaque(word);
    word
}
