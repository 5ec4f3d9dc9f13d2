//! The launches of scans along columns.

use gpu_core::{Stream, View, ViewMut};
use gpu_scan_kernels::column_scan_instances;
use gpu_scan_kernels::columns::{self as kernels, Lines, Shape};
use gpu_scan_kernels::{And, Max, Min, Or, Product, Scan, Sum, WideSum, Xor, flip, flipped};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use super::along::launch_config;
use crate::launch::same_bits;
use crate::options::Options;
use crate::scratch::Scratch;
use gpu_core::Error;

/// A scan that a PTX module has a kernel for that goes along columns: all of this crate, and yours with
/// [`columns_instance!`](crate::columns_instance).
pub trait AlongColumns: Scan<Item: gpu_core::Element, Output: gpu_core::Element> {
    /// Enqueues the kernel.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// Until the kernel has ended, `input` must have the elements of `lines` and `output` room for as many, which
    /// nothing else writes; `words` must be the `capacity` words of scratch memory that [`kernels::columns`] asks
    /// for. There is an element.
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch(
        stream: &Stream,
        config: LaunchConfig,
        input: Global<Self::Item>,
        output: GlobalMut<Self::Output>,
        lines: Lines,
        initial: Self::Register,
        mode: u32,
        words: GlobalMut<u64>,
        capacity: u64,
    ) -> Result<(), gpu_core::Error>;
}

/// Makes a scan of yours one along columns ([`AlongColumns`]), given the kernel that you made of it: for
/// [`scan_axis`](crate::scan_axis), which takes rows, along the last axis, as segments
/// ([`segmented_instance!`](crate::segmented_instance)).
///
/// `unsafe` is your promise that the kernel is [`kernels::columns::columns`](crate::kernels::columns::columns) of
/// this very operator, with the parameters below in this order, the three of
/// [`kernels::columns::Lines`](crate::kernels::columns::Lines) among them, that it is not `programmatic`, and that
/// gpu-builder compiled it.
///
/// ```
/// use gpu_scan::kernels::columns::{Lines, WARPS, columns};
/// use gpu_scan::{Options, scan_axis};
/// # use gpu_scan::kernels::{Scan, segmented::{Starts, segments}};
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
/// # #[kernel(launch_bounds(256, 4))]
/// # pub fn last_of_segments(
/// #     input: Global<u32>, output: GlobalMut<u32>, len: u64, kind: u32, starts: Global<u8>, count: u64, initial: u32, mode: u32,
/// #     words: GlobalMut<u64>, capacity: u64,
/// # ) {
/// #     let starts = Starts { kind, array: starts, count };
/// #     segments::<Last, 4, 4, 4, 4, WARPS>(input, output, len, starts, initial, mode, words, capacity);
/// # }
/// # gpu_scan::segmented_instance!(unsafe Last => last_of_segments, 4 by 4);
///
/// // `Last` is the operator of `instance!`. In your kernel crate: `#[kernel(images = sm_75, launch_bounds(256, 4))]`.
/// #[kernel(launch_bounds(256, 4))]
/// pub fn last_of_columns(
///     input: Global<u32>,
///     output: GlobalMut<u32>,
///     rows: u32,
///     inner: u32,
///     count: u32,
///     initial: u32,
///     mode: u32,
///     words: GlobalMut<u64>,
///     capacity: u64,
/// ) {
///     let lines = Lines { rows, inner, columns: count };
///     // `columns::Shape::of::<Last>().rows`, warps.
///     columns::<Last, 16, WARPS>(input, output, lines, initial, mode, words, capacity);
/// }
///
/// // SAFETY: the kernel is `columns` of this operator, with the rows of its shape.
/// gpu_scan::columns_instance!(unsafe Last => last_of_columns, 16);
///
/// let matrix = gpu_core::Device::simulator().upload(&[5, 0, 7, 0, 6, 0u32])?;
/// let columns = scan_axis::<Last>(&matrix, &[2, 3], 0, Options::inclusive())?;
/// assert_eq!(columns.to_vec()?, [5, 0, 7, 5, 6, 7]);
/// let rows = scan_axis::<Last>(&matrix, &[2, 3], 1, Options::inclusive())?;
/// assert_eq!(rows.to_vec()?, [5, 5, 7, 0, 6, 6]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
///
/// The number is that of a warp's rows that the kernel was made with: one that
/// [`kernels::columns::Shape::of`](crate::kernels::columns::Shape::of) does not give does not compile.
#[macro_export]
macro_rules! columns_instance {
    (unsafe $scan:ty => $kernel:ident, $rows:literal) => {
        const _: () = {
            let shape = $crate::kernels::columns::Shape::of::<$scan>();
            assert!(shape.rows == $rows, "a kernel of another shape");
        };

        impl $crate::AlongColumns for $scan {
            #[inline]
            unsafe fn launch(
                stream: &$crate::__private::Stream,
                config: $crate::__private::LaunchConfig,
                input: $crate::__private::Global<<$scan as $crate::kernels::Scan>::Item>,
                output: $crate::__private::GlobalMut<<$scan as $crate::kernels::Scan>::Output>,
                lines: $crate::kernels::columns::Lines,
                initial: <$scan as $crate::kernels::Scan>::Register,
                mode: u32,
                words: $crate::__private::GlobalMut<u64>,
                capacity: u64,
            ) -> ::core::result::Result<(), $crate::__private::Error> {
                let $crate::kernels::columns::Lines { rows, inner, columns } = lines;
                // SAFETY: the caller promises what the kernel needs, and whoever wrote `unsafe` that this is the
                // kernel.
                unsafe {
                    $kernel::launch(
                        stream, config, input, output, rows, inner, columns, initial, mode, words, capacity,
                    )
                }
            }
        }
    };
}

macro_rules! of_kernel {
    ($name:ident, $scan:ty, |$initial:ident| $of_kernel:expr $(, $flip:expr)?) => {
        impl AlongColumns for $scan {
            #[inline]
            unsafe fn launch(
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self::Item>,
                output: GlobalMut<Self::Output>,
                Lines { rows, inner, columns }: Lines,
                $initial: Self::Register,
                mode: u32,
                words: GlobalMut<u64>,
                capacity: u64,
            ) -> Result<(), gpu_core::Error> {
                let (input, output, initial) = (input.cast(), output.cast(), $of_kernel);
                // SAFETY: the caller promises what the kernel needs; where it was made for another type, that type's
                // bits, flipped if it flips some, mean the same to it.
                unsafe {
                    kernels::$name::launch(
                        stream, config, input, output, rows, inner, columns, initial, mode, words, capacity $(, $flip)?
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
    ($module:ident, $blocks:literal, $k:literal; $(
        $name:ident: $scan:ty $(, $same:ty)* $(| $($flipped:ty),+)?;
    )*) => { $(
        instance_of!($name: $scan $(, $same)* $(| $($flipped),+)?);
        const _: () = assert!(Shape::of::<$scan>().rows == $k);
    )* };
}
column_scan_instances!(instances);

/// Enqueues a scan along columns. Everything has been checked: same device, same lengths, enough scratch; there is an
/// element.
pub(super) fn scan<S: AlongColumns>(
    stream: &Stream,
    input: View<'_, S::Item>,
    lines: Lines,
    options: &Options<S::Output>,
    mut output: ViewMut<'_, S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    enqueue::<S>(stream, (input.as_global(), output.as_global_mut()), lines, options, scratch)
}

/// Enqueues a scan along columns in place. Everything has been checked, as for [`scan`].
pub(super) fn scan_in_place<S: AlongColumns<Output = <S as Scan>::Item>>(
    stream: &Stream,
    mut data: ViewMut<'_, S::Output>,
    lines: Lines,
    options: &Options<S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let memory = data.as_global_mut();
    enqueue::<S>(stream, (memory.as_global(), memory), lines, options, scratch)
}

/// Input and output are the same memory or, one of them being borrowed exclusively, apart.
fn enqueue<S: AlongColumns>(
    stream: &Stream,
    (input, output): (Global<S::Item>, GlobalMut<S::Output>),
    lines: Lines,
    options: &Options<S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.prepare()?;
    let words = scratch.words.view_mut().as_global_mut();
    let capacity = scratch.words.len() as u64;
    let (config, mode, initial) = (launch_config::<S>(lines), options.mode(), options.initial::<S>());
    // SAFETY: the kernel reads the elements of the input, writes as many of the output and uses the scratch memory,
    // which has room for the columns' words, was zero when it was made or is again (`prepare`), and is used on this
    // stream only. Buffers are freed only after the work enqueued before.
    unsafe { S::launch(stream, config, input, output, lines, initial, mode, words, capacity) }?;
    scratch.dirty = false;
    Ok(())
}
