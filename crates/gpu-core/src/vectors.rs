//! The widest vector instructions of the machine, for what runs on the CPU.
//!
//! Programs are compiled for the oldest machines of their architecture. What is [`run`] here is compiled for newer ones too, and the
//! machine chooses. Its results are the same: Rust never contracts or reorders operations on floats, whatever the instructions.

/// Work that gains from wide vectors: loops over arrays.
///
/// No closure: nothing makes the compiler inline its body, and what is left a function of its own is compiled for the oldest machines,
/// where a fused multiply-add is a call (a blur took forty times as long).
pub trait Work {
    /// What comes out.
    type Output;

    /// Does it. Mark it `#[inline(always)]`, and what it calls too: only what is inlined is compiled for wide vectors.
    fn run(self) -> Self::Output;
}

/// Does `work` with the widest vectors that the machine has.
///
/// ```
/// use gpu_core::vectors::{Work, run};
///
/// struct Double<'a>(&'a mut [f32]);
///
/// impl Work for Double<'_> {
///     type Output = ();
///
///     #[inline(always)]
///     fn run(self) {
///         self.0.iter_mut().for_each(|value| *value *= 2.0);
///     }
/// }
///
/// let mut values = [1.0, 2.5];
/// run(Double(&mut values));
/// assert_eq!(values, [2.0, 5.0]);
/// ```
pub fn run<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        use std::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            // SAFETY: the machine has these instructions.
            return unsafe { avx512(work) };
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: the machine has these instructions.
            return unsafe { avx2(work) };
        }
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn avx512<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

/// Asks for `len` bytes of memory that begin `ahead` bytes behind the start of `array`, or before it where that is negative, part of it or
/// not: they are on their way while other work is done. A hint, which changes no result.
///
/// ```
/// let values = [1.0f32; 1000];
/// let mut sum = 0.0;
/// for (number, some) in values.chunks(100).enumerate() {
///     gpu_core::vectors::prefetch(&values, 400 * (number as isize + 1), 400);
///     sum += some.iter().sum::<f32>();
/// }
/// assert_eq!(sum, 1000.0);
/// ```
#[inline(always)]
pub fn prefetch<T>(array: &[T], ahead: isize, len: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = array.as_ptr().cast::<i8>().wrapping_offset(ahead);
        for line in 0..len.div_ceil(64) {
            // SAFETY: it is a hint, which reads and faults at no address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(64 * line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (array, ahead, len);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A product and a sum that a fused multiply-add would round differently, and one that is asked for.
    #[derive(Clone)]
    struct Polynomial(Vec<f32>);

    impl Work for Polynomial {
        type Output = Vec<u32>;

        #[inline(always)]
        fn run(self) -> Vec<u32> {
            let value = |x: &f32| (x * 1.1 + 0.3) * x + x.mul_add(*x, 0.7);
            self.0.iter().map(value).map(f32::to_bits).collect()
        }
    }

    #[test]
    fn every_set_of_instructions_gives_the_same_bits() {
        let work = Polynomial((0..1003).map(|i| (i as f32 - 500.0) / 7.0).collect());
        let expected = work.clone().run();
        assert_eq!(run(work.clone()), expected);
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has these instructions.
            assert_eq!(unsafe { avx2(work) }, expected);
        } else {
            eprintln!("SKIPPED: this machine has no avx2");
        }
    }
}
