//! A fault in a kernel comes out of a future that waits for it. The one test of this process, since the context is the
//! process's.

mod common;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use common::{on_cuda, say, store_outside};
use gpu_core::{Error, Result};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// What the future gives within ten seconds, and how often it was asked.
fn in_time(future: impl Future<Output = Result<()>>) -> (Result<()>, u32) {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, started) = (pin!(future), Instant::now());
    for asked in 1.. {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return (output, asked);
        }
        let left = Duration::from_secs(10).saturating_sub(started.elapsed());
        assert!(!left.is_zero(), "the task was never woken");
        thread::park_timeout(left);
    }
    unreachable!("it is asked until then")
}

#[test]
fn a_fault_comes_out_of_the_future() {
    on_cuda("a_fault_comes_out_of_the_future", |device| {
        let stream = device.stream().unwrap();
        let mut memory = device.alloc::<u8>(1 << 28).unwrap();
        // So that the fault comes while the future waits.
        for value in 0..20 {
            stream.memset(&mut memory, value).unwrap();
        }
        let before = stream.synchronize_async();
        let (ended, asked) = in_time(before);
        say(&format!("  work: asked {asked} times"));
        ended.unwrap();
        for value in 0..20 {
            stream.memset(&mut memory, value).unwrap();
        }
        // SAFETY: it writes to an address that no allocation has: the fault is what is tested.
        unsafe { store_outside(&stream) }.unwrap();
        let (first, second) = (stream.synchronize_async(), stream.synchronize_async());
        let (ended, asked) = in_time(first);
        say(&format!("  fault: asked {asked} times"));
        let first = match ended {
            Err(Error::Cuda(failure)) => failure,
            other => panic!("{other:?}"),
        };
        assert!(first.sticky && first.code == 700, "{first:?}");
        assert!(matches!(in_time(second).0, Err(Error::Poisoned { .. })));
        assert!(matches!(in_time(stream.synchronize_async()).0, Err(Error::Poisoned { .. })));
    });
}
