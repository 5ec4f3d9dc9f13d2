//! Futures of streams, events and transfers, by executors of a few lines.

mod common;
// As cuda-shim makes its own.
#[cfg(feature = "cuda")]
#[path = "../../cuda-shim/tests/fake/mod.rs"]
mod fake;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use common::{fill_index, on_each, on_each_launching};
use gpu_core::{Device, Error, Result, Synchronized, Transferred};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A task of an executor: while it waits, its waker is all that holds it.
struct Task {
    future: Mutex<Option<Boxed>>,
    queue: mpsc::Sender<Arc<Task>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let queue = self.queue.clone();
        // Nobody listens where the executor is gone: then the task ends here.
        let _ = queue.send(self);
    }
}

/// Runs tasks on this thread until all are done. Others may wake them.
fn run_all(futures: Vec<Boxed>) {
    let (send, receive) = mpsc::channel();
    let mut left = futures.len();
    for future in futures {
        let task = Task { future: Mutex::new(Some(future)), queue: send.clone() };
        send.send(Arc::new(task)).unwrap();
    }
    drop(send);
    while left > 0 {
        let task = receive.recv().expect("a task that waits is held by its waker");
        let waker = Waker::from(Arc::clone(&task));
        let mut place = task.future.lock().unwrap();
        // Woken twice, it may be done.
        let Some(future) = &mut *place else { continue };
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            *place = None;
            left -= 1;
        }
    }
}

const fn is_a_task<T: Send + Unpin + 'static>() {}
const _: () = is_a_task::<Synchronized>();
const _: () = is_a_task::<Transferred<f32>>();

#[test]
fn a_stream_and_its_events_are_awaited() {
    on_each("a_stream_and_its_events_are_awaited", |device| {
        let stream = device.stream().unwrap();
        let mut numbers = device.alloc::<u32>(1 << 20).unwrap();
        let done = block_on(async {
            stream.memset(&mut numbers, 1)?;
            stream.synchronize_async().await?;
            assert!(stream.is_done()?);
            stream.memset(&mut numbers, 2)?;
            let first = stream.record()?;
            stream.memset(&mut numbers, 3)?;
            let second = stream.record()?;
            // In any order, and more than once; the event may be gone meanwhile.
            let again = second.synchronize_async();
            second.synchronize_async().await?;
            drop(second);
            first.synchronize_async().await?;
            assert!(first.is_done()?);
            again.await?;
            device.default_stream().synchronize_async().await
        });
        done.unwrap();
        assert_eq!(numbers.to_vec().unwrap(), vec![0x0303_0303; 1 << 20]);
    });
}

#[test]
fn many_tasks_share_a_thread() {
    on_each("many_tasks_share_a_thread", |device| {
        let found = Arc::new(Mutex::new(Vec::new()));
        let task = |number: u8| -> Boxed {
            let (device, found) = (device.clone(), Arc::clone(&found));
            Box::pin(async move {
                let work = async {
                    let stream = device.stream()?;
                    let mut bytes = device.alloc::<u8>(10_000)?;
                    for round in 0..5 {
                        stream.memset(&mut bytes, number ^ round)?;
                        stream.synchronize_async().await?;
                    }
                    Result::Ok((number, bytes.to_vec()? == vec![number ^ 4; 10_000]))
                };
                let result = work.await;
                found.lock().unwrap().push(result.unwrap());
            })
        };
        run_all((0..50).map(task).collect());
        let mut found = std::mem::take(&mut *found.lock().unwrap());
        found.sort_unstable();
        assert_eq!(found, (0..50).map(|number| (number, true)).collect::<Vec<_>>());
    });
}

#[test]
fn a_transfer_is_awaited() {
    on_each("a_transfer_is_awaited", |device| {
        let stream = device.stream().unwrap();
        for len in [0, 1, 1000] {
            let mut pinned = device.pinned::<u16>(len).unwrap();
            pinned.iter_mut().zip(1..).for_each(|(to, number)| *to = number);
            let returned = block_on(async {
                let (pinned, buffer) = stream.upload(pinned, device.alloc(len)?)?.wait_async().await?;
                stream.download(buffer, pinned)?.wait_async().await
            });
            let (pinned, buffer) = returned.unwrap();
            assert_eq!(*pinned, (1..=len as u16).collect::<Vec<_>>());
            assert_eq!(buffer.to_vec().unwrap(), *pinned);
            // Never asked: dropping it waits, and frees both.
            drop(stream.upload(pinned, buffer).unwrap().wait_async());
        }
    });
}

#[test]
fn a_wait_cannot_be_captured() {
    on_each_launching("a_wait_cannot_be_captured", |device| {
        let stream = device.stream().unwrap();
        let event = stream.record().unwrap();
        let early = stream.synchronize_async();
        let mut early = Some(early);
        let refused = |wait: &mut dyn FnMut() -> Result<()>| {
            let captured = stream.capture(device.alloc::<u8>(1).unwrap(), |_, _| {
                assert!(matches!(wait(), Err(Error::NotCapturable { .. })));
                // It fails the capture even where nobody passes it on.
                Ok(())
            });
            assert!(matches!(captured, Err(Error::NotCapturable { what }) if what.starts_with("a wait")));
        };
        refused(&mut || block_on(stream.synchronize_async()));
        refused(&mut || block_on(event.synchronize_async()));
        // Made before, asked within.
        refused(&mut || block_on(early.take().unwrap()));
        // Made within and never asked.
        let captured = stream.capture((), |stream, ()| {
            drop(stream.synchronize_async());
            Ok(())
        });
        assert!(matches!(captured, Err(Error::NotCapturable { what: "a wait for a stream" })));
        // Another device's is none of the capture's business.
        stream.capture((), |_, ()| block_on(Device::cpu().default_stream().synchronize_async())).unwrap();
    });
}

/// In the simulator a wait that is over orders what comes after it, as `synchronize` does.
#[test]
fn an_awaited_stream_does_not_race() {
    on_each_launching("an_awaited_stream_does_not_race", |device| {
        let (a, b) = (device.stream().unwrap(), device.stream().unwrap());
        // SAFETY: each use below awaits the one before.
        let (a, b) = unsafe { (a.unordered(), b.unordered()) };
        let mut numbers = device.zeroed::<u32>(96).unwrap();
        fill_index(&a, numbers.view_mut(), 32).unwrap();
        block_on(a.synchronize_async()).unwrap();
        b.memset(&mut numbers, 1).unwrap();
        let end = b.record().unwrap();
        block_on(end.synchronize_async()).unwrap();
        a.memset(&mut numbers, 2).unwrap();
        block_on(a.synchronize_async()).unwrap();
        assert_eq!(numbers.to_vec().unwrap(), [0x0202_0202; 96]);
    });
}

#[cfg(all(feature = "cuda", target_os = "linux", target_pointer_width = "64"))]
#[test]
fn events_come_late() {
    for scenario in ["late", "many", "dropped", "other_waker", "frees", "panics", "fault", "lost", "refused"]
    {
        fake::run_with("waits", "with_events_that_come_late", scenario);
    }
}

/// Counts how often it wakes.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Count {
    fn wait_for(&self, count: usize) {
        while self.0.load(SeqCst) < count {
            thread::yield_now();
        }
    }
}

/// Wakes by something that may not happen where the driver calls.
struct Wakes<F: Fn() + Send + Sync>(F);

impl<F: Fn() + Send + Sync> Wake for Wakes<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

fn ask(future: &mut Synchronized, waker: &Waker) -> Poll<Result<()>> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

#[test]
#[ignore = "needs the driver that the test above makes"]
fn with_events_that_come_late() {
    let device = Device::cuda(0).unwrap();
    let stream = device.stream().unwrap();
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let streams_and_calls = || device.memory_info().unwrap();
    match std::env::var("FAKE_DRIVER").unwrap().as_str() {
        "late" => {
            for round in 1..=3 {
                let mut future = stream.synchronize_async();
                assert!(ask(&mut future, &waker).is_pending());
                assert!(ask(&mut future, &waker).is_pending(), "it has one bell, however often it is asked");
                // The driver is told that the event may come.
                device.synchronize().unwrap();
                count.wait_for(round);
                assert!(matches!(ask(&mut future, &waker), Poll::Ready(Ok(()))));
                assert!(matches!(ask(&mut future, &waker), Poll::Ready(Ok(()))), "and again");
                device.synchronize().unwrap();
                block_on(stream.record().unwrap().synchronize_async()).unwrap();
            }
            // The last call may not have returned yet.
            while streams_and_calls().1 < 6 {
                thread::yield_now();
            }
            // The program's own, and one for all waits, since each came after the one before.
            assert_eq!(streams_and_calls(), (2, 6));
            assert_eq!(Arc::strong_count(&count), 2, "no waker is left anywhere");
        }
        "many" => {
            let waits: Vec<_> = (0..20).map(|_| stream.synchronize_async()).collect();
            let tasks = waits.into_iter().map(|wait| Box::pin(async { wait.await.unwrap() }) as Boxed);
            run_all(tasks.collect());
            assert!(streams_and_calls().0 <= 21, "none waits behind another");
        }
        "dropped" => {
            let mut future = stream.synchronize_async();
            assert!(ask(&mut future, &waker).is_pending());
            drop(future);
            assert_eq!(Arc::strong_count(&count), 2, "the task is free at once");
            device.synchronize().unwrap();
            while streams_and_calls().1 == 0 {
                thread::yield_now();
            }
            assert_eq!(count.0.load(SeqCst), 0, "nobody is woken");
        }
        "other_waker" => {
            let mut future = stream.synchronize_async();
            let other = Arc::new(Count::default());
            assert!(ask(&mut future, &waker).is_pending());
            assert!(ask(&mut future, &Waker::from(Arc::clone(&other))).is_pending());
            device.synchronize().unwrap();
            other.wait_for(1);
            assert_eq!(count.0.load(SeqCst), 0, "the last one that asked is woken");
            assert_eq!(Arc::strong_count(&count), 2);
            assert!(matches!(ask(&mut future, &waker), Poll::Ready(Ok(()))));
        }
        "frees" => {
            // The executor is gone, so waking the task ends it, and frees its memory on the device.
            let (send, receive) = mpsc::channel();
            let ended = Arc::new(Count::default());
            let told = Arc::clone(&ended);
            let memory = device.alloc::<u8>(8).unwrap();
            let wait = stream.synchronize_async();
            let future: Boxed = Box::pin(async move {
                struct Tell(Arc<Count>);
                impl Drop for Tell {
                    fn drop(&mut self) {
                        self.0.0.fetch_add(1, SeqCst);
                    }
                }
                let (_tell, _memory) = (Tell(told), memory);
                wait.await.unwrap();
                unreachable!("nobody asks again");
            });
            let task = Arc::new(Task { future: Mutex::new(Some(future)), queue: send });
            let waker = Waker::from(Arc::clone(&task));
            let asked =
                task.future.lock().unwrap().as_mut().unwrap().as_mut().poll(&mut Context::from_waker(&waker));
            assert!(asked.is_pending());
            drop((waker, task, receive));
            ended.wait_for(1);
        }
        "panics" => {
            let panics = Waker::from(Arc::new(Wakes(|| panic!("of the waker"))));
            let mut future = stream.synchronize_async();
            assert!(ask(&mut future, &panics).is_pending());
            while streams_and_calls().1 == 0 {
                thread::yield_now();
            }
            block_on(stream.synchronize_async()).unwrap();
        }
        "fault" => {
            let failed = block_on(stream.synchronize_async()).unwrap_err();
            assert!(
                matches!(&failed, Error::Cuda(failure) if failure.sticky && failure.code == 700),
                "{failed:?}"
            );
            let after = block_on(stream.synchronize_async()).unwrap_err();
            assert!(matches!(after, Error::Poisoned { .. }), "{after:?}");
        }
        "lost" => {
            // The driver never calls; another thread finds the fault.
            let mut future = stream.synchronize_async();
            assert!(ask(&mut future, &waker).is_pending());
            assert!(matches!(stream.synchronize(), Err(Error::Cuda(failure)) if failure.sticky));
            count.wait_for(1);
            assert!(matches!(ask(&mut future, &waker), Poll::Ready(Err(Error::Poisoned { .. }))));
        }
        "refused" => {
            let refused = block_on(stream.synchronize_async()).unwrap_err();
            let call = |error: &Error| matches!(error, Error::Cuda(failure) if failure.call == "cuStreamAddCallback");
            assert!(call(&refused), "{refused:?}");
            assert!(
                call(&block_on(stream.synchronize_async()).unwrap_err()),
                "and the next, on the same stream"
            );
            assert_eq!(streams_and_calls(), (2, 0));
        }
        other => panic!("no scenario {other}"),
    }
}
