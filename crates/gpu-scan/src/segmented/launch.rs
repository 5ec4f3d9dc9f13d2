//! The launches of scans of segments.

use gpu_core::{Element, IntoArgument, Stream, View, ViewMut};
use gpu_scan_kernels::segmented::{self as kernels, shape};
use gpu_scan_kernels::segmented_scan_instances;
use gpu_scan_kernels::{And, Max, Min, Or, Product, Scan, Sum, WideSum, Xor};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use super::Segments;
use crate::error::Error;
use crate::launch::{Arguments, launch, served};
use crate::options::Options;
use crate::plan::Plan;
use crate::scratch::Scratch;

/// The parameters of a kernel that scans segments ([`kernels::segments`]): input, output, length, the three of
/// [`kernels::Starts`], where to start, mode, scratch memory and the words of it.
pub type OfSegments<S> = (
    Global<<S as Scan>::Item>,
    GlobalMut<<S as Scan>::Output>,
    u64,
    u32,
    Global<u8>,
    u64,
    <S as Scan>::Register,
    u32,
    GlobalMut<u64>,
    u64,
);

/// A scan that a PTX module has a kernel for that takes segments: all of this crate, and yours with
/// [`segmented_instance!`](crate::segmented_instance).
///
/// # Safety
/// As [`Instance`](crate::Instance), with [`kernels::segments`] and its shape.
pub unsafe trait Segmented: Scan<Item: Element, Output: Element> {
    /// The operator that the kernel was made of: this one or another one on elements as wide.
    type Of: Scan<Item: Element, Output: Element>;
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<OfSegments<Self::Of>>>;
}

/// Makes a scan of yours one of segments ([`Segmented`]), given the kernel that you made of it: for
/// [`scan_segments`](crate::scan_segments) and, along the last axis, [`scan_axis`](crate::scan_axis).
///
/// `unsafe` is your promise that the kernel is [`kernels::segmented::segments`](crate::kernels::segmented::segments)
/// of this very operator, with the parameters below in this order, the three of
/// [`kernels::segmented::Starts`](crate::kernels::segmented::Starts) among them, that it is not `programmatic`, and
/// that gpu-builder compiled it.
///
/// ```
/// use gpu_scan::kernels::WARPS;
/// use gpu_scan::kernels::segmented::{Starts, segments};
/// use gpu_scan::{Options, Segments, scan_segments};
/// # use gpu_scan::kernels::Scan;
/// # use gpu_std::{kernel, memory::{Global, GlobalMut}};
/// # pub struct Last;
/// # impl Scan for Last {
/// #     type Item = u32;
/// #     type Register = u32;
/// #     type Output = u32;
/// #     const NAME: &'static str = "last that is not zero";
/// #     const IDENTITY: u32 = 0;
/// #     const EMPTY: u32 = 0;
/// #     fn extend(item: u32) -> u32 { item }
/// #     fn combine(before: u32, after: u32) -> u32 { if after == 0 { before } else { after } }
/// #     fn output(result: u32) -> u32 { result }
/// #     fn resume(output: u32) -> u32 { output }
/// # }
///
/// // `Last` is the operator of `instance!`. In your kernel crate: `#[kernel(images = sm_75, launch_bounds(256, 4))]`.
/// #[kernel(launch_bounds(256, 4))]
/// pub fn last_of_segments(
///     input: Global<u32>,
///     output: GlobalMut<u32>,
///     len: u64,
///     kind: u32,
///     starts: Global<u8>,
///     count: u64,
///     initial: u32,
///     mode: u32,
///     words: GlobalMut<u64>,
///     capacity: u64,
/// ) {
///     let starts = Starts { kind, array: starts, count };
///     // Elements of a vector, its words in input and output; `segmented::shape::<Last>().rows`, warps.
///     segments::<Last, 4, 4, 4, 4, WARPS>(input, output, len, starts, initial, mode, words, capacity);
/// }
///
/// // SAFETY: the kernel is `segments` of this operator, with the rows of its shape.
/// gpu_scan::segmented_instance!(unsafe Last => last_of_segments, 4 by 4);
///
/// let device = gpu_core::Device::simulator();
/// let (values, keys) = (device.upload(&[5, 0, 0, 7u32])?, device.upload(&[1u8, 1, 2, 2])?);
/// let last = scan_segments::<Last>(&values, &Segments::by_key(&keys), Options::inclusive())?;
/// assert_eq!(last.to_vec()?, [5, 5, 0, 7]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
///
/// The numbers are the elements of a vector and the vectors of a thread that the kernel was made with: those that
/// [`kernels::segmented::shape`](crate::kernels::segmented::shape) does not give do not compile.
#[macro_export]
macro_rules! segmented_instance {
    (unsafe $scan:ty => $kernel:ident, $vector:literal by $rows:literal) => {
        const _: () = {
            let shape = $crate::kernels::segmented::shape::<$scan>();
            assert!(shape.vector == $vector && shape.rows == $rows, "a kernel of another shape");
        };

        // SAFETY: whoever wrote `unsafe` promises that this is the kernel.
        unsafe impl $crate::Segmented for $scan {
            type Of = Self;
            type Kernel = $kernel;
        }
    };
}

macro_rules! instances {
    ($module:ident, $blocks:literal, $v:literal, $n:literal, $l:literal; $(
        $name:ident: $scan:ty $(, $same:ty)* $(| $($flipped:ty),+)?;
    )*) => { $(
        served!(Segmented, kernels::$name, $scan $(, $same)* $($(, $flipped)+)?);
        const _: () = {
            let shape = shape::<$scan>();
            assert!(shape.vector == $v && shape.input_words == $n && shape.rows == $l);
        };
    )* };
}
segmented_scan_instances!(instances);

/// Enqueues a scan of segments. Everything has been checked: same device, same lengths, enough scratch; there is an
/// element.
pub(super) fn scan<S: Segmented>(
    stream: &Stream,
    input: View<'_, S::Item>,
    segments: &Segments<'_>,
    options: &Options<S::Output>,
    output: ViewMut<'_, S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    enqueue::<S>(stream, input.cast(), segments, options, output, plan, scratch)
}

/// Enqueues a scan of segments in place. Everything has been checked, as for [`scan`].
pub(super) fn scan_in_place<S: Segmented<Output = <S as Scan>::Item>>(
    stream: &Stream,
    mut data: ViewMut<'_, S::Output>,
    segments: &Segments<'_>,
    options: &Options<S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let input = data.as_global_mut().as_global().cast();
    enqueue::<S>(stream, input, segments, options, data, plan, scratch)
}

/// Input and output are the same memory or, one of them being borrowed exclusively, apart.
fn enqueue<S: Segmented>(
    stream: &Stream,
    input: impl IntoArgument<Global<<S::Of as Scan>::Item>>,
    segments: &Segments<'_>,
    options: &Options<S::Output>,
    mut output: ViewMut<'_, S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.prepare()?;
    let (len, capacity, mode) = (output.len(), scratch.words.len() as u64, options.mode());
    let words = scratch.words.view_mut();
    let config =
        LaunchConfig::linear(plan.blocks, plan.shape.threads()).shared(kernels::shared_bytes(plan.shape));
    let starts = segments.starts(output.as_global_mut().as_global().cast(), len);
    let arguments = |initial| {
        let kernels::Starts { kind, array, count } = starts;
        (input, output.cast(), len as u64, kind, array, count, initial, mode, words, capacity)
    };
    // SAFETY: the kernel reads `len` elements of the input and what the segments borrow, as many as they were checked
    // for, writes `len` elements of the output and uses the scratch memory, which has room for the plan's words, was
    // zero when it was made or is again (`prepare`), and is used on this stream only. Buffers are freed only after
    // the work enqueued before.
    unsafe {
        launch::<S, S::Of, OfSegments<S::Of>, _, S::Kernel>(stream, config, options.initial::<S>(), arguments)
    }?;
    scratch.dirty = false;
    Ok(())
}
