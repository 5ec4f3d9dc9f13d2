//! Which kernel scans by which operator.
//!
//! A kernel scans by the operator that it was compiled for, and by others of the same width whose results have the same
//! bits, or the same but for some that are flipped ([`Flip`](crate::kernels::Flip)).

use gpu_core::Element;
use gpu_scan_kernels::columns::Lines;
use gpu_scan_kernels::segmented::Starts;
use gpu_scan_kernels::{Scan, flip, flipped};
use gpu_std::launch::Kernel;
use gpu_std::memory::{Global, GlobalMut};

/// A scan of whole arrays that there is a kernel for: all of this crate, and yours.
///
/// ```
/// use gpu_scan::{Instance, Options, kernels::{Scan, WARPS, whole}};
/// # use gpu_std::{kernel, memory::{Global, GlobalMut}};
/// /// The last element that is not zero.
/// pub struct Last;
///
/// impl Scan for Last {
///     type Item = u32;
///     type Register = u32;
///     type Output = u32;
///     const NAME: &'static str = "last that is not zero";
///     const IDENTITY: u32 = 0;
///     const EMPTY: u32 = 0;
///     fn extend(item: u32) -> u32 {
///         item
///     }
///     fn combine(before: u32, after: u32) -> u32 {
///         if after == 0 { before } else { after }
///     }
///     fn output(result: u32) -> u32 {
///         result
///     }
///     fn resume(output: u32) -> u32 {
///         output
///     }
/// }
///
/// // In your kernel crate: `#[kernel(images = sm_75, launch_bounds(256, 4), programmatic)]`.
/// #[kernel(launch_bounds(256, 4), programmatic)]
/// pub fn last(
///     input: Global<u32>,
///     output: GlobalMut<u32>,
///     len: u64,
///     initial: u32,
///     mode: u32,
///     words: GlobalMut<u64>,
///     capacity: u64,
/// ) {
///     // Elements of a vector, words of one of the input and of the output, vectors of a thread: those of
///     // `Shape::of::<Last>()`; warps.
///     whole::<Last, 4, 4, 4, 4, WARPS>(input, output, len, initial, mode, words, capacity);
/// }
///
/// // SAFETY: the kernel is `whole` of this operator.
/// unsafe impl Instance for Last {
///     type Of = Self;
///     type Kernel = last;
/// }
///
/// let values = gpu_core::Device::simulator().upload(&[0, 5, 0, 0, 7u32])?;
/// assert_eq!(gpu_scan::scan::<Last>(&values, Options::inclusive())?.to_vec()?, [0, 5, 5, 5, 7]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
///
/// Segments and columns have kernels of their own: [`Segmented`], [`AlongColumns`].
///
/// # Safety
/// [`Kernel`](Self::Kernel) is [`kernels::whole`](crate::kernels::whole()) of [`Of`](Self::Of) with
/// [`kernels::Shape::of`](crate::kernels::Shape::of) it, these parameters in this order, and gpu-builder compiled it; elements of this scan and of that one are as wide, and that one's results
/// are this one's, their bits but for those of [`kernels::flip`](crate::kernels::flip()).
pub unsafe trait Instance: Scan<Item: Element, Output: Element> {
    /// The operator that the kernel was compiled for.
    type Of: Scan;
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<Self::Of, u64>>;
}

/// A scan of segments that there is a kernel for: all of this crate, and yours; for
/// [`scan_segments`](crate::scan_segments()) and, along the last axis, [`scan_axis`](crate::scan_axis()).
///
/// ```
/// use gpu_scan::kernels::WARPS;
/// use gpu_scan::kernels::segmented::{Starts, segments};
/// use gpu_scan::{Options, Segmented, Segments, scan_segments};
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
/// // `Last` is the operator of `Instance`. In your kernel crate: `#[kernel(images = sm_75, launch_bounds(256, 4))]`.
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
///     // Those of `segmented::shape::<Last>()`.
///     segments::<Last, 4, 4, 4, 4, WARPS>(input, output, len, starts, initial, mode, words, capacity);
/// }
///
/// // SAFETY: the kernel is `segments` of this operator.
/// unsafe impl Segmented for Last {
///     type Of = Self;
///     type Kernel = last_of_segments;
/// }
///
/// let device = gpu_core::Device::simulator();
/// let (values, keys) = (device.upload(&[5, 0, 0, 7u32])?, device.upload(&[1u8, 1, 2, 2])?);
/// let last = scan_segments::<Last>(&values, &Segments::by_key(&keys), Options::inclusive())?;
/// assert_eq!(last.to_vec()?, [5, 5, 0, 7]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
///
/// # Safety
/// As [`Instance`], the kernel being [`kernels::segmented::segments`](crate::kernels::segmented::segments) of [`Of`](Self::Of), and
/// not `programmatic`.
pub unsafe trait Segmented: Scan<Item: Element, Output: Element> {
    /// The operator that the kernel was compiled for.
    type Of: Scan;
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<Self::Of, (u64, Starts)>>;
}

/// A scan along columns that there is a kernel for: all of this crate, and yours; for
/// [`scan_axis`](crate::scan_axis()), which takes rows, along the last axis, as segments ([`Segmented`]).
///
/// ```
/// use gpu_scan::kernels::columns::{Lines, WARPS, columns};
/// use gpu_scan::{AlongColumns, Options, scan_axis};
/// # use gpu_scan::{Segmented, kernels::{Scan, segmented::{Starts, segments}}};
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
/// # // SAFETY: the kernel is `segments` of this operator.
/// # unsafe impl Segmented for Last {
/// #     type Of = Self;
/// #     type Kernel = last_of_segments;
/// # }
///
/// // `Last` is the operator of `Instance`. In your kernel crate: `#[kernel(images = sm_75, launch_bounds(256, 4))]`.
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
/// // SAFETY: the kernel is `columns` of this operator.
/// unsafe impl AlongColumns for Last {
///     type Of = Self;
///     type Kernel = last_of_columns;
/// }
///
/// let matrix = gpu_core::Device::simulator().upload(&[5, 0, 7, 0, 6, 0u32])?;
/// let columns = scan_axis::<Last>(&matrix, &[2, 3], 0, Options::inclusive())?;
/// assert_eq!(columns.to_vec()?, [5, 0, 7, 5, 6, 7]);
/// let rows = scan_axis::<Last>(&matrix, &[2, 3], 1, Options::inclusive())?;
/// assert_eq!(rows.to_vec()?, [5, 5, 7, 0, 6, 6]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
///
/// # Safety
/// As [`Instance`], the kernel being [`kernels::columns::columns`](crate::kernels::columns::columns) of
/// [`Of`](Self::Of), and not `programmatic`.
pub unsafe trait AlongColumns: Scan<Item: Element, Output: Element> {
    /// The operator that the kernel was compiled for.
    type Of: Scan;
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<Self::Of, Lines>>;
}

/// What every kernel of a scan by `S` is told.
#[derive(Clone, Copy)]
pub struct Call<S: Scan> {
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    initial: S::Register,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
    flip: u64,
}

impl<S: Scan> Call<S> {
    pub(crate) fn new(
        input: Global<S::Item>,
        output: GlobalMut<S::Output>,
        initial: S::Register,
        mode: u32,
        (words, capacity): (GlobalMut<u64>, u64),
    ) -> Self {
        Self { input, output, initial, mode, words, capacity, flip: 0 }
    }

    /// The same for a kernel of `K`.
    pub(crate) fn to<K: Scan>(self) -> Call<K> {
        let flip = flip::<S, K>();
        // Where nothing is flipped, registers may have more bits than results.
        let initial = if flip == 0 { same_bits(self.initial) } else { flipped::<S, K>(self.initial) };
        let (input, output) = (self.input.cast(), self.output.cast());
        let Self { mode, words, capacity, .. } = self;
        Call { input, output, initial, mode, words, capacity, flip }
    }
}

/// The accumulator with the same bits.
fn same_bits<A: gpu_collective::Accumulator, B: gpu_collective::Accumulator>(value: A) -> B {
    B::from_words(&mut |word| value.word(word))
}

/// The arguments of a kernel that scans by `S` what `Extent` describes: the length of an array; that and where its
/// segments start; the columns of a matrix. Kernels of several operators are told what to flip as well.
pub trait Arguments<S: Scan, Extent> {
    /// Those of a call.
    fn new(call: Call<S>, extent: Extent) -> Self;
}

macro_rules! arguments {
    ($extent:ty: $pattern:pat => ($($value:expr),*) as ($($ty:ty),*)) => {
        impl<S: Scan> Arguments<S, $extent>
            for (Global<S::Item>, GlobalMut<S::Output>, $($ty,)* S::Register, u32, GlobalMut<u64>, u64)
        {
            fn new(call: Call<S>, $pattern: $extent) -> Self {
                let Call { input, output, initial, mode, words, capacity, .. } = call;
                (input, output, $($value,)* initial, mode, words, capacity)
            }
        }

        impl<S: Scan> Arguments<S, $extent>
            for (Global<S::Item>, GlobalMut<S::Output>, $($ty,)* S::Register, u32, GlobalMut<u64>, u64, u64)
        {
            fn new(call: Call<S>, $pattern: $extent) -> Self {
                let Call { input, output, initial, mode, words, capacity, flip } = call;
                (input, output, $($value,)* initial, mode, words, capacity, flip)
            }
        }
    };
}
arguments!(u64: len => (len) as (u64));
arguments!((u64, Starts): (len, Starts { kind, array, count }) => (len, kind, array, count) as (u64, u32, Global<u8>, u64));
arguments!(Lines: Lines { rows, inner, columns } => (rows, inner, columns) as (u32, u32, u32));
