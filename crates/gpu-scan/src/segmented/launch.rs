//! The launches of scans of segments.

use gpu_core::{Stream, View, ViewMut};
use gpu_scan_kernels::segmented::{self as kernels, Starts, shape};
use gpu_scan_kernels::segmented_scan_instances;
use gpu_scan_kernels::{And, Max, Min, Or, Product, Scan, Sum, WideSum, Xor, flip, flipped};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use super::Segments;
use crate::launch::same_bits;
use crate::options::Options;
use crate::plan::Plan;
use crate::scratch::Scratch;
use gpu_core::Error;

/// A scan that a PTX module has a kernel for that takes segments: all of this crate, and yours with
/// [`segmented_instance!`](crate::segmented_instance).
pub trait Segmented: Scan<Item: gpu_core::Element, Output: gpu_core::Element> {
    /// Enqueues the kernel.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// As for [`Instance::launch`](crate::Instance::launch), with the plan and the scratch memory of scans of
    /// segments; `starts` must have what its kind asks for.
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch(
        stream: &Stream,
        config: LaunchConfig,
        input: Global<Self::Item>,
        output: GlobalMut<Self::Output>,
        len: u64,
        starts: Starts,
        initial: Self::Register,
        mode: u32,
        words: GlobalMut<u64>,
        capacity: u64,
    ) -> Result<(), gpu_core::Error>;
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

        impl $crate::Segmented for $scan {
            #[inline]
            unsafe fn launch(
                stream: &$crate::__private::Stream,
                config: $crate::__private::LaunchConfig,
                input: $crate::__private::Global<<$scan as $crate::kernels::Scan>::Item>,
                output: $crate::__private::GlobalMut<<$scan as $crate::kernels::Scan>::Output>,
                len: u64,
                starts: $crate::kernels::segmented::Starts,
                initial: <$scan as $crate::kernels::Scan>::Register,
                mode: u32,
                words: $crate::__private::GlobalMut<u64>,
                capacity: u64,
            ) -> ::core::result::Result<(), $crate::__private::Error> {
                let $crate::kernels::segmented::Starts { kind, array, count } = starts;
                // SAFETY: the caller promises what the kernel needs, and whoever wrote `unsafe` that this is the
                // kernel.
                unsafe {
                    $kernel::launch(
                        stream, config, input, output, len, kind, array, count, initial, mode, words,
                        capacity,
                    )
                }
            }
        }
    };
}

macro_rules! of_kernel {
    ($name:ident, $scan:ty, |$initial:ident| $of_kernel:expr $(, $flip:expr)?) => {
        impl Segmented for $scan {
            #[inline]
            unsafe fn launch(
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self::Item>,
                output: GlobalMut<Self::Output>,
                len: u64,
                starts: Starts,
                $initial: Self::Register,
                mode: u32,
                words: GlobalMut<u64>,
                capacity: u64,
            ) -> Result<(), gpu_core::Error> {
                let (input, output, initial) = (input.cast(), output.cast(), $of_kernel);
                let Starts { kind, array, count } = starts;
                // SAFETY: the caller promises what the kernel needs; where it was made for another type, that type's
                // bits, flipped if it flips some, mean the same to it.
                unsafe {
                    kernels::$name::launch(
                        stream, config, input, output, len, kind, array, count, initial, mode, words, capacity $(, $flip)?
                    )
                }
            }
        }
    };
}

macro_rules! instance_of {
    ($name:ident: $scan:ty $(, $same:ty)*) => {
        of_kernel!($name, $scan, |initial| initial);
        $( of_kernel!($name, $same, |initial| same_bits(initial)); )*
    };
    ($name:ident: $scan:ty | $($flipped:ty),+) => {
        of_kernel!($name, $scan, |initial| initial, 0);
        $( of_kernel!($name, $flipped, |initial| flipped::<Self, $scan>(initial), flip::<Self, $scan>()); )+
    };
}

macro_rules! instances {
    ($module:ident, $blocks:literal, $v:literal, $n:literal, $l:literal; $(
        $name:ident: $scan:ty $(, $same:ty)* $(| $($flipped:ty),+)?;
    )*) => { $(
        instance_of!($name: $scan $(, $same)* $(| $($flipped),+)?);
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
    mut output: ViewMut<'_, S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let memory = (input.as_global(), output.as_global_mut());
    enqueue::<S>(stream, memory, input.len(), segments, options, plan, scratch)
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
    let (len, memory) = (data.len(), data.as_global_mut());
    enqueue::<S>(stream, (memory.as_global(), memory), len, segments, options, plan, scratch)
}

/// Input and output are the same memory or, one of them being borrowed exclusively, apart.
fn enqueue<S: Segmented>(
    stream: &Stream,
    (input, output): (Global<S::Item>, GlobalMut<S::Output>),
    len: usize,
    segments: &Segments<'_>,
    options: &Options<S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.prepare()?;
    let words = scratch.words.view_mut().as_global_mut();
    let capacity = scratch.words.len() as u64;
    let config =
        LaunchConfig::linear(plan.blocks, plan.shape.threads()).shared(kernels::shared_bytes(plan.shape));
    let starts = segments.starts(input.cast(), len);
    let (mode, initial) = (options.mode(), options.initial::<S>());
    // SAFETY: the kernel reads `len` elements of the input and what the segments borrow, as many as they were checked
    // for, writes `len` elements of the output and uses the scratch memory, which has room for the plan's words, was
    // zero when it was made or is again (`prepare`), and is used on this stream only. Buffers are freed only after
    // the work enqueued before.
    unsafe { S::launch(stream, config, input, output, len as u64, starts, initial, mode, words, capacity) }?;
    scratch.dirty = false;
    Ok(())
}
