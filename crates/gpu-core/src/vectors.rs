//! The widest vector instructions of the machine, for what runs on the CPU.
//!
//! Programs are compiled for the oldest machines of their architecture. What is [`run`] here is compiled for newer
//! ones too, and the machine chooses. Its results are the same: Rust never contracts or reorders operations on
//! floats, whatever the instructions.

use core::fmt;
use core::marker::PhantomData;

use gpu_std::memory::Element;

/// Work that gains from wide vectors: loops over arrays.
///
/// No closure: nothing makes the compiler inline its body, and what is left a function of its own is compiled for the
/// oldest machines, where a fused multiply-add is a call (a blur took forty times as long).
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
    run_wide(work).unwrap_or_else(W::run)
}

/// [`run`] where the machine has fused multiply-adds in vectors, as all but old machines of x86-64 have; there it gives
/// the work back. For work that is done in another way then, and need not be compiled for these.
///
/// # Errors
/// The work, which was not done.
///
/// ```
/// use gpu_core::vectors::{Work, run_wide};
///
/// struct Half<'a>(&'a [f32]);
///
/// impl Work for Half<'_> {
///     type Output = Vec<f32>;
///
///     #[inline(always)]
///     fn run(self) -> Vec<f32> {
///         self.0.iter().map(|value| value / 2.0).collect()
///     }
/// }
///
/// let values = run_wide(Half(&[1.0, 3.0])).unwrap_or_else(|Half(values)| vec![values[0] / 2.0, values[1] / 2.0]);
/// assert_eq!(values, [0.5, 1.5]);
/// ```
pub fn run_wide<W: Work>(work: W) -> Result<W::Output, W> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            // SAFETY: the machine has these instructions.
            return Ok(unsafe { avx512(work) });
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: the machine has these instructions.
            return Ok(unsafe { avx2(work) });
        }
        Err(work)
    }
    #[cfg(not(target_arch = "x86_64"))]
    Ok(work.run())
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

/// Asks for `len` bytes of memory that begin `ahead` bytes behind the start of `array`, or before it where that is
/// negative, part of it or not: they are on their way while other work is done. A hint, which changes no result: of
/// more than a mebibyte, which no cache near the processor holds, the first is asked for.
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
    request::<{ std::arch::x86_64::_MM_HINT_T0 }, T>(array, ahead, len);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (array, ahead, len);
}

/// [`prefetch`] into the second-level cache alone: for what comes from memory while the first one is full of what is
/// read before.
///
/// ```
/// let values = [1.0f32; 1000];
/// gpu_core::vectors::prefetch_l2(&values, 2048, 256);
/// ```
#[inline(always)]
pub fn prefetch_l2<T>(array: &[T], ahead: isize, len: usize) {
    #[cfg(target_arch = "x86_64")]
    request::<{ std::arch::x86_64::_MM_HINT_T1 }, T>(array, ahead, len);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (array, ahead, len);
}

/// [`prefetch`] with a hint that says into which cache.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn request<const HINT: i32, T>(array: &[T], ahead: isize, len: usize) {
    let first = array.as_ptr().cast::<i8>().wrapping_offset(ahead);
    for line in 0..len.min(1 << 20).div_ceil(64) {
        // SAFETY: it is a hint, which reads and faults at no address.
        unsafe { std::arch::x86_64::_mm_prefetch::<HINT>(first.wrapping_add(64 * line)) };
    }
}

/// Does `work`, which writes `results` past the caches, where the machine can: memory is not read before it is
/// written, and what the caches hold stays. For results that are more than caches hold; those that are read again
/// soon are better written as usual.
///
/// ```
/// let mut results = vec![0u16; 1000];
/// gpu_core::vectors::streamed(&mut results, |results| {
///     for first in (0..1000).step_by(100) {
///         results.write(first, &[first as u16; 100]);
///     }
/// });
/// assert_eq!(results[899..901], [800, 900]);
/// ```
pub fn streamed<T: Element, R>(results: &mut [T], work: impl FnOnce(&mut Streamed<'_, T>) -> R) -> R {
    // Also where `work` panics. Nobody sees the results before.
    let _until_all_is_written = Fence;
    work(&mut Streamed { results, written: 0, fence: PhantomData })
}

/// What [`streamed`] work writes to, and cannot read.
///
/// It stays on its thread, whose fence is what makes its writes visible to others:
///
/// ```compile_fail,E0277
/// let mut results = vec![0u16; 1000];
/// gpu_core::vectors::streamed(&mut results, |results| {
///     std::thread::scope(|scope| scope.spawn(|| results.write(0, &[1; 100])).join());
/// });
/// ```
pub struct Streamed<'a, T> {
    results: &'a mut [T],
    /// Elements from here on were not written yet.
    written: usize,
    /// Neither `Send` nor `Sync`.
    fence: PhantomData<*mut Fence>,
}

// Not of the elements: nobody reads them before the fence.
impl<T> fmt::Debug for Streamed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streamed").field("len", &self.results.len()).finish_non_exhaustive()
    }
}

impl<T: Element> Streamed<'_, T> {
    /// How many elements there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether there is none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Writes `values` from element `first` on.
    ///
    /// # Panics
    /// If there are not so many elements.
    #[inline(always)]
    pub fn write(&mut self, first: usize, values: &[T]) {
        let to = &mut self.results[first..][..values.len()];
        if first < self.written {
            // Some of them, perhaps: nothing may touch what was written past the caches before a fence.
            drop(Fence);
        }
        self.written = self.written.max(first + values.len());
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
            const VECTOR: usize = size_of::<__m128i>();
            let begin = to.as_ptr().align_offset(VECTOR).min(to.len());
            let end = to.len() - (to.len() - begin) % (VECTOR / size_of::<T>());
            to[..begin].copy_from_slice(&values[..begin]);
            to[end..].copy_from_slice(&values[end..]);
            let (to, from) = (
                to[begin..end].as_mut_ptr().cast::<__m128i>(),
                values[begin..end].as_ptr().cast::<__m128i>(),
            );
            for vector in 0..(end - begin) / (VECTOR / size_of::<T>()) {
                // SAFETY: both slices have so many vectors; `to` is aligned to them, or there are none. Elements are
                // numbers, of which every byte has a value. The machine has SSE2, as all of its architecture.
                unsafe { _mm_stream_si128(to.add(vector), _mm_loadu_si128(from.add(vector))) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        to.copy_from_slice(values);
    }
}

/// Ends when what was written past the caches can be seen by all.
struct Fence;

impl Drop for Fence {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the machine has SSE, as all of its architecture.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
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
        assert_eq!(run_wide(work.clone()).unwrap_or_else(Work::run), expected);
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has these instructions.
            assert_eq!(unsafe { avx2(work) }, expected);
        } else {
            eprintln!("SKIPPED: this machine has no avx2");
        }
    }

    /// From any address on, any number of elements, and nothing else.
    fn streams<T: Element + From<u8>>() {
        let values: Vec<T> = (0..80).map(|i| T::from(i + 1)).collect();
        for first in 0..33 {
            for len in 0..=values.len() - 3 {
                let mut results = [T::default(); 120];
                streamed(&mut results[first..][..len], |results| {
                    assert_eq!((results.len(), results.is_empty()), (len, len == 0));
                    let (one, other) = values[..len].split_at(len / 3);
                    results.write(0, one);
                    results.write(one.len(), other);
                });
                assert_eq!(results[first..][..len], values[..len], "{len} from {first}");
                assert!(results[..first].iter().all(|value| *value == T::default()), "{len} from {first}");
                assert!(
                    results[first + len..].iter().all(|value| *value == T::default()),
                    "{len} from {first}"
                );
            }
        }
    }

    #[test]
    fn what_is_streamed_arrives() {
        streams::<u8>();
        streams::<u16>();
        streams::<f32>();
        streams::<u64>();
    }

    #[test]
    fn what_is_streamed_twice_is_what_came_last() {
        let mut results = [0u8; 100];
        streamed(&mut results, |results| {
            results.write(0, &[1; 100]);
            results.write(3, &[2; 70]);
            results.write(90, &[3; 10]);
            results.write(40, &[4; 1]);
        });
        let expected = |at| match at {
            40 => 4,
            3..73 => 2,
            90.. => 3,
            _ => 1,
        };
        assert!(results.iter().enumerate().all(|(at, &value)| value == expected(at)), "{results:?}");
    }

    #[test]
    fn what_is_streamed_cannot_be_printed() {
        let printed = streamed(&mut [7u8; 4], |results| format!("{results:?}"));
        assert_eq!(printed, "Streamed { len: 4, .. }");
    }

    #[test]
    fn prefetches_of_any_range_end() {
        for ahead in [isize::MIN, -1, 0, isize::MAX] {
            for len in [0, 1, usize::MAX] {
                prefetch(&[1.0f32; 4], ahead, len);
            }
        }
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn nothing_is_streamed_beyond_the_end() {
        streamed(&mut [0u8; 4], |results| results.write(2, &[1; 3]));
    }
}
