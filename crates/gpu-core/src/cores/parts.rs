//! Numbers that threads share out among themselves.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Apart;

/// Some numbers in as many parts as there are threads, each of numbers that follow each other. A thread takes those of
/// its own part first: where as much is done again it finds in its caches what it has had before, and threads do not
/// wait for each other's writes. Then it takes what is left of others', be they late or not there.
pub(super) struct Parts {
    count: usize,
    /// How many numbers of each part are taken, or more.
    taken: Vec<Apart<AtomicUsize>>,
}

impl Parts {
    /// The numbers below `count` in so many parts.
    pub(super) fn new(count: usize, parts: usize) -> Self {
        Self { count, taken: (0..parts).map(|_| Apart::default()).collect() }
    }

    /// One that no other thread has, if any is left.
    pub(super) fn next(&self, thread: usize) -> Option<usize> {
        let parts = self.taken.len();
        (thread..parts).chain(0..thread).find_map(|part| {
            // As even as can be.
            let [start, end] = [part, part + 1].map(|part| part * self.count / parts);
            let taken = &*self.taken[part];
            // A part that is empty is only looked at.
            if taken.load(Ordering::Relaxed) >= end - start {
                return None;
            }
            let place = taken.fetch_add(1, Ordering::Relaxed);
            (place < end - start).then(|| start + place)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_those_of_a_part_to_its_thread_first() {
        for (count, parts) in [(1, 1), (5, 2), (16, 16), (64, 16), (17, 3), (1000, 7)] {
            for thread in 0..parts {
                let numbers = Parts::new(count, parts);
                let all: Vec<usize> = core::iter::from_fn(|| numbers.next(thread)).collect();
                let start = thread * count / parts;
                let expected: Vec<usize> = (start..count).chain(0..start).collect();
                assert_eq!(all, expected, "{count} in {parts} parts, thread {thread}");
                assert_eq!(numbers.next((thread + 1) % parts), None);
            }
        }
    }

    #[test]
    fn threads_share_what_is_left() {
        let numbers = Parts::new(100, 4);
        let take = |thread| core::iter::from_fn(|| numbers.next(thread)).collect::<Vec<_>>();
        let mut all: Vec<usize> = std::thread::scope(|scope| {
            let threads = [0, 1, 3].map(|thread| scope.spawn(move || take(thread)));
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..100), "also those of the thread that is not there");
    }
}
