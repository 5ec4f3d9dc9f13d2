//! Graphs, in the simulator and on CUDA: what they do, what they hold, and what is refused.

mod common;

use common::{fill_index, on_each_launching};
use gpu_core::{Buffer, Device, Error, Resources, Result, Scratch, ScratchSize, Stream, Visitor};
use gpu_std::{launch::LaunchConfig, prelude::*};
use std::panic::{AssertUnwindSafe, catch_unwind};

type Memory = (Buffer<u32>, Buffer<u32>);

fn memory(device: &Device) -> Memory {
    (device.zeroed(64).unwrap(), device.zeroed(64).unwrap())
}

/// Indices, copied, with the first eight cleared.
fn work(stream: &Stream, (x, y): &mut Memory) -> Result<()> {
    fill_index(stream, x.view_mut(), 32)?;
    stream.copy(&mut *y, &*x)?;
    stream.memset(y.slice_mut(..8), 0)
}

fn expected() -> Vec<u32> {
    (0..64).map(|index| if index < 8 { 0 } else { index }).collect()
}

#[test]
fn nothing_is_done_before_a_launch_and_all_of_it_at_each() {
    on_each_launching("nothing_is_done_before_a_launch_and_all_of_it_at_each", |device| {
        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let mut graph = stream.capture(memory(device), work).unwrap();
        assert_eq!((graph.len(), graph.is_empty(), graph.stream()), (3, false, &stream));
        assert_eq!(graph.resources().1.to_vec().unwrap(), [0; 64], "nothing was done");
        for stream in [&stream, &stream, &other, &device.default_stream()] {
            graph.launch(stream).unwrap();
            assert_eq!(graph.resources().1.to_vec().unwrap(), expected());
            stream.memset(&mut graph.resources_mut().1, 1).unwrap();
        }
        let (x, y) = graph.into_resources();
        assert_eq!(x.to_vec().unwrap()[9], 9);
        assert_eq!(y.to_vec().unwrap(), [0x0101_0101; 64]);
        let mut empty = stream.capture((), |_, ()| Ok(())).unwrap();
        assert!(empty.is_empty());
        empty.launch(&stream).unwrap();
    });
}

#[test]
fn what_is_captured_has_no_cpu() {
    let captured = Device::cpu().default_stream().capture((), |_, ()| unreachable!("it is refused before"));
    assert!(matches!(captured, Err(Error::Unsupported { what: "graphs", .. })), "{captured:?}");
}

#[test]
fn it_is_updated_to_other_arguments_and_memory() {
    on_each_launching("it_is_updated_to_other_arguments_and_memory", |device| {
        let stream = device.stream().unwrap();
        let mut graph = stream.capture(memory(device), work).unwrap();
        graph.launch(&stream).unwrap();
        let bigger = |stream: &Stream, memory: &mut Memory| {
            fill_index(stream, memory.0.slice_mut(..40), 8)?;
            let (x, y) = memory;
            stream.copy(y.slice_mut(..16), x.slice(20..36))?;
            stream.memset(x.slice_mut(63..), 0xff)
        };
        graph.update(bigger).unwrap();
        stream.memset(&mut graph.resources_mut().0, 0).unwrap();
        graph.launch(&stream).unwrap();
        let (x, y) = graph.resources();
        let (x, y) = (x.to_vec().unwrap(), y.to_vec().unwrap());
        assert_eq!((x[39], x[40], x[63]), (39, 0, u32::MAX));
        assert_eq!(y, (20..36).chain(16..64).collect::<Vec<_>>());

        // Other memory in its place: refused until the use of it is captured.
        graph.resources_mut().1 = device.zeroed(64).unwrap();
        let refused = graph.launch(&stream).unwrap_err();
        assert!(matches!(refused, Error::GraphMemory { by: "a copy", write: true }), "{refused}");
        graph.update(work).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(graph.resources().1.to_vec().unwrap(), expected());

        // Other work: refused, and the graph is what it was.
        let refused = graph.update(|stream, (x, y)| {
            stream.memset(x, 1)?;
            stream.memset(y, 1)
        });
        let topology = Error::GraphTopology { at: 0, expected: "a kernel", actual: "a fill" };
        assert_eq!(refused.unwrap_err().to_string(), topology.to_string());
        let refused = graph.update(|stream, memory| {
            work(stream, memory)?;
            stream.memset(&mut memory.0, 1)
        });
        let topology = Error::GraphTopology { at: 3, expected: "nothing", actual: "a fill" };
        assert_eq!(refused.unwrap_err().to_string(), topology.to_string());
        stream.memset(&mut graph.resources_mut().1, 7).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(graph.resources().1.to_vec().unwrap(), expected());
    });
}

#[test]
fn what_cannot_be_captured_is_refused_and_fails_the_capture() {
    on_each_launching("what_cannot_be_captured_is_refused_and_fails_the_capture", |device| {
        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let event = other.record().unwrap();
        let (pinned, outside) = (device.pinned::<u32>(64).unwrap(), device.zeroed::<u32>(64).unwrap());
        let mut cut = stream.capture(memory(device), work).unwrap();
        let mut parts = Some((pinned, outside));
        type Attempt<'a> = (&'static str, Box<dyn FnMut(&Stream, &mut Memory) -> Result<()> + 'a>);
        let attempts: Vec<Attempt<'_>> = vec![
            ("an allocation", Box::new(|_, _| device.alloc::<u8>(1).map(drop))),
            ("an allocation", Box::new(|_, _| device.zeroed::<u8>(1).map(drop))),
            ("an allocation", Box::new(|_, _| device.upload(&[1]).map(drop))),
            ("an allocation of pinned memory", Box::new(|_, _| device.pinned::<u8>(1).map(drop))),
            ("a copy to the host", Box::new(|_, (x, _)| x.to_vec().map(drop))),
            ("a copy to the host", Box::new(|_, (x, _)| x.copy_to(&mut [0; 64]))),
            ("a copy from the host", Box::new(|_, (x, _)| x.copy_from(&[0; 64]))),
            ("a wait for a stream", Box::new(|stream, _| stream.synchronize())),
            ("a wait for a stream", Box::new(|_, _| other.synchronize())),
            ("a question to a stream", Box::new(|stream, _| stream.is_done().map(drop))),
            ("a wait for the device", Box::new(|_, _| device.synchronize())),
            ("an event", Box::new(|stream, _| stream.record().map(drop))),
            ("a wait for an event", Box::new(|stream, _| stream.wait(&event))),
            ("a wait for an event", Box::new(|_, _| event.synchronize())),
            ("a question to an event", Box::new(|_, _| event.is_done().map(drop))),
            ("work on another stream", Box::new(|_, (x, _)| other.memset(x, 1))),
            ("work on another stream", Box::new(|_, (x, _)| fill_index(&other, x.view_mut(), 32))),
            (
                "a capture within a capture",
                Box::new(|stream, _| stream.capture((), |_, ()| Ok(())).map(drop)),
            ),
            ("a capture within a capture", Box::new(|_, _| other.capture((), |_, ()| Ok(())).map(drop))),
            ("a graph's launch", Box::new(|stream, _| cut.launch(stream))),
            (
                "a transfer of pinned memory",
                Box::new(|stream, _| {
                    let Some((pinned, buffer)) = parts.take() else { return Ok(()) };
                    let refused = stream.upload(pinned, buffer).map(drop).unwrap_err();
                    parts = Some((refused.pinned, refused.buffer));
                    Err(refused.error)
                }),
            ),
            ("a thing", Box::new(|stream, _| stream.refuse_capture("a thing"))),
        ];
        for (what, mut attempt) in attempts {
            let is_named =
                |error: &Error| matches!(error, Error::NotCapturable { what: named } if *named == what);
            let refused = stream.capture(memory(device), &mut attempt).unwrap_err();
            assert!(is_named(&refused), "{what}: {refused}");
            // Also where nobody takes notice, and whatever is captured beside it.
            let refused = stream.capture(memory(device), |stream, memory| {
                work(stream, memory)?;
                let error = attempt(stream, memory).expect_err(what);
                assert!(is_named(&error), "{what}: {error}");
                work(stream, memory)
            });
            assert!(is_named(&refused.unwrap_err()), "{what}");
            // The stream is usable afterwards, and nothing was done.
            let mut after = memory(device);
            work(&stream, &mut after).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(after.1.to_vec().unwrap(), expected(), "{what}");
        }
        drop(event);
        assert!(parts.is_some());
    });
}

#[test]
fn a_capture_ends_where_its_closure_fails_or_panics() {
    on_each_launching("a_capture_ends_where_its_closure_fails_or_panics", |device| {
        let stream = device.stream().unwrap();
        let mut lent = memory(device);
        let failed = stream.capture(&mut lent, |stream, memory| {
            work(stream, memory)?;
            Err(Error::Empty { what: "test" })
        });
        assert!(matches!(failed, Err(Error::Empty { what: "test" })), "{failed:?}");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _ = stream.capture(&mut lent, |stream, memory| {
                work(stream, memory)?;
                panic!("of the test")
            });
        }));
        assert!(panicked.is_err());
        assert_eq!(lent.1.to_vec().unwrap(), [0; 64], "nothing was done");
        work(&stream, &mut lent).unwrap();
        assert_eq!(lent.1.to_vec().unwrap(), expected(), "nor is it recorded");
        // What is wrong with a launch is said where it is made.
        let none = stream.capture(&mut lent, |stream, (x, _)| fill_index(stream, x.slice_mut(..0), 32));
        assert!(matches!(none, Err(Error::EmptyLaunch { .. })), "{none:?}");
        stream.capture(&mut lent, |stream, memory| work(stream, memory)).unwrap().launch(&stream).unwrap();
    });
}

#[test]
fn a_graph_uses_no_memory_that_it_does_not_hold() {
    on_each_launching("a_graph_uses_no_memory_that_it_does_not_hold", |device| {
        let stream = device.stream().unwrap();
        let expect = |captured: Result<()>, by: &str, write: bool| match captured {
            Err(Error::GraphMemory { by: actual, write: writes }) => {
                assert_eq!((actual, writes), (by, write))
            }
            other => panic!("{other:?}"),
        };
        let (mut x, mut y) = memory(device);
        let (outside, ours) = (&mut x, &mut y);
        expect(stream.capture((), |s, ()| s.memset(&mut *outside, 1)).map(drop), "a fill", true);
        expect(stream.capture(&mut *ours, |s, y| s.copy(&mut **y, &*outside)).map(drop), "a copy", false);
        let fill = |s: &Stream, _: &mut ()| fill_index(s, outside.view_mut(), 32);
        expect(stream.capture((), fill).map(drop), "fill_index", true);
        // Lent to be read it is not written, however it is lent.
        let shared = std::sync::Arc::new((x, y));
        let reads = |s: &Stream, z: &mut Buffer<u32>| s.copy(z, &shared.0);
        let z = || device.zeroed::<u32>(64).unwrap();
        expect(stream.capture(z(), reads).map(drop), "a copy", false);
        let mut graph = stream.capture((z(), shared.clone()), |s, (z, shared)| s.copy(z, &shared.0)).unwrap();
        graph.launch(&stream).unwrap();
        drop(graph);
        let (mut x, y) = std::sync::Arc::into_inner(shared).unwrap();
        let writes = stream.capture(NotWritten(&mut x), |s, x| s.memset(&mut *x.0, 1));
        expect(writes.map(drop), "a fill", true);
        // Memory that was freed in the closure, perhaps with others' at the same address.
        let freed = stream.capture(Some(y), |s, y| {
            s.memset(y.as_mut().unwrap(), 1)?;
            *y = std::thread::scope(|scope| {
                drop(y.take());
                scope.spawn(|| device.zeroed(64).ok()).join().unwrap()
            });
            Ok(())
        });
        expect(freed.map(drop), "a fill", true);
        // Nor memory that was not there when the capture began, so that what is freed meanwhile cannot come back as
        // another's.
        let new = stream.capture(None, |s, y| {
            std::thread::scope(|scope| {
                *y = scope.spawn(|| device.zeroed::<u32>(64).ok()).join().unwrap();
            });
            s.memset(y.as_mut().unwrap(), 1)
        });
        expect(new.map(drop), "a fill", true);
        // The same once it is captured.
        let mut graph = stream.capture(Some(z()), |s, z| s.memset(z.as_mut().unwrap(), 1)).unwrap();
        let taken = graph.resources_mut().take();
        expect(graph.launch(&stream), "a fill", true);
        *graph.resources_mut() = taken;
        graph.launch(&stream).unwrap();
        let kept = graph.resources_mut().take();
        drop(kept);
        *graph.resources_mut() = Some(z());
        expect(graph.launch(&stream), "a fill", true);
    });
}

/// Names its buffer as one that is only read.
struct NotWritten<'a>(&'a mut Buffer<u32>);

// SAFETY: it names less than it has.
unsafe impl Resources for NotWritten<'_> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.shared(&self.0);
    }
}

#[test]
fn other_devices_and_threads_are_not_captured() {
    on_each_launching("other_devices_and_threads_are_not_captured", |device| {
        let (stream, cpu) = (device.stream().unwrap(), Device::cpu());
        let elsewhere = Device::simulator();
        let (x, y) = memory(device);
        let mut graph = stream
            .capture(x, |s, x| {
                assert_eq!(cpu.upload(&[1, 2])?.to_vec()?, [1, 2]);
                let mut there = elsewhere.upload(&[1, 2])?;
                elsewhere.default_stream().memset(&mut there, 0)?;
                elsewhere.synchronize()?;
                assert_eq!(there.to_vec()?, [0, 0]);
                // Another thread on the same stream goes on as ever.
                std::thread::scope(|scope| {
                    let done = scope.spawn(|| {
                        let mut z = device.zeroed::<u32>(64)?;
                        s.copy(&mut z, &y)?;
                        s.memset(&mut z, 1)?;
                        s.synchronize()?;
                        z.to_vec()
                    });
                    assert_eq!(done.join().unwrap()?, [0x0101_0101; 64]);
                    Ok::<(), Error>(())
                })?;
                s.memset(x, 2)
            })
            .unwrap();
        assert_eq!(graph.len(), 1);
        assert!(matches!(graph.launch(&elsewhere.default_stream()), Err(Error::WrongDevice { .. })));
        std::thread::scope(|scope| scope.spawn(|| graph.launch(&stream)).join().unwrap()).unwrap();
        assert_eq!(graph.resources().to_vec().unwrap(), [0x0202_0202; 64]);
    });
}

/// Adds one to each word of scratch memory, and keeps what it was.
#[kernel]
fn count(words: GlobalMut<u64>, seen: GlobalMut<u64>) {
    let i = thread::index_1d();
    seen.write(i, words.read(i));
    words.write(i, words.read(i) + 1);
}

/// Has no PTX, so it is the simulator's alone; gpu-tests captures primitives with scratch memory on every device.
#[test]
fn scratch_memory_is_cleared_at_each_launch() {
    let device = Device::simulator();
    let stream = device.stream().unwrap();
    let size = ScratchSize::new().own_tickets(8);
    let call = |stream: &Stream, seen: &mut Buffer<u64>, scratch: &mut Scratch| {
        scratch.lend("test", size, |parts| {
            // SAFETY: the scratch memory has eight words, and so has the buffer.
            unsafe { stream.launch::<count>(LaunchConfig::linear(1, 8), (parts.tickets, seen)) }
        })
    };
    let scratch = Scratch::with_size(&stream, size).unwrap();
    let mut graph = stream
        .capture((device.zeroed::<u64>(8).unwrap(), scratch), |stream, (seen, scratch)| {
            call(stream, seen, scratch)?;
            call(stream, seen, scratch)
        })
        .unwrap();
    assert_eq!(graph.len(), 3, "it is cleared once");
    for _ in 0..3 {
        graph.launch(&stream).unwrap();
        assert_eq!(graph.resources().0.to_vec().unwrap(), [1; 8], "left by the first to the second");
        // A call beside it does not take what launches have left for known.
        let (seen, scratch) = graph.resources_mut();
        call(&stream, seen, scratch).unwrap();
        assert_eq!(seen.to_vec().unwrap(), [0; 8]);
    }
    // What only a capture would have cleared is cleared by the next call.
    let (mut seen, mut scratch) = graph.into_resources();
    let refused = stream.capture((&mut seen, &mut scratch), |stream, (seen, scratch)| {
        call(stream, seen, scratch)?;
        stream.synchronize()
    });
    assert!(refused.is_err());
    drop(refused);
    call(&stream, &mut seen, &mut scratch).unwrap();
    assert_eq!(seen.to_vec().unwrap(), [0; 8]);
    // Scratch memory that has to grow is refused.
    let small = Scratch::new(&stream);
    let refused = stream.capture((seen, small), |stream, (seen, small)| call(stream, seen, small));
    assert!(matches!(refused, Err(Error::NotCapturable { what: "an allocation" })), "{refused:?}");
}
