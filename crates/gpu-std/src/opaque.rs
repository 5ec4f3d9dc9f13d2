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

/// At the beginning of a loop's body: the driver's compiler shall not write the loop out.
///
/// That one sees through [`opaque`], which only rustc does not, and it unrolls loops whose count it knows or not, as long as they are short.
#[inline(always)]
pub fn keep_rolled() {
    #[cfg(target_arch = "nvptx64")]
    crate::backend::keep_rolled();
}
