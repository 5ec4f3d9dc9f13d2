//! The launches: the crate's only unsafe code.

use gpu_core::{Error, Stream, View, ViewMut};
use gpu_reduce_kernels::computed::SourceOf;
use gpu_reduce_kernels::several::*;
use gpu_reduce_kernels::{
    self as kernels, Item, Lines, Mapped, Reduction, Source, Starts, column_kernels, segment_kernels,
};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::instance::*;
use crate::operand::Operand;
use crate::plan::{Plan, SegmentsPlan, columns_launch};
use crate::scratch::{RESULT, Scratch};
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
    enqueue::<R>(stream, input, len, plan, output.as_global_mut(), scratch)
}

/// Reduces on the scratch memory's stream, waits, and reads the results back into `outputs`.
pub(crate) fn reduce_to_scratch<R: Instance>(
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    plan: Plan,
    scratch: &mut Scratch,
    outputs: &mut [R::Output],
) -> Result<(), Error> {
    // SAFETY: the header has room for two words of results behind the ticket; nothing else uses them.
    let output = unsafe { GlobalMut::from_raw(scratch.result()) };
    let stream = scratch.stream.clone();
    enqueue::<R>(&stream, input, len, plan, output, scratch)?;
    let mut words = [0u64; 2];
    scratch.words.slice(RESULT).copy_to(&mut words)?;
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    let size = size_of::<R::Output>();
    for (index, output) in outputs.iter_mut().enumerate() {
        *output = bytemuck::pod_read_unaligned(&bytes[index * size..][..size]);
    }
    Ok(())
}

fn enqueue<R: Instance>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    plan: Plan,
    output: GlobalMut<R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.prepare()?;
    // SAFETY: the addresses lie in the scratch memory, which is ours and 8-byte aligned.
    let (partials, ticket) =
        unsafe { (GlobalMut::from_raw(scratch.partials()), GlobalMut::from_raw(scratch.ticket())) };
    let extent = Whole { len: len as u64, tiles_per_block: plan.tiles_per_block, partials, ticket };
    let source = R::Item::source(input);
    // SAFETY: the kernel reads `len` elements of the input, writes the outputs and uses the ticket and the plan's
    // words, for which the scratch memory has room; they are zero (`prepare`, and every launch leaves them so).
    // Buffers are freed only after the work enqueued before, and the scratch memory is used on this stream only.
    unsafe { launch::<R, R::Of, R::Kernel, _>(stream, plan.launch(), source, extent, output) }?;
    scratch.dirty = false;
    Ok(())
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
    scratch.prepare()?;
    // SAFETY: the address lies in the scratch memory, which is ours and 8-byte aligned.
    let places = unsafe { GlobalMut::from_raw(scratch.partials()) };
    let extent = OfSegments { len: len as u64, starts, share: plan.share, scratch: places };
    let (source, output) = (R::Item::source(input), output.as_global_mut());
    // SAFETY: the kernel reads the segments of the input, which end within it, writes their outputs and uses the
    // words of their parts, for which the scratch memory has room; they are zero (`prepare`, and every launch leaves
    // them so). Buffers are freed only after the work enqueued before, and the scratch memory is used on this stream
    // only.
    unsafe { launch::<R, R::Of, R::Kernel, _>(stream, plan.launch(), source, extent, output) }?;
    scratch.dirty = false;
    Ok(())
}

/// Enqueues a reduction along an axis. Everything has been checked: shape, devices, scratch, room for the output.
/// `lines` is as if every row started anywhere.
pub(crate) fn reduce_columns<R: AlongColumns>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    lines: Lines,
    mut output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let source = R::Item::source(input);
    let is_vector = source.is_aligned() && lines.inner.is_multiple_of(kernels::per_load::<R::Item>());
    let lines = Lines { is_vector: u32::from(is_vector), ..lines };
    scratch.prepare()?;
    // SAFETY: the address lies in the scratch memory, which is ours and 8-byte aligned.
    let words = unsafe { GlobalMut::from_raw(scratch.partials()) };
    // SAFETY: the kernel reads the lines of the input, all rows of which are aligned if the first one is and they are
    // whole loads, writes their outputs and uses the words of their slabs, for which the scratch memory has room
    // whatever the alignment; they are zero (`prepare`, and every launch leaves them so). Buffers are freed only
    // after the work enqueued before, and the scratch memory is used on this stream only.
    unsafe {
        let extent = OfColumns { lines, scratch: words };
        launch::<R, R::Of, R::Kernel, _>(
            stream,
            columns_launch::<R>(lines),
            source,
            extent,
            output.as_global_mut(),
        )
    }?;
    scratch.dirty = false;
    Ok(())
}
