//! Values that the optimiser may not see through.

/// The same word, of which the compiler no longer knows where it came from. It costs no instruction.
///
/// What is computed from it a second time is computed a second time: where a cheap value, such as a byte of a loaded
/// word, is needed early and late in a kernel, the compiler would otherwise hold it in a register of its own all the
/// while. As the bound of a loop it keeps the loop from being unrolled: for paths that are rarely taken, and loops
/// around a large body.
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

/// The same word, for the counter of a loop, as the first thing in its body: then neither the compiler nor the
/// driver's assembler writes the body several times. Both do it to loops whose number of iterations is computed
/// before them, and an [`opaque`] bound keeps only the compiler from it, where the number of iterations is constant.
/// It costs no instruction.
///
/// For what is rarely executed, or executed often and long enough as it is: unrolled, it is most of what the driver
/// has to compile before a kernel's first launch, and its registers may be those that the loops that matter lack.
///
/// ```
/// let (mut item, mut sum) = (0, 0);
/// while item < 5 {
///     item = gpu_std::rolled(item);
///     sum += item;
///     item += 1;
/// }
/// assert_eq!(sum, 10);
/// ```
#[inline(always)]
pub fn rolled(word: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    let word = crate::backend::rolled(word);
    word
}

/// Keeps the driver's assembler from unrolling a loop, where it stands first in the loop's body: ptxas unrolls short
/// ones by four, with what is left before and behind, which is many times their size. The compiler is told by
/// [`opaque`] bounds; [`rolled`] tells both.
///
/// ```
/// let (mut left, mut turns) = (gpu_std::opaque(3), 0);
/// while left > 0 {
///     gpu_std::keep_rolled();
///     left -= 1;
///     turns += 1;
/// }
/// assert_eq!(turns, 3);
/// ```
#[inline(always)]
pub fn keep_rolled() {
    #[cfg(target_arch = "nvptx64")]
    crate::backend::keep_rolled();
}
