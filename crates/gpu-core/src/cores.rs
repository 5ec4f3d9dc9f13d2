//! All cores of the machine, for what runs on the CPU.
//!
//! What runs on many cores is compiled for one kind of work only, a call of a function. A parallel iterator is
//! compiled anew for every type of elements and for every closure, some fifty functions each time: they were half of
//! the code of a program that reduces by all operators.

mod parts;
mod shared;
mod threads;

use std::mem::MaybeUninit;

use parts::Parts;
pub use threads::Threads;

/// How many cores share the work.
pub fn count() -> usize {
    rayon::current_num_threads()
}

/// Calls `work` with each number below `count`, in any order, on all cores; at least `at_least` that follow each other
/// are one core's.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// let sum = AtomicUsize::new(0);
/// gpu_core::cores::each(5, 1, &|number| {
///     sum.fetch_add(number, Ordering::Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 10);
/// ```
pub fn each(count: usize, at_least: usize, work: &(dyn Fn(usize) + Sync)) {
    each_on(self::count(), count, at_least, work);
}

/// [`each`], on so many cores at most.
fn each_on(most: usize, count: usize, at_least: usize, work: &(dyn Fn(usize) + Sync)) {
    let at_least = at_least.max(1);
    let blocks = count.div_ceil(at_least);
    let threads = most.min(blocks);
    if threads <= 1 {
        return (0..count).for_each(work);
    }
    let parts = Parts::new(blocks, threads);
    shared::call(threads - 1, &|thread| {
        while let Some(block) = parts.next(thread) {
            (block * at_least..count.min((block + 1) * at_least)).for_each(work);
        }
    });
}

/// Calls `work` as many times, each on a core of its own where there are so many.
pub fn together(times: usize, work: &(dyn Fn() + Sync)) {
    rayon::scope(|scope| (0..times).for_each(|_| scope.spawn(|_| work())));
}

/// What many threads look at, in lines of their caches that nothing else is in.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Where an array starts, for all cores.
struct Start<T>(*mut T);

// SAFETY: cores get elements through it, each at most one core, as if they were sent there.
unsafe impl<T: Send> Sync for Start<T> {}

impl<T> Start<T> {
    /// The element there.
    ///
    /// # Safety
    /// It is one of the array's.
    unsafe fn at(&self, index: usize) -> *mut T {
        // SAFETY: as the caller says.
        unsafe { self.0.add(index) }
    }
}

/// Calls `work` with each chunk of `size` elements, of which the last may be shorter, and its number, on all cores; of
/// those that follow each other `at_least` are one core's.
///
/// ```
/// let mut values = [0; 5];
/// gpu_core::cores::chunks(&mut values, 2, 1, |number, chunk| chunk.fill(number));
/// assert_eq!(values, [0, 0, 1, 1, 2]);
/// ```
///
/// # Panics
/// If chunks have no elements.
pub fn chunks<T: Send>(array: &mut [T], size: usize, at_least: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    chunks_on(count(), array, size, at_least, work);
}

/// [`chunks`], on so many cores at most.
fn chunks_on<T: Send>(
    most: usize,
    array: &mut [T],
    size: usize,
    at_least: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    assert!(size > 0, "chunks have elements");
    let (len, start) = (array.len(), Start(array.as_mut_ptr()));
    each_on(most, len.div_ceil(size), at_least, &|number| {
        let first = number * size;
        // SAFETY: the elements are the array's, which is borrowed until all is done, and no other number's.
        let chunk = unsafe { std::slice::from_raw_parts_mut(start.at(first), size.min(len - first)) };
        work(number, chunk);
    });
}

/// Calls `work` with chunks of two arrays, each of its own size, that have the same number, and that number, on all
/// cores, until one array ends.
///
/// ```
/// let (mut values, mut sums) = ([1, 2, 3, 4], [0; 2]);
/// gpu_core::cores::pairs((&mut values, 2), (&mut sums, 1), |_, values, sum| sum[0] = values.iter().sum());
/// assert_eq!(sums, [3, 7]);
/// ```
///
/// # Panics
/// If chunks have no elements.
pub fn pairs<T: Send, U: Send>(
    (first, first_size): (&mut [T], usize),
    (second, second_size): (&mut [U], usize),
    work: impl Fn(usize, &mut [T], &mut [U]) + Sync,
) {
    let mut chunks_of_second: Vec<&mut [U]> = second.chunks_mut(second_size).collect();
    let len = first.len().min(first_size.saturating_mul(chunks_of_second.len()));
    let second = Start(chunks_of_second.as_mut_ptr());
    chunks(&mut first[..len], first_size, 1, |number, first| {
        // SAFETY: there are at least as many chunks of the other array, and no other call has that number.
        work(number, first, unsafe { &mut *second.at(number) });
    });
}

/// Calls `work` with each element and its index, on all cores.
///
/// ```
/// let mut values = [7; 3];
/// gpu_core::cores::elements(&mut values, |index, value| *value += index);
/// assert_eq!(values, [7, 8, 9]);
/// ```
pub fn elements<T: Send>(array: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    chunks(array, 1, 1, |index, element| work(index, &mut element[0]));
}

/// What `work` makes of each number below `count`, on all cores.
///
/// ```
/// assert_eq!(gpu_core::cores::collect(4, |number| number * number), [0, 1, 4, 9]);
/// ```
pub fn collect<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut results = Vec::with_capacity(count);
    // Where `work` panics, what was made is not dropped.
    let places: &mut [MaybeUninit<T>] = &mut results.spare_capacity_mut()[..count];
    elements(places, |number, place| {
        place.write(work(number));
    });
    // SAFETY: each of them was written.
    unsafe { results.set_len(count) };
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_comes_once() {
        for len in [0, 1, 2, 999, 1000, 1001] {
            for size in [1, 3, 1000, usize::MAX] {
                let mut values = vec![0; len];
                chunks(&mut values, size, 7, |number, chunk| {
                    assert_eq!(chunk.len(), size.min(len - number * size));
                    chunk.iter_mut().for_each(|value| *value += number + 1);
                });
                assert!(
                    values.iter().enumerate().all(|(at, &value)| value == at / size + 1),
                    "{len} by {size}"
                );
            }
        }
    }

    #[test]
    fn what_is_collected_is_in_order_and_dropped() {
        let marks: Vec<std::sync::Arc<()>> = (0..1000).map(|_| std::sync::Arc::default()).collect();
        let all = collect(marks.len(), |number| (number, marks[number].clone()));
        assert!(all.iter().enumerate().all(|(at, (number, _))| at == *number));
        assert!(marks.iter().all(|mark| std::sync::Arc::strong_count(mark) == 2));
        drop(all);
        assert!(marks.iter().all(|mark| std::sync::Arc::strong_count(mark) == 1));
        assert!(collect(0, |number| number).is_empty());
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn panics_reach_the_caller() {
        each(5, 1, &|number| assert!(number != 3, "the third"));
    }

    #[test]
    #[should_panic(expected = "chunks have elements")]
    fn chunks_without_elements_are_refused() {
        chunks(&mut [1, 2], 0, 1, |_, _| {});
    }

    #[test]
    fn work_is_done_as_many_times() {
        let times = std::sync::atomic::AtomicUsize::new(0);
        together(9, &|| {
            times.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(times.into_inner(), 9);
    }
}
