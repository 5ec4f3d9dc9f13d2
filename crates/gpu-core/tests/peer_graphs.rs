//! Graphs with copies between devices: two simulators, and two GPUs where there are as many.

mod common;
// As cuda-shim makes its own.
#[cfg(feature = "cuda")]
#[path = "../../cuda-shim/tests/fake/mod.rs"]
mod fake;

use common::{fill_index, on_each_pair};
use gpu_core::{Device, Error};

#[test]
fn copies_are_sent_and_fetched_by_each_launch() {
    on_each_pair("copies_are_sent_and_fetched_by_each_launch", |near, far| {
        let stream = near.stream().unwrap();
        let x = near.upload(&[1_u32, 2, 3, 4]).unwrap();
        let y = far.zeroed::<u32>(6).unwrap();
        let z = near.zeroed::<u32>(3).unwrap();
        let mut graph = stream
            .capture((x, y, z), |stream, (x, y, z)| {
                stream.copy_peer(y.slice_mut(1..4), x.slice(1..))?;
                stream.copy_peer(z.view_mut(), y.slice(2..5))
            })
            .unwrap();
        assert_eq!(graph.len(), 2);
        assert_eq!(graph.resources().1.to_vec().unwrap(), [0; 6], "nothing is done before a launch");
        graph.launch(&stream).unwrap();
        assert_eq!(graph.resources().1.to_vec().unwrap(), [0, 2, 3, 4, 0, 0]);
        assert_eq!(graph.resources().2.to_vec().unwrap(), [3, 4, 0]);
        // Other values, from either side, and another stream of the device.
        graph.resources_mut().0.copy_from(&[5, 6, 7, 8]).unwrap();
        graph.resources_mut().1.copy_from(&[9; 6]).unwrap();
        graph.launch(&near.default_stream()).unwrap();
        assert_eq!(graph.resources().2.to_vec().unwrap(), [7, 8, 9]);
        // Other places of the same buffers.
        graph
            .update(|stream, (x, y, z)| {
                stream.copy_peer(y.slice_mut(..2), x.slice(..2))?;
                stream.copy_peer(z.view_mut(), y.slice(..3))
            })
            .unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(graph.into_resources().2.to_vec().unwrap(), [5, 6, 7]);
    });
}

#[test]
fn launches_are_ordered_with_the_streams_of_both_devices() {
    on_each_pair("launches_are_ordered_with_the_streams_of_both_devices", |near, far| {
        const LEN: usize = 50_000;
        let (here, there) = (near.stream().unwrap(), far.stream().unwrap());
        let held = (near.zeroed::<u32>(LEN).unwrap(), far.zeroed::<u32>(LEN).unwrap());
        let mut graph =
            here.capture(held, |stream, (x, y)| stream.copy_peer(y.view_mut(), x.view())).unwrap();
        let other = near.stream().unwrap();
        let mut back = near.zeroed::<u32>(LEN).unwrap();
        for round in 0..20 {
            // Written by another stream of the source's device ...
            let x = &mut graph.resources_mut().0;
            if round % 2 == 0 {
                fill_index(&other, x.view_mut(), 128).unwrap();
            } else {
                other.memset(x, round).unwrap();
            }
            // ... and the target by one of its own.
            there.memset(&mut graph.resources_mut().1, 0xEE).unwrap();
            graph.launch(&here).unwrap();
            there.copy_peer(&mut back, &graph.resources().1).unwrap();
            let expected: Vec<u32> = match round % 2 {
                0 => (0..LEN as u32).collect(),
                _ => vec![u32::from_ne_bytes([round; 4]); LEN],
            };
            assert!(back.to_vec().unwrap() == expected, "round {round}");
        }
        // What the graph held is freed behind its work.
        graph.launch(&here).unwrap();
        drop(graph);
        here.synchronize().unwrap();
    });
}

#[test]
fn what_the_graph_does_not_hold_is_refused() {
    on_each_pair("what_the_graph_does_not_hold_is_refused", |near, far| {
        let (here, there) = (near.stream().unwrap(), far.stream().unwrap());
        let x = near.upload(&[1_u32; 4]).unwrap();
        let mut y = far.zeroed::<u32>(4).unwrap();
        let by = "a copy between devices";
        // The target is lent to nobody, then to be read.
        let refused = here.capture(&x, |stream, x| stream.copy_peer(y.view_mut(), x.view()));
        assert!(matches!(refused, Err(Error::GraphMemory { by: found, write: true }) if found == by));
        let refused = there.capture(&mut y, |stream, y| stream.copy_peer(y.view_mut(), x.view()));
        assert!(matches!(refused, Err(Error::GraphMemory { by: found, write: false }) if found == by));
        // Memory of the right address on the wrong device is not it.
        let twin = near.zeroed::<u32>(4).unwrap();
        let refused = here.capture((&x, twin), |stream, (x, _)| stream.copy_peer(y.view_mut(), x.view()));
        assert!(matches!(refused, Err(Error::GraphMemory { by: found, write: true }) if found == by));
        // Replaced behind the capture.
        let mut graph = here
            .capture((&x, far.zeroed(4).unwrap()), |stream, (x, y)| stream.copy_peer(y.view_mut(), x.view()))
            .unwrap();
        graph.launch(&here).unwrap();
        graph.resources_mut().1 = far.zeroed(4).unwrap();
        let refused = graph.launch(&here);
        assert!(matches!(refused, Err(Error::GraphMemory { by: found, write: true }) if found == by));
        graph.update(|stream, (x, y)| stream.copy_peer(y.view_mut(), x.view())).unwrap();
        graph.launch(&here).unwrap();
        assert_eq!(graph.resources().1.to_vec().unwrap(), [1; 4]);
        // It is launched on the device that it was captured on.
        let refused = graph.launch(&there);
        assert!(matches!(refused, Err(Error::WrongDevice { what: "graph", .. })));
        // Nothing but copies is done on the other device.
        let refused = graph.update(|stream, (_, y)| stream.memset(y, 1));
        assert!(matches!(refused, Err(Error::WrongDevice { .. })));
        let refused = graph.update(|_, _| Ok(()));
        assert!(
            matches!(refused, Err(Error::GraphTopology { at: 0, expected, actual: "nothing" }) if expected == by)
        );
        graph.launch(&here).unwrap();
        drop(graph);
        // Lengths and kinds are refused as ever, and fail the capture where they are passed on.
        let refused =
            here.capture((&x, &mut y), |stream, (x, y)| stream.copy_peer(y.slice_mut(..2), x.view()));
        assert!(matches!(refused, Err(Error::LengthMismatch { expected: 2, actual: 4, .. })));
        let mut host = [0_u32; 4];
        let refused = here.capture(&x, |stream, x| stream.copy_peer(&mut host, x.view()));
        assert!(matches!(refused, Err(Error::NotPeers { .. })));
        // Nothing is no work.
        let graph =
            here.capture((&x, &mut y), |stream, (x, y)| stream.copy_peer(y.slice_mut(..0), x.slice(..0)));
        assert!(graph.unwrap().is_empty());
    });
}

#[cfg(all(feature = "cuda", target_os = "linux", target_pointer_width = "64"))]
#[test]
fn one_launch_is_one_work_of_both_devices() {
    for scenario in ["near", "far"] {
        fake::run_with("peers", "counts_events_of_graphs", scenario);
    }
}

#[test]
#[ignore = "needs the driver that the test above makes"]
fn counts_events_of_graphs() {
    let [near, far] = [0, 1].map(|number| Device::cuda(number).unwrap());
    let mut before = (0, 0);
    let mut count = |records: u64, waits: u64, what: &str| {
        let now = near.memory_info().unwrap();
        assert_eq!((now.0 - before.0, now.1 - before.1), (records, waits), "events and waits: {what}");
        before = now;
    };
    let total = || near.properties().unwrap().total_memory;
    // Of devices that reach each other and are connected once, by both contexts and pools.
    let connected = if std::env::var("FAKE_DRIVER").unwrap() == "near" { 2_002 } else { 0 };
    let (a, b) = (near.stream().unwrap(), far.stream().unwrap());
    let held = (near.upload(&[1_u32; 64]).unwrap(), far.upload(&[2_u32; 64]).unwrap());
    let mut graph = a
        .capture(held, |stream, (x, y)| {
            stream.copy_peer(y.slice_mut(..32), x.slice(..32))?;
            stream.copy_peer(y.slice_mut(32..), x.slice(32..))
        })
        .unwrap();
    assert_eq!(total(), connected, "connected before the capture, and nothing copied");
    count(0, 0, "nothing is enqueued");
    b.memset(&mut graph.resources_mut().1, 1).unwrap();
    count(0, 0, "each device has one stream");
    graph.launch(&a).unwrap();
    assert_eq!(total(), 2_000_000 + connected);
    count(2, 2, "the stream there has used the target, as has the default stream");
    graph.launch(&a).unwrap();
    count(0, 0, "nothing in between");
    b.memset(&mut graph.resources_mut().1, 1).unwrap();
    count(1, 1, "the graph");
    a.memset(&mut graph.resources_mut().0, 1).unwrap();
    count(0, 0, "its own stream");
    graph
        .update(|stream, (x, y)| {
            stream.copy_peer(x.slice_mut(..32), y.slice(..32))?;
            stream.copy_peer(y.slice_mut(32..), x.slice(32..))
        })
        .unwrap();
    graph.launch(&a).unwrap();
    assert_eq!(total(), 6_000_000 + connected);
    count(1, 1, "the fill there");
    // SAFETY: nothing runs here.
    let free = unsafe { a.unordered() };
    b.memset(&mut graph.resources_mut().1, 1).unwrap();
    count(1, 1, "the graph");
    graph.launch(&free).unwrap();
    count(0, 0, "the caller orders");
}
