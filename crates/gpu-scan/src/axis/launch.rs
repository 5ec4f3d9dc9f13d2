//! The launches of scans along columns.

use gpu_core::{Element, IntoArgument, Stream, View, ViewMut};
use gpu_scan_kernels::column_scan_instances;
use gpu_scan_kernels::columns::{self as kernels, Lines, Shape};
use gpu_scan_kernels::{And, Max, Min, Or, Product, Scan, Sum, WideSum, Xor};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::Kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::along::launch_config;
use crate::error::Error;
use crate::launch::{Arguments, launch, served};
use crate::options::Options;
use crate::scratch::Scratch;

/// The parameters of a kernel that scans along columns ([`kernels::columns`]): input, output, the three of [`Lines`],
/// where to start, mode, scratch memory and the words of it.
pub type OfColumns<S> = (
    Global<<S as Scan>::Item>,
    GlobalMut<<S as Scan>::Output>,
    u32,
    u32,
    u32,
    <S as Scan>::Register,
    u32,
    GlobalMut<u64>,
    u64,
);

/// A scan that a PTX module has a kernel for that goes along columns: all of this crate, and yours with
/// [`columns_instance!`](crate::columns_instance).
///
/// # Safety
/// As [`Instance`](crate::Instance), with [`kernels::columns`] and the rows of its shape.
pub unsafe trait AlongColumns: Scan<Item: Element, Output: Element> {
    /// The operator that the kernel was made of: this one or another one on elements as wide.
    type Of: Scan<Item: Element, Output: Element>;
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<OfColumns<Self::Of>>>;
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

        // SAFETY: whoever wrote `unsafe` promises that this is the kernel.
        unsafe impl $crate::AlongColumns for $scan {
            type Of = Self;
            type Kernel = $kernel;
        }
    };
}

macro_rules! instances {
    ($module:ident, $blocks:literal, $k:literal; $(
        $name:ident: $scan:ty $(, $same:ty)* $(| $($flipped:ty),+)?;
    )*) => { $(
        served!(AlongColumns, kernels::$name, $scan $(, $same)* $($(, $flipped)+)?);
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
    output: ViewMut<'_, S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    enqueue::<S>(stream, input.cast(), lines, options, output, scratch)
}

/// Enqueues a scan along columns in place. Everything has been checked, as for [`scan`].
pub(super) fn scan_in_place<S: AlongColumns<Output = <S as Scan>::Item>>(
    stream: &Stream,
    mut data: ViewMut<'_, S::Output>,
    lines: Lines,
    options: &Options<S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let input = data.as_global_mut().as_global().cast();
    enqueue::<S>(stream, input, lines, options, data, scratch)
}

/// Input and output are the same memory or, one of them being borrowed exclusively, apart.
fn enqueue<S: AlongColumns>(
    stream: &Stream,
    input: impl IntoArgument<Global<<S::Of as Scan>::Item>>,
    lines: Lines,
    options: &Options<S::Output>,
    output: ViewMut<'_, S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.prepare()?;
    let (config, mode, capacity) = (launch_config::<S>(lines), options.mode(), scratch.words.len() as u64);
    let words = scratch.words.view_mut();
    let arguments = |initial| {
        let Lines { rows, inner, columns } = lines;
        (input, output.cast(), rows, inner, columns, initial, mode, words, capacity)
    };
    // SAFETY: the kernel reads the elements of the input, writes as many of the output and uses the scratch memory,
    // which has room for the columns' words, was zero when it was made or is again (`prepare`), and is used on this
    // stream only. Buffers are freed only after the work enqueued before.
    unsafe {
        launch::<S, S::Of, OfColumns<S::Of>, _, S::Kernel>(stream, config, options.initial::<S>(), arguments)
    }?;
    scratch.dirty = false;
    Ok(())
}
