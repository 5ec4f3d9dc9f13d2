//! Waits for events of another device: two simulators, and two GPUs where there are as many.

mod common;
// As cuda-shim makes its own.
#[cfg(feature = "cuda")]
#[path = "../../cuda-shim/tests/fake/mod.rs"]
mod fake;

use common::{on_each_pair, store_late};
use gpu_core::{Device, Error, Result, Stream};
use gpu_sim::FaultKind;

/// A stream of a simulator that the program orders by itself.
fn free(device: &Device) -> Stream {
    // SAFETY: in the simulator work is done at once, and what is not ordered is found.
    unsafe { device.stream().unwrap().unordered() }
}

#[track_caller]
fn races(result: Result<()>) {
    match result {
        Err(Error::Simulator(fault)) if matches!(fault.kind, FaultKind::Race { .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stream_waits_for_another_devices_event() {
    on_each_pair("a_stream_waits_for_another_devices_event", |near, far| {
        // The wait is all that orders the copy behind the store: the copier's handle orders nothing.
        for (waiter, default) in [(near, false), (near, true), (far, false)] {
            let there = far.stream().unwrap();
            let here = if default { waiter.default_stream() } else { waiter.stream().unwrap() };
            let mut value = far.zeroed::<u32>(1).unwrap();
            let mut fetched = near.zeroed::<u32>(1).unwrap();
            // The copier does not wait for the zeros either.
            near.synchronize().unwrap();
            store_late(&there, value.view_mut(), 20_000_000, 7).unwrap();
            here.wait(&there.record().unwrap()).unwrap();
            // SAFETY: the store comes before by the wait, and both buffers are read after a synchronisation.
            let copier = unsafe { here.unordered() };
            copier.copy_peer(&mut fetched, &value).unwrap();
            here.synchronize().unwrap();
            assert_eq!(fetched.to_vec().unwrap(), [7]);
            // Who waits for the waiter has waited for the other device too.
            assert!(there.is_done().unwrap());
        }
    });
}

#[test]
fn devices_of_other_kinds_are_refused() {
    let (cpu, simulator) = (Device::cpu(), Device::simulator());
    // Two handles of the CPU are one device.
    cpu.stream().unwrap().wait(&Device::cpu().stream().unwrap().record().unwrap()).unwrap();
    for (stream, event) in [(&cpu, &simulator), (&simulator, &cpu)] {
        let refused = stream.stream().unwrap().wait(&event.stream().unwrap().record().unwrap());
        match refused {
            Err(Error::WrongDevice { what: "event to wait for", expected, actual }) => {
                assert_eq!((expected, actual), (stream.to_string(), event.to_string()));
            }
            other => panic!("{other:?}"),
        }
    }
    // Times are of one device's clock.
    let (near, far) = (Device::simulator(), Device::simulator());
    let events = [near, far].map(|device| device.stream().unwrap().record().unwrap());
    assert!(matches!(events[0].elapsed_ms(&events[1]), Err(Error::WrongDevice { .. })));
    // A capture is refused a wait for whichever device's event.
    let stream = events[0].device().stream().unwrap();
    let captured = stream.capture((), |stream, ()| stream.wait(&events[1]));
    assert!(matches!(captured, Err(Error::NotCapturable { what: "a wait for an event" })));
    stream.wait(&events[1]).unwrap();
}

/// Without the wait it is a race, with it none, on both devices.
#[test]
fn the_simulator_sees_the_wait() {
    for waits in [false, true] {
        let (near, far) = (Device::simulator(), Device::simulator());
        let (a, b) = (free(&near), free(&far));
        let mut x = near.zeroed::<u32>(4).unwrap();
        let mut y = far.zeroed::<u32>(4).unwrap();
        let step = |waiter: &Stream, of: &Stream| {
            if waits {
                waiter.wait(&of.record().unwrap()).unwrap();
            }
        };
        // What another wrote is fetched.
        b.memset(&mut y, 1).unwrap();
        step(&a, &b);
        let copied = a.copy_peer(&mut x, &y);
        if !waits {
            races(copied);
            continue;
        }
        copied.unwrap();
        // And written over, behind the copy.
        let early = free(&far);
        races(early.memset(&mut y, 2));
        step(&b, &a);
        b.memset(&mut y, 2).unwrap();
        // On and on: what the copier knows of its own device, it has told.
        let c = free(&near);
        step(&c, &b);
        c.memset(&mut x, 3).unwrap();
    }
}

/// A wait passes on what was waited for on third devices.
#[test]
fn waits_pass_on_what_they_know() {
    for waits in [false, true] {
        let [one, two, three] = [(); 3].map(|()| Device::simulator());
        let (a, b, c) = (free(&one), free(&two), free(&three));
        let mut x = one.zeroed::<u32>(4).unwrap();
        let mut z = three.zeroed::<u32>(4).unwrap();
        a.copy_peer(&mut z, &x).unwrap();
        b.wait(&a.record().unwrap()).unwrap();
        if waits {
            c.wait(&b.record().unwrap()).unwrap();
        }
        let filled = c.memset(&mut z, 1);
        if !waits {
            races(filled);
            continue;
        }
        filled.unwrap();
        // And back to the first, where it is known that the copy has read.
        let d = free(&one);
        d.wait(&c.record().unwrap()).unwrap();
        d.memset(&mut x, 1).unwrap();
    }
}

/// The default stream is ordered with all streams of its device, also in what it waits for elsewhere.
#[test]
fn the_default_stream_waits_for_all() {
    let (near, far) = (Device::simulator(), Device::simulator());
    let (a, b) = (free(&near), free(&far));
    let mut x = near.zeroed::<u32>(4).unwrap();
    let mut y = far.zeroed::<u32>(4).unwrap();
    b.memset(&mut y, 1).unwrap();
    near.default_stream().wait(&b.record().unwrap()).unwrap();
    // Behind the default stream.
    a.copy_peer(&mut x, &y).unwrap();
    // The default stream's mark is behind that copy.
    b.wait(&near.default_stream().record().unwrap()).unwrap();
    b.memset(&mut y, 2).unwrap();
    // Its copies come before those of other streams, and after them.
    let default = near.default_stream();
    default.wait(&b.record().unwrap()).unwrap();
    // SAFETY: as in `free`.
    let default = unsafe { default.unordered() };
    default.copy_peer(&mut y, &x).unwrap();
    a.copy_peer(&mut y, &x).unwrap();
    default.copy_peer(&mut x, &y).unwrap();
    // Another device's stream is not.
    races(free(&far).memset(&mut y, 3));
}

/// The host that has waited for the waiter has waited for the event.
#[test]
fn the_host_has_waited() {
    for way in 0..3 {
        let (near, far) = (Device::simulator(), Device::simulator());
        let (a, b) = (free(&near), free(&far));
        let mut y = far.zeroed::<u32>(4).unwrap();
        b.memset(&mut y, 1).unwrap();
        a.wait(&b.record().unwrap()).unwrap();
        match way {
            0 => a.synchronize().unwrap(),
            1 => a.record().unwrap().synchronize().unwrap(),
            _ => near.synchronize().unwrap(),
        }
        free(&far).memset(&mut y, 2).unwrap();
    }
}

#[cfg(all(feature = "cuda", target_os = "linux", target_pointer_width = "64"))]
#[test]
fn what_was_waited_for_is_not_waited_for_again() {
    for scenario in ["stranger", "guest"] {
        fake::run_with("peers", "counts_waits", scenario);
    }
}

#[test]
#[ignore = "needs the driver that the test above makes"]
fn counts_waits() {
    let [near, far] = [0, 1].map(|number| Device::cuda(number).unwrap());
    let mut before = (0, 0);
    let mut count = |records: u64, waits: u64, what: &str| {
        let now = near.memory_info().unwrap();
        assert_eq!((now.0 - before.0, now.1 - before.1), (records, waits), "events and waits: {what}");
        before = now;
    };
    let (a, b) = (near.stream().unwrap(), far.stream().unwrap());
    let mut x = near.upload(&[1_u32; 64]).unwrap();
    let mut y = far.upload(&[2_u32; 64]).unwrap();
    match std::env::var("FAKE_DRIVER").unwrap().as_str() {
        // The driver asserts that the stream is of the context that is current, and lets the event be of another.
        "stranger" => {
            let event = b.record().unwrap();
            a.wait(&event).unwrap();
            near.default_stream().wait(&event).unwrap();
            b.wait(&a.record().unwrap()).unwrap();
            count(2, 3, "each that was asked for");
        }
        "guest" => {
            a.copy_peer(&mut x, &y).unwrap();
            b.memset(&mut y, 1).unwrap();
            count(2, 2, "the default stream there, and the copy");
            let event = b.record().unwrap();
            a.wait(&event).unwrap();
            count(1, 1, "asked for");
            a.copy_peer(&mut x, &y).unwrap();
            count(0, 0, "the copier has waited for the fill");
            b.memset(&mut y, 1).unwrap();
            count(1, 1, "the copy");
            // SAFETY: nothing runs here.
            let free = unsafe { a.unordered() };
            free.wait(&b.record().unwrap()).unwrap();
            count(1, 1, "by a handle that orders nothing");
            a.copy_peer(&mut x, &y).unwrap();
            count(1, 1, "of which the ordered one knows nothing");
        }
        name => panic!("no scenario {name}"),
    }
}
