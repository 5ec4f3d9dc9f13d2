//! Graphs of every function that takes a stream and outputs: captured, launched again and again, and held against the
//! same calls made directly. What reads results back, or allocates, is refused.

mod by_hand;
mod linalg;
mod named;
mod reduce;
mod refused;
mod scan;
mod scratch;
mod sort;
mod sparse;
mod stencil;
mod transpose;

use gpu_core::{Buffer, Device, Element, Error, Kind, Resources, Result, Scratch, Stream};
use gpu_tests::backends::for_each;

/// What a call writes.
trait Outputs: Resources {
    /// Sets every byte.
    fn spoil(&mut self, stream: &Stream, value: u8);
    fn read(&self) -> Vec<u8>;
}

impl<T: Element> Outputs for Buffer<T> {
    fn spoil(&mut self, stream: &Stream, value: u8) {
        stream.memset(self, value).unwrap();
    }

    fn read(&self) -> Vec<u8> {
        bytemuck::cast_slice(&self.to_vec().unwrap()).to_vec()
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Outputs),*> Outputs for ($($name,)*) {
            #[allow(non_snake_case)]
            fn spoil(&mut self, stream: &Stream, value: u8) {
                let ($($name,)*) = self;
                $($name.spoil(stream, value);)*
            }

            #[allow(non_snake_case)]
            fn read(&self) -> Vec<u8> {
                let ($($name,)*) = self;
                [$($name.read()),*].concat()
            }
        }
    };
}
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);

/// What a call has: inputs, outputs, and what it needs on the way, which the caller looks at no more.
type Call<I, O, S> = (I, O, S);

/// That launches of a graph do what direct calls do, whatever was in the outputs, on whichever stream, with direct
/// calls in between that use the same scratch memory; and that a capture does nothing.
#[track_caller]
fn replays<I: Resources, O: Outputs, S: Resources>(
    device: &Device,
    name: &str,
    make: impl Fn(&Stream) -> Call<I, O, S>,
    work: impl Fn(&Stream, &mut Call<I, O, S>) -> Result<()>,
) {
    /// Bytes that outputs have before a call.
    const BEFORE: [u8; 2] = [0, 0x3f];
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let mut direct = make(&stream);
    let expected = BEFORE.map(|value| {
        direct.1.spoil(&stream, value);
        work(&stream, &mut direct).unwrap_or_else(|error| panic!("{name} on {device}: {error}"));
        direct.1.read()
    });
    let mut spoiled = make(&stream);
    spoiled.1.spoil(&stream, 0x77);
    let before = spoiled.1.read();
    let mut graph = stream
        .capture(spoiled, |stream, call| work(stream, call))
        .unwrap_or_else(|error| panic!("{name} captured on {device}: {error}"));
    assert!(!graph.is_empty(), "{name} on {device}: nothing was captured");
    assert!(graph.resources().1.read() == before, "{name} on {device}: it is captured, not done");
    // Launches one after the other on two streams, and one after a direct call; with other outputs than before.
    for (step, stream, before) in [(0, &stream, 1), (1, &other, 0), (2, &stream, 1), (3, &other, 0)] {
        let call = graph.resources_mut();
        call.1.spoil(stream, BEFORE[before]);
        let what = if step == 2 {
            work(stream, call).unwrap();
            "a direct call"
        } else {
            graph.launch(stream).unwrap_or_else(|error| panic!("{name} launched on {device}: {error}"));
            "a launch"
        };
        let found = graph.resources().1.read();
        assert!(found == expected[before], "{name} on {device}: another result of step {step}, {what}");
    }
    // The same again in its place.
    graph.update(|stream, call| work(stream, call)).unwrap_or_else(|error| panic!("{name} updated: {error}"));
    graph.resources_mut().1.spoil(&stream, BEFORE[1]);
    graph.launch(&stream).unwrap();
    assert!(
        graph.into_resources().1.read() == expected[1],
        "{name} on {device}: another result once updated"
    );
}

/// The devices that launch kernels. On the CPU a capture is refused before anything is done.
fn on_each(test: &str, body: impl Fn(&Device)) {
    for_each(test, |device| {
        if device.kind() == Kind::Cpu {
            let refused = device.default_stream().capture((), |_, ()| panic!("nothing is called"));
            assert!(matches!(refused, Err(Error::Unsupported { what: "graphs", .. })));
        } else {
            body(device);
        }
    });
}

/// Numbers below `below`, always the same.
fn numbers(len: usize, below: u64) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..len).map(|_| next()).collect()
}

/// The same as elements.
fn ints(device: &Device, len: usize, below: u64) -> Buffer<u32> {
    device.upload(&numbers(len, below).into_iter().map(|n| n as u32).collect::<Vec<_>>()).unwrap()
}

/// The same as small floats.
fn floats(device: &Device, len: usize) -> Buffer<f32> {
    device
        .upload(&numbers(len, 1000).into_iter().map(|n| n as f32 / 16.0 - 31.0).collect::<Vec<_>>())
        .unwrap()
}

/// Scratch memory on the stream that has what `size` says.
fn scratch(stream: &Stream, size: gpu_core::ScratchSize) -> Scratch {
    Scratch::with_size(stream, size).unwrap()
}
