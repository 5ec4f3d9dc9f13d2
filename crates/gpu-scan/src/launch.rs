//! The launches: the crate's only unsafe code.

use gpu_core::{Error, Scratch, Segments, Stream, View, ViewMut};
use gpu_scan_kernels::columns::Lines;
use gpu_scan_kernels::{self as kernels, And, Max, Min, Or, Product, Scan, Sum, WideSum, Xor, segmented};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::axis::{launch_config, scratch_words};
use crate::instance::{AlongColumns, Arguments, Call, Instance, Segmented};
use crate::options::Options;
use crate::plan::Plan;
use crate::scratch::with_tiles;
use crate::segmented::starts::starts;

macro_rules! instances {
    ($($scan:ty $(, $same:ty)* $(| $flip:ident: $($flipped:ty),+)?; $v:literal, $n:literal, $l:literal;
        $images:ident, $blocks:literal, $whole:ident;
        $of_segments:literal, $segments:ident;
        $of_columns:literal, $k:literal, $columns:ident;)*) => { $(
        instances!(@ $scan, $whole, $segments, $columns: $scan $(, $same)* $($(, $flipped)+)?);
    )* };
    (@ $of:ty, $whole:ident, $segments:ident, $columns:ident: $($scan:ty),+) => { $(
        // SAFETY: the list is that which the kernels are made from, and says which others have the same bits.
        unsafe impl Instance for $scan {
            type Of = $of;
            type Kernel = kernels::$whole;
        }
        // SAFETY: the list is that which the kernels are made from, and says which others have the same bits.
        unsafe impl Segmented for $scan {
            type Of = $of;
            type Kernel = kernels::$segments;
        }
        // SAFETY: the list is that which the kernels are made from, and says which others have the same bits.
        unsafe impl AlongColumns for $scan {
            type Of = $of;
            type Kernel = kernels::$columns;
        }
    )+ };
}
kernels::scan_instances!(instances);

/// Where a scan reads and writes: from one array to another, or in place.
pub(crate) struct Memory<S: Scan>(Global<S::Item>, GlobalMut<S::Output>, u64);

impl<S: Scan<Item: gpu_core::Element, Output: gpu_core::Element>> Memory<S> {
    pub(crate) fn apart(input: View<'_, S::Item>, mut output: ViewMut<'_, S::Output>) -> Self {
        Self(input.as_global(), output.as_global_mut(), input.len() as u64)
    }
}

impl<S: Scan<Output = <S as Scan>::Item, Item: gpu_core::Element>> Memory<S> {
    pub(crate) fn in_place(mut data: ViewMut<'_, S::Output>) -> Self {
        let memory = data.as_global_mut();
        Self(memory.as_global(), memory, data.len() as u64)
    }
}

/// Enqueues a scan. Everything has been checked: same device, same length, enough scratch.
pub(crate) fn scan<S: Instance>(
    stream: &Stream,
    memory: Memory<S>,
    options: &Options<S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let len = memory.2;
    let words = plan.scratch_words();
    enqueue::<S, S::Of, S::Kernel, _>(
        stream,
        plan.launch(stream.device()),
        memory,
        len,
        options,
        words,
        scratch,
    )
}

/// Enqueues a scan of segments. Everything has been checked, as for [`scan`]; there is an element.
pub(crate) fn scan_segments<S: Segmented>(
    stream: &Stream,
    memory: Memory<S>,
    segments: Segments<'_>,
    options: &Options<S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let config = LaunchConfig::linear(plan.blocks(stream.device()), plan.shape.threads());
    let config = config.shared(segmented::shared_bytes(plan.shape));
    let extent = (memory.2, starts(segments, memory.0.cast(), memory.2 as usize));
    enqueue::<S, S::Of, S::Kernel, _>(stream, config, memory, extent, options, plan.scratch_words(), scratch)
}

/// Enqueues a scan along columns. Everything has been checked, as for [`scan`]; there is an element.
pub(crate) fn scan_columns<S: AlongColumns>(
    stream: &Stream,
    memory: Memory<S>,
    lines: Lines,
    options: &Options<S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (config, words) = (launch_config::<S>(stream.device(), lines), scratch_words::<S>(lines));
    enqueue::<S, S::Of, S::Kernel, _>(stream, config, memory, lines, options, words, scratch)
}

fn enqueue<S: Scan, O: Scan, K: Kernel<Arguments: Arguments<O, E>>, E>(
    stream: &Stream,
    config: LaunchConfig,
    Memory(input, output, _): Memory<S>,
    extent: E,
    options: &Options<S::Output>,
    words: usize,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.lend(S::NAME, with_tiles(words), |parts| {
        let words = (parts.tickets, parts.ticket_words);
        let call = Call::<S>::new(input, output, options.initial::<S>(), options.mode(), words);
        // SAFETY: by the promise of whoever made the instance, this is the kernel of `O`, which gives the results of `S`. It
        // reads the elements of the input, which are as many as the extent says, and what the segments borrow, writes as
        // many of the output, which is the same memory or, one of them being borrowed exclusively, apart, and uses the
        // scratch memory, which has room for the plan's words, was zero at first, and is used on this stream only. Buffers are freed only after the work enqueued before.
        unsafe { K::launch_on(stream, config, K::Arguments::new(call.to::<O>(), extent)) }
    })
}
