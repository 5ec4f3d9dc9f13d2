//! Loops that are unrolled whatever the optimiser thinks.

/// Runs `body` for 0, 1, … `N` − 1, written out one after the other: there is no loop left.
///
/// An array whose index is only known at run time goes to local memory, which is as slow as global. A loop that the
/// compiler does not unroll has such indices. `N` is at most 64.
///
/// ```
/// let mut sums = [0; 4];
/// gpu_std::unroll::<4>(|k| sums[k] += k);
/// assert_eq!(sums, [0, 1, 2, 3]);
/// ```
#[inline(always)]
pub fn unroll<const N: usize>(mut body: impl FnMut(usize)) {
    const { assert!(N <= 64, "at most 64 iterations are unrolled") };
    macro_rules! step {
        ($($k:literal)*) => { $( if $k < N { body($k); } )* };
    }
    step!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    step!(32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
}

/// Keeps the assembler from unrolling a loop, where it stands first in the loop's body: ptxas unrolls short ones by four, with what is left
/// before and behind, which is many times their size. (The compiler is told by [`opaque`](crate::opaque) bounds.)
///
/// ```
/// let (mut left, mut turns) = (gpu_std::opaque(3), 0);
/// while left > 0 {
///     gpu_std::rolled();
///     left -= 1;
///     turns += 1;
/// }
/// assert_eq!(turns, 3);
/// ```
#[inline(always)]
pub fn rolled() {
    #[cfg(target_arch = "nvptx64")]
    crate::backend::rolled();
}
