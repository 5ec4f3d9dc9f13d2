//! How many threads some work is worth.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::shared::PATIENCE;

/// How long after the last work others are surely still awake: a part of the time that they wait for more.
const AWAKE: Duration = Duration::from_micros(PATIENCE.as_micros() as u64 * 2 / 5);

thread_local! {
    /// When this thread's last work ended that was worth asking for.
    static END: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The threads that some work is worth. Keep it until the work is done.
///
/// To call a thread that sleeps took a core of a virtual machine some 20 µs, before it could begin itself: as long as
/// many a small product takes in all. So work that begins as soon as other work of this thread has ended is worth all
/// cores sooner: where much of such work follows each other they are awake from the second one on.
#[derive(Debug)]
pub struct Threads {
    count: usize,
    is_noted: bool,
}

impl Threads {
    /// For work of a size that is worth more than one thread from `awake` on, if others are awake, and from `asleep`
    /// on, if they have to be woken; and as many as have a `share` each.
    ///
    /// ```
    /// let threads = gpu_core::cores::Threads::worth(10, [500, 1000, 5000]);
    /// assert_eq!(threads.count(), 1);
    /// ```
    pub fn worth(size: usize, [share, awake, asleep]: [usize; 3]) -> Self {
        if size < awake {
            return Self { count: 1, is_noted: false };
        }
        let follows = || END.get().is_some_and(|end| end.elapsed() < AWAKE);
        let most = || super::count().min(size / share.max(1)).max(1);
        Self { count: if size >= asleep || follows() { most() } else { 1 }, is_noted: true }
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// [`chunks`](super::chunks) on so many cores.
    ///
    /// ```
    /// let mut values = [0; 5];
    /// let threads = gpu_core::cores::Threads::worth(5, [500, 1000, 5000]);
    /// threads.chunks(&mut values, 2, |number, chunk| chunk.fill(number));
    /// assert_eq!(values, [0, 0, 1, 1, 2]);
    /// ```
    ///
    /// # Panics
    /// If chunks have no elements.
    pub fn chunks<T: Send>(&self, array: &mut [T], size: usize, work: impl Fn(usize, &mut [T]) + Sync) {
        super::chunks_on(self.count, array, size, 1, work);
    }

    /// [`elements`](super::elements) on so many cores.
    ///
    /// ```
    /// let mut values = [7; 3];
    /// gpu_core::cores::Threads::worth(3, [500, 1000, 5000]).elements(&mut values, |index, value| *value += index);
    /// assert_eq!(values, [7, 8, 9]);
    /// ```
    pub fn elements<T: Send>(&self, array: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        self.chunks(array, 1, |index, element| work(index, &mut element[0]));
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if self.is_noted {
            END.set(Some(Instant::now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As soon as the last one ended, or some time after.
    fn count(size: usize, pause: Duration) -> usize {
        std::thread::sleep(pause);
        Threads::worth(size, [50, 100, 1000]).count()
    }

    #[test]
    fn chunks_are_this_threads_if_it_is_the_only_one() {
        let here = std::thread::current().id();
        let mut values = [0; 1000];
        Threads::worth(0, [1, 1, 1]).chunks(&mut values, 3, |number, chunk| {
            assert_eq!(std::thread::current().id(), here);
            chunk.fill(number);
        });
        assert!(values.iter().enumerate().all(|(at, &value)| value == at / 3));
        Threads::worth(1, [1, 1, 1]).chunks(&mut values, 3, |number, chunk| chunk.fill(number + 1));
        assert!(values.iter().enumerate().all(|(at, &value)| value == at / 3 + 1));
    }

    #[test]
    fn work_is_worth_more_where_it_follows_other_work() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        pool.install(|| {
            let (pause, none) = (Duration::from_millis(1), Duration::ZERO);
            // The first of all, and after a while; large work always, tiny work never.
            assert_eq!([count(100, none), count(100, pause), count(999, pause)], [1, 1, 1]);
            assert_eq!([count(1000, none), count(1000, pause), count(5000, none)], [3, 3, 3]);
            // As many as have a share.
            assert_eq!(
                [99, 100, 149, 150, 400].map(|size| Threads::worth(size, [50, 0, 0]).count()),
                [1, 2, 2, 3, 3]
            );
            assert_eq!([0, 1, 2].map(|size| Threads::worth(size, [0, 0, 0]).count()), [1, 1, 2]);
            assert_eq!([count(99, none), count(99, pause), count(0, none)], [1, 1, 1]);
            // Where other threads have the core a pause may be a long one, but not every time.
            assert!((0..100_000).any(|_| count(100, none) == 2), "work that follows other work");
            // Tiny work is not noted.
            let is_not_noted = (0..1000).all(|_| {
                std::thread::sleep(Duration::from_micros(50));
                count(99, none) == 1 && count(100, none) == 1
            });
            assert!(is_not_noted, "tiny work wakes none");
        });
    }
}
