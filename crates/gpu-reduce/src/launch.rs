//! The launches: the crate's only unsafe code.

use gpu_core::{Error, Scratch, Stream, View, ViewMut};
use gpu_reduce_kernels::computed::SourceOf;
use gpu_reduce_kernels::several::*;
use gpu_reduce_kernels::{
    self as kernels, Item, Lines, Mapped, Reduction, Source, Starts, column_kernels, segment_kernels,
};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::axis::Along;
use crate::instance::*;
use crate::operand::Operand;
use crate::plan::{Plan, SegmentsPlan, columns_launch, segments_scratch_words};
use crate::scratch::{HEADER, with_partials};
use crate::segments::Places;

// SAFETY: by the promise of whoever made the map's.
unsafe impl<M: MappedInstance<R>, R: Reduction<Output: gpu_core::Element>> Instance for Mapped<M, R> {
    type Of = Self;
    type Kernel = M::Kernel;
}
// SAFETY: by the promise of whoever made the map's.
unsafe impl<M: MappedSegmented<R>, R: Reduction<Output: gpu_core::Element>> Segmented for Mapped<M, R> {
    type Of = Self;
    type Kernel = M::Kernel;
}
// SAFETY: by the promise of whoever made the map's.
unsafe impl<M: MappedAlongColumns<R>, R: Reduction<Output: gpu_core::Element>> AlongColumns for Mapped<M, R> {
    type Of = Self;
    type Kernel = M::Kernel;
}

macro_rules! instance {
    ($trait:ident, $module:ident, $kernel:ident, $of:ty: $reduction:ty) => {
        // SAFETY: the list is that which the kernels are made from, and says which others have the same bits, and which
        // reductions a kernel for several knows.
        unsafe impl $trait for $reduction {
            type Of = $of;
            type Kernel = $module::$kernel;
        }
    };
}

/// The instances of a group of kernels: of whole arrays, of segments, of columns, where there are such.
macro_rules! instances {
    ($whole:ident $segments:ident $columns:ident, $($group:tt)*) => {
        instances!(@ $whole, Instance, kernels, Whole; $($group)*);
        instances!(@ $segments, Segmented, segment_kernels, OfSegments; $($group)*);
        instances!(@ $columns, AlongColumns, column_kernels, OfColumns; $($group)*);
    };
    (@ none, $($none:tt)*) => {};
    (@ $images:ident, $trait:ident, $module:ident, $extent:ident; $t:ty, $v:literal, $a:literal, $blocks:literal;
        $($name:ident: $reduction:ident<$of:ty> $(, $same:ident<$of_same:ty>)*;)*
        $((several) $several:ident: $computed:ty => $($served:ident<$of_served:ty>),*;)*
        $((two) $($of_two:tt)*)?) => {
        $(
            instance!($trait, $module, $name, kernels::$reduction<$of>: kernels::$reduction<$of>);
            $(
                instance!($trait, $module, $name, kernels::$reduction<$of>: kernels::$same<$of_same>);
                impl Serves<kernels::$same<$of_same>, $extent> for kernels::$reduction<$of> {
                    fn source(source: Global<$of_same>) -> Global<$of> {
                        source.cast()
                    }
                }
            )*
        )*
        $( $(
            instance!($trait, $module, $several, $computed: kernels::$served<$of_served>);
            impl Serves<kernels::$served<$of_served>, $extent> for $computed {
                fn source(source: Global<$of_served>) -> SourceOf<Self> {
                    let choice = <kernels::$served<$of_served> as ByChoice>::CHOICE;
                    ToldSource { array: source.cast(), choice }
                }
            }
        )* )*
        $( instances!(# $trait: $($of_two)*); )?
    };
    (# Instance: $dot:ident: $product:ident<$of:ty> $(, $same:ident<$of_same:ty>)?;) => {
        instance!(Instance, kernels, $dot, kernels::$product<$of>: kernels::$product<$of>);
        $(
            instance!(Instance, kernels, $dot, kernels::$product<$of>: kernels::$same<$of_same>);
            impl Serves<kernels::$same<$of_same>, Whole> for kernels::$product<$of> {
                fn source((first, second): (Global<$of_same>, Global<$of_same>)) -> SourceOf<Self> {
                    (first.cast(), second.cast())
                }
            }
        )?
    };
    (# $of_one:ident: $($of_two:tt)*) => {};
}
kernels::reduce_instances!(instances);

/// Enqueues the kernel `K` of what serves the reduction `R`.
///
/// # Safety
/// As the kernel asks for: until it has ended, `source` must have the elements of `extent`, which nothing writes,
/// `output` room for the results, and the words of `extent` must be zero and used by nothing else.
pub(crate) unsafe fn launch<
    R: Reduction,
    O: Serves<R, E>,
    K: Kernel<Arguments: Arguments<SourceOf<O>, E, O::Output>>,
    E,
>(
    stream: &Stream,
    config: LaunchConfig,
    source: <R::Item as Item>::Source,
    extent: E,
    output: GlobalMut<R::Output>,
) -> Result<(), Error> {
    let arguments = K::Arguments::new(O::source(source), extent, output.cast());
    // SAFETY: the caller's promise; by that of whoever made the instance, the kernel computes `R`.
    unsafe { K::launch_on(stream, config, arguments) }
}

/// The launch of a kernel that adds the sum of an array to its output: stream, configuration, input, its length,
/// tiles that a block takes, output.
///
/// # Safety
/// As the kernel asks for: `len` elements, one of output, and the plan's configuration.
pub type SumUnordered<T> =
    unsafe fn(&Stream, LaunchConfig, Global<T>, u64, u64, GlobalMut<T>) -> Result<(), gpu_core::Error>;

/// Enqueues a sum in any order. Everything has been checked: same device, room for the output.
pub(crate) fn sum_unordered<T: gpu_core::Element>(
    stream: &Stream,
    kernel: SumUnordered<T>,
    input: View<'_, T>,
    plan: Plan,
    mut output: ViewMut<'_, T>,
) -> Result<(), Error> {
    stream.memset(output.reborrow(), 0)?;
    if input.is_empty() {
        return Ok(());
    }
    let (source, len) = (input.as_global(), input.len() as u64);
    // SAFETY: the kernel reads `len` elements of the input and adds to one of the output, which the borrows keep
    // valid; buffers are freed only after the work enqueued before.
    unsafe { kernel(stream, plan.launch(), source, len, plan.tiles_per_block, output.as_global_mut()) }?;
    Ok(())
}

/// Enqueues a reduction. Everything has been checked: same device, enough scratch, room for the output.
pub(crate) fn reduce<R: Instance>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    plan: Plan,
    mut output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.lend(R::NAME, with_partials(plan.scratch_words()), |parts| {
        enqueue::<R>(stream, input, len, plan, output.as_global_mut(), parts.zeros)
    })
}

/// Reduces on the device's default stream, waits, and reads the results back into `outputs`.
pub(crate) fn reduce_to_host<R: Instance>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    plan: Plan,
    outputs: &mut [R::Output],
) -> Result<(), Error> {
    // The last block writes each output once.
    stream.read_back(outputs, |output| {
        Scratch::kept(stream, |scratch| reduce::<R>(stream, input, len, plan, output, scratch))
    })
}

fn enqueue<R: Instance>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    plan: Plan,
    output: GlobalMut<R::Output>,
    ticket: GlobalMut<u64>,
) -> Result<(), Error> {
    let partials = ticket.offset(HEADER as u64).cast();
    let extent =
        Whole { len: len as u64, tiles_per_block: plan.tiles_per_block, partials, ticket: ticket.cast() };
    let source = R::Item::source(input);
    // SAFETY: the kernel reads `len` elements of the input, writes the outputs and uses the ticket and the plan's
    // words, for which the scratch memory has room; they are zero (it says so, and every launch leaves them so).
    // Buffers are freed only after the work enqueued before, and the scratch memory is used on this stream only.
    unsafe { launch::<R, R::Of, R::Kernel, _>(stream, plan.launch(), source, extent, output) }
}

/// Enqueues a reduction of segments. Everything has been checked: offsets, devices, scratch, room for the output.
pub(crate) fn reduce_segments<R: Segmented>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    segments: &Places<'_>,
    mut output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let plan =
        SegmentsPlan::new::<R>(segments.end, segments.count, stream.device().planned_multiprocessors());
    // SAFETY: no offset is read of segments of one length.
    let none = unsafe { Global::from_raw(0) };
    let starts = match (segments.offsets, segments.length) {
        (Some(offsets), _) => Starts {
            offsets: offsets.view().as_global(),
            form: kernels::OFFSETS,
            length: 0,
            count: plan.segments,
        },
        (None, length) => {
            Starts { offsets: none, form: kernels::ONE_LENGTH, length: length as u64, count: plan.segments }
        }
    };
    scratch.lend(R::NAME, with_partials(segments_scratch_words::<R>(len)), |parts| {
        let places = parts.zeros.offset(HEADER as u64).cast();
        let extent = OfSegments { len: len as u64, starts, share: plan.share, scratch: places };
        let (source, output) = (R::Item::source(input), output.as_global_mut());
        // SAFETY: the kernel reads the segments of the input, which end within it, writes their outputs and uses the
        // words of their parts, for which the scratch memory has room; they are zero (it says so, and every launch leaves
        // them so). Buffers are freed only after the work enqueued before, and the scratch memory is used on this stream
        // only.
        unsafe { launch::<R, R::Of, R::Kernel, _>(stream, plan.launch(), source, extent, output) }
    })
}

/// Enqueues a reduction along an axis. Everything has been checked: shape, devices, scratch, room for the output.
pub(crate) fn reduce_columns<R: Segmented + AlongColumns>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    along: Along,
    mut output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let source = R::Item::source(input);
    let lines = along.lines();
    let is_vector = source.is_aligned() && lines.inner.is_multiple_of(kernels::per_load::<R::Item>());
    let lines = Lines { is_vector: u32::from(is_vector), ..lines };
    let config = columns_launch::<R>(lines);
    scratch.lend(R::NAME, with_partials(along.scratch_words::<R>()), |parts| {
        let extent = OfColumns { lines, scratch: parts.zeros.offset(HEADER as u64).cast() };
        // SAFETY: the kernel reads the lines of the input, all rows of which are aligned if the first one is and they are
        // whole loads, writes their outputs and uses the words of their slabs, for which the scratch memory has room
        // whatever the alignment; they are zero (it says so, and every launch leaves them so). Buffers are freed only
        // after the work enqueued before, and the scratch memory is used on this stream only.
        unsafe {
            launch::<R, <R as AlongColumns>::Of, <R as AlongColumns>::Kernel, _>(
                stream,
                config,
                source,
                extent,
                output.as_global_mut(),
            )
        }
    })
}
