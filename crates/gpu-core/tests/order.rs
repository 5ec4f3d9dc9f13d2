//! What the order between streams costs: events and waits, counted by a driver that was made for these tests.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod common;
// As cuda-shim makes its own.
#[path = "../../cuda-shim/tests/fake/mod.rs"]
mod fake;

use common::fill_index;
use gpu_core::texture::{Descriptor, Texture};
use gpu_core::{Buffer, Device, Error, Stream};

#[test]
fn events_are_recorded_where_streams_change() {
    for scenario in [
        "one",
        "switch",
        "readers",
        "launches",
        "views",
        "unordered",
        "by_hand",
        "dropped",
        "foreign",
        "pools",
        "no_pools",
        "textures",
        "threads",
        "graphs",
    ] {
        fake::run_with("streams", "counts_events", scenario);
    }
}

/// Events recorded and waits enqueued since the last call.
struct Count<'a>(&'a Device, (u64, u64));

impl Count<'_> {
    #[track_caller]
    fn expect(&mut self, records: u64, waits: u64, what: &str) {
        let now = self.0.memory_info().unwrap();
        assert_eq!((now.0 - self.1.0, now.1 - self.1.1), (records, waits), "events and waits: {what}");
        self.1 = now;
    }
}

fn write(stream: &Stream, buffer: &mut Buffer<u32>) {
    stream.memset(buffer, 1).unwrap();
}

#[test]
#[ignore = "needs the driver that the test above makes"]
fn counts_events() {
    let device = Device::cuda(0).unwrap();
    let mut count = Count(&device, (0, 0));
    let mut x = device.upload(&[1_u32; 64]).unwrap();
    let mut y = device.zeroed::<u32>(64).unwrap();
    let (a, b, c) = (device.stream().unwrap(), device.stream().unwrap(), device.stream().unwrap());
    match std::env::var("FAKE_DRIVER").unwrap().as_str() {
        "one" => {
            for _ in 0..3 {
                write(&a, &mut x);
                a.copy(&mut y, &x).unwrap();
                fill_index(&a, x.view_mut(), 32).unwrap();
                // The driver orders the default stream with those that are blocking.
                write(&device.default_stream(), &mut x);
                x.copy_from(&[2; 64]).unwrap();
            }
            count.expect(0, 0, "one stream, and the default stream");
        }
        "switch" => {
            write(&a, &mut x);
            count.expect(0, 0, "the first");
            write(&b, &mut x);
            count.expect(1, 1, "the switch");
            write(&b, &mut x);
            count.expect(0, 0, "again on the second");
            write(&b, &mut y);
            count.expect(0, 0, "the first stream's work until the switch has been waited for");
            write(&a, &mut x);
            count.expect(1, 1, "and back");
            let mut new = device.alloc(64).unwrap();
            write(&c, &mut new);
            count.expect(0, 0, "memory that no stream has used");
            c.copy(&mut new, &x).unwrap();
            count.expect(1, 1, "what another has written");
            c.copy(&mut new, &y).unwrap();
            count.expect(0, 0, "what that one had waited for");
        }
        "readers" => {
            write(&a, &mut x);
            write(&b, &mut y);
            count.expect(1, 1, "the switch");
            let (mut of_b, mut of_c) = (device.alloc(64).unwrap(), device.alloc(64).unwrap());
            b.copy(&mut of_b, &x).unwrap();
            count.expect(0, 0, "what had been waited for");
            c.copy(&mut of_c, &x).unwrap();
            count.expect(0, 1, "an event of the right place is there");
            for _ in 0..2 {
                b.copy(&mut of_b, &x).unwrap();
                c.copy(&mut of_c, &x).unwrap();
                a.copy(&mut y, &x).unwrap();
            }
            count.expect(1, 1, "reads do not wait for each other; `y` had been written by the second");
            write(&a, &mut x);
            count.expect(2, 2, "a write waits for both readers");
            write(&a, &mut x);
            count.expect(0, 0, "once");
        }
        "launches" => {
            write(&a, &mut x);
            fill_index(&b, x.view_mut(), 32).unwrap();
            count.expect(1, 1, "the kernel's argument is the buffer");
            fill_index(&b, x.view_mut(), 32).unwrap();
            count.expect(0, 0, "again");
            write(&a, &mut x);
            count.expect(1, 1, "what a kernel wrote");
        }
        "views" => {
            write(&a, &mut x);
            write(&b, &mut y);
            count.expect(1, 1, "the switch");
            fill_index(&a, x.slice_mut(32..), 32).unwrap();
            b.memset(x.slice_mut(63..), 0).unwrap();
            count.expect(1, 1, "a part is of the whole");
            b.memset(x.slice_mut(64..), 0).unwrap();
            a.memset(y.slice_mut(..0), 0).unwrap();
            count.expect(0, 0, "nothing is used");
        }
        "unordered" => {
            write(&a, &mut x);
            write(&b, &mut y);
            count.expect(1, 1, "the switch");
            // SAFETY: nothing runs here.
            let free = unsafe { c.unordered() };
            write(&free, &mut x);
            fill_index(&free, y.view_mut(), 32).unwrap();
            count.expect(0, 0, "the caller orders");
            assert!(free != c && free.device() == c.device());
        }
        "by_hand" => {
            write(&a, &mut x);
            write(&b, &mut y);
            count.expect(1, 1, "the switch");
            write(&a, &mut x);
            b.wait(&a.record().unwrap()).unwrap();
            count.expect(1, 1, "the program's own");
            write(&b, &mut x);
            count.expect(0, 0, "which is enough");
            c.wait(&b.record().unwrap()).unwrap();
            count.expect(1, 1, "the program's own");
            write(&c, &mut x);
            write(&c, &mut y);
            count.expect(0, 0, "and what that had waited for");
        }
        "dropped" => {
            write(&a, &mut x);
            drop(a);
            count.expect(1, 0, "its end is marked");
            write(&b, &mut x);
            count.expect(0, 1, "and waited for");
            drop(c);
            count.expect(0, 0, "one without work has no end");
            write(&b, &mut y);
            count.expect(0, 0, "that was all of its work");
        }
        "foreign" => {
            let handle = gpu_core::interop::raw_stream(&c).unwrap();
            write(&device.default_stream(), &mut x);
            // SAFETY: the stream outlives it.
            let foreign = unsafe { gpu_core::interop::stream_from_raw(&device, handle) }.unwrap();
            count.expect(0, 0, "nothing yet");
            write(&foreign, &mut x);
            count.expect(1, 1, "what the default stream did was not noted");
            write(&device.default_stream(), &mut x);
            count.expect(1, 1, "the default stream is not ordered with it");
            x.copy_from(&[2; 64]).unwrap();
            count.expect(0, 0, "once");
            write(&foreign, &mut x);
            count.expect(1, 1, "nor it with the default stream");
            x.to_vec().expect_err("there is no such function in this driver");
        }
        "graphs" => {
            write(&a, &mut x);
            write(&b, &mut y);
            count.expect(1, 1, "the switch");
            write(&b, &mut x);
            let z = device.alloc::<u32>(64).unwrap();
            count.expect(0, 0, "not yet");
            let work = |c: &Stream, (x, y, z): &mut (Buffer<u32>, &Buffer<u32>, Buffer<u32>)| {
                c.copy(x, *y)?;
                fill_index(c, z.view_mut(), 32)?;
                c.memset(z, 1)
            };
            let mut graph = c.capture((x, &y, z), work).unwrap();
            count.expect(0, 0, "nothing is enqueued by a capture");
            graph.launch(&c).unwrap();
            count.expect(1, 1, "the second stream's work, which had waited for the first's");
            graph.launch(&c).unwrap();
            count.expect(0, 0, "again");
            let mut of_b = device.alloc(64).unwrap();
            b.copy(&mut of_b, &y).unwrap();
            count.expect(0, 0, "reads do not wait for each other");
            b.copy(&mut of_b, &graph.resources().0).unwrap();
            count.expect(1, 1, "what the graph has written");
            graph.launch(&a).unwrap();
            count.expect(
                1,
                2,
                "the last read of what it writes; the graph's own launch before has an event already",
            );
            graph.update(work).unwrap();
            // The driver refuses, so the graph is another; where the old one ends is marked, and not waited for.
            count.expect(1, 0, "the old one's end");
            graph.launch(&a).unwrap();
            count.expect(0, 0, "again");
            let (x, _, z) = graph.into_resources();
            count.expect(1, 0, "the end");
            drop((x, z));
            count.expect(0, 0, "the default stream is ordered with it");
            write(&b, &mut y);
            count.expect(1, 1, "what the graph has read");
        }
        "threads" => {
            // Two threads, each with a stream, hand buffers to each other: however they come, no use of a buffer after
            // the other's may be without a wait.
            let (there, back) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
            let rounds = 1000;
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let (receive, send) = (there.1, back.0);
                    for mut buffer in receive {
                        write(&b, &mut buffer);
                        send.send(buffer).unwrap();
                    }
                });
                let (send, receive) = (there.0, back.1);
                let mut buffer = x;
                for _ in 0..rounds {
                    write(&a, &mut y);
                    write(&a, &mut buffer);
                    send.send(buffer).unwrap();
                    write(&a, &mut y);
                    buffer = receive.recv().unwrap();
                }
                drop(send);
            });
            // Each round trip is two handovers, but for the first.
            count.expect(2 * rounds - 1, 2 * rounds - 1, "handovers");
        }
        "pools" | "no_pools" => {
            let total = || device.properties().unwrap().total_memory;
            let before = total();
            write(&a, &mut x);
            write(&b, &mut x);
            drop(x);
            drop(device.zeroed::<u64>(3).unwrap());
            // Two allocations were there before; each drop waits for the device only where there are no pools.
            assert_eq!(before, 2000);
            assert_eq!(total(), if device.properties().unwrap().memory_pools { 1000 } else { 1002 });
        }
        "textures" => {
            let new = || Texture::new(&device, &[4], 1, Descriptor::default(), &[1.0_f32; 4]);
            let state = || {
                let total = device.properties().unwrap().total_memory;
                (total / 1000 - 2, total % 1000)
            };
            write(&a, &mut x);
            let first = new().unwrap();
            drop(first);
            count.expect(1, 0, "the end of all blocking streams' work");
            assert_eq!(state(), (1, 0), "arrays, and waits of the host: it may still be read");
            let second = new().unwrap();
            assert_eq!(state(), (2, 0), "and still");
            let third = new().unwrap();
            assert_eq!(state(), (2, 1), "there is no room for three: the first one's end is waited for");
            assert!(matches!(new(), Err(Error::OutOfMemory { .. })));
            assert_eq!(state(), (2, 1), "nobody dropped any");
            drop(second);
            count.expect(1, 0, "its end");
            device.synchronize().unwrap();
            assert_eq!(state(), (1, 2), "it has come");
            let handle = gpu_core::interop::raw_stream(&c).unwrap();
            // SAFETY: the stream outlives it.
            let foreign = unsafe { gpu_core::interop::stream_from_raw(&device, handle) }.unwrap();
            drop(third);
            count.expect(2, 0, "the default stream is not behind those that are not blocking");
            drop(foreign);
            c.record().unwrap().synchronize().unwrap();
            let _fourth = new().unwrap();
            assert_eq!(state(), (1, 3), "the third is gone once there is a fourth");
        }
        other => panic!("no scenario {other}"),
    }
}
