//! Graphs: work that was captured from a stream, to be launched again and again.

pub(crate) mod capture;
mod resources;
pub(crate) mod work;

use core::fmt;

use crate::backend::Executable;
use crate::device::{Device, Kind};
use crate::error::{Error, Result};
use crate::stream::Stream;
pub use resources::{Resources, Visitor};

use capture::{Captured, Use};
use work::Used;

/// Work that was captured by [`Stream::capture`]: launches, fills and copies, also to and from other devices, to be launched again and again by one
/// call.
///
/// A graph holds the memory that its work uses: nobody else can touch, free or replace it while the graph may write it.
/// It is the graph's [`resources`](Graph::resources), to read between launches, and [to write](Graph::resources_mut);
/// [`into_resources`](Graph::into_resources) gives it back.
///
/// # Order
/// A launch is one piece of work on its stream and is ordered with other streams as kernels are (see [`Stream`]): it
/// waits for the work of others that used its memory, and they wait for it. It need not be launched on the stream it
/// was captured from. In the simulator, which has no graphs, a launch enqueues the captured work piece by piece.
///
/// On CUDA the kernels of a graph start when those before have ended, also those that a stream would schedule earlier.
pub struct Graph<R> {
    resources: R,
    /// Which of them the work needs.
    needs: Vec<Need>,
    /// The same as a launch names them, those of the stream's device first.
    uses: Vec<Used>,
    /// Whether they are known to be there.
    checked: bool,
    /// What it does, in order.
    kinds: Vec<&'static str>,
    executable: Box<dyn Executable>,
    /// What it was captured from.
    stream: Stream,
}

/// A buffer that captured work uses.
struct Need {
    number: u64,
    used: Use,
}

impl Stream {
    /// Captures what `enqueue` enqueues on this stream: launches of kernels, [`memset`](Stream::memset),
    /// [`copy`](Stream::copy) and [`copy_peer`](Stream::copy_peer). Nothing of it is done before the graph is launched. `resources` is the memory that it
    /// uses, which the graph holds from now on and `enqueue` is lent.
    ///
    /// Functions that take a stream, outputs and scratch memory can be captured: what they neither allocate nor wait
    /// for does not hinder them, and scratch memory that is cleared when it has to be is cleared at each launch.
    /// Captured is what this thread enqueues: other threads' work, on this stream too, goes on as always.
    ///
    /// ```
    /// use gpu_core::Device;
    /// use gpu_std::{launch::LaunchConfig, prelude::*};
    ///
    /// #[kernel]
    /// fn double(values: GlobalMut<u32>) {
    ///     values.write(thread::index_1d(), 2 * values.read(thread::index_1d()));
    /// }
    ///
    /// let device = Device::simulator();
    /// let stream = device.stream()?;
    /// let mut graph = stream.capture(device.upload(&[1u32, 2, 3])?, |stream, values| {
    ///     // SAFETY: three threads read and write an element each of three.
    ///     unsafe { stream.launch::<double>(LaunchConfig::linear(1, 3), (values,)) }
    /// })?;
    /// assert_eq!(graph.resources().to_vec()?, [1, 2, 3]);
    /// graph.launch(&stream)?;
    /// graph.launch(&stream)?;
    /// assert_eq!(graph.resources().to_vec()?, [4, 8, 12]);
    /// // Other values, at the same place.
    /// graph.resources_mut().copy_from(&[10, 20, 30])?;
    /// graph.launch(&stream)?;
    /// assert_eq!(graph.into_resources().to_vec()?, [20, 40, 60]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// Borrowed memory does as well, and so does part of it:
    ///
    /// ```
    /// let device = gpu_core::Device::simulator();
    /// let stream = device.stream()?;
    /// let (x, mut y) = (device.upload(&[1u8, 2, 3])?, device.zeroed::<u8>(2)?);
    /// stream.capture((&x, &mut y), |stream, (x, y)| stream.copy(y.view_mut(), x.slice(1..)))?.launch(&stream)?;
    /// assert_eq!(y.to_vec()?, [2, 3]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCapturable`] where something is asked of the device meanwhile, by this thread, that is done once or
    /// has to be waited for: allocations, copies from and to the host, waits for events, streams or the device, and
    /// work on another stream. It fails the capture even where `enqueue` does not pass it on. [`Error::GraphMemory`]
    /// where work uses memory that is not among the resources, or writes what is only lent to be read.
    /// [`Error::Unsupported`] on the CPU, where primitives are done when their call returns. That of `enqueue`, and
    /// those of the driver.
    ///
    /// The stream is as it was before, also where `enqueue` panics.
    pub fn capture<R: Resources>(
        &self,
        mut resources: R,
        enqueue: impl FnOnce(&Self, &mut R) -> Result<()>,
    ) -> Result<Graph<R>> {
        if self.device().kind() == Kind::Cpu {
            return Err(Error::Unsupported { what: "graphs", device: self.device().to_string() });
        }
        let mut enqueue = Some(enqueue);
        let captured = capture::capture(self, &mut || {
            let enqueue = enqueue.take().expect("it is called once");
            enqueue(self, &mut resources)
        })?;
        let needs = needs(&captured, &resources)?;
        let (kinds, uses) = (kinds(&captured), uses(&captured, self));
        let executable = self.queue.instantiate(captured.work)?;
        Ok(Graph { resources, needs, uses, checked: true, kinds, executable, stream: self.clone() })
    }

    /// Refuses `what` while this thread captures a stream of this device: for those who write primitives, where a
    /// host's part is done once or data is read that a graph does not hold, and nothing else would say so.
    ///
    /// # Errors
    /// [`Error::NotCapturable`], which fails the capture.
    pub fn refuse_capture(&self, what: &'static str) -> Result<()> {
        capture::refuse(self.device(), what)
    }
}

impl<R: Resources> Graph<R> {
    /// Enqueues all of the work on a stream of its device.
    ///
    /// # Errors
    /// [`Error::WrongDevice`]; [`Error::GraphMemory`] where memory that it uses is no longer among its resources, and
    /// [`Error::NotCapturable`] while this thread captures: then nothing is enqueued. Those of launches.
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        stream.expect("graph", self.stream.device())?;
        capture::refuse(stream.device(), "a graph's launch")?;
        if !self.checked {
            self.check()?;
            self.checked = true;
        }
        // SAFETY: the resources have all memory that the work uses, by the numbers of its buffers: it is not freed
        // before the work has ended, as that of a kernel. They are borrowed exclusively, so nobody else is between two
        // pieces of the work, and what primitives were promised when it was captured holds.
        unsafe { self.executable.launch(&stream.queue, &self.uses) }
    }

    /// Captures anew, from the stream it was captured from, and puts that in the place of what it did. On CUDA that is
    /// much cheaper than another graph. It is the same kinds of work in the same order: arguments, sizes, kernels and
    /// resources may be others.
    ///
    /// ```
    /// use gpu_core::{Device, Error};
    /// let device = Device::simulator();
    /// let stream = device.stream()?;
    /// let mut graph = stream.capture(device.zeroed::<u8>(2)?, |stream, bytes| stream.memset(bytes, 1))?;
    /// graph.update(|stream, bytes| stream.memset(bytes, 2))?;
    /// graph.launch(&stream)?;
    /// assert_eq!(graph.resources().to_vec()?, [2, 2]);
    /// let refused = graph.update(|_, _| Ok(()));
    /// assert!(matches!(refused, Err(Error::GraphTopology { at: 0, expected: "a fill", actual: "nothing" })));
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Stream::capture`]; [`Error::GraphTopology`] where it is other work. Then the graph does what it did.
    pub fn update(&mut self, enqueue: impl FnOnce(&Stream, &mut R) -> Result<()>) -> Result<()> {
        let stream = self.stream.clone();
        self.checked = false;
        let mut enqueue = Some(enqueue);
        let captured = capture::capture(&stream, &mut || {
            let enqueue = enqueue.take().expect("it is called once");
            enqueue(&stream, &mut self.resources)
        })?;
        let needs = needs(&captured, &self.resources)?;
        let (kinds, uses) = (kinds(&captured), uses(&captured, &stream));
        for at in 0..kinds.len().max(self.kinds.len()) {
            let kind = |of: &[&'static str]| of.get(at).copied().unwrap_or("nothing");
            let (expected, actual) = (kind(&self.kinds), kind(&kinds));
            if expected != actual {
                return Err(Error::GraphTopology { at, expected, actual });
            }
        }
        self.executable.update(captured.work)?;
        (self.needs, self.uses, self.kinds, self.checked) = (needs, uses, kinds, true);
        Ok(())
    }

    /// The memory that it holds.
    pub fn resources(&self) -> &R {
        &self.resources
    }

    /// The memory that it holds, to write. Where a buffer is replaced that the work uses, [`launch`](Graph::launch)
    /// refuses until [`update`](Graph::update) has captured its use of another.
    pub fn resources_mut(&mut self) -> &mut R {
        self.checked = false;
        &mut self.resources
    }

    /// Gives up the graph. Launches that were enqueued go on.
    pub fn into_resources(self) -> R {
        self.resources
    }

    /// The stream that it was captured from.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Pieces of work that were captured.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether nothing was captured.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    fn check(&self) -> Result<()> {
        let mut found = Vec::new();
        self.resources.visit(&mut Visitor::new(&mut |buffer| found.push((buffer.number, buffer.is_shared))));
        for Need { number, used } in &self.needs {
            // The number says that it is the same buffer, and how it is held may not have changed either.
            if !found.iter().any(|&(held, is_shared)| held == *number && !(is_shared && used.write)) {
                return Err(Error::GraphMemory { by: used.by, write: used.write });
            }
        }
        Ok(())
    }
}

fn kinds(captured: &Captured) -> Vec<&'static str> {
    captured.work.iter().map(work::Work::kind).collect()
}

fn uses(captured: &Captured, stream: &Stream) -> Vec<Used> {
    let mut uses = vec![(stream.device().clone(), Vec::new())];
    for Use { device, start, write, .. } in &captured.uses {
        match uses.iter_mut().find(|(known, _)| known == device) {
            Some((_, used)) => used.push((*start, *write)),
            None => uses.push((device.clone(), vec![(*start, *write)])),
        }
    }
    uses
}

/// The buffers that the work uses, which are all among the resources, and were when the capture began: an address that
/// was given anew meanwhile is another buffer's.
fn needs(captured: &Captured, resources: &impl Resources) -> Result<Vec<Need>> {
    let mut found = Vec::new();
    resources.visit(&mut Visitor::new(&mut |buffer| {
        if buffer.number < captured.number {
            found.push((buffer.device.clone(), buffer.start, buffer.number, buffer.is_shared));
        }
    }));
    let need = |used: &Use| {
        let held = |&&(ref device, start, _, is_shared): &&(Device, u64, u64, bool)| {
            start == used.start && *device == used.device && !(is_shared && used.write)
        };
        match found.iter().find(held) {
            Some(&(_, _, number, _)) => Ok(Need { number, used: used.clone() }),
            None => Err(Error::GraphMemory { by: used.by, write: used.write }),
        }
    };
    captured.uses.iter().map(need).collect()
}

impl<R> fmt::Debug for Graph<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({} pieces of work on {})", self.kinds.len(), self.stream.device())
    }
}
